// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: the live samples of the page allocator, in page_ext.
 *
 * Each page of a sampled allocation says in its page_ext word which site it
 * belongs to, how many pages it stands for and in which round it was born. So
 * every page can go its own way: be split off, migrated, freed alone or with
 * others, and takes along what it counts for. Nothing else is kept of a sample.
 *
 * There are two modes, one per boot:
 *
 *  - With page_owner every allocation is sampled with weight 1. Its stack is
 *    page_owner's, and how many pages of a stack are outstanding is page_owner's
 *    count, read where page_owner keeps it: the two cannot disagree. The words
 *    add the time. An allocated page without one is from before tracking was
 *    enabled. The word of a free page is left as it is, and means nothing.
 *
 *  - Without, one page in sample_rate is the reason to sample its allocation,
 *    and the stack is taken here. The word of a page that is not sampled is 0
 *    as long as it is not a slab's.
 *
 * A page that becomes a slab stops being a sample. From then on its word is
 * a bitmap of table.c, which leaves alone the bit that marks ours.
 *
 * So that the free of a page that is no sample need not look up its page_ext, there is
 * a bitmap of all pages besides, indexed by page frame number, with the same bit as the
 * word. It is written where the word is. With page_owner, and for pages behind its end,
 * there is none, and the word is looked at.
 *
 * Life of a word: written by the allocation, before its caller knows the page,
 * and by whoever owns the page from then on. So there is no lock. To forget all
 * words leaktrend_running is cleared, which stops them from being written or
 * moved (checked in the same RCU read-side section), and after a grace period
 * all of memory is walked.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/gfp.h>
#include <linux/memblock.h>
#include <linux/memory_hotplug.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/page_owner.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>

#include "internal.h"

#define WORD_SAMPLED	BIT_ULL(63)
#define WORD_SITE	GENMASK_ULL(46 + LT_SITE_BITS - 1, 46)
#define WORD_WEIGHT	GENMASK_ULL(45, 26)
#define WORD_ORDER	GENMASK_ULL(25, 22)
/*
 * Modulo 2^22 rounds. A page that gets as old as that is counted as older than
 * all generations of interest, but in LT_GENERATION_MAX_AGE rounds of 2^22 its
 * free is taken for that of a young one.
 */
#define WORD_BIRTH	GENMASK_ULL(21, 0)

static_assert(46 + LT_SITE_BITS == 63);

/**
 * leaktrend_page_owner() - Are the sites of pages page_owner's?
 *
 * Return: true if page_owner is on. That does not change.
 */
bool leaktrend_page_owner(void)
{
	return static_branch_unlikely(&page_owner_inited);
}

/* page_ext */

static __init bool need_leaktrend(void)
{
	return leaktrend_available();
}

struct page_ext_operations leaktrend_ops = {
	.size = sizeof(u64),
	.need = need_leaktrend,
};

/**
 * leaktrend_page_word() - Our word of a page.
 * @page_ext: Of the page.
 *
 * Return: A bitmap of table.c if the page is a slab, else what is described here.
 */
u64 *leaktrend_page_word(struct page_ext *page_ext)
{
	return page_ext_data(page_ext, &leaktrend_ops);
}

/* The bitmap */

unsigned long *leaktrend_page_map __ro_after_init;
unsigned long leaktrend_page_map_bits __ro_after_init;

/**
 * leaktrend_pages_init() - Allocate the bitmap of pages that are samples.
 *
 * It is a bit per page of memory, and of the holes between. Where these are much more
 * than the memory, what is behind them has none.
 *
 * Context: Process context, at boot.
 * Return: 0 or -ENOMEM.
 */
int __init leaktrend_pages_init(void)
{
	unsigned long bits = min(max_pfn, 4 * totalram_pages());

	/* Every page is a sample then. */
	if (leaktrend_page_owner())
		return 0;
	leaktrend_page_map = kvcalloc(BITS_TO_LONGS(bits), sizeof(long), GFP_KERNEL);
	if (!leaktrend_page_map)
		return -ENOMEM;
	leaktrend_page_map_bits = bits;
	return 0;
}

/* Bytes that the bitmap takes. */
size_t leaktrend_pages_memory(void)
{
	return BITS_TO_LONGS(leaktrend_page_map_bits) * sizeof(long);
}

/* Words */

/* Of pages whose owner is the caller, or which are no samples. */
static void write_word(unsigned long pfn, struct page_ext *page_ext, u64 word)
{
	WRITE_ONCE(*leaktrend_page_word(page_ext), word);
	if (pfn < leaktrend_page_map_bits)
		assign_bit(pfn, leaktrend_page_map, word & WORD_SAMPLED);
}

