// SPDX-License-Identifier: GPL-2.0
/*
 * Bugs as drivers have them, and growth that is none: one function each that
 * allocates, so that a detector can be asked whether it names that function.
 *
 * debugfs leaktrend_scenarios/:
 *	start	write "all", or names separated by blanks
 *	stop	the same; what was lost stays lost, as it would in a driver
 *	list	a line per scenario: what it is, and the truth about it
 *
 * Times are in rounds of leaktrend's (parameter round_ms), so that a run can be
 * scaled. What is random follows from the parameter seed. Lost memory is kept in
 * lists whose links are inverted: nothing that looks for pointers finds them, and
 * it can be given back when the module goes away.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mempool.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/page_frag_cache.h>
#include <linux/prandom.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "what is random follows from it");
static unsigned int round_ms = 200;
module_param(round_ms, uint, 0444);
MODULE_PARM_DESC(round_ms, "length of a round, for scenarios that go through phases");
static unsigned int age_rounds = 60;
module_param(age_rounds, uint, 0444);
MODULE_PARM_DESC(age_rounds, "least age of a leak in rounds: what is bounded gets there before");
static unsigned int late_rounds = 200;
module_param(late_rounds, uint, 0444);
MODULE_PARM_DESC(late_rounds, "when the late leak begins");
static unsigned int speed = 100;
module_param(speed, uint, 0444);
MODULE_PARM_DESC(speed, "operations per second, in per cent of what is usual");

#define SCN_TICK_MS	5
/* What is not done in time is not made up for beyond this many ticks. */
#define SCN_MAX_TICKS	20

struct scn_fifo;

enum scn_ctx { SCN_THREAD, SCN_HARDIRQ, SCN_SOFTIRQ };

/**
 * struct scn - A scenario.
 * @id:		In the matrix: a number for a leak, N and a number for what is none.
 * @name:	In the files.
 * @blame:	Function that a detector has to name, or must not.
 * @rate:	Operations per second.
 * @ctx:	Context of the operations.
 * @setup:	Before the first operation, optional.
 * @op:		One operation.
 * @teardown:	After the last, optional: gives back what is in use.
 * @in_use:	Objects in use to be given back after the last, optional.
 * @give_back:	Gives back one lost object; kfree() if there is none.
 * @task:	Runs it, or
 * @timer:	runs it.
 * @rnd:	Random numbers.
 * @started:	When.
 * @ticked:	Up to when operations were done.
 * @credit:	Thousandths of operations that are due.
 * @lock:	Guards the rest.
 * @first_lost:	When the first object was lost, in ms since the start.
 * @lost:	Number of objects lost.
 * @lost_bytes:	Their size.
 * @lost_head:	Address of the last one, inverted. 0 if there is none.
 */
struct scn {
	const char *id;
	const char *name;
	const char *blame;
	unsigned int rate;
	enum scn_ctx ctx;
	int (*setup)(struct scn *s);
	void (*op)(struct scn *s);
	void (*teardown)(struct scn *s);
	struct scn_fifo *in_use;
	void (*give_back)(void *obj);

	struct task_struct *task;
	struct hrtimer timer;
	bool running;
	struct rnd_state rnd;
	u64 started;
	u64 ticked;
	u64 credit;
	spinlock_t lock;	/* What was lost: also counted by timers. */
	u64 first_lost;
	u64 lost;
	u64 lost_bytes;
	unsigned long lost_head;
};

static DEFINE_MUTEX(scn_mutex);
static struct dentry *scn_dir;

/* See lt_mark() of leaktrend_test.h: keeps the caller's frame. */
static __always_inline void scn_mark(const int line)
{
	asm volatile("" : : "i" (line) : "memory");
}

static u64 scn_ms(const struct scn *s)
{
	return ktime_to_ms(ktime_get()) - s->started;
}

/* A number of operations, to take as long at a lower speed. */
static unsigned int scn_scaled(unsigned int operations)
{
	return clamp(operations * speed / 100, 1U, operations);
}

static u64 scn_round(const struct scn *s)
{
	return div_u64(scn_ms(s), round_ms);
}

static bool scn_one_in(struct scn *s, u32 n)
{
	return prandom_u32_state(&s->rnd) % n == 0;
}

static u32 scn_between(struct scn *s, u32 low, u32 high)
{
	return low + prandom_u32_state(&s->rnd) % (high - low + 1);
}

/* @obj is lost. NULL if something points to it still, but nobody will use that. */
static void scn_lose(struct scn *s, void *obj, size_t bytes)
{
	unsigned long flags;

	spin_lock_irqsave(&s->lock, flags);
	if (obj) {
		*(unsigned long *)obj = s->lost_head;
		s->lost_head = ~(unsigned long)obj;
	}
	if (!s->lost++)
		s->first_lost = scn_ms(s);
	s->lost_bytes += bytes;
	spin_unlock_irqrestore(&s->lock, flags);
}

