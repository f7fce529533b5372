# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What runs unattended: check, export, collapse; and the ignore list.

last=$DATA/leak/12

# --- check

tool check --debugfs "$last"
is "check: suspects" 1 "$RC"
like "check: one line each" "$OUT" "^LIKELY_LEAK: $LEAK_SIZE outstanding, $LEAK_GROWTH, slab kmalloc-64: leaktrend_test_leak_a"
tool check --debugfs "$last" --quiet
is "check: quiet" "1 " "$RC $OUT$ERR"
tool check --debugfs "$last" --fail-on orphaned
is "check: nothing as bad" "0 nothing is ORPHANED or worse after 12 rounds" "$RC $OUT"
tool check --debugfs "$DATA/orphan" --fail-on orphaned
is "check: an orphan" 1 "$RC"
tool check --debugfs "$last" --cache 'dentry'
is "check: filtered" 0 "$RC"
fails "check: too few rounds" 'cannot tell yet: 1 rounds are done, and a verdict takes 9; wait' \
	check --debugfs "$DATA/leak/01"
tool check -f "$RECORDED"
is "check: of a recorded file" 1 "$RC"
cp -r "$last" "$SCRATCH/classes"
echo reclaimable >"$SCRATCH/classes/leaktrend/classes"
tool check --debugfs "$SCRATCH/classes"
is "check: only of the kernel's classes" 0 "$RC"

# --- collapse

tool collapse --debugfs "$last"
is "collapse: exit status" 0 "$RC"
like "collapse: a stack, outermost first, with its bytes" "$OUT" \
	"^ret_from_fork_asm;ret_from_fork;kthread;lt_thread_fn;lt_step;leaktrend_test_leak_a $LEAK_BYTES\$"
is "collapse: the bytes are those of the sites" \
	"$(awk 'NR > 1 && ($3 == "kernel" || $3 == "reclaimable") { n += $8 } END { print n }' "$last/leaktrend/sites")" \
	"$(awk '{ n += $NF } END { print n }' <<<"$OUT")"
is "collapse: no stack twice" "" "$(awk '{ $NF = ""; print }' <<<"$OUT" | sort | uniq -d)"
tool collapse --debugfs "$last" --by outstanding -F lt_step
like "collapse: objects" "$OUT" "leaktrend_test_leak_a $LEAK_OUTSTANDING\$"
tool collapse --debugfs "$last" -o "$SCRATCH/folded"
is "collapse: to a file" "0 " "$RC $OUT"
like "collapse: which has all" "$(<"$SCRATCH/folded")" "leaktrend_test_leak_a $LEAK_BYTES\$"

# --- export

# metrics FILE: what a collector would refuse: samples without TYPE, twice the same
# series, families that are not in one piece, lines of another form.
metrics() {
	awk '
	/^# HELP / { next }
	/^# TYPE / { if ($3 in type) print "twice: " $3; type[$3] = 1; family = $3; next }
	/^[a-z_]+(\{[a-z_]+="([^"\\]|\\.)*"(,[a-z_]+="([^"\\]|\\.)*")*\})? -?[0-9.e+-]+$/ {
		name = $0; sub(/[ {].*/, "", name)
		if (name != family) print "without type: " name
		series = $0; sub(/ [^ ]*$/, "", series)
		if (seen[series]++) print "again: " series
		next
	}
	{ print "no metric: " $0 }' "$1"
}

tool export --debugfs "$last"
cp "$SCRATCH/.out" "$SCRATCH/prom"
is "export: exit status" 0 "$RC"
is "export: is in the format" "" "$(metrics "$SCRATCH/prom")"
like "export: status" "$OUT" '^leaktrend_rounds 12$'
like "export: suspects by verdict" "$OUT" '^leaktrend_suspects\{verdict="LIKELY_LEAK"\} 1$'
like "export: a site" "$OUT" \
	'^leaktrend_site_bytes\{function="leaktrend_test_leak_a",module="leaktrend_test",cache="kmalloc-64",kind="slab",class="kernel",path="[0-9a-f]{16}"\} '"$LEAK_BYTES\$"
path=$(sed -n 's/^leaktrend_site_bytes.*path="\([0-9a-f]*\)".*/\1/p' <<<"$OUT")
tool export --debugfs "$DATA/page_owner"
like "export: the path is the same after another boot" "$OUT" "^leaktrend_site_bytes.*path=\"$path\""
tool export --debugfs "$last" --all --top 5
is "export: no more series than asked for" 5 "$(grep -c '^leaktrend_site_bytes{' <<<"$OUT")"
fails "export: a limit there is" 'at most 1000 sites' export --debugfs "$last" --top 1001
tool export --debugfs "$last" --all --top 1000
cp "$SCRATCH/.out" "$SCRATCH/prom"
is "export: all sites are in the format" "" "$(metrics "$SCRATCH/prom")"

