#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2317,SC2329 # are called by name
#
# Pages are counted as exactly as objects, and leaks of pages are found.
#
# Memory that a driver takes straight from the page allocator, by kmalloc() of a
# large size, vmalloc() or page_frag, is in no slab. It comes in blocks, which are
# split, given back in part, migrated and freed one by one: each is a way to lose
# count. The test module allocates and loses pages on every one of its paths and
# knows how many. For pages of everybody else see page_stacks.sh.
#
# Booted with page_owner=on a site is a stack of page_owner's, and exact at any
# rate; without, its figures are estimates, and exact at rate 1. Run it both ways.
#
# Core regression: outstanding pages == truth on every path; the caller that loses
# pages is LIKELY_LEAK, and memory of processes, page tables and the pages of slabs
# never are.

# shellcheck source=lib.sh
source "$(dirname "$(readlink -f "$0")")"/lib.sh
# shellcheck source=lib_pages.sh
source "$DIR"/lib_pages.sh

# A leak has this many rounds to be found.
BOUND=24
ALL_CLASSES="kernel reclaimable user page_table slab"

# name|cache that leaks|cache that behaves|words for both
CASES="order 0|pages|pages|order=0 count=1000
order 3|pages|pages|order=3 count=300
order 3, compound|pages|pages|order=3 comp=1 count=300
order 9|pages|pages|order=9 count=20 live=4
large kmalloc|large|large|count=300
large kmalloc, odd size|large|large|size=100000 count=100
vmalloc|vmalloc|vmalloc|count=300
vmalloc, 50 pages|vmalloc|vmalloc|size=200000 count=40
exact, 5 pages of 8|exact|exact|count=300
exact, 3 pages of 4|exact|exact|size=9000 count=300
page_frag|page_frag|page_frag|count=3000
page_frag, odd size|page_frag|page_frag|size=1000 count=2000
bulk|bulk|bulk|count=1000
head only, order 1|headonly|pages|order=1 count=500
head only, order 4|headonly|pages|order=4 count=100
freed on another CPU|pages|pages|order=2 count=300 path=remote
freed on another CPU, vmalloc|vmalloc|vmalloc|count=300 path=remote
freed on another CPU, page_frag|page_frag|page_frag|count=2000 path=remote
freed on another CPU, head only|headonly|pages|order=2 count=300 path=remote
hardirq|pages|pages|order=1 count=300 ctx=hardirq
hardirq, large kmalloc|large|large|count=200 ctx=hardirq
hardirq, page_frag|page_frag|page_frag|count=2000 ctx=hardirq
hardirq, head only|headonly|pages|order=2 count=200 ctx=hardirq
softirq, bulk|bulk|bulk|count=500 ctx=softirq
softirq, exact|exact|exact|count=200 ctx=softirq"

# ---- Counts ----

# compare_most JOB SITES WHEN: an interrupt that finds page_owner at work has no stack of
# its own there, so with page_owner some pages are counted at its dummy stack.
compare_most() {
	want_true "job $1 is gone" job_read "$1" || return
	site_read "$2"
	want_true "allocs $3 are $S_allocs of $J_page_allocs" \
		[ "$S_allocs" -le "$J_page_allocs" ] &&
		want_true "allocs $3 are $S_allocs of $J_page_allocs" \
			[ "$S_allocs" -ge $((J_page_allocs * 3 / 4)) ]
	want "outstanding $3" "$S_outstanding" $((S_allocs - S_frees))
	want_true "outstanding $3 are $S_outstanding of $J_pages" \
		[ "$S_outstanding" -le "$J_pages" ]
	want "errors $3" "$J_errors" 0
}

