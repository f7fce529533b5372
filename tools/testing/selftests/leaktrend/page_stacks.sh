#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317,SC2329 # steps are called by name, with their words
#
# With page_owner=on leaktrend and page_owner never disagree on a page.
#
# Whatever can happen to pages happens here: huge pages are made, split, collapsed,
# copied and given back in part, files and shared memory are cut, memory is compacted
# and taken offline, and pages leak. Then each stack of page_owner's has a site, and
# their counts are the same, those of pages from before tracking included. And
# show_trends and show_suspects, which stand beside page_owner's own files, show it.
#
# Core regression: outstanding of each site == nr_base_pages of its handle.

# shellcheck source=lib.sh
source "$(dirname "$(readlink -f "$0")")"/lib.sh
# shellcheck source=lib_pages.sh
source "$DIR"/lib_pages.sh

THP=/sys/kernel/mm/transparent_hugepage
SPLIT=$DEBUGFS/split_huge_pages
# So many per cent of the stacks must hold still to be compared.
COMPARABLE=90

declare -A SETTINGS
SETTINGS_CHANGED=
OFFLINED=

# set_setting FILE VALUE: until the test ends; false when there is no such file.
set_setting() {
	[ -w "$1" ] || return 1
	if [ -z "${SETTINGS[$1]+set}" ]; then
		# Of a choice the one in brackets.
		SETTINGS[$1]=$(sed 's/.*\[\(.*\)\].*/\1/' "$1")
		SETTINGS_CHANGED+=" $1"
	fi
	echo "$2" >"$1"
}

# shellcheck disable=SC2317,SC2329 # called by the trap
restore() {
	local f

	for f in $SETTINGS_CHANGED; do
		echo "${SETTINGS[$f]}" >"$f"
	done
	[ -z "$OFFLINED" ] || echo online >"$OFFLINED" 2>/dev/null
	! grep -q " $TMP/shmem " /proc/mounts || umount "$TMP/shmem"
	echo 0 >"$STACKS/count_threshold"
	pages_restore
}

# handles_differ: compares each stack's count of page_owner with its site's. All
# three are read by one process, which takes no page meanwhile, as pages of processes
# count like others. Prints what is wrong.
handles_differ() {
	"$STORM" cat "$STACKS/show_handles" "$LT/sites" "$STACKS/show_handles" >"$TMP/handles"
	awk -v comparable="$COMPARABLE" '
		function number(hex,	n, i) {
			n = 0
			for (i = 3; i <= length(hex); i++)
				n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		BEGIN { part = 1 }
		/^# leaktrend-sites-v2 / {
			for (i = 3; i <= NF; i++)
				col[$i] = i - 2
			part = 2
			next
		}
		/^handle: / && part == 2 { part = 3 }
		part == 2 && NF {
			if ($col["kind"] == "page")
				site[number($col["stack_id"])] = $col["outstanding"]
			next
		}
		/^handle: / { handle = $2; next }
		/^nr_base_pages: / && part == 1 { first[handle] = $2; n++; next }
		/^nr_base_pages: / && part == 3 { last[handle] = $2; next }
		END {
			for (handle in first) {
				if (!(handle in last) || first[handle] != last[handle])
					continue
				same++
				if (!(handle in site))
					print "handle " handle " has no site"
				else if (site[handle] != first[handle])
					print "handle " handle " has " first[handle] \
					      " pages, its site " site[handle]
			}
			if (!n || same * 100 < n * comparable)
				print same + 0 " of " n + 0 " handles can be compared"
		}' "$TMP/handles" | sort | head -n 5
}

# want_handles: what comes and goes just now is gone the next time; a count that is
# wrong stays wrong.
want_handles() {
	local try wrong

	scan
	for ((try = 1; try <= 5; try++)); do
		wrong=$(handles_differ)
		[ -n "$wrong" ] || return 0
	done
	want "what differs" "$wrong" "" ||
		ktap_print_msg "$(stacks_of "$STACKS/show_stacks_handles" |
			grep " $(cut -d' ' -f2 <<<"$wrong" | head -n 1)\$")"
}

