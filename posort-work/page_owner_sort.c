// SPDX-License-Identifier: GPL-2.0
/*
 * User-space helper to sort the output of /sys/kernel/debug/page_owner
 *
 * Example use:
 * cat /sys/kernel/debug/page_owner > page_owner_full.txt
 * ./page_owner_sort page_owner_full.txt sorted_page_owner.txt
 * Or sort by total memory:
 * ./page_owner_sort -m page_owner_full.txt sorted_page_owner.txt
 * Or without a copy, which may be larger than memory:
 * ./page_owner_sort --cull=stacktrace /sys/kernel/debug/page_owner -
 *
 * See Documentation/mm/page_owner.rst
 *
 * The input is read once, record by record. A record is taken apart where it
 * lies in the buffer, and only as far as the options ask for. What makes it
 * equal to others (its text, or the keys of --cull) is looked up in a hash table
 * of groups: there is one group for each record of the output, and nothing else
 * is kept. Strings are stored once, so that equal strings have equal addresses,
 * and a group is an array of numbers. The first record of a group speaks for it
 * in all that is not part of the key.
 */

#define _GNU_SOURCE
/* __u64 is printed with %llu everywhere. */
#define __SANE_USERSPACE_TYPES__
#include <stdio.h>
#include <stdlib.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <err.h>
#include <errno.h>
#include <time.h>
#include <getopt.h>
#include <linux/types.h>

#define ARRAY_SIZE(x)	(sizeof(x) / sizeof((x)[0]))
static bool debug_on;

/* ---- Errors ---- */

static char *temp_path;		/* The output, until it is complete. */

static void remove_temp(void)
{
	if (temp_path)
		unlink(temp_path);
}

static void on_signal(int sig)
{
	remove_temp();
	signal(sig, SIG_DFL);
	raise(sig);
}

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void *xrealloc(void *ptr, size_t n, size_t size)
{
	ptr = reallocarray(ptr, n, size);
	if (!ptr)
		errx(1, "out of memory");
	return ptr;
}

/* ---- Storage: what is kept is kept to the end ---- */

#define CHUNK_SIZE	(256 * 1024)

struct chunk {
	struct chunk *next;
	size_t used;
	size_t size;
	__u64 data[];
};

static struct chunk *chunks;

static void *arena_alloc(size_t size)
{
	struct chunk *c = chunks;
	void *ptr;

	size = (size + sizeof(__u64) - 1) & ~(sizeof(__u64) - 1);
	if (!c || c->size - c->used < size) {
		size_t room = size < CHUNK_SIZE ? CHUNK_SIZE : size;

		c = xrealloc(NULL, 1, sizeof(*c) + room);
		c->size = room;
		c->used = 0;
		c->next = chunks;
		chunks = c;
	}
	ptr = (char *)c->data + c->used;
	c->used += size;
	return ptr;
}

/* A hash table with open addressing. Each entry begins with its hash. */
struct table {
	__u64 **slots;
	size_t size;		/* A power of two, or 0. */
	size_t used;
};

static void table_insert(struct table *t, __u64 *entry)
{
	size_t i;

	for (i = *entry & (t->size - 1); t->slots[i];)
		i = (i + 1) & (t->size - 1);
	t->slots[i] = entry;
}

/* Makes room for one more; nothing may be looked up in an empty table before. */
static void table_reserve(struct table *t)
{
	struct table old = *t;
	size_t i;

	if (4 * (t->used + 1) <= 3 * t->size)
		return;
	t->size = old.size ? 2 * old.size : 1024;
	t->slots = xrealloc(NULL, t->size, sizeof(*t->slots));
	memset(t->slots, 0, t->size * sizeof(*t->slots));
	for (i = 0; i < old.size; i++)
		if (old.slots[i])
			table_insert(t, old.slots[i]);
	free(old.slots);
}

static __u64 hash_mix(__u64 hash, __u64 val)
{
	hash = (hash ^ val) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 32);
}

static __u64 hash_bytes(const char *p, size_t len)
{
	/* Two lanes, as a multiplication has to wait for the one before it. */
	__u64 a = len, b = ~(__u64)len, v[2];

	for (; len >= sizeof(v); p += sizeof(v), len -= sizeof(v)) {
		memcpy(v, p, sizeof(v));
		a = hash_mix(a, v[0]);
		b = hash_mix(b, v[1]);
	}
	memset(v, 0, sizeof(v));
	memcpy(v, p, len);
	return hash_mix(hash_mix(a, v[0]), hash_mix(b, v[1]));
}

/* A string of which there is only one copy. */
struct str {
	__u64 hash;
	size_t len;
	char data[];		/* Ends with a null byte that does not count. */
};

static struct table strings;

static const struct str *intern(const char *p, size_t len)
{
	__u64 hash = hash_bytes(p, len);
	struct str *s;
	size_t i;

	table_reserve(&strings);
	for (i = hash & (strings.size - 1); strings.slots[i];
	     i = (i + 1) & (strings.size - 1)) {
		s = (struct str *)strings.slots[i];
		if (s->hash == hash && s->len == len && !memcmp(s->data, p, len))
			return s;
	}

	s = arena_alloc(sizeof(*s) + len + 1);
	s->hash = hash;
	s->len = len;
	memcpy(s->data, p, len);
	s->data[len] = '\0';
	strings.slots[i] = &s->hash;
	strings.used++;
	return s;
}

/* A string that is put together. */
struct buf {
	char *p;
	size_t len;
	size_t room;
};

static void buf_add(struct buf *b, const char *p, size_t len)
{
	if (b->room - b->len <= len) {
		b->room = 2 * (b->len + len) + 256;
		b->p = xrealloc(b->p, b->room, 1);
	}
	if (len)
		memcpy(b->p + b->len, p, len);
	b->len += len;
}

/* ---- Input: records of any length ---- */

#define READ_BUFFER	(256 * 1024)
/*
 * page_owner gives one record per read, and fails if it does not fit into what
 * was asked for.
 */
#define READ_MIN	(64 * 1024)

static const char record_start[] = "Page allocated via order ";

struct reader {
	const char *name;
	int fd;
	bool eof;
	char *buf;
	size_t room;
	size_t end;		/* of the data in buf */
	size_t start;		/* of the record */
	size_t line;		/* Start of the line that is looked at. */
	size_t scan;		/* There is no end of line between line and scan. */
	size_t *ends;		/* Ends of the record's pieces, from start on. */
	size_t nr_pieces;
	size_t max_pieces;
	__u64 line_no;		/* of the record's first line */
	__u64 nr_lines;
	__u64 bytes;
	__u64 size;		/* of the input, 0 if unknown */
};

