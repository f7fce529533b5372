// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: errors, memory, strings, input and output.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

int err_set(struct err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -1;
}

int err_before(struct err *err, const char *fmt, ...)
{
	struct err whole;
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	vsnprintf(whole.text, sizeof(whole.text), fmt, ap);
	va_end(ap);
	len = strlen(whole.text);
	snprintf(whole.text + len, sizeof(whole.text) - len, "%s", err->text);
	*err = whole;
	return -1;
}

static void *must(void *p)
{
	if (!p) {
		fputs("leaktrend: out of memory\n", stderr);
		exit(EXIT_ERROR);
	}
	return p;
}

void *xcalloc(size_t nr, size_t size)
{
	return must(calloc(nr ? nr : 1, size ? size : 1));
}

void *xrealloc(void *old, size_t nr, size_t size)
{
	return must(reallocarray(old, nr ? nr : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return must(strdup(s));
}

char *xstrndup(const char *s, size_t len)
{
	return must(strndup(s, len));
}

static void buf_room(struct buf *buf, size_t more)
{
	size_t need = buf->len + more + 1;

	if (need <= buf->room)
		return;
	if (need < buf->len) {
		must(NULL);
		return;
	}
	buf->room = need > 2 * buf->room ? need + 64 : 2 * buf->room;
	buf->data = xrealloc(buf->data, buf->room, 1);
}

void buf_add(struct buf *buf, const void *data, size_t len)
{
	buf_room(buf, len);
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_add_byte(struct buf *buf, unsigned char byte)
{
	if (buf->len + 1 >= buf->room)
		buf_room(buf, 1);
	buf->data[buf->len++] = (char)byte;
}

void buf_adds(struct buf *buf, const char *s)
{
	buf_add(buf, s, strlen(s));
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	buf_room(buf, len);
	va_start(ap, fmt);
	vsnprintf(buf->data + buf->len, len + 1, fmt, ap);
	va_end(ap);
	buf->len += len;
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

void buf_free(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){};
}

const char *buf_str(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}

/* Bytes of the character at @p, 0 if it is none of UTF-8. */
static size_t utf8_len(const unsigned char *p)
{
	size_t len, i;

	if (*p < 0x80)
		return 1;
	len = *p >= 0xf0 && *p < 0xf5 ? 4 : *p >= 0xe0 && *p < 0xf0 ? 3 :
	      *p >= 0xc2 && *p < 0xe0 ? 2 : 0;
	for (i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* Too long, a surrogate, or beyond the last. */
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] >= 0xa0) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] >= 0x90))
		return 0;
	return len;
}

char *utf8_clean(const char *text)
{
	struct buf clean = {};

	buf_adds(&clean, "");
	while (*text) {
		size_t len = utf8_len((const unsigned char *)text);

		if (len)
			buf_add(&clean, text, len);
		else
			buf_add(&clean, "?", 1);
		text += len ? len : 1;
	}
	return clean.data;
}

int read_fd(int fd, struct buf *buf)
{
	ssize_t got;

	/* Files of debugfs do not say how long they are. */
	do {
		buf_room(buf, 65536);
		got = read(fd, buf->data + buf->len, 65536);
		if (got > 0)
			buf->len += got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	buf->data[buf->len] = '\0';

	return got < 0 ? -1 : 0;
}

int read_file(const char *path, struct buf *buf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret, saved;

	if (fd < 0)
		return -1;
	ret = read_fd(fd, buf);
	saved = errno;
	close(fd);
	errno = saved;
	return ret;
}

int out_open(struct outfile *out, const char *path, struct err *err)
{
	struct buf temp = {};
	mode_t mask;
	int fd;

	*out = (struct outfile){};
	if (!path || !strcmp(path, "-")) {
		out->f = stdout;
		return 0;
	}

	/* In the same directory, as a rename does not cross file systems. */
	buf_printf(&temp, "%s.XXXXXX", path);
	fd = mkstemp(temp.data);
	if (fd < 0) {
		err_set(err, "cannot write %s: %s", path, strerror(errno));
		buf_free(&temp);
		return -1;
	}
	/* As any other program would have made it: node_exporter is not root. */
	mask = umask(0);
	umask(mask);
	if (fchmod(fd, 0666 & ~mask))
		fprintf(stderr, "leaktrend: %s: %s\n", temp.data, strerror(errno));
	out->f = fdopen(fd, "w");
	must(out->f);
	out->path = xstrdup(path);
	out->temp = temp.data;
	return 0;
}

int out_close(struct outfile *out, struct err *err)
{
	bool bad;

	bad = fflush(out->f) || ferror(out->f);
	if (!out->path) {
		if (bad)
			return err_set(err, "cannot write standard output: %s", strerror(errno));
		return 0;
	}

	bad = bad || fsync(fileno(out->f));
	if (bad) {
		err_set(err, "cannot write %s: %s", out->path, strerror(errno));
		out_abort(out);
		return -1;
	}
	if (fclose(out->f)) {
		out->f = NULL;
		err_set(err, "cannot write %s: %s", out->path, strerror(errno));
		out_abort(out);
		return -1;
	}
	out->f = NULL;
	if (rename(out->temp, out->path)) {
		err_set(err, "cannot write %s: %s", out->path, strerror(errno));
		out_abort(out);
		return -1;
	}
	free(out->temp);
	free(out->path);
	*out = (struct outfile){};
	return 0;
}

void out_abort(struct outfile *out)
{
	if (out->f && out->path)
		fclose(out->f);
	if (out->temp)
		unlink(out->temp);
	free(out->temp);
	free(out->path);
	*out = (struct outfile){};
}
