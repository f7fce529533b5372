// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend ignore: the ignore list of the kernel, and a file that keeps it.
 *
 * The kernel forgets its list at the next boot, and knows no reasons. The file has
 * a function per line, and behind a # why it is there:
 *
 *	# What grows here and is meant to.
 *	drv_prefill	# ring buffers, 2 MiB per port
 *
 * Whatever of it is no entry, comments and empty lines, stays as it is when the
 * file is written.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "leaktrend.h"
#include "table.h"

#define IGNORE	"leaktrend/ignore"

/* A line of the file. */
struct entry {
	char *name;	/* NULL if there is none */
	char *text;	/* the line as it is, or what is behind the # */
};

struct list {
	size_t nr;
	struct entry *entry;
};

static void list_add(struct list *list, char *name, char *text)
{
	list->entry = xrealloc(list->entry, list->nr + 1, sizeof(*list->entry));
	list->entry[list->nr++] = (struct entry){ name, text };
}

static void list_free(struct list *list)
{
	size_t i;

	for (i = 0; i < list->nr; i++) {
		free(list->entry[i].name);
		free(list->entry[i].text);
	}
	free(list->entry);
}

static struct entry *list_find(const struct list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->nr; i++)
		if (list->entry[i].name && !strcmp(list->entry[i].name, name))
			return &list->entry[i];
	return NULL;
}

static bool is_handle(const char *name)
{
	return isdigit((unsigned char)*name);
}

static bool is_function(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789_.$");

	/* As long as names in the kernel can be. */
	return len && len < 512 && !name[len] && !is_handle(name);
}

static int parse_line(struct list *list, const char *line, size_t len, const char *path,
		      unsigned int number, struct err *err)
{
	const char *hash = memchr(line, '#', len), *end = hash ? hash : line + len;
	char *name, *text;

	while (line < end && isspace((unsigned char)*line))
		line++;
	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	if (line == end) {
		text = xstrndup(hash ? hash : "", hash ? len - (hash - line) : 0);
		list_add(list, NULL, text);
		return 0;
	}
	name = xstrndup(line, end - line);
	if (!is_function(name)) {
		char *clean = text_clean(name);

		if (is_handle(name))
			err_set(err, "%s:%u: \"%.60s\" is a handle, which is another one after the "
				"next boot; a file takes names of functions", path, number, clean);
		else
			err_set(err, "%s:%u: \"%.60s\" is no name of a function", path, number, clean);
		free(clean);
		free(name);
		return -1;
	}
	if (list_find(list, name)) {
		err_set(err, "%s:%u: \"%s\" is there already", path, number, name);
		free(name);
		return -1;
	}
	text = NULL;
	if (hash) {
		hash++;
		hash += strspn(hash, " \t");
		text = xstrdup(hash);
	}
	list_add(list, name, text);
	return 0;
}

/* A file that is not there is an empty one if @may_miss. */
static int list_read(struct list *list, const char *path, bool may_miss, struct err *err)
{
	unsigned int number = 0;
	struct buf text = {};
	char *p, *eol;
	int ret = 0;

	ret = strcmp(path, "-") ? read_file(path, &text) : read_fd(0, &text);
	if (ret && errno == ENOENT && may_miss) {
		buf_free(&text);
		return 0;
	}
	if (ret)
		ret = err_set(err, "cannot read %s: %s", path, strerror(errno));
	else if (strlen(buf_str(&text)) != text.len)
		ret = err_set(err, "%s is no list of functions: there is a NUL in it", path);
	for (p = text.data; !ret && *p; p = eol + 1) {
		eol = strchr(p, '\n');
		if (eol)
			*eol = '\0';
		ret = parse_line(list, p, strlen(p), path, ++number, err);
		if (!eol)
			break;
	}
	buf_free(&text);
	return ret;
}

static int list_write(const struct list *list, const char *path, struct err *err)
{
	struct outfile out;
	size_t i;

	if (out_open(&out, path, err))
		return -1;
	for (i = 0; i < list->nr; i++) {
		const struct entry *e = &list->entry[i];

		if (!e->name)
			fprintf(out.f, "%s\n", e->text);
		else if (e->text && *e->text)
			fprintf(out.f, "%s\t# %s\n", e->name, e->text);
		else
			fprintf(out.f, "%s\n", e->name);
	}
	return out_close(&out, err);
}

