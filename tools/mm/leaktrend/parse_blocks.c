// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: parsers of the blocks of `suspects`, `trends` and page_owner.
 */
#include <stdlib.h>
#include <string.h>

#include "words.h"

static bool parse_trend(const struct word *w, struct site *site)
{
	struct trend *trend = site_trend(site);
	struct word rest = *w, number;
	uint64_t v;

	trend->nr = 0;
	if (rest.len < 2 || rest.p[0] != '[' || rest.p[rest.len - 1] != ']')
		return false;
	rest = (struct word){ rest.p + 1, rest.len - 2 };
	while (rest.len) {
		if (!until(&rest, ", ", &number)) {
			number = rest;
			rest.len = 0;
		}
		if (!word_u64(&number, &v))
			return false;
		trend_add(trend, v);
	}
	return true;
}

/* "+42 bytes/h (+41 .. +43), tau=1.00 (31 rounds)" */
static bool parse_growth(const struct word *w, struct site *site)
{
	struct evidence *e = site_evidence(site);
	struct word rest = *w, part;
	int64_t tau;

	if (!until(&rest, " bytes/h (", &part) || !parse_s64(part.p, part.len, &site->growth))
		return false;
	if (!until(&rest, " .. ", &part) || !parse_s64(part.p, part.len, &e->growth_low))
		return false;
	if (!until(&rest, "), tau=", &part) || !parse_s64(part.p, part.len, &e->growth_high))
		return false;
	if (!until(&rest, " (", &part) || !word_fixed(&part, 2, &tau) || tau < -100 || tau > 100)
		return false;
	e->tau = tau;
	return until(&rest, " rounds)", &part) && word_u32(&part, &e->rounds);
}

/* "8 of 8 generations" */
static bool parse_survive(const struct word *w, struct site *site)
{
	struct word rest = *w, part;

	return until(&rest, " of ", &part) && word_u32(&part, &site->survivors) &&
	       until(&rest, " generations", &part) &&
	       word_u32(&part, &site_evidence(site)->generations);
}

/* "+-5.6 %" */
static bool parse_error(const struct word *w, struct site *site)
{
	struct word rest = *w, part;
	int64_t v;

	if (!begins(w, "+-"))
		return false;
	rest = after(w, 2);
	if (!until(&rest, " %", &part) || !word_fixed(&part, 1, &v) || v < 0 || v > UINT32_MAX)
		return false;
	site->error_permille = v;
	return true;
}

static void parse_cache(const struct word *w, struct site *site)
{
	static const char others[] = " and others";
	struct word name = *w;
	size_t n = strlen(others);

	if (name.len > n && !memcmp(name.p + name.len - n, others, n)) {
		site_evidence(site)->mixed = true;
		name.len -= n;
	}
	free(site->cache);
	site->cache = word_str(&name);
}

/* A line of evidence, of either form of block. Lines that are not known are left alone. */
static bool parse_field(const struct word *key, const struct word *value, struct site *site)
{
	struct evidence *e = site_evidence(site);

	if (is_word(key, "trend"))
		return parse_trend(value, site);
	if (is_word(key, "growth"))
		return parse_growth(value, site);
	if (is_word(key, "survive"))
		return parse_survive(value, site);
	if (is_word(key, "error"))
		return parse_error(value, site);
	if (is_word(key, "oldest"))
		return word_seconds(value, &site->oldest_ms);
	if (is_word(key, "elders"))
		return word_u64(value, &site->elders);
	if (is_word(key, "low"))
		return word_u64(value, &site->low);
	if (is_word(key, "frees"))
		return word_u64(value, &site->frees);
	if (is_word(key, "allocs"))
		return word_u64(value, &site->allocs);
	if (is_word(key, "nr_base_pages"))
		return word_u64(value, &site->outstanding);
	if (is_word(key, "handle"))
		return word_u64(value, &site->stack_id);
	if (is_word(key, "changed")) {
		e->changed = word_seconds(value, &e->changed_ms);
		return e->changed;
	}
	if (is_word(key, "status"))
		site->verdict = word_verdict(value);
	else if (is_word(key, "kind"))
		site->kind = word_kind(value);
	else if (is_word(key, "class"))
		site->class = word_class(value);
	else if (is_word(key, "cache"))
		parse_cache(value, site);
	if (is_word(key, "held")) {
		free(e->held);
		e->held = word_str(value);
	} else if (is_word(key, "missing")) {
		free(e->missing);
		e->missing = word_str(value);
	}
	return true;
}

