// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend record: a file of rounds, over days.
 *
 * The kernel's rounds are waited for by looking at `status` now and then, as
 * debugfs does not tell when one ends. Nothing that goes wrong on the way ends it:
 * what cannot be read or written now may well be in a minute. It is said once.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "leaktrend.h"
#include "log.h"
#include "table.h"

/* A round is seen that long after its end, at most. */
#define LOOK_MS		1000
/* A round that ends while it is read is read again, as figures would be mixed. */
#define TRIES		3

/**
 * struct record - A recording.
 * @path:     Of the file.
 * @debugfs:  Directory, NULL for that of the system.
 * @every:    Seconds between two records at least, 0 for each round.
 * @duration: Seconds, 0 for ever.
 * @rotate:   Size of a file in bytes, 0 for any.
 * @keep:     Rotated files, 0 for all.
 * @quiet:    Says only what goes wrong.
 * @dfs:      Where from.
 * @host:     Whose it is.
 * @log:      Where to, NULL after the file could not be opened anew.
 * @begun:    When, by uptime in ms.
 * @made:     The file was not there before.
 * @seen:     @rounds and @clears are known.
 * @rounds:   The last round that was looked at.
 * @clears:   The same.
 * @when:     That was, by uptime in ms.
 * @recorded: Rounds.
 * @lost:     Rounds that could not be written or read.
 * @bytes:    In files that are finished.
 * @interval: Of the kernel, in ms.
 * @suspects: In the last round.
 * @worst:    Of them.
 * @said:     What went wrong last, "" if it works.
 */
struct record {
	const char *path;
	const char *debugfs;
	uint64_t every;
	uint64_t duration;
	uint64_t rotate;
	uint64_t keep;
	bool quiet;
	struct debugfs dfs;
	struct host host;
	struct log_writer *log;
	uint64_t begun;
	bool made;
	bool seen;
	uint32_t rounds;
	uint32_t clears;
	uint64_t when;
	uint64_t recorded;
	uint64_t lost;
	uint64_t bytes;
	uint64_t interval;
	unsigned int suspects;
	enum verdict worst;
	char said[sizeof(((struct err *)NULL)->text)];
};

static uint64_t uptime_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

/* Talking */

static bool on_terminal(const struct record *rec)
{
	return !rec->quiet && isatty(STDERR_FILENO);
}

static void wipe_line(const struct record *rec)
{
	if (on_terminal(rec))
		fputs("\r\033[K", stderr);
}

static const char *rounds_word(uint64_t nr)
{
	return nr == 1 ? "round" : "rounds";
}

/* Once, until something else goes wrong or it works again. */
static void trouble(struct record *rec, const struct err *err)
{
	if (!strcmp(rec->said, err->text))
		return;
	snprintf(rec->said, sizeof(rec->said), "%s", err->text);
	wipe_line(rec);
	fprintf(stderr, "leaktrend: %s\n", err->text);
}

static void works(struct record *rec)
{
	if (*rec->said && rec->lost) {
		wipe_line(rec);
		fprintf(stderr, "leaktrend: recording goes on; lost so far: %" PRIu64 " %s\n",
			rec->lost, rounds_word(rec->lost));
	}
	*rec->said = '\0';
}

static void progress(const struct record *rec)
{
	char bytes[UNIT_ROOM], time[UNIT_ROOM];
	uint64_t passed = uptime_ms() - rec->begun;
	int width = text_width(stderr);
	struct buf text = {};

	if (!on_terminal(rec))
		return;
	buf_printf(&text, "%" PRIu64 " %s, ", rec->recorded, rounds_word(rec->recorded));
	buf_printf(&text, "%s, ", unit_time(time, passed / 1000 * 1000));
	unit_bytes(bytes, rec->bytes + (rec->log ? log_size(rec->log) : 0));
	buf_printf(&text, "%s; ", bytes);
	if (strcmp(rec->dfs.state, "on"))
		buf_adds(&text, "tracking is off, waiting; ");
	else if (!rec->recorded)
		buf_printf(&text, "waiting for a round, of %s; ", unit_time(time, rec->interval));
	else if (rec->suspects)
		buf_printf(&text, "%u suspects, up to %s; ", rec->suspects,
			   verdict_name(rec->worst));
	else
		buf_adds(&text, "no suspects; ");
	if (rec->duration && rec->duration * 1000 > passed)
		buf_printf(&text, "%s to go", unit_time(time, rec->duration * 1000 - passed));
	else
		buf_adds(&text, "Ctrl-C ends it");
	/* A line that is wrapped could not be wiped. */
	if (width > 0 && text.len >= (size_t)width)
		text.data[width - 1] = '\0';
	fprintf(stderr, "\r%s\033[K", text.data);
	buf_free(&text);
}

