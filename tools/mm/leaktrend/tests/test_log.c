// SPDX-License-Identifier: GPL-2.0
/*
 * The recorded file: what comes out is what went in, whatever happened to the file.
 *
 * test_log DATA SCRATCH ROUNDS: with the copies in DATA, files in SCRATCH, and a
 * day of 1440 rounds of which only ROUNDS are written; with fewer than all, fewer
 * places are tried as well.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "source.h"
#include "tap.h"

#define MAX_ROUNDS	16

static struct snapshot rounds[MAX_ROUNDS];
static unsigned int nr_rounds;
static struct host host = { .release = "7.3", .name = "test", .boot_id = "one", .cpus = 2 };

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_evidence(const struct evidence *a, const struct evidence *b)
{
	if (!a || !b)
		return a == b;
	return a->changed == b->changed && a->mixed == b->mixed &&
	       a->changed_ms == b->changed_ms && same_text(a->held, b->held) &&
	       same_text(a->missing, b->missing) && a->generations == b->generations &&
	       a->growth_low == b->growth_low && a->growth_high == b->growth_high &&
	       a->tau == b->tau && a->rounds == b->rounds;
}

static bool same_site(const struct site *a, const struct site *b)
{
	return a->number == b->number && a->kind == b->kind && a->class == b->class &&
	       a->verdict == b->verdict && a->stack_id == b->stack_id &&
	       same_text(a->cache, b->cache) && a->outstanding == b->outstanding &&
	       a->bytes == b->bytes && a->allocs == b->allocs && a->frees == b->frees &&
	       a->low == b->low && a->elders == b->elders && a->survivors == b->survivors &&
	       a->oldest_ms == b->oldest_ms && a->growth == b->growth &&
	       a->error_permille == b->error_permille && same_evidence(a->evidence, b->evidence);
}

static bool same_stack(const struct stack *a, const struct stack *b)
{
	unsigned int i;

	if (!a || !b || a->nr != b->nr)
		return false;
	for (i = 0; i < a->nr; i++)
		if (strcmp(a->line[i], b->line[i]))
			return false;
	return true;
}

/* Stacks that were in a frame that is damaged are missing from those behind it. */
static bool stacks_can_miss;

/* Stacks can be known of more sites than before, from other rounds, but not of less. */
static bool same_site_stack(const struct stack *a, const struct stack *b)
{
	return !a || (!b && stacks_can_miss) || same_stack(a, b);
}

static bool same(const struct snapshot *a, const struct snapshot *b)
{
	size_t i;

	if (a->time_ms != b->time_ms || a->rounds != b->rounds || a->clears != b->clears ||
	    a->torn != b->torn || a->nr != b->nr || !pairs_same(&a->status, &b->status) ||
	    !pairs_same(&a->tunables, &b->tunables) || !pairs_same(&a->vm, &b->vm))
		return false;
	for (i = 0; i < a->nr; i++)
		if (!same_site(&a->site[i], &b->site[i]) ||
		    !same_site_stack(a->site[i].stack, b->site[i].stack))
			return false;
	return true;
}

static void must(bool good, const char *what, const struct err *err)
{
	if (good)
		return;
	printf("not ok - %s: %s\n", what, err->text);
	exit(1);
}

static void load(const char *data)
{
	struct buf dir = {};
	struct err err;
	unsigned int i;

	for (i = 1; i <= 13; i++) {
		struct debugfs dfs;

		buf_clear(&dir);
		if (i <= 12)
			buf_printf(&dir, "%s/leak/%02u", data, i);
		else
			buf_printf(&dir, "%s/orphan", data);
		must(!debugfs_open(&dfs, dir.data, &err), dir.data, &err);
		must(!debugfs_snapshot(&dfs, READ_ALL, &rounds[nr_rounds++], &err), dir.data, &err);
		debugfs_close(&dfs);
	}
	buf_free(&dir);
}

static void write_rounds(const char *path, unsigned int from, unsigned int to, uint64_t *cut)
{
	struct log_writer *log;
	struct err err = {};

	log = log_append(path, &host, cut, &err);
	must(log, "append", &err);
	for (; from < to; from++)
		must(!log_write(log, &rounds[from], &err), "write", &err);
	must(!log_finish(log, &err), "finish", &err);
}

/*
 * How many rounds come out of a file; -1 if one of them is none of those that
 * went in, or they are not in their order.
 */
