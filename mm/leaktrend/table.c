// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: the live samples, by object address.
 *
 * Three things say that an object is sampled, each to save a look at what follows: a
 * bit in its slab's flags, an entry in a bucket of a hash table, and, before that is
 * searched, a bit in the page_ext word of the page in which the object starts.
 *
 *  - The page_ext word has a bit per cell of PAGE_SIZE / 64 bytes, but for the
 *    last two cells, which share one: the highest bit marks the words of pages.c.
 *    Objects smaller than a cell share bits.
 *  - The hash table is split into shards, each with a lock of its own. The shard
 *    is chosen by the slab, the bucket within it by the cell, so that one lock
 *    guards everything about a slab (the bit in its flags, the words of its
 *    pages, the entries of its objects), and one bucket holds all samples that
 *    share a bit.
 *
 * Therefore a set and a clear of the same bit can never cross: a lost set would
 * lose a free, and a lost free is a false leak.
 *
 * Life: allocated once at boot by leaktrend_table_init(), never resized. Samples
 * are inserted while leaktrend_running is set, removed by the free of their
 * object or by leaktrend_table_purge(). As long as a sample is in the table its
 * object has not passed the free hook, so its slab exists and is a slab.
 *
 * Locking: the shard locks are raw and taken with interrupts off, because an
 * object can be freed in any context. They nest inside nothing of ours, nothing
 * is taken under them, and they are held for one bucket at a time.
 */
#include <linux/bitops.h>
#include <linux/hash.h>
#include <linux/kasan.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/page_ext.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

#define CELL_SHIFT	(PAGE_SHIFT - 6)

struct shard {
	raw_spinlock_t lock;
} ____cacheline_aligned_in_smp;

static struct shard *shards;
static unsigned int shard_bits;
static struct hlist_head *buckets;
/* Buckets per shard, as a power of two. */
static unsigned int bucket_bits;

static struct kmem_cache *sample_cache;
/* Per CPU, as at a rate of 1 each event counts here. Only the sums say something. */
static DEFINE_PER_CPU(unsigned long, samples_taken);
static DEFINE_PER_CPU(unsigned long, samples_freed);

static_assert(sizeof(struct lt_sample) <= 96);

/* page_ext */

/* NULL only for memory whose page_ext could not be allocated. */
static u64 *page_word(struct page_ext *page_ext)
{
	return page_ext ? leaktrend_page_word(page_ext) : NULL;
}

/* A number for all that shares a bit of the same word. */
static unsigned long cell_of(unsigned long object)
{
	unsigned long cell = offset_in_page(object) >> CELL_SHIFT;

	return (object >> PAGE_SHIFT << 6) + min(cell, 62UL);
}

static u64 cell_bit(unsigned long object)
{
	return BIT_ULL(cell_of(object) % 64);
}

static struct page_ext *object_page_ext(unsigned long object)
{
	return page_ext_get(virt_to_page((void *)object));
}

/* Shards and buckets */

static unsigned int shard_of(const struct slab *slab)
{
	return hash_ptr(slab, shard_bits);
}

static struct hlist_head *bucket_of(unsigned int shard, unsigned long object)
{
	return &buckets[((unsigned long)shard << bucket_bits) +
			hash_long(cell_of(object), bucket_bits)];
}

static bool slab_has_samples(struct slab *slab)
{
	unsigned long start = (unsigned long)slab_address(slab);
	unsigned long at;

	for (at = start; at < start + slab_size(slab); at += PAGE_SIZE) {
		struct page_ext *page_ext = object_page_ext(at);
		u64 *word = page_word(page_ext);
		bool sampled = word && *word;

		if (page_ext)
			page_ext_put(page_ext);
		if (sampled)
			return true;
	}
	return false;
}

/* Take @sample out of its bucket, and clear the bits that it was the last for. */
static void unlink_sample(struct slab *slab, struct hlist_head *bucket,
			  struct lt_sample *sample)
{
	unsigned long cell = cell_of(sample->object);
	struct page_ext *page_ext;
	struct lt_sample *other;
	u64 *word;

