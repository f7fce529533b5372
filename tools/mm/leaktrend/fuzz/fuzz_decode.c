// SPDX-License-Identifier: GPL-2.0
/*
 * Payloads of frames of a recorded file: one or two, each with its length in two
 * bytes before it; the second is a delta against the first. What can be decoded is
 * encoded and decoded again, and has to be the same.
 */
#include "fuzz.h"
#include "log.h"
#include "log_code.h"

static void round_trip(const struct snapshot *snap)
{
	struct stacks written = {}, read = {};
	struct snapshot nothing = {}, copy = {};
	struct buf payload = {};
	enum column column;
	size_t i;

	encode(&payload, &nothing, snap, &written);
	fuzz_must(!decode((unsigned char *)payload.data, payload.len, &copy, &read));
	fuzz_must(copy.nr == snap->nr && copy.rounds == snap->rounds);
	for (i = 0; i < snap->nr; i++)
		for (column = 0; column < NR_COLUMNS; column++)
			fuzz_must(column_get(&copy.site[i], column) ==
				  column_get(&snap->site[i], column));
	snapshot_free(&copy);
	stacks_free(&written);
	stacks_free(&read);
	buf_free(&payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot snap = {};
	int part;

	for (part = 0; part < 2 && size >= 2; part++) {
		size_t len = data[0] | data[1] << 8;
		struct err err;

		data += 2;
		size -= 2;
		if (len > size)
			len = size;
		if (!log_decode(data, len, &snap, &err))
			round_trip(&snap);
		fuzz_snapshot(&snap);
		data += len;
		size -= len;
	}
	snapshot_free(&snap);
	return 0;
}