storm_boot() { :; }

storm_huge() {
	set_setting $THP/enabled always || return
	"$STORM" storm 3
}

storm_small() {
	set_setting $THP/enabled never || return
	"$STORM" storm 2
}

# shellcheck disable=SC2317,SC2329 # called by wait_for
collapsed() { [ "$(cat $THP/khugepaged/pages_collapsed)" -gt "$1" ]; }

storm_khugepaged() {
	local before pid

	set_setting $THP/enabled always &&
		set_setting $THP/khugepaged/scan_sleep_millisecs 0 &&
		set_setting $THP/khugepaged/alloc_sleep_millisecs 0 &&
		set_setting $THP/khugepaged/pages_to_scan 4096 || return
	before=$(cat $THP/khugepaged/pages_collapsed)
	"$STORM" storm 1000 &
	pid=$!
	# It may find nothing to do; what it does is counted.
	wait_for 20 collapsed "$before"
	kill $pid
	wait $pid 2>/dev/null
	set_setting $THP/khugepaged/scan_sleep_millisecs \
		"${SETTINGS[$THP/khugepaged/scan_sleep_millisecs]}"
}

storm_split() {
	local area

	[ -w "$SPLIT" ] && set_setting $THP/enabled always || return
	start_process "$STORM" offer
	read -r -t 60 area <&"$TALK_IN"
	want_true "no huge pages to split" [ -n "$area" ]
	# The first of its huge pages to single pages, then all of the machine's.
	echo "$TALK_PID,$area,$(printf '%#x' $((area + 2097152)))" >"$SPLIT"
	want_handles
	echo 1 >"$SPLIT"
	want_handles
	stop_process
}

storm_forks() {
	local i

	for ((i = 0; i < 150; i++)); do
		(find /proc/self/ -maxdepth 1 | sort >/dev/null) &
	done 2>/dev/null
	wait
}

storm_files() {
	local i

	for ((i = 1; i <= 8; i++)); do
		dd if=/dev/zero of="$TMP/file$i" bs=64k count=$((i * 16)) 2>/dev/null
	done
	cat "$TMP"/file? >"$TMP/all"
	truncate -s 100001 "$TMP/file8"
	rm -f "$TMP"/file[1-4]
	want_handles
	rm -f "$TMP"/file? "$TMP/all"
	echo 3 >/proc/sys/vm/drop_caches
}

storm_shmem() {
	mkdir -p "$TMP/shmem"
	mount -t tmpfs -o huge=always tmpfs "$TMP/shmem" 2>/dev/null || return
	dd if=/dev/zero of="$TMP/shmem/a" bs=1M count=16 2>/dev/null
	dd if=/dev/zero of="$TMP/shmem/b" bs=5000 count=1000 2>/dev/null
	truncate -s 3000001 "$TMP/shmem/a"
	dd if=/dev/zero of="$TMP/shmem/a" bs=4k seek=500 count=3 conv=notrunc 2>/dev/null
	[ ! -w "$SPLIT" ] || echo 1 >"$SPLIT"
	want_handles
	umount "$TMP/shmem"
}

storm_compaction() {
	local i

	[ -w /proc/sys/vm/compact_memory ] || return
	for ((i = 1; i <= 4; i++)); do
		"$STORM" storm 1 &
		dd if=/dev/zero of="$TMP/file$i" bs=64k count=200 2>/dev/null
		echo 1 >/proc/sys/vm/compact_memory
	done
	wait
	echo 1 >/proc/sys/vm/compact_memory
	want_handles
	rm -f "$TMP"/file?
	echo 1 >/proc/sys/vm/compact_memory
}

