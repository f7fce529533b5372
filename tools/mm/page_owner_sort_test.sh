#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Tests of page_owner_sort, in TAP. They need neither root nor page_owner.
#
#	make check
#	bash page_owner_sort_test.sh [PROGRAM]
#
# PROGRAM is ./page_owner_sort beside this script if not given. It may be more
# than one word ("valgrind -q ./page_owner_sort").

# shellcheck disable=SC2001,SC2016,SC2059 # all of it is meant

here=$(cd "$(dirname "$0")" && pwd)
read -ra tool <<<"${*:-$here/page_owner_sort}"
# The tests run in another directory.
for i in "${!tool[@]}"; do
	[[ ! -f ${tool[i]} ]] || tool[i]=$(realpath "${tool[i]}")
done
"${tool[@]}" --help >/dev/null || { echo "Bail out! cannot run ${tool[*]}"; exit 1; }
export LC_ALL=C
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
count=0
failed=0

ok() {
	count=$((count + 1))
	echo "ok $count - $1"
}

not_ok() {
	count=$((count + 1))
	failed=$((failed + 1))
	echo "not ok $count - $1"
}

skip() {
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# same NAME EXPECTED ACTUAL
same() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1"
		printf '%s\n' "$2" >"$dir/.expected"
		diff "$dir/.expected" - <<<"$3" | sed 's/^/# /'
	fi
}

# contains NAME TEXT PART
contains() {
	case $2 in
	*"$3"*) ok "$1" ;;
	*)
		not_ok "$1"
		echo "# no \"$3\" in:"
		sed 's/^/# /' <<<"$2"
		;;
	esac
}

# run OPTION...: what the tool makes of its standard input. Errors go to err, the
# status to status.
run() {
	"${tool[@]}" "$@" - - 2>err
	echo $? >status
}

# counts OPTION...: the first lines of the output's records.
counts() {
	run "$@" | grep ' times, '
}

# record PID COMM TS [STACK-FUNCTION [EXTRA-LINE...]]: of Linux 7.3
record() {
	local pid=$1 comm=$2 ts=$3 func=${4:-func_a}

