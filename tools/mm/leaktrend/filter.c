// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: which sites to show, and in which order.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "leaktrend.h"

static const char * const sort_names[NR_SORT_KEYS] = {
	"verdict", "growth", "bytes", "outstanding", "age", "elders", "function", "site"
};

/* A list "a,b,c" of names as bits. */
static int set_bits(unsigned int *bits, const char *arg, const char *what,
		    bool (*bit_of)(const char *name, unsigned int *bit),
		    const char *(*name_of)(unsigned int bit), unsigned int nr, struct err *err)
{
	char *list = xstrdup(arg), *name, *rest = list;
	unsigned int bit, i;
	int ret = 0;

	while (!ret && (name = strsep(&rest, ","))) {
		if (bit_of(name, &bit)) {
			*bits |= 1U << bit;
			continue;
		}
		ret = err_set(err, "there is no %s \"%s\"; there are", what, name);
		for (i = 0; i < nr; i++) {
			size_t len = strlen(err->text);

			snprintf(err->text + len, sizeof(err->text) - len, "%s %s",
				 i ? "," : "", name_of(i));
		}
	}
	free(list);
	return ret;
}

static bool kind_bit(const char *name, unsigned int *bit)
{
	enum kind kind;
	bool known = kind_of(name, &kind);

	*bit = kind;
	return known;
}

static bool class_bit(const char *name, unsigned int *bit)
{
	enum class class;
	bool known = class_of(name, &class);

	*bit = class;
	return known;
}

static bool verdict_bit(const char *name, unsigned int *bit)
{
	enum verdict verdict;
	bool known = verdict_of(name, &verdict);

	*bit = verdict;
	return known;
}

static const char *kind_bit_name(unsigned int bit)
{
	return kind_name(bit);
}

static const char *class_bit_name(unsigned int bit)
{
	return class_name(bit);
}

static const char *verdict_bit_name(unsigned int bit)
{
	return verdict_name(bit);
}

int filter_set_kind(void *filter, const char *arg, struct err *err)
{
	return set_bits(&((struct filter *)filter)->kinds, arg, "kind", kind_bit,
			kind_bit_name, NR_KINDS - 1, err);
}

int filter_set_class(void *filter, const char *arg, struct err *err)
{
	return set_bits(&((struct filter *)filter)->classes, arg, "class", class_bit,
			class_bit_name, NR_CLASSES - 1, err);
}

int filter_set_verdict(void *filter, const char *arg, struct err *err)
{
	return set_bits(&((struct filter *)filter)->verdicts, arg, "verdict", verdict_bit,
			verdict_bit_name, NR_VERDICTS - 1, err);
}

int filter_set_cache(void *filter, const char *arg, struct err *err)
{
	(void)err;
	((struct filter *)filter)->cache = arg;
	return 0;
}

int filter_set_function(void *filter, const char *arg, struct err *err)
{
	(void)err;
	((struct filter *)filter)->function = arg;
	return 0;
}

int filter_set_min_bytes(void *filter, const char *arg, struct err *err)
{
	return set_size(&((struct filter *)filter)->min_bytes, arg, err);
}

int filter_set_sort(void *filter, const char *arg, struct err *err)
{
	unsigned int i;

	for (i = 0; i < NR_SORT_KEYS; i++) {
		if (strcmp(arg, sort_names[i]))
			continue;
		((struct filter *)filter)->sort = i;
		return 0;
	}
	return err_set(err, "\"%s\" is no sort key; there are verdict, growth, bytes, outstanding, "
		       "age, elders, function, site", arg);
}

int filter_set_top(void *filter, const char *arg, struct err *err)
{
	struct filter *f = filter;

	if (set_u64(&f->top, arg, err))
		return -1;
	return f->top ? 0 : err_set(err, "0 would show nothing");
}

static bool has_function(const struct stack *stack, const char *pattern)
{
	unsigned int i;

	for (i = 0; stack && i < stack->nr; i++) {
		const char *name;
		size_t len = frame_name(stack->line[i], &name);
		char *text = xstrndup(name, len);
		bool match = !fnmatch(pattern, text, 0);

		free(text);
		if (match)
			return true;
	}
	return false;
}

bool filter_pass(const struct filter *f, const struct site *site)
{
	if (f->kinds && !(f->kinds & 1U << site->kind))
		return false;
	if (f->classes && !(f->classes & 1U << site->class))
		return false;
	if (f->verdicts && !(f->verdicts & 1U << site->verdict))
		return false;
	if (site->bytes < f->min_bytes)
		return false;
	if (f->cache && (!site->cache || fnmatch(f->cache, site->cache, 0)))
		return false;
	return !f->function || has_function(site->stack, f->function);
}

int verdict_rank(enum verdict verdict)
{
	/* What nobody minds stands behind what has not been looked at. */
	return verdict == VERDICT_IGNORED ? -1 : (int)verdict;
}

static int cmp_u64(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int cmp_s64(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

static int cmp_function(const struct site *a, const struct site *b)
{
	char x[128], y[128];

	site_function(a, x, sizeof(x));
	site_function(b, y, sizeof(y));
	return strcmp(x, y);
}

static int cmp_sites(const void *a, const void *b, void *key)
{
	const struct site *x = *(const struct site * const *)a;
	const struct site *y = *(const struct site * const *)b;
	int ret = 0;

	switch (*(enum sort_key *)key) {
	case SORT_VERDICT:
		ret = verdict_rank(y->verdict) - verdict_rank(x->verdict);
		if (!ret)
			ret = cmp_s64(x->growth, y->growth);
		if (!ret)
			ret = cmp_u64(x->bytes, y->bytes);
		break;
	case SORT_GROWTH:
		ret = cmp_s64(x->growth, y->growth);
		break;
	case SORT_BYTES:
		ret = cmp_u64(x->bytes, y->bytes);
		break;
	case SORT_OUTSTANDING:
		ret = cmp_u64(x->outstanding, y->outstanding);
		break;
	case SORT_AGE:
		ret = cmp_u64(x->oldest_ms, y->oldest_ms);
		break;
	case SORT_ELDERS:
		ret = cmp_u64(x->elders, y->elders);
		break;
	case SORT_FUNCTION:
		ret = cmp_function(x, y);
		break;
	case SORT_SITE:
	case NR_SORT_KEYS:
		break;
	}
	return ret ? ret : (x->number > y->number) - (x->number < y->number);
}

void sort_sites(const struct site **sites, size_t nr, enum sort_key key)
{
	qsort_r(sites, nr, sizeof(*sites), cmp_sites, &key);
}

size_t filter_shown(const struct filter *filter, size_t nr)
{
	return filter->top && filter->top < nr ? filter->top : nr;
}

const struct site **filter_sites(const struct filter *filter, const struct snapshot *snap,
				 size_t *nr, size_t *all)
{
	const struct site **sites = xcalloc(snap->nr, sizeof(*sites));
	size_t i;

	*all = 0;
	for (i = 0; i < snap->nr; i++)
		if (filter_pass(filter, &snap->site[i]))
			sites[(*all)++] = &snap->site[i];
	sort_sites(sites, *all, filter->sort);
	*nr = filter_shown(filter, *all);
	return sites;
}
