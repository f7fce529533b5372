#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The files in debugfs leaktrend/ are an interface: names, modes, limits, errors
# and the form of every line are what Documentation/mm/leaktrend.rst says.
#
# Tools parse these files and scripts write to them for years. A tunable that
# takes a bad value, or loses its old one to it, a site that is missing from a
# file or in it twice, a changed word: each breaks them silently.
#
# Core regression: every bad write is refused with the right error and changes
# nothing; every line of every file has its form, in order.

# shellcheck source=lib.sh
source "$(dirname "$(readlink -f "$0")")"/lib.sh

# name default minimum maximum
LIMITS="sample_rate 100 1 1000000
interval_ms 60000 10 86400000
min_rounds 8 2 31
min_bytes 8388608 0 4611686018427387904
min_age_ms 3600000 0 2592000000
elder_rounds 4 1 31
stack_depth 32 1 64
max_sites 10000 1 131072
max_overhead 10 0 1000"

STATUS_KEYS="state page_owner sample_rate effective_rate max_overhead overhead_permille
interval_ms rounds last_round_us last_round_sites
samples_live samples_taken samples_freed sites max_sites suspects outstanding_objects
outstanding_bytes pages_counted pages_kernel pages_user pages_page_table pages_slab
dropped_memory dropped_stack dropped_sites skipped_nested skipped_kfence
skipped_nolock skipped_internal missed_frees memory_page_ext memory_table memory_samples
memory_sites
memory_total"

SITES_HEADER="# leaktrend-sites-v2 site kind class stack_id cache verdict outstanding bytes \
allocs frees low elders generations oldest_ms growth_bytes_h error_permille"

TUNABLE_COUNT=$(echo "$LIMITS" | wc -l)

# quiet_load: a few sites with something outstanding and nothing that moves.
quiet_load() {
	clear_all
	job_start "count=300 lose=1/3" || unmet "cannot start a job"
	job_wait "$JOB"
	job_start "count=300 lose=1/3 site=b cache=own" || unmet "cannot start a job"
	job_wait "$JOB"
	job_stop "$JOB"
}

drop_load() {
	echo all >"$MOD/stop"
	echo all >"$MOD/free"
}

# grow: one round in which 100 objects more are lost.
grow() {
	job_start "count=100 lose=1/1" || unmet "cannot start a job"
	job_wait "$JOB"
	scan
}

test_modes() {
	local f

	for f in $TUNABLES enable scan clear ignore classes; do
		want "mode of $f" "$(stat -c %a "$LT/$f")" 600
	done
	for f in status sites suspects trends objects; do
		want "mode of $f" "$(stat -c %a "$LT/$f")" 400
		write_errno "$LT/$f" 1
		want_true "$f can be written" [ "$ERRNO" != ok ]
	done
	want "files open to others" \
		"$(find "$LT" -type f \( -perm -001 -o -perm -002 -o -perm -004 -o \
		-perm -010 -o -perm -020 -o -perm -040 \))" ""
	result "files and modes"
}

# A value that is out of range may also be one that does not parse.
test_tunable() {
	local name=$1 default=$2 min=$3 max=$4 f=$LT/$1 boot good bad

	# With hands off, it has what the command line says, or the default.
	boot=$(tr ' ' '\n' </proc/cmdline | sed -n "s/^leaktrend\.$name=//p" | tail -n 1)
	want "$name at boot" "${SAVED[$name]}" "${boot:-$default}"

	for good in "$default" "$min" "$max" "$((min + 1))"; do
		want_write "$f" "$good" ok
		want_value "$LT/$name" "$good" "after $good"
	done
	want_write "$f" "$default" ok -n
	want_value "$LT/$name" "$default" "after no newline"
	want "status" "$(status_get "$name")" \
		"$(grep -q "^$name: " "$LT/status" && echo "$default")"

	for bad in $((max + 1)) 99999999999999999999999999; do
		want_write "$f" "$bad" "ERANGE|EINVAL"
		want_value "$LT/$name" "$default" "after $bad"
	done
	want_write "$f" $((max + 1)) ERANGE
	if [ "$min" -gt 0 ]; then
		want_write "$f" $((min - 1)) ERANGE
		want_value "$LT/$name" "$default" "after $((min - 1))"
	fi
	for bad in "" " " x "x$default" "${default}x" "$default $default" " $default" "$default " \
		"$default,1" 1.5 1e3 -1 -99999999999999999999 "--1" "$(printf '\t%s' "$default")" \
		"$(printf '%s\n%s' "$default" "$default")" "$(printf '%3000s' '' | tr ' ' 1)"; do
		want_write "$f" "$bad" "EINVAL|ERANGE"
		want_value "$LT/$name" "$default" "after '${bad:0:30}'"
	done
	set_tunable "$name" "${SAVED[$name]}"
	[ "$name" != sample_rate ] || set_tunable sample_rate 1000
	result "tunable $name"
}