/* Allocates, and loses one in @n. In the frame of the function that is to blame. */
static __always_inline void scn_lossy_kmalloc(struct scn *s, size_t size, gfp_t gfp, u32 n)
{
	void *obj = kmalloc(size, gfp);

	if (!obj)
		return;
	if (scn_one_in(s, n))
		scn_lose(s, obj, size);
	else
		kfree(obj);
}

/* Objects in use: the one that comes replaces the oldest. */
struct scn_fifo {
	unsigned int len;
	unsigned int next;
	void *objs[1024];
};

static void *scn_fifo_put(struct scn_fifo *fifo, void *obj)
{
	void *old = fifo->objs[fifo->next];

	fifo->objs[fifo->next] = obj;
	fifo->next = (fifo->next + 1) % fifo->len;
	return old;
}

static void scn_fifo_drain(struct scn_fifo *fifo)
{
	unsigned int i;

	for (i = 0; i < fifo->len; i++) {
		kfree(fifo->objs[i]);
		fifo->objs[i] = NULL;
	}
}

/* ---- 1: an error branch that forgets to free ---- */

static noinline __noclone void scn_error_branch(struct scn *s)
{
	scn_lossy_kmalloc(s, 64, GFP_KERNEL | __GFP_ZERO, 20);
	scn_mark(__LINE__);
}

/* ---- 2: one object in 200 at a busy site ---- */

static struct scn_fifo busy_fifo = { .len = 400 };

static noinline __noclone void scn_busy(struct scn *s)
{
	void *obj = kmalloc(128, GFP_KERNEL);

	if (!obj)
		return;
	if (scn_one_in(s, 200))
		scn_lose(s, obj, 128);
	else
		kfree(scn_fifo_put(&busy_fifo, obj));
	scn_mark(__LINE__);
}

/* ---- 3: leaks under load only, and there is load now and then ---- */

static noinline __noclone void scn_bursts(struct scn *s)
{
	/* Load for 6 rounds of 25. */
	if (scn_round(s) % 25 >= 6)
		return;
	scn_lossy_kmalloc(s, 256, GFP_KERNEL, 4);
	scn_mark(__LINE__);
}

/* ---- 4: a shared cache with noisy neighbours ---- */

static struct scn_fifo noisy_fifo = { .len = 800 };

static noinline __noclone void scn_neighbour(struct scn *s)
{
	kfree(scn_fifo_put(&noisy_fifo, scn_one_in(s, 3) ? NULL : kmalloc(64, GFP_KERNEL)));
	scn_mark(__LINE__);
}

static noinline __noclone void scn_shared_cache(struct scn *s)
{
	void *obj = kmalloc(64, GFP_KERNEL);

	if (obj)
		scn_lose(s, obj, 64);
	scn_mark(__LINE__);
}

static void shared_op(struct scn *s)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		scn_neighbour(s);
	scn_shared_cache(s);
}

/* ---- 5: interrupts ---- */

static noinline __noclone void scn_hardirq(struct scn *s)
{
	scn_lossy_kmalloc(s, 96, GFP_ATOMIC, 10);
	scn_mark(__LINE__);
}

static noinline __noclone void scn_softirq(struct scn *s)
{
	scn_lossy_kmalloc(s, 192, GFP_ATOMIC, 10);
	scn_mark(__LINE__);
}

/* ---- 6: a cache of type-safe objects ---- */

static struct kmem_cache *typesafe_cache;

static int typesafe_setup(struct scn *s)
{
	if (typesafe_cache)
		return 0;
	typesafe_cache = kmem_cache_create("scn_typesafe", 120, 0, SLAB_TYPESAFE_BY_RCU |
					   SLAB_NO_MERGE, NULL);
	return typesafe_cache ? 0 : -ENOMEM;
}

static noinline __noclone void scn_typesafe(struct scn *s)
{
	void *obj = kmem_cache_alloc(typesafe_cache, GFP_KERNEL);

	if (!obj)
		return;
	if (scn_one_in(s, 10))
		scn_lose(s, obj, 120);
	else
		kmem_cache_free(typesafe_cache, obj);
	scn_mark(__LINE__);
}

/* ---- 7: an element that does not go back to its mempool ---- */

static mempool_t *pool;

static int mempool_setup(struct scn *s)
{
	pool = mempool_create_kmalloc_pool(16, 256);
	return pool ? 0 : -ENOMEM;
}

