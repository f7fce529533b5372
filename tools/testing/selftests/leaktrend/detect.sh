#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# leaktrend finds what leaks, and only that.
#
# Leaks of several kinds run next to code that behaves; after a bounded number of
# rounds the leak is LIKELY_LEAK under the function that loses the objects, and the
# rest is not suspected in any round. What looks like a leak for a while (a pool
# that fills, a burst, a cache that grows because nobody needs the memory) is
# not called one. Estimates of sampled sites stay within five standard errors of
# the truth, which the test module knows.
#
# Rounds are triggered by what has been allocated, not by time: a slow machine
# takes longer and sees the same.
#
# Core regression: 64 bytes lost in one of ten calls of a busy site are found at
# the default rate of 1 in 100.

# shellcheck source=lib.sh
source "$(dirname "$(readlink -f "$0")")"/lib.sh

# A leak has this many rounds to be found.
BOUND=24

# detector MIN_BYTES RATE: defaults but for size and age, which would take hours.
detector() {
	echo clear >"$LT/ignore"
	set_tunable interval_ms $NEVER_MS
	set_tunable sample_rate "$2"
	set_tunable min_rounds 8
	set_tunable elder_rounds 4
	set_tunable min_bytes "$1"
	set_tunable min_age_ms 10
	clear_all
}

# verdict FUNCTION [OTHER]: of the only site of it; "" when there is none, and
# each when there are several.
verdict() {
	local site all=

	for site in $(sites_in trends "$1" "$2"); do
		site_read "$site"
		all+="${all:+ }$S_verdict"
	done
	echo "$all"
}

# round_after JOB ALLOCS: a round once the job has made so many more allocations.
round_after() {
	job_read "$1" || return 1
	wait_for 60 job_has "$1" allocs $((J_allocs + $2)) || {
		unmet "job $1 makes no progress"
		return 1
	}
	scan
}

drop_load() {
	echo all >"$MOD/stop"
	echo all >"$MOD/free"
}

# never_suspect FUNCTION ROUND
never_suspect() {
	want "suspects in $1 in round $2" "$(sites_in suspects "leaktrend_test_$1")" ""
}

# A leak beside code of the same size that behaves. ARGS: sample rate,
# allocations per round.
test_leak() {
	local leak noise round site found='' block

	detector 8K "$1"
	# What nothing hides shows in the low-water mark, without any elders.
	set_tunable elder_rounds 31
	job_start "rate=$3 lose=1/1"
	leak=$JOB
	job_start "rate=$3 site=b live=100"
	noise=$JOB
	for ((round = 1; round <= BOUND; round++)); do
		round_after "$leak" "$2" || break
		never_suspect leak_b $round || break
		[ "$(verdict leaktrend_test_leak_a)" != LIKELY_LEAK ] || { found=$round; break; }
	done
	want_true "not found in $BOUND rounds" [ -n "$found" ] ||
		ktap_print_msg "$(site_block "$(sites_in trends leaktrend_test_leak_a)")"
	site=$(sites_in suspects leaktrend_test_leak_a)
	block=$(site_block "$site" suspects)
	want "status" "$(echo "$block" | sed -n 's/^status  : //p')" LIKELY_LEAK
	want "first line of the stack" \
		"$(echo "$block" | sed -n '/^stack trace:/ { n; s/+.*//; p; }')" \
		" leaktrend_test_leak_a"
	want_true "the job that behaves has done nothing" job_has "$noise" frees 1000

	# A leak that was repaired and given back is no suspect for ever.
	drop_load
	site_read "$site"
	want "outstanding when given back" "$S_outstanding" 0
	scan
	want "suspects when given back" "$(sites_in suspects leaktrend_test_leak_a)" ""
	result "leak at rate $1 (round ${found:-none})"
}

# Size, age and growth must come together.
test_three_rules() {
	local round site

	detector 1G 1
	set_tunable min_age_ms 2592000000
	job_start "rate=2000 lose=1/1"
	for ((round = 1; round <= 16; round++)); do
		round_after "$JOB" 200 || break
		want_true "LIKELY_LEAK without size and age" \
			[ "$(verdict leaktrend_test_leak_a)" != LIKELY_LEAK ] || break
	done
	want "growth only" "$(verdict leaktrend_test_leak_a)" GROWING
	want_true "GROWING is no suspect" [ -n "$(sites_in suspects leaktrend_test_leak_a)" ]
	set_tunable min_bytes 8K
	round_after "$JOB" 200
	want "growth and size" "$(verdict leaktrend_test_leak_a)" GROWING
	set_tunable min_bytes 1G
	set_tunable min_age_ms 10
	round_after "$JOB" 200
	want "growth and age" "$(verdict leaktrend_test_leak_a)" GROWING
	set_tunable min_bytes 8K
	# Once could be chance.
	round_after "$JOB" 200
	round_after "$JOB" 200
	want "growth, size and age" "$(verdict leaktrend_test_leak_a)" LIKELY_LEAK
	site=$(sites_in trends leaktrend_test_leak_a)
	site_read "$site"
	want "surviving generations of a leak" "$S_generations" 8
	drop_load
	result "size, age and growth"
}

