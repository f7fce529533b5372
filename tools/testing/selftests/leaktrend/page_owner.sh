#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# page_owner's files keep their documented form beside leaktrend.
#
# Both keep their data in page_ext and their stacks in the stack depot, and
# leaktrend takes its page-level sites from page_owner. What scripts and
# tools/mm/page_owner_sort read from page_owner_stacks/ and page_owner must not
# notice. The forms are those of Documentation/mm/page_owner.rst. Tracking is on,
# and jobs allocate, while the files are read.
#
# Core regression: every record of every file has its form, handles match between
# the files, and pages are counted in and out.

# shellcheck source=lib.sh
source "$(dirname "$(readlink -f "$0")")"/lib.sh

OWNER=$DEBUGFS/page_owner
STACKS=$DEBUGFS/page_owner_stacks
# Of the pages of a machine; each is a record, and printing stacks takes time.
RECORDS=1500

# shellcheck disable=SC2317,SC2329 # called by the trap
restore() {
	echo 0 >"$STACKS/count_threshold"
	lt_restore
}

# other_form MODE < RECORDS: lines that are not in their place in a record of page_owner.
other_form() {
	awk -v mode="$1" '
		function other() {
			print NR ": " $0
			# Say it once and wait for the next record.
			state = "any"
		}
		function ended() {
			if (mode != "handle" && !frames || mode != "stack" && !handle)
				print NR ": incomplete record"
			state = ""
		}
		state == "any" && !/^Page allocated/ { next }
		state == "" || state == "any" {
			frames = handle = 0
			state = "first"
			if ($0 !~ /^Page allocated via order [0-9]+, mask 0x[0-9a-f]+\(/ ||
			    $0 !~ /\([A-Z_|a-z0-9]*\), pid -?[0-9]+, tgid -?[0-9]+ \(/ ||
			    $0 !~ / \(.*\), ts [0-9]+ ns$/)
				other()
			next
		}
		state == "first" {
			state = "body"
			if ($0 !~ /^PFN 0x[0-9a-f]+ type [A-Za-z]+ Block [0-9]+ type / ||
			    $0 !~ / type [A-Za-z]+ Flags 0x[0-9a-f]+\(.*\)$/)
				other()
			next
		}
		/^ ([^ ]+\+0x[0-9a-f]+\/)?0x[0-9a-f]+( \[[A-Za-z0-9_]+\])?$/ {
			frames++
			if (mode == "handle" || handle)
				other()
			next
		}
		/^handle: [0-9]+$/ {
			if (mode == "stack" || handle++)
				other()
			next
		}
		/^Page has been migrated, last migrate reason: [a-z_]+$/ { next }
		/^(Slab cache page|Charged (\(via objcg\) )?to (offline )?memcg .*)$/ { next }
		/^$/ { ended(); next }
		{ other() }
		END { if (state != "" && state != "any") print "cut off" }' | head -n 5
}

# records MODE: the first ones in that print mode; a read gives one.
records() {
	(
		exec 3<>"$OWNER"
		[ "$1" = default ] || echo "mode=$1" >&3 || exit
		dd bs=4096 count=$RECORDS <&3 2>/dev/null
	)
}

test_records() {
	local text

	text=$(records "$1")
	want_true "fewer than $RECORDS records" \
		[ "$(echo "$text" | grep -c "^Page allocated")" -ge $((RECORDS - 1)) ]
	# The shell has taken the last record's empty line.
	want "lines of another form" "$(printf '%s\n\n' "$text" | other_form "${2:-$1}")" ""
	result "page_owner, print mode $1"
}

test_filter_errors() {
	local bad

	exec 3<>"$OWNER"
	echo "mode=handle" >&3
	for bad in mode=x mode= nid=x nid= foo; do
		want_write /proc/self/fd/3 "$bad" EINVAL
	done
	# The filter is per open file, and a bad word leaves it as it was.
	want "lines after bad words" "$(dd bs=4096 count=50 <&3 2>/dev/null | other_form handle)" ""
	exec 3>&-
	want "lines of another open file" "$(dd if="$OWNER" bs=4096 count=50 2>/dev/null |
		other_form stack)" ""
	result "page_owner, filter"
}

# bad_node: a number that no node with memory has.
bad_node() {
	local has=/sys/devices/system/node/has_memory possible=/sys/devices/system/node/possible

	# Of the possible nodes the last one, if it has none; else one that is not possible.
	if [ -r $has ] && [ "$(sed 's/.*[-,]//' $has)" != "$(sed 's/.*[-,]//' $possible)" ]; then
		sed 's/.*[-,]//' $possible
	else
		echo 9999
	fi
}

# nodes_records FILTER: records that it lets through.
nodes_records() {
	(
		exec 3<>"$OWNER"
		echo "$1" >&3 || exit
		dd bs=4096 count=$RECORDS <&3 2>/dev/null
	)
}

test_nid() {
	local text bad no

	no=$(bad_node)
	for text in "nid=0|stack" "mode=handle nid=0|handle" \
		"nid=0 mode=stack_handle|stack_handle" "nid=0-0,0|stack"; do
		# The shell takes the last empty line.
		want "lines of another form after ${text%|*}" "$(printf '%s\n\n' \
			"$(nodes_records "${text%|*}")" | other_form "${text#*|}")" ""
	done
	want_true "fewer than $RECORDS records of node 0" \
		[ "$(nodes_records nid=0 | grep -c "^Page allocated")" -ge $((RECORDS - 1)) ]

	exec 3<>"$OWNER"
	echo "mode=handle nid=0" >&3
	for bad in "nid=$no" "nid=0,$no" nid=-1 nid=0- "nid=0x" "mode=stack nid=$no" \
		"nid=$no mode=stack" "mode=stack nid="; do
		want_write /proc/self/fd/3 "$bad" "EINVAL|ERANGE"
	done
	want "lines after bad words" "$(dd bs=4096 count=50 <&3 2>/dev/null | other_form handle)" ""
	# A word that is left out keeps its value.
	want_write /proc/self/fd/3 nid=0 ok
	want "lines with the node only" \
		"$(dd bs=4096 count=50 <&3 2>/dev/null | other_form handle)" ""
	exec 3>&-
	result "page_owner, filter by node"
}

# test_stacks FILE FRAMES HANDLE PAGES: which of the three a record of FILE has.
test_stacks() {
	local text

	text=$(cat "$STACKS/$1")
	want_true "no records" [ -n "$text" ]
	want "lines of another form" "$(printf '%s\n\n' "$text" | awk -v want="$2$3$4" '
		/^ ([^ ]+\+0x[0-9a-f]+\/)?0x[0-9a-f]+( \[[A-Za-z0-9_]+\])?$/ && !handle && !pages {
			frames = 1
			next
		}
		/^handle: [0-9]+$/ && !handle && !pages { handle = 1; next }
		/^nr_base_pages: [0-9]+$/ && !pages { pages = 1; next }
		/^$/ {
			if ((frames + 0) (handle + 0) (pages + 0) != want)
				print NR ": record with other lines"
			frames = handle = pages = 0
			next
		}
		{ print NR ": " $0 }' | head -n 5)" ""
	result "page_owner_stacks/$1"
}

# A handle of a count leads to its stack, and to one only.
test_handles() {
	local counted listed

	counted=$(sed -n 's/^handle: //p' "$STACKS/show_handles" | sort)
	listed=$(sed -n 's/^handle: //p' "$STACKS/show_stacks_handles" | sort)
	want_true "no handles" [ -n "$counted" ]
	want "handles counted twice" "$(echo "$counted" | uniq -d)" ""
	want "handles listed twice" "$(echo "$listed" | uniq -d)" ""
	want "handles without a stack" \
		"$(printf '%s\n' "$counted" "$listed" "$listed" | sort | uniq -u)" ""
	result "handles of page_owner_stacks"
}

test_threshold() {
	local all many

	want_value "$STACKS/count_threshold" 0 "at boot"
	all=$(grep -c "^nr_base_pages" "$STACKS/show_stacks")
	want_write "$STACKS/count_threshold" 100 ok
	want_value "$STACKS/count_threshold" 100
	many=$(grep -c "^nr_base_pages" "$STACKS/show_stacks")
	want_true "$many of $all stacks have 100 pages" [ "$many" -lt "$all" ]
	want_true "no stack has 100 pages" [ "$many" -gt 0 ]
	want "stacks below the threshold" "$(sed -n 's/^nr_base_pages: //p' "$STACKS/show_stacks" |
		awk '$1 < 100')" ""
	want "handles below the threshold" \
		"$(sed -n 's/^nr_base_pages: //p' "$STACKS/show_handles" |
		awk '$1 < 100')" ""
	want_write "$STACKS/count_threshold" x EINVAL
	want_value "$STACKS/count_threshold" 100 "after x"
	echo 0 >"$STACKS/count_threshold"
	result "count_threshold"
}

