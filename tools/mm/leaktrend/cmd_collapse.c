// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend collapse: a line per stack, for tools that draw flame graphs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view.h"

enum by { BY_BYTES, BY_OUTSTANDING, BY_GROWTH };

struct folded {
	char *path;
	uint64_t value;
};

static int set_by(void *value, const char *arg, struct err *err)
{
	static const char * const names[] = { "bytes", "outstanding", "growth" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], arg))
			continue;
		*(enum by *)value = i;
		return 0;
	}
	return err_set(err, "\"%s\" is none of bytes, outstanding, growth", arg);
}

static uint64_t value_of(const struct site *site, enum by by)
{
	switch (by) {
	case BY_BYTES:
		return site->bytes;
	case BY_OUTSTANDING:
		return site->outstanding;
	case BY_GROWTH:
		return site->growth > 0 ? (uint64_t)site->growth : 0;
	}
	return 0;
}

/* From the outermost function to the one that allocates. */
static char *fold(const struct site *site)
{
	struct buf path = {};
	unsigned int i;

	if (!site->stack || !site->stack->nr) {
		buf_printf(&path, "(stack of class %s not known)", class_name(site->class));
		return path.data;
	}
	for (i = site->stack->nr; i--;) {
		const char *name;
		size_t len = frame_name(site->stack->line[i], &name);

		buf_add(&path, name, len);
		if (i)
			buf_add(&path, ";", 1);
	}
	return path.data;
}

static int cmp_path(const void *a, const void *b)
{
	return strcmp(((const struct folded *)a)->path, ((const struct folded *)b)->path);
}

/* Sites whose stacks differ by offsets only are one line. */
static void print(FILE *f, struct folded *folded, size_t nr)
{
	size_t i;

	qsort(folded, nr, sizeof(*folded), cmp_path);
	for (i = 0; i < nr; i++) {
		if (i + 1 < nr && !strcmp(folded[i].path, folded[i + 1].path)) {
			folded[i + 1].value += folded[i].value;
			continue;
		}
		if (folded[i].value)
			fprintf(f, "%s %" PRIu64 "\n", folded[i].path, folded[i].value);
	}
}

static int run(const struct command *cmd, int argc, char **argv)
{
	const char *output = NULL;
	enum by by = BY_BYTES;
	struct view view = {};
	const struct opt opts[] = {
		OPT_CALL("by", 'b', "WHAT", &by, set_by, "bytes (default), outstanding, growth"),
		OPT_TEXT("output", 'o', "FILE", &output, "write to a file"),
		OPT_SOURCE(&view.where),
		OPT_FILTER(&view.filter),
		OPT_END
	};
	struct folded *folded;
	struct outfile out;
	struct err err;
	size_t i;
	int ret;

	ret = opts_only(cmd, opts, argc, argv);
	if (ret)
		return ret - 1;
	if (view_load(&view, READ_SITES | READ_STACKS, view_outstanding(&view)))
		return EXIT_ERROR;

	folded = xcalloc(view.nr, sizeof(*folded));
	for (i = 0; i < view.nr; i++)
		folded[i] = (struct folded){ fold(view.site[i]), value_of(view.site[i], by) };
	ret = EXIT_FINE;
	if (out_open(&out, output, &err)) {
		ret = fail(&err);
	} else {
		print(out.f, folded, view.nr);
		if (out_close(&out, &err))
			ret = fail(&err);
	}
	for (i = 0; i < view.nr; i++)
		free(folded[i].path);
	free(folded);
	view_free(&view);
	return ret;
}

static const struct command collapse = {
	.name	 = "collapse",
	.summary = "folded stacks, for tools that draw flame graphs",
	.usage	 = "[options]",
	.text	 = "Prints a line per stack: its functions from the outermost on, separated by\n"
		   "semicolons, and how many bytes are outstanding. Like trends it is about sites\n"
		   "of the classes that are set in the kernel, or that --class asks for.",
	.order	 = 20,
	.run	 = run,
};
LEAKTREND_COMMAND(collapse);