static void reader_fill(struct reader *r)
{
	ssize_t n;

	if (r->start && r->room - r->end < READ_MIN) {
		r->end -= r->start;
		r->line -= r->start;
		r->scan -= r->start;
		memmove(r->buf, r->buf + r->start, r->end);
		r->start = 0;
	}
	if (r->room - r->end < READ_MIN) {
		r->room = r->room ? 2 * r->room : READ_BUFFER;
		r->buf = xrealloc(r->buf, r->room, 1);
	}

	/* One byte is left for an end of line that is missing at the end. */
	do {
		n = read(r->fd, r->buf + r->end, r->room - r->end - 1);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		err(1, "cannot read %s", r->name);
	r->end += n;
	r->bytes += n;
	if (n)
		return;
	r->eof = true;
	if (r->line < r->end)
		r->buf[r->end++] = '\n';
}

/* Does a record begin with this line of LEN bytes? */
static bool starts_record(const char *p, size_t len)
{
	return len >= sizeof(record_start) - 1 &&
	       !memcmp(p, record_start, sizeof(record_start) - 1);
}

/*
 * Finds the next record: the lines up to an empty one, to the start of another
 * record (where a dump was cut off and another one follows) or to the end. The
 * lines of a stack trace, which begin with a blank, are one piece of it.
 */
static bool reader_next(struct reader *r)
{
	size_t nr = 0, len;
	bool in_stack = false;
	const char *p, *nl;

	r->line_no += r->nr_lines;
	r->nr_lines = 0;
	r->start = r->line;
	while (1) {
		nl = memchr(r->buf + r->scan, '\n', r->end - r->scan);
		if (!nl) {
			r->scan = r->end;
			if (r->eof)
				break;
			reader_fill(r);
			continue;
		}

		p = r->buf + r->line;
		len = nl - p;
		if (!len) {
			r->scan = ++r->line;
			if (nr) {
				r->nr_lines++;
				break;
			}
			r->line_no++;
			r->start = r->line;
			continue;
		}
		if (*p == 'P' && nr && starts_record(p, len)) {
			/* Comes again as the first line of the next record. */
			r->scan = r->line;
			break;
		}

		r->nr_lines++;
		r->line += len + 1;
		r->scan = r->line;
		if (*p != ' ' || !in_stack)
			nr++;
		in_stack = *p == ' ';
		if (nr > r->max_pieces) {
			r->max_pieces = 2 * nr + 32;
			r->ends = xrealloc(r->ends, r->max_pieces, sizeof(*r->ends));
		}
		r->ends[nr - 1] = r->line - r->start;
	}
	r->nr_pieces = nr;
	return nr;
}

static void reader_open(struct reader *r, const char *path)
{
	struct stat st;

	r->line_no = 1;
	if (!strcmp(path, "-")) {
		r->name = "standard input";
		r->fd = STDIN_FILENO;
	} else {
		r->name = path;
		r->fd = open(path, O_RDONLY);
		if (r->fd < 0)
			err(1, "cannot open %s", path);
	}
	if (!fstat(r->fd, &st) && S_ISREG(st.st_mode))
		r->size = st.st_size;
	reader_fill(r);
}

/* ---- Records ---- */

/*
 * What can be known of a record or a group of them, as a number. Of a string it
 * is the address: equal strings have equal ones.
 */
enum field {
	/* Keys of --cull, in the order in which they decide on ties. */
	F_STACK, F_PID, F_TGID, F_COMM, F_ALLOCATOR,
	F_CACHE, F_SIZE, F_MEMCG, F_GFP, F_RELEASED,
	/* Text: the lines before and behind the stack trace. */
	F_HEAD, F_TAIL,
	F_TS, F_FREE_TS,
	F_OBJECT,	/* Is it an object, not pages? */
	/* Sums over the records of a group. */
	F_TIMES, F_OBJECTS,
	F_MEMORY,	/* Pages; bytes of objects. */
	NR_FIELDS,
	/* Stands for F_HEAD, F_STACK and F_TAIL. */
	F_TEXT = NR_FIELDS,
};

#define FIELD_BIT(f)	(1U << (f))
#define TEXT_FIELDS	(FIELD_BIT(F_HEAD) | FIELD_BIT(F_STACK) | FIELD_BIT(F_TAIL))
#define STRING_FIELDS	(TEXT_FIELDS | FIELD_BIT(F_COMM) | FIELD_BIT(F_CACHE) | \
			 FIELD_BIT(F_MEMCG) | FIELD_BIT(F_GFP))

#define NO_TIME		LLONG_MAX

enum allocator_bit {
	ALLOCATOR_CMA = 1 << 1,
	ALLOCATOR_SLAB = 1 << 2,
	ALLOCATOR_VMALLOC = 1 << 3,
	ALLOCATOR_OTHERS = 1 << 4
};

/* A piece of the buffer; without a string where the record has no such piece. */
struct slice {
	const char *p;
	size_t len;
};

struct record {
	struct slice header;	/* "Page allocated via order", not its end of line */
	struct slice pfn;
	struct slice object;	/* leaktrend's line about an object */
	struct slice stack;	/* Lines of the stack trace, and the handle. */
	struct slice memcg;
	struct buf more;	/* Other lines before the stack trace ... */
	struct buf tail;	/* ... and behind it. */
	bool slab_page;
	bool has_handle;
	bool has_count;
	__u64 count;		/* Base pages according to page_owner_stacks/. */

	/* The parts of the header. Taken apart on demand. */
	bool parsed;
	struct slice gfp;
	struct slice pid;
	struct slice tgid;
	struct slice comm;
	struct slice ts;
	struct slice free_ts;
};

static unsigned int cull_keys;	/* Bits of fields, 0: the text. */
static bool keep_ts;		/* Are times part of the text? */
static bool keep_free_ts;

static const char *slice_end(const struct slice *s)
{
	return s->p + s->len;
}

/* Skips LABEL at the start of S. */
static bool skip_label(struct slice *s, const char *label)
{
	size_t len = strlen(label);

	if (s->len < len || memcmp(s->p, label, len))
		return false;
	s->p += len;
	s->len -= len;
	return true;
}

/* Takes decimal digits from the start of S. */
static struct slice take_digits(struct slice *s)
{
	struct slice digits = { s->p, 0 };