/* The kernel's list */

struct kernel {
	struct debugfs dfs;
	struct ignored *list;
	size_t nr;
};

static int kernel_open(struct kernel *kernel, const char *debugfs, struct err *err)
{
	struct buf text = {};
	int ret;

	*kernel = (struct kernel){};
	if (debugfs_open(&kernel->dfs, debugfs, err))
		return -1;
	ret = debugfs_read(&kernel->dfs, IGNORE, &text, err);
	if (!ret)
		ret = parse_ignore(&(struct input){ IGNORE, buf_str(&text), text.len },
				   &kernel->list, &kernel->nr, err);
	buf_free(&text);
	if (ret)
		debugfs_close(&kernel->dfs);
	return ret;
}

static void kernel_close(struct kernel *kernel)
{
	ignored_free(kernel->list, kernel->nr);
	debugfs_close(&kernel->dfs);
}

static bool kernel_has(const struct kernel *kernel, const char *name)
{
	size_t i;

	for (i = 0; i < kernel->nr; i++)
		if (!strcmp(kernel->list[i].name, name))
			return true;
	return false;
}

static int kernel_command(struct kernel *kernel, const char *what, const char *name,
			  struct err *err)
{
	char command[600];

	snprintf(command, sizeof(command), "%s %s\n", what, name);
	if (!debugfs_write(&kernel->dfs, IGNORE, command, err))
		return 0;
	if (errno == EEXIST)
		return err_set(err, "%s is on the ignore list already", name);
	if (errno == ENOENT)
		return err_set(err, "%s is not on the ignore list", name);
	if (errno == ENOSPC)
		return err_set(err, "%s: the ignore list is full, it has room for 256 entries", name);
	if (errno == EINVAL)
		return err_set(err, "%s: the kernel does not take this name", name);
	return -1;
}

/* Commands */

struct ignore {
	const char *debugfs;
	const char *file;
	const char *comment;
	bool json;
	bool replace;
};

static void show_list(const struct kernel *kernel, const struct list *file)
{
	static const struct column columns[] = {
		{ .title = "FUNCTION OR HANDLE" },
		{ .title = "SITES", .right = true },
		{ .title = "BYTES", .right = true },
		{ .title = "COMMENT", .shrink = 10 },
	};
	struct table *table = table_new(columns, ARRAY_SIZE(columns));
	char bytes[UNIT_ROOM];
	size_t i;

	for (i = 0; i < kernel->nr; i++) {
		const struct entry *e = list_find(file, kernel->list[i].name);

		table_cell(table, PLAIN, "%s", kernel->list[i].name);
		table_cell(table, PLAIN, "%u", kernel->list[i].sites);
		table_cell(table, PLAIN, "%s", unit_bytes(bytes, kernel->list[i].bytes));
		table_cell(table, DIM, "%s", e && e->text ? e->text : "");
	}
	table_print(table, stdout);
}

static void json_list(const struct kernel *kernel, const struct list *file)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < kernel->nr; i++) {
		const struct entry *e = list_find(file, kernel->list[i].name);
		struct json_object *json = json_object_new_object();

		json_add_text(json, "name", kernel->list[i].name);
		json_add_u64(json, "sites", kernel->list[i].sites);
		json_add_u64(json, "bytes", kernel->list[i].bytes);
		json_add_text(json, "comment", e ? e->text : NULL);
		json_object_array_add(list, json);
	}
	json_print(list, stdout);
}

static int do_list(const struct ignore *ignore, struct kernel *kernel, struct err *err)
{
	struct list file = {};
	int ret = 0;

	if (ignore->file)
		ret = list_read(&file, ignore->file, false, err);
	if (!ret && ignore->json)
		json_list(kernel, &file);
	else if (!ret && !kernel->nr)
		puts("nothing is ignored");
	else if (!ret)
		show_list(kernel, &file);
	list_free(&file);
	return ret;
}