static noinline __noclone void scn_mempool(struct scn *s)
{
	void *element = mempool_alloc(pool, GFP_KERNEL);

	if (scn_one_in(s, 20))
		scn_lose(s, element, 256);
	else
		mempool_free(element, pool);
	scn_mark(__LINE__);
}

static void mempool_teardown(struct scn *s)
{
	mempool_destroy(pool);
}

/* ---- 8: a kfree_rcu() that was forgotten ---- */

struct scn_config {
	unsigned long unused;
	struct rcu_head rcu;
	u32 version;
	char text[96];
};

static struct scn_config __rcu *config;

static noinline __noclone void scn_forgotten_rcu(struct scn *s)
{
	struct scn_config *new = kzalloc_obj(*new), *old;

	if (!new)
		return;
	old = rcu_replace_pointer(config, new, true);
	if (!old)
		return;
	/* "Nothing has changed": the branch that returns too early. */
	if (scn_one_in(s, 10))
		scn_lose(s, old, sizeof(*old));
	else
		kfree_rcu(old, rcu);
	scn_mark(__LINE__);
}

static void forgotten_teardown(struct scn *s)
{
	kfree(rcu_replace_pointer(config, NULL, true));
}

/* ---- 9: N are allocated at once, and N - 1 freed ---- */

#define SCN_BULK	16

static struct kmem_cache *bulk_cache;

static int bulk_setup(struct scn *s)
{
	if (bulk_cache)
		return 0;
	bulk_cache = kmem_cache_create("scn_bulk", 160, 0, SLAB_NO_MERGE, NULL);
	return bulk_cache ? 0 : -ENOMEM;
}

static noinline __noclone void scn_bulk(struct scn *s)
{
	void *objs[SCN_BULK];

	if (!kmem_cache_alloc_bulk(bulk_cache, GFP_KERNEL, SCN_BULK, objs))
		return;
	kmem_cache_free_bulk(bulk_cache, SCN_BULK - 1, objs + 1);
	scn_lose(s, objs[0], 160);
	scn_mark(__LINE__);
}

/* ---- 10: a reference too many ---- */

struct scn_session {
	struct list_head list;
	struct kref ref;
	char data[150];
};

static LIST_HEAD(sessions);

static void session_release(struct kref *ref)
{
	struct scn_session *session = container_of(ref, struct scn_session, ref);

	list_del(&session->list);
	kfree(session);
}

static noinline __noclone void scn_extra_ref(struct scn *s)
{
	struct scn_session *session = kzalloc_obj(*session);

	if (!session)
		return;
	kref_init(&session->ref);
	list_add_tail(&session->list, &sessions);
	if (scn_one_in(s, 20)) {
		kref_get(&session->ref);
		scn_lose(s, NULL, sizeof(*session));
	}
	kref_put(&session->ref, session_release);
	scn_mark(__LINE__);
}

static void sessions_teardown(struct scn *s)
{
	struct scn_session *session, *next;

	list_for_each_entry_safe(session, next, &sessions, list)
		session_release(&session->ref);
}

/* ---- 11: a cache with a shrinker that frees nothing ---- */

struct scn_cached {
	struct list_head list;
	char data[112];
};

static struct kmem_cache *unshrinkable_cache;
static struct shrinker *shrinker;
static LIST_HEAD(cached);
static unsigned long nr_cached;

static unsigned long broken_count(struct shrinker *shrink, struct shrink_control *sc)
{
	return READ_ONCE(nr_cached);
}

/* It looks at as many as it is told, and finds a reason to keep each. */
static unsigned long broken_scan(struct shrinker *shrink, struct shrink_control *sc)
{
	sc->nr_scanned = sc->nr_to_scan;
	return 0;
}

static int unshrinkable_setup(struct scn *s)
{
	unshrinkable_cache = kmem_cache_create("scn_unshrinkable", sizeof(struct scn_cached), 0,
					       SLAB_RECLAIM_ACCOUNT | SLAB_NO_MERGE, NULL);
	shrinker = shrinker_alloc(0, "scn_unshrinkable");
	if (!unshrinkable_cache || !shrinker)
		return -ENOMEM;
	shrinker->count_objects = broken_count;
	shrinker->scan_objects = broken_scan;
	shrinker_register(shrinker);
	return 0;
}

static noinline __noclone void scn_unshrinkable(struct scn *s)
{
	struct scn_cached *obj = kmem_cache_alloc(unshrinkable_cache, GFP_KERNEL);

	if (!obj)
		return;
	list_add_tail(&obj->list, &cached);
	WRITE_ONCE(nr_cached, nr_cached + 1);
	scn_lose(s, NULL, sizeof(*obj));
	scn_mark(__LINE__);
}

