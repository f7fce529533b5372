// SPDX-License-Identifier: GPL-2.0
/*
 * Allocates, frees and loses objects on command and keeps the true counts.
 *
 * The truth is what the leaktrend selftests compare the tracker's figures with,
 * so nothing here may disturb it: jobs live in a static table, and an object
 * is chained to the next one through its own first word.
 *
 * Interface, in debugfs leaktrend_test/:
 *
 *   start  key=value words start a job, see lt_parse(); -EINVAL and a line in
 *          the log that names the word when one is not understood
 *   stop   ID or "all": the job ends and gives back what was in flight
 *   free   ID or "all": gives back what the job has lost so far
 *   wait   ID: returns when a job with a count has finished
 *   jobs   one line per job with its true counts; for what pages= is worth
 *          see the allocators in pages.c, slabs have none of it
 *
 * Life of an object: allocated by a site function, then lost (kept on the
 * job's list of lost objects, which only "free" shortens) or held in a FIFO of
 * at most @live objects, from whose other end it is freed.
 *
 * Locking: lt_mutex serialises the writers of the files. A job's lists and
 * counters are changed by the job in its own context, by the work that frees
 * on another CPU and by the writers; job->lock guards them. No object is
 * allocated or freed under it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/wordpart.h>

#include "leaktrend_test.h"

#define LT_RUNNING_MAX	16
/* Finished jobs keep their line in "jobs" until their slot is needed. */
#define LT_SLOTS	64
#define LT_BATCH	16
#define LT_LINE_MAX	256
/* Of objects from slabs. */
#define LT_SIZE		64
#define LT_RATE_MAX	10000000
#define LT_LIVE_MAX	1000000
/* Objects on their way to another CPU before a job waits for them. */
#define LT_BACKLOG	1024
/* More than two sheaves of a kmalloc cache or of a path=sheaf cache hold. */
#define LT_FILL		300
#define LT_SHEAF_CAPACITY	128
#define LT_TICK		NSEC_PER_MSEC

static bool keep;
module_param(keep, bool, 0644);
MODULE_PARM_DESC(keep, "leave lost objects behind when the module goes away");

static const char * const lt_cache_names[] = {
	[LT_KMALLOC] = "kmalloc", [LT_OWN] = "own", [LT_RECLAIM] = "reclaim",
	[LT_RCU] = "rcu", [LT_CTOR] = "ctor",
	[LT_PAGES] = "pages", [LT_LARGE] = "large", [LT_VMALLOC] = "vmalloc",
	[LT_EXACT] = "exact", [LT_PAGE_FRAG] = "page_frag", [LT_HEADONLY] = "headonly",
	[LT_BULK_PAGES] = "bulk", [LT_PERCPU] = "percpu",
};

static const char * const lt_ctx_names[] = {
	[LT_PROCESS] = "process", [LT_HARDIRQ] = "hardirq", [LT_SOFTIRQ] = "softirq",
};

static const char * const lt_path_names[] = {
	[LT_SINGLE] = "single", [LT_BULK] = "bulk", [LT_KREALLOC] = "krealloc",
	[LT_KFREE_RCU] = "kfree_rcu", [LT_REMOTE] = "remote", [LT_SHEAF] = "sheaf",
	[LT_NOLOCK] = "nolock",
};

static const char * const lt_site_names[] = {
	[LT_SITE_A] = "a", [LT_SITE_B] = "b",
	[LT_HELPER_A] = "helper_a", [LT_HELPER_B] = "helper_b",
};

/* For kfree_rcu(), which needs the space only once the object is off all lists. */
struct lt_rcu_obj {
	struct rcu_head rcu;
};

static struct lt_job lt_jobs[LT_SLOTS];
static unsigned int lt_last_id;
static DEFINE_MUTEX(lt_mutex);
static DECLARE_WAIT_QUEUE_HEAD(lt_wait);
static struct dentry *lt_dir;

/* ---- Objects of constructed caches ---- */

#define LT_CTOR_WORD	REPEAT_BYTE(0x1e)

static void lt_ctor(void *obj)
{
	*(unsigned long *)obj = LT_CTOR_WORD;
}

/*
 * The allocator must hand objects out as they were constructed or freed. Only
 * the first word is looked at: it is the one that lists overwrite.
 */
static bool lt_constructed(struct lt_job *job, struct lt_obj *obj)
{
	return job->conf.cache != LT_CTOR || *(unsigned long *)obj == LT_CTOR_WORD;
}

/* ---- Allocation sites ---- */

