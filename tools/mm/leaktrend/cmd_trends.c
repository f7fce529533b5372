// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend trends: a line per site, with its recent rounds.
 */
#include <stdlib.h>

#include "table.h"
#include "view.h"

#define SPARK_WIDTH	12

static const struct column columns[] = {
	{ .title = "VERDICT" },
	{ .title = "GROWTH", .right = true },
	{ .title = "BYTES", .right = true },
	{ .title = "TREND" },
	{ .title = "ERROR", .right = true, .drop = 4 },
	{ .title = "OLDEST", .right = true, .drop = 3 },
	{ .title = "CACHE", .shrink = 12, .drop = 2 },
	{ .title = "FUNCTION", .shrink = 24 },
};

static void add(struct table *table, const struct site *site)
{
	char text[UNIT_ROOM], spark[SPARK_ROOM(SPARK_WIDTH)], where[128];
	enum colour colour = verdict_colour(site->verdict);

	view_where(site, where, sizeof(where));
	table_cell(table, colour, "%s", verdict_name(site->verdict));
	table_cell(table, PLAIN, "%s", unit_rate(text, site->growth));
	table_cell(table, PLAIN, "%s", unit_bytes(text, site->bytes));
	table_cell(table, colour, "%s", !site->trend ? "" :
		   sparkline(spark, site->trend->value, site->trend->nr, SPARK_WIDTH));
	table_cell(table, PLAIN, "%u.%u%%", site->error_permille / 10, site->error_permille % 10);
	table_cell(table, PLAIN, "%s", unit_time(text, site->oldest_ms));
	table_cell(table, PLAIN, "%s", site->cache ? site->cache : kind_name(site->kind));
	table_cell(table, PLAIN, "%s", where);
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct view view = {};
	const struct opt opts[] = { OPT_VIEW(&view), OPT_END };
	int ret;

	ret = opts_only(cmd, opts, argc, argv);
	if (ret)
		return ret - 1;
	if (view_load(&view, READ_ALL, view_outstanding(&view)))
		return EXIT_ERROR;
	view_table(&view, columns, ARRAY_SIZE(columns), add, "no site with anything outstanding is selected");
	view_free(&view);
	return EXIT_FINE;
}

static const struct command trends = {
	.name	 = "trends",
	.summary = "a line per site: growth, size, recent rounds, function",
	.usage	 = "[options]",
	.text	 = "Shows sites with something outstanding, suspects first, of the classes that are\n"
		   "set in the kernel or that --class asks for. GROWTH is over the last 32 rounds,\n"
		   "and TREND has what was outstanding at the end of each.\n"
		   "FUNCTION is the first of the stack that is no general helper of allocation.\n"
		   "On a narrow terminal columns are left out; COLUMNS=200 shows all.",
	.order	 = 3,
	.run	 = run,
};
LEAKTREND_COMMAND(trends);