# run_case NAME CACHE CACHE WORDS: what leaks and what behaves, side by side.
run_case() {
	local name=$1 leaking=$2 behaving=$3 words=$4
	local lose=1/1 compare=compare_pages drops missed leak calm leak_sites calm_sites

	case $words in
	*path=remote*)
		[ "$CPUS" -ge 2 ] || { ktap_test_skip "$name: needs two CPUs"; return; } ;;
	*ctx=hardirq*)
		[ -z "$RT" ] || { ktap_test_skip "$name: not on PREEMPT_RT"; return; } ;;
	esac
	case $EXACT$words in
	exact*ctx=*) compare=compare_most ;;
	esac
	# It leaks what it frees.
	[ "$leaking" != headonly ] || lose=0

	clear_all
	drops=$(dropped)
	missed=$(status_get missed_frees)
	if want_true "cannot start a job" job_start "site=a cache=$leaking lose=$lose $words" &&
		leak=$JOB &&
		want_true "cannot start a job" job_start "site=b cache=$behaving $words"; then
		calm=$JOB
		job_wait "$leak"
		job_wait "$calm"
		# Then it is known what pages are for.
		scan
		leak_sites=$(page_sites leak_a "$leaking")
		calm_sites=$(page_sites leak_b "$behaving")
		$compare "$leak" "$leak_sites" "of the leak"
		want_true "nothing has leaked" [ "$J_pages" -ge "$((J_page_allocs / 2))" ]
		want "class of the leak" "$S_kind $S_class" "page kernel"
		# Of what behaves a stack can have no page left by now.
		job_read "$calm"
		site_read "$calm_sites"
		[ $compare = compare_most ] ||
			want "outstanding beside it" "$S_outstanding" "$J_pages"
		want_true "$S_outstanding outstanding beside it" [ "$S_outstanding" -le "$J_pages" ]
		want "allocs less frees beside it" $((S_allocs - S_frees)) "$S_outstanding"

		job_stop "$leak"
		job_stop "$calm"
		$compare "$leak" "$leak_sites" "of the leak after stop"
		site_read "$calm_sites"
		want "outstanding beside it after stop" "$S_outstanding" 0
		job_free "$leak"
		$compare "$leak" "$leak_sites" "of the leak after free"
		want "outstanding in the end" "$S_outstanding" 0
		want "pages in the end" "$J_pages" 0
		want "sites left in trends" "$(page_sites leak_a "$leaking")" ""
		want "dropped samples" "$(dropped)" "$drops"
		want "missed frees" "$(status_get missed_frees)" "$missed"
	fi
	drop_load
	result "counts: $name"
}

# A large kmalloc() is pages, and no object.
test_not_twice() {
	local before

	clear_all
	before=$(status_get outstanding_bytes)
	job_start "cache=large size=200000 count=200 lose=1/1"
	job_wait "$JOB"
	scan
	site_read "$(page_sites leak_a large)"
	want "pages" "$S_outstanding" $((200 * 64))
	want "slab sites" "$(sites_through trends slab leaktrend_test_large)" ""
	# 50 MiB; the machine's other objects are much less.
	want_true "bytes of objects" \
		[ $(($(status_get outstanding_bytes) - before)) -lt 20000000 ]
	drop_load
	result "large kmalloc is not counted twice"
}

# percpu_pages: PERCPU is what the machine says, PERCPU_SITES what the sites say. What
# describes the chunks is from vmalloc().
percpu_pages() {
	local sites

	PERCPU=$(awk '/^Percpu:/ { print $2 / 4 }' /proc/meminfo)
	sites=$(sites_through trends page pcpu_alloc_noprof !__vmalloc_node_range_noprof
		sites_through trends page pcpu_balance_workfn !__vmalloc_node_range_noprof)
	site_read "$sites"
	PERCPU_SITES=$S_outstanding
}

# shellcheck disable=SC2317,SC2329 # called by wait_for
percpu_grown() {
	[ "$(awk '/^Percpu:/ { print $2 / 4 }' /proc/meminfo)" -ge $(($1 + 1000)) ]
}

# near_percpu WHEN PAGES PAGES: but for what is populated between the two readings.
near_percpu() {
	local grown=$((PERCPU - $2)) sites=$((PERCPU_SITES - $3))

	want_true "sites grew by $sites, percpu memory by $grown $1" \
		[ $((sites - grown)) -ge -32 ] && [ $((sites - grown)) -le 32 ]
}

# Percpu memory comes in chunks, of which several objects have a share, some are
# populated ahead, and which stay: the job's figure is no measure, the machine's is.
test_percpu() {
	local before before_sites

	clear_all
	scan
	percpu_pages
	before=$PERCPU
	before_sites=$PERCPU_SITES
	job_start "cache=percpu size=4096 rate=2000 lose=1/1"
	want_true "percpu memory does not grow" wait_for 60 percpu_grown "$before"
	job_stop "$JOB"
	scan
	percpu_pages
	near_percpu "by the leak" "$before" "$before_sites"
	job_read "$JOB"
	site_read "$(page_sites leak_a percpu)"
	want "class" "$S_kind $S_class" "page kernel"
	want_true "$S_outstanding pages by the job" [ "$S_outstanding" -gt 0 ]

	# What behaves shares the chunks. They stay, but do not become more.
	job_free "$JOB"
	percpu_pages
	near_percpu "when given back" "$before" "$before_sites"
	job_start "cache=percpu size=4096 count=3000 site=b live=50"
	job_wait "$JOB"
	scan
	percpu_pages
	near_percpu "by what behaves" "$before" "$before_sites"
	job_stop "$JOB"
	drop_load
	result "counts: percpu"
}

