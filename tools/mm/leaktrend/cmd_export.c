// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend export: metrics in the text format of Prometheus.
 *
 * Series of sites are named by what stays the same across boots and builds, and
 * there are never more of them than asked for. The verdict is a number, not a
 * label, so that a series goes on when it changes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "view.h"

/* More would be a burden for who collects them. */
#define DEFAULT_SITES	50
#define MAX_SITES	1000

/* A site, or several with the same labels. */
struct series {
	char *labels;
	uint64_t bytes;
	uint64_t outstanding;
	int64_t growth;
	uint64_t oldest_ms;
	int severity;
};

static void head(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP leaktrend_%s %s\n# TYPE leaktrend_%s %s\n", name, help, name, type);
}

static void gauge(FILE *f, const char *name, const char *help, double value)
{
	head(f, name, "gauge", help);
	fprintf(f, "leaktrend_%s %.15g\n", name, value);
}

static void status_gauge(FILE *f, const struct snapshot *snap, const char *key,
			 const char *name, const char *help, double factor)
{
	uint64_t v;

	if (pairs_u64(&snap->status, key, &v))
		gauge(f, name, help, v * factor);
}

/* Lines of the status that begin with @prefix, the rest of their names as label. */
static void status_family(FILE *f, const struct snapshot *snap, const char *prefix,
			  const char *name, const char *label, const char *type,
			  const char *help, uint64_t factor)
{
	bool any = false;
	uint64_t v;
	size_t i;

	for (i = 0; i < snap->status.nr; i++) {
		const char *key = snap->status.pair[i].key;

		if (strncmp(key, prefix, strlen(prefix)) || !pairs_u64(&snap->status, key, &v) ||
		    !strcmp(key, "memory_total") || strspn(key, "abcdefghijklmnopqrstuvwxyz_") !=
		    strlen(key))
			continue;
		if (!any)
			head(f, name, type, help);
		any = true;
		fprintf(f, "leaktrend_%s{%s=\"%s\"} %" PRIu64 "\n", name, label,
			key + strlen(prefix), v * factor);
	}
}

static void add_label(struct buf *labels, const char *name, const char *value)
{
	char *clean = utf8_clean(value), *p;

	buf_printf(labels, "%s%s=\"", labels->len ? "," : "", name);
	for (p = clean; *p; p++) {
		if (*p == '\n')
			buf_adds(labels, "\\n");
		else if (*p == '"' || *p == '\\')
			buf_printf(labels, "\\%c", *p);
		else
			buf_add(labels, p, 1);
	}
	buf_adds(labels, "\"");
	free(clean);
}

/* FNV-1a: short enough for a label, and the same on every machine. */
static uint64_t hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ULL;
	return h;
}

static void add_label_part(struct buf *labels, const char *name, const char *value, size_t len)
{
	char *part = xstrndup(value, len);

	add_label(labels, name, part);
	free(part);
}

static char *labels_of(const struct site *site)
{
	const char *frame = stack_culprit(site->stack), *name, *module;
	char *path = site_path(site), text[24];
	struct buf labels = {};
	size_t len;

	len = frame_name(frame ? frame : "", &name);
	add_label_part(&labels, "function", name, len);
	len = frame_module(frame ? frame : "", &module);
	add_label_part(&labels, "module", module, len);
	add_label(&labels, "cache", site->cache ? site->cache : "");
	add_label(&labels, "kind", kind_name(site->kind));
	add_label(&labels, "class", class_name(site->class));
	snprintf(text, sizeof(text), "%016" PRIx64, path ? hash(path) : 0);
	add_label(&labels, "path", text);
	free(path);
	return labels.data;
}

static int cmp_labels(const void *a, const void *b)
{
	return strcmp(((const struct series *)a)->labels, ((const struct series *)b)->labels);
}

/* Two lines with the same labels would be refused: their sites are one series. */
static size_t merge(struct series *s, size_t nr)
{
	size_t i, n = 0;

	qsort(s, nr, sizeof(*s), cmp_labels);
	for (i = 0; i < nr; i++) {
		if (!n || strcmp(s[n - 1].labels, s[i].labels)) {
			s[n++] = s[i];
			continue;
		}
		s[n - 1].bytes += s[i].bytes;
		s[n - 1].outstanding += s[i].outstanding;
		s[n - 1].growth += s[i].growth;
		if (s[i].oldest_ms > s[n - 1].oldest_ms)
			s[n - 1].oldest_ms = s[i].oldest_ms;
		if (s[i].severity > s[n - 1].severity)
			s[n - 1].severity = s[i].severity;
		free(s[i].labels);
	}
	return n;
}

/* So that alerts can compare. */
static int severity(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_ORPHANED:
		return 5;
	case VERDICT_LIKELY_LEAK:
		return 4;
	case VERDICT_GROWING:
		return 3;
	case VERDICT_CACHE_GROWTH:
		return 2;
	case VERDICT_SETTLED:
		return 1;
	default:
		return 0;
	}
}

