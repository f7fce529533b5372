# shellcheck shell=bash
# What the kernel's other detectors say of a leak: a snapshot of each before, one
# after, and what a person would read out of the two. Sourced, in the guest: it
# needs bash and busybox, and a kernel of tests/configs/peers.config that was
# booted with PEERS_PARAMS_A or _B, or with those of them that are wanted. What is
# off is left out.
#
#   peers_before DIR
#   … what leaks, and then nothing more that allocates …
#   peers_after DIR
#   peers_reports DIR
#   peers_verdict DIR "FUNCTION…" ["HELPER…"]
#
# peers_reports makes of the snapshots what a person would look at, most first:
# growth.DETECTOR in DIR has lines "rank<TAB>bytes<TAB>functions, innermost first",
# growth.kmemleak "objects<TAB>functions".
#
# peers_verdict prints a line for each detector, "detector<TAB>verdict<TAB>why":
#
#   found   One of FUNCTION is what a person reads first. For kmemleak, it is in the
#           backtrace of two or more of the objects it reports. For the others, it
#           is among the PEERS_TOP entries that grew most in bytes: in their stack,
#           where there is one (slub_debug, page_owner), else as the name of the
#           entry (allocinfo).
#   helper  None of FUNCTION is there, but one of HELPER is: common code that
#           allocates for many callers, so that the one to blame is not known.
#   missed  Neither.
#
# FUNCTION is the function that loses the memory, or others of its stack by which
# it is known; HELPER what it calls to allocate, if anything. The number in "why"
# is the bytes by which the entry grew and its rank; of kmemleak the number of
# objects. Two scans of kmemleak are made, with the time between them that it
# wants an object to be old, for it reports only what looks lost to both.
#
# Several leaks may be driven between one peers_before and peers_after: then call
# peers_verdict for each, with PEERS_TOP no less than their number.

# Two boots, or else they would see each other: what kmemleak keeps of each object
# is memory with the same stack, and slub_debug changes from where pages come.
# shellcheck disable=SC2034
PEERS_PARAMS_A="kmemleak=on slub_debug=U"
# shellcheck disable=SC2034
PEERS_PARAMS_B="sysctl.vm.mem_profiling=1 page_owner=on"
PEERS_TOP=${PEERS_TOP:-5}

peers_debugfs=/sys/kernel/debug

# peers_scan: of kmemleak, which says no where it is off.
peers_scan() { { echo scan >$peers_debugfs/kmemleak; } 2>/dev/null; }

# peers_snapshot DIR WHEN
peers_snapshot() {
	local cache

	if [[ -r /proc/allocinfo && $(cat /proc/sys/vm/mem_profiling 2>/dev/null) == 1 ]]; then
		cat /proc/allocinfo >"$1/allocinfo.$2"
	fi
	if grep -q '^nr_base_pages' $peers_debugfs/page_owner_stacks/show_stacks 2>/dev/null; then
		cat $peers_debugfs/page_owner_stacks/show_stacks >"$1/page_owner.$2"
	fi
	# Caches that were merged are links to one directory. Only those with user
	# tracking have the file filled.
	for cache in "$peers_debugfs"/slab/*/alloc_traces; do
		[[ -e $cache ]] || continue
		cache=${cache%/*}
		cache=${cache##*/}
		[[ $(cat "/sys/kernel/slab/$cache/store_user" 2>/dev/null) == 1 ]] || continue
		echo "cache $cache $(cat "/sys/kernel/slab/$cache/object_size")"
		cat "$peers_debugfs/slab/$cache/alloc_traces"
	done >"$1/slub_debug.$2"
	[[ -s $1/slub_debug.$2 ]] || rm "$1/slub_debug.$2"
}

