// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend report: one page of HTML that needs nothing else, neither a network nor a
 * script. Whatever comes from a file is escaped, and the page's policy forbids to
 * load anything.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flame.h"
#include "filter.h"
#include "report.h"
#include "table.h"

/* Sites in the table: the page stays small however many there are. */
#define MAX_ROWS	300

/* Of a chart, in units of its own. */
#define CHART_WIDTH	640
#define CHART_HEIGHT	190
#define CHART_LEFT	56
#define CHART_RIGHT	8
#define CHART_TOP	8
#define CHART_BOTTOM	22

#define EMBED(name, file)				\
	asm(".section .rodata\n" #name ":\n"		\
	    ".incbin \"" file "\"\n.byte 0\n.previous");	\
	extern const char name[]

EMBED(report_css, "report.css");
EMBED(report_js, "report.js");

static void text(FILE *f, const char *s)
{
	static const char specials[] = "<>&\"'";
	static const char * const entities[] = { "&lt;", "&gt;", "&amp;", "&quot;", "&#39;" };
	char *clean = utf8_clean(s ? s : ""), *p;

	for (p = clean; *p; p++) {
		const char *special = strchr(specials, *p);

		if (special)
			fputs(entities[special - specials], f);
		else if ((unsigned char)*p < ' ' && *p != '\n' && *p != '\t')
			/* HTML has no other control characters. */
			fputc('?', f);
		else
			fputc(*p, f);
	}
	free(clean);
}

static void fact(FILE *f, const char *value, const char *name)
{
	fputs("<div><b>", f);
	text(f, value);
	fprintf(f, "</b><span>%s</span></div>\n", name);
}

static void head(const struct report *report, FILE *f)
{
	const struct host *host = &report_epoch(report)->host;
	char when[UNIT_ROOM];

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<title>leaktrend: ", f);
	text(f, *host->name ? host->name : report->source);
	fprintf(f, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>Kernel memory: what grows</h1>\n"
		"<p class=\"soft\">", report_css);
	text(f, *host->name ? host->name : "unknown host");
	fputs(", kernel ", f);
	text(f, *host->release ? host->release : "unknown");
	fprintf(f, ", until %s; from ", unit_date(when, report_epoch(report)->last_ms));
	text(f, report->source);
	fputs("</p>\n", f);
}

static void notes(const struct report *report, FILE *f)
{
	static const struct {
		const char *key;
		const char *what;
	} losses[] = {
		{ "dropped_memory", "samples were lost for want of memory" },
		{ "dropped_stack", "samples were lost for want of a stack" },
		{ "dropped_sites", "samples were lost because there was no room for more sites" },
		{ "missed_frees", "frees were not seen, which is a bug of leaktrend" },
	};
	uint64_t v;
	size_t i;

	if (*report->note.text) {
		fputs("<p class=\"note\">", f);
		text(f, report->note.text);
		fputs("</p>\n", f);
	}
	if (report->gaps)
		fprintf(f, "<p class=\"note\">%u times more than three intervals passed without a "
			"round.</p>\n", report->gaps);
	if (report->nr_epochs > 1)
		fprintf(f, "<p class=\"note\">This is stretch %u of %u in the file; a boot, enable or "
			"clear begins a new one, in which sites have other numbers.</p>\n",
			report->shown + 1, report->nr_epochs);
	for (i = 0; i < ARRAY_SIZE(losses); i++)
		if (pairs_u64(&report->snap.status, losses[i].key, &v) && v)
			fprintf(f, "<p class=\"note\">%" PRIu64 " %s.</p>\n", v, losses[i].what);
}

