// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend suspects: what leaks, worst first, with all that is known of it.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "view.h"

#define SPARK_WIDTH	32

static void print_clean(const char *before, const char *text)
{
	char *clean = text_clean(text);

	printf("%s%s\n", before, clean);
	free(clean);
}

/* "   held     a; b; c", in as many lines as it takes. */
static void print_wrapped(const char *key, const char *text)
{
	char *clean = text_clean(text);
	int width = text_width(stdout);

	printf("   %-8s ", key);
	text_wrap(stdout, clean, 12, width);
	free(clean);
}

/* The same of what is put together here. */
static void print_field(const char *key, const char *fmt, ...) PRINTF(2, 3);
static void print_field(const char *key, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = xstrdup("?");
	va_end(ap);
	print_wrapped(key, text);
	free(text);
}

static void print_size(const struct site *site)
{
	char bytes[UNIT_ROOM], count[UNIT_ROOM], error[32] = "";

	unit_bytes(bytes, site->bytes);
	unit_count(count, site->outstanding);
	if (site->error_permille)
		snprintf(error, sizeof(error), " (+-%u.%u %%)", site->error_permille / 10,
			 site->error_permille % 10);
	if (site->kind == KIND_SLAB)
		print_field("size", "%s: %s objects of %s%s%s; class %s", bytes, count,
			    site->cache ? site->cache : "?",
			    site->evidence && site->evidence->mixed ? " and other caches" : "",
			    error, class_name(site->class));
	else
		print_field("size", "%s: %s pages%s; class %s", bytes, count, error,
			    class_name(site->class));
}

static void print_growth(const struct site *site)
{
	char rate[UNIT_ROOM], low[UNIT_ROOM], high[UNIT_ROOM], spark[SPARK_ROOM(SPARK_WIDTH)];
	const struct evidence *e = site->evidence;
	const struct trend *trend = site->trend;

	unit_rate(rate, site->growth);
	if (e)
		print_field("growth", "%s (%s .. %s), tau %s%d.%02d", rate,
			    unit_rate(low, e->growth_low), unit_rate(high, e->growth_high),
			    e->tau < 0 ? "-" : "", abs(e->tau) / 100, abs(e->tau) % 100);
	else
		print_field("growth", "%s", rate);
	if (trend && trend->nr > 1)
		print_field("trend", "%s  %s .. %s in %u rounds",
			    sparkline(spark, trend->value, trend->nr, SPARK_WIDTH),
			    unit_count(low, trend->value[0]),
			    unit_count(high, trend->value[trend->nr - 1]), trend->nr);
}

static void print_age(const struct site *site)
{
	char oldest[UNIT_ROOM], elders[UNIT_ROOM], changed[UNIT_ROOM];
	const struct evidence *e = site->evidence;
	struct buf text = {};

	buf_printf(&text, "oldest %s, %s elders", unit_time(oldest, site->oldest_ms),
		   unit_count(elders, site->elders));
	if (e && e->generations)
		buf_printf(&text, ", %u of %u generations survive", site->survivors,
			   e->generations);
	print_field("age", "%s", text.data);
	if (e && e->changed)
		print_field("verdict", "for %s", unit_time(changed, e->changed_ms));
	buf_free(&text);
}

static void print_stack(const struct site *site)
{
	const char *culprit = stack_culprit(site->stack);
	unsigned int i;

	if (!site->stack || !site->stack->nr) {
		puts("   stack    not known");
		return;
	}
	for (i = 0; i < site->stack->nr; i++) {
		bool here = site->stack->line[i] == culprit;

		fputs(colour_on(stdout, here ? BOLD : PLAIN), stdout);
		print_clean(i ? "            " : "   stack    ", site->stack->line[i]);
		fputs(here ? colour_off(stdout) : "", stdout);
	}
}

static void show(const struct site *site, size_t place)
{
	enum colour colour = verdict_colour(site->verdict);
	char where[128];

	view_where(site, where, sizeof(where));
	printf("%zu. %s%s%s  ", place, colour_on(stdout, colour), verdict_name(site->verdict),
	       colour_off(stdout));
	print_clean("", where);
	print_size(site);
	print_growth(site);
	print_age(site);
	if (site->evidence && *site->evidence->held)
		print_wrapped("held", site->evidence->held);
	if (site->evidence && *site->evidence->missing)
		print_wrapped("missing", site->evidence->missing);
	print_field("id", "site %u, stack_id 0x%" PRIx64, site->number, site->stack_id);
	print_stack(site);
}

static void show_none(const struct view *view)
{
	const struct snapshot *snap = &view->src.snap;
	uint64_t min_rounds = 8;
	size_t i, nr = 0;

	for (i = 0; i < snap->nr; i++)
		nr += snapshot_suspect(snap, &snap->site[i]);
	snapshot_tunable(snap, "min_rounds", &min_rounds);
	if (nr)
		printf("none of the %zu suspects is selected\n", nr);
	else if (snap->rounds <= min_rounds)
		printf("no suspects yet: %u rounds are done, a verdict takes %" PRIu64 "\n",
		       snap->rounds, min_rounds + 1);
	else
		printf("no suspects after %u rounds, among %zu sites\n", snap->rounds, snap->nr);
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct view view = {};
	const struct opt opts[] = { OPT_VIEW(&view), OPT_END };
	size_t i;
	int ret;

	ret = opts_only(cmd, opts, argc, argv);
	if (ret)
		return ret - 1;
	if (view_load(&view, READ_SITES | READ_SUSPECTS, snapshot_suspect))
		return EXIT_ERROR;
	if (view.json) {
		view_json(&view);
	} else if (!view.nr) {
		show_none(&view);
	} else {
		for (i = 0; i < view.nr; i++) {
			if (i)
				putchar('\n');
			show(view.site[i], i + 1);
		}
		view_rest(&view);
	}
	view_free(&view);
	return EXIT_FINE;
}

static const struct command suspects = {
	.name	 = "suspects",
	.summary = "what leaks or may leak, worst first, with evidence and stack",
	.usage	 = "[options]",
	.text	 = "Shows the sites that the kernel suspects: ORPHANED, LIKELY_LEAK, GROWING,\n"
		   "CACHE_GROWTH and SETTLED ones, of the classes that are set in the kernel.\n"
		   "The frame of a stack where reading the code begins is in bold letters.",
	.order	 = 2,
	.run	 = run,
};
LEAKTREND_COMMAND(suspects);
