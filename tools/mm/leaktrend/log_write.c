// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: the recorded file: writing.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "log_code.h"

/**
 * struct log_writer - A file that is being written.
 * @fd:	    Of the file.
 * @path:   Of the file.
 * @size:   Of the file.
 * @seq:    Of the next frame.
 * @deltas: Since the last full frame.
 * @prev:   The last snapshot.
 * @any:    There is one.
 * @stacks: Those that the file has since the last host.
 * @last:   What was in the file before.
 */
struct log_writer {
	int fd;
	char *path;
	uint64_t size;
	uint16_t seq;
	unsigned int deltas;
	struct snapshot prev;
	bool any;
	struct stacks stacks;
	struct log_end last;
};

/* All or nothing. */
static int append(struct log_writer *log, const struct buf *data, struct err *err)
{
	size_t done = 0;
	int error;

	while (done < data->len) {
		ssize_t wrote = pwrite(log->fd, data->data + done, data->len - done,
				       log->size + done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			break;
		done += wrote;
	}
	if (done == data->len && !fdatasync(log->fd)) {
		log->size += data->len;
		return 0;
	}
	error = done < data->len && !errno ? ENOSPC : errno;
	err_set(err, "cannot write %s: %s", log->path, strerror(error));
	if (ftruncate(log->fd, log->size))
		err_before(err, "%s: cannot cut off what is not whole: %s\n", log->path,
			   strerror(errno));
	return -1;
}

static int write_host(struct log_writer *log, const struct host *host, bool magic, struct err *err)
{
	static const struct pairs nothing;
	struct buf payload = {}, out = {};
	struct pairs pairs = {};
	int ret;

	host_pairs(host, &pairs);
	put_pairs(&payload, &pairs, &nothing);
	if (magic)
		buf_add(&out, LOG_MAGIC, LOG_MAGIC_LEN);
	put_frame(&out, 'H', log->seq, &payload);
	ret = append(log, &out, err);
	if (!ret)
		log->seq++;
	pairs_free(&pairs);
	buf_free(&payload);
	buf_free(&out);
	return ret;
}

/* A file whose first bytes were being written is as good as an empty one. */
static bool is_begun(const struct log_writer *log, uint64_t size)
{
	char begin[LOG_MAGIC_LEN];

	return size < LOG_MAGIC_LEN && pread(log->fd, begin, size, 0) == (ssize_t)size &&
	       !memcmp(begin, LOG_MAGIC, size);
}

struct log_writer *log_append(const char *path, const struct host *host, uint64_t *cut,
			      struct err *err)
{
	struct log_writer *log = xcalloc(1, sizeof(*log));
	bool made = false;
	struct stat st;

	*cut = 0;
	log->path = xstrdup(path);
	log->fd = open(path, O_RDWR | O_CLOEXEC);
	if (log->fd < 0 && errno == ENOENT) {
		log->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		made = log->fd >= 0;
	}
	if (log->fd < 0 || fstat(log->fd, &st)) {
		err_set(err, "cannot write %s: %s", path, strerror(errno));
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		err_set(err, "cannot record to %s: it is no ordinary file", path);
		goto fail;
	}
	/* Kernels and file systems without locks do well enough without one. */
	if (flock(log->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		err_set(err, "cannot write %s: another leaktrend is recording to it", path);
		goto fail;
	}
	if (!is_begun(log, st.st_size)) {
		if (log_find_end(path, &log->last, err))
			goto fail;
		log->size = log->last.size;
		log->seq = log->last.seq + 1;
	}
	*cut = st.st_size - log->size;
	if (*cut && ftruncate(log->fd, log->size)) {
		err_set(err, "cannot write %s: %s", path, strerror(errno));
		goto fail;
	}
	if (write_host(log, host, !log->size, err))
		goto fail;
	return log;
fail:
	if (made)
		unlink(path);
	if (log->fd >= 0)
		close(log->fd);
	free(log->path);
	free(log);
	return NULL;
}

/* Whether what is new in @now comes behind what @prev has. */
static bool is_behind(const struct snapshot *prev, const struct snapshot *now)
{
	size_t i, j = 0;

	for (i = 0; i < now->nr; i++) {
		while (j < prev->nr && prev->site[j].number < now->site[i].number)
			j++;
		if (j == prev->nr)
			return true;
		if (prev->site[j].number != now->site[i].number)
			return false;
	}
	return true;
}

int log_write(struct log_writer *log, const struct snapshot *snap, struct err *err)
{
	static const struct snapshot nothing;
	struct buf payload = {}, out = {};
	bool full;
	int ret;

	full = !log->any || log->deltas == LOG_FULL_EVERY ||
	       !snapshot_follows(&log->prev, snap) || !is_behind(&log->prev, snap);
	encode(&payload, full ? &nothing : &log->prev, snap, &log->stacks);
	put_frame(&out, full ? 'F' : 'D', log->seq, &payload);
	if (payload.len > MAX_PAYLOAD)
		ret = err_set(err, "%s: too many sites for a round", log->path);
	else
		ret = append(log, &out, err);
	if (ret) {
		/* Stacks of this one are not in the file. All of them again is no harm. */
		stacks_free(&log->stacks);
	} else {
		log->seq++;
		log->deltas = full ? 0 : log->deltas + 1;
		snapshot_free(&log->prev);
		snapshot_copy(&log->prev, snap);
		log->any = true;
	}
	buf_free(&payload);
	buf_free(&out);
	return ret;
}

uint64_t log_size(const struct log_writer *log)
{
	return log->size;
}

bool log_has(const struct log_writer *log, const struct host *host, uint32_t clears,
	     uint32_t rounds)
{
	/* What is not known of a copy is no boot. */
	return log->last.any && *host->boot_id && !strcmp(host->boot_id, log->last.boot_id) &&
	       clears == log->last.clears && rounds <= log->last.rounds;
}

int log_finish(struct log_writer *log, struct err *err)
{
	int ret = 0;

	if (!log)
		return 0;
	if (fsync(log->fd) | close(log->fd))
		ret = err_set(err, "cannot write %s: %s", log->path, strerror(errno));
	snapshot_free(&log->prev);
	stacks_free(&log->stacks);
	free(log->path);
	free(log);
	return ret;
}

bool log_knows_stack(const struct log_writer *log, const struct site *site)
{
	return stacks_find(&log->stacks, site->kind, site->stack_id);
}

bool log_empty(const struct log_writer *log)
{
	return !log->any && !log->last.any;
}

bool log_moved(const struct log_writer *log)
{
	struct stat there, here;

	return stat(log->path, &there) || fstat(log->fd, &here) ||
	       there.st_ino != here.st_ino || there.st_dev != here.st_dev;
}