static void summary(const struct report *report, size_t suspects, FILE *f)
{
	const struct epoch *epoch = report_epoch(report);
	char value[64];
	uint64_t v = 0;

	fputs("<div class=\"facts\">\n", f);
	snprintf(value, sizeof(value), "%zu", suspects);
	fact(f, value, suspects == 1 ? "suspect" : "suspects");
	fact(f, unit_time(value, epoch->last_ms - epoch->first_ms), "recorded");
	snprintf(value, sizeof(value), "%u", epoch->rounds);
	fact(f, value, "rounds");
	snprintf(value, sizeof(value), "%zu", report->snap.nr);
	fact(f, value, "call paths");
	if (snapshot_tunable(&report->snap, "sample_rate", &v)) {
		snprintf(value, sizeof(value), "1 in %" PRIu64, v);
		fact(f, value, "objects followed");
	}
	if (pairs_u64(&report->snap.status, "outstanding_bytes", &v))
		fact(f, unit_bytes(value, v), "in slab objects");
	if (snapshot_tunable(&report->snap, "min_bytes", &v))
		fact(f, unit_bytes(value, v), "growth that counts as a leak");
	if (snapshot_tunable(&report->snap, "min_age_ms", &v))
		fact(f, unit_time(value, v), "it must last");
	fputs("</div>\n", f);
}

/* Charts */

/**
 * struct chart - Where things are in it.
 * @report: Of which.
 * @series: What is drawn.
 * @max:    Bytes at its upper edge.
 * @begin:  Time at its left edge.
 * @end:    At the right one.
 */
struct chart {
	const struct report *report;
	const struct series *series;
	double max;
	uint64_t begin;
	uint64_t end;
};

static double chart_x(const struct chart *c, uint64_t ms)
{
	double span = c->end > c->begin ? c->end - c->begin : 1;

	return CHART_LEFT + (CHART_WIDTH - CHART_LEFT - CHART_RIGHT) * ((ms - c->begin) / span);
}

static double chart_y(const struct chart *c, double bytes)
{
	double v = bytes < 0 ? 0 : bytes > c->max ? c->max : bytes;

	return CHART_HEIGHT - CHART_BOTTOM -
	       (CHART_HEIGHT - CHART_TOP - CHART_BOTTOM) * (c->max > 0 ? v / c->max : 0);
}

/* A step such that there are at most @most of them up to @max: 1, 2, 4 or 5 of a unit. */
static double nice_bytes(double max, int most)
{
	static const double parts[] = { 1, 2, 5, 10, 20, 50, 100, 200, 500 };
	double unit = 1;
	size_t i;

	while (unit * 1024 <= max / most)
		unit *= 1024;
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (max / (parts[i] * unit) <= most)
			return parts[i] * unit;
	return unit * 1024;
}

static uint64_t nice_time(uint64_t span_ms, int most)
{
	static const uint64_t seconds[] = {
		1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600,
		6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400, 30 * 86400,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(seconds); i++)
		if (span_ms / 1000 <= seconds[i] * most)
			return seconds[i] * 1000;
	return seconds[ARRAY_SIZE(seconds) - 1] * 1000 * 12;
}

static void axes(const struct chart *c, FILE *f)
{
	double step = nice_bytes(c->max, 5), v;
	uint64_t span = c->end - c->begin, tick = nice_time(span ? span : 1000, 6), ago;
	char label[UNIT_ROOM];

	for (v = 0; v <= c->max; v += step) {
		fprintf(f, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", CHART_LEFT,
			CHART_WIDTH - CHART_RIGHT, chart_y(c, v), chart_y(c, v), CHART_LEFT - 5,
			chart_y(c, v) + 3, unit_bytes(label, v));
		if (step <= 0)
			break;
	}
	for (ago = 0; ago <= span; ago += tick) {
		double x = chart_x(c, c->end - ago);

		fprintf(f, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s%s</text>\n", x,
			CHART_HEIGHT - 6, ago ? "middle" : "end", ago ? "-" : "",
			ago ? unit_time(label, ago) : "end");
	}
}

static void line_of(const struct chart *c, const char *class, const float *v, FILE *f)
{
	const struct report *report = c->report;
	unsigned int i;

	if (v[c->series->from] < 0)
		return;
	fprintf(f, "<polyline class=\"%s\" points=\"", class);
	for (i = c->series->from; i < report->nr; i++)
		fprintf(f, "%.1f,%.1f ", chart_x(c, report->time_ms[i]), chart_y(c, v[i]));
	fputs("\"/>\n", f);
}

