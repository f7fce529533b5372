// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: parsers of `status`, `sites` and small files.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

/* More lines than that `status` does not have. */
#define MAX_PAIRS	256

/* status */

int parse_status(const struct input *in, struct snapshot *snap, struct err *err)
{
	struct reader r;
	uint64_t rounds;

	reader_init(&r, in, err);
	while (reader_line(&r)) {
		struct word rest = r.line, key;
		char *k, *v;

		if (!until(&rest, ": ", &key) || !key.len || memchr(r.line.p, '\0', r.line.len))
			return wrong(&r, "this is no line \"key: value\"");
		if (r.number > MAX_PAIRS)
			return wrong(&r, "too many lines for a status");
		k = word_str(&key);
		v = word_str(&rest);
		pairs_set(&snap->status, k, v);
		free(k);
		free(v);
	}
	if (!pairs_get(&snap->status, "state"))
		return err_set(err, "%s: there is no line \"state\"; this is no status of leaktrend",
			       in->name);
	if (pairs_u64(&snap->status, "rounds", &rounds))
		snap->rounds = rounds > UINT32_MAX ? UINT32_MAX : rounds;
	return 0;
}

/* sites */

enum column {
	COL_SITE, COL_KIND, COL_CLASS, COL_STACK_ID, COL_CACHE, COL_VERDICT,
	COL_OUTSTANDING, COL_BYTES, COL_ALLOCS, COL_FREES, COL_LOW, COL_ELDERS,
	COL_GENERATIONS, COL_OLDEST, COL_GROWTH, COL_ERROR, NR_COLUMNS
};

static const char * const column_names[NR_COLUMNS] = {
	"site", "kind", "class", "stack_id", "cache", "verdict", "outstanding", "bytes",
	"allocs", "frees", "low", "elders", "generations", "oldest_ms", "growth_bytes_h",
	"error_permille",
};

#define MAX_COLUMNS	64

static int parse_header(struct reader *r, enum column *columns, unsigned int *nr)
{
	static const char magic[] = "# leaktrend-sites-v";
	struct word rest, w;
	uint64_t version;
	uint32_t seen = 0;
	unsigned int i;

	if (!reader_line(r))
		return err_set(r->err, "%s: the file is empty", r->name);
	if (!begins(&r->line, magic))
		return wrong(r, "this is no header of sites");
	rest = after(&r->line, strlen(magic));
	if (!next_word(&rest, &w) || !word_u64(&w, &version))
		return wrong(r, "this is no header of sites");
	if (version != 2)
		return err_set(r->err,
			       "%s: sites are of version %" PRIu64 ", and this program knows version 2; "
			       "use the leaktrend that comes with this kernel (tools/mm/leaktrend)",
			       r->name, version);

	for (*nr = 0; next_word(&rest, &w); ++*nr) {
		if (*nr == MAX_COLUMNS)
			return wrong(r, "too many columns");
		columns[*nr] = NR_COLUMNS;
		for (i = 0; i < NR_COLUMNS; i++)
			if (is_word(&w, column_names[i]))
				columns[*nr] = i;
		if (columns[*nr] < NR_COLUMNS) {
			if (seen & 1U << columns[*nr])
				return wrong(r, "a column is named twice");
			seen |= 1U << columns[*nr];
		}
	}
	for (i = 0; i < NR_COLUMNS; i++)
		if (!(seen & 1U << i))
			return err_set(r->err, "%s:%u: there is no column \"%s\"", r->name,
				       r->number, column_names[i]);
	return 0;
}

static bool site_set(struct site *site, enum column column, const struct word *w)
{
	switch (column) {
	case COL_SITE:
		return word_u32(w, &site->number);
	case COL_KIND:
		site->kind = word_kind(w);
		return true;
	case COL_CLASS:
		site->class = word_class(w);
		return true;
	case COL_STACK_ID:
		return word_u64(w, &site->stack_id);
	case COL_CACHE:
		free(site->cache);
		site->cache = is_word(w, "-") ? NULL : word_str(w);
		return true;
	case COL_VERDICT:
		site->verdict = word_verdict(w);
		return true;
	case COL_OUTSTANDING:
		return word_u64(w, &site->outstanding);
	case COL_BYTES:
		return word_u64(w, &site->bytes);
	case COL_ALLOCS:
		return word_u64(w, &site->allocs);
	case COL_FREES:
		return word_u64(w, &site->frees);
	case COL_LOW:
		return word_u64(w, &site->low);
	case COL_ELDERS:
		return word_u64(w, &site->elders);
	case COL_GENERATIONS:
		return word_u32(w, &site->survivors);
	case COL_OLDEST:
		return word_u64(w, &site->oldest_ms);
	case COL_GROWTH:
		return parse_s64(w->p, w->len, &site->growth);
	case COL_ERROR:
		return word_u32(w, &site->error_permille);
	case NR_COLUMNS:
		break;
	}
	return true;
}

