// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a process's pages go through what pages can go through.
 *
 *   page_storm storm N	N rounds of huge pages that are made, split, collapsed,
 *			shared, copied, moved, given back in part and whole
 *   page_storm grow	for each line read from stdin touch 8 MiB more of small
 *			pages, then say "ok"; what was touched stays
 *   page_storm offer	print the address of huge pages that hold the process
 *			until stdin ends, for others to split or to migrate
 *   page_storm cat FILE...	copy files to stdout, and need no page for that
 *			which was not there from the beginning
 *
 * Exit status: 0, or 1 when memory cannot be had. An madvise() that the kernel
 * does not have is no error: then there is less of a storm.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

#define PAGE	4096UL
#define HUGE	(2UL << 20)
#define NR_HUGE	8UL
#define AREA	(NR_HUGE * HUGE)
#define STEP	(8UL << 20)
#define CHILDREN	4

static void touch(char *from, size_t len)
{
	size_t i;

	for (i = 0; i < len; i += PAGE)
		from[i] = 1;
}

/* An area of huge pages' alignment, its neighbours not mapped. */
static char *map_area(int flags)
{
	char *p, *area;

	p = mmap(NULL, AREA + HUGE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	area = (char *)(((unsigned long)p + HUGE - 1) & ~(HUGE - 1));
	if (area > p)
		munmap(p, area - p);
	if (p + HUGE > area)
		munmap(area + AREA, p + HUGE - area);
	return area;
}

/* Children write to what they share with their parent, or leave it. */
static void fork_some(char *area)
{
	pid_t pid[CHILDREN];
	int i;

	for (i = 0; i < CHILDREN; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		touch(area + i * HUGE, HUGE / (i + 1));
		madvise(area + (NR_HUGE - 1 - i) * HUGE, HUGE / 2, MADV_DONTNEED);
		_exit(0);
	}
	/* While they do. */
	touch(area, AREA / 2);
	for (i = 0; i < CHILDREN; i++) {
		if (pid[i] > 0)
			waitpid(pid[i], NULL, 0);
	}
}

/* Each huge page gets another fate. */
static void tear(char *area)
{
	char *moved;

	madvise(area, HUGE / 4, MADV_DONTNEED);
	munmap(area + HUGE + 5 * PAGE, 7 * PAGE);
	mprotect(area + 2 * HUGE + HUGE / 2, PAGE, PROT_READ);
	madvise(area + 3 * HUGE, HUGE, MADV_FREE);
	madvise(area + 4 * HUGE + PAGE, HUGE / 2, MADV_FREE);
	touch(area + 4 * HUGE, HUGE / 4);
	moved = mremap(area + 5 * HUGE, HUGE, HUGE + 3 * PAGE, MREMAP_MAYMOVE);
	if (moved != MAP_FAILED) {
		touch(moved, HUGE + 3 * PAGE);
		munmap(moved + HUGE / 2, HUGE / 2 + 3 * PAGE);
		madvise(moved, HUGE / 2, MADV_PAGEOUT);
		munmap(moved, HUGE / 2);
	}
	/* Half of it goes and comes as small pages, and all is collapsed again. */
	madvise(area + 6 * HUGE, HUGE / 2, MADV_DONTNEED);
	touch(area + 6 * HUGE, HUGE / 2);
	madvise(area + 6 * HUGE, HUGE, MADV_COLLAPSE);
}

static void storm(int flags, bool huge)
{
	char *area = map_area(flags);

	madvise(area, AREA, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	touch(area, AREA);
	if (!huge) {
		madvise(area, AREA, MADV_HUGEPAGE);
		madvise(area, AREA / 2, MADV_COLLAPSE);
	}
	fork_some(area);
	tear(area);
	munmap(area, AREA);
}

static int grow(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		char *p = mmap(NULL, STEP, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED) {
			perror("mmap");
			return 1;
		}
		madvise(p, STEP, MADV_NOHUGEPAGE);
		touch(p, STEP);
		puts("ok");
		fflush(stdout);
	}
	return 0;
}

static int offer(void)
{
	char *area = map_area(MAP_PRIVATE);
	char line[64];

	madvise(area, AREA, MADV_HUGEPAGE);
	touch(area, AREA);
	printf("%#lx\n", (unsigned long)area);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return 0;
}

/* To standard output all at once and in the end: a file that is written to grows. */
static int cat(char **files)
{
	static char text[16 << 20];
	size_t len = 0;
	ssize_t n;

	memset(text, 1, sizeof(text));
	for (; *files; files++) {
		int fd = open(*files, O_RDONLY);

		if (fd < 0) {
			perror(*files);
			return 1;
		}
		while ((n = read(fd, text + len, sizeof(text) - len)) > 0)
			len += n;
		close(fd);
	}
	return len == sizeof(text) || fwrite(text, len, 1, stdout) != 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int i, n = argc > 2 ? atoi(argv[2]) : 1;

	if (!strcmp(what, "grow"))
		return grow();
	if (!strcmp(what, "offer"))
		return offer();
	if (!strcmp(what, "cat"))
		return cat(argv + 2);
	if (strcmp(what, "storm")) {
		fprintf(stderr, "usage: page_storm storm [N] | grow | offer | cat FILE...\n");
		return 1;
	}

	for (i = 0; i < n; i++) {
		storm(MAP_PRIVATE, true);
		storm(MAP_PRIVATE, false);
		storm(MAP_SHARED, true);
	}
	return 0;
}
