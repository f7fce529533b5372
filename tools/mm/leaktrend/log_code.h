/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: the recorded file: what its parts share.
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
#ifndef LEAKTREND_LOG_CODE_H
#define LEAKTREND_LOG_CODE_H

#include "model.h"

#define HEAD_LEN	20
/* Larger than any frame can be: 131072 sites with all their stacks. */
#define MAX_PAYLOAD	(256U << 20)

/* Numbers */

void put_u(struct buf *out, uint64_t v);
void put_s(struct buf *out, int64_t v);
void put_text(struct buf *out, const char *text);

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

uint64_t get_u(struct dec *in);
int64_t get_s(struct dec *in);
uint32_t get_u32(struct dec *in);
/* A number of things of which each takes a byte at least. */
size_t get_count(struct dec *in);
/* To be freed. Without NULs, whatever is there. */
char *get_text(struct dec *in);

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

struct stack *stacks_find(const struct stacks *stacks, enum kind kind, uint64_t id);
/* Takes over the reference. The first text of a stack stays: later a module may be gone. */
void stacks_add(struct stacks *stacks, enum kind kind, uint64_t id, struct stack *stack);
void stacks_free(struct stacks *stacks);

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

uint64_t column_get(const struct site *site, enum column column);
bool column_set(struct site *site, enum column column, uint64_t v);
/* @was has the old values of all columns, @now the new ones of the columns before. */
uint64_t column_expect(const struct site *was, const struct site *now, enum column column,
		       uint64_t step);

/* Payloads */

void put_pairs(struct buf *out, const struct pairs *now, const struct pairs *was);
void get_pairs(struct dec *in, struct pairs *pairs);
void get_stacks(struct dec *in, struct stacks *known);

/*
 * encode() - @now as a difference from @prev, whose numbers are all less than
 * those of sites that are new.
 */
void encode(struct buf *out, const struct snapshot *prev, const struct snapshot *now,
	    struct stacks *known);
/* decode() - The other way round, in place. Returns 0, or -1; @snap is sound in either case. */
int decode(const unsigned char *payload, size_t len, struct snapshot *snap, struct stacks *known);

/* Frames */

struct frame {
	char type;
	uint8_t flags;
	uint16_t seq;
	uint32_t raw_len;
	uint32_t len;
	uint32_t crc;
};

/* frame_head() - Of HEAD_LEN bytes; false if they are none. */
bool frame_head(const unsigned char *p, struct frame *frame);
uint32_t frame_crc(const unsigned char *head, const unsigned char *payload, size_t len);
/* put_frame() - A whole frame with @payload, behind what @out has. */
void put_frame(struct buf *out, char type, uint16_t seq, const struct buf *payload);

void host_pairs(const struct host *host, struct pairs *pairs);
void pairs_host(const struct pairs *pairs, struct host *host);

/**
 * struct log_end - What one has to know of a file to go on with it.
 * @size:    Behind its last frame.
 * @seq:     Of that.
 * @any:     There is a round.
 * @rounds:  Of the last round.
 * @clears:  The same.
 * @boot_id: The same.
 */
struct log_end {
	uint64_t size;
	uint16_t seq;
	bool any;
	uint32_t rounds;
	uint32_t clears;
	char boot_id[40];
};

/* log_find_end() - Go over all frames of a file. */
int log_find_end(const char *path, struct log_end *end, struct err *err);

#endif
