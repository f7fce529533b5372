// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: the recorded file: snapshots of payloads.
 */
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "log_code.h"

void get_pairs(struct dec *in, struct pairs *pairs)
{
	size_t nr, i;

	if (!get_u(in))
		return;
	pairs_free(pairs);
	nr = get_count(in);
	if (nr > 512)
		in->bad = true;
	for (i = 0; i < nr && !in->bad; i++) {
		char *key = get_text(in), *value = get_text(in);

		pairs_set(pairs, key, value);
		free(key);
		free(value);
	}
}

void get_stacks(struct dec *in, struct stacks *known)
{
	size_t nr = get_count(in), i;

	for (i = 0; i < nr && !in->bad; i++) {
		uint64_t kind = get_u(in), id = get_u(in);
		char *text = get_text(in);

		if (kind >= NR_KINDS)
			in->bad = true;
		if (!in->bad)
			stacks_add(known, kind, id, stack_parse(text, strlen(text)));
		free(text);
	}
}

static void drop_gone(struct dec *in, struct snapshot *snap)
{
	size_t nr = get_count(in), at = 0, kept = 0, i = 0, j;

	if (nr > snap->nr)
		in->bad = true;
	for (j = 0; j < nr && !in->bad; j++) {
		uint64_t gap = get_u(in);

		if ((j && !gap) || gap >= snap->nr - at) {
			in->bad = true;
			break;
		}
		at += gap;
		while (i < at)
			snap->site[kept++] = snap->site[i++];
		site_free(&snap->site[i++]);
	}
	while (i < snap->nr)
		snap->site[kept++] = snap->site[i++];
	snap->nr = kept;
}

static void add_new(struct dec *in, struct snapshot *snap)
{
	size_t kept = snap->nr, nr = get_count(in), i;
	uint64_t number = kept ? snap->site[kept - 1].number : 0;

	for (i = 0; i < nr; i++) {
		uint64_t gap = get_u(in), kind = get_u(in), id = get_u(in);
		struct site *site;

		number += gap;
		if (gap > UINT32_MAX || number > UINT32_MAX || kind >= NR_KINDS ||
		    (!gap && (i || kept)))
			in->bad = true;
		if (in->bad)
			break;
		site = snapshot_add(snap);
		site->number = number;
		site->kind = kind;
		site->stack_id = id;
	}
}

static void get_columns(struct dec *in, struct snapshot *snap, uint64_t step)
{
	struct site *was = xcalloc(snap->nr, sizeof(*was));
	enum column column;
	size_t i;

	memcpy(was, snap->site ? snap->site : was, snap->nr * sizeof(*was));
	for (column = 0; column < NR_COLUMNS && !in->bad; column++)
		for (i = 0; i < snap->nr && !in->bad; i++)
			if (!column_set(&snap->site[i], column,
					(uint64_t)get_s(in) +
					column_expect(&was[i], &snap->site[i], column, step)))
				in->bad = true;
	free(was);
}

/* The site that is a gap further on, of a list of them. */
static struct site *get_index(struct dec *in, struct snapshot *snap, size_t *at, bool first)
{
	uint64_t gap = get_u(in);

	if ((!first && !gap) || *at >= snap->nr || gap >= snap->nr - *at)
		in->bad = true;
	if (in->bad)
		return NULL;
	*at += gap;
	return &snap->site[*at];
}

static void get_caches(struct dec *in, struct snapshot *snap)
{
	size_t nr = get_count(in), at = 0, i;

	for (i = 0; i < nr && !in->bad; i++) {
		struct site *site = get_index(in, snap, &at, !i);
		char *name = get_text(in);

		if (in->bad || !*name) {
			free(name);
			name = NULL;
		}
		if (site) {
			free(site->cache);
			site->cache = name;
		} else {
			free(name);
		}
	}
}

static void get_evidence(struct dec *in, struct snapshot *snap)
{
	size_t nr = get_count(in), at = 0, i;

	for (i = 0; i < nr && !in->bad; i++) {
		struct site *site = get_index(in, snap, &at, !i);
		struct evidence *e;
		uint64_t flags;

		if (!site)
			return;
		e = site_evidence(site);
		flags = get_u(in);
		e->changed = flags & 1;
		e->mixed = flags & 2;
		e->changed_ms = get_u(in);
		e->generations = get_u32(in);
		e->growth_low = get_s(in);
		e->growth_high = get_s(in);
		e->tau = (int32_t)get_s(in);
		e->rounds = get_u32(in);
		free(e->held);
		e->held = get_text(in);
		free(e->missing);
		e->missing = get_text(in);
	}
}

int decode(const unsigned char *payload, size_t len, struct snapshot *snap,
	   struct stacks *known)
{
	struct dec in = { payload, payload + len, false };
	int64_t step;
	size_t i;

	get_stacks(&in, known);
	snap->time_ms += (uint64_t)get_s(&in);
	snap->rounds += (uint32_t)get_s(&in);
	snap->clears += (uint32_t)get_s(&in);
	snap->torn = get_u(&in);
	step = get_s(&in);
	get_pairs(&in, &snap->status);
	get_pairs(&in, &snap->tunables);
	get_pairs(&in, &snap->vm);
	/* That belonged to the round before only. */
	for (i = 0; i < snap->nr; i++)
		site_drop_evidence(&snap->site[i]);
	drop_gone(&in, snap);
	add_new(&in, snap);
	get_columns(&in, snap, step);
	get_caches(&in, snap);
	get_evidence(&in, snap);
	if (in.p != in.end)
		in.bad = true;
	for (i = 0; i < snap->nr; i++)
		if (!snap->site[i].stack)
			snap->site[i].stack = stack_get(stacks_find(known, snap->site[i].kind,
								    snap->site[i].stack_id));
	return in.bad ? -1 : 0;
}

int log_decode(const unsigned char *payload, size_t len, struct snapshot *snap, struct err *err)
{
	struct stacks known = {};
	int ret = decode(payload, len, snap, &known);

	stacks_free(&known);
	return ret ? err_set(err, "this is no payload of a frame") : 0;
}
