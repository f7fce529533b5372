// SPDX-License-Identifier: GPL-2.0
/*
 * The allocators of the test module that end in the page allocator.
 *
 * Each knows the truth in base pages: how many it was given and how many it has
 * given back. Objects are virtual addresses, whose first word the jobs use to
 * chain them.
 *
 * The functions that allocate are named after what they call: they are in the
 * stack of the pages, between the page allocator and leaktrend_test_leak_a().
 *
 * Two of them leak in their own way. Of a block whose head alone is freed
 * (cache=headonly) the tails stay, although every object was freed; the job
 * remembers them. A lost fragment (cache=page_frag) keeps its whole chunk.
 */
#include <linux/align.h>
#include <linux/cpumask.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/page_ref.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "leaktrend_test.h"

static void lt_count(struct lt_job *job, u64 allocs, u64 frees)
{
	unsigned long flags;

	spin_lock_irqsave(&job->lock, flags);
	job->page_allocs += allocs;
	job->page_frees += frees;
	spin_unlock_irqrestore(&job->lock, flags);
}

/* ---- cache=pages ---- */

static unsigned int leaktrend_test_pages(struct lt_job *job, void **objs, unsigned int n)
{
	gfp_t gfp = job->gfp | (job->conf.comp ? __GFP_COMP : 0);
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct page *page = alloc_pages(gfp, job->conf.order);

		if (!page)
			break;
		objs[i] = page_address(page);
	}
	lt_count(job, i << job->conf.order, 0);
	return i;
}

static void lt_free_pages(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		__free_pages(virt_to_page(objs[i]), job->conf.order);
	lt_count(job, 0, n << job->conf.order);
}

/* ---- cache=headonly ---- */

/* Only the head: the tails are pages of their own from now on, chained by the first. */
static void lt_free_head(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct lt_obj *tail = objs[i] + PAGE_SIZE;

		spin_lock_irqsave(&job->lock, flags);
		tail->next = job->tails;
		job->tails = tail;
		job->nr_tails += (1 << job->conf.order) - 1;
		spin_unlock_irqrestore(&job->lock, flags);

		__free_page(virt_to_page(objs[i]));
	}
	lt_count(job, 0, n);
}

static void lt_free_tails(struct lt_job *job)
{
	unsigned int i, nr = (1 << job->conf.order) - 1;
	struct lt_obj *tail, *next;

	spin_lock_irq(&job->lock);
	tail = job->tails;
	job->tails = NULL;
	job->nr_tails = 0;
	spin_unlock_irq(&job->lock);

	for (; tail; tail = next) {
		struct page *page = virt_to_page(tail);

		next = tail->next;
		for (i = 0; i < nr; i++) {
			/* Of a block that is not compound only the head has a reference. */
			init_page_count(page + i);
			__free_page(page + i);
		}
		lt_count(job, 0, nr);
		cond_resched();
	}
}

/* ---- cache=bulk ---- */

static unsigned int
leaktrend_test_bulk(struct lt_job *job, void **objs, unsigned int n)
{
	struct page **pages = (struct page **)objs;
	unsigned int i, got = 0, had;

	/* It may return early, with page_owner after each page, and fills empty places. */
	memset(objs, 0, n * sizeof(*objs));
	do {
		had = got;
		got = alloc_pages_bulk(job->gfp, n, pages);
	} while (got < n && got > had);
	for (i = 0; i < got; i++)
		objs[i] = page_address(pages[i]);
	lt_count(job, got, 0);
	return got;
}

/* ---- cache=large ---- */

static unsigned int leaktrend_test_large(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		objs[i] = kmalloc(job->conf.size, job->gfp);
		if (!objs[i])
			break;
	}
	lt_count(job, i << get_order(job->conf.size), 0);
	return i;
}

static void lt_free_large(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		kfree(objs[i]);
	lt_count(job, 0, n << get_order(job->conf.size));
}

/* ---- cache=vmalloc ---- */

/*
 * Exact for the area itself. Page tables that it makes necessary stay when it
 * goes, and belong to nobody.
 */
static unsigned int leaktrend_test_vmalloc(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		objs[i] = __vmalloc(job->conf.size, job->gfp);
		if (!objs[i])
			break;
	}
	lt_count(job, (u64)i * PFN_UP(job->conf.size), 0);
	return i;
}

