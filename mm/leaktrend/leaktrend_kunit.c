// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of leaktrend: sampling, history, trends and verdicts.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/memblock.h>
#include <linux/memory_hotplug.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "internal.h"

#define HOUR_MS	(3600ULL * 1000)

/* Sampling */

/*
 * Of n gaps of a geometric distribution with p = 1/rate the mean is rate - 1 and
 * its standard error sqrt(rate * (rate - 1) / n), less than rate / sqrt(n). The
 * seed is fixed, so that the test repeats; 4 such errors are allowed.
 */
static void gap_mean_and_spread(struct kunit *test)
{
	static const u32 rates[] = { 2, 3, 10, 100, 1000, 100000 };
	const unsigned int n = 40000, root = 200;
	struct rnd_state random;
	unsigned int i, j;

	prandom_seed_state(&random, 42);
	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		u64 rate = rates[i], scale = leaktrend_gap_scale(rate);
		u64 sum = 0, squares = 0, mean, variance, expected;

		for (j = 0; j < n; j++) {
			u64 gap = leaktrend_gap_draw(scale, prandom_u32_state(&random));

			sum += gap;
			squares += gap * gap;
		}
		/* In thousandths, so that small rates are tested, too. */
		mean = div_u64(sum * 1000, n);
		expected = (rate - 1) * 1000;
		KUNIT_EXPECT_LT_MSG(test, abs_diff(mean, expected),
				    rate * (4 * 1000 / root),
				    "rate %llu: mean gap %llu/1000", rate, mean);

		/* In hundredths: rate * (rate - 1). Of a fixed gap it would be 0. */
		variance = div_u64(squares * 100, n) - div_u64(mean * mean, 10000);
		expected = rate * (rate - 1) * 100;
		KUNIT_EXPECT_LT_MSG(test, abs_diff(variance, expected),
				    div_u64(expected, 10),
				    "rate %llu: variance %llu/100", rate, variance);
	}
}

/* A gap of 0 has probability p: consecutive allocations can both be sampled. */
static void gap_zero_is_as_likely_as_it_must_be(struct kunit *test)
{
	const unsigned int n = 100000;
	u64 scale = leaktrend_gap_scale(10);
	struct rnd_state random;
	unsigned int i, zero = 0;

	prandom_seed_state(&random, 7);
	for (i = 0; i < n; i++)
		zero += !leaktrend_gap_draw(scale, prandom_u32_state(&random));

	/* 10000 +- 5 standard errors of 95. */
	KUNIT_EXPECT_GT(test, zero, 10000 - 475);
	KUNIT_EXPECT_LT(test, zero, 10000 + 475);
}

static void gap_edges(struct kunit *test)
{
	/* The greatest random number gives no gap, the least a great one. */
	KUNIT_EXPECT_EQ(test, leaktrend_gap_draw(leaktrend_gap_scale(100), U32_MAX), 0U);
	KUNIT_EXPECT_GT(test, leaktrend_gap_draw(leaktrend_gap_scale(100), 0), 2000U);
	KUNIT_EXPECT_LT(test, leaktrend_gap_draw(leaktrend_gap_scale(100), 0), 2300U);
	/* Nor does the longest gap of the greatest rate overflow. */
	KUNIT_EXPECT_GT(test, leaktrend_gap_draw(leaktrend_gap_scale(1000000), 0), 20000000U);
	KUNIT_EXPECT_LT(test, leaktrend_gap_draw(leaktrend_gap_scale(1000000), 0), 23000000U);
}

static void weights_and_error(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, leaktrend_sample_variance(1), 0ULL);
	KUNIT_EXPECT_EQ(test, leaktrend_sample_variance(100), 9900ULL);
	KUNIT_EXPECT_EQ(test, leaktrend_sample_variance(1000000), 999999000000ULL);

	/* 100 samples of weight 100: 10000 +- sqrt(100 * 9900) = 995. */
	KUNIT_EXPECT_EQ(test, leaktrend_error_permille(100 * 9900, 10000), 99U);
	/* Exact, and nothing at all. */
	KUNIT_EXPECT_EQ(test, leaktrend_error_permille(0, 10000), 0U);
	KUNIT_EXPECT_EQ(test, leaktrend_error_permille(0, 0), 0U);
	/* A single sample says that there is something. */
	KUNIT_EXPECT_EQ(test, leaktrend_error_permille(9900, 100), 990U);
	KUNIT_EXPECT_EQ(test, leaktrend_error_permille(9900, 50), 1000U);
	/* More than 2^32 objects. */
	KUNIT_EXPECT_EQ(test, leaktrend_error_permille(1ULL << 60, 1ULL << 34), 62U);
	KUNIT_EXPECT_EQ(test, leaktrend_error_permille(U64_MAX, U64_MAX), 0U);
}

/*
 * Allocate many times 2^order pages, sampled as the hooks do it, and compare what
 * the samples stand for with what there was. The variance of one allocation's
 * part is W * (W - k) * P = k * (W - k), and W is less than k + rate. 4 standard
 * errors are allowed, which for the largest orders is less than a page each.
 */
static void page_estimates_have_no_bias(struct kunit *test)
{
	static const u32 rates[] = { 2, 3, 100, 1000 };
	static const unsigned int orders[] = { 0, 1, 3, 9 };
	struct rnd_state random;
	unsigned int i, j, n;

	prandom_seed_state(&random, 99);
	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		for (j = 0; j < ARRAY_SIZE(orders); j++) {
			const u32 rate = rates[i], total = 200000;
			const u64 k = 1ULL << orders[j], scale = leaktrend_gap_scale(rate);
			u64 estimate = 0, truth = k * total;
			u64 error = int_sqrt64(k * rate * total);
			s64 gap = leaktrend_gap_draw(scale, prandom_u32_state(&random));

			for (n = 0; n < total; n++) {
				gap -= k;
				if (gap >= 0)
					continue;
				estimate += leaktrend_page_weight(rate, orders[j],
								  prandom_u32_state(&random));
				gap = leaktrend_gap_draw(scale, prandom_u32_state(&random));
			}
			KUNIT_EXPECT_LT_MSG(test, abs_diff(estimate, truth), 4 * error,
					    "rate %u, %llu pages: %llu, not %llu", rate, k,
					    estimate, truth);
		}
	}
}

