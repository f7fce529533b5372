// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: where snapshots come from.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "source.h"

#define DEBUGFS_MAGIC	0x64626720

static const char * const tunables[] = {
	"sample_rate", "interval_ms", "min_rounds", "min_bytes", "min_age_ms",
	"elder_rounds", "stack_depth", "max_sites", "max_overhead", "classes",
};

/* What went wrong, seen from the files of a copy or of this system. */
static int not_there(const struct debugfs *dfs, int error, struct err *err)
{
	struct utsname un;
	struct statfs fs;

	if (dfs->copy)
		return err_set(err, "%s/leaktrend/status: %s\n%s is neither debugfs nor a copy of it.",
			       dfs->dir, strerror(error), dfs->dir);
	if (error == EACCES && geteuid())
		return err_set(err, "only root may read %s/leaktrend; run this with sudo, or as root",
			       dfs->dir);
	if (error == EPERM || error == EACCES)
		return err_set(err, "%s/leaktrend: %s\n"
			       "Kernel lockdown or a security module keeps debugfs closed; see "
			       "/sys/kernel/security/lockdown.", dfs->dir, strerror(error));
	if (!statfs(dfs->dir, &fs) && (unsigned long)fs.f_type != DEBUGFS_MAGIC)
		return err_set(err, "debugfs is not mounted; run: mount -t debugfs none %s", dfs->dir);
	if (error == ENOENT)
		return err_set(err, "this kernel (%s) has no leaktrend; it takes one that is built with "
			       "CONFIG_LEAKTREND=y, and booted with leaktrend=on or leaktrend=standby",
			       uname(&un) ? "?" : un.release);
	return err_set(err, "%s/leaktrend/status: %s", dfs->dir, strerror(error));
}

static void debugfs_path(const struct debugfs *dfs, const char *name, struct buf *path)
{
	buf_clear(path);
	buf_printf(path, "%s/%s", dfs->dir, name);
}

int debugfs_read(const struct debugfs *dfs, const char *name, struct buf *buf, struct err *err)
{
	struct buf path = {};
	int ret, saved;

	debugfs_path(dfs, name, &path);
	ret = read_file(path.data, buf);
	saved = errno;
	if (ret)
		err_set(err, "cannot read %s: %s", path.data, strerror(saved));
	buf_free(&path);
	errno = saved;
	return ret;
}

int debugfs_write(const struct debugfs *dfs, const char *name, const char *text, struct err *err)
{
	struct buf path = {};
	ssize_t wrote = -1;
	int fd, saved;

	debugfs_path(dfs, name, &path);
	fd = open(path.data, O_WRONLY | O_CLOEXEC | (dfs->copy ? O_APPEND : 0));
	if (fd >= 0) {
		wrote = write(fd, text, strlen(text));
		saved = errno;
		close(fd);
	} else {
		saved = errno;
	}
	if (wrote < 0)
		err_set(err, "cannot write \"%.80s\" to %s: %s", text, path.data, strerror(saved));
	buf_free(&path);
	errno = saved;
	return wrote < 0 ? -1 : 0;
}

static int parse_debugfs(const struct debugfs *dfs, const char *name, struct snapshot *snap,
			 int (*parse)(const struct input *, struct snapshot *, struct err *),
			 struct err *err)
{
	struct buf text = {}, path = {};
	int ret;

	ret = debugfs_read(dfs, name, &text, err);
	if (!ret) {
		debugfs_path(dfs, name, &path);
		ret = parse(&(struct input){ path.data, buf_str(&text), text.len }, snap, err);
	}
	buf_free(&path);
	buf_free(&text);
	return ret;
}

