// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: the arithmetic of sampling and of trends. Integers only, and no
 * state, so that KUnit can test all of it.
 */
#include <linux/bug.h>
#include <linux/int_log.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/sort.h>

#include "internal.h"

/* ln(2) in units of 2^-32. */
#define LN2_SHIFT_32	2977044472ULL
/* Fraction bits of the scale, and of what intlog2() returns. */
#define SCALE_SHIFT	16
#define LOG2_SHIFT	24

/**
 * leaktrend_gap_scale() - Precompute what a random gap is drawn with.
 * @rate: Mean interval between samples, in allocations; at least 2.
 *
 * If each allocation is sampled with probability p = 1/rate, independently of
 * all others, then the number of allocations skipped between two samples is
 * geometric, and is had from an exponential variate E of mean 1 as
 * floor(E / -ln(1 - p)) (Devroye, Non-Uniform Random Variate Generation, 1986,
 * chapter X.2). The divisor is expanded in p to keep to integers:
 *
 *   -1 / ln(1 - p) = 1/p - 1/2 - p/12 - p^2/24 - 19 p^3/720 - 3 p^4/160 - ...
 *
 * Cut off there it is wrong by at most 0.05 % (for a rate of 2), less than
 * 10^-4 % from a rate of 10 on.
 *
 * Return: ln(2) times that, in units of 2^-16.
 */
u64 leaktrend_gap_scale(u32 rate)
{
	const u64 one = 1ULL << 32;
	u64 r = rate;
	u64 inverse;

	inverse = (r << 32) - one / 2 - div64_u64(one, 12 * r) -
		  div64_u64(one, 24 * r * r);
	/* Nothing is left of the last terms, but an overflow of theirs. */
	if (r < 1000)
		inverse -= div64_u64(19 * one, 720 * r * r * r) +
			   div64_u64(3 * one, 160 * r * r * r * r);

	return mul_u64_u64_shr(inverse, LN2_SHIFT_32, 64 - SCALE_SHIFT);
}

/**
 * leaktrend_gap_draw() - Draw the number of allocations to skip.
 * @scale:  From leaktrend_gap_scale().
 * @random: Uniformly distributed.
 *
 * Return: A geometric variate of mean rate - 1.
 */
u32 leaktrend_gap_draw(u64 scale, u32 random)
{
	u32 log2;

	/* -log2() of a number in (0, 1], exponential with mean 1/ln(2). */
	log2 = (32U << LOG2_SHIFT) - intlog2(max(random, 1U));

	return mul_u64_u32_shr(scale, log2, SCALE_SHIFT + LOG2_SHIFT);
}

/**
 * leaktrend_sample_variance() - What one sample adds to the error.
 * @weight: Number of allocations that it stands for.
 *
 * Horvitz and Thompson (1952): if objects are included independently with
 * probability p = 1/weight, the variance of the estimated number of objects is
 * the sum of (1 - p) / p over all of them, which is itself estimated by the sum
 * of (1 - p) / p^2 over those included.
 *
 * Return: Variance in objects squared.
 */
u64 leaktrend_sample_variance(u32 weight)
{
	return (u64)weight * (weight - 1);
}

/**
 * leaktrend_page_weight() - How many pages a sampled allocation stands for.
 * @rate:   Mean interval between samples, in pages.
 * @order:  2^@order pages were allocated at once.
 * @random: Uniformly distributed.
 *
 * An allocation is sampled if one of its k pages is drawn, each with probability
 * 1/rate: P = 1 - (1 - 1/rate)^k. By Horvitz and Thompson (1952) it then stands
 * for k / P pages. That is about @rate as long as k is small, and hardly more
 * than k when it is large. It is rounded up or down by chance, so that its mean
 * is right. With W = k / P the variance of the estimate is W * (W - k).
 *
 * Return: Number of pages, at least 2^@order.
 */
u64 leaktrend_page_weight(u32 rate, unsigned int order, u32 random)
{
	const u64 one = 1ULL << 63;
	unsigned int i;
	u64 p;

	if (rate <= 1)
		return 1ULL << order;

	p = div_u64(one, rate);
	/* Of twice as many pages one is drawn with 1 - (1 - p)^2 = p + p * (1 - p). */
	for (i = 0; i < order; i++)
		p += mul_u64_u64_shr(p, one - p, 63);

	return (mul_u64_u64_div_u64(1ULL << (32 + order), one, p) + random) >> 32;
}

