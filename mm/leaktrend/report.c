// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: the files that show sites and objects.
 *
 * A file of sites fixes at open which sites it shows and in what order, so that
 * none is lost or repeated whatever happens while it is read. Each is copied at
 * the moment it is printed, and printed without any lock. If tracking is cleared
 * meanwhile the rest is gone, and the file says so.
 */
#include <linux/dcache.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/page_owner.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "internal.h"

static const char * const verdict_names[] = {
	[LT_NONE]	  = "NONE",
	[LT_IGNORED]	  = "IGNORED",
	[LT_SETTLED]	  = "SETTLED",
	[LT_CACHE_GROWTH] = "CACHE_GROWTH",
	[LT_GROWING]	  = "GROWING",
	[LT_LIKELY_LEAK]  = "LIKELY_LEAK",
	[LT_ORPHANED]	  = "ORPHANED",
};

static const char * const kind_names[] = {
	[LT_KIND_SLAB]	= "slab",
	[LT_KIND_PAGE]	= "page",
};

struct report_item {
	struct lt_site *site;
	enum lt_verdict verdict;
	u64 growth;
};

struct report;

/**
 * struct report_desc - A file of sites.
 * @show:    Prints a snapshot.
 * @wanted:  Which sites it is about, NULL for all.
 * @ranked:  The worst first, else in the order of their numbers.
 * @aligned: The names of fields are filled up with blanks.
 * @header:  Printed before the first, or NULL.
 * @empty:   Printed if there are none, with the number of rounds and sites and
 *	     the state, or NULL.
 */
struct report_desc {
	void (*show)(struct seq_file *m, struct report *report);
	bool (*wanted)(const struct lt_site *site);
	bool ranked;
	bool aligned;
	const char *header;
	const char *empty;
};

/**
 * struct report - An open file of sites.
 * @epoch:   Of the sites in @items.
 * @nr:	     How many there are.
 * @desc:    What it shows, and how.
 * @cut:     It has been said that the rest is gone.
 * @snap:    The site that is being printed.
 * @scratch: For its slope.
 * @series:  For its slope.
 * @text:    For a symbol.
 * @items:   What to show.
 */
struct report {
	u32 epoch;
	unsigned int nr;
	const struct report_desc *desc;
	bool cut;
	struct lt_snapshot snap;
	s64 scratch[LT_PAIRS];
	u64 series[LT_RING];
	char text[KSYM_SYMBOL_LEN];
	struct report_item items[];
};

static int snapshot_slope(struct report *report, struct lt_slope *slope)
{
	const struct lt_snapshot *snap = &report->snap;
	u32 i;

	for (i = 0; i < snap->nr_rounds; i++)
		report->series[i] = snap->ring[i].bytes;
	leaktrend_slope(snap->time_ms, report->series, snap->nr_rounds,
			report->scratch, slope);
	return leaktrend_mann_kendall(report->series, snap->nr_rounds);
}

static u32 snapshot_elders(const struct lt_snapshot *snap)
{
	return snap->nr_rounds ? snap->ring[snap->nr_rounds - 1].elders : 0;
}

static u32 snapshot_low(const struct lt_snapshot *snap)
{
	return snap->nr_rounds ? snap->ring[snap->nr_rounds - 1].low : 0;
}

static void show_stack(struct seq_file *m, depot_stack_handle_t handle, char *text)
{
	unsigned long *frames;
	unsigned int nr, i;

	nr = stack_depot_fetch(handle, &frames);
	for (i = 0; i < nr; i++) {
		leaktrend_symbol(frames[i], text);
		seq_printf(m, " %s\n", text);
	}
}

/* With the names that were saved, if its module has gone. */
static void show_site_stack(struct seq_file *m, struct report *report)
{
	if (report->snap.symbols[0])
		seq_puts(m, report->snap.symbols);
	else
		show_stack(m, report->snap.handle, report->text);
}

static void show_key(struct seq_file *m, const struct report *report, const char *key)
{
	seq_printf(m, report->desc->aligned ? "%-8s: " : "%s: ", key);
}

static void show_numbers(struct seq_file *m, const struct report *report)
{
	const struct lt_snapshot *snap = &report->snap;
	u32 i;

	show_key(m, report, "trend");
	seq_putc(m, '[');
	for (i = 0; i < snap->nr_rounds; i++)
		seq_printf(m, "%s%u", i ? ", " : "", snap->ring[i].outstanding);
	seq_puts(m, "]\n");
}