# A site that has been large for long, and grows a little: what was there before does not
# count. (Thread stacks were called a leak for two more of them.)
test_large_before() {
	local round verdict

	detector 64K 1
	# 2000 objects of 64 bytes, twice as much as a leak must be, and at rest.
	job_start "count=2000 lose=1/1" || unmet "cannot start a job"
	job_wait "$JOB"
	# Longer than single rounds are remembered.
	scan 40
	for ((round = 1; round <= 16; round++)); do
		job_start "count=20 lose=1/1" || unmet "cannot start a job"
		job_wait "$JOB"
		scan
		verdict=$(verdict leaktrend_test_leak_a)
		want_true "LIKELY_LEAK by $((20 * round)) objects" \
			[ "$verdict" != LIKELY_LEAK ] || break
	done
	want "verdict" "$verdict" GROWING
	want_true "size is not missing" grep -q "^missing : size ([0-9]* of 65536 bytes)" \
		<<<"$(site_block "$(sites_in suspects leaktrend_test_leak_a)" suspects)"
	# As much as a leak must be, and then it is one.
	for ((round = 1; round <= 10; round++)); do
		job_start "count=100 lose=1/1" || unmet "cannot start a job"
		job_wait "$JOB"
		scan
	done
	want "verdict in the end" "$(verdict leaktrend_test_leak_a)" LIKELY_LEAK
	drop_load
	result "what has grown, not what is there"
}

# A tenth of a busy site's objects is lost; rounds come by themselves.
test_field_case() {
	local per_hour leak got found=''

	detector 256K 100
	set_tunable min_age_ms 1500
	job_start "rate=20000 lose=1/10 size=64"
	leak=$JOB
	job_start "rate=2000 site=b size=64 live=1000"
	set_tunable interval_ms 250
	wait_for 60 found_leak_a && found=1
	want_true "not found after $(cat "$LT/scan") rounds" [ -n "$found" ] ||
		ktap_print_msg "$(site_block "$(sites_in trends leaktrend_test_leak_a)")"
	# Ten samples can rise for some rounds.
	want_true "what behaves is LIKELY_LEAK" \
		[ "$(verdict leaktrend_test_leak_b)" != LIKELY_LEAK ]

	# What is said of it is about right: twice the truth would be a lie.
	job_read "$leak"
	site_read "$(sites_in trends leaktrend_test_leak_a)"
	per_hour=$((J_lost * $(object_size "$S_cache") * 3600 / (J_ms / 1000 + 1)))
	got=$S_growth
	want_true "growth of $got bytes/h is not near the true $per_hour" \
		[ "$got" -gt $((per_hour / 2)) ]
	want_true "growth of $got bytes/h is not near the true $per_hour" \
		[ "$got" -lt $((per_hour * 2)) ]
	ktap_print_msg "$J_allocs allocations and $J_lost lost in $J_ms ms, growth $got bytes/h"
	set_tunable interval_ms $NEVER_MS
	drop_load
	result "64 bytes in one of ten calls, at the default rate"
}

# The same under so much churn that the total, hence its low-water mark, is noise: 200
# samples more or less 14, of which one or two more are lost in a round. Elders show it.
test_under_churn() {
	local round found=''

	detector 8K 100
	job_start "lose=1/1000 live=20000"
	for ((round = 1; round <= BOUND; round++)); do
		round_after "$JOB" 100000 || break
		[ "$(verdict leaktrend_test_leak_a)" != LIKELY_LEAK ] || { found=$round; break; }
	done
	want_true "not found in $BOUND rounds" [ -n "$found" ] ||
		ktap_print_msg "$(site_block "$(sites_in trends leaktrend_test_leak_a)")"
	drop_load
	result "leak under churn at rate 100 (round ${found:-none})"
}

# shellcheck disable=SC2317,SC2329 # called by wait_for
found_leak_a() { [ "$(verdict leaktrend_test_leak_a)" = LIKELY_LEAK ]; }

