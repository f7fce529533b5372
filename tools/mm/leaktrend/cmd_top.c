// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend top: a live view of the sites, the growing ones first.
 */
#include "leaktrend.h"

#if HAVE_NCURSES

#include <inttypes.h>
#include <ncurses.h>
#include <stdarg.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table.h"
#include "view.h"

#define SPARK_WIDTH	10
#define MIN_ROWS	6
#define MIN_COLUMNS	30

static const char * const sort_titles[NR_SORT_KEYS] = {
	"verdict", "growth", "bytes", "outstanding", "age", "elders", "function", "site",
};

/**
 * struct top - The view.
 * @where:    From where.
 * @filter:   Which sites; its pattern is @pattern.
 * @pattern:  Of functions, as typed.
 * @seconds:  Between two looks.
 * @src:      The last look.
 * @site:     Those shown, in order.
 * @nr:	      How many.
 * @selected: Row.
 * @first:    Row at the top of the list.
 * @number:   Of the selected site, to find it again.
 * @paused:   No new looks.
 * @detail:   The lower half tells of the selected site.
 * @typing:   A pattern is being typed.
 * @loaded:   @src is one.
 * @err:      Why the last look failed, "" if it did not.
 */
struct top {
	struct where where;
	struct filter filter;
	char pattern[64];
	uint64_t seconds;
	struct view_source src;
	const struct site **site;
	size_t nr;
	size_t selected;
	size_t first;
	uint32_t number;
	bool paused;
	bool detail;
	bool typing;
	bool loaded;
	struct err err;
};

static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	stopped = sig;
}

/* Looking */

static void drop(struct top *top)
{
	free(top->site);
	top->site = NULL;
	top->nr = 0;
}

/* Select and sort anew, and stay at the site that was selected. */
static void arrange(struct top *top)
{
	size_t nr, all, i;

	drop(top);
	if (!top->loaded)
		return;
	top->filter.function = *top->pattern ? top->pattern : NULL;
	top->site = filter_sites(&top->filter, &top->src.snap, &nr, &all);
	for (i = 0; i < all; i++)
		if (top->site[i]->outstanding && (top->filter.classes ||
		    snapshot_class_wanted(&top->src.snap, top->site[i])))
			top->site[top->nr++] = top->site[i];
	for (i = 0; i < top->nr; i++)
		if (top->site[i]->number == top->number)
			top->selected = i;
	if (top->selected >= top->nr)
		top->selected = top->nr ? top->nr - 1 : 0;
}

static void look(struct top *top)
{
	struct view_source src;

	if (source_load(&src, &top->where, READ_ALL, false, &top->err))
		return;
	top->err.text[0] = '\0';
	drop(top);
	if (top->loaded)
		source_free(&top->src);
	top->src = src;
	top->loaded = true;
	arrange(top);
}

static void select_row(struct top *top, long row)
{
	if (!top->nr)
		return;
	top->selected = row < 0 ? 0 : (size_t)row >= top->nr ? top->nr - 1 : (size_t)row;
	top->number = top->site[top->selected]->number;
}

/* Drawing */

static void put(int row, int attributes, const char *fmt, ...) PRINTF(3, 4);
static void put(int row, int attributes, const char *fmt, ...)
{
	char *raw, *clean;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&raw, fmt, ap) < 0)
		raw = xstrdup("?");
	va_end(ap);
	clean = text_clean(raw);
	attron(attributes);
	/* The rest of the line is empty, in the same colours. */
	mvprintw(row, 0, "%*s", COLS, "");
	mvaddnstr(row, 0, clean, -1);
	attroff(attributes);
	free(raw);
	free(clean);
}

static int attributes_of(enum verdict verdict)
{
	switch (verdict_colour(verdict)) {
	case RED:
		return COLOR_PAIR(1) | A_BOLD;
	case YELLOW:
		return COLOR_PAIR(2);
	case GREEN:
		return COLOR_PAIR(3);
	default:
		return A_NORMAL;
	}
}

