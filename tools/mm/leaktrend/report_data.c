// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend report: collects what a report is made of.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "log.h"
#include "report.h"

/* A file with more sites than that is none that we wrote. */
#define MAX_SERIES	1048576U

/**
 * struct collector - Where collecting is.
 * @report:  To be filled in.
 * @wanted:  Epoch, from 1; 0 is the last.
 * @stride:  Every so many rounds are kept.
 * @skip:    Rounds to leave out before the next.
 * @scanned: slabs_scanned of the last round.
 * @reclaim: It has changed since the last moment that was kept.
 */
struct collector {
	struct report *report;
	unsigned int wanted;
	unsigned int stride;
	unsigned int skip;
	uint64_t scanned;
	bool reclaim;
};

static void forget_series(struct report *report)
{
	size_t i;

	for (i = 0; i < report->nr_series; i++)
		free(report->series[i]);
	free(report->series);
	report->series = NULL;
	report->nr_series = 0;
	report->nr = 0;
	report->gaps = 0;
}

static struct series *series_of(struct report *report, uint32_t number)
{
	if (number >= MAX_SERIES)
		return NULL;
	if (number >= report->nr_series) {
		size_t nr = number + number / 2 + 64;

		report->series = xrealloc(report->series, nr, sizeof(*report->series));
		memset(report->series + report->nr_series, 0,
		       (nr - report->nr_series) * sizeof(*report->series));
		report->nr_series = nr;
	}
	if (!report->series[number]) {
		report->series[number] = xcalloc(1, sizeof(struct series));
		report->series[number]->from = report->nr;
	}
	return report->series[number];
}

static void halve_values(float *v, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr / 2; i++)
		v[i] = v[2 * i + 1];
}

/* Every second moment goes; the later one of two stays. */
static void halve(struct collector *c)
{
	struct report *report = c->report;
	unsigned int i;
	size_t s;

	for (i = 0; i < report->nr / 2; i++) {
		report->time_ms[i] = report->time_ms[2 * i + 1];
		report->reclaim[i] = report->reclaim[2 * i] || report->reclaim[2 * i + 1];
	}
	for (s = 0; s < report->nr_series; s++) {
		struct series *series = report->series[s];

		if (!series)
			continue;
		halve_values(series->bytes, report->nr);
		halve_values(series->low, report->nr);
		halve_values(series->elders, report->nr);
		halve_values(series->survivors, report->nr);
		series->from /= 2;
	}
	report->nr /= 2;
	c->stride *= 2;
}

static void add_site(struct report *report, const struct site *site)
{
	struct series *series = series_of(report, site->number);
	double unit = site->outstanding ? (double)site->bytes / site->outstanding : 0;

	if (!series)
		return;
	series->bytes[report->nr] = site->bytes;
	series->low[report->nr] = site->low * unit;
	series->elders[report->nr] = site->elders * unit;
	series->survivors[report->nr] = site->survivors;
}

static void add_moment(struct collector *c, const struct snapshot *snap)
{
	struct report *report = c->report;
	size_t i;

	if (report->nr == REPORT_POINTS)
		halve(c);
	for (i = 0; i < snap->nr; i++)
		add_site(report, &snap->site[i]);
	report->time_ms[report->nr] = snap->time_ms;
	report->reclaim[report->nr] = c->reclaim;
	report->nr++;
	c->reclaim = false;
}

static struct epoch *begin_epoch(struct report *report, const struct host *host)
{
	struct epoch *epoch;

	report->epoch = xrealloc(report->epoch, report->nr_epochs + 1, sizeof(*report->epoch));
	epoch = &report->epoch[report->nr_epochs++];
	*epoch = (struct epoch){ .host = *host };
	return epoch;
}

static void note_gap(struct report *report, const struct epoch *epoch, const struct snapshot *snap)
{
	uint64_t interval;

	if (epoch->rounds && snapshot_tunable(snap, "interval_ms", &interval) &&
	    snap->time_ms > epoch->last_ms + 3 * interval)
		report->gaps++;
}

static void add_round(struct collector *c, const struct snapshot *snap, const struct host *host)
{
	struct report *report = c->report;
	struct epoch *epoch = report->nr_epochs ? &report->epoch[report->nr_epochs - 1] : NULL;
	bool wanted;
	uint64_t scanned;

	if (!epoch || snap->epoch + 1 != report->nr_epochs) {
		epoch = begin_epoch(report, host);
		epoch->first_ms = snap->time_ms;
		if (!c->wanted)
			forget_series(report);
		c->stride = 1;
		c->skip = 0;
	}
	wanted = !c->wanted || c->wanted == report->nr_epochs;
	if (wanted)
		note_gap(report, epoch, snap);
	epoch->last_ms = snap->time_ms;
	epoch->rounds++;
	if (!wanted)
		return;

	report->shown = report->nr_epochs - 1;
	if (pairs_u64(&snap->vm, "slabs_scanned", &scanned)) {
		c->reclaim |= epoch->rounds > 1 && scanned != c->scanned;
		c->scanned = scanned;
	}
	snapshot_free(&report->snap);
	snapshot_copy(&report->snap, snap);
	if (c->skip) {
		c->skip--;
		return;
	}
	add_moment(c, snap);
	c->skip = c->stride - 1;
}

