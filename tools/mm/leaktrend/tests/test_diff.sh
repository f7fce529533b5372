# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# diff: which call paths hold more, by the names of their functions.

first=$DATA/leak/01
last=$DATA/leak/12

tool diff "$first" "$last"
is "diff: exit status without a gate" 0 "$RC"
like "diff: what is compared" "$OUT" '^base +leaktrend, kernel .*, 1 rounds, '
like "diff: and with what" "$OUT" '^new +leaktrend, kernel .*, 12 rounds, '
like "diff: the leak" "$OUT" "^(new|grew) .* $LEAK_GROWTH +kmalloc-64 +leaktrend_test_leak_a"
is "diff: the greatest is first" "leaktrend_test_leak_a" \
	"$(sed -n '/^CHANGE/ { n; p }' <<<"$OUT" | grep -o 'leaktrend_test_leak_a')"
tool diff "$last" "$first"
like "diff: the other way round it is gone" "$OUT" '^(gone|shrank) .*leaktrend_test_leak_a'
tool diff "$last" "$last"
is "diff: nothing" "no call path differs by more than chance" "$(tail -n 1 <<<"$OUT")"
tool diff "$last" "$last" --all
is "diff: --all has what is the same" "$(grep -c '^same ' <<<"$OUT")" \
	"$(awk '/^CHANGE/ { go = 1; next } go' <<<"$OUT" | wc -l)"

# Another boot: other numbers, handles, offsets, and a suffix of the compiler.
cp -r "$last" "$SCRATCH/boot"
sed -i -E -e 's/(site #)([0-9]+), stack_id=0x/\17\2, stack_id=0x9/' \
	-e 's/leaktrend_test_leak_a\+0x[0-9a-f]+/leaktrend_test_leak_a.isra.0+0x1/' \
	-e 's/kthread\+0x[0-9a-f]+/kthread+0x77/' "$SCRATCH/boot/leaktrend/"{trends,suspects}
sed -i -E '2,$ s/^([0-9]+) ([a-z]+) ([a-z_]+) 0x/7\1 \2 \3 0x9/' "$SCRATCH/boot/leaktrend/sites"
tool diff "$last" "$SCRATCH/boot"
is "diff: across boots nothing differs" "no call path differs by more than chance" "$(tail -n 1 <<<"$OUT")"

# What differs by chance is no difference: 4 samples and 6.
cp -r "$last" "$SCRATCH/chance"
awk -v leak="$LEAK" 'NR > 1 && $1 == leak { $7 = 400; $8 = 25600; $16 = 497 } 1' \
	"$last/leaktrend/sites" >"$SCRATCH/chance/leaktrend/sites"
sed -i -E "/^site #$LEAK,/ s/outstanding=.*/outstanding=400, bytes=25600/" "$SCRATCH/chance/leaktrend/"{trends,suspects}
sed -i -E "/^site #$LEAK,/,/^\$/ s/^error   : .*/error   : +-49.7 %/" "$SCRATCH/chance/leaktrend/"{trends,suspects}
cp -r "$SCRATCH/chance" "$SCRATCH/chance2"
sed -i 's/ 400 25600 / 600 38400 /' "$SCRATCH/chance2/leaktrend/sites"
sed -i 's/outstanding=400, bytes=25600/outstanding=600, bytes=38400/' "$SCRATCH/chance2/leaktrend/"{trends,suspects}
tool diff "$SCRATCH/chance" "$SCRATCH/chance2" -F leaktrend_test_leak_a
is "diff: a difference by chance" "no call path differs by more than chance" "$(tail -n 1 <<<"$OUT")"
tool diff "$SCRATCH/chance" "$last" -F leaktrend_test_leak_a
like "diff: one that is more" "$OUT" '^grew +25\.0 KiB +'"$LEAK_SIZE"

# --- gates

gate() {
	tool diff "$first" "$last" --fail-on "$@"
}
gate growth=1K
is "diff: a gate that is not passed" 1 "$RC"
like "diff: and why" "$ERR" "^leaktrend: fails by growth: \\+.* KiB, leaktrend_test_leak_a"
gate growth=1G
is "diff: a gate that is passed" "0 " "$RC $ERR"
gate growth=1G -e new=1K
is "diff: of two gates one" 1 "$RC"
tool diff "$SCRATCH/chance" "$last" -F leaktrend_test_leak_a --fail-on growth=100%
is "diff: a gate in per cent" 1 "$RC"
tool diff "$SCRATCH/chance" "$last" -F leaktrend_test_leak_a --fail-on growth=90000%
is "diff: a higher one" 0 "$RC"
fails "diff: a gate that is none" 'is none of growth=1M, growth=10%, new=64K' diff "$first" "$last" --fail-on size=3
fails "diff: a gate without a number" 'is none of' diff "$first" "$last" --fail-on growth=

# --- where from

tool diff "$first" "$RECORDED" --kind slab
like "diff: a copy and a recorded file" "$OUT" '^(new|grew) .*leaktrend_test_leak_a'
tool_stdin "$RECORDED" diff "$first" - --kind slab
like "diff: standard input" "$OUT" '^(new|grew) .*leaktrend_test_leak_a'
fails "diff: it is read once only" 'only one of them can be standard input' diff - -
fails "diff: nothing to compare" 'it takes BASE' diff
fails "diff: a file that is not there" 'cannot open .*: No such file' diff "$SCRATCH/none" "$last"
fails "diff: a copy without stacks" 'no site of BASE has a stack' diff "$DATA/leak/05" "$last"
tool diff "$last" "$DATA/page_owner"
like "diff: page_owner on one side" "$ERR" 'note: page_owner was on for one of them only'

# --- JSON, filters

tool diff "$first" "$last" --json
is "diff: JSON" "leaktrend-diff-1 $LEAK_BYTES" "$(json '"%s %d" % (d["format"], [p["new"]["bytes"] for p in d["paths"] if "leaktrend_test_leak_a" in p["path"]][0])')"
tool diff "$first" "$last" --top 1
is "diff: top" 1 "$(awk '/^CHANGE/ { go = 1; next } go && !/^…/' <<<"$OUT" | wc -l)"
tool diff "$first" "$last" --min-bytes 1G
like "diff: min-bytes" "$OUT" '^no call path differs'
COLUMNS=80 tool diff "$first" "$last"
succeeds "diff: 80 columns are enough" test "$(columns "$(sed 1,3d <<<"$OUT")")" -le 80