static void print_sites(FILE *f, const struct view *view)
{
	struct series *s = xcalloc(view->nr, sizeof(*s));
	size_t nr = view->nr, i;

	for (i = 0; i < nr; i++) {
		const struct site *site = view->site[i];

		s[i] = (struct series){ labels_of(site), site->bytes, site->outstanding,
					site->growth, site->oldest_ms, severity(site->verdict) };
	}
	nr = merge(s, nr);
	if (nr)
		head(f, "site_bytes", "gauge", "Outstanding bytes of a call path, estimated.");
	for (i = 0; i < nr; i++)
		fprintf(f, "leaktrend_site_bytes{%s} %" PRIu64 "\n", s[i].labels, s[i].bytes);
	if (nr)
		head(f, "site_outstanding", "gauge",
		     "Outstanding objects or pages of a call path, estimated.");
	for (i = 0; i < nr; i++)
		fprintf(f, "leaktrend_site_outstanding{%s} %" PRIu64 "\n", s[i].labels,
			s[i].outstanding);
	if (nr)
		head(f, "site_growth_bytes_per_hour", "gauge",
		     "Median slope over the last rounds.");
	for (i = 0; i < nr; i++)
		fprintf(f, "leaktrend_site_growth_bytes_per_hour{%s} %" PRId64 "\n", s[i].labels,
			s[i].growth);
	if (nr)
		head(f, "site_oldest_seconds", "gauge", "Age of the oldest live sample.");
	for (i = 0; i < nr; i++)
		fprintf(f, "leaktrend_site_oldest_seconds{%s} %.3f\n", s[i].labels,
			s[i].oldest_ms / 1000.0);
	if (nr)
		head(f, "site_severity", "gauge", "Verdict: 5 orphaned, 4 likely leak, 3 growing, "
		     "2 cache growth, 1 settled, 0 none.");
	for (i = 0; i < nr; i++)
		fprintf(f, "leaktrend_site_severity{%s} %d\n", s[i].labels, s[i].severity);
	for (i = 0; i < nr; i++)
		free(s[i].labels);
	free(s);
}

static void print_suspects(FILE *f, const struct snapshot *snap)
{
	unsigned int count[NR_VERDICTS] = {}, v;
	size_t i;

	for (i = 0; i < snap->nr; i++)
		if (snapshot_suspect(snap, &snap->site[i]))
			count[snap->site[i].verdict]++;
	head(f, "suspects", "gauge", "Call paths with this verdict.");
	for (v = VERDICT_SETTLED; v <= VERDICT_ORPHANED; v++)
		fprintf(f, "leaktrend_suspects{verdict=\"%s\"} %u\n", verdict_name(v), count[v]);
}

static void print(FILE *f, const struct view *view)
{
	const struct snapshot *snap = &view->src.snap;
	uint64_t page = view->src.host.page_size ? view->src.host.page_size : 4096;
	const char *state = pairs_get(&snap->status, "state");
	bool on = state && !strcmp(state, "on");

	gauge(f, "tracking", "1 while allocations are tracked, 0 in standby.", on);
	gauge(f, "time_seconds", "When these were taken, since 1970.", snap->time_ms / 1000.0);
	status_family(f, snap, "memory_", "memory_bytes", "part", "gauge",
		      "Memory that tracking takes, stacks not counted.", 1);
	if (!on)
		return;
	status_gauge(f, snap, "rounds", "rounds", "Rounds since tracking was enabled or cleared.", 1);
	status_gauge(f, snap, "last_round_us", "last_round_seconds", "What the last round took.",
		     1e-6);
	status_gauge(f, snap, "sample_rate", "sample_rate", "Allocations per sample.", 1);
	status_gauge(f, snap, "sites", "sites", "Call paths that are known.", 1);
	status_gauge(f, snap, "max_sites", "sites_max", "Call paths that there is room for.", 1);
	status_gauge(f, snap, "outstanding_objects", "slab_objects",
		     "Outstanding objects of the slab allocator, estimated.", 1);
	status_gauge(f, snap, "outstanding_bytes", "slab_bytes", "Their bytes, estimated.", 1);
	status_family(f, snap, "pages_", "pages_bytes", "class", "gauge",
		      "Outstanding pages by what they are for, in bytes.", page);
	status_family(f, snap, "dropped_", "dropped_samples_total", "reason", "counter",
		      "Samples that were lost, and are missing from the estimates.", 1);
	status_family(f, snap, "skipped_", "skipped_samples_total", "reason", "counter",
		      "Samples that were not taken on purpose.", 1);
	status_family(f, snap, "missed_", "missed_total", "what", "counter",
		      "Frees that were not seen. Not 0 is a bug.", 1);
	print_suspects(f, snap);
	print_sites(f, view);
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct view view = { .filter.top = DEFAULT_SITES };
	const char *output = NULL;
	bool all = false;
	const struct opt opts[] = {
		OPT_TEXT("output", 'o', "FILE", &output, "write to a file, which is replaced at once"),
		OPT_BOOL("all", 'a', &all, "series for sites that are no suspects, too"),
		OPT_SOURCE(&view.where),
		OPT_FILTER(&view.filter),
		OPT_END
	};
	struct outfile out;
	struct err err;
	int ret;

	ret = opts_only(cmd, opts, argc, argv);
	if (ret)
		return ret - 1;
	if (view.filter.top > MAX_SITES)
		return usage_error(cmd, "--top: at most %d sites", MAX_SITES);
	view.standby = true;
	if (view_load(&view, READ_SITES | READ_SUSPECTS | (all ? READ_STACKS : 0),
		      all ? view_outstanding(&view) : snapshot_suspect))
		return EXIT_ERROR;

	ret = EXIT_FINE;
	if (out_open(&out, output, &err)) {
		ret = fail(&err);
	} else {
		print(out.f, &view);
		if (out_close(&out, &err))
			ret = fail(&err);
	}
	view_free(&view);
	return ret;
}

static const struct command export = {
	.name	 = "export",
	.summary = "metrics for Prometheus, as node_exporter's textfile collector takes them",
	.usage	 = "[options]",
	.text	 = "Prints the state of tracking, and five series for each suspect, of which there\n"
		   "are 50 at most, or as many as --top says. The label \"path\" stands for the names\n"
		   "of the functions of the stack: it is the same on each machine and after each\n"
		   "boot. From a timer:\n"
		   "  leaktrend export -o /var/lib/node_exporter/leaktrend.prom",
	.order	 = 21,
	.run	 = run,
};
LEAKTREND_COMMAND(export);