static void page_weights(struct kunit *test)
{
	u64 weight;
	u32 i, sum;

	/* A single page stands for as many as the mean of the gap. */
	KUNIT_EXPECT_EQ(test, leaktrend_page_weight(100, 0, 0), 100ULL);
	KUNIT_EXPECT_EQ(test, leaktrend_page_weight(100, 0, U32_MAX), 100ULL);
	KUNIT_EXPECT_EQ(test, leaktrend_page_weight(1000000, 0, 0), 1000000ULL);
	/* Of 512 one is drawn almost surely, and they stand for themselves. */
	KUNIT_EXPECT_EQ(test, leaktrend_page_weight(100, 9, 0), 514ULL);
	KUNIT_EXPECT_EQ(test, leaktrend_page_weight(100, 9, U32_MAX), 515ULL);
	/* Of 2 with a chance of 3/4: 2 2/3. */
	KUNIT_EXPECT_EQ(test, leaktrend_page_weight(2, 1, 0), 2ULL);
	KUNIT_EXPECT_EQ(test, leaktrend_page_weight(2, 1, U32_MAX / 4), 2ULL);
	KUNIT_EXPECT_EQ(test, leaktrend_page_weight(2, 1, U32_MAX / 2), 3ULL);
	/* Exact, and as large as a gigantic page. */
	KUNIT_EXPECT_EQ(test, leaktrend_page_weight(1, 18, U32_MAX), 1ULL << 18);
	KUNIT_EXPECT_GE(test, leaktrend_page_weight(1000000, 18, 0), 1000000ULL);
	KUNIT_EXPECT_LT(test, leaktrend_page_weight(1000000, 18, 0), 1262144ULL);

	/* The shares of the pages are the whole, and differ by one at most. */
	weight = leaktrend_page_weight(100, 3, 0);
	for (i = 0, sum = 0; i < 8; i++) {
		u32 share = leaktrend_page_share(weight, 3, i, 5);

		KUNIT_EXPECT_GE(test, share, (u32)weight / 8);
		KUNIT_EXPECT_LE(test, share, (u32)weight / 8 + 1);
		sum += share;
	}
	KUNIT_EXPECT_EQ(test, sum, (u32)weight);
	KUNIT_EXPECT_EQ(test, leaktrend_page_share(512, 9, 511, 0), 1U);

	/* None of them is favoured: over all random numbers each has the same. */
	for (i = 0; i < 8; i++) {
		u32 random;

		for (random = 0, sum = 0; random < 8; random++)
			sum += leaktrend_page_share(weight, 3, i, random);
		KUNIT_EXPECT_EQ_MSG(test, sum, (u32)weight, "page %u", i);
	}
}

/* History. The sites here are on no list, so that rounds can be played through. */

static struct lt_site *new_site(struct kunit *test)
{
	struct lt_site *site = kunit_kzalloc(test, sizeof(*site), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, site);
	spin_lock_init(&site->lock);
	return site;
}

static struct lt_amount amount_of(u32 weight, u32 size, u32 birth)
{
	struct lt_sample sample = { .weight = weight, .size = size, .birth = birth };
	struct lt_amount amount;

	leaktrend_sample_amount(&sample, &amount);
	return amount;
}

static void site_alloc(struct lt_site *site, u32 n, u32 weight, u32 round)
{
	struct lt_amount amount = amount_of(weight, 64, round);

	while (n--)
		leaktrend_site_alloc(site, &amount);
}

static void site_free(struct lt_site *site, u32 n, u32 weight, u32 birth, u32 round)
{
	struct lt_amount amount = amount_of(weight, 64, birth);

	while (n--)
		leaktrend_site_free(site, &amount, round);
}

static struct lt_round *record(struct lt_site *site, u32 round)
{
	leaktrend_history_record(site, round);
	return &site->ring[round % LT_RING];
}

static void counters(struct kunit *test)
{
	struct lt_site *site = new_site(test);
	struct lt_round *r;

	site_alloc(site, 3, 100, 0);
	site_alloc(site, 2, 1, 0);
	site_free(site, 1, 100, 0, 0);
	r = record(site, 0);

	KUNIT_EXPECT_EQ(test, r->outstanding, 202U);
	KUNIT_EXPECT_EQ(test, r->bytes, 202ULL * 64);
	KUNIT_EXPECT_EQ(test, atomic64_read(&site->frees), 100LL);
	KUNIT_EXPECT_EQ(test, atomic64_read(&site->variance), 2 * 9900LL);
	KUNIT_EXPECT_EQ(test, site->nr_rounds, 1U);
}

/* With page_owner's count, which is not ours to change. */
static void page_owner_counters(struct kunit *test)
{
	struct stack_record *record = kunit_kzalloc(test, sizeof(*record), GFP_KERNEL);
	struct lt_site *site = new_site(test);
	struct lt_amount amount = { .number = 8, .birth = 0 };
	struct lt_round *r;
	u32 birth;

	KUNIT_ASSERT_NOT_NULL(test, record);
	site->kind = LT_KIND_PAGE;
	site->record = record;

	/* 5 pages from before, and 8 in round 0. */
	refcount_set(&record->count, 1 + 5 + 8);
	atomic64_set(&site->older, 5);
	atomic64_set(&site->low, 13);
	leaktrend_site_alloc(site, &amount);
	r = &site->ring[0];
	leaktrend_history_record(site, 0);
	KUNIT_EXPECT_EQ(test, r->outstanding, 13U);
	KUNIT_EXPECT_EQ(test, r->bytes, 13ULL << PAGE_SHIFT);
	KUNIT_EXPECT_EQ(test, r->low, 13U);
	KUNIT_EXPECT_EQ(test, r->elders, 5U);
	KUNIT_EXPECT_TRUE(test, leaktrend_history_oldest(site, 0, &birth));
	KUNIT_EXPECT_EQ(test, birth, 0U);

	/* page_owner takes them out before we are told. */
	refcount_set(&record->count, 1 + 2 + 4);
	leaktrend_site_free_old(site, 3);
	amount.number = 4;
	leaktrend_site_free(site, &amount, 1);
	KUNIT_EXPECT_EQ(test, leaktrend_site_outstanding(site), 6ULL);
	KUNIT_EXPECT_EQ(test, atomic64_read(&site->older), 2LL);
	KUNIT_EXPECT_EQ(test, atomic64_read(&site->gens[0]), 4LL);
	KUNIT_EXPECT_EQ(test, atomic64_read(&site->frees), 7LL);
	leaktrend_history_record(site, 1);
	KUNIT_EXPECT_EQ(test, site->ring[1].low, 6U);

	/* Pages that become a slab stay, but when they were born is forgotten. */
	leaktrend_site_forget_birth(site, 4, 0, 2);
	KUNIT_EXPECT_EQ(test, atomic64_read(&site->older), 6LL);
	KUNIT_EXPECT_EQ(test, atomic64_read(&site->gens[0]), 0LL);
	leaktrend_site_free_old(site, 6);
	refcount_set(&record->count, 1);
	leaktrend_history_record(site, 2);
	KUNIT_EXPECT_EQ(test, site->ring[2].outstanding, 0U);
	KUNIT_EXPECT_FALSE(test, leaktrend_history_oldest(site, 2, &birth));

	/* Pages that were counted twice when the site was made: after two rounds. */
	atomic64_set(&site->older, 3);
	leaktrend_history_record(site, 3);
	KUNIT_EXPECT_EQ(test, atomic64_read(&site->older), 3LL);
	leaktrend_history_record(site, 4);
	KUNIT_EXPECT_EQ(test, atomic64_read(&site->older), 0LL);
	KUNIT_EXPECT_EQ(test, site->ring[4].elders, 0U);
	/* What is on its way is not. */
	refcount_set(&record->count, 1 + 2);
	leaktrend_history_record(site, 5);
	refcount_set(&record->count, 1 + 1);
	leaktrend_history_record(site, 6);
	KUNIT_EXPECT_EQ(test, atomic64_read(&site->older), 0LL);
	KUNIT_EXPECT_EQ(test, site->ring[6].outstanding, 1U);

	/* A count that was never taken up. */
	refcount_set(&record->count, REFCOUNT_SATURATED);
	KUNIT_EXPECT_EQ(test, leaktrend_site_outstanding(site), 0ULL);
}