static int read_rounds(const char *data, size_t len, struct log_damage *damage)
{
	const struct snapshot *snap;
	struct err err = {};
	struct log_reader *log;
	unsigned int at = 0;
	int nr = 0;

	*damage = (struct log_damage){};
	log = log_open_memory("F", data, len, &err);
	if (!log)
		return 0;
	while (log_next(log, &snap, &err) > 0) {
		while (at < nr_rounds && !same(&rounds[at], snap))
			at++;
		if (at++ == nr_rounds) {
			log_close(log);
			return -1;
		}
		nr++;
	}
	log_damage(log, damage);
	log_close(log);
	return nr;
}

static void test_round_trip(const char *path, struct buf *file)
{
	struct log_damage damage;
	uint64_t cut;

	unlink(path);
	write_rounds(path, 0, nr_rounds, &cut);
	must(!read_file(path, file), "read", &(struct err){});
	tap(read_rounds(file->data, file->len, &damage) == (int)nr_rounds && !damage.bad_bytes &&
	    !damage.torn_bytes && !damage.lost, "log: all rounds come out as they went in");
}

static void test_cut(const struct buf *file, size_t step)
{
	unsigned int whole = 0;
	int last = 0, wrong = 0;
	size_t len = 0;

	/* Each place where a crash can have ended it. */
	while (1) {
		struct log_damage damage;
		int nr = read_rounds(file->data, len, &damage);

		wrong += nr < last || nr > last + (int)step || damage.bad_bytes || damage.lost;
		whole += !damage.torn_bytes;
		last = nr;
		if (len == file->len)
			break;
		len = file->len - len < step ? file->len : len + step;
	}
	tap(!wrong && last == (int)nr_rounds, "log: cut off anywhere, all rounds before are there");
	/* Between two frames nothing is torn, nor is a file that is not begun. */
	tap(whole <= nr_rounds + 2 + LOG_MAGIC_LEN, "log: a torn tail is seen wherever it is");
}

static void test_flip(const struct buf *file, size_t step)
{
	char *copy = xcalloc(file->len, 1);
	int wrong = 0, unseen = 0;
	size_t i;

	stacks_can_miss = true;
	for (i = LOG_MAGIC_LEN; i < file->len; i += step) {
		struct log_damage damage;
		int nr;

		memcpy(copy, file->data, file->len);
		copy[i] ^= 1 << i % 8;
		nr = read_rounds(copy, file->len, &damage);
		wrong += nr < 0;
		unseen += !damage.bad_bytes && !damage.torn_bytes;
	}
	tap(!wrong, "log: a flipped bit makes no wrong round");
	tap(!unseen, "log: a flipped bit is seen");
	stacks_can_miss = false;
	free(copy);
}

static void test_resync(const char *path)
{
	struct log_damage damage;
	struct buf file = {};
	uint64_t cut, half;
	struct stat st;

	/* Going on with a file begins with a full frame, from which reading goes on. */
	unlink(path);
	write_rounds(path, 0, 6, &cut);
	must(!stat(path, &st), "stat", &(struct err){});
	half = st.st_size;
	write_rounds(path, 6, nr_rounds, &cut);
	must(!read_file(path, &file), "read", &(struct err){});
	tap(read_rounds(file.data, file.len, &damage) == (int)nr_rounds && !cut,
	    "log: a second program goes on with the file");
	memset(file.data + half / 2, 'x', 10);
	tap(read_rounds(file.data, file.len, &damage) >= (int)nr_rounds - 6 &&
	    damage.bad_bytes > 0 && damage.bad_places == 1,
	    "log: reading goes on at a full frame behind damage");
	buf_free(&file);
}

static void test_append_torn(const char *path, const struct buf *file)
{
	struct log_damage damage;
	struct buf again = {};
	uint64_t cut;
	FILE *f;
	int nr;

	/* As a crash leaves it: in the middle of the last frame. */
	f = fopen(path, "w");
	fwrite(file->data, 1, file->len - 20, f);
	fclose(f);
	write_rounds(path, nr_rounds - 1, nr_rounds, &cut);
	must(!read_file(path, &again), "read", &(struct err){});
	nr = read_rounds(again.data, again.len, &damage);
	tap(cut > 0 && nr == (int)nr_rounds && !damage.bad_bytes && !damage.torn_bytes,
	    "log: a torn tail is cut off before something is appended");
	buf_free(&again);

	f = fopen(path, "w");
	fwrite(LOG_MAGIC, 1, 3, f);
	fclose(f);
	write_rounds(path, 0, 1, &cut);
	must(!read_file(path, &again), "read", &(struct err){});
	tap(cut == 3 && read_rounds(again.data, again.len, &damage) == 1,
	    "log: a file that ends in its first bytes is begun anew");
	buf_free(&again);
}

