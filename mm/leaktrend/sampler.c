// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: which allocations are sampled, and with what weight.
 *
 * Every CPU counts down a random gap. The gaps are geometric, so that each
 * allocation is sampled with probability 1/rate whatever the code does around
 * it, and a sample stands for rate allocations. At a rate of 1 there is no gap
 * and every allocation is sampled, in all contexts.
 *
 * The geometric distribution has no memory: to throw away what is left of a gap
 * and to draw another one, with another rate, biases nothing. The weight of a
 * sample is the rate with which the gap before it was drawn.
 *
 * Locking: the per-CPU state belongs to the CPU with interrupts off. Nothing is
 * shared between CPUs here.
 */
#include <linux/cpu.h>
#include <linux/gfp.h>
#include <linux/kasan.h>
#include <linux/kfence.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "internal.h"

/* Frames of the allocator at most, which are captured and cut off again. */
#define ALLOCATOR_FRAMES	8

/**
 * struct sampler - What a CPU needs to draw its next gap.
 * @rate:   With which the current gap was drawn.
 * @scale:  leaktrend_gap_scale() of it.
 * @random: Generator. Need not be unpredictable, and get_random_u32() takes a
 *	    lock that may sleep on PREEMPT_RT.
 */
struct sampler {
	u32 rate;
	u64 scale;
	struct rnd_state random;
};

static DEFINE_PER_CPU(struct sampler, samplers);

/*
 * Allocations until the next sample, less one. Counted down by the hook, below
 * zero is its turn.
 */
DEFINE_PER_CPU(long, leaktrend_gap);

atomic_long_t leaktrend_counts[LT_NR_COUNTS];

static void set_rate(struct sampler *sampler, u32 rate, long *gap)
{
	sampler->rate = rate;
	if (rate > 1) {
		sampler->scale = leaktrend_gap_scale(rate);
		*gap = leaktrend_gap_draw(sampler->scale,
					  prandom_u32_state(&sampler->random));
	} else {
		*gap = 0;
	}
}

static void set_rate_here(void *unused)
{
	set_rate(this_cpu_ptr(&samplers), lt_param(sample_rate),
		 this_cpu_ptr(&leaktrend_gap));
}

/**
 * leaktrend_sampler_set_rate() - Let a new sample_rate take effect everywhere.
 *
 * Context: Process context, may sleep.
 */
void leaktrend_sampler_set_rate(void)
{
	int cpu;

	cpus_read_lock();
	on_each_cpu(set_rate_here, NULL, 1);
	/* A CPU that comes up later must not start with an old gap. */
	for_each_possible_cpu(cpu) {
		if (!cpu_online(cpu))
			set_rate(&per_cpu(samplers, cpu), lt_param(sample_rate),
				 &per_cpu(leaktrend_gap, cpu));
	}
	cpus_read_unlock();
}

/*
 * Returns the weight of the sample that is due now, 0 if none is.
 *
 * None is if we have come to another CPU since the countdown, or if an interrupt
 * came between and took the sample. The one we left behind is still due there,
 * so their number stays right. Not so at a rate of 1, where each is due.
 */
static u32 take_sample(void)
{
	struct sampler *sampler;
	unsigned long flags;
	u32 weight = 0;
	long *gap;

	local_irq_save(flags);
	sampler = this_cpu_ptr(&samplers);
	gap = this_cpu_ptr(&leaktrend_gap);
	if (sampler->rate <= 1) {
		/* Do not run down to where the sign changes. */
		*gap = 0;
		weight = 1;
	} else if (*gap < 0) {
		*gap = leaktrend_gap_draw(sampler->scale,
					  prandom_u32_state(&sampler->random));
		weight = sampler->rate;
	}
	local_irq_restore(flags);

	return weight;
}

/*
 * What we allocate is not tracked, and cannot bring us back here for ever: it is
 * objects of our own caches, which the hook leaves out, and pages, for these and
 * for the stack depot, without reclaim. In all that follows from the allocation
 * of a page only page_owner asks for an object. It marks the task while it does
 * so, and does nothing itself as long as the task is marked.
 *
 * An interrupt on top of that is no part of it. (What page_owner allocates in an
 * interrupt is tracked like anything else, then. That goes no deeper, either, as
 * the mark is set.)
 */
static bool in_page_owner(void)
{
#ifdef CONFIG_PAGE_OWNER
	return in_task() && current->in_page_owner;
#else
	return false;
#endif
}

/*
 * The frames of the allocator above @caller say nothing and are cut off. Of an
 * interrupt's stack the depot keeps what is above its entry: the task that it
 * hit has not asked for anything.
 */
