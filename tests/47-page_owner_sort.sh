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

# --sort of the original is overwritten by the default. This is all that is wrong
# with it, and one line mends it.
sed 's/^\tcase COMP_NO_FLAG:$/&\n\t\tif (sc.size)\n\t\t\tbreak;/' "$original" >"$SCRATCH/mended.c"
cc=${CC:-gcc}
need "the original builds" "$cc" -O2 -w -o "$SCRATCH/old" "$original"
need "the mended original builds" "$cc" -O2 -w -o "$SCRATCH/mended" "$SCRATCH/mended.c"
check "--sort is mended" test "$(diff "$original" "$SCRATCH/mended.c" | grep -c '^>')" = 2
need "the new one builds, without a warning" \
	"$cc" -O2 -g -Wall -Wextra -Werror -o "$SCRATCH/page_owner_sort" "$SCRATCH/page_owner_sort.c"
need "the generator builds" "$cc" -O2 -Wall -Wextra -Werror -o "$SCRATCH/gen" tests/bench/page_owner_gen.c
new=$SCRATCH/page_owner_sort

# --- its own test

while read -r result; do
	case $result in
	"ok "*" # SKIP "*) result=${result#* - }; skip "${result%% # SKIP*}" "${result#* # SKIP }" ;;
	"ok "*) ok "${result#* - }" ;;
	"not ok "*) not_ok "${result#* - }" ;;
	1..*) planned=${result#1..} ;;
	*) say "$result" ;;
	esac
done < <(bash "$SCRATCH/page_owner_sort_test.sh" "$new")
check "its own test came to its end" test "${planned:-0}" -gt 100

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
