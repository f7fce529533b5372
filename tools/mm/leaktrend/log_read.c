// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: the recorded file: reading.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "log.h"
#include "log_code.h"

/**
 * struct log_reader - A file that is being read.
 * @fd:	      Of the file, -1 if it is in memory.
 * @opened:   @fd is to be closed.
 * @eof:      @window has all that is left.
 * @error:    Why nothing more can be read, as errno.
 * @window:   Bytes from @offset on that are not yet done with.
 * @done:     Of them.
 * @offset:   In the file, of the first byte of @window.
 * @good_end: Behind the last frame that was intact.
 * @bad_from: Where damage began that has not ended, or UINT64_MAX.
 * @damage:   So far.
 * @host:     The last one.
 * @snap:     The last one.
 * @usable:   A delta can be applied to @snap.
 * @any:      There was a snapshot before, of which the epoch counts.
 * @new_boot: Since then the boot has changed.
 * @seq:      Of the last frame.
 * @stacks:   Since the last host.
 */
struct log_reader {
	int fd;
	bool opened;
	bool eof;
	int error;
	struct buf window;
	size_t done;
	uint64_t offset;
	uint64_t good_end;
	uint64_t bad_from;
	struct log_damage damage;
	struct host host;
	struct snapshot snap;
	bool usable;
	bool any;
	bool new_boot;
	uint16_t seq;
	struct stacks stacks;
};

static unsigned char *window(const struct log_reader *log)
{
	return (unsigned char *)log->window.data + log->done;
}

static size_t window_len(const struct log_reader *log)
{
	return log->window.len - log->done;
}

static uint64_t position(const struct log_reader *log)
{
	return log->offset + log->done;
}

/* Whether there are so many bytes. Reads them if need be. */
static bool has(struct log_reader *log, size_t len)
{
	char chunk[65536];

	if (window_len(log) >= len)
		return true;
	if (log->eof)
		return false;
	if (log->done) {
		memmove(log->window.data, log->window.data + log->done, window_len(log));
		log->window.len -= log->done;
		log->offset += log->done;
		log->done = 0;
	}
	while (!log->eof && log->window.len < len) {
		ssize_t got = read(log->fd, chunk, sizeof(chunk));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			log->error = errno;
		if (got <= 0)
			log->eof = true;
		else
			buf_add(&log->window, chunk, got);
	}
	return log->window.len >= len;
}

static bool at_magic(struct log_reader *log)
{
	return has(log, LOG_MAGIC_LEN) && !memcmp(window(log), LOG_MAGIC, LOG_MAGIC_LEN);
}

/* Whether an intact frame is here. It is in the window then. */
static bool at_frame(struct log_reader *log, struct frame *frame)
{
	if (!has(log, HEAD_LEN) || !frame_head(window(log), frame) ||
	    !has(log, (size_t)HEAD_LEN + frame->len))
		return false;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	return true;
#endif
	return frame_crc(window(log), window(log) + HEAD_LEN, frame->len) == frame->crc;
}

/* Go to the next frame, over what is none. False at the end. */
static bool find_frame(struct log_reader *log, struct frame *frame)
{
	while (1) {
		if (at_frame(log, frame))
			break;
		/* Two files can be put together with cat. */
		if (at_magic(log)) {
			log->done += LOG_MAGIC_LEN;
			log->usable = false;
			continue;
		}
		if (!has(log, 1)) {
			if (log->bad_from != UINT64_MAX)
				log->damage.torn_bytes = position(log) - log->bad_from;
			return false;
		}
		if (log->bad_from == UINT64_MAX)
			log->bad_from = position(log);
		log->usable = false;
		log->done++;
	}
	if (log->bad_from != UINT64_MAX) {
		log->damage.bad_bytes += position(log) - log->bad_from;
		log->damage.bad_places++;
		log->bad_from = UINT64_MAX;
	}
	return true;
}

/* Payload of the frame in the window, inflated; NULL if it is not. To be freed. */
static unsigned char *frame_payload(struct log_reader *log, const struct frame *frame)
{
	const unsigned char *data = window(log) + HEAD_LEN;
	unsigned char *raw = xcalloc(frame->raw_len, 1);
	uLongf len = frame->raw_len;

	if (!(frame->flags & LOG_ZLIB)) {
		memcpy(raw, data, frame->len);
	} else if (uncompress(raw, &len, data, frame->len) != Z_OK || len != frame->raw_len) {
		free(raw);
		return NULL;
	}
	return raw;
}

