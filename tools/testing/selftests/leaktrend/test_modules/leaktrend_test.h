/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the jobs of the test module and its page allocators share.
 */
#ifndef LEAKTREND_TEST_H
#define LEAKTREND_TEST_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/llist.h>
#include <linux/page_frag_cache.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#define LT_NAME_MAX	32
/* A size or an order that was not given. */
#define LT_UNSET	UINT_MAX

enum lt_cache_kind {
	LT_KMALLOC, LT_OWN, LT_RECLAIM, LT_RCU, LT_CTOR,
	/* From the page allocator: */
	LT_PAGES, LT_LARGE, LT_VMALLOC, LT_EXACT, LT_PAGE_FRAG, LT_HEADONLY, LT_BULK_PAGES,
	LT_PERCPU,
	LT_NR_CACHES
};

enum lt_ctx { LT_PROCESS, LT_HARDIRQ, LT_SOFTIRQ };

enum lt_path {
	LT_SINGLE, LT_BULK, LT_KREALLOC, LT_KFREE_RCU, LT_REMOTE, LT_SHEAF, LT_NOLOCK
};

enum lt_site { LT_SITE_A, LT_SITE_B, LT_HELPER_A, LT_HELPER_B };

enum lt_state { LT_UNUSED, LT_RUNNING, LT_DONE };

/**
 * struct lt_config - what a job is asked to do
 * @name: label in "jobs"
 * @size: bytes per object
 * @order: of pages, in place of a size
 * @comp: allocate compound pages
 * @count: number of allocations, 0 = until stopped
 * @rate: allocations per second, 0 = as fast as possible
 * @lose: lose so many ...
 * @lose_of: ... of so many objects, spread evenly
 * @live: objects in flight
 * @cache: where objects come from
 * @ctx: context of the allocations
 * @path: allocator path taken
 * @site: function that allocates
 */
struct lt_config {
	char name[LT_NAME_MAX];
	unsigned int size;
	unsigned int order;
	bool comp;
	u64 count;
	u64 rate;
	unsigned int lose;
	unsigned int lose_of;
	unsigned int live;
	enum lt_cache_kind cache;
	enum lt_ctx ctx;
	enum lt_path path;
	enum lt_site site;
};

/* The part of an object that the module writes to. */
struct lt_obj {
	union {
		struct lt_obj *next;
		struct llist_node llnode;
	};
};

struct lt_page_ops;

struct lt_job {
	struct lt_config conf;
	unsigned int id;
	gfp_t gfp;
	struct kmem_cache *cache;		/* NULL: kmalloc */
	const struct lt_page_ops *page_ops;	/* NULL: slab */

	/* What drives it. */
	struct task_struct *task;
	struct hrtimer timer;
	struct irq_work irq_work;
	struct work_struct remote_work;
	struct llist_head remote;
	atomic_t remote_pending;
	ktime_t started;
	u64 settled;			/* frees known to be done; lt_mutex */
	struct page_frag_cache frag;	/* changed by the job, by others when it has ended */

	spinlock_t lock;		/* guards all below */
	enum lt_state state;
	bool stop;			/* do not rearm the timer */
	u64 tried;
	u64 allocs;
	u64 frees;
	u64 errors;
	unsigned long held;
	unsigned long lost;
	u64 lose_acc;
	struct lt_obj *lost_list;
	struct lt_obj *held_first;
	struct lt_obj *held_last;
	ktime_t ended;

	/* Of cache=pages and the like only; the rest is for pages.c. */
	u64 page_allocs;
	u64 page_frees;
	struct lt_obj *tails;
	unsigned long nr_tails;
	struct page *chunk;
	unsigned int chunk_pages;
	bool chunk_idle;
};

/**
 * struct lt_page_ops - an allocator that takes its memory from the page allocator
 * @alloc: allocate objects; returns how many, and counts their pages
 * @free: free objects, in any context, and count their pages
 * @end: give back what a job keeps for its next allocation, optional
 * @give_back: give back what @free has leaked, optional
 * @held: pages that a job keeps from being free, for an allocator that does not
 *	count them; NULL: what @alloc has counted and @free has not
 * @min: least size, or order if @by_order
 * @max: largest size or order
 * @preset: size or order of a job that does not give one
 * @by_order: objects have an order, not a size
 * @sleeps: allocates in process context only
 */
struct lt_page_ops {
	unsigned int (*alloc)(struct lt_job *job, void **objs, unsigned int n);
	void (*free)(struct lt_job *job, void **objs, unsigned int n);
	void (*end)(struct lt_job *job);
	void (*give_back)(struct lt_job *job);
	u64 (*held)(const struct lt_job *job);
	unsigned int min;
	unsigned int max;
	unsigned int preset;
	bool by_order;
	bool sleeps;
};

const struct lt_page_ops *lt_get_page_ops(enum lt_cache_kind cache);
const char *lt_check_pages(struct lt_config *conf);
u64 lt_held_pages(const struct lt_job *job);

/*
 * Keeps the function that contains it from ending in a tail call, and, with a
 * @line of its own, from being folded with a twin: both would change the name
 * in the stack trace.
 */
static __always_inline void lt_mark(const int line)
{
	asm volatile("" : : "i" (line) : "memory");
}

#endif /* LEAKTREND_TEST_H */