	shift $(($# < 4 ? $# : 4))
	printf 'Page allocated via order %d, mask 0xcc0(GFP_KERNEL), ' "${order:-0}"
	printf 'pid %d, tgid %d (%s), ts %s ns\n' "$pid" "$pid" "$comm" "$ts"
	printf 'PFN 0x%x type Unmovable Block 1 type %s Flags 0x200(node=0|zone=1)\n' "$ts" \
		"${type:-Unmovable}"
	printf ' post_alloc_hook+0x99/0xa0\n %s+0x1/0x2\n' "$func"
	if [ $# -gt 0 ]; then printf '%s\n' "$@"; fi
	printf '\n'
}

# --- what there is to know of a record

same "equal records are counted, but for the time" \
"2 times, 2 pages, allocated by OTHERS :
Page allocated via order 0, mask 0xcc0(GFP_KERNEL), pid 1, tgid 1 (a), ts  ns
 post_alloc_hook+0x99/0xa0
 func_a+0x1/0x2

1 times, 8 pages, allocated by OTHERS :
Page allocated via order 3, mask 0xcc0(GFP_KERNEL), pid 2, tgid 2 (b), ts  ns
 post_alloc_hook+0x99/0xa0
 func_a+0x1/0x2" "$( (record 1 a 5; order=3 record 2 b 6; record 1 a 7) | run)"

dump=$(record 3 c 30 func_b; order=2 record 1 b 40; record 2 a 20 func_c; record 3 c 30 func_b
	echo .)
dump=${dump%.}
pids() {
	printf '%s' "$dump" | run "$@" | sed -nE 's/.* pid ([0-9]+),.*/\1/p' | paste -sd' '
}
same "default: by the number of times" "3 2 1" "$(pids)"
same "-t: by the number of times" "3 2 1" "$(pids -t)"
same "-m: by memory" "1 3 2" "$(pids -m)"
same "-p: by pid" "1 2 3" "$(pids -p)"
same "-P: by tgid" "1 2 3" "$(pids -P)"
same "-n: by name" "2 1 3" "$(pids -n)"
same "-s: by stack trace" "1 3 2" "$(pids -s)"
same "-a: by time, which is part of the text then" "2 3 1" "$(pids -a)"
contains "-a: the time is there" "$(printf '%s' "$dump" | run -a)" "(a), ts 20 ns"
same "-p -p is no contradiction" "1 2 3" "$(pids -p -p)"

same "--sort is not overwritten by the default" "1 2 3" "$(pids --sort=pid)"
same "--sort: downwards" "3 2 1" "$(pids --sort -pid)"
same "--sort: abbreviated, upwards" "2 1 3" "$(pids --sort=+n)"
same "--sort: several keys" "1 3 2" "$(pids --sort=ator,st,-p)"
same "--sort: the last one counts" "2 1 3" "$(pids --sort=pid --sort=name)"
same "--sort=at is -a" "$(pids -a)" "$(pids --sort=at)"
same "--sort=-at" "1 3 2" "$(pids --sort=-at)"
same "--sort=txt" "2 3 1" "$(pids --sort=txt)"
same "an option of one letter is stronger than --sort" "1 3 2" "$(pids --sort=-pid -m)"
same "--cull and --sort" "1 times, 1 pages, PID 2
1 times, 4 pages, PID 1
2 times, 2 pages, PID 3" "$(printf '%s' "$dump" | counts --cull=pid --sort=name)"
same "--sort before --cull" "1 times, 4 pages, PID 1
1 times, 1 pages, PID 2
2 times, 2 pages, PID 3" "$(printf '%s' "$dump" | counts --sort=p --cull=pid)"

same "--pid" "3 1" "$(pids --pid 1,3)"
same "--tgid" "2" "$(pids --tgid=2)"
same "--name" "2 1" "$(pids --name a,b)"
same "--pid and --name" "1" "$(pids --name a,b --pid=1,3)"
same "--pid is shown when culling" "2 times, 2 pages, PID 3:
1 times, 4 pages, PID 1:" "$(printf '%s' "$dump" | counts --pid=1,3 --cull=st)"
same "nothing selected, nothing written" "0" \
	"$(printf '%s' "$dump" | run --pid=77 | wc -c; grep . err)"

same "--cull=stacktrace" \
"2 times, 2 pages:
 post_alloc_hook+0x99/0xa0
 func_b+0x1/0x2

1 times, 4 pages:
 post_alloc_hook+0x99/0xa0
 func_a+0x1/0x2

1 times, 1 pages:
 post_alloc_hook+0x99/0xa0
 func_c+0x1/0x2" "$(printf '%s' "$dump" | run --cull=stacktrace)"
same "--cull with all old keys" \
	"2 times, 2 pages, PID 3, TGID 3, task_comm_name: c, allocated by OTHERS :" \
	"$(printf '%s' "$dump" | counts --cull=st,pid,tgid,name,ator | head -n 1)"
same "--cull twice" "2 times, 2 pages, PID 3, TGID 3" \
	"$(printf '%s' "$dump" | counts --cull=p --cull=tg | head -n 1)"
same "more pages than an int holds" "3 times, 3221225472 pages, PID 1" \
	"$(order=30; (record 1 a 1; record 1 a 2; record 1 a 3) | counts --cull=pid)"

# --- names of tasks

for comm in "a b" "a, b" "(sd-pam)" "f(x), ts 1 ns" "pid 3, tgid 4 (x" ")" "" "order 9," \
	"0123456789abcdef" \
	$'a\nb'; do
	same "command name '${comm//$'\n'/\\n}'" \
		"2 times, 2 pages, PID 6, TGID 6, task_comm_name: $comm" \
		"$( (record 6 "$comm" 1; record 6 "$comm" 2) | run --cull=n,p,tg)"
	same "command name '${comm//$'\n'/\\n}': the time goes" \
		"2 times, 2 pages, allocated by OTHERS :" \
		"$( (record 6 "$comm" 1; record 6 "$comm" 2) | counts)"
done
same "--name with a comma" "1 times, 1 pages, task_comm_name: a, b" \
	"$( (record 1 "a, b" 1; record 1 "a, c" 2; record 1 b 2) | counts --name "a, b" --cull=n)"
same "--name of another one" "2 times, 2 pages, task_comm_name: x y:" \
	"$( (record 1 "x" 1; record 1 "x y" 2; record 1 "x y" 3) |
		counts --name "a, b,x y" --cull=st)"

# --- allocators

same "slab: by the stack" "1 times, 1 pages, allocated by SLAB " \
	"$(record 1 a 1 allocate_slab | counts --cull=ator)"
same "slab: by the stack, optimised" "1 times, 1 pages, allocated by SLAB " \
	"$(record 1 a 1 new_slab.isra.0 | counts --cull=ator)"
same "slab: by the stack of 4.x" "1 times, 1 pages, allocated by SLAB " \
	"$(record 1 a 1 f " [<ffffffff811a2b3c>] new_slab+0x2c/0x5c0" | counts --cull=ator)"
same "slab: by the line about it" "1 times, 1 pages, allocated by SLAB " \
	"$(record 1 a 1 func_a "Slab cache page" | counts --cull=ator)"
same "slab: by the flag of old kernels" "1 times, 1 pages, allocated by SLAB " \
	"$(type="Unmovable Flags 0x200(slab|head)" record 1 a 1 | counts --cull=ator)"
same "no slab: a large object" "1 times, 1 pages, allocated by OTHERS " \
	"$(record 1 a 1 ___kmalloc_large_node " allocate_slab+0x1/0x2" | counts --cull=ator)"
same "no slab: the stack depot" "1 times, 1 pages, allocated by OTHERS " \
	"$(record 1 a 1 stack_depot_save_flags " new_slab+0x1/0x2" | counts --cull=ator)"
same "no slab: similar names" "1 times, 1 pages, allocated by OTHERS " \
	"$(record 1 a 1 new_slabs " my_allocate_slab+0x1/0x2" | counts --cull=ator)"
same "vmalloc" "1 times, 1 pages, allocated by VMALLOC " \
	"$(record 1 a 1 vm_area_alloc_pages.constprop.0 " __vmalloc_node_range_noprof+0x1/0x2" |
		counts --cull=ator)"
same "vmalloc, but not its pages" "1 times, 1 pages, allocated by OTHERS " \
	"$(record 1 a 1 pte_alloc " __vmalloc_node_range_noprof+0x1/0x2" | counts --cull=ator)"
same "CMA" "1 times, 1 pages, allocated by CMA " "$(type=CMA record 1 a 1 | counts --cull=ator)"
same "a PFN line does not carry over to a record that has none" \
	$'1 times, 1 pages, allocated by CMA \n1 times, 1 pages, allocated by OTHERS ' \
	"$( (type=CMA record 1 a 1; record 1 a 1 | grep -v PFN) | counts --cull=ator)"

# --- lines that are none of the stack trace

same "memcg and migration lines do not tell stack traces apart" \
"4 times, 4 pages:
 post_alloc_hook+0x99/0xa0
 func_a+0x1/0x2" "$( (record 1 a 1; record 1 a 1 func_a "Charged to memcg x"
	record 1 a 1 func_a "Page has been migrated, last migrate reason: compaction" \
		"Charged (via objcg) to memcg y"
	record 1 a 1 func_a "Slab cache page") | run --cull=st)"
contains "without culling they are part of the text" \
	"$(record 1 a 1 func_a "Page has been migrated, last migrate reason: compaction" \
		"Charged to memcg x" | run)" \
" func_a+0x1/0x2
Page has been migrated, last migrate reason: compaction
Charged to memcg x"
same "and tell records apart" "2" \
	"$( (record 1 a 1 func_a "Charged to memcg x"; record 1 a 1 func_a "Charged to memcg y") |
		counts | wc -l)"

