// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: parsers of the files in debugfs.
 */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

/* More lines than that `status` does not have. */
#define MAX_PAIRS	256

/* A word of the text. */
struct word {
	const char *p;
	size_t len;
};

/* Where a parser is. The line at hand has no newline. */
struct reader {
	const char *name;
	const char *next;
	const char *end;
	struct word line;
	unsigned int number;
	struct err *err;
};

static void reader_init(struct reader *r, const struct input *in, struct err *err)
{
	*r = (struct reader){
		.name = in->name,
		.next = in->text,
		.end = in->text + in->len,
		.err = err,
	};
}

static bool reader_line(struct reader *r)
{
	const char *eol;

	if (r->next == r->end)
		return false;
	eol = memchr(r->next, '\n', r->end - r->next);
	r->line.p = r->next;
	r->line.len = (eol ? eol : r->end) - r->next;
	r->next = eol ? eol + 1 : r->end;
	r->number++;
	return true;
}

/* The last line of a file ends with a newline, too, unless it is cut off. */
static bool reader_cut(const struct reader *r)
{
	return r->next == r->end && r->line.p + r->line.len == r->end;
}

static int wrong(struct reader *r, const char *what)
{
	int len = r->line.len > 60 ? 60 : (int)r->line.len;
	char shown[64];
	int i;

	for (i = 0; i < len; i++)
		shown[i] = isprint((unsigned char)r->line.p[i]) ? r->line.p[i] : '?';
	shown[len] = '\0';
	return err_set(r->err, "%s:%u: %s: \"%s%s\"%s", r->name, r->number, what, shown,
		       r->line.len > 60 ? "…" : "",
		       reader_cut(r) ? " (the file is cut off here)" : "");
}

static bool is_word(const struct word *w, const char *text)
{
	return w->len == strlen(text) && !memcmp(w->p, text, w->len);
}

static bool begins(const struct word *w, const char *text)
{
	return w->len >= strlen(text) && !memcmp(w->p, text, strlen(text));
}

static struct word after(const struct word *w, size_t len)
{
	return (struct word){ w->p + len, w->len - len };
}

/* The next of the words between blanks. */
static bool next_word(struct word *rest, struct word *w)
{
	while (rest->len && *rest->p == ' ')
		*rest = after(rest, 1);
	w->p = rest->p;
	w->len = 0;
	while (w->len < rest->len && w->p[w->len] != ' ')
		w->len++;
	*rest = after(rest, w->len);
	return w->len > 0;
}

/* What comes before @sep, which is taken away as well. */
static bool until(struct word *rest, const char *sep, struct word *w)
{
	size_t n = strlen(sep), i;

	for (i = 0; i + n <= rest->len; i++) {
		if (memcmp(rest->p + i, sep, n))
			continue;
		w->p = rest->p;
		w->len = i;
		*rest = after(rest, i + n);
		return true;
	}
	return false;
}

static char *word_str(const struct word *w)
{
	return xstrndup(w->p, w->len);
}

static void name_of(const struct word *w, char *text, size_t room)
{
	size_t len = w->len < room - 1 ? w->len : room - 1;

	memcpy(text, w->p, len);
	text[len] = '\0';
}

bool parse_u64(const char *text, size_t len, uint64_t *value)
{
	unsigned int base = 10, digit;
	uint64_t v = 0;
	size_t i = 0;

	if (len > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		i = 2;
	}
	if (i == len)
		return false;
	for (; i < len; i++) {
		unsigned char c = text[i];

		if (isdigit(c))
			digit = c - '0';
		else if (base == 16 && isxdigit(c))
			digit = tolower(c) - 'a' + 10;
		else
			return false;
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v))
			return false;
	}
	*value = v;
	return true;
}