int debugfs_open(struct debugfs *dfs, const char *dir, struct err *err)
{
	struct snapshot snap = {};
	struct statfs fs;
	const char *state;
	int ret;

	*dfs = (struct debugfs){ .dir = xstrdup(dir ? dir : DEBUGFS) };
	dfs->copy = dir && (statfs(dir, &fs) || (unsigned long)fs.f_type != DEBUGFS_MAGIC) &&
		    strcmp(dir, DEBUGFS);

	ret = parse_debugfs(dfs, "leaktrend/status", &snap, parse_status, err);
	if (ret) {
		int error = errno;
		struct buf path = {};

		debugfs_path(dfs, "leaktrend/status", &path);
		if (access(path.data, R_OK))
			not_there(dfs, errno ? errno : error, err);
		buf_free(&path);
	} else {
		state = pairs_get(&snap.status, "state");
		if (!strncmp(state, "off", 3))
			ret = err_set(err, "leaktrend is off on this machine until the next boot; boot "
				      "it with leaktrend=on, or leaktrend=standby to switch it on later");
		snprintf(dfs->state, sizeof(dfs->state), "%s", state);
	}
	snapshot_free(&snap);
	if (ret)
		debugfs_close(dfs);
	return ret;
}

void debugfs_close(struct debugfs *dfs)
{
	free(dfs->dir);
	*dfs = (struct debugfs){};
}

/* Files of /proc, or of a copy's proc/. They tell more, and nothing depends on them. */

static bool proc_read(const struct debugfs *dfs, const char *name, struct buf *buf)
{
	struct buf path = {};
	int ret;

	buf_clear(buf);
	buf_printf(&path, "%s/proc/%s", dfs->copy ? dfs->dir : "", name);
	ret = read_file(path.data, buf);
	buf_free(&path);
	return !ret && buf->len;
}

static void proc_line(const struct debugfs *dfs, const char *name, char *text, size_t room)
{
	struct buf buf = {};

	text[0] = '\0';
	if (proc_read(dfs, name, &buf)) {
		buf.data[strcspn(buf.data, "\n")] = '\0';
		snprintf(text, room, "%s", buf.data);
	}
	buf_free(&buf);
}

static void proc_counts(const struct debugfs *dfs, const char *name, struct pairs *pairs,
			const char *const *keys, size_t nr)
{
	struct buf buf = {};
	struct err err;

	if (proc_read(dfs, name, &buf))
		parse_counts(&(struct input){ name, buf.data, buf.len }, pairs, keys, nr, &err);
	buf_free(&buf);
}

static void read_vm(const struct debugfs *dfs, struct pairs *vm)
{
	static const char * const vmstat[] = { "slabs_scanned" };
	static const char * const meminfo[] = {
		"MemTotal", "MemFree", "MemAvailable", "Slab", "SReclaimable", "SUnreclaim"
	};

	proc_counts(dfs, "vmstat", vm, vmstat, ARRAY_SIZE(vmstat));
	proc_counts(dfs, "meminfo", vm, meminfo, ARRAY_SIZE(meminfo));
}

static uint32_t count_cpus(const struct debugfs *dfs)
{
	struct buf buf = {};
	uint32_t nr = 0;
	const char *p;

	if (proc_read(dfs, "stat", &buf))
		for (p = buf.data; (p = strstr(p, "\ncpu")); p += 4)
			nr++;
	buf_free(&buf);
	return nr;
}

void debugfs_host(const struct debugfs *dfs, struct host *host)
{
	static const char * const total[] = { "MemTotal" };
	struct pairs vm = {};
	struct utsname un;

	*host = (struct host){};
	proc_line(dfs, "sys/kernel/osrelease", host->release, sizeof(host->release));
	proc_line(dfs, "sys/kernel/version", host->version, sizeof(host->version));
	proc_line(dfs, "sys/kernel/hostname", host->name, sizeof(host->name));
	proc_line(dfs, "sys/kernel/random/boot_id", host->boot_id, sizeof(host->boot_id));
	host->cpus = count_cpus(dfs);
	proc_counts(dfs, "meminfo", &vm, total, 1);
	pairs_u64(&vm, "MemTotal", &host->memory);
	pairs_free(&vm);
	if (!dfs->copy) {
		if (!uname(&un))
			snprintf(host->machine, sizeof(host->machine), "%.*s",
				 (int)sizeof(host->machine) - 1, un.machine);
		host->page_size = sysconf(_SC_PAGESIZE);
	}
}