# --- new keys

dump=$(record 1 a 1 f "Charged to memcg x"; order=4 record 1 a 2 f "Charged (via objcg) to memcg x"
	record 1 a 3 f "Charged to offline memcg x"; record 1 a 4 |
		sed 's/0xcc0(GFP_KERNEL)/0x0()/'; echo .)
dump=${dump%.}
same "--cull=memcg" \
"2 times, 17 pages, memcg: x
1 times, 1 pages, memcg: -
1 times, 1 pages, memcg: x (offline)" "$(printf '%s' "$dump" | counts --cull=memcg)"
same "--cull=gfp" \
"3 times, 18 pages, gfp: 0xcc0(GFP_KERNEL)
1 times, 1 pages, gfp: 0x0()" "$(printf '%s' "$dump" | counts --cull=gfp)"
same "--cull=size" \
"3 times, 3 pages, size: 1 pages
1 times, 16 pages, size: 16 pages" "$(printf '%s' "$dump" | counts --cull=size)"
same "--sort=-size,memcg" \
"1 times, 16 pages, size: 16 pages, memcg: x
1 times, 1 pages, size: 1 pages, memcg: -
1 times, 1 pages, size: 1 pages, memcg: x
1 times, 1 pages, size: 1 pages, memcg: x (offline)" \
	"$(printf '%s' "$dump" | counts --cull=sz,mg --sort=-size,memcg)"
