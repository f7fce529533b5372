/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: parsers of the files in debugfs.
 *
 * Each takes text and its length, which need not end with a NUL, trusts nothing
 * in it, and returns 0 or -1 with file, line and what is wrong. What was read
 * until then stays in the snapshot.
 */
#ifndef LEAKTREND_PARSE_H
#define LEAKTREND_PARSE_H

#include "model.h"

/**
 * struct input - Text of a file.
 * @name: Of the file, for messages.
 * @text: Its bytes.
 * @len:  How many.
 */
struct input {
	const char *name;
	const char *text;
	size_t len;
};

/* `status`, into @snap->status and @snap->rounds. */
int parse_status(const struct input *in, struct snapshot *snap, struct err *err);

/*
 * `sites`, version 2, into @snap's sites. Columns are found by their names; more
 * of them are left alone. Without the one for the number there is no site.
 */
int parse_sites(const struct input *in, struct snapshot *snap, struct err *err);

/*
 * Blocks of `suspects` or `trends`: evidence, stack and trend of the sites that
 * @snap has, whose figures stay. Others have appeared since `sites` was read, and
 * are left out: the next round has them. If @snap has none at all they are added.
 */
int parse_blocks(const struct input *in, struct snapshot *snap, struct err *err);

/*
 * `page_owner_stacks/show_trends` or `show_suspects`: the same of sites of kind
 * page that @snap has. Others are left alone, as they have no number.
 */
int parse_page_owner(const struct input *in, struct snapshot *snap, struct err *err);

/* A file with one number, or with words, as @key into @pairs. */
int parse_value(const struct input *in, struct pairs *pairs, const char *key, struct err *err);

/* Lines "Key:  123 kB" or "key 123": those in @keys, in bytes, into @pairs. */
int parse_counts(const struct input *in, struct pairs *pairs, const char *const *keys,
		 size_t nr, struct err *err);

/**
 * struct ignored - An entry of `ignore`.
 * @name:  Function or "0x" handle.
 * @sites: How many it hides.
 * @bytes: What is outstanding at these.
 */
struct ignored {
	char *name;
	uint32_t sites;
	uint64_t bytes;
};

/* `ignore`; the array is to be freed with ignored_free(). */
int parse_ignore(const struct input *in, struct ignored **list, size_t *nr, struct err *err);
void ignored_free(struct ignored *list, size_t nr);

/* A whole number, decimal or with 0x; nothing else in the text. */
bool parse_u64(const char *text, size_t len, uint64_t *value);
/* Decimal with a sign. */
bool parse_s64(const char *text, size_t len, int64_t *value);

#endif