static void test_full_disk(const char *path)
{
	struct rlimit old, limit;
	struct log_writer *log;
	struct err err = {};
	struct buf file = {};
	struct log_damage damage;
	uint64_t cut, size;
	struct stat st;
	int failed;

	unlink(path);
	log = log_append(path, &host, &cut, &err);
	must(log && !log_write(log, &rounds[0], &err), "write", &err);
	size = log_size(log);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = size + 100;
	setrlimit(RLIMIT_FSIZE, &limit);
	failed = log_write(log, &rounds[1], &err);
	setrlimit(RLIMIT_FSIZE, &old);
	tap(failed && strstr(err.text, path), "log: a full disk is said");
	tap(!stat(path, &st) && (uint64_t)st.st_size == size, "log: a full disk leaves no half round");
	must(!log_write(log, &rounds[2], &err), "write", &err);
	log_finish(log, &err);
	must(!read_file(path, &file), "read", &err);
	tap(read_rounds(file.data, file.len, &damage) == 2 && !damage.bad_bytes,
	    "log: recording goes on when there is room again");
	buf_free(&file);
}

static void test_lock(const char *path)
{
	struct log_writer *log;
	struct err err = {};
	uint64_t cut;

	log = log_append(path, &host, &cut, &err);
	must(log, "append", &err);
	tap(!log_append(path, &host, &cut, &err) && strstr(err.text, "another"),
	    "log: only one program writes to a file");
	log_finish(log, &err);
}

static void test_epochs(const char *path)
{
	const struct snapshot *snap;
	struct log_writer *log;
	struct log_reader *reader;
	struct snapshot other;
	struct err err = {};
	uint32_t epochs[5] = {};
	unsigned int i = 0;
	uint64_t cut;

	unlink(path);
	log = log_append(path, &host, &cut, &err);
	must(log, "append", &err);
	log_write(log, &rounds[10], &err);
	log_write(log, &rounds[11], &err);
	/* Cleared: the rounds begin anew. */
	log_write(log, &rounds[0], &err);
	/* Switched off and on for long: the numbers have other stacks. */
	snapshot_copy(&other, &rounds[11]);
	other.site[1].stack_id++;
	log_write(log, &other, &err);
	snapshot_free(&other);
	log_finish(log, &err);
	snprintf(host.boot_id, sizeof(host.boot_id), "two");
	write_rounds(path, 12, 13, &cut);
	snprintf(host.boot_id, sizeof(host.boot_id), "one");

	reader = log_open(path, &err);
	must(reader, "open", &err);
	while (log_next(reader, &snap, &err) > 0 && i < ARRAY_SIZE(epochs))
		epochs[i++] = snap->epoch;
	tap(i == 5 && epochs[0] == 0 && epochs[1] == 0 && epochs[2] == 1 && epochs[3] == 2 &&
	    epochs[4] == 3, "log: clear, other stacks and another boot begin epochs");
	tap(!strcmp(log_host(reader)->boot_id, "two"), "log: the host of the last round");
	log_close(reader);
}

/* A day of a busy machine */

static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

static struct stack *draw_stack(void)
{
	struct buf text = {};
	struct stack *stack;
	uint32_t i;

	for (i = 8 + draw(12); i; i--)
		buf_printf(&text, "subsystem_function_%u+0x%x/0x%x\n", draw(3000), draw(400), 400);
	stack = stack_parse(text.data, text.len);
	buf_free(&text);
	return stack;
}

/*
 * Of 5000 sites six in ten stand still, three move a little in one round of five,
 * one moves in each; fifty leak, with evidence in words. Numbers are multiples of
 * the sampling rate, as they are in truth.
 */
static void make_sites(struct snapshot *snap, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr; i++) {
		struct site *site = snapshot_add(snap);
		char cache[32];

		site->number = i;
		site->stack_id = 0x10000 + draw(1 << 24);
		snprintf(cache, sizeof(cache), "kmalloc-%u", 8U << draw(10));
		site->cache = xstrdup(cache);
		site->outstanding = 100 + 100 * draw(300);
		site->bytes = site->outstanding * (8 << draw(10));
		site->frees = 100 * draw(1000000);
		site->stack = draw_stack();
	}
}