bool parse_s64(const char *text, size_t len, int64_t *value)
{
	bool minus = len && *text == '-';
	uint64_t v;

	if (len && (*text == '-' || *text == '+')) {
		text++;
		len--;
	}
	if (!len || !isdigit((unsigned char)*text) || !parse_u64(text, len, &v) ||
	    v > (uint64_t)INT64_MAX + minus)
		return false;
	*value = minus ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

static bool word_u64(const struct word *w, uint64_t *value)
{
	return parse_u64(w->p, w->len, value);
}

static bool word_u32(const struct word *w, uint32_t *value)
{
	uint64_t v;

	if (!word_u64(w, &v) || v > UINT32_MAX)
		return false;
	*value = v;
	return true;
}

/* Decimal with a number of places, as a whole number: "1.5" is 1500 with 3. */
static bool word_fixed(const struct word *w, unsigned int places, int64_t *value)
{
	struct word rest = *w, whole;
	int64_t v, part = 0;
	bool minus = w->len && *w->p == '-';
	unsigned int i;

	if (!until(&rest, ".", &whole)) {
		whole = rest;
		rest.len = 0;
	}
	if (!parse_s64(whole.p, whole.len, &v))
		return false;
	for (i = 0; i < places; i++) {
		int digit = 0;

		if (i < rest.len) {
			if (!isdigit((unsigned char)rest.p[i]))
				return false;
			digit = rest.p[i] - '0';
		}
		part = part * 10 + digit;
		if (__builtin_mul_overflow(v, (int64_t)10, &v))
			return false;
	}
	return !__builtin_add_overflow(v, minus ? -part : part, value);
}

/* "12.345 s" and more, in milliseconds. */
static bool word_seconds(const struct word *w, uint64_t *ms)
{
	struct word rest = *w, number;
	int64_t v;

	if (!next_word(&rest, &number) || !begins(&rest, " s") ||
	    !word_fixed(&number, 3, &v) || v < 0)
		return false;
	*ms = v;
	return true;
}

static enum kind word_kind(const struct word *w)
{
	enum kind kind;
	char text[32];

	name_of(w, text, sizeof(text));
	kind_of(text, &kind);
	return kind;
}

static enum class word_class(const struct word *w)
{
	enum class class;
	char text[32];

	name_of(w, text, sizeof(text));
	class_of(text, &class);
	return class;
}

static enum verdict word_verdict(const struct word *w)
{
	enum verdict verdict;
	char text[32];

	name_of(w, text, sizeof(text));
	verdict_of(text, &verdict);
	return verdict;
}

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

	reader_init(&r, in, err);
	if (parse_header(&r, columns, &nr))
		return -1;
	while (reader_line(&r)) {
		struct site site = {};

		if (begins(&r.line, "#")) {
			snap->torn = true;
			continue;
		}
		if (parse_site_line(&r, columns, nr, &site)) {
			site_free(&site);
			return -1;
		}
		*snapshot_add(snap) = site;
	}
	if (in->len && in->text[in->len - 1] != '\n')
		return wrong(&r, "the last line does not end");
	snapshot_sort(snap);
	return 0;
}

/* Blocks */

static bool parse_trend(const struct word *w, struct site *site)
{
	struct trend *trend = site_trend(site);
	struct word rest = *w, number;
	uint64_t v;

	trend->nr = 0;
	if (rest.len < 2 || rest.p[0] != '[' || rest.p[rest.len - 1] != ']')
		return false;
	rest = (struct word){ rest.p + 1, rest.len - 2 };
	while (rest.len) {
		if (!until(&rest, ", ", &number)) {
			number = rest;
			rest.len = 0;
		}
		if (!word_u64(&number, &v))
			return false;
		trend_add(trend, v);
	}
	return true;
}

/* "+42 bytes/h (+41 .. +43), tau=1.00 (31 rounds)" */
static bool parse_growth(const struct word *w, struct site *site)
{
	struct evidence *e = site_evidence(site);
	struct word rest = *w, part;
	int64_t tau;

	if (!until(&rest, " bytes/h (", &part) || !parse_s64(part.p, part.len, &site->growth))
		return false;
	if (!until(&rest, " .. ", &part) || !parse_s64(part.p, part.len, &e->growth_low))
		return false;
	if (!until(&rest, "), tau=", &part) || !parse_s64(part.p, part.len, &e->growth_high))
		return false;
	if (!until(&rest, " (", &part) || !word_fixed(&part, 2, &tau) || tau < -100 || tau > 100)
		return false;
	e->tau = tau;
	return until(&rest, " rounds)", &part) && word_u32(&part, &e->rounds);
}

/* "8 of 8 generations" */
static bool parse_survive(const struct word *w, struct site *site)
{
	struct word rest = *w, part;

	return until(&rest, " of ", &part) && word_u32(&part, &site->survivors) &&
	       until(&rest, " generations", &part) &&
	       word_u32(&part, &site_evidence(site)->generations);
}

/* "+-5.6 %" */
static bool parse_error(const struct word *w, struct site *site)
{
	struct word rest = *w, part;
	int64_t v;

	if (!begins(w, "+-"))
		return false;
	rest = after(w, 2);
	if (!until(&rest, " %", &part) || !word_fixed(&part, 1, &v) || v < 0 || v > UINT32_MAX)
		return false;
	site->error_permille = v;
	return true;
}

static void parse_cache(const struct word *w, struct site *site)
{
	static const char others[] = " and others";
	struct word name = *w;
	size_t n = strlen(others);

	if (name.len > n && !memcmp(name.p + name.len - n, others, n)) {
		site_evidence(site)->mixed = true;
		name.len -= n;
	}
	free(site->cache);
	site->cache = word_str(&name);
}

/* A line of evidence, of either form of block. Lines that are not known are left alone. */
static bool parse_field(const struct word *key, const struct word *value, struct site *site)
{
	struct evidence *e = site_evidence(site);

	if (is_word(key, "trend"))
		return parse_trend(value, site);
	if (is_word(key, "growth"))
		return parse_growth(value, site);
	if (is_word(key, "survive"))
		return parse_survive(value, site);
	if (is_word(key, "error"))
		return parse_error(value, site);
	if (is_word(key, "oldest"))
		return word_seconds(value, &site->oldest_ms);
	if (is_word(key, "elders"))
		return word_u64(value, &site->elders);
	if (is_word(key, "low"))
		return word_u64(value, &site->low);
	if (is_word(key, "frees"))
		return word_u64(value, &site->frees);
	if (is_word(key, "allocs"))
		return word_u64(value, &site->allocs);
	if (is_word(key, "nr_base_pages"))
		return word_u64(value, &site->outstanding);
	if (is_word(key, "handle"))
		return word_u64(value, &site->stack_id);
	if (is_word(key, "changed")) {
		e->changed = word_seconds(value, &e->changed_ms);
		return e->changed;
	}
	if (is_word(key, "status"))
		site->verdict = word_verdict(value);
	else if (is_word(key, "kind"))
		site->kind = word_kind(value);
	else if (is_word(key, "class"))
		site->class = word_class(value);
	else if (is_word(key, "cache"))
		parse_cache(value, site);
	if (is_word(key, "held")) {
		free(e->held);
		e->held = word_str(value);
	} else if (is_word(key, "missing")) {
		free(e->missing);
		e->missing = word_str(value);
	}
	return true;
}