test_suffixes() {
	local text bad

	for text in 8K=8192 8k=8192 3M=3145728 1G=1073741824 0=0; do
		want_write "$LT/min_bytes" "${text%=*}" ok
		want_value "$LT/min_bytes" "${text#*=}" "after ${text%=*}"
	done
	for bad in K "8 K" 8KB 8MM 8Kx M8; do
		want_write "$LT/min_bytes" "$bad" EINVAL
		want_value "$LT/min_bytes" 0 "after $bad"
	done
	want_write "$LT/sample_rate" 8K EINVAL
	set_tunable min_bytes "${SAVED[min_bytes]}"
	set_tunable sample_rate 1
	result "size suffixes"
}

test_enable() {
	local word bad

	for word in 0=0 1=1 n=0 y=1 off=0 on=1; do
		want_write "$LT/enable" "${word%=*}" ok
		want_value "$LT/enable" "${word#*=}" "after ${word%=*}"
	done
	for bad in "" 2 x -1 "o"; do
		want_write "$LT/enable" "$bad" EINVAL
		want_value "$LT/enable" 1 "after '$bad'"
	done
	echo 0 >"$LT/enable"
	want "state when off" "$(status_get state)" standby
	want_write "$LT/enable" x EINVAL
	want_value "$LT/enable" 0 "after x"
	echo 1 >"$LT/enable"
	want "state when on" "$(status_get state)" on
	result "enable"
}

# test_trigger FILE: "scan" and "clear" count what they did.
test_trigger() {
	local f=$LT/$1 before bad

	before=$(cat "$f")
	want_true "reads '$before'" [ "$before" -ge 0 ]
	want_write "$f" 1 ok
	want_value "$LT/$1" $((before + 1)) "after 1"
	want_write "$f" y ok
	want_value "$LT/$1" $((before + 2)) "after y"
	for bad in "" 0 n 2 -1 x; do
		want_write "$f" "$bad" EINVAL
	done
	want_value "$LT/$1" $((before + 2)) "after bad values"
	echo 0 >"$LT/enable"
	want_write "$f" 1 ENODEV
	want_true "cannot read when off" cat "$f" >/dev/null
	echo 1 >"$LT/enable"
	result "$1"
}

test_rounds() {
	echo 0 >"$LT/enable"
	echo 1 >"$LT/enable"
	want_value "$LT/scan" 0 "after switching on"
	scan 3
	want_value "$LT/scan" 3 "after three rounds"
	want "rounds" "$(status_get rounds)" 3
	result "rounds are counted from when tracking was switched on"
}

test_status() {
	local keys key at last=0 sum=0

	quiet_load
	scan
	keys=$(sed 's/: .*//' "$LT/status")
	for key in $STATUS_KEYS; do
		at=$(echo "$keys" | grep -nx "$key" | cut -d: -f1)
		want_true "no key $key, or twice" [ "$(echo "$at" | wc -w)" = 1 ] || break
		want_true "$key is not in its place" [ "$at" -gt "$last" ]
		last=$at
		case $key in
		state | page_owner | pages_counted) ;;
		overhead_permille)
			want_true "$key: $(status_get "$key")" \
				grep -qE "^$key: [0-9]+\.[0-9]$" "$LT/status" ;;
		*) want_true "$key: $(status_get "$key")" grep -qE "^$key: [0-9]+$" "$LT/status" ;;
		esac
	done
	want "lines of another form" "$(grep -vE '^[a-z_]+: [^ ].*$' "$LT/status")" ""
	want "page_owner" "$(status_get page_owner)" \
		"$([ -d $DEBUGFS/page_owner_stacks ] && echo on || echo off)"
	want "sample_rate" "$(status_get sample_rate)" 1
	want_true "no live samples" [ "$(status_get samples_live)" -ge 200 ]
	want_true "fewer samples taken than live" \
		[ "$(status_get samples_taken)" -ge "$(status_get samples_live)" ]
	want_true "outstanding objects" [ "$(status_get outstanding_objects)" -ge 200 ]
	want_true "outstanding bytes" [ "$(status_get outstanding_bytes)" -ge $((200 * 64)) ]
	want_true "no site in the last round" [ "$(status_get last_round_sites)" -gt 0 ]
	for key in page_ext table samples sites; do
		sum=$((sum + $(status_get memory_$key)))
	done
	# Read one by one while samples come and go.
	want_true "memory_total is less than its parts" \
		[ "$(($(status_get memory_total) * 10))" -ge $((sum * 9)) ]
	drop_load
	result "status"
}

