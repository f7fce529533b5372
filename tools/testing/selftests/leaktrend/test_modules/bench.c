// SPDX-License-Identifier: GPL-2.0
/*
 * What an allocation and its free cost, in cycles of the CPU's counter, and many
 * call paths with live objects to see what their number costs.
 *
 * A row is a way to allocate and free. It runs in batches in a kernel thread that
 * is bound to one CPU, so that its call stack is short, and once more some calls
 * further down. The least batch per pair is the path on which nothing is sampled
 * and nothing interrupts; the mean has all of it. Where the counter counts
 * instructions (QEMU with -icount shift=0) both are the same from run to run.
 *
 * Nothing here needs leaktrend: an unpatched kernel is what others are compared to.
 * The result is in the kernel log, a line per row and depth:
 *
 *	leaktrend_bench: row=kmalloc-64 depth=0 min=143.02 mean=143.61 pairs=350208
 *
 * With sites=N there are N call paths afterwards, each with objects that live
 * until the module goes.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/workqueue.h>

/* Objects that are in use at once, where a row needs many. */
#define MANY		512
#define BULK		16
#define MAX_FRAMES	40
#define DEEP		8
#define SITE_BITS	17
#define MAX_SITES	BIT(SITE_BITS)
#define MAX_OBJECTS	(4U << 20)

static char *rows = "";
module_param(rows, charp, 0444);
MODULE_PARM_DESC(rows, "rows to run, separated by commas; default: all");
static unsigned long cycles = 50000000;
module_param(cycles, ulong, 0444);
MODULE_PARM_DESC(cycles, "how long to measure a row at each depth");
static unsigned long warmup = 5000000;
module_param(warmup, ulong, 0444);
MODULE_PARM_DESC(warmup, "how long to run it before");
static unsigned int sites;
module_param(sites, uint, 0444);
MODULE_PARM_DESC(sites, "call paths to allocate from, at most 131072; none by default");
static unsigned int objects;
module_param(objects, uint, 0444);
MODULE_PARM_DESC(objects, "objects that they hold, at most 4194304; by default one each");

struct bench_object {
	struct rcu_head rcu;
	char data[64 - sizeof(struct rcu_head)];
};

static struct kmem_cache *cache;
static void *many[MANY];

/*
 * The rows. Each does @n pairs and returns the time that they took.
 */

static noinline u64 row_kmalloc_64(unsigned int n)
{
	cycles_t begin = get_cycles();

	while (n--)
		kfree(kmalloc(64, GFP_KERNEL));
	return get_cycles() - begin;
}

static noinline u64 row_cache_64(unsigned int n)
{
	cycles_t begin = get_cycles();

	while (n--) {
		void *object = kmem_cache_alloc(cache, GFP_KERNEL);

		if (object)
			kmem_cache_free(cache, object);
	}
	return get_cycles() - begin;
}

/* A pair is 16 objects. */
static noinline u64 row_bulk_16(unsigned int n)
{
	cycles_t begin = get_cycles();

	while (n--) {
		if (kmem_cache_alloc_bulk(cache, GFP_KERNEL, BULK, many))
			kmem_cache_free_bulk(cache, BULK, many);
	}
	return get_cycles() - begin;
}

static noinline u64 row_kmalloc_16k(unsigned int n)
{
	cycles_t begin = get_cycles();

	while (n--)
		kfree(kmalloc(16384, GFP_KERNEL));
	return get_cycles() - begin;
}

static __always_inline u64 row_pages(unsigned int n, unsigned int order)
{
	cycles_t begin = get_cycles();

	while (n--) {
		struct page *page = alloc_pages(GFP_KERNEL, order);

		if (page)
			__free_pages(page, order);
	}
	return get_cycles() - begin;
}

static noinline u64 row_page_0(unsigned int n)
{
	return row_pages(n, 0);
}

static noinline u64 row_page_9(unsigned int n)
{
	return row_pages(n, 9);
}

/* A pair is 16 pages. The allocator may give less at once. */
static noinline u64 row_pages_bulk_16(unsigned int n)
{
	struct page *pages[BULK];
	cycles_t begin = get_cycles();
	unsigned int i, nr, before;

	while (n--) {
		memset(pages, 0, sizeof(pages));
		nr = 0;
		do {
			before = nr;
			nr = alloc_pages_bulk(GFP_KERNEL, BULK, pages);
		} while (nr < BULK && nr > before);
		for (i = 0; i < nr; i++)
			__free_page(pages[i]);
	}
	return get_cycles() - begin;
}

