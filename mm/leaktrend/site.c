// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: call paths, and what is outstanding at each.
 *
 * Life: a site appears with the first sample of its stack, under site_lock, and
 * is published to lookups with RCU. It stays until tracking is purged. Who uses
 * a site either holds leaktrend_mutex (the engine), or is in an RCU read-side
 * section in which it was found in the hash table (a hook that allocates) or by
 * its sample (a hook that frees: in the sample table, or by number in the word of
 * a page), or in which leaktrend_epoch has not changed (reports). A purge has
 * changed the epoch, forgotten all samples and emptied hash table and index
 * before it waits for a grace period, and frees after that.
 *
 * Locking: site_lock serialises insertion. It is raw and taken with interrupts
 * off, as hooks run in any context, and nothing is taken or allocated under it.
 */
#include <linux/array_size.h>
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/refcount.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

#define SITE_HASH_BITS	12

static struct hlist_head site_hash[1 << SITE_HASH_BITS];
static DEFINE_RAW_SPINLOCK(site_lock);
static struct kmem_cache *site_cache;
/*
 * All sites by number, for words that have no room for a pointer. In parts, which
 * stay once they are allocated. Under site_lock to write.
 */
#define INDEX_LEN	512
static struct lt_site **site_index[LT_MAX_SITES / INDEX_LEN];
static struct kmem_cache *index_cache;
/* Sites in the list, and the number of the next one. Under site_lock. */
static u32 nr_sites;

LIST_HEAD(leaktrend_sites);

static struct hlist_head *site_bucket(depot_stack_handle_t handle,
				      enum lt_kind kind)
{
	return &site_hash[hash_32(jhash_2words(handle, kind, 0), SITE_HASH_BITS)];
}

/**
 * leaktrend_site_find() - Find a site that there may be.
 * @handle: Stack.
 * @kind:   Allocator.
 *
 * Context: Under rcu_read_lock(), or site_lock. Any, including NMI.
 * Return: The site or NULL.
 */
struct lt_site *leaktrend_site_find(depot_stack_handle_t handle, enum lt_kind kind)
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
 * leaktrend_site_by_id() - Find a site by its number.
 * @id: Number.
 *
 * Context: Under rcu_read_lock(). Any, including NMI.
 * Return: The site, or NULL if all are being forgotten.
 */
struct lt_site *leaktrend_site_by_id(u32 id)
{
	struct lt_site **index = READ_ONCE(site_index[id / INDEX_LEN]);

	return index ? READ_ONCE(index[id % INDEX_LEN]) : NULL;
}

static void init_site(struct lt_site *site, const struct lt_origin *origin)
{
	site->kind = origin->kind;
	site->class = origin->class;
	site->handle = origin->handle;
	site->modular = leaktrend_orphans_possible(origin->handle);
	spin_lock_init(&site->lock);
	if (origin->cache) {
		site->cache = origin->cache;
		strscpy(site->cache_name, origin->cache->name);
	}
	if (origin->record) {
		u64 now;

		site->record = origin->record;
		now = leaktrend_site_outstanding(site);
		atomic64_set(&site->low, now);
		/*
		 * Pages that come and go on other CPUs just now may be counted
		 * here and by their hook, or not at all: the number of those of
		 * unknown age can be off by them, see correct_older().
		 */
		if (now > origin->pending) {
			atomic64_set(&site->older, now - origin->pending);
			site->older_ns = local_clock();
		}
	}
}

/* Give @site a number and publish it. @index is used up and NULL if it was needed. */
static bool insert_site(struct lt_site *site, struct lt_site ***index)
{
	u32 id = nr_sites;

	lockdep_assert_held(&site_lock);

	if (!READ_ONCE(leaktrend_running) || id >= lt_param(max_sites))
		return false;
	if (!site_index[id / INDEX_LEN]) {
		if (!*index)
			return false;
		WRITE_ONCE(site_index[id / INDEX_LEN], *index);
		*index = NULL;
	}

	site->id = id;
	WRITE_ONCE(nr_sites, id + 1);
	/* A word with its number is read only after it has been found in the hash. */
	WRITE_ONCE(site_index[id / INDEX_LEN][id % INDEX_LEN], site);
	hlist_add_head_rcu(&site->hash, site_bucket(site->handle, site->kind));
	list_add_tail_rcu(&site->list, &leaktrend_sites);
	return true;
}