# Without it each page is drawn with probability 1/rate, and the allocation with it.
# ARGS: rate, order, number of allocations.
test_estimate() {
	local name="estimate at rate $1, order $2" off

	if [ -n "$EXACT" ]; then
		ktap_test_skip "$name: with page_owner=on nothing is estimated"
		return
	fi
	set_tunable sample_rate "$1"
	clear_all
	job_start "cache=pages order=$2 count=$3 lose=1/1"
	job_wait "$JOB"
	scan
	job_read "$JOB"
	site_read "$(page_sites leak_a pages)"
	# With P, a block of k pages stands for k/P: variance (k/P - k) * k of each.
	off=$(awk -v rate="$1" -v order="$2" -v n="$3" -v got="$S_outstanding" -v truth="$J_pages" '
		BEGIN {
			k = 1
			p = 1 / rate
			for (i = 0; i < order; i++) {
				p += p * (1 - p)
				k *= 2
			}
			d = got - truth
			print d * d <= 25 * n * k * k * (1 / p - 1) ? "near" : "off by " d
		}')
	want "estimate $S_outstanding of $J_pages" "$off" near
	want "allocs less frees" $((S_allocs - S_frees)) "$S_outstanding"
	job_stop "$JOB"
	job_free "$JOB"
	want "sites when given back" "$(page_sites leak_a pages)" ""
	set_tunable sample_rate 1
	result "$name"
}

# ---- Verdicts ----

# is_leak CALLER CACHE: one of its sites is LIKELY_LEAK.
is_leak() {
	local site

	for site in $(page_sites "$1" "$2" "$TMP/suspects"); do
		site_read "$site"
		[ "$S_verdict" != LIKELY_LEAK ] || return 0
	done
	return 1
}

test_verdicts() {
	local round name cache caller words missing='' found=''

	detector
	start_leaks
	for ((round = 1; round <= BOUND; round++)); do
		round_after_all "$LEAKING" 16 || break
		cat "$LT/suspects" >"$TMP/suspects"
		want "suspects that behave in round $round" "$(
			sites_through "$TMP/suspects" page leaktrend_test_leak_b
			sites_through "$TMP/suspects" page leaktrend_test_caller_b)" "" || break
		missing=
		while IFS='|' read -r name cache caller words; do
			case $found in
			*"|$name:"*) continue ;;
			esac
			if is_leak "$caller" "$cache"; then
				found+="|$name:$round"
			else
				missing+="${missing:+, }$name"
			fi
		done <<<"$LEAKS"
		[ -n "$missing" ] || break
	done
	want "not found in $BOUND rounds" "$missing" ""
	want "suspects in status" "$(status_get suspects)" "$(grep -c '^site #' "$LT/suspects")"
	result "leaks of pages (rounds${found//|/ })"

	drop_load
	scan 2
	cat "$LT/suspects" >"$TMP/suspects"
	want "suspects when given back" "$(
		sites_through "$TMP/suspects" page leaktrend_test_leak_a
		sites_through "$TMP/suspects" page leaktrend_test_caller_a)" ""
	result "leaks of pages that were repaired"
}

# is_percpu_leak: be it populated for the job or ahead of it.
is_percpu_leak() {
	local site

	for site in $(sites_through "$TMP/suspects" page leaktrend_test_percpu) \
		$(sites_through "$TMP/suspects" page pcpu_balance_workfn); do
		site_read "$site"
		[ "$S_verdict" != LIKELY_LEAK ] || return 0
	done
	return 1
}

