# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# report: text, JSON, and a page that needs nothing else and can be given to anybody.

last=$DATA/leak/12

# page_checks FILE: what is wrong with it: tags that are not closed, things that would
# be loaded from elsewhere, scripts beside ours.
page_checks() {
	python3 - "$1" <<-'END'
	import html.parser, sys

	VOID = {"meta", "line", "polyline", "polygon", "br"}
	class Page(html.parser.HTMLParser):
	    def __init__(self):
	        super().__init__()
	        self.open, self.scripts, self.ids = [], 0, []
	    def handle_startendtag(self, tag, attrs):
	        self.check(tag, attrs)
	    def handle_starttag(self, tag, attrs):
	        self.check(tag, attrs)
	        if tag not in VOID:
	            self.open.append(tag)
	    def check(self, tag, attrs):
	        self.scripts += tag == "script"
	        for name, value in attrs:
	            if name in ("src", "href", "srcset", "data") or name.startswith("on"):
	                print("loads or runs:", tag, name, value)
	            if name == "id":
	                self.ids.append(value)
	    def handle_endtag(self, tag):
	        if tag in VOID:
	            return
	        if not self.open or self.open.pop() != tag:
	            print("closed without being open:", tag, self.getpos())

	page = Page()
	text = open(sys.argv[1], encoding="utf-8").read()
	page.feed(text)
	if page.open: print("never closed:", page.open)
	if page.scripts != 1: print("scripts:", page.scripts)
	if len(set(page.ids)) != len(page.ids): print("an id twice")
	if "default-src 'none'" not in text: print("no policy")
	if "url(" in text or "@import" in text: print("styles load something")
	END
}

# --- text

tool report "$RECORDED"
is "report: exit status" 0 "$RC"
like "report: how long" "$OUT" '^time +2026-.* \.\. .*, 13 rounds$'
like "report: the worst is first" "$OUT" '^1\. ORPHANED  leaktrend_test_leak_a \[leaktrend_test\]$'
like "report: its trend" "$OUT" '^   ▁.*█'
like "report: its stack" "$OUT" '^     leaktrend_test_leak_a\+0x'
COLUMNS=80 tool report "$RECORDED"
succeeds "report: 80 columns are enough" test "$(columns "$OUT")" -le 80
tool report "$RECORDED" --top 1
unlike "report: top" "$OUT" '^2\. '
tool_stdin "$RECORDED" report -
like "report: of standard input" "$OUT" '^1\. ORPHANED'
head -c -100 "$RECORDED" >"$SCRATCH/torn"
tool report "$SCRATCH/torn"
like "report: a torn tail is said" "$RC $ERR" '^0 leaktrend: note: the last [0-9]+ bytes are no whole round'
tool report --debugfs "$last"
like "report: of one moment" "$OUT" '^1\. LIKELY_LEAK  leaktrend_test_leak_a'
tool report "$RECORDED" --json
is "report: JSON" "13 $LEAK_BYTES" "$(json '"%d %d" % (len(d["times_ms"]), d["suspects"][0]["bytes_series"][11])')"
is "report: JSON has low-water marks" True "$(json 'max(d["suspects"][0]["low_series"]) > 0')"

# Stretches: what was recorded before and after a clear.
"${BUILT}tests/mklog" "$SCRATCH/two" "$DATA"/leak/0[1-4] "$DATA"/leak/0[1-9] 2>/dev/null
tool report "$SCRATCH/two"
like "report: stretches are told apart" "$OUT" '^epochs +this is number 2 of 2'
tool report "$SCRATCH/two" --epoch 1
like "report: another stretch" "$OUT" ', 4 rounds$'
fails "report: a stretch that is not there" 'there is no epoch 3, there are 2' report "$SCRATCH/two" --epoch 3
fails "report: a number that is none" 'counted from 1' report "$SCRATCH/two" --epoch 0
fails "report: stretches of no file" '--epoch is for recorded files' report --epoch 1 --debugfs "$last"
fails "report: two files" 'it takes one FILE' report "$RECORDED" "$RECORDED"
fails "report: a file that is not there" 'cannot open .*: No such file' report "$SCRATCH/none"
fails "report: a foreign file" 'was not recorded by leaktrend' report "$TOOL"

# --- the page

