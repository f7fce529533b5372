// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: call paths, and what is outstanding at each.
 *
 * Life: a site appears with the first sample of its stack, under site_lock, and
 * is published to lookups with RCU. It stays until tracking is purged. Who uses
 * a site either holds leaktrend_mutex (the engine), or is in an RCU read-side
 * section in which it was found in the hash table (a hook that allocates) or by
 * its sample in the sample table (a hook that frees), or in which leaktrend_epoch
 * has not changed (reports). A purge has changed the epoch and emptied both
 * tables before it waits for a grace period, and frees after that.
 *
 * Locking: site_lock serialises insertion. It is raw and taken with interrupts
 * off, as hooks run in any context, and nothing is taken or allocated under it.
 */
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

#define SITE_HASH_BITS	12

static struct hlist_head site_hash[1 << SITE_HASH_BITS];
static DEFINE_RAW_SPINLOCK(site_lock);
static struct kmem_cache *site_cache;
/* Sites in the list, and the number of the next one. Under site_lock. */
static u32 nr_sites;

LIST_HEAD(leaktrend_sites);

static struct hlist_head *site_bucket(depot_stack_handle_t handle,
				      enum lt_kind kind)
{
	return &site_hash[hash_32(jhash_2words(handle, kind, 0), SITE_HASH_BITS)];
}

static struct lt_site *site_find(depot_stack_handle_t handle, enum lt_kind kind)
{
	struct lt_site *site;

	hlist_for_each_entry_rcu(site, site_bucket(handle, kind), hash,
				 lockdep_is_held(&site_lock)) {
		if (site->handle == handle && site->kind == kind)
			return site;
	}
	return NULL;
}

/**
 * leaktrend_site_get() - Find the site of a stack, or make it one.
 * @handle: The stack.
 * @kind:   What is allocated.
 * @s:	    Cache of the object at hand.
 * @gfp:    For a new site. May not allow to sleep.
 *
 * Context: Under rcu_read_lock(), which the caller holds for as long as it uses
 * the site. Any context but NMI.
 * Return: The site, or NULL if there are max_sites already or memory is short;
 * either is counted.
 */
struct lt_site *leaktrend_site_get(depot_stack_handle_t handle,
				   enum lt_kind kind,
				   const struct kmem_cache *s, gfp_t gfp)
{
	struct lt_site *site, *raced;
	unsigned long flags;
	bool inserted = false;

	site = site_find(handle, kind);
	if (site) {
		if (unlikely(site->cache != s && !READ_ONCE(site->mixed)))
			WRITE_ONCE(site->mixed, true);
		return site;
	}

	/* Not to allocate in vain for each of a flood of new stacks. */
	if (leaktrend_sites_full()) {
		leaktrend_count(LT_DROPPED_SITES);
		return NULL;
	}

	site = kmem_cache_zalloc(site_cache, gfp);
	if (!site) {
		leaktrend_count(LT_DROPPED_MEMORY);
		return NULL;
	}
	site->kind = kind;
	site->handle = handle;
	site->cache = s;
	strscpy(site->cache_name, s->name);
	site->reclaimable = s->flags & SLAB_RECLAIM_ACCOUNT;
	spin_lock_init(&site->lock);

	raw_spin_lock_irqsave(&site_lock, flags);
	raced = site_find(handle, kind);
	/* Under the lock, so that a purge misses no site that is added late. */
	if (!raced && READ_ONCE(leaktrend_running) &&
	    nr_sites < lt_param(max_sites)) {
		site->id = nr_sites;
		WRITE_ONCE(nr_sites, nr_sites + 1);
		hlist_add_head_rcu(&site->hash, site_bucket(handle, kind));
		list_add_tail_rcu(&site->list, &leaktrend_sites);
		inserted = true;
	}
	raw_spin_unlock_irqrestore(&site_lock, flags);

	if (likely(inserted))
		return site;

	kmem_cache_free(site_cache, site);
	if (!raced)
		leaktrend_count(LT_DROPPED_SITES);
	return raced;
}