# Memory that is taken once and kept: neither at first nor later a leak.
# ARGS: sample rate, objects.
test_burst() {
	local round churn

	detector 8K "$1"
	# Something that goes on, so that rounds are not empty.
	job_start "rate=2000 site=b"
	churn=$JOB
	round_after "$churn" 200
	job_start "count=$2 lose=1/1"
	job_wait "$JOB"
	for ((round = 1; round <= 24; round++)); do
		scan
		want_true "LIKELY_LEAK in round $round after the burst" \
			[ "$(verdict leaktrend_test_leak_a)" != LIKELY_LEAK ] || break
	done
	want "in the end" "$(verdict leaktrend_test_leak_a)" NONE
	want "suspects" "$(sites_in suspects leaktrend_test_leak_a)" ""
	site_read "$(sites_in trends leaktrend_test_leak_a)"
	want_true "$S_generations generations of a burst" [ "$S_generations" -le 1 ]
	drop_load
	result "burst, then flat, at rate $1"
}

# The same from a site that had been quiet for long: one step is no trend.
test_step() {
	local round

	detector 8K 1
	job_start "count=300 lose=1/1"
	job_wait "$JOB"
	scan 16
	job_start "count=5000 lose=1/1"
	job_wait "$JOB"
	for ((round = 1; round <= 24; round++)); do
		scan
	done
	want "in the end" "$(verdict leaktrend_test_leak_a)" NONE
	drop_load
	result "step of a site that was quiet"
}

# Every round takes more than the last one, but all goes back in between.
test_waves() {
	local round

	detector 8K 1
	for ((round = 1; round <= 16; round++)); do
		job_start "count=$((round * 100)) lose=1/1"
		job_wait "$JOB"
		job_free "$JOB"
		job_start "count=$((round * 100)) lose=1/1"
		job_wait "$JOB"
		scan
		never_suspect leak_a $round || break
		job_free "$JOB"
	done
	drop_load
	result "growing waves that go away"
}

# Reclaimable memory grows because nobody needs it.
test_cache_growth() {
	local round

	detector 8K 1
	job_start "rate=2000 lose=1/1 cache=reclaim"
	for ((round = 1; round <= 14; round++)); do
		round_after "$JOB" 200 || break
		want_true "LIKELY_LEAK in round $round" \
			[ "$(verdict leaktrend_test_leak_a)" != LIKELY_LEAK ] || break
	done
	want "in the end" "$(verdict leaktrend_test_leak_a)" CACHE_GROWTH
	want_true "CACHE_GROWTH is no suspect" [ -n "$(sites_in suspects leaktrend_test_leak_a)" ]
	drop_load
	result "reclaimable cache"
}

# Two callers share a helper; one of them leaks.
test_helper() {
	local round leak found='' helper=leaktrend_test_helper

	detector 8K 1
	job_start "rate=2000 lose=1/1 site=helper_a"
	leak=$JOB
	job_start "rate=2000 site=helper_b live=100"
	for ((round = 1; round <= BOUND; round++)); do
		round_after "$leak" 200 || break
		want "suspects through the other caller in round $round" \
			"$(sites_in suspects $helper leaktrend_test_caller_b)" "" || break
		[ "$(verdict $helper leaktrend_test_caller_a)" != LIKELY_LEAK ] ||
			{ found=1; break; }
	done
	want_true "not found in $BOUND rounds" [ -n "$found" ]
	want "sites of the helper" "$(sites_in trends $helper | wc -l)" 2
	drop_load
	result "helper of two callers"
}

# near WHAT GOT TRUTH VARIANCE: within five standard errors, of which the variance
# is the square.
near() {
	local d=$(($2 - $3))

	want_true "$1: estimate $2 of $3 is off by more than five standard errors" \
		[ $((d * d)) -le $((25 * $4)) ]
}

# With a mean gap of R, N objects make N/R samples of weight R: variance R*N.
test_estimate() {
	local sites

	detector 8K 100
	job_start "count=200000 lose=1/4 live=1000"
	job_wait "$JOB"
	job_read "$JOB"
	sites=$(sites_in trends leaktrend_test_leak_a)
	site_read "$sites"
	near "allocs" "$S_allocs" "$J_allocs" $((100 * J_allocs))
	near "frees" "$S_frees" "$J_frees" $((100 * J_frees))
	near "outstanding" "$S_outstanding" $((J_held + J_lost)) $((100 * (J_held + J_lost)))
	want "allocs - frees" $((S_allocs - S_frees)) "$S_outstanding"
	# The error that is shown is the standard error, more or less.
	want_true "error of $S_error per mille" [ "$S_error" -ge 20 ]
	want_true "error of $S_error per mille" [ "$S_error" -le 100 ]
	job_stop "$JOB"
	job_free "$JOB"
	site_read "$sites"
	want "outstanding when all is given back" "$S_outstanding" 0
	result "estimate at rate 100"
}

