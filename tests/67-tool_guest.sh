#!/usr/bin/env bash
# The tool, static, in the guest: all commands on the live files of a kernel on which
# a driver leaks, with and without page_owner, in standby and off.

. "$(dirname "$0")/lib.sh"
scratch_dir
unset CMD APPEND CONFIG
export TIMEOUT=${TIMEOUT:-600}
need "what it takes is installed" scripts/setup tools
need "the patched kernel builds" scripts/build
need "the tool builds" make -s -C tools/mm/leaktrend O="$SCRATCH/tool" STATIC=1 all
mkdir -p "$SCRATCH/root/usr/bin"
strip -o "$SCRATCH/root/usr/bin/leaktrend" "$SCRATCH/tool/leaktrend"

# guest NAME PARAMETERS: boots with them.
guest() {
	NOPARAMS=1 APPEND=$2 EXTRA=$SCRATCH/root OUT=$SCRATCH/$1 LOG=$SCRATCH/$1.log CMD='bash /root/tool.sh' \
		scripts/vm >"$SCRATCH/$1.tap"
	same "$1: the guest ends well" 0 $?
	tap "$1" <"$SCRATCH/$1.tap"
	same "$1: no splat in the kernel log" "" "$(splats "$SCRATCH/$1.log")"
	[[ ! -e $SCRATCH/$1/said ]] || cat "$SCRATCH/$1/said" >&2
}

guest on leaktrend=on
guest page_owner "page_owner=on leaktrend=on"
guest standby leaktrend=standby
guest off ""

# What was recorded there is read here.
"$SCRATCH/tool/leaktrend" check --quiet -f "$SCRATCH/on/leak.lt"
same "a file of the guest, on this machine" 1 $?
done_testing