static u64 make_word(const struct lt_site *site, u32 weight, unsigned int order,
		     u32 birth)
{
	return WORD_SAMPLED | FIELD_PREP(WORD_SITE, site->id) |
	       FIELD_PREP(WORD_WEIGHT, weight) |
	       FIELD_PREP(WORD_ORDER, min_t(u64, order, FIELD_MAX(WORD_ORDER))) |
	       FIELD_PREP(WORD_BIRTH, birth & FIELD_MAX(WORD_BIRTH));
}

/* The last round that has those bits. */
static u32 word_birth(u64 word, u32 round)
{
	u32 age = (round - FIELD_GET(WORD_BIRTH, word)) & FIELD_MAX(WORD_BIRTH);

	return round - age;
}

/* NULL while all sites are forgotten. */
static struct lt_site *word_site(u64 word)
{
	return leaktrend_site_by_id(FIELD_GET(WORD_SITE, word));
}

static void remove_amount(u64 word, const struct lt_amount *amount, u32 round)
{
	struct lt_site *site = word_site(word);

	if (site)
		leaktrend_site_free(site, amount, round);
}

/* Adds what a page counts for. */
static void add_word(struct lt_amount *amount, u64 word)
{
	u32 weight = FIELD_GET(WORD_WEIGHT, word);

	amount->number += weight;
	amount->bytes += (u64)weight << PAGE_SHIFT;
	/* Its share of that of the allocation, see leaktrend_page_weight(). */
	amount->variance += leaktrend_sample_variance(weight) <<
			    FIELD_GET(WORD_ORDER, word);
}

/*
 * Take the samples out of 2^@order pages. All of one allocation have the same
 * site and birth. More than one allocation is freed at once by nobody, but if it
 * were it would count right.
 */
static void remove_samples(struct page *page, unsigned int order, u32 round)
{
	struct lt_amount amount = {};
	struct page_ext *page_ext;
	struct page_ext_iter iter;
	const u64 same = WORD_SITE | WORD_BIRTH;
	u64 last = 0;

	for_each_page_ext(page, 1UL << order, page_ext, iter) {
		u64 word = *leaktrend_page_word(page_ext);

		if (!(word & WORD_SAMPLED))
			continue;
		if (last && (word & same) != (last & same)) {
			remove_amount(last, &amount, round);
			amount = (struct lt_amount){};
		}
		last = word;
		amount.birth = word_birth(last, round);
		add_word(&amount, last);
		write_word(iter.start_pfn + iter.index, page_ext, 0);
	}
	if (last)
		remove_amount(last, &amount, round);
}

/* With page_owner: every page of an allocation has the same word. */
static void set_words(struct page *page, unsigned int order, u64 word)
{
	struct page_ext *page_ext;
	struct page_ext_iter iter;

	for_each_page_ext(page, 1UL << order, page_ext, iter)
		WRITE_ONCE(*leaktrend_page_word(page_ext), word);
}

/* Sites */

/* Has __GFP_MOVABLE only what a process or the page cache will own? Mostly. */
static enum lt_class class_of(gfp_t gfp)
{
	return gfp & __GFP_MOVABLE ? LT_CLASS_USER : LT_CLASS_KERNEL;
}

static void owned_origin(struct lt_origin *origin, const struct stack_record *record)
{
	*origin = (struct lt_origin){
		.handle = record->handle.handle,
		.kind = LT_KIND_PAGE,
		.record = record,
	};
}

static struct lt_site *find_owned(const struct stack_record *record)
{
	return record ? leaktrend_site_find(record->handle.handle, LT_KIND_PAGE) : NULL;
}

/*
 * The site of a stack of page_owner, of which 2^@order pages have just been
 * allocated. One that is new needs memory, for which page_owner asks for a stack
 * again, and so on: enter only once. What is left out gets its site in the next
 * round.
 */
static struct lt_site *owned_site(const struct stack_record *record,
				  unsigned int order, gfp_t gfp, bool nolock)
{
	struct lt_site *site = find_owned(record);
	struct lt_origin origin;

	if (likely(site) || !record)
		return site;
	if (nolock || in_nmi() || !leaktrend_enter())
		return NULL;

	owned_origin(&origin, record);
	origin.class = class_of(gfp);
	origin.pending = 1UL << order;
	site = leaktrend_site_get(&origin, leaktrend_nested_gfp(gfp));
	leaktrend_leave();
	return site;
}

