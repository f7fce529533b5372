// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: rounds. Once per interval the history of every site gets an entry,
 * and the site a verdict.
 *
 * Locking: a round runs under leaktrend_mutex, in process context, and can be
 * preempted everywhere but in the spinlock of one site at a time.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/string.h>
#include <linux/vmstat.h>
#include <linux/workqueue.h>

#include "internal.h"

u32 leaktrend_round;

/**
 * struct round_end - How things stood when a round ended.
 * @ms:	     Time, for trends.
 * @clock:   The same as local_clock(), for the age of samples.
 * @scanned: How much slab reclaim had scanned by then.
 */
struct round_end {
	u64 ms;
	u64 clock;
	unsigned long scanned;
};

/*
 * For as many rounds as there are generations. That is more than twice what a
 * site remembers: in the middle of a round some sites have its entry and others
 * still have the oldest. So it is for spans.
 */
#define LT_ROUND_ENDS	LT_GENERATIONS
#define LT_SPAN_ENDS	(2 * LT_COARSE_RING)

static struct round_end round_ends[LT_ROUND_ENDS];
static struct round_end span_ends[LT_LEVELS - 1][LT_SPAN_ENDS];

static_assert(LT_ROUND_ENDS >= 2 * LT_RING);

static struct lt_engine_stats engine_stats;

/* Grace period after which no hook uses a round before the last one. */
static unsigned long round_cookie;

static void round_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(round_work, round_work_fn);

static unsigned long slabs_scanned(void)
{
#ifdef CONFIG_VM_EVENT_COUNTERS
	unsigned long events[NR_VM_EVENT_ITEMS];

	all_vm_events(events);
	return events[SLABS_SCANNED];
#else
	return 0;
#endif
}

/**
 * leaktrend_is_suspect() - Is a site one that someone should look at?
 * @site: The site.
 *
 * Return: true if it grows, and its class is one that the reports are about.
 */
bool leaktrend_is_suspect(const struct lt_site *site)
{
	return READ_ONCE(site->verdict) > LT_IGNORED &&
	       leaktrend_class_wanted(READ_ONCE(site->class));
}

/* End of the span that was @back spans before the last one of a level. */
static const struct round_end *end_of(u32 last_round, unsigned int level, u32 back)
{
	u32 span = (last_round + 1) / leaktrend_history_span(level) - 1 - back;

	return level ? &span_ends[level - 1][span % LT_SPAN_ENDS] :
		       &round_ends[span % LT_ROUND_ENDS];
}

/* One series of a level: does it grow over the last @window entries, since when? */
static bool series_grew(struct lt_pace *pace, u32 last_round, unsigned int level,
			const u32 *v, unsigned int n, unsigned int window)
{
	unsigned int since;
	u64 since_ms;

	if (!leaktrend_grew(v + n - window, window))
		return false;

	since = leaktrend_grown_since(v, n);
	since_ms = READ_ONCE(end_of(last_round, level, n - 1 - since)->ms);
	if (!pace->since_ms || since_ms < pace->since_ms) {
		pace->since_ms = since_ms;
		pace->from = v[since];
	}
	return true;
}

/*
 * What the growth of a series adds to the evidence. Its value now is @now, and @bytes
 * would be @all.
 */
static void note_growth(struct lt_evidence *e, const struct lt_pace *pace, u32 last_round,
			u32 now, u64 bytes, u64 all)
{
	u64 grown = now > pace->from ? now - pace->from : 0;

	if (!e->since_ms || pace->since_ms < e->since_ms)
		e->since_ms = pace->since_ms;
	e->rising |= last_round - pace->rose < lt_param(min_rounds);
	if (all)
		e->grown = max(e->grown, mul_u64_u64_div_u64(min(grown, all), bytes, all));
}

/*
 * Look for growth on all levels. A leak that adds a sample in an hour does not
 * rise in each half of a few minutes, but it does in each half of a day.
 */