static int check_names(const struct ignore *ignore, char **names, int nr, struct err *err)
{
	int i;

	for (i = 0; i < nr; i++) {
		if (!is_function(names[i]) && !is_handle(names[i]))
			return err_set(err, "\"%.60s\" is neither a function nor a handle", names[i]);
		if (ignore->file && is_handle(names[i]))
			return err_set(err, "%s is a handle, which is another one after the next boot; "
				       "a file takes names of functions", names[i]);
	}
	return 0;
}

static void change_file(const struct ignore *ignore, struct list *file, bool add, const char *name)
{
	struct entry *e = list_find(file, name);

	if (add && !e) {
		list_add(file, xstrdup(name), ignore->comment ? xstrdup(ignore->comment) : NULL);
	} else if (add && ignore->comment) {
		free(e->text);
		e->text = xstrdup(ignore->comment);
	} else if (!add && e) {
		free(e->name);
		free(e->text);
		memmove(e, e + 1, (file->entry + file->nr - e - 1) * sizeof(*e));
		file->nr--;
	}
}

/* The file is read first: what cannot be kept is not changed in the kernel. */
static int do_change(const struct ignore *ignore, struct kernel *kernel, bool add, char **names,
		     int nr, struct err *err)
{
	struct list file = {};
	struct err said;
	int i, ret;

	ret = check_names(ignore, names, nr, err);
	if (!ret && ignore->file)
		ret = list_read(&file, ignore->file, add, err);
	if (ret)
		goto out;
	for (i = 0; i < nr && !ret; i++) {
		/* What is there may still be new in the file, and the other way round. */
		if (!ignore->file || kernel_has(kernel, names[i]) != add)
			ret = kernel_command(kernel, add ? "add" : "remove", names[i], err);
		if (!ret)
			change_file(ignore, &file, add, names[i]);
	}
	/* If the kernel refused one, the file has those before it, as the kernel has. */
	if (ignore->file && list_write(&file, ignore->file, ret ? &said : err)) {
		if (ret)
			note(&said);
		ret = -1;
	}
out:
	list_free(&file);
	return ret;
}

static int do_load(const struct ignore *ignore, struct kernel *kernel, const char *path,
		   struct err *err)
{
	size_t added = 0, removed = 0, i;
	struct list file = {};
	int ret;

	/* The whole file before the first change. */
	ret = list_read(&file, path, false, err);
	for (i = 0; i < kernel->nr && !ret && ignore->replace; i++) {
		if (list_find(&file, kernel->list[i].name))
			continue;
		ret = kernel_command(kernel, "remove", kernel->list[i].name, err);
		removed += !ret;
	}
	for (i = 0; i < file.nr && !ret; i++) {
		if (!file.entry[i].name || kernel_has(kernel, file.entry[i].name))
			continue;
		ret = kernel_command(kernel, "add", file.entry[i].name, err);
		added += !ret;
	}
	if (!ret)
		printf("%zu added, %zu removed\n", added, removed);
	list_free(&file);
	return ret;
}

static int do_save(struct kernel *kernel, const char *path, struct err *err)
{
	size_t i, kept = 0, gone = 0;
	struct list file = {};
	struct err said;
	int ret = 0;

	if (strcmp(path, "-"))
		ret = list_read(&file, path, true, err);
	if (ret)
		return ret;
	for (i = 0; i < file.nr; i++) {
		if (file.entry[i].name && !kernel_has(kernel, file.entry[i].name)) {
			free(file.entry[i].name);
			free(file.entry[i].text);
			gone++;
			continue;
		}
		file.entry[kept++] = file.entry[i];
	}
	file.nr = kept;
	for (i = 0; i < kernel->nr; i++) {
		if (is_handle(kernel->list[i].name)) {
			err_set(&said, "%s is not saved: a handle is another one after the next boot",
				kernel->list[i].name);
			note(&said);
		} else if (!list_find(&file, kernel->list[i].name)) {
			list_add(&file, xstrdup(kernel->list[i].name), NULL);
		}
	}
	if (gone) {
		err_set(&said, "%s: %zu entries that the kernel does not have are gone", path, gone);
		note(&said);
	}
	ret = list_write(&file, path, err);
	list_free(&file);
	return ret;
}

