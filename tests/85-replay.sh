#!/usr/bin/env bash
# Published leaks, each brought back by undoing its fix, are found; the same work
# in the kernel with the fixes is no leak, and no warning. Takes two kernels of
# another configuration, and so FULL=1: 20 minutes to compile, 30 to run.

. "$(dirname "$0")/lib.sh"
unset CONFIG TREE
select_kernel

tests/replay/run >&2
rc=$?
results=$BUILD/replay

names=$(cd tests/replay && echo */about)
names=${names//\/about/}
check "there are six replays or more" test "$(wc -w <<<"$names")" -ge 6
for name in $names; do
	r=$results/$name
	contains "$name: is found" "$(cat "$r/leaky/blocks" 2>&1)" '^status *: (LIKELY_LEAK|ORPHANED)$'
	check "$name: the other detectors were asked" test "$(cat "$r"/peers[AB]/verdicts | wc -l)" -eq 4
	same "$name: no leak with the fix in place" "" "$(cat "$r/fixed/leaks" 2>&1)"
	same "$name: no splat with the fix in place" "" "$(splats "$r/fixed.log")"
	contains "$name: the log is complete" "$(cat "$r/fixed.log")" 'Run /init as init process'
done
same "the run says the same" 0 "$rc"
done_testing