storm_hugetlb() {
	local n=/proc/sys/vm/nr_hugepages before

	[ -w $n ] || return
	before=$(cat $n)
	echo 16 >$n
	want_handles
	[ ! -w /proc/sys/vm/nr_overcommit_hugepages ] ||
		set_setting /proc/sys/vm/nr_overcommit_hugepages 4
	echo 5 >$n
	want_handles
	echo "$before" >$n
}

storm_cma() {
	local area found=

	for area in "$DEBUGFS"/cma/*; do
		[ -w "$area/alloc" ] || continue
		found=1
		echo 100 >"$area/alloc"
		echo 7 >"$area/alloc"
		want_handles
		echo 107 >"$area/free"
	done
	[ -n "$found" ]
}

# A block of memory leaves the machine; what is in use moves out of it.
storm_hotplug() {
	local block

	for block in $(printf '%s\n' /sys/devices/system/memory/memory*/state | sort -rV); do
		[ "$(cat "$block")" = online ] || continue
		echo offline >"$block" 2>/dev/null || continue
		OFFLINED=$block
		want_handles
		echo online >"$block" || unmet "${block%/*} stays offline"
		want_handles
		OFFLINED=
		return 0
	done
	return 1
}

storm_jobs() {
	local words

	start_leaks
	round_after_all "$LEAKING" 200
	want_handles
	drop_load
	for words in "cache=percpu size=4096" "cache=pages order=10 live=2" \
		"cache=headonly order=9" "cache=own size=4096"; do
		job_start "count=20 lose=1/2 $words" && job_wait "$JOB"
	done
	want_handles
	drop_load
}

# test_handles NAME STORM: after what it does each stack's count is its site's.
test_handles() {
	if "$2"; then
		want_handles
		want "unsound lines" "$(unsound)" ""
		result "page_owner's counts, $1"
	else
		ktap_test_skip "page_owner's counts, $1: this kernel cannot"
	fi
}

# A kernel's own counts of what was in use before tracking was switched on, too.
test_handles_toggled() {
	"$STORM" storm 3 &
	job_start "rate=1000 lose=1/2 cache=pages order=1"
	echo 0 >"$LT/enable"
	want_true "no allocations while off" wait_for 20 job_has "$JOB" allocs 200
	echo 1 >"$LT/enable"
	clear_all
	wait $!
	want_handles
	job_read "$JOB"
	job_stop "$JOB"
	want_handles
	job_free "$JOB"
	want_handles
	want "unsound lines" "$(unsound)" ""
	result "page_owner's counts, off and on"
}

# With page_owner the rate is for objects; pages are all counted.
test_any_rate() {
	local words cache

	set_tunable sample_rate 1000
	for cache in pages vmalloc headonly; do
		clear_all
		words="lose=1/1"
		[ $cache != headonly ] || words="lose=0 order=2"
		job_start "cache=$cache count=300 $words"
		job_wait "$JOB"
		scan
		compare_pages "$JOB" "$(page_sites leak_a $cache)" "of $cache"
		job_stop "$JOB"
		job_free "$JOB"
	done
	set_tunable sample_rate 1
	drop_load
	result "exact at any rate"
}

# ---- page_owner_stacks/show_trends and show_suspects ----