static noinline __noclone void *leaktrend_test_krealloc_base(size_t size, gfp_t gfp)
{
	void *obj = kmalloc(size, gfp);

	lt_mark(__LINE__);
	return obj;
}

/*
 * krealloc() that moves the object to a larger cache, then one that finds it
 * large enough and must be no event at all.
 */
static __always_inline void *lt_krealloc(struct lt_job *job)
{
	size_t size = job->conf.size;
	void *old, *new, *same;

	old = leaktrend_test_krealloc_base(size / 2, job->gfp);
	if (!old)
		return NULL;
	new = krealloc(old, size, job->gfp);
	if (!new) {
		kfree(old);
		return NULL;
	}
	same = krealloc(new, size - 1, job->gfp);
	return same;
}

static __always_inline unsigned int
lt_alloc(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int i;

	if (job->page_ops)
		return job->page_ops->alloc(job, objs, n);
	if (job->conf.path == LT_BULK && job->cache)
		return kmem_cache_alloc_bulk(job->cache, job->gfp, n, objs) ? n : 0;

	for (i = 0; i < n; i++) {
		if (job->conf.path == LT_KREALLOC)
			objs[i] = lt_krealloc(job);
		else if (job->conf.path == LT_NOLOCK)
			objs[i] = kmalloc_nolock(job->conf.size, 0, NUMA_NO_NODE);
		else if (job->cache)
			objs[i] = kmem_cache_alloc(job->cache, job->gfp);
		else
			objs[i] = kmalloc(job->conf.size, job->gfp);
		if (!objs[i])
			break;
	}
	return i;
}

static noinline __noclone unsigned int
leaktrend_test_leak_a(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int got = lt_alloc(job, objs, n);

	lt_mark(__LINE__);
	return got;
}

static noinline __noclone unsigned int
leaktrend_test_leak_b(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int got = lt_alloc(job, objs, n);

	lt_mark(__LINE__);
	return got;
}

static noinline __noclone unsigned int
leaktrend_test_helper(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int got = lt_alloc(job, objs, n);

	lt_mark(__LINE__);
	return got;
}

static noinline __noclone unsigned int
leaktrend_test_caller_a(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int got = leaktrend_test_helper(job, objs, n);

	lt_mark(__LINE__);
	return got;
}

static noinline __noclone unsigned int
leaktrend_test_caller_b(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int got = leaktrend_test_helper(job, objs, n);

	lt_mark(__LINE__);
	return got;
}

static unsigned int (* const lt_sites[])(struct lt_job *, void **, unsigned int) = {
	[LT_SITE_A]	= leaktrend_test_leak_a,
	[LT_SITE_B]	= leaktrend_test_leak_b,
	[LT_HELPER_A]	= leaktrend_test_caller_a,
	[LT_HELPER_B]	= leaktrend_test_caller_b,
};

/* ---- Freeing ---- */

static void lt_free_slab(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (job->conf.cache == LT_CTOR)
			lt_ctor(objs[i]);

		if (job->conf.path == LT_BULK)
			continue;
		if (job->conf.path == LT_KFREE_RCU)
			kfree_rcu((struct lt_rcu_obj *)objs[i], rcu);
		else if (job->conf.path == LT_NOLOCK)
			kfree_nolock(objs[i]);
		else if (job->cache)
			kmem_cache_free(job->cache, objs[i]);
		else
			kfree(objs[i]);
	}
	/* Without a cache this is kfree_bulk(). */
	if (job->conf.path == LT_BULK)
		kmem_cache_free_bulk(job->cache, n, objs);
}

/* Hand @n objects back to the allocator, whatever the context. */
static void lt_free_now(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned long flags;

	if (!n)
		return;

	if (job->page_ops)
		job->page_ops->free(job, objs, n);
	else
		lt_free_slab(job, objs, n);

	spin_lock_irqsave(&job->lock, flags);
	job->frees += n;
	spin_unlock_irqrestore(&job->lock, flags);
}

static void lt_remote_fn(struct work_struct *work)
{
	struct lt_job *job = container_of(work, struct lt_job, remote_work);
	struct llist_node *node = llist_del_all(&job->remote);
	void *objs[LT_BATCH];
	unsigned int n;

	while (node) {
		for (n = 0; node && n < LT_BATCH; n++) {
			objs[n] = llist_entry(node, struct lt_obj, llnode);
			node = node->next;
		}
		lt_free_now(job, objs, n);
		atomic_sub(n, &job->remote_pending);
		cond_resched();
	}
}

