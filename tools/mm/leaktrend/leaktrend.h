/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: what commands are, and how they take their options.
 *
 * A command is a file cmd_NAME.c that ends with LEAKTREND_COMMAND(NAME). There is
 * no list of them elsewhere: the linker makes it.
 */
#ifndef LEAKTREND_H
#define LEAKTREND_H

#include "filter.h"
#include "model.h"
#include "source.h"
#include "util.h"

/**
 * struct command - A subcommand.
 * @name:    As typed.
 * @summary: Half a line, for the list of commands.
 * @usage:   Behind the name: "[options] FILE". "" if it takes none.
 * @text:    Some sentences for its --help, lines of 80 columns at most.
 * @order:   Place in the list of commands.
 * @run:     Takes what follows the name, and returns the exit status. It calls
 *	     opts_parse() first.
 */
struct command {
	const char *name;
	const char *summary;
	const char *usage;
	const char *text;
	int order;
	int (*run)(const struct command *cmd, int argc, char **argv);
};

#define LEAKTREND_COMMAND(cmd)							\
	static const struct command *const cmd##_entry				\
	__attribute__((used, section("leaktrend_commands"))) = &(cmd)

/**
 * struct opt - An option.
 * @name:   Long name.
 * @letter: Short one, or 0.
 * @arg:    Name of its value for the help, NULL if it takes none.
 * @help:   One line.
 * @value:  What is set: a bool, a const char *, or what @set takes.
 * @set:    Takes the value, for what is neither. Returns 0, or -1 with the reason.
 */
struct opt {
	const char *name;
	char letter;
	const char *arg;
	const char *help;
	void *value;
	int (*set)(void *value, const char *arg, struct err *err);
};

#define OPT_BOOL(n, l, v, h)		{ .name = n, .letter = l, .help = h, .value = v }
#define OPT_TEXT(n, l, a, v, h)		{ .name = n, .letter = l, .arg = a, .help = h, .value = v }
#define OPT_CALL(n, l, a, v, s, h)	{ n, l, a, h, v, s }
#define OPT_END				{ .name = NULL }

/* Where to read from, into a struct where. */
#define OPT_SOURCE(w)								\
	OPT_TEXT("file", 'f', "FILE", &(w)->file, "read a recorded file, - is standard input"), \
	OPT_TEXT("debugfs", 0, "DIR", &(w)->debugfs, "read this copy of " DEBUGFS)

/* Which sites, and in which order, into a struct filter. */
#define OPT_FILTER(f)								\
	OPT_CALL("kind", 'k', "KIND", f, filter_set_kind, "only slab or page"),	\
	OPT_CALL("class", 'C', "CLASS", f, filter_set_class,			\
		 "only these: kernel,reclaimable,user,page_table,slab"),	\
	OPT_CALL("cache", 'c', "NAME", f, filter_set_cache, "only slab caches like this: kmalloc-*"), \
	OPT_CALL("function", 'F', "NAME", f, filter_set_function,		\
		 "only stacks through a function like this: nfs_*"),		\
	OPT_CALL("verdict", 'v', "VERDICT", f, filter_set_verdict,		\
		 "only these: likely_leak,growing,..."),			\
	OPT_CALL("min-bytes", 'm', "SIZE", f, filter_set_min_bytes, "only from this size on: 512K, 8M"), \
	OPT_CALL("sort", 's', "KEY", f, filter_set_sort,			\
		 "verdict, growth, bytes, outstanding, age, elders, function, site"), \
	OPT_CALL("top", 'n', "N", f, filter_set_top, "only the first N")

/*
 * opts_parse() - Take the options from @argv, which has what follows the name of
 * the command. What is left are @argc operands from @argv[0] on.
 * Returns 0, or the exit status plus 1 if the program is to end: after --help, or
 * after a mistake, about which it has said all.
 */
int opts_parse(const struct command *cmd, const struct opt *opts, int *argc, char ***argv);

/* opts_only() - The same for a command that takes nothing else. */
int opts_only(const struct command *cmd, const struct opt *opts, int argc, char **argv);

/* For mistakes in operands: says it, and how to get help. Returns EXIT_ERROR. */
int usage_error(const struct command *cmd, const char *fmt, ...) PRINTF(2, 3);

/* fail() - Say @err on stderr. Returns EXIT_ERROR. */
int fail(const struct err *err);

/* note() - Say it on stderr, unless it is empty. */
void note(const struct err *err);

/* For the --sort of commands with an order of their own, and numbers of options. */
int set_u64(void *value, const char *arg, struct err *err);
/* "512K", "8M", "1.5 GiB" is not: whole numbers with K, M, G or T. */
int set_size(void *value, const char *arg, struct err *err);
/* "90", "90s", "15m", "2h", "3d", in seconds. */
int set_duration(void *value, const char *arg, struct err *err);

extern const char leaktrend_version[];

#endif
