#!/bin/bash
# The matrix' part in the guest: all scenarios at once, ordinary work beside
# them, and what leaktrend says of it, round after round. Leaves in /out:
#
#   suspects	the file, each time it was read, behind a line "=== ROUND MS"
#   trends	the same of trends, often enough to have every round
#   truth	what the scenarios really lost
#   events	"MS what" for what user space did
#   status	at the end
#   ignored	what the ignore list has hidden
#   run		how it was run, "name=value …"
#
# Environment: SEED, ROUNDS, ROUND_MS, SPEED (percent), MIN_BYTES.

# shellcheck disable=SC2317,SC2086,SC2217 # jobs are called by their names; paths without blanks; files held open

lt=/sys/kernel/debug/leaktrend
scn=/sys/kernel/debug/leaktrend_scenarios
drv=/sys/kernel/debug/leaktrend_test
age_rounds=60
min_rounds=8

die() { echo "quality: $*" >&2; exit 1; }

# shellcheck source=ignore.sh
. /root/ignore.sh
# shellcheck source=../peers.sh
[ -z "$PEERS" ] || . /root/peers.sh

now_ms() {
	local up

	read -r up _ </proc/uptime
	echo $((10#${up/./} * 10))
}

# Rounds that have ended. Where leaktrend is off, time says how many there would be.
round_now() {
	if [ -n "$PEERS" ]; then
		echo $(($(now_ms) / ROUND_MS))
	else
		cat $lt/scan
	fi
}

# until_round N [COMMAND…]: do this in every round up to that one of the run.
until_round() {
	while (($(round_now) < first + $1)); do
		"${@:2}"
		rest 1
	done
}

event() { echo "$(now_ms) $*" >>/out/events; }

# rest N: for N rounds.
rest() { usleep $(($1 * ROUND_MS * 1000)); }

module() {
	find /kselftest /lib/modules -name "$1.ko" | head -n 1
}

# ---- Ordinary work, and growth that is none ----

# Files, processes and pipes that come and go.
ordinary_work() {
	while :; do
		head -c 100000 /dev/zero | gzip >/tmp/work.gz
		rm /tmp/work.gz
		usleep 50000
	done
}

# N1: a large tree is walked, so that dentries and inodes are cached.
walk() {
	local pid pids=

	for _ in {1..60}; do
		sleep 100000 &
		pids+=" $!"
	done
	while :; do
		event "walk begins"
		for pid in $pids; do
			find "/proc/$pid" >/dev/null 2>&1
			usleep 100000
		done
	done
}

# N6: the page cache grows, and its tree with it. Without reclaim: what a tmpfs
# holds does not get less by it.
page_cache() {
	event "page cache begins to grow"
	until_round $((ROUNDS / 2 - 10)) head -c 1500000 /dev/zero >>/tmp/grows
	rm /tmp/grows
	event "page cache given back"
}

# N9: more and more processes with open files, which then end. It is over before
# it has lasted long enough for a leak.
fork_storm() {
	local n pids

	while :; do
		event "fork storm begins"
		pids=
		for ((n = 0; n < age_rounds / 2; n++)); do
			for _ in 1 2 3; do
				sleep 100000 </proc/self/maps 8</proc/version 9</etc/passwd &
				pids+=" $!"
			done
			rest 1
		done
		# shellcheck disable=SC2086 # several
		kill $pids
		event "fork storm ends"
		rest 10
	done
}

# N12: buffers of the kernel are made larger, and smaller again.
buffers() {
	local kb

	[ -w /sys/kernel/tracing/buffer_size_kb ] || die "this kernel has no trace buffer"
	while :; do
		for kb in 256 512 768 1024 1280 1536 1792 2048; do
			echo $kb >/sys/kernel/tracing/buffer_size_kb
			echo "quality: a line for the kernel log" >/dev/kmsg
			rest 3
		done
		event "trace buffer is large"
		rest 30
		echo 256 >/sys/kernel/tracing/buffer_size_kb
	done
}

# N10: a module that sets up its tables when it is loaded.
tables() {
	insmod "$(module leaktrend_tables)" || die "cannot load leaktrend_tables"
	event "module with tables loaded"
	rest 100
	rmmod leaktrend_tables
	rest 10
	insmod "$(module leaktrend_tables)"
}

# 17: a module goes and leaves its objects behind.
orphans() {
	rest $((ROUNDS / 3))
	insmod "$(module leaktrend_test)" keep=1 || die "cannot load leaktrend_test"
	echo "name=orphans size=256 rate=500 lose=1/5 site=b" >$drv/start
	rest 40
	# The truth, before it is gone with its module.
	sed -n 's/.*name=orphans .* lost=\([0-9]*\) bytes=.*/17 orphans leaktrend_test_leak_b gone 0 \1/p' \
		$drv/jobs >/out/orphans
	echo all >$drv/stop
	rmmod leaktrend_test
	event "module gone with objects outstanding"
}

# Slab reclaim runs in the second half, for caches that should be smaller then.
reclaim() {
	until_round $((ROUNDS / 2))
	event "reclaim begins"
	while :; do
		echo 2 >/proc/sys/vm/drop_caches
		rest 10
	done
}

# ---- Who looks on ----

leaktrend_begins() {
	[ -d $lt ] || die "this kernel has no leaktrend"
	echo "$ROUND_MS" >$lt/interval_ms
	echo "$MIN_BYTES" >$lt/min_bytes
	echo $min_rounds >$lt/min_rounds
	echo $((age_rounds * ROUND_MS)) >$lt/min_age_ms
	# As on a machine that is looked after.
	ignore_load /root/ignore.list
	[ -n "$(cat $lt/ignore)" ] || die "the list of what to ignore is missing"
}

leaktrend_watches() {
	local last_trends=$first round

	while :; do
		round=$(<$lt/scan)
		echo "=== $((round - first)) $(now_ms)" >>/out/suspects
		cat $lt/suspects >>/out/suspects
		if ((round - last_trends >= 20)); then
			last_trends=$round
			echo "=== $((round - first)) $(now_ms)" >>/out/trends
			cat $lt/trends >>/out/trends
		fi
		((round - first < ROUNDS)) || break
		rest 3
	done
	cat $lt/status >/out/status
	cat $lt/ignore >/out/ignored
}

peers_begin() { peers_before /out/peers; }

peers_watch() {
	rest "$ROUNDS"
	peers_after /out/peers
	peers_reports /out/peers
	ls /out/peers/growth.* >/out/status || die "none of the other detectors is on"
}

# ---- The run ----

rate=$(cat $lt/sample_rate 2>/dev/null)
echo "seed=$SEED rounds=$ROUNDS round_ms=$ROUND_MS speed=$SPEED min_bytes=$MIN_BYTES" \
	"min_rounds=$min_rounds age_rounds=$age_rounds rate=${rate:-0}" >/out/run

insmod "$(module leaktrend_scenarios)" seed="$SEED" round_ms="$ROUND_MS" speed="$SPEED" \
	age_rounds=$age_rounds late_rounds=$((ROUNDS / 2)) || die "cannot load leaktrend_scenarios"

if [ -z "$PEERS" ]; then leaktrend_begins; else peers_begin; fi
jobs='' first=$(round_now)
for job in ordinary_work walk page_cache fork_storm buffers tables orphans reclaim; do
	$job &
	jobs+=" $!"
done
echo all >$scn/start || die "cannot start the scenarios"
event "scenarios started in round $first"
if [ -z "$PEERS" ]; then leaktrend_watches; else peers_watch; fi

# The scenarios' own clock is what lost objects are dated with.
cat $scn/list >/out/truth
[ ! -f /out/orphans ] || cat /out/orphans >>/out/truth
kill $jobs 2>/dev/null
echo all >$scn/stop
exit 0
