// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: what the commands have in common that show the sites of a moment.
 */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "table.h"
#include "view.h"

void view_select(struct view *view, view_wanted wanted)
{
	size_t i, nr = 0;

	free(view->site);
	view->site = filter_sites(&view->filter, &view->src.snap, &view->nr, &view->all);
	if (!wanted)
		return;
	for (i = 0; i < view->all; i++)
		if (wanted(&view->src.snap, view->site[i]))
			view->site[nr++] = view->site[i];
	view->all = nr;
	view->nr = filter_shown(&view->filter, nr);
}

int view_load(struct view *view, unsigned int what, view_wanted wanted)
{
	struct err err;

	/* A function is looked for in stacks, whoever needs them else. */
	if (view->filter.function || view->filter.sort == SORT_FUNCTION)
		what |= READ_STACKS;
	if (source_load(&view->src, &view->where, what, view->standby, &err)) {
		fail(&err);
		return -1;
	}
	note(&view->src.note);
	if (view->src.snap.torn) {
		err_set(&err, "tracking was cleared while this was read, sites may be missing");
		note(&err);
	}
	view_select(view, wanted);
	return 0;
}

static bool is_outstanding(const struct snapshot *snap, const struct site *site)
{
	(void)snap;
	return site->outstanding > 0;
}

static bool is_kernels(const struct snapshot *snap, const struct site *site)
{
	return site->outstanding > 0 && snapshot_class_wanted(snap, site);
}

view_wanted view_outstanding(const struct view *view)
{
	return view->filter.classes ? is_outstanding : is_kernels;
}

void view_free(struct view *view)
{
	free(view->site);
	view->site = NULL;
	source_free(&view->src);
}

void view_json(const struct view *view)
{
	struct json_object *json = json_head(&view->src.snap, &view->src.host);
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < view->nr; i++)
		json_object_array_add(list, json_site(view->site[i]));
	json_add_u64(json, "matching", view->all);
	json_add(json, "sites", list);
	json_print(json, stdout);
}

void view_rest(const struct view *view)
{
	if (view->nr < view->all)
		printf("%s… and %zu more%s\n", colour_on(stdout, DIM), view->all - view->nr,
		       colour_off(stdout));
}

void view_where(const struct site *site, char *text, size_t room)
{
	if (site->stack && site->stack->nr)
		site_function(site, text, room);
	else if (!site->outstanding)
		snprintf(text, room, "? (nothing outstanding)");
	else
		snprintf(text, room, "? (class %s)", class_name(site->class));
}

void view_table(const struct view *view, const struct column *columns, int nr,
		void (*add)(struct table *table, const struct site *site), const char *none)
{
	struct table *table;
	size_t i;

	if (view->json) {
		view_json(view);
	} else if (!view->nr) {
		printf("%s, of %zu\n", none, view->src.snap.nr);
	} else {
		table = table_new(columns, nr);
		for (i = 0; i < view->nr; i++)
			add(table, view->site[i]);
		table_print(table, stdout);
		view_rest(view);
	}
}