/**
 * leaktrend_page_share() - How many pages one of an allocation stands for.
 * @weight: What all of them stand for, from leaktrend_page_weight().
 * @order:  There are 2^@order.
 * @i:	    Which, from 0.
 * @random: The same for all pages of the allocation.
 *
 * Which of them get one more is left to chance, as those at the beginning or at
 * the end can have another fate than the rest.
 *
 * Return: An integer, close to the same for each. Together they are @weight.
 */
u32 leaktrend_page_share(u64 weight, unsigned int order, unsigned long i, u32 random)
{
	u64 offset = random & ((1U << order) - 1);

	return (((i + 1) * weight + offset) >> order) - ((i * weight + offset) >> order);
}

/**
 * leaktrend_error_permille() - Standard error of an estimate.
 * @variance:	 Its variance.
 * @outstanding: The estimate.
 *
 * Return: In thousandths of the estimate, at most 1000.
 */
u32 leaktrend_error_permille(u64 variance, u64 outstanding)
{
	u64 sigma = int_sqrt64(variance);

	if (!outstanding || sigma >= outstanding)
		return sigma ? 1000 : 0;

	/* Both below 2^32, as sigma is and as it is the greater otherwise. */
	if (outstanding > U32_MAX)
		return div64_u64(sigma, div_u64(outstanding, 1000));
	return div64_u64(sigma * 1000, outstanding);
}

/**
 * leaktrend_generation_in_slot() - Where a generation is counted.
 * @round: The current round.
 * @birth: The round of birth, not after @round. Both may wrap.
 *
 * Return: true if it has a slot of its own, false if it has been, or is about
 * to be, added to the older ones.
 */
bool leaktrend_generation_in_slot(u32 round, u32 birth)
{
	return round - birth < LT_GENERATION_MAX_AGE;
}

/**
 * leaktrend_grew() - Does a series grow?
 * @v: Values, oldest first.
 * @n: How many.
 *
 * It never falls, and it rises in the first half as well as in the second. A
 * pool that is filled once rises, too, and then rests; so does the number of its
 * elders, some rounds later.
 *
 * Return: true if it grows. false for fewer than two values.
 */
bool leaktrend_grew(const u32 *v, unsigned int n)
{
	unsigned int i;

	if (n < 2)
		return false;

	for (i = 1; i < n; i++) {
		if (v[i] < v[i - 1])
			return false;
	}
	/* Two values have one step between them. */
	if (n == 2)
		return v[1] > v[0];
	return v[n / 2] > v[0] && v[n - 1] > v[n / 2];
}

/**
 * leaktrend_grown_since() - Where does the growth of a series begin?
 * @v: Values, oldest first.
 * @n: How many, at least one.
 *
 * Return: Index of the last value before the first rise that no fall follows.
 */
unsigned int leaktrend_grown_since(const u32 *v, unsigned int n)
{
	unsigned int i = n - 1;

	while (i && v[i - 1] <= v[i])
		i--;
	while (i + 1 < n && v[i] == v[i + 1])
		i++;
	return i;
}

/**
 * leaktrend_highest() - Has there never been so much?
 * @v:	  Earlier values.
 * @n:	  How many, can be none.
 * @last: The last value.
 *
 * Return: true if all are less than the last one.
 */
bool leaktrend_highest(const u32 *v, unsigned int n, u32 last)
{
	while (n--) {
		if (v[n] >= last)
			return false;
	}
	return true;
}

/**
 * leaktrend_pace() - Note how far a series has got.
 * @pace:  What is known.
 * @value: The next value.
 * @round: Its round.
 *
 * After a fall by more than an eighth everything begins anew: what grows again
 * is another growth, as of a pool that is filled, emptied and filled. A smaller
 * fall can be chance.
 */
void leaktrend_pace(struct lt_pace *pace, u32 value, u32 round)
{
	if (value > pace->high) {
		pace->high = value;
		pace->rose = round;
	} else if (value < pace->high - pace->high / 8) {
		pace->high = value;
		pace->since_ms = 0;
	}
}

/* SETTLED is what is shown of something that does not grow. */
static int severity(enum lt_verdict verdict)
{
	return verdict <= LT_SETTLED ? LT_NONE : verdict;
}

