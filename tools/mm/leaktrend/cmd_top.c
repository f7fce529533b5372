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
 * @view:     The last look, and which sites of it in which order.
 * @pattern:  Of functions, as typed.
 * @seconds:  Between two looks.
 * @selected: Row.
 * @first:    Row at the top of the list.
 * @number:   Of the selected site, to find it again.
 * @paused:   No new looks.
 * @detail:   The lower half tells of the selected site.
 * @typing:   A pattern is being typed.
 * @loaded:   There was a look that succeeded.
 * @err:      Why the last look failed, "" if it did not.
 */
struct top {
	struct view view;
	char pattern[64];
	uint64_t seconds;
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

/* Select and sort anew, and stay at the site that was selected. */
static void arrange(struct top *top)
{
	struct view *view = &top->view;
	size_t i;

	if (!top->loaded)
		return;
	view->filter.function = *top->pattern ? top->pattern : NULL;
	view_select(view, view_outstanding(view));
	for (i = 0; i < view->nr; i++)
		if (view->site[i]->number == top->number)
			top->selected = i;
	if (top->selected >= view->nr)
		top->selected = view->nr ? view->nr - 1 : 0;
}

static void look(struct top *top)
{
	struct view_source src;

	if (source_load(&src, &top->view.where, READ_ALL, false, &top->err))
		return;
	top->err.text[0] = '\0';
	if (top->loaded)
		view_free(&top->view);
	top->view.src = src;
	top->loaded = true;
	arrange(top);
}

static void select_row(struct top *top, long row)
{
	if (!top->view.nr)
		return;
	top->selected = row < 0 ? 0 : (size_t)row >= top->view.nr ? top->view.nr - 1 : (size_t)row;
	top->number = top->view.site[top->selected]->number;
}

/* Drawing */

static void put(int row, int attributes, const char *fmt, ...) PRINTF(3, 4);
static void put(int row, int attributes, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = text_format(fmt, ap);
	va_end(ap);
	attron(attributes);
	/* The rest of the line is empty, in the same colours. */
	mvprintw(row, 0, "%*s", COLS, "");
	mvaddnstr(row, 0, text, -1);
	attroff(attributes);
	free(text);
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
	const struct snapshot *snap = &top->view.src.snap;
	unsigned int suspects = 0;
	size_t i;

	if (!top->loaded) {
		put(0, A_BOLD, "leaktrend: %s", top->err.text);
		return;
	}
	for (i = 0; i < snap->nr; i++)
		suspects += snapshot_suspect(snap, &snap->site[i]);
	put(0, A_BOLD, "leaktrend  %u rounds  %zu sites  %u suspects  by %s%s%s%s", snap->rounds,
	    snap->nr, suspects, sort_titles[top->view.filter.sort], top->paused ? "  PAUSED" : "",
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
	const struct site *site = top->view.site[i];
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
	const struct site *site = top->view.site[top->selected];
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
	list_end = top->detail && top->view.nr ? 2 + (end - 2) / 2 : end;
	if (top->selected < top->first)
		top->first = top->selected;
	if (top->selected >= top->first + (list_end - 2))
		top->first = top->selected - (list_end - 2) + 1;
	for (row = 2, i = top->first; row < list_end && i < top->view.nr; row++, i++)
		draw_site(top, i, row);
	if (top->loaded && !top->view.nr)
		put(2, A_NORMAL, "no site is selected");
	if (top->detail && top->view.nr)
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
		select_row(top, (long)top->view.nr - 1);
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
		top->detail = !top->detail;
		break;
	case 's':
		top->view.filter.sort = (top->view.filter.sort + 1) % NR_SORT_KEYS;
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
	struct top top = { .seconds = 2, .detail = true, .view.filter.sort = SORT_VERDICT };
	const struct opt opts[] = {
		OPT_CALL("interval", 'i', "SEC", &top.seconds, set_u64, "look every so many seconds, 2 by default"),
		OPT_TEXT("debugfs", 0, "DIR", &top.view.where.debugfs, "read this copy of " DEBUGFS),
		OPT_FILTER(&top.view.filter),
		OPT_END
	};
	int ret;

	ret = opts_only(cmd, opts, argc, argv);
	if (ret)
		return ret - 1;
	if (!top.seconds || top.seconds > 86400)
		return usage_error(cmd, "--interval is from 1 second to a day");
	if (top.view.filter.function)
		snprintf(top.pattern, sizeof(top.pattern), "%s", top.view.filter.function);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return usage_error(cmd, "it takes a terminal; trends is for pipes");
	look(&top);
	if (!top.loaded)
		return fail(&top.err);
	if (!newterm(NULL, stdout, stdin)) {
		view_free(&top.view);
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
	view_free(&top.view);
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
