// SPDX-License-Identifier: GPL-2.0
/*
 * The parsers of debugfs. The first byte of the input says which of them, the rest
 * is the text. Text for those that join what `sites` has can bring its own sites: it
 * is in two parts then, with a NUL between them.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "parse.h"

static void parse_list(const struct input *in)
{
	struct ignored *list;
	struct err err;
	size_t nr, i;

	if (parse_ignore(in, &list, &nr, &err)) {
		fuzz_must(!list && !nr);
		return;
	}
	for (i = 0; i < nr; i++)
		fuzz_must(*list[i].name);
	ignored_free(list, nr);
}

static void parse_pairs(const struct input *in)
{
	static const char * const keys[] = { "MemTotal", "slabs_scanned" };
	struct pairs pairs = {};
	struct err err;
	uint64_t v;

	if (!parse_value(in, &pairs, "value", &err))
		pairs_u64(&pairs, "value", &v);
	if (!parse_counts(in, &pairs, keys, ARRAY_SIZE(keys), &err) && pairs_get(&pairs, keys[0]))
		fuzz_must(pairs_u64(&pairs, keys[0], &v));
	pairs_free(&pairs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { "F", (const char *)data + 1, size - 1 };
	struct snapshot snap = {};
	const char *nul;
	struct err err;

	if (!size)
		return 0;
	switch (data[0]) {
	case 's':
		if (!parse_status(&in, &snap, &err))
			fuzz_must(pairs_get(&snap.status, "state"));
		break;
	case 't':
		parse_sites(&in, &snap, &err);
		break;
	case 'i':
		parse_list(&in);
		break;
	case 'v':
		parse_pairs(&in);
		break;
	case 'b':
	case 'p':
		nul = memchr(in.text, '\0', in.len);
		if (nul) {
			parse_sites(&(struct input){ "F", in.text, nul - in.text }, &snap, &err);
			in.len -= nul + 1 - in.text;
			in.text = nul + 1;
		}
		if (data[0] == 'b')
			parse_blocks(&in, &snap, &err);
		else
			parse_page_owner(&in, &snap, &err);
		break;
	}
	fuzz_snapshot(&snap);
	snapshot_free(&snap);
	return 0;
}