test_sites() {
	local verdicts='(ORPHANED|LIKELY_LEAK|GROWING|CACHE_GROWTH|SETTLED|IGNORED|NONE)'
	local numbers='( [0-9]+){8} -?[0-9]+ [0-9]+'
	local slab='slab (kernel|reclaimable) 0x[0-9a-f]+ [^ ]+'
	local page='page (kernel|user|page_table|slab) 0x[0-9a-f]+ -'
	quiet_load
	scan
	want "header" "$(head -n 1 "$LT/sites")" "$SITES_HEADER"
	want "lines of another form" "$(sed 1d "$LT/sites" | grep -vE \
		'^[0-9]+ ('"$slab|$page"') '"$verdicts$numbers"'$')" ""
	want "sites listed twice" "$(sed 1d "$LT/sites" | cut -d' ' -f1 | sort | uniq -d)" ""
	want "stacks listed twice" "$(sed 1d "$LT/sites" | cut -d' ' -f2,4 | sort | uniq -d)" ""
	site_read "$(sites_in trends leaktrend_test_leak_a)"
	want "cache" "${S_cache/kmalloc-rnd-*-/kmalloc-}" kmalloc-64
	site_read "$(sites_in trends leaktrend_test_leak_b)"
	want "own cache" "${S_cache%_*}" leaktrend_test_own
	drop_load
	result "sites"
}

# bad_blocks FILE: what in it is not a block of the documented form.
bad_blocks() {
	awk '
		function expect(re) {
			if ($0 !~ re)
				print NR ": " $0
		}
		BEGIN {
			n = 14
			form[0] = "^site #[0-9]+, stack_id=0x[0-9a-f]+, " \
				  "outstanding=[0-9]+, bytes=[0-9]+$"
			form[1] = "^frees   : [0-9]+$"
			form[2] = "^trend   : \\[([0-9]+(, [0-9]+)*)?\\]$"
			form[3] = "^status  : (ORPHANED|LIKELY_LEAK|GROWING|CACHE_GROWTH|" \
				  "SETTLED|IGNORED|NONE)$"
			form[4] = "^kind    : (slab|page)$"
			form[5] = "^class   : (kernel|reclaimable|user|page_table|slab)$"
			form[6] = "^cache   : [^ ].*$"
			form[7] = "^allocs  : [0-9]+$"
			time = "[0-9]+\\.[0-9][0-9][0-9] s"
			form[8] = "^held    : (no growth|growth of (low-water mark|elders|" \
				  "low-water mark and elders) over [0-9]+( x [0-9]+)? rounds, " \
				  "by [0-9]+ bytes since " time " ago)(; size)?(; age)?(; error)?" \
				  "(; reclaim ran)?$"
			form[9] = "^oldest  : " time "$"
			form[10] = "^survive : [0-9]+ of [0-9]+ generations$"
			form[11] = "^elders  : [0-9]+$"
			slope = "[+-][0-9]+"
			form[12] = "^growth  : " slope " bytes/h " \
				   "\\(" slope " \\.\\. " slope "\\), " \
				   "tau=-?[01]\\.[0-9][0-9] \\([0-9]+ rounds\\)$"
			form[13] = "^error   : \\+-[0-9]+\\.[0-9] %$"
			form[14] = "^stack trace:$"
		}
		# Pages have no cache.
		line == 6 && page { line++ }
		line == 4 { page = /page/ }
		# Not every site has changed its verdict, or grows.
		line == 8 && /^changed : / { expect("^changed : " time " ago$"); next }
		line == 9 && /^missing : / {
			expect("^missing : (nothing|((size|age|error) \\(.* of .*\\)|" \
			       "low-water mark that grows although reclaim runs|" \
			       "[a-z_]+ memory is no leak of the kernel.s|, )+)$")
			next
		}
		line <= n { expect(form[line++]); next }
		/^ / {
			expect("^ [A-Za-z0-9_.$]+\\+0x[0-9a-f]+/0x[0-9a-f]+" \
			       "( \\[[A-Za-z0-9_]+\\])?$")
			line++
			next
		}
		{
			expect("^$")
			if (line == n + 1)
				print NR ": no frame"
			line = 0
		}
		END {
			if (line && line <= n + 1)
				print NR ": cut off"
		}' "$LT/$1"
}