static int parse_key_line(struct reader *r, struct site *site)
{
	struct word rest = r->line, key;

	if (!until(&rest, ":", &key))
		return wrong(r, "this is no line \"key: value\" of a block");
	while (key.len && key.p[key.len - 1] == ' ')
		key.len--;
	while (rest.len && *rest.p == ' ')
		rest = after(&rest, 1);
	if (!parse_field(&key, &rest, site))
		return wrong(r, "this value cannot be understood");
	return 0;
}

/* Frames begin with a blank. Ends at the first line that does not. */
static struct stack *parse_frames(struct reader *r)
{
	const char *begin = r->next;

	while (r->next < r->end && *r->next == ' ')
		reader_line(r);
	return stack_parse(begin, r->next - begin);
}

static void keep_evidence(struct site *to, struct site *from)
{
	/* One block after another can be about the same site: the last one has it. */
	if (from->evidence) {
		struct evidence *old = to->evidence;

		to->evidence = from->evidence;
		from->evidence = old;
	}
	if (from->trend) {
		struct trend *old = to->trend;

		to->trend = from->trend;
		from->trend = old;
	}
	if (from->stack && from->stack->nr && !to->stack) {
		to->stack = from->stack;
		from->stack = NULL;
	}
}

/* "site #12, stack_id=0x1f3c8, outstanding=12480, bytes=3120000" */
static bool parse_title(const struct word *line, struct site *site)
{
	struct word rest = *line, part;

	return until(&rest, "site #", &part) && !part.len &&
	       until(&rest, ", stack_id=", &part) && word_u32(&part, &site->number) &&
	       until(&rest, ", outstanding=", &part) && word_u64(&part, &site->stack_id) &&
	       until(&rest, ", bytes=", &part) && word_u64(&part, &site->outstanding) &&
	       word_u64(&rest, &site->bytes);
}

static int parse_block(struct reader *r, struct site *site)
{
	if (!parse_title(&r->line, site))
		return wrong(r, "this is no first line of a block");
	while (reader_line(r)) {
		if (!r->line.len)
			return 0;
		if (is_word(&r->line, "stack trace:")) {
			/* If there are two the last one has it. */
			stack_put(site->stack);
			site->stack = parse_frames(r);
			continue;
		}
		if (parse_key_line(r, site))
			return -1;
	}
	return err_set(r->err, "%s:%u: the file ends within a block", r->name, r->number);
}

int parse_blocks(const struct input *in, struct snapshot *snap, struct err *err)
{
	/* Found by number, so what is added here comes behind until the end. */
	struct snapshot more = {};
	bool join = snap->nr;
	struct reader r;
	size_t i;
	int ret = 0;

	reader_init(&r, in, err);
	while (!ret && reader_line(&r)) {
		struct site site = {}, *known;

		if (!r.line.len)
			continue;
		if (begins(&r.line, "#")) {
			snap->torn = snap->torn || begins(&r.line, "# cleared");
			continue;
		}
		ret = parse_block(&r, &site);
		if (ret) {
			site_free(&site);
			break;
		}
		known = snapshot_find(snap, site.number, site.stack_id);
		if (known)
			keep_evidence(known, &site);
		if (known || join)
			site_free(&site);
		else
			*snapshot_add(&more) = site;
	}
	for (i = 0; i < more.nr; i++)
		*snapshot_add(snap) = more.site[i];
	free(more.site);
	snapshot_sort(snap);
	return ret;
}

int parse_page_owner(const struct input *in, struct snapshot *snap, struct err *err)
{
	struct reader r;
	int ret = 0;

	reader_init(&r, in, err);
	while (!ret && r.next < r.end) {
		struct site site = { .kind = KIND_PAGE }, *known;
		bool any = false;

		if (*r.next != ' ') {
			reader_line(&r);
			if (!r.line.len || begins(&r.line, "#"))
				continue;
			ret = wrong(&r, "this is no stack");
			break;
		}
		site.stack = parse_frames(&r);
		while (!ret && reader_line(&r) && r.line.len) {
			ret = parse_key_line(&r, &site);
			any = true;
		}
		if (!ret && !any)
			ret = wrong(&r, "a stack without handle");
		known = ret ? NULL : snapshot_find_stack(snap, KIND_PAGE, site.stack_id);
		if (known && !known->evidence)
			keep_evidence(known, &site);
		site_free(&site);
	}
	return ret;
}
