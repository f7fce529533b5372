// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: sites that an administrator has looked at and found normal.
 *
 * An entry names a stack by its handle, or a function: then all sites are
 * ignored whose stack runs through it, those that come later included. Ignored
 * sites are counted like others and shown in trends, but are no suspects.
 *
 * Locking: everything is under leaktrend_mutex.
 */
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/kstrtox.h>
#include <linux/list.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

#define MAX_ENTRIES	256

static const char symbol_chars[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";

struct lt_ignore {
	struct list_head list;
	depot_stack_handle_t handle;
	char name[];
};

static LIST_HEAD(entries);
static unsigned int nr_entries;
/* Changes with the list. A new site has 0. */
static u32 ignore_seq = 1;

static struct lt_ignore *find_entry(const char *name, depot_stack_handle_t handle)
{
	struct lt_ignore *entry;

	list_for_each_entry(entry, &entries, list) {
		if (handle ? entry->handle == handle : !strcmp(entry->name, name))
			return entry;
	}
	return NULL;
}

/*
 * A compiler's suffix (.isra.0, .constprop.0) is not what people know a function
 * by, nor is the offset in it.
 */
static bool same_function(const char *symbol, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(symbol, name, len) && !isalnum(symbol[len]) &&
	       symbol[len] != '_' && symbol[len] != '$';
}

static struct lt_ignore *find_function(const char *symbol)
{
	struct lt_ignore *entry;

	list_for_each_entry(entry, &entries, list) {
		if (!entry->handle && same_function(symbol, entry->name))
			return entry;
	}
	return NULL;
}

/* The saved text of a stack: a line for each frame, with a blank before it. */
static struct lt_ignore *match_text(const char *text)
{
	struct lt_ignore *entry = NULL;

	while (text && *text && !entry) {
		entry = find_function(text + 1);
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return entry;
}

static const struct lt_ignore *match(const struct lt_site *site)
{
	struct lt_ignore *entry = find_entry("", site->handle);
	char symbol[KSYM_SYMBOL_LEN];
	unsigned long *frames;
	unsigned int nr, i;

	/* What has been there is not what its addresses are now. */
	if (!entry && site->orphaned)
		return match_text(site->symbols);

	nr = stack_depot_fetch(site->handle, &frames);
	for (i = 0; i < nr && !entry; i++) {
		leaktrend_symbol_name(frames[i], symbol);
		entry = find_function(symbol);
	}
	return entry;
}

/**
 * leaktrend_ignore_update() - Find out whether a site is ignored.
 * @site: The site. Nothing is done if nothing has changed.
 *
 * Context: Process context under leaktrend_mutex.
 */
void leaktrend_ignore_update(struct lt_site *site)
{
	lockdep_assert_held(&leaktrend_mutex);

	if (site->ignore_seq == ignore_seq)
		return;
	site->ignored_by = list_empty(&entries) ? NULL : match(site);
	site->ignore_seq = ignore_seq;
}

static int add(const char *name, depot_stack_handle_t handle)
{
	size_t len = strlen(name) + 1;
	struct lt_ignore *entry;

	if (find_entry(name, handle))
		return -EEXIST;
	if (nr_entries >= MAX_ENTRIES)
		return -ENOSPC;

	entry = kzalloc(struct_size(entry, name, len), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	entry->handle = handle;
	strscpy(entry->name, name, len);
	list_add_tail(&entry->list, &entries);
	nr_entries++;
	return 0;
}

static void drop(struct lt_ignore *entry)
{
	list_del(&entry->list);
	nr_entries--;
	kfree(entry);
}

static int change(char *verb, char *name)
{
	struct lt_ignore *entry, *next;
	depot_stack_handle_t handle = 0;

	if (!strcmp(verb, "clear")) {
		if (name)
			return -EINVAL;
		list_for_each_entry_safe(entry, next, &entries, list)
			drop(entry);
		return 0;
	}

	/* Of what symbols are made; a handle fits in, too. */
	if (!name || !*name || name[strspn(name, symbol_chars)])
		return -EINVAL;
	/* No function has a name that begins with a digit. */
	if (isdigit(*name) && (kstrtou32(name, 0, &handle) || !handle))
		return -EINVAL;
	if (strlen(name) >= KSYM_NAME_LEN)
		return -EINVAL;

	if (!strcmp(verb, "add"))
		return add(name, handle);
	if (strcmp(verb, "remove"))
		return -EINVAL;

	entry = find_entry(name, handle);
	if (!entry)
		return -ENOENT;
	drop(entry);
	return 0;
}

/**
 * leaktrend_ignore_command() - Change the list.
 * @command: "add NAME", "remove NAME" or "clear". Is cut into pieces.
 *
 * Verdicts follow at once.
 *
 * Context: Process context, may sleep.
 * Return: 0, -EINVAL if it is no command, -EEXIST, -ENOENT, -ENOSPC if there
 * are too many entries, -ENOMEM.
 */
int leaktrend_ignore_command(char *command)
{
	char *verb = strsep(&command, " ");
	int ret;

	guard(mutex)(&leaktrend_mutex);
	ret = change(verb, command);
	if (ret)
		return ret;

	ignore_seq = ignore_seq + 1 ?: 1;
	leaktrend_engine_judge();
	return 0;
}

/**
 * leaktrend_ignore_show() - Print the list.
 * @m: Where to.
 *
 * Context: Process context, may sleep.
 */
void leaktrend_ignore_show(struct seq_file *m)
{
	struct lt_ignore *entry;
	struct lt_site *site;

	guard(mutex)(&leaktrend_mutex);
	list_for_each_entry(entry, &entries, list) {
		unsigned int sites = 0;
		u64 bytes = 0;

		leaktrend_for_each_site(site) {
			if (site->ignored_by != entry ||
			    !leaktrend_class_wanted(READ_ONCE(site->class)))
				continue;
			sites++;
			bytes += leaktrend_site_bytes(site);
		}
		seq_printf(m, "%s  %u sites, %llu bytes\n", entry->name, sites, bytes);
	}
}