test_blocks() {
	local id block n

	quiet_load
	scan 3
	id=$(sites_in trends leaktrend_test_leak_a)
	site_read "$id"
	block=$(site_block "$id")
	want "sites of the test" "$S_sites" 1
	want "lines of trends of another form" "$(bad_blocks trends)" ""
	want "first line" "$(echo "$block" | sed -n 1p)" \
		"site #$id, stack_id=$S_stack_id, outstanding=$S_outstanding, bytes=$S_bytes"
	want "frees" "$(echo "$block" | sed -n 's/^frees   : //p')" "$S_frees"
	want "allocs" "$(echo "$block" | sed -n 's/^allocs  : //p')" "$S_allocs"
	want "status" "$(echo "$block" | sed -n 's/^status  : //p')" "$S_verdict"
	want "cache" "$(echo "$block" | sed -n 's/^cache   : //p')" "$S_cache"
	want "elders" "$(echo "$block" | sed -n 's/^elders  : //p')" "$S_elders"
	want "error at rate 1" "$(echo "$block" | sed -n 's/^error   : //p')" "+-0.0 %"
	want "trend" "$(echo "$block" | sed -n 's/^trend   : //p')" \
		"[$S_outstanding, $S_outstanding, $S_outstanding]"
	want "stack" "$(echo "$block" | grep -c '^ leaktrend_test_leak_a+.* \[leaktrend_test\]$')" 1
	scan 40
	block=$(site_block "$id")
	n=$(echo "$block" | sed -n 's/^trend   : //p' | tr ',' '\n' | wc -l)
	want "values in a long trend" "$n" 32
	drop_load
	result "blocks of trends"
}

test_suspects() {
	quiet_load
	drop_load
	clear_all
	scan 2
	want_true "'$(head -n 1 "$LT/suspects")' when there are none" grep -qE \
		'^# no suspects after [0-9]+ rounds \(sites: [0-9]+, state: on\)$' "$LT/suspects"
	want "lines when there are none" "$(wc -l <"$LT/suspects")" 1
	want "suspects in status" "$(status_get suspects)" 0

	set_tunable min_rounds 3
	set_tunable elder_rounds 1
	set_tunable min_bytes 0
	set_tunable min_age_ms 0
	grow; grow; grow; grow; grow; grow
	want "lines of suspects of another form" "$(bad_blocks suspects)" ""
	want_true "a growing site is no suspect" [ -n "$(sites_in suspects leaktrend_test_leak_a)" ]
	want "suspects in status" "$(status_get suspects)" "$(grep -c '^site #' "$LT/suspects")"
	want "blocks of sites with another verdict" "$(grep '^status  : ' "$LT/suspects" |
		grep -cvE ': (ORPHANED|LIKELY_LEAK|GROWING|CACHE_GROWTH|SETTLED)$')" 0
	drop_load
	result "blocks of suspects"
}