/* Allocation */

static void add_owned(struct page *page, unsigned int order, gfp_t gfp, bool nolock)
{
	struct page_ext *page_ext = page_ext_get(page);
	struct lt_site *site;
	u64 word = 0;

	if (!page_ext)
		return;

	site = owned_site(page_owner_stack(page_ext), order, gfp, nolock);
	if (site) {
		struct lt_amount amount = {
			.number = 1UL << order,
			.birth = READ_ONCE(leaktrend_round),
		};

		word = make_word(site, 1, order, amount.birth);
		WRITE_ONCE(site->example, page_to_pfn(page));
		leaktrend_site_alloc(site, &amount);
	}
	set_words(page, order, word);
	page_ext_put(page_ext);
}

static void add_sampled(struct page *page, unsigned int order, struct lt_site *site,
			u32 rate, u32 random)
{
	u64 weight = leaktrend_page_weight(rate, order, random);
	struct lt_amount amount = { .birth = READ_ONCE(leaktrend_round) };
	unsigned long i = 0, pfn = page_to_pfn(page);
	struct page_ext *page_ext;
	struct page_ext_iter iter;

	for_each_page_ext(page, 1UL << order, page_ext, iter) {
		u32 share = leaktrend_page_share(weight, order, i, random);
		u64 word = make_word(site, share, order, amount.birth);

		write_word(pfn + i++, page_ext, word);
		add_word(&amount, word);
	}
	WRITE_ONCE(site->example, pfn);
	leaktrend_site_alloc(site, &amount);
}

static void track(struct page *page, unsigned int order, gfp_t gfp,
		  unsigned long caller, u32 rate, u32 random)
{
	gfp_t nested = leaktrend_nested_gfp(gfp);
	struct lt_origin origin = {
		.kind = LT_KIND_PAGE,
		.class = class_of(gfp),
	};
	struct lt_site *site;

	origin.handle = leaktrend_capture_stack(caller, nested);
	if (!origin.handle)
		return;

	/* Under RCU from here on, see leaktrend_pages_purge(). */
	rcu_read_lock();
	site = leaktrend_site_get(&origin, nested);
	if (site && READ_ONCE(leaktrend_running))
		add_sampled(page, order, site, rate, random);
	rcu_read_unlock();
}

noinline void __leaktrend_page_alloc(struct page *page, unsigned int order,
				     gfp_t gfp, bool nolock, unsigned long caller)
{
	size_t left = 1;
	u32 random, rate = leaktrend_sampler_take(LT_KIND_PAGE, &left, &random);
	u64 begin;

	if (!rate || !READ_ONCE(leaktrend_running))
		return;

	if (leaktrend_page_owner()) {
		rcu_read_lock();
		if (READ_ONCE(leaktrend_running))
			add_owned(page, order, gfp, nolock);
		rcu_read_unlock();
		return;
	}

	if (unlikely(nolock || in_nmi())) {
		leaktrend_count(LT_SKIPPED_NOLOCK);
		return;
	}
	/* Pages of the tracker's caches, and of the stack depot. */
	if (unlikely(!leaktrend_enter())) {
		leaktrend_count(LT_SKIPPED_NESTED);
		return;
	}
	begin = leaktrend_governor_begin();
	track(page, order, gfp, caller, rate, random);
	leaktrend_governor_end(begin);
	leaktrend_leave();
}

/* Free, in its forms */

/* page_owner counts what is freed at the stack of the first page. So do we. */
static void remove_owned(struct page_ext *page_ext, unsigned int order, u32 round)
{
	u64 *at = leaktrend_page_word(page_ext), word = READ_ONCE(*at);
	struct lt_amount amount = { .number = 1UL << order };
	struct lt_site *site;

	if (word & WORD_SAMPLED) {
		/* A page that was poisoned is freed once more when that is undone. */
		WRITE_ONCE(*at, 0);
		amount.birth = word_birth(word, round);
		remove_amount(word, &amount, round);
		return;
	}
	site = find_owned(page_owner_stack(page_ext));
	if (site)
		leaktrend_site_free_old(site, amount.number);
}