static void move_site(struct site *site, bool leaks)
{
	uint64_t size = site->bytes / site->outstanding, births = 100 * draw(200);
	uint64_t deaths = leaks ? births - births / 20 : 100 * draw(200);

	if (deaths >= site->outstanding + births)
		deaths = births;
	site->outstanding += births - deaths;
	site->frees += deaths;
	site->bytes = site->outstanding * size;
	site->low = site->outstanding - 100 * draw(site->outstanding / 100);
	site->elders = site->low / 2 / 100 * 100;
	site->survivors = draw(9);
	site->growth = (int64_t)draw(1 << 24) - (leaks ? 0 : 1 << 23);
	site->error_permille = 31623 / (1 + site->outstanding / 100) / 10;
	if (draw(4) == 0)
		site->oldest_ms = draw(600000);
}

static void move_sites(struct snapshot *snap, uint32_t round)
{
	char text[200];
	uint32_t i;

	for (i = 0; i < snap->nr; i++) {
		struct site *site = &snap->site[i];
		bool leaks = i % 100 == 0;

		site->oldest_ms += 60003;
		if (leaks || i % 10 == 1 || (i % 10 < 5 && i % 10 > 1 && !draw(5)))
			move_site(site, leaks);
		site->allocs = site->frees + site->outstanding;
		if (!leaks)
			continue;
		snprintf(text, sizeof(text), "growth of low-water mark and elders over 8 rounds, "
			 "since %u.%03u s ago; size; age; error", round * 60, draw(1000));
		free(site_evidence(site)->held);
		site->evidence->held = xstrdup(text);
		site->evidence->generations = 8;
		site->evidence->growth_low = site->growth - draw(1 << 20);
		site->evidence->growth_high = site->growth + draw(1 << 20);
		site->evidence->rounds = 32;
	}
}

static void make_status(struct snapshot *snap, uint32_t round)
{
	char key[24], value[24];
	uint32_t i;

	snap->rounds = round;
	snap->time_ms = 1700000000000ULL + round * 60003ULL;
	for (i = 0; i < 34; i++) {
		snprintf(key, sizeof(key), "some_line_%u", i);
		snprintf(value, sizeof(value), "%u", draw(1 << 20));
		pairs_set(&snap->status, key, value);
	}
	pairs_set(&snap->status, "state", "on");
}

static void test_day(const char *path, uint32_t todo)
{
	struct snapshot snap = {};
	const struct snapshot *got;
	struct log_reader *reader;
	struct log_writer *log;
	struct err err = {};
	uint64_t cut, day, size, first = 0;
	uint32_t round, nr = 0;

	unlink(path);
	log = log_append(path, &host, &cut, &err);
	must(log, "append", &err);
	make_sites(&snap, 5000);
	for (round = 1; round <= todo; round++) {
		move_sites(&snap, round);
		make_status(&snap, round);
		must(!log_write(log, &snap, &err), "write", &err);
		if (round == 1)
			first = log_size(log);
	}
	size = log_size(log);
	day = first + (size - first) / (todo - 1) * 1439;
	log_finish(log, &err);
	printf("# %u rounds: %.1f MiB, of which the first is %.2f MiB; a day: %.1f MiB\n", todo,
	       size / 1048576.0, first / 1048576.0, day / 1048576.0);
	tap(day < 50 << 20, "log: a day of 5000 sites is less than 50 MiB");

	reader = log_open(path, &err);
	must(reader, "open", &err);
	while (log_next(reader, &got, &err) > 0)
		nr++;
	tap(nr == todo && same(&snap, got), "log: the last round of the day is as it was");
	log_close(reader);
	snapshot_free(&snap);
}

int main(int argc, char **argv)
{
	struct buf path = {}, file = {};
	unsigned int i;
	bool quick;

	if (argc != 4) {
		fprintf(stderr, "usage: test_log DATA SCRATCH ROUNDS\n");
		return 2;
	}
	load(argv[1]);
	buf_printf(&path, "%s/log", argv[2]);
	test_round_trip(path.data, &file);
	/* Under valgrind, places that differ are enough. */
	quick = atoi(argv[3]) < 1440;
	test_cut(&file, quick ? 97 : 1);
	test_flip(&file, quick ? 301 : 13);
	test_resync(path.data);
	test_append_torn(path.data, &file);
	test_full_disk(path.data);
	test_lock(path.data);
	test_epochs(path.data);
	test_day(path.data, atoi(argv[3]));
	for (i = 0; i < nr_rounds; i++)
		snapshot_free(&rounds[i]);
	buf_free(&path);
	buf_free(&file);
	return tap_failed;
}