test_ignore() {
	local id i entries

	set_tunable min_rounds 3
	set_tunable elder_rounds 1
	set_tunable min_bytes 0
	set_tunable min_age_ms 0
	clear_all
	grow; grow; grow; grow; grow; grow
	id=$(sites_in suspects leaktrend_test_leak_a)
	want_true "a growing site is no suspect" [ -n "$id" ]
	site_read "$id"

	# By name: all sites of the function, and only of it.
	want_write "$LT/ignore" "add leaktrend_test_leak_a" ok
	want "list" "$(cat "$LT/ignore")" \
		"leaktrend_test_leak_a  1 sites, $S_bytes bytes"
	want "ignored in status" "$(status_get ignored)" 1
	grow
	want "suspects when ignored" "$(sites_in suspects leaktrend_test_leak_a)" ""
	site_read "$id"
	want "verdict when ignored" "$S_verdict" IGNORED
	want "status in trends when ignored" \
		"$(site_block "$id" | sed -n 's/^status  : //p')" IGNORED
	want_write "$LT/ignore" "remove leaktrend_test_leak_a" ok
	want "list after remove" "$(cat "$LT/ignore")" ""
	grow
	want "suspects after remove" "$(sites_in suspects leaktrend_test_leak_a)" "$id"

	# By handle.
	want_write "$LT/ignore" "add $S_stack_id" ok
	want "list of a handle" "$(sed 's/,.*//' "$LT/ignore")" "$S_stack_id  1 sites"
	grow
	want "suspects when ignored by handle" "$(sites_in suspects leaktrend_test_leak_a)" ""
	want_write "$LT/ignore" "remove $S_stack_id" ok
	grow
	want "suspects after removing the handle" "$(sites_in suspects leaktrend_test_leak_a)" "$id"

	# A part of a name is another name.
	want_write "$LT/ignore" "add leaktrend_test_leak" ok
	grow
	want "suspects with a part ignored" "$(sites_in suspects leaktrend_test_leak_a)" "$id"
	want "list with a part" "$(cat "$LT/ignore")" "leaktrend_test_leak  0 sites, 0 bytes"
	want_write "$LT/ignore" clear ok
	want "list after clear" "$(cat "$LT/ignore")" ""
	drop_load
	result "ignore: effect"

	for i in "" " " add remove "add " "add a b" "remove a b" "clear x" "foo" "foo a" \
		"add 0xzz" \
		"ADD a" "$(printf 'add a\nadd b')" "add $(printf '%2000s' '' | tr ' ' a)"; do
		want_write "$LT/ignore" "$i" EINVAL
	done
	want "list after bad writes" "$(cat "$LT/ignore")" ""
	want_write "$LT/ignore" "remove nobody" ENOENT
	want_write "$LT/ignore" "remove 0x77" ENOENT
	want_write "$LT/ignore" "add some_function" ok
	want_write "$LT/ignore" "add some_function" EEXIST
	want_write "$LT/ignore" "add 0x77" ok -n
	want_write "$LT/ignore" "add 0x77" EEXIST
	echo 0 >"$LT/enable"
	want "entries when off" "$(grep -c . "$LT/ignore")" 2
	want_write "$LT/ignore" "remove 0x77" ok
	echo 1 >"$LT/enable"
	want "list after off and on" "$(cat "$LT/ignore")" "some_function  0 sites, 0 bytes"
	echo clear >"$LT/ignore"
	result "ignore: errors"

	for ((i = 0; i < 256; i++)); do
		echo "add function_$i" >"$LT/ignore" || break
	done 2>/dev/null
	want "entries that fit" "$i" 256
	want_write "$LT/ignore" "add one_more" ENOSPC
	entries=$(grep -cE '^function_[0-9]+  0 sites, 0 bytes$' "$LT/ignore")
	want "entries listed" "$entries" 256
	want_write "$LT/ignore" "remove function_100" ok
	want_write "$LT/ignore" "add one_more" ok
	echo clear >"$LT/ignore"
	want "list in the end" "$(cat "$LT/ignore")" ""
	result "ignore: 256 entries"
}

