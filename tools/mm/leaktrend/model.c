// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: snapshots and what they are made of.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model.h"

/* Names */

static const char * const kind_names[NR_KINDS] = { "slab", "page", "other" };

static const char * const class_names[NR_CLASSES] = {
	"kernel", "reclaimable", "user", "page_table", "slab", "other"
};

static const char * const verdict_names[NR_VERDICTS] = {
	"NONE", "IGNORED", "SETTLED", "CACHE_GROWTH", "GROWING", "LIKELY_LEAK",
	"ORPHANED", "OTHER"
};

const char *kind_name(enum kind kind)
{
	return kind_names[kind];
}

const char *class_name(enum class class)
{
	return class_names[class];
}

const char *verdict_name(enum verdict verdict)
{
	return verdict_names[verdict];
}

static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		char x = *a == '-' ? '_' : tolower((unsigned char)*a);
		char y = *b == '-' ? '_' : tolower((unsigned char)*b);

		if (x != y)
			return false;
	}
	return *a == *b;
}

static int name_index(const char * const *names, int nr, const char *name)
{
	int i;

	/* The last is for what is not known. */
	for (i = 0; i < nr - 1; i++)
		if (same_name(names[i], name))
			return i;
	return -1;
}

bool kind_of(const char *name, enum kind *kind)
{
	int i = name_index(kind_names, NR_KINDS, name);

	*kind = i < 0 ? KIND_OTHER : (enum kind)i;
	return i >= 0;
}

bool class_of(const char *name, enum class *class)
{
	int i = name_index(class_names, NR_CLASSES, name);

	*class = i < 0 ? CLASS_OTHER : (enum class)i;
	return i >= 0;
}

bool verdict_of(const char *name, enum verdict *verdict)
{
	int i = name_index(verdict_names, NR_VERDICTS, name);

	*verdict = i < 0 ? VERDICT_OTHER : (enum verdict)i;
	return i >= 0;
}

/* Stacks */

struct stack *stack_parse(const char *text, size_t len)
{
	const char *end = text + len, *p, *eol;
	struct stack *stack;
	unsigned int nr = 0;

	for (p = text; p < end; p = eol + 1) {
		eol = memchr(p, '\n', end - p);
		nr++;
		if (!eol)
			break;
	}

	stack = xcalloc(1, sizeof(*stack) + nr * sizeof(stack->line[0]));
	stack->refs = 1;
	for (p = text; p < end; p = eol + 1) {
		eol = memchr(p, '\n', end - p);
		if (!eol)
			eol = end;
		while (p < eol && *p == ' ')
			p++;
		if (p < eol)
			stack->line[stack->nr++] = xstrndup(p, eol - p);
	}
	return stack;
}

struct stack *stack_get(struct stack *stack)
{
	if (stack)
		stack->refs++;
	return stack;
}

void stack_put(struct stack *stack)
{
	unsigned int i;

	if (!stack || --stack->refs)
		return;
	for (i = 0; i < stack->nr; i++)
		free(stack->line[i]);
	free(stack);
}

/* What compilers append to the names of functions they have split or cloned. */
static size_t without_suffix(const char *name, size_t len)
{
	static const char * const suffixes[] = {
		".isra.", ".constprop.", ".part.", ".cold", ".llvm.", ".lto_priv."
	};
	size_t i, at;

	for (at = 1; at < len; at++) {
		if (name[at] != '.')
			continue;
		for (i = 0; i < ARRAY_SIZE(suffixes); i++) {
			size_t n = strlen(suffixes[i]);

			if (len - at >= n && !memcmp(name + at, suffixes[i], n))
				return at;
		}
	}
	return len;
}

size_t frame_name(const char *frame, const char **name)
{
	size_t len = strcspn(frame, "+ ");

	if (frame[0] == '(') {
		*name = "(unknown)";
		return strlen(*name);
	}
	/* An address that has no symbol is another one at each boot. */
	if (!len || isdigit((unsigned char)frame[0])) {
		*name = "?";
		return 1;
	}
	*name = frame;
	return without_suffix(frame, len);
}

