#!/usr/bin/env bash
# tools/mm/page_owner_sort: its own test; the same output as the tool of the
# unpatched kernel for all that this one gets right, on generated dumps and in
# many modes; damaged dumps under sanitizers; valgrind. What it costs is measured
# by tests/bench/page_owner_sort.

. "$(dirname "$0")/lib.sh"
scratch_dir
select_kernel
[[ -f $BASE/Makefile ]] || need "the kernel source is there" scripts/fetch

need "the series applies" scripts/series apply-to "$BUILD/bisect-$NAME"
for f in page_owner_sort.c page_owner_sort_test.sh; do cp "$BUILD/bisect-$NAME/tools/mm/$f" "$SCRATCH/"; done

original=$BASE/tools/mm/page_owner_sort.c

cc=${CC:-gcc}
original_sort "$SCRATCH"
need "the new one builds, without a warning" \
	"$cc" -O2 -g -Wall -Wextra -Werror -o "$SCRATCH/page_owner_sort" "$SCRATCH/page_owner_sort.c"
need "the generator builds" "$cc" -O2 -Wall -Wextra -Werror -o "$SCRATCH/gen" tests/bench/page_owner_gen.c
new=$SCRATCH/page_owner_sort

# --- its own test

tap "its own test" < <(bash "$SCRATCH/page_owner_sort_test.sh" "$new")

# --- what is wrong with the original, a fault each

