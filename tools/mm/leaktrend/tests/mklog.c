// SPDX-License-Identifier: GPL-2.0
/*
 * mklog FILE DIR…: a recorded file of copies of debugfs, a round each.
 */
#include <stdio.h>

#include "log.h"
#include "source.h"

int main(int argc, char **argv)
{
	struct log_writer *log = NULL;
	uint64_t cut;
	struct err err;
	int i;

	for (i = 2; i < argc; i++) {
		struct snapshot snap = {};
		struct debugfs dfs;
		struct host host;

		if (debugfs_open(&dfs, argv[i], &err))
			goto fail;
		debugfs_host(&dfs, &host);
		if (!log)
			log = log_append(argv[1], &host, &cut, &err);
		if (!log || debugfs_snapshot(&dfs, READ_ALL, &snap, &err) ||
		    log_write(log, &snap, &err))
			goto fail;
		snapshot_free(&snap);
		debugfs_close(&dfs);
	}
	if (!log_finish(log, &err))
		return 0;
fail:
	fprintf(stderr, "mklog: %s\n", err.text);
	return 2;
}