# bad_records FILE: what in it is not a record of the documented form.
bad_records() {
	awk '
		function other() {
			print NR ": " $0
			state = "any"
		}
		BEGIN {
			n = 11
			form[0] = "^handle: [0-9]+$"
			# Its last page may go before it is printed.
			form[1] = "^nr_base_pages: [0-9]+$"
			form[2] = "^class: (kernel|user|page_table|slab)$"
			form[3] = "^status: (ORPHANED|LIKELY_LEAK|GROWING|SETTLED|IGNORED|NONE)$"
			form[4] = "^trend: \\[([0-9]+(, [0-9]+)*)?\\]$"
			form[5] = "^low: [0-9]+$"
			form[6] = "^held: (no growth|growth of .* over .* rounds, " \
				"by [0-9]+ bytes since .* ago)"
			form[7] = "^oldest: [0-9]+\\.[0-9][0-9][0-9] s$"
			form[8] = "^survive: [0-9]+ of [0-9]+ generations$"
			form[9] = "^elders: [0-9]+$"
			slope = "[+-][0-9]+"
			form[10] = "^growth: " slope " bytes/h \\(" slope " \\.\\. " slope "\\), " \
				  "tau=-?[01]\\.[0-9][0-9] \\([0-9]+ rounds\\)$"
		}
		state == "any" { if (/^$/) line = frames = state = ""; next }
		/^ ([^ ]+\+0x[0-9a-f]+\/)?0x[0-9a-f]+( \[[A-Za-z0-9_]+\])?$/ && !line {
			frames++
			next
		}
		# Of an earlier test.
		/^ \(unknown: module unloaded\)$/ && !line { frames++; next }
		/^$/ {
			if (line != n)
				other()
			line = frames = state = ""
			next
		}
		# Not every stack has changed its verdict, or grows.
		line == 6 && /^changed: [0-9.]+ s ago$/ { next }
		line == 7 && /^missing: [a-z]/ { next }
		!frames || $0 !~ form[line + 0] { other(); next }
		{ line++ }
		END { if (line || frames || state) print "cut off" }' "$1" | head -n 5
}

# out_of_order FILE: records that should be before the one above.
out_of_order() {
	awk '
		BEGIN {
			rank["ORPHANED"] = 5; rank["LIKELY_LEAK"] = 4; rank["GROWING"] = 3
			rank["SETTLED"] = 2; rank["IGNORED"] = 1
		}
		/^handle: / { handle = $2 }
		/^status: / {
			r = rank[$2] + 0
			if (n++ && r > last)
				print handle
			last = r
		}' "$1"
}

# numbers_of FILE KEY
numbers_of() { sed -n "s/^$2: //p" "$1"; }

# copy_shown: both files as of now, to $TMP/suspects and $TMP/trends.
copy_shown() {
	cat "$STACKS/show_suspects" >"$TMP/suspects"
	cat "$STACKS/show_trends" >"$TMP/trends"
}

# start_suspects: leaks that have gone on until they are found; they go on.
start_suspects() {
	local round

	detector
	start_leaks
	for ((round = 1; round <= 24; round++)); do
		round_after_all "$LEAKING" 16 || break
		[ "$(shown_leaks)" -lt "$(echo "$LEAKS" | wc -l)" ] || break
	done
}

# shown_leaks: how many of the leaks' stacks show_suspects calls leaks.
shown_leaks() {
	awk '
		/^ leaktrend_test_(leak|caller)_a\+/ { ours = 1 }
		/^status: LIKELY_LEAK$/ && ours { n++ }
		/^$/ { ours = 0 }
		END { print n + 0 }' "$STACKS/show_suspects"
}

# stacks_of FILE: a line per record, its stack and its handle.
stacks_of() {
	awk '/^handle: / { print stack " " $2; stack = "" } /^ / { stack = stack $0 }' "$1"
}

test_show_suspects() {
	local f

	start_suspects
	for f in show_trends show_suspects; do
		want "mode of $f" "$(stat -c %a "$STACKS/$f")" 400
	done
	copy_shown
	want "records of another form" "$(bad_records "$TMP/suspects")" ""
	want "classes" "$(numbers_of "$TMP/suspects" class | sort -u)" kernel
	want "out of order" "$(out_of_order "$TMP/suspects")" ""
	want "verdicts of no suspects" "$(numbers_of "$TMP/suspects" status |
		grep -cvE '^(ORPHANED|LIKELY_LEAK|GROWING|SETTLED)$')" 0
	want_true "$(shown_leaks) leaks of $(echo "$LEAKS" | wc -l)" \
		[ "$(shown_leaks)" -ge "$(echo "$LEAKS" | wc -l)" ]
	want "stacks that behave" \
		"$(grep -cE '^ leaktrend_test_(leak|caller)_b\+' "$TMP/suspects")" 0
	result "show_suspects"
}

