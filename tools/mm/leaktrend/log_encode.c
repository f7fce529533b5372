// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: the recorded file: payloads of snapshots.
 */
#include <stdlib.h>
#include <string.h>

#include "log_code.h"

void put_pairs(struct buf *out, const struct pairs *now, const struct pairs *was)
{
	size_t i;

	put_u(out, !pairs_same(now, was));
	if (pairs_same(now, was))
		return;
	put_u(out, now->nr);
	for (i = 0; i < now->nr; i++) {
		put_text(out, now->pair[i].key);
		put_text(out, now->pair[i].value);
	}
}

static void put_stacks(struct buf *out, const struct snapshot *now, struct stacks *known)
{
	struct buf list = {}, text = {};
	size_t i, nr = 0;
	unsigned int j;

	for (i = 0; i < now->nr; i++) {
		const struct site *site = &now->site[i];

		if (!site->stack || !site->stack->nr ||
		    stacks_find(known, site->kind, site->stack_id))
			continue;
		buf_clear(&text);
		for (j = 0; j < site->stack->nr; j++)
			buf_printf(&text, "%s\n", site->stack->line[j]);
		put_u(&list, site->kind);
		put_u(&list, site->stack_id);
		put_text(&list, text.data);
		stacks_add(known, site->kind, site->stack_id, stack_get(site->stack));
		nr++;
	}
	put_u(out, nr);
	buf_add(out, list.data, list.len);
	buf_free(&list);
	buf_free(&text);
}

static int cmp_s64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* By how much most sites have become older. */
static int64_t usual_step(const struct site *const *was, const struct snapshot *now)
{
	int64_t *steps = xcalloc(now->nr, sizeof(*steps)), step = 0;
	size_t i, nr = 0;

	for (i = 0; i < now->nr; i++)
		if (was[i] && was[i]->oldest_ms && now->site[i].oldest_ms)
			steps[nr++] = (int64_t)(now->site[i].oldest_ms - was[i]->oldest_ms);
	if (nr) {
		qsort(steps, nr, sizeof(*steps), cmp_s64);
		step = steps[nr / 2];
	}
	free(steps);
	return step;
}

static void put_evidence(struct buf *out, const struct snapshot *now)
{
	size_t i, last = 0, nr = 0;

	for (i = 0; i < now->nr; i++)
		nr += !!now->site[i].evidence;
	put_u(out, nr);
	for (i = 0; i < now->nr; i++) {
		const struct evidence *e = now->site[i].evidence;

		if (!e)
			continue;
		put_u(out, i - last);
		last = i;
		put_u(out, e->changed | e->mixed << 1);
		put_u(out, e->changed_ms);
		put_u(out, e->generations);
		put_s(out, e->growth_low);
		put_s(out, e->growth_high);
		put_s(out, e->tau);
		put_u(out, e->rounds);
		put_text(out, e->held);
		put_text(out, e->missing);
	}
}

static bool same_cache(const struct site *a, const struct site *b)
{
	if (!a->cache || !b->cache)
		return !a->cache && !b->cache;
	return !strcmp(a->cache, b->cache);
}

static void put_caches(struct buf *out, const struct site *const *was, const struct snapshot *now)
{
	static const struct site nothing;
	size_t i, last = 0, nr = 0;
	struct buf list = {};

	for (i = 0; i < now->nr; i++) {
		const struct site *site = &now->site[i];

		if (same_cache(was[i] ? was[i] : &nothing, site))
			continue;
		put_u(&list, i - last);
		last = i;
		put_text(&list, site->cache ? site->cache : "");
		nr++;
	}
	put_u(out, nr);
	buf_add(out, list.data, list.len);
	buf_free(&list);
}

/*
 * encode() - @now as a difference from @prev, whose numbers are all less than
 * those of sites that are new.
 */
void encode(struct buf *out, const struct snapshot *prev, const struct snapshot *now,
	    struct stacks *known)
{
	static const struct site nothing;
	const struct site **was = xcalloc(now->nr, sizeof(*was));
	size_t i, j = 0, last = 0, kept = 0, gone = 0;
	struct buf list = {};
	enum column column;
	uint32_t number;
	int64_t step;

	/* Both are in the order of their numbers. */
	for (i = 0; i < prev->nr; i++) {
		if (j < now->nr && now->site[j].number == prev->site[i].number) {
			was[j++] = &prev->site[i];
			kept++;
			continue;
		}
		put_u(&list, i - last);
		last = i;
		gone++;
	}
	step = usual_step(was, now);

	put_stacks(out, now, known);
	put_s(out, (int64_t)(now->time_ms - prev->time_ms));
	put_s(out, (int64_t)now->rounds - prev->rounds);
	put_s(out, (int64_t)now->clears - prev->clears);
	put_u(out, now->torn);
	put_s(out, step);
	put_pairs(out, &now->status, &prev->status);
	put_pairs(out, &now->tunables, &prev->tunables);
	put_pairs(out, &now->vm, &prev->vm);

	put_u(out, gone);
	buf_add(out, list.data, list.len);
	put_u(out, now->nr - kept);
	number = kept ? now->site[kept - 1].number : 0;
	for (i = kept; i < now->nr; i++) {
		put_u(out, now->site[i].number - number);
		number = now->site[i].number;
		put_u(out, now->site[i].kind);
		put_u(out, now->site[i].stack_id);
	}
	for (column = 0; column < NR_COLUMNS; column++)
		for (i = 0; i < now->nr; i++)
			put_s(out, (int64_t)(column_get(&now->site[i], column) -
					     column_expect(was[i] ? was[i] : &nothing,
							   &now->site[i], column, step)));
	put_caches(out, was, now);
	put_evidence(out, now);
	buf_free(&list);
	free(was);
}
