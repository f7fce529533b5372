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
 * sample follows from the rate with which the gap before it was drawn.
 *
 * Objects and pages have gaps of their own. Pages are counted one by one, so that
 * a large allocation is sampled more likely, and weighs less in relation.
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
 */
struct sampler {
	u32 rate;
	u64 scale;
};

static DEFINE_PER_CPU(struct sampler [LT_NR_KINDS], samplers);
/* Need not be unpredictable, and get_random_u32() may sleep on PREEMPT_RT. */
static DEFINE_PER_CPU(struct rnd_state, random_state);

/*
 * Objects and pages until the next sample, less one. Counted down by the hooks,
 * below zero it is time for one.
 */
DEFINE_PER_CPU(long [LT_NR_KINDS], leaktrend_gap);

atomic_long_t leaktrend_counts[LT_NR_COUNTS];

static void draw_gap(int cpu, enum lt_kind kind)
{
	const struct sampler *sampler = &per_cpu(samplers, cpu)[kind];
	u32 gap = 0;

	if (sampler->rate > 1)
		gap = leaktrend_gap_draw(sampler->scale,
					 prandom_u32_state(&per_cpu(random_state, cpu)));
	per_cpu(leaktrend_gap, cpu)[kind] = gap;
}

static void set_rate(int cpu)
{
	enum lt_kind kind;

	for (kind = 0; kind < LT_NR_KINDS; kind++) {
		struct sampler *sampler = &per_cpu(samplers, cpu)[kind];

		sampler->rate = leaktrend_governor_rate(cpu, lt_param(sample_rate));
		/* What page_owner knows need not be estimated. */
		if (kind == LT_KIND_PAGE && leaktrend_page_owner())
			sampler->rate = 1;
		if (sampler->rate > 1)
			sampler->scale = leaktrend_gap_scale(sampler->rate);
		draw_gap(cpu, kind);
	}
}

/**
 * leaktrend_sampler_set_rate_here() - Let a new rate take effect on this CPU.
 *
 * Context: Interrupts off.
 */
void leaktrend_sampler_set_rate_here(void)
{
	set_rate(smp_processor_id());
}

static void set_rate_here(void *unused)
{
	leaktrend_sampler_set_rate_here();
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
			set_rate(cpu);
	}
	cpus_read_unlock();
}

/**
 * leaktrend_sampler_take() - Take the sample that is due now.
 * @kind:   Whose countdown has run out.
 * @left:   How many of what has just been counted are still to be looked at, at least
 *	    one. Set to how many of them follow the sampled one.
 * @random: Set to a random number if a sample is due.
 *
 * The new gap begins behind the sampled one, so that of many that are counted at once
 * each is as likely to be sampled as if they were counted one by one.
 *
 * None is due if we have come to another CPU since the countdown, or if an interrupt
 * came between and took the sample. The one we left behind is still due there,
 * so their number stays right. Not so at a rate of 1, where each is due.
 *
 * Context: Any, including NMI: a gap drawn twice is as good as one.
 * Return: The mean of the gap, 0 if no sample is due.
 */
u32 leaktrend_sampler_take(enum lt_kind kind, size_t *left, u32 *random)
{
	unsigned long flags;
	long *gap;
	u32 rate;
	int cpu;

	local_irq_save(flags);
	cpu = smp_processor_id();
	rate = per_cpu(samplers, cpu)[kind].rate;
	gap = &per_cpu(leaktrend_gap, cpu)[kind];
	if (rate <= 1) {
		*random = 0;
		rate = 1;
		(*left)--;
		/* Do not run down to where the sign changes. */
		draw_gap(cpu, kind);
	} else if (*gap < 0) {
		*random = prandom_u32_state(&per_cpu(random_state, cpu));
		/* Fewer are left if the countdown was another's, see above. */
		*left = min_t(size_t, -(*gap + 1), *left - 1);
		draw_gap(cpu, kind);
		*gap -= *left;
	} else {
		rate = 0;
	}
	local_irq_restore(flags);

	return rate;
}

