// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: lines, words and numbers of a text.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

void reader_init(struct reader *r, const struct input *in, struct err *err)
{
	*r = (struct reader){
		.name = in->name,
		.next = in->text,
		.end = in->text + in->len,
		.err = err,
	};
}

bool reader_line(struct reader *r)
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

int wrong(struct reader *r, const char *what)
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

bool is_word(const struct word *w, const char *text)
{
	return w->len == strlen(text) && !memcmp(w->p, text, w->len);
}

bool begins(const struct word *w, const char *text)
{
	return w->len >= strlen(text) && !memcmp(w->p, text, strlen(text));
}

struct word after(const struct word *w, size_t len)
{
	return (struct word){ w->p + len, w->len - len };
}

/* The next of the words between blanks. */
bool next_word(struct word *rest, struct word *w)
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
bool until(struct word *rest, const char *sep, struct word *w)
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

char *word_str(const struct word *w)
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

bool word_u64(const struct word *w, uint64_t *value)
{
	return parse_u64(w->p, w->len, value);
}

bool word_u32(const struct word *w, uint32_t *value)
{
	uint64_t v;

	if (!word_u64(w, &v) || v > UINT32_MAX)
		return false;
	*value = v;
	return true;
}

/* Decimal with a number of places, as a whole number: "1.5" is 1500 with 3. */
bool word_fixed(const struct word *w, unsigned int places, int64_t *value)
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
bool word_seconds(const struct word *w, uint64_t *ms)
{
	struct word rest = *w, number;
	int64_t v;

	if (!next_word(&rest, &number) || !begins(&rest, " s") ||
	    !word_fixed(&number, 3, &v) || v < 0)
		return false;
	*ms = v;
	return true;
}

enum kind word_kind(const struct word *w)
{
	enum kind kind;
	char text[32];

	name_of(w, text, sizeof(text));
	kind_of(text, &kind);
	return kind;
}

enum class word_class(const struct word *w)
{
	enum class class;
	char text[32];

	name_of(w, text, sizeof(text));
	class_of(text, &class);
	return class;
}

enum verdict word_verdict(const struct word *w)
{
	enum verdict verdict;
	char text[32];

	name_of(w, text, sizeof(text));
	verdict_of(text, &verdict);
	return verdict;
}
