// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: shows what leaktrend of the kernel knows. This finds the command.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "leaktrend.h"

#ifndef VERSION
#define VERSION	"1.0"
#endif

const char leaktrend_version[] = VERSION;

/* Made by the linker of all LEAKTREND_COMMAND(). */
extern const struct command *const __start_leaktrend_commands[];
extern const struct command *const __stop_leaktrend_commands[];

static int cmp_order(const void *a, const void *b)
{
	const struct command *x = *(const struct command * const *)a;
	const struct command *y = *(const struct command * const *)b;

	if (x->order != y->order)
		return x->order - y->order;
	return strcmp(x->name, y->name);
}

static void usage(FILE *f)
{
	size_t nr = __stop_leaktrend_commands - __start_leaktrend_commands, i;
	const struct command **sorted = xcalloc(nr, sizeof(*sorted));

	memcpy(sorted, __start_leaktrend_commands, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), cmp_order);
	fputs("usage: leaktrend COMMAND [options]\n\n"
	      "Shows which call paths of the kernel keep growing in memory, how fast, since\n"
	      "when, and how sure that is.\n\n"
	      "commands:\n", f);
	for (i = 0; i < nr; i++)
		fprintf(f, "  %-10s %s\n", sorted[i]->name, sorted[i]->summary);
	fputs("\nleaktrend COMMAND --help tells more; leaktrend --version its version.\n"
	      "Exit status: 0 fine, 1 findings, 2 a mistake or something cannot be read.\n", f);
	free(sorted);
}

int main(int argc, char **argv)
{
	const struct command *const *cmd;
	struct err err;
	int status;

	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		usage(stderr);
		return EXIT_ERROR;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return EXIT_FINE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("leaktrend %s\n", leaktrend_version);
		return EXIT_FINE;
	}

	for (cmd = __start_leaktrend_commands; cmd < __stop_leaktrend_commands; cmd++) {
		if (strcmp((*cmd)->name, argv[1]))
			continue;
		status = (*cmd)->run(*cmd, argc - 1, argv + 1);
		/* A full disk shows when the last bytes are written. */
		if ((fflush(stdout) || ferror(stdout)) && status != EXIT_ERROR) {
			err_set(&err, "cannot write standard output");
			return fail(&err);
		}
		return status;
	}
	fprintf(stderr, "leaktrend: there is no command \"%s\"; see leaktrend --help\n", argv[1]);
	return EXIT_ERROR;
}