static noinline u64 row_fill_drain(unsigned int n)
{
	cycles_t begin = get_cycles();
	unsigned int i;

	for (i = 0; i < n; i++)
		many[i] = kmalloc(64, GFP_KERNEL);
	for (i = 0; i < n; i++)
		kfree(many[i]);
	return get_cycles() - begin;
}

/*
 * The grace period ends in the time of later batches: only the mean has all of it,
 * and no pause may come between, in which the counter runs on.
 */
static noinline u64 row_kfree_rcu(unsigned int n)
{
	cycles_t begin = get_cycles();

	while (n--) {
		struct bench_object *object = kmalloc_obj(*object);

		if (object)
			kfree_rcu(object, rcu);
	}
	cond_resched();
	return get_cycles() - begin;
}

static u64 remote_cycles;
static unsigned int remote_nr;

static void remote_free(struct work_struct *work)
{
	cycles_t begin = get_cycles();
	unsigned int i;

	for (i = 0; i < remote_nr; i++)
		kfree(many[i]);
	remote_cycles = get_cycles() - begin;
}

static DECLARE_WORK(remote_work, remote_free);

static int other_cpu(void)
{
	return cpumask_any_but(cpu_online_mask, smp_processor_id());
}

/* Without the way from one CPU to the other. */
static noinline u64 row_remote_free(unsigned int n)
{
	cycles_t begin = get_cycles();
	unsigned int i;
	u64 spent;

	for (i = 0; i < n; i++)
		many[i] = kmalloc(64, GFP_KERNEL);
	spent = get_cycles() - begin;

	remote_nr = n;
	schedule_work_on(other_cpu(), &remote_work);
	flush_work(&remote_work);
	return spent + remote_cycles;
}

static bool can_remote_free(void)
{
	return num_online_cpus() > 1;
}

#ifdef CONFIG_STACKDEPOT

static depot_stack_handle_t save_stack(void)
{
	unsigned long entries[MAX_FRAMES];
	unsigned int nr = stack_trace_save(entries, MAX_FRAMES, 0);

	return stack_depot_save(entries, nr, GFP_NOWAIT);
}

/* No pair: what a sample cannot do without. */
static noinline u64 row_bare_stack(unsigned int n)
{
	cycles_t begin = get_cycles();

	while (n--)
		save_stack();
	return get_cycles() - begin;
}

static bool can_bare_stack(void)
{
	return !stack_depot_init() && save_stack();
}

#else

static noinline u64 row_bare_stack(unsigned int n)
{
	return 0;
}

static bool can_bare_stack(void)
{
	return false;
}

#endif

/**
 * struct row - One way to allocate and to free.
 * @name:     In the output.
 * @batch:    How many pairs at once.
 * @run:      Does it.
 * @possible: Can it be done on this machine? NULL if anywhere.
 */
static const struct row {
	const char *name;
	unsigned int batch;
	u64 (*run)(unsigned int n);
	bool (*possible)(void);
} all_rows[] = {
	{ "kmalloc-64", 128, row_kmalloc_64 },
	{ "cache-64", 128, row_cache_64 },
	{ "bulk-16", 16, row_bulk_16 },
	{ "kmalloc-16k", 32, row_kmalloc_16k },
	{ "page-0", 32, row_page_0 },
	{ "page-9", 4, row_page_9 },
	{ "pages-bulk-16", 4, row_pages_bulk_16 },
	{ "fill-drain-512", MANY, row_fill_drain },
	{ "remote-free", MANY, row_remote_free, can_remote_free },
	{ "kfree_rcu", 128, row_kfree_rcu },
	{ "bare-stack", 8, row_bare_stack, can_bare_stack },
};

static bool wanted(const struct row *row)
{
	size_t len = strlen(row->name);
	const char *p;

	if (!*rows)
		return true;
	for (p = strstr(rows, row->name); p; p = strstr(p + 1, row->name)) {
		if ((p == rows || p[-1] == ',') && (!p[len] || p[len] == ','))
			return true;
	}
	return false;
}