/* Files */

static int open_log(struct record *rec, struct err *err)
{
	struct err said;
	uint64_t cut;

	rec->log = log_append(rec->path, &rec->host, &cut, err);
	if (!rec->log)
		return -1;
	if (cut) {
		err_set(&said, "%s: the last %" PRIu64 " bytes were no whole round, and are cut off",
			rec->path, cut);
		wipe_line(rec);
		note(&said);
	}
	return 0;
}

/* A new file begins, unless that fails: then the old one goes on. */
static void rotate(struct record *rec)
{
	bool moved = rec->log && log_moved(rec->log);
	struct err err;

	if (rec->log && !moved && log_empty(rec->log))
		return;
	if (rec->log) {
		rec->bytes += log_size(rec->log);
		if (log_finish(rec->log, &err))
			trouble(rec, &err);
		rec->log = NULL;
	}
	/* logrotate and the like have renamed it themselves. */
	if (!moved && log_rotate(rec->path, rec->keep, &err)) {
		trouble(rec, &err);
		rec->rotate = 0;
	}
	if (open_log(rec, &err))
		trouble(rec, &err);
	else
		rec->made = true;
}

/* Rounds */

/* Stacks stay what they are, so `trends`, which is long, is read only for new ones. */
static bool stacks_missing(const struct record *rec, const struct snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->nr; i++) {
		const struct site *site = &snap->site[i];

		if (site->outstanding && !site->stack && snapshot_class_wanted(snap, site) &&
		    !log_knows_stack(rec->log, site))
			return true;
	}
	return false;
}

/* Of what is no suspect it tells nothing, and is most of what there is. */
static void drop_evidence(struct snapshot *snap)
{
	size_t i;

	for (i = 0; i < snap->nr; i++)
		if (!verdict_suspect(snap->site[i].verdict))
			site_drop_evidence(&snap->site[i]);
}

/* Read until nothing has changed meanwhile. 1 if that succeeds, 0 if later may. */
static int read_round(struct record *rec, struct snapshot *snap, struct err *err)
{
	uint32_t rounds, clears;
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		snapshot_free(snap);
		if (debugfs_snapshot(&rec->dfs, READ_SITES | READ_SUSPECTS, snap, err))
			return -1;
		if (!strcmp(rec->dfs.state, "on") && stacks_missing(rec, snap) &&
		    debugfs_stacks(&rec->dfs, snap, err))
			return -1;
		if (debugfs_progress(&rec->dfs, &rounds, &clears, err))
			return -1;
		if (strcmp(rec->dfs.state, "on"))
			return 0;
		if (!snap->torn && rounds == snap->rounds && clears == snap->clears)
			return 1;
	}
	/* Rounds that are shorter than this takes are better mixed than missing. */
	return !snap->torn && clears == snap->clears;
}

static void count_suspects(struct record *rec, const struct snapshot *snap)
{
	size_t i;

	rec->suspects = 0;
	rec->worst = VERDICT_NONE;
	for (i = 0; i < snap->nr; i++) {
		if (!snapshot_suspect(snap, &snap->site[i]))
			continue;
		rec->suspects++;
		if (snap->site[i].verdict > rec->worst)
			rec->worst = snap->site[i].verdict;
	}
}

