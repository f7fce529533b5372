/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: the recorded file.
 *
 * A file begins with LOG_MAGIC, eight bytes of which one is the version, and goes
 * on with frames. A frame is, little endian:
 *
 *	4 bytes	LOG_SYNC, to find the next one after damage
 *	1 byte	type: 'H'ost, 'F'ull, 'D'elta
 *	1 byte	flags: LOG_ZLIB
 *	2 bytes	number of the frame in the file, modulo 65536
 *	4 bytes	length of the payload once inflated
 *	4 bytes	length of the payload in the file
 *	4 bytes	CRC32 of the 16 bytes before it (sync included) and of the payload
 *	payload
 *
 * 'H' says whose the frames after it are. There is one at the beginning, and one
 * each time a program goes on with the file. Full frames stand alone; a delta is
 * against the frame before it. Both carry stacks that were not in the file since
 * the last 'H', so that a reader that lost its place collects stacks from frames
 * it cannot use otherwise. What is in the payloads is told in log.c.
 *
 * A frame is written with one write(), and taken back if that fails. So what can
 * be wrong after a crash is the end of the file. It is dropped when reading, and
 * cut off when something is appended.
 */
#ifndef LEAKTREND_LOG_H
#define LEAKTREND_LOG_H

#include "model.h"

#define LOG_MAGIC	"\x89LTREC1\n"
#define LOG_MAGIC_LEN	8
#define LOG_SYNC	"\xf1LT\n"
#define LOG_ZLIB	1
/* A full frame after so many deltas. */
#define LOG_FULL_EVERY	60

/* Reading */

struct log_reader;

/* log_open() - "-" is standard input. NULL if it is none of ours, with the reason. */
struct log_reader *log_open(const char *path, struct err *err);

/* log_open_memory() - The same of bytes that stay where they are. */
struct log_reader *log_open_memory(const char *name, const void *data, size_t len, struct err *err);

/*
 * log_next() - The next snapshot. It belongs to the reader, and stays as it is
 * until the next call, and after the last one; snapshot_copy() keeps it (stacks are shared, so this is
 * cheap). @snap->epoch counts epochs from 0, boots included.
 * Returns 1, 0 at the end, -1 if it cannot go on. Damage is no failure: what
 * cannot be read is left out, see log_damage().
 */
int log_next(struct log_reader *log, const struct snapshot **snap, struct err *err);

/* log_host() - Whose the snapshot is that log_next() returned last. */
const struct host *log_host(const struct log_reader *log);

/**
 * struct log_damage - What was left out.
 * @torn_bytes: At the end: the frame that was being written.
 * @bad_bytes:	Elsewhere.
 * @bad_places: In how many places.
 * @lost:	Rounds that are intact, but of no use without what was damaged.
 */
struct log_damage {
	uint64_t torn_bytes;
	uint64_t bad_bytes;
	uint32_t bad_places;
	uint32_t lost;
};

/* log_damage() - Complete when log_next() has returned 0. */
void log_damage(const struct log_reader *log, struct log_damage *damage);
/* log_damage_text() - The same in words, "" if there is none. */
void log_damage_text(const struct log_reader *log, struct err *text);
void log_close(struct log_reader *log);

/* Writing */

struct log_writer;

/*
 * log_append() - Make @path, or go on with it. Nobody else may write to it
 * meanwhile. @cut is how many bytes of a torn tail were cut off.
 */
struct log_writer *log_append(const char *path, const struct host *host, uint64_t *cut,
			      struct err *err);

/*
 * log_write() - Add @snap, and have it on the disk. When this fails (disk full),
 * the file ends where it did before, and the next one can be tried.
 */
int log_write(struct log_writer *log, const struct snapshot *snap, struct err *err);

/* log_size() - Bytes in the file. */
uint64_t log_size(const struct log_writer *log);
int log_finish(struct log_writer *log, struct err *err);

/*
 * For the fuzzer: the payload of a frame, inflated, against what @snap has (zeroed
 * for a full one). Returns 0, or -1; @snap is sound in either case.
 */
int log_decode(const unsigned char *payload, size_t len, struct snapshot *snap, struct err *err);

#endif