static void lt_free_vmalloc(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		vfree(objs[i]);
	lt_count(job, 0, (u64)n * PFN_UP(job->conf.size));
}

/* ---- cache=exact ---- */

/* A block is allocated and split, and what is too much of it freed at once. */
static unsigned int leaktrend_test_exact(struct lt_job *job, void **objs, unsigned int n)
{
	u64 block = 1 << get_order(job->conf.size), surplus;
	unsigned int i;

	for (i = 0; i < n; i++) {
		objs[i] = alloc_pages_exact(job->conf.size, job->gfp);
		if (!objs[i])
			break;
	}
	surplus = block - PFN_UP(job->conf.size);
	lt_count(job, i * block, i * surplus);
	return i;
}

static void lt_free_exact(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		free_pages_exact(objs[i], job->conf.size);
	lt_count(job, 0, (u64)n * PFN_UP(job->conf.size));
}

/* ---- cache=page_frag ---- */

/*
 * Exact, but while a fragment is on its way back. A chunk is kept as long as it
 * has live fragments, which are counted in its page->private, nobody else's here,
 * or the cache cuts new ones from it: job->chunk. Left by the cache without a
 * fragment it is free, and no longer ours to look at.
 */
static void lt_count_fragment(struct lt_job *job, void *obj)
{
	struct page *page = virt_to_head_page(obj);
	unsigned long flags;

	spin_lock_irqsave(&job->lock, flags);
	if (page != job->chunk) {
		if (job->chunk_idle)
			job->page_frees += job->chunk_pages;
		job->chunk = page;
		job->chunk_pages = compound_nr(page);
		job->page_allocs += job->chunk_pages;
	}
	job->chunk_idle = false;
	set_page_private(page, page_private(page) + 1);
	spin_unlock_irqrestore(&job->lock, flags);
}

static unsigned int
leaktrend_test_page_frag(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		objs[i] = page_frag_alloc(&job->frag, job->conf.size, job->gfp);
		if (!objs[i])
			break;
		lt_count_fragment(job, objs[i]);
	}
	return i;
}

static void lt_free_page_frag(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct page *page = virt_to_head_page(objs[i]);

		spin_lock_irqsave(&job->lock, flags);
		set_page_private(page, page_private(page) - 1);
		if (!page_private(page)) {
			if (page == job->chunk)
				job->chunk_idle = true;
			else
				job->page_frees += compound_nr(page);
		}
		spin_unlock_irqrestore(&job->lock, flags);

		page_frag_free(objs[i]);
	}
}

static void lt_end_page_frag(struct lt_job *job)
{
	page_frag_cache_drain(&job->frag);

	spin_lock_irq(&job->lock);
	if (job->chunk_idle)
		job->page_frees += job->chunk_pages;
	job->chunk = NULL;
	job->chunk_idle = false;
	spin_unlock_irq(&job->lock);
}

/* ---- cache=percpu ---- */

/* An object is its copy for the first CPU, which can be written to. */
static unsigned long lt_percpu_offset(void)
{
	return per_cpu_offset(cpumask_first(cpu_possible_mask));
}

static unsigned int leaktrend_test_percpu(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		void __percpu *p = __alloc_percpu_gfp(job->conf.size, sizeof(struct lt_obj),
						      job->gfp);

		if (!p)
			break;
		objs[i] = (void *)((__force unsigned long)p + lt_percpu_offset());
	}
	return i;
}

static void lt_free_percpu(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		free_percpu((__force void __percpu *)((unsigned long)objs[i] -
						      lt_percpu_offset()));
}

/*
 * A lower bound: the pages that the live objects fill. Others share them, and
 * the chunks to which they belong are populated in advance, by a work, and stay
 * for a while when they are empty. So page_allocs and page_frees are not known.
 */
static u64 lt_held_percpu(const struct lt_job *job)
{
	return PFN_UP((u64)(job->held + job->lost) * job->conf.size) * num_possible_cpus();
}

/* ---- All of them ---- */