	while (digits.len < s->len && s->p[digits.len] >= '0' && s->p[digits.len] <= '9')
		digits.len++;
	s->p += digits.len;
	s->len -= digits.len;
	return digits;
}

/* False if there are no digits or too many. */
static bool to_number(struct slice digits, __u64 *val)
{
	__u64 v = 0;
	size_t i;

	for (i = 0; i < digits.len; i++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, digits.p[i] - '0', &v))
			return false;
	*val = v;
	return digits.len;
}

/* Takes LABEL, digits and " ns" from the end of S, or nothing. */
static bool strip_time(struct slice *s, const char *label, struct slice *digits)
{
	size_t label_len = strlen(label), len = s->len, n = 0;

	if (len < 3 || memcmp(s->p + len - 3, " ns", 3))
		return false;
	for (len -= 3; len && s->p[len - 1] >= '0' && s->p[len - 1] <= '9'; len--)
		n++;
	if (!n || len < label_len || memcmp(s->p + len - label_len, label, label_len))
		return false;
	*digits = (struct slice){ s->p + len, n };
	s->len = len - label_len;
	return true;
}

static void debug_missing(const struct record *rec, const char *what)
{
	if (debug_on)
		fprintf(stderr, "no %s in: %.*s\n", what,
			(int)min(rec->header.len, 1024), rec->header.p);
}

/*
 * "Page allocated via order 0, mask 0xcc0(GFP_KERNEL), pid 1, tgid 1 (init), ts 5 ns"
 *
 * Old kernels have less of it, and some add ", free_ts 0 ns". A task may call
 * itself "a), ts 1 ns", so the times are looked for from the end, and the name
 * is what is left between.
 */
static void parse_header(struct record *rec)
{
	struct slice s = rec->header;
	const char *p;

	rec->parsed = true;
	if (!s.p)
		return;
	skip_label(&s, record_start);
	take_digits(&s);
	if (skip_label(&s, ", mask ")) {
		rec->gfp.p = s.p;
		p = memchr(s.p, ',', s.len);
		rec->gfp.len = p ? (size_t)(p - s.p) : s.len;
		s.p += rec->gfp.len;
		s.len -= rec->gfp.len;
	}
	strip_time(&s, ", free_ts ", &rec->free_ts);
	strip_time(&s, ", ts ", &rec->ts);
	if (skip_label(&s, ", pid "))
		rec->pid = take_digits(&s);
	if (skip_label(&s, ", tgid "))
		rec->tgid = take_digits(&s);
	if (s.len >= 3 && skip_label(&s, " (") && s.p[s.len - 1] == ')')
		rec->comm = (struct slice){ s.p, s.len - 1 };

	if (!rec->gfp.p)
		debug_missing(rec, "mask");
	if (!rec->pid.len)
		debug_missing(rec, "pid");
	if (!rec->tgid.len)
		debug_missing(rec, "tgid");
	if (!rec->comm.p)
		debug_missing(rec, "command name");
	if (!rec->ts.len)
		debug_missing(rec, "ts");
}

/* "Object size 256 cache maple_node weight 1 stack_id 0x6080007" */
struct object {
	__u64 size;
	__u64 weight;
	struct slice cache;
	struct slice weight_digits;
};

static void parse_object(const struct record *rec, struct object *obj)
{
	static const char weight[] = " weight ";
	struct slice s = rec->object;
	const char *p;

	*obj = (struct object){ .weight = 1 };
	if (!skip_label(&s, "Object size "))
		return;
	to_number(take_digits(&s), &obj->size);
	if (!skip_label(&s, " cache "))
		return;

	/* There may be blanks in the name of a cache: the last one counts. */
	obj->cache = s;
	while ((p = memmem(s.p, s.len, weight, sizeof(weight) - 1))) {
		obj->cache.len = p - obj->cache.p;
		s.len -= p + sizeof(weight) - 1 - s.p;
		s.p = p + sizeof(weight) - 1;
	}
	if (slice_end(&obj->cache) == slice_end(&rec->object))
		return;
	obj->weight_digits = take_digits(&s);
	if (!to_number(obj->weight_digits, &obj->weight))
		obj->weight = 1;
}

/* A line that is none of the stack trace, with its end of line. */
static void parse_line(struct record *rec, const char *p, size_t len)
{
	struct slice s = { p, len - 1 }, value;

	switch (*p) {
	case '#':
		/* A remark of the kernel's. */
		return;
	case 'P':
		if (skip_label(&s, "PFN")) {
			rec->pfn = s;
			return;
		}
		break;
	case 'O':
		value = s;
		if (skip_label(&value, "Object size ")) {
			rec->object = s;
			return;
		}
		break;
	case 'n':
	case 's':
		/* At first stack_count, with one for each allocation. */
		if (skip_label(&s, "nr_base_pages: ") || skip_label(&s, "stack_count: ")) {
			rec->has_count = to_number(take_digits(&s), &rec->count);
			return;
		}
		break;
	case 'h':
		if (!skip_label(&s, "handle: "))
			break;
		rec->has_handle = true;
		if (!rec->stack.p) {
			rec->stack = (struct slice){ p, len };
			return;
		} else if (slice_end(&rec->stack) == p) {
			rec->stack.len += len;
			return;
		}
		break;
	case 'C':
		if (skip_label(&s, "Charged "))
			rec->memcg = s;
		break;
	case 'S':
		if (skip_label(&s, "Slab cache page"))
			rec->slab_page = true;
		break;
	}
	buf_add(rec->stack.p ? &rec->tail : &rec->more, p, len);
}

/* Does a line end as headers do? END is behind its end of line. */
static bool ends_header(const char *start, const char *end)
{
	return end - start > 4 && !memcmp(end - 4, " ns", 3);
}

/* Has the name of a task an end of line, so that the header goes on? */
static bool header_continues(const struct reader *r, const char *base)
{
	const char *end = base + r->ends[0];

	return r->nr_pieces > 1 && *end != ' ' && !ends_header(base, end) &&
	       ends_header(end, base + r->ends[1]) && memmem(base, end - base, ", tgid ", 7);
}