static bool take_host(struct log_reader *log, const unsigned char *payload, size_t len)
{
	struct dec in = { payload, payload + len, false };
	struct pairs pairs = {};
	struct host host;

	get_pairs(&in, &pairs);
	pairs_host(&pairs, &host);
	pairs_free(&pairs);
	if (in.bad)
		return false;
	if (log->any && strcmp(host.boot_id, log->host.boot_id))
		log->new_boot = true;
	log->host = host;
	log->usable = false;
	stacks_free(&log->stacks);
	return true;
}

/* A full frame is decoded beside the last snapshot, to see whether it follows it. */
static bool take_full(struct log_reader *log, const unsigned char *payload, size_t len)
{
	struct snapshot next = {};

	if (decode(payload, len, &next, &log->stacks)) {
		snapshot_free(&next);
		log->usable = false;
		return false;
	}
	if (log->any)
		next.epoch = log->snap.epoch +
			     (log->new_boot || !snapshot_follows(&log->snap, &next));
	snapshot_free(&log->snap);
	log->snap = next;
	log->any = true;
	log->usable = true;
	log->new_boot = false;
	return true;
}

static bool take_delta(struct log_reader *log, const struct frame *frame,
		       const unsigned char *payload, size_t len)
{
	struct dec in = { payload, payload + len, false };
	struct snapshot next;

	if (!log->usable || frame->seq != (uint16_t)(log->seq + 1)) {
		get_stacks(&in, &log->stacks);
		log->usable = false;
		log->damage.lost++;
		return false;
	}
	/* Beside it as well: if it cannot be used the one before is still whole. */
	snapshot_copy(&next, &log->snap);
	if (decode(payload, len, &next, &log->stacks)) {
		snapshot_free(&next);
		log->usable = false;
		log->damage.lost++;
		return false;
	}
	snapshot_free(&log->snap);
	log->snap = next;
	return true;
}

/* The frame in the window. Whether it makes a new snapshot. */
static bool use_frame(struct log_reader *log, const struct frame *frame)
{
	unsigned char *payload = frame_payload(log, frame);
	bool got = false;

	if (payload && frame->type == 'H')
		take_host(log, payload, frame->raw_len);
	else if (payload && frame->type == 'F')
		got = take_full(log, payload, frame->raw_len);
	else if (payload && frame->type == 'D')
		got = take_delta(log, frame, payload, frame->raw_len);
	else
		log->usable = false;
	free(payload);
	return got;
}

int log_next(struct log_reader *log, const struct snapshot **snap, struct err *err)
{
	struct frame frame;

	while (find_frame(log, &frame)) {
		bool got = use_frame(log, &frame);

		log->seq = frame.seq;
		log->done += (size_t)HEAD_LEN + frame.len;
		log->good_end = position(log);
		if (got) {
			*snap = &log->snap;
			return 1;
		}
	}
	return log->error ? err_set(err, "cannot read on: %s", strerror(log->error)) : 0;
}

int log_find_end(const char *path, struct log_end *end, struct err *err)
{
	struct log_reader *log = log_open(path, err);
	const struct snapshot *snap;
	struct host host = {};
	uint64_t full = 0;
	struct frame frame;
	int ret = 0;

	*end = (struct log_end){};
	if (!log)
		return -1;
	while (find_frame(log, &frame)) {
		if (frame.type == 'H') {
			use_frame(log, &frame);
		} else if (frame.type == 'F') {
			full = position(log);
			host = log->host;
		}
		end->seq = frame.seq;
		log->done += (size_t)HEAD_LEN + frame.len;
		log->good_end = position(log);
	}
	end->size = log->good_end;
	/* The last round is told from the last full frame on; those before take longer. */
	if (full && lseek(log->fd, full, SEEK_SET) == (off_t)full) {
		buf_clear(&log->window);
		log->done = 0;
		log->offset = full;
		log->eof = false;
		log->host = host;
		while ((ret = log_next(log, &snap, err)) > 0) {
			end->any = true;
			end->rounds = snap->rounds;
			end->clears = snap->clears;
			snprintf(end->boot_id, sizeof(end->boot_id), "%s", log->host.boot_id);
		}
	}
	if (!ret && log->error)
		ret = err_set(err, "cannot read %s: %s", path, strerror(log->error));
	log_close(log);
	return ret;
}