# record PID COMM [FUNCTION [LINE…]]: one of 7.3, without its empty line; BEFORE is what
# precedes the function, TYPE what its page block is for, "" without the line.
record() {
	printf 'Page allocated via order 0, mask 0xcc0(GFP_KERNEL), pid %d, tgid %d (%s), ts 5 ns\n' "$1" "$1" "$2"
	[[ -z ${TYPE-Unmovable} ]] || printf 'PFN 0x5 type Unmovable Block 1 type %s Flags 0x200(node=0)\n' "${TYPE-Unmovable}"
	printf '%s %s+0x1/0x2\n' "${BEFORE-}" "${3:-func_a}"
	(($# < 4)) || printf '%s\n' "${@:4}"
}

# fault NAME EXPECTED PATTERN OPTION…: of what stands on standard input. What is looked at
# is PATTERN in the output, all on one line, and the exit status. The original must get
# it wrong, or this is no test of what was mended.
fault() {
	local name=$1 expected=$2 pattern=$3 which out rc

	shift 3
	cat >"$SCRATCH/faulty"
	for which in old page_owner_sort; do
		rm -f "$SCRATCH/out"
		rc=0
		"$SCRATCH/$which" "$@" "${FROM:-$SCRATCH/faulty}" "$SCRATCH/out" >/dev/null 2>&1 < <(cat "$SCRATCH/faulty") || rc=$?
		out="$(grep -oE -e "$pattern" "$SCRATCH/out" 2>/dev/null | paste -sd' '), status $rc"
		if [[ $which == old ]]; then
			check "fault: $name: the original has it" test "$out" != "$expected, status 0"
		else
			same "fault: $name: is mended" "$expected, status 0" "$out"
		fi
	done
}
each=$(for i in 3 1 2; do record $i "n$i"; echo; done; echo .)
each=${each%.}
FROM=/dev/stdin fault "the size is guessed, so a pipe fails" "1 2 3" '\b[123]\b$' --cull=pid --sort=pid <<<"$each"
fault "--sort is overwritten" "pid 3 pid 2 pid 1" '\bpid [0-9]+' --sort=-pid <<<"$each"
fault "slab is never recognised" "by SLAB" 'by [A-Z]+' \
	< <(BEFORE=$' alloc_slab_page+0x1/0x2\n allocate_slab+0x1/0x2\n' record 1 a; echo)
# shellcheck disable=SC2046 # 10000 frames
fault "a record that fills the buffer ends the run" "1 times 1 times 1 times" '^[0-9]+ times' \
	< <(record 1 a; echo; record 2 b f $(printf ' a_function_with_a_long_name_%d+0x1/0x2 ' {1..10000}); echo; record 3 c; echo)
fault "the last record needs an empty line" "pid 1 pid 2" '\bpid [0-9]+' --sort=pid < <(record 1 a; echo; record 2 b)
fault "memcg and migration lines are part of the stack" "3 times" '^[0-9]+ times' --cull=stacktrace \
	< <(record 1 a; echo; record 1 a func_a "Charged to memcg system.slice"; echo
		record 1 a func_a "Page has been migrated, last migrate reason: compaction"; echo)
fault "a PFN line carries over" "by CMA by OTHERS" 'by [A-Z]+' --sort=pid \
	< <(TYPE=CMA record 1 a; echo; TYPE='' record 2 b; echo)
# 100 bytes for a record are what the original counts on.
fault "too few slots end the run, with status 0" "1000 times" '^[0-9]+ times' \
	< <(for ((i = 0; i < 1000; i++)); do printf 'Page allocated via order 0, mask 0x0\n f+0x1/0x2\n\n'; done)
named() { record 1 "$1"; echo; record 2 "$1"; echo; }
fault "a task with a comma cannot be named" "1 times 1 times" '^[0-9]+ times' "--name=a, b" < <(named "a, b")
fault "a task with parentheses and a comma" "2 times" '^[0-9]+ times' --name=x,"f(x), ts 1 ns" \
	--cull=name < <(named "f(x), ts 1 ns")
fault "a task that looks like the record" "name: pid 3, tgid 4 (x" 'name: .*$' --cull=name < <(named "pid 3, tgid 4 (x")
# Memory enough for the program, and not for the dump: whatever is written is complete,
# or the exit status says that it is not.
for ((i = 0; i < 5; i++)); do "$SCRATCH/gen" -s $i -n 4000 -k 3000 -w n; done >"$SCRATCH/faulty"
starved() {
	rm -f "$SCRATCH/out"
	(ulimit -v 10000; exec "$1" "$SCRATCH/faulty" "$SCRATCH/out" >/dev/null 2>&1)
	echo "status $?$([[ ! -e $SCRATCH/out ]] || echo ", output")"
}
same "fault: out of memory, with status 0: the original has it" "status 0" "$(starved "$SCRATCH/old")"
same "fault: out of memory, with status 0: is mended" "status 1" "$(starved "$new")"

# --- the same as the original

# dump FEATURES RECORDS
dump() {
	"$SCRATCH/gen" -s "${SEED:-7}" -k 150 -p 12 -n "$2" -w "$1" >"$SCRATCH/dump"
	# A task that has records.
	read -r pid tgid comm < <(sed -nE '/^Page/s/.*, pid ([0-9]+), tgid ([0-9]+) \(([^ ,]+)\), ts .*/\1 \2 \3/p' \
		"$SCRATCH/dump" | sort | uniq -c | sort -rn | awk 'NR == 2 { print $2, $3, $4 }')
}

# alike TOOL WHAT FILTER LINES: in all modes, one a line. FILTER takes away in what
# they have to differ.
alike() {
	local tool=$1 what=$2 filter=$3 line options differ=() n=0

	while read -r line; do
		read -ra options <<<"$line"
		n=$((n + 1))
		rm -f "$SCRATCH"/{old,new}.out
		"$SCRATCH/$tool" "${options[@]}" "$SCRATCH/dump" "$SCRATCH/old.out" >/dev/null 2>"$SCRATCH/err" ||
			differ+=("$line (old failed)")
		"$new" "${options[@]}" "$SCRATCH/dump" "$SCRATCH/new.out" >/dev/null 2>"$SCRATCH/err" ||
			differ+=("$line (failed)")
		cmp -s <(sed -E "$filter" "$SCRATCH/old.out") <(sed -E "$filter" "$SCRATCH/new.out") || {
			differ+=("$line")
			diff <(sed -E "$filter" "$SCRATCH/old.out") <(sed -E "$filter" "$SCRATCH/new.out") | head -n 5 >&2
		}
		[[ -s $SCRATCH/new.out ]] || differ+=("$line (nothing)")
	done <<<"$4"
	same "$what: as the original in $n modes" "" "$(printf '%s\n' "${differ[@]}")"
}

letters=$'-t\n-a\n-m\n-n\n-p\n-P\n-m -d'
stacks=$'-s\n--cull=st\n--cull=stacktrace -a\n--cull=st -m\n--cull=st,pid -s\n--cull=pid,st,tgid,name -p'
culls=$'--cull=pid\n--cull=tg -m\n--cull=n -n\n--cull=p,tg,n -P\n--cull=pid,n -a'
allocators=$'--cull=ator\n--cull=ator,name -m\n--cull=allocator,pid,tgid -n'
sorts=$'--sort=pid\n--sort=-tg\n--sort=n,-pid\n--sort=+name,-at\n--sort=at\n--sort=-alloc_ts,n\n--sort=T\n--sort=-txt
--sort=tgid,-T\n--sort=pid --sort=-n\n--sort=-pid -m\n--cull=pid --sort=-n\n--sort=at --cull=n\n--cull=tg,n --sort=-tg,n
--cull=n --sort=T'
stack_sorts=$'--sort=st\n--sort=-st,pid\n--cull=st --sort=-pid,st\n--cull=st,ator --sort=ator,-st'
filters() {
	printf '%s\n' "--pid=$pid" "--pid=1,$pid --cull=pid" "--tgid $tgid,5,$tgid --pid $pid" "--name $comm,sh" \
		"--name=$comm --cull=n -m" "--name sh,$comm --tgid $tgid,1 --cull=tg" "--pid=$pid --cull=n -a"
}
all() {
	alike old "$1" "$2" "$letters"$'\n'"$stacks"$'\n'"$culls"$'\n'"$allocators"$'\n'"$(filters)"
	alike mended "$1, --sort" "$2" "$sorts"$'\n'"$stack_sorts"
}

dump "" 4000
all "a dump of 7.3" ''
dump d 1500
all "decimal PFNs" ''
dump H 1500
all "stacks and handles" ''
dump h 1500
all "handles" ''
dump n 1500
all "names with , ( ) and blanks" ''
dump mc 1500
alike old "migration and memcg" '' "$letters"$'\n'"$culls"$'\n'"$allocators"
alike mended "migration and memcg, --sort" '' "$sorts"
dump s 1500
# The original does not know slab pages.
alike old "slab" 's/, allocated by .*//' "$letters"$'\n'"$stacks"$'\n'"$culls"
alike mended "slab, --sort" 's/, allocated by .*//' "$sorts"$'\n'"$(grep -v ator <<<"$stack_sorts")"
dump f 1500
# It takes free_ts for a part of the text.
alike old "free_ts" '' $'--cull=st\n--cull=pid -m\n--cull=n,tg -n\n--cull=ator -t'

# The last record has no empty line: the original loses it, the new one must not.
dump t 300
"$new" "$SCRATCH/dump" "$SCRATCH/new.out" >/dev/null
echo >>"$SCRATCH/dump"
"$SCRATCH/old" "$SCRATCH/dump" "$SCRATCH/old.out" >/dev/null
check "a dump cut off: as the original with an empty line more" cmp "$SCRATCH/old.out" "$SCRATCH/new.out"
same "and it makes no difference in what pieces it comes" "" \
	"$(dd if="$SCRATCH/dump" bs=701 status=none | "$new" - - | diff - "$SCRATCH/new.out" 2>&1)"

# --- damaged dumps, sanitizers, valgrind

need "the fuzzer builds" "$cc" -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra \
	-DTOOL="\"$SCRATCH/page_owner_sort.c\"" -o "$SCRATCH/fuzz" tests/page_owner_fuzz.c
for f in "" n mc H h f p pH o 5 4d sct; do
	"$SCRATCH/gen" -s 3 -n 100 -k 40 -w "$f" >"$SCRATCH/seed.${f:-plain}"
done
sed 's/$/\r/' "$SCRATCH/seed.mc" >"$SCRATCH/seed.crlf"
printf ' func_a+0x1/0x2\nhandle: 1\nnr_base_pages: 5\nclass: kernel\ntrend: [1, 2]\n\n# no suspects\n' >"$SCRATCH/seed.trends"
check "${FUZZ_RUNS:-3000} damaged dumps" \
	"$SCRATCH/fuzz" -s "${SEED:-1}" -n "${FUZZ_RUNS:-3000}" -o "$BUILD/page_owner_sort.fail" "$SCRATCH"/seed.*

# shellcheck disable=SC2317 # called by check
quiet() { "$@" >/dev/null; }
if command -v valgrind >/dev/null; then
	for f in "" o pH fmc; do
		"$SCRATCH/gen" -s 5 -n 3000 -k 300 -w "$f" >"$SCRATCH/dump"
		for mode in -t -a --cull=st,mg "--cull=c,sz --sort=-sz,c"; do
			read -ra options <<<"$mode"
			check "valgrind: ${f:-plain} $mode" quiet valgrind -q --error-exitcode=9 --leak-check=full \
				--show-leak-kinds=definite,indirect,possible --errors-for-leak-kinds=definite,indirect,possible \
				"$new" "${options[@]}" "$SCRATCH/dump" -
		done
	done
else
	skip "valgrind" "it is not installed"
fi

# --- the style of what changed

mkdir -p "$SCRATCH"/{a,b}/tools/mm
cp "$original" "$SCRATCH/a/tools/mm/"
cp "$SCRATCH"/page_owner_sort.c "$SCRATCH"/page_owner_sort_test.sh "$SCRATCH/b/tools/mm/"
(cd "$SCRATCH" && diff -Nru a b) | grep -v "^diff " >"$SCRATCH/diff"
check "checkpatch" perl "$BASE/scripts/checkpatch.pl" --no-tree --strict --terse --no-signoff \
	--ignore COMMIT_MESSAGE,FILE_PATH_CHANGES "$SCRATCH/diff"
done_testing
