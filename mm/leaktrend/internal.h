/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: what its files share.
 *
 *   sampler.c  which allocations are sampled, and with what weight
 *   governor.c	what that may cost
 *   table.c	the live samples of the slab allocator, by object address
 *   pages.c	the live samples of the page allocator, in page_ext
 *   site.c	the call paths, and what is outstanding at each
 *   history.c	what was outstanding in the last rounds
 *   engine.c	rounds, and the verdict of each
 *   stats.c	the arithmetic of sampling and of trends, without any state
 *   symbol.c	names of addresses
 *   orphans.c	what a module leaves behind
 *   ignore.c	sites that an administrator has found normal
 *   classes.c	which classes of memory the reports are about
 *   params.c	tunables, at boot and at run time
 *   debugfs.c	the files to control it, and its status
 *   report.c	the files that show sites and objects
 *   core.c	boot, on, off
 */
#ifndef __MM_LEAKTREND_INTERNAL_H
#define __MM_LEAKTREND_INTERNAL_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/gfp.h>
#include <linux/leaktrend.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/page_ext.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/stackdepot.h>
#include <linux/types.h>

#include "leaktrend.h"
#include "page_hooks.h"

struct dentry;
struct lt_ignore;
struct module;
struct seq_file;
struct stack_record;

/*
 * Rounds of history that a site keeps one by one. What is older it keeps in spans
 * of LT_SPAN rounds, and of LT_SPAN^2, and so on: level l of the history has spans
 * of LT_SPAN^l. With 4 levels of rounds of a minute that is five days.
 */
#define LT_RING			32
#define LT_LEVELS		4
#define LT_SPAN			8
#define LT_COARSE_RING		16
/*
 * Generations that a site tells apart. Two more than that is what a slot needs
 * between its last use and its next, see fold_generation().
 */
#define LT_GENERATIONS		64
#define LT_GENERATION_MAX_AGE	(LT_GENERATIONS - 2)

#define LT_MAX_STACK_DEPTH	64
/* A page's word has as many bits for the number of its site, see pages.c. */
#define LT_SITE_BITS		17
#define LT_MAX_SITES		BIT(LT_SITE_BITS)
#define LT_CACHE_NAME_LEN	32
/* A stack as text: what is longer is cut off. */
#define LT_SYMBOLS_LEN		3072

static_assert(LT_RING <= LT_GENERATION_MAX_AGE);
static_assert(LT_SPAN <= LT_COARSE_RING && LT_COARSE_RING <= LT_RING);

/* What the memory of a site is for. Only growth of the first can be a leak as it is. */
enum lt_class {
	LT_CLASS_KERNEL,
	LT_CLASS_RECLAIMABLE,	/* objects of a cache that reclaim can shrink */
	LT_CLASS_USER,		/* movable, anonymous, page cache, hugetlb */
	LT_CLASS_PAGE_TABLE,
	LT_CLASS_SLAB,		/* pages of slabs: their objects are counted */
	LT_NR_CLASSES,
};

/* From harmless to worst: reports are ordered by it. */
enum lt_verdict {
	LT_NONE,
	LT_IGNORED,
	LT_SETTLED,
	LT_CACHE_GROWTH,
	LT_GROWING,
	LT_LIKELY_LEAK,
	LT_ORPHANED,
};

/* Low-water marks of bytes are kept in units of so many, capped at 64 GiB. */
#define LT_SIZE_UNIT		16

/**
 * struct lt_round - What a site looked like at the end of a round, or of a span.
 * @bytes:	 Outstanding bytes.
 * @outstanding: Outstanding objects or pages, as @low and @elders.
 * @low:	 Low-water mark: the fewest outstanding at any time of the round.
 * @low_size:	 The same of the bytes, in LT_SIZE_UNIT.
 * @elders:	 What has survived elder_rounds rounds. Of a span, the fewest at
 *		 the end of any of its rounds.
 *
 * All are estimates from samples. Numbers are capped at U32_MAX.
 */
struct lt_round {
	u64 bytes;
	u32 outstanding;
	u32 low;
	u32 low_size;
	u32 elders;
};

/**
 * struct lt_pace - How far a series has got, and since when it grows.
 * @high:     The highest value so far. Begins anew after a fall.
 * @rose:     The round in which it was reached.
 * @from:     The value at the begin of the growth.
 * @since_ms: Begin of the growth, on the clock of struct round_end. 0 if none.
 */