enum what { LIST, ADD, REMOVE, LOAD, SAVE, NR_WHATS };

static const struct {
	const char *name;
	const char *takes;
	int least;
	int most;
} whats[NR_WHATS] = {
	[LIST]	 = { "list",   "nothing",   0, 0 },
	[ADD]	 = { "add",    "NAMEs",	    1, 256 },
	[REMOVE] = { "remove", "NAMEs",	    1, 256 },
	[LOAD]	 = { "load",   "one FILE",  1, 1 },
	[SAVE]	 = { "save",   "one FILE",  1, 1 },
};

/* What is to be done, or NR_WHATS after it was said what is wrong. */
static enum what parse_what(const struct command *cmd, const struct ignore *ignore, int argc,
			    char **argv)
{
	enum what what;

	for (what = 0; what < NR_WHATS; what++)
		if (!argc || !strcmp(argv[0], whats[what].name))
			break;
	if (what == NR_WHATS)
		usage_error(cmd, "there is no \"%s\"", argv[0]);
	else if (argc && (argc - 1 < whats[what].least || argc - 1 > whats[what].most))
		usage_error(cmd, "%s takes %s", whats[what].name, whats[what].takes);
	else if (ignore->comment && (!ignore->file || what != ADD))
		usage_error(cmd, "--comment is for add, and is kept in --file");
	else if (ignore->comment && strchr(ignore->comment, '\n'))
		usage_error(cmd, "--comment has to be one line");
	else
		return what;
	return NR_WHATS;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct ignore ignore = {};
	const struct opt opts[] = {
		OPT_TEXT("file", 'f', "FILE", &ignore.file,
			 "with list: comments from it; with add and remove: change it, too"),
		OPT_TEXT("comment", 'c', "TEXT", &ignore.comment, "with add and --file: why"),
		OPT_BOOL("replace", 'r', &ignore.replace, "with load: remove what is not in FILE"),
		OPT_TEXT("debugfs", 0, "DIR", &ignore.debugfs, "use this copy of " DEBUGFS),
		OPT_BOOL("json", 'j', &ignore.json, "with list: print JSON"),
		OPT_END
	};
	struct kernel kernel;
	enum what what;
	struct err err;
	int ret;

	ret = opts_parse(cmd, opts, &argc, &argv);
	if (ret)
		return ret - 1;
	what = parse_what(cmd, &ignore, argc, argv);
	if (what == NR_WHATS)
		return EXIT_ERROR;
	if (kernel_open(&kernel, ignore.debugfs, &err))
		return fail(&err);
	switch (what) {
	case LIST:
		ret = do_list(&ignore, &kernel, &err);
		break;
	case ADD:
	case REMOVE:
		ret = do_change(&ignore, &kernel, what == ADD, argv + 1, argc - 1, &err);
		break;
	case LOAD:
		ret = do_load(&ignore, &kernel, argv[1], &err);
		break;
	case SAVE:
		ret = do_save(&kernel, argv[1], &err);
		break;
	case NR_WHATS:
		break;
	}
	kernel_close(&kernel);
	return ret ? fail(&err) : EXIT_FINE;
}

static const struct command ignore = {
	.name	 = "ignore",
	.summary = "functions whose sites are no suspects, in the kernel and in a file",
	.usage	 = "[list|add NAME...|remove NAME...|load FILE|save FILE]",
	.text	 = "A site whose stack runs through a function of the list is IGNORED. The list is\n"
		   "the kernel's, which forgets it at the next boot. A file keeps it, a function\n"
		   "per line with a comment behind a #. load adds what is in FILE to the kernel's\n"
		   "list, save writes the kernel's list to FILE and keeps the comments there.\n"
		   "A NAME can be a stack_id (0x...), too, but not in a file.",
	.order	 = 10,
	.run	 = run,
};
LEAKTREND_COMMAND(ignore);