/**
 * leaktrend_follow() - Let the verdict that is shown follow that of a round.
 * @state:	 What is shown.
 * @verdict:	 What the rules say in this round.
 * @bytes:	 What is outstanding at its end.
 * @min_bytes:	 Least size of a leak.
 * @calm_rounds: For how many rounds it must be better to be shown as such.
 * @now_ms:	 When the round ended.
 *
 * A verdict must have been worse for LT_CONFIRM_ROUNDS in a row, as samples can
 * rise by chance, and what was shown once is not taken back because of a single
 * round in which it fell. What stops growing is not forgotten if it was a leak or
 * is as large as one: it is SETTLED. It is forgotten, and at once, when more than
 * half of it has been given back.
 */
void leaktrend_follow(struct lt_state *state, enum lt_verdict verdict, u64 bytes,
		      u64 min_bytes, u32 calm_rounds, u64 now_ms)
{
	bool settles = state->verdict == LT_LIKELY_LEAK || bytes >= min_bytes;
	int is = severity(verdict), was = severity(state->verdict);

	state->peak = state->verdict == LT_NONE ? bytes : max(state->peak, bytes);
	if (!is && bytes < state->peak / 2) {
		*state = (struct lt_state){ .changed_ms = now_ms };
		return;
	}

	state->above = is > was ? state->above + 1 : 0;
	state->below = is < was ? state->below + 1 : 0;
	if (state->above < LT_CONFIRM_ROUNDS && (!state->below || state->below < calm_rounds))
		return;

	if (!is)
		verdict = settles ? LT_SETTLED : LT_NONE;
	state->verdict = verdict;
	state->above = 0;
	state->below = 0;
	state->changed_ms = now_ms;
}

/**
 * leaktrend_judge() - Apply the rules.
 * @e:		The evidence.
 * @min_bytes:	Least size of a leak.
 * @min_age_ms: For how long it must have been going on.
 *
 * Growth, size and age together are a leak. Growth is that of the low-water
 * mark, or, where churn makes that noise, of the elders.
 *
 * What counts is by how much it has grown, not how much is there: a few steps of a
 * site that was always large are nothing. A handful of samples can rise by chance,
 * too. There are not enough as long as the growth is less than three standard
 * errors from none.
 *
 * On the coarser levels of the history growth is seen for some time after its end.
 * It has to be rising still when it is first called a leak: something that fills
 * up to a bound is full before it is old. Once it is called one, it need not rise
 * again every few rounds.
 *
 * A reclaimable cache grows because nobody needs the memory. It leaks if it has
 * grown on while slab reclaim ran, be it this cache that was asked or another.
 *
 * What processes own can grow, but is no leak of the kernel's. Nor are the pages
 * of slabs: their objects are judged.
 *
 * Return: The verdict.
 */
enum lt_verdict leaktrend_judge(const struct lt_evidence *e, u64 min_bytes,
				u64 min_age_ms)
{
	bool leak = leaktrend_evidence_bytes(e) >= min_bytes && e->age_ms >= min_age_ms &&
		    e->error <= LT_MAX_ERROR && (e->rising || e->standing);

	if (!e->low_grew && !e->elders_grew)
		return LT_NONE;

	switch (e->class) {
	case LT_CLASS_KERNEL:
		return leak ? LT_LIKELY_LEAK : LT_GROWING;
	case LT_CLASS_RECLAIMABLE:
		return leak && e->reclaimed && e->low_grew ? LT_LIKELY_LEAK :
							     LT_CACHE_GROWTH;
	default:
		return LT_GROWING;
	}
}

/**
 * leaktrend_govern() - By what is the interval between samples to be multiplied?
 * @factor:	     What it was multiplied by in a window of time, in LT_FACTOR_ONE.
 * @spent_ns:	     What the samples of that window have cost.
 * @elapsed_ns:	     How long it was.
 * @budget_permille: What may be spent, in thousandths.
 *
 * What samples cost is proportional to their number, so that the factor follows from
 * what was spent. Seven eighths of the budget are aimed at, for the number of samples
 * varies. It does not change by more than 8, as what a single sample or none has cost in
 * a short time says little.
 *
 * Return: The factor for the next window, at least LT_FACTOR_ONE.
 */
