// SPDX-License-Identifier: GPL-2.0
/*
 * Parsers: what they make of good text, and what they say of bad text.
 */
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "tap.h"

#define HEADER "# leaktrend-sites-v2 site kind class stack_id cache verdict outstanding bytes " \
	       "allocs frees low elders generations oldest_ms growth_bytes_h error_permille"

#define TITLE "site #7, stack_id=0x1f, outstanding=12, bytes=768\n"

/* Text that is longer than its literal says has a NUL in it. */
struct bad {
	const char *what;
	const char *text;
	size_t len;
	const char *says;
};

#define BAD(what, text, says) { what, text, sizeof(text) - 1, says }

typedef int (*parser)(const struct input *in, struct snapshot *snap, struct err *err);

static void bad_ones(const char *name, parser parse, const struct bad *bad, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		struct snapshot snap = {};
		struct err err = {};
		/* No NUL behind it, so that valgrind sees a parser that reads on. */
		char *text = malloc(bad[i].len ? bad[i].len : 1);
		int ret;

		memcpy(text, bad[i].text, bad[i].len);
		ret = parse(&(struct input){ "F", text, bad[i].len }, &snap, &err);
		if (ret != -1 || !strstr(err.text, bad[i].says))
			printf("# said: %d \"%s\"\n", ret, err.text);
		tap(ret == -1 && strstr(err.text, bad[i].says), "%s: %s", name, bad[i].what);
		snapshot_free(&snap);
		free(text);
	}
}

static int parse(parser parse, const char *text, struct snapshot *snap)
{
	struct err err = {};
	int ret = parse(&(struct input){ "F", text, strlen(text) }, snap, &err);

	if (ret)
		printf("# %s\n", err.text);
	return ret;
}

static void test_status(void)
{
	static const struct bad bad[] = {
		BAD("empty", "", "no line \"state\""),
		BAD("foreign", "hello\n", "F:1: "),
		BAD("no state", "a: b\n", "no line \"state\""),
		BAD("NUL", "state: on\nroun\0ds: 3\n", "F:2: "),
	};
	struct snapshot snap = {};
	uint64_t v;

	tap(!parse(parse_status, "state: on\nrounds: 5\nnew_thing: x y\nsuspects: 3", &snap) &&
	    snap.rounds == 5 && !strcmp(pairs_get(&snap.status, "new_thing"), "x y") &&
	    pairs_u64(&snap.status, "suspects", &v) && v == 3 &&
	    !pairs_u64(&snap.status, "new_thing", &v), "status: lines and numbers");
	snapshot_free(&snap);
	bad_ones("status", parse_status, bad, ARRAY_SIZE(bad));
}

static void test_sites(void)
{
	static const struct bad bad[] = {
		BAD("empty", "", "F: the file is empty"),
		BAD("foreign", "a b c\n", "F:1: this is no header"),
		BAD("another version", "# leaktrend-sites-v3 site\n", "of version 3"),
		BAD("a column is missing", "# leaktrend-sites-v2 site kind\n", "no column \"class\""),
		BAD("a column twice", "# leaktrend-sites-v2 site site\n", "named twice"),
		BAD("too few", HEADER "\n1 slab kernel 0x1\n", "F:2: the line has too few"),
		BAD("too many", HEADER "\n1 slab kernel 0x1 c NONE 1 1 1 1 1 1 1 1 1 1 1\n",
		    "F:2: the line has too many"),
		BAD("no number", HEADER "\n1 slab kernel 0x1 c NONE x 1 1 1 1 1 1 1 1 1\n",
		    "F:2: bad value of column \"outstanding\""),
		BAD("negative", HEADER "\n1 slab kernel 0x1 c NONE -1 1 1 1 1 1 1 1 1 1\n",
		    "\"outstanding\""),
		BAD("greater than 64 bits",
		    HEADER "\n1 slab kernel 0x1 c NONE 18446744073709551616 1 1 1 1 1 1 1 1 1\n",
		    "\"outstanding\""),
		BAD("growth greater than 64 bits",
		    HEADER "\n1 slab kernel 0x1 c NONE 1 1 1 1 1 1 1 1 9223372036854775808 1\n",
		    "\"growth_bytes_h\""),
		BAD("cut off in a line", HEADER "\n1 slab kernel 0x1 c NONE 1 1 1",
		    "cut off here"),
		BAD("cut off in a number", HEADER "\n1 slab kernel 0x1 c NONE 1 1 1 1 1 1 1 1 1 1",
		    "does not end"),
		BAD("NUL", HEADER "\n1 slab kernel 0x1 c NONE 1 1 1 1 1 1 \0 1 1 1\n",
		    "bad value"),
	};
	struct snapshot snap = {};

	tap(!parse(parse_sites, HEADER "\n"
		   "3 slab reclaimable 0x1f a_b LIKELY_LEAK 1 2 3 4 5 6 7 8 -9 10\n"
		   "1 page user 16 - NONE 0 0 0 0 0 0 0 0 -9223372036854775808 0\n", &snap) &&
	    snap.nr == 2 && snap.site[0].number == 1 && !snap.site[0].cache &&
	    snap.site[0].growth == INT64_MIN && snap.site[0].kind == KIND_PAGE &&
	    snap.site[0].stack_id == 16 && snap.site[1].class == CLASS_RECLAIMABLE &&
	    snap.site[1].verdict == VERDICT_LIKELY_LEAK && snap.site[1].stack_id == 0x1f &&
	    !strcmp(snap.site[1].cache, "a_b") && snap.site[1].outstanding == 1 &&
	    snap.site[1].bytes == 2 && snap.site[1].allocs == 3 && snap.site[1].frees == 4 &&
	    snap.site[1].low == 5 && snap.site[1].elders == 6 && snap.site[1].survivors == 7 &&
	    snap.site[1].oldest_ms == 8 && snap.site[1].growth == -9 &&
	    snap.site[1].error_permille == 10, "sites: all columns, in the order of numbers");
	snapshot_free(&snap);

	tap(!parse(parse_sites, "# leaktrend-sites-v2 new error_permille growth_bytes_h oldest_ms "
		   "generations elders low frees allocs bytes outstanding verdict cache stack_id "
		   "class kind site\n? 10 9 8 7 6 5 4 3 2 1 SPLENDID c 0x1 purple sheaf 0\n"
		   "# cleared while this was read\n", &snap) &&
	    snap.nr == 1 && snap.site[0].outstanding == 1 && snap.site[0].error_permille == 10 &&
	    snap.site[0].verdict == VERDICT_OTHER && snap.site[0].class == CLASS_OTHER &&
	    snap.site[0].kind == KIND_OTHER && snap.torn,
	    "sites: columns by name, new ones and new words left alone, a clear seen");
	snapshot_free(&snap);
	bad_ones("sites", parse_sites, bad, ARRAY_SIZE(bad));
}

