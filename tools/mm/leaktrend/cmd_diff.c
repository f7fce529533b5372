// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend diff: which call paths hold more memory than before, or than elsewhere.
 *
 * Two kernels have no number or handle in common, so call paths are matched by the
 * names of their functions (site_path()), and those that are the same by that are
 * summed up. Estimates differ by chance, too: only what is more than two standard
 * errors of a difference is called one.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json.h"
#include "parse.h"
#include "table.h"
#include "view.h"

/* From what is asked for most. */
enum change { CHANGE_NEW, CHANGE_GREW, CHANGE_SHRANK, CHANGE_GONE, CHANGE_SAME, NR_CHANGES };

static const char * const change_names[NR_CHANGES] = {
	"new", "grew", "shrank", "gone", "same",
};

static const enum colour change_colours[NR_CHANGES] = {
	[CHANGE_NEW] = RED, [CHANGE_GREW] = RED, [CHANGE_SHRANK] = GREEN,
	[CHANGE_GONE] = GREEN, [CHANGE_SAME] = PLAIN,
};

/**
 * struct side - What is known of a call path at one of the two moments.
 * @sites:    How many there are.
 * @bytes:    Outstanding.
 * @variance: Of @bytes as an estimate.
 * @growth:   Bytes per hour.
 */
struct side {
	unsigned int sites;
	uint64_t bytes;
	double variance;
	int64_t growth;
};

enum { BASE, NEW, NR_SIDES };

/**
 * struct path - A call path.
 * @name: site_path().
 * @site: One of its sites, of the newer side if there is one.
 * @side: Base and new.
 */
struct path {
	char *name;
	const struct site *site;
	struct side side[NR_SIDES];
};

struct paths {
	size_t nr;
	struct path *path;
};

/**
 * struct gate - What --fail-on asks for.
 * @growth:	Bytes that a path may have grown by, with @growth_set.
 * @percent:	The same, in per cent of what it had, with @percent_set.
 * @new:	Bytes that a new path may have, with @new_set.
 */
struct gate {
	bool growth_set, percent_set, new_set;
	uint64_t growth, percent, new;
};

static int64_t difference(const struct path *path)
{
	return (int64_t)(path->side[NEW].bytes - path->side[BASE].bytes);
}

/* Two standard errors of it. */
static double uncertainty(const struct path *path)
{
	return 2 * sqrt(path->side[BASE].variance + path->side[NEW].variance);
}

static enum change change_of(const struct path *path)
{
	int64_t diff = difference(path);

	if (fabs((double)diff) <= uncertainty(path))
		return CHANGE_SAME;
	if (!path->side[BASE].bytes)
		return CHANGE_NEW;
	if (!path->side[NEW].bytes)
		return CHANGE_GONE;
	return diff > 0 ? CHANGE_GREW : diff < 0 ? CHANGE_SHRANK : CHANGE_SAME;
}

/* Collecting */

struct found {
	char *name;
	const struct site *site;
	int side;
};

static int cmp_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int ret = strcmp(x->name, y->name);

	return ret ? ret : x->side - y->side;
}

static void add_site(struct path *path, const struct found *found)
{
	struct side *side = &path->side[found->side];
	double error = found->site->bytes * (double)found->site->error_permille / 1000;

	path->site = found->site;
	side->sites++;
	side->bytes += found->site->bytes;
	side->variance += error * error;
	side->growth += found->site->growth;
}

/* Which of a side pass; how many have no stack is added to *@unknown. */
static size_t find(const struct view *view, int side, struct found *found, size_t *unknown)
{
	size_t nr = 0, i;

	for (i = 0; i < view->all; i++) {
		struct found f = { site_path(view->site[i]), view->site[i], side };

		if (f.name)
			found[nr++] = f;
		else
			++*unknown;
	}
	return nr;
}