size_t frame_module(const char *frame, const char **module)
{
	const char *open = strrchr(frame, '['), *close;

	*module = "";
	if (!open || open == frame || open[-1] != ' ')
		return 0;
	close = strchr(open, ']');
	if (!close)
		return 0;
	*module = open + 1;
	/* "[drv 0123abc]" has a build id. */
	return strcspn(*module, " ]");
}

/*
 * Helpers that allocate for their caller. The kernel leaves those of the slab
 * allocator out, and shows those of the page allocator.
 */
static bool is_helper(const char *name, size_t len)
{
	static const char * const whole[] = {
		"post_alloc_hook", "prep_new_page", "get_page_from_freelist",
		"get_zeroed_page", "kmemdup", "kmemdup_nul", "kstrdup", "kstrndup",
		"kstrdup_const", "kasprintf", "kvasprintf", "kvasprintf_const",
		"krealloc", "kvmalloc_node", "kvrealloc", "memdup_user", "memdup_user_nul",
		"vmemdup_user", "strndup_user", "mempool_alloc", "new_slab",
		"allocate_slab", "refill_objects", "alloc_from_pcs", "__pcs_replace_empty_main",
	};
	static const char * const begins[] = {
		"__alloc_pages", "alloc_pages", "__alloc_frozen_pages",
		"alloc_frozen_pages", "__get_free_pages", "get_free_pages",
		"__folio_alloc", "folio_alloc", "vma_alloc_", "___kmalloc", "__kmalloc",
		"kmalloc", "__vmalloc", "vmalloc", "vzalloc", "__kvmalloc", "devm_km",
		"alloc_page_interleave", "alloc_mpol", "kmem_cache_alloc", "page_frag_",
		"__page_frag_", "dma_alloc_", "__dma_direct_alloc", "dma_direct_alloc",
		"alloc_slab_page", "allocate_slab", "mempool_alloc_", "krealloc_node",
		"kmemdup_", "kstrdup_", "__kmem_cache_", "try_alloc_pages", "clear_page",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(whole); i++) {
		size_t n = strlen(whole[i]);

		/* "_noprof" is what allocation profiling leaves of a wrapped name. */
		if (len >= n && !memcmp(name, whole[i], n) &&
		    (len == n || (len == n + 7 && !memcmp(name + n, "_noprof", 7))))
			return true;
	}
	for (i = 0; i < ARRAY_SIZE(begins); i++)
		if (len >= strlen(begins[i]) && !memcmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

const char *stack_culprit(const struct stack *stack)
{
	unsigned int i;

	if (!stack || !stack->nr)
		return NULL;
	for (i = 0; i < stack->nr; i++) {
		const char *name;
		size_t len = frame_name(stack->line[i], &name);

		if (!is_helper(name, len))
			return stack->line[i];
	}
	return stack->line[0];
}

static void add_path(struct buf *buf, const struct stack *stack)
{
	unsigned int i;

	for (i = 0; i < stack->nr; i++) {
		const char *name;
		size_t len = frame_name(stack->line[i], &name);

		if (i)
			buf_add(buf, ";", 1);
		buf_add(buf, name, len);
	}
}

char *stack_path(const struct stack *stack)
{
	struct buf buf = {};

	buf_adds(&buf, "");
	add_path(&buf, stack);
	return buf.data;
}

/* Sites */

void trend_add(struct trend *trend, uint64_t value)
{
	if (trend->nr == TREND_MAX) {
		memmove(trend->value, trend->value + 1,
			(TREND_MAX - 1) * sizeof(trend->value[0]));
		trend->nr--;
	}
	trend->value[trend->nr++] = value;
}

static void evidence_free(struct evidence *evidence)
{
	if (!evidence)
		return;
	free(evidence->held);
	free(evidence->missing);
	free(evidence);
}

struct evidence *site_evidence(struct site *site)
{
	if (!site->evidence) {
		site->evidence = xcalloc(1, sizeof(*site->evidence));
		site->evidence->held = xstrdup("");
		site->evidence->missing = xstrdup("");
	}
	return site->evidence;
}

struct trend *site_trend(struct site *site)
{
	if (!site->trend)
		site->trend = xcalloc(1, sizeof(*site->trend));
	return site->trend;
}

char *site_path(const struct site *site)
{
	struct buf buf = {};

	if (!site->stack || !site->stack->nr)
		return NULL;
	buf_printf(&buf, "%s %s ", kind_name(site->kind), site->cache ? site->cache : "-");
	add_path(&buf, site->stack);
	return buf.data;
}

void site_function(const struct site *site, char *text, size_t room)
{
	const char *frame = stack_culprit(site->stack);
	const char *name, *module;
	size_t name_len, len;

	if (!frame) {
		snprintf(text, room, "?");
		return;
	}
	name_len = frame_name(frame, &name);
	len = frame_module(frame, &module);
	if (len)
		snprintf(text, room, "%.*s [%.*s]", (int)name_len, name, (int)len, module);
	else
		snprintf(text, room, "%.*s", (int)name_len, name);
}

void site_copy(struct site *to, const struct site *from)
{
	*to = *from;
	if (from->cache)
		to->cache = xstrdup(from->cache);
	to->stack = stack_get(from->stack);
	if (from->evidence) {
		to->evidence = xcalloc(1, sizeof(*to->evidence));
		*to->evidence = *from->evidence;
		to->evidence->held = xstrdup(from->evidence->held);
		to->evidence->missing = xstrdup(from->evidence->missing);
	}
	if (from->trend) {
		to->trend = xcalloc(1, sizeof(*to->trend));
		*to->trend = *from->trend;
	}
}

void site_free(struct site *site)
{
	free(site->cache);
	stack_put(site->stack);
	evidence_free(site->evidence);
	free(site->trend);
	*site = (struct site){};
}

/* Pairs */

static struct pair *find_pair(const struct pairs *pairs, const char *key)
{
	size_t i;

	for (i = 0; i < pairs->nr; i++)
		if (!strcmp(pairs->pair[i].key, key))
			return &pairs->pair[i];
	return NULL;
}

void pairs_set(struct pairs *pairs, const char *key, const char *value)
{
	struct pair *pair = find_pair(pairs, key);

	if (pair) {
		free(pair->value);
	} else {
		pairs->pair = xrealloc(pairs->pair, pairs->nr + 1, sizeof(*pair));
		pair = &pairs->pair[pairs->nr++];
		pair->key = xstrdup(key);
	}
	pair->value = xstrdup(value);
}

const char *pairs_get(const struct pairs *pairs, const char *key)
{
	const struct pair *pair = find_pair(pairs, key);

	return pair ? pair->value : NULL;
}

bool pairs_u64(const struct pairs *pairs, const char *key, uint64_t *value)
{
	const char *text = pairs_get(pairs, key);
	char *end;

	if (!text || !isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && !*end;
}

bool pairs_same(const struct pairs *a, const struct pairs *b)
{
	size_t i;

	if (a->nr != b->nr)
		return false;
	for (i = 0; i < a->nr; i++)
		if (strcmp(a->pair[i].key, b->pair[i].key) ||
		    strcmp(a->pair[i].value, b->pair[i].value))
			return false;
	return true;
}

void pairs_copy(struct pairs *to, const struct pairs *from)
{
	size_t i;

	to->nr = from->nr;
	to->pair = from->nr ? xcalloc(from->nr, sizeof(*to->pair)) : NULL;
	for (i = 0; i < from->nr; i++) {
		to->pair[i].key = xstrdup(from->pair[i].key);
		to->pair[i].value = xstrdup(from->pair[i].value);
	}
}

void pairs_free(struct pairs *pairs)
{
	size_t i;

	for (i = 0; i < pairs->nr; i++) {
		free(pairs->pair[i].key);
		free(pairs->pair[i].value);
	}
	free(pairs->pair);
	*pairs = (struct pairs){};
}

/* Snapshots */

struct site *snapshot_add(struct snapshot *snap)
{
	struct site *site;

	if (snap->nr == snap->room) {
		snap->room = snap->room ? 2 * snap->room : 64;
		snap->site = xrealloc(snap->site, snap->room, sizeof(*snap->site));
	}
	site = &snap->site[snap->nr++];
	*site = (struct site){};
	return site;
}

static int cmp_number(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

void snapshot_sort(struct snapshot *snap)
{
	bool sorted = true;
	size_t i, nr;

	for (i = 1; i < snap->nr && sorted; i++)
		sorted = snap->site[i - 1].number < snap->site[i].number;
	if (sorted)
		return;

	qsort(snap->site, snap->nr, sizeof(*snap->site), cmp_number);
	for (i = nr = 1; i < snap->nr; i++) {
		if (snap->site[i].number == snap->site[nr - 1].number)
			site_free(&snap->site[i]);
		else
			snap->site[nr++] = snap->site[i];
	}
	snap->nr = nr;
}

struct site *snapshot_find(const struct snapshot *snap, uint32_t number, uint64_t stack_id)
{
	struct site key = { .number = number };
	struct site *site;

	if (!snap->nr)
		return NULL;
	site = bsearch(&key, snap->site, snap->nr, sizeof(*snap->site), cmp_number);
	return site && site->stack_id == stack_id ? site : NULL;
}

/* The last one: it is in use, those before it are of a module that has gone. */
struct site *snapshot_find_stack(const struct snapshot *snap, enum kind kind, uint64_t stack_id)
{
	size_t i;

	for (i = snap->nr; i--;)
		if (snap->site[i].stack_id == stack_id && snap->site[i].kind == kind)
			return &snap->site[i];
	return NULL;
}

void snapshot_copy(struct snapshot *to, const struct snapshot *from)
{
	size_t i;

	*to = *from;
	pairs_copy(&to->status, &from->status);
	pairs_copy(&to->tunables, &from->tunables);
	pairs_copy(&to->vm, &from->vm);
	to->room = from->nr;
	to->site = from->nr ? xcalloc(from->nr, sizeof(*to->site)) : NULL;
	for (i = 0; i < from->nr; i++)
		site_copy(&to->site[i], &from->site[i]);
}

void snapshot_free(struct snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->nr; i++)
		site_free(&snap->site[i]);
	free(snap->site);
	pairs_free(&snap->status);
	pairs_free(&snap->tunables);
	pairs_free(&snap->vm);
	*snap = (struct snapshot){};
}

bool snapshot_tunable(const struct snapshot *snap, const char *name, uint64_t *value)
{
	return pairs_u64(&snap->tunables, name, value) || pairs_u64(&snap->status, name, value);
}

bool snapshot_class_wanted(const struct snapshot *snap, const struct site *site)
{
	const char *classes = pairs_get(&snap->tunables, "classes");
	const char *name = class_name(site->class), *p;
	size_t len = strlen(name);

	/* What the kernel begins with. */
	if (!classes)
		classes = "kernel reclaimable";
	for (p = classes; *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");

		if (n == len && !memcmp(p, name, n))
			return true;
		p += n;
	}
	return false;
}

bool snapshot_suspect(const struct snapshot *snap, const struct site *site)
{
	return verdict_suspect(site->verdict) && snapshot_class_wanted(snap, site);
}

bool snapshot_follows(const struct snapshot *prev, const struct snapshot *next)
{
	size_t i, j = 0;

	if (next->rounds < prev->rounds || next->clears != prev->clears)
		return false;
	for (i = 0; i < next->nr; i++) {
		const struct site *b = &next->site[i], *a;

		while (j < prev->nr && prev->site[j].number < b->number)
			j++;
		if (j == prev->nr)
			break;
		a = &prev->site[j];
		if (a->number == b->number &&
		    (a->stack_id != b->stack_id || a->kind != b->kind))
			return false;
	}
	return true;
}