/* Free @n objects on the job's path: path=remote leaves it to another CPU. */
static void lt_free(struct lt_job *job, void **objs, unsigned int n)
{
	unsigned int i, cpu;

	if (job->conf.path != LT_REMOTE) {
		lt_free_now(job, objs, n);
		return;
	}
	if (!n)
		return;

	atomic_add(n, &job->remote_pending);
	for (i = 0; i < n; i++)
		llist_add(&((struct lt_obj *)objs[i])->llnode, &job->remote);

	/* A CPU that goes offline meanwhile is no problem: the work still runs. */
	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	if (cpu >= nr_cpu_ids)
		cpu = WORK_CPU_UNBOUND;
	queue_work_on(cpu, system_percpu_wq, &job->remote_work);
}

static struct lt_obj *lt_pop_held(struct lt_job *job)
{
	struct lt_obj *obj = job->held_first;

	lockdep_assert_held(&job->lock);
	if (!obj)
		return NULL;
	job->held_first = obj->next;
	if (!job->held_first)
		job->held_last = NULL;
	job->held--;
	return obj;
}

static void lt_push_held(struct lt_job *job, struct lt_obj *obj)
{
	lockdep_assert_held(&job->lock);
	obj->next = NULL;
	if (job->held_last)
		job->held_last->next = obj;
	else
		job->held_first = obj;
	job->held_last = obj;
	job->held++;
}

static struct lt_obj *lt_pop_lost(struct lt_job *job)
{
	struct lt_obj *obj = job->lost_list;

	lockdep_assert_held(&job->lock);
	if (!obj)
		return NULL;
	job->lost_list = obj->next;
	job->lost--;
	return obj;
}

/* Give back all that one of the job's lists holds. */
static void lt_drain(struct lt_job *job, struct lt_obj *(*pop)(struct lt_job *job))
{
	void *objs[LT_BATCH];
	unsigned int n;

	do {
		spin_lock_irq(&job->lock);
		for (n = 0; n < LT_BATCH; n++) {
			objs[n] = pop(job);
			if (!objs[n])
				break;
		}
		spin_unlock_irq(&job->lock);

		lt_free(job, objs, n);
		if (atomic_read(&job->remote_pending) > LT_BACKLOG)
			flush_work(&job->remote_work);
		cond_resched();
	} while (n == LT_BATCH);
}

/* ---- Allocating ---- */

/* Allocate @n objects; lose, hold or free them. */
static void lt_step(struct lt_job *job, unsigned int n)
{
	void *objs[LT_BATCH], *surplus[LT_BATCH];
	unsigned int got, i, nr_surplus = 0;
	unsigned long flags;

	got = lt_sites[job->conf.site](job, objs, n);

	spin_lock_irqsave(&job->lock, flags);
	job->tried += n;
	job->allocs += got;
	job->errors += n - got;
	for (i = 0; i < got; i++) {
		struct lt_obj *obj = objs[i];

		if (!lt_constructed(job, obj))
			job->errors++;

		job->lose_acc += job->conf.lose;
		if (job->lose_acc >= job->conf.lose_of) {
			job->lose_acc -= job->conf.lose_of;
			obj->next = job->lost_list;
			job->lost_list = obj;
			job->lost++;
		} else {
			lt_push_held(job, obj);
		}
	}
	while (job->held > job->conf.live && nr_surplus < LT_BATCH)
		surplus[nr_surplus++] = lt_pop_held(job);
	spin_unlock_irqrestore(&job->lock, flags);

	lt_free(job, surplus, nr_surplus);
}

/*
 * How many allocations are due now, at most a batch. Only the job itself
 * changes ->tried while it runs.
 */
static unsigned int lt_due(struct lt_job *job)
{
	u64 due = U64_MAX;

	if (job->conf.rate) {
		u64 ns = ktime_to_ns(ktime_sub(ktime_get(), job->started));

		due = mul_u64_u32_div(ns, job->conf.rate, NSEC_PER_SEC);
	}
	if (job->conf.count)
		due = min(due, job->conf.count);
	if (due <= job->tried)
		return 0;
	return min_t(u64, due - job->tried, LT_BATCH);
}

static bool lt_complete(struct lt_job *job)
{
	return job->conf.count && job->tried >= job->conf.count;
}

static void lt_done(struct lt_job *job)
{
	unsigned long flags;

	spin_lock_irqsave(&job->lock, flags);
	if (job->state == LT_RUNNING) {
		WRITE_ONCE(job->state, LT_DONE);
		job->ended = ktime_get();
	}
	spin_unlock_irqrestore(&job->lock, flags);
	wake_up_all(&lt_wait);
}

