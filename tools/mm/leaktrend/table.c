// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: text for people.
 */
#include <inttypes.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "table.h"

/* Colours */

bool colour_wanted(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(f)) && !(no && *no) && term && strcmp(term, "dumb");
}

const char *colour_on(FILE *f, enum colour colour)
{
	static const char * const codes[] = {
		[PLAIN]	 = "",
		[BOLD]	 = "\033[1m",
		[DIM]	 = "\033[2m",
		[RED]	 = "\033[1;31m",
		[YELLOW] = "\033[33m",
		[GREEN]	 = "\033[32m",
		[CYAN]	 = "\033[36m",
	};

	return colour_wanted(f) ? codes[colour] : "";
}

const char *colour_off(FILE *f)
{
	return colour_wanted(f) ? "\033[0m" : "";
}

enum colour verdict_colour(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_ORPHANED:
	case VERDICT_LIKELY_LEAK:
		return RED;
	case VERDICT_GROWING:
		return YELLOW;
	case VERDICT_CACHE_GROWTH:
	case VERDICT_SETTLED:
		return CYAN;
	case VERDICT_IGNORED:
		return DIM;
	default:
		return PLAIN;
	}
}

/* Widths */

int text_width(FILE *f)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int width;

	if (columns) {
		width = atoi(columns);
		if (width > 0)
			return width;
	}
	if (!isatty(fileno(f)))
		return 0;
	if (!ioctl(fileno(f), TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return 80;
}

/* The next character: its bytes, and in @width its columns. */
static size_t next_char(const char *text, int *width)
{
	mbstate_t state = {};
	wchar_t c;
	size_t len = mbrtowc(&c, text, MB_CUR_MAX, &state);

	if (len == (size_t)-1 || len == (size_t)-2 || !len) {
		*width = 1;
		return 1;
	}
	*width = wcwidth(c);
	if (*width < 0)
		*width = 1;
	return len;
}

int text_columns(const char *text)
{
	int columns = 0, width;

	while (*text) {
		text += next_char(text, &width);
		columns += width;
	}
	return columns;
}

char *text_clean(const char *text)
{
	struct buf out = {};

	buf_adds(&out, "");
	while (*text) {
		mbstate_t state = {};
		wchar_t c;
		size_t len = mbrtowc(&c, text, MB_CUR_MAX, &state);

		if (len == (size_t)-1 || len == (size_t)-2 || !len || !iswprint(c)) {
			buf_add(&out, "?", 1);
			text += len == (size_t)-1 || len == (size_t)-2 || !len ? 1 : len;
			continue;
		}
		buf_add(&out, text, len);
		text += len;
	}
	return out.data;
}

char *text_format(const char *fmt, va_list ap)
{
	char *raw, *clean;

	if (vasprintf(&raw, fmt, ap) < 0)
		raw = xstrdup("?");
	clean = text_clean(raw);
	free(raw);
	return clean;
}

void text_wrap(FILE *f, const char *text, int indent, int width)
{
	int column = indent;

	while (*text) {
		const char *end = text + strcspn(text, " ");
		char *word = xstrndup(text, end - text);
		int columns = text_columns(word);

		if (column > indent && width && column + 1 + columns > width) {
			fprintf(f, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', f);
			column++;
		}
		fputs(word, f);
		column += columns;
		free(word);
		text = end + (*end == ' ');
	}
	fputc('\n', f);
}

static bool has_unicode(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* The first @columns of @text, the last of them an ellipsis. */
static void print_cut(FILE *f, const char *text, int columns)
{
	const char *more = has_unicode() ? "…" : ".";
	int left = columns - 1, width;

	while (*text) {
		size_t len = next_char(text, &width);

		if (width > left)
			break;
		fwrite(text, 1, len, f);
		text += len;
		left -= width;
	}
	fprintf(f, "%s%*s", more, left, "");
}

/* Tables */

struct cell {
	char *text;
	enum colour colour;
	int columns;
};

struct table {
	const struct column *columns;
	int nr;
	size_t cells;
	size_t room;
	struct cell *cell;
};

struct table *table_new(const struct column *columns, int nr)
{
	struct table *table = xcalloc(1, sizeof(*table));

	table->columns = columns;
	table->nr = nr;
	return table;
}

void table_cell(struct table *table, enum colour colour, const char *fmt, ...)
{
	struct cell *cell;
	va_list ap;

	if (table->cells == table->room) {
		table->room = table->room ? 2 * table->room : 64;
		table->cell = xrealloc(table->cell, table->room, sizeof(*table->cell));
	}
	cell = &table->cell[table->cells++];
	va_start(ap, fmt);
	cell->text = text_format(fmt, ap);
	va_end(ap);
	cell->colour = colour;
	cell->columns = text_columns(cell->text);
}

static int total(const int *widths, int nr)
{
	int sum = 0, i;

	/* Two blanks between columns. */
	for (i = 0; i < nr; i++)
		if (widths[i] >= 0)
			sum += widths[i] + (sum ? 2 : 0);
	return sum;
}

/* Cut what may be cut, then leave out what may be left out. -1 is left out. */
static void fit(const struct table *table, int *widths, int width)
{
	int i, drop, over;

	for (drop = 9; drop >= 0; drop--) {
		over = total(widths, table->nr) - width;
		for (i = table->nr; i-- && over > 0;) {
			int shrink = table->columns[i].shrink, least;

			if (!shrink || widths[i] <= shrink)
				continue;
			least = widths[i] - over > shrink ? widths[i] - over : shrink;
			/* Only if that is enough; else a column goes first. */
			if (widths[i] - least < over && drop)
				continue;
			over -= widths[i] - least;
			widths[i] = least;
		}
		if (over <= 0)
			return;
		for (i = 0; i < table->nr && drop; i++)
			if (table->columns[i].drop == drop)
				widths[i] = -1;
	}
}

static void print_cell(FILE *f, const struct column *column, const struct cell *cell, int width,
		       bool last)
{
	int pad = width - cell->columns;

	if (pad > 0 && column->right)
		fprintf(f, "%*s", pad, "");
	fputs(colour_on(f, cell->colour), f);
	if (pad < 0)
		print_cut(f, cell->text, width);
	else
		fputs(cell->text, f);
	if (cell->colour != PLAIN)
		fputs(colour_off(f), f);
	if (pad > 0 && !column->right && !last)
		fprintf(f, "%*s", pad, "");
}

static void print_row(FILE *f, const struct table *table, const struct cell *cells,
		      const int *widths)
{
	int last = table->nr - 1, i;

	/* Without blanks at the end of the line. */
	while (last > 0 && (widths[last] < 0 || !*cells[last].text))
		last--;
	for (i = 0; i <= last; i++) {
		if (widths[i] < 0)
			continue;
		print_cell(f, &table->columns[i], &cells[i], widths[i], i == last);
		if (i < last)
			fputs("  ", f);
	}
	fputc('\n', f);
}

void table_print(struct table *table, FILE *f)
{
	struct cell *titles = xcalloc(table->nr, sizeof(*titles));
	int *widths = xcalloc(table->nr, sizeof(*widths));
	int width = text_width(f), i;
	size_t j;

	for (i = 0; i < table->nr; i++) {
		titles[i].text = (char *)table->columns[i].title;
		titles[i].colour = BOLD;
		titles[i].columns = text_columns(titles[i].text);
		widths[i] = titles[i].columns;
	}
	for (j = 0; j < table->cells; j++)
		if (table->cell[j].columns > widths[j % table->nr])
			widths[j % table->nr] = table->cell[j].columns;
	if (width)
		fit(table, widths, width);

	print_row(f, table, titles, widths);
	for (j = 0; j + table->nr <= table->cells; j += table->nr)
		print_row(f, table, &table->cell[j], widths);

	for (j = 0; j < table->cells; j++)
		free(table->cell[j].text);
	free(table->cell);
	free(titles);
	free(widths);
	free(table);
}

/* Units */

const char *unit_bytes(char *text, uint64_t bytes)
{
	static const char * const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned int i = 0;
	double v = bytes;

	/* Such that 1023.96 does not become 1024.0. */
	while (v >= 1023.95 && i < ARRAY_SIZE(units) - 1) {
		v /= 1024;
		i++;
	}
	snprintf(text, UNIT_ROOM, i ? "%.1f %s" : "%.0f %s", v, units[i]);
	return text;
}

const char *unit_rate(char *text, int64_t rate)
{
	char bytes[UNIT_ROOM];

	unit_bytes(bytes, rate < 0 ? 0 - (uint64_t)rate : (uint64_t)rate);
	snprintf(text, UNIT_ROOM, "%s%.20s/h", rate > 0 ? "+" : rate < 0 ? "-" : "", bytes);
	return text;
}

const char *unit_count(char *text, uint64_t nr)
{
	static const char units[] = "kMGTPE";
	double v = nr;
	int i = -1;

	if (nr < 100000) {
		snprintf(text, UNIT_ROOM, "%" PRIu64, nr);
		return text;
	}
	while (v >= 999.95 && i < 5) {
		v /= 1000;
		i++;
	}
	snprintf(text, UNIT_ROOM, "%.1f%c", v, units[i]);
	return text;
}

const char *unit_time(char *text, uint64_t ms)
{
	uint64_t s = ms / 1000;

	if (s < 60)
		snprintf(text, UNIT_ROOM, "%" PRIu64 ".%" PRIu64 " s", s, ms % 1000 / 100);
	else if (s < 3600)
		snprintf(text, UNIT_ROOM, "%" PRIu64 " min", s / 60);
	else if (s < 86400)
		snprintf(text, UNIT_ROOM, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
	else
		snprintf(text, UNIT_ROOM, "%" PRIu64 " d %" PRIu64 " h", s / 86400,
			 s % 86400 / 3600);
	return text;
}

const char *unit_date(char *text, uint64_t ms)
{
	time_t t = ms / 1000;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(text, UNIT_ROOM, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(text, UNIT_ROOM, "?");
	return text;
}

/* Sparklines */

const char *sparkline(char *text, const uint64_t *values, uint32_t nr, int width)
{
	static const char * const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char * const ascii[] = { "_", ".", ",", "-", "~", "=", "+", "#" };
	const char * const *marks = has_unicode() ? blocks : ascii;
	uint64_t least = UINT64_MAX, most = 0, range;
	uint32_t shown = nr < (uint32_t)width ? nr : (uint32_t)width, i;
	char *end = text;

	*text = '\0';
	for (i = 0; i < nr; i++) {
		least = values[i] < least ? values[i] : least;
		most = values[i] > most ? values[i] : most;
	}
	if (!nr)
		return text;
	range = most - least > most / 8 ? most - least : most / 8;
	for (i = 0; i < shown; i++) {
		uint64_t v = values[(uint64_t)(i + 1) * nr / shown - 1];
		unsigned int level = range ? (double)(v - least) / range * 7 + 0.5 : 0;

		end = stpcpy(end, marks[level > 7 ? 7 : level]);
	}
	return text;
}
