// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend confirm: asks kmemleak about suspects.
 *
 * leaktrend knows what grows, and kmemleak what nothing points to. An object that
 * both name is lost for sure. One that kmemleak does not list is reachable from
 * somewhere: in a list that nobody shortens, or held by a reference too many. The
 * addresses of objects are not in leaktrend's files, so objects are matched by the
 * names in their stacks, which both have.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "json.h"
#include "table.h"
#include "view.h"

/* kmemleak reports no object that is younger, and what looks lost to two scans. */
#define MIN_AGE_S	6

/**
 * struct lost - Objects of one stack that kmemleak lists.
 * @stack: From the innermost frame.
 * @nr:	   How many.
 */
struct lost {
	struct stack *stack;
	uint64_t nr;
};

struct losses {
	size_t nr;
	struct lost *lost;
};

static void losses_free(struct losses *losses)
{
	size_t i;

	for (i = 0; i < losses->nr; i++)
		stack_put(losses->lost[i].stack);
	free(losses->lost);
}

static bool same_stack(const struct stack *a, const struct stack *b)
{
	unsigned int i;

	if (a->nr != b->nr)
		return false;
	for (i = 0; i < a->nr; i++)
		if (strcmp(a->line[i], b->line[i]))
			return false;
	return true;
}

static void add_lost(struct losses *losses, const struct buf *frames)
{
	struct stack *stack;
	size_t i;

	if (!frames->len)
		return;
	stack = stack_parse(frames->data, frames->len);
	for (i = 0; i < losses->nr; i++) {
		if (!same_stack(losses->lost[i].stack, stack))
			continue;
		losses->lost[i].nr++;
		stack_put(stack);
		return;
	}
	losses->lost = xrealloc(losses->lost, losses->nr + 1, sizeof(*losses->lost));
	losses->lost[losses->nr++] = (struct lost){ stack, 1 };
}

/* "unreferenced object …", some lines, "  backtrace (crc …):" and "    frame" lines. */
static void parse_kmemleak(const char *text, struct losses *losses)
{
	static const char object[] = "unreferenced object", backtrace[] = "  backtrace";
	struct buf frames = {};
	bool inside = false;

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (!strncmp(text, object, strlen(object))) {
			add_lost(losses, &frames);
			buf_clear(&frames);
			inside = false;
		} else if (!strncmp(text, backtrace, strlen(backtrace))) {
			inside = true;
		} else if (inside && len > 4 && !strncmp(text, "    ", 4)) {
			const char *frame = text + 4;

			/* Older kernels have the address before the name: "[<…>] f+0x1/0x2". */
			if (*frame == '[' && memchr(frame, ' ', len - 4))
				frame = (const char *)memchr(frame, ' ', len - 4) + 1;
			buf_add(&frames, frame, text + len - frame);
			buf_adds(&frames, "\n");
		}
		text += len + !!text[len];
	}
	add_lost(losses, &frames);
	buf_free(&frames);
}

static bool same_name(const char *a, const char *b)
{
	const char *x, *y;
	size_t n = frame_name(a, &x), m = frame_name(b, &y);

	return n == m && !memcmp(x, y, n);
}

/*
 * Whether @site's path, from the function that is to blame outwards, is in @stack.
 * Above it the two may differ, as each leaves out other functions of the allocator,
 * and where one ends the other need not.
 */
static bool matches(const struct site *site, const struct stack *stack)
{
	const char *culprit = stack_culprit(site->stack);
	unsigned int first = 0, at, i;

	while (first < site->stack->nr && site->stack->line[first] != culprit)
		first++;
	for (at = 0; at < stack->nr; at++) {
		for (i = 0; first + i < site->stack->nr && at + i < stack->nr; i++)
			if (!same_name(site->stack->line[first + i], stack->line[at + i]))
				break;
		/* Some frames in common say enough; one function alone does not. */
		if ((first + i == site->stack->nr || at + i == stack->nr) &&
		    (i >= 2 || first + 1 == site->stack->nr))
			return true;
	}
	return false;
}

static uint64_t count_lost(const struct losses *losses, const struct site *site)
{
	uint64_t nr = 0;
	size_t i;

	for (i = 0; site->stack && site->stack->nr && i < losses->nr; i++)
		if (matches(site, losses->lost[i].stack))
			nr += losses->lost[i].nr;
	return nr;
}

/* Asking */

static int no_kmemleak(const struct debugfs *dfs, int error, struct err *err)
{
	if (error == ENOENT)
		return err_set(err, "there is no %s/kmemleak; it takes a kernel with CONFIG_DEBUG_KMEMLEAK, "
			       "and perhaps kmemleak=on on its command line", dfs->dir);
	return -1;
}

