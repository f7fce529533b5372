// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: the recorded file: giving it another name, so that a new one begins.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

/* More than that nobody has; the search ends there. */
#define MAX_FILES	100000U

static char *numbered(const char *path, unsigned int number)
{
	struct buf name = {};

	buf_adds(&name, path);
	if (number)
		buf_printf(&name, ".%u", number);
	return name.data;
}

static bool is_there(const char *path, unsigned int number)
{
	char *name = numbered(path, number);
	struct stat st;
	bool there = !lstat(name, &st) || errno != ENOENT;

	free(name);
	return there;
}

static int move(const char *path, unsigned int number, struct err *err)
{
	char *from = numbered(path, number), *to = numbered(path, number + 1);
	int ret = 0;

	if (rename(from, to))
		ret = err_set(err, "cannot rename %s to %s: %s", from, to, strerror(errno));
	free(from);
	free(to);
	return ret;
}

int log_rotate(const char *path, uint64_t keep, struct err *err)
{
	unsigned int last = 1, i;

	/* Those behind a gap stay where they are. */
	while (last < MAX_FILES && is_there(path, last))
		last++;
	/* The one too many goes when its successor takes its name. */
	if (keep && last > keep)
		last = keep;
	for (i = last; i--;)
		if (move(path, i, err))
			return -1;
	/* If more were kept in the past. */
	for (i = last + 1; keep && i < MAX_FILES && is_there(path, i); i++) {
		char *name = numbered(path, i);
		int ret = unlink(name);

		if (ret)
			err_set(err, "cannot remove %s: %s", name, strerror(errno));
		free(name);
		if (ret)
			return -1;
	}
	return 0;
}