/**
 * leaktrend_site_alloc() - Add a sample to the counters of its site.
 * @site:   The site.
 * @weight: Of the sample, as the others. It is in the table by now, and a purge
 *	    may have taken it from there.
 * @size:   -
 * @birth:  -
 *
 * Context: Under rcu_read_lock(), in the same section in which the round of
 * birth was read.
 */
void leaktrend_site_alloc(struct lt_site *site, u32 weight, u32 size, u32 birth)
{
	atomic64_add(weight, &site->outstanding);
	atomic64_add((u64)weight * size, &site->bytes);
	atomic64_add(weight, &site->gens[birth % LT_GENERATIONS]);
	if (weight > 1)
		atomic64_add(leaktrend_sample_variance(weight), &site->variance);
}

/**
 * leaktrend_site_free() - Take a sample out of the counters of its site.
 * @site:   The site.
 * @sample: A sample that is no longer in the table.
 * @round:  The current round.
 *
 * Context: Under rcu_read_lock(), in the same section in which @round was read.
 */
void leaktrend_site_free(struct lt_site *site, const struct lt_sample *sample,
			 u32 round)
{
	u32 weight = sample->weight;
	s64 now, low;

	atomic64_add(weight, &site->frees);
	atomic64_sub((u64)weight * sample->size, &site->bytes);
	if (leaktrend_generation_in_slot(round, sample->birth))
		atomic64_sub(weight, &site->gens[sample->birth % LT_GENERATIONS]);
	else
		atomic64_sub(weight, &site->older);
	if (weight > 1)
		atomic64_sub(leaktrend_sample_variance(weight), &site->variance);

	/*
	 * Every value that outstanding ever has is returned to someone here or
	 * in the engine, so the low-water mark misses none. Mostly there is
	 * nothing to write.
	 */
	now = atomic64_sub_return(weight, &site->outstanding);
	low = atomic64_read(&site->low);
	while (now < low && !atomic64_try_cmpxchg(&site->low, &low, now))
		;
}

/**
 * leaktrend_sites_purge() - Forget all sites.
 *
 * With leaktrend_running cleared, so that no site is added; leaktrend_epoch
 * changed, and the sample table empty.
 *
 * Context: Process context under leaktrend_mutex, may sleep.
 */
void leaktrend_sites_purge(void)
{
	struct lt_site *site, *next;
	LIST_HEAD(purged);

	lockdep_assert_held(&leaktrend_mutex);

	raw_spin_lock_irq(&site_lock);
	/* A lookup that is on a site of a chain still comes to its end. */
	memset(site_hash, 0, sizeof(site_hash));
	list_splice_init(&leaktrend_sites, &purged);
	WRITE_ONCE(nr_sites, 0);
	raw_spin_unlock_irq(&site_lock);

	/* Wait for hooks and reports that still use a site. */
	synchronize_rcu();
	list_for_each_entry_safe(site, next, &purged, list)
		kmem_cache_free(site_cache, site);
}

/**
 * leaktrend_sites_full() - Is there no room for another site?
 *
 * Return: true if there are max_sites.
 */
bool leaktrend_sites_full(void)
{
	return READ_ONCE(nr_sites) >= lt_param(max_sites);
}

u32 leaktrend_nr_sites(void)
{
	return READ_ONCE(nr_sites);
}

size_t leaktrend_site_memory(void)
{
	return (size_t)leaktrend_nr_sites() * kmem_cache_size(site_cache) +
	       sizeof(site_hash);
}

int __init leaktrend_site_init(void)
{
	/* For the flags see leaktrend_table_init(). */
	site_cache = KMEM_CACHE(lt_site, SLAB_NOLEAKTRACE);
	return site_cache ? 0 : -ENOMEM;
}