static void show_time(struct seq_file *m, u64 ms)
{
	u32 rest;
	u64 seconds = div_u64_rem(ms, MSEC_PER_SEC, &rest);

	seq_printf(m, "%llu.%03u s", seconds, rest);
}

static void show_since(struct seq_file *m, const struct lt_snapshot *snap, u64 ms)
{
	show_time(m, snap->now_ms > ms ? snap->now_ms - ms : 0);
	seq_puts(m, " ago");
}

static const char *show_missing_size(struct seq_file *m, const char *comma,
				     const struct lt_evidence *e)
{
	u64 bytes = leaktrend_evidence_bytes(e);

	if (bytes >= lt_param(min_bytes))
		return comma;
	seq_printf(m, "%ssize (%llu of %llu bytes)", comma, bytes, lt_param(min_bytes));
	return ", ";
}

static const char *show_missing_age(struct seq_file *m, const char *comma,
				    const struct lt_evidence *e)
{
	if (e->age_ms >= lt_param(min_age_ms))
		return comma;
	seq_printf(m, "%sage (", comma);
	show_time(m, e->age_ms);
	seq_puts(m, " of ");
	show_time(m, lt_param(min_age_ms));
	seq_putc(m, ')');
	return ", ";
}

/* What a site that grows lacks to be a leak. */
static void show_missing(struct seq_file *m, const struct lt_evidence *e)
{
	const char *comma = "";

	if (e->class > LT_CLASS_RECLAIMABLE) {
		seq_printf(m, "%s memory is no leak of the kernel's",
			   leaktrend_class_names[e->class]);
		return;
	}
	comma = show_missing_size(m, comma, e);
	comma = show_missing_age(m, comma, e);
	if (e->error > LT_MAX_ERROR) {
		seq_printf(m, "%serror (%u of %u %%)", comma, e->error / 10,
			   LT_MAX_ERROR / 10);
		comma = ", ";
	}
	if (!e->rising && !e->standing) {
		seq_printf(m, "%sa rise in the last %llu rounds", comma, lt_param(min_rounds));
		comma = ", ";
	}
	if (e->class == LT_CLASS_RECLAIMABLE && !(e->reclaimed && e->low_grew)) {
		seq_printf(m, "%slow-water mark that grows although reclaim runs", comma);
		comma = ", ";
	}
	if (!*comma)
		seq_puts(m, "nothing");
}

/* Which rules held in the last round. */
static void show_rules(struct seq_file *m, const struct report *report)
{
	const struct lt_snapshot *snap = &report->snap;
	const struct lt_evidence *e = &snap->evidence;
	bool grew = e->low_grew || e->elders_grew;

	show_key(m, report, "held");
	if (grew) {
		seq_printf(m, "growth of %s over %u", !e->elders_grew ? "low-water mark" :
			   !e->low_grew ? "elders" : "low-water mark and elders",
			   e->entries);
		if (e->level)
			seq_printf(m, " x %u", leaktrend_history_span(e->level));
		seq_printf(m, " rounds, by %llu bytes since ", e->grown);
		show_since(m, snap, e->since_ms);
	} else {
		seq_puts(m, "no growth");
	}
	if (leaktrend_evidence_bytes(e) >= lt_param(min_bytes))
		seq_puts(m, "; size");
	if (e->age_ms >= lt_param(min_age_ms))
		seq_puts(m, "; age");
	if (leaktrend_evidence_bytes(e) && e->error <= LT_MAX_ERROR)
		seq_puts(m, "; error");
	if (e->class == LT_CLASS_RECLAIMABLE && e->reclaimed)
		seq_puts(m, "; reclaim ran");
	seq_putc(m, '\n');

	if (!grew)
		return;
	show_key(m, report, "missing");
	show_missing(m, e);
	seq_putc(m, '\n');
}

/* What is known of the time, and what follows from it. */
static void show_evidence(struct seq_file *m, struct report *report)
{
	const struct lt_snapshot *snap = &report->snap;
	struct lt_slope slope;
	int tau;

	tau = snapshot_slope(report, &slope);

	if (snap->state.changed_ms) {
		show_key(m, report, "changed");
		show_since(m, snap, snap->state.changed_ms);
		seq_putc(m, '\n');
	}
	show_rules(m, report);
	show_key(m, report, "oldest");
	show_time(m, snap->age_ms);
	seq_putc(m, '\n');
	show_key(m, report, "survive");
	seq_printf(m, "%u of %u generations\n", snap->survivors, snap->generations);
	show_key(m, report, "elders");
	seq_printf(m, "%u\n", snapshot_elders(snap));
	show_key(m, report, "growth");
	seq_printf(m, "%+lld bytes/h (%+lld .. %+lld), tau=%s%d.%02d (%u rounds)\n",
		   slope.median, slope.low, slope.high,
		   tau < 0 ? "-" : "", abs(tau) / 100, abs(tau) % 100,
		   snap->nr_rounds);
}