static void collect(struct paths *paths, struct view *views, size_t *unknown)
{
	struct found *found = xcalloc(views[BASE].all + views[NEW].all + 1, sizeof(*found));
	size_t nr, i;

	nr = find(&views[BASE], BASE, found, &unknown[BASE]);
	nr += find(&views[NEW], NEW, found + nr, &unknown[NEW]);
	qsort(found, nr, sizeof(*found), cmp_found);
	paths->path = xcalloc(nr + 1, sizeof(*paths->path));
	for (i = 0; i < nr; i++) {
		if (!paths->nr || strcmp(paths->path[paths->nr - 1].name, found[i].name))
			paths->path[paths->nr++].name = found[i].name;
		else
			free(found[i].name);
		add_site(&paths->path[paths->nr - 1], &found[i]);
	}
	free(found);
}

/* The greatest growth first, the greatest loss last. */
static int cmp_difference(const void *a, const void *b)
{
	int64_t x = difference(a), y = difference(b);

	if (x != y)
		return x < y ? 1 : -1;
	return strcmp(((const struct path *)a)->name, ((const struct path *)b)->name);
}

/* Those that changed, and their number; with @all the others, too. */
static size_t select_paths(struct paths *paths, bool all, const struct path ***selected)
{
	size_t nr = 0, i;

	qsort(paths->path, paths->nr, sizeof(*paths->path), cmp_difference);
	*selected = xcalloc(paths->nr + 1, sizeof(**selected));
	for (i = 0; i < paths->nr; i++)
		if (all || change_of(&paths->path[i]) != CHANGE_SAME)
			(*selected)[nr++] = &paths->path[i];
	return nr;
}

/* Gates */

static int set_gate(void *value, const char *arg, struct err *err)
{
	struct gate *gate = value;
	const char *number = strchr(arg, '=');
	size_t len;

	number = number ? number + 1 : "";
	len = strlen(number);
	if (!strncmp(arg, "new=", 4) && !set_size(&gate->new, number, err)) {
		gate->new_set = true;
		return 0;
	}
	if (!strncmp(arg, "growth=", 7)) {
		if (len && number[len - 1] == '%' && parse_u64(number, len - 1, &gate->percent)) {
			gate->percent_set = true;
			return 0;
		}
		if (!set_size(&gate->growth, number, err)) {
			gate->growth_set = true;
			return 0;
		}
	}
	return err_set(err, "\"%s\" is none of growth=1M, growth=10%%, new=64K", arg);
}

/* Why a path does not pass, or NULL. */
static const char *refused(const struct gate *gate, const struct path *path)
{
	enum change change = change_of(path);
	uint64_t grown;

	if (change != CHANGE_NEW && change != CHANGE_GREW)
		return NULL;
	grown = difference(path);
	if (gate->growth_set && grown >= gate->growth)
		return "growth";
	if (change == CHANGE_NEW)
		return gate->new_set && grown >= gate->new ? "new" : NULL;
	if (gate->percent_set && grown * 100.0 >= gate->percent * (double)path->side[BASE].bytes)
		return "growth in per cent";
	return NULL;
}

/* Output */

static void show_side(const char *name, const struct view *view, size_t unknown)
{
	const struct host *host = &view->src.host;
	char when[UNIT_ROOM], *clean;
	struct buf text = {};

	buf_printf(&text, "%s, kernel %s, %s, %u rounds, %zu sites", *host->name ? host->name : "?",
		   *host->release ? host->release : "?", unit_date(when, view->src.snap.time_ms),
		   view->src.snap.rounds, view->all);
	if (unknown)
		buf_printf(&text, ", %zu of them without a stack, left out", unknown);
	clean = text_clean(text.data);
	printf("%-5s %s\n", name, clean);
	free(clean);
	buf_free(&text);
}

static const char *signed_bytes(char *text, int64_t bytes)
{
	char amount[UNIT_ROOM];

	snprintf(text, UNIT_ROOM, "%s%.20s", bytes > 0 ? "+" : bytes < 0 ? "-" : "",
		 unit_bytes(amount, bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes));
	return text;
}

