#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What tracking costs is bounded, and what it says stays right meanwhile.
#
# A rate that suits a quiet machine is too much for a busy one. With max_overhead the
# tracker takes fewer samples while they would cost more, and as many as before when the
# load is over. Objects that were sampled at different rates are outstanding then, and
# their number must still be right within the error that is stated.
#
# Core regression: the effective rate rises under load, comes back without it, and no
# estimate is biased by that.

# shellcheck source=lib.sh
source "$(dirname "$(readlink -f "$0")")"/lib.sh

RATE=10
# To wait without starting processes, which would be load.
exec {pause}<> <(:)

# rate_now: sets NOW to the rate in force, and starts no process either.
rate_now() {
	local key value

	while read -r key value; do
		[ "$key" != effective_rate: ] || NOW=$value
	done <"$LT/status"
}

# wait_rate TEST VALUE: until the rate is so, for a while.
wait_rate() {
	local end=$((SECONDS + 30))

	until rate_now && test "$NOW" "$1" "$2"; do
		((SECONDS < end)) || return 1
		read -r -t 0.1 -u "$pause" || true
	done
}

# More samples than any machine takes in 1 % of its time.
overload() {
	set_tunable sample_rate $RATE
	set_tunable max_overhead 10
	job_start "rate=1000000 lose=1/10" || unmet "cannot start a job"
}

test_rises_and_falls() {
	clear_all
	set_tunable sample_rate $RATE
	rate_now
	want "rate without a limit" "$NOW" $RATE
	overload
	want_true "does not rise: $NOW" wait_rate -ge $((4 * RATE))
	want "sample_rate" "$(cat "$LT/sample_rate")" $RATE
	job_stop "$JOB"
	want_true "does not fall to $RATE" wait_rate -eq $RATE
	job_free "$JOB"
	result "the rate rises under load, and falls after it"
}

test_estimates() {
	local sites truth off

	clear_all
	overload
	wait_rate -ge $((4 * RATE)) || unmet "the rate does not rise"
	wait_for 60 job_has "$JOB" lost 20000 || unmet "the job is too slow"
	job_stop "$JOB"
	job_read "$JOB"
	sites=$(sites_in trends leaktrend_test_leak_a)
	site_read "$sites"
	truth=$((J_held + J_lost))
	off=$((S_outstanding - truth))
	want_true "exact, so that nothing is tested" [ "$S_error" -gt 0 ]
	# Five standard errors, which are in thousandths.
	want_true "outstanding is $S_outstanding, in truth $truth, error $S_error" \
		[ $((${off#-} * 1000)) -le $((5 * S_error * S_outstanding)) ]
	job_free "$JOB"
	site_read "$sites"
	want "outstanding in the end" "$S_outstanding" 0
	result "estimates while the rate changes"
}

test_no_limit() {
	set_tunable sample_rate 1
	set_tunable max_overhead 0
	clear_all
	job_start "count=20000 lose=1/10" || unmet "cannot start a job"
	job_wait "$JOB"
	rate_now
	want "rate" "$NOW" 1
	job_read "$JOB"
	site_read "$(sites_in trends leaktrend_test_leak_a)"
	want "allocs" "$S_allocs" "$J_allocs"
	want "outstanding" "$S_outstanding" $((J_held + J_lost))
	# A limit that is taken back takes effect at once.
	overload
	wait_rate -ge $((4 * RATE)) || unmet "the rate does not rise"
	set_tunable max_overhead 0
	rate_now
	want "rate without a limit" "$NOW" $RATE
	echo all >"$MOD/stop"
	echo all >"$MOD/free"
	result "without a limit every object is a sample"
}

lt_require
ktap_set_plan 3
test_rises_and_falls
test_estimates
test_no_limit
ktap_finished