same "--cull=g,c and --sort=gfp" \
"1 times, 1 pages, cache: -, gfp: 0x0()
3 times, 18 pages, cache: -, gfp: 0xcc0(GFP_KERNEL)" \
	"$(printf '%s' "$dump" | counts --cull=g,c --sort=gfp)"

# --- records of other kernels

same "4.x: neither task nor time, decimal PFN" \
"2 times, 4 pages, allocated by OTHERS :
Page allocated via order 1, mask 0x24280ca(GFP_HIGHUSER_MOVABLE|__GFP_ZERO)
 [<ffffffff8118d0a1>] __alloc_pages_nodemask+0x1c1/0x2f0
Page has been migrated, last migrate reason: compaction" "$(for pfn in 4096 4100; do
	printf '%s\n' \
		'Page allocated via order 1, mask 0x24280ca(GFP_HIGHUSER_MOVABLE|__GFP_ZERO)' \
		"PFN $pfn type Movable Block 8 type Movable Flags 0x5fffff80000000(uptodate)" \
		' [<ffffffff8118d0a1>] __alloc_pages_nodemask+0x1c1/0x2f0' \
		'Page has been migrated, last migrate reason: compaction' ''
	done | run)"
same "4.x: what is missing" \
	"1 times, 1 pages, PID -1, TGID -1, task_comm_name: , cache: -, gfp: 0x0" \
	"$(printf \
		'Page allocated via order 0, mask 0x0\nPFN 1 Block 0 type 0 Flags\n [<0>] f\n\n' |
		counts --cull=p,tg,n,g,c)"
same "5.12: pid and ts" "2 times, 2 pages, PID 7, TGID -1" "$(for ts in 5 6; do
	printf '%s\n' "Page allocated via order 0, mask 0xcc0(GFP_KERNEL), pid 7, ts $ts ns" \
		'PFN 4097 type Unmovable Block 8 type Unmovable Flags 0x200(slab)' \
		' func_a+0x1/0x2' ''
	done | counts --cull=p,tg)"

alloc='Page allocated via order 0, mask 0xcc0(GFP_KERNEL)'
freed() {
	printf "$alloc"', pid %d, tgid %d (c), ts %d ns, free_ts %d ns\n' \
		"$1" "$1" "$2" "$3"
	printf 'PFN 0x1000 type Unmovable Block 8 type Unmovable Flags 0x200(slab)\n'
	printf ' func_a+0x1/0x2\n\n'
}
dump=$(freed 1 50 30; freed 2 60 0; freed 3 10 20; freed 1 55 35; echo .)
dump=${dump%.}
same "5.18 to 6.7: records that differ only in free_ts are equal" \
"2 times, 2 pages, allocated by SLAB :
1 times, 1 pages, allocated by SLAB :
1 times, 1 pages, allocated by SLAB :" "$(printf '%s' "$dump" | counts)"
same "-r: by time of release" "2 3 1 1" "$(pids -r)"
contains "-r: the time is part of the text" \
	"$(printf '%s' "$dump" | run -r)" "ts  ns, free_ts 35 ns"
same "--sort=-ft" "1 1 3 2" "$(pids --sort=-ft)"
same "-r says nothing where there are times" "" "$(cat err)"
same "-a with free_ts" "3 1 1 2" "$(pids -a)"
same "-f: what was not released since" "1 2" "$(pids -f)"
same "--cull=free" \
"3 times, 3 pages, in use
1 times, 1 pages, released" "$(printf '%s' "$dump" | counts --cull=f)"
same "-r without times: the records" "2" "$( (record 1 a 5; record 2 b 6) | counts -r | wc -l)"
contains "-r without times: says so" "$(cat err)" "not sorted by release time"
same "-r without times: is no error" 0 "$(cat status)"

