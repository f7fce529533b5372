/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: what is known of a machine at one moment (a snapshot), and what a
 * site is. Everything is owned by the snapshot; a stack is shared by all that
 * hold a reference to it.
 *
 * Which sites of two snapshots are the same:
 *
 * in one epoch (between boot, enable or clear, and the next of these)
 *	those with the same number: snapshot_find(). @kind and @stack_id are the
 *	same then. A stack can have two sites, if a module was unloaded and
 *	loaded again, so kind and stack_id alone do not do.
 * across epochs of one boot
 *	those with the same kind and stack_id: snapshot_find_stack().
 * across boots and kernels
 *	those with the same path: site_path(), names without offsets.
 */
#ifndef LEAKTREND_MODEL_H
#define LEAKTREND_MODEL_H

#include "util.h"

enum kind { KIND_SLAB, KIND_PAGE, KIND_OTHER, NR_KINDS };

enum class {
	CLASS_KERNEL, CLASS_RECLAIMABLE, CLASS_USER, CLASS_PAGE_TABLE, CLASS_SLAB,
	CLASS_OTHER, NR_CLASSES
};

/* From good to bad. The last of each of these three is what a newer kernel may say. */
enum verdict {
	VERDICT_NONE, VERDICT_IGNORED, VERDICT_SETTLED, VERDICT_CACHE_GROWTH,
	VERDICT_GROWING, VERDICT_LIKELY_LEAK, VERDICT_ORPHANED, VERDICT_OTHER,
	NR_VERDICTS
};

const char *kind_name(enum kind kind);
const char *class_name(enum class class);
const char *verdict_name(enum verdict verdict);

/* Of a name, any case, '-' for '_'; false if there is no such thing. OTHER is none. */
bool kind_of(const char *name, enum kind *kind);
bool class_of(const char *name, enum class *class);
bool verdict_of(const char *name, enum verdict *verdict);

/* verdict_suspect() - Whether the kernel shows such a site in `suspects`. */
static inline bool verdict_suspect(enum verdict v)
{
	return v >= VERDICT_SETTLED && v <= VERDICT_ORPHANED;
}

/**
 * struct stack - A call path as text, the innermost frame first. Does not change.
 * @refs: Who holds it.
 * @nr:	  Frames.
 * @line: Each as the kernel prints it: "name+0x56/0x90 [module]".
 */
struct stack {
	unsigned int refs;
	unsigned int nr;
	char *line[];
};

/* stack_parse() - Of lines that end with a newline, blanks before them are left out. */
struct stack *stack_parse(const char *text, size_t len);
struct stack *stack_get(struct stack *stack);
void stack_put(struct stack *stack);

/*
 * frame_name() - The function's name in a frame: without offset, module and what
 * the compiler has added. Returns its length. A frame that is no symbol is "?",
 * one of a module that has gone is "(unknown)".
 */
size_t frame_name(const char *frame, const char **name);

/* frame_module() - "drv" of "f+0x1/0x2 [drv]". Returns its length, 0 if it has none. */
size_t frame_module(const char *frame, const char **module);

/*
 * stack_culprit() - The first frame that is no general helper of allocation,
 * where reading the code begins. NULL if @stack is NULL or empty.
 */
const char *stack_culprit(const struct stack *stack);

/* stack_path() - "inner;outer;outermost", by names. To be freed. */
char *stack_path(const struct stack *stack);

/**
 * struct evidence - What only the block of a site tells.
 * @changed:	 @changed_ms is known.
 * @mixed:	 Objects of several caches.
 * @changed_ms:	 How long ago the verdict changed.
 * @held:	 Which rules held, as the kernel says it. "" if it does not.
 * @missing:	 What the site lacks to be a leak. "" if it does not grow.
 * @generations: How many survivors are counted of.
 * @growth_low:	 95 % interval of growth, bytes per hour.
 * @growth_high: Its other end.
 * @tau:	 Kendall's, times 100.
 * @rounds:	 Growth is over so many.
 */
struct evidence {
	bool changed;
	bool mixed;
	uint64_t changed_ms;
	char *held;
	char *missing;
	uint32_t generations;
	int64_t growth_low;
	int64_t growth_high;
	int32_t tau;
	uint32_t rounds;
};

#define TREND_MAX	64

/**
 * struct trend - Outstanding at the end of each round, oldest first.
 * @nr:	   How many.
 * @value: Of each.
 */
struct trend {
	uint32_t nr;
	uint64_t value[TREND_MAX];
};

void trend_add(struct trend *trend, uint64_t value);

/**
 * struct site - A call path that allocates.
 * @number:	    Within the epoch.
 * @kind:	    What it allocates.
 * @class:	    What for.
 * @verdict:	    Of the kernel.
 * @stack_id:	    Within the boot.
 * @cache:	    Of the slab allocator, NULL for pages.
 * @outstanding:    Objects or base pages.
 * @bytes:	    Of them.
 * @allocs:	    Since the site appeared.
 * @frees:	    The same.
 * @low:	    Low-water mark of the last round.
 * @elders:	    Of the last round.
 * @survivors:	    Generations that survive, of the last min_rounds.
 * @oldest_ms:	    Age of the oldest.
 * @growth:	    Bytes per hour.
 * @error_permille: Standard error of @outstanding from sampling.
 * @stack:	    NULL if it is not known.
 * @evidence:	    NULL if there was no block.
 * @trend:	    NULL if it is not known.
 */
