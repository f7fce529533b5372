// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: a flame graph of outstanding bytes by stack: the outermost function on
 * top, below it those that it called, each as wide as what they have outstanding.
 * What is too narrow to be seen is left out, so that the page stays small.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "flame.h"
#include "table.h"

#define ROW_HEIGHT	20
/* In a thousandth of the whole. */
#define LEAST_WIDTH	2

/**
 * struct flame - A function, called by the one above.
 * @name:  Its name.
 * @bytes: What is outstanding at it and below.
 * @nr:	   Functions called by it.
 * @child: They.
 */
struct flame {
	char *name;
	uint64_t bytes;
	size_t nr;
	struct flame **child;
};

struct flame *flame_new(void)
{
	struct flame *flame = xcalloc(1, sizeof(*flame));

	flame->name = xstrdup("all of the kernel's call paths");
	return flame;
}

static struct flame *child_of(struct flame *flame, const char *name, size_t len)
{
	struct flame *child;
	size_t i;

	for (i = 0; i < flame->nr; i++) {
		child = flame->child[i];
		if (!strncmp(child->name, name, len) && !child->name[len])
			return child;
	}
	flame->child = xrealloc(flame->child, flame->nr + 1, sizeof(*flame->child));
	child = xcalloc(1, sizeof(*child));
	child->name = xstrndup(name, len);
	flame->child[flame->nr++] = child;
	return child;
}

void flame_add(struct flame *flame, const struct stack *stack, uint64_t bytes)
{
	static const char unknown[] = "(stack not known)";
	unsigned int i;

	flame->bytes += bytes;
	if (!stack || !stack->nr) {
		child_of(flame, unknown, strlen(unknown))->bytes += bytes;
		return;
	}
	for (i = stack->nr; i--;) {
		const char *name;
		size_t len = frame_name(stack->line[i], &name);

		flame = child_of(flame, name, len);
		flame->bytes += bytes;
	}
}

static int cmp_bytes(const void *a, const void *b)
{
	const struct flame *x = *(const struct flame * const *)a;
	const struct flame *y = *(const struct flame * const *)b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* Widest first. Returns how many rows there are down to what can be seen. */
static unsigned int measure(struct flame *flame, uint64_t total)
{
	unsigned int rows = 0;
	size_t i;

	if (flame->bytes * 1000.0 < (double)total * LEAST_WIDTH)
		return 0;
	if (flame->nr)
		qsort(flame->child, flame->nr, sizeof(*flame->child), cmp_bytes);
	for (i = 0; i < flame->nr; i++) {
		unsigned int below = measure(flame->child[i], total);

		rows = below > rows ? below : rows;
	}
	return rows + 1;
}

static void draw(const struct flame *flame, double total, double x, unsigned int row, FILE *f,
		 void (*text)(FILE *f, const char *s))
{
	double width = flame->bytes / total;
	char bytes[UNIT_ROOM];
	size_t i;

	if (width * 1000 < LEAST_WIDTH)
		return;
	fprintf(f, "<div tabindex=\"0\" style=\"left:%.3f%%;width:%.3f%%;top:%upx\" data-x=\"%.6f\" "
		"data-w=\"%.6f\" title=\"", x * 100, width * 100, row * ROW_HEIGHT, x, width);
	text(f, flame->name);
	fprintf(f, ": %s, %.1f %%\">", unit_bytes(bytes, flame->bytes), width * 100);
	text(f, flame->name);
	fputs("</div>\n", f);
	for (i = 0; i < flame->nr; i++) {
		draw(flame->child[i], total, x, row + 1, f, text);
		x += flame->child[i]->bytes / total;
	}
}

void flame_html(struct flame *flame, FILE *f, void (*text)(FILE *f, const char *s))
{
	unsigned int rows;

	if (!flame->bytes) {
		fputs("<p>Nothing is outstanding.</p>\n", f);
		return;
	}
	rows = measure(flame, flame->bytes);
	fprintf(f, "<div class=\"flame\" style=\"height:%upx\">\n", rows * ROW_HEIGHT);
	draw(flame, flame->bytes, 0, 0, f, text);
	fputs("</div>\n", f);
}

void flame_free(struct flame *flame)
{
	size_t i;

	for (i = 0; i < flame->nr; i++)
		flame_free(flame->child[i]);
	free(flame->child);
	free(flame->name);
	free(flame);
}