/* False if it is no record. */
static bool parse_record(struct record *rec, const struct reader *r)
{
	struct buf more = rec->more, tail = rec->tail;
	const char *base = r->buf + r->start, *p = base, *next;
	size_t i = 0;

	more.len = 0;
	tail.len = 0;
	*rec = (struct record){ .more = more, .tail = tail };

	if (starts_record(p, r->ends[0] - 1)) {
		if (header_continues(r, base))
			i++;
		rec->header = (struct slice){ p, r->ends[i] - 1 };
		p = base + r->ends[i++];
	}
	for (; i < r->nr_pieces; i++, p = next) {
		next = base + r->ends[i];
		if (*p != ' ')
			parse_line(rec, p, next - p);
		else if (!rec->stack.p)
			rec->stack = (struct slice){ p, next - p };
		else
			buf_add(&rec->tail, p, next - p);
	}
	return rec->header.p || rec->has_handle || rec->has_count;
}

/* Number of pages of one record. */
static __u64 record_pages(const struct record *rec)
{
	struct slice s = rec->header, digits;
	__u64 order;

	if (!s.p)
		return rec->count;
	skip_label(&s, record_start);
	digits = take_digits(&s);
	if (to_number(digits, &order) && order <= 30)
		return 1ULL << order;
	debug_missing(rec, "valid order");
	return 0;
}

/* Functions by which an allocator is known, without leading underscores. */
static const struct function {
	const char *name;
	bool prefix;
	unsigned int allocator;		/* 0: none, whatever comes further up */
} functions[] = {
	/*
	 * The slab allocators get their pages here. There has been no page flag
	 * to tell since 6.10, and the line about it depends on memory cgroups.
	 */
	{ "allocate_slab",	false,	ALLOCATOR_SLAB },
	{ "alloc_slab_page",	false,	ALLOCATOR_SLAB },
	{ "new_slab",		false,	ALLOCATOR_SLAB },
	{ "new_slab_objects",	false,	ALLOCATOR_SLAB },
	{ "cache_grow_begin",	false,	ALLOCATOR_SLAB },
	{ "cache_grow",		false,	ALLOCATOR_SLAB },
	{ "kmem_getpages",	false,	ALLOCATOR_SLAB },
	{ "slob_new_pages",	false,	ALLOCATOR_SLAB },
	/* What a slab is described with is none, nor is a large object. */
	{ "kmalloc_large",	true,	0 },
	{ "stack_depot_save",	true,	0 },
	{ "vmalloc_node_range",	true,	ALLOCATOR_VMALLOC },
};

/* Which one is the function of a line of a stack trace? */
static const struct function *find_function(const char *p, const char *nl)
{
	const char *end;
	size_t i, len;

	/* " [<ffffffff8118d0a1>] name+0x1c1/0x2f0" of 4.x */
	if (*++p == '[') {
		end = memchr(p, ']', nl - p);
		p = end && nl - end > 1 ? end + 2 : nl;
	}
	while (*p == '_')
		p++;
	if (!memchr("acknsv", *p, 6))
		return NULL;
	/* Without offset and suffixes like ".isra.0". */
	for (end = p; end < nl && *end != '+' && *end != '.' && *end != ' '; end++)
		;
	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		len = strlen(functions[i].name);
		if (*p == *functions[i].name && (size_t)(end - p) >= len &&
		    (functions[i].prefix || (size_t)(end - p) == len) &&
		    !memcmp(p, functions[i].name, len))
			return &functions[i];
	}
	return NULL;
}

static unsigned int stack_allocator(struct slice stack)
{
	const char *p = stack.p, *prev = NULL, *end = slice_end(&stack), *nl;
	bool slab_done = false, vmalloc_done = false;
	unsigned int allocator = 0;

	for (; p < end; prev = p, p = nl + 1) {
		const struct function *func;

		nl = memchr(p, '\n', end - p);
		func = find_function(p, nl);
		if (!func)
			continue;
		if (func->allocator != ALLOCATOR_VMALLOC) {
			if (!slab_done)
				allocator |= func->allocator;
			slab_done = true;
		} else if (!vmalloc_done) {
			/* Its pages, that is, not those of its tables. */
			if (prev && memmem(prev, p - prev, "alloc_pages", 11))
				allocator |= func->allocator;
			vmalloc_done = true;
		}
	}
	return allocator;
}

static unsigned int record_allocator(const struct record *rec)
{
	unsigned int allocator = rec->stack.p ? stack_allocator(rec->stack) : 0;

	if (rec->pfn.p && memmem(rec->pfn.p, rec->pfn.len, "CMA", 3))
		allocator |= ALLOCATOR_CMA;
	if (rec->slab_page || rec->object.p ||
	    (rec->pfn.p && memmem(rec->pfn.p, rec->pfn.len, "slab", 4)))
		allocator |= ALLOCATOR_SLAB;
	return allocator ?: ALLOCATOR_OTHERS;
}

/* ---- Fields of a record ---- */

static __u64 intern_buf(const struct buf *b)
{
	return (unsigned long)intern(b->p ?: "", b->len);
}

static __u64 intern_slice(struct slice s)
{
	return (unsigned long)(s.p ? intern(s.p, s.len) : intern("", 0));
}

/* Puts S into B up to DIGITS, which are left out, and moves on behind them. */
static void add_without(struct buf *b, struct slice *s, struct slice digits)
{
	if (!digits.p)
		return;
	buf_add(b, s->p, digits.p - s->p);
	s->len = slice_end(s) - slice_end(&digits);
	s->p = slice_end(&digits);
}

/*
 * What tells apart records that are otherwise equal, times and weights, is left
 * out, unless the output is to be sorted by it.
 */
static __u64 head_text(struct record *rec)
{
	static struct buf head;
	struct slice s = rec->header;
	struct object obj;

	head.len = 0;
	if (s.p) {
		if (!keep_ts)
			add_without(&head, &s, rec->ts);
		if (!keep_free_ts)
			add_without(&head, &s, rec->free_ts);
		buf_add(&head, s.p, s.len);
		buf_add(&head, "\n", 1);
	}
	if (rec->object.p) {
		s = rec->object;
		parse_object(rec, &obj);
		add_without(&head, &s, obj.weight_digits);
		buf_add(&head, s.p, s.len);
		buf_add(&head, "\n", 1);
	}
	buf_add(&head, rec->more.p, rec->more.len);
	return intern_buf(&head);
}

/* "to memcg NAME", "(via objcg) to offline memcg NAME" */
static __u64 memcg_text(const struct record *rec)
{
	static struct buf name;
	struct slice s = rec->memcg;
	bool offline;

	skip_label(&s, "(via objcg) ");
	skip_label(&s, "to ");
	offline = skip_label(&s, "offline ");
	skip_label(&s, "memcg ");
	name.len = 0;
	buf_add(&name, s.p, s.len);
	if (offline)
		buf_add(&name, " (offline)", 10);
	return intern_buf(&name);
}