static void unshrinkable_teardown(struct scn *s)
{
	struct scn_cached *obj, *next;

	shrinker_free(shrinker);
	list_for_each_entry_safe(obj, next, &cached, list)
		kmem_cache_free(unshrinkable_cache, obj);
	kmem_cache_destroy(unshrinkable_cache);
}

/* ---- 12: a work item that is cancelled without what it carries ---- */

struct scn_job {
	struct delayed_work work;
	void *payload;
};

static struct scn_job job;

static void job_fn(struct work_struct *work)
{
	kfree(job.payload);
	job.payload = NULL;
}

static int cancelled_setup(struct scn *s)
{
	INIT_DELAYED_WORK(&job.work, job_fn);
	return 0;
}

static noinline __noclone void scn_cancelled_work(struct scn *s)
{
	void *payload = kmalloc(512, GFP_KERNEL);

	if (!payload)
		return;
	job.payload = payload;
	queue_delayed_work(system_dfl_wq, &job.work, scn_one_in(s, 8) ? HZ : 0);
	if (scn_one_in(s, 4)) {
		if (cancel_delayed_work_sync(&job.work))
			scn_lose(s, payload, 512);
	} else {
		mod_delayed_work(system_dfl_wq, &job.work, 0);
		flush_delayed_work(&job.work);
	}
	scn_mark(__LINE__);
}

/* ---- 13: a timer that would free its object, and is deleted ---- */

struct scn_timed {
	unsigned long unused;
	struct timer_list timer;
	char data[100];
};

static void timed_fn(struct timer_list *timer)
{
	kfree(container_of(timer, struct scn_timed, timer));
}

static noinline __noclone void scn_timer(struct scn *s)
{
	struct scn_timed *obj = kzalloc_obj(*obj);

	if (!obj)
		return;
	timer_setup(&obj->timer, timed_fn, 0);
	mod_timer(&obj->timer, jiffies + msecs_to_jiffies(20));
	if (scn_one_in(s, 8) && timer_delete_sync(&obj->timer))
		scn_lose(s, obj, sizeof(*obj));
	scn_mark(__LINE__);
}

static void timer_teardown(struct scn *s)
{
	/* The last one fires. */
	msleep(100);
}

/* ---- 14: allocated on one CPU, freed on another ---- */

struct scn_message {
	struct llist_node node;
	char data[208];
};

static LLIST_HEAD(messages);

static void messages_fn(struct work_struct *work)
{
	struct scn_message *msg, *next;

	llist_for_each_entry_safe(msg, next, llist_del_all(&messages), node)
		kfree(msg);
}

static DECLARE_WORK(messages_work, messages_fn);

static noinline __noclone void scn_remote(struct scn *s)
{
	struct scn_message *msg = kmalloc_obj(*msg);
	unsigned int cpu;

	if (!msg)
		return;
	if (scn_one_in(s, 25)) {
		scn_lose(s, msg, sizeof(*msg));
		return;
	}
	llist_add(&msg->node, &messages);
	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	schedule_work_on(cpu < nr_cpu_ids ? cpu : 0, &messages_work);
	scn_mark(__LINE__);
}

static void remote_teardown(struct scn *s)
{
	flush_work(&messages_work);
	messages_fn(NULL);
}

/* ---- 15: two callers of a helper, one of which leaks ---- */

static noinline __noclone void *scn_helper(size_t size)
{
	void *obj = kmalloc(size, GFP_KERNEL);

	scn_mark(__LINE__);
	return obj;
}

static struct scn_fifo innocent_fifo = { .len = 300 };

static noinline __noclone void scn_innocent(struct scn *s)
{
	kfree(scn_fifo_put(&innocent_fifo, scn_helper(72)));
	scn_mark(__LINE__);
}

static noinline __noclone void scn_guilty(struct scn *s)
{
	void *obj = scn_helper(72);

	if (!obj)
		return;
	if (scn_one_in(s, 10))
		scn_lose(s, obj, 96);
	else
		kfree(obj);
	scn_mark(__LINE__);
}

static void helper_op(struct scn *s)
{
	scn_innocent(s);
	scn_innocent(s);
	scn_guilty(s);
}

/* ---- 16: a leak that begins late ---- */

static struct scn_fifo late_fifo = { .len = 600 };

static noinline __noclone void scn_late(struct scn *s)
{
	void *obj = kmalloc(224, GFP_KERNEL);

	if (!obj)
		return;
	if (scn_round(s) >= late_rounds && scn_one_in(s, 10))
		scn_lose(s, obj, 256);
	else
		kfree(scn_fifo_put(&late_fifo, obj));
	scn_mark(__LINE__);
}

/* ---- 18: buffers that are made larger and larger ---- */

#define SCN_BUFFERS	4000

static struct { void *data; size_t size; } buffers[SCN_BUFFERS];