	hlist_del(&sample->node);
	hlist_for_each_entry(other, bucket, node) {
		if (cell_of(other->object) == cell)
			return;
	}

	page_ext = object_page_ext(sample->object);
	word = page_word(page_ext);
	if (!WARN_ON_ONCE(!word)) {
		/* Pairs with the lockless read in leaktrend_table_maybe(). */
		WRITE_ONCE(*word, *word & ~cell_bit(sample->object));
		if (!*word && !slab_has_samples(slab))
			clear_bit(LEAKTREND_SLAB_SAMPLED, &slab->flags.f);
	}
	if (page_ext)
		page_ext_put(page_ext);
}

static struct lt_sample *find_sample(struct hlist_head *bucket,
				     unsigned long object)
{
	struct lt_sample *sample;

	hlist_for_each_entry(sample, bucket, node) {
		if (sample->object == object)
			return sample;
	}
	return NULL;
}

/**
 * leaktrend_table_insert() - Make an object known as sampled.
 * @slab:   Its slab.
 * @sample: Filled in. The table owns it from here.
 *
 * Context: Under rcu_read_lock(), any but NMI.
 * Return: 0, -ENODEV if tracking was switched off in the meantime, -ENOMEM if
 * the page has no page_ext. The caller keeps the sample then.
 */
int leaktrend_table_insert(struct slab *slab, struct lt_sample *sample)
{
	unsigned int shard = shard_of(slab);
	struct hlist_head *bucket = bucket_of(shard, sample->object);
	struct lt_sample *stale = NULL;
	struct page_ext *page_ext;
	unsigned long flags;
	int ret = 0;
	u64 *word;

	page_ext = object_page_ext(sample->object);
	word = page_word(page_ext);
	if (!word)
		return -ENOMEM;

	raw_spin_lock_irqsave(&shards[shard].lock, flags);
	/*
	 * Under the lock: a purge clears this before it takes the locks one by
	 * one, so that it finds what was inserted before and nothing comes after.
	 */
	if (!READ_ONCE(leaktrend_running)) {
		ret = -ENODEV;
	} else {
		/*
		 * Cannot be, unless a free went past the hook. Then the address
		 * has a new owner, and the old sample would be a leak that is
		 * none.
		 */
		stale = find_sample(bucket, sample->object);
		if (stale)
			hlist_del(&stale->node);
		hlist_add_head(&sample->node, bucket);
		WRITE_ONCE(*word, *word | cell_bit(sample->object));
		if (!test_bit(LEAKTREND_SLAB_SAMPLED, &slab->flags.f))
			set_bit(LEAKTREND_SLAB_SAMPLED, &slab->flags.f);
	}
	raw_spin_unlock_irqrestore(&shards[shard].lock, flags);
	page_ext_put(page_ext);

	if (stale) {
		struct lt_amount amount;

		leaktrend_count(LT_MISSED_FREES);
		leaktrend_sample_amount(stale, &amount);
		leaktrend_site_free(stale->site, &amount, READ_ONCE(leaktrend_round));
		leaktrend_sample_free(stale);
	}
	return ret;
}

/**
 * leaktrend_table_maybe() - May an object that dies be sampled?
 * @slab:   Its slab.
 * @object: Its address, without KASAN tag.
 *
 * Without a lock: if it is sampled it was put into its bucket, and its bit was set,
 * before it had an owner, and both stay so until that is over. Other samples may come
 * and go as we look. The bucket is the quicker look, and mostly enough: at the default
 * rate there are more buckets than samples.
 *
 * Context: Any.
 * Return: false if it is not.
 */
bool leaktrend_table_maybe(const struct slab *slab, unsigned long object)
{
	struct page_ext *page_ext;
	bool maybe;
	u64 *word;

	if (hlist_empty(bucket_of(shard_of(slab), object)))
		return false;

	page_ext = object_page_ext(object);
	word = page_word(page_ext);
	maybe = word && (READ_ONCE(*word) & cell_bit(object));
	if (page_ext)
		page_ext_put(page_ext);
	return maybe;
}

