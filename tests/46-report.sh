#!/usr/bin/env bash
# The page that leaktrend report makes, in a browser: it is drawn without an error,
# in light and in dark, fits a narrow screen, and its script works. What is in the
# page is tested by the tool's own tests (tools).

. "$(dirname "$0")/lib.sh"
scratch_dir
need "a browser is installed" scripts/setup browser
tool=$SCRATCH/tool
need "the tool builds" make -s -C tools/mm/leaktrend O="$tool" all "$tool/tests/mklog"
data=$SCRATCH/data
need "there is data" tools/mm/leaktrend/tests/data.sh "$data"
need "a file is recorded" "$tool/tests/mklog" "$SCRATCH/log" "$data"/leak/* "$data/orphan"
need "the page is made" "$tool/leaktrend" report "$SCRATCH/log" --html "$SCRATCH/page.html"

# browse WIDTH OPTION…: draws the page; OUT is what the browser says on stderr.
browse() {
	local width=$1

	shift
	OUT=$(timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
		--user-data-dir="$SCRATCH/profile" --enable-logging=stderr --window-size="$width,900" "$@" 2>&1 >"$SCRATCH/dom")
}

# The page with a script more, that writes what it has found where --dump-dom shows it.
# Its policy lets scripts within the page run.
cat >"$SCRATCH/probe.js" <<'END'
const says = [];
const say = (name, value) => says.push(name + "=" + value);
const wide = [...document.querySelectorAll("body *")].filter((e) =>
  !e.closest("svg, .flame, .scroll, pre") && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
say("overflow", document.documentElement.scrollWidth - document.documentElement.clientWidth);
say("wide", wide.map((e) => e.tagName + "." + e.className).join(","));
say("charts", document.querySelectorAll("article svg[role=img]").length);
const luminance = (c) => {
  const [r, g, b] = c.match(/[\d.]+/g).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const paper = luminance(getComputedStyle(document.body).backgroundColor);
let least = 99;
for (const e of document.querySelectorAll("h1, p, dt, dd, .badge, summary, th, td")) {
  const ink = luminance(getComputedStyle(e).color);
  least = Math.min(least, (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05));
}
say("contrast", least.toFixed(1));
say("dark", paper < 0.2);
const bytes = () => [...document.querySelectorAll("table.sortable tbody tr")].map((r) => Number(r.cells[1].dataset.v));
const sorted = (v) => v.every((x, i) => !i || v[i - 1] <= x);
const button = document.querySelectorAll("table.sortable th button")[1];
button.click();
button.click();
say("sorted", sorted(bytes()));
const frames = [...document.querySelectorAll(".flame div")];
const leaf = frames.find((f) => f.textContent === "leaktrend_test_leak_a");
leaf.click();
say("zoomed", leaf.style.width);
frames[0].click();
say("back", leaf.style.width !== "100%");
document.title = "PROBE " + says.join(" ");
END
{
	sed '/<\/body>/,$d' "$SCRATCH/page.html"
	echo "<script>"
	cat "$SCRATCH/probe.js"
	echo "</script></body></html>"
} >"$SCRATCH/probed.html"

probe() { sed -n 's/.*<title>PROBE \(.*\)<\/title>.*/\1/p' "$SCRATCH/dom"; }

for scheme in light dark; do
	options=()
	[[ $scheme == light ]] || options=(--blink-settings=preferredColorScheme=0)
	# A window of less than 500 pixels is not to be had without a screen, but a frame is.
	for width in 360 1000; do
		printf '<!DOCTYPE html><title>x</title><body style="margin:0"><iframe id="f" style="border:0;width:%spx;height:800px" src="probed.html"></iframe><script>f.onload = () => setTimeout(() => { document.title = f.contentDocument.title; }, 100);</script>' \
			"$width" >"$SCRATCH/frame.html"
		browse 1100 "${options[@]}" --allow-file-access-from-files --virtual-time-budget=3000 --dump-dom \
			"file://$SCRATCH/frame.html"
		said=$(probe)
		name="$scheme, $width pixels"
		same "$name: no error" "" "$(grep -E 'CONSOLE.*(rror|efused|iolat)' <<<"$OUT")"
		contains "$name: the page does not scroll sideways" "$said" 'overflow=0 wide= '
		contains "$name: charts" "$said" 'charts=[1-9]'
		contains "$name: text can be read (contrast of 4.5 or more)" "$said" 'contrast=(4\.[5-9]|[5-9]|1[0-9])'
		contains "$name: the colours are the scheme's" "$said" "dark=$([[ $scheme == dark ]] && echo true || echo false)"
		contains "$name: the table can be sorted" "$said" 'sorted=true'
		contains "$name: the flame graph can be looked into" "$said" 'zoomed=100% back=true'
	done
	browse 1000 "${options[@]}" --screenshot="$SCRATCH/$scheme.png" "file://$SCRATCH/page.html"
	check "$scheme: is drawn" test "$(stat -c %s "$SCRATCH/$scheme.png" 2>/dev/null || echo 0)" -gt 20000
done
same "light and dark are drawn differently" 1 "$(cmp -s "$SCRATCH/light.png" "$SCRATCH/dark.png"; echo $?)"
done_testing