static void low_water_mark(struct kunit *test)
{
	struct lt_site *site = new_site(test);
	struct lt_round *r;

	/* It has been 0 before the first. */
	site_alloc(site, 10, 1, 0);
	r = record(site, 0);
	KUNIT_EXPECT_EQ(test, r->low, 0U);
	KUNIT_EXPECT_EQ(test, r->outstanding, 10U);

	/* Nothing happens. */
	KUNIT_EXPECT_EQ(test, record(site, 1)->low, 10U);

	/* A burst that goes away and more: what was least in between. */
	site_alloc(site, 100, 1, 2);
	site_free(site, 100, 1, 2, 2);
	site_free(site, 3, 1, 0, 2);
	site_alloc(site, 50, 1, 2);
	r = record(site, 2);
	KUNIT_EXPECT_EQ(test, r->low, 7U);
	KUNIT_EXPECT_EQ(test, r->outstanding, 57U);

	/* The next round begins with what there is, not with an old mark. */
	site_alloc(site, 1, 1, 3);
	KUNIT_EXPECT_EQ(test, record(site, 3)->low, 57U);
}

/* One object is replaced by one of another size, as krealloc() does it. */
static void resize(struct lt_site *site, u32 from, u32 to, u32 round)
{
	struct lt_amount new = amount_of(1, to, round);
	struct lt_amount old = amount_of(1, from, round);

	leaktrend_site_alloc(site, &new);
	leaktrend_site_free(site, &old, round);
}

static void low_water_mark_of_bytes(struct kunit *test)
{
	struct lt_site *site = new_site(test);
	struct lt_round *r;

	site_alloc(site, 10, 1, 0);
	r = record(site, 0);
	KUNIT_EXPECT_EQ(test, r->low_size, 0U);

	/* As many as before, but one is larger. */
	resize(site, 64, 4096, 1);
	r = record(site, 1);
	KUNIT_EXPECT_EQ(test, r->low, 10U);
	KUNIT_EXPECT_EQ(test, r->low_size, 10 * 64U / LT_SIZE_UNIT);
	r = record(site, 2);
	KUNIT_EXPECT_EQ(test, r->low_size, (9 * 64U + 4096) / LT_SIZE_UNIT);

	/* It has been small for a moment. */
	resize(site, 4096, 64, 3);
	resize(site, 64, 4096, 3);
	KUNIT_EXPECT_EQ(test, record(site, 3)->low_size, 10 * 64U / LT_SIZE_UNIT);
	KUNIT_EXPECT_EQ(test, record(site, 4)->low_size, (9 * 64U + 4096) / LT_SIZE_UNIT);
}

static void elders(struct kunit *test)
{
	u32 elder_rounds = lt_param(elder_rounds);
	struct lt_site *site = new_site(test);
	u32 round;

	/* Each round 10 that stay and 1000 that go in the next one. */
	for (round = 0; round < 3 * LT_GENERATIONS; round++) {
		u32 expected = round < elder_rounds ? 0 : 10 * (round - elder_rounds + 1);

		if (round)
			site_free(site, 1000, 1, round - 1, round);
		site_alloc(site, 1010, 1, round);
		KUNIT_EXPECT_EQ_MSG(test, record(site, round)->elders, expected,
				    "round %u", round);
	}
	KUNIT_EXPECT_EQ(test, site->survivors, site->generations);
}

/* Generations that are older than there are slots, freed before and after. */
static void generations_wrap(struct kunit *test)
{
	struct lt_site *site = new_site(test);
	u32 round;

	site_alloc(site, 5, 100, 0);
	for (round = 0; round < 2 * LT_GENERATIONS + 3; round++) {
		struct lt_round *r = record(site, round);

		KUNIT_EXPECT_EQ_MSG(test, r->outstanding, 500U, "round %u", round);
		KUNIT_EXPECT_EQ_MSG(test, atomic64_read(&site->older),
				    round < LT_GENERATION_MAX_AGE ? 0LL : 500LL,
				    "round %u", round);
	}

	/* As seen by a hook in the round that follows the last one recorded. */
	site_free(site, 2, 100, 0, round);
	KUNIT_EXPECT_EQ(test, atomic64_read(&site->older), 300LL);
	site_alloc(site, 1, 100, round);
	site_free(site, 3, 100, 0, round);
	KUNIT_EXPECT_EQ(test, record(site, round)->outstanding, 100U);
	KUNIT_EXPECT_EQ(test, atomic64_read(&site->older), 0LL);
	KUNIT_EXPECT_EQ(test, site->survivors, 1U);
	KUNIT_EXPECT_EQ(test, site->nr_rounds, (u32)LT_RING);
}