static int lt_thread_fn(void *data)
{
	struct lt_job *job = data;

	while (!kthread_should_stop() && !lt_complete(job)) {
		unsigned int n = lt_due(job);

		if (n)
			lt_step(job, n);
		if (atomic_read(&job->remote_pending) > LT_BACKLOG)
			flush_work(&job->remote_work);
		if (n)
			cond_resched();
		else
			usleep_range(500, 1000);
	}
	lt_done(job);
	return 0;
}

/*
 * One batch per tick, then rearm: the pause between the end of one tick and
 * the next leaves the CPU to others however slow the allocations are.
 */
static void lt_tick(struct lt_job *job)
{
	unsigned int n = lt_due(job);
	unsigned long flags;

	if (n && atomic_read(&job->remote_pending) <= LT_BACKLOG)
		lt_step(job, n);

	if (lt_complete(job)) {
		lt_done(job);
		return;
	}

	spin_lock_irqsave(&job->lock, flags);
	if (!job->stop)
		hrtimer_start(&job->timer, ns_to_ktime(LT_TICK),
			      job->conf.ctx == LT_HARDIRQ ?
			      HRTIMER_MODE_REL_PINNED_HARD : HRTIMER_MODE_REL_PINNED_SOFT);
	spin_unlock_irqrestore(&job->lock, flags);
}

static enum hrtimer_restart lt_soft_timer_fn(struct hrtimer *timer)
{
	lt_tick(container_of(timer, struct lt_job, timer));
	return HRTIMER_NORESTART;
}

static void lt_irq_work_fn(struct irq_work *work)
{
	lt_tick(container_of(work, struct lt_job, irq_work));
}

/*
 * A hard timer may not allocate: on PREEMPT_RT the allocator sleeps, and lockdep
 * knows it. The interrupt of an irq_work is of the kind that may.
 */
static enum hrtimer_restart lt_hard_timer_fn(struct hrtimer *timer)
{
	struct lt_job *job = container_of(timer, struct lt_job, timer);

	irq_work_queue(&job->irq_work);
	return HRTIMER_NORESTART;
}

/* ---- Deferred frees ---- */

/*
 * The last objects given to kfree_rcu() may wait in a per-CPU sheaf until more
 * come. Push them out with objects from the same call of the same function,
 * hence of the same cache whatever the configuration; this function in their
 * stack tells them from the job's own.
 */
static noinline __noclone long leaktrend_test_fill(void *arg)
{
	struct lt_job *job = arg;
	unsigned int i;
	void *obj;

	for (i = 0; i < LT_FILL; i++) {
		if (!lt_sites[job->conf.site](job, &obj, 1))
			break;
		kfree_rcu((struct lt_rcu_obj *)obj, rcu);
	}
	return 0;
}

/* Wait until all that the job has freed is free. The caller holds lt_mutex. */
static void lt_settle(struct lt_job *job)
{
	struct kmem_cache *cache;
	unsigned int cpu;

	lockdep_assert_held(&lt_mutex);
	flush_work(&job->remote_work);
	if (job->conf.path != LT_KFREE_RCU || job->settled == job->frees)
		return;

	job->settled = job->frees;
	cpus_read_lock();
	for_each_online_cpu(cpu)
		work_on_cpu(cpu, leaktrend_test_fill, job);
	cpus_read_unlock();
	rcu_barrier();

	/*
	 * Not all kfree_rcu() go through sheaves. kvfree_rcu_barrier() waits
	 * for the others; what modules have of it is kmem_cache_destroy().
	 */
	cache = kmem_cache_create("leaktrend_test_barrier", 64, 0, SLAB_NO_MERGE, NULL);
	kmem_cache_destroy(cache);
}

/* ---- Jobs ---- */

static bool lt_has_cache(const struct lt_config *conf)
{
	return conf->cache != LT_KMALLOC && !lt_get_page_ops(conf->cache);
}

static struct kmem_cache *lt_create_cache(const struct lt_config *conf, unsigned int id)
{
	struct kmem_cache_args args = {
		.ctor = conf->cache == LT_CTOR ? lt_ctor : NULL,
		.sheaf_capacity = conf->path == LT_SHEAF ? LT_SHEAF_CAPACITY : 0,
	};
	slab_flags_t flags = SLAB_NO_MERGE;
	char name[LT_NAME_MAX];

