/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: what the commands have in common that show the sites of a moment.
 */
#ifndef LEAKTREND_VIEW_H
#define LEAKTREND_VIEW_H

#include "leaktrend.h"
#include "table.h"

/**
 * struct view - Options of such a command, and what they select.
 * @where:   From where.
 * @filter:  Which.
 * @json:    As JSON.
 * @standby: That nothing is tracked is fine.
 * @src:     The moment.
 * @site:    Those that are to be shown, in order.
 * @nr:	     How many.
 * @all:     How many there are without --top.
 */
struct view {
	struct where where;
	struct filter filter;
	bool json;
	bool standby;
	struct view_source src;
	const struct site **site;
	size_t nr;
	size_t all;
};

#define OPT_VIEW(v)								\
	OPT_SOURCE(&(v)->where),						\
	OPT_FILTER(&(v)->filter),						\
	OPT_BOOL("json", 'j', &(v)->json, "print JSON")

/* Whether a site belongs to what is shown, whatever the options select. NULL: all do. */
typedef bool (*view_wanted)(const struct snapshot *snap, const struct site *site);

/* view_load() - Read @what and select. Returns 0, or -1 after it has said why. */
int view_load(struct view *view, unsigned int what, view_wanted wanted);
/* view_select() - Select anew from what was read. */
void view_select(struct view *view, view_wanted wanted);
void view_free(struct view *view);

/*
 * For @wanted: sites with something outstanding, of any class or of those that are
 * set in the kernel. view_outstanding() says which of them the options ask for.
 */
view_wanted view_outstanding(const struct view *view);

/* view_json() - What was selected, as one document. */
void view_json(const struct view *view);

/*
 * view_table() - What was selected, as JSON if that is wanted, or as a table of which
 * @add puts a site into a row; if there is none it says @none, and of how many.
 */
void view_table(const struct view *view, const struct column *columns, int nr,
		void (*add)(struct table *table, const struct site *site), const char *none);

/* view_rest() - Say what --top left out. */
void view_rest(const struct view *view);

/* view_where() - The culprit of a site, or why it is not known. */
void view_where(const struct site *site, char *text, size_t room);

#endif