noinline void __leaktrend_page_free(struct page *page, unsigned int order)
{
	struct page_ext *page_ext = page_ext_get(page);
	u64 begin;
	u32 round;

	if (!page_ext)
		return;

	/* Under the RCU lock of page_ext_get(), see leaktrend_site_free(). */
	round = READ_ONCE(leaktrend_round);
	if (leaktrend_page_owner()) {
		remove_owned(page_ext, order, round);
	} else if (*leaktrend_page_word(page_ext) & WORD_SAMPLED) {
		begin = leaktrend_governor_begin();
		remove_samples(page, order, round);
		leaktrend_governor_end(begin);
	}
	page_ext_put(page_ext);
}

noinline void __leaktrend_page_slab(struct page *page, unsigned int order)
{
	struct page_ext *page_ext = page_ext_get(page);
	struct lt_site *site = NULL;
	u32 round;
	u64 word;

	if (!page_ext)
		return;

	round = READ_ONCE(leaktrend_round);
	word = READ_ONCE(*leaktrend_page_word(page_ext));
	if (word & WORD_SAMPLED)
		site = word_site(word);
	else if (leaktrend_page_owner())
		site = find_owned(page_owner_stack(page_ext));
	if (site)
		WRITE_ONCE(site->class, LT_CLASS_SLAB);

	if (word & WORD_SAMPLED && leaktrend_page_owner()) {
		/* It lives on, but without a word nobody knows since when. */
		if (site)
			leaktrend_site_forget_birth(site, 1UL << order,
						    word_birth(word, round), round);
		set_words(page, order, 0);
	} else if (word & WORD_SAMPLED) {
		remove_samples(page, order, round);
	}
	page_ext_put(page_ext);
}

/*
 * @new gets the words of @old, and the other way round, as with page_owner's
 * stacks: @old will be freed and then takes what @new counted for with it.
 */
noinline void __leaktrend_folio_migrate(struct folio *new, struct folio *old)
{
	unsigned long i, nr = min(folio_nr_pages(new), folio_nr_pages(old));

	rcu_read_lock();
	for (i = 0; i < nr; i++) {
		unsigned long to_pfn = folio_pfn(new) + i, from_pfn = folio_pfn(old) + i;
		struct page_ext *to = page_ext_lookup(to_pfn);
		struct page_ext *from = page_ext_lookup(from_pfn);
		u64 word = 0, other = 0;

		if (!to || !from)
			break;
		/* If not, the purge may have seen one of them already. */
		if (READ_ONCE(leaktrend_running)) {
			word = *leaktrend_page_word(from);
			other = *leaktrend_page_word(to);
		}
		write_word(to_pfn, to, word);
		write_word(from_pfn, from, other);
	}
	rcu_read_unlock();
}

/* What pages are for */

/* Is it allocated, and from that site? */
static bool is_page_of(const struct lt_site *site, struct page_ext *page_ext)
{
	u64 word;

	if (leaktrend_page_owner())
		return test_bit(PAGE_EXT_OWNER_ALLOCATED, &page_ext->flags) &&
		       page_owner_stack(page_ext) == site->record;

	word = READ_ONCE(*leaktrend_page_word(page_ext));
	return word & WORD_SAMPLED && FIELD_GET(WORD_SITE, word) == site->id;
}

/*
 * What a page is for shows only after it has been allocated. A page can change
 * hands at any time: look at a copy, and only if it was the site's before and
 * after.
 */
static void classify(struct lt_site *site, const struct page *page,
		     struct page_ext *page_ext)
{
	struct page_snapshot snap;
	const struct folio *folio = &snap.folio_snapshot;
	enum lt_class class = READ_ONCE(site->class);

	if (!is_page_of(site, page_ext))
		return;
	snapshot_page(&snap, page);
	if (!snapshot_page_is_faithful(&snap) || !is_page_of(site, page_ext))
		return;

	if (PageSlab(&folio->page))
		class = LT_CLASS_SLAB;
	else if (PageTable(&folio->page))
		class = LT_CLASS_PAGE_TABLE;
	else if (folio_test_lru(folio) || folio_test_anon(folio) ||
		 folio_test_hugetlb(folio))
		class = LT_CLASS_USER;
	else if (leaktrend_page_owner() &&
		 class_of(page_owner_gfp(page_ext)) == LT_CLASS_USER)
		class = LT_CLASS_USER;
	WRITE_ONCE(site->class, class);
}

/* From the last page that a site got, if it still has it. */
static void update_class(struct lt_site *site)
{
	unsigned long pfn = READ_ONCE(site->example);
	const struct page *page = pfn ? pfn_to_online_page(pfn) : NULL;
	struct page_ext *page_ext = page ? page_ext_get(page) : NULL;

	if (!page_ext)
		return;
	classify(site, page, page_ext);
	page_ext_put(page_ext);
}