	if (conf->cache == LT_RECLAIM)
		flags |= SLAB_RECLAIM_ACCOUNT;
	else if (conf->cache == LT_RCU)
		flags |= SLAB_TYPESAFE_BY_RCU;

	snprintf(name, sizeof(name), "leaktrend_test_%s_%u",
		 lt_cache_names[conf->cache], id);
	return kmem_cache_create(name, conf->size, &args, flags);
}

/* Something is left that the job has to give back. */
static bool lt_has_left(const struct lt_job *job)
{
	return job->held || job->lost || job->nr_tails;
}

/* A cache of its own goes as soon as the job has ended and nothing is left in it. */
static void lt_put_cache(struct lt_job *job)
{
	lockdep_assert_held(&lt_mutex);
	if (job->state == LT_RUNNING || lt_has_left(job))
		return;
	kmem_cache_destroy(job->cache);
	job->cache = NULL;
}

static void lt_stop(struct lt_job *job)
{
	lockdep_assert_held(&lt_mutex);

	if (job->task) {
		kthread_stop_put(job->task);
		job->task = NULL;
	} else if (job->conf.ctx != LT_PROCESS) {
		spin_lock_irq(&job->lock);
		job->stop = true;
		spin_unlock_irq(&job->lock);
		/* The timer starts the irq_work, which no longer starts the timer. */
		hrtimer_cancel(&job->timer);
		irq_work_sync(&job->irq_work);
	}
	/* A thread stopped before its first turn has not said so. */
	lt_done(job);
	lt_drain(job, lt_pop_held);
	lt_settle(job);
	if (job->page_ops && job->page_ops->end)
		job->page_ops->end(job);
	lt_put_cache(job);
}

static void lt_give_back(struct lt_job *job)
{
	lockdep_assert_held(&lt_mutex);
	lt_drain(job, lt_pop_lost);
	lt_settle(job);
	if (job->page_ops && job->page_ops->give_back)
		job->page_ops->give_back(job);
	lt_put_cache(job);
}

static struct lt_job *lt_find(unsigned int id)
{
	struct lt_job *job;

	lockdep_assert_held(&lt_mutex);
	for (job = lt_jobs; job < lt_jobs + LT_SLOTS; job++) {
		if (job->state != LT_UNUSED && job->id == id)
			return job;
	}
	return NULL;
}

/* An unused slot, or that of the oldest job that has nothing left. */
static struct lt_job *lt_find_slot(void)
{
	struct lt_job *job, *slot = NULL;
	unsigned int running = 0;

	lockdep_assert_held(&lt_mutex);
	for (job = lt_jobs; job < lt_jobs + LT_SLOTS; job++) {
		if (job->state == LT_RUNNING) {
			running++;
			continue;
		}
		if (lt_has_left(job))
			continue;
		if (!slot || job->state < slot->state ||
		    (job->state == slot->state && job->id < slot->id))
			slot = job;
	}
	if (running >= LT_RUNNING_MAX || !slot) {
		pr_warn("too many jobs\n");
		return NULL;
	}
	if (slot->state == LT_DONE)
		lt_stop(slot);
	return slot;
}

static int lt_start_thread(struct lt_job *job)
{
	struct task_struct *task;

	task = kthread_create(lt_thread_fn, job, "leaktrend_test");
	if (IS_ERR(task))
		return PTR_ERR(task);
	if (job->conf.path == LT_REMOTE)
		kthread_bind(task, raw_smp_processor_id());
	job->task = get_task_struct(task);
	wake_up_process(task);
	return 0;
}