/**
 * leaktrend_table_remove() - Take out the sample of an object that dies.
 * @slab:   Its slab.
 * @object: Its address, without KASAN tag.
 *
 * Context: Any but NMI.
 * Return: The sample, which is the caller's now, or NULL if the object is not
 * sampled.
 */
struct lt_sample *leaktrend_table_remove(struct slab *slab, unsigned long object)
{
	unsigned int shard = shard_of(slab);
	struct hlist_head *bucket = bucket_of(shard, object);
	struct lt_sample *sample;
	unsigned long flags;

	raw_spin_lock_irqsave(&shards[shard].lock, flags);
	sample = find_sample(bucket, object);
	if (sample)
		unlink_sample(slab, bucket, sample);
	raw_spin_unlock_irqrestore(&shards[shard].lock, flags);

	return sample;
}

/*
 * If a free went past the hook the page may be anything by now. A bit of ours that
 * stays in its page_ext then costs a look into a bucket, now and then. The slab's
 * flag has gone with the slab.
 */
static void purge_sample(unsigned int shard, struct hlist_head *bucket,
			 struct lt_sample *sample)
{
	struct slab *slab = virt_to_slab((void *)sample->object);

	if (slab && shard_of(slab) == shard) {
		unlink_sample(slab, bucket, sample);
	} else {
		hlist_del(&sample->node);
		leaktrend_count(LT_MISSED_FREES);
	}
}

/**
 * leaktrend_table_purge() - Forget all samples.
 *
 * With leaktrend_running cleared and the free hooks still active: then each
 * sample that is found belongs to an object that has not been freed.
 *
 * Context: Process context, may sleep.
 */
void leaktrend_table_purge(void)
{
	unsigned long nr = leaktrend_table_buckets();
	unsigned long flags, i;

	for (i = 0; i < nr; i++) {
		raw_spinlock_t *lock = &shards[i >> bucket_bits].lock;
		struct hlist_head *bucket = &buckets[i];
		HLIST_HEAD(purged);
		struct lt_sample *sample;
		struct hlist_node *next;

		raw_spin_lock_irqsave(lock, flags);
		hlist_for_each_entry_safe(sample, next, bucket, node) {
			purge_sample(i >> bucket_bits, bucket, sample);
			hlist_add_head(&sample->node, &purged);
		}
		raw_spin_unlock_irqrestore(lock, flags);

		hlist_for_each_entry_safe(sample, next, &purged, node)
			leaktrend_sample_free(sample);
		cond_resched();
	}
}

unsigned long leaktrend_table_buckets(void)
{
	return 1UL << (shard_bits + bucket_bits);
}

/**
 * leaktrend_table_copy() - Copy the samples of a bucket.
 * @bucket: Number of the bucket.
 * @to:	    Room for @max objects.
 * @max:    How many to copy at most.
 *
 * Return: How many there are, which may be more than were copied.
 */
unsigned int leaktrend_table_copy(unsigned long bucket, struct lt_object *to,
				  unsigned int max)
{
	raw_spinlock_t *lock = &shards[bucket >> bucket_bits].lock;
	struct lt_sample *sample;
	unsigned int n = 0;
	unsigned long flags;

	if (hlist_empty(&buckets[bucket]))
		return 0;

	raw_spin_lock_irqsave(lock, flags);
	hlist_for_each_entry(sample, &buckets[bucket], node) {
		if (n < max) {
			to[n].sample = *sample;
			/* As long as the sample is in the table its site is there. */
			to[n].handle = sample->site->handle;
			to[n].site = sample->site->id;
			to[n].named = READ_ONCE(sample->site->symbols);
			strscpy(to[n].cache_name, sample->site->cache_name);
		}
		n++;
	}
	raw_spin_unlock_irqrestore(lock, flags);

	return n;
}

/**
 * leaktrend_table_oldest() - Note the time of the oldest sample in each site.
 *
 * Lowers oldest_scan of the sites, which the caller has set to U64_MAX.
 *
 * Context: Process context under leaktrend_mutex, may sleep.
 */
