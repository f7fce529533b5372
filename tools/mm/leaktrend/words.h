/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: lines, words and numbers of a text, for its parsers.
 */
#ifndef LEAKTREND_WORDS_H
#define LEAKTREND_WORDS_H

#include "parse.h"

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

void reader_init(struct reader *r, const struct input *in, struct err *err);

/* reader_line() - Go to the next line. False at the end. */
bool reader_line(struct reader *r);

/* wrong() - Say @what is wrong with the line at hand. Returns -1. */
int wrong(struct reader *r, const char *what);

bool is_word(const struct word *w, const char *text);
bool begins(const struct word *w, const char *text);
struct word after(const struct word *w, size_t len);

/* next_word() - Take the next of the words between blanks. */
bool next_word(struct word *rest, struct word *w);

/* until() - Take what comes before @sep, and @sep as well. False if it is not there. */
bool until(struct word *rest, const char *sep, struct word *w);

/* word_str() - To be freed. */
char *word_str(const struct word *w);

/* These take the whole word, or return false. */
bool word_u64(const struct word *w, uint64_t *value);
bool word_u32(const struct word *w, uint32_t *value);
/* word_fixed() - Decimal with a number of places: "1.5" is 1500 with 3. */
bool word_fixed(const struct word *w, unsigned int places, int64_t *value);
/* word_seconds() - "12.345 s" and more, in milliseconds. */
bool word_seconds(const struct word *w, uint64_t *ms);

/* OTHER if it is none that is known. */
enum kind word_kind(const struct word *w);
enum class word_class(const struct word *w);
enum verdict word_verdict(const struct word *w);

#endif
