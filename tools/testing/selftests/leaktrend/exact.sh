#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# At sample rate 1 leaktrend's figures are counts, not estimates, on every path
# on which the allocator hands out or takes back an object.
#
# A lost free is a false leak and a lost allocation hides one; each path (sheaves,
# bulk, krealloc, kfree_rcu, another CPU, interrupts) has a place of its own in
# mm/slub.c where a hook can be missed. For each, the test module allocates and
# frees objects with true counts and the site must say the same: while objects
# are in flight, when only the lost ones are left, and when these were given back.
#
# Core regression: outstanding == allocs - frees == truth, for every path.

# shellcheck source=lib.sh
source "$(dirname "$(readlink -f "$0")")"/lib.sh

DEFAULTS="count=2000 lose=1/3"

# name|function that allocates|words for the module
CASES="kmalloc|leak_a|cache=kmalloc
kmalloc of 8 bytes|leak_a|size=8
kmalloc of 4096 bytes|leak_a|size=4096 count=300
own cache|leak_b|site=b cache=own
own cache, odd size|leak_a|cache=own size=200
reclaimable cache|leak_a|cache=reclaim
type-safe by RCU|leak_a|cache=rcu
constructor|leak_a|cache=ctor
bulk|leak_a|cache=own path=bulk
bulk free of kmalloc|leak_a|path=bulk
bulk with constructor|leak_b|site=b cache=ctor path=bulk
krealloc|leak_a|path=krealloc size=96
kfree_rcu|leak_a|path=kfree_rcu
kfree_rcu, own cache|leak_b|site=b path=kfree_rcu cache=own
freed on another CPU|leak_a|path=remote
freed on another CPU, own cache|leak_a|path=remote cache=own
large sheaf|leak_a|path=sheaf cache=own
large sheaf, type-safe by RCU|leak_a|path=sheaf cache=rcu
through a helper|helper|site=helper_a
hardirq|leak_a|ctx=hardirq
hardirq, own cache|leak_a|ctx=hardirq cache=own
hardirq, krealloc|leak_b|site=b ctx=hardirq path=krealloc
hardirq, kfree_rcu|leak_a|ctx=hardirq path=kfree_rcu
hardirq, freed on another CPU|leak_a|ctx=hardirq path=remote
softirq|leak_a|ctx=softirq
softirq, bulk|leak_a|ctx=softirq path=bulk cache=own
softirq, kfree_rcu|leak_b|site=b ctx=softirq path=kfree_rcu
softirq, freed on another CPU|leak_a|ctx=softirq path=remote"

# compare SITES WHEN: the sites' figures with the job's.
compare() {
	local size

	want_true "job $JOB is gone" job_read "$JOB" || return
	site_read "$1"
	size=$(object_size "$S_cache")
	want "allocs $2" "$S_allocs" "$J_allocs"
	want "frees $2" "$S_frees" "$J_frees"
	want "outstanding $2" "$S_outstanding" $((J_held + J_lost))
	# A cache that is gone has no objects whose size could matter.
	want "bytes $2" "$S_bytes" $(((J_held + J_lost) * ${size:-0}))
	want "errors $2" "$J_errors" 0
}

# check_objects FUNCTION COMM: live samples of the function are listed one by one;
# those from an interrupt under the interrupt's name, and with a stack that ends
# where the interrupt began: what it interrupted has nothing to do with it. That is
# not asked of softirqs that ksoftirqd or a local_bh_enable() runs: they have
# interrupted nothing, and filter_irq_stacks() does not know them.
check_objects() {
	local n comm stack

	read -r n comm stack <<<"$(awk -v site_func="$1" -v comm="$2" '
		function done() {
			if (first != site_func || fill)
				return
			n++
			if (!ours)
				bad_comm++
			if (task && !called)
				bad_stack++
		}
		/^Page allocated/ {
			done()
			first = ""; task = called = fill = 0
			if (comm == "leaktrend_test")
				ours = index($0, " (leaktrend_test), ") && !index($0, ", pid 0, ")
			else
				ours = index($0, ", pid 0, tgid 0 (" comm "), ")
			next
		}
		/^ / {
			name = $1
			sub(/\+.*/, "", name)
			if (first == "")
				first = name
			if (comm != "leaktrend_test" &&
			    (name ~ /^(do_syscall|entry_SYSCALL|ret_from_fork|kthread$)/ ||
			     name ~ /^(start_secondary|do_idle|cpu_startup)/))
				task = 1
			if (name == "run_ksoftirqd" || name == "do_softirq")
				called = 1
			if (name == "leaktrend_test_fill")
				fill = 1
		}
		END { done(); print n + 0, bad_comm + 0, bad_stack + 0 }' "$LT/objects")"
	want "number of objects" "$n" $((J_held + J_lost))
	want "objects not from $2" "$comm" 0
	want "objects with an interrupted task's stack" "$stack" 0
}