static void show_verdict(struct seq_file *m, const struct report *report)
{
	show_key(m, report, "status");
	seq_printf(m, "%s\n", verdict_names[report->snap.verdict]);
}

static void show_class(struct seq_file *m, const struct report *report)
{
	show_key(m, report, "class");
	seq_printf(m, "%s\n", leaktrend_class_names[report->snap.class]);
}

static void show_block(struct seq_file *m, struct report *report)
{
	const struct lt_snapshot *snap = &report->snap;
	u32 error;

	error = leaktrend_error_permille(snap->variance, snap->outstanding);

	seq_printf(m, "site #%u, stack_id=%#x, outstanding=%llu, bytes=%llu\n",
		   snap->id, snap->handle, snap->outstanding, snap->bytes);
	seq_printf(m, "frees   : %llu\n", snap->frees);
	show_numbers(m, report);
	show_verdict(m, report);
	seq_printf(m, "kind    : %s\n", kind_names[snap->kind]);
	show_class(m, report);
	if (snap->kind == LT_KIND_SLAB)
		seq_printf(m, "cache   : %s%s\n", snap->cache_name,
			   snap->mixed ? " and others" : "");
	seq_printf(m, "allocs  : %llu\n", snap->allocs);
	show_evidence(m, report);
	seq_printf(m, "error   : +-%u.%u %%\n", error / 10, error % 10);
	seq_puts(m, "stack trace:\n");
	show_site_stack(m, report);
	seq_putc(m, '\n');
}

/* Begins like the records of page_owner_stacks/. */
static void show_page_owner(struct seq_file *m, struct report *report)
{
	const struct lt_snapshot *snap = &report->snap;

	show_site_stack(m, report);
	seq_printf(m, "handle: %u\n", snap->handle);
	seq_printf(m, "nr_base_pages: %llu\n", snap->outstanding);
	show_class(m, report);
	show_verdict(m, report);
	show_numbers(m, report);
	show_key(m, report, "low");
	seq_printf(m, "%u\n", snapshot_low(snap));
	show_evidence(m, report);
	seq_putc(m, '\n');
}

static void show_line(struct seq_file *m, struct report *report)
{
	struct lt_snapshot *snap = &report->snap;
	struct lt_slope slope;

	snapshot_slope(report, &slope);
	strreplace(snap->cache_name, ' ', '_');
	seq_printf(m, "%u %s %s %#x %s %s %llu %llu %llu %llu %u %u %u %llu %lld %u\n",
		   snap->id, kind_names[snap->kind],
		   leaktrend_class_names[snap->class], snap->handle,
		   snap->kind == LT_KIND_SLAB ? snap->cache_name : "-",
		   verdict_names[snap->verdict],
		   snap->outstanding, snap->bytes, snap->allocs, snap->frees,
		   snapshot_low(snap), snapshot_elders(snap), snap->survivors, snap->age_ms,
		   slope.median,
		   leaktrend_error_permille(snap->variance, snap->outstanding));
}

static void *report_start(struct seq_file *m, loff_t *pos)
{
	struct report *report = m->private;

	if (*pos == 0)
		return SEQ_START_TOKEN;
	return *pos <= report->nr ? &report->items[*pos - 1] : NULL;
}

static void *report_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return report_start(m, pos);
}

static void report_stop(struct seq_file *m, void *v)
{
}

static int report_show(struct seq_file *m, void *v)
{
	struct report *report = m->private;
	struct report_item *item = v;
	bool valid;

	if (v == SEQ_START_TOKEN) {
		if (report->desc->header)
			seq_puts(m, report->desc->header);
		if (!report->nr && report->desc->empty) {
			struct lt_engine_stats stats;

			leaktrend_engine_stats(&stats);
			seq_printf(m, report->desc->empty, stats.rounds, stats.sites,
				   READ_ONCE(leaktrend_running) ? "on" : "standby");
		}
		return 0;
	}

	rcu_read_lock();
	/* Changed before the grace period after which sites are freed. */
	valid = READ_ONCE(leaktrend_epoch) == report->epoch;
	if (valid)
		leaktrend_site_snapshot(item->site, &report->snap);
	rcu_read_unlock();

	if (valid) {
		report->desc->show(m, report);
	} else if (!report->cut) {
		seq_puts(m, "# cleared while this was read\n");
		report->cut = !seq_has_overflowed(m);
	}
	return 0;
}