test_percpu_verdict() {
	local round found=''

	detector
	job_start "cache=percpu size=512 rate=2000 site=b live=100"
	for ((round = 1; round <= 16; round++)); do
		round_after_all "$JOB" 200 || break
		cat "$LT/suspects" >"$TMP/suspects"
		want_true "LIKELY_LEAK of what behaves in round $round" \
			eval '! is_percpu_leak' || break
	done
	drop_load
	detector
	job_start "cache=percpu size=4096 rate=2000 lose=1/1"
	for ((round = 1; round <= BOUND; round++)); do
		round_after_all "$JOB" 200 || break
		cat "$LT/suspects" >"$TMP/suspects"
		! is_percpu_leak || { found=$round; break; }
	done
	want_true "not found in $BOUND rounds" [ -n "$found" ]
	drop_load
	result "leak of percpu memory (round ${found:-none})"
}

# ---- Classes ----

test_classes_file() {
	local bad

	want_value "$LT/classes" "kernel reclaimable" "at first"
	for bad in "" " " nope "kernel nope" "nope kernel" kernel,user KERNEL kern \
		"$(printf 'kernel\nuser')" "$(printf '%3000s' '' | tr ' ' k)"; do
		want_write "$LT/classes" "$bad" EINVAL
		want_value "$LT/classes" "kernel reclaimable" "after '${bad:0:20}'"
	done
	want_write "$LT/classes" "slab  user" ok
	want_value "$LT/classes" "user slab" "after two"
	want_write "$LT/classes" " page_table " ok
	want_value "$LT/classes" page_table "after one with blanks"
	want_write "$LT/classes" nope EINVAL
	want_value "$LT/classes" page_table "after a bad word"
	clear_all
	want_value "$LT/classes" page_table "after clear"
	echo 0 >"$LT/enable"
	want_value "$LT/classes" page_table "when off"
	want_write "$LT/classes" user ok
	echo 1 >"$LT/enable"
	want_value "$LT/classes" user "after off and on"
	want_write "$LT/classes" all ok -n
	want_value "$LT/classes" "$ALL_CLASSES" "after all"
	want_write "$LT/classes" default ok
	want_value "$LT/classes" "kernel reclaimable" "after default"
	result "classes"
}

# classes_of FILE: of the blocks of pages in it.
classes_of() {
	awk '/^kind    : / { page = $3 == "page" } /^class   : / && page { print $3 }' "$LT/$1" |
		sort -u | tr '\n' ' '
}

# want_classes FILE CHOICE CLASSES: what FILE shows. A site that is new is of its class
# after a round; so what a new one shows is gone the next time.
want_classes() {
	local try got expected

	# shellcheck disable=SC2086 # several
	expected=$(printf '%s\n' $3 | sort | tr '\n' ' ')
	echo "$2" >"$LT/classes"
	for ((try = 1; try <= 4; try++)); do
		got=$(classes_of "$1")
		[ "$got" != "$expected" ] || return 0
		[ "$1" = suspects ] || scan
	done
	want "classes of $1 when $2" "$got" "$expected"
}

# no_slab_shown: the same for pages of slabs, of today or from before tracking began.
no_slab_shown() {
	local try

	echo default >"$LT/classes"
	for ((try = 1; try <= 4; try++)); do
		[ -n "$(sites_through trends page allocate_slab)" ] || return 0
		scan
	done
	return 1
}

# pages_of CLASS: outstanding pages of all its sites.
pages_of() {
	awk -v class="$1" '
		NR == 1 { for (i = 3; i <= NF; i++) col[$i] = i - 2; next }
		$col["kind"] == "page" && $col["class"] == class { sum += $col["outstanding"] }
		END { print sum + 0 }' "$LT/sites"
}

# near WHAT GOT EXPECTED: while a few processes come and go.
near() {
	local d=$(($2 > $3 ? $2 - $3 : $3 - $2))

	want_true "$1 is $2, not about $3" [ $d -le $(($3 / 20 + 128)) ]
}

