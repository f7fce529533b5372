// SPDX-License-Identifier: GPL-2.0
/*
 * What common work costs, in cycles of the CPU's counter, in all of the machine:
 * under QEMU with -icount shift=0 and one CPU that is the number of instructions,
 * the same from run to run. Runs from a shell in the guest, linked statically.
 *
 *	macro work [module.ko]	a line per kind of work: "row=pipe min=… mean=… ops=…"
 *	macro files DIR NAME…	a line per file there: "file=sites bytes=… cycles=…"
 *	macro write FILE TEXT	"write=scan cycles=…"
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAILED		2
#define MAP_BYTES	(1UL << 20)

/* Cycles to run a row before it is measured, and to measure it. */
static uint64_t warmup = 50000000, budget = 100000000;
static const char *self, *module;

static uint64_t cycles(void)
{
	return __builtin_ia32_rdtsc();
}

static void fork_exec(void)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		err(FAILED, "fork");
	if (!pid) {
		execl(self, self, "nothing", (char *)NULL);
		_exit(FAILED);
	}
	if (waitpid(pid, &status, 0) < 0 || status)
		errx(FAILED, "%s: cannot be executed", self);
}

static void file(void)
{
	static const char path[] = "/tmp/leaktrend-macro";
	struct stat st;
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);

	if (fd < 0 || close(fd) || stat(path, &st) || unlink(path))
		err(FAILED, "%s", path);
}

static void map(void)
{
	volatile char *p = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (p == MAP_FAILED)
		err(FAILED, "mmap");
	for (i = 0; i < MAP_BYTES; i += 4096)
		p[i] = 1;
	munmap((void *)p, MAP_BYTES);
}

static void load(void)
{
	int fd = open(module, O_RDONLY);

	if (fd < 0 || syscall(SYS_finit_module, fd, "entries=0", 0) || close(fd) ||
	    syscall(SYS_delete_module, "leaktrend_tables", 0))
		err(FAILED, "%s", module);
}

/* Ping-pong with a child, over a pair of descriptors for each direction. */
static int to_child, from_child;

static void ping(void)
{
	char c = 0;

	if (write(to_child, &c, 1) != 1 || read(from_child, &c, 1) != 1)
		err(FAILED, "ping");
}

static void pong(int in, int out)
{
	char c;

	while (read(in, &c, 1) == 1) {
		if (write(out, &c, 1) != 1)
			break;
	}
	_exit(0);
}

/* The child answers from @in to @out, this end of them is @to and @from. */
static pid_t start_pong(int in, int out, int to, int from)
{
	pid_t pid = fork();

	if (pid < 0)
		err(FAILED, "fork");
	if (!pid) {
		close(to);
		if (from != to)
			close(from);
		pong(in, out);
	}
	close(in);
	if (out != in)
		close(out);
	to_child = to;
	from_child = from;
	return pid;
}

static pid_t start_pipe(void)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		err(FAILED, "pipe");
	return start_pong(there[0], back[1], there[1], back[0]);
}

static pid_t start_unix(void)
{
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		err(FAILED, "socketpair");
	return start_pong(s[1], s[1], s[0], s[0]);
}