test_objects() {
	local records weights

	quiet_load
	want "lines of another form" "$(awk '
		/^Page allocated/ {
			if (open ||
			    $0 !~ /^Page allocated via order [0-9]+, mask 0x[0-9a-f]+\(/ ||
			    $0 !~ /\([A-Z_|a-z0-9]*\), pid [0-9]+, tgid [0-9]+ \(/ ||
			    $0 !~ / \(.*\), ts [0-9]+ ns$/)
				print NR ": " $0
			open = 1
			frames = 0
			next
		}
		/^Object / {
			if (open != 1 ||
			    $0 !~ /^Object size [0-9]+ cache .+ weight / ||
			    $0 !~ / weight [0-9]+ stack_id 0x[0-9a-f]+$/)
				print NR ": " $0
			open = 2
			next
		}
		/^ / {
			if (open != 2 ||
			    $0 !~ /^ [A-Za-z0-9_.$]+\+0x[0-9a-f]+\/0x/ ||
			    $0 !~ /\/0x[0-9a-f]+( \[[A-Za-z0-9_]+\])?$/)
				print NR ": " $0
			frames++
			next
		}
		/^$/ && open == 2 && frames { open = 0; next }
		{ print NR ": " $0 }
		END { if (open) print "cut off" }' "$LT/objects" | head -n 5)" ""
	drop_load

	set_tunable sample_rate 7
	clear_all
	job_start "count=7000 lose=1/1"
	job_wait "$JOB"
	site_read "$(sites_in trends leaktrend_test_leak_a)"
	read -r records weights <<<"$(awk -v id="stack_id $S_stack_id" '
		/^Object / && substr($0, length($0) - length(id) + 1) == id {
			n++
			sub(/.* weight /, "")
			sum += $0
		}
		END { print n + 0, sum + 0 }' "$LT/objects")"
	want "sum of the objects' weights" "$weights" "$S_outstanding"
	want_true "$records samples of 7000 objects at rate 7" [ "$records" -gt 700 ]
	want_true "$records samples of 7000 objects at rate 7" [ "$records" -lt 1300 ]
	set_tunable sample_rate 1
	drop_load
	result "objects"
}

test_stack_depth() {
	local deep

	clear_all
	set_tunable stack_depth 2
	job_start "count=10 lose=1/1"
	job_wait "$JOB"
	deep=$(site_block "$(sites_in trends leaktrend_test_leak_a)" | grep -c '^ ')
	want "frames at depth 2" "$deep" 2
	set_tunable stack_depth 1
	job_start "count=10 lose=1/1 site=b"
	job_wait "$JOB"
	deep=$(site_block "$(sites_in trends leaktrend_test_leak_b)" | grep -c '^ ')
	want "frames at depth 1" "$deep" 1
	set_tunable stack_depth "${SAVED[stack_depth]}"
	drop_load
	result "stack_depth"
}

# other_work: allocations at many places.
other_work() {
	find /proc/1 /sys/module /sys/kernel -maxdepth 3 >/dev/null 2>&1
	cat /proc/meminfo /proc/slabinfo /proc/1/maps /proc/1/status >/dev/null 2>&1
	ls -l /tmp /dev >/dev/null 2>&1
}

# sites that found no room are counted and shown.
test_max_sites() {
	local before

	set_tunable max_sites 5
	# Those of page_owner's stacks are there from the beginning, as far as there is room.
	clear_all
	before=$(status_get dropped_sites)
	other_work
	job_start "count=100 lose=1/1"
	job_wait "$JOB"
	want_true "$(status_get sites) sites" [ "$(status_get sites)" -le 5 ]
	want_true "more lines than sites" [ "$(sed 1d "$LT/sites" | wc -l)" -le 5 ]
	want_true "dropped_sites did not count" [ "$(status_get dropped_sites)" -gt "$before" ]
	set_tunable max_sites "${SAVED[max_sites]}"
	drop_load
	clear_all
	job_start "count=100 lose=1/1"
	job_wait "$JOB"
	site_read "$(sites_in trends leaktrend_test_leak_a)"
	want "outstanding with room again" "$S_outstanding" 100
	drop_load
	result "max_sites"
}

# numbers FILE: of the sites in what dd has read in small pieces.
numbers() {
	case $1 in
	sites) dd if="$LT/sites" bs=700 2>/dev/null | sed 1d | cut -d' ' -f1 ;;
	trends) dd if="$LT/trends" bs=700 2>/dev/null | sed -n 's/^site #\([0-9]*\),.*/\1/p' ;;
	esac
}

# While sites are added, a reader gets each that was there, and none twice.
test_growing_files() {
	local i f before after pid

	clear_all
	quiet_load
	while :; do
		other_work
	done &
	pid=$!
	for ((i = 0; i < 6; i++)); do
		for f in sites trends; do
			# What trends lists may be freed at any time; what is lost stays.
			if [ $f = sites ]; then
				before=$(cut -d' ' -f1 "$LT/sites" | sed 1d | sort)
			else
				before=$( (sites_in trends leaktrend_test_leak_a
					   sites_in trends leaktrend_test_leak_b) | sort)
			fi
			after=$(numbers $f | sort)
			want "sites twice in $f" "$(echo "$after" | uniq -d)" "" || break 2
			want "sites lost from $f" \
				"$( (echo "$before"; echo "$after"; echo "$after") |
					sort | uniq -u)" "" || break 2
			want_true "no sites in $f" [ -n "$before" ] || break 2
		done
	done
	kill $pid
	wait $pid 2>/dev/null
	drop_load
	result "reading while sites are added"
}

lt_require

ktap_set_plan $((TUNABLE_COUNT + 18))
test_modes
# Many processes are started here; they are slow when all they do is tracked.
set_tunable sample_rate 1000
while read -r name default min max; do
	test_tunable "$name" "$default" "$min" "$max"
done <<<"$LIMITS"
set_tunable interval_ms $NEVER_MS
set_tunable max_overhead 0
set_tunable sample_rate 1
test_suffixes
test_enable
test_trigger scan
test_trigger clear
test_rounds
test_status
test_sites
test_blocks
test_suspects
test_ignore
test_objects
test_stack_depth
test_max_sites
test_growing_files
test_log
ktap_finished
