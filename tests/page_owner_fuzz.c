// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds page_owner_sort with damaged dumps.
 *
 *	page_owner_fuzz -s SEED -n RUNS -o FILE DUMP...
 *
 * The tool is compiled into this program (-DTOOL='"page_owner_sort.c"'), with
 * sanitizers. Each run takes a piece of a dump, damages it and sorts it in a
 * process of its own with options picked at random. It must end with status 0
 * or 1. If it had status 0, the times that it wrote have to add up to the number
 * of records that it says it has loaded. What fails is left in FILE, and is
 * told with the options.
 */

#define main page_owner_sort_main
#include TOOL
#undef main

#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* What the sanitizers find must not look like an error of the tool, status 1. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return "exitcode=99:detect_leaks=0";
}

const char *__ubsan_default_options(void)
{
	return "exitcode=99:print_stacktrace=1";
}

#define FUZZ_INPUT	(64 * 1024)

static uint64_t rng_state;

static uint32_t below(uint32_t n)
{
	/* splitmix64 */
	uint64_t z = rng_state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) % n;
}

struct input {
	char data[FUZZ_INPUT];
	size_t len;
};

static void insert(struct input *in, size_t at, const char *p, size_t len)
{
	if (in->len + len > FUZZ_INPUT)
		return;
	memmove(in->data + at + len, in->data + at, in->len - at);
	memcpy(in->data + at, p, len);
	in->len += len;
}

static void delete(struct input *in, size_t at, size_t len)
{
	len = min(len, in->len - at);
	memmove(in->data + at, in->data + at + len, in->len - at - len);
	in->len -= len;
}

static void damage(struct input *in)
{
	static const char * const words[] = {
		"\n", "\n\n", " ", "(", ")", "), ts 1 ns", ", free_ts ", " ns\n", "PFN ", "#", "handle: ",
		"nr_base_pages: ", "nr_base_pages: 99999999999999999999\n", "stack_count: 5\n", "Object size ",
		" cache ", " weight ", " weight 4294967295", "Charged to memcg", "Charged ", "Slab cache page\n",
		"Page allocated via order ", "Page allocated via order 31, mask ", ", pid ", ", tgid ", " (", "%s%n",
		" __vmalloc_node_range", "alloc_pages", " [<", ">] ", " allocate_slab", "18446744073709551616", "-1",
	};
	size_t at, len, to;
	char copy[512];

	if (!in->len) {
		insert(in, 0, "\n", 1);
		return;
	}
	at = below(in->len);
	switch (below(6)) {
	case 0:
		in->data[at] = below(256);
		break;
	case 1:
		delete(in, at, 1 + below(below(4) ? 8 : 2000));
		break;
	case 2:
		len = below(sizeof(words) / sizeof(words[0]));
		insert(in, at, words[len], strlen(words[len]));
		break;
	case 3:
		/* A piece again somewhere else. */
		len = 1 + below(sizeof(copy));
		len = min(len, in->len - at);
		to = below(in->len);
		memcpy(copy, in->data + at, len);
		insert(in, to, copy, len);
		break;
	case 4:
		/* A line less. */
		while (at && in->data[at - 1] != '\n')
			at--;
		for (len = 0; at + len < in->len && in->data[at + len] != '\n'; len++)
			;
		delete(in, at, len + 1);
		break;
	case 5:
		in->len = at;
		break;
	}
}

static int pick_options(char **argv)
{
	static char * const orders[] = { "-a", "-m", "-n", "-p", "-P", "-r", "-s", "-t" };
	static char * const options[] = {
		"-f", "-d", "--cull=st", "--cull=p,tg,n", "--cull=ator", "--cull=c,sz,mg,g,f", "--sort=T",
		"--sort=-c,sz,-mg,g", "--sort=ft,-at", "--sort=ator,st", "--name=bash,java,nginx,a,b", "--cull=mg,st",
	};
	int n = 0, i, nr = below(3);

	argv[n++] = "page_owner_sort";
	if (below(2))
		argv[n++] = orders[below(sizeof(orders) / sizeof(orders[0]))];
	for (i = 0; i < nr; i++)
		argv[n++] = options[below(sizeof(options) / sizeof(options[0]))];
	argv[n++] = "/dev/stdin";
	argv[n++] = "/proc/self/fd/9";
	argv[n] = NULL;
	return n;
}