/* One standard error to either side of what is outstanding, as it is in the last round. */
static void band(const struct chart *c, unsigned int permille, FILE *f)
{
	const struct report *report = c->report;
	const float *v = c->series->bytes;
	unsigned int i;

	if (!permille)
		return;
	fputs("<polygon class=\"band\" points=\"", f);
	/* The error grows with the root of what there is. */
	for (i = c->series->from; i < report->nr; i++) {
		double error = sqrt((double)v[i] * v[report->nr - 1]) * permille / 1000;

		fprintf(f, "%.1f,%.1f ", chart_x(c, report->time_ms[i]), chart_y(c, v[i] + error));
	}
	while (i-- > c->series->from) {
		double error = sqrt((double)v[i] * v[report->nr - 1]) * permille / 1000;

		fprintf(f, "%.1f,%.1f ", chart_x(c, report->time_ms[i]), chart_y(c, v[i] - error));
	}
	fputs("\"/>\n", f);
}

static void legend(FILE *f)
{
	static const struct {
		const char *class;
		const char *name;
	} lines[] = {
		{ "s-bytes", "outstanding, with its standard error" },
		{ "s-low", "low-water mark" },
		{ "s-elders", "elders" },
		{ "limit", "min_bytes" },
		{ "reclaim", "slab reclaim ran (marks at the bottom)" },
	};
	size_t i;

	fputs("<div class=\"legend\">", f);
	for (i = 0; i < ARRAY_SIZE(lines); i++)
		fprintf(f, "<span><svg viewBox=\"0 0 26 8\" aria-hidden=\"true\"><line class=\"%s\" "
			"x1=\"0\" x2=\"26\" y1=\"4\" y2=\"4\"/></svg>%s</span>\n", lines[i].class,
			lines[i].name);
	fputs("</div>\n", f);
}

static void chart(const struct report *report, const struct site *site, FILE *f)
{
	struct chart c = { .report = report, .series = report_series(report, site) };
	char from[UNIT_ROOM], to[UNIT_ROOM];
	uint64_t min_bytes = 0;
	unsigned int i;

	if (!c.series || c.series->from + 1 >= report->nr)
		return;
	c.begin = report->time_ms[c.series->from];
	c.end = report->time_ms[report->nr - 1];
	for (i = c.series->from; i < report->nr; i++)
		c.max = fmax(c.max, c.series->bytes[i]);
	snapshot_tunable(&report->snap, "min_bytes", &min_bytes);
	/* The threshold is shown if it is near. */
	if (min_bytes && min_bytes < 2 * c.max)
		c.max = fmax(c.max, min_bytes);
	c.max = fmax(c.max * 1.08, 1);

	fprintf(f, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"outstanding bytes over time, "
		"from %s to %s\">\n", CHART_WIDTH, CHART_HEIGHT,
		unit_bytes(from, c.series->bytes[c.series->from]),
		unit_bytes(to, c.series->bytes[report->nr - 1]));
	axes(&c, f);
	band(&c, site->error_permille, f);
	if (min_bytes && min_bytes <= c.max)
		fprintf(f, "<line class=\"limit\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
			CHART_LEFT, CHART_WIDTH - CHART_RIGHT, chart_y(&c, min_bytes),
			chart_y(&c, min_bytes));
	for (i = c.series->from; i < report->nr; i++)
		if (report->reclaim[i])
			fprintf(f, "<line class=\"reclaim\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n",
				chart_x(&c, report->time_ms[i]), chart_x(&c, report->time_ms[i]),
				CHART_HEIGHT - CHART_BOTTOM, CHART_HEIGHT - CHART_BOTTOM + 5);
	line_of(&c, "s-elders", c.series->elders, f);
	line_of(&c, "s-low", c.series->low, f);
	line_of(&c, "s-bytes", c.series->bytes, f);
	fputs("</svg>\n", f);
}