static void record_round(struct record *rec)
{
	struct snapshot snap = {};
	struct err err;
	int ret;

	if (rec->rotate && rec->log && log_size(rec->log) >= rec->rotate)
		rotate(rec);
	if (!rec->log && open_log(rec, &err)) {
		rec->lost++;
		trouble(rec, &err);
		return;
	}
	ret = read_round(rec, &snap, &err);
	if (!ret) {
		/* The next look will see what has become of it. */
		rec->seen = false;
		rec->when = 0;
	} else if (ret < 0) {
		rec->lost++;
		trouble(rec, &err);
	} else {
		drop_evidence(&snap);
		if (log_write(rec->log, &snap, &err)) {
			rec->lost++;
			trouble(rec, &err);
		} else {
			rec->recorded++;
			works(rec);
		}
		rec->rounds = snap.rounds;
		rec->clears = snap.clears;
		snapshot_tunable(&snap, "interval_ms", &rec->interval);
		count_suspects(rec, &snap);
	}
	snapshot_free(&snap);
}

/* Whether a round has ended that is to be recorded. */
static bool look(struct record *rec)
{
	uint32_t rounds, clears;
	struct err err;

	if (debugfs_progress(&rec->dfs, &rounds, &clears, &err)) {
		trouble(rec, &err);
		return false;
	}
	if (strcmp(rec->dfs.state, "on")) {
		rec->seen = false;
		return false;
	}
	/* None has ended since boot, enable or clear. */
	if (!rounds)
		return false;
	if (rec->seen && rounds == rec->rounds && clears == rec->clears)
		return false;
	if (rec->when && uptime_ms() - rec->when < rec->every * 1000)
		return false;
	rec->seen = true;
	rec->rounds = rounds;
	rec->clears = clears;
	rec->when = uptime_ms();
	/* Another program recorded it before. */
	return rec->recorded || !rec->log || !log_has(rec->log, &rec->host, clears, rounds);
}

/* Waiting */

/* Short rounds are looked for more often, but nobody wants a busy loop. */
static uint64_t look_ms(const struct record *rec)
{
	uint64_t ms = rec->interval / 20;

	if (ms < 50)
		ms = 50;
	return ms > LOOK_MS ? LOOK_MS : ms;
}

static bool is_over(const struct record *rec)
{
	return rec->duration && uptime_ms() - rec->begun >= rec->duration * 1000;
}