static const struct seq_operations report_seq_ops = {
	.start	= report_start,
	.next	= report_next,
	.stop	= report_stop,
	.show	= report_show,
};

static int cmp_worst_first(const void *a, const void *b)
{
	const struct report_item *x = a, *y = b;

	if (x->verdict != y->verdict)
		return x->verdict > y->verdict ? -1 : 1;
	if (x->growth != y->growth)
		return x->growth > y->growth ? -1 : 1;
	return 0;
}

static void fill_item(struct report_item *item, struct lt_site *site)
{
	u64 first, last;

	spin_lock(&site->lock);
	last = site->ring[site->last_round % LT_RING].bytes;
	first = site->ring[(site->last_round + 1 - site->nr_rounds) % LT_RING].bytes;
	item->site = site;
	item->verdict = site->verdict;
	item->growth = site->nr_rounds && last > first ? last - first : 0;
	spin_unlock(&site->lock);
}

static bool is_outstanding(const struct lt_site *site)
{
	return leaktrend_site_outstanding(site) > 0 &&
	       leaktrend_class_wanted(READ_ONCE(site->class));
}

static bool is_page_owner_stack(const struct lt_site *site)
{
	u64 pages = leaktrend_site_outstanding(site);

	return site->kind == LT_KIND_PAGE && pages && pages >= page_owner_threshold();
}

static bool is_page_owner_suspect(const struct lt_site *site)
{
	return is_page_owner_stack(site) && leaktrend_is_suspect(site);
}

/*
 * Sites come and go, so the room for them is a guess until leaktrend_mutex keeps
 * them; those that come after that are not shown.
 */
static int report_open(struct inode *inode, struct file *file)
{
	const struct report_desc *desc = inode->i_private;
	struct lt_site *site;
	struct report *report;
	unsigned int room;
	int ret;

	mutex_lock(&leaktrend_mutex);
	room = leaktrend_nr_sites();
	report = kvzalloc(struct_size(report, items, room), GFP_KERNEL);
	if (!report) {
		mutex_unlock(&leaktrend_mutex);
		return -ENOMEM;
	}
	report->epoch = leaktrend_epoch;
	report->desc = desc;
	leaktrend_for_each_site(site) {
		if (report->nr == room)
			break;
		if (!desc->wanted || desc->wanted(site))
			fill_item(&report->items[report->nr++], site);
		cond_resched();
	}
	mutex_unlock(&leaktrend_mutex);

	if (desc->ranked)
		sort(report->items, report->nr, sizeof(*report->items),
		     cmp_worst_first, NULL);

	ret = seq_open(file, &report_seq_ops);
	if (ret) {
		kvfree(report);
		return ret;
	}
	((struct seq_file *)file->private_data)->private = report;
	return 0;
}

static int report_release(struct inode *inode, struct file *file)
{
	kvfree(((struct seq_file *)file->private_data)->private);
	return seq_release(inode, file);
}

#define SITES_HEADER \
	"# leaktrend-sites-v2 site kind class stack_id cache verdict outstanding bytes allocs frees low elders generations oldest_ms growth_bytes_h error_permille\n"
#define NO_SUSPECTS	"# no suspects after %u rounds (sites: %u, state: %s)\n"
#define NOTHING		"# nothing outstanding after %u rounds (sites: %u, state: %s)\n"

static const struct report_desc sites_desc = {
	.show	 = show_line,
	.header	 = SITES_HEADER,
};

static const struct report_desc trends_desc = {
	.show	 = show_block,
	.wanted	 = is_outstanding,
	.ranked	 = true,
	.aligned = true,
	.empty	 = NOTHING,
};

static const struct report_desc suspects_desc = {
	.show	 = show_block,
	.wanted	 = leaktrend_is_suspect,
	.ranked	 = true,
	.aligned = true,
	.empty	 = NO_SUSPECTS,
};

static const struct report_desc page_trends_desc = {
	.show	 = show_page_owner,
	.wanted	 = is_page_owner_stack,
	.ranked	 = true,
	.empty	 = NOTHING,
};

static const struct report_desc page_suspects_desc = {
	.show	 = show_page_owner,
	.wanted	 = is_page_owner_suspect,
	.ranked	 = true,
	.empty	 = NO_SUSPECTS,
};