void leaktrend_table_oldest(void)
{
	unsigned long nr = leaktrend_table_buckets();
	unsigned long flags, i;

	lockdep_assert_held(&leaktrend_mutex);

	for (i = 0; i < nr; i++) {
		raw_spinlock_t *lock = &shards[i >> bucket_bits].lock;
		struct lt_sample *sample;

		/* A bucket that just gets its first sample has none that is old. */
		if (hlist_empty(&buckets[i]))
			continue;

		raw_spin_lock_irqsave(lock, flags);
		hlist_for_each_entry(sample, &buckets[i], node) {
			if (sample->ts_ns < sample->site->oldest_scan)
				sample->site->oldest_scan = sample->ts_ns;
		}
		raw_spin_unlock_irqrestore(lock, flags);
		cond_resched();
	}
}

size_t leaktrend_table_memory(void)
{
	return sizeof(*buckets) * leaktrend_table_buckets() +
	       sizeof(*shards) * (1UL << shard_bits);
}

/* Samples */

/**
 * leaktrend_sample_alloc() - Get an empty sample.
 * @gfp: May not allow to sleep.
 *
 * Return: A sample or NULL.
 */
struct lt_sample *leaktrend_sample_alloc(gfp_t gfp)
{
	struct lt_sample *sample = kmem_cache_alloc(sample_cache, gfp);

	if (sample)
		this_cpu_inc(samples_taken);
	return sample;
}

void leaktrend_sample_free(struct lt_sample *sample)
{
	this_cpu_inc(samples_freed);
	kmem_cache_free(sample_cache, sample);
}

/**
 * leaktrend_sample_amount() - What a sample counts for.
 * @sample: The sample.
 * @amount: To be filled in.
 */
void leaktrend_sample_amount(const struct lt_sample *sample,
			     struct lt_amount *amount)
{
	amount->number = sample->weight;
	amount->bytes = (u64)sample->weight * sample->size;
	amount->variance = leaktrend_sample_variance(sample->weight);
	amount->birth = sample->birth;
}

/**
 * leaktrend_sample_counts() - How many samples there have been.
 * @taken: Set to the number of samples taken since boot.
 * @freed: Set to how many of them are gone, with their object or in a purge.
 *
 * First the freed ones: while samples come and go the difference may then be
 * too large, but never negative.
 */
void leaktrend_sample_counts(unsigned long *taken, unsigned long *freed)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(samples_freed, cpu));
	*freed = sum;
	/* What was freed by then was taken by then. */
	smp_rmb();
	sum = 0;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(samples_taken, cpu));
	*taken = sum;
}

size_t leaktrend_sample_size(void)
{
	return kmem_cache_size(sample_cache);
}

/**
 * leaktrend_table_init() - Allocate the table.
 *
 * A bucket for every eight pages of memory: at the default rate that is one for
 * each sample if all memory were objects of 300 bytes.
 *
 * Context: Process context, at boot.
 * Return: 0 or -ENOMEM.
 */
int __init leaktrend_table_init(void)
{
	unsigned long nr, i;

	nr = clamp(totalram_pages() / 8, 1UL << 12, 1UL << 22);
	nr = roundup_pow_of_two(nr);
	shard_bits = clamp(ilog2(num_possible_cpus()) + 6, 6, 10);
	bucket_bits = ilog2(nr) - shard_bits;

	/*
	 * SLAB_NOLEAKTRACE does not only keep our own objects out of the hooks.
	 * SLUB gives such a cache no sheaves, and nothing of ours is charged, so
	 * that an allocation from it brings about no other.
	 */
	sample_cache = kmem_cache_create("leaktrend_sample",
					 sizeof(struct lt_sample), 0,
					 SLAB_NOLEAKTRACE, NULL);
	buckets = kvcalloc(nr, sizeof(*buckets), GFP_KERNEL);
	shards = kvcalloc(1UL << shard_bits, sizeof(*shards), GFP_KERNEL);
	if (!sample_cache || !buckets || !shards) {
		kvfree(shards);
		kvfree(buckets);
		kmem_cache_destroy(sample_cache);
		return -ENOMEM;
	}

	for (i = 0; i < 1UL << shard_bits; i++)
		raw_spin_lock_init(&shards[i].lock);
	return 0;
}