/* How many generations survived, over time: the darker the more. */
static void heat(const struct report *report, const struct site *site, FILE *f)
{
	const struct series *series = report_series(report, site);
	uint64_t of = 8;
	unsigned int i;

	if (!series || series->from >= report->nr || series->survivors[report->nr - 1] < 0)
		return;
	snapshot_tunable(&report->snap, "min_rounds", &of);
	fprintf(f, "<p class=\"soft\">Generations of the last %" PRIu64 " that still have live samples, "
		"over time: %.0f in the end</p>\n<div class=\"heat\" role=\"img\" "
		"aria-label=\"surviving generations over time\">", of, series->survivors[report->nr - 1]);
	for (i = series->from; i < report->nr; i++)
		fprintf(f, "<i style=\"opacity:%.2f\" title=\"%.0f of %" PRIu64 "\"></i>",
			of ? fmin(series->survivors[i] / of, 1) : 0, series->survivors[i], of);
	fputs("</div>\n", f);
}

static void item(FILE *f, const char *name, const char *value)
{
	fprintf(f, "<dt>%s</dt><dd>", name);
	text(f, value);
	fputs("</dd>\n", f);
}

static void stack(const struct stack *stack, FILE *f)
{
	unsigned int i;

	if (!stack || !stack->nr)
		return;
	fprintf(f, "<details><summary>Stack, %u frames</summary><pre>", stack->nr);
	for (i = 0; i < stack->nr; i++) {
		text(f, stack->line[i]);
		fputc('\n', f);
	}
	fputs("</pre></details>\n", f);
}

static void suspect(const struct report *report, const struct site *site, FILE *f)
{
	char value[256], bytes[UNIT_ROOM], rate[UNIT_ROOM], low[UNIT_ROOM], high[UNIT_ROOM];
	const struct evidence *e = site->evidence;

	fprintf(f, "<article id=\"site-%u\">\n<h3><span class=\"badge v-%s\">%s</span><code>",
		site->number, verdict_name(site->verdict), verdict_name(site->verdict));
	site_function(site, value, sizeof(value));
	text(f, value);
	fputs("</code></h3>\n<dl>\n", f);
	snprintf(value, sizeof(value), "%s, %" PRIu64 " %s %.64s, standard error %u.%u %%",
		 unit_bytes(bytes, site->bytes), site->outstanding,
		 site->kind == KIND_PAGE ? "pages" : "objects of",
		 site->cache ? site->cache : "", site->error_permille / 10, site->error_permille % 10);
	item(f, "outstanding", value);
	if (e)
		snprintf(value, sizeof(value), "%s (%s .. %s) over %u rounds",
			 unit_rate(rate, site->growth), unit_rate(low, e->growth_low),
			 unit_rate(high, e->growth_high), e->rounds);
	else
		snprintf(value, sizeof(value), "%s", unit_rate(rate, site->growth));
	item(f, "growth", value);
	item(f, "oldest", unit_time(value, site->oldest_ms));
	if (e && e->held && *e->held)
		item(f, "held", e->held);
	if (e && e->missing && *e->missing)
		item(f, "missing", e->missing);
	fputs("</dl>\n", f);
	chart(report, site, f);
	heat(report, site, f);
	stack(site->stack, f);
	fputs("</article>\n", f);
}

static void suspects(const struct report *report, const struct site **sites, size_t nr, FILE *f)
{
	size_t i;

	fputs("<h2>Suspects, the worst first</h2>\n", f);
	if (!nr) {
		fputs("<p>None: no call path has grown as a leak does.</p>\n", f);
		return;
	}
	legend(f);
	for (i = 0; i < nr; i++)
		suspect(report, sites[i], f);
}

static void flames(const struct report *report, FILE *f)
{
	struct flame *flame = flame_new();
	size_t i;

	for (i = 0; i < report->snap.nr; i++) {
		const struct site *site = &report->snap.site[i];

		if (site->outstanding && snapshot_class_wanted(&report->snap, site))
			flame_add(flame, site->stack, site->bytes);
	}
	fputs("<h2>Where the memory is</h2>\n<p class=\"soft\">Outstanding bytes by stack: what is "
	      "below a function was asked for by it. Select a frame to look at it alone, and the "
	      "topmost to come back.</p>\n", f);
	flame_html(flame, f, text);
	flame_free(flame);
}