/*
 * What the tracker allocates is not tracked, and cannot bring it back here for
 * ever. That is objects of its own caches, which the slab hook leaves out, and
 * pages, for these and for the stack depot, without reclaim.
 *
 * Of all that follows from the allocation of a page only page_owner asks for an
 * object. It marks the task while it does so, and does nothing itself as long as
 * the task is marked. We mark it, too, while we may need a page for another, as
 * an interrupt on top of it is marked per CPU. (What page_owner allocates in an
 * interrupt is tracked like anything else, then. That goes no deeper, either, as
 * the mark is set.)
 */
static DEFINE_PER_CPU(bool [3], interrupt_entered);

static bool in_page_owner(void)
{
	return in_task() && current->in_page_owner;
}

static bool *entered_here(void)
{
	int level = in_nmi() ? 2 : in_hardirq() ? 1 : 0;

	return &(*this_cpu_ptr(&interrupt_entered))[level];
}

/**
 * leaktrend_enter() - Begin to do what may need pages.
 *
 * Context: Any. An interrupt does not move to another CPU.
 * Return: true if leaktrend_leave() is to follow, false if this is what has been
 * begun already and now needs a page, or page_owner does.
 */
bool leaktrend_enter(void)
{
	if (in_task()) {
		if (current->in_page_owner)
			return false;
		current->in_page_owner = 1;
		return true;
	}
	if (*entered_here())
		return false;
	*entered_here() = true;
	return true;
}

void leaktrend_leave(void)
{
	if (in_task())
		current->in_page_owner = 0;
	else
		*entered_here() = false;
}

/**
 * leaktrend_capture_stack() - Who asks for memory?
 * @caller: Return address to where the stack is to begin. What is above it, of
 *	    the allocator, says nothing and is cut off.
 * @gfp:    For the stack depot. May not allow to sleep.
 *
 * Of an interrupt's stack the depot keeps what is above its entry: the task that
 * it hit has not asked for anything.
 *
 * Context: Any but NMI.
 * Return: A handle, or 0 if there is no room, which is counted.
 */
noinline depot_stack_handle_t leaktrend_capture_stack(unsigned long caller, gfp_t gfp)
{
	unsigned long entries[ALLOCATOR_FRAMES + LT_MAX_STACK_DEPTH];
	unsigned int depth = lt_param(stack_depth);
	depot_stack_handle_t handle;
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
	handle = stack_depot_save_flags(entries + skip, min(nr - skip, depth), gfp,
					depot_flags);
	if (!handle)
		leaktrend_count(depot_flags ? LT_DROPPED_STACK : LT_DROPPED_SITES);
	return handle;
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
		  depot_stack_handle_t handle, u32 weight)
{
	gfp_t nested = leaktrend_nested_gfp(gfp);
	struct lt_origin origin = {
		.handle = handle,
		.kind = LT_KIND_SLAB,
		.class = s->flags & SLAB_RECLAIM_ACCOUNT ? LT_CLASS_RECLAIMABLE :
							   LT_CLASS_KERNEL,
		.cache = s,
	};
	struct lt_sample *sample;
	struct lt_amount amount;
	struct lt_site *site;
	int ret = 0;

	sample = leaktrend_sample_alloc(nested);
	if (!sample) {
		leaktrend_count(LT_DROPPED_MEMORY);
		return;
	}

	rcu_read_lock();
	site = leaktrend_site_get(&origin, nested);
	if (site) {
		fill_sample(sample, s, gfp, weight);
		sample->object = (unsigned long)kasan_reset_tag(object);
		sample->site = site;
		sample->birth = READ_ONCE(leaktrend_round);
		leaktrend_sample_amount(sample, &amount);
		ret = leaktrend_table_insert(virt_to_slab(object), sample);
		/* Nobody frees the object yet, but the sample can be purged. */
		if (!ret)
			leaktrend_site_alloc(site, &amount);
	}
	rcu_read_unlock();

	if (!site || ret)
		leaktrend_sample_free(sample);
	if (ret == -ENOMEM)
		leaktrend_count(LT_DROPPED_MEMORY);
}

