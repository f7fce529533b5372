// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend report: a recorded file, told to somebody who was not there.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "leaktrend.h"
#include "report.h"
#include "table.h"

#define SPARK_WIDTH	40

static void show_epochs(const struct report *report)
{
	const struct epoch *epoch = report_epoch(report);
	char first[UNIT_ROOM], last[UNIT_ROOM], span[UNIT_ROOM];
	char *name = text_clean(*epoch->host.name ? epoch->host.name : "unknown host");
	char *release = text_clean(*epoch->host.release ? epoch->host.release : "unknown");

	printf("%-9s %s, kernel %s\n", "host", name, release);
	printf("%-9s %s .. %s (%s), %u rounds\n", "time", unit_date(first, epoch->first_ms),
	       unit_date(last, epoch->last_ms), unit_time(span, epoch->last_ms - epoch->first_ms),
	       epoch->rounds);
	if (report->gaps)
		printf("%-9s %u times more than three intervals passed without a round\n", "gaps",
		       report->gaps);
	if (report->nr_epochs > 1)
		printf("%-9s this is number %u of %u (a boot, enable or clear begins one); "
		       "--epoch N\n%-9s shows another\n", "epochs", report->shown + 1,
		       report->nr_epochs, "");
	free(name);
	free(release);
}

static void show_suspect(const struct report *report, unsigned int rank, const struct site *site)
{
	const struct series *series = report_series(report, site);
	char bytes[UNIT_ROOM], rate[UNIT_ROOM], age[UNIT_ROOM], spark[SPARK_ROOM(SPARK_WIDTH)];
	uint64_t values[REPORT_POINTS];
	char where[128], *clean;
	unsigned int i, nr = 0;

	site_function(site, where, sizeof(where));
	clean = text_clean(where);
	printf("\n%u. %s%s%s  %s\n", rank, colour_on(stdout, verdict_colour(site->verdict)),
	       verdict_name(site->verdict), colour_off(stdout), clean);
	free(clean);
	clean = text_clean(site->cache ? site->cache : "pages");
	printf("   %s of %s, %s, oldest %s\n", unit_bytes(bytes, site->bytes), clean,
	       unit_rate(rate, site->growth), unit_time(age, site->oldest_ms));
	free(clean);
	if (series) {
		for (i = series->from; i < report->nr; i++)
			values[nr++] = series->bytes[i];
		printf("   %s\n", sparkline(spark, values, nr, SPARK_WIDTH));
	}
	if (site->evidence && site->evidence->held) {
		clean = text_clean(site->evidence->held);
		printf("   held: ");
		text_wrap(stdout, clean, 9, text_width(stdout));
		free(clean);
	}
	if (site->evidence && site->evidence->missing && *site->evidence->missing) {
		clean = text_clean(site->evidence->missing);
		printf("   missing: ");
		text_wrap(stdout, clean, 12, text_width(stdout));
		free(clean);
	}
	for (i = 0; site->stack && i < site->stack->nr; i++) {
		clean = text_clean(site->stack->line[i]);
		printf("     %s\n", clean);
		free(clean);
	}
}

static void show_text(const struct report *report, const struct filter *filter)
{
	const struct site **suspects;
	size_t nr, i;

	show_epochs(report);
	suspects = report_suspects(report, &nr);
	printf("%-9s %zu\n", "suspects", nr);
	nr = filter_shown(filter, nr);
	for (i = 0; i < nr; i++)
		show_suspect(report, i + 1, suspects[i]);
	free(suspects);
}

static struct json_object *json_values(const struct report *report, const struct series *series,
				       const float *values)
{
	struct json_object *list = json_object_new_array();
	unsigned int i;

	for (i = series->from; i < report->nr; i++)
		json_object_array_add(list, values[i] < 0 ? NULL :
				      json_object_new_uint64(values[i]));
	return list;
}