static pid_t start_tcp(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(addr);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1, a, b;

	if (listener < 0 && errno == EAFNOSUPPORT)
		return -1;
	a = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || a < 0 || bind(listener, (struct sockaddr *)&addr, len) ||
	    listen(listener, 1) || getsockname(listener, (struct sockaddr *)&addr, &len) ||
	    connect(a, (struct sockaddr *)&addr, len))
		err(FAILED, "TCP over loopback");
	b = accept(listener, NULL, NULL);
	if (b < 0)
		err(FAILED, "accept");
	setsockopt(a, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(b, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(listener);
	return start_pong(b, b, a, a);
}

/* Start, if any, makes the child that answers, or returns -1 if that is not possible. */
static const struct row {
	const char *name;
	unsigned int batch;
	void (*run)(void);
	pid_t (*start)(void);
} rows[] = {
	{ "fork-exec", 1, fork_exec, NULL },
	{ "tmpfs-file", 16, file, NULL },
	{ "unix-ping-pong", 16, ping, start_unix },
	{ "tcp-ping-pong", 16, ping, start_tcp },
	{ "pipe-ping-pong", 16, ping, start_pipe },
	{ "mmap-faults-256", 1, map, NULL },
	{ "module-load", 1, load, NULL },
};

static uint64_t run_batch(const struct row *row)
{
	uint64_t begin = cycles();
	unsigned int i;

	for (i = 0; i < row->batch; i++)
		row->run();
	return cycles() - begin;
}

static void measure(const struct row *row)
{
	uint64_t begin, spent, least = UINT64_MAX, sum, ops = 0;
	pid_t pid = row->start ? row->start() : 0;

	if (pid < 0) {
		printf("row=%s not possible\n", row->name);
		return;
	}
	begin = cycles();
	while (cycles() - begin < warmup)
		run_batch(row);
	begin = cycles();
	do {
		spent = run_batch(row);
		if (spent < least)
			least = spent;
		ops += row->batch;
		sum = cycles() - begin;
	} while (sum < budget);
	printf("row=%s min=%.2f mean=%.2f ops=%llu\n", row->name, (double)least / row->batch,
	       (double)sum / ops, (unsigned long long)ops);
	fflush(stdout);
	if (!pid)
		return;
	close(to_child);
	if (from_child != to_child)
		close(from_child);
	waitpid(pid, NULL, 0);
}

static uint64_t from_environment(const char *name, uint64_t value)
{
	const char *text = getenv(name);
	char *end;

	if (!text)
		return value;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || !*text)
		errx(FAILED, "%s=%s: give a number of cycles", name, text);
	return value;
}

static int do_work(void)
{
	size_t i;

	warmup = from_environment("WARMUP", warmup);
	budget = from_environment("CYCLES", budget);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].run == load && !module)
			continue;
		measure(&rows[i]);
	}
	return 0;
}

/* From the second reading on nothing is allocated for the first time. */
static int read_file(const char *dir, const char *name)
{
	static char buffer[1 << 16];
	char path[PATH_MAX];
	uint64_t begin, spent, least = UINT64_MAX;
	unsigned long long bytes;
	ssize_t n;
	int i, fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (i = 0; i < 2; i++) {
		bytes = 0;
		begin = cycles();
		fd = open(path, O_RDONLY);
		if (fd < 0)
			return -1;
		while ((n = read(fd, buffer, sizeof(buffer))) > 0)
			bytes += n;
		close(fd);
		if (n < 0)
			return -1;
		spent = cycles() - begin;
		if (spent < least)
			least = spent;
	}
	printf("file=%s bytes=%llu cycles=%llu\n", name, bytes, (unsigned long long)least);
	return 0;
}

static int do_files(const char *dir, char **names)
{
	for (; *names; names++) {
		if (read_file(dir, *names))
			err(FAILED, "%s/%s", dir, *names);
	}
	return 0;
}

static int do_write(const char *path, const char *text)
{
	const char *name = strrchr(path, '/');
	int fd = open(path, O_WRONLY);
	uint64_t begin = cycles();

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(FAILED, "%s", path);
	printf("write=%s cycles=%llu\n", name ? name + 1 : path,
	       (unsigned long long)(cycles() - begin));
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	self = "/proc/self/exe";
	if (argc == 2 && !strcmp(argv[1], "nothing"))
		return 0;
	if ((argc == 2 || argc == 3) && !strcmp(argv[1], "work")) {
		module = argv[2];
		return do_work();
	}
	if (argc > 3 && !strcmp(argv[1], "files"))
		return do_files(argv[2], argv + 3);
	if (argc == 4 && !strcmp(argv[1], "write"))
		return do_write(argv[2], argv[3]);
	fprintf(stderr, "usage: macro work [module.ko] | files DIR NAME… | write FILE TEXT\n");
	return FAILED;
}
