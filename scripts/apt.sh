# shellcheck shell=bash
# Debian packages of other suites than the system's, through a private apt
# configuration in build/apt: nothing of the system's is changed, just the
# mirror's address is taken from its sources. Sourced after lib.sh, never run.

APT=$BUILD/apt
APT_ETC=${APT_ETC:-/etc/apt}
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# mirrors: the URIs of Debian archives in the system's sources, both formats.
mirrors() {
	local f

	mkdir -p "$APT"
	for f in "$APT_ETC"/sources.list "$APT_ETC"/sources.list.d/*.list; do
		[[ ! -f $f ]] || sed -nE 's/\[[^]]*\]//; s/^[[:space:]]*deb[[:space:]]+([^[:space:]]+)[[:space:]]+([^[:space:]]+).*/\1 \2/p' "$f"
	done >"$APT/found"
	for f in "$APT_ETC"/sources.list.d/*.sources; do
		[[ ! -f $f ]] || awk '
			function flush(  i, j) {
				if (types ~ /(^| )deb( |$)/ && enabled != "no")
					for (i = split(uris, u, " "); i > 0; i--)
						for (j = split(suites, s, " "); j > 0; j--)
							print u[i], s[j]
				types = uris = suites = enabled = ""
			}
			/^#/ { next }
			/^[[:space:]]*$/ { flush(); next }
			/^[^[:space:]]/ { key = tolower($1); sub(/^[^:]*:[[:space:]]*/, "") }
			key ~ /^types:/ { types = types " " $0 }
			key ~ /^uris:/ { uris = uris " " $0 }
			key ~ /^suites:/ { suites = suites " " $0 }
			key ~ /^enabled:/ { enabled = tolower($0) }
			END { flush() }' "$f"
	done >>"$APT/found"
	awk '$1 !~ /^cdrom:/ && $2 ~ /^(bookworm|trixie|forky|sid|(old)*stable|testing|unstable)(-backports)?$/ && !seen[$1]++ { print $1 }' "$APT/found"
}

# private_apt LIST COMMAND ARG…: apt-get or apt-cache on one list that
# find_package made.
private_apt() {
	local dir=$APT/$1 cmd=$2

	shift 2
	"$cmd" -q -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$dir/lists" -o Dir::Cache="$dir/cache" \
		-o Acquire::Languages=none -o APT::Sandbox::User=root "$@"
}

# read_list LIST TYPE SUITE: from the first mirror that has it.
read_list() {
	local dir=$APT/$1 mirror

	[[ ! -f $dir/ready ]] || return 0
	say "$PROG: reading the package list of $3"
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	for mirror in "${MIRRORS[@]}"; do
		echo "$2 [signed-by=$KEYRING] $mirror $3 main" >"$dir/sources.list"
		if private_apt "$1" apt-get update >"$dir/update.log" 2>&1 &&
		   ! grep -qE '^(E:|Err:|W: (Failed|Some index))' "$dir/update.log"; then
			touch "$dir/ready"
			return
		fi
	done
	warn "no package list of $3 from the mirror, see $dir/update.log"
	return 1
}

# find_package PACKAGE TYPE (deb or deb-src) SUITE…: prints the list of the
# first suite that has it.
find_package() {
	local package=$1 type=$2 suite show=show

	[[ $type == deb ]] || show=showsrc
	shift 2
	for suite; do
		read_list "$suite.$type" "$type" "$suite" || continue
		if private_apt "$suite.$type" apt-cache "$show" "$package" 2>/dev/null | grep . >/dev/null; then
			printf '%s\n' "$suite.$type"
			return
		fi
	done
	return 1
}

# apt_init: sets MIRRORS, or ends with what to do.
apt_init() {
	[[ -f $KEYRING ]] || die_usage "$KEYRING is missing; install the package debian-archive-keyring, or use KERNEL=/path/to/linux"
	mapfile -t MIRRORS < <(mirrors)
	((${#MIRRORS[@]})) || die_usage "no Debian mirror in $APT_ETC/sources.list or sources.list.d; add one, or use KERNEL=/path/to/linux"
}