static int read_log(struct report *report, const char *file, unsigned int wanted, struct err *err)
{
	struct collector c = { .report = report, .wanted = wanted, .stride = 1 };
	struct log_reader *log = log_open(file, err);
	const struct snapshot *snap;
	int ret;

	if (!log)
		return -1;
	snprintf(report->source, sizeof(report->source), "%s",
		 strcmp(file, "-") ? file : "standard input");
	while ((ret = log_next(log, &snap, err)) > 0)
		add_round(&c, snap, log_host(log));
	log_damage_text(log, &report->note);
	log_close(log);
	if (ret)
		return -1;
	if (!report->nr_epochs)
		return err_set(err, "%s: the file has no round; record for some rounds first",
			       report->source);
	if (wanted > report->nr_epochs)
		return err_set(err, "%s: there is no epoch %u, there are %u", report->source, wanted,
			       report->nr_epochs);
	/* The last round belongs to the picture even if its turn had not come. */
	if (report->time_ms[report->nr - 1] != report->snap.time_ms)
		add_moment(&c, &report->snap);
	return 0;
}

/* What the kernel remembers itself: the last rounds, without low-water marks. */
static void read_trends(struct report *report)
{
	uint64_t interval = 60000;
	uint32_t nr = 0, i;
	size_t s;

	snapshot_tunable(&report->snap, "interval_ms", &interval);
	for (s = 0; s < report->snap.nr; s++) {
		const struct site *site = &report->snap.site[s];

		if (site->trend && site->trend->nr > nr)
			nr = site->trend->nr;
	}
	for (i = 0; i < nr; i++)
		report->time_ms[i] = report->snap.time_ms - (nr - 1 - i) * interval;
	for (s = 0; s < report->snap.nr && nr; s++) {
		const struct site *site = &report->snap.site[s];
		struct series *series;

		series = site->trend && site->trend->nr ? series_of(report, site->number) : NULL;
		if (!series)
			continue;
		series->from = nr - site->trend->nr;
		for (i = 0; i < site->trend->nr; i++) {
			double unit = site->outstanding ? (double)site->bytes / site->outstanding : 0;

			series->bytes[series->from + i] = site->trend->value[i] * unit;
			series->survivors[series->from + i] = -1;
			series->low[series->from + i] = -1;
			series->elders[series->from + i] = -1;
		}
	}
	report->nr = nr;
}

static int read_moment(struct report *report, const struct where *where, struct err *err)
{
	struct view_source src;
	struct epoch *epoch;

	if (source_load(&src, where, READ_ALL, false, err))
		return -1;
	snprintf(report->source, sizeof(report->source), "%s",
		 where->debugfs ? where->debugfs : "this machine, now");
	report->note = src.note;
	snapshot_copy(&report->snap, &src.snap);
	epoch = begin_epoch(report, &src.host);
	read_trends(report);
	epoch->rounds = report->snap.rounds;
	epoch->last_ms = report->snap.time_ms;
	epoch->first_ms = report->nr ? report->time_ms[0] : report->snap.time_ms;
	source_free(&src);
	return 0;
}

int report_read(struct report *report, const struct where *where, unsigned int epoch,
		struct err *err)
{
	int ret;

	*report = (struct report){};
	if (where->file)
		ret = read_log(report, where->file, epoch, err);
	else
		ret = read_moment(report, where, err);
	if (ret)
		report_free(report);
	return ret;
}

void report_free(struct report *report)
{
	forget_series(report);
	snapshot_free(&report->snap);
	free(report->epoch);
	report->epoch = NULL;
}

const struct series *report_series(const struct report *report, const struct site *site)
{
	return site->number < report->nr_series ? report->series[site->number] : NULL;
}

const struct site **report_suspects(const struct report *report, size_t *nr)
{
	const struct site **sites = xcalloc(report->snap.nr + 1, sizeof(*sites));
	size_t i;

	for (i = *nr = 0; i < report->snap.nr; i++)
		if (snapshot_suspect(&report->snap, &report->snap.site[i]))
			sites[(*nr)++] = &report->snap.site[i];
	sort_sites(sites, *nr, SORT_VERDICT);
	return sites;
}