struct lt_pace {
	u32 high;
	u32 rose;
	u32 from;
	u64 since_ms;
};

/**
 * struct lt_evidence - What a verdict is made from.
 * @class:	 What the memory is for.
 * @reclaimed:	 Slab reclaim ran while the site grew.
 * @low_grew:	 The low-water mark grew.
 * @elders_grew: The elders grew.
 * @rising:	 One that grew has got to where it never was, not long ago.
 * @standing:	 It has been called a leak, and that has not been taken back.
 * @level:	 On which level of the history, the finest if on several.
 * @entries:	 Over how many rounds or spans that was judged.
 * @since_ms:	 Begin of the growth, on the clock of struct round_end. 0 if none.
 * @error:	 Standard error of leaktrend_evidence_bytes(), in thousandths.
 * @bytes:	 Outstanding bytes.
 * @grown:	 How many of them have come since the begin of the growth.
 * @age_ms:	 For how long it has been going on: the age of the oldest live
 *		 sample, or of the growth if that has not lasted as long.
 */
struct lt_evidence {
	enum lt_class class;
	bool reclaimed;
	bool low_grew;
	bool elders_grew;
	bool rising;
	bool standing;
	u8 level;
	u8 entries;
	u32 error;
	u64 since_ms;
	u64 bytes;
	u64 grown;
	u64 age_ms;
};

/*
 * By how much it has grown, for the size of a leak. What has been called one is as large
 * as it is, though a fall may have made its growth another one.
 */
static inline u64 leaktrend_evidence_bytes(const struct lt_evidence *e)
{
	return e->standing ? e->bytes : e->grown;
}

/**
 * struct lt_state - The verdict that is shown, which follows the rounds slowly.
 * @verdict:	 The verdict.
 * @above:	 For how many rounds in a row it has been worse than that.
 * @below:	 For how many it has been better.
 * @peak:	 Most bytes outstanding at the end of a round since it was LT_NONE.
 * @changed_ms:	 When it last changed, on the clock of struct round_end.
 */
struct lt_state {
	enum lt_verdict verdict;
	u32 above;
	u32 below;
	u64 peak;
	u64 changed_ms;
};

/**
 * struct lt_site - A call path that allocates.
 * @hash:	 In the hash table of sites.
 * @list:	 In the list of all sites, oldest first.
 * @id:		 Number in reports, from 0 in the order of appearance.
 * @kind:	 What it allocates.
 * @class:	 What for. Of pages that is found out in the next round.
 * @handle:	 Its stack in the stack depot.
 * @cache_name:	 Cache of the first object, as text: a cache can go away.
 * @cache:	 To tell whether another cache follows. Never dereferenced.
 * @mixed:	 Objects of more than one cache were seen.
 * @record:	 page_owner's count of the pages of this stack, which replaces
 *		 @outstanding and @bytes, or NULL.
 * @outstanding: Sum of the weights of live samples.
 * @bytes:	 The same times their size.
 * @frees:	 Sum of the weights of samples freed.
 * @low:	 Smallest number outstanding since the round began.
 * @low_bytes:	 The same of @bytes. Without @record only, as @bytes is.
 * @variance:	 The variance of @outstanding as an estimate.
 * @older:	 What is outstanding and older than the slots of @gens.
 * @off:	 By how much @older and @gens were off page_owner's count in
 *		 the last round. The engine's alone.
 * @example:	 Number of the last page sampled. Among what is written anyway.
 * @gens:	 @outstanding by the round of birth, modulo LT_GENERATIONS.
 * @lock:	 Guards the fields below. Written by the engine, read by
 *		 reports.
 * @ring:	 History, round r at r % LT_RING.
 * @coarse:	 Its further levels, from 1: span s at s % LT_COARSE_RING.
 * @nr_rounds:	 Rounds of @ring that are valid, at most LT_RING.
 * @nr_spans:	 The same for @coarse.
 * @last_round:	 The last of them.
 * @oldest_ns:	 When the oldest live sample was taken (local_clock()), 0 when
 *		 there is none.
 * @oldest_scan: The same while the engine works it out. Its alone.
 * @older_ns:	 Since when @older has not been empty, 0 when it is.
 * @survivors:	 How many of the last min_rounds generations have live samples.
 * @generations: min_rounds, or fewer as long as there have been fewer.
 * @modular:	 Its stack may run through a module, see leaktrend_orphans_possible().
 * @orphaned:	 A module of its stack has gone.
 * @init_of:	 The module whose init function is in the stack, from the end of that
 *		 function on until the module goes. Never dereferenced.
 * @symbols:	 The stack as text from either time, or NULL.
 * @low_pace:	 Of the low-water mark.
 * @elders_pace: Of the elders.
 * @evidence:	 Of the last round.
 * @state:	 What has followed from it.
 * @verdict:	 That, or what stands above it.
 * @ignored_by:	 Entry of the ignore list that it matches, or NULL.
 * @ignore_seq:	 State of the ignore list for which that was found.
 *
 * @oldest_scan, @init_of, @ignored_by and @ignore_seq are guarded by leaktrend_mutex.
 *
 * The counters are written by the hooks without a lock, so each is exact, and
 * the sums of one site agree with each other when nothing is in flight.
 */
