// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: the files to control it, and its status.
 *
 * All are in debugfs, leaktrend/, for root only. A write is taken as a whole or
 * not at all.
 */
#include <linux/array_size.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/string_choices.h>
#include <linux/uaccess.h>
#include <linux/vmstat.h>

#include "internal.h"

/* The longest is "remove" with the name of a function. */
#define MAX_WRITE	(KSYM_NAME_LEN + 16)

/**
 * struct control - A file that can be written.
 * @name:  Of the file.
 * @show:  Prints its content.
 * @write: Takes what was written, as a string without newline at its end.
 */
struct control {
	const char *name;
	void (*show)(struct seq_file *m);
	int (*write)(char *text);
};

static int write_line(const char __user *ubuf, size_t count,
		      int (*take)(void *what, char *text), void *what)
{
	char *text;
	int ret;

	if (!count || count >= MAX_WRITE)
		return -EINVAL;
	text = memdup_user_nul(ubuf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);

	if (text[count - 1] == '\n')
		text[--count] = '\0';
	/* Something after a NUL would go unread, and kstrtox() skips a newline. */
	if (strlen(text) != count || strchr(text, '\n'))
		ret = -EINVAL;
	else
		ret = take(what, text);
	kfree(text);

	return ret;
}

/* Tunables */

static int param_show(struct seq_file *m, void *v)
{
	const struct lt_param_desc *desc = m->private;

	seq_printf(m, "%llu\n", READ_ONCE(*desc->value));
	return 0;
}

static int param_open(struct inode *inode, struct file *file)
{
	return single_open(file, param_show, inode->i_private);
}

static int param_take(void *what, char *text)
{
	return leaktrend_param_change(what, text);
}

static ssize_t param_write(struct file *file, const char __user *ubuf,
			   size_t count, loff_t *ppos)
{
	int ret = write_line(ubuf, count, param_take,
			     file_inode(file)->i_private);

	return ret ?: count;
}

