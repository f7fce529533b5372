/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: text for people: tables that fit the terminal, units, sparklines,
 * colours.
 */
#ifndef LEAKTREND_TABLE_H
#define LEAKTREND_TABLE_H

#include <stdarg.h>

#include "model.h"

enum colour { PLAIN, BOLD, DIM, RED, YELLOW, GREEN, CYAN };

/* Whether colours are wanted: on a terminal, and not with NO_COLOR. */
bool colour_wanted(FILE *f);
/* Sequences for @colour and back, "" if they are not wanted. */
const char *colour_on(FILE *f, enum colour colour);
const char *colour_off(FILE *f);
enum colour verdict_colour(enum verdict verdict);

/* Columns of the terminal, or COLUMNS; 0 is no limit, for what goes into a file. */
int text_width(FILE *f);

/* Columns that a text takes. */
int text_columns(const char *text);

/*
 * text_clean() - What came from elsewhere, without what a terminal would obey:
 * control characters and broken UTF-8 become '?'. To be freed.
 */
char *text_clean(const char *text);

/* text_format() - Such a text of a format. */
char *text_format(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/*
 * text_wrap() - Print @text, broken at blanks such that no line has more than
 * @width columns if that can be done; all but the first are indented. 0 is no limit.
 */
void text_wrap(FILE *f, const char *text, int indent, int width);

/**
 * struct column - Of a table.
 * @title:  Its head.
 * @right:  Aligned to the right.
 * @shrink: Cut with an ellipsis if the table is too wide, down to this; 0 never.
 * @drop:   Left out if the table is too wide still; the highest first, 0 never.
 */
struct column {
	const char *title;
	bool right;
	int shrink;
	int drop;
};

struct table;

/* table_new() - @columns have to stay. */
struct table *table_new(const struct column *columns, int nr);
/* table_cell() - The next one; a row ends by itself when it is full. */
void table_cell(struct table *table, enum colour colour, const char *fmt, ...) PRINTF(3, 4);
/* table_print() - And free it. */
void table_print(struct table *table, FILE *f);

/* Units. @text has room for UNIT_ROOM. */
#define UNIT_ROOM	32
const char *unit_bytes(char *text, uint64_t bytes);		/* 3.0 MiB */
const char *unit_rate(char *text, int64_t bytes_per_hour);	/* +3.0 MiB/h */
const char *unit_count(char *text, uint64_t nr);		/* 12480, 1.2M */
const char *unit_time(char *text, uint64_t ms);			/* 2.5 s, 31 min, 1 d 4 h */
const char *unit_date(char *text, uint64_t ms);			/* 2026-01-31 13:37:00 */

/*
 * sparkline() - @values in at most @width columns; each shows the last value of
 * its share. With few values it is shorter. It reaches from the least to the
 * greatest, but not over less than an eighth of the greatest, so that what hardly
 * moves looks flat. Marks of ASCII where the locale has no others. @text has room
 * for SPARK_ROOM(width).
 */
#define SPARK_ROOM(width)	((width) * 4 + 1)
const char *sparkline(char *text, const uint64_t *values, uint32_t nr, int width);

#endif