/* When a copy was made: by its own clocks, else by the time of its file. */
static uint64_t copy_time(const struct debugfs *dfs)
{
	static const char * const btime[] = { "btime" };
	struct pairs pairs = {};
	struct buf path = {};
	uint64_t boot, ms = 0;
	char uptime[64];
	struct stat st;

	proc_line(dfs, "uptime", uptime, sizeof(uptime));
	proc_counts(dfs, "stat", &pairs, btime, 1);
	debugfs_path(dfs, "leaktrend/status", &path);
	if (*uptime && pairs_u64(&pairs, "btime", &boot))
		ms = (boot + strtod(uptime, NULL)) * 1000;
	else if (!stat(path.data, &st))
		ms = st.st_mtim.tv_sec * 1000ULL + st.st_mtim.tv_nsec / 1000000;
	buf_free(&path);
	pairs_free(&pairs);
	return ms;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

static void read_tunables(const struct debugfs *dfs, struct pairs *pairs)
{
	struct buf text = {}, name = {};
	struct err err;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tunables); i++) {
		buf_clear(&name);
		buf_clear(&text);
		buf_printf(&name, "leaktrend/%s", tunables[i]);
		if (!debugfs_read(dfs, name.data, &text, &err))
			parse_value(&(struct input){ tunables[i], buf_str(&text), text.len },
				    pairs, tunables[i], &err);
	}
	buf_free(&name);
	buf_free(&text);
}

/* A copy need not have all files. */
static int parse_optional(const struct debugfs *dfs, const char *name, struct snapshot *snap,
			  int (*parse)(const struct input *, struct snapshot *, struct err *),
			  struct err *err)
{
	struct buf path = {};
	bool there;

	debugfs_path(dfs, name, &path);
	there = !access(path.data, F_OK);
	buf_free(&path);
	return there ? parse_debugfs(dfs, name, snap, parse, err) : 0;
}

static int read_status(struct debugfs *dfs, struct snapshot *snap, struct err *err)
{
	if (parse_debugfs(dfs, "leaktrend/status", snap, parse_status, err))
		return -1;
	snprintf(dfs->state, sizeof(dfs->state), "%s", pairs_get(&snap->status, "state"));
	return 0;
}

/* 0 if a copy lacks it. */
static uint32_t read_clears(const struct debugfs *dfs)
{
	struct pairs pairs = {};
	struct buf text = {};
	uint64_t nr = 0;
	struct err err;

	if (!debugfs_read(dfs, "leaktrend/clear", &text, &err)) {
		struct input in = { "clear", buf_str(&text), text.len };

		if (!parse_value(&in, &pairs, "clear", &err))
			pairs_u64(&pairs, "clear", &nr);
	}
	buf_free(&text);
	pairs_free(&pairs);
	return nr;
}

int debugfs_progress(struct debugfs *dfs, uint32_t *rounds, uint32_t *clears, struct err *err)
{
	struct snapshot snap = {};
	int ret = read_status(dfs, &snap, err);

	*rounds = snap.rounds;
	*clears = read_clears(dfs);
	snapshot_free(&snap);
	return ret;
}

int debugfs_stacks(const struct debugfs *dfs, struct snapshot *snap, struct err *err)
{
	return parse_optional(dfs, "leaktrend/trends", snap, parse_blocks, err) ||
	       parse_optional(dfs, "page_owner_stacks/show_trends", snap, parse_page_owner, err) ?
	       -1 : 0;
}

int debugfs_snapshot(struct debugfs *dfs, unsigned int what, struct snapshot *snap,
		     struct err *err)
{
	if (read_status(dfs, snap, err))
		return -1;
	read_tunables(dfs, &snap->tunables);
	read_vm(dfs, &snap->vm);
	snap->time_ms = dfs->copy ? copy_time(dfs) : now_ms();
	snap->clears = read_clears(dfs);