static noinline depot_stack_handle_t capture_stack(unsigned long caller, gfp_t gfp)
{
	unsigned long entries[ALLOCATOR_FRAMES + LT_MAX_STACK_DEPTH];
	unsigned int depth = lt_param(stack_depth);
	depot_flags_t depot_flags = 0;
	unsigned int nr, skip;

	nr = stack_trace_save(entries, ALLOCATOR_FRAMES + depth, 0);
	for (skip = 0; skip < min(nr, ALLOCATOR_FRAMES); skip++) {
		if (entries[skip] == caller)
			break;
	}
	/* Not there, with an unwinder that guesses: show what there is. */
	if (skip == nr || skip == ALLOCATOR_FRAMES)
		skip = 0;

	/* A stack that gets no site need not take up memory for ever. */
	if (!leaktrend_sites_full())
		depot_flags = STACK_DEPOT_FLAG_CAN_ALLOC;
	return stack_depot_save_flags(entries + skip, min(nr - skip, depth), gfp,
				      depot_flags);
}

static void fill_sample(struct lt_sample *sample, const struct kmem_cache *s,
			gfp_t gfp, u32 weight)
{
	sample->ts_ns = local_clock();
	sample->weight = weight;
	sample->size = s->size;
	sample->gfp = gfp;
	if (in_task()) {
		sample->pid = current->pid;
		sample->tgid = current->tgid;
		get_task_comm(sample->comm, current);
	} else {
		sample->pid = 0;
		sample->tgid = 0;
		strscpy_pad(sample->comm, in_hardirq() ? "hardirq" : "softirq");
	}
}

static void track(struct kmem_cache *s, const void *object, gfp_t gfp,
		  unsigned long caller, u32 weight)
{
	/* As much as the caller may, but no waiting. */
	gfp_t nested = gfp_nested_mask(gfp) & ~__GFP_DIRECT_RECLAIM;
	struct lt_sample *sample;
	depot_stack_handle_t handle;
	struct lt_site *site;
	int ret = 0;

	handle = capture_stack(caller, nested);
	if (!handle) {
		leaktrend_count(leaktrend_sites_full() ? LT_DROPPED_SITES :
							 LT_DROPPED_STACK);
		return;
	}

	sample = leaktrend_sample_alloc(nested);
	if (!sample) {
		leaktrend_count(LT_DROPPED_MEMORY);
		return;
	}

	rcu_read_lock();
	site = leaktrend_site_get(handle, LT_KIND_SLAB, s, nested);
	if (site) {
		u32 birth = READ_ONCE(leaktrend_round);

		fill_sample(sample, s, gfp, weight);
		sample->object = (unsigned long)kasan_reset_tag(object);
		sample->site = site;
		sample->birth = birth;
		ret = leaktrend_table_insert(virt_to_slab(object), sample);
		/* Nobody frees the object yet, but the sample can be purged. */
		if (!ret)
			leaktrend_site_alloc(site, weight, s->size, birth);
	}
	rcu_read_unlock();

	if (!site || ret)
		leaktrend_sample_free(sample);
	if (ret == -ENOMEM)
		leaktrend_count(LT_DROPPED_MEMORY);
}

/*
 * The countdown has run out. Out of line, as little of it as possible is in the
 * way of the allocations that are not sampled.
 */
noinline void __leaktrend_slab_alloc(struct kmem_cache *s, const void *object,
				     gfp_t gfp, unsigned int alloc_flags,
				     unsigned long caller)
{
	u32 weight = take_sample();

	if (!weight || !object || !READ_ONCE(leaktrend_running))
		return;

	/* Our own caches, and kmemleak's. */
	if (s->flags & SLAB_NOLEAKTRACE)
		return;

	/* Perhaps in NMI: no lock can be taken, no stack saved. */
	if (unlikely(!alloc_flags_allow_spinning(alloc_flags) || in_nmi())) {
		leaktrend_count(LT_SKIPPED_NOLOCK);
		return;
	}
	/* Sheaves and extension vectors of kmalloc caches, SLUB's own. */
	if (unlikely(alloc_flags & (SLAB_ALLOC_NO_RECURSE | SLAB_ALLOC_NO_OBJ_EXT))) {
		leaktrend_count(LT_SKIPPED_INTERNAL);
		return;
	}
	/* Few, bounded, and with a stack of their own in KFENCE. */
	if (unlikely(is_kfence_address(object))) {
		leaktrend_count(LT_SKIPPED_KFENCE);
		return;
	}
	if (unlikely(in_page_owner())) {
		leaktrend_count(LT_SKIPPED_NESTED);
		return;
	}
	track(s, object, gfp, caller, weight);
}

noinline void __leaktrend_slab_free(struct slab *slab, void **p, int objects)
{
	int i;

	for (i = 0; i < objects; i++) {
		unsigned long object = (unsigned long)kasan_reset_tag(p[i]);
		struct lt_sample *sample;

		/*
		 * One section from the table to the counters, so that the round
		 * that decides where it counts is not an old one.
		 */
		rcu_read_lock();
		sample = leaktrend_table_remove(slab, object);
		if (sample)
			leaktrend_site_free(sample->site, sample,
					    READ_ONCE(leaktrend_round));
		rcu_read_unlock();

		if (sample)
			leaktrend_sample_free(sample);
	}
}

void __init leaktrend_sampler_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		prandom_seed_state(&per_cpu(samplers, cpu).random,
				   get_random_u64());
}