page=$SCRATCH/page.html
tool report "$RECORDED" --html "$page"
is "page: exit status, and nothing on stdout" "0 " "$RC $OUT"
is "page: is sound and loads nothing" "" "$(page_checks "$page")"
text=$(<"$page")
like "page: the suspect" "$text" 'badge v-ORPHANED">ORPHANED</span><code>leaktrend_test_leak_a \[leaktrend_test\]'
like "page: a chart with its low-water mark" "$text" '<polyline class="s-low" points="[0-9]'
like "page: the threshold" "$text" '<line class="limit"'
like "page: generations" "$text" 'title="8 of 8"'
like "page: the flame graph" "$text" '>leaktrend_test_leak_a</div>'
like "page: the kernel" "$text" "<dd>$(<"$last/proc/sys/kernel/osrelease")</dd>"
is "page: nothing is left beside it" "page.html" "$(cd "$SCRATCH" && ls page.html*)"
tool report "$RECORDED" --html -
is "page: the same on standard output" "$(sed 1q "$page")" "$(sed 1q <<<"$OUT")"
tool report --debugfs "$last" --html "$page"
is "page: of one moment" "0 " "$RC $(page_checks "$page")"
tool report "$SCRATCH/torn" --html "$page"
like "page: damage is said" "$(<"$page")" '<p class="note">the last [0-9]+ bytes'

# Reclaim between two rounds shows.
for i in 1 2 3; do
	cp -r "$DATA/leak/0$i" "$SCRATCH/scan$i"
	echo "slabs_scanned $((100 * (i / 3)))" >"$SCRATCH/scan$i/proc/vmstat"
done
cp -r "$last" "$SCRATCH/scan4"
echo "slabs_scanned 100" >"$SCRATCH/scan4/proc/vmstat"
"${BUILT}tests/mklog" "$SCRATCH/scanned" "$SCRATCH"/scan[1-4] 2>/dev/null
tool report "$SCRATCH/scanned" --html "$page"
is "page: reclaim is marked where it ran, in each chart" "$(grep -c '<svg viewBox="0 0 640' "$page")" \
	"$(grep -c '<line class="reclaim" x1="[1-9].*y1="168"' "$page")"

# Names come from elsewhere, and a browser must not obey them.
cp -r "$last" "$SCRATCH/evil"
evil='<script>alert(1)</script>"&'
sed -i "s|kmalloc-64|${evil//&/\\&}|g" "$SCRATCH/evil/leaktrend/"{sites,trends,suspects}
sed -i "s|leaktrend_test_leak_a+|<img/onerror=x>+|g" "$SCRATCH/evil/leaktrend/"{trends,suspects}
echo "<b>host" >"$SCRATCH/evil/proc/sys/kernel/hostname"
tool report --debugfs "$SCRATCH/evil" --html "$page"
is "page: names are text" "0 " "$RC $(page_checks "$page")"
like "page: as they are" "$(<"$page")" '&lt;script&gt;alert\(1\)&lt;/script&gt;&quot;&amp;'

# Many sites, over many rounds: the page stays small, and says so.
mkdir -p "$SCRATCH/many"
cp -r "$last" "$SCRATCH/many/x"
awk 'NR == 1 { print; next } { line = $0 } NR == 2 { first = $0 }
	END { n = split(first, f, " ")
		for (i = 0; i < 5000; i++) {
			printf "%d", i
			for (j = 2; j <= n; j++) printf " %s", j == 4 ? sprintf("0x%x", i + 4096) : j == 8 ? 4096 + i : f[j]
			print ""
		} }' "$last/leaktrend/sites" >"$SCRATCH/many/x/leaktrend/sites"
: >"$SCRATCH/many/x/leaktrend/trends"
: >"$SCRATCH/many/x/leaktrend/suspects"
tool report --debugfs "$SCRATCH/many/x" --html "$page"
is "page: 5000 sites" 0 "$RC"
succeeds "page: is small for all that" test "$(stat -c %s "$page")" -lt 2000000
like "page: what is left out is said" "$(<"$page")" 'The 300 largest of [45][0-9]* '

fails "page: a directory that is not there" 'cannot write .*: No such file' \
	report "$RECORDED" --html "$SCRATCH/none/x.html"
"${WRAP[@]}" "$TOOL" report "$RECORDED" --html - >/dev/full 2>"$SCRATCH/full"
is "page: a full disk" "2 leaktrend: cannot write standard output" "$? $(grep -o ".*output" "$SCRATCH/full")"