# Samples keep the weight of their time: figures stay unbiased when the rate changes.
test_mixed_rates() {
	local sites variance=0 n first=''

	detector 8K 100
	for n in 200=20000 20=40000 1=3000 50=40000; do
		set_tunable sample_rate "${n%=*}"
		job_start "count=${n#*=} lose=1/1"
		job_wait "$JOB"
		first=${first:-$JOB}
		variance=$((variance + (${n%=*} - 1) * ${n#*=}))
	done
	sites=$(sites_in trends leaktrend_test_leak_a)
	site_read "$sites"
	near "outstanding" "$S_outstanding" 103000 $variance
	job_free "$first"
	site_read "$sites"
	near "outstanding without the first" "$S_outstanding" 83000 $((variance - 199 * 20000))
	drop_load
	site_read "$sites"
	want "outstanding when all is given back" "$S_outstanding" 0
	result "estimate over several rates"
}

# Churn is younger than any round; at 1 in 100 its total is noise, its elders are not.
test_churn() {
	local round job

	detector 8K 100
	job_start "rate=20000 live=5000"
	job=$JOB
	for ((round = 1; round <= 20; round++)); do
		round_after "$job" 6000 || break
		never_suspect leak_a $round || break
	done
	site_read "$(sites_in trends leaktrend_test_leak_a)"
	want "elders of churn" "$S_elders" 0
	want_true "$S_generations generations of churn" [ "$S_generations" -le 2 ]
	drop_load
	result "churn at rate 100"
}

# held SITE: which rules held for it in the last round.
held() {
	site_block "$1" | sed -n 's/^held    : //p'
}

# One object in 12 rounds: no 8 rounds rise in both halves, but 8 spans of 8 do.
test_slow_leak() {
	local round rules found=

	detector 0 1
	for ((round = 1; round <= 128; round++)); do
		if ((round % 12 == 1)); then
			job_start "count=1 lose=1/1"
			job_wait "$JOB"
		fi
		scan
		[ "$round" -gt 64 ] || never_suspect leak_a $round || break
		[ "$(verdict leaktrend_test_leak_a)" != LIKELY_LEAK ] || { found=$round; break; }
	done
	want_true "not found in 128 rounds" [ -n "$found" ]
	rules=$(held "$(sites_in trends leaktrend_test_leak_a)")
	want_true "held is '$rules'" grep -q ' over 8 x 8 rounds, ' <<<"$rules"
	drop_load
	result "slow leak (round ${found:-none})"
}

# leak_a_is VERDICT WHEN: what its only site must be.
leak_a_is() {
	want "verdict $2" "$(verdict leaktrend_test_leak_a)" "$1"
}

# grow_to_leak: starts a leak, JOB, and waits for the verdict.
grow_to_leak() {
	local round

	job_start "rate=2000 lose=1/1"
	for ((round = 1; round <= BOUND; round++)); do
		round_after "$JOB" 200 || break
		[ "$(verdict leaktrend_test_leak_a)" != LIKELY_LEAK ] || break
	done
}

# What stops growing says so, and what grows on is a leak again.
test_settles() {
	local site block when

	detector 8K 1
	for when in once again; do
		grow_to_leak
		leak_a_is LIKELY_LEAK "while it grows, $when"
		job_stop "$JOB"
		site=$(sites_in trends leaktrend_test_leak_a)
		# The elders rise for elder_rounds more, then it must be calm for min_rounds.
		scan 3
		leak_a_is LIKELY_LEAK "soon after, $when"
		scan 17
		leak_a_is SETTLED "when it has stopped, $when"
		want "suspect then" "$(sites_in suspects leaktrend_test_leak_a)" "$site"
		block=$(site_block "$site")
		want_true "when is not said" grep -q '^changed : [0-9.]* s ago$' <<<"$block"
	done
	echo all >"$MOD/free"
	scan
	want "suspect when given back" "$(sites_in suspects leaktrend_test_leak_a)" ""
	result "leak that stops, and begins again"
}

lt_require

ktap_set_plan 18
test_leak 1 200 2000
test_leak 100 2500 10000
test_three_rules
test_large_before
test_field_case
test_under_churn
test_burst 1 5000
test_burst 100 50000
test_step
test_waves
test_cache_growth
test_helper
test_estimate
test_mixed_rates
test_churn
test_slow_leak
test_settles

test_log
ktap_finished