static void find_growth(struct lt_site *site, struct lt_evidence *e)
{
	/* Only one at a time: under leaktrend_mutex. */
	static struct lt_round entries[LT_RING];
	u32 low[LT_RING], elders[LT_RING];
	u32 last = site->last_round;
	/* Where sizes differ, numbers do not tell what memory does. */
	bool sizes = READ_ONCE(site->mixed);
	struct lt_round *now = &site->ring[last % LT_RING];
	unsigned int level, n, i;

	leaktrend_pace(&site->low_pace, sizes ? now->low_size : now->low, last);
	leaktrend_pace(&site->elders_pace, now->elders, last);

	for (level = 0; level < LT_LEVELS; level++) {
		unsigned int room = level ? LT_COARSE_RING : LT_RING;
		unsigned int window = min_t(u64, lt_param(min_rounds), room);
		bool low_grew, elders_grew;

		n = leaktrend_history_get(site, level, room, entries);
		if (n < window)
			break;
		for (i = 0; i < n; i++) {
			low[i] = sizes ? entries[i].low_size : entries[i].low;
			elders[i] = entries[i].elders;
		}

		low_grew = series_grew(&site->low_pace, last, level, low, n, window);
		/*
		 * A pool that was emptied and fills up again has more and more
		 * elders. A leak has more than there ever were.
		 */
		elders_grew = leaktrend_highest(elders, n - window, elders[n - 1]) &&
			      series_grew(&site->elders_pace, last, level, elders, n,
					  window);
		if (!low_grew && !elders_grew)
			continue;
		if (!e->low_grew && !e->elders_grew) {
			e->level = level;
			e->entries = window;
		}
		e->low_grew |= low_grew;
		e->elders_grew |= elders_grew;
		e->reclaimed |= low_grew && end_of(last, level, 0)->scanned !=
					    end_of(last, level, window - 1)->scanned;
	}
	if (e->low_grew)
		note_growth(e, &site->low_pace, last, sizes ? now->low_size : now->low,
			    now->bytes, sizes ? now->bytes / LT_SIZE_UNIT : now->outstanding);
	if (e->elders_grew)
		note_growth(e, &site->elders_pace, last, now->elders, now->bytes,
			    now->outstanding);
}

/*
 * Of what has grown, not of all that is there: what has always been at the site
 * says nothing of the few samples that came.
 */
static u32 growth_error(const struct lt_site *site, const struct lt_evidence *e)
{
	u64 variance = leaktrend_counter(&site->variance);
	u64 outstanding = leaktrend_counter(&site->outstanding);
	u64 part = leaktrend_evidence_bytes(e);

	if (part < e->bytes) {
		variance = mul_u64_u64_div_u64(variance, part, e->bytes);
		outstanding = mul_u64_u64_div_u64(outstanding, part, e->bytes);
	}
	return leaktrend_error_permille(variance, outstanding);
}

static void gather_evidence(struct lt_site *site, u64 now_ns, u64 now_ms)
{
	struct lt_evidence e = {
		.class = READ_ONCE(site->class),
		.bytes = site->ring[site->last_round % LT_RING].bytes,
		.standing = site->state.verdict == LT_LIKELY_LEAK,
	};

	find_growth(site, &e);
	if (site->oldest_ns && site->oldest_ns < now_ns)
		e.age_ms = div_u64(now_ns - site->oldest_ns, NSEC_PER_MSEC);
	if (e.since_ms)
		e.age_ms = min(e.age_ms, now_ms - e.since_ms);
	e.error = growth_error(site, &e);
	site->evidence = e;
}

/* What is shown: an entry of the ignore list stands above all that was found. */
static void update_verdict(struct lt_site *site)
{
	enum lt_verdict verdict = site->state.verdict;

	if (site->orphaned && leaktrend_site_outstanding(site))
		verdict = LT_ORPHANED;
	if (site->ignored_by)
		verdict = LT_IGNORED;
	WRITE_ONCE(site->verdict, verdict);
}

static void judge_site(struct lt_site *site, u64 now_ns)
{
	u64 now_ms = end_of(site->last_round, 0, 0)->ms;
	enum lt_verdict verdict;

	gather_evidence(site, now_ns, now_ms);
	verdict = leaktrend_judge(&site->evidence, lt_param(min_bytes), lt_param(min_age_ms));
	leaktrend_follow(&site->state, verdict, site->evidence.bytes, lt_param(min_bytes),
			 lt_param(min_rounds), now_ms);
	/* When it is calm again, the next growth is another one. */
	if (verdict == LT_NONE && site->state.verdict <= LT_SETTLED) {
		site->low_pace.since_ms = 0;
		site->elders_pace.since_ms = 0;
	}
	update_verdict(site);
}

