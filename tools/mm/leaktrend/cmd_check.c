// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend check: an exit status for jobs that are to fail when something leaks.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "table.h"
#include "view.h"

static int set_verdict(void *value, const char *arg, struct err *err)
{
	if (!verdict_of(arg, value) || !verdict_suspect(*(enum verdict *)value))
		return err_set(err, "\"%s\" is no verdict of a suspect; there are orphaned, "
			       "likely_leak, growing, cache_growth, settled", arg);
	return 0;
}

static void finding(const struct site *site)
{
	char rate[UNIT_ROOM], bytes[UNIT_ROOM], where[128], *clean, *cache;

	view_where(site, where, sizeof(where));
	clean = text_clean(where);
	cache = text_clean(site->cache ? site->cache : "-");
	printf("%s%s%s: %s outstanding, %s, %s %s: %s\n",
	       colour_on(stdout, verdict_colour(site->verdict)), verdict_name(site->verdict),
	       colour_off(stdout), unit_bytes(bytes, site->bytes), unit_rate(rate, site->growth),
	       kind_name(site->kind), cache, clean);
	free(clean);
	free(cache);
}

/* Whether that nothing was found says anything. */
static bool can_tell(const struct snapshot *snap, struct err *err)
{
	uint64_t min_rounds = 8;

	snapshot_tunable(snap, "min_rounds", &min_rounds);
	if (snap->rounds <= min_rounds) {
		err_set(err, "cannot tell yet: %u rounds are done, and a verdict takes %" PRIu64
			"; wait, or end rounds with \"echo 1 > " DEBUGFS "/leaktrend/scan\"",
			snap->rounds, min_rounds + 1);
		return false;
	}
	if (snap->torn) {
		err_set(err, "cannot tell: tracking was cleared while it was read; try again later");
		return false;
	}
	return true;
}

static int run(const struct command *cmd, int argc, char **argv)
{
	enum verdict worst = VERDICT_LIKELY_LEAK;
	struct view view = {};
	bool quiet = false;
	const struct opt opts[] = {
		OPT_CALL("fail-on", 'e', "VERDICT", &worst, set_verdict,
			 "fail on this and on worse; likely_leak by default"),
		OPT_BOOL("quiet", 'q', &quiet, "say nothing of findings, only the exit status"),
		OPT_SOURCE(&view.where),
		OPT_FILTER(&view.filter),
		OPT_BOOL("json", 'j', &view.json, "print findings as JSON"),
		OPT_END
	};
	size_t i, nr = 0;
	struct err err;
	int ret;

	ret = opts_only(cmd, opts, argc, argv);
	if (ret)
		return ret - 1;
	if (view_load(&view, READ_SITES | READ_SUSPECTS, snapshot_suspect))
		return EXIT_ERROR;

	for (i = 0; i < view.all; i++)
		if (view.site[i]->verdict >= worst)
			view.site[nr++] = view.site[i];
	view.all = nr;
	view.nr = filter_shown(&view.filter, nr);
	ret = nr ? EXIT_FINDINGS : EXIT_FINE;
	if (!nr && !can_tell(&view.src.snap, &err)) {
		ret = fail(&err);
	} else if (quiet) {
		/* That is all. */
	} else if (view.json) {
		view_json(&view);
	} else if (nr) {
		for (i = 0; i < view.nr; i++)
			finding(view.site[i]);
		view_rest(&view);
	} else {
		printf("nothing is %s or worse after %u rounds\n", verdict_name(worst),
		       view.src.snap.rounds);
	}
	view_free(&view);
	return ret;
}

static const struct command check = {
	.name	 = "check",
	.summary = "exit status for jobs: 0 clean, 1 suspects, 2 cannot tell",
	.usage	 = "[options]",
	.text	 = "Looks for suspects whose verdict is LIKELY_LEAK or worse. From bad to worse:\n"
		   "settled, cache_growth, growing, likely_leak, orphaned.\n"
		   "Exit status: 0 there are none, 1 there are some, 2 that cannot be told: tracking\n"
		   "is off, or there were too few rounds for a verdict.",
	.order	 = 5,
	.run	 = run,
};
LEAKTREND_COMMAND(check);