same "7.3: handles" \
"2 times, 2 pages:
handle: 42

1 times, 1 pages:
handle: 43" \
	"$( (record 1 a 1 f 'handle: 42'; record 2 b 1 g 'handle: 42'
		record 2 b 1 g 'handle: 43') | grep -v '^ ' |
	run --cull=st)"
same "7.3: stacks and handles" \
"2 times, 2 pages:
 post_alloc_hook+0x99/0xa0
 f+0x1/0x2
handle: 42" \
	"$( (record 1 a 1 f 'handle: 42' 'Charged to memcg x'; record 2 b 1 f 'handle: 42') |
		run --cull=st)"

# --- page_owner_stacks

same "show_stacks: by pages" \
"1 times, 3000000000 pages, allocated by OTHERS :
 func_b+0x1/0x2

2 times, 36 pages, allocated by SLAB :
 func_a+0x1/0x2
 allocate_slab+0x1/0x2" \
	"$(printf '%s\n' ' func_a+0x1/0x2' ' allocate_slab+0x1/0x2' 'nr_base_pages: 16' '' \
	' func_b+0x1/0x2' 'nr_base_pages: 3000000000' '' \
	' func_a+0x1/0x2' ' allocate_slab+0x1/0x2' 'stack_count: 20' '' | run -m)"
same "show_handles" \
"1 times, 20 pages, allocated by OTHERS :
handle: 43

1 times, 16 pages, allocated by OTHERS :
handle: 42" "$(printf 'handle: %s\nnr_base_pages: %s\n\n' 42 16 43 20 | run -m)"
same "show_stacks_handles" \
"1 times, 0 pages, allocated by OTHERS :
 func_a+0x1/0x2
handle: 42" "$(printf ' func_a+0x1/0x2\nhandle: 42\n\n' | run)"
same "show_trends: what is said of a stack stays with it" \
"1 times, 20 pages, allocated by OTHERS :
 func_a+0x1/0x2
handle: 43
class: kernel
status: LIKELY_LEAK

1 times, 16 pages, allocated by OTHERS :
handle: 42
class: user" \
	"$(printf '%s\n' 'handle: 42' 'nr_base_pages: 16' 'class: user' '' ' func_a+0x1/0x2' \
		'handle: 43' \
	'nr_base_pages: 20' 'class: kernel' 'status: LIKELY_LEAK' '' | run -m)"
same "show_suspects without any" "" \
	"$(echo '# no suspects after 3 rounds (sites: 2, state: on)' | run; grep . err)"
same "a remark among records" "1 times, 16 pages, allocated by OTHERS :" \
	"$(printf 'handle: 42\nnr_base_pages: 16\n# the rest is missing\n\n' | counts)"

# --- leaktrend/objects

object() {
	printf "$alloc"', pid 1, tgid 1 (a), ts %d ns\n' "$1"
	printf 'Object size %d cache %s weight %d stack_id 0x2400004\n %s+0x1/0x2\n\n' "$2" "$3" \
		"$4" "$5"
}
dump=$(object 1 64 kmalloc-64 100 func_a; object 2 64 kmalloc-64 50 func_a
	object 3 4096 "a weight 7 b" 1 func_b; echo .)
dump=${dump%.}
same "objects: weights are added up" \
"2 times, 150 objects, 9600 bytes, allocated by SLAB :
Page allocated via order 0, mask 0xcc0(GFP_KERNEL), pid 1, tgid 1 (a), ts  ns
Object size 64 cache kmalloc-64 weight  stack_id 0x2400004
 func_a+0x1/0x2

1 times, 1 objects, 4096 bytes, allocated by SLAB :
Page allocated via order 0, mask 0xcc0(GFP_KERNEL), pid 1, tgid 1 (a), ts  ns
Object size 4096 cache a weight 7 b weight  stack_id 0x2400004
 func_b+0x1/0x2" "$(printf '%s' "$dump" | run -m)"