/* Of a sampled object that is known. */
static u64 oldest_object(struct lt_site *site)
{
	/* One that has come after the others were asked for their oldest. */
	if (!site->oldest_scan || site->oldest_scan == U64_MAX)
		return 0;
	return site->oldest_scan;
}

/*
 * Of a page only the generation is: when its round ended it was there. Of those
 * too old for a slot it is known since when there have been any.
 */
static u64 oldest_page(struct lt_site *site, u32 ended)
{
	u64 clock = 0;
	u32 birth;

	if (leaktrend_history_oldest(site, ended, &birth))
		clock = round_ends[birth % LT_ROUND_ENDS].clock;

	if (!leaktrend_counter(&site->older))
		site->older_ns = 0;
	else if (!site->older_ns)
		site->older_ns = round_ends[(ended - LT_GENERATION_MAX_AGE) %
					    LT_ROUND_ENDS].clock ?:
				 round_ends[ended % LT_ROUND_ENDS].clock;

	return site->older_ns ?: clock;
}

static void update_site(struct lt_site *site, u32 ended, u64 now_ns)
{
	leaktrend_ignore_update(site);

	spin_lock(&site->lock);
	leaktrend_history_record(site, ended);
	site->oldest_ns = site->kind == LT_KIND_PAGE ? oldest_page(site, ended) :
						       oldest_object(site);
	judge_site(site, now_ns);
	spin_unlock(&site->lock);
}

static void note_spans(u32 ended)
{
	unsigned int level;

	for (level = 1; level < LT_LEVELS; level++) {
		unsigned int span = leaktrend_history_span(level);

		if ((ended + 1) % span)
			break;
		span_ends[level - 1][ended / span % LT_SPAN_ENDS] =
			round_ends[ended % LT_ROUND_ENDS];
	}
}

static void count_verdict(const struct lt_site *site, struct lt_engine_stats *stats)
{
	stats->suspects += leaktrend_is_suspect(site);
	stats->ignored += site->ignored_by && leaktrend_class_wanted(READ_ONCE(site->class));
}

static void run_round(void)
{
	u64 begin_ns = ktime_get_ns();
	u32 ended = leaktrend_round;
	struct lt_engine_stats stats = {};
	struct lt_site *site;
	u64 now_ns;

	lockdep_assert_held(&leaktrend_mutex);

	WRITE_ONCE(round_ends[ended % LT_ROUND_ENDS].ms,
		   div_u64(begin_ns, NSEC_PER_MSEC));
	round_ends[ended % LT_ROUND_ENDS].clock = local_clock();
	round_ends[ended % LT_ROUND_ENDS].scanned = slabs_scanned();
	note_spans(ended);
	WRITE_ONCE(leaktrend_round, ended + 1);
	/* At the usual interval it has passed long ago. */
	cond_synchronize_rcu(round_cookie);
	round_cookie = get_state_synchronize_rcu();

	leaktrend_pages_round();
	leaktrend_for_each_site(site) {
		site->oldest_scan = U64_MAX;
		cond_resched();
	}
	leaktrend_table_oldest();

	now_ns = local_clock();
	leaktrend_for_each_site(site) {
		update_site(site, ended, now_ns);
		stats.sites++;
		count_verdict(site, &stats);
		cond_resched();
	}

	stats.rounds = ended + 1;
	stats.duration_us = div_u64(ktime_get_ns() - begin_ns, NSEC_PER_USEC);
	engine_stats = stats;
}

static void schedule_round(void)
{
	mod_delayed_work(system_dfl_wq, &round_work,
			 msecs_to_jiffies(lt_param(interval_ms)));
}

static void round_work_fn(struct work_struct *work)
{
	mutex_lock(&leaktrend_mutex);
	if (leaktrend_running) {
		run_round();
		schedule_round();
	}
	mutex_unlock(&leaktrend_mutex);
}