/* What is too old to be kept round by round is kept in spans, and those in longer ones. */
static void history_levels(struct kunit *test)
{
	struct lt_round *entries = kunit_kcalloc(test, LT_RING, sizeof(*entries), GFP_KERNEL);
	struct lt_site *site = new_site(test);
	unsigned int level, n, i;
	u32 round;

	KUNIT_ASSERT_NOT_NULL(test, entries);
	KUNIT_EXPECT_EQ(test, leaktrend_history_span(0), 1U);
	KUNIT_EXPECT_EQ(test, leaktrend_history_span(2), (unsigned int)LT_SPAN * LT_SPAN);

	/* One more in each round, and 5 less for a moment in the middle of a span. */
	for (round = 0; round < 3 * LT_SPAN * LT_SPAN * LT_SPAN; round++) {
		site_alloc(site, 1, 1, round);
		if (round % LT_SPAN == 4 && round > 8) {
			site_alloc(site, 5, 1, round);
			site_free(site, 10, 1, round, round);
			site_alloc(site, 5, 1, round);
		}
		record(site, round);
	}

	for (level = 0; level < LT_LEVELS; level++) {
		u32 span = leaktrend_history_span(level);

		n = leaktrend_history_get(site, level, LT_RING, entries);
		KUNIT_EXPECT_EQ_MSG(test, n, min(round / span, level ? LT_COARSE_RING : LT_RING),
				    "level %u", level);
		for (i = 0; i < n; i++) {
			u32 last = (round / span - n + i + 1) * span - 1;
			u32 first = last + 1 - span;

			KUNIT_EXPECT_EQ_MSG(test, entries[i].outstanding, last + 1,
					    "level %u entry %u", level, i);
			/* In a span that is the first round's, or the dip's. */
			if (level && first > 8)
				KUNIT_EXPECT_EQ_MSG(test, entries[i].low,
						    min(first, first + 4 + 1 - 5),
						    "level %u entry %u", level, i);
		}
	}
	KUNIT_EXPECT_EQ(test, leaktrend_history_get(site, 1, 3, entries), 3U);
	KUNIT_EXPECT_EQ(test, entries[2].outstanding, round);

	/* A site that is younger than a span. */
	site = new_site(test);
	site_alloc(site, 7, 1, 14);
	record(site, 14);
	KUNIT_EXPECT_EQ(test, leaktrend_history_get(site, 1, LT_RING, entries), 0U);
	site_alloc(site, 1, 1, 15);
	record(site, 15);
	KUNIT_EXPECT_EQ(test, leaktrend_history_get(site, 1, LT_RING, entries), 1U);
	KUNIT_EXPECT_EQ(test, entries[0].outstanding, 8U);
	KUNIT_EXPECT_EQ(test, entries[0].low, 0U);
	KUNIT_EXPECT_EQ(test, leaktrend_history_get(site, 2, LT_RING, entries), 0U);
}

/* Every age at which an object can die, in the last round that knows its slot. */
static void generations_end_at_zero(struct kunit *test)
{
	u32 age, round, i;

	for (age = 0; age <= LT_GENERATIONS + 2; age++) {
		struct lt_site *site = new_site(test);

		for (round = 0; round < 3 * LT_GENERATIONS; round++) {
			site_alloc(site, 1, 10, round);
			if (round >= age)
				site_free(site, 1, 10, round - age, round);
			record(site, round);
		}
		for (i = round - age; i < round; i++)
			site_free(site, 1, 10, i, round);
		record(site, round);

		for (i = 0; i < LT_GENERATIONS; i++)
			KUNIT_EXPECT_EQ_MSG(test, atomic64_read(&site->gens[i]), 0LL,
					    "age %u, slot %u", age, i);
		KUNIT_EXPECT_EQ_MSG(test, atomic64_read(&site->older), 0LL,
				    "age %u", age);
		KUNIT_EXPECT_EQ(test, atomic64_read(&site->outstanding), 0LL);
		KUNIT_EXPECT_EQ(test, atomic64_read(&site->bytes), 0LL);
		KUNIT_EXPECT_EQ(test, atomic64_read(&site->variance), 0LL);
		kunit_kfree(test, site);
	}
}

static void generation_slot_edges(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, leaktrend_generation_in_slot(5, 5));
	KUNIT_EXPECT_TRUE(test, leaktrend_generation_in_slot(LT_GENERATION_MAX_AGE - 1, 0));
	KUNIT_EXPECT_FALSE(test, leaktrend_generation_in_slot(LT_GENERATION_MAX_AGE, 0));
	/* The number of the round wraps. */
	KUNIT_EXPECT_TRUE(test, leaktrend_generation_in_slot(1, U32_MAX));
	KUNIT_EXPECT_FALSE(test, leaktrend_generation_in_slot(LT_GENERATION_MAX_AGE,
							      U32_MAX));
}

static void overflow(struct kunit *test)
{
	struct lt_site *site = new_site(test);
	struct lt_round *r;

	/* 64-bit counters, 32 bits in the history: it is capped, not wrapped. */
	atomic64_set(&site->outstanding, 5LL << 32);
	atomic64_set(&site->bytes, S64_MAX);
	atomic64_set(&site->low, 5LL << 32);
	atomic64_set(&site->older, 5LL << 32);
	r = record(site, 0);
	KUNIT_EXPECT_EQ(test, r->outstanding, U32_MAX);
	KUNIT_EXPECT_EQ(test, r->low, U32_MAX);
	KUNIT_EXPECT_EQ(test, r->elders, U32_MAX);
	KUNIT_EXPECT_EQ(test, r->bytes, (u64)S64_MAX);

	/* A free that is seen before its allocation. */
	atomic64_set(&site->outstanding, -1);
	atomic64_set(&site->bytes, -64);
	r = record(site, 1);
	KUNIT_EXPECT_EQ(test, r->outstanding, 0U);
	KUNIT_EXPECT_EQ(test, r->bytes, 0ULL);
	KUNIT_EXPECT_EQ(test, r->low, 0U);
}

/* Trends */

static void growth(struct kunit *test)
{
	static const struct {
		u32 v[8];
		bool grew;
	} cases[] = {
		{ { 1, 2, 3, 4, 5, 6, 7, 8 }, true },
		{ { 5, 5, 5, 5, 5, 5, 5, 5 }, false },
		/* It falls: in the middle, in the last step, in the first. */
		{ { 1, 2, 3, 2, 5, 6, 7, 8 }, false },
		{ { 1, 2, 3, 4, 5, 6, 7, 6 }, false },
		{ { 2, 1, 3, 4, 5, 6, 7, 8 }, false },
		{ { U32_MAX, 0, 0, 0, 0, 0, 0, 0 }, false },
		/* Filled once, and at rest. */
		{ { 0, 0, 9, 9, 9, 9, 9, 9 }, false },
		{ { 0, 9, 9, 9, 9, 9, 9, 9 }, false },
		/* A single step at the end may be such a one. */
		{ { 9, 9, 9, 9, 9, 9, 9, 10 }, false },
		{ { 0, 0, 0, 0, 0, 0, 0, U32_MAX }, false },
		/* Slow, but it goes on. */
		{ { 1, 1, 1, 2, 2, 2, 3, 3 }, true },
		{ { 1, 1, 1, 1, 2, 2, 2, 3 }, true },
		{ { 0, 0, 0, 0, 1, 1, 1, U32_MAX }, true },
	};
	static const u32 three[] = { 1, 2, 3 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, leaktrend_grew(cases[i].v, 8),
				    cases[i].grew, "case %u", i);

	KUNIT_EXPECT_FALSE(test, leaktrend_grew(three, 0));
	KUNIT_EXPECT_FALSE(test, leaktrend_grew(three, 1));
	KUNIT_EXPECT_TRUE(test, leaktrend_grew(three, 2));
	KUNIT_EXPECT_TRUE(test, leaktrend_grew(three, 3));
}