# run_case NAME FUNCTION WORDS
run_case() {
	local name=$1 func=leaktrend_test_$2 words=$3 comm=leaktrend_test drops missed sites

	case $words in
	*path=remote*)
		[ "$CPUS" -ge 2 ] || { ktap_test_skip "$name: needs two CPUs"; return; } ;;
	esac
	case $words in
	*ctx=hardirq*)
		if [ -n "$RT" ]; then
			ktap_test_skip "$name: no such allocations on PREEMPT_RT"
			return
		fi
		comm=hardirq ;;
	*ctx=softirq*)
		comm=softirq ;;
	esac

	clear_all
	drops=$(dropped)
	missed=$(status_get missed_frees)
	if want_true "cannot start a job" job_start "$DEFAULTS" "$words"; then
		job_wait "$JOB"
		sites=$(sites_in trends "$func")
		compare "$sites" "in flight"
		want_true "no site" [ "$S_sites" -ge 1 ]
		# An interrupt is entered in a few ways, but not in as many as there
		# are stacks that it interrupts. For softirqs see check_objects().
		case $comm in
		softirq) ;;
		hardirq) want_true "$S_sites sites" [ "$S_sites" -le 4 ] ;;
		*) want "number of sites" "$S_sites" 1 ;;
		esac
		check_objects "$func" "$comm"

		job_stop "$JOB"
		compare "$sites" "after stop"
		job_free "$JOB"
		compare "$sites" "after free"
		want "outstanding in the end" "$S_outstanding" 0
		want "sites left in trends" "$(sites_in trends "$func")" ""
		want "dropped samples" "$(dropped)" "$drops"
		want "missed frees" "$(status_get missed_frees)" "$missed"
	fi
	result "$name"
}

# krealloc() that moves frees the old object, one that need not move is no event.
test_krealloc_base() {
	local sites

	clear_all
	job_start "$DEFAULTS" path=krealloc size=96
	job_wait "$JOB"
	job_read "$JOB"
	# A site with nothing outstanding has no block, but it can be ignored by name.
	echo "add leaktrend_test_krealloc_base" >"$LT/ignore"
	scan
	sites=$(awk '$2 == "slab" && $6 == "IGNORED" { print $1 }' "$LT/sites")
	echo "remove leaktrend_test_krealloc_base" >"$LT/ignore"
	site_read "$sites"
	want "sites" "$S_sites" 1
	want "allocs" "$S_allocs" "$J_allocs"
	want "frees" "$S_frees" "$J_allocs"
	want "outstanding" "$S_outstanding" 0
	job_stop "$JOB"
	job_free "$JOB"
	result "krealloc frees what it moves away from"
}

# kmalloc_nolock() may run in NMI, where nothing can be tracked: counted instead.
test_nolock() {
	local before sites

	clear_all
	before=$(status_get skipped_nolock)
	job_start "$DEFAULTS" path=nolock
	job_wait "$JOB"
	job_read "$JOB"
	sites=$(sites_in trends leaktrend_test_leak_a)
	want "sites of kmalloc_nolock" "$sites" ""
	want_true "skipped_nolock did not count $J_allocs allocations" \
		[ $(($(status_get skipped_nolock) - before)) -ge "$J_allocs" ]
	job_stop "$JOB"
	job_free "$JOB"
	result "kmalloc_nolock is skipped and counted"
}

# Two jobs at one site add up; one at another site of the same size does not.
test_several_jobs() {
	local first second allocs frees live sites

	clear_all
	job_start "$DEFAULTS"
	first=$JOB
	job_start "$DEFAULTS" lose=1/5
	second=$JOB
	job_start "$DEFAULTS" site=b
	job_wait "$JOB"
	job_wait "$first"
	job_wait "$second"
	job_read "$first"
	allocs=$J_allocs frees=$J_frees live=$((J_held + J_lost))
	job_read "$second"
	allocs=$((allocs + J_allocs)) frees=$((frees + J_frees))
	live=$((live + J_held + J_lost))
	sites=$(sites_in trends leaktrend_test_leak_a)
	site_read "$sites"
	want "sites of a" "$S_sites" 1
	want "allocs of a" "$S_allocs" $allocs
	want "frees of a" "$S_frees" $frees
	want "outstanding of a" "$S_outstanding" $live
	compare "$(sites_in trends leaktrend_test_leak_b)" "of b"
	echo all >"$MOD/stop"
	echo all >"$MOD/free"
	site_read "$sites"
	want "outstanding of a in the end" "$S_outstanding" 0
	result "several jobs"
}