struct site {
	uint32_t number;
	enum kind kind;
	enum class class;
	enum verdict verdict;
	uint64_t stack_id;
	char *cache;
	uint64_t outstanding;
	uint64_t bytes;
	uint64_t allocs;
	uint64_t frees;
	uint64_t low;
	uint64_t elders;
	uint32_t survivors;
	uint64_t oldest_ms;
	int64_t growth;
	uint32_t error_permille;
	struct stack *stack;
	struct evidence *evidence;
	struct trend *trend;
};

struct evidence *site_evidence(struct site *site);	/* Made if there is none. */
struct trend *site_trend(struct site *site);		/* The same. */

/* site_path() - "slab kmalloc-64 f1;f2;f3", NULL without stack. To be freed. */
char *site_path(const struct site *site);

/* site_function() - Name of the culprit, with its module. "?" if it is not known. */
void site_function(const struct site *site, char *text, size_t room);

/**
 * struct pairs - Keys and values in their order, such as `status`.
 */
struct pairs {
	size_t nr;
	struct pair {
		char *key;
		char *value;
	} *pair;
};

void pairs_set(struct pairs *pairs, const char *key, const char *value);
const char *pairs_get(const struct pairs *pairs, const char *key);	/* Or NULL. */
bool pairs_u64(const struct pairs *pairs, const char *key, uint64_t *value);
bool pairs_same(const struct pairs *a, const struct pairs *b);
void pairs_copy(struct pairs *to, const struct pairs *from);
void pairs_free(struct pairs *pairs);

/**
 * struct host - Where snapshots come from. Any field can be "" or 0.
 * @release:   uname -r.
 * @version:   uname -v.
 * @machine:   uname -m.
 * @name:      Of the machine.
 * @boot_id:   Differs with each boot.
 * @cpus:      Online.
 * @memory:    Bytes.
 * @page_size: Bytes.
 */
struct host {
	char release[128];
	char version[128];
	char machine[32];
	char name[64];
	char boot_id[40];
	uint32_t cpus;
	uint64_t memory;
	uint32_t page_size;
};

/**
 * struct snapshot - One round.
 * @time_ms:  When, since 1970.
 * @rounds:   Finished in this epoch.
 * @clears:   Since boot.
 * @epoch:    Number of the epoch within what is read; see snapshot_follows().
 * @torn:     Tracking was cleared while it was read: sites may be missing.
 * @status:   All lines of the file.
 * @tunables: By the names of their files, as far as known.
 * @vm:	      Numbers of /proc: slabs_scanned, and of meminfo in bytes MemTotal,
 *	      MemFree, MemAvailable, Slab, SReclaimable, SUnreclaim. As far as known.
 * @nr:	      Sites.
 * @room:     Allocated.
 * @site:     In the order of their numbers.
 */
struct snapshot {
	uint64_t time_ms;
	uint32_t rounds;
	uint32_t clears;
	uint32_t epoch;
	bool torn;
	struct pairs status;
	struct pairs tunables;
	struct pairs vm;
	size_t nr;
	size_t room;
	struct site *site;
};

struct site *snapshot_add(struct snapshot *snap);	/* A zeroed one at the end. */
/* snapshot_sort() - By number; a second one with the same number goes. */
void snapshot_sort(struct snapshot *snap);
struct site *snapshot_find(const struct snapshot *snap, uint32_t number, uint64_t stack_id);
struct site *snapshot_find_stack(const struct snapshot *snap, enum kind kind, uint64_t stack_id);
void snapshot_copy(struct snapshot *to, const struct snapshot *from);
void snapshot_free(struct snapshot *snap);
void site_copy(struct site *to, const struct site *from);
void site_free(struct site *site);

/* snapshot_tunable() - From the tunables or from the status. */
bool snapshot_tunable(const struct snapshot *snap, const char *name, uint64_t *value);

/*
 * snapshot_class_wanted() - Whether the tunable "classes" has the class of the
 * site. What is not in it belongs to processes, or is counted elsewhere.
 */
bool snapshot_class_wanted(const struct snapshot *snap, const struct site *site);

/*
 * snapshot_suspect() - Whether the kernel has the site in `suspects`, which goes by
 * verdict and by the tunable "classes".
 */
bool snapshot_suspect(const struct snapshot *snap, const struct site *site);

/*
 * snapshot_follows() - Whether @next is of the same epoch as @prev: the rounds and
 * clears did not go back, and no number has another stack. That of the same boot
 * has to be known otherwise.
 */
bool snapshot_follows(const struct snapshot *prev, const struct snapshot *next);

#endif