peers_before() {
	local f

	rm -rf "$1"
	mkdir -p "$1"
	# What has been found so far is not from this leak.
	if peers_scan; then
		echo clear >$peers_debugfs/kmemleak
		: >"$1/kmemleak"
	fi
	# Twice, and with a copy of each file where there will be one later: or else
	# what grew most would be these files, in tmpfs, and the inodes of debugfs.
	peers_snapshot "$1" before
	for f in "$1"/*.before; do cp "$f" "${f%.before}.after"; done
	peers_snapshot "$1" before
}

peers_after() {
	peers_snapshot "$1" after
	[[ -e $1/kmemleak ]] || return 0
	sleep 6
	peers_scan
	sleep 6
	peers_scan
	cat $peers_debugfs/kmemleak >"$1/kmemleak"
}

# Each turns a snapshot into lines "bytes<TAB>functions, innermost first".
# Offsets go, for they would tell call sites of the same function apart.

peers_read_allocinfo() {
	awk '/func:/ {
		f = $0
		sub(/.*func:/, "", f)
		printf "%d\t%s %s\n", $1, f, $3
	}' "$1"
}

peers_read_page_owner() {
	awk '
		/^ / { f = $1; sub(/\+0x.*/, "", f); s = s (s == "" ? "" : " ") f }
		/^nr_base_pages:/ { printf "%d\t%s\n", $2 * 4096, s }
		/^$/ { s = "" }' "$1"
}

peers_read_slub_debug() {
	awk '
		function put() {
			if (n)
				printf "%d\t%s %s\n", n * size, cache, s
			n = 0
			s = ""
		}
		/^cache / { put(); cache = $2; size = $3; next }
		/^ *[0-9]+ / { put(); n = $1; f = $2; sub(/\+0x.*/, "", f); s = f; next }
		/^        [^ ]/ { f = $1; sub(/\+0x.*/, "", f); s = s " " f }
		END { put() }' "$1"
}

# peers_growth DIR DETECTOR: "rank<TAB>bytes<TAB>functions" of what grew, most first.
peers_growth() {
	{
		"peers_read_$2" "$1/$2.before" | sed 's/^/-/'
		"peers_read_$2" "$1/$2.after"
	} | awk -F '\t' '{ grew[$2] += $1 } END { for (s in grew) if (grew[s] > 0) printf "%d\t%s\n", grew[s], s }' |
		sort -rn | awk '{ print NR "\t" $0 }'
}

# peers_kmemleak DIR: "objects<TAB>functions" of what it reported, most first.
peers_kmemleak() {
	awk '
		function put() { if (s != "") n[s]++; s = "" }
		/^unreferenced object/ { put(); in_stack = 0; next }
		/^  backtrace/ { in_stack = 1; next }
		in_stack && /^    / { f = $1; sub(/\+0x.*/, "", f); s = s (s == "" ? "" : " ") f }
		END { put(); for (s in n) print n[s] "\t" s }' "$1/kmemleak" | sort -rn
}

# peers_names "FUNCTIONS" "WANTED…": the first of WANTED that is among them.
# Suffixes of the compiler do not count.
peers_names() {
	local f w

	for f in $1; do
		for w in $2; do
			[[ ${f%%.*} != "$w" ]] || { echo "$w"; return; }
		done
	done
	return 1
}

# peers_blame "WHY NOT" "FUNCTIONS" "HELPERS": "verdict<TAB>why" of the lines
# "what it says<TAB>functions" that come in, most first.
peers_blame() {
	local verdict=missed why=$1 what stack name

	while IFS=$'\t' read -r what stack; do
		if name=$(peers_names "$stack" "$2"); then
			verdict=found why="$name, $what"
			break
		elif [[ $verdict == missed ]] && name=$(peers_names "$stack" "$3"); then
			verdict=helper why="$name, $what"
		fi
	done
	printf '%s\t%s\n' "$verdict" "$why"
}

peers_reports() {
	local detector

	[[ ! -e $1/kmemleak ]] || peers_kmemleak "$1" >"$1/growth.kmemleak"
	for detector in slub_debug allocinfo page_owner; do
		[[ ! -e $1/$detector.before || ! -e $1/$detector.after ]] ||
			peers_growth "$1" "$detector" >"$1/growth.$detector"
	done
}

peers_verdict() {
	local dir=$1 functions=$2 helpers=${3:-} detector

	if [[ -e $dir/growth.kmemleak ]]; then
		printf 'kmemleak\t'
		peers_blame "no object" "$functions" "$helpers" < <(
			awk -F '\t' '$1 >= 2 { print $1 " objects\t" $2 }' "$dir/growth.kmemleak")
	fi
	for detector in slub_debug allocinfo page_owner; do
		[[ -e $dir/growth.$detector ]] || continue
		printf '%s\t' "$detector"
		peers_blame "not among the first $PEERS_TOP" "$functions" "$helpers" < <(
			awk -F '\t' -v top="$PEERS_TOP" '
				$1 > top { exit }
				{ print "+" $2 " bytes, number " $1 "\t" $3 }' "$dir/growth.$detector")
	done
}
