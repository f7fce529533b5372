// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: what a module leaves behind.
 *
 * When a module goes, nobody is left to free what its code has allocated and not
 * handed over to others. If something is outstanding at such a site, that is the
 * strongest evidence there is.
 *
 * The names in its stack are kept as text as long as they can be resolved. And
 * another module, or the same one, may be loaded to those addresses and then has
 * the same stacks: it gets sites of its own.
 */
#include <linux/gfp.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

static bool runs_through(const struct lt_site *site, const struct module *mod)
{
	unsigned long *frames;
	unsigned int nr, i;

	nr = stack_depot_fetch(site->handle, &frames);
	for (i = 0; i < nr; i++) {
		if (within_module(frames[i], mod))
			return true;
	}
	return false;
}

/* The stack as a report shows it. NULL if there is no memory. */
static char *stack_text(const struct lt_site *site)
{
	char *text = kmalloc(LT_SYMBOLS_LEN, GFP_KERNEL);
	char symbol[KSYM_SYMBOL_LEN];
	unsigned long *frames;
	unsigned int nr, i, at = 0;

	if (!text)
		return NULL;
	text[0] = '\0';
	nr = stack_depot_fetch(site->handle, &frames);
	for (i = 0; i < nr; i++) {
		leaktrend_symbol(frames[i], symbol);
		at += scnprintf(text + at, LT_SYMBOLS_LEN - at, " %s\n", symbol);
	}
	return text;
}

static void leave_behind(struct lt_site *site)
{
	char *text;

	/* Of page_owner's stacks there is one count, and so there is one site. */
	if (!site->record)
		leaktrend_site_unhash(site);
	if (!leaktrend_site_outstanding(site) || site->orphaned)
		return;

	text = stack_text(site);
	spin_lock(&site->lock);
	site->symbols = text;
	site->orphaned = true;
	spin_unlock(&site->lock);
}

/*
 * After the module's exit function. What it gave to kfree_rcu() may be freed only
 * now: the next round will see.
 */
static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct module *mod = data;
	struct lt_site *site;

	if (event != MODULE_STATE_GOING)
		return NOTIFY_DONE;

	mutex_lock(&leaktrend_mutex);
	leaktrend_for_each_site(site) {
		if (runs_through(site, mod))
			leave_behind(site);
		cond_resched();
	}
	mutex_unlock(&leaktrend_mutex);
	return NOTIFY_OK;
}

static struct notifier_block module_nb = {
	.notifier_call = module_event,
};

/**
 * leaktrend_orphans_init() - Hear of modules that go.
 *
 * Context: Process context, at boot.
 * Return: 0 or a negative errno.
 */
int __init leaktrend_orphans_init(void)
{
	return register_module_notifier(&module_nb);
}
