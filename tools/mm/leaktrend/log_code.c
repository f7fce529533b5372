// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: the recorded file: numbers, stacks and columns of payloads.
 */
#include <stdlib.h>
#include <string.h>

#include "log_code.h"

/* Numbers */

void put_u(struct buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_add_byte(out, v | 0x80);
	buf_add_byte(out, v);
}

void put_s(struct buf *out, int64_t v)
{
	put_u(out, ((uint64_t)v << 1) ^ -(uint64_t)(v < 0));
}

void put_text(struct buf *out, const char *text)
{
	put_u(out, strlen(text));
	buf_add(out, text, strlen(text));
}

uint64_t get_u(struct dec *in)
{
	unsigned int shift = 0;
	uint64_t v = 0;

	while (!in->bad) {
		unsigned char c;

		if (in->p == in->end || shift > 63) {
			in->bad = true;
			break;
		}
		c = *in->p++;
		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return v;
		shift += 7;
	}
	return 0;
}

int64_t get_s(struct dec *in)
{
	uint64_t v = get_u(in);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

uint32_t get_u32(struct dec *in)
{
	uint64_t v = get_u(in);

	if (v > UINT32_MAX)
		in->bad = true;
	return in->bad ? 0 : v;
}

/* A number of things of which each takes a byte at least. */
size_t get_count(struct dec *in)
{
	uint64_t v = get_u(in);

	if (v > (uint64_t)(in->end - in->p))
		in->bad = true;
	return in->bad ? 0 : v;
}

/* To be freed. Without NULs, whatever is there. */
char *get_text(struct dec *in)
{
	size_t len = get_count(in);
	char *text = xstrndup((const char *)in->p, len);

	if (!in->bad)
		in->p += len;
	return text;
}

/* Stacks that the file has, by kind and handle */

static struct slot *stacks_slot(const struct stacks *stacks, enum kind kind, uint64_t id)
{
	size_t i = (id * 0x9e3779b97f4a7c15ULL >> 20) + kind;

	for (;; i++) {
		struct slot *slot = &stacks->slot[i & (stacks->room - 1)];

		if (!slot->stack || (slot->kind == kind && slot->id == id))
			return slot;
	}
}

struct stack *stacks_find(const struct stacks *stacks, enum kind kind, uint64_t id)
{
	return stacks->room ? stacks_slot(stacks, kind, id)->stack : NULL;
}

/* Takes over the reference. The first text of a stack stays: later a module may be gone. */
void stacks_add(struct stacks *stacks, enum kind kind, uint64_t id, struct stack *stack)
{
	struct stacks old = *stacks;
	struct slot *slot;
	size_t i;

	if (stacks->nr >= stacks->room / 2) {
		stacks->room = old.room ? 2 * old.room : 256;
		stacks->slot = xcalloc(stacks->room, sizeof(*stacks->slot));
		for (i = 0; i < old.room; i++) {
			slot = &old.slot[i];
			if (slot->stack)
				*stacks_slot(stacks, slot->kind, slot->id) = *slot;
		}
		free(old.slot);
	}
	slot = stacks_slot(stacks, kind, id);
	if (slot->stack) {
		stack_put(stack);
		return;
	}
	*slot = (struct slot){ kind, id, stack };
	stacks->nr++;
}

void stacks_free(struct stacks *stacks)
{
	size_t i;

	for (i = 0; i < stacks->room; i++)
		stack_put(stacks->slot[i].stack);
	free(stacks->slot);
	*stacks = (struct stacks){};
}

/* Columns */

uint64_t column_get(const struct site *site, enum column column)
{
	switch (column) {
	case COL_CLASS: return site->class;
	case COL_VERDICT: return site->verdict;
	case COL_OUTSTANDING: return site->outstanding;
	case COL_BYTES: return site->bytes;
	case COL_FREES: return site->frees;
	case COL_ALLOCS: return site->allocs;
	case COL_LOW: return site->low;
	case COL_ELDERS: return site->elders;
	case COL_SURVIVORS: return site->survivors;
	case COL_OLDEST: return site->oldest_ms;
	case COL_GROWTH: return (uint64_t)site->growth;
	case COL_ERROR: return site->error_permille;
	case NR_COLUMNS:
		break;
	}
	return 0;
}

bool column_set(struct site *site, enum column column, uint64_t v)
{
	switch (column) {
	case COL_CLASS:
		site->class = v < NR_CLASSES ? (enum class)v : CLASS_OTHER;
		return v < NR_CLASSES;
	case COL_VERDICT:
		site->verdict = v < NR_VERDICTS ? (enum verdict)v : VERDICT_OTHER;
		return v < NR_VERDICTS;
	case COL_OUTSTANDING:
		site->outstanding = v;
		return true;
	case COL_BYTES:
		site->bytes = v;
		return true;
	case COL_FREES:
		site->frees = v;
		return true;
	case COL_ALLOCS:
		site->allocs = v;
		return true;
	case COL_LOW:
		site->low = v;
		return true;
	case COL_ELDERS:
		site->elders = v;
		return true;
	case COL_SURVIVORS:
		site->survivors = v;
		return v <= UINT32_MAX;
	case COL_OLDEST:
		site->oldest_ms = v;
		return true;
	case COL_GROWTH:
		site->growth = (int64_t)v;
		return true;
	case COL_ERROR:
		site->error_permille = v;
		return v <= UINT32_MAX;
	case NR_COLUMNS:
		break;
	}
	return false;
}

/* @was has the old values of all columns, @now the new ones of the columns before. */
uint64_t column_expect(const struct site *was, const struct site *now,
		       enum column column, uint64_t step)
{
	switch (column) {
	case COL_BYTES:
		if (!was->outstanding)
			return 0;
		return was->bytes + (now->outstanding - was->outstanding) *
				    (was->bytes / was->outstanding);
	case COL_ALLOCS:
		return now->frees + now->outstanding;
	case COL_OLDEST:
		return was->oldest_ms ? was->oldest_ms + step : 0;
	default:
		return column_get(was, column);
	}
}
