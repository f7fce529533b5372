// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: the recorded file.
 *
 * A payload of a full or a delta frame is the same thing, the one against an
 * empty snapshot and the other against the one before. In order:
 *
 *	stacks	their number; of each kind, stack_id, text
 *	head	difference of time, rounds, clears; torn; the usual step of oldest_ms
 *	pairs	status, tunables, vm: 0 as before, or 1, their number, keys and values
 *	gone	number of sites that are gone, and gaps between their indexes
 *	new	number of sites that are new; gaps between their numbers, kinds, stacks
 *	columns	of all sites, one after the other: differences from what was expected
 *	caches	number of sites whose cache is another, and gaps, and names
 *	blocks	number of sites with evidence, and gaps, and the evidence
 *
 * Whole numbers are of 7 bits a byte, the least first; signed ones have their
 * sign in the lowest bit. Texts have their length before them. Most differences
 * are 0, and zlib makes little of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "log.h"
#include "parse.h"

#define HEAD_LEN	20
/* Larger than any frame can be: 131072 sites with all their stacks. */
#define MAX_PAYLOAD	(256U << 20)
/* deflate does not do better than that. */
#define MAX_RATIO	1040U

/* Numbers */

static void put_u(struct buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_add_byte(out, v | 0x80);
	buf_add_byte(out, v);
}

