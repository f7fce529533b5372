# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# What the tests of pages share, beside lib.sh. Sourced, never run.

STACKS=$DEBUGFS/page_owner_stacks
STORM=$DIR/page_storm

# name|function that allocates|its caller|words, of a leak and of code that behaves
LEAKS="pages|pages|leak_a|site=a cache=pages order=1
large kmalloc|large|leak_a|site=a cache=large
vmalloc|vmalloc|leak_a|site=a cache=vmalloc
exact|exact|leak_a|site=a cache=exact
page_frag|page_frag|leak_a|site=a cache=page_frag size=2048
bulk|bulk|leak_a|site=a cache=bulk
head only|pages|caller_a|site=helper_a cache=headonly order=2"
CALM="site=b cache=pages order=2
site=b cache=large
site=b cache=vmalloc
site=b cache=exact
site=b cache=page_frag size=2048
site=b cache=bulk
site=helper_b cache=pages order=1"

EXACT=''
TMP=''
LEAKING='' CHURN=''
TALK_IN='' TALK_OUT='' TALK_PID=''

# pages_require: what lt_require does, and what pages need; EXACT is "exact" or empty.
pages_require() {
	lt_require
	[ -w "$LT/classes" ] || skip_all "this leaktrend does not count pages"
	[ -x "$STORM" ] || skip_all "no page_storm beside the test"
	[ "$(status_get pages_counted)" != exact ] || EXACT=exact
	TMP=$(mktemp -d /tmp/pages.XXXXXX) || skip_all "no room in /tmp"
	trap pages_restore EXIT
}

# shellcheck disable=SC2317,SC2329 # called by the trap
pages_restore() {
	rm -rf "$TMP"
	echo default >"$LT/classes"
	lt_restore
}

# detector: defaults but for size and age, which would take hours.
detector() {
	set_tunable sample_rate 1
	set_tunable min_rounds 8
	set_tunable elder_rounds 4
	set_tunable min_bytes 8K
	set_tunable min_age_ms 10
	clear_all
}

drop_load() {
	echo all >"$MOD/stop"
	echo all >"$MOD/free"
}

# ---- Counts ----

# page_sites CALLER CACHE [FILE]: sites of what the caller got of a cache.
page_sites() {
	local cache=$2

	[ "$cache" != headonly ] || cache=pages
	sites_through "${3:-trends}" page "leaktrend_test_$1" "leaktrend_test_$cache"
}

# compare_pages JOB SITES WHEN: the sites' figures with the job's.
compare_pages() {
	want_true "job $1 is gone" job_read "$1" || return
	site_read "$2"
	want "allocs $3" "$S_allocs" "$J_page_allocs"
	want "frees $3" "$S_frees" "$J_page_frees"
	want "outstanding $3" "$S_outstanding" "$J_pages"
	want "bytes $3" "$S_bytes" $((J_pages * 4096))
	want "errors $3" "$J_errors" 0
}

# ---- Leaks, and what behaves ----

# start_leaks: sets LEAKING. The count is more than any test takes, and less than what
# the machine has.
start_leaks() {
	local name cache caller words lose

	LEAKING=
	while IFS='|' read -r name cache caller words; do
		lose=1/1
		case $words in
		*headonly*) lose=0 ;;
		esac
		job_start "rate=100 count=5000 lose=$lose live=4 $words" ||
			unmet "cannot start: $words"
		LEAKING+=" $JOB"
	done <<<"$LEAKS"
	while read -r words; do
		job_start "rate=100 live=10 $words" || unmet "cannot start: $words"
	done <<<"$CALM"
}

# start_churn: sets CHURN. They keep much for a while; what they lose has a limit.
start_churn() {
	local words

	CHURN=
	while read -r words; do
		job_start "rate=2000 live=300 $words" || unmet "cannot start: $words"
		CHURN+=" $JOB"
	done <<<"$CALM"
	job_start "rate=2000 count=2000 cache=headonly order=2" || unmet "cannot start a job"
	job_start "rate=2000 count=2000 cache=pages lose=1/2" || unmet "cannot start a job"
}

# made JOBS ALLOCS: waits until each has made so many more allocations.
made() {
	local job
	local -A target

	for job in $1; do
		job_read "$job" || return 1
		target[$job]=$((J_allocs + $2))
	done
	for job in $1; do
		wait_for 60 job_has "$job" allocs "${target[$job]}" || {
			unmet "job $job makes no progress"
			return 1
		}
	done
}

# round_after_all JOBS ALLOCS: a round once they have.
round_after_all() {
	made "$1" "$2" && scan
}

# ---- A process ----

# start_process COMMAND...: one that talks to the test; TALK_IN, TALK_OUT, TALK_PID.
start_process() {
	coproc "$@"
	# Its array is unset as soon as it ends.
	TALK_IN=${COPROC[0]} TALK_OUT=${COPROC[1]} TALK_PID=$COPROC_PID
}

# grow: what was started with "$STORM" grow takes more memory.
grow() {
	local answer=

	echo more >&"$TALK_OUT"
	read -r -t 60 answer <&"$TALK_IN"
	want "answer of a process" "$answer" ok
}

stop_process() {
	exec {TALK_OUT}>&-
	wait "$TALK_PID" 2>/dev/null
}