static noinline __noclone void scn_krealloc(struct scn *s)
{
	unsigned int i = scn_between(s, 0, SCN_BUFFERS - 1);
	size_t size = buffers[i].size + 64;
	void *data;

	/* As large as slab objects get. */
	if (size > 8192)
		return;
	data = krealloc(buffers[i].data, size, GFP_KERNEL);
	if (!data)
		return;
	scn_lose(s, NULL, size - buffers[i].size);
	buffers[i].data = data;
	buffers[i].size = size;
	scn_mark(__LINE__);
}

static void krealloc_teardown(struct scn *s)
{
	unsigned int i;

	for (i = 0; i < SCN_BUFFERS; i++)
		kfree(buffers[i].data);
	memset(buffers, 0, sizeof(buffers));
}

/* ---- 19 and N4: sawteeth ---- */

static struct scn_fifo tooth_fifo[2] = { { .len = 1024 }, { .len = 1024 } };

static void tooth_flush(struct scn *s, struct scn_fifo *fifo, unsigned int forget, size_t bytes)
{
	unsigned int i;

	for (i = 0; i < fifo->next; i++) {
		if (i < forget)
			scn_lose(s, fifo->objs[i], bytes);
		else
			kfree(fifo->objs[i]);
		fifo->objs[i] = NULL;
	}
	fifo->next = 0;
}

static noinline __noclone void scn_sawtooth_rising(struct scn *s)
{
	struct scn_fifo *fifo = &tooth_fifo[0];

	/* Flushed after some 5 rounds, but for the first few objects. */
	if (fifo->next >= scn_scaled(1000))
		tooth_flush(s, fifo, scn_scaled(25), 256);
	fifo->objs[fifo->next] = kmalloc(256, GFP_KERNEL);
	if (fifo->objs[fifo->next])
		fifo->next++;
	scn_mark(__LINE__);
}

static noinline __noclone void scn_sawtooth_flat(struct scn *s)
{
	struct scn_fifo *fifo = &tooth_fifo[1];
	unsigned int i, floor = scn_scaled(100);

	/* Some 25 rounds. A tenth stays, which is the floor. */
	if (fifo->next >= 10 * floor) {
		for (i = floor; i < fifo->next; i++)
			kfree(fifo->objs[i]);
		fifo->next = floor;
	}
	fifo->objs[fifo->next] = kmalloc(512, GFP_KERNEL);
	if (fifo->objs[fifo->next])
		fifo->next++;
	scn_mark(__LINE__);
}

static void rising_teardown(struct scn *s)
{
	tooth_flush(s, &tooth_fifo[0], 0, 0);
}

static void flat_teardown(struct scn *s)
{
	tooth_flush(s, &tooth_fifo[1], 0, 0);
}

/* ---- 20: very slow ---- */

static noinline __noclone void scn_slow(struct scn *s)
{
	void *obj = kmalloc(64, GFP_KERNEL);

	if (obj)
		scn_lose(s, obj, 64);
	scn_mark(__LINE__);
}

/* ---- 21: a ring of pages that is replaced but for one ---- */

#define SCN_RING	64

static struct page *ring[SCN_RING];

static void page_give_back(void *obj)
{
	free_page((unsigned long)obj);
}

static noinline __noclone void scn_page_ring(struct scn *s)
{
	unsigned int i;

	for (i = 0; i < SCN_RING; i++) {
		if (ring[i] && i == 0)
			scn_lose(s, page_address(ring[i]), PAGE_SIZE);
		else if (ring[i])
			__free_page(ring[i]);
		ring[i] = alloc_page(GFP_KERNEL);
	}
	scn_mark(__LINE__);
}

static void ring_teardown(struct scn *s)
{
	unsigned int i;

	for (i = 0; i < SCN_RING; i++) {
		if (ring[i])
			__free_page(ring[i]);
		ring[i] = NULL;
	}
}

/* ---- 22: a fragment of a page that is not given back ---- */

static struct page_frag_cache frags;

static noinline __noclone void scn_page_frag(struct scn *s)
{
	void *frag = page_frag_alloc(&frags, 1536, GFP_KERNEL);

	if (!frag)
		return;
	if (scn_one_in(s, 40))
		scn_lose(s, frag, 1536);
	else
		page_frag_free(frag);
	scn_mark(__LINE__);
}

static void frag_teardown(struct scn *s)
{
	page_frag_cache_drain(&frags);
}

/* ---- 23: large kmalloc() ---- */

static noinline __noclone void scn_large(struct scn *s)
{
	scn_lossy_kmalloc(s, 16384, GFP_KERNEL, 10);
	scn_mark(__LINE__);
}

/* ---- 24: vmalloc() ---- */

