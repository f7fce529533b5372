#!/bin/bash
# Runs in the guest, for tests/bench/leaktrend. First it makes sure that the
# kernel is in the state that is to be measured: what was not switched on would
# look cheap.
#
#	guest.sh rows STATE…	the allocator's rows and common work
#	guest.sh remote STATE…	the rows that need a second CPU
#	guest.sh scale		rounds and files at more and more call paths
#
# Environment: ROW_WARMUP, ROW_CYCLES, WORK_WARMUP, WORK_CYCLES,
# SCALE (SITES/OBJECTS, several).

set -euo pipefail
debugfs=/sys/kernel/debug
leaktrend=$debugfs/leaktrend

die() {
	echo "guest: $*" >&2
	exit 2
}

# value FILE NAME: of a line "NAME: value".
value() {
	sed -n "s/^$2: //p" "$1"
}

# holds STATE: is it so?
holds() {
	case $1 in
	no-leaktrend) [[ ! -e $leaktrend ]] ;;
	# "off" says how to change that.
	off | standby | on) [[ $(value $leaktrend/status state) =~ ^$1( |$) ]] ;;
	rate=*) [[ $(<$leaktrend/sample_rate) == "${1#*=}" ]] ;;
	# A kernel without a governor has none that could be on.
	ungoverned) [[ ! -e $leaktrend/max_overhead || $(<$leaktrend/max_overhead) == 0 ]] ;;
	governed) [[ -e $leaktrend/max_overhead && $(<$leaktrend/max_overhead) != 0 ]] ;;
	page_owner) [[ -e $debugfs/page_owner ]] ;;
	profiling) [[ $(</proc/sys/vm/mem_profiling) == 1 ]] ;;
	slab_debug=U) [[ $(</sys/kernel/slab/kmalloc-64/store_user) == 1 ]] ;;
	kmemleak) [[ -e $debugfs/kmemleak ]] && ! dmesg | grep 'kmemleak: Kernel memory leak detector disabled' >/dev/null ;;
	*) die "unknown state $1" ;;
	esac
}

rows() {
	insmod /bench/leaktrend_bench.ko cycles="$ROW_CYCLES" warmup="$ROW_WARMUP" "$@"
	dmesg | sed -n 's/^.*leaktrend_bench: row=/row=/p'
}

# Each time from the beginning, with the sites and samples that are asked for.
scale() {
	local n files

	echo 86400000 >$leaktrend/interval_ms
	for n in $SCALE; do
		echo 1 >$leaktrend/enable
		insmod /bench/leaktrend_bench.ko sites="${n%/*}" objects="${n#*/}"
		/bench/macro write $leaktrend/scan 1 >/dev/null
		echo "scale=$n sites=$(value $leaktrend/status sites) samples=$(value $leaktrend/status samples_live) memory=$(value $leaktrend/status memory_total)"
		/bench/macro write $leaktrend/scan 1
		files="sites trends suspects status"
		# It has a record for each sample.
		((${n#*/} > 100000)) || files+=" objects"
		# shellcheck disable=SC2086 # several names
		/bench/macro files $leaktrend $files
		rmmod leaktrend_bench
		echo 0 >$leaktrend/enable
	done
}

mode=$1
shift
for state; do
	holds "$state" || die "this kernel is not in the state '$state': $(</proc/cmdline)
$(cat $leaktrend/status 2>/dev/null)"
done
case $mode in
rows)
	[[ ! -e $leaktrend/sample_rate || -e $leaktrend/max_overhead ]] || echo "note=no max_overhead: no governor"
	rows
	WARMUP=$WORK_WARMUP CYCLES=$WORK_CYCLES /bench/macro work /bench/leaktrend_tables.ko
	[[ ! -e $leaktrend/status ]] || sed 's/^\([a-z_]*\): /status=\1 /' $leaktrend/status
	;;
remote) rows rows=remote-free ;;
scale) scale ;;
*) die "unknown mode $mode" ;;
esac