u32 leaktrend_govern(u32 factor, u64 spent_ns, u64 elapsed_ns, u32 budget_permille)
{
	u64 aim_ns = mul_u64_u64_div_u64(elapsed_ns, 7ULL * budget_permille, 8 * 1000);
	u64 next = div64_u64(factor * min(spent_ns, U32_MAX), max(aim_ns, 1ULL));

	next = clamp(next, factor / 8ULL, factor * 8ULL);
	return clamp(next, LT_FACTOR_ONE, (u64)LT_MAX_RATE << LT_FACTOR_SHIFT);
}

static int cmp_s64(const void *a, const void *b)
{
	s64 x = *(const s64 *)a, y = *(const s64 *)b;

	return x < y ? -1 : x > y;
}

/* Bytes per hour, saturated. */
static s64 pair_slope(u64 from, u64 to, u64 ms)
{
	const u64 hour = 3600ULL * 1000;
	u64 delta = to > from ? to - from : from - to;
	u64 slope;

	if (!ms)
		return 0;

	if (!check_mul_overflow(delta, hour, &slope))
		slope = div64_u64(slope, ms);
	else if (check_mul_overflow(div64_u64(delta, ms), hour, &slope))
		slope = S64_MAX;
	slope = min_t(u64, slope, S64_MAX);

	return to > from ? (s64)slope : -(s64)slope;
}

/* The value at a rank, from 0, of sorted ones; that at either end beyond them. */
static s64 at_rank(const s64 *sorted, unsigned int n, s64 rank)
{
	return sorted[clamp_t(s64, rank, 0, n - 1)];
}

/**
 * leaktrend_slope() - Robust slope of a series.
 * @time_ms: When each value was taken, rising.
 * @bytes:   The values, oldest first.
 * @n:	     How many, at most LT_RING.
 * @scratch: Room for LT_PAIRS numbers.
 * @slope:   The result. All 0 for fewer than two values.
 *
 * The median of the slopes between all pairs (Theil 1950, Sen 1968): up to 29 %
 * of the values may be anything without moving it far. Its interval is between
 * the slopes whose ranks are 1.96 standard deviations of Kendall's S apart from
 * the middle (Gilbert, Statistical Methods for Environmental Pollution
 * Monitoring, 1987, chapter 16.5), where that variance is n (n - 1) (2n + 5) / 18.
 * Values of the same series depend on each other, so that the true interval is
 * wider; it is to compare sites by.
 */
void leaktrend_slope(const u64 *time_ms, const u64 *bytes, unsigned int n,
		     s64 *scratch, struct lt_slope *slope)
{
	unsigned int i, j, pairs = 0;
	s64 apart;

	*slope = (struct lt_slope){};
	if (WARN_ON_ONCE(n > LT_RING) || n < 2)
		return;

	for (i = 0; i < n; i++) {
		for (j = i + 1; j < n; j++)
			scratch[pairs++] = pair_slope(bytes[i], bytes[j],
						      time_ms[j] - time_ms[i]);
	}
	sort(scratch, pairs, sizeof(*scratch), cmp_s64, NULL);

	/* Halves first: the sum of two can overflow. */
	if (pairs % 2)
		slope->median = scratch[pairs / 2];
	else
		slope->median = scratch[pairs / 2 - 1] / 2 + scratch[pairs / 2] / 2;

	/* 1.96^2 / 18 */
	apart = int_sqrt64(div_u64(213422ULL * n * (n - 1) * (2 * n + 5), 1000000)) + 1;
	slope->low = at_rank(scratch, pairs, ((s64)pairs - apart) / 2 - 1);
	slope->high = at_rank(scratch, pairs, ((s64)pairs + apart + 1) / 2);
}

/**
 * leaktrend_mann_kendall() - Rank correlation of a series with time.
 * @v: Values, oldest first.
 * @n: How many.
 *
 * Mann (1945), Kendall (1938): of all pairs, those that rise less those that
 * fall.
 *
 * Return: Kendall's tau in per cent, -100 to 100. 0 for fewer than two values.
 */
int leaktrend_mann_kendall(const u64 *v, unsigned int n)
{
	unsigned int i, j;
	int s = 0;

	if (n < 2)
		return 0;

	for (i = 0; i < n; i++) {
		for (j = i + 1; j < n; j++)
			s += (v[j] > v[i]) - (v[j] < v[i]);
	}

	return s * 100 / (int)(n * (n - 1) / 2);
}
