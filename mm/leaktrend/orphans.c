// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: what a module leaves behind.
 *
 * When a module goes, nobody is left to free what its code has allocated and not
 * handed over to others. If something is outstanding at such a site, that is the
 * strongest evidence there is.
 *
 * The names in a stack are kept as text as long as they can be resolved: until the
 * module goes, and where its init function is in the stack until that has ended, as
 * the memory of that is given back then. Another module, or the same one, may be
 * loaded to those addresses and then has the same stacks: it gets sites of its own.
 */
#include <linux/gfp.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

/* Of all texts. Written under leaktrend_mutex. */
static size_t symbols_memory;

/* Is one of the frames of a stack what @is says, of @mod? */
static bool any_frame(depot_stack_handle_t handle, const struct module *mod,
		      bool (*is)(unsigned long address, const struct module *mod))
{
	unsigned long *frames;
	unsigned int nr, i;

	nr = stack_depot_fetch(handle, &frames);
	for (i = 0; i < nr; i++) {
		if (is(frames[i], mod))
			return true;
	}
	return false;
}

static bool outside_kernel(unsigned long address, const struct module *unused)
{
	return !core_kernel_text(address);
}

/**
 * leaktrend_orphans_possible() - Can a module leave memory behind at a site?
 * @handle: Its stack.
 *
 * Found out once, when the site is made: no module need look at other sites when it
 * comes or goes. A frame that is in no module either, as of a BPF program, is counted.
 *
 * Context: Any.
 * Return: true if not all of the stack is in the kernel image.
 */
bool leaktrend_orphans_possible(depot_stack_handle_t handle)
{
	return any_frame(handle, NULL, outside_kernel);
}

static bool runs_through(const struct lt_site *site, const struct module *mod,
			 bool (*within)(unsigned long address, const struct module *mod))
{
	/* With names, what is at these addresses now is not what was there then. */
	return site->modular && !site->symbols && any_frame(site->handle, mod, within);
}

/* The stack as a report shows it. */
static void stack_text(const struct lt_site *site, char *text)
{
	char symbol[KSYM_SYMBOL_LEN];
	unsigned long *frames;
	unsigned int nr, i, at = 0;

	text[0] = '\0';
	nr = stack_depot_fetch(site->handle, &frames);
	for (i = 0; i < nr; i++) {
		leaktrend_symbol(frames[i], symbol);
		at += scnprintf(text + at, LT_SYMBOLS_LEN - at, " %s\n", symbol);
	}
}

/* @text is for the stack. Without memory for a copy the names are lost. */
static void keep_names(struct lt_site *site, char *text)
{
	char *copy;

	stack_text(site, text);
	copy = kstrdup(text, GFP_KERNEL);
	if (!copy)
		return;
	/* Sites are not scanned for pointers. */
	kmemleak_not_leak(copy);
	WRITE_ONCE(symbols_memory, symbols_memory + strlen(copy) + 1);
	spin_lock(&site->lock);
	WRITE_ONCE(site->symbols, copy);
	spin_unlock(&site->lock);
}

/* From now on the same addresses are another call path. */
static void detach(struct lt_site *site)
{
	/* Of page_owner's stacks there is one count, and so there is one site. */
	if (!site->record)
		leaktrend_site_unhash(site);
}

static void init_ended(struct lt_site *site, const struct module *mod, char *text)
{
	if (!runs_through(site, mod, within_module_init))
		return;
	detach(site);
	if (!leaktrend_site_outstanding(site))
		return;
	keep_names(site, text);
	site->init_of = mod;
}

static void module_gone(struct lt_site *site, const struct module *mod, char *text)
{
	if (site->init_of == mod)
		site->init_of = NULL;
	else if (runs_through(site, mod, within_module))
		detach(site);
	else
		return;

	if (!leaktrend_site_outstanding(site))
		return;
	if (!site->symbols)
		keep_names(site, text);
	spin_lock(&site->lock);
	site->orphaned = true;
	spin_unlock(&site->lock);
}

/*
 * When a module has gone it is after its exit function. What it gave to kfree_rcu()
 * may be freed only now: the next round will see.
 */
static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct module *mod = data;
	struct lt_site *site;
	char *text;

	if (event != MODULE_STATE_LIVE && event != MODULE_STATE_GOING)
		return NOTIFY_DONE;

	/* A small allocation that may wait does not fail. */
	text = kmalloc(LT_SYMBOLS_LEN, GFP_KERNEL | __GFP_NOFAIL);
	mutex_lock(&leaktrend_mutex);
	leaktrend_for_each_site(site) {
		if (event == MODULE_STATE_LIVE)
			init_ended(site, mod, text);
		else
			module_gone(site, mod, text);
		cond_resched();
	}
	mutex_unlock(&leaktrend_mutex);
	kfree(text);
	return NOTIFY_OK;
}

/**
 * leaktrend_orphans_names() - The names that were saved of a stack.
 * @number: Number of its site.
 * @handle: Its stack, to tell whether that is still the same site.
 * @text:   Room for LT_SYMBOLS_LEN characters.
 *
 * Context: Process context, may sleep.
 * Return: true if there are any.
 */
bool leaktrend_orphans_names(u32 number, depot_stack_handle_t handle, char *text)
{
	const struct lt_site *site;
	bool found;

	mutex_lock(&leaktrend_mutex);
	site = leaktrend_site_by_id(number);
	found = site && site->handle == handle && site->symbols;
	if (found)
		strscpy(text, site->symbols, LT_SYMBOLS_LEN);
	mutex_unlock(&leaktrend_mutex);
	return found;
}

/**
 * leaktrend_orphans_forget() - A site goes, and its names.
 * @site: The site. Nobody uses it any more.
 *
 * Context: Process context under leaktrend_mutex.
 */
void leaktrend_orphans_forget(struct lt_site *site)
{
	if (site->symbols)
		WRITE_ONCE(symbols_memory, symbols_memory - strlen(site->symbols) - 1);
	kfree(site->symbols);
}

/* Bytes that all names take. */
size_t leaktrend_orphans_memory(void)
{
	return READ_ONCE(symbols_memory);
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
