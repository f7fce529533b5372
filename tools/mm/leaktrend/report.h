/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend report: what a report is made of. report_data.c collects it,
 * cmd_report.c writes it as text, report_html.c as a page.
 */
#ifndef LEAKTREND_REPORT_H
#define LEAKTREND_REPORT_H

#include "source.h"

/*
 * Moments that are kept. When there is no room for another, every second one goes,
 * so that days are covered by as many as fit a chart.
 */
#define REPORT_POINTS	512

/**
 * struct series - A site over the moments.
 * @from:      The first moment that has it.
 * @bytes:     Outstanding.
 * @low:       The low-water mark, in bytes.
 * @elders:    The elders, in bytes.
 * @survivors: Generations that survived, of min_rounds.
 */
struct series {
	unsigned int from;
	float bytes[REPORT_POINTS];
	float low[REPORT_POINTS];
	float elders[REPORT_POINTS];
	float survivors[REPORT_POINTS];
};

/**
 * struct epoch - Between boot, enable or clear, and the next of these.
 * @first_ms: Its first round.
 * @last_ms:  Its last.
 * @rounds:   How many were recorded.
 * @host:     Whose they are.
 */
struct epoch {
	uint64_t first_ms;
	uint64_t last_ms;
	unsigned int rounds;
	struct host host;
};

/**
 * struct report - What is known.
 * @source:   Where from, in words.
 * @note:     What was wrong with the file, "" if nothing.
 * @nr_epochs: How many there are.
 * @epoch:    All of them.
 * @shown:    The one that the rest is about.
 * @snap:     Its last round.
 * @nr:	      Moments.
 * @time_ms:  When each was.
 * @reclaim:  Slab reclaim ran between it and the one before.
 * @nr_series: Room in @series.
 * @series:   By the number of the site, NULL if it has none.
 * @gaps:     Rounds that took more than three times the interval.
 */
struct report {
	char source[256];
	struct err note;
	unsigned int nr_epochs;
	struct epoch *epoch;
	unsigned int shown;
	struct snapshot snap;
	unsigned int nr;
	uint64_t time_ms[REPORT_POINTS];
	bool reclaim[REPORT_POINTS];
	size_t nr_series;
	struct series **series;
	unsigned int gaps;
};

/*
 * report_read() - Of a recorded file ("-" is standard input), or of the live system
 * or a copy of debugfs if @where has no file. @epoch: which, from 1; 0 is the last.
 */
int report_read(struct report *report, const struct where *where, unsigned int epoch,
		struct err *err);
void report_free(struct report *report);

/* report_series() - Of a site of @report->snap, or NULL. */
const struct series *report_series(const struct report *report, const struct site *site);

static inline const struct epoch *report_epoch(const struct report *report)
{
	return &report->epoch[report->shown];
}

/* The suspects, the worst first, and their number. To be freed. */
const struct site **report_suspects(const struct report *report, size_t *nr);

/* report_html() - All of it as one page that needs nothing else. */
void report_html(const struct report *report, FILE *f);

#endif