static void vmalloc_give_back(void *obj)
{
	vfree(obj);
}

static noinline __noclone void scn_vmalloc(struct scn *s)
{
	void *obj = vmalloc(5 * PAGE_SIZE);

	if (!obj)
		return;
	if (scn_one_in(s, 5))
		scn_lose(s, obj, 5 * PAGE_SIZE);
	else
		vfree(obj);
	scn_mark(__LINE__);
}

/* ---- N2: a table that fills up to its bound ---- */

static void **table;
static unsigned int table_len, table_max;

static int ramp_setup(struct scn *s)
{
	table_len = 0;
	/* Full some time before it would be old enough for a leak. */
	table_max = scn_scaled(s->rate) * age_rounds * round_ms / 1000 *
		    scn_between(s, 30, 75) / 100;
	table = kvcalloc(table_max, sizeof(*table), GFP_KERNEL);
	return table ? 0 : -ENOMEM;
}

static noinline __noclone void scn_ramp(struct scn *s)
{
	if (table_len == table_max)
		return;
	table[table_len] = kmalloc(320, GFP_KERNEL);
	if (table[table_len])
		table_len++;
	scn_mark(__LINE__);
}

static void ramp_teardown(struct scn *s)
{
	while (table_len)
		kfree(table[--table_len]);
	kvfree(table);
}

/* ---- N3: a burst of objects that stay ---- */

static void *burst[4096];
static unsigned int burst_len;

static noinline __noclone void scn_burst(struct scn *s)
{
	/* Everything is set up in 15 rounds. */
	if (scn_round(s) < 40 || scn_round(s) >= 55 || burst_len == ARRAY_SIZE(burst))
		return;
	burst[burst_len] = kmalloc(128, GFP_KERNEL);
	if (burst[burst_len])
		burst_len++;
	scn_mark(__LINE__);
}

static void burst_teardown(struct scn *s)
{
	while (burst_len)
		kfree(burst[--burst_len]);
}

/* ---- N5: slabs that get emptier, while the number of objects stays ---- */

#define SCN_SPARSE	1000

static struct kmem_cache *sparse_cache;
static void *sparse[SCN_SPARSE];
static unsigned int sparse_next;

static int sparse_setup(struct scn *s)
{
	sparse_cache = kmem_cache_create("scn_sparse", 256, 0, SLAB_NO_MERGE, NULL);
	return sparse_cache ? 0 : -ENOMEM;
}

/*
 * One of 16 that were allocated one after the other replaces an old object, so
 * that the objects get to be spread over more and more slabs.
 */
static noinline __noclone void scn_sparse(struct scn *s)
{
	void *objs[SCN_BULK];

	if (!kmem_cache_alloc_bulk(sparse_cache, GFP_KERNEL, SCN_BULK, objs))
		return;
	kmem_cache_free_bulk(sparse_cache, SCN_BULK - 1, objs + 1);
	if (sparse[sparse_next])
		kmem_cache_free(sparse_cache, sparse[sparse_next]);
	sparse[sparse_next] = objs[0];
	sparse_next = (sparse_next + 1) % scn_scaled(SCN_SPARSE);
	scn_mark(__LINE__);
}

static void sparse_teardown(struct scn *s)
{
	unsigned int i;

	for (i = 0; i < SCN_SPARSE; i++) {
		if (sparse[i])
			kmem_cache_free(sparse_cache, sparse[i]);
	}
	kmem_cache_destroy(sparse_cache);
}

/* ---- N7: objects that wait for a grace period ---- */

struct scn_deferred {
	struct rcu_head rcu;
	char data[112];
};

static noinline __noclone void scn_backlog(struct scn *s)
{
	unsigned int i, n = scn_round(s) % 20 < 12 ? 8 : 1;

	for (i = 0; i < n; i++) {
		struct scn_deferred *obj = kmalloc_obj(*obj);

		if (obj)
			kfree_rcu(obj, rcu);
	}
	scn_mark(__LINE__);
}

/* ---- All of them ---- */