static __s64 to_time(struct slice digits)
{
	__u64 t;

	return to_number(digits, &t) && t < NO_TIME ? (__s64)t : NO_TIME;
}

static __s64 to_pid(struct slice digits)
{
	__u64 pid;

	return to_number(digits, &pid) && pid <= INT_MAX ? (__s64)pid : -1;
}

/* Kernels with free_ts tell when the page was freed last; 0 is never. */
static bool is_released(const struct record *rec)
{
	__s64 freed = to_time(rec->free_ts);

	return freed != NO_TIME && freed && to_time(rec->ts) < freed;
}

static __u64 record_field(struct record *rec, enum field f)
{
	struct object obj;

	if (!rec->parsed && f != F_STACK && f != F_OBJECT)
		parse_header(rec);
	switch (f) {
	case F_HEAD:
		return head_text(rec);
	case F_STACK:
		return intern_slice(rec->stack);
	case F_TAIL:
		return intern_buf(&rec->tail);
	case F_PID:
		return to_pid(rec->pid);
	case F_TGID:
		return to_pid(rec->tgid);
	case F_COMM:
		return intern_slice(rec->comm);
	case F_GFP:
		return intern_slice(rec->gfp);
	case F_MEMCG:
		return memcg_text(rec);
	case F_ALLOCATOR:
		return record_allocator(rec);
	case F_CACHE:
		parse_object(rec, &obj);
		return intern_slice(obj.cache);
	case F_SIZE:
		if (!rec->object.p)
			return rec->header.p ? record_pages(rec) : 0;
		parse_object(rec, &obj);
		return obj.size;
	case F_RELEASED:
		return is_released(rec);
	case F_TS:
		return to_time(rec->ts);
	case F_FREE_TS:
		return to_time(rec->free_ts);
	case F_OBJECT:
		return !!rec->object.p;
	default:
		return 0;
	}
}

/* ---- Selection ---- */

struct id_list {
	int *ids;
	int nr;
};

static struct id_list pid_filter, tgid_filter;
static const char *name_filter;
static bool filter_released;

static bool match_id(const struct id_list *list, struct slice digits)
{
	int id = to_pid(digits), i;

	for (i = 0; i < list->nr; i++)
		if (list->ids[i] == id)
			return true;
	return false;
}

/* Is NAME in the list, which is separated by commas? It may have commas, too. */
static bool match_name(const char *list, struct slice name)
{
	const char *p;

	for (p = list; strlen(p) >= name.len; p++) {
		if ((p == list || p[-1] == ',') && !strncmp(p, name.p, name.len) &&
		    (p[name.len] == ',' || !p[name.len]))
			return true;
		if (!*p)
			break;
	}
	return false;
}

static bool selected(struct record *rec)
{
	if (!pid_filter.ids && !tgid_filter.ids && !name_filter && !filter_released)
		return true;
	if (!rec->parsed)
		parse_header(rec);
	if (pid_filter.ids && !match_id(&pid_filter, rec->pid))
		return false;
	if (tgid_filter.ids && !match_id(&tgid_filter, rec->tgid))
		return false;
	if (name_filter && (!rec->comm.p || !match_name(name_filter, rec->comm)))
		return false;
	return !filter_released || !is_released(rec);
}

/* ---- Groups ---- */

struct group {
	__u64 hash;
	__u64 val[NR_FIELDS];
};

static struct table groups;
static unsigned int key_fields;		/* What makes records equal. */
static unsigned int first_fields;	/* What is needed of the first one. */

static const struct str *group_str(const struct group *g, enum field f)
{
	return (const struct str *)(unsigned long)g->val[f];
}

static struct group *find_group(struct record *rec)
{
	struct group new = { .hash = 0 }, *g;
	unsigned int f;
	size_t i;

	/* The key alone: what is not part of it is zero in the comparison. */
	for (f = 0; f < NR_FIELDS; f++) {
		if (!(key_fields & FIELD_BIT(f)))
			continue;
		new.val[f] = record_field(rec, f);
		new.hash = hash_mix(new.hash, STRING_FIELDS & FIELD_BIT(f) ?
				    group_str(&new, f)->hash : new.val[f]);
	}

	table_reserve(&groups);
	for (i = new.hash & (groups.size - 1); groups.slots[i];
	     i = (i + 1) & (groups.size - 1)) {
		g = (struct group *)groups.slots[i];
		if (g->hash != new.hash)
			continue;
		for (f = 0; f < NR_FIELDS; f++)
			if (key_fields & FIELD_BIT(f) && g->val[f] != new.val[f])
				break;
		if (f == NR_FIELDS)
			return g;
	}

	for (f = 0; f < NR_FIELDS; f++)
		if (first_fields & ~key_fields & FIELD_BIT(f))
			new.val[f] = record_field(rec, f);
	g = arena_alloc(sizeof(*g));
	*g = new;
	groups.slots[i] = &g->hash;
	groups.used++;
	return g;
}

static void count_record(struct group *g, const struct record *rec)
{
	struct object obj;

	g->val[F_TIMES]++;
	if (!rec->object.p) {
		g->val[F_MEMORY] += record_pages(rec);
		return;
	}
	/* A sample stands for that many objects. */
	parse_object(rec, &obj);
	g->val[F_OBJECTS] += obj.weight;
	g->val[F_MEMORY] += obj.size * obj.weight;
}

/* ---- Order ---- */

#define MAX_SORT_KEYS	64

static struct {
	enum field field;
	int sign;
} sort_keys[MAX_SORT_KEYS];
static unsigned int nr_sort_keys;

static int compare_bytes(const char *p1, size_t len1, const char *p2, size_t len2)
{
	int cmp = memcmp(p1, p2, min(len1, len2));

	return cmp ?: (len1 > len2) - (len1 < len2);
}

static void group_text(struct buf *text, const struct group *g)
{
	static const enum field parts[] = { F_HEAD, F_STACK, F_TAIL };
	size_t i;

	text->len = 0;
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		buf_add(text, group_str(g, parts[i])->data, group_str(g, parts[i])->len);
}