static void verdicts(struct kunit *test)
{
	const u64 min_bytes = 1000, min_age = 5000;
	struct lt_evidence e = {
		.low_grew = true,
		.rising = true,
		.bytes = 1000000,
		.grown = 1000,
		.age_ms = 5000,
	};

	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_LIKELY_LEAK);

	/* Size and age, at the edge. */
	e.grown = 999;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_GROWING);
	e.grown = 1000;
	e.age_ms = 4999;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_GROWING);
	e.age_ms = 5000;

	/* A handful of samples is not enough. */
	e.error = 334;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_GROWING);
	e.error = 333;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_LIKELY_LEAK);

	/* What has come to its bound is no leak. */
	e.rising = false;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_GROWING);

	/* What was called one has not to prove it anew, but must be as large. */
	e.standing = true;
	e.grown = 0;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_LIKELY_LEAK);
	e.bytes = 999;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_GROWING);
	e.standing = false;
	e.rising = true;
	e.grown = 1000;

	/* Either series will do. */
	e.low_grew = false;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_NONE);
	e.elders_grew = true;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_LIKELY_LEAK);

	/* A cache that nobody has asked to shrink. */
	e.class = LT_CLASS_RECLAIMABLE;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_CACHE_GROWTH);
	e.reclaimed = true;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_CACHE_GROWTH);
	e.low_grew = true;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_LIKELY_LEAK);
	e.grown = 0;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_CACHE_GROWTH);

	/* Whatever it looks like, it is not the kernel's. */
	e.grown = U64_MAX;
	e.class = LT_CLASS_USER;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_GROWING);
	e.class = LT_CLASS_PAGE_TABLE;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_GROWING);
	e.class = LT_CLASS_SLAB;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_GROWING);
	e.class = LT_CLASS_KERNEL;
	KUNIT_EXPECT_EQ(test, leaktrend_judge(&e, min_bytes, min_age), LT_LIKELY_LEAK);
}

static void governor(struct kunit *test)
{
	const u64 ms = NSEC_PER_MSEC;
	const u32 one = LT_FACTOR_ONE;
	u32 factor = one;
	unsigned int i;

	/* A budget of 1 %, of which 7/8 are aimed at: twice that. */
	KUNIT_EXPECT_EQ(test, leaktrend_govern(one, 1750 * NSEC_PER_USEC, 100 * ms, 10), 2 * one);
	KUNIT_EXPECT_EQ(test, leaktrend_govern(4 * one, 875 * NSEC_PER_USEC, 100 * ms, 10),
			4 * one);
	/* It rises no faster than this, were it all of the CPU. */
	KUNIT_EXPECT_EQ(test, leaktrend_govern(one, 7 * ms, 7 * ms, 10), 8 * one);
	/* It falls no faster, either, and not below 1. */
	KUNIT_EXPECT_EQ(test, leaktrend_govern(80 * one, 0, 100 * ms, 10), 10 * one);
	KUNIT_EXPECT_EQ(test, leaktrend_govern(2 * one, 1, 100 * ms, 10), one);
	KUNIT_EXPECT_EQ(test, leaktrend_govern(one, 0, 100 * ms, 10), one);
	/* From anywhere it is back in ten windows. */
	factor = LT_MAX_RATE << LT_FACTOR_SHIFT;
	for (i = 0; i < 10; i++)
		factor = leaktrend_govern(factor, 0, 100 * ms, 10);
	KUNIT_EXPECT_EQ(test, factor, one);
	/* At the ends of the scale. */
	KUNIT_EXPECT_EQ(test, leaktrend_govern(one, U64_MAX, 1, 1), 8 * one);
	KUNIT_EXPECT_EQ(test, leaktrend_govern(LT_MAX_RATE << LT_FACTOR_SHIFT, U64_MAX, 0, 1),
			LT_MAX_RATE << LT_FACTOR_SHIFT);
	KUNIT_EXPECT_EQ(test, leaktrend_govern(one, 0, 0, 1), one);
	KUNIT_EXPECT_EQ(test, leaktrend_govern(one, 1, U64_MAX, 1000), one);
}

/**
 * struct estimate - What is known of a run.
 * @number:   Sum of the weights of live samples.
 * @variance: Of @number, from the samples.
 * @rate:     In force.
 * @scale:    For it.
 * @gap:      Allocations to skip.
 */
struct estimate {
	u64 number;
	u64 variance;
	u32 rate;
	u64 scale;
	s64 gap;
};

static void change_rate(struct rnd_state *rnd, struct estimate *e, u32 rate)
{
	e->rate = rate;
	e->scale = leaktrend_gap_scale(rate);
	e->gap = leaktrend_gap_draw(e->scale, prandom_u32_state(rnd));
}

/* @nr allocations, of which every third is freed at once. */
static void allocate(struct rnd_state *rnd, struct estimate *e, u32 nr)
{
	s64 left = nr;

	while (e->gap < left) {
		left -= e->gap + 1;
		if (left % 3) {
			e->number += e->rate;
			e->variance += leaktrend_sample_variance(e->rate);
		}
		e->gap = leaktrend_gap_draw(e->scale, prandom_u32_state(rnd));
	}
	e->gap -= left;
}

/*
 * What the governor does to estimates: the rate changes by 100 and back, now when a
 * sample has just been taken, now in the middle of a gap. The mean of many runs must be
 * the truth, and the truth must be within one standard error in 68 % of them and within
 * two in 95 %; of 200 runs that is 136 +- 7 and 191 +- 3, and four times that is allowed.
 */