/**
 * leaktrend_site_get() - Find the site of a stack, or make it one.
 * @origin: Where the memory at hand comes from.
 * @gfp:    For a new site. May not allow to sleep.
 *
 * Context: Under rcu_read_lock(), which the caller holds for as long as it uses
 * the site. Any context but NMI.
 * Return: The site, or NULL if there are max_sites already or memory is short;
 * either is counted.
 */
struct lt_site *leaktrend_site_get(const struct lt_origin *origin, gfp_t gfp)
{
	struct lt_site **index = NULL;
	struct lt_site *site, *raced;
	unsigned long flags;
	bool inserted = false;
	u32 nr;

	site = leaktrend_site_find(origin->handle, origin->kind);
	if (site) {
		if (unlikely(site->cache != origin->cache && !READ_ONCE(site->mixed)))
			WRITE_ONCE(site->mixed, true);
		return site;
	}

	/* Not to allocate in vain for each of a flood of new stacks. */
	if (leaktrend_sites_full()) {
		leaktrend_count(LT_DROPPED_SITES);
		return NULL;
	}

	site = kmem_cache_zalloc(site_cache, gfp);
	/* Others may need the same part of the index; one of them gets it in. */
	nr = min_t(u32, READ_ONCE(nr_sites), LT_MAX_SITES - 1);
	if (site && !READ_ONCE(site_index[nr / INDEX_LEN]))
		index = kmem_cache_zalloc(index_cache, gfp);
	if (!site) {
		leaktrend_count(LT_DROPPED_MEMORY);
		return NULL;
	}
	init_site(site, origin);

	raw_spin_lock_irqsave(&site_lock, flags);
	raced = leaktrend_site_find(origin->handle, origin->kind);
	/* Under the lock, so that a purge misses no site that is added late. */
	if (!raced)
		inserted = insert_site(site, &index);
	raw_spin_unlock_irqrestore(&site_lock, flags);

	if (unlikely(index))
		kmem_cache_free(index_cache, index);
	if (likely(inserted))
		return site;

	kmem_cache_free(site_cache, site);
	if (!raced)
		leaktrend_count(leaktrend_sites_full() ? LT_DROPPED_SITES :
							 LT_DROPPED_MEMORY);
	return raced;
}

/**
 * leaktrend_site_outstanding() - How much is outstanding at a site.
 * @site: The site.
 *
 * Return: Estimated number of objects or pages.
 */
u64 leaktrend_site_outstanding(const struct lt_site *site)
{
	/* page_owner's counts begin at 1. */
	if (site->record)
		return max(0, (int)refcount_read(&site->record->count) - 1);
	return leaktrend_counter(&site->outstanding);
}

/**
 * leaktrend_site_bytes() - How much that is in bytes.
 * @site: The site.
 *
 * Return: Estimated number of bytes.
 */
u64 leaktrend_site_bytes(const struct lt_site *site)
{
	if (site->record)
		return leaktrend_site_outstanding(site) << PAGE_SHIFT;
	return leaktrend_counter(&site->bytes);
}

/**
 * leaktrend_site_alloc() - Add a sample to the counters of its site.
 * @site:   The site.
 * @amount: What to add. A purge may have forgotten the sample by now.
 *
 * Context: Under rcu_read_lock(), in the same section in which the round of
 * birth was read.
 */
void leaktrend_site_alloc(struct lt_site *site, const struct lt_amount *amount)
{
	atomic64_add(amount->number, &site->gens[amount->birth % LT_GENERATIONS]);
	if (site->record)
		return;

	atomic64_add(amount->number, &site->outstanding);
	atomic64_add(amount->bytes, &site->bytes);
	if (amount->variance)
		atomic64_add(amount->variance, &site->variance);
}

/**
 * leaktrend_site_lower() - Lower a low-water mark if need be.
 * @mark: The low-water mark.
 * @now:  What is outstanding.
 *
 * Mostly there is nothing to write.
 */
void leaktrend_site_lower(atomic64_t *mark, s64 now)
{
	s64 low = atomic64_read(mark);

	while (now < low && !atomic64_try_cmpxchg(mark, &low, now))
		;
}

/*
 * Every value that outstanding ever has is returned to someone here or in the
 * engine, so the low-water mark misses none. With page_owner's count, which
 * another may have raised again, it can miss the least of several that free and
 * allocate at the same moment.
 */