	if (strcmp(dfs->state, "on"))
		return 0;
	if ((what & READ_SITES) &&
	    parse_debugfs(dfs, "leaktrend/sites", snap, parse_sites, err))
		return -1;
	if ((what & READ_STACKS) && debugfs_stacks(dfs, snap, err))
		return -1;
	/* Last, as it is the evidence of these that is looked at. */
	if ((what & READ_SUSPECTS) &&
	    parse_optional(dfs, "leaktrend/suspects", snap, parse_blocks, err))
		return -1;
	return 0;
}

int source_standby(struct err *err)
{
	return err_set(err, "leaktrend is in standby, nothing is tracked; switch it on with "
		       "\"echo 1 > " DEBUGFS "/leaktrend/enable\", and come back after some rounds");
}

static int load_debugfs(struct view_source *src, const struct where *where, unsigned int what,
			bool standby, struct err *err)
{
	struct debugfs dfs;
	int ret;

	if (debugfs_open(&dfs, where->debugfs, err))
		return -1;
	debugfs_host(&dfs, &src->host);
	src->live = !dfs.copy;
	ret = debugfs_snapshot(&dfs, what, &src->snap, err);
	if (!ret && !standby && strcmp(dfs.state, "on"))
		ret = source_standby(err);
	debugfs_close(&dfs);
	return ret;
}

/* The rounds before, by the numbers of sites: for sites without the kernel's own. */
struct history {
	uint32_t epoch;
	size_t nr;
	struct trend *trend;
};

static void remember(struct history *past, const struct snapshot *snap)
{
	size_t i;

	if (past->nr && past->epoch != snap->epoch) {
		memset(past->trend, 0, past->nr * sizeof(*past->trend));
		past->epoch = snap->epoch;
	}
	past->epoch = snap->epoch;
	for (i = 0; i < snap->nr; i++) {
		uint32_t number = snap->site[i].number;

		/* Numbers are dense; a file that says otherwise gets no trends. */
		if (number >= 1 << 20)
			break;
		if (number >= past->nr) {
			size_t nr = 2 * number + 64;

			past->trend = xrealloc(past->trend, nr, sizeof(*past->trend));
			memset(past->trend + past->nr, 0, (nr - past->nr) * sizeof(*past->trend));
			past->nr = nr;
		}
		trend_add(&past->trend[number], snap->site[i].outstanding);
	}
}

static void add_trends(const struct history *past, struct snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->nr; i++) {
		struct site *site = &snap->site[i];

		if (!site->trend && site->number < past->nr)
			*site_trend(site) = past->trend[site->number];
	}
}

static int load_file(struct view_source *src, const char *file, struct err *err)
{
	struct log_reader *log = log_open(file, err);
	const struct snapshot *snap = NULL, *next;
	struct history past = {};
	int ret;

	if (!log)
		return -1;
	while ((ret = log_next(log, &next, err)) > 0) {
		snap = next;
		remember(&past, snap);
	}
	if (!ret && !snap)
		ret = err_set(err, "%s: the file has no round; record for some rounds first",
			      strcmp(file, "-") ? file : "standard input");
	if (!ret) {
		snapshot_copy(&src->snap, snap);
		src->host = *log_host(log);
		add_trends(&past, &src->snap);
		log_damage_text(log, &src->note);
	}
	free(past.trend);
	log_close(log);
	return ret;
}

int source_load(struct view_source *src, const struct where *where, unsigned int what,
		bool standby, struct err *err)
{
	int ret;

	*src = (struct view_source){};
	if (where->file)
		ret = load_file(src, where->file, err);
	else
		ret = load_debugfs(src, where, what, standby, err);
	if (ret)
		source_free(src);
	return ret;
}

void source_free(struct view_source *src)
{
	snapshot_free(&src->snap);
}