static void show_json(const struct report *report)
{
	struct json_object *json = json_head(&report->snap, &report_epoch(report)->host);
	struct json_object *list = json_object_new_array(), *times = json_object_new_array();
	const struct site **suspects;
	unsigned int t;
	size_t nr, i;

	json_add_text(json, "source", report->source);
	json_add_text(json, "damage", *report->note.text ? report->note.text : NULL);
	json_add_u64(json, "epoch", report->shown + 1);
	json_add_u64(json, "epochs", report->nr_epochs);
	json_add_u64(json, "gaps", report->gaps);
	for (t = 0; t < report->nr; t++)
		json_object_array_add(times, json_object_new_uint64(report->time_ms[t]));
	json_add(json, "times_ms", times);
	suspects = report_suspects(report, &nr);
	for (i = 0; i < nr; i++) {
		const struct series *series = report_series(report, suspects[i]);
		struct json_object *site = json_site(suspects[i]);

		if (series) {
			json_add_u64(site, "from", series->from);
			json_add(site, "bytes_series", json_values(report, series, series->bytes));
			json_add(site, "low_series", json_values(report, series, series->low));
			json_add(site, "elders_series", json_values(report, series, series->elders));
		}
		json_object_array_add(list, site);
	}
	json_add(json, "suspects", list);
	free(suspects);
	json_print(json, stdout);
}

static int write_html(const struct report *report, const char *path, struct err *err)
{
	struct outfile out;

	if (out_open(&out, path, err))
		return -1;
	report_html(report, out.f);
	return out_close(&out, err);
}

static int set_number(void *value, const char *arg, struct err *err)
{
	uint64_t v;

	if (set_u64(&v, arg, err))
		return -1;
	if (!v || v > UINT32_MAX)
		return err_set(err, "epochs are counted from 1");
	*(unsigned int *)value = v;
	return 0;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct where where = {};
	struct filter filter = {};
	const char *html = NULL;
	unsigned int epoch = 0;
	bool json = false;
	const struct opt opts[] = {
		OPT_TEXT("html", 'o', "FILE", &html, "write one page of HTML, - is standard output"),
		OPT_CALL("epoch", 'e', "N", &epoch, set_number,
			 "of the N-th stretch between boot, enable and clear; the last by default"),
		OPT_CALL("top", 'n', "N", &filter, filter_set_top, "only the first N suspects (text)"),
		OPT_SOURCE(&where),
		OPT_BOOL("json", 'j', &json, "print JSON"),
		OPT_END
	};
	struct report report;
	struct err err;
	int ret;

	ret = opts_parse(cmd, opts, &argc, &argv);
	if (ret)
		return ret - 1;
	if (argc > 1)
		return usage_error(cmd, "it takes one FILE");
	if (argc && (where.file || where.debugfs))
		return usage_error(cmd, "FILE is named twice");
	if (argc)
		where.file = argv[0];
	if (epoch && !where.file)
		return usage_error(cmd, "--epoch is for recorded files");
	if (report_read(&report, &where, epoch, &err))
		return fail(&err);
	note(&report.note);
	ret = EXIT_FINE;
	if (html) {
		if (write_html(&report, html, &err))
			ret = fail(&err);
	} else if (json) {
		show_json(&report);
	} else {
		show_text(&report, &filter);
	}
	report_free(&report);
	return ret;
}

static const struct command report = {
	.name	 = "report",
	.summary = "what a recorded file tells, as text or as one page of HTML",
	.usage	 = "[options] [FILE]",
	.text	 = "Tells what leaktrend record has written to FILE: suspects, how they grew, why\n"
		   "they are suspected, and where the memory is. With --html it is one page with\n"
		   "charts and a flame graph that needs no network and can be sent to somebody.\n"
		   "Without FILE it is about this machine and the rounds that its kernel remembers.",
	.order	 = 6,
	.run	 = run,
};
LEAKTREND_COMMAND(report);