static void free_number(struct lt_site *site, u64 number, u64 bytes)
{
	atomic64_add(number, &site->frees);
	if (site->record) {
		leaktrend_site_lower(&site->low, leaktrend_site_outstanding(site));
		return;
	}
	leaktrend_site_lower(&site->low,
			     atomic64_sub_return(number, &site->outstanding));
	leaktrend_site_lower(&site->low_bytes, atomic64_sub_return(bytes, &site->bytes));
}

/**
 * leaktrend_site_free() - Take a sample out of the counters of its site.
 * @site:   The site.
 * @amount: What to take out. Nobody else will do so.
 * @round:  The current round.
 *
 * Context: Under rcu_read_lock(), in the same section in which @round was read.
 */
void leaktrend_site_free(struct lt_site *site, const struct lt_amount *amount,
			 u32 round)
{
	if (leaktrend_generation_in_slot(round, amount->birth))
		atomic64_sub(amount->number,
			     &site->gens[amount->birth % LT_GENERATIONS]);
	else
		atomic64_sub(amount->number, &site->older);
	if (!site->record && amount->variance)
		atomic64_sub(amount->variance, &site->variance);
	free_number(site, amount->number, amount->bytes);
}

/**
 * leaktrend_site_free_old() - Take out what was there before tracking began.
 * @site:   A site with page_owner's count.
 * @number: Number of pages.
 *
 * Context: Under rcu_read_lock().
 */
void leaktrend_site_free_old(struct lt_site *site, u64 number)
{
	atomic64_sub(number, &site->older);
	free_number(site, number, number << PAGE_SHIFT);
}

/**
 * leaktrend_site_forget_birth() - From now on count as if of unknown age.
 * @site:   A site with page_owner's count.
 * @number: Number of pages.
 * @birth:  Round in which they were allocated.
 * @round:  The current round.
 *
 * Context: Under rcu_read_lock(), in the same section in which @round was read.
 */
void leaktrend_site_forget_birth(struct lt_site *site, u64 number, u32 birth,
				 u32 round)
{
	if (!leaktrend_generation_in_slot(round, birth))
		return;
	atomic64_sub(number, &site->gens[birth % LT_GENERATIONS]);
	atomic64_add(number, &site->older);
}

/**
 * leaktrend_site_unhash() - Let the next allocation with this stack be another's.
 * @site: The site. What is outstanding stays with it.
 *
 * Context: Process context under leaktrend_mutex.
 */
void leaktrend_site_unhash(struct lt_site *site)
{
	lockdep_assert_held(&leaktrend_mutex);

	raw_spin_lock_irq(&site_lock);
	hlist_del_init_rcu(&site->hash);
	raw_spin_unlock_irq(&site_lock);
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
	u32 i;

	lockdep_assert_held(&leaktrend_mutex);

	raw_spin_lock_irq(&site_lock);
	/* A lookup that is on a site of a chain still comes to its end. */
	memset(site_hash, 0, sizeof(site_hash));
	for (i = 0; i < nr_sites; i++)
		WRITE_ONCE(site_index[i / INDEX_LEN][i % INDEX_LEN], NULL);
	list_splice_init(&leaktrend_sites, &purged);
	WRITE_ONCE(nr_sites, 0);
	raw_spin_unlock_irq(&site_lock);

	/* Wait for hooks and reports that still use a site. */
	synchronize_rcu();
	list_for_each_entry_safe(site, next, &purged, list) {
		leaktrend_orphans_forget(site);
		kmem_cache_free(site_cache, site);
	}
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
	size_t parts = 0, i;

	for (i = 0; i < ARRAY_SIZE(site_index); i++)
		parts += !!READ_ONCE(site_index[i]);

	return (size_t)leaktrend_nr_sites() * kmem_cache_size(site_cache) +
	       parts * kmem_cache_size(index_cache) + sizeof(site_hash) +
	       sizeof(site_index) + leaktrend_orphans_memory();
}

int __init leaktrend_site_init(void)
{
	/* For the flags see leaktrend_table_init(). */
	site_cache = KMEM_CACHE(lt_site, SLAB_NOLEAKTRACE);
	index_cache = kmem_cache_create("leaktrend_index",
					INDEX_LEN * sizeof(struct lt_site *), 0,
					SLAB_NOLEAKTRACE, NULL);
	return site_cache && index_cache ? 0 : -ENOMEM;
}