static void draw_head(const struct top *top)
{
	const struct snapshot *snap = &top->src.snap;
	unsigned int suspects = 0;
	size_t i;

	if (!top->loaded) {
		put(0, A_BOLD, "leaktrend: %s", top->err.text);
		return;
	}
	for (i = 0; i < snap->nr; i++)
		suspects += snapshot_suspect(snap, &snap->site[i]);
	put(0, A_BOLD, "leaktrend  %u rounds  %zu sites  %u suspects  by %s%s%s%s", snap->rounds,
	    snap->nr, suspects, sort_titles[top->filter.sort], top->paused ? "  PAUSED" : "",
	    *top->pattern ? "  /" : "", top->pattern);
	if (*top->err.text)
		put(1, COLOR_PAIR(1), "%s", top->err.text);
	else
		put(1, A_REVERSE, "%-12s %12s %11s  %-*s  %s", "VERDICT", "GROWTH", "BYTES",
		    SPARK_WIDTH, "TREND", "FUNCTION");
}

static void draw_site(const struct top *top, size_t i, int row)
{
	char rate[UNIT_ROOM], bytes[UNIT_ROOM], spark[SPARK_ROOM(SPARK_WIDTH)] = "", where[128];
	const struct site *site = top->site[i];
	int pad = SPARK_WIDTH;

	view_where(site, where, sizeof(where));
	if (site->trend)
		sparkline(spark, site->trend->value, site->trend->nr, SPARK_WIDTH);
	pad -= text_columns(spark);
	put(row, attributes_of(site->verdict) | (i == top->selected ? A_REVERSE : 0),
	    "%-12s %12s %11s  %s%*s  %s", verdict_name(site->verdict), unit_rate(rate, site->growth),
	    unit_bytes(bytes, site->bytes), spark, pad, "", where);
}

/* As much of the selected site as there is room for. */
static void draw_detail(const struct top *top, int row, int end)
{
	const struct site *site = top->site[top->selected];
	char spark[SPARK_ROOM(128)], bytes[UNIT_ROOM], age[UNIT_ROOM];
	unsigned int i;
	int width = COLS > 140 ? 128 : COLS - 12;

	put(row++, A_REVERSE, "site %u, stack_id 0x%" PRIx64, site->number, site->stack_id);
	if (row < end)
		put(row++, A_NORMAL, "size    %s, %" PRIu64 " %s %s, +-%u.%u %%, oldest %s",
		    unit_bytes(bytes, site->bytes), site->outstanding,
		    site->kind == KIND_PAGE ? "pages" : "objects of", site->cache ? site->cache : "",
		    site->error_permille / 10, site->error_permille % 10,
		    unit_time(age, site->oldest_ms));
	if (row < end && site->trend && width > 8)
		put(row++, attributes_of(site->verdict), "trend   %s",
		    sparkline(spark, site->trend->value, site->trend->nr, width));
	if (row < end && site->evidence && site->evidence->held && *site->evidence->held)
		put(row++, A_NORMAL, "held    %s", site->evidence->held);
	if (row < end && site->evidence && site->evidence->missing && *site->evidence->missing)
		put(row++, A_NORMAL, "missing %s", site->evidence->missing);
	for (i = 0; site->stack && i < site->stack->nr && row < end; i++)
		put(row++, site->stack->line[i] == stack_culprit(site->stack) ? A_BOLD : A_NORMAL,
		    "%s %s", i ? "       " : "stack  ", site->stack->line[i]);
}

static void draw(struct top *top)
{
	int row, list_end, end = LINES - 1;
	size_t i;

	erase();
	if (LINES < MIN_ROWS || COLS < MIN_COLUMNS) {
		mvaddnstr(0, 0, "too small", COLS);
		refresh();
		return;
	}
	draw_head(top);
	list_end = top->detail && top->nr ? 2 + (end - 2) / 2 : end;
	if (top->selected < top->first)
		top->first = top->selected;
	if (top->selected >= top->first + (list_end - 2))
		top->first = top->selected - (list_end - 2) + 1;
	for (row = 2, i = top->first; row < list_end && i < top->nr; row++, i++)
		draw_site(top, i, row);
	if (top->loaded && !top->nr)
		put(2, A_NORMAL, "no site is selected");
	if (top->detail && top->nr)
		draw_detail(top, list_end, end);
	if (top->typing)
		put(end, A_NORMAL, "function: %s_", top->pattern);
	else
		put(end, A_REVERSE, "q quit  arrows  enter detail  s sort  p pause  / function  r now");
	refresh();
}

/* Keys */