static int scan(const struct debugfs *dfs, unsigned int seconds, struct err *err)
{
	const struct timespec wait = { .tv_sec = seconds };
	int i;

	for (i = 0; i < 2; i++) {
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "kmemleak scans all memory (%d of 2)…\n", i + 1);
		if (!debugfs_write(dfs, "kmemleak", "scan", err)) {
			if (!i)
				nanosleep(&wait, NULL);
			continue;
		}
		if (errno == EPERM || errno == EBUSY || errno == EINVAL)
			return err_set(err, "kmemleak is switched off; boot with kmemleak=on (it also "
				       "switches itself off when it runs out of memory, see dmesg)");
		return no_kmemleak(dfs, errno, err);
	}
	return 0;
}

static int ask(const struct view *view, unsigned int seconds, bool old, struct losses *losses,
	       struct err *err)
{
	struct debugfs dfs;
	struct buf text = {};
	int ret;

	if (debugfs_open(&dfs, view->where.debugfs, err))
		return -1;
	ret = old || dfs.copy ? 0 : scan(&dfs, seconds, err);
	if (!ret && debugfs_read(&dfs, "kmemleak", &text, err))
		ret = no_kmemleak(&dfs, errno, err);
	if (!ret)
		parse_kmemleak(buf_str(&text), losses);
	buf_free(&text);
	debugfs_close(&dfs);
	return ret;
}

/* Answers */

static const char *answer(const struct site *site, uint64_t lost)
{
	if (site->kind == KIND_PAGE)
		return "kmemleak does not look after pages";
	if (!site->stack || !site->stack->nr)
		return "its stack is not known";
	if (lost > 1)
		return "lost: nothing points to them any more";
	if (lost)
		return "one may be a stray value; scan again later";
	return "still reachable, or too young: look at who should take them from a list, or drop a reference";
}

static void show(const struct site *site, uint64_t lost)
{
	char where[128], bytes[UNIT_ROOM], *clean;

	view_where(site, where, sizeof(where));
	clean = text_clean(where);
	printf("%s%s%s  %s\n", colour_on(stdout, verdict_colour(site->verdict)),
	       verdict_name(site->verdict), colour_off(stdout), clean);
	free(clean);
	clean = text_clean(site->cache ? site->cache : "pages");
	printf("   outstanding  %s of %s\n", unit_bytes(bytes, site->bytes), clean);
	free(clean);
	if (site->kind == KIND_SLAB)
		printf("   kmemleak     lists %" PRIu64 " objects of this path\n", lost);
	printf("   so           ");
	text_wrap(stdout, answer(site, lost), 16, text_width(stdout));
}

static void show_json(const struct view *view, const struct losses *losses)
{
	struct json_object *json = json_head(&view->src.snap, &view->src.host);
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < view->nr; i++) {
		struct json_object *site = json_site(view->site[i]);
		uint64_t lost = count_lost(losses, view->site[i]);

		json_add_u64(site, "kmemleak_objects", lost);
		json_add_text(site, "answer", answer(view->site[i], lost));
		json_object_array_add(list, site);
	}
	json_add(json, "sites", list);
	json_print(json, stdout);
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct view view = {};
	uint64_t seconds = MIN_AGE_S;
	bool old = false;
	const struct opt opts[] = {
		OPT_BOOL("no-scan", 'S', &old, "take what kmemleak has found already"),
		OPT_CALL("wait", 'w', "SEC", &seconds, set_u64, "between its two scans, 6 by default"),
		OPT_TEXT("debugfs", 0, "DIR", &view.where.debugfs, "read this copy of " DEBUGFS),
		OPT_FILTER(&view.filter),
		OPT_BOOL("json", 'j', &view.json, "print JSON"),
		OPT_END
	};
	struct losses losses = {};
	struct err err;
	size_t i;
	int ret;

	ret = opts_only(cmd, opts, argc, argv);
	if (ret)
		return ret - 1;
	if (seconds > 3600)
		return usage_error(cmd, "--wait is an hour at most");
	/* Scanning takes time, in which stacks may go: ask first. */
	if (view_load(&view, READ_SITES | READ_SUSPECTS, snapshot_suspect))
		return EXIT_ERROR;
	ret = EXIT_FINE;
	if (!view.nr) {
		puts("there are no suspects to confirm");
	} else if (ask(&view, seconds, old, &losses, &err)) {
		ret = fail(&err);
	} else if (view.json) {
		show_json(&view, &losses);
	} else {
		for (i = 0; i < view.nr; i++)
			show(view.site[i], count_lost(&losses, view.site[i]));
		view_rest(&view);
	}
	losses_free(&losses);
	view_free(&view);
	return ret;
}

static const struct command confirm = {
	.name	 = "confirm",
	.summary = "ask kmemleak whether the objects of suspects are lost",
	.usage	 = "[options]",
	.text	 = "Has kmemleak scan all memory twice, and says of each suspect how many of its\n"
		   "objects nothing points to. That none is found does not acquit it: an object in\n"
		   "a list that nobody shortens is reachable. Takes a kernel with kmemleak, root,\n"
		   "and some time.",
	.order	 = 9,
	.run	 = run,
};
LEAKTREND_COMMAND(confirm);
