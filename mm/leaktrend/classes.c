// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: which classes of memory the reports are about.
 *
 * Every site is tracked and judged. What grows because processes want it, or is
 * counted already, is not shown unless someone asks for it.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "internal.h"

const char * const leaktrend_class_names[LT_NR_CLASSES] = {
	[LT_CLASS_KERNEL]	= "kernel",
	[LT_CLASS_RECLAIMABLE]	= "reclaimable",
	[LT_CLASS_USER]		= "user",
	[LT_CLASS_PAGE_TABLE]	= "page_table",
	[LT_CLASS_SLAB]		= "slab",
};

#define DEFAULT_CLASSES	(BIT(LT_CLASS_KERNEL) | BIT(LT_CLASS_RECLAIMABLE))
#define ALL_CLASSES	GENMASK(LT_NR_CLASSES - 1, 0)

static unsigned long classes = DEFAULT_CLASSES;

/**
 * leaktrend_class_wanted() - Are the reports about a class?
 * @class: The class.
 *
 * Return: true if its sites are to be shown.
 */
bool leaktrend_class_wanted(enum lt_class class)
{
	return READ_ONCE(classes) & BIT(class);
}

static int parse_classes(char *text, unsigned long *wanted)
{
	char *name;
	int i;

	text = strim(text);
	if (!strcmp(text, "default"))
		*wanted = DEFAULT_CLASSES;
	else if (!strcmp(text, "all"))
		*wanted = ALL_CLASSES;
	else
		*wanted = 0;
	if (*wanted)
		return 0;

	while ((name = strsep(&text, " \t"))) {
		if (!*name)
			continue;
		i = match_string(leaktrend_class_names, LT_NR_CLASSES, name);
		if (i < 0)
			return -EINVAL;
		*wanted |= BIT(i);
	}
	return *wanted ? 0 : -EINVAL;
}

/**
 * leaktrend_classes_command() - Choose what the reports are about.
 * @command: Names of classes, "default" or "all". Is changed.
 *
 * Context: Process context, may sleep.
 * Return: 0, or -EINVAL if there is another word or none. Then nothing changes.
 */
int leaktrend_classes_command(char *command)
{
	unsigned long wanted;
	int ret = parse_classes(command, &wanted);

	if (ret)
		return ret;

	mutex_lock(&leaktrend_mutex);
	WRITE_ONCE(classes, wanted);
	leaktrend_engine_judge();
	mutex_unlock(&leaktrend_mutex);
	return 0;
}

/**
 * leaktrend_classes_show() - Print what was chosen.
 * @m: Where to.
 */
void leaktrend_classes_show(struct seq_file *m)
{
	const char *blank = "";
	int i;

	for (i = 0; i < LT_NR_CLASSES; i++) {
		if (leaktrend_class_wanted(i)) {
			seq_printf(m, "%s%s", blank, leaktrend_class_names[i]);
			blank = " ";
		}
	}
	seq_putc(m, '\n');
}
