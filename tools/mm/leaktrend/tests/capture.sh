#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Makes the recorded data of these tests: runs as root on a machine that was
# booted with leaktrend=on and has the test module of the selftests, lets a
# driver leak, and copies the files round by round. From the repository:
#
#	CMD='/capture.sh /out' EXTRA=tools/mm/leaktrend/tests \
#		NOPARAMS=1 APPEND=leaktrend=on OUT=DIR QEMU_ARGS="-icount shift=0,sleep=off" \
#		scripts/vm
#
# usage: capture.sh DIR [ROUNDS]

set -u
out=$1
rounds=${2:-12}
debugfs=/sys/kernel/debug
lt=$debugfs/leaktrend
drv=$debugfs/leaktrend_test

die() { echo "capture: $*" >&2; exit 2; }

# copy_proc DIR: what tells of the machine.
copy_proc() {
	local f

	for f in sys/kernel/osrelease sys/kernel/version sys/kernel/hostname \
		 sys/kernel/random/boot_id uptime; do
		mkdir -p "$(dirname "$1/proc/$f")"
		cat "/proc/$f" >"$1/proc/$f"
	done
	grep -E '^(cpu|btime)' /proc/stat >"$1/proc/stat"
	grep -E '^(MemTotal|MemFree|MemAvailable|Slab|SReclaimable|SUnreclaim):' \
		/proc/meminfo >"$1/proc/meminfo"
	grep -E '^slabs_scanned ' /proc/vmstat >"$1/proc/vmstat"
}

# copy DIR FILE…: a round.
copy() {
	local to=$1 f

	shift
	mkdir -p "$to/leaktrend"
	for f; do cat "$lt/$f" >"$to/leaktrend/$f"; done
	copy_proc "$to"
}

[ -d "$lt" ] || die "there is no $lt"
module=$(find /kselftest /lib/modules -name leaktrend_test.ko | head -n 1)
insmod "$module" keep=1 || die "cannot load $module"
echo 0 >$lt/max_overhead
echo 600000 >$lt/interval_ms
echo 64K >$lt/min_bytes
echo 2000 >$lt/min_age_ms
echo 1 >$lt/clear
control="enable scan clear ignore classes sample_rate interval_ms min_rounds
	min_bytes min_age_ms elder_rounds stack_depth max_sites max_overhead"

echo "name=demo size=64 rate=10000 lose=1/20 ctx=process cache=kmalloc" >$drv/start ||
	die "cannot start the leak"
i=0
while [ $i -lt "$rounds" ]; do
	i=$((i + 1))
	# Something else that grows, and something that does not.
	mkfifo "/tmp/fifo$i"
	exec 9<>"/tmp/fifo$i"
	head -c 60000 /dev/zero >&9 &
	find /sys/class /proc/self >/dev/null 2>&1
	sleep 1
	echo 1 >$lt/scan
	dir=$out/leak/$(printf '%02d' $i)
	# shellcheck disable=SC2086 # words
	case $i in
	1 | "$rounds") copy "$dir" status sites suspects trends $control ;;
	*) copy "$dir" status sites suspects min_bytes clear ;;
	esac
	if [ "$i" = "$rounds" ] && [ -e $debugfs/page_owner_stacks/show_trends ]; then
		echo 64 >$debugfs/page_owner_stacks/count_threshold
		mkdir -p "$dir/page_owner_stacks"
		cat $debugfs/page_owner_stacks/show_trends >"$dir/page_owner_stacks/show_trends"
	fi
done

# The module goes, and leaves behind what it has lost.
echo all >$drv/stop
rmmod leaktrend_test
echo 1 >$lt/scan
# shellcheck disable=SC2086 # words
copy "$out/orphan" status sites suspects trends $control
# A patch cannot carry empty files, and git minds empty lines at the end of one.
find "$out" -type f -empty -delete
find "$out" -type f -exec sed -i '${/^$/d}' {} +