static void show_table(const struct path **paths, size_t nr)
{
	static const struct column columns[] = {
		{ .title = "CHANGE" },
		{ .title = "BASE", .right = true },
		{ .title = "NEW", .right = true },
		{ .title = "DIFFERENCE", .right = true },
		{ .title = "+-", .right = true, .drop = 3 },
		{ .title = "GROWTH NOW", .right = true, .drop = 2 },
		{ .title = "CACHE", .shrink = 8, .drop = 1 },
		{ .title = "FUNCTION", .shrink = 20 },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	char text[UNIT_ROOM], where[128];
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct path *p = paths[i];
		enum change change = change_of(p);

		view_where(p->site, where, sizeof(where));
		table_cell(table, change_colours[change], "%s", change_names[change]);
		table_cell(table, PLAIN, "%s", unit_bytes(text, p->side[BASE].bytes));
		table_cell(table, PLAIN, "%s", unit_bytes(text, p->side[NEW].bytes));
		table_cell(table, change_colours[change], "%s", signed_bytes(text, difference(p)));
		table_cell(table, PLAIN, "%s", unit_bytes(text, uncertainty(p)));
		table_cell(table, PLAIN, "%s", unit_rate(text, p->side[NEW].growth));
		table_cell(table, PLAIN, "%s", p->site->cache ? p->site->cache : kind_name(p->site->kind));
		table_cell(table, PLAIN, "%s", where);
	}
	table_print(table, stdout);
}

static void show_text(const struct view *views, const struct path **paths, size_t nr, size_t shown,
		      const size_t *unknown)
{
	show_side("base", &views[BASE], unknown[BASE]);
	show_side("new", &views[NEW], unknown[NEW]);
	putchar('\n');
	if (!nr) {
		puts("no call path differs by more than chance");
		return;
	}
	show_table(paths, shown);
	if (shown < nr)
		printf("… and %zu more\n", nr - shown);
}

static struct json_object *json_side(const struct side *side)
{
	struct json_object *json = json_object_new_object();

	json_add_u64(json, "sites", side->sites);
	json_add_u64(json, "bytes", side->bytes);
	json_add_u64(json, "error_bytes", sqrt(side->variance));
	json_add_s64(json, "growth_bytes_h", side->growth);
	return json;
}

static void show_json(const struct view *views, const struct path **paths, size_t nr, size_t shown)
{
	struct json_object *json = json_object_new_object();
	struct json_object *list = json_object_new_array(), *item;
	size_t i;

	json_add_text(json, "format", "leaktrend-diff-1");
	json_add(json, "base", json_head(&views[BASE].src.snap, &views[BASE].src.host));
	json_add(json, "new", json_head(&views[NEW].src.snap, &views[NEW].src.host));
	for (i = 0; i < shown; i++) {
		item = json_object_new_object();
		json_add_text(item, "change", change_names[change_of(paths[i])]);
		json_add_text(item, "path", paths[i]->name);
		json_add_s64(item, "difference_bytes", difference(paths[i]));
		json_add_u64(item, "uncertainty_bytes", uncertainty(paths[i]));
		json_add(item, "base", json_side(&paths[i]->side[BASE]));
		json_add(item, "new", json_side(&paths[i]->side[NEW]));
		json_object_array_add(list, item);
	}
	json_add_u64(json, "matching", nr);
	json_add(json, "paths", list);
	json_print(json, stdout);
}

/* Says on stderr what is not let through. */
static int apply_gate(const struct gate *gate, const struct paths *paths)
{
	char bytes[UNIT_ROOM], where[128], *clean;
	int ret = EXIT_FINE;
	size_t i;

	for (i = 0; i < paths->nr; i++) {
		const struct path *p = &paths->path[i];
		const char *why = refused(gate, p);

		if (!why)
			continue;
		view_where(p->site, where, sizeof(where));
		clean = text_clean(where);
		fprintf(stderr, "leaktrend: fails by %s: %s, %s\n", why,
			signed_bytes(bytes, difference(p)), clean);
		free(clean);
		ret = EXIT_FINDINGS;
	}
	return ret;
}