static void estimates_when_rates_change(struct kunit *test)
{
	const u32 runs = 200, steps = 20, nr = 15000;
	const s64 truth = (s64)steps * nr * 2 / 3;
	u32 run, step, within_one = 0, within_two = 0;
	u64 all_variance = 0;
	s64 sum = 0;

	for (run = 0; run < runs; run++) {
		struct estimate e = {};
		struct rnd_state rnd;
		s64 off, error;

		prandom_seed_state(&rnd, 4711 + run);
		for (step = 0; step < steps; step++) {
			change_rate(&rnd, &e, step % 4 == 3 ? 1000 : 10);
			allocate(&rnd, &e, nr);
		}
		off = abs((s64)e.number - truth);
		error = int_sqrt64(e.variance);
		sum += (s64)e.number - truth;
		all_variance += e.variance;
		within_one += off <= error;
		within_two += off <= 2 * error;
	}
	KUNIT_EXPECT_LE_MSG(test, abs(sum), 4 * (s64)int_sqrt64(all_variance),
			    "the sum of %u runs is off by %lld", runs, sum);
	KUNIT_EXPECT_GE(test, within_one, 136U - 28);
	KUNIT_EXPECT_LE(test, within_one, 136U + 28);
	KUNIT_EXPECT_GE(test, within_two, 191U - 12);
}