static const struct file_operations report_fops = {
	.owner		= THIS_MODULE,
	.open		= report_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= report_release,
};

/* Objects: a bucket of the sample table at a time. */

/**
 * struct object_report - An open file of objects.
 * @objects: Copy of a bucket.
 * @max:     Room in it.
 * @text:    For a symbol.
 * @names:   For the stack of a module that has gone.
 */
struct object_report {
	struct lt_object *objects;
	unsigned int max;
	char text[KSYM_SYMBOL_LEN];
	char names[LT_SYMBOLS_LEN];
};

static void *objects_start(struct seq_file *m, loff_t *pos)
{
	/* A bucket's number plus one, as NULL is the end. */
	return *pos < leaktrend_table_buckets() ? (void *)(unsigned long)(*pos + 1) : NULL;
}

static void *objects_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return objects_start(m, pos);
}

static void objects_stop(struct seq_file *m, void *v)
{
}

/* The form of page_owner's records, so that page_owner_sort understands them. */
static void show_object(struct seq_file *m, struct lt_object *object,
			struct object_report *report)
{
	struct lt_sample *sample = &object->sample;

	/* A task names itself as it likes, but not in several lines. */
	strreplace(sample->comm, '\n', '?');
	seq_printf(m, "Page allocated via order %u, mask %#x(%pGg), pid %d, tgid %d (%s), ts %llu ns\n",
		   get_order(sample->size), sample->gfp, &sample->gfp, sample->pid,
		   sample->tgid, sample->comm, sample->ts_ns);
	/* Where page_owner tells about the page. */
	seq_printf(m, "Object size %u cache %s weight %u stack_id %#x\n",
		   sample->size, object->cache_name, sample->weight,
		   object->handle);
	if (object->named &&
	    leaktrend_orphans_names(object->site, object->handle, report->names))
		seq_puts(m, report->names);
	else
		show_stack(m, object->handle, report->text);
	seq_putc(m, '\n');
}

static int objects_show(struct seq_file *m, void *v)
{
	unsigned long bucket = (unsigned long)v - 1;
	struct object_report *report = m->private;
	unsigned int nr, i;

	while (1) {
		nr = leaktrend_table_copy(bucket, report->objects, report->max);
		if (nr <= report->max)
			break;
		/* With room to spare, not to come back for each that is added. */
		kvfree(report->objects);
		report->max = 0;
		report->objects = kvcalloc(2 * nr, sizeof(*report->objects),
					   GFP_KERNEL);
		if (!report->objects)
			return -ENOMEM;
		report->max = 2 * nr;
	}

	for (i = 0; i < nr; i++)
		show_object(m, &report->objects[i], report);
	cond_resched();
	/* Most are empty; do not end the read at the first of them. */
	return nr ? 0 : SEQ_SKIP;
}

static const struct seq_operations objects_seq_ops = {
	.start	= objects_start,
	.next	= objects_next,
	.stop	= objects_stop,
	.show	= objects_show,
};

static int objects_open(struct inode *inode, struct file *file)
{
	struct object_report *report;

	report = __seq_open_private(file, &objects_seq_ops, sizeof(*report));
	return report ? 0 : -ENOMEM;
}

static int objects_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct object_report *report = m->private;

	kvfree(report->objects);
	return seq_release_private(inode, file);
}

static const struct file_operations objects_fops = {
	.owner		= THIS_MODULE,
	.open		= objects_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= objects_release,
};

static void report_file(const char *name, struct dentry *dir,
			const struct report_desc *desc)
{
	debugfs_create_file(name, 0400, dir, (void *)desc, &report_fops);
}

/**
 * leaktrend_report_files() - Make the files of this file.
 * @dir: Where.
 *
 * Context: At boot.
 */
void __init leaktrend_report_files(struct dentry *dir)
{
	report_file("suspects", dir, &suspects_desc);
	report_file("trends", dir, &trends_desc);
	report_file("sites", dir, &sites_desc);
	debugfs_create_file("objects", 0400, dir, NULL, &objects_fops);
}

/**
 * leaktrend_page_owner_files() - Make those that stand beside page_owner's.
 *
 * Context: At boot, after page_owner has made its own.
 */
void __init leaktrend_page_owner_files(void)
{
	struct dentry *dir = debugfs_lookup("page_owner_stacks", NULL);

	if (!dir)
		return;
	report_file("show_trends", dir, &page_trends_desc);
	report_file("show_suspects", dir, &page_suspects_desc);
	dput(dir);
}