# Samples outlive their module and its cache; nothing may look at either.
test_unload() {
	local sites f

	clear_all
	job_start "$DEFAULTS" cache=own
	job_wait "$JOB"
	job_read "$JOB"
	sites=$(sites_in trends leaktrend_test_leak_a)
	want_true "cannot unload" unload_module
	site_read "$sites"
	want "allocs" "$S_allocs" "$J_allocs"
	want "outstanding" "$S_outstanding" 0
	scan
	for f in sites trends suspects objects status; do
		want_true "cannot read $f" cat "$LT/$f" >/dev/null
	done
	want_true "cannot load again" load_module keep=1
	result "unloading gives all objects back"
}

# What a module leaves behind stays outstanding when it is gone, and is known as such:
# with the names in its stack, and apart from what the module does when it is back.
test_orphans() {
	local sites stack

	clear_all
	job_start "$DEFAULTS"
	job_wait "$JOB"
	job_stop "$JOB"
	job_read "$JOB"
	sites=$(sites_in trends leaktrend_test_leak_a)
	stack=$(site_block "$sites" | sed -n '/^stack trace:/,$p')
	want_true "cannot unload" unload_module
	scan
	site_read "$sites"
	want "outstanding" "$S_outstanding" "$J_lost"
	want "frees" "$S_frees" "$J_frees"
	want "verdict" "$S_verdict" ORPHANED
	want "stack" "$(site_block "$sites" suspects | sed -n '/^stack trace:/,$p')" "$stack"
	echo "add leaktrend_test_leak_a" >"$LT/ignore"
	site_read "$sites"
	want "verdict when ignored by the name it had" "$S_verdict" IGNORED
	echo "remove leaktrend_test_leak_a" >"$LT/ignore"
	site_read "$sites"
	want "verdict when not ignored any more" "$S_verdict" ORPHANED
	want_true "cannot load again" load_module
	result "orphans stay outstanding"

	job_start "count=100 lose=1/1" || unmet "cannot start a job"
	job_wait "$JOB"
	scan
	site_read "$sites"
	want "outstanding of the orphans" "$S_outstanding" "$J_lost"
	want "verdict of the orphans" "$S_verdict" ORPHANED
	want "names of the orphans" "$(site_block "$sites" | sed -n '/^stack trace:/,$p')" "$stack"
	sites=$(sites_in trends leaktrend_test_leak_a | grep -vx "$sites")
	site_read "$sites"
	want "sites of the module that is back" "$S_sites" 1
	want "outstanding of the module that is back" "$S_outstanding" 100
	want_true "it is an orphan, too" [ "$S_verdict" != ORPHANED ]
	job_free "$JOB"
	result "orphans stay apart from what comes later"
}

# What a module's init function allocates belongs to the module. The function itself
# is gone when it has ended, so the names of then are kept, and others that are loaded
# to its addresses have nothing to do with it.
test_init_stacks() {
	local sites stack entries=100 init="^ (tables_init|init_module)\+.*\[leaktrend_tables\]"

	clear_all
	want_true "cannot load leaktrend_tables" insert leaktrend_tables entries=$entries keep=1
	sites=$(sites_in trends scn_tables)
	stack=$(site_block "$sites" | sed -n '/^stack trace:/,$p')
	want_true "no init function in: $stack" grep -qE "$init" <<<"$stack"
	# Another module comes, perhaps to the same place, and goes.
	want_true "cannot unload" unload_module
	want_true "cannot load again" load_module
	scan
	site_read "$sites"
	want "outstanding" "$S_outstanding" $entries
	want_true "it is an orphan" [ "$S_verdict" != ORPHANED ]
	result "a site of an init function keeps its names"

	want_true "cannot unload leaktrend_tables" rmmod leaktrend_tables
	scan
	site_read "$sites"
	want "outstanding" "$S_outstanding" $entries
	want "verdict" "$S_verdict" ORPHANED
	want "stack" "$(site_block "$sites" suspects | sed -n '/^stack trace:/,$p')" "$stack"
	want "objects with these names" "$(grep -cE "$init" "$LT/objects")" $entries
	result "what an init function leaves behind is an orphan"
}

lt_require
CPUS=$(grep -c "^processor" /proc/cpuinfo)
RT=$(uname -v | grep PREEMPT_RT)

ktap_set_plan $(($(echo "$CASES" | wc -l) + 8))
while IFS="|" read -r name func words; do
	run_case "$name" "$func" "$words"
done <<<"$CASES"
test_krealloc_base
test_nolock
test_several_jobs
test_unload
test_orphans
test_init_stacks
ktap_finished
