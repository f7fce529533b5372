#!/bin/bash
# The tool on a live kernel, while a driver leaks: prints TAP. What each command
# shows goes to /out, so that one can look at it.

lt=/sys/kernel/debug/leaktrend
drv=/sys/kernel/debug/leaktrend_test
count=0
export COLUMNS=80

# check NAME COMMAND…
check() {
	local name=$1 not=''

	shift
	count=$((count + 1))
	"$@" || not="not "
	echo "${not}ok $count - $name"
}

# tool STATUS ARGUMENT…: what it prints is in /tmp/text, and kept.
tool() {
	local want=$1 rc=0

	shift
	timeout 60 leaktrend "$@" >/tmp/text 2>&1 || rc=$?
	{ echo "\$ leaktrend $*"; cat /tmp/text; echo "[$rc]"; } >>/out/said
	[ $rc = "$want" ] || { echo "leaktrend $*: status $rc, not $want" >&2; cat /tmp/text >&2; return 1; }
}

# says PATTERN: in a line of that.
says() { grep -qE -e "$1" /tmp/text || { cat /tmp/text >&2; return 1; }; }
fits() { awk 'length($0) > 80 { exit 1 }' /tmp/text; }

case $(cat $lt/status) in
"state: off"*)
	for command in status suspects trends sites check collapse export ignore "record -o /tmp/x"; do
		# shellcheck disable=SC2086 # words
		check "off: $command says how to boot" eval "tool 2 $command && says 'boot it with leaktrend=on'"
	done
	check "off: nothing is recorded" test ! -e /tmp/x
	echo "1..$count"
	exit
	;;
"state: standby"*)
	check "standby: status is fine" eval "tool 0 status && says '^state +standby'"
	for command in suspects trends sites check collapse "record -o /tmp/x"; do
		check "standby: $command says how to begin" eval "tool 2 $command && says 'echo 1 > /sys/kernel/debug/leaktrend/enable'"
	done
	check "standby: nothing is recorded" test ! -e /tmp/x
	echo 1 >$lt/enable
	check "standby: it can be begun" eval "tool 0 status && says '^state +on'"
	;;
esac

# By hand: a round ends when this says so.
echo 600000 >$lt/interval_ms
echo 64K >$lt/min_bytes
echo 500 >$lt/min_age_ms
echo 0 >$lt/max_overhead
echo 10 >$lt/sample_rate
echo 1 >$lt/clear
insmod "$(find /kselftest /lib/modules -name leaktrend_test.ko | head -n 1)" || exit 1
check "no round yet" eval "tool 2 check && says 'cannot tell yet: 0 rounds are done, and a verdict takes 9'"

echo "name=demo size=64 rate=10000 lose=1/10 ctx=process cache=kmalloc" >$drv/start || exit 1
leaktrend record -o /out/leak.lt >/tmp/record 2>&1 &
recorder=$!
recorded() { [ "$(leaktrend status -f /out/leak.lt --json 2>/dev/null | sed -nE 's/^ *"rounds": ?([0-9]+),$/\1/p' | head -n 1)" = "$1" ]; }

# Rounds until the verdict, each with something more lost, and each recorded.
lost() { sed -nE 's/^.* lost=([0-9]+).*$/\1/p' $drv/jobs; }
rounds=0
until leaktrend check --quiet 2>/dev/null; [ $? = 1 ]; do
	[ $rounds -lt 40 ] || break
	before=$(lost)
	for _ in $(seq 100); do [ "$(lost)" -lt $((before + 100)) ] || break; sleep 0.1; done
	echo 1 >$lt/scan
	rounds=$((rounds + 1))
	for _ in $(seq 100); do ! recorded $rounds || break; sleep 0.1; done
done
check "a leak is found within 40 rounds" test $rounds -lt 40

check "status" eval "tool 0 status && says '^suspects +1 LIKELY_LEAK' && says '^state +on' && fits"
check "suspects" eval "tool 0 suspects && says '^1. LIKELY_LEAK  leaktrend_test_leak_a .leaktrend_test.$' && says 'kthread' && fits"
check "trends" eval "tool 0 trends && says '^LIKELY_LEAK .* leaktrend_test_leak_a' && fits"
check "sites" eval "tool 0 sites --cache 'kmalloc-64' && says 'LIKELY_LEAK .* leaktrend_test_leak_a' && fits"
check "check" eval "tool 1 check && says '^LIKELY_LEAK: .*leaktrend_test_leak_a'"
check "collapse" eval "tool 0 collapse && says '^ret_from_fork_asm;.*;leaktrend_test_leak_a [0-9]+$'"
check "export" eval "tool 0 export && says '^leaktrend_suspects.verdict=.LIKELY_LEAK.. 1$'"
check "ignore: add" eval "tool 0 ignore add lt_step && tool 0 ignore && says '^lt_step +1 +[0-9.]+ [KM]iB'"
check "ignore: nothing is a suspect then" tool 0 check
check "ignore: remove" eval "tool 0 ignore remove lt_step && tool 1 check"

kill -TERM $recorder
wait $recorder
status=$?
if [ $status != 0 ]; then cat /tmp/record >&2; fi
check "record: is ended by a signal" test $status = 0
cp /tmp/record /out/record
check "record: all rounds are there" recorded $rounds
check "record: suspects of the file" eval "tool 0 suspects -f /out/leak.lt && says '^1. LIKELY_LEAK  leaktrend_test_leak_a'"
check "report" eval "tool 0 report /out/leak.lt && says 'leaktrend_test_leak_a'"
check "report: a page" eval "tool 0 report /out/leak.lt --html /out/leak.html && grep -q leaktrend_test_leak_a /out/leak.html"
check "diff: of the file and the machine" eval "tool 0 diff /out/leak.lt"

tool_of_nobody() {
	local rc=0

	su -s /bin/sh nobody -c "leaktrend $*" >/tmp/text 2>&1 || rc=$?
	[ $rc = 2 ] && says 'only root may read .*; run this with sudo'
}
check "not root" tool_of_nobody status
chmod 644 /out/leak.lt
chmod 755 /out
check "not root, with a file" su -s /bin/sh nobody -c "leaktrend check -q -f /out/leak.lt; test \$? = 1"

echo all >$drv/stop
umount /sys/kernel/debug
check "without debugfs" eval "tool 2 status && says 'debugfs is not mounted; run: mount -t debugfs'"
echo "1..$count"