/* In hundredths. */
static u64 per_pair(u64 spent, u64 pairs)
{
	return div64_u64(spent * 100, pairs);
}

static void measure(const struct row *row, unsigned int depth)
{
	u64 spent, sum = 0, least = U64_MAX, pairs = 0, mean;

	while (sum < warmup) {
		sum += row->run(row->batch);
		cond_resched();
	}
	sum = 0;
	do {
		spent = row->run(row->batch);
		least = min(least, spent);
		sum += spent;
		pairs += row->batch;
		cond_resched();
	} while (sum < cycles);

	least = per_pair(least, row->batch);
	mean = per_pair(sum, pairs);
	pr_info("row=%s depth=%u min=%llu.%02llu mean=%llu.%02llu pairs=%llu\n",
		row->name, depth, least / 100, least % 100, mean / 100, mean % 100, pairs);
}

/* So many calls further down. */
static noinline __noclone void measure_below(const struct row *row, unsigned int calls,
					     unsigned int depth)
{
	if (calls)
		measure_below(row, calls - 1, depth);
	else
		measure(row, depth);
	/* No tail call: this function is to be in the stack. */
	asm volatile("" : : : "memory");
}

static DECLARE_COMPLETION(rows_done);

static int bench_thread(void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all_rows); i++) {
		const struct row *row = &all_rows[i];

		if (!wanted(row))
			continue;
		if (row->possible && !row->possible()) {
			pr_info("row=%s not possible\n", row->name);
			continue;
		}
		measure_below(row, 0, 0);
		measure_below(row, DEEP, DEEP);
	}
	kthread_complete_and_exit(&rows_done, 0);
}

/*
 * Call paths: each bit of a number decides which of two functions is called next.
 */

static void **held;
static unsigned int nr_held;

static void path_right(unsigned int number, unsigned int bits);

static noinline __noclone void path_left(unsigned int number, unsigned int bits)
{
	if (!bits)
		held[nr_held] = kmalloc(64, GFP_KERNEL);
	else if (number & 1)
		path_right(number >> 1, bits - 1);
	else
		path_left(number >> 1, bits - 1);
	asm volatile("" : : "i" (__LINE__) : "memory");
}

static noinline __noclone void path_right(unsigned int number, unsigned int bits)
{
	if (!bits)
		held[nr_held] = kmalloc(64, GFP_KERNEL);
	else if (number & 1)
		path_right(number >> 1, bits - 1);
	else
		path_left(number >> 1, bits - 1);
	asm volatile("" : : "i" (__LINE__) : "memory");
}

static void release_all(void)
{
	while (nr_held--) {
		kfree(held[nr_held]);
		if (!(nr_held % 1024))
			cond_resched();
	}
	kvfree(held);
}

static int hold_all(void)
{
	held = kvmalloc_array(objects, sizeof(*held), GFP_KERNEL);
	if (!held)
		return -ENOMEM;
	for (nr_held = 0; nr_held < objects; nr_held++) {
		path_left(nr_held % sites, SITE_BITS);
		if (!held[nr_held]) {
			release_all();
			return -ENOMEM;
		}
		if (!(nr_held % 1024))
			cond_resched();
	}
	return 0;
}

static int run_rows(void)
{
	struct task_struct *task;

	cache = kmem_cache_create("leaktrend_bench", sizeof(struct bench_object), 0,
				  SLAB_NO_MERGE, NULL);
	if (!cache)
		return -ENOMEM;
	task = kthread_create_on_cpu(bench_thread, NULL, 0, "leaktrend_bench/%u");
	if (IS_ERR(task)) {
		kmem_cache_destroy(cache);
		return PTR_ERR(task);
	}
	wake_up_process(task);
	wait_for_completion(&rows_done);
	kmem_cache_destroy(cache);
	return 0;
}

/* Not __init: leaktrend keeps the names of a function that goes away, for each path. */
static int bench_init(void)
{
	if (!objects)
		objects = sites;
	if (sites > MAX_SITES || objects > MAX_OBJECTS || (!sites && objects)) {
		pr_err("sites= is %lu at most, objects= is %u and needs sites\n",
		       MAX_SITES, MAX_OBJECTS);
		return -EINVAL;
	}
	return sites ? hold_all() : run_rows();
}

static void __exit bench_exit(void)
{
	if (sites)
		release_all();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What an allocation and its free cost");