static int compare_text(const struct group *g1, const struct group *g2)
{
	const struct str *head1 = group_str(g1, F_HEAD), *head2 = group_str(g2, F_HEAD);
	static struct buf text1, text2;
	int cmp;

	/* If neither goes on where the other ends, the heads are enough. */
	cmp = memcmp(head1->data, head2->data, min(head1->len, head2->len));
	if (cmp)
		return cmp;
	group_text(&text1, g1);
	group_text(&text2, g2);
	return compare_bytes(text1.p, text1.len, text2.p, text2.len);
}

static int compare_field(const struct group *g1, const struct group *g2, enum field f)
{
	const struct str *s1, *s2;

	if (f == F_TEXT)
		return compare_text(g1, g2);
	if (g1->val[f] == g2->val[f])
		return 0;
	if (!(STRING_FIELDS & FIELD_BIT(f)))
		return (__s64)g1->val[f] < (__s64)g2->val[f] ? -1 : 1;
	s1 = group_str(g1, f);
	s2 = group_str(g2, f);
	return compare_bytes(s1->data, s1->len, s2->data, s2->len);
}

/* By the keys of sorting; where they are equal, by what makes groups differ. */
static int compare_groups(const void *p1, const void *p2)
{
	const struct group *g1 = *(const struct group **)p1;
	const struct group *g2 = *(const struct group **)p2;
	unsigned int i, f;
	int cmp = 0;

	for (i = 0; i < nr_sort_keys && !cmp; i++)
		cmp = sort_keys[i].sign * compare_field(g1, g2, sort_keys[i].field);
	if (!cull_keys && !cmp)
		cmp = compare_text(g1, g2);
	for (f = 0; f < NR_FIELDS && !cmp; f++)
		if (key_fields & FIELD_BIT(f))
			cmp = compare_field(g1, g2, f);
	return cmp;
}

/* ---- Output ---- */

static const char *out_name;
static FILE *fout;

/* A file that is the output when it is complete. -1 if there can be none. */
static int open_temp(const char *path, mode_t mode)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
	size_t i;
	int fd;

	if (asprintf(&temp_path, "%s.XXXXXX", path) < 0)
		errx(1, "out of memory");
	fd = mkstemp(temp_path);
	if (fd < 0) {
		free(temp_path);
		temp_path = NULL;
		return -1;
	}
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (signal(signals[i], on_signal) == SIG_IGN)
			signal(signals[i], SIG_IGN);
	if (fchmod(fd, mode))
		err(1, "cannot set the mode of %s", temp_path);
	return fd;
}

static void open_output(const char *path)
{
	struct stat st, std;
	mode_t mask;
	int fd = -1;

	out_name = path;
	if (!strcmp(path, "-") ||
	    (!stat(path, &st) && !fstat(STDOUT_FILENO, &std) &&
	     st.st_dev == std.st_dev && st.st_ino == std.st_ino)) {
		/* The latter is /dev/stdout. */
		out_name = "standard output";
		fout = stdout;
		return;
	}

	if (lstat(path, &st)) {
		mask = umask(0);
		umask(mask);
		fd = open_temp(path, 0666 & ~mask);
	} else if (S_ISREG(st.st_mode)) {
		fd = open_temp(path, st.st_mode & 0777);
	}
	/*
	 * Symbolic links and devices stay what they are. The input may be the
	 * same file: what is in it is needed for now.
	 */
	if (fd < 0)
		fd = open(path, O_WRONLY | O_CREAT, 0666);
	fout = fd < 0 ? NULL : fdopen(fd, "w");
	if (!fout)
		err(1, "cannot open %s", path);
}

static void print_str(const struct str *s)
{
	fwrite(s->data, 1, s->len, fout);
}

static void print_known(const char *what, const struct str *s)
{
	fprintf(fout, ", %s: ", what);
	if (s->len)
		print_str(s);
	else
		fputc('-', fout);
}

static void print_allocator(__u64 allocator)
{
	fprintf(fout, "allocated by ");
	if (allocator & ALLOCATOR_CMA)
		fprintf(fout, "CMA ");
	if (allocator & ALLOCATOR_SLAB)
		fprintf(fout, "SLAB ");
	if (allocator & ALLOCATOR_VMALLOC)
		fprintf(fout, "VMALLOC ");
	if (allocator & ALLOCATOR_OTHERS)
		fprintf(fout, "OTHERS ");
}

static bool culled_by(enum field f)
{
	return cull_keys & FIELD_BIT(f);
}

static void print_size(const struct group *g)
{
	if (!g->val[F_SIZE])
		fprintf(fout, ", size: -");
	else
		fprintf(fout, ", size: %llu %s", g->val[F_SIZE],
			g->val[F_OBJECT] ? "bytes" : "pages");
}

static void print_group(const struct group *g)
{
	fprintf(fout, "%llu times, ", g->val[F_TIMES]);
	if (g->val[F_OBJECT])
		fprintf(fout, "%llu objects, %llu bytes",
			g->val[F_OBJECTS], g->val[F_MEMORY]);
	else
		fprintf(fout, "%llu pages", g->val[F_MEMORY]);

	if (!cull_keys) {
		fprintf(fout, ", ");
		print_allocator(g->val[F_ALLOCATOR]);
		fprintf(fout, ":\n");
		print_str(group_str(g, F_HEAD));
		print_str(group_str(g, F_STACK));
		print_str(group_str(g, F_TAIL));
		fputc('\n', fout);
		return;
	}

	if (culled_by(F_PID) || pid_filter.ids)
		fprintf(fout, ", PID %d", (int)g->val[F_PID]);
	if (culled_by(F_TGID) || tgid_filter.ids)
		fprintf(fout, ", TGID %d", (int)g->val[F_TGID]);
	if (culled_by(F_COMM) || name_filter) {
		fprintf(fout, ", task_comm_name: ");
		print_str(group_str(g, F_COMM));
	}
	if (culled_by(F_CACHE))
		print_known("cache", group_str(g, F_CACHE));
	if (culled_by(F_SIZE))
		print_size(g);
	if (culled_by(F_MEMCG))
		print_known("memcg", group_str(g, F_MEMCG));
	if (culled_by(F_GFP))
		print_known("gfp", group_str(g, F_GFP));
	if (culled_by(F_RELEASED))
		fprintf(fout, ", %s", g->val[F_RELEASED] ? "released" : "in use");
	if (culled_by(F_ALLOCATOR)) {
		fprintf(fout, ", ");
		print_allocator(g->val[F_ALLOCATOR]);
	}
	if (culled_by(F_STACK)) {
		fprintf(fout, ":\n");
		print_str(group_str(g, F_STACK));
	}
	fputc('\n', fout);
}

