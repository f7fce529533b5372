/* SPDX-License-Identifier: GPL-2.0 */
/* What the fuzz targets share. */
#ifndef LEAKTREND_FUZZ_H
#define LEAKTREND_FUZZ_H

#include <stdlib.h>

#include "model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What has to be so, whatever the input is. */
static inline void fuzz_must(bool good)
{
	if (!good)
		abort();
}

/* What others rely on; and all texts are read, so that sanitizers see them. */
static inline void fuzz_snapshot(const struct snapshot *snap)
{
	char function[64];
	size_t i;

	for (i = 0; i < snap->nr; i++) {
		const struct site *site = &snap->site[i];
		char *path = site_path(site);

		fuzz_must(!i || snap->site[i - 1].number < site->number);
		fuzz_must(kind_name(site->kind) && class_name(site->class) &&
			  verdict_name(site->verdict));
		fuzz_must(!site->trend || site->trend->nr <= TREND_MAX);
		fuzz_must(!site->evidence || (site->evidence->held && site->evidence->missing));
		site_function(site, function, sizeof(function));
		free(path);
	}
}

#endif