static int parse_site_line(struct reader *r, const enum column *columns, unsigned int nr,
			   struct site *site)
{
	struct word rest = r->line, w;
	char what[64];
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (!next_word(&rest, &w))
			return wrong(r, "the line has too few columns");
		if (!site_set(site, columns[i], &w)) {
			snprintf(what, sizeof(what), "bad value of column \"%s\"",
				 column_names[columns[i]]);
			return wrong(r, what);
		}
	}
	if (next_word(&rest, &w))
		return wrong(r, "the line has too many columns");
	return 0;
}

int parse_sites(const struct input *in, struct snapshot *snap, struct err *err)
{
	enum column columns[MAX_COLUMNS];
	unsigned int nr = 0;
	struct reader r;
	int ret;

	reader_init(&r, in, err);
	ret = parse_header(&r, columns, &nr);
	while (!ret && reader_line(&r)) {
		struct site site = {};

		if (begins(&r.line, "#")) {
			snap->torn = true;
			continue;
		}
		ret = parse_site_line(&r, columns, nr, &site);
		if (ret)
			site_free(&site);
		else
			*snapshot_add(snap) = site;
	}
	if (!ret && in->len && in->text[in->len - 1] != '\n')
		ret = wrong(&r, "the last line does not end");
	snapshot_sort(snap);
	return ret;
}

/* Small files */

int parse_value(const struct input *in, struct pairs *pairs, const char *key, struct err *err)
{
	struct reader r;
	char *text;

	reader_init(&r, in, err);
	if (!reader_line(&r))
		return err_set(err, "%s: the file is empty", in->name);
	if (r.line.len > 4096 || memchr(r.line.p, '\0', r.line.len))
		return wrong(&r, "this is no value");
	text = word_str(&r.line);
	pairs_set(pairs, key, text);
	free(text);
	return 0;
}

int parse_counts(const struct input *in, struct pairs *pairs, const char *const *keys,
		 size_t nr, struct err *err)
{
	struct reader r;
	size_t i;

	reader_init(&r, in, err);
	while (reader_line(&r)) {
		struct word rest = r.line, key, number, unit;
		char text[24];
		uint64_t v;

		if (!next_word(&rest, &key))
			continue;
		if (key.p[key.len - 1] == ':')
			key.len--;
		for (i = 0; i < nr; i++)
			if (is_word(&key, keys[i]))
				break;
		if (i == nr)
			continue;
		if (!next_word(&rest, &number) || !word_u64(&number, &v))
			return wrong(&r, "there is no number");
		if (next_word(&rest, &unit) && is_word(&unit, "kB") &&
		    __builtin_mul_overflow(v, (uint64_t)1024, &v))
			return wrong(&r, "the number is too large");
		snprintf(text, sizeof(text), "%" PRIu64, v);
		pairs_set(pairs, keys[i], text);
	}
	return 0;
}

/* "drv_open  3 sites, 6291456 bytes", or older without the bytes. */
static bool parse_ignored(const struct word *line, struct ignored *entry)
{
	struct word rest = *line, name, number, unit;
	uint32_t sites;
	uint64_t bytes = 0;

	if (!next_word(&rest, &name) || memchr(name.p, '\0', name.len) ||
	    !next_word(&rest, &number) || !word_u32(&number, &sites) ||
	    !next_word(&rest, &unit) || !(is_word(&unit, "sites") || is_word(&unit, "sites,")))
		return false;
	if (is_word(&unit, "sites,") &&
	    (!next_word(&rest, &number) || !word_u64(&number, &bytes) ||
	     !next_word(&rest, &unit) || !is_word(&unit, "bytes")))
		return false;
	*entry = (struct ignored){ word_str(&name), sites, bytes };
	return true;
}

int parse_ignore(const struct input *in, struct ignored **list, size_t *nr, struct err *err)
{
	struct ignored entry;
	struct reader r;

	*list = NULL;
	*nr = 0;
	reader_init(&r, in, err);
	while (reader_line(&r)) {
		if (!parse_ignored(&r.line, &entry)) {
			ignored_free(*list, *nr);
			*list = NULL;
			*nr = 0;
			return wrong(&r, "this is no entry of the ignore list");
		}
		*list = xrealloc(*list, *nr + 1, sizeof(**list));
		(*list)[(*nr)++] = entry;
	}
	return 0;
}

void ignored_free(struct ignored *list, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free(list[i].name);
	free(list);
}