same "objects: the line about them is none of the stack trace" \
"2 times, 150 objects, 9600 bytes:
 func_a+0x1/0x2

1 times, 1 objects, 4096 bytes:
 func_b+0x1/0x2" "$(printf '%s' "$dump" | run --cull=st)"
same "objects: --cull=cache,size" \
"2 times, 150 objects, 9600 bytes, cache: kmalloc-64, size: 64 bytes
1 times, 1 objects, 4096 bytes, cache: a weight 7 b, size: 4096 bytes" \
	"$(printf '%s' "$dump" | counts --cull=cache,size)"
same "objects: --sort=cache" \
"1 times, 1 objects, 4096 bytes, cache: a weight 7 b
2 times, 150 objects, 9600 bytes, cache: kmalloc-64" \
	"$(printf '%s' "$dump" | counts --cull=c --sort=cache)"

# --- input of any size and from anywhere

record 1 a 1 >one
same "a pipe" "1 times, 1 pages, allocated by OTHERS :" "$(cat one{,,} | sed 3q | counts)"
mkfifo fifo
cat one >fifo &
writer=$!
same "a FIFO by name, which has no size" "1 times, 1 pages, allocated by OTHERS :" \
	"$("${tool[@]}" fifo - | grep times)"
kill $writer 2>/dev/null
wait
same "records smaller than usual" "5000 times, 5000 pages" \
	"$(yes $'Page allocated via order 0, mask 0x0\n' | head -n 10000 | counts --cull=st |
		tr -d :)"
same "the last record without an empty line" "2 times, 2 pages, PID 1" \
	"$( (cat one; sed '$d' one) | counts --cull=p)"
same "the last line without its end" \
"1 times, 1 pages, allocated by OTHERS :
Page allocated via order 0, mask 0xcc0(GFP_KERNEL), pid 1, tgid 1 (a), ts  ns
 post_alloc_hook+0x99/0xa0
 func_a+0x1/0x2" "$(printf '%s' "$(cat one)" | run)"
same "a dump cut off, and another one behind" "2 times, 2 pages, PID 1" \
	"$( (head -n 3 one; cat one) | counts --cull=p)"
same "several empty lines" "2 times, 2 pages, PID 1" \
	"$( (echo; echo; cat one; echo; cat one) | counts --cull=p)"
same "no input at all" "0 0" "$(run </dev/null | wc -c) $(cat status)"
long=$(record 1 a 1 func_a; printf ' filler_%d+0x1/0x2\n' $(seq 10000))
same "a record that is larger than any buffer is no end" \
"2 times, 2 pages, PID 1
1 times, 1 pages, PID 2" \
	"$( (cat one; record 1 b 1 g "$(printf ' filler_%d+0x1/0x2\n' $(seq 60000))"
		record 2 a 1) |
	counts --cull=p)"
same "and is written as it was" "$(sed '/^$/,$d; /^PFN/d; s/ts 1 ns/ts  ns/' <<<"$long"
	sed '1,/^$/d' <<<"$long")" \
	"$(sed '/^$/d' <<<"$long" | run | sed 1d)"
same "a line that is larger than any buffer" "1000000" \
	"$( (sed '$d' one; printf ' '; head -c 999998 /dev/zero | tr '\0' x; echo; echo) |
		run --cull=st |
		awk 'length > 1000 { print length + 1 }')"
same "more pages than a number holds are the largest one" \
"2 times, 9223372036854775807 pages, allocated by OTHERS :
1 times, 9223372036854775807 pages, allocated by OTHERS :
1 times, 5 pages, allocated by OTHERS :" \
	"$(printf 'handle: %s\nnr_base_pages: %s\n\n' 1 9223372036854775807 2 5 1 3 \
		3 18446744073709551615 | counts -m --sort=-st | sort -rn -k3,3 -k1,1)"
same "and so are more bytes" \
	"1 times, 4611686018427387904 objects, 9223372036854775807 bytes, allocated by SLAB :" \
	"$(object 1 64 c 4611686018427387904 f | counts)"
same "lines that end with CR LF" "$(printf '%s' "$dump" | run)" \
	"$(printf '%s' "$dump" | sed 's/$/\r/' | run)"