static struct scn scns[] = {
	{ "1", "error-branch", "scn_error_branch", 2000, .op = scn_error_branch },
	{ "2", "busy", "scn_busy", 20000, .op = scn_busy, .in_use = &busy_fifo },
	{ "3", "bursts", "scn_bursts", 800, .op = scn_bursts },
	{ "4", "shared-cache", "scn_shared_cache", 100, .op = shared_op,
	  .in_use = &noisy_fifo },
	{ "5h", "hardirq", "scn_hardirq", 1000, SCN_HARDIRQ, .op = scn_hardirq },
	{ "5s", "softirq", "scn_softirq", 1000, SCN_SOFTIRQ, .op = scn_softirq },
	{ "6", "typesafe", "scn_typesafe", 1000, .setup = typesafe_setup, .op = scn_typesafe },
	{ "7", "mempool", "scn_mempool", 1000, .setup = mempool_setup, .op = scn_mempool,
	  .teardown = mempool_teardown },
	{ "8", "forgotten-rcu", "scn_forgotten_rcu", 800, .op = scn_forgotten_rcu,
	  .teardown = forgotten_teardown },
	{ "9", "bulk", "scn_bulk", 80, .setup = bulk_setup, .op = scn_bulk },
	{ "10", "extra-ref", "scn_extra_ref", 1000, .op = scn_extra_ref,
	  .teardown = sessions_teardown },
	{ "11", "unshrinkable", "scn_unshrinkable", 100, .setup = unshrinkable_setup,
	  .op = scn_unshrinkable, .teardown = unshrinkable_teardown },
	{ "12", "cancelled-work", "scn_cancelled_work", 200, .setup = cancelled_setup,
	  .op = scn_cancelled_work },
	{ "13", "timer", "scn_timer", 600, .op = scn_timer, .teardown = timer_teardown },
	{ "14", "remote", "scn_remote", 2000, .op = scn_remote, .teardown = remote_teardown },
	{ "15", "helper", "scn_guilty", 800, .op = helper_op, .in_use = &innocent_fifo },
	{ "16", "late", "scn_late", 1000, .op = scn_late, .in_use = &late_fifo },
	{ "18", "krealloc", "scn_krealloc", 500, .op = scn_krealloc,
	  .teardown = krealloc_teardown },
	{ "19", "sawtooth-rising", "scn_sawtooth_rising", 1000, .op = scn_sawtooth_rising,
	  .teardown = rising_teardown },
	{ "20", "slow", "scn_slow", 40, .op = scn_slow },
	/*
	 * Pages are lost in such numbers that in the end there are some 20 samples at
	 * a rate of 100, as of a leak of 8 MiB, the default of min_bytes.
	 */
	{ "21", "page-ring", "scn_page_ring", 40, .op = scn_page_ring,
	  .teardown = ring_teardown, .give_back = page_give_back },
	{ "22", "page-frag", "scn_page_frag", 400, .op = scn_page_frag,
	  .teardown = frag_teardown, .give_back = page_frag_free },
	{ "23", "large-kmalloc", "scn_large", 120, .op = scn_large },
	{ "24", "vmalloc", "scn_vmalloc", 50, .op = scn_vmalloc,
	  .give_back = vmalloc_give_back },
	{ "N2", "ramp", "scn_ramp", 250, .setup = ramp_setup, .op = scn_ramp,
	  .teardown = ramp_teardown },
	{ "N3", "burst", "scn_burst", 1000, .op = scn_burst, .teardown = burst_teardown },
	{ "N4", "sawtooth-flat", "scn_sawtooth_flat", 200, .op = scn_sawtooth_flat,
	  .teardown = flat_teardown },
	{ "N5", "sparse", "scn_sparse", 100, .setup = sparse_setup, .op = scn_sparse,
	  .teardown = sparse_teardown },
	{ "N7", "rcu-backlog", "scn_backlog", 500, .op = scn_backlog },
};

/* ---- Running them ---- */

static void scn_run_due(struct scn *s)
{
	u64 now = ktime_to_ms(ktime_get());
	u64 ms = min_t(u64, now - s->ticked, SCN_TICK_MS * SCN_MAX_TICKS);
	u64 rate = (u64)s->rate * speed / 100;

	s->ticked = now;
	for (s->credit += ms * rate; s->credit >= 1000; s->credit -= 1000)
		s->op(s);
}

static int scn_thread(void *data)
{
	struct scn *s = data;

	while (!kthread_should_stop()) {
		scn_run_due(s);
		usleep_range(SCN_TICK_MS * 800, SCN_TICK_MS * 1200);
	}
	return 0;
}

static enum hrtimer_restart scn_timer_fn(struct hrtimer *timer)
{
	struct scn *s = container_of(timer, struct scn, timer);

	scn_run_due(s);
	hrtimer_forward_now(timer, ms_to_ktime(SCN_TICK_MS));
	return HRTIMER_RESTART;
}

static void scn_end(struct scn *s)
{
	s->running = false;
	if (s->teardown)
		s->teardown(s);
	if (s->in_use)
		scn_fifo_drain(s->in_use);
}

static void scn_start_timer(struct scn *s, enum hrtimer_mode mode)
{
	hrtimer_setup(&s->timer, scn_timer_fn, CLOCK_MONOTONIC, mode);
	hrtimer_start(&s->timer, ms_to_ktime(SCN_TICK_MS), mode);
}