# Labels take any text, and two sites with the same labels are one series.
cp -r "$last" "$SCRATCH/labels"
sed -i 's/kmalloc-64/a"b\\c/' "$SCRATCH/labels/leaktrend/sites"
{
	echo
	sed "s/^site #$LEAK, stack_id=$LEAK_STACK/site #999, stack_id=0x99/" "$last/leaktrend/suspects"
} >>"$SCRATCH/labels/leaktrend/suspects"
awk -v leak="$LEAK" '$1 == leak { $1 = 999; $4 = "0x99"; print }' "$SCRATCH/labels/leaktrend/sites" >"$SCRATCH/line"
cat "$SCRATCH/line" >>"$SCRATCH/labels/leaktrend/sites"
tool export --debugfs "$SCRATCH/labels"
cp "$SCRATCH/.out" "$SCRATCH/prom"
is "export: labels are escaped" "" "$(metrics "$SCRATCH/prom")"
like "export: as the format says" "$OUT" 'cache="a\\"b\\\\c"'
like "export: the same labels are one series" "$OUT" "^leaktrend_site_bytes\\{.*\\} $((2 * LEAK_BYTES))\$"

sed -i 's/^state: on$/state: standby/' "$SCRATCH/labels/leaktrend/status"
tool export --debugfs "$SCRATCH/labels"
like "export: standby is a state" "$RC$OUT" '^leaktrend_tracking 0$'

tool export --debugfs "$last" -o "$SCRATCH/x.prom"
is "export: to a file, and nothing beside it" "0 x.prom" "$RC $(cd "$SCRATCH" && ls x.prom*)"
is "export: others may read the file" "$(umask -S | sed 's/.*o=//; s/[wx]//g')" \
	"$(stat -c %A "$SCRATCH/x.prom" | cut -c 8)"

# --- ignore

copy() {
	rm -rf "$SCRATCH/ignore"
	cp -r "$last" "$SCRATCH/ignore"
	printf '%s\n' "$@" >"$SCRATCH/ignore/leaktrend/ignore"
	[[ $# != 0 ]] || : >"$SCRATCH/ignore/leaktrend/ignore"
}
ignore() { tool ignore --debugfs "$SCRATCH/ignore" "$@"; }
# written: what the kernel would have got.
written() { grep -vE ' (sites|bytes)$' "$SCRATCH/ignore/leaktrend/ignore"; }

copy
ignore
is "ignore: nothing" "0 nothing is ignored" "$RC $OUT"
copy 'drv_prefill  3 sites, 2097152 bytes' '0x1c  1 sites'
ignore list
like "ignore: list" "$OUT" '^drv_prefill +3 +2\.0 MiB$'
ignore add f g
is "ignore: add, one write each" $'add f\nadd g' "$(written)"
copy 'f  3 sites'
ignore remove f
is "ignore: remove" 'remove f' "$(written)"

list=$SCRATCH/list
copy
ignore add --file "$list" --comment "rings are filled once" drv_prefill
is "ignore: add to a file, with a comment" $'drv_prefill\t# rings are filled once' "$(<"$list")"
copy 'drv_prefill  3 sites'
ignore list --file "$list"
like "ignore: list shows comments" "$OUT" '^drv_prefill +3 +0 B  rings are filled once$'
ignore list --file "$list" --json
like "ignore: JSON" "$OUT" '"comment":"rings are filled once"'

printf '# what is normal here\n\nkernel_init   # initcalls\ncopy_process\ngone # x' >"$list"
copy 'copy_process  1 sites'
ignore load "$list"
is "ignore: load adds what is missing" $'add kernel_init\nadd gone' "$(written)"
copy 'copy_process  1 sites' 'other  0 sites'
ignore load --replace "$list"
is "ignore: load --replace removes the rest" $'remove other\nadd kernel_init\nadd gone' "$(written)"
copy 'copy_process  1 sites' 'kernel_init  2 sites' 'new_one  1 sites' '0x1c  1 sites'
ignore save "$list"
is "ignore: save keeps comments" \
	$'# what is normal here\n\nkernel_init\t# initcalls\ncopy_process\nnew_one' "$(<"$list")"
like "ignore: save says what it left out" "$ERR" '0x1c is not saved: a handle is another one'
like "ignore: save says what is gone" "$ERR" '1 entries that the kernel does not have are gone'

copy
for text in 'two words' '0x1c' 'a;b' $'f\nf'; do
	printf '# first\n%s\n' "$text" >"$list"
	ignore load "$list"
	failed "ignore: a file with ${text@Q}" 'list:[23]: '
	is "ignore: of which nothing was taken" "" "$(written)"
done
printf 'a\0b\n' >"$list"
ignore load "$list"
failed "ignore: a file with a NUL" 'there is a NUL'
ignore add 'a b'
failed "ignore: no function" 'neither a function nor a handle'
ignore add --file "$list" 0x1c
failed "ignore: no handle in a file" 'a file takes names of functions'
ignore nonsense x
failed "ignore: no such word" 'there is no "nonsense"'
ignore load
failed "ignore: load of nothing" 'load takes one FILE'