/**
 * leaktrend_engine_scan() - Run a round now. The interval begins anew.
 *
 * Context: Process context, may sleep.
 * Return: 0 when it is done, -ENODEV if tracking is off.
 */
int leaktrend_engine_scan(void)
{
	int ret = -ENODEV;

	mutex_lock(&leaktrend_mutex);
	if (leaktrend_running) {
		run_round();
		schedule_round();
		ret = 0;
	}
	mutex_unlock(&leaktrend_mutex);
	return ret;
}

/**
 * leaktrend_engine_judge() - Apply what has changed between two rounds.
 *
 * Context: Process context under leaktrend_mutex, may sleep.
 */
void leaktrend_engine_judge(void)
{
	struct lt_site *site;

	lockdep_assert_held(&leaktrend_mutex);

	engine_stats.suspects = 0;
	engine_stats.ignored = 0;
	leaktrend_for_each_site(site) {
		leaktrend_ignore_update(site);
		spin_lock(&site->lock);
		update_verdict(site);
		spin_unlock(&site->lock);
		count_verdict(site, &engine_stats);
		cond_resched();
	}
}

void leaktrend_engine_start(void)
{
	lockdep_assert_held(&leaktrend_mutex);
	schedule_round();
}

/* A round that waits for the mutex now will find that there is nothing to do. */
void leaktrend_engine_stop(void)
{
	lockdep_assert_held(&leaktrend_mutex);
	cancel_delayed_work(&round_work);
}

/* With no site and no sample. */
void leaktrend_engine_reset(void)
{
	lockdep_assert_held(&leaktrend_mutex);
	WRITE_ONCE(leaktrend_round, 0);
	round_cookie = get_state_synchronize_rcu();
	memset(&engine_stats, 0, sizeof(engine_stats));
	memset(round_ends, 0, sizeof(round_ends));
	memset(span_ends, 0, sizeof(span_ends));
}

void leaktrend_engine_interval_changed(void)
{
	mutex_lock(&leaktrend_mutex);
	if (leaktrend_running)
		schedule_round();
	mutex_unlock(&leaktrend_mutex);
}

void leaktrend_engine_stats(struct lt_engine_stats *stats)
{
	mutex_lock(&leaktrend_mutex);
	*stats = engine_stats;
	mutex_unlock(&leaktrend_mutex);
}

/**
 * leaktrend_site_snapshot() - Copy what a report shows of a site.
 * @site: The site.
 * @snap: Where to.
 *
 * Context: Process context, with the site kept (see site.c).
 */
void leaktrend_site_snapshot(struct lt_site *site, struct lt_snapshot *snap)
{
	u64 now_ns = local_clock();
	u32 i, first;

	snap->id = site->id;
	snap->kind = site->kind;
	snap->class = READ_ONCE(site->class);
	snap->handle = site->handle;
	strscpy(snap->cache_name, site->cache_name);
	snap->mixed = READ_ONCE(site->mixed);
	snap->outstanding = leaktrend_site_outstanding(site);
	snap->bytes = leaktrend_site_bytes(site);
	snap->frees = leaktrend_counter(&site->frees);
	/* Not a counter of its own, so that the three always agree. */
	snap->allocs = snap->frees + snap->outstanding;
	snap->variance = leaktrend_counter(&site->variance);

	spin_lock(&site->lock);
	snap->nr_rounds = site->nr_rounds;
	first = site->last_round + 1 - site->nr_rounds;
	for (i = 0; i < snap->nr_rounds; i++) {
		snap->ring[i] = site->ring[(first + i) % LT_RING];
		snap->time_ms[i] = READ_ONCE(round_ends[(first + i) % LT_ROUND_ENDS].ms);
	}
	snap->survivors = site->survivors;
	snap->generations = site->generations;
	snap->evidence = site->evidence;
	snap->state = site->state;
	snap->verdict = site->verdict;
	snap->now_ms = ktime_to_ms(ktime_get());
	strscpy(snap->symbols, site->symbols ?: "");
	snap->age_ms = 0;
	if (site->oldest_ns && site->oldest_ns < now_ns)
		snap->age_ms = div_u64(now_ns - site->oldest_ns, NSEC_PER_MSEC);
	spin_unlock(&site->lock);
}
