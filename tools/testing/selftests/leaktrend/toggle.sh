#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tracking can be switched off, on and purged at any time, under any load.
#
# Test labs switch tracking on a running machine, between two runs. What was
# allocated before is freed after, on other CPUs and in interrupts; its samples are
# gone then, and a free that finds none must do nothing. Jobs of several kinds run
# while tracking is switched and cleared and the files are read; then a fresh
# start must be exact again.
#
# Core regression: after a purge nothing is left, no figure is ever negative, and
# exactness holds again afterwards.

# shellcheck source=lib.sh
source "$(dirname "$(readlink -f "$0")")"/lib.sh

LOAD="cache=kmalloc
cache=own path=bulk site=b live=500
path=kfree_rcu site=b
cache=rcu site=helper_a lose=1/50
path=remote site=helper_b live=100
ctx=hardirq
ctx=softirq site=b"

lt_require
missed=$(status_get missed_frees)
CPUS=$(grep -c "^processor" /proc/cpuinfo)
RT=$(uname -v | grep PREEMPT_RT)

start_load() {
	local words

	while read -r words; do
		case $words in
		*remote*) [ "$CPUS" -ge 2 ] || continue ;;
		*hardirq*) [ -z "$RT" ] || continue ;;
		esac
		# As fast as a slow machine does with time left for the test.
		job_start "rate=5000 $words" || ktap_exit_fail_msg "cannot start a job: $words"
	done <<<"$LOAD"
}

stop_load() {
	echo all >"$MOD/stop"
	echo all >"$MOD/free"
}

# shellcheck disable=SC2317,SC2329 # called by wait_for
samples_taken() {
	[ "$(status_get samples_live)" -gt 0 ] && [ "$(status_get samples_taken)" -gt 0 ]
}

# shellcheck disable=SC2317,SC2329 # called by wait_for
no_samples() { [ "$(status_get samples_live)" -eq 0 ]; }

# Nothing is left when tracking is off, however busy the machine is.
want_empty() {
	want "state" "$(status_get state)" standby
	# One that was being taken as tracking went off may take a moment to go.
	want_true "live samples when off" wait_for 5 no_samples
	want "sites when off" "$(status_get sites)" 0
	want "outstanding objects when off" "$(status_get outstanding_objects)" 0
	want "outstanding bytes when off" "$(status_get outstanding_bytes)" 0
	want "lines of sites when off" "$(wc -l <"$LT/sites")" 1
	want "lines of objects when off" "$(wc -l <"$LT/objects")" 0
	want "blocks of trends when off" "$(grep -c "^site #" "$LT/trends")" 0
	[ -z "$WHY" ]
}

# test_cycles RATE TIMES
test_cycles() {
	local i

	set_tunable sample_rate "$1"
	start_load
	for ((i = 1; i <= $2; i++)); do
		echo 0 >"$LT/enable"
		want_empty || break
		echo 1 >"$LT/enable"
		want_true "no samples after switching on ($i)" wait_for 20 samples_taken || break
		scan
		want "unsound lines after a round ($i)" "$(unsound)" "" || break
		clear_all
		want "state after clear" "$(status_get state)" on || break
		want_true "no samples after clear ($i)" wait_for 20 samples_taken || break
		want "unsound lines after clear ($i)" "$(unsound)" "" || break
	done
	stop_load
	want "unsound lines in the end" "$(unsound)" ""
	result "off, on and cleared under load at rate $1"
}

# The same, while others do nothing but read, run rounds and change tunables.
test_readers() {
	local i pids='' f cycles=15

	set_tunable sample_rate 5
	start_load
	for f in sites trends suspects objects status; do
		while :; do
			cat "$LT/$f" >/dev/null || exit
		done &
		pids+=" $!"
	done
	while :; do
		# Not possible while tracking is off.
		echo 1 >"$LT/scan"
		echo $((RANDOM % 50 + 2)) >"$LT/sample_rate"
		echo $((RANDOM % 60 + 1)) >"$LT/stack_depth"
	done 2>/dev/null &
	pids+=" $!"

	for ((i = 1; i <= cycles; i++)); do
		echo 0 >"$LT/enable"
		want "sites when off" "$(status_get sites)" 0 || break
		echo 1 >"$LT/enable"
		clear_all
		want "unsound lines ($i)" "$(unsound)" "" || break
	done
	# shellcheck disable=SC2086 # several
	kill $pids
	# shellcheck disable=SC2086 # several
	wait $pids 2>/dev/null
	stop_load
	set_tunable stack_depth "${SAVED[stack_depth]}"
	result "off, on and cleared under readers and rounds"
}