static void number_cell(FILE *f, double value, const char *shown)
{
	fprintf(f, "<td class=\"n\" data-v=\"%.0f\">%s</td>", value, shown);
}

static void all_sites(const struct report *report, FILE *f)
{
	struct filter filter = { .sort = SORT_BYTES, .top = MAX_ROWS, .min_bytes = 1 };
	char value[UNIT_ROOM], where[128];
	const struct site **sites;
	size_t nr, all, i;

	sites = filter_sites(&filter, &report->snap, &nr, &all);
	fputs("<h2>Call paths</h2>\n", f);
	if (nr < all)
		fprintf(f, "<p class=\"soft\">The %zu largest of %zu with anything outstanding.</p>\n",
			nr, all);
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"call paths\">"
	      "<table class=\"sortable\"><thead><tr><th>verdict</th><th class=\"n\">bytes</th>"
	      "<th class=\"n\">growth</th><th class=\"n\">oldest</th><th>cache</th><th>function</th>"
	      "</tr></thead><tbody>\n", f);
	for (i = 0; i < nr; i++) {
		const struct site *site = sites[i];

		fprintf(f, "<tr><td class=\"v-%s\">%s</td>", verdict_name(site->verdict),
			verdict_name(site->verdict));
		number_cell(f, site->bytes, unit_bytes(value, site->bytes));
		number_cell(f, site->growth, unit_rate(value, site->growth));
		number_cell(f, site->oldest_ms, unit_time(value, site->oldest_ms));
		fputs("<td>", f);
		text(f, site->cache ? site->cache : kind_name(site->kind));
		fputs("</td><td class=\"mono\">", f);
		site_function(site, where, sizeof(where));
		text(f, where);
		fputs("</td></tr>\n", f);
	}
	fputs("</tbody></table></div>\n", f);
	free(sites);
}

static void pairs(FILE *f, const char *title, const struct pairs *pairs)
{
	size_t i;

	if (!pairs->nr)
		return;
	fprintf(f, "<details><summary>%s</summary><dl class=\"mono\">\n", title);
	for (i = 0; i < pairs->nr; i++) {
		fputs("<dt>", f);
		text(f, pairs->pair[i].key);
		fputs("</dt><dd>", f);
		text(f, pairs->pair[i].value);
		fputs("</dd>\n", f);
	}
	fputs("</dl></details>\n", f);
}

static void machine(const struct report *report, FILE *f)
{
	const struct host *host = &report_epoch(report)->host;
	char value[UNIT_ROOM];

	fputs("<h2>Run and kernel</h2>\n<dl>\n", f);
	item(f, "kernel", host->release);
	item(f, "built", host->version);
	item(f, "machine", *host->machine ? host->machine : "not recorded");
	snprintf(value, sizeof(value), "%u", host->cpus);
	item(f, "CPUs", value);
	item(f, "memory", unit_bytes(value, host->memory));
	item(f, "boot", host->boot_id);
	item(f, "from", unit_date(value, report_epoch(report)->first_ms));
	item(f, "until", unit_date(value, report_epoch(report)->last_ms));
	fputs("</dl>\n", f);
	pairs(f, "Status of leaktrend in the last round", &report->snap.status);
	pairs(f, "Tunables", &report->snap.tunables);
	pairs(f, "Memory of the machine, in bytes", &report->snap.vm);
}

void report_html(const struct report *report, FILE *f)
{
	const struct site **sites;
	size_t nr;

	sites = report_suspects(report, &nr);
	head(report, f);
	notes(report, f);
	summary(report, nr, f);
	suspects(report, sites, nr, f);
	flames(report, f);
	all_sites(report, f);
	machine(report, f);
	fprintf(f, "<script>\n%s</script>\n</body>\n</html>\n", report_js);
	free(sites);
}