# other_stacks: handles of show_trends that page_owner lists with another stack. The
# names of modules that have gone are kept by one of the two only.
other_stacks() {
	awk 'NR == FNR { stack[$NF] = $0; next }
		$NF in stack && stack[$NF] != $0 && !/leaktrend_test|unknown/ { print $NF }' \
		<(stacks_of "$STACKS/show_stacks_handles") <(stacks_of "$TMP/trends")
}

test_show_trends() {
	local class

	copy_shown
	want "records of another form" "$(bad_records "$TMP/trends")" ""
	want "out of order" "$(out_of_order "$TMP/trends")" ""
	for class in kernel user page_table slab; do
		want_true "no record of class $class" grep -qx "class: $class" "$TMP/trends"
	done
	want "handles twice" "$(numbers_of "$TMP/trends" handle | sort | uniq -d)" ""
	# A handle is page_owner's, of the same stack.
	want "handles of another stack" "$(other_stacks)" ""
	result "show_trends"
}

test_shown_threshold() {
	local f

	copy_shown
	want_write "$STACKS/count_threshold" 200 ok
	for f in show_trends show_suspects; do
		cat "$STACKS/$f" >"$TMP/$f"
		# Some pages may go before they are printed.
		want "records of $f below the threshold" "$(numbers_of "$TMP/$f" nr_base_pages |
			awk '$1 < 100' | wc -l)" 0
	done
	want_true "no stack of 200 pages" [ -n "$(numbers_of "$TMP/show_trends" handle)" ]
	want_true "all stacks have 200 pages" [ "$(numbers_of "$TMP/show_trends" handle | wc -l)" \
		-lt "$(numbers_of "$TMP/trends" handle | wc -l)" ]
	want_write "$STACKS/count_threshold" 1000000000 ok
	want_true "'$(head -n 1 "$STACKS/show_suspects")' when there are none" grep -qE \
		'^# no suspects after [0-9]+ rounds \(sites: [0-9]+, state: on\)$' \
		"$STACKS/show_suspects"
	want "lines when there are none" "$(wc -l <"$STACKS/show_suspects")" 1
	want "records of show_trends when none has so many" \
		"$(grep -c '^handle: ' "$STACKS/show_trends")" 0
	echo 0 >"$STACKS/count_threshold"
	# The classes are those of leaktrend.
	echo page_table >"$LT/classes"
	want "classes of show_suspects" "$(numbers_of "$STACKS/show_suspects" class |
		sort -u | sed 's/page_table//')" ""
	echo default >"$LT/classes"
	result "count_threshold of both"
}

test_repaired() {
	drop_load
	scan 2
	want "stacks of show_suspects" \
		"$(grep -cE '^ leaktrend_test_(leak|caller)_a\+' "$STACKS/show_suspects")" 0
	result "show_suspects when all is given back"
}

pages_require
[ -n "$EXACT" ] || skip_all "page_owner is off (boot with page_owner=on)"
trap restore EXIT

ktap_set_plan 20
test_handles "as it is" storm_boot
test_handles "huge pages" storm_huge
test_handles "small pages" storm_small
test_handles "khugepaged" storm_khugepaged
test_handles "split huge pages" storm_split
test_handles "processes" storm_forks
test_handles "files" storm_files
test_handles "shared memory" storm_shmem
test_handles "compaction" storm_compaction
test_handles "hugetlb" storm_hugetlb
test_handles "contiguous memory" storm_cma
test_handles "memory hotplug" storm_hotplug
test_handles "jobs" storm_jobs
test_handles_toggled
test_any_rate
test_show_suspects
test_show_trends
test_shown_threshold
test_repaired
test_log
ktap_finished
