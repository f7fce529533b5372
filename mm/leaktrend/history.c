// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: what a site remembers of its rounds and of its generations.
 *
 * The hooks write the counters while they are read here, without a lock. Each
 * counter is exact. That two of them do not belong to the same instant does no
 * harm: what is missing in one round is in the next.
 */
#include <linux/atomic.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#include "internal.h"

/**
 * leaktrend_counter() - Read a counter of a site.
 * @counter: The counter.
 *
 * Return: Its value. 0 for the moment in which a free on one CPU is seen before
 * the allocation on another.
 */
u64 leaktrend_counter(const atomic64_t *counter)
{
	return max_t(s64, atomic64_read(counter), 0);
}

/*
 * The generation that turns too old for a slot joins the older ones.
 *
 * A hook decides by the number of the round which of the two it counts in. It
 * does so in an RCU read-side section, and the grace period since the last round
 * has passed, so no hook knows a round before @ended any more: for all of them
 * this generation is one of the older ones, and nobody uses its slot. It is used
 * again by generation @ended + 2, which does not begin before the next round.
 */
static void fold_generation(struct lt_site *site, u32 ended)
{
	u32 birth = ended - LT_GENERATION_MAX_AGE;

	if (ended < LT_GENERATION_MAX_AGE)
		return;
	atomic64_add(atomic64_xchg(&site->gens[birth % LT_GENERATIONS], 0),
		     &site->older);
}

/*
 * With page_owner's count there can be an error in @older for good, from pages
 * that came or went while the site was made. It is what is missing in round after
 * round. What is just on its way is not: that is another number each time.
 */
static void correct_older(struct lt_site *site)
{
	s64 off = leaktrend_site_outstanding(site) - atomic64_read(&site->older);
	unsigned int i;

	for (i = 0; i < LT_GENERATIONS; i++)
		off -= atomic64_read(&site->gens[i]);
	if (off && off == site->off) {
		atomic64_add(off, &site->older);
		off = 0;
	}
	site->off = off;
}

/**
 * leaktrend_history_oldest() - Which generation is the oldest with live samples?
 * @site:  The site.
 * @ended: The last round that has ended.
 * @birth: Set to the round of its birth, if it has a slot.
 *
 * Return: true if there is one with a slot.
 */
bool leaktrend_history_oldest(const struct lt_site *site, u32 ended, u32 *birth)
{
	u32 age = min_t(u32, ended + 1, LT_GENERATION_MAX_AGE);

	while (age--) {
		*birth = ended - age;
		if (leaktrend_counter(&site->gens[*birth % LT_GENERATIONS]))
			return true;
	}
	return false;
}

/* A low-water mark of the round that ends, and begin of the next. */
static u64 take_low(struct lt_site *site, atomic64_t *mark, u64 now,
		    u64 (*read)(const struct lt_site *site))
{
	s64 low = atomic64_xchg(mark, now);

	/* A free since @now was read has lowered what we have just replaced. */
	leaktrend_site_lower(mark, read(site));

	return min_t(u64, max_t(s64, low, 0), now);
}

static u32 count_elders(struct lt_site *site, u32 ended)
{
	s64 elders = atomic64_read(&site->older);
	u32 age;

	for (age = lt_param(elder_rounds);
	     age < LT_GENERATION_MAX_AGE && age <= ended; age++)
		elders += atomic64_read(&site->gens[(ended - age) % LT_GENERATIONS]);

	return clamp_t(s64, elders, 0, U32_MAX);
}

static u32 count_survivors(struct lt_site *site, u32 ended, u32 generations)
{
	u32 age, survivors = 0;

	for (age = 0; age < generations; age++)
		survivors += !!leaktrend_counter(&site->gens[(ended - age) % LT_GENERATIONS]);

	return survivors;
}

/**
 * leaktrend_history_span() - How many rounds an entry of the history covers.
 * @level: Level, from 0.
 *
 * Return: Number of rounds.
 */
unsigned int leaktrend_history_span(unsigned int level)
{
	unsigned int span = 1;

	while (level--)
		span *= LT_SPAN;
	return span;
}

static struct lt_round *entry_of(struct lt_site *site, unsigned int level, u32 span)
{
	return level ? &site->coarse[level - 1][span % LT_COARSE_RING] :
		       &site->ring[span % LT_RING];
}

static u32 nr_entries(const struct lt_site *site, unsigned int level)
{
	return level ? site->nr_spans[level - 1] : site->nr_rounds;
}

/* Make one of the last entries of the level below, of which there may be fewer. */
static void add_span(struct lt_site *site, unsigned int level, u32 span)
{
	struct lt_round *to = entry_of(site, level, span);
	u32 nr = min(nr_entries(site, level - 1), LT_SPAN);
	u32 last = (span + 1) * LT_SPAN - 1, i;

	*to = *entry_of(site, level - 1, last);
	for (i = 1; i < nr; i++) {
		const struct lt_round *from = entry_of(site, level - 1, last - i);

		to->low = min(to->low, from->low);
		to->low_size = min(to->low_size, from->low_size);
		to->elders = min(to->elders, from->elders);
	}
	site->nr_spans[level - 1] = min(site->nr_spans[level - 1] + 1, LT_COARSE_RING);
}

/**
 * leaktrend_history_get() - Copy the last entries of a level of the history.
 * @site:  The site.
 * @level: Level, from 0.
 * @max:   How many entries at most.
 * @to:	   Where to, oldest first.
 *
 * Context: Under the lock of the site.
 * Return: How many there were.
 */
unsigned int leaktrend_history_get(const struct lt_site *site, unsigned int level,
				   unsigned int max, struct lt_round *to)
{
	/* Spans that have ended with this round. */
	u32 ended = (site->last_round + 1) / leaktrend_history_span(level);
	u32 nr = min(nr_entries(site, level), max), i;

	for (i = 0; i < nr; i++)
		to[i] = *entry_of((struct lt_site *)site, level, ended - nr + i);
	return nr;
}

/**
 * leaktrend_history_record() - Add the round that has ended to a site's history.
 * @site:  The site.
 * @ended: The round. Hooks count in the next one by now, and none counts in the
 *	   one before it any more.
 *
 * Context: Under the lock of the site.
 */
void leaktrend_history_record(struct lt_site *site, u32 ended)
{
	struct lt_round *entry = &site->ring[ended % LT_RING];
	u32 outstanding = min(leaktrend_site_outstanding(site), U32_MAX);
	unsigned int level;
	u64 low_bytes;

	fold_generation(site, ended);
	if (site->record)
		correct_older(site);
	entry->outstanding = outstanding;
	entry->bytes = leaktrend_site_bytes(site);
	entry->low = take_low(site, &site->low, outstanding, leaktrend_site_outstanding);
	/* Of page_owner's pages, the number tells the bytes. */
	low_bytes = site->record ? (u64)entry->low << PAGE_SHIFT :
				   take_low(site, &site->low_bytes, entry->bytes,
					    leaktrend_site_bytes);
	entry->low_size = min(low_bytes / LT_SIZE_UNIT, U32_MAX);
	entry->elders = count_elders(site, ended);
	site->last_round = ended;
	site->nr_rounds = min(site->nr_rounds + 1, LT_RING);
	for (level = 1; level < LT_LEVELS; level++) {
		unsigned int span = leaktrend_history_span(level);

		if ((ended + 1) % span)
			break;
		add_span(site, level, ended / span);
	}
	site->generations = min_t(u32, lt_param(min_rounds), ended + 1);
	site->survivors = count_survivors(site, ended, site->generations);
}