/* All of memory, and the rounds */

/* Memory is there or not in units of this size. */
#ifdef CONFIG_SPARSEMEM
#define HOLE_STEP	min(MAX_ORDER_NR_PAGES, PAGES_PER_SUBSECTION)
#else
#define HOLE_STEP	MAX_ORDER_NR_PAGES
#endif

/*
 * Calls @fn for every page that has page_ext. Pages come, go and change while it
 * runs. Zones may overlap: @fn may see a page twice.
 */
static void walk_pages(void (*fn)(struct page *page, struct page_ext *page_ext))
{
	struct page_ext *page_ext;
	unsigned long pfn;
	struct page *page;
	struct zone *zone;

	get_online_mems();
	for_each_populated_zone(zone) {
		for (pfn = zone->zone_start_pfn; pfn < zone_end_pfn(zone); pfn++) {
			if (IS_ALIGNED(pfn, MAX_ORDER_NR_PAGES))
				cond_resched();
			page = pfn_to_online_page(pfn);
			if (!page) {
				pfn = ALIGN(pfn + 1, HOLE_STEP) - 1;
				continue;
			}
			page_ext = page_ext_get(page);
			if (page_ext) {
				fn(page, page_ext);
				page_ext_put(page_ext);
			}
		}
	}
	put_online_mems();
}

static void clear_word(struct page *page, struct page_ext *page_ext)
{
	/* A word of ours is not written any more but to clear it. */
	if (READ_ONCE(*leaktrend_page_word(page_ext)) & WORD_SAMPLED)
		write_word(page_to_pfn(page), page_ext, 0);
}

/* Make sure that a stack with pages has a site, as far as there is room. */
static struct lt_site *add_stack(const struct stack_record *record)
{
	struct lt_site *site = find_owned(record);
	struct lt_origin origin;

	if (site || refcount_read(&record->count) <= 1 || leaktrend_sites_full())
		return site;
	owned_origin(&origin, record);
	return leaktrend_site_get(&origin, GFP_NOWAIT);
}

/* Under leaktrend_mutex: a stack was found that no hook had made a site of. */
static bool stacks_added;

static void add_listed_stack(const struct stack_record *record)
{
	rcu_read_lock();
	if (!find_owned(record) && add_stack(record))
		stacks_added = true;
	rcu_read_unlock();
}

/* Stacks that page_owner had no memory to list, too, and what all are for. */
static void add_page(struct page *page, struct page_ext *page_ext)
{
	const struct stack_record *record = page_owner_stack(page_ext);
	struct lt_site *site;

	if (!record || !test_bit(PAGE_EXT_OWNER_ALLOCATED, &page_ext->flags))
		return;
	site = add_stack(record);
	if (site && !site->example) {
		WRITE_ONCE(site->example, page_to_pfn(page));
		classify(site, page, page_ext);
	}
}

/**
 * leaktrend_pages_start() - Know the pages that were allocated before.
 *
 * page_owner does; without it there is nothing to know.
 *
 * Context: Process context under leaktrend_mutex, may sleep.
 */
void leaktrend_pages_start(void)
{
	lockdep_assert_held(&leaktrend_mutex);

	if (!leaktrend_page_owner())
		return;
	page_owner_walk_stacks(add_listed_stack);
	walk_pages(add_page);
}

/**
 * leaktrend_pages_purge() - Forget all samples.
 *
 * With leaktrend_running cleared, and the hooks still active.
 *
 * Context: Process context under leaktrend_mutex, may sleep.
 */
void leaktrend_pages_purge(void)
{
	lockdep_assert_held(&leaktrend_mutex);

	/* For allocations and migrations that have seen it set. */
	synchronize_rcu();
	walk_pages(clear_word);
}

/**
 * leaktrend_pages_round() - What is to be found out about pages once per round.
 *
 * Context: Process context under leaktrend_mutex, may sleep.
 */
void leaktrend_pages_round(void)
{
	struct lt_site *site;

	lockdep_assert_held(&leaktrend_mutex);

	if (leaktrend_page_owner()) {
		/* There may be stacks that have been left out so far, but rarely. */
		stacks_added = false;
		page_owner_walk_stacks(add_listed_stack);
		if (stacks_added)
			walk_pages(add_page);
	}

	get_online_mems();
	leaktrend_for_each_site(site) {
		if (site->kind == LT_KIND_PAGE)
			update_class(site);
		cond_resched();
	}
	put_online_mems();
}