# What a purge has forgotten may be freed; the site, new by then, must not notice.
test_stale_frees() {
	local how sites

	set_tunable sample_rate 1
	for how in clear enable; do
		clear_all
		job_start "count=1000 lose=1/2" || unmet "cannot start a job"
		job_wait "$JOB"
		if [ $how = clear ]; then
			clear_all
		else
			echo 0 >"$LT/enable"
			echo 1 >"$LT/enable"
		fi
		want "sites after $how" "$(sites_in trends leaktrend_test_leak_a)" ""
		# A new job makes the site anew; then the old objects go.
		local old=$JOB
		job_start "count=100 lose=1/1"
		job_wait "$JOB"
		sites=$(sites_in trends leaktrend_test_leak_a)
		job_stop "$old"
		job_free "$old"
		site_read "$sites"
		want "allocs after $how" "$S_allocs" 100
		want "frees after $how" "$S_frees" 0
		want "outstanding after $how" "$S_outstanding" 100
		job_free "$JOB"
		site_read "$sites"
		want "frees of the new ones after $how" "$S_frees" 100
		want "outstanding in the end after $how" "$S_outstanding" 0
		want "unsound lines after $how" "$(unsound)" ""
	done
	result "frees of what was purged"
}

# Objects allocated while tracking was off are none of its business.
test_while_off() {
	local sites

	set_tunable sample_rate 1
	clear_all
	echo 0 >"$LT/enable"
	job_start "count=1000 lose=1/2"
	job_wait "$JOB"
	echo 1 >"$LT/enable"
	job_stop "$JOB"
	job_free "$JOB"
	sites=$(sites_in trends leaktrend_test_leak_a)
	want "sites" "$sites" ""
	want "unsound lines" "$(unsound)" ""
	result "objects of the time when tracking was off"
}

# Writing 1 when tracking is on changes nothing.
test_enable_twice() {
	local sites

	set_tunable sample_rate 1
	clear_all
	job_start "count=500 lose=1/1"
	job_wait "$JOB"
	scan
	sites=$(sites_in trends leaktrend_test_leak_a)
	echo 1 >"$LT/enable"
	want "sites" "$(sites_in trends leaktrend_test_leak_a)" "$sites"
	want "rounds" "$(cat "$LT/scan")" "$(status_get rounds)"
	site_read "$sites"
	want "outstanding" "$S_outstanding" 500
	job_free "$JOB"
	result "switching on what is on"
}

test_exact_again() {
	local sites words

	echo 0 >"$LT/enable"
	echo 1 >"$LT/enable"
	set_tunable sample_rate 1
	for words in "cache=own" "path=kfree_rcu site=b" "cache=rcu path=bulk"; do
		clear_all
		job_start "count=1000 lose=1/3 $words" || unmet "cannot start a job"
		job_wait "$JOB"
		job_read "$JOB"
		case $words in
		*site=b*) sites=$(sites_in trends leaktrend_test_leak_b) ;;
		*) sites=$(sites_in trends leaktrend_test_leak_a) ;;
		esac
		site_read "$sites"
		want "allocs ($words)" "$S_allocs" "$J_allocs"
		want "frees ($words)" "$S_frees" "$J_frees"
		want "outstanding ($words)" "$S_outstanding" $((J_held + J_lost))
		job_stop "$JOB"
		job_free "$JOB"
		site_read "$sites"
		want "outstanding in the end ($words)" "$S_outstanding" 0
	done
	result "exact again"
}

test_log() {
	local lines

	lines=$(splats)
	want "the kernel's log" "$lines" ""
	want "missed frees" "$(status_get missed_frees)" "$missed"
	result "nothing broke"
}

ktap_set_plan 8
test_cycles 1 15
test_cycles 20 30
test_readers
test_stale_frees
test_while_off
test_enable_twice
test_exact_again
test_log
ktap_finished