static void grown_since(struct kunit *test)
{
	static const struct {
		u32 v[8];
		unsigned int since;
	} cases[] = {
		{ { 1, 2, 3, 4, 5, 6, 7, 8 }, 0 },
		/* After the last fall. */
		{ { 9, 2, 3, 4, 5, 6, 7, 8 }, 1 },
		{ { 1, 2, 3, 4, 5, 6, 5, 8 }, 6 },
		{ { 1, 2, 3, 4, 5, 6, 7, 6 }, 7 },
		/* Flat at first: it begins where it begins to rise. */
		{ { 4, 4, 4, 4, 5, 5, 6, 6 }, 3 },
		{ { 5, 4, 4, 4, 4, 4, 4, 9 }, 6 },
		{ { 4, 4, 4, 4, 4, 4, 4, 4 }, 7 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, leaktrend_grown_since(cases[i].v, 8),
				    cases[i].since, "case %u", i);
	KUNIT_EXPECT_EQ(test, leaktrend_grown_since(cases[0].v, 1), 0U);

	KUNIT_EXPECT_TRUE(test, leaktrend_highest(cases[0].v, 0, 0));
	KUNIT_EXPECT_TRUE(test, leaktrend_highest(cases[0].v, 7, 8));
	KUNIT_EXPECT_FALSE(test, leaktrend_highest(cases[0].v, 8, 8));
	KUNIT_EXPECT_FALSE(test, leaktrend_highest(cases[1].v, 7, 8));
}

static void pace(struct kunit *test)
{
	struct lt_pace pace = {};

	leaktrend_pace(&pace, 800, 1);
	KUNIT_EXPECT_EQ(test, pace.rose, 1U);
	pace.since_ms = 5000;

	/* It rises only where it has not been before. */
	leaktrend_pace(&pace, 700, 2);
	leaktrend_pace(&pace, 800, 3);
	KUNIT_EXPECT_EQ(test, pace.rose, 1U);
	leaktrend_pace(&pace, 801, 4);
	KUNIT_EXPECT_EQ(test, pace.rose, 4U);
	KUNIT_EXPECT_EQ(test, pace.since_ms, 5000ULL);

	/* An eighth can be chance, more is another growth. */
	leaktrend_pace(&pace, 701, 5);
	KUNIT_EXPECT_EQ(test, pace.high, 801U);
	leaktrend_pace(&pace, 700, 6);
	KUNIT_EXPECT_EQ(test, pace.high, 700U);
	KUNIT_EXPECT_EQ(test, pace.rose, 4U);
	KUNIT_EXPECT_EQ(test, pace.since_ms, 0ULL);
	leaktrend_pace(&pace, 701, 7);
	KUNIT_EXPECT_EQ(test, pace.rose, 7U);

	/* From nothing, and at the end of the scale. */
	leaktrend_pace(&pace, 0, 8);
	KUNIT_EXPECT_EQ(test, pace.high, 0U);
	leaktrend_pace(&pace, U32_MAX, 9);
	KUNIT_EXPECT_EQ(test, pace.rose, 9U);
	leaktrend_pace(&pace, U32_MAX, 10);
	KUNIT_EXPECT_EQ(test, pace.rose, 9U);
}

/* What is shown for each round of a sequence, with 3 rounds of calm. */
static void verdicts_follow_slowly(struct kunit *test)
{
	static const struct {
		enum lt_verdict is;
		enum lt_verdict shown;
	} rounds[] = {
		{ LT_NONE, LT_NONE },
		/* Once is chance, twice is not. */
		{ LT_GROWING, LT_NONE },
		{ LT_NONE, LT_NONE },
		{ LT_GROWING, LT_NONE },
		{ LT_GROWING, LT_GROWING },
		{ LT_LIKELY_LEAK, LT_GROWING },
		{ LT_LIKELY_LEAK, LT_LIKELY_LEAK },
		/* A round or two in which it falls change nothing. */
		{ LT_NONE, LT_LIKELY_LEAK },
		{ LT_GROWING, LT_LIKELY_LEAK },
		{ LT_LIKELY_LEAK, LT_LIKELY_LEAK },
		{ LT_NONE, LT_LIKELY_LEAK },
		{ LT_NONE, LT_LIKELY_LEAK },
		{ LT_NONE, LT_SETTLED },
		/* Nor does it come back because of one. */
		{ LT_NONE, LT_SETTLED },
		{ LT_LIKELY_LEAK, LT_SETTLED },
		{ LT_NONE, LT_SETTLED },
		{ LT_LIKELY_LEAK, LT_SETTLED },
		{ LT_LIKELY_LEAK, LT_LIKELY_LEAK },
		/* Smaller than before, but it grows. */
		{ LT_GROWING, LT_LIKELY_LEAK },
		{ LT_GROWING, LT_LIKELY_LEAK },
		{ LT_GROWING, LT_GROWING },
	};
	struct lt_state state = {};
	unsigned int i;
	u64 changed = 0;

	for (i = 0; i < ARRAY_SIZE(rounds); i++) {
		enum lt_verdict was = state.verdict;

		leaktrend_follow(&state, rounds[i].is, 1000, 2000, 3, 1000 + i);
		KUNIT_EXPECT_EQ_MSG(test, state.verdict, rounds[i].shown, "round %u", i);
		if (state.verdict != was)
			changed = 1000 + i;
		KUNIT_EXPECT_EQ_MSG(test, state.changed_ms, changed, "round %u", i);
	}

	/* Half of it is still much, less is not worth a line. */
	leaktrend_follow(&state, LT_NONE, 3000, 2000, 3, 2000);
	KUNIT_EXPECT_EQ(test, state.verdict, LT_GROWING);
	leaktrend_follow(&state, LT_NONE, 1500, 2000, 3, 2001);
	KUNIT_EXPECT_EQ(test, state.verdict, LT_GROWING);
	leaktrend_follow(&state, LT_NONE, 1499, 2000, 3, 2002);
	KUNIT_EXPECT_EQ(test, state.verdict, LT_NONE);
	KUNIT_EXPECT_EQ(test, state.changed_ms, 2002ULL);

	/* What only grew settles if it is large, else it is nothing. */
	for (i = 0; i < 2; i++) {
		u64 bytes = i ? 2000 : 1999;

		state = (struct lt_state){ .verdict = LT_GROWING };
		leaktrend_follow(&state, LT_NONE, bytes, 2000, 2, 3000);
		KUNIT_EXPECT_EQ(test, state.verdict, LT_GROWING);
		leaktrend_follow(&state, LT_NONE, bytes, 2000, 2, 3001);
		KUNIT_EXPECT_EQ(test, state.verdict, i ? LT_SETTLED : LT_NONE);
	}
}

struct slope_data {
	u64 time_ms[LT_RING];
	u64 bytes[LT_RING];
	s64 scratch[LT_PAIRS];
};

static s64 median_of(const u64 *time_ms, const u64 *bytes, unsigned int n, s64 *scratch)
{
	struct lt_slope slope;

	leaktrend_slope(time_ms, bytes, n, scratch, &slope);
	return slope.median;
}

/* Where 100 bytes a minute and noise of one round's growth leave the interval. */
static void slope_interval(struct kunit *test)
{
	struct slope_data *d = kunit_kzalloc(test, sizeof(*d), GFP_KERNEL);
	struct rnd_state random;
	struct lt_slope slope;
	unsigned int i, covered = 0;

	KUNIT_ASSERT_NOT_NULL(test, d);
	prandom_seed_state(&random, 3);
	for (i = 0; i < 200 * LT_RING; i++) {
		d->time_ms[i % LT_RING] = 1000 + i % LT_RING * 60000;
		d->bytes[i % LT_RING] = 5000 + i % LT_RING * 100 +
					prandom_u32_state(&random) % 200;
		if (i % LT_RING < LT_RING - 1)
			continue;
		leaktrend_slope(d->time_ms, d->bytes, LT_RING, d->scratch, &slope);
		KUNIT_EXPECT_LT(test, slope.low, slope.median);
		KUNIT_EXPECT_GT(test, slope.high, slope.median);
		covered += slope.low <= 6000 && slope.high >= 6000;
	}
	/* 95 % of 200, give or take three standard deviations of 3.1. */
	KUNIT_EXPECT_GE(test, covered, 180U);
	KUNIT_EXPECT_LT(test, covered, 200U);

	/* Of two values there is one slope. */
	leaktrend_slope(d->time_ms, d->bytes, 2, d->scratch, &slope);
	KUNIT_EXPECT_EQ(test, slope.low, slope.median);
	KUNIT_EXPECT_EQ(test, slope.high, slope.median);
	leaktrend_slope(d->time_ms, d->bytes, 1, d->scratch, &slope);
	KUNIT_EXPECT_EQ(test, slope.low, 0LL);
	KUNIT_EXPECT_EQ(test, slope.high, 0LL);
}

static void slope(struct kunit *test)
{
	struct slope_data *d = kunit_kzalloc(test, sizeof(*d), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, d);
	for (i = 0; i < LT_RING; i++) {
		d->time_ms[i] = 1000 + i * 60000;
		d->bytes[i] = 5000 + i * 100;
	}
	/* 100 bytes a minute. */
	KUNIT_EXPECT_EQ(test, median_of(d->time_ms, d->bytes, LT_RING, d->scratch),
			6000LL);

	/* A quarter of the values is nonsense, and it hardly moves. */
	for (i = 3; i < LT_RING; i += 4)
		d->bytes[i] = i % 8 == 3 ? 0 : 1ULL << 40;
	KUNIT_EXPECT_EQ(test, median_of(d->time_ms, d->bytes, LT_RING, d->scratch),
			6000LL);

	for (i = 0; i < LT_RING; i++)
		d->bytes[i] = 5000 - i * 100;
	KUNIT_EXPECT_EQ(test, median_of(d->time_ms, d->bytes, LT_RING, d->scratch),
			-6000LL);

	/* Nothing to draw a line through, and rounds at the same time. */
	KUNIT_EXPECT_EQ(test, median_of(d->time_ms, d->bytes, 0, d->scratch), 0LL);
	KUNIT_EXPECT_EQ(test, median_of(d->time_ms, d->bytes, 1, d->scratch), 0LL);
	d->time_ms[1] = d->time_ms[0];
	KUNIT_EXPECT_EQ(test, median_of(d->time_ms, d->bytes, 2, d->scratch), 0LL);

	/* As steep as can be: capped. */
	d->bytes[0] = 0;
	d->bytes[1] = U64_MAX;
	d->time_ms[1] = d->time_ms[0] + 1;
	KUNIT_EXPECT_EQ(test, median_of(d->time_ms, d->bytes, 2, d->scratch), S64_MAX);
	d->bytes[0] = U64_MAX;
	d->bytes[1] = 0;
	KUNIT_EXPECT_EQ(test, median_of(d->time_ms, d->bytes, 2, d->scratch), -S64_MAX);
	/* Too great to be multiplied first, but not too great: 2^60 in 2^30 hours. */
	d->bytes[0] = 0;
	d->bytes[1] = 1ULL << 60;
	d->time_ms[1] = d->time_ms[0] + (HOUR_MS << 10);
	KUNIT_EXPECT_GT(test, median_of(d->time_ms, d->bytes, 2, d->scratch),
			(1LL << 50) - (1LL << 40));
	KUNIT_EXPECT_LE(test, median_of(d->time_ms, d->bytes, 2, d->scratch), 1LL << 50);
}

static void rank_correlation(struct kunit *test)
{
	static const u64 up[] = { 1, 2, 3, 4, 5 };
	static const u64 down[] = { 5, 4, 3, 2, 1 };
	static const u64 flat[] = { 3, 3, 3, 3, 3 };
	static const u64 mixed[] = { 1, 3, 2, 4, 5 };

	KUNIT_EXPECT_EQ(test, leaktrend_mann_kendall(up, 5), 100);
	KUNIT_EXPECT_EQ(test, leaktrend_mann_kendall(down, 5), -100);
	KUNIT_EXPECT_EQ(test, leaktrend_mann_kendall(flat, 5), 0);
	KUNIT_EXPECT_EQ(test, leaktrend_mann_kendall(mixed, 5), 80);
	KUNIT_EXPECT_EQ(test, leaktrend_mann_kendall(up, 1), 0);
	KUNIT_EXPECT_EQ(test, leaktrend_mann_kendall(up, 0), 0);
}

/* Hooks that no module can reach. They need tracking to be on. */

static u64 outstanding_in(const struct kmem_cache *s, u64 *bytes)
{
	struct lt_site *site;
	u64 objects = 0;

	*bytes = 0;
	mutex_lock(&leaktrend_mutex);
	leaktrend_for_each_site(site) {
		if (site->cache == s) {
			objects += leaktrend_counter(&site->outstanding);
			*bytes += leaktrend_counter(&site->bytes);
		}
	}
	mutex_unlock(&leaktrend_mutex);
	return objects;
}

static void set_sample_rate(u64 rate)
{
	WRITE_ONCE(leaktrend_params.sample_rate, rate);
	leaktrend_sampler_set_rate();
}

/*
 * An object is live when it is taken out of a prefilled sheaf, not when the sheaf
 * is filled, and what is left in the sheaf has never been.
 */
static void prefilled_sheaf(struct kunit *test)
{
	struct kmem_cache_args args = { .sheaf_capacity = 32 };
	u64 rate = lt_param(sample_rate), bytes;
	struct slab_sheaf *sheaf;
	struct kmem_cache *s;
	void *objects[20];
	int i;

	if (!READ_ONCE(leaktrend_running))
		kunit_skip(test, "boot with leaktrend=on");

	s = kmem_cache_create("leaktrend_kunit", 72, &args,
			      SLAB_NO_MERGE | SLAB_SKIP_KFENCE);
	KUNIT_ASSERT_NOT_NULL(test, s);
	set_sample_rate(1);

	sheaf = kmem_cache_prefill_sheaf(s, GFP_KERNEL, ARRAY_SIZE(objects));
	KUNIT_EXPECT_NOT_NULL(test, sheaf);
	if (!sheaf)
		goto out;
	KUNIT_EXPECT_EQ(test, outstanding_in(s, &bytes), 0ULL);

	for (i = 0; i < ARRAY_SIZE(objects); i++)
		objects[i] = kmem_cache_alloc_from_sheaf(s, GFP_KERNEL, sheaf);
	KUNIT_EXPECT_EQ(test, outstanding_in(s, &bytes), 20ULL);
	KUNIT_EXPECT_EQ(test, bytes, 20ULL * s->size);
	kmem_cache_return_sheaf(s, GFP_KERNEL, sheaf);
	KUNIT_EXPECT_EQ(test, outstanding_in(s, &bytes), 20ULL);

	for (i = 0; i < 5; i++)
		kmem_cache_free(s, objects[i]);
	KUNIT_EXPECT_EQ(test, outstanding_in(s, &bytes), 15ULL);
	kmem_cache_free_bulk(s, 15, objects + 5);
	KUNIT_EXPECT_EQ(test, outstanding_in(s, &bytes), 0ULL);
	KUNIT_EXPECT_EQ(test, bytes, 0ULL);
out:
	set_sample_rate(rate);
	kmem_cache_destroy(s);
}

/* Pages with a bit of ours, in page_ext or in the flags of a slab. */
static unsigned long marked_pages(void)
{
	unsigned long pfn, marked = 0;

	for (pfn = 0; pfn < max_pfn; pfn++) {
		struct page *page = pfn_to_online_page(pfn);
		struct page_ext *page_ext = page ? page_ext_get(page) : NULL;
		struct slab *slab;

		if (!page_ext)
			continue;
		slab = page_slab(page);
		marked += *(u64 *)page_ext_data(page_ext, &leaktrend_ops) ||
			  (slab && test_bit(LEAKTREND_SLAB_SAMPLED, &slab->flags.f));
		page_ext_put(page_ext);
		cond_resched();
	}
	return marked;
}

/* Small ones share bits, large ones are in slabs of several pages. */
static void purge_leaves_nothing(struct kunit *test)
{
	static const size_t sizes[] = { 8, 16, 64, 96, 1024, 4096, 8192 };
	u64 rate = lt_param(sample_rate);
	unsigned long taken, freed;
	void *objects[140];
	int i, missed = 0;

	if (!READ_ONCE(leaktrend_running))
		kunit_skip(test, "boot with leaktrend=on");

	set_sample_rate(1);
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		objects[i] = kmalloc(sizes[i % ARRAY_SIZE(sizes)], GFP_KERNEL);
		missed += !objects[i];
	}
	for (i = 0; i < ARRAY_SIZE(objects); i += 3)
		kfree(objects[i]);
	KUNIT_EXPECT_EQ(test, missed, 0);
	KUNIT_EXPECT_GT(test, marked_pages(), 0UL);

	leaktrend_disable();
	leaktrend_sample_counts(&taken, &freed);
	KUNIT_EXPECT_EQ(test, taken, freed);
	KUNIT_EXPECT_EQ(test, leaktrend_nr_sites(), 0U);
	KUNIT_EXPECT_EQ(test, marked_pages(), 0UL);

	/* What is freed now is unknown to the next session. */
	leaktrend_enable();
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		if (i % 3)
			kfree(objects[i]);
	}
	set_sample_rate(rate);
}

