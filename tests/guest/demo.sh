#!/bin/bash
# The demo's part in the guest: ordinary work, a driver that leaks under it, and
# what the tracker says. Times are scaled down, so that it takes seconds.

lt=/sys/kernel/debug/leaktrend
drv=/sys/kernel/debug/leaktrend_test

die() { echo "demo: $*" >&2; exit 1; }
head_line() { printf '\n--- %s\n' "$*"; }

[ -d "$lt" ] || die "this kernel has no leaktrend"
read -r rounds <"$lt/min_rounds"
echo 500 >"$lt/interval_ms"
echo 64K >"$lt/min_bytes"
echo 2000 >"$lt/min_age_ms"
echo "Times are scaled down: a round every 0.5 s instead of every minute, and a leak counts"
echo "from 64 KiB and 2 s on instead of 8 MiB and an hour. 1 in $(cat $lt/sample_rate) objects is followed."

module=$(find /kselftest /lib/modules -name leaktrend_test.ko | head -n 1)
[ -n "$module" ] || die "there is no leaktrend_test.ko"
insmod "$module" || die "cannot load $module"

# Work that comes and goes: files, processes, pipes.
work() {
	while :; do
		find /sys/class /proc/self >/dev/null 2>&1
		head -c 200000 /dev/zero | gzip >/tmp/work.gz
		rm /tmp/work.gz
	done
}
work & worker=$!

echo "A driver takes 10000 objects of 64 bytes a second, gives them back, and forgets 1 in 20."
echo "name=demo size=64 rate=10000 lose=1/20 ctx=process cache=kmalloc" >"$drv/start" || die "cannot start the leak"

# Bounded by time, but what ends it is the verdict.
waited=0
until grep -A 40 -E '^site ' "$lt/suspects" | grep -q LIKELY_LEAK; do
	sleep 1
	waited=$((waited + 1))
	[ $waited -lt 150 ] || { cat "$lt/status" "$lt/trends" | head -n 60; die "no verdict after $waited s"; }
done
kill $worker
echo "Verdict after $waited s ($rounds rounds are the least it takes)."

head_line "cat leaktrend/status"
cat "$lt/status"
head_line "cat leaktrend/suspects"
cat "$lt/suspects"
head_line "the truth, from the driver"
cat "$drv/jobs"
head_line "head page_owner_stacks/show_stacks: page_owner sees pages, not objects"
head -n 20 /sys/kernel/debug/page_owner_stacks/show_stacks
echo all >"$drv/stop"