struct lt_site {
	struct hlist_node hash;
	struct list_head list;
	u32 id;
	enum lt_kind kind;
	enum lt_class class;
	depot_stack_handle_t handle;
	char cache_name[LT_CACHE_NAME_LEN];
	const struct kmem_cache *cache;
	bool mixed;
	bool modular;
	const struct stack_record *record;

	atomic64_t outstanding ____cacheline_aligned_in_smp;
	atomic64_t bytes;
	atomic64_t frees;
	atomic64_t low;
	atomic64_t low_bytes;
	atomic64_t variance;
	atomic64_t older;
	s64 off;
	unsigned long example;
	atomic64_t gens[LT_GENERATIONS];

	spinlock_t lock;	/* see above */
	struct lt_round ring[LT_RING];
	struct lt_round coarse[LT_LEVELS - 1][LT_COARSE_RING];
	u32 nr_rounds;
	u32 nr_spans[LT_LEVELS - 1];
	u32 last_round;
	u64 oldest_ns;
	u64 oldest_scan;
	u64 older_ns;
	u32 survivors;
	u32 generations;
	bool orphaned;
	const struct module *init_of;
	char *symbols;
	struct lt_pace low_pace;
	struct lt_pace elders_pace;
	struct lt_evidence evidence;
	struct lt_state state;
	enum lt_verdict verdict;
	const struct lt_ignore *ignored_by;
	u32 ignore_seq;
};

/**
 * struct lt_sample - A live object that is tracked.
 * @node:   In its bucket of the sample table.
 * @object: Address, without KASAN tag.
 * @site:   Where it was allocated.
 * @ts_ns:  When (local_clock()).
 * @birth:  In which round.
 * @weight: How many allocations it stands for.
 * @size:   Bytes that it takes in its slab.
 * @gfp:    Flags of the allocation.
 * @pid:    Task, 0 in interrupt.
 * @tgid:   Thread group, 0 in interrupt.
 * @comm:   Name of the task; "hardirq" or "softirq".
 */
