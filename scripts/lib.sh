# shellcheck shell=bash
# What the scripts here share: where things are, which kernel is meant, how to
# speak to the user and how to call the kernel's make. Sourced, never run.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
BUILD=$ROOT/build
STATE=$BUILD/state
PROG=${0##*/}
JOBS=${JOBS:-$(nproc)}
export LC_ALL=C
# The kernel's Makefile has variables called VERSION and the like, too: what
# was given to our make must not reach it.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# Directories of the repository whose files the series adds to the kernel.
# shellcheck disable=SC2034 # used by scripts/series
ADDED_DIRS=(mm include tools Documentation)

say() { printf '%s\n' "$*" >&2; }
warn() { say "$PROG: warning: $*"; }
die() { say "$PROG: $*"; exit 1; }
die_usage() { say "$PROG: $*"; exit 2; }

supported_kernels() { sed 's/#.*//' "$ROOT/scripts/kernels" | tr -s ' \n' '\n' | sed '/^$/d'; }
newest_kernel() { supported_kernels | sed -n 1p; }
# No grep -q behind a pipe: it would end the writer early, which pipefail reports.
is_supported() { supported_kernels | grep -xF "$1" >/dev/null; }

# tree_version DIR: "7.3" from the tree's Makefile.
tree_version() {
	awk '/^VERSION =/ { v = $3 } /^PATCHLEVEL =/ { print v "." $3; exit }' "$1/Makefile"
}

is_kernel_tree() {
	[[ -f $1/Makefile && -f $1/Kconfig && -f $1/mm/page_alloc.c ]] && [[ $(tree_version "$1") =~ ^[0-9]+\.[0-9]+$ ]]
}

# select_kernel: from VERSION= and KERNEL= to
#   NAME  what the trees are called      VER   version, "7.3"
#   BASE  unpatched source               WORK  source with the series applied
# shellcheck disable=SC2034 # used by those who source this
select_kernel() {
	if [[ -n ${KERNEL:-} ]]; then
		[[ -e $KERNEL ]] || die_usage "KERNEL=$KERNEL: no such directory. Give the top directory of a Linux source tree."
		[[ -d $KERNEL ]] || die_usage "KERNEL=$KERNEL: not a directory. Give the top directory of a Linux source tree."
		is_kernel_tree "$KERNEL" ||
			die_usage "KERNEL=$KERNEL: not a Linux source tree (it has no Makefile with a VERSION, or no mm/page_alloc.c)."
		OWN=$(cd "$KERNEL" && pwd -P)
		VER=$(tree_version "$OWN")
		NAME=own-$(printf '%s' "$OWN" | sha1sum | cut -c1-8)
		if ! is_supported "$VER" && [[ ${WARNED_OF:-} != "$KERNEL" ]]; then
			warn "KERNEL=$KERNEL is Linux $VER; the series is kept for $(supported_kernels | paste -sd' '). Trying all the same."
			export WARNED_OF=$KERNEL
		fi
	else
		OWN=
		VER=${VERSION:-}
		[[ -n $VER || ! -s $STATE/default-version ]] || VER=$(<"$STATE/default-version")
		[[ -n $VER ]] || VER=$(newest_kernel)
		is_supported "$VER" ||
			die_usage "VERSION=$VER is not supported; choose one of: $(supported_kernels | paste -sd' ')"
		NAME=$VER
	fi
	BASE=$BUILD/linux-$NAME
	WORK=$BUILD/work-$NAME
}

# series_file: the series of the selected kernel.
series_file() {
	local own=$ROOT/patches/series-$VER

	[[ -f $own ]] || own=$ROOT/patches/series
	printf '%s\n' "$own"
}

# series_patches: names of the patches, in order.
series_patches() {
	local f

	f=$(series_file)
	[[ ! -f $f ]] || sed -e 's/[[:space:]]*#.*//' -e '/^[[:space:]]*$/d' "$f"
}

# kmake ARG…: the kernel's make with our compiler cache and nothing that
# differs from build to build.
kmake() {
	export CCACHE_DIR=${CCACHE_DIR:-$BUILD/ccache}
	env -u VERSION -u KERNEL -u CONFIG -u TREE -u PATCH -u CMD -u APPEND -u NAME -u OUT \
		KBUILD_BUILD_TIMESTAMP='2026-01-01 00:00:00 UTC' \
		KBUILD_BUILD_USER=leaktrend KBUILD_BUILD_HOST=leaktrend \
		make -j"$JOBS" CC="${CC:-ccache gcc}" HOSTCC="${HOSTCC:-ccache gcc}" "$@"
}

# copy_tree FROM TO [cp option…]: copies a source tree without object directories.
copy_tree() {
	local from to=$2 entries

	from=$(cd "$1" && pwd -P)
	shift 2
	rm -rf "$to.tmp"
	mkdir -p "$to.tmp"
	mapfile -d '' entries < <(find "$from" -mindepth 1 -maxdepth 1 ! -name 'out-*' -print0)
	cp -a "$@" -t "$to.tmp" "${entries[@]}"
	rm -rf "$to"
	mv "$to.tmp" "$to"
}

# select_build: from TREE= (work, base, or a test's own) and CONFIG= to
#   SRC  the source   OBJ  objects, inside of the source: the kernel then uses
# relative paths, and all trees share what the compiler cache has.
# CONFIG=a+b is b laid over a.
# shellcheck disable=SC2034 # used by those who source this
select_build() {
	local fragment

	CONFIG=${CONFIG:-x86_64}
	TREE=${TREE:-work}
	for fragment in ${CONFIG//+/ }; do
		[[ -f $ROOT/tests/configs/$fragment.config ]] ||
			die_usage "CONFIG=$CONFIG: no tests/configs/$fragment.config; there are: $(cd "$ROOT/tests/configs" && echo *.config)"
	done
	case $TREE in
	work) SRC=$WORK ;;
	base) SRC=$BASE ;;
	*) SRC=$BUILD/$TREE-$NAME ;;
	esac
	OBJ=$SRC/out-${CONFIG//+/-}
}

# lock NAME: one at a time; others wait. Held until the script ends.
lock() {
	mkdir -p "$STATE"
	exec {LOCK_FD}>"$STATE/$1.lock"
	if ! flock -n "$LOCK_FD"; then
		say "$PROG: waiting for another run to end ($1)"
		flock "$LOCK_FD"
	fi
}

# run_logged LABEL LOG LINES COMMAND…: runs with its output in a file, says how
# it gets on (per cent of LINES lines when that is not 0), and shows the end of
# the file when the command fails.
run_logged() {
	local label=$1 log=$2 lines=$3 start=$SECONDS shown=$SECONDS pid rc=0 state n

	shift 3
	mkdir -p "${log%/*}"
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.2
		state="$((SECONDS - start)) s"
		if ((lines)); then
			n=$(wc -l <"$log")
			n=$((n * 100 / lines))
			state="$((n > 99 ? 99 : n)) %, $state"
		fi
		if [[ -t 2 ]]; then
			printf '\r%s … %s ' "$label" "$state" >&2
		elif ((SECONDS - shown >= 30)); then
			say "$label … $state"
			shown=$SECONDS
		fi
	done
	wait "$pid" || rc=$?
	[[ ! -t 2 ]] || printf '\r\033[K' >&2
	if ((rc)); then
		say "$PROG: $label failed (status $rc). The end of ${log#"$ROOT"/}:"
		tail -n 25 "$log" >&2
	elif ((SECONDS - start >= 5)); then
		say "$label: $((SECONDS - start)) s"
	fi
	return "$rc"
}