static int lt_start(const struct lt_config *conf)
{
	struct lt_job *job;
	struct kmem_cache *cache = NULL;
	int ret = 0;

	lockdep_assert_held(&lt_mutex);

	job = lt_find_slot();
	if (!job)
		return -EBUSY;
	if (lt_has_cache(conf)) {
		cache = lt_create_cache(conf, lt_last_id + 1);
		if (!cache)
			return -ENOMEM;
	}

	/* Readers of "wait" look at ->id and ->state without a lock. */
	memset(job, 0, sizeof(*job));
	spin_lock_init(&job->lock);
	INIT_WORK(&job->remote_work, lt_remote_fn);
	init_llist_head(&job->remote);
	job->conf = *conf;
	job->cache = cache;
	job->page_ops = lt_get_page_ops(conf->cache);
	job->gfp = conf->ctx == LT_PROCESS ? GFP_KERNEL : GFP_ATOMIC | __GFP_NOWARN;
	if (job->page_ops)
		job->gfp |= __GFP_NOWARN;
	job->started = ktime_get();
	if (!job->conf.name[0])
		snprintf(job->conf.name, LT_NAME_MAX, "job%u", lt_last_id + 1);
	WRITE_ONCE(job->id, ++lt_last_id);
	WRITE_ONCE(job->state, LT_RUNNING);

	switch (conf->ctx) {
	case LT_PROCESS:
		ret = lt_start_thread(job);
		break;
	case LT_HARDIRQ:
		init_irq_work(&job->irq_work, lt_irq_work_fn);
		hrtimer_setup(&job->timer, lt_hard_timer_fn, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_HARD);
		hrtimer_start(&job->timer, ns_to_ktime(LT_TICK),
			      HRTIMER_MODE_REL_PINNED_HARD);
		break;
	case LT_SOFTIRQ:
		init_irq_work(&job->irq_work, lt_irq_work_fn);
		hrtimer_setup(&job->timer, lt_soft_timer_fn, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_SOFT);
		hrtimer_start(&job->timer, ns_to_ktime(LT_TICK),
			      HRTIMER_MODE_REL_PINNED_SOFT);
		break;
	}
	if (ret) {
		kmem_cache_destroy(cache);
		job->cache = NULL;
		job->state = LT_UNUSED;
	}
	return ret;
}

/* ---- Files ---- */

static int lt_parse_lose(const char *val, struct lt_config *conf)
{
	char buf[LT_NAME_MAX];
	char *slash;

	if (!strcmp(val, "0"))
		return 0;
	if (strscpy(buf, val, sizeof(buf)) < 0)
		return -EINVAL;
	slash = strchr(buf, '/');
	if (!slash)
		return -EINVAL;
	*slash = '\0';
	if (kstrtouint(buf, 10, &conf->lose) || kstrtouint(slash + 1, 10, &conf->lose_of))
		return -EINVAL;
	if (!conf->lose_of || conf->lose > conf->lose_of)
		return -EINVAL;
	return 0;
}

static int lt_parse_name(const char *val, struct lt_config *conf)
{
	const char *p;

	for (p = val; *p; p++) {
		if (!isalnum(*p) && !strchr("_.-", *p))
			return -EINVAL;
	}
	return *val && strscpy(conf->name, val, LT_NAME_MAX) > 0 ? 0 : -EINVAL;
}

/* One key=value word of "start"; @val is the part behind the equals sign. */
static int lt_parse_word(const char *key, const char *val, struct lt_config *conf)
{
	int i;

	if (!strcmp(key, "name"))
		return lt_parse_name(val, conf);
	if (!strcmp(key, "size"))
		return kstrtouint(val, 10, &conf->size) || conf->size == LT_UNSET;
	if (!strcmp(key, "order"))
		return kstrtouint(val, 10, &conf->order) || conf->order == LT_UNSET;
	if (!strcmp(key, "comp"))
		return kstrtobool(val, &conf->comp);
	if (!strcmp(key, "count"))
		return kstrtou64(val, 10, &conf->count);
	if (!strcmp(key, "rate"))
		return kstrtou64(val, 10, &conf->rate) || conf->rate > LT_RATE_MAX;
	if (!strcmp(key, "lose"))
		return lt_parse_lose(val, conf);
	if (!strcmp(key, "live"))
		return kstrtouint(val, 10, &conf->live) || conf->live > LT_LIVE_MAX;

	if (!strcmp(key, "cache")) {
		i = match_string(lt_cache_names, ARRAY_SIZE(lt_cache_names), val);
		conf->cache = i;
	} else if (!strcmp(key, "ctx")) {
		i = match_string(lt_ctx_names, ARRAY_SIZE(lt_ctx_names), val);
		conf->ctx = i;
	} else if (!strcmp(key, "path")) {
		i = match_string(lt_path_names, ARRAY_SIZE(lt_path_names), val);
		conf->path = i;
	} else if (!strcmp(key, "site")) {
		i = match_string(lt_site_names, ARRAY_SIZE(lt_site_names), val);
		conf->site = i;
	} else {
		return -EINVAL;
	}
	return i < 0 ? i : 0;
}