struct lt_sample {
	struct hlist_node node;
	unsigned long object;
	struct lt_site *site;
	u64 ts_ns;
	u32 birth;
	u32 weight;
	u32 size;
	gfp_t gfp;
	pid_t pid;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct lt_origin - Where memory comes from: what makes a site.
 * @handle: Stack.
 * @kind:   Allocator.
 * @class:  What for, as far as it is known.
 * @cache:  Of an object, or NULL.
 * @record: page_owner's count of the pages of this stack, or NULL.
 * @pending: How many of these the caller is about to add to the site.
 */
struct lt_origin {
	depot_stack_handle_t handle;
	enum lt_kind kind;
	enum lt_class class;
	const struct kmem_cache *cache;
	const struct stack_record *record;
	u64 pending;
};

/**
 * struct lt_amount - What a sample, or a part of it, adds to its site.
 * @number:   Estimated number of objects or pages.
 * @bytes:    Their size.
 * @variance: Of @number.
 * @birth:    Round in which they were allocated.
 */
struct lt_amount {
	u64 number;
	u64 bytes;
	u64 variance;
	u32 birth;
};

/**
 * struct lt_object - A live object as a report shows it.
 * @sample:	Copy. Its site may be gone.
 * @handle:	Stack of the site.
 * @site:	Number of the site.
 * @named:	The names in the stack were saved.
 * @cache_name: Cache of the site.
 */
struct lt_object {
	struct lt_sample sample;
	depot_stack_handle_t handle;
	u32 site;
	bool named;
	char cache_name[LT_CACHE_NAME_LEN];
};

/* What could not be, or was not to be, tracked. Each has a line in status. */
enum lt_count {
	LT_DROPPED_MEMORY,
	LT_DROPPED_STACK,
	LT_DROPPED_SITES,
	LT_SKIPPED_NESTED,	/* by page_owner, or by the tracker itself */
	LT_SKIPPED_KFENCE,
	LT_SKIPPED_NOLOCK,
	LT_SKIPPED_INTERNAL,
	LT_MISSED_FREES,	/* seen later: at the address is something else */
	LT_NR_COUNTS,
};

extern atomic_long_t leaktrend_counts[LT_NR_COUNTS];

static inline void leaktrend_count(enum lt_count c)
{
	atomic_long_inc(&leaktrend_counts[c]);
}

/* core.c */

enum lt_mode {
	LT_MODE_OFF,
	LT_MODE_STANDBY,
	LT_MODE_ON,
};

/*
 * Serialises on, off, clear and rounds, and thereby the life of sites: a site
 * that is found under it, or under RCU, stays valid there.
 */
extern struct mutex leaktrend_mutex;
/* Samples may be added. Written under leaktrend_mutex, read by the hooks. */
extern bool leaktrend_running;
/* Counts purges, so that a report can tell that its sites are gone. */
extern u32 leaktrend_epoch;

bool leaktrend_available(void);
int leaktrend_enable(void);
void leaktrend_disable(void);
int leaktrend_clear(void);

/* params.c */

struct lt_params {
	u64 sample_rate;
	u64 interval_ms;
	u64 min_rounds;
	u64 min_bytes;
	u64 min_age_ms;
	u64 elder_rounds;
	u64 stack_depth;
	u64 max_sites;
	u64 max_overhead;
};

extern struct lt_params leaktrend_params;

#define lt_param(name) READ_ONCE(leaktrend_params.name)

/**
 * struct lt_param_desc - A tunable.
 * @name:    Of the file, and after "leaktrend." on the command line.
 * @value:   Where it is.
 * @min:     Smallest value allowed.
 * @max:     Greatest value allowed.
 * @bytes:   A number of bytes: K, M, G and T are understood.
 * @changed: Called after a change at run time, or NULL.
 */
struct lt_param_desc {
	const char *name;
	u64 *value;
	u64 min;
	u64 max;
	bool bytes;
	void (*changed)(void);
};

extern const struct lt_param_desc * const leaktrend_param_descs[];
extern const unsigned int leaktrend_nr_params;

int leaktrend_param_change(const struct lt_param_desc *desc, const char *text);

/* sampler.c */

/* Highest mean interval between samples. Weights of pages have room for it. */
#define LT_MAX_RATE		1000000U

void leaktrend_sampler_set_rate(void);
void leaktrend_sampler_set_rate_here(void);
void leaktrend_sampler_init(void);
u32 leaktrend_sampler_take(enum lt_kind kind, size_t *left, u32 *random);

/* For what is allocated along with @gfp: as much as that may, but no waiting. */
static inline gfp_t leaktrend_nested_gfp(gfp_t gfp)
{
	return gfp_nested_mask(gfp) & ~__GFP_DIRECT_RECLAIM;
}

bool leaktrend_enter(void);
void leaktrend_leave(void);
depot_stack_handle_t leaktrend_capture_stack(unsigned long caller, gfp_t gfp);

/* pages.c */

bool leaktrend_page_owner(void);
u64 *leaktrend_page_word(struct page_ext *page_ext);
int leaktrend_pages_init(void);
size_t leaktrend_pages_memory(void);
void leaktrend_pages_start(void);
void leaktrend_pages_purge(void);
void leaktrend_pages_round(void);

/* table.c */

int leaktrend_table_init(void);
int leaktrend_table_insert(struct slab *slab, struct lt_sample *sample);
bool leaktrend_table_maybe(const struct slab *slab, unsigned long object);
struct lt_sample *leaktrend_table_remove(struct slab *slab, unsigned long object);
void leaktrend_table_purge(void);
unsigned long leaktrend_table_buckets(void);
unsigned int leaktrend_table_copy(unsigned long bucket, struct lt_object *to,
				  unsigned int max);
void leaktrend_table_oldest(void);
size_t leaktrend_table_memory(void);

struct lt_sample *leaktrend_sample_alloc(gfp_t gfp);
void leaktrend_sample_free(struct lt_sample *sample);
void leaktrend_sample_amount(const struct lt_sample *sample,
			     struct lt_amount *amount);
void leaktrend_sample_counts(unsigned long *taken, unsigned long *freed);
size_t leaktrend_sample_size(void);

/* site.c */

int leaktrend_site_init(void);
struct lt_site *leaktrend_site_find(depot_stack_handle_t handle, enum lt_kind kind);
struct lt_site *leaktrend_site_by_id(u32 id);
struct lt_site *leaktrend_site_get(const struct lt_origin *origin, gfp_t gfp);
void leaktrend_site_alloc(struct lt_site *site, const struct lt_amount *amount);
void leaktrend_site_free(struct lt_site *site, const struct lt_amount *amount,
			 u32 round);
void leaktrend_site_free_old(struct lt_site *site, u64 number);
void leaktrend_site_forget_birth(struct lt_site *site, u64 number, u32 birth,
				 u32 round);
u64 leaktrend_site_outstanding(const struct lt_site *site);
u64 leaktrend_site_bytes(const struct lt_site *site);
void leaktrend_site_lower(atomic64_t *mark, s64 now);
void leaktrend_site_unhash(struct lt_site *site);
void leaktrend_sites_purge(void);
bool leaktrend_sites_full(void);
u32 leaktrend_nr_sites(void);
size_t leaktrend_site_memory(void);
extern struct list_head leaktrend_sites;

/* Under leaktrend_mutex. Sites that are added meanwhile may be seen or not. */
#define leaktrend_for_each_site(site)					\
	list_for_each_entry_rcu(site, &leaktrend_sites, list,		\
				lockdep_is_held(&leaktrend_mutex))

/* history.c */

u64 leaktrend_counter(const atomic64_t *counter);
void leaktrend_history_record(struct lt_site *site, u32 ended);
unsigned int leaktrend_history_span(unsigned int level);
unsigned int leaktrend_history_get(const struct lt_site *site, unsigned int level,
				   unsigned int max, struct lt_round *to);
bool leaktrend_history_oldest(const struct lt_site *site, u32 ended, u32 *birth);

/* engine.c */

/**
 * struct lt_engine_stats - What the engine tells about itself.
 * @rounds:	Rounds finished since tracking was enabled or cleared.
 * @duration_us: What the last one took.
 * @sites:	How many sites it went over.
 * @suspects:	Sites that are suspects, of the classes asked for.
 * @ignored:	Sites that the ignore list hides, of these classes.
 */
struct lt_engine_stats {
	u32 rounds;
	u32 duration_us;
	u32 sites;
	u32 suspects;
	u32 ignored;
};

/* Number of the current round, the birth of what is allocated now. */
extern u32 leaktrend_round;

void leaktrend_engine_start(void);
void leaktrend_engine_stop(void);
void leaktrend_engine_reset(void);
void leaktrend_engine_interval_changed(void);
int leaktrend_engine_scan(void);
void leaktrend_engine_judge(void);
bool leaktrend_is_suspect(const struct lt_site *site);
void leaktrend_engine_stats(struct lt_engine_stats *stats);

/**
 * struct lt_snapshot - A site as a report shows it.
 * @id:		 See struct lt_site, as for all that has the same name there.
 * @kind:	 -
 * @class:	 -
 * @handle:	 -
 * @cache_name:	 -
 * @mixed:	 -
 * @outstanding: Now.
 * @bytes:	 Now.
 * @allocs:	 Estimated number of allocations so far.
 * @frees:	 -
 * @variance:	 -
 * @age_ms:	 Age of the oldest live sample at the last round, 0 if none.
 * @nr_rounds:	 Entries of @ring and @time_ms.
 * @ring:	 History, oldest first.
 * @time_ms:	 When each of these rounds ended.
 * @survivors:	 -
 * @generations: -
 * @evidence:	 -
 * @state:	 -
 * @verdict:	 -
 * @now_ms:	 On the clock of @time_ms.
 * @symbols:	 The stack as text if it was saved, else empty.
 */
struct lt_snapshot {
	u32 id;
	enum lt_kind kind;
	enum lt_class class;
	depot_stack_handle_t handle;
	char cache_name[LT_CACHE_NAME_LEN];
	bool mixed;
	u64 outstanding;
	u64 bytes;
	u64 allocs;
	u64 frees;
	u64 variance;
	u64 age_ms;
	u32 nr_rounds;
	struct lt_round ring[LT_RING];
	u64 time_ms[LT_RING];
	u32 survivors;
	u32 generations;
	struct lt_evidence evidence;
	struct lt_state state;
	enum lt_verdict verdict;
	u64 now_ms;
	char symbols[LT_SYMBOLS_LEN];
};

void leaktrend_site_snapshot(struct lt_site *site, struct lt_snapshot *snap);

/* stats.c */

#define LT_PAIRS	(LT_RING * (LT_RING - 1) / 2)

/* Greatest error of a leak, in thousandths. At high rates that is nine samples. */
#define LT_MAX_ERROR	333
/* Rounds in a row for which a verdict must have been worse to be believed. */
#define LT_CONFIRM_ROUNDS	2

enum lt_verdict leaktrend_judge(const struct lt_evidence *e, u64 min_bytes,
				u64 min_age_ms);
void leaktrend_follow(struct lt_state *state, enum lt_verdict verdict, u64 bytes,
		      u64 min_bytes, u32 calm_rounds, u64 now_ms);
bool leaktrend_grew(const u32 *v, unsigned int n);
unsigned int leaktrend_grown_since(const u32 *v, unsigned int n);
bool leaktrend_highest(const u32 *v, unsigned int n, u32 last);
void leaktrend_pace(struct lt_pace *pace, u32 value, u32 round);
u64 leaktrend_gap_scale(u32 rate);
u32 leaktrend_gap_draw(u64 scale, u32 random);

/**
 * struct lt_slope - Slope of a series, in bytes per hour.
 * @median: The slope.
 * @low:    With a probability of 95 % it is not less than this,
 * @high:   and not more than this.
 */
struct lt_slope {
	s64 median;
	s64 low;
	s64 high;
};

void leaktrend_slope(const u64 *time_ms, const u64 *bytes, unsigned int n,
		     s64 *scratch, struct lt_slope *slope);
int leaktrend_mann_kendall(const u64 *v, unsigned int n);
u32 leaktrend_error_permille(u64 variance, u64 outstanding);
u64 leaktrend_sample_variance(u32 weight);
u64 leaktrend_page_weight(u32 rate, unsigned int order, u32 random);
u32 leaktrend_page_share(u64 weight, unsigned int order, unsigned long i, u32 random);
bool leaktrend_generation_in_slot(u32 round, u32 birth);

/* By what the governor multiplies the interval between samples: fraction bits. */
#define LT_FACTOR_SHIFT		8
#define LT_FACTOR_ONE		BIT_U32(LT_FACTOR_SHIFT)

u32 leaktrend_govern(u32 factor, u64 spent_ns, u64 elapsed_ns, u32 budget_permille);

/* governor.c */

/**
 * struct lt_governor_stats - What tracking costs.
 * @rate: Mean interval between samples in force, the highest of all CPUs.
 * @ppm:  Time spent on samples, in millionths of all CPU time.
 */
struct lt_governor_stats {
	u32 rate;
	u32 ppm;
};

u64 leaktrend_governor_begin(void);
void leaktrend_governor_end(u64 begin);
u32 leaktrend_governor_rate(int cpu, u32 rate);
void leaktrend_governor_stats(struct lt_governor_stats *stats);
void leaktrend_governor_init(void);

/* ignore.c */

int leaktrend_ignore_command(char *command);
void leaktrend_ignore_update(struct lt_site *site);
void leaktrend_ignore_show(struct seq_file *m);

/* classes.c */

extern const char * const leaktrend_class_names[LT_NR_CLASSES];
bool leaktrend_class_wanted(enum lt_class class);
int leaktrend_classes_command(char *command);
void leaktrend_classes_show(struct seq_file *m);

/* symbol.c */

void leaktrend_symbol(unsigned long address, char *text);
void leaktrend_symbol_name(unsigned long address, char *name);

/* orphans.c */

int leaktrend_orphans_init(void);
bool leaktrend_orphans_possible(depot_stack_handle_t handle);
bool leaktrend_orphans_names(u32 number, depot_stack_handle_t handle, char *text);
void leaktrend_orphans_forget(struct lt_site *site);
size_t leaktrend_orphans_memory(void);

/* report.c */

void leaktrend_report_files(struct dentry *dir);
void leaktrend_page_owner_files(void);

#endif /* __MM_LEAKTREND_INTERNAL_H */