static int parse_key_line(struct reader *r, struct site *site)
{
	struct word rest = r->line, key;

	if (!until(&rest, ":", &key))
		return wrong(r, "this is no line \"key: value\" of a block");
	while (key.len && key.p[key.len - 1] == ' ')
		key.len--;
	while (rest.len && *rest.p == ' ')
		rest = after(&rest, 1);
	if (!parse_field(&key, &rest, site))
		return wrong(r, "this value cannot be understood");
	return 0;
}

/* Frames begin with a blank. Ends at the first line that does not. */
static struct stack *parse_frames(struct reader *r)
{
	const char *begin = r->next;

	while (r->next < r->end && *r->next == ' ')
		reader_line(r);
	return stack_parse(begin, r->next - begin);
}

static void keep_evidence(struct site *to, struct site *from)
{
	/* One block after another can be about the same site: the last one has it. */
	if (from->evidence) {
		struct evidence *old = to->evidence;

		to->evidence = from->evidence;
		from->evidence = old;
	}
	if (from->trend) {
		struct trend *old = to->trend;

		to->trend = from->trend;
		from->trend = old;
	}
	if (from->stack && from->stack->nr && !to->stack) {
		to->stack = from->stack;
		from->stack = NULL;
	}
}

/* "site #12, stack_id=0x1f3c8, outstanding=12480, bytes=3120000" */
static bool parse_title(const struct word *line, struct site *site)
{
	struct word rest = *line, part;

	return until(&rest, "site #", &part) && !part.len &&
	       until(&rest, ", stack_id=", &part) && word_u32(&part, &site->number) &&
	       until(&rest, ", outstanding=", &part) && word_u64(&part, &site->stack_id) &&
	       until(&rest, ", bytes=", &part) && word_u64(&part, &site->outstanding) &&
	       word_u64(&rest, &site->bytes);
}

static int parse_block(struct reader *r, struct site *site)
{
	if (!parse_title(&r->line, site))
		return wrong(r, "this is no first line of a block");
	while (reader_line(r)) {
		if (!r->line.len)
			return 0;
		if (is_word(&r->line, "stack trace:")) {
			site->stack = parse_frames(r);
			continue;
		}
		if (parse_key_line(r, site))
			return -1;
	}
	return err_set(r->err, "%s:%u: the file ends within a block", r->name, r->number);
}

int parse_blocks(const struct input *in, struct snapshot *snap, struct err *err)
{
	/* Found by number, so what is added here comes behind until the end. */
	struct snapshot more = {};
	bool join = snap->nr;
	struct reader r;
	size_t i;
	int ret = 0;

	reader_init(&r, in, err);
	while (!ret && reader_line(&r)) {
		struct site site = {}, *known;

		if (!r.line.len)
			continue;
		if (begins(&r.line, "#")) {
			snap->torn = snap->torn || begins(&r.line, "# cleared");
			continue;
		}
		ret = parse_block(&r, &site);
		if (ret) {
			site_free(&site);
			break;
		}
		known = snapshot_find(snap, site.number, site.stack_id);
		if (known)
			keep_evidence(known, &site);
		if (known || join)
			site_free(&site);
		else
			*snapshot_add(&more) = site;
	}
	for (i = 0; i < more.nr; i++)
		*snapshot_add(snap) = more.site[i];
	free(more.site);
	snapshot_sort(snap);
	return ret;
}

int parse_page_owner(const struct input *in, struct snapshot *snap, struct err *err)
{
	struct reader r;
	int ret = 0;

	reader_init(&r, in, err);
	while (!ret && r.next < r.end) {
		struct site site = { .kind = KIND_PAGE }, *known;
		bool any = false;

		if (*r.next != ' ') {
			reader_line(&r);
			if (!r.line.len || begins(&r.line, "#"))
				continue;
			ret = wrong(&r, "this is no stack");
			break;
		}
		site.stack = parse_frames(&r);
		while (!ret && reader_line(&r) && r.line.len) {
			ret = parse_key_line(&r, &site);
			any = true;
		}
		if (!ret && !any)
			ret = wrong(&r, "a stack without handle");
		known = ret ? NULL : snapshot_find_stack(snap, KIND_PAGE, site.stack_id);
		if (known && !known->evidence)
			keep_evidence(known, &site);
		site_free(&site);
	}
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