static void type(struct top *top, int key)
{
	size_t len = strlen(top->pattern);

	if (key == '\n' || key == KEY_ENTER || key == '\r') {
		top->typing = false;
	} else if (key == 27) {
		top->typing = false;
		top->pattern[0] = '\0';
	} else if ((key == KEY_BACKSPACE || key == 127 || key == 8) && len) {
		top->pattern[len - 1] = '\0';
	} else if (key > ' ' && key < 127 && len + 1 < sizeof(top->pattern)) {
		top->pattern[len] = key;
		top->pattern[len + 1] = '\0';
	}
	arrange(top);
}

/* Returns false to end. */
static bool handle(struct top *top, int key)
{
	long page = LINES / 2;

	if (top->typing) {
		type(top, key);
		return true;
	}
	switch (key) {
	case 'q':
		return false;
	case KEY_DOWN:
	case 'j':
		select_row(top, top->selected + 1);
		break;
	case KEY_UP:
	case 'k':
		select_row(top, (long)top->selected - 1);
		break;
	case KEY_NPAGE:
		select_row(top, top->selected + page);
		break;
	case KEY_PPAGE:
		select_row(top, (long)top->selected - page);
		break;
	case KEY_HOME:
		select_row(top, 0);
		break;
	case KEY_END:
		select_row(top, (long)top->nr - 1);
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
		top->detail = !top->detail;
		break;
	case 's':
		top->filter.sort = (top->filter.sort + 1) % NR_SORT_KEYS;
		arrange(top);
		break;
	case 'p':
		top->paused = !top->paused;
		break;
	case '/':
		top->typing = true;
		break;
	case 'r':
		look(top);
		break;
	}
	return true;
}

static void loop(struct top *top)
{
	uint64_t quarters = 0;

	keypad(stdscr, TRUE);
	curs_set(0);
	/* A key is answered at once, and a signal within a quarter of a second. */
	timeout(250);
	if (has_colors() && !getenv("NO_COLOR")) {
		start_color();
		use_default_colors();
		init_pair(1, COLOR_RED, -1);
		init_pair(2, COLOR_YELLOW, -1);
		init_pair(3, COLOR_GREEN, -1);
	}
	while (!stopped) {
		int key;

		draw(top);
		key = getch();
		if (key != ERR) {
			if (!handle(top, key))
				break;
		} else if (!top->paused && ++quarters >= 4 * top->seconds) {
			quarters = 0;
			look(top);
		}
	}
}

static int run(const struct command *cmd, int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct top top = { .seconds = 2, .detail = true, .filter.sort = SORT_VERDICT };
	const struct opt opts[] = {
		OPT_CALL("interval", 'i', "SEC", &top.seconds, set_u64, "look every so many seconds, 2 by default"),
		OPT_TEXT("debugfs", 0, "DIR", &top.where.debugfs, "read this copy of " DEBUGFS),
		OPT_FILTER(&top.filter),
		OPT_END
	};
	int ret;

	ret = opts_parse(cmd, opts, &argc, &argv);
	if (ret)
		return ret - 1;
	if (argc)
		return usage_error(cmd, "it takes no \"%s\"", argv[0]);
	if (!top.seconds || top.seconds > 86400)
		return usage_error(cmd, "--interval is from 1 second to a day");
	if (top.filter.function)
		snprintf(top.pattern, sizeof(top.pattern), "%s", top.filter.function);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return usage_error(cmd, "it takes a terminal; trends is for pipes");
	look(&top);
	if (!top.loaded)
		return fail(&top.err);
	if (!newterm(NULL, stdout, stdin)) {
		source_free(&top.src);
		return usage_error(cmd, "TERM=%s is no terminal that it knows",
				   getenv("TERM") ? getenv("TERM") : "");
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	cbreak();
	noecho();
	loop(&top);
	endwin();
	drop(&top);
	source_free(&top.src);
	return EXIT_FINE;
}

#else

static int run(const struct command *cmd, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return usage_error(cmd, "this leaktrend was built without ncurses and has no top; trends "
			   "shows the same once");
}

#endif

static const struct command top = {
	.name	 = "top",
	.summary = "live view, growing sites first",
	.usage	 = "[options]",
	.text	 = "Looks again every few seconds. Keys: arrows and page keys select a site, enter\n"
		   "shows or hides its evidence and stack, s sorts by something else, p pauses,\n"
		   "/ takes a pattern for functions (escape clears it), r looks now, q ends.\n"
		   "Figures change with each round of the kernel.",
	.order	 = 8,
	.run	 = run,
};
LEAKTREND_COMMAND(top);