static void test_blocks(void)
{
	static const struct bad bad[] = {
		BAD("foreign", "hello\n", "F:1: this is no first line"),
		BAD("no title", "site #x, stack_id=0x1, outstanding=1, bytes=1\n", "F:1: "),
		BAD("cut off in the title", "site #7, stack_id=0x1f, outs", "cut off here"),
		BAD("cut off in a block", TITLE "frees   : 3\n", "ends within a block"),
		BAD("cut off in a stack", TITLE "stack trace:\n f+0x1/0x2\n", "within a block"),
		BAD("trend without end", TITLE "trend   : [1, 2\n\n", "F:2: "),
		BAD("trend with a word", TITLE "trend   : [1, x]\n\n", "F:2: "),
		BAD("growth without interval", TITLE "growth  : +5 bytes/h\n\n", "F:2: "),
		BAD("tau beyond 1", TITLE
		    "growth  : +5 bytes/h (+1 .. +9), tau=1.01 (4 rounds)\n\n", "F:2: "),
		BAD("age of nothing", TITLE "oldest  : s\n\n", "F:2: "),
		BAD("no key", TITLE "frees 3\n\n", "F:2: "),
	};
	static const char good[] =
		TITLE "frees   : 3\ntrend   : [10, 11, 12]\nstatus  : GROWING\nkind    : slab\n"
		"class   : kernel\ncache   : a b and others\nallocs  : 15\n"
		"changed : 1.250 s ago\nheld    : no growth; size\nmissing : age (1 of 2)\n"
		"oldest  : 61.5 s\nsurvive : 4 of 8 generations\nelders  : 9\n"
		"growth  : -5 bytes/h (-9 .. +1), tau=-0.07 (31 rounds)\nerror   : +-5.6 %\n"
		"new     : what is this\n"
		"stack trace:\n f+0x1/0x2 [drv]\n g.isra.0+0x3/0x4\n\n";
	struct snapshot snap = {};
	const struct evidence *e;
	const struct site *s;

	tap(!parse(parse_blocks, good, &snap) && snap.nr == 1, "blocks: one without sites");
	s = snap.site;
	e = s->evidence;
	tap(s->number == 7 && s->stack_id == 0x1f && s->outstanding == 12 && s->bytes == 768 &&
	    s->frees == 3 && s->allocs == 15 && s->verdict == VERDICT_GROWING &&
	    s->oldest_ms == 61500 && s->survivors == 4 && s->elders == 9 && s->growth == -5 &&
	    s->error_permille == 56 && !strcmp(s->cache, "a b"), "blocks: figures");
	tap(e && e->changed && e->changed_ms == 1250 && e->mixed && e->generations == 8 &&
	    !strcmp(e->held, "no growth; size") && !strcmp(e->missing, "age (1 of 2)") &&
	    e->growth_low == -9 && e->growth_high == 1 && e->tau == -7 && e->rounds == 31,
	    "blocks: evidence");
	tap(s->trend && s->trend->nr == 3 && s->trend->value[2] == 12, "blocks: trend");
	tap(s->stack && s->stack->nr == 2 && !strcmp(s->stack->line[0], "f+0x1/0x2 [drv]"),
	    "blocks: stack");
	snapshot_free(&snap);

	tap(!parse(parse_sites, HEADER "\n7 slab kernel 0x1f a_b NONE 99 98 97 0 95 94 1 2 3 4\n"
		   "8 slab kernel 0x1f a_b NONE 1 1 1 1 1 1 1 1 1 1\n", &snap) &&
	    !parse(parse_blocks, good, &snap) && snap.nr == 2 && snap.site[0].outstanding == 99 &&
	    snap.site[0].low == 95 && snap.site[0].stack && !snap.site[1].stack,
	    "blocks: evidence joins the site with the number, figures stay");
	tap(!parse(parse_blocks, "site #9, stack_id=0x1f, outstanding=1, bytes=1\n\n", &snap) &&
	    snap.nr == 2, "blocks: a site that is newer than sites is left out");
	snapshot_free(&snap);
	tap(!parse(parse_blocks, "# no suspects after 3 rounds (sites: 5, state: on)\n", &snap) &&
	    !snap.nr && !snap.torn, "blocks: none");
	tap(!parse(parse_blocks, "# cleared while this was read\n", &snap) && snap.torn,
	    "blocks: a clear is seen");
	snapshot_free(&snap);
	bad_ones("blocks", parse_blocks, bad, ARRAY_SIZE(bad));
}

