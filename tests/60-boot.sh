#!/usr/bin/env bash
# The patched kernel boots with and without the tracker, writes no warning, and
# passes the tests that belong to it: KUnit suites and kselftests.

. "$(dirname "$0")/lib.sh"
scratch_dir
unset CMD APPEND
config=${CONFIG:-x86_64}
export CONFIG=$config TIMEOUT=${TIMEOUT:-1800}
need "$config: the patched kernel builds" scripts/build
select_kernel
select_build

# clean NAME LOG: no splat in it, and it is a log.
clean() {
	local found

	found=$(splats "$2")
	same "$1: no splat in the kernel log" "" "$found"
	contains "$1: the log is complete" "$(cat "$2")" 'Run /init as init process'
}

# Built-in KUnit tests run before init does.
status=$(APPEND="kunit.autorun=1" LOG=$SCRATCH/on.log CMD='cat /sys/kernel/debug/leaktrend/status' scripts/vm)
same "$config: leaktrend=on boots" 0 $?
contains "$config: leaktrend=on tracks" "$status" '^state: on$'
clean "$config: leaktrend=on" "$SCRATCH/on.log"
kunit "$SCRATCH/on.log" "$config: kunit"

status=$(NOPARAMS=1 LOG=$SCRATCH/off.log CMD='cat /sys/kernel/debug/leaktrend/status' scripts/vm)
same "$config: boots without parameters" 0 $?
contains "$config: is off without parameters" "$status" '^state: off'
clean "$config: without parameters" "$SCRATCH/off.log"

status=$(NOPARAMS=1 APPEND=leaktrend=standby LOG=$SCRATCH/standby.log CMD='
	cd /sys/kernel/debug/leaktrend
	for i in 1 2 3; do echo 1 >enable; echo 1 >scan; echo 0 >enable; done
	cat status' scripts/vm)
same "$config: leaktrend=standby boots, and is switched on and off" 0 $?
contains "$config: leaktrend=standby waits" "$status" '^state: standby$'
clean "$config: leaktrend=standby" "$SCRATCH/standby.log"

# All of them with page_owner, whose stacks are then those of the sites of pages;
# without it those that look at pages, which are sampled then.
LOG=$SCRATCH/kselftest.log CMD='cd /kselftest && ./run_kselftest.sh' scripts/vm >"$SCRATCH/kselftest.out"
same "$config: kselftest ran" 0 $?
tr -d '\r' <"$SCRATCH/kselftest.out" >&2
ktap "$SCRATCH/kselftest.out" "$config: kselftest"
clean "$config: kselftest" "$SCRATCH/kselftest.log"

NOPARAMS=1 APPEND=leaktrend=on LOG=$SCRATCH/sampled.log \
	CMD='cd /kselftest && ./run_kselftest.sh -t leaktrend:pages.sh' scripts/vm >"$SCRATCH/sampled.out"
same "$config: kselftest without page_owner ran" 0 $?
tr -d '\r' <"$SCRATCH/sampled.out" >&2
ktap "$SCRATCH/sampled.out" "$config: kselftest without page_owner"
clean "$config: kselftest without page_owner" "$SCRATCH/sampled.log"
done_testing
