# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# status, suspects, trends, sites: the same of a copy of debugfs and of a recorded
# file, for people and for programs.

# shellcheck disable=SC2016 # programs of awk

last=$DATA/leak/12

# json EXPRESSION: of OUT, as Python sees it.
json() {
	python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1" \
		<<<"$OUT"
}

# rows: lines of a table without its head.
rows() {
	tail -n +2 <<<"$OUT" | grep -v '^…'
}

# --- status

tool status --debugfs "$last"
is "status: exit status" 0 "$RC"
like "status: state" "$OUT" '^state +on$'
like "status: suspects by verdict" "$OUT" '^suspects +1 LIKELY_LEAK'
like "status: rounds" "$OUT" '^rounds +12 of 10 min each'
unlike "status: enough rounds are no matter" "$OUT" 'too few'
tool status --debugfs "$DATA/leak/01"
like "status: too few rounds are said" "$OUT" 'too few for a verdict, which takes 9'
like "status: no suspects" "$OUT" '^suspects +none$'
tool status --debugfs "$last" --json
is "status: JSON has numbers" "12 100" "$(json '"%d %d" % (d["rounds"], d["status"]["sample_rate"])')"
is "status: JSON has tunables" 65536 "$(json 'd["tunables"]["min_bytes"]')"

cp -r "$last" "$SCRATCH/lost"
sed -i 's/^dropped_sites: 0$/dropped_sites: 12/' "$SCRATCH/lost/leaktrend/status"
tool status --debugfs "$SCRATCH/lost"
like "status: what was lost, and what to do" "$OUT" '^lost +12 samples: .*raise max_sites'

cp -r "$last" "$SCRATCH/standby"
sed -i 's/^state: on$/state: standby/' "$SCRATCH/standby/leaktrend/status"
tool status --debugfs "$SCRATCH/standby"
is "status: standby is a state" 0 "$RC"
like "status: standby, and what to do" "$OUT" '^state +standby: .*echo 1 >'

# --- suspects

tool suspects --debugfs "$last"
copy=$OUT
is "suspects: exit status" 0 "$RC"
like "suspects: verdict and culprit" "$OUT" '^1\. LIKELY_LEAK  leaktrend_test_leak_a \[leaktrend_test\]$'
like "suspects: size" "$OUT" "^   size     $LEAK_SIZE: $LEAK_OUTSTANDING objects of kmalloc-64 \\(\\+-$LEAK_ERROR %\\); class kernel\$"
like "suspects: growth" "$OUT" "^   growth   $LEAK_GROWTH \\(.*\\), tau 1\\.00\$"
like "suspects: trend" "$OUT" "^   trend    ▁.*█  [0-9]+ \\.\\. [0-9]+ in 12 rounds\$"
like "suspects: evidence" "$OUT" '^   held     growth of low-water mark and elders over 8 rounds'
like "suspects: stack" "$OUT" '^            kthread\+0x'

tool suspects -f "$RECORDED"
like "suspects: of a file, the last round" "$OUT" '^1\. ORPHANED  leaktrend_test_leak_a'
head -c -100 "$RECORDED" >"$SCRATCH/torn"
tool suspects -f "$SCRATCH/torn"
is "suspects: a torn tail is no failure" 0 "$RC"
like "suspects: a torn tail is said" "$ERR" 'note: the last [0-9]+ bytes are no whole round'
is "suspects: of a copy and of a file are the same" "$(grep -v trend <<<"$copy")" "$(grep -v trend <<<"$OUT")"
like "suspects: of a file, the trend is of its rounds" "$OUT" "^   trend    ▁.*█  [0-9]+ \\.\\. $LEAK_OUTSTANDING in 12 rounds\$"
tool_stdin "$SCRATCH/torn" suspects -f -
is "suspects: of standard input" "$(grep -v trend <<<"$copy")" "$(grep -v trend <<<"$OUT")"

tool suspects --debugfs "$DATA/leak/01"
like "suspects: none yet" "$OUT" '^no suspects yet: 1 rounds are done, a verdict takes 9$'
tool suspects --debugfs "$last" --kind page
like "suspects: none selected" "$OUT" "^none of the $NR_SUSPECTS suspects is selected\$"
tool suspects --debugfs "$last" --json
is "suspects: JSON" "LIKELY_LEAK $NR_SUSPECTS 12 1.0 6" \
	"$(json '"%s %d %d %.1f %d" % ((lambda s: (s["verdict"], d["matching"], len(s["trend"]), s["tau"], len(s["stack"])))(d["sites"][0]))')"

# With page_owner, page sites of all classes have stacks.
tool trends --debugfs "$DATA/page_owner" --class user --json
is "page_owner: stacks of user pages" True \
	"$(json 'sum(1 for s in d["sites"] if "stack" in s) > 2')"

# --- trends and sites

tool trends --debugfs "$last"
is "trends: those outstanding, of the kernel's classes" "$(grep -c '^site #' "$last/leaktrend/trends")" \
	"$(rows | wc -l)"
like "trends: the worst is first" "$(rows | head -n 1)" "^LIKELY_LEAK +$LEAK_GROWTH +$LEAK_SIZE  ▁"
tool sites --debugfs "$last"
is "sites: all of them" "$(($(wc -l <"$last/leaktrend/sites") - 1))" "$(rows | wc -l)"
tool sites --debugfs "$last" --json
is "sites: JSON has all of them" "$(($(wc -l <"$last/leaktrend/sites") - 1))" "$(json 'len(d["sites"])')"
is "sites: JSON has the figures of the file" \
	"$(awk -v leak="$LEAK" '$1 == leak { print $7, $8, $9, $10, $11, $12, $13, $14, $15, $16 }' "$last/leaktrend/sites")" \
	"$(json '" ".join(str([s for s in d["sites"] if s["site"] == '"$LEAK"'][0][k]) for k in ("outstanding", "bytes", "allocs", "frees", "low", "elders", "survivors", "oldest_ms", "growth_bytes_h", "error_permille"))')"