# pages_of FUNCTION: base pages of the stacks that go through it, but for those
# that leaktrend takes for itself.
pages_of() {
	awk -v site_func=" $1+" '
		index($0, site_func) == 1 { ours = 1 }
		/^ (__)?leaktrend_slab_alloc\+/ { leaktrend = 1 }
		/^nr_base_pages: / && ours && !leaktrend { sum += $2 }
		/^$/ { ours = leaktrend = 0 }
		END { print sum + 0 }' "$STACKS/show_stacks"
}

# Slab pages are page_owner's, objects are leaktrend's; both count to the end. The
# objects are small because of a slab of several pages page_owner may lose the stack
# (it is allocated without reclaim first). A few pages may stay with the allocator.
test_counts() {
	local before pages sites

	clear_all
	before=$(pages_of leaktrend_test_leak_b)
	job_start "count=6400 lose=1/1 cache=own size=64 site=b"
	job_wait "$JOB"
	pages=$(($(pages_of leaktrend_test_leak_b) - before))
	want_true "$pages pages for 6400 objects of 64 bytes" [ "$pages" -ge 100 ]
	sites=$(sites_in trends leaktrend_test_leak_b)
	site_read "$sites"
	want "outstanding objects" "$S_outstanding" 6400
	job_stop "$JOB"
	job_free "$JOB"
	pages=$(($(pages_of leaktrend_test_leak_b) - before))
	want_true "$pages pages when given back" [ "$pages" -le 10 ]
	site_read "$sites"
	want "outstanding objects when given back" "$S_outstanding" 0
	result "pages and objects are counted side by side"
}

lt_require
[ -d "$STACKS" ] || skip_all "page_owner is off (boot with page_owner=on)"
trap restore EXIT

write_errno "$OWNER" mode=stack
FILTER=$ERRNO

job_start "rate=2000 live=200" || ktap_exit_fail_msg "cannot start a job"
job_start "rate=500 live=100 cache=own size=4096" || ktap_exit_fail_msg "cannot start a job"

ktap_set_plan 12
test_records default stack
if [ "$FILTER" = ok ]; then
	test_records stack
	test_records handle
	test_records stack_handle
	test_filter_errors
	test_nid
else
	for name in "print mode stack" "print mode handle" "print mode stack_handle" filter \
		"filter by node"; do
		ktap_test_skip "page_owner, $name: this kernel has no filter"
	done
fi
test_stacks show_stacks 1 0 1
test_stacks show_handles 0 1 1
test_stacks show_stacks_handles 1 1 0
test_handles
test_threshold
test_counts
ktap_finished
