/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: where snapshots come from: debugfs, a copy of it, or a recorded file.
 *
 * A copy is a directory with leaktrend/, and perhaps page_owner_stacks/ and proc/
 * (osrelease and so on, as tests/capture.sh makes it). A file that a copy lacks
 * is no error, except `status` and `sites`.
 */
#ifndef LEAKTREND_SOURCE_H
#define LEAKTREND_SOURCE_H

#include "model.h"
#include "parse.h"

#define DEBUGFS	"/sys/kernel/debug"

/**
 * struct where - What the user chose, see OPT_SOURCE.
 * @debugfs: Directory, NULL for that of the system.
 * @file:    Recorded file, "-" for standard input; NULL for debugfs.
 */
struct where {
	const char *debugfs;
	const char *file;
};

/* What to read. The rest of a snapshot stays empty. */
enum {
	READ_STATUS	= 0,		/* Status and tunables; always. */
	READ_SITES	= 1 << 0,	/* `sites`: figures. */
	READ_SUSPECTS	= 1 << 1,	/* Evidence and stacks of suspects. */
	READ_STACKS	= 1 << 2,	/* The same of all sites: `trends`. */
	READ_ALL	= READ_SITES | READ_SUSPECTS | READ_STACKS,
};

/**
 * struct debugfs - An opened directory of debugfs.
 * @dir:     Its path.
 * @copy:    It is none of this system.
 * @state:   Of leaktrend: "on" or "standby".
 */
struct debugfs {
	char *dir;
	bool copy;
	char state[16];
};

/*
 * debugfs_open() - Find leaktrend. Not root, not mounted, not configured and
 * switched off at boot each fail with their own words. Standby is fine here.
 */
int debugfs_open(struct debugfs *dfs, const char *dir, struct err *err);
void debugfs_close(struct debugfs *dfs);

/* debugfs_read() - A file below @dfs->dir, as "leaktrend/ignore". */
int debugfs_read(const struct debugfs *dfs, const char *name, struct buf *buf, struct err *err);

/*
 * debugfs_write() - One write of one line; to a copy it is appended. On failure
 * @err is set, and errno is kept.
 */
int debugfs_write(const struct debugfs *dfs, const char *name, const char *text, struct err *err);

/* debugfs_host() - Whose debugfs it is. */
void debugfs_host(const struct debugfs *dfs, struct host *host);

/*
 * debugfs_snapshot() - Read what @what says into an empty @snap. It is the
 * caller's to free, also after failure. In standby there is only the status.
 */
int debugfs_snapshot(struct debugfs *dfs, unsigned int what, struct snapshot *snap,
		     struct err *err);

/**
 * struct view_source - One snapshot to look at, from anywhere.
 * @snap: The newest. From a file the sites have the trend of the rounds before.
 * @host: Whose it is.
 * @live: It is of this system, now.
 * @note: A remark for stderr (a file was damaged, …), "" if there is none.
 */
struct view_source {
	struct snapshot snap;
	struct host host;
	bool live;
	struct err note;
};

/*
 * source_load() - For commands that show one moment. Fails if tracking is in
 * standby, unless @standby says that this is fine.
 */
int source_load(struct view_source *src, const struct where *where, unsigned int what,
		bool standby, struct err *err);
void source_free(struct view_source *src);

/* Words for one who has to switch it on. Sets @err, returns -1. */
int source_standby(struct err *err);

#endif
