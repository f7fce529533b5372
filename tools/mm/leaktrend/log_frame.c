// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: the recorded file: frames around payloads, and the host as one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "log.h"
#include "log_code.h"

/* deflate does not do better than that. */
#define MAX_RATIO	1040U

static void put_le(unsigned char *p, uint32_t v, unsigned int bytes)
{
	for (; bytes--; v >>= 8)
		*p++ = v;
}

static uint32_t get_le(const unsigned char *p, unsigned int bytes)
{
	uint32_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

bool frame_head(const unsigned char *p, struct frame *frame)
{
	if (memcmp(p, LOG_SYNC, 4))
		return false;
	*frame = (struct frame){ p[4], p[5], get_le(p + 6, 2), get_le(p + 8, 4),
				 get_le(p + 12, 4), get_le(p + 16, 4) };
	return frame->len <= MAX_PAYLOAD && frame->raw_len <= MAX_PAYLOAD &&
	       (frame->flags & LOG_ZLIB ? frame->raw_len / MAX_RATIO <= frame->len :
					  frame->raw_len == frame->len);
}

uint32_t frame_crc(const unsigned char *head, const unsigned char *payload, size_t len)
{
	return crc32(crc32(0, head, 16), payload, len);
}

/* A whole frame with @payload, behind what @out has. */
void put_frame(struct buf *out, char type, uint16_t seq, const struct buf *payload)
{
	uLongf packed_len = compressBound(payload->len);
	unsigned char *packed = xcalloc(packed_len, 1), head[HEAD_LEN];
	const void *data = payload->data;
	size_t len = payload->len;
	bool zlib;

	zlib = compress2(packed, &packed_len, data, len, Z_DEFAULT_COMPRESSION) == Z_OK &&
	       packed_len < len;
	if (zlib) {
		data = packed;
		len = packed_len;
	}
	memcpy(head, LOG_SYNC, 4);
	head[4] = type;
	head[5] = zlib ? LOG_ZLIB : 0;
	put_le(head + 6, seq, 2);
	put_le(head + 8, payload->len, 4);
	put_le(head + 12, len, 4);
	put_le(head + 16, frame_crc(head, data, len), 4);
	buf_add(out, head, HEAD_LEN);
	buf_add(out, data, len);
	free(packed);
}

/* Host */

void host_pairs(const struct host *host, struct pairs *pairs)
{
	char number[24];

	pairs_set(pairs, "release", host->release);
	pairs_set(pairs, "version", host->version);
	pairs_set(pairs, "machine", host->machine);
	pairs_set(pairs, "name", host->name);
	pairs_set(pairs, "boot_id", host->boot_id);
	snprintf(number, sizeof(number), "%" PRIu32, host->cpus);
	pairs_set(pairs, "cpus", number);
	snprintf(number, sizeof(number), "%" PRIu64, host->memory);
	pairs_set(pairs, "memory", number);
	snprintf(number, sizeof(number), "%" PRIu32, host->page_size);
	pairs_set(pairs, "page_size", number);
}

static void host_text(const struct pairs *pairs, const char *key, char *text, size_t room)
{
	const char *value = pairs_get(pairs, key);

	snprintf(text, room, "%s", value ? value : "");
}

void pairs_host(const struct pairs *pairs, struct host *host)
{
	uint64_t v;

	*host = (struct host){};
	host_text(pairs, "release", host->release, sizeof(host->release));
	host_text(pairs, "version", host->version, sizeof(host->version));
	host_text(pairs, "machine", host->machine, sizeof(host->machine));
	host_text(pairs, "name", host->name, sizeof(host->name));
	host_text(pairs, "boot_id", host->boot_id, sizeof(host->boot_id));
	if (pairs_u64(pairs, "cpus", &v))
		host->cpus = v;
	if (pairs_u64(pairs, "page_size", &v))
		host->page_size = v;
	pairs_u64(pairs, "memory", &host->memory);
}