const struct host *log_host(const struct log_reader *log)
{
	return &log->host;
}

void log_damage(const struct log_reader *log, struct log_damage *damage)
{
	*damage = log->damage;
}

void log_damage_text(const struct log_reader *log, struct err *text)
{
	const struct log_damage *d = &log->damage;
	struct buf buf = {};

	if (d->bad_places)
		buf_printf(&buf, "%" PRIu64 " bytes are damaged in %u place(s); ", d->bad_bytes,
			   d->bad_places);
	if (d->lost)
		buf_printf(&buf, "%u round(s) cannot be used without what is missing; ", d->lost);
	if (d->torn_bytes)
		buf_printf(&buf, "the last %" PRIu64 " bytes are no whole round and were dropped; ",
			   d->torn_bytes);
	/* Without the last semicolon. */
	if (buf.len)
		buf.data[buf.len - 2] = '\0';
	err_set(text, "%s", buf_str(&buf));
	buf_free(&buf);
}

/* Whether it begins as a file of ours does. */
static int check_magic(struct log_reader *log, const char *name, struct err *err)
{
	static const char * const texts[] = { "# leaktrend-sites-", "site #", "state: " };
	const char *begin;
	size_t i;

	if (at_magic(log)) {
		log->done += LOG_MAGIC_LEN;
		log->good_end = LOG_MAGIC_LEN;
		return 0;
	}
	has(log, LOG_MAGIC_LEN);
	begin = buf_str(&log->window);
	if (!log->window.len)
		return err_set(err, "%s: the file is empty", name);
	if (log->window.len < LOG_MAGIC_LEN && !memcmp(begin, LOG_MAGIC, log->window.len))
		return err_set(err, "%s: the file is cut off in its first bytes, nothing is left of it",
			       name);
	if (log->window.len >= LOG_MAGIC_LEN && !memcmp(begin, LOG_MAGIC, 6))
		return err_set(err, "%s: recorded in another version of the format (%c); use the leaktrend "
			       "that recorded it", name,
			       begin[6] >= ' ' && begin[6] < 127 ? begin[6] : '?');
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		if (has(log, strlen(texts[i])) &&
		    !memcmp(log->window.data, texts[i], strlen(texts[i])))
			return err_set(err, "%s: this is a copy of a file of debugfs; -f takes what "
				       "\"leaktrend record\" wrote. Of a copied directory, give "
				       "--debugfs the one that has leaktrend/ in it", name);
	return err_set(err, "%s: this file was not recorded by leaktrend", name);
}

static struct log_reader *reader_new(const char *name, struct log_reader *log, struct err *err)
{
	log->bad_from = UINT64_MAX;
	if (check_magic(log, name, err)) {
		log_close(log);
		return NULL;
	}
	return log;
}

struct log_reader *log_open(const char *path, struct err *err)
{
	bool standard = !strcmp(path, "-");
	struct log_reader *log;
	struct stat st;
	int fd;

	fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		err_set(err, "cannot open %s: %s", path, strerror(errno));
		return NULL;
	}
	log = xcalloc(1, sizeof(*log));
	log->fd = fd;
	log->opened = !standard;
	if (S_ISDIR(st.st_mode)) {
		err_set(err, "%s is a directory; -f takes a recorded file, --debugfs a directory", path);
		log_close(log);
		return NULL;
	}
	return reader_new(standard ? "standard input" : path, log, err);
}

struct log_reader *log_open_memory(const char *name, const void *data, size_t len, struct err *err)
{
	struct log_reader *log = xcalloc(1, sizeof(*log));

	log->fd = -1;
	log->eof = true;
	buf_add(&log->window, data, len);
	return reader_new(name, log, err);
}

void log_close(struct log_reader *log)
{
	if (!log)
		return;
	if (log->opened)
		close(log->fd);
	snapshot_free(&log->snap);
	stacks_free(&log->stacks);
	buf_free(&log->window);
	free(log);
}