static const char *lt_check_slab(struct lt_config *conf)
{
	unsigned int min = sizeof(struct lt_obj);

	if (conf->size == LT_UNSET)
		conf->size = LT_SIZE;
	if (conf->path == LT_KREALLOC)
		min = 2 * sizeof(struct lt_obj);
	else if (conf->path == LT_KFREE_RCU)
		min = sizeof(struct lt_rcu_obj);

	if (conf->order != LT_UNSET || conf->comp)
		return "order and comp are for pages";
	if (conf->size < min || conf->size > KMALLOC_MAX_CACHE_SIZE)
		return "size out of range";
	if (conf->path == LT_KREALLOC && conf->cache != LT_KMALLOC)
		return "path=krealloc needs cache=kmalloc";
	if (conf->path == LT_NOLOCK && conf->cache != LT_KMALLOC)
		return "path=nolock needs cache=kmalloc";
	if (conf->path == LT_SHEAF && conf->cache == LT_KMALLOC)
		return "path=sheaf needs a cache of its own";
	if (conf->path == LT_KFREE_RCU &&
	    (conf->cache == LT_RCU || conf->cache == LT_CTOR))
		return "path=kfree_rcu overwrites objects, which cache=rcu and ctor forbid";
	if (conf->path == LT_BULK && conf->ctx == LT_HARDIRQ)
		return "path=bulk needs interrupts enabled";
	return NULL;
}

/* Combinations that the allocator does not have. Fills in the size. */
static int lt_check(struct lt_config *conf)
{
	const char *why;

	why = lt_get_page_ops(conf->cache) ? lt_check_pages(conf) : lt_check_slab(conf);
	if (why) {
		pr_warn("%s\n", why);
		return -EINVAL;
	}
	if (conf->path == LT_REMOTE && num_online_cpus() < 2) {
		pr_warn("path=remote needs two CPUs\n");
		return -ENODEV;
	}
	if (conf->ctx == LT_HARDIRQ && IS_ENABLED(CONFIG_PREEMPT_RT)) {
		pr_warn("PREEMPT_RT does not allocate in hard interrupts\n");
		return -EOPNOTSUPP;
	}
	return 0;
}

static int lt_parse(char *line, struct lt_config *conf)
{
	char *word, *val;

	while ((word = strsep(&line, " \t"))) {
		if (!*word)
			continue;
		val = strchr(word, '=');
		if (val)
			*val++ = '\0';
		if (!val || lt_parse_word(word, val, conf)) {
			pr_warn("start: do not understand '%s%s%s'\n",
				word, val ? "=" : "", val ?: "");
			return -EINVAL;
		}
	}
	return lt_check(conf);
}

/* The written line without blanks around it. */
static char *lt_get_line(char *buf, const char __user *ubuf, size_t count)
{
	if (count >= LT_LINE_MAX)
		return ERR_PTR(-EINVAL);
	if (copy_from_user(buf, ubuf, count))
		return ERR_PTR(-EFAULT);
	buf[count] = '\0';
	return strim(buf);
}

static ssize_t lt_start_write(struct file *file, const char __user *ubuf,
			      size_t count, loff_t *ppos)
{
	struct lt_config conf = {
		.size = LT_UNSET, .order = LT_UNSET, .live = 16, .lose_of = 1,
	};
	char buf[LT_LINE_MAX];
	char *line;
	int ret;

	line = lt_get_line(buf, ubuf, count);
	if (IS_ERR(line))
		return PTR_ERR(line);
	ret = lt_parse(line, &conf);
	if (ret)
		return ret;

	mutex_lock(&lt_mutex);
	ret = lt_start(&conf);
	mutex_unlock(&lt_mutex);
	return ret ?: count;
}

/* Do @fn for the job or the jobs that were written. */
static ssize_t lt_for_jobs(const char __user *ubuf, size_t count,
			   void (*fn)(struct lt_job *job))
{
	char buf[LT_LINE_MAX];
	struct lt_job *job;
	unsigned int id;
	char *line;

	line = lt_get_line(buf, ubuf, count);
	if (IS_ERR(line))
		return PTR_ERR(line);

	if (!strcmp(line, "all")) {
		guard(mutex)(&lt_mutex);
		for (job = lt_jobs; job < lt_jobs + LT_SLOTS; job++) {
			if (job->state != LT_UNUSED)
				fn(job);
		}
		return count;
	}

	if (kstrtouint(line, 10, &id))
		return -EINVAL;
	guard(mutex)(&lt_mutex);
	job = lt_find(id);
	if (!job)
		return -ENOENT;
	fn(job);
	return count;
}

static ssize_t lt_stop_write(struct file *file, const char __user *ubuf,
			     size_t count, loff_t *ppos)
{
	return lt_for_jobs(ubuf, count, lt_stop);
}