# The first read ends behind 256 KiB - 1 bytes, some time between CR and LF.
torn() {
	local lines="Page allocated via order 0, mask 0x0$1\n %0*d$1\n$1\nhandle: 1$1\n"

	for ((i = 262100; i < 262107; i++)); do
		printf "$lines" $i 0 >torn
		"${tool[@]}" --cull=st torn -
	done | cksum
	rm torn
}
same "CR and LF torn apart" "$(torn "")" "$(torn "\r")"
same "a CR elsewhere is a character" "2 times, 2 pages, task_comm_name: a?b" \
	"$( (record 1 $'a\rb' 1; record 1 $'a\rb' 1) | run --cull=n | tr '\r' '?')"
same "null bytes" "1 times, 1 pages, task_comm_name: a?b" \
	"$(sed 's/(a)/(a#b)/' one | tr '#' '\0' | run --cull=n | tr '\0' '?')"

# --- errors

# fails NAME MESSAGE COMMAND...: with status 1 and a message, and without output
fails() {
	local name=$1 part=$2 said rc

	shift 2
	said=$("$@" 2>&1 >/dev/null)
	rc=$?
	if [ $rc -eq 1 ]; then
		contains "$name" "$said" "$part"
	else
		not_ok "$name"
		echo "# status $rc: $said"
	fi
}
echo old >out
fails "no such input" "cannot open gone: No such file" "${tool[@]}" gone out
fails "a directory" "cannot read .: Is a directory" "${tool[@]}" . out
fails "nowhere to write" "cannot open gone/out: No such file" "${tool[@]}" one gone/out
printf 'int main(void)\n{\n\treturn 0;\n}\n\n indented\n' >foreign
fails "a foreign file" "there is no record of page_owner in foreign" "${tool[@]}" foreign out
fails "one operand" "an input and an output are needed" "${tool[@]}" one
fails "no operand" "Usage" "${tool[@]}"
fails "two orders" "only one of -a, -m" "${tool[@]}" -a -m one out
fails "an unknown option" "Usage" "${tool[@]}" -x one out
fails "--pid of none" "wrong/invalid pid in from the command line:1,x" \
	"${tool[@]}" --pid 1,x one out
fails "--pid without a number" "wrong/invalid pid" "${tool[@]}" --pid 1, one out
fails "--tgid too large" "wrong/invalid tgid" "${tool[@]}" --tgid 99999999999999999999 one out
fails "--cull by what is no key" "wrong argument after --cull option:pid,txt" \
	"${tool[@]}" --cull pid,txt one out
fails "--sort by what is no key" "wrong argument after --sort option:-times" \
	"${tool[@]}" --sort -times one out
fails "--sort by nothing" "wrong argument after --sort option:" "${tool[@]}" --sort "" one out
seq 1000 | sed 's/.*/Page allocated via order 0, mask 0x&\n/' >many
fails "too large an output" "cannot write out: File too large" \
	bash -c 'trap "" XFSZ; ulimit -f 8; exec "$@"' - "${tool[@]}" many out
rm many
same "what was there before is still there" "old" "$(cat out)"
same "and no more" "$(printf '%s\n' err fifo foreign one out status)" "$(ls)"
fails "an endless line" \
	"what begins at line 3 is too long for a record" \
	bash -c '(echo; echo; yes "" | tr "\n" x) | "$@"' - "${tool[@]}" - out
fails "the standard output is closed" "cannot write standard output" \
	bash -c '"$@" >&-' - "${tool[@]}" one -
same "nor is a file taken for it" "1 times, 1 pages, PID 1" \
	"$("${tool[@]}" --cull=p one closed <&- >&-; tr '\0' '?' <closed; rm -f closed)"
mkdir unread
bash -c 'exec 3> >(:); wait $!; "$@" >&3' - "${tool[@]}" one unread/out 2>/dev/null
same "nobody reads what is said: ended by a signal" $((128 + 13)) $?
same "and no file is left" "" "$(ls unread)"
rmdir unread
if [ -w /dev/full ]; then
	fails "a full disk" "cannot write /dev/full: No space left" "${tool[@]}" one /dev/full
	fails "a full disk behind the standard output" \
		"cannot write standard output: No space left" \
		bash -c '"$@" >/dev/full' - "${tool[@]}" one -
else
	skip "a full disk" "there is no /dev/full"