/* The groups, in order. */
static void write_output(struct group **list)
{
	struct stat st;
	size_t i;

	if (!fstat(fileno(fout), &st) && S_ISREG(st.st_mode) && fout != stdout &&
	    ftruncate(fileno(fout), 0))
		err(1, "cannot write %s", out_name);
	for (i = 0; i < groups.used && !ferror(fout); i++)
		print_group(list[i]);
	if (ferror(fout) || fflush(fout) || (fout != stdout && fclose(fout)) ||
	    (temp_path && rename(temp_path, out_name)))
		err(1, "cannot write %s", out_name);
	free(temp_path);
	temp_path = NULL;
}

/* ---- Progress ---- */

/* The records may go to the standard output, words must not be among them. */
static FILE *progress;
static bool progress_tty;

static void show_progress(const struct reader *r, __u64 loaded)
{
	static time_t last;	/* At most once a second. */
	struct timespec now;

	if (!progress_tty)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec == last)
		return;
	last = now.tv_sec;
	if (!groups.used)
		return;
	fprintf(progress, "loaded %llu, %zu distinct, %llu MiB",
		loaded, groups.used, r->bytes >> 20);
	if (r->size)
		fprintf(progress, " (%d %%)", (int)(100.0 * r->bytes / r->size));
	fprintf(progress, "   \r");
	fflush(progress);
}

/* ---- Options ---- */

static const struct key {
	const char *name;
	const char *longname;
	enum field field;
	bool cull;
	bool sort;
	char opt;		/* Option that sorts by it. */
} keys[] = {
	{ "p",		"pid",		F_PID,		true,	true,	'p' },
	{ "tg",		"tgid",		F_TGID,		true,	true,	'P' },
	{ "n",		"name",		F_COMM,		true,	true,	'n' },
	{ "st",		"stacktrace",	F_STACK,	true,	true,	's' },
	{ "ator",	"allocator",	F_ALLOCATOR,	true,	true,	0 },
	{ "c",		"cache",	F_CACHE,	true,	true,	0 },
	{ "sz",		"size",		F_SIZE,		true,	true,	0 },
	{ "mg",		"memcg",	F_MEMCG,	true,	true,	0 },
	{ "g",		"gfp",		F_GFP,		true,	true,	0 },
	{ "f",		"free",		F_RELEASED,	true,	false,	0 },
	{ "T",		"txt",		F_TEXT,		false,	true,	0 },
	{ "at",		"alloc_ts",	F_TS,		false,	true,	'a' },
	{ "ft",		"free_ts",	F_FREE_TS,	false,	true,	'r' },
	{ "",		"",		F_MEMORY,	false,	false,	'm' },
	{ "",		"",		F_TIMES,	false,	false,	't' },
};

static const struct key *find_key(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if ((strlen(keys[i].name) == len && !memcmp(keys[i].name, name, len)) ||
		    (strlen(keys[i].longname) == len && !memcmp(keys[i].longname, name, len)))
			return &keys[i];
	return NULL;
}

/* What is counted comes first with the most of it. */
static void set_sort_option(char opt)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].opt == opt)
			sort_keys[0].field = keys[i].field;
	sort_keys[0].sign = opt == 'm' || opt == 't' ? -1 : 1;
	nr_sort_keys = 1;
}

static bool parse_cull_args(const char *arg)
{
	while (1) {
		size_t len = strcspn(arg, ",");
		const struct key *key = find_key(arg, len);

		if (!key || !key->cull)
			return false;
		cull_keys |= FIELD_BIT(key->field);
		if (!arg[len])
			return true;
		arg += len + 1;
	}
}

static bool parse_sort_args(const char *arg)
{
	nr_sort_keys = 0;
	while (nr_sort_keys < MAX_SORT_KEYS) {
		int sign = *arg == '-' ? -1 : 1;
		const struct key *key;
		size_t len;

		if (*arg == '-' || *arg == '+')
			arg++;
		len = strcspn(arg, ",");
		key = find_key(arg, len);
		if (!key || !key->sort)
			return false;
		sort_keys[nr_sort_keys].field = key->field;
		sort_keys[nr_sort_keys++].sign = sign;
		if (!arg[len])
			return true;
		arg += len + 1;
	}
	return false;
}

static bool parse_ids(struct id_list *list, const char *arg)
{
	list->nr = 0;
	while (1) {
		char *end;
		long id;

		errno = 0;
		id = strtol(arg, &end, 10);
		if (errno || end == arg || id < INT_MIN || id > INT_MAX ||
		    (*end && *end != ','))
			return false;
		list->ids = xrealloc(list->ids, list->nr + 1, sizeof(*list->ids));
		list->ids[list->nr++] = id;
		if (!*end)
			return true;
		arg = end + 1;
	}
}

static void usage(FILE *out)
{
	fprintf(out,
		"Usage: ./page_owner_sort [OPTIONS] <input> <output>\n"
		"\"-\" is the standard input or output.\n\n"
		"-a\t\t\tSort by memory allocation time.\n"
		"-m\t\t\tSort by total memory.\n"
		"-n\t\t\tSort by task command name.\n"
		"-p\t\t\tSort by pid.\n"
		"-P\t\t\tSort by tgid.\n"
		"-r\t\t\tSort by memory release time (kernels from 5.13 to 6.7).\n"
		"-s\t\t\tSort by the stacktrace.\n"
		"-t\t\t\tSort by number of times record is seen (default).\n\n"
		"-d\t\t\tTell what records lack.\n"
		"-f\t\t\tFilter out the information of blocks whose memory has\n"
		"\t\t\tbeen released (kernels from 5.13 to 6.7).\n"
		"--pid <pidlist>\t\tSelect by pid. This selects the information of\n"
		"\t\t\tblocks whose process ID numbers appear in <pidlist>.\n"
		"--tgid <tgidlist>\tSelect by tgid. This selects the information of\n"
		"\t\t\tblocks whose Thread Group ID numbers appear in <tgidlist>.\n"
		"--name <cmdlist>\tSelect by command name. This selects the information\n"
		"\t\t\tof blocks whose command name appears in <cmdlist>.\n"
		"--cull <rules>\t\tCull by user-defined rules. <rules> is a single\n"
		"\t\t\targument in the form of a comma-separated list of keys:\n"
		"\t\t\tpid, tgid, name, stacktrace, allocator, cache, size,\n"
		"\t\t\tmemcg, gfp, free\n"
		"--sort <order>\t\tSpecify sort order as: [+|-]key[,[+|-]key[,...]]\n"
		"\t\t\twith the keys of --cull except free, and with txt,\n"
		"\t\t\talloc_ts, free_ts\n"
	);
}