static const struct lt_page_ops lt_page_ops[LT_NR_CACHES] = {
	[LT_PAGES] = {
		.alloc		= leaktrend_test_pages,
		.free		= lt_free_pages,
		.max		= MAX_PAGE_ORDER,
		.by_order	= true,
	},
	[LT_LARGE] = {
		.alloc		= leaktrend_test_large,
		.free		= lt_free_large,
		.min		= KMALLOC_MAX_CACHE_SIZE + 1,
		.max		= KMALLOC_MAX_SIZE,
		.preset		= 2 * KMALLOC_MAX_CACHE_SIZE,
	},
	[LT_VMALLOC] = {
		.alloc		= leaktrend_test_vmalloc,
		.free		= lt_free_vmalloc,
		.min		= sizeof(struct lt_obj),
		.max		= SZ_4M,
		.preset		= 3 * PAGE_SIZE,
		.sleeps		= true,
	},
	[LT_EXACT] = {
		.alloc		= leaktrend_test_exact,
		.free		= lt_free_exact,
		.min		= 2 * PAGE_SIZE + 1,
		.max		= PAGE_SIZE << MAX_PAGE_ORDER,
		.preset		= 5 * PAGE_SIZE,
	},
	[LT_PAGE_FRAG] = {
		.alloc		= leaktrend_test_page_frag,
		.free		= lt_free_page_frag,
		.end		= lt_end_page_frag,
		.min		= sizeof(struct lt_obj),
		/* What fits into a chunk of one page, if there is no memory for more. */
		.max		= PAGE_SIZE,
		.preset		= 512,
	},
	[LT_HEADONLY] = {
		.alloc		= leaktrend_test_pages,
		.free		= lt_free_head,
		.give_back	= lt_free_tails,
		.min		= 1,
		.max		= MAX_PAGE_ORDER,
		.preset		= 1,
		.by_order	= true,
	},
	[LT_BULK_PAGES] = {
		.alloc		= leaktrend_test_bulk,
		.free		= lt_free_pages,
		.by_order	= true,
	},
	[LT_PERCPU] = {
		.alloc		= leaktrend_test_percpu,
		.free		= lt_free_percpu,
		.held		= lt_held_percpu,
		.min		= sizeof(struct lt_obj),
		.max		= PCPU_MIN_UNIT_SIZE,
		.preset		= 64,
		.sleeps		= true,
	},
};

/**
 * lt_get_page_ops() - the page allocator behind a kind of cache
 * @cache: the kind
 *
 * Return: NULL if it is one of slabs.
 */
const struct lt_page_ops *lt_get_page_ops(enum lt_cache_kind cache)
{
	const struct lt_page_ops *ops = &lt_page_ops[cache];

	return ops->alloc ? ops : NULL;
}

/* Sizes of which a power of two of pages is made without a split. */
static bool lt_fills_block(unsigned int size)
{
	return PFN_UP(size) == 1UL << get_order(size);
}

/**
 * lt_check_pages() - check what a job of a page allocator is asked to do
 * @conf: what; a size or order that was not given is filled in
 *
 * Return: what is wrong with it, or NULL.
 */
const char *lt_check_pages(struct lt_config *conf)
{
	const struct lt_page_ops *ops = lt_get_page_ops(conf->cache);
	unsigned int *value = ops->by_order ? &conf->order : &conf->size;

	if (*value == LT_UNSET)
		*value = ops->preset;

	if (ops->by_order && conf->size != LT_UNSET)
		return "a cache of whole pages has an order, no size";
	if (!ops->by_order && conf->order != LT_UNSET)
		return "order needs cache=pages or headonly";
	if (*value < ops->min || *value > ops->max)
		return ops->by_order ? "order out of range" : "size out of range";
	if (conf->cache == LT_EXACT && lt_fills_block(conf->size))
		return "cache=exact needs a size that is no power of two of pages";
	if (conf->comp && (conf->cache != LT_PAGES || !conf->order))
		return "comp=1 needs cache=pages and an order above 0";
	if (conf->path != LT_SINGLE && conf->path != LT_REMOTE)
		return "pages have path=single and remote only";
	if (ops->sleeps && conf->ctx != LT_PROCESS)
		return "this cache needs ctx=process";

	if (ops->by_order)
		conf->size = PAGE_SIZE << conf->order;
	return NULL;
}

/**
 * lt_held_pages() - base pages that a job keeps from being free
 * @job: the job, whose lock the caller holds
 *
 * Return: Their number, see each allocator for how exact it is; 0 for slabs.
 */
u64 lt_held_pages(const struct lt_job *job)
{
	lockdep_assert_held(&job->lock);

	if (job->page_ops && job->page_ops->held)
		return job->page_ops->held(job);
	return job->page_allocs - job->page_frees;
}
