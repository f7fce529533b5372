/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: which sites to show, and in which order.
 */
#ifndef LEAKTREND_FILTER_H
#define LEAKTREND_FILTER_H

#include "model.h"

enum sort_key {
	SORT_VERDICT, SORT_GROWTH, SORT_BYTES, SORT_OUTSTANDING, SORT_AGE, SORT_ELDERS,
	SORT_FUNCTION, SORT_SITE, NR_SORT_KEYS
};

/**
 * struct filter - Zeroed lets everything pass.
 * @kinds:     Bits of the kinds that pass, 0 for all.
 * @classes:   The same.
 * @verdicts:  The same.
 * @cache:     Pattern of the shell for names of caches, or NULL.
 * @function:  Pattern for functions, any of the stack; or NULL.
 * @min_bytes: Least outstanding bytes.
 * @sort:      Order.
 * @top:       At most so many, 0 for all.
 */
struct filter {
	unsigned int kinds;
	unsigned int classes;
	unsigned int verdicts;
	const char *cache;
	const char *function;
	uint64_t min_bytes;
	enum sort_key sort;
	uint64_t top;
};

/* For options, see OPT_FILTER. */
int filter_set_kind(void *filter, const char *arg, struct err *err);
int filter_set_class(void *filter, const char *arg, struct err *err);
int filter_set_verdict(void *filter, const char *arg, struct err *err);
int filter_set_cache(void *filter, const char *arg, struct err *err);
int filter_set_function(void *filter, const char *arg, struct err *err);
int filter_set_min_bytes(void *filter, const char *arg, struct err *err);
int filter_set_sort(void *filter, const char *arg, struct err *err);
int filter_set_top(void *filter, const char *arg, struct err *err);

/* filter_shown() - How many of @nr are to be shown. */
size_t filter_shown(const struct filter *filter, size_t nr);

bool filter_pass(const struct filter *filter, const struct site *site);

/* sort_sites() - The worst first. Equal ones in the order of their numbers. */
void sort_sites(const struct site **sites, size_t nr, enum sort_key key);

/*
 * filter_sites() - Those of @snap that pass, sorted. *@nr is how many are to be
 * shown, *@all how many passed. The array is to be freed, the sites are @snap's.
 */
const struct site **filter_sites(const struct filter *filter, const struct snapshot *snap,
				 size_t *nr, size_t *all);

/* verdict_rank() - The higher the worse, for sorting. */
int verdict_rank(enum verdict verdict);

#endif
