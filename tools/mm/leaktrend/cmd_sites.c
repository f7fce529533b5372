// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend sites: all figures of all sites.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "table.h"
#include "view.h"

static const struct column columns[] = {
	{ .title = "SITE", .right = true },
	{ .title = "KIND", .drop = 8 },
	{ .title = "CLASS", .drop = 6 },
	{ .title = "VERDICT" },
	{ .title = "OUTSTANDING", .right = true },
	{ .title = "BYTES", .right = true },
	{ .title = "ALLOCS", .right = true, .drop = 7 },
	{ .title = "FREES", .right = true, .drop = 7 },
	{ .title = "LOW", .right = true, .drop = 5 },
	{ .title = "ELDERS", .right = true, .drop = 4 },
	{ .title = "GEN", .right = true, .drop = 9 },
	{ .title = "OLDEST", .right = true, .drop = 5 },
	{ .title = "GROWTH", .right = true },
	{ .title = "ERROR", .right = true, .drop = 6 },
	{ .title = "CACHE", .shrink = 12, .drop = 3 },
	{ .title = "FUNCTION", .shrink = 16 },
};

static void add(struct table *table, const struct site *site)
{
	char text[UNIT_ROOM], where[128];

	view_where(site, where, sizeof(where));
	table_cell(table, PLAIN, "%u", site->number);
	table_cell(table, PLAIN, "%s", kind_name(site->kind));
	table_cell(table, PLAIN, "%s", class_name(site->class));
	table_cell(table, verdict_colour(site->verdict), "%s", verdict_name(site->verdict));
	table_cell(table, PLAIN, "%s", unit_count(text, site->outstanding));
	table_cell(table, PLAIN, "%s", unit_bytes(text, site->bytes));
	table_cell(table, PLAIN, "%s", unit_count(text, site->allocs));
	table_cell(table, PLAIN, "%s", unit_count(text, site->frees));
	table_cell(table, PLAIN, "%s", unit_count(text, site->low));
	table_cell(table, PLAIN, "%s", unit_count(text, site->elders));
	table_cell(table, PLAIN, "%u", site->survivors);
	table_cell(table, PLAIN, "%s", unit_time(text, site->oldest_ms));
	table_cell(table, PLAIN, "%s", unit_rate(text, site->growth));
	table_cell(table, PLAIN, "%u.%u%%", site->error_permille / 10, site->error_permille % 10);
	table_cell(table, PLAIN, "%s", site->cache ? site->cache : "-");
	table_cell(table, PLAIN, "%s", where);
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct view view = { .filter.sort = SORT_SITE };
	const struct opt opts[] = { OPT_VIEW(&view), OPT_END };
	int ret;

	ret = opts_only(cmd, opts, argc, argv);
	if (ret)
		return ret - 1;
	if (view_load(&view, READ_SITES | READ_STACKS, NULL))
		return EXIT_ERROR;
	view_table(&view, columns, ARRAY_SIZE(columns), add, "no site is selected");
	view_free(&view);
	return EXIT_FINE;
}

static const struct command sites = {
	.name	 = "sites",
	.summary = "all figures of all sites, in the order of their appearance",
	.usage	 = "[options]",
	.text	 = "Shows a line per site with the columns of the kernel's file. Sites that have\n"
		   "nothing outstanding are there, too. LOW and ELDERS are of the last round, GEN\n"
		   "is how many of the last generations survive. On a narrow terminal columns are\n"
		   "left out; COLUMNS=250 shows all.",
	.order	 = 4,
	.run	 = run,
};
LEAKTREND_COMMAND(sites);
