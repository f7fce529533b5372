// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: options of commands.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "leaktrend.h"
#include "parse.h"
#include "table.h"

/* Values of getopt for options without a letter begin here. */
#define NO_LETTER	256

int fail(const struct err *err)
{
	fprintf(stderr, "leaktrend: %s\n", err->text);
	return EXIT_ERROR;
}

void note(const struct err *err)
{
	if (*err->text)
		fprintf(stderr, "leaktrend: note: %s\n", err->text);
}

int usage_error(const struct command *cmd, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "leaktrend %s: ", cmd->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; see leaktrend %s --help\n", cmd->name);
	return EXIT_ERROR;
}

static void help(const struct command *cmd, const struct opt *opts)
{
	const struct opt *opt;

	printf("usage: leaktrend %s%s%s\n\n%s\n\noptions:\n", cmd->name, *cmd->usage ? " " : "",
	       cmd->usage, cmd->text);
	for (opt = opts; opt->name; opt++) {
		char left[40];

		snprintf(left, sizeof(left), "%c%c%s --%s%s%s", opt->letter ? '-' : ' ',
			 opt->letter ? opt->letter : ' ', opt->letter ? "," : " ", opt->name,
			 opt->arg ? " " : "", opt->arg ? opt->arg : "");
		printf("  %-23s ", left);
		text_wrap(stdout, opt->help, 26, 80);
	}
	printf("  %-23s %s\n", "-h, --help", "show this");
}

static int take(const struct command *cmd, const struct opt *opt, const char *arg)
{
	struct err err;

	if (opt->set) {
		if (!opt->set(opt->value, arg, &err))
			return 0;
		return 1 + usage_error(cmd, "--%s: %s", opt->name, err.text);
	}
	if (opt->arg)
		*(const char **)opt->value = arg;
	else
		*(bool *)opt->value = true;
	return 0;
}

/* Which option getopt stumbled over, as it was typed. */
static int mistake(const struct command *cmd, char **argv, int c)
{
	char letter[3] = { '-', optopt, '\0' };
	const char *what = optopt && optopt < NO_LETTER ? letter : argv[optind - 1];

	if (c == ':')
		return 1 + usage_error(cmd, "option %s needs a value", what);
	return 1 + usage_error(cmd, "there is no option %s", what);
}

int opts_parse(const struct command *cmd, const struct opt *opts, int *argc, char ***argv)
{
	struct option longs[64] = {};
	struct buf shorts = {};
	int nr = 0, c, ret = 0;

	/* The first is not looked at by getopt: it is the command's name. */
	buf_adds(&shorts, ":h");
	longs[nr++] = (struct option){ "help", no_argument, NULL, 'h' };
	for (; opts[nr - 1].name && nr < (int)ARRAY_SIZE(longs) - 1; nr++) {
		const struct opt *opt = &opts[nr - 1];

		longs[nr] = (struct option){ opt->name,
			opt->arg ? required_argument : no_argument, NULL, NO_LETTER + nr - 1 };
		if (opt->letter)
			buf_printf(&shorts, "%c%s", opt->letter, opt->arg ? ":" : "");
	}

	optind = 1;
	opterr = 0;
	while (!ret && (c = getopt_long(*argc, *argv, shorts.data, longs, NULL)) != -1) {
		const struct opt *opt;

		if (c == 'h') {
			help(cmd, opts);
			ret = 1 + EXIT_FINE;
			break;
		}
		if (c == '?' || c == ':') {
			ret = mistake(cmd, *argv, c);
			break;
		}
		if (c >= NO_LETTER) {
			opt = &opts[c - NO_LETTER];
		} else {
			for (opt = opts; opt->letter != c;)
				opt++;
		}
		ret = take(cmd, opt, optarg);
	}
	buf_free(&shorts);
	*argc -= optind;
	*argv += optind;
	return ret;
}

int opts_only(const struct command *cmd, const struct opt *opts, int argc, char **argv)
{
	int ret = opts_parse(cmd, opts, &argc, &argv);

	if (!ret && argc)
		ret = 1 + usage_error(cmd, "it takes no \"%s\"", argv[0]);
	return ret;
}

int set_u64(void *value, const char *arg, struct err *err)
{
	if (!parse_u64(arg, strlen(arg), value))
		return err_set(err, "\"%s\" is no number", arg);
	return 0;
}

/* A number with one of @units behind it, which stand for @factors. */
static int with_unit(uint64_t *value, const char *arg, const char *units, const uint64_t *factors)
{
	size_t len = strlen(arg);
	const char *unit;
	uint64_t v, factor = 1;

	unit = len ? strchr(units, arg[len - 1]) : NULL;
	if (unit) {
		factor = factors[unit - units];
		len--;
	}
	if (!parse_u64(arg, len, &v) || __builtin_mul_overflow(v, factor, &v))
		return -1;
	*value = v;
	return 0;
}

int set_size(void *value, const char *arg, struct err *err)
{
	static const uint64_t factors[] = {
		1 << 10, 1 << 20, 1 << 30, 1ULL << 40, 1 << 10, 1 << 20, 1 << 30, 1ULL << 40
	};

	if (with_unit(value, arg, "KMGTkmgt", factors))
		return err_set(err, "\"%s\" is no size; write 4096, 512K, 8M or 1G", arg);
	return 0;
}

int set_duration(void *value, const char *arg, struct err *err)
{
	static const uint64_t factors[] = { 1, 60, 3600, 86400 };

	if (with_unit(value, arg, "smhd", factors))
		return err_set(err, "\"%s\" is no duration; write 90, 90s, 15m, 2h or 3d", arg);
	return 0;
}