/* Whether the sides can be compared at all, and what to mind. */
static int compare_sides(const struct view *views, const size_t *unknown, struct err *err)
{
	static const char * const names[] = { "BASE", "NEW" };
	const char *counted[NR_SIDES];
	int i;

	for (i = 0; i < NR_SIDES; i++) {
		if (views[i].all && unknown[i] == views[i].all)
			return err_set(err, "no site of %s has a stack, and it takes stacks to match "
				       "them; copy the file trends, too", names[i]);
		counted[i] = pairs_get(&views[i].src.snap.status, "pages_counted");
	}
	if (counted[BASE] && counted[NEW] && strcmp(counted[BASE], counted[NEW])) {
		err_set(err, "page_owner was on for one of them only: pages cannot be compared, "
			"use --kind slab");
		note(err);
	}
	return 0;
}

/* A directory is debugfs or a copy of it, everything else a recorded file. */
static void set_where(struct where *where, const char *name)
{
	struct stat st;

	if (strcmp(name, "-") && !stat(name, &st) && S_ISDIR(st.st_mode))
		where->debugfs = name;
	else
		where->file = name;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct view views[NR_SIDES] = {};
	struct filter filter = {};
	struct gate gate = {};
	bool json = false, all = false;
	const struct opt opts[] = {
		OPT_CALL("fail-on", 'e', "WHAT", &gate, set_gate,
			 "exit with 1 if a path does: growth=1M, growth=10%, new=64K; can be repeated"),
		OPT_BOOL("all", 'a', &all, "also paths that are the same"),
		OPT_FILTER(&filter),
		OPT_BOOL("json", 'j', &json, "print JSON"),
		OPT_END
	};
	const struct path **selected;
	size_t unknown[NR_SIDES] = {}, nr, shown, i;
	struct paths paths = {};
	struct err err;
	int ret;

	ret = opts_parse(cmd, opts, &argc, &argv);
	if (ret)
		return ret - 1;
	if (argc < 1 || argc > 2)
		return usage_error(cmd, "it takes BASE, and NEW or nothing");
	if (argc == 2 && !strcmp(argv[0], "-") && !strcmp(argv[1], "-"))
		return usage_error(cmd, "only one of them can be standard input");
	set_where(&views[BASE].where, argv[0]);
	if (argc > 1)
		set_where(&views[NEW].where, argv[1]);
	for (i = 0; i < NR_SIDES; i++) {
		views[i].filter = filter;
		views[i].filter.top = 0;
		/* What is small on one side need not be so on the other. */
		views[i].filter.min_bytes = 0;
		if (view_load(&views[i], READ_SITES | READ_STACKS, view_outstanding(&views[i]))) {
			ret = EXIT_ERROR;
			goto out;
		}
	}

	collect(&paths, views, unknown);
	if (compare_sides(views, unknown, &err)) {
		ret = fail(&err);
		goto out;
	}
	for (i = nr = 0; i < paths.nr; i++) {
		const struct path *p = &paths.path[i];

		if (p->side[BASE].bytes >= filter.min_bytes || p->side[NEW].bytes >= filter.min_bytes)
			paths.path[nr++] = *p;
		else
			free(p->name);
	}
	paths.nr = nr;
	nr = select_paths(&paths, all, &selected);
	shown = filter_shown(&filter, nr);
	if (json)
		show_json(views, selected, nr, shown);
	else
		show_text(views, selected, nr, shown, unknown);
	ret = apply_gate(&gate, &paths);
	free(selected);
out:
	for (i = 0; i < paths.nr; i++)
		free(paths.path[i].name);
	free(paths.path);
	view_free(&views[BASE]);
	view_free(&views[NEW]);
	return ret;
}

static const struct command diff = {
	.name	 = "diff",
	.summary = "which call paths hold more than before, or than on another kernel",
	.usage	 = "[options] BASE [NEW]",
	.text	 = "Compares what is outstanding. BASE and NEW are recorded files, or copies of\n"
		   "debugfs; without NEW it is this machine, now. Of a recorded file the last\n"
		   "round counts. Call paths are matched by the names of their functions, so that\n"
		   "another kernel, another boot or another machine will do; let both do the same\n"
		   "work for as long. A difference within two standard errors of the estimates (+-)\n"
		   "is none. Exit status: 0, 1 if --fail-on says so, 2 if something cannot be read.",
	.order	 = 7,
	.run	 = run,
};
LEAKTREND_COMMAND(diff);
