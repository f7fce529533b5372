/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend hooks for the page allocator.
 *
 * They stand beside page_owner's, because those mark exactly the places where
 * pages become live or dead, or change places with others.
 */
#ifndef __MM_LEAKTREND_PAGE_HOOKS_H
#define __MM_LEAKTREND_PAGE_HOOKS_H

#include <linux/bitops.h>
#include <linux/instruction_pointer.h>
#include <linux/jump_label.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/types.h>

struct folio;
struct page;

/* Which allocator. Its unit is an object, or a page. */
enum lt_kind {
	LT_KIND_SLAB,
	LT_KIND_PAGE,
	LT_NR_KINDS,
};

#ifdef CONFIG_LEAKTREND

DECLARE_STATIC_KEY_FALSE(leaktrend_key);
DECLARE_PER_CPU(long [LT_NR_KINDS], leaktrend_gap);

/* A bit for each page that is a sample, see pages.c. */
extern unsigned long *leaktrend_page_map;
extern unsigned long leaktrend_page_map_bits;

void __leaktrend_page_alloc(struct page *page, unsigned int order, gfp_t gfp,
			    bool nolock, unsigned long caller);
void __leaktrend_page_free(struct page *page, unsigned int order);
void __leaktrend_page_slab(struct page *page, unsigned int order);
void __leaktrend_folio_migrate(struct folio *new, struct folio *old);

/**
 * leaktrend_page_alloc() - Pages have become live.
 * @page:   The first of them.
 * @order:  There are 2^@order.
 * @gfp:    The flags of the allocation.
 * @nolock: Nothing can be recorded that takes a lock.
 *
 * After set_page_owner(), as the stack is page_owner's if it has one.
 *
 * Context: Any, including NMI. Never sleeps.
 */
static __always_inline void
leaktrend_page_alloc(struct page *page, unsigned int order, gfp_t gfp, bool nolock)
{
	if (static_branch_unlikely(&leaktrend_key) &&
	    unlikely(this_cpu_sub_return(leaktrend_gap[LT_KIND_PAGE],
					 1L << order) < 0))
		__leaktrend_page_alloc(page, order, gfp, nolock, _RET_IP_);
}

/**
 * leaktrend_page_due() - Is a sample about to be taken on this CPU?
 * @nr_pages: How many pages are to be allocated.
 *
 * To ask before many pages are allocated under a lock, as a sample needs memory
 * itself.
 *
 * Return: true if one of the next @nr_pages is to be sampled. If the task goes
 * on elsewhere the answer is about another CPU.
 */
static __always_inline bool leaktrend_page_due(unsigned int nr_pages)
{
	return static_branch_unlikely(&leaktrend_key) &&
	       this_cpu_read(leaktrend_gap[LT_KIND_PAGE]) < (long)nr_pages;
}

/**
 * leaktrend_page_maybe() - May a page be a sample?
 * @page: The page, of which the caller is the owner.
 *
 * Return: false if it is not.
 */
static __always_inline bool leaktrend_page_maybe(const struct page *page)
{
	unsigned long pfn = page_to_pfn(page);

	return pfn >= leaktrend_page_map_bits || test_bit(pfn, leaktrend_page_map);
}

/**
 * leaktrend_page_free() - Pages are about to die.
 * @page:  The first of them.
 * @order: There are 2^@order, which need not be what was allocated at once.
 *
 * After reset_page_owner(). All pages of a sampled allocation are samples, so the
 * first tells.
 *
 * Context: Any, including NMI.
 */
static __always_inline void
leaktrend_page_free(struct page *page, unsigned int order)
{
	if (static_branch_unlikely(&leaktrend_key) &&
	    unlikely(leaktrend_page_maybe(page)))
		__leaktrend_page_free(page, order);
}

/**
 * leaktrend_page_slab() - Pages have become a slab.
 * @page:  The first of them.
 * @order: There are 2^@order.
 *
 * From here on its objects are tracked, not the pages.
 *
 * Context: Any, including NMI. No object of the slab is live.
 */
static __always_inline void
leaktrend_page_slab(struct page *page, unsigned int order)
{
	if (static_branch_unlikely(&leaktrend_key) &&
	    unlikely(leaktrend_page_maybe(page)))
		__leaktrend_page_slab(page, order);
}

/**
 * leaktrend_folio_migrate() - What is in one folio moves to another.
 * @new: Where to. Allocated for the purpose.
 * @old: Where from. Will be freed.
 *
 * After folio_copy_owner().
 *
 * Context: Any.
 */
static __always_inline void
leaktrend_folio_migrate(struct folio *new, struct folio *old)
{
	if (static_branch_unlikely(&leaktrend_key))
		__leaktrend_folio_migrate(new, old);
}

#else /* CONFIG_LEAKTREND */

static inline void
leaktrend_page_alloc(struct page *page, unsigned int order, gfp_t gfp, bool nolock)
{
}

static inline bool leaktrend_page_due(unsigned int nr_pages)
{
	return false;
}

static inline void leaktrend_page_free(struct page *page, unsigned int order)
{
}

static inline void leaktrend_page_slab(struct page *page, unsigned int order)
{
}

static inline void leaktrend_folio_migrate(struct folio *new, struct folio *old)
{
}

#endif /* CONFIG_LEAKTREND */

#endif /* __MM_LEAKTREND_PAGE_HOOKS_H */