static struct kunit_case leaktrend_cases[] = {
	KUNIT_CASE(gap_mean_and_spread),
	KUNIT_CASE(gap_zero_is_as_likely_as_it_must_be),
	KUNIT_CASE(gap_edges),
	KUNIT_CASE(weights_and_error),
	KUNIT_CASE(page_estimates_have_no_bias),
	KUNIT_CASE(page_weights),
	KUNIT_CASE(counters),
	KUNIT_CASE(page_owner_counters),
	KUNIT_CASE(low_water_mark),
	KUNIT_CASE(low_water_mark_of_bytes),
	KUNIT_CASE(elders),
	KUNIT_CASE(generations_wrap),
	KUNIT_CASE(history_levels),
	KUNIT_CASE(generations_end_at_zero),
	KUNIT_CASE(generation_slot_edges),
	KUNIT_CASE(overflow),
	KUNIT_CASE(growth),
	KUNIT_CASE(governor),
	KUNIT_CASE(estimates_when_rates_change),
	KUNIT_CASE(grown_since),
	KUNIT_CASE(pace),
	KUNIT_CASE(verdicts),
	KUNIT_CASE(verdicts_follow_slowly),
	KUNIT_CASE(slope),
	KUNIT_CASE(slope_interval),
	KUNIT_CASE(rank_correlation),
	KUNIT_CASE(prefilled_sheaf),
	KUNIT_CASE(purge_leaves_nothing),
	{}
};

static struct kunit_suite leaktrend_suite = {
	.name = "leaktrend",
	.test_cases = leaktrend_cases,
};

kunit_test_suites(&leaktrend_suite);

MODULE_DESCRIPTION("KUnit tests of leaktrend");
MODULE_LICENSE("GPL");
