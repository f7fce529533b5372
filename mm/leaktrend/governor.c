// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: what tracking may cost.
 *
 * What a sample costs, from its allocation to its free, is measured, and bounded by
 * max_overhead. It is the number of samples that can be changed: a CPU that spends too
 * much multiplies the mean interval between its samples by a factor, and the samples
 * weigh as much more. What is estimated stays right, only with a larger error.
 *
 * Each CPU looks after itself, once in a window of time, or at once when what it may
 * spend in a window is spent. Nothing is shared, no CPU interrupts another, and the
 * static key stays as it is. As long as the factor is raised a timer sees to it that it
 * comes down, as there may be no sample that could. In a window it changes by 8 at most,
 * so that from any factor it is back within a second.
 *
 * When the factor changes, what is left of a gap is thrown away. That biases nothing,
 * see sampler.c, as it depends only on what has been sampled before.
 *
 * Locking: what belongs to a CPU is changed there, with interrupts off.
 */
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/time64.h>
#include <linux/timer.h>

#include "internal.h"

#define WINDOW_MS	100
#define WINDOW_NS	((u64)WINDOW_MS * NSEC_PER_MSEC)
/* Whatever took longer was not a sample, but what came between. */
#define MAX_COST_NS	(100ULL * NSEC_PER_USEC)

/**
 * struct governor - What a CPU spends.
 * @begin_ns: Begin of the window.
 * @spent_ns: Time spent in it.
 * @last_ppm: What was spent in the window before, in millionths of it.
 * @factor:   Of the interval between samples, in units of LT_FACTOR_ONE.
 * @timer:    Runs as long as @factor is raised.
 * @work:     Starts it. Where a sample is taken, locks of timers may be held.
 */
struct governor {
	u64 begin_ns;
	u64 spent_ns;
	u32 last_ppm;
	u32 factor;
	struct timer_list timer;
	struct irq_work work;
};

static DEFINE_PER_CPU(struct governor, governors);

static u32 ppm(u64 part, u64 whole)
{
	return min(mul_u64_u64_div_u64(part, USEC_PER_SEC, max(whole, 1ULL)), U32_MAX);
}

/* End the window. */
static void regulate(struct governor *governor, u64 now)
{
	u64 elapsed = now - governor->begin_ns;
	u32 factor;

	factor = leaktrend_govern(governor->factor, governor->spent_ns, elapsed,
				  lt_param(max_overhead));
	WRITE_ONCE(governor->last_ppm, ppm(governor->spent_ns, elapsed));
	WRITE_ONCE(governor->begin_ns, now);
	WRITE_ONCE(governor->spent_ns, 0);
	if (factor != governor->factor) {
		WRITE_ONCE(governor->factor, factor);
		leaktrend_sampler_set_rate_here();
	}
	if (factor > LT_FACTOR_ONE && !timer_pending(&governor->timer))
		irq_work_queue(&governor->work);
}

/**
 * leaktrend_governor_begin() - Begin to do something for a sample.
 *
 * Context: Any.
 * Return: For leaktrend_governor_end().
 */
u64 leaktrend_governor_begin(void)
{
	return lt_param(max_overhead) && !in_nmi() ? local_clock() : 0;
}

/**
 * leaktrend_governor_end() - It is done.
 * @begin: From leaktrend_governor_begin(), perhaps on another CPU.
 *
 * Context: Any.
 */
void leaktrend_governor_end(u64 begin)
{
	struct governor *governor;
	unsigned long flags;
	u64 now;

	if (!begin)
		return;

	local_irq_save(flags);
	governor = this_cpu_ptr(&governors);
	now = local_clock();
	/* Clocks of different CPUs may differ a little. */
	if (now > begin)
		WRITE_ONCE(governor->spent_ns,
			   governor->spent_ns + min(now - begin, MAX_COST_NS));
	if (now - governor->begin_ns >= WINDOW_NS ||
	    governor->spent_ns * 1000 > lt_param(max_overhead) * WINDOW_NS)
		regulate(governor, now);
	local_irq_restore(flags);
}

static void governor_work(struct irq_work *work)
{
	mod_timer(this_cpu_ptr(&governors.timer), jiffies + msecs_to_jiffies(WINDOW_MS));
}

static void governor_timer(struct timer_list *timer)
{
	struct governor *governor;
	unsigned long flags;
	u64 now;

	local_irq_save(flags);
	governor = this_cpu_ptr(&governors);
	/* Not that of a CPU that has gone offline. */
	if (timer == &governor->timer) {
		now = local_clock();
		if (now - governor->begin_ns >= WINDOW_NS)
			regulate(governor, now);
		else if (governor->factor > LT_FACTOR_ONE)
			irq_work_queue(&governor->work);
	}
	local_irq_restore(flags);
}

/**
 * leaktrend_governor_rate() - The mean interval between samples that is in force.
 * @cpu:  On which CPU.
 * @rate: The one that is asked for.
 *
 * Context: On that CPU with interrupts off, or while it is offline. Anywhere else
 * for a figure to show.
 * Return: An interval, @rate or more.
 */
u32 leaktrend_governor_rate(int cpu, u32 rate)
{
	u64 factor = READ_ONCE(per_cpu(governors, cpu).factor);

	if (!lt_param(max_overhead))
		return rate;
	return clamp(rate * factor / LT_FACTOR_ONE, rate, LT_MAX_RATE);
}

/**
 * leaktrend_governor_stats() - What is spent at the moment.
 * @stats: To be filled in.
 *
 * Context: Process context.
 */
void leaktrend_governor_stats(struct lt_governor_stats *stats)
{
	u64 now = local_clock(), sum = 0;
	int cpu;

	*stats = (struct lt_governor_stats){};
	for_each_online_cpu(cpu) {
		const struct governor *governor = &per_cpu(governors, cpu);
		u64 begin = READ_ONCE(governor->begin_ns);

		stats->rate = max(stats->rate,
				  leaktrend_governor_rate(cpu, lt_param(sample_rate)));
		/* A CPU without samples does not end its window. */
		if (now > begin && now - begin > 2 * WINDOW_NS)
			sum += ppm(READ_ONCE(governor->spent_ns), now - begin);
		else
			sum += READ_ONCE(governor->last_ppm);
	}
	stats->ppm = div_u64(sum, num_online_cpus());
}

void __init leaktrend_governor_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct governor *governor = &per_cpu(governors, cpu);

		governor->factor = LT_FACTOR_ONE;
		timer_setup(&governor->timer, governor_timer, TIMER_PINNED);
		init_irq_work(&governor->work, governor_work);
	}
}