static void test_page_owner(void)
{
	static const struct bad bad[] = {
		BAD("foreign", "hello\n", "F:1: this is no stack"),
		BAD("cut off after the stack", " f+0x1/0x2\n", "without handle"),
		BAD("bad trend", " f+0x1/0x2\nhandle: 31\ntrend: 5\n", "F:3: "),
	};
	struct snapshot snap = {};

	tap(!parse(parse_sites, HEADER "\n7 page user 0x1f - NONE 99 98 97 0 95 94 1 2 3 4\n"
		   "8 slab kernel 0x1f a_b NONE 1 1 1 1 1 1 1 1 1 1\n", &snap) &&
	    !parse(parse_page_owner, " f+0x1/0x2\nhandle: 31\nnr_base_pages: 12\nclass: user\n"
		   "status: NONE\ntrend: [1, 2]\nlow: 3\n\n g+0x1/0x2\nhandle: 32\n\n", &snap) &&
	    snap.nr == 2 && snap.site[0].stack && snap.site[0].trend->nr == 2 &&
	    snap.site[0].outstanding == 99 && !snap.site[1].stack,
	    "show_trends: stacks of page sites by their handles");
	snapshot_free(&snap);
	bad_ones("show_trends", parse_page_owner, bad, ARRAY_SIZE(bad));
}

static void test_ignore(void)
{
	static const char good[] = "0x1c  1 sites\nf  3 sites\n";
	static const char * const bad[] = { "f\n", "f x sites\n", "f 3 trees\n", " \n" };
	struct ignored *list;
	struct err err = {};
	size_t nr, i;
	int ret;

	ret = parse_ignore(&(struct input){ "F", good, strlen(good) }, &list, &nr, &err);
	tap(!ret && nr == 2 && !strcmp(list[1].name, "f") && list[1].sites == 3, "ignore: entries");
	ignored_free(list, nr);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ret = parse_ignore(&(struct input){ "F", bad[i], strlen(bad[i]) }, &list, &nr, &err);
		tap(ret && strstr(err.text, "F:1: "), "ignore: bad entry %zu", i);
	}
}

static void test_stack(void)
{
	static const struct {
		const char *frame;
		const char *name;
		const char *module;
	} frames[] = {
		{ "f+0x1/0x2", "f", "" },
		{ "f+0x1/0x2 [drv]", "f", "drv" },
		{ "f.isra.0+0x1/0x2 [drv 0a1b]", "f", "drv" },
		{ "f.constprop.0.cold+0x1/0x2", "f", "" },
		{ "f.b+0x1/0x2", "f.b", "" },
		{ "0xffffffffc0012345", "?", "" },
		{ "(unknown: module unloaded)", "(unknown)", "" },
		{ "f", "f", "" },
	};
	static const char text[] = " get_page_from_freelist+0x1/0x2\n"
				   " alloc_pages_noprof+0x1/0x2\n drv_open+0x1/0x2 [drv]\n";
	struct stack *stack;
	const char *s;
	char *path;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(frames); i++) {
		size_t len = frame_name(frames[i].frame, &s);
		bool good = len == strlen(frames[i].name) && !memcmp(s, frames[i].name, len);

		len = frame_module(frames[i].frame, &s);
		tap(good && len == strlen(frames[i].module) && !memcmp(s, frames[i].module, len),
		    "frame: %s", frames[i].frame);
	}
	stack = stack_parse(text, strlen(text));
	path = stack_path(stack);
	tap(!strncmp(stack_culprit(stack), "drv_open+", 9), "stack: the culprit is no helper");
	tap(!strcmp(path, "get_page_from_freelist;alloc_pages_noprof;drv_open"), "stack: its path");
	free(path);
	stack_put(stack);
	stack = stack_parse(text, 31);
	tap(stack_culprit(stack) == stack->line[0], "stack: of helpers alone it is the first");
	stack_put(stack);
}

int main(void)
{
	test_status();
	test_sites();
	test_blocks();
	test_page_owner();
	test_ignore();
	test_stack();
	return tap_failed;
}