tool sites --debugfs "$DATA/orphan" --json
copy=$(json 'd["sites"] == d["sites"] and [(s["site"], s["bytes"], s["growth_bytes_h"], s["oldest_ms"], s["cache"]) for s in d["sites"]]')
tool sites -f "$RECORDED" --json
is "sites: of a copy and of a file are the same" "$copy" \
	"$(json '[(s["site"], s["bytes"], s["growth_bytes_h"], s["oldest_ms"], s["cache"]) for s in d["sites"]]')"

# sites_of FILTER…: how many pass.
sites_of() {
	tool sites --debugfs "$last" "$@"
	rows | wc -l
}

# count PROGRAM: of awk, how many lines of the file it selects.
count() {
	awk "NR > 1 && ($1)" "$last/leaktrend/sites" | wc -l
}

is "filter: kind" "$(count '$2 == "page"')" "$(sites_of --kind page)"
is "filter: class" "$(count '$3 == "reclaimable" || $3 == "user"')" "$(sites_of --class reclaimable,user)"
is "filter: cache" "$(count '$5 ~ /^kmalloc-/')" "$(sites_of --cache 'kmalloc-*')"
is "filter: verdict in small letters" "$(count '$6 == "LIKELY_LEAK"')" "$(sites_of --verdict likely-leak)"
is "filter: min-bytes" "$(count '$8 >= 65536')" "$(sites_of --min-bytes 64K)"
is "filter: function" 1 "$(sites_of --function 'lt_thread_*')"
is "filter: function with offset is another" 0 "$(tool sites --debugfs "$last" -F lt_step+0x52; grep -c lt_step <<<"$OUT")"
tool sites --debugfs "$last" --top 3
is "filter: top" 3 "$(rows | wc -l)"
like "filter: top says what it left out" "$OUT" '^… and [0-9]+ more$'
tool sites --debugfs "$last" --sort bytes --json
is "sort: bytes" "$(awk 'NR > 1 { print $8 }' "$last/leaktrend/sites" | sort -rn | head -n 5 | xargs)" \
	"$(json '" ".join(str(s["bytes"]) for s in d["sites"][:5])')"
tool sites --debugfs "$last" --sort age --json
is "sort: age" "$(awk 'NR > 1 { print $14 }' "$last/leaktrend/sites" | sort -rn | head -n 5 | xargs)" \
	"$(json '" ".join(str(s["oldest_ms"]) for s in d["sites"][:5])')"

# --- what people see

# fits WIDTH COMMAND
fits() {
	COLUMNS=$1 tool "$2" --debugfs "$last"
	succeeds "$2: $1 columns are enough" test "$(columns "$OUT")" -le "$1"
}
for command in suspects trends sites; do
	for width in 80 100 132; do fits $width $command; done
done
fits 70 suspects
fits 80 status
COLUMNS=80 tool sites --debugfs "$last"
like "sites: the function is there at 80 columns" "$OUT" 'LIKELY_LEAK .* leaktrend_test_'
LC_ALL=C tool trends --debugfs "$last"
unlike "trends: ASCII in a locale without more" "$OUT" '[^ -~]'

# on_terminal VARIABLE=VALUE… ARGUMENT…: what a terminal would get.
on_terminal() {
	env "$@" script -qec "stty cols 80; $TOOL trends --debugfs $last" /dev/null </dev/null
}
esc=$'\033'
like "colours on a terminal" "$(on_terminal NO_COLOR=)" "${esc}\\[1;31mLIKELY_LEAK"
unlike "no colours with NO_COLOR" "$(on_terminal NO_COLOR=1)" "$esc"
unlike "no colours on a dumb terminal" "$(on_terminal TERM=dumb)" "$esc"
tool trends --debugfs "$last"
unlike "no colours in a pipe" "$OUT" "$esc"

# Names come from elsewhere; a terminal must not obey them.
cp -r "$last" "$SCRATCH/evil"
sed -i "s/kmalloc-64/k${esc}[2J\x07\xff/g" "$SCRATCH/evil/leaktrend/sites" "$SCRATCH/evil/leaktrend/trends"
for command in suspects trends sites check; do
	tool "$command" --debugfs "$SCRATCH/evil"
	unlike "$command: no control characters of names" "$OUT" "$esc"
done
tool sites --debugfs "$SCRATCH/evil" --json
succeeds "sites: JSON is UTF-8 whatever names are" json '1'

tool --version
like "version" "$OUT" '^leaktrend [0-9]'
tool --help
like "help: lists commands" "$OUT" '^  suspects +what leaks'
mapfile -t commands < <(awk '/^  [a-z]/ { print $1 }' <<<"$OUT")
for command in "${commands[@]}"; do
	tool "$command" --help
	like "help: $command" "$RC$OUT" "^0usage: leaktrend $command"
	succeeds "help: $command has 80 columns at most" test "$(columns "$OUT")" -le 80
	fails "$command: an option that is none" "no option --nonsense; see leaktrend $command --help" \
		"$command" --nonsense
done