/* SIGHUP also comes when the terminal is closed on which it was begun. */
static bool has_terminal(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void take_signals(sigset_t *signals)
{
	/* They come when they are waited for, so that no write is cut short. */
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	sigprocmask(SIG_BLOCK, signals, NULL);
	/* A limit of the size of files is a full disk like any other. */
	signal(SIGXFSZ, SIG_IGN);
}

static int wait_signal(const struct record *rec, const sigset_t *signals)
{
	uint64_t ms = look_ms(rec), passed = uptime_ms() - rec->begun;
	struct timespec ts;

	if (rec->duration && rec->duration * 1000 - passed < ms)
		ms = rec->duration * 1000 - passed;
	ts = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
	return sigtimedwait(signals, NULL, &ts);
}

static void record(struct record *rec)
{
	bool had_terminal = has_terminal();
	sigset_t signals;

	take_signals(&signals);
	while (1) {
		int signal;

		if (look(rec))
			record_round(rec);
		progress(rec);
		if (is_over(rec))
			break;
		signal = wait_signal(rec, &signals);
		if (signal == SIGHUP && has_terminal() == had_terminal)
			rotate(rec);
		else if (signal > 0)
			break;
	}
	wipe_line(rec);
}

static int finish(struct record *rec)
{
	char bytes[UNIT_ROOM], time[UNIT_ROOM];
	struct err err;
	int ret = EXIT_FINE;

	if (rec->log) {
		/* There is nothing in it but whose it is. */
		if (rec->made && log_empty(rec->log))
			unlink(rec->path);
		rec->bytes += log_size(rec->log);
		if (log_finish(rec->log, &err))
			ret = fail(&err);
	}
	if (!rec->recorded && !rec->lost) {
		err_set(&err, "no round was recorded: none ended in %s, and they take %s each; record "
			"for longer, or end rounds with \"echo 1 > " DEBUGFS "/leaktrend/scan\"",
			unit_time(time, uptime_ms() - rec->begun), unit_time(bytes, rec->interval));
		return fail(&err);
	}
	if (rec->lost) {
		err_set(&err, "%" PRIu64 " %s could not be recorded", rec->lost,
			rounds_word(rec->lost));
		ret = fail(&err);
	}
	if (!rec->quiet)
		printf("%s: %" PRIu64 " %s in %s, %s\n", rec->path, rec->recorded,
		       rounds_word(rec->recorded), unit_time(time, uptime_ms() - rec->begun),
		       unit_bytes(bytes, rec->bytes));
	return ret;
}

static int begin(struct record *rec, struct err *err)
{
	struct snapshot snap = {};
	int ret;

	if (debugfs_open(&rec->dfs, rec->debugfs, err))
		return -1;
	if (strcmp(rec->dfs.state, "on")) {
		debugfs_close(&rec->dfs);
		return source_standby(err);
	}
	debugfs_host(&rec->dfs, &rec->host);
	rec->begun = uptime_ms();
	rec->made = access(rec->path, F_OK);
	/* What cannot be read at all is no reason to make a file. */
	ret = debugfs_snapshot(&rec->dfs, READ_SITES, &snap, err);
	if (!ret)
		snapshot_tunable(&snap, "interval_ms", &rec->interval);
	snapshot_free(&snap);
	if (!ret)
		ret = open_log(rec, err);
	if (ret)
		debugfs_close(&rec->dfs);
	return ret;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct record rec = {};
	const struct opt opts[] = {
		OPT_TEXT("output", 'o', "FILE", &rec.path, "record to it, behind what is there"),
		OPT_CALL("interval", 'i', "SEC", &rec.every, set_duration,
			 "no more than one round in this time (90, 15m, 2h); else each one"),
		OPT_CALL("for", 'd', "TIME", &rec.duration, set_duration,
			 "end after this time (90, 15m, 2h, 3d); else at Ctrl-C"),
		OPT_CALL("rotate", 'r', "SIZE", &rec.rotate, set_size,
			 "begin a new file at this size (64M, 1G); the old one becomes FILE.1"),
		OPT_CALL("keep", 'k', "N", &rec.keep, set_u64,
			 "with --rotate and SIGHUP: only so many old files; else all"),
		OPT_TEXT("debugfs", 0, "DIR", &rec.debugfs, "read this copy of " DEBUGFS),
		OPT_BOOL("quiet", 'q', &rec.quiet, "say only what goes wrong"),
		OPT_END
	};
	struct err err;
	int ret;

	ret = opts_only(cmd, opts, argc, argv);
	if (ret)
		return ret - 1;
	if (!rec.path)
		return usage_error(cmd, "it needs -o FILE");
	if (!strcmp(rec.path, "-"))
		return usage_error(cmd, "it records to a file only, so that a torn end can be mended");
	if (begin(&rec, &err))
		return fail(&err);
	record(&rec);
	ret = finish(&rec);
	debugfs_close(&rec.dfs);
	return ret;
}

static const struct command command = {
	.name	 = "record",
	.summary = "record rounds to a file, over days",
	.usage	 = "-o FILE [options]",
	.text	 = "Adds each round of the kernel to FILE, which all other commands read with -f,\n"
		   "until it is ended by Ctrl-C, SIGTERM or --for. FILE may be there already: it is\n"
		   "gone on with. If it was cut off by a crash, its end is mended.\n"
		   "A full disk loses rounds, and recording goes on when there is room again.\n"
		   "SIGHUP rotates: FILE becomes FILE.1, unless it was renamed already.\n"
		   "To read rotated files as one: cat FILE.2 FILE.1 FILE | leaktrend report -",
	.order	 = 7,
	.run	 = run,
};
LEAKTREND_COMMAND(command);