# Memory of processes, page tables and slabs: known, judged, and shown to who asks.
test_kept_apart() {
	local class

	detector
	job_start "cache=own size=1024 count=4000 lose=1/1"
	job_wait "$JOB"
	start_process "$STORM" grow
	grow
	job_start "cache=pages count=100 lose=1/1"
	job_wait "$JOB"
	scan
	# shellcheck disable=SC2086 # several
	for class in kernel $APART; do
		want_true "no pages of class $class" [ "$(pages_of "$class")" -gt 0 ]
	done
	want_true "$(pages_of user) user pages" [ "$(pages_of user)" -ge 2048 ]
	[ -z "$EXACT" ] ||
		want_true "$(pages_of slab) slab pages" [ "$(pages_of slab)" -ge 1000 ]
	want_classes trends default kernel
	want_classes trends all "kernel $APART"
	if [ -n "$EXACT" ]; then
		want_true "no stack of slabs" [ -n "$(sites_through trends page allocate_slab)" ]
		want_true "pages of slabs that are not of class slab" no_slab_shown
	fi
	for class in $APART; do
		want_classes trends "$class" "$class"
	done
	echo default >"$LT/classes"

	want "pages_counted" "$(status_get pages_counted)" "${EXACT:-sampled}"
	for class in kernel user page_table; do
		near "pages_$class" "$(status_get pages_$class)" "$(pages_of $class)"
	done
	near pages_slab "$(status_get pages_slab)" \
		"$(awk '/^nr_slab_(un)?reclaimable / { sum += $2 } END { print sum }' /proc/vmstat)"
	stop_process
	drop_load
	result "classes of pages"
}

# judged_wrong: verdicts that pages of such a class cannot have.
judged_wrong() {
	awk '
		NR == 1 { for (i = 3; i <= NF; i++) col[$i] = i - 2; next }
		$col["kind"] == "page" && $col["class"] ~ /^(user|page_table|slab)$/ &&
			$col["verdict"] !~ /^(GROWING|NONE)$/' "$LT/sites"
}

test_user_growth() {
	local round class

	detector
	job_start "cache=own size=1024 rate=2000 count=200000 lose=1/1"
	start_process "$STORM" grow
	for ((round = 1; round <= 14; round++)); do
		grow
		round_after_all "$JOB" 100 || break
		want "verdicts in round $round" "$(judged_wrong)" "" || break
	done
	want "classes of suspects" "$(classes_of suspects | sed 's/kernel //')" ""
	for class in $APART; do
		want_classes suspects "$class" "$class"
		want "suspects in status when $class" "$(status_get suspects)" \
			"$(grep -c '^site #' "$LT/suspects")"
	done
	echo default >"$LT/classes"
	# Its objects are the leak.
	site_read "$(sites_in trends leaktrend_test_leak_a)"
	want "verdict of the objects" "$S_verdict" LIKELY_LEAK
	stop_process
	drop_load
	result "growth that is no leak of the kernel's"
}

# ---- Off and on ----

test_toggle() {
	local i leak

	set_tunable sample_rate 1
	clear_all
	start_churn
	for ((i = 1; i <= 12; i++)); do
		echo 0 >"$LT/enable"
		want "sites when off ($i)" "$(sed 1d "$LT/sites" | wc -l)" 0 || break
		made "$CHURN" 50 || break
		echo 1 >"$LT/enable"
		scan
		want "unsound lines ($i)" "$(unsound)" "" || break
		clear_all
		scan
		want "unsound lines after clear ($i)" "$(unsound)" "" || break
	done
	# Pages of before and after go together.
	drop_load
	scan
	want "unsound lines in the end" "$(unsound)" ""
	for i in leak_a leak_b caller_a caller_b; do
		want "sites of $i when all is given back" \
			"$(sites_through trends page leaktrend_test_$i !leaktrend_test_percpu)" ""
	done

	# A fresh start.
	clear_all
	job_start "cache=headonly order=3 count=200"
	leak=$JOB
	job_start "cache=exact count=200 lose=1/1 site=b"
	job_wait "$leak"
	job_wait "$JOB"
	scan
	compare_pages "$leak" "$(page_sites leak_a headonly)" "of head only afterwards"
	compare_pages "$JOB" "$(page_sites leak_b exact)" "of exact afterwards"
	drop_load
	result "off, on and cleared while pages are allocated"
}

pages_require
CPUS=$(grep -c "^processor" /proc/cpuinfo)
RT=$(uname -v | grep PREEMPT_RT)

# Classes that nobody suspects. A page that becomes a slab is no sample any more.
APART="user page_table${EXACT:+ slab}"

ktap_set_plan $(($(echo "$CASES" | wc -l) + 12))
test_percpu
while IFS='|' read -r name leaking behaving words; do
	run_case "$name" "$leaking" "$behaving" "$words"
done <<<"$CASES"
test_not_twice
test_estimate 100 0 20000
test_estimate 100 4 1500
test_classes_file
test_kept_apart
test_user_growth
test_verdicts
test_percpu_verdict
test_toggle
test_log
ktap_finished