/* Is an object for which a sample is due one that can be tracked? Counts if not. */
static bool may_track(const struct kmem_cache *s, const void *object,
		      unsigned int alloc_flags)
{
	if (!object || !READ_ONCE(leaktrend_running))
		return false;

	/* Our own caches, and kmemleak's. */
	if (s->flags & SLAB_NOLEAKTRACE)
		return false;

	/* Perhaps in NMI: no lock can be taken, no stack saved. */
	if (unlikely(!alloc_flags_allow_spinning(alloc_flags) || in_nmi())) {
		leaktrend_count(LT_SKIPPED_NOLOCK);
		return false;
	}
	/* Sheaves and extension vectors of kmalloc caches, SLUB's own. */
	if (unlikely(alloc_flags & (SLAB_ALLOC_NO_RECURSE | SLAB_ALLOC_NO_OBJ_EXT))) {
		leaktrend_count(LT_SKIPPED_INTERNAL);
		return false;
	}
	/* Few, bounded, and with a stack of their own in KFENCE. */
	if (unlikely(is_kfence_address(object))) {
		leaktrend_count(LT_SKIPPED_KFENCE);
		return false;
	}
	if (unlikely(in_page_owner())) {
		leaktrend_count(LT_SKIPPED_NESTED);
		return false;
	}
	return true;
}

/*
 * The countdown has run out. Out of line, as little of it as possible is in the
 * way of the allocations that are not sampled. Objects that are allocated at once
 * have one stack, which is saved with the first of them that is sampled.
 */
noinline void __leaktrend_slab_alloc(struct kmem_cache *s, void **p, size_t nr,
				     gfp_t gfp, unsigned int alloc_flags,
				     unsigned long caller)
{
	depot_stack_handle_t handle = 0;
	u32 random, weight;
	size_t left = nr;

	while (left && (weight = leaktrend_sampler_take(LT_KIND_SLAB, &left, &random))) {
		const void *object = p[nr - 1 - left];
		bool entered;
		u64 begin;

		if (!may_track(s, object, alloc_flags))
			continue;
		/* page_owner is to see our pages with their stacks; its sites are exact. */
		entered = !leaktrend_page_owner() && leaktrend_enter();
		begin = leaktrend_governor_begin();
		if (!handle)
			handle = leaktrend_capture_stack(caller, leaktrend_nested_gfp(gfp));
		if (handle)
			track(s, object, gfp, handle, weight);
		leaktrend_governor_end(begin);
		if (entered)
			leaktrend_leave();
	}
}

static void untrack(struct slab *slab, unsigned long object)
{
	struct lt_sample *sample;
	struct lt_amount amount;

	/*
	 * One section from the table to the counters, so that the round that decides
	 * where it counts is not an old one.
	 */
	rcu_read_lock();
	sample = leaktrend_table_remove(slab, object);
	if (sample) {
		leaktrend_sample_amount(sample, &amount);
		leaktrend_site_free(sample->site, &amount, READ_ONCE(leaktrend_round));
	}
	rcu_read_unlock();

	if (sample)
		leaktrend_sample_free(sample);
}

noinline void __leaktrend_slab_free(struct slab *slab, void **p, int objects)
{
	int i;

	for (i = 0; i < objects; i++) {
		unsigned long object = (unsigned long)kasan_reset_tag(p[i]);
		u64 begin;

		if (!leaktrend_table_maybe(slab, object))
			continue;
		begin = leaktrend_governor_begin();
		untrack(slab, object);
		leaktrend_governor_end(begin);
	}
}

void __init leaktrend_sampler_init(void)
{
	int cpu;

	leaktrend_governor_init();
	for_each_possible_cpu(cpu)
		prandom_seed_state(&per_cpu(random_state, cpu),
				   get_random_u64());
}