fi
if [ ${#tool[@]} -eq 1 ]; then
	seq 400000 |
		sed 's/.*/Page allocated via order 0, mask 0x0, pid &, tgid & (a), ts 1 ns\n/' >many
	fails "out of memory" "out of memory" bash -c 'ulimit -v 20000; exec "$@"' - \
		"${tool[@]}" many out
	same "out of memory: nothing is lost" "old" "$(cat out)"
	rm many
else
	skip "out of memory" "the program is run by another one"
fi

(cat one; echo foreign; echo; cat one) >mixed
same "what is no record among records" "2 times, 2 pages, PID 1" "$(counts --cull=p <mixed)"
contains "is told of" \
	"$(cat err)" "left out 1 blocks of lines that are no records, first at line 6"

cat one >fifo &
writer=$!
exec 3<>fifo
"${tool[@]}" fifo out2 >/dev/null 2>&1 &
pid=$!
for ((i = 0; i < 100; i++)); do
	[ -z "$(ls out2.* 2>/dev/null)" ] || break
	sleep 0.1
done
same "while it runs there is a temporary file" 1 "$(find . -name 'out2.*' | wc -l)"
kill -TERM $pid
wait $pid 2>/dev/null
kill $writer 2>/dev/null
exec 3>&-
same "a signal leaves none" "" "$(find . -name 'out2*')"

# --- where the output goes

same "to a file: what is said" $'loaded 2\nsorting ....' "$(cat one{,} | "${tool[@]}" - out)"
same "to a file: what is written" "2 times, 2 pages, allocated by OTHERS :" "$(sed 1q out)"
cp one same
chmod 640 same
"${tool[@]}" same ./same >/dev/null
same "the input may be the output" "1 times, 1 pages, allocated by OTHERS :" "$(sed 1q same)"
same "its mode stays" 640 "$(stat -c %a same)"
same "a new file has the usual mode" 604 \
	"$(umask 062; "${tool[@]}" one new >/dev/null; stat -c %a new)"
ln -s same link
"${tool[@]}" -m --cull=p one link >/dev/null
same "a symbolic link stays" "link same: 1 times, 1 pages, PID 1" \
	"$(find link -type l) $(readlink link): $(sed 1q same)"
cp one names
ln names other
"${tool[@]}" -m --cull=tg one other >/dev/null
same "so does a file with two names" "1 times, 1 pages, TGID 1" "$(cat names)"
cp one locked
if [ "$(id -u)" -eq 0 ]; then
	chown 12345:23456 locked
	"${tool[@]}" one locked >/dev/null
	same "and the owner" 12345:23456 "$(stat -c %u:%g locked)"
else
	chmod 400 locked
	fails "a file that may not be written" "cannot open locked: Permission denied" \
		"${tool[@]}" one locked
fi
same "a file by the name of a stream is written to" $'1 times, 1 pages, PID 1\nafter' \
	"$( ("${tool[@]}" --cull=p one /dev/fd/5 >/dev/null; echo after >&5) 5>>log; cat log)"
same "/dev/stdout is not replaced" $'before\n1 times, 1 pages, PID 1\nafter' \
	"$( (echo before; "${tool[@]}" --cull=p one /dev/stdout; echo after) >log; cat log)"
same "to the standard output: records only" "$(cat same)" "$("${tool[@]}" --cull=p one - 2>&1)"
if command -v script >/dev/null; then
	same "no progress where there is no terminal" "" \
		"$(run <one 2>&1 | tr '\r' '\n' | grep loaded; cat err)"
	contains "progress on a terminal" \
		"$(script -qec "(cat one; sleep 2; yes \"\$(cat one)\" | sed 's/^Page/\\n&/' |
		head -n 60000) | ${tool[*]} - out3" \
			/dev/null </dev/null | tr '\r' '\n')" "loaded 4095, "
else
	skip "progress on a terminal" "script is not installed"
fi
contains "-d tells what a record lacks" "$(printf 'Page allocated via order x\n\n' |
	run -d >/dev/null; cat err)" \
	"no valid order in: Page allocated via order x"
contains "--help" "$("${tool[@]}" --help)" "Usage: ./page_owner_sort [OPTIONS] <input> <output>"

echo "1..$count"
exit $((failed > 0))