static ssize_t lt_free_write(struct file *file, const char __user *ubuf,
			     size_t count, loff_t *ppos)
{
	return lt_for_jobs(ubuf, count, lt_give_back);
}

static ssize_t lt_wait_write(struct file *file, const char __user *ubuf,
			     size_t count, loff_t *ppos)
{
	char buf[LT_LINE_MAX];
	struct lt_job *job;
	unsigned int id;
	char *line;

	line = lt_get_line(buf, ubuf, count);
	if (IS_ERR(line))
		return PTR_ERR(line);
	if (kstrtouint(line, 10, &id))
		return -EINVAL;

	scoped_guard(mutex, &lt_mutex) {
		job = lt_find(id);
		if (!job)
			return -ENOENT;
		if (!job->conf.count && job->state == LT_RUNNING) {
			pr_warn("wait: job %u has no count to reach\n", id);
			return -EINVAL;
		}
	}

	/* Not under the mutex, so the slot may get another job meanwhile. */
	if (wait_event_interruptible(lt_wait, READ_ONCE(job->id) != id ||
				     READ_ONCE(job->state) != LT_RUNNING))
		return -ERESTARTSYS;

	guard(mutex)(&lt_mutex);
	job = lt_find(id);
	if (job)
		lt_settle(job);
	return count;
}

static int lt_jobs_show(struct seq_file *m, void *v)
{
	struct lt_job *job, *next;
	unsigned int last = 0;

	guard(mutex)(&lt_mutex);
	for (;;) {
		/* In order of their numbers, whatever slots they are in. */
		next = NULL;
		for (job = lt_jobs; job < lt_jobs + LT_SLOTS; job++) {
			if (job->state != LT_UNUSED && job->id > last &&
			    (!next || job->id < next->id))
				next = job;
		}
		if (!next)
			return 0;
		job = next;
		last = job->id;

		spin_lock_irq(&job->lock);
		seq_printf(m, "id=%u name=%s state=%s allocs=%llu frees=%llu held=%lu lost=%lu bytes=%llu errors=%llu ms=%lld pages=%llu page_allocs=%llu page_frees=%llu\n",
			   job->id, job->conf.name,
			   job->state == LT_RUNNING ? "running" : "done",
			   job->allocs, job->frees, job->held, job->lost,
			   (u64)(job->held + job->lost) * job->conf.size, job->errors,
			   ktime_ms_delta(job->state == LT_RUNNING ? ktime_get() :
					  job->ended, job->started),
			   lt_held_pages(job), job->page_allocs, job->page_frees);
		spin_unlock_irq(&job->lock);
	}
}
DEFINE_SHOW_ATTRIBUTE(lt_jobs);

#define LT_WRITE_FOPS(_name)					\
static const struct file_operations lt_##_name##_fops = {	\
	.owner	= THIS_MODULE,					\
	.open	= simple_open,					\
	.write	= lt_##_name##_write,				\
	.llseek	= noop_llseek,					\
}

LT_WRITE_FOPS(start);
LT_WRITE_FOPS(stop);
LT_WRITE_FOPS(free);
LT_WRITE_FOPS(wait);

static int __init lt_init(void)
{
	lt_dir = debugfs_create_dir("leaktrend_test", NULL);
	debugfs_create_file("start", 0200, lt_dir, NULL, &lt_start_fops);
	debugfs_create_file("stop", 0200, lt_dir, NULL, &lt_stop_fops);
	debugfs_create_file("free", 0200, lt_dir, NULL, &lt_free_fops);
	debugfs_create_file("wait", 0200, lt_dir, NULL, &lt_wait_fops);
	debugfs_create_file("jobs", 0400, lt_dir, NULL, &lt_jobs_fops);
	return 0;
}

static void __exit lt_exit(void)
{
	unsigned long left = 0;
	struct lt_job *job;

	debugfs_remove(lt_dir);

	mutex_lock(&lt_mutex);
	for (job = lt_jobs; job < lt_jobs + LT_SLOTS; job++) {
		if (job->state == LT_UNUSED)
			continue;
		lt_stop(job);
		/* Lost objects that stay keep the cache that they are from. */
		if (keep)
			left += job->lost + job->nr_tails;
		else
			lt_give_back(job);
	}
	mutex_unlock(&lt_mutex);
	if (left)
		pr_info("left %lu objects and tail pages behind\n", left);
}

module_init(lt_init);
module_exit(lt_exit);

MODULE_DESCRIPTION("Allocations, frees and leaks on command for leaktrend's tests");
MODULE_LICENSE("GPL");
