#!/bin/bash
# Makes what Documentation/dev-tools/leaktrend.rst shows of the files, in the guest:
#
#	CMD='bash /root/examples.sh' NOPARAMS=1 APPEND=leaktrend=on scripts/vm
#	CMD='bash /root/examples.sh page_owner' scripts/vm
#
# A driver loses objects, a shell opens FIFOs, fills them and reads from none, and a
# directory is walked. Only the last numbers of "trend" are printed.

lt=/sys/kernel/debug/leaktrend
drv=/sys/kernel/debug/leaktrend_test

die() { echo "examples: $*" >&2; exit 1; }

# block FILE FUNCTION: the block of the site with it.
block() {
	awk -v want="$2" '
		/^site #/ { b = "" }
		{ b = b $0 "\n" }
		$1 ~ "^" want "\\+" { hit = 1 }
		/^$/ { if (hit) { printf "%s", b; exit } b = "" }' "$lt/$1" |
		sed -E 's/^(trend *: )\[.*, (([0-9]+, ){8}[0-9]+)\]/\1[..., \2]/'
}

# wait_for VERDICT FUNCTION
wait_for() {
	local n

	for ((n = 0; n < 600; n++)); do
		! block suspects "$2" | grep -q "^status  : $1$" || return 0
		usleep 100000
	done
	block trends "$2"
	die "$2 is not $1 after a minute"
}

say() { printf '\n=== %s\n' "$*"; }

fifos() {
	local n=0

	while :; do
		n=$((n + 1))
		mkfifo "/tmp/fifo$n"
		exec {fd}<>"/tmp/fifo$n"
		# 16 pages each, which is all that it takes.
		head -c 65536 /dev/zero >&"$fd"
		usleep 120000
	done
}

echo 500 >$lt/interval_ms
echo 64K >$lt/min_bytes
echo 5000 >$lt/min_age_ms
if [ "$1" = page_owner ]; then
	fifos & fifo=$!
	wait_for LIKELY_LEAK anon_pipe_prefill_and_lock
	sleep 6
	say "page_owner: FIFOs"
	awk 'BEGIN { RS = "" } /anon_pipe_prefill_and_lock/ { print; exit }' \
		/sys/kernel/debug/page_owner_stacks/show_trends |
		sed -E 's/^(trend: )\[.*, (([0-9]+, ){8}[0-9]+)\]/\1[..., \2]/'
	kill $fifo
	exit 0
fi

module=$(find /kselftest /lib/modules -name leaktrend_test.ko | head -n 1)
insmod "$module" keep=1 || die "cannot load leaktrend_test"
echo 1 >$lt/clear
echo "name=x size=64 rate=20000 lose=1/10 ctx=process cache=kmalloc" >$drv/start
fifos & fifo=$!
mkdir -p /tmp/walk
(for ((i = 0; ; i++)); do : >"/tmp/walk/$((i % 4000))"; done) & walk=$!
for ((n = 0; n < 300; n++)); do
	b=$(block suspects leaktrend_test_leak_a)
	if grep -q '^status  : GROWING$' <<<"$b" && grep -q '^missing : nothing$' <<<"$b"; then
		say "growing, and just old enough"
		grep -E '^(status|held|missing)' <<<"$b"
		break
	fi
	usleep 50000
done
wait_for LIKELY_LEAK leaktrend_test_leak_a
wait_for LIKELY_LEAK anon_pipe_prefill_and_lock
sleep 10
say "objects"
block suspects leaktrend_test_leak_a
say "pages"
block suspects anon_pipe_prefill_and_lock
say "a cache"
awk '/^site #/ { b = "" } { b = b $0 "\n" } /^$/ { if (b ~ /status  : CACHE_GROWTH/) { printf "%s", b; exit } b = "" }' \
	$lt/suspects | grep -E '^(status|held|missing)'
say "the truth"
grep -o 'held=[0-9]* lost=[0-9]*' $drv/jobs
echo "fifos=$(find /tmp -name 'fifo*' | wc -l)"
kill $fifo $walk
echo all >$drv/stop
wait_for SETTLED leaktrend_test_leak_a
say "settled"
block suspects leaktrend_test_leak_a
grep -o 'held=[0-9]* lost=[0-9]*' $drv/jobs
rmmod leaktrend_test
echo 1 >$lt/scan
say "orphaned"
block suspects leaktrend_test_leak_a
