// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend status: whether tracking is on, what it has found, how good it is.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "leaktrend.h"
#include "table.h"

static uint64_t number(const struct snapshot *snap, const char *key)
{
	uint64_t v = 0;

	snapshot_tunable(snap, key, &v);
	return v;
}

static void line(const char *key, enum colour colour, const char *fmt, ...) PRINTF(3, 4);
static void line(const char *key, enum colour colour, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = text_format(fmt, ap);
	va_end(ap);
	printf("%-9s %s", key, colour_on(stdout, colour));
	text_wrap(stdout, text, 10, text_width(stdout));
	fputs(colour == PLAIN ? "" : colour_off(stdout), stdout);
	free(text);
}

static void show_host(const struct view_source *src)
{
	char when[UNIT_ROOM], memory[UNIT_ROOM];
	const struct host *host = &src->host;
	struct buf text = {};

	buf_adds(&text, *host->name ? host->name : "unknown host");
	if (*host->release)
		buf_printf(&text, ", kernel %s", host->release);
	if (host->cpus)
		buf_printf(&text, ", %u CPUs", host->cpus);
	if (host->memory)
		buf_printf(&text, ", %s", unit_bytes(memory, host->memory));
	line("host", PLAIN, "%s", text.data);
	if (!src->live)
		line("recorded", PLAIN, "%s", unit_date(when, src->snap.time_ms));
	buf_free(&text);
}

static void show_rounds(const struct snapshot *snap)
{
	char interval[UNIT_ROOM];
	uint64_t min_rounds = 8;

	snapshot_tunable(snap, "min_rounds", &min_rounds);
	unit_time(interval, number(snap, "interval_ms"));
	if (snap->rounds)
		line("rounds", PLAIN, "%u of %s each; the last took %.1f ms for %" PRIu64 " sites",
		     snap->rounds, interval, number(snap, "last_round_us") / 1000.0,
		     number(snap, "last_round_sites"));
	else
		line("rounds", PLAIN, "none yet, of %s each", interval);
	if (snap->rounds <= min_rounds)
		line("", YELLOW, "too few for a verdict, which takes %" PRIu64 " of them",
		     min_rounds + 1);
}

static void show_suspects(const struct snapshot *snap)
{
	unsigned int count[NR_VERDICTS] = {};
	enum verdict verdict, worst = VERDICT_NONE;
	struct buf text = {};
	size_t i;

	for (i = 0; i < snap->nr; i++)
		if (snapshot_suspect(snap, &snap->site[i]))
			count[snap->site[i].verdict]++;
	for (verdict = NR_VERDICTS; verdict-- > 0;) {
		if (!count[verdict])
			continue;
		if (worst == VERDICT_NONE)
			worst = verdict;
		buf_printf(&text, "%s%u %s", text.len ? ", " : "", count[verdict],
			   verdict_name(verdict));
	}
	if (!text.len)
		buf_adds(&text, "none");
	if (number(snap, "ignored"))
		buf_printf(&text, "; %" PRIu64 " more sites are on the ignore list",
			   number(snap, "ignored"));
	line("suspects", verdict_colour(worst), "%s", text.data);
	buf_free(&text);
}

static void show_memory(const struct snapshot *snap, const struct host *host)
{
	static const struct {
		const char *key;
		const char *name;
	} classes[] = {
		{ "pages_kernel", "kernel" },
		{ "pages_user", "user" },
		{ "pages_page_table", "tables" },
		{ "pages_slab", "slab" },
	};
	const char *page_owner = pairs_get(&snap->status, "page_owner");
	uint64_t page = host->page_size ? host->page_size : 4096, pages;
	char bytes[UNIT_ROOM], objects[UNIT_ROOM];
	struct buf text = {};
	size_t i;

	line("objects", PLAIN, "%s outstanding, %s; 1 in %" PRIu64 " is followed",
	     unit_count(objects, number(snap, "outstanding_objects")),
	     unit_bytes(bytes, number(snap, "outstanding_bytes")), number(snap, "sample_rate"));
	if (number(snap, "effective_rate") > number(snap, "sample_rate"))
		line("", YELLOW, "at the moment 1 in %" PRIu64 ", as more would cost too much",
		     number(snap, "effective_rate"));
	for (i = 0; i < ARRAY_SIZE(classes); i++)
		if (pairs_u64(&snap->status, classes[i].key, &pages))
			buf_printf(&text, "%s%s %s", text.len ? ", " : "", classes[i].name,
				   unit_bytes(bytes, pages * page));
	if (text.len)
		line("pages", PLAIN, "%s (%s)", text.data, page_owner && !strcmp(page_owner, "on") ?
		     "page_owner's" : "sampled");
	buf_free(&text);
}

/* What is missing from the estimates, and what must never be. */
static void show_losses(const struct snapshot *snap)
{
	static const struct {
		const char *key;
		const char *why;
	} losses[] = {
		{ "dropped_memory", "no memory; stop something, or raise sample_rate" },
		{ "dropped_stack", "no stack; the stack depot may be full" },
		{ "dropped_sites", "no room for more sites; raise max_sites" },
		{ "missed_frees", "frees that were not seen; a bug of leaktrend, please report it" },
	};
	bool any = false;
	uint64_t v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(losses); i++) {
		if (!pairs_u64(&snap->status, losses[i].key, &v) || !v)
			continue;
		line(any ? "" : "lost", YELLOW, "%" PRIu64 " samples: %s (%s)", v, losses[i].why,
		     losses[i].key);
		any = true;
	}
	if (!any)
		line("lost", PLAIN, "nothing since boot");
}

static void show(const struct view_source *src)
{
	const char *state = pairs_get(&src->snap.status, "state");
	bool on = state && !strcmp(state, "on");
	char bytes[UNIT_ROOM];
	const char *cpu;

	show_host(src);
	line("state", on ? GREEN : YELLOW, "%s%s", state ? state : "?",
	     on ? "" : ": nothing is tracked; switch it on with echo 1 > " DEBUGFS
		  "/leaktrend/enable");
	if (on) {
		show_rounds(&src->snap);
		show_suspects(&src->snap);
		show_memory(&src->snap, &src->host);
		show_losses(&src->snap);
	}
	cpu = pairs_get(&src->snap.status, "overhead_permille");
	line("cost", PLAIN, "%s of memory, stacks not counted; %.2f %% of CPU time",
	     unit_bytes(bytes, number(&src->snap, "memory_total")),
	     on && cpu ? strtod(cpu, NULL) / 10 : 0.0);
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct where where = {};
	bool json = false;
	const struct opt opts[] = {
		OPT_SOURCE(&where),
		OPT_BOOL("json", 'j', &json, "print JSON: all lines of the status, and tunables"),
		OPT_END
	};
	struct view_source src;
	struct err err;
	int ret;

	ret = opts_only(cmd, opts, argc, argv);
	if (ret)
		return ret - 1;
	if (source_load(&src, &where, READ_SUSPECTS, true, &err))
		return fail(&err);
	note(&src.note);
	if (json)
		json_print(json_head(&src.snap, &src.host), stdout);
	else
		show(&src);
	source_free(&src);
	return EXIT_FINE;
}

static const struct command status = {
	.name	 = "status",
	.summary = "whether tracking is on, what it has found, how good it is",
	.usage	 = "[options]",
	.text	 = "Shows in some lines whether leaktrend tracks, for how many rounds, how many\n"
		   "suspects there are, how much memory is outstanding, and what was lost.",
	.order	 = 1,
	.run	 = run,
};
LEAKTREND_COMMAND(status);