/* The sum of the times in the output. Names may have "times" in them, but begin no line. */
static uint64_t sum_times(int fd, bool *exact)
{
	off_t len = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, len + 1), *p, *end;
	uint64_t sum = 0, n;

	if (pread(fd, text, len, 0) != len)
		exit(2);
	*exact = !memchr(text, '\0', len);
	for (p = text; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
		n = strtoull(p, &end, 10);
		if (end > p && *p >= '1' && *p <= '9' && !strncmp(end, " times, ", 8))
			sum += n;
	}
	free(text);
	return sum;
}

/* Does what was written agree with what was said? */
static bool sum_is_right(int fd_out, int fd_said)
{
	char said[256] = "";
	uint64_t sum;
	bool exact;

	if (pread(fd_said, said, sizeof(said) - 1, 0) < 0)
		return false;
	sum = sum_times(fd_out, &exact);
	return !exact || (!strncmp(said, "loaded ", 7) && strtoull(said + 7, NULL, 10) == sum);
}

static void load(const char *path, char **text, size_t *len)
{
	FILE *f = fopen(path, "r");
	struct stat st;

	if (!f || fstat(fileno(f), &st))
		errx(2, "cannot read %s", path);
	*len = st.st_size;
	*text = malloc(*len + 1);
	if (fread(*text, 1, *len, f) != *len || !*len)
		errx(2, "cannot read %s", path);
	fclose(f);
}

int main(int argc, char **argv)
{
	static struct input in;
	unsigned long runs = 1000, run, nr_ok = 0;
	const char *out = "fuzz.fail";
	int opt, i, nr, status, nr_dumps;
	char *args[16], **texts;
	size_t *lens;

	while ((opt = getopt(argc, argv, "s:n:o:")) != -1) {
		if (opt == 's')
			rng_state = strtoull(optarg, NULL, 0);
		else if (opt == 'n')
			runs = strtoul(optarg, NULL, 0);
		else if (opt == 'o')
			out = optarg;
		else
			return 2;
	}
	nr_dumps = argc - optind;
	if (nr_dumps < 1)
		return 2;
	texts = calloc(nr_dumps, sizeof(*texts));
	lens = calloc(nr_dumps, sizeof(*lens));
	for (i = 0; i < nr_dumps; i++)
		load(argv[optind + i], &texts[i], &lens[i]);

	for (run = 0; run < runs; run++) {
		int fd_in = memfd_create("in", 0), fd_out = memfd_create("out", 0);
		int fd_said = memfd_create("said", 0), fd_err = memfd_create("err", 0);
		bool good;
		size_t at;
		pid_t pid;

		i = below(nr_dumps);
		at = below(lens[i]);
		in.len = 1 + below(below(8) ? 4000 : FUZZ_INPUT);
		in.len = min(lens[i] - at, in.len);
		memcpy(in.data, texts[i] + at, in.len);
		for (nr = below(12); nr; nr--)
			damage(&in);
		nr = pick_options(args);
		if (write(fd_in, in.data, in.len) != (ssize_t)in.len)
			errx(2, "cannot write the input");
		lseek(fd_in, 0, SEEK_SET);

		pid = fork();
		if (!pid) {
			dup2(fd_in, 0);
			dup2(fd_said, 1);
			dup2(fd_err, 2);
			dup2(fd_out, 9);
			optind = 0;
			exit(page_owner_sort_main(nr, args));
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			errx(2, "cannot run");
		good = WIFEXITED(status) && WEXITSTATUS(status) <= 1;
		if (good && !WEXITSTATUS(status)) {
			good = sum_is_right(fd_out, fd_said);
			nr_ok += lseek(fd_out, 0, SEEK_END) > 0;
		}
		if (!good) {
			FILE *f = fopen(out, "w");
			char said[4096];
			ssize_t n = pread(fd_err, said, sizeof(said), 0);

			if (f) {
				fwrite(in.data, 1, in.len, f);
				fclose(f);
			}
			fprintf(stderr, "run %lu: status %#x, input in %s, options:", run, status, out);
			for (i = 1; i < nr; i++)
				fprintf(stderr, " %s", args[i]);
			fprintf(stderr, "\n%.*s\n", (int)(n < 0 ? 0 : n), said);
			return 1;
		}
		close(fd_in);
		close(fd_out);
		close(fd_said);
		close(fd_err);
	}
	printf("%lu runs, %lu of them with output\n", runs, nr_ok);
	return nr_ok < runs / 2;
}
