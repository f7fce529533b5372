// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a dump as page_owner makes it, to test and measure what reads dumps.
 *
 *	page_owner_gen [-s SEED] [-n RECORDS] [-b BYTES] [-k STACKS] [-p TASKS] [-w FEATURES]
 *
 * The same arguments give the same dump. It ends after the record that reaches
 * RECORDS or BYTES. Stacks and tasks are few and are used very unequally, as on
 * a real machine. FEATURES is a string of letters; without any, the dump is
 * one of Linux 7.3 without memory cgroups:
 *
 *	c  lines about memory cgroups        m  lines about migration
 *	f  free_ts (5.13 to 6.7)             s  stacks of the slab allocator
 *	d  decimal PFNs (before 5.18)        4  records of 4.x: no task, no time
 *	5  records of 5.12: pid and ts only  h  handles instead of stacks
 *	H  stacks and handles                p  the form of page_owner_stacks/
 *	o  the form of leaktrend/objects     n  names of tasks with , ( ) and blanks
 *	t  the last record without an empty line
 */

#include <getopt.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stack {
	char *text;
	size_t len;
	unsigned int order;
	unsigned int handle;
	const char *mask;
};

struct task {
	int pid;
	int tgid;
	char comm[32];
};

static uint64_t state;

static uint64_t rnd(void)
{
	/* splitmix64 */
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static unsigned int below(unsigned int n)
{
	return rnd() % n;
}

/* Less than N, small ones much more often. */
static unsigned int skewed(unsigned int n)
{
	double r = (rnd() >> 11) * 0x1p-53;

	return r * r * r * n;
}

#define PICK(a)	((a)[below(sizeof(a) / sizeof((a)[0]))])

static char *function_name(char *buf)
{
	static const char * const words[] = {
		"alloc", "get", "page", "cache", "map", "vfs", "read", "write", "inode",
		"dentry", "sock", "skb", "net", "dev", "init", "probe", "pipe", "mm",
		"fault", "handle", "do", "sys", "ext4", "xfs", "btrfs", "nvme", "blk",
		"bio", "submit", "ra", "order", "folio", "anon", "vma", "copy", "fork",
		"exec", "load", "elf", "module", "pci", "usb", "scsi", "tty", "proc",
	};
	unsigned int i, n = 2 + below(3);

	*buf = '\0';
	if (below(4) == 0)
		strcat(buf, "__");
	for (i = 0; i < n; i++) {
		if (i)
			strcat(buf, "_");
		strcat(buf, PICK(words));
	}
	return buf;
}

static void add_frame(struct stack *s, const char *name)
{
	unsigned int size = 0x20 + below(0x1000);

	s->len += sprintf(s->text + s->len, " %s+%#x/%#x%s\n", name, 1 + below(size), size,
			  below(12) ? "" : " [driver]");
}

static void make_stack(struct stack *s, const char *features)
{
	static const char * const masks[] = {
		"0xcc0(GFP_KERNEL)", "0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP)",
		"0x152c4a(GFP_NOFS|__GFP_NOWARN|__GFP_NORETRY|__GFP_HARDWALL|__GFP_MOVABLE)",
		"0x400dc0(GFP_KERNEL_ACCOUNT|__GFP_ZERO)", "0x0()", "0x2dc2(GFP_KERNEL|__GFP_HIGHMEM|__GFP_NOWARN|__GFP_ZERO)",
	};
	static const char * const slab[] = { "allocate_slab", "new_slab.isra.0", "cache_grow_begin" };
	unsigned int i, n = 8 + below(9);
	char name[128];

	s->text = malloc(4096);
	s->len = 0;
	s->order = below(5) ? 0 : below(5);
	s->mask = PICK(masks);
	s->handle = 1 + below(100000000);
	if (!strchr(features, 'o')) {
		add_frame(s, "post_alloc_hook");
		add_frame(s, "get_page_from_freelist");
		add_frame(s, "__alloc_frozen_pages_noprof");
	}
	if (strchr(features, 's') && below(3) == 0) {
		add_frame(s, PICK(slab));
		add_frame(s, "___slab_alloc");
	} else if (below(10) == 0) {
		/* vmalloc is seen as such in one of these cases only. */
		add_frame(s, below(2) ? "vm_area_alloc_pages.constprop.0" : "__vmalloc_area_node");
		add_frame(s, "__vmalloc_node_range_noprof");
	}
	for (i = 0; i < n; i++)
		add_frame(s, function_name(name));
	add_frame(s, "do_syscall_64");
	add_frame(s, "entry_SYSCALL_64_after_hwframe");
}

static void make_task(struct task *t, const char *features)
{
	static const char * const plain[] = {
		"systemd", "kworker/0:1", "bash", "nginx", "postgres", "java", "kswapd0",
		"swapper/0", "ksoftirqd/1", "rcu_sched", "containerd", "modprobe",
	};
	static const char * const odd[] = {
		"a b", "x, y", "tmux: server", "(sd-pam)", "f(x), ts 1 ns", "pid 1, tgid 2", ")", "", "((", "a, ts",
	};

	t->pid = 1 + below(32768);
	t->tgid = below(4) ? t->pid : 1 + (int)below(32768);
	if (strchr(features, 'n') && below(2))
		strcpy(t->comm, PICK(odd));
	else
		strcpy(t->comm, PICK(plain));
}

static uint64_t write_record(const struct stack *s, const struct task *t, uint64_t ts, const char *features)
{
	static const char * const flags[] = {
		"0x100000000000000(node=0|zone=1)", "0x200000000000028(uptodate|lru|node=0|zone=2)",
		"0x17ffffc0000200(workingset|node=0|zone=2|lastcpupid=0x1fffff)",
	};
	static const char * const types[] = { "Unmovable", "Movable", "Reclaimable", "CMA" };
	unsigned long pfn = below(1 << 24);
	unsigned int order = below(20) ? s->order : below(4);
	uint64_t len = 0;

#define P(...)	(len += printf(__VA_ARGS__))
	if (strchr(features, 'p')) {
		fwrite(s->text, 1, s->len, stdout);
		if (strchr(features, 'H'))
			P("handle: %u\n", s->handle);
		P("nr_base_pages: %u\n\n", 1 + below(10000));
		return len + s->len;
	}

	P("Page allocated via order %u, mask %s", order, s->mask);
	if (strchr(features, '5'))
		P(", pid %d, ts %" PRIu64 " ns", t->pid, ts);
	else if (!strchr(features, '4'))
		P(", pid %d, tgid %d (%s), ts %" PRIu64 " ns", t->pid, t->tgid, t->comm, ts);
	if (strchr(features, 'f'))
		P(", free_ts %" PRIu64 " ns", below(3) ? ts - below(1000000) : below(2) ? 0 : ts + below(1000000));
	P("\n");
	if (strchr(features, 'o')) {
		P("Object size %u cache kmalloc-%u weight %u stack_id %#x\n", 8 << s->order, 8 << s->order,
		  below(2) ? 100 : 1 + below(200), s->handle);
	} else {
		P(strchr(features, 'd') ? "PFN %lu" : "PFN 0x%lx", pfn);
		P(" type %s Block %lu type %s Flags %s\n", types[below(100) < 98 ? below(3) : 3], pfn >> 9, PICK(types),
		  PICK(flags));
	}
	if (!strchr(features, 'h')) {
		fwrite(s->text, 1, s->len, stdout);
		len += s->len;
	}
	if (strchr(features, 'h') || strchr(features, 'H'))
		P("handle: %u\n", s->handle);
	if (strchr(features, 'm') && below(8) == 0)
		P("Page has been migrated, last migrate reason: %s\n", below(2) ? "compaction" : "numa_misplaced");
	if (strchr(features, 'c') && below(2))
		P("Charged %sto %smemcg %s\n", below(2) ? "(via objcg) " : "", below(5) ? "" : "offline ",
		  below(2) ? "user.slice" : "app.service");
	P("\n");
#undef P
	return len;
}

int main(int argc, char **argv)
{
	uint64_t records = UINT64_MAX, bytes = UINT64_MAX, len = 0, ts = 1000000, i;
	unsigned int nr_stacks = 3000, nr_tasks = 200, k;
	const char *features = "";
	struct stack *stacks;
	struct task *tasks;
	int opt;

	while ((opt = getopt(argc, argv, "s:n:b:k:p:w:")) != -1) {
		switch (opt) {
		case 's':
			state = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			records = strtoull(optarg, NULL, 0);
			break;
		case 'b':
			bytes = strtoull(optarg, NULL, 0);
			break;
		case 'k':
			nr_stacks = strtoul(optarg, NULL, 0);
			break;
		case 'p':
			nr_tasks = strtoul(optarg, NULL, 0);
			break;
		case 'w':
			features = optarg;
			break;
		default:
			return 2;
		}
	}
	if (!nr_stacks || !nr_tasks || (records == UINT64_MAX && bytes == UINT64_MAX) || optind < argc) {
		fprintf(stderr, "usage: page_owner_gen [-s SEED] [-n RECORDS] [-b BYTES] [-k STACKS] [-p TASKS] [-w FEATURES]\n");
		return 2;
	}

	stacks = calloc(nr_stacks, sizeof(*stacks));
	tasks = calloc(nr_tasks, sizeof(*tasks));
	for (k = 0; k < nr_stacks; k++)
		make_stack(&stacks[k], features);
	for (k = 0; k < nr_tasks; k++)
		make_task(&tasks[k], features);

	/* Each stack belongs to few tasks, most to one. */
	for (i = 0; i < records && len < bytes; i++) {
		k = skewed(nr_stacks);
		ts += below(20000);
		len += write_record(&stacks[k], &tasks[(k * 7919 + skewed(8)) % nr_tasks], ts, features);
	}
	if (strchr(features, 't') && len) {
		/* Not a record of its own: it is the last one, cut off. */
		printf("Page allocated via order 3, mask 0xcc0(GFP_KERNEL), pid 7, tgid 7 (last), ts 9 ns\nPFN 0x1 type Unmovable\n last_frame+0x1/0x2\n");
	}
	for (k = 0; k < nr_stacks; k++)
		free(stacks[k].text);
	free(stacks);
	free(tasks);
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