static const struct file_operations param_fops = {
	.owner		= THIS_MODULE,
	.open		= param_open,
	.read		= seq_read,
	.write		= param_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/* Controls */

static u32 nr_clears;

/* kstrtobool() looks at the first letters only: "1000" would do as well. */
static int parse_switch(const char *text)
{
	static const char * const words[] = { "0", "1", "n", "y", "off", "on" };
	int i = match_string(words, ARRAY_SIZE(words), text);

	return i < 0 ? -EINVAL : i % 2;
}

static void enable_show(struct seq_file *m)
{
	seq_printf(m, "%d\n", READ_ONCE(leaktrend_running));
}

static int enable_write(char *text)
{
	int on = parse_switch(text);

	if (on < 0)
		return on;
	if (on)
		return leaktrend_enable();
	leaktrend_disable();
	return 0;
}

/* For files that do something when a true value is written. */
static int must_be_true(const char *text)
{
	return parse_switch(text) == 1 ? 0 : -EINVAL;
}

static void scan_show(struct seq_file *m)
{
	struct lt_engine_stats stats;

	leaktrend_engine_stats(&stats);
	seq_printf(m, "%u\n", stats.rounds);
}

static int scan_write(char *text)
{
	return must_be_true(text) ?: leaktrend_engine_scan();
}

static void clear_show(struct seq_file *m)
{
	seq_printf(m, "%u\n", READ_ONCE(nr_clears));
}

static int clear_write(char *text)
{
	int ret = must_be_true(text) ?: leaktrend_clear();

	if (!ret)
		WRITE_ONCE(nr_clears, nr_clears + 1);
	return ret;
}

static const struct control controls[] = {
	{ "enable", enable_show, enable_write },
	{ "scan", scan_show, scan_write },
	{ "clear", clear_show, clear_write },
	{ "ignore", leaktrend_ignore_show, leaktrend_ignore_command },
	{ "classes", leaktrend_classes_show, leaktrend_classes_command },
};

static int control_show(struct seq_file *m, void *v)
{
	const struct control *control = m->private;

	control->show(m);
	return 0;
}

static int control_open(struct inode *inode, struct file *file)
{
	return single_open(file, control_show, inode->i_private);
}

static int control_take(void *what, char *text)
{
	const struct control *control = what;

	return control->write(text);
}

static ssize_t control_write(struct file *file, const char __user *ubuf,
			     size_t count, loff_t *ppos)
{
	int ret = write_line(ubuf, count, control_take,
			     file_inode(file)->i_private);

	return ret ?: count;
}

static const struct file_operations control_fops = {
	.owner		= THIS_MODULE,
	.open		= control_open,
	.read		= seq_read,
	.write		= control_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/* Status */

static void show_memory(struct seq_file *m, unsigned long live)
{
	u64 page_ext = (u64)get_num_physpages() * leaktrend_ops.size +
		       leaktrend_pages_memory();
	u64 table = leaktrend_table_memory();
	u64 samples = (u64)live * leaktrend_sample_size();
	u64 sites = leaktrend_site_memory();

	seq_printf(m, "memory_page_ext: %llu\n", page_ext);
	seq_printf(m, "memory_table: %llu\n", table);
	seq_printf(m, "memory_samples: %llu\n", samples);
	seq_printf(m, "memory_sites: %llu\n", sites);
	seq_printf(m, "memory_total: %llu\n", page_ext + table + samples + sites);
}

/**
 * struct totals - Of all sites.
 * @sites:   Number of them.
 * @objects: Outstanding at those of the slab allocator.
 * @bytes:   The same.
 * @pages:   Outstanding at those of the page allocator, by class.
 */
struct totals {
	u32 sites;
	u64 objects;
	u64 bytes;
	u64 pages[LT_NR_CLASSES];
};

static void add_up(struct totals *totals)
{
	struct lt_site *site;

	mutex_lock(&leaktrend_mutex);
	leaktrend_for_each_site(site) {
		u64 outstanding = leaktrend_site_outstanding(site);

		if (site->kind == LT_KIND_PAGE) {
			totals->pages[READ_ONCE(site->class)] += outstanding;
		} else {
			totals->objects += outstanding;
			totals->bytes += leaktrend_site_bytes(site);
		}
		totals->sites++;
		cond_resched();
	}
	mutex_unlock(&leaktrend_mutex);

	/* The page allocator's samples end where slabs begin, the kernel counts on. */
	totals->pages[LT_CLASS_SLAB] =
		global_node_page_state_pages(NR_SLAB_RECLAIMABLE_B) +
		global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B);
}

static void show_pages(struct seq_file *m, const struct totals *totals)
{
	static const enum lt_class shown[] = {
		LT_CLASS_KERNEL, LT_CLASS_USER, LT_CLASS_PAGE_TABLE, LT_CLASS_SLAB,
	};
	int i;

	seq_printf(m, "pages_counted: %s\n", leaktrend_page_owner() ? "exact" : "sampled");
	for (i = 0; i < ARRAY_SIZE(shown); i++)
		seq_printf(m, "pages_%s: %llu\n", leaktrend_class_names[shown[i]],
			   totals->pages[shown[i]]);
}

static int status_show(struct seq_file *m, void *v)
{
	static const char * const count_names[] = {
		[LT_DROPPED_MEMORY]   = "dropped_memory",
		[LT_DROPPED_STACK]    = "dropped_stack",
		[LT_DROPPED_SITES]    = "dropped_sites",
		[LT_SKIPPED_NESTED]   = "skipped_nested",
		[LT_SKIPPED_KFENCE]   = "skipped_kfence",
		[LT_SKIPPED_NOLOCK]   = "skipped_nolock",
		[LT_SKIPPED_INTERNAL] = "skipped_internal",
		[LT_MISSED_FREES]     = "missed_frees",
	};
	unsigned long taken, freed;
	struct lt_governor_stats cost;
	struct lt_engine_stats stats;
	struct totals totals = {};
	int i;

	if (!leaktrend_available()) {
		seq_puts(m, "state: off (boot with leaktrend=on or leaktrend=standby)\n");
		return 0;
	}

	leaktrend_engine_stats(&stats);
	leaktrend_governor_stats(&cost);
	leaktrend_sample_counts(&taken, &freed);
	add_up(&totals);

	seq_printf(m, "state: %s\n", READ_ONCE(leaktrend_running) ? "on" : "standby");
	seq_printf(m, "page_owner: %s\n", str_on_off(leaktrend_page_owner()));
	seq_printf(m, "sample_rate: %llu\n", lt_param(sample_rate));
	seq_printf(m, "effective_rate: %u\n", cost.rate);
	seq_printf(m, "max_overhead: %llu\n", lt_param(max_overhead));
	seq_printf(m, "overhead_permille: %u.%u\n", cost.ppm / 1000, cost.ppm / 100 % 10);
	seq_printf(m, "interval_ms: %llu\n", lt_param(interval_ms));
	seq_printf(m, "rounds: %u\n", stats.rounds);
	seq_printf(m, "last_round_us: %u\n", stats.duration_us);
	seq_printf(m, "last_round_sites: %u\n", stats.sites);
	seq_printf(m, "samples_live: %lu\n", taken - freed);
	seq_printf(m, "samples_taken: %lu\n", taken);
	seq_printf(m, "samples_freed: %lu\n", freed);
	seq_printf(m, "sites: %u\n", totals.sites);
	seq_printf(m, "max_sites: %llu\n", lt_param(max_sites));
	seq_printf(m, "suspects: %u\n", stats.suspects);
	seq_printf(m, "ignored: %u\n", stats.ignored);
	seq_printf(m, "outstanding_objects: %llu\n", totals.objects);
	seq_printf(m, "outstanding_bytes: %llu\n", totals.bytes);
	show_pages(m, &totals);
	for (i = 0; i < LT_NR_COUNTS; i++)
		seq_printf(m, "%s: %ld\n", count_names[i],
			   atomic_long_read(&leaktrend_counts[i]));
	show_memory(m, taken - freed);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(status);

/* Late, as some stand beside page_owner's. */
static int __init leaktrend_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("leaktrend", NULL);
	unsigned int i;

	debugfs_create_file("status", 0400, dir, NULL, &status_fops);
	/* With nothing to see or to set, say only why. */
	if (!leaktrend_available())
		return 0;

	leaktrend_report_files(dir);
	if (leaktrend_page_owner())
		leaktrend_page_owner_files();
	for (i = 0; i < ARRAY_SIZE(controls); i++)
		debugfs_create_file(controls[i].name, 0600, dir,
				    (void *)&controls[i], &control_fops);
	for (i = 0; i < leaktrend_nr_params; i++)
		debugfs_create_file(leaktrend_param_descs[i]->name, 0600, dir,
				    (void *)leaktrend_param_descs[i], &param_fops);
	return 0;
}
late_initcall_sync(leaktrend_debugfs_init);