static void parse_options(int argc, char **argv)
{
	static const struct option longopts[] = {
		{ "pid", required_argument, NULL, 1 },
		{ "tgid", required_argument, NULL, 2 },
		{ "name", required_argument, NULL, 3 },
		{ "cull", required_argument, NULL, 4 },
		{ "sort", required_argument, NULL, 5 },
		{ "help", no_argument, NULL, 'h' },
		{ 0, 0, 0, 0},
	};
	int opt, sort_opt = 0;

	while ((opt = getopt_long(argc, argv, "adfmnprstPh", longopts, NULL)) != -1)
		switch (opt) {
		case 'd':
			debug_on = true;
			break;
		case 'f':
			filter_released = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		case 1:
			if (!parse_ids(&pid_filter, optarg))
				errx(1, "wrong/invalid pid in from the command line:%s", optarg);
			break;
		case 2:
			if (!parse_ids(&tgid_filter, optarg))
				errx(1, "wrong/invalid tgid in from the command line:%s", optarg);
			break;
		case 3:
			name_filter = optarg;
			break;
		case 4:
			if (!parse_cull_args(optarg))
				errx(1, "wrong argument after --cull option:%s", optarg);
			break;
		case 5:
			if (!parse_sort_args(optarg))
				errx(1, "wrong argument after --sort option:%s", optarg);
			break;
		case '?':
			usage(stderr);
			exit(1);
		default:
			if (sort_opt && sort_opt != opt)
				errx(1, "only one of -a, -m, -n, -p, -P, -r, -s and -t is allowed");
			sort_opt = opt;
		}

	if (optind >= argc - 1) {
		usage(stderr);
		errx(1, "an input and an output are needed");
	}

	/* One of the letters is stronger than --sort. */
	if (sort_opt || !nr_sort_keys)
		set_sort_option(sort_opt ?: 't');
}

/* Decides which fields are needed at all. */
static void choose_fields(void)
{
	unsigned int i;

	keep_ts = sort_keys[0].field == F_TS;
	keep_free_ts = sort_keys[0].field == F_FREE_TS;

	key_fields = cull_keys ?: TEXT_FIELDS;
	/* Pages and objects cannot be summed up. */
	key_fields |= FIELD_BIT(F_OBJECT);

	first_fields = 0;
	if (!cull_keys)
		first_fields |= FIELD_BIT(F_ALLOCATOR);
	if (pid_filter.ids)
		first_fields |= FIELD_BIT(F_PID);
	if (tgid_filter.ids)
		first_fields |= FIELD_BIT(F_TGID);
	if (name_filter)
		first_fields |= FIELD_BIT(F_COMM);
	for (i = 0; i < nr_sort_keys; i++) {
		enum field f = sort_keys[i].field;

		first_fields |= f == F_TEXT ? TEXT_FIELDS : FIELD_BIT(f);
	}
}

/* ---- All together ---- */

struct input_stats {
	__u64 records;
	__u64 loaded;	/* Those selected. */
	__u64 foreign;	/* Blocks that are no records ... */
	__u64 foreign_line;	/* ... and where the first begins. */
};

static void read_records(struct reader *r, struct input_stats *stats)
{
	static struct record rec;

	show_progress(r, 0);
	while (reader_next(r)) {
		if (!parse_record(&rec, r)) {
			/* All of it may be a remark: "# no suspects ..." */
			if (!rec.stack.p && !rec.more.len && !rec.pfn.p && !rec.object.p)
				continue;
			if (!stats->foreign++)
				stats->foreign_line = r->line_no;
			continue;
		}
		if (++stats->records % 4096 == 0)
			show_progress(r, stats->loaded);
		if (!selected(&rec))
			continue;
		count_record(find_group(&rec), &rec);
		stats->loaded++;
	}
	free(rec.more.p);
	free(rec.tail.p);

	if (stats->foreign && !stats->records)
		errx(1, "there is no record of page_owner in %s", r->name);
	if (stats->foreign)
		warnx("%s: left out %llu blocks of lines that are no records, first at line %llu",
		      r->name, stats->foreign, stats->foreign_line);
}

static struct group **sort_groups(void)
{
	struct group **list = xrealloc(NULL, groups.used + 1, sizeof(*list));
	size_t i, n = 0;

	for (i = 0; i < groups.size; i++)
		if (groups.slots[i])
			list[n++] = (struct group *)groups.slots[i];
	qsort(list, n, sizeof(*list), compare_groups);
	return list;
}

/* Says so if there is nothing to sort by. */
static void check_free_ts(struct group **list)
{
	unsigned int k;
	size_t i;

	for (k = 0; k < nr_sort_keys; k++)
		if (sort_keys[k].field == F_FREE_TS)
			break;
	if (k == nr_sort_keys || !groups.used)
		return;
	for (i = 0; i < groups.used; i++)
		if (list[i]->val[F_FREE_TS] != NO_TIME)
			return;
	warnx("not sorted by release time: no record has one (kernels from 5.13 to 6.7 give it)");
}

static void free_all(struct reader *r)
{
	struct chunk *c;

	while ((c = chunks)) {
		chunks = c->next;
		free(c);
	}
	free(strings.slots);
	free(groups.slots);
	free(pid_filter.ids);
	free(tgid_filter.ids);
	free(r->buf);
	free(r->ends);
}

int main(int argc, char **argv)
{
	struct input_stats stats = { 0 };
	struct reader reader = { 0 };
	struct group **list;

	atexit(remove_temp);
	parse_options(argc, argv);
	choose_fields();
	reader_open(&reader, argv[optind]);
	open_output(argv[optind + 1]);
	progress = fout == stdout ? stderr : stdout;
	progress_tty = isatty(fileno(progress));

	read_records(&reader, &stats);
	if (progress_tty || fout != stdout) {
		/* The blanks cover the last line of progress. */
		fprintf(progress, "loaded %llu%s\n", stats.loaded,
			progress_tty ? "                                        " : "");
		fprintf(progress, "sorting ....\n");
		fflush(progress);
	}
	list = sort_groups();
	check_free_ts(list);
	write_output(list);

	free(list);
	free_all(&reader);
	return 0;
}