static int scn_start(struct scn *s)
{
	int ret = 0;

	lockdep_assert_held(&scn_mutex);
	if (s->running)
		return -EBUSY;

	prandom_seed_state(&s->rnd, ((u64)seed << 32) + (s - scns) + 1);
	if (s->setup)
		ret = s->setup(s);
	if (ret)
		return ret;
	s->started = ktime_to_ms(ktime_get());
	s->ticked = s->started;
	s->running = true;
	if (s->ctx == SCN_THREAD) {
		s->task = kthread_run(scn_thread, s, "scn/%s", s->name);
		ret = PTR_ERR_OR_ZERO(s->task);
	} else {
		scn_start_timer(s, s->ctx == SCN_HARDIRQ ? HRTIMER_MODE_REL_HARD :
							   HRTIMER_MODE_REL_SOFT);
	}
	if (ret)
		scn_end(s);
	return ret;
}

static int scn_stop(struct scn *s)
{
	lockdep_assert_held(&scn_mutex);
	if (!s->running)
		return 0;
	if (s->ctx == SCN_THREAD)
		kthread_stop(s->task);
	else
		hrtimer_cancel(&s->timer);
	scn_end(s);
	return 0;
}

static void scn_give_back(struct scn *s)
{
	while (s->lost_head) {
		void *obj = (void *)~s->lost_head;

		s->lost_head = *(unsigned long *)obj;
		if (s->give_back)
			s->give_back(obj);
		else
			kfree(obj);
	}
}

/* ---- debugfs ---- */

static ssize_t scn_for_each(const char __user *ubuf, size_t count, int (*fn)(struct scn *))
{
	char buf[512], *next = buf, *name;
	unsigned int i, n;
	int ret = 0;

	if (count >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, count))
		return -EFAULT;
	buf[count] = '\0';

	mutex_lock(&scn_mutex);
	while (!ret && (name = strsep(&next, "\n "))) {
		if (!*name)
			continue;
		for (i = 0, n = 0; !ret && i < ARRAY_SIZE(scns); i++) {
			if (strcmp(name, "all") && strcmp(name, scns[i].name))
				continue;
			ret = fn(&scns[i]);
			n++;
		}
		if (!n)
			ret = -ENOENT;
	}
	mutex_unlock(&scn_mutex);
	return ret ?: count;
}

static ssize_t scn_start_write(struct file *file, const char __user *ubuf, size_t count,
			       loff_t *pos)
{
	return scn_for_each(ubuf, count, scn_start);
}

static ssize_t scn_stop_write(struct file *file, const char __user *ubuf, size_t count,
			      loff_t *pos)
{
	return scn_for_each(ubuf, count, scn_stop);
}

static const struct file_operations scn_start_fops = {
	.owner = THIS_MODULE, .write = scn_start_write,
};

static const struct file_operations scn_stop_fops = {
	.owner = THIS_MODULE, .write = scn_stop_write,
};

static int scn_list_show(struct seq_file *m, void *v)
{
	struct scn *s;

	seq_puts(m, "# id name function state ms lost lost_bytes first_lost_ms\n");
	mutex_lock(&scn_mutex);
	for (s = scns; s < scns + ARRAY_SIZE(scns); s++)
		seq_printf(m, "%s %s %s %s %llu %llu %llu %llu\n", s->id, s->name, s->blame,
			   s->running ? "running" : "stopped", s->started ? scn_ms(s) : 0,
			   READ_ONCE(s->lost), READ_ONCE(s->lost_bytes),
			   READ_ONCE(s->first_lost));
	mutex_unlock(&scn_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(scn_list);

static int __init scn_init(void)
{
	unsigned int i;

	if (!round_ms || !speed)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(scns); i++)
		spin_lock_init(&scns[i].lock);

	scn_dir = debugfs_create_dir("leaktrend_scenarios", NULL);
	debugfs_create_file("start", 0200, scn_dir, NULL, &scn_start_fops);
	debugfs_create_file("stop", 0200, scn_dir, NULL, &scn_stop_fops);
	debugfs_create_file("list", 0400, scn_dir, NULL, &scn_list_fops);
	return 0;
}

static void __exit scn_exit(void)
{
	unsigned int i;

	debugfs_remove(scn_dir);
	mutex_lock(&scn_mutex);
	for (i = 0; i < ARRAY_SIZE(scns); i++) {
		scn_stop(&scns[i]);
		scn_give_back(&scns[i]);
	}
	mutex_unlock(&scn_mutex);
	kmem_cache_destroy(bulk_cache);
	kmem_cache_destroy(typesafe_cache);
	rcu_barrier();
}

module_init(scn_init);
module_exit(scn_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Leaks, and growth that is none, for detectors to be tried on");