static void put_s(struct buf *out, int64_t v)
{
	put_u(out, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

static void put_text(struct buf *out, const char *text)
{
	put_u(out, strlen(text));
	buf_add(out, text, strlen(text));
}

/**
 * struct dec - What is left of a payload.
 * @p:	 Next byte.
 * @end: Behind the last.
 * @bad: Something was wrong; all that is read after that is 0.
 */
struct dec {
	const unsigned char *p;
	const unsigned char *end;
	bool bad;
};

static uint64_t get_u(struct dec *in)
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

static int64_t get_s(struct dec *in)
{
	uint64_t v = get_u(in);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static uint32_t get_u32(struct dec *in)
{
	uint64_t v = get_u(in);

	if (v > UINT32_MAX)
		in->bad = true;
	return in->bad ? 0 : v;
}

/* A number of things of which each takes a byte at least. */
static size_t get_count(struct dec *in)
{
	uint64_t v = get_u(in);

	if (v > (uint64_t)(in->end - in->p))
		in->bad = true;
	return in->bad ? 0 : v;
}

/* To be freed. Without NULs, whatever is there. */
static char *get_text(struct dec *in)
{
	size_t len = get_count(in);
	char *text = xstrndup((const char *)in->p, len);

	if (!in->bad)
		in->p += len;
	return text;
}

/* Stacks that the file has, by kind and handle */

struct stacks {
	size_t nr;
	size_t room;
	struct slot {
		enum kind kind;
		uint64_t id;
		struct stack *stack;	/* NULL: empty */
	} *slot;
};

static struct slot *stacks_slot(const struct stacks *stacks, enum kind kind, uint64_t id)
{
	size_t i = (id * 0x9e3779b97f4a7c15ULL >> 20) + kind;

	for (;; i++) {
		struct slot *slot = &stacks->slot[i & (stacks->room - 1)];

		if (!slot->stack || (slot->kind == kind && slot->id == id))
			return slot;
	}
}

static struct stack *stacks_find(const struct stacks *stacks, enum kind kind, uint64_t id)
{
	return stacks->room ? stacks_slot(stacks, kind, id)->stack : NULL;
}

/* Takes over the reference. The first text of a stack stays: later a module may be gone. */
static void stacks_add(struct stacks *stacks, enum kind kind, uint64_t id, struct stack *stack)
{
	struct stacks old = *stacks;
	struct slot *slot;
	size_t i;

	if (stacks->nr >= stacks->room / 2) {
		stacks->room = old.room ? 2 * old.room : 256;
		stacks->slot = xcalloc(stacks->room, sizeof(*stacks->slot));
		for (i = 0; i < old.room; i++)
			if (old.slot[i].stack)
				*stacks_slot(stacks, old.slot[i].kind, old.slot[i].id) = old.slot[i];
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

static void stacks_free(struct stacks *stacks)
{
	size_t i;

	for (i = 0; i < stacks->room; i++)
		stack_put(stacks->slot[i].stack);
	free(stacks->slot);
	*stacks = (struct stacks){};
}

/* Columns */

/*
 * A column knows what to expect of a site: from what it was before, and from the
 * columns before it. Sums may wrap around, which does no harm as they do so on
 * both sides.
 */
enum column {
	COL_CLASS, COL_VERDICT, COL_OUTSTANDING, COL_BYTES, COL_FREES, COL_ALLOCS,
	COL_LOW, COL_ELDERS, COL_SURVIVORS, COL_OLDEST, COL_GROWTH, COL_ERROR, NR_COLUMNS
};

static uint64_t column_get(const struct site *site, enum column column)
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
	case NR_COLUMNS: break;
	}
	return 0;
}

static bool column_set(struct site *site, enum column column, uint64_t v)
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
static uint64_t column_expect(const struct site *was, const struct site *now,
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

/* Encoding */

static void put_pairs(struct buf *out, const struct pairs *now, const struct pairs *was)
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
static void encode(struct buf *out, const struct snapshot *prev, const struct snapshot *now,
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

/* Decoding */

static void get_pairs(struct dec *in, struct pairs *pairs)
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

static void get_stacks(struct dec *in, struct stacks *known)
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

/* What belonged to the round before only. */
static void forget_round(struct snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->nr; i++) {
		struct site old = snap->site[i];

		if (!old.evidence)
			continue;
		snap->site[i].evidence = NULL;
		site_free(&(struct site){ .evidence = old.evidence });
	}
}

static int decode(const unsigned char *payload, size_t len, struct snapshot *snap,
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
	forget_round(snap);
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

/* Frames */

struct frame {
	char type;
	uint8_t flags;
	uint16_t seq;
	uint32_t raw_len;
	uint32_t len;
	uint32_t crc;
};

static void put_le(unsigned char *p, uint32_t v, unsigned int bytes)
{
	for (; bytes--; v >>= 8)
		*p++ = v;
}

static uint32_t get_le(const unsigned char *p, unsigned int bytes)
{
	uint32_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static bool frame_head(const unsigned char *p, struct frame *frame)
{
	if (memcmp(p, LOG_SYNC, 4))
		return false;
	*frame = (struct frame){ p[4], p[5], get_le(p + 6, 2), get_le(p + 8, 4),
				 get_le(p + 12, 4), get_le(p + 16, 4) };
	return frame->len <= MAX_PAYLOAD && frame->raw_len <= MAX_PAYLOAD &&
	       (frame->flags & LOG_ZLIB ? frame->raw_len / MAX_RATIO <= frame->len :
					  frame->raw_len == frame->len);
}

static uint32_t frame_crc(const unsigned char *head, const unsigned char *payload, size_t len)
{
	return crc32(crc32(0, head, 16), payload, len);
}

/* A whole frame with @payload, behind what @out has. */
static void put_frame(struct buf *out, char type, uint16_t seq, const struct buf *payload)
{
	uLongf packed_len = compressBound(payload->len);
	unsigned char *packed = xcalloc(packed_len, 1), head[HEAD_LEN];
	bool zlib = compress2(packed, &packed_len, (const unsigned char *)payload->data,
			      payload->len, Z_DEFAULT_COMPRESSION) == Z_OK && packed_len < payload->len;
	const void *data = zlib ? (void *)packed : payload->data;
	size_t len = zlib ? packed_len : payload->len;

	memcpy(head, LOG_SYNC, 4);
	head[4] = type;
	head[5] = zlib ? LOG_ZLIB : 0;
	put_le(head + 6, seq, 2);
	put_le(head + 8, payload->len, 4);
	put_le(head + 12, len, 4);
	put_le(head + 16, frame_crc(head, data, len), 4);
	buf_add(out, head, HEAD_LEN);
	buf_add(out, data, len);
	free(packed);
}

/* Host */

static void host_pairs(const struct host *host, struct pairs *pairs)
{
	char number[24];

	pairs_set(pairs, "release", host->release);
	pairs_set(pairs, "version", host->version);
	pairs_set(pairs, "machine", host->machine);
	pairs_set(pairs, "name", host->name);
	pairs_set(pairs, "boot_id", host->boot_id);
	snprintf(number, sizeof(number), "%" PRIu32, host->cpus);
	pairs_set(pairs, "cpus", number);
	snprintf(number, sizeof(number), "%" PRIu64, host->memory);
	pairs_set(pairs, "memory", number);
	snprintf(number, sizeof(number), "%" PRIu32, host->page_size);
	pairs_set(pairs, "page_size", number);
}

static void host_text(const struct pairs *pairs, const char *key, char *text, size_t room)
{
	const char *value = pairs_get(pairs, key);

	snprintf(text, room, "%s", value ? value : "");
}

static void pairs_host(const struct pairs *pairs, struct host *host)
{
	uint64_t v;

	*host = (struct host){};
	host_text(pairs, "release", host->release, sizeof(host->release));
	host_text(pairs, "version", host->version, sizeof(host->version));
	host_text(pairs, "machine", host->machine, sizeof(host->machine));
	host_text(pairs, "name", host->name, sizeof(host->name));
	host_text(pairs, "boot_id", host->boot_id, sizeof(host->boot_id));
	if (pairs_u64(pairs, "cpus", &v))
		host->cpus = v;
	if (pairs_u64(pairs, "page_size", &v))
		host->page_size = v;
	pairs_u64(pairs, "memory", &host->memory);
}

/* Reading */

/**
 * struct log_reader - A file that is being read.
 * @fd:	      Of the file, -1 if it is in memory.
 * @opened:   @fd is to be closed.
 * @eof:      @window has all that is left.
 * @error:    Why nothing more can be read, as errno.
 * @window:   Bytes from @offset on that are not yet done with.
 * @done:     Of them.
 * @offset:   In the file, of the first byte of @window.
 * @good_end: Behind the last frame that was intact.
 * @bad_from: Where damage began that has not ended, or UINT64_MAX.
 * @damage:   So far.
 * @host:     The last one.
 * @snap:     The last one.
 * @usable:   A delta can be applied to @snap.
 * @any:      There was a snapshot before, of which the epoch counts.
 * @new_boot: Since then the boot has changed.
 * @seq:      Of the last frame.
 * @stacks:   Since the last host.
 */
struct log_reader {
	int fd;
	bool opened;
	bool eof;
	int error;
	struct buf window;
	size_t done;
	uint64_t offset;
	uint64_t good_end;
	uint64_t bad_from;
	struct log_damage damage;
	struct host host;
	struct snapshot snap;
	bool usable;
	bool any;
	bool new_boot;
	uint16_t seq;
	struct stacks stacks;
};

static unsigned char *window(const struct log_reader *log)
{
	return (unsigned char *)log->window.data + log->done;
}

static size_t window_len(const struct log_reader *log)
{
	return log->window.len - log->done;
}

static uint64_t position(const struct log_reader *log)
{
	return log->offset + log->done;
}

/* Whether there are so many bytes. Reads them if need be. */
static bool has(struct log_reader *log, size_t len)
{
	char chunk[65536];

	if (window_len(log) >= len)
		return true;
	if (log->eof)
		return false;
	if (log->done) {
		memmove(log->window.data, log->window.data + log->done, window_len(log));
		log->window.len -= log->done;
		log->offset += log->done;
		log->done = 0;
	}
	while (!log->eof && log->window.len < len) {
		ssize_t got = read(log->fd, chunk, sizeof(chunk));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			log->error = errno;
		if (got <= 0)
			log->eof = true;
		else
			buf_add(&log->window, chunk, got);
	}
	return log->window.len >= len;
}

static bool at_magic(struct log_reader *log)
{
	return has(log, LOG_MAGIC_LEN) && !memcmp(window(log), LOG_MAGIC, LOG_MAGIC_LEN);
}

/* Whether an intact frame is here. It is in the window then. */
static bool at_frame(struct log_reader *log, struct frame *frame)
{
	return has(log, HEAD_LEN) && frame_head(window(log), frame) &&
	       has(log, (size_t)HEAD_LEN + frame->len) &&
	       frame_crc(window(log), window(log) + HEAD_LEN, frame->len) == frame->crc;
}

/* Go to the next frame, over what is none. False at the end. */
static bool find_frame(struct log_reader *log, struct frame *frame)
{
	while (1) {
		if (at_frame(log, frame))
			break;
		/* Two files can be put together with cat. */
		if (at_magic(log)) {
			log->done += LOG_MAGIC_LEN;
			log->usable = false;
			continue;
		}
		if (!has(log, 1)) {
			if (log->bad_from != UINT64_MAX)
				log->damage.torn_bytes = position(log) - log->bad_from;
			return false;
		}
		if (log->bad_from == UINT64_MAX)
			log->bad_from = position(log);
		log->usable = false;
		log->done++;
	}
	if (log->bad_from != UINT64_MAX) {
		log->damage.bad_bytes += position(log) - log->bad_from;
		log->damage.bad_places++;
		log->bad_from = UINT64_MAX;
	}
	return true;
}

/* Payload of the frame in the window, inflated; NULL if it is not. To be freed. */
static unsigned char *frame_payload(struct log_reader *log, const struct frame *frame)
{
	const unsigned char *data = window(log) + HEAD_LEN;
	unsigned char *raw = xcalloc(frame->raw_len, 1);
	uLongf len = frame->raw_len;

	if (!(frame->flags & LOG_ZLIB)) {
		memcpy(raw, data, frame->len);
	} else if (uncompress(raw, &len, data, frame->len) != Z_OK || len != frame->raw_len) {
		free(raw);
		return NULL;
	}
	return raw;
}

static bool take_host(struct log_reader *log, const unsigned char *payload, size_t len)
{
	struct dec in = { payload, payload + len, false };
	struct pairs pairs = {};
	struct host host;

	get_pairs(&in, &pairs);
	pairs_host(&pairs, &host);
	pairs_free(&pairs);
	if (in.bad)
		return false;
	if (log->any && strcmp(host.boot_id, log->host.boot_id))
		log->new_boot = true;
	log->host = host;
	log->usable = false;
	stacks_free(&log->stacks);
	return true;
}

/* A full frame is decoded beside the last snapshot, to see whether it follows it. */
static bool take_full(struct log_reader *log, const unsigned char *payload, size_t len)
{
	struct snapshot next = {};

	if (decode(payload, len, &next, &log->stacks)) {
		snapshot_free(&next);
		log->usable = false;
		return false;
	}
	if (log->any)
		next.epoch = log->snap.epoch +
			     (log->new_boot || !snapshot_follows(&log->snap, &next));
	snapshot_free(&log->snap);
	log->snap = next;
	log->any = log->usable = true;
	log->new_boot = false;
	return true;
}

static bool take_delta(struct log_reader *log, const struct frame *frame,
		       const unsigned char *payload, size_t len)
{
	struct dec in = { payload, payload + len, false };
	struct snapshot next;

	if (!log->usable || frame->seq != (uint16_t)(log->seq + 1)) {
		get_stacks(&in, &log->stacks);
		log->usable = false;
		log->damage.lost++;
		return false;
	}
	/* Beside it as well: if it cannot be used the one before is still whole. */
	snapshot_copy(&next, &log->snap);
	if (decode(payload, len, &next, &log->stacks)) {
		snapshot_free(&next);
		log->usable = false;
		log->damage.lost++;
		return false;
	}
	snapshot_free(&log->snap);
	log->snap = next;
	return true;
}

int log_next(struct log_reader *log, const struct snapshot **snap, struct err *err)
{
	struct frame frame;

	while (find_frame(log, &frame)) {
		unsigned char *payload = frame_payload(log, &frame);
		bool got = false;

		if (payload && frame.type == 'H')
			take_host(log, payload, frame.raw_len);
		else if (payload && frame.type == 'F')
			got = take_full(log, payload, frame.raw_len);
		else if (payload && frame.type == 'D')
			got = take_delta(log, &frame, payload, frame.raw_len);
		else
			log->usable = false;
		free(payload);
		log->seq = frame.seq;
		log->done += (size_t)HEAD_LEN + frame.len;
		log->good_end = position(log);
		if (got) {
			*snap = &log->snap;
			return 1;
		}
	}
	return log->error ? err_set(err, "cannot read on: %s", strerror(log->error)) : 0;
}

const struct host *log_host(const struct log_reader *log)
{
	return &log->host;
}

void log_damage(const struct log_reader *log, struct log_damage *damage)
{
	*damage = log->damage;
}

void log_damage_text(const struct log_reader *log, struct err *text)
{
	const struct log_damage *d = &log->damage;
	struct buf buf = {};

	if (d->bad_places)
		buf_printf(&buf, "%" PRIu64 " bytes are damaged in %u place(s); ", d->bad_bytes,
			   d->bad_places);
	if (d->lost)
		buf_printf(&buf, "%u round(s) cannot be used without what is missing; ", d->lost);
	if (d->torn_bytes)
		buf_printf(&buf, "the last %" PRIu64 " bytes are no whole round and were dropped; ",
			   d->torn_bytes);
	/* Without the last semicolon. */
	if (buf.len)
		buf.data[buf.len - 2] = '\0';
	err_set(text, "%s", buf_str(&buf));
	buf_free(&buf);
}

/* Whether it begins as a file of ours does. */
static int check_magic(struct log_reader *log, const char *name, struct err *err)
{
	static const char * const texts[] = { "# leaktrend-sites-", "site #", "state: " };
	const char *begin;
	size_t i;

	if (at_magic(log)) {
		log->done += LOG_MAGIC_LEN;
		log->good_end = LOG_MAGIC_LEN;
		return 0;
	}
	has(log, LOG_MAGIC_LEN);
	begin = buf_str(&log->window);
	if (!log->window.len)
		return err_set(err, "%s: the file is empty", name);
	if (log->window.len < LOG_MAGIC_LEN && !memcmp(begin, LOG_MAGIC, log->window.len))
		return err_set(err, "%s: the file is cut off in its first bytes, nothing is left of it",
			       name);
	if (log->window.len >= LOG_MAGIC_LEN && !memcmp(begin, LOG_MAGIC, 6))
		return err_set(err, "%s: recorded in another version of the format (%c); use the leaktrend "
			       "that recorded it", name,
			       begin[6] >= ' ' && begin[6] < 127 ? begin[6] : '?');
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		if (has(log, strlen(texts[i])) &&
		    !memcmp(log->window.data, texts[i], strlen(texts[i])))
			return err_set(err, "%s: this is a copy of a file of debugfs; -f takes what "
				       "\"leaktrend record\" wrote. Of a copied directory, give "
				       "--debugfs the one that has leaktrend/ in it", name);
	return err_set(err, "%s: this file was not recorded by leaktrend", name);
}

static struct log_reader *reader_new(const char *name, struct log_reader *log, struct err *err)
{
	log->bad_from = UINT64_MAX;
	if (check_magic(log, name, err)) {
		log_close(log);
		return NULL;
	}
	return log;
}

struct log_reader *log_open(const char *path, struct err *err)
{
	bool standard = !strcmp(path, "-");
	struct log_reader *log;
	struct stat st;
	int fd;

	fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		err_set(err, "cannot open %s: %s", path, strerror(errno));
		return NULL;
	}
	log = xcalloc(1, sizeof(*log));
	log->fd = fd;
	log->opened = !standard;
	if (S_ISDIR(st.st_mode)) {
		err_set(err, "%s is a directory; -f takes a recorded file, --debugfs a directory", path);
		log_close(log);
		return NULL;
	}
	return reader_new(standard ? "standard input" : path, log, err);
}

struct log_reader *log_open_memory(const char *name, const void *data, size_t len, struct err *err)
{
	struct log_reader *log = xcalloc(1, sizeof(*log));

	log->fd = -1;
	log->eof = true;
	buf_add(&log->window, data, len);
	return reader_new(name, log, err);
}

void log_close(struct log_reader *log)
{
	if (!log)
		return;
	if (log->opened)
		close(log->fd);
	snapshot_free(&log->snap);
	stacks_free(&log->stacks);
	buf_free(&log->window);
	free(log);
}

/* Writing */

/**
 * struct log_writer - A file that is being written.
 * @fd:	    Of the file.
 * @path:   Of the file.
 * @size:   Of the file.
 * @seq:    Of the next frame.
 * @deltas: Since the last full frame.
 * @prev:   The last snapshot.
 * @any:    There is one.
 * @stacks: Those that the file has since the last host.
 */
struct log_writer {
	int fd;
	char *path;
	uint64_t size;
	uint16_t seq;
	unsigned int deltas;
	struct snapshot prev;
	bool any;
	struct stacks stacks;
};

/* All or nothing. */
static int append(struct log_writer *log, const struct buf *data, struct err *err)
{
	size_t done = 0;
	int error;

	while (done < data->len) {
		ssize_t wrote = pwrite(log->fd, data->data + done, data->len - done,
				       log->size + done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			break;
		done += wrote;
	}
	if (done == data->len && !fdatasync(log->fd)) {
		log->size += data->len;
		return 0;
	}
	error = done < data->len && !errno ? ENOSPC : errno;
	err_set(err, "cannot write %s: %s", log->path, strerror(error));
	if (ftruncate(log->fd, log->size))
		err_before(err, "%s: cannot cut off what is not whole: %s\n", log->path,
			   strerror(errno));
	return -1;
}

static int write_host(struct log_writer *log, const struct host *host, bool magic, struct err *err)
{
	static const struct pairs nothing;
	struct buf payload = {}, out = {};
	struct pairs pairs = {};
	int ret;

	host_pairs(host, &pairs);
	put_pairs(&payload, &pairs, &nothing);
	if (magic)
		buf_add(&out, LOG_MAGIC, LOG_MAGIC_LEN);
	put_frame(&out, 'H', log->seq, &payload);
	ret = append(log, &out, err);
	if (!ret)
		log->seq++;
	pairs_free(&pairs);
	buf_free(&payload);
	buf_free(&out);
	return ret;
}

/* Go over all frames, to find the end of the last one. */
static int find_end(struct log_writer *log, struct err *err)
{
	struct log_reader *reader = log_open(log->path, err);
	struct frame frame;

	if (!reader)
		return -1;
	while (find_frame(reader, &frame)) {
		log->seq = frame.seq + 1;
		reader->done += (size_t)HEAD_LEN + frame.len;
		reader->good_end = position(reader);
	}
	log->size = reader->good_end;
	log_close(reader);
	return 0;
}

/* A file whose first bytes were being written is as good as an empty one. */
static bool is_begun(const struct log_writer *log, uint64_t size)
{
	char begin[LOG_MAGIC_LEN];

	return size < LOG_MAGIC_LEN && pread(log->fd, begin, size, 0) == (ssize_t)size &&
	       !memcmp(begin, LOG_MAGIC, size);
}

struct log_writer *log_append(const char *path, const struct host *host, uint64_t *cut,
			      struct err *err)
{
	struct log_writer *log = xcalloc(1, sizeof(*log));
	bool made = false;
	struct stat st;

	*cut = 0;
	log->path = xstrdup(path);
	log->fd = open(path, O_RDWR | O_CLOEXEC);
	if (log->fd < 0 && errno == ENOENT) {
		log->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		made = log->fd >= 0;
	}
	if (log->fd < 0 || fstat(log->fd, &st)) {
		err_set(err, "cannot write %s: %s", path, strerror(errno));
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		err_set(err, "cannot record to %s: it is no ordinary file", path);
		goto fail;
	}
	if (flock(log->fd, LOCK_EX | LOCK_NB)) {
		err_set(err, "cannot write %s: another leaktrend is recording to it", path);
		goto fail;
	}
	if (!is_begun(log, st.st_size) && find_end(log, err))
		goto fail;
	*cut = st.st_size - log->size;
	if (*cut && ftruncate(log->fd, log->size)) {
		err_set(err, "cannot write %s: %s", path, strerror(errno));
		goto fail;
	}
	if (write_host(log, host, !log->size, err))
		goto fail;
	return log;
fail:
	if (made)
		unlink(path);
	if (log->fd >= 0)
		close(log->fd);
	free(log->path);
	free(log);
	return NULL;
}

/* Whether what is new in @now comes behind what @prev has. */
static bool is_behind(const struct snapshot *prev, const struct snapshot *now)
{
	size_t i, j = 0;

	for (i = 0; i < now->nr; i++) {
		while (j < prev->nr && prev->site[j].number < now->site[i].number)
			j++;
		if (j == prev->nr)
			return true;
		if (prev->site[j].number != now->site[i].number)
			return false;
	}
	return true;
}

int log_write(struct log_writer *log, const struct snapshot *snap, struct err *err)
{
	static const struct snapshot nothing;
	struct buf payload = {}, out = {};
	bool full;
	int ret;

	full = !log->any || log->deltas == LOG_FULL_EVERY ||
	       !snapshot_follows(&log->prev, snap) || !is_behind(&log->prev, snap);
	encode(&payload, full ? &nothing : &log->prev, snap, &log->stacks);
	put_frame(&out, full ? 'F' : 'D', log->seq, &payload);
	ret = payload.len > MAX_PAYLOAD ? err_set(err, "%s: too many sites for a round", log->path) :
					  append(log, &out, err);
	if (ret) {
		/* Stacks of this one are not in the file. All of them again is no harm. */
		stacks_free(&log->stacks);
	} else {
		log->seq++;
		log->deltas = full ? 0 : log->deltas + 1;
		snapshot_free(&log->prev);
		snapshot_copy(&log->prev, snap);
		log->any = true;
	}
	buf_free(&payload);
	buf_free(&out);
	return ret;
}

uint64_t log_size(const struct log_writer *log)
{
	return log->size;
}

int log_finish(struct log_writer *log, struct err *err)
{
	int ret = 0;

	if (!log)
		return 0;
	if (fsync(log->fd) | close(log->fd))
		ret = err_set(err, "cannot write %s: %s", log->path, strerror(errno));
	snapshot_free(&log->prev);
	stacks_free(&log->stacks);
	free(log->path);
	free(log);
	return ret;
}
