/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: what every file needs: errors as text, memory, strings that grow,
 * input as a whole, output that appears as a whole or not at all.
 */
#ifndef LEAKTREND_UTIL_H
#define LEAKTREND_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PRINTF(f, a)	__attribute__((format(printf, f, a)))

/* Exit status of the tool. */
enum {
	EXIT_FINE	= 0,
	EXIT_FINDINGS	= 1,
	EXIT_ERROR	= 2,
};

/**
 * struct err - Why something failed, in words for the user.
 * @text: One line, or a few, without newline at the end.
 */
struct err {
	char text[1024];
};

/* err_set() - Set the words. Returns -1, for `return err_set(...)`. */
int err_set(struct err *err, const char *fmt, ...) PRINTF(2, 3);

/* err_before() - Put words before those that are there, as in "file: why". Returns -1. */
int err_before(struct err *err, const char *fmt, ...) PRINTF(2, 3);

/* Memory: these end the program when there is none. */
void *xcalloc(size_t nr, size_t size);
void *xrealloc(void *old, size_t nr, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t len);

/**
 * struct buf - Bytes that grow. Zeroed is empty.
 * @data: NUL-terminated, except by buf_add_byte(); NULL while nothing was added.
 * @len:  Without the NUL.
 * @room: Allocated.
 */
struct buf {
	char *data;
	size_t len;
	size_t room;
};

void buf_add(struct buf *buf, const void *data, size_t len);
void buf_add_byte(struct buf *buf, unsigned char byte);
void buf_adds(struct buf *buf, const char *s);
void buf_printf(struct buf *buf, const char *fmt, ...) PRINTF(2, 3);
void buf_clear(struct buf *buf);
void buf_free(struct buf *buf);
/* buf_str() - The text, "" if there is none. */
const char *buf_str(const struct buf *buf);

/* utf8_clean() - @text with '?' for each byte that is not UTF-8. To be freed. */
char *utf8_clean(const char *text);

/* read_fd() - Append all that comes until the end of file. Returns 0, or -1 with errno. */
int read_fd(int fd, struct buf *buf);

/* read_file() - The same of a file by its path. */
int read_file(const char *path, struct buf *buf);

/**
 * struct outfile - Output that replaces a file at its end, or leaves it alone.
 * @f:	  To write to.
 * @path: What it becomes, NULL for standard output.
 * @temp: Its name until then.
 */
struct outfile {
	FILE *f;
	char *path;
	char *temp;
};

/* out_open() - @path NULL or "-" is standard output. */
int out_open(struct outfile *out, const char *path, struct err *err);

/*
 * out_close() - Finish it: all is written, and the file has its name. If that
 * fails, nothing is left behind.
 */
int out_close(struct outfile *out, struct err *err);

/* out_abort() - Forget it. */
void out_abort(struct outfile *out);

#endif
