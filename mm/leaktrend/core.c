// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: boot, and tracking on and off.
 *
 * leaktrend=on or leaktrend=standby on the command line makes page_ext reserve
 * our word for each page. That is the only thing that cannot be had later, so
 * without it there is no tracking until the next boot, and with it tracking goes
 * on and off at will.
 *
 * Locking: leaktrend_mutex serialises on, off, clear and the rounds of the
 * engine. Only the mutex of the tunables, or the lock of the module notifiers,
 * may be held around it. Under it the locks of CPU hotplug (static key, sampler)
 * and of memory hotplug (walks over all pages) are taken, one at a time, and the
 * spinlocks of sites, table and site list, none of which nests in another. The
 * hooks take the raw ones of these only, and at most one at a time.
 */
#define pr_fmt(fmt) "leaktrend: " fmt

#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/stackdepot.h>
#include <linux/string.h>

#include "internal.h"

static enum lt_mode boot_mode __ro_after_init;

DEFINE_STATIC_KEY_FALSE(leaktrend_key);
/* See above. */
DEFINE_MUTEX(leaktrend_mutex);
bool leaktrend_running __read_mostly;
u32 leaktrend_epoch;

static int __init early_leaktrend_param(char *mode)
{
	static const char * const names[] = {
		[LT_MODE_OFF]	  = "off",
		[LT_MODE_STANDBY] = "standby",
		[LT_MODE_ON]	  = "on",
	};
	int i = mode ? match_string(names, ARRAY_SIZE(names), mode) : -EINVAL;

	if (i < 0) {
		pr_warn("leaktrend=%s: neither on, standby nor off; it stays off\n",
			mode ?: "");
		i = LT_MODE_OFF;
	}

	boot_mode = i;
	if (boot_mode != LT_MODE_OFF)
		stack_depot_request_early_init();
	return 0;
}
early_param("leaktrend", early_leaktrend_param);

/**
 * leaktrend_available() - Can tracking be switched on in this boot?
 *
 * Return: true if space was asked for on the command line, and there was memory
 * for the tables.
 */
bool leaktrend_available(void)
{
	return boot_mode != LT_MODE_OFF;
}

static void start_tracking(void)
{
	leaktrend_sampler_set_rate();
	/*
	 * The hooks come to life one by one. Nothing may be sampled before the
	 * last of them sees frees.
	 */
	static_branch_enable(&leaktrend_key);
	WRITE_ONCE(leaktrend_running, true);
	leaktrend_pages_start();
	leaktrend_engine_start();
}

static void stop_tracking(void)
{
	leaktrend_engine_stop();
	/*
	 * No sample comes any more, but frees still find theirs: so the purge
	 * sees live objects only.
	 */
	WRITE_ONCE(leaktrend_running, false);
	WRITE_ONCE(leaktrend_epoch, leaktrend_epoch + 1);
	leaktrend_table_purge();
	leaktrend_pages_purge();
	static_branch_disable(&leaktrend_key);
	leaktrend_sites_purge();
	leaktrend_engine_reset();
}

/**
 * leaktrend_enable() - Start tracking, with nothing known.
 *
 * Context: Process context, may sleep.
 * Return: 0, also if it is on already; -ENODEV if it cannot be in this boot.
 */
int leaktrend_enable(void)
{
	if (!leaktrend_available())
		return -ENODEV;

	mutex_lock(&leaktrend_mutex);
	if (!leaktrend_running)
		start_tracking();
	mutex_unlock(&leaktrend_mutex);
	return 0;
}

/**
 * leaktrend_disable() - Stop tracking, and forget everything.
 *
 * Context: Process context, may sleep.
 */
void leaktrend_disable(void)
{
	mutex_lock(&leaktrend_mutex);
	if (leaktrend_running)
		stop_tracking();
	mutex_unlock(&leaktrend_mutex);
}

/**
 * leaktrend_clear() - Forget everything, and go on from there.
 *
 * Context: Process context, may sleep.
 * Return: 0, or -ENODEV if tracking is off.
 */
int leaktrend_clear(void)
{
	int ret = -ENODEV;

	mutex_lock(&leaktrend_mutex);
	if (leaktrend_running) {
		stop_tracking();
		start_tracking();
		ret = 0;
	}
	mutex_unlock(&leaktrend_mutex);
	return ret;
}

/*
 * Early enough to see what drivers allocate, late enough for all that is needed
 * here. What was allocated before is not a leak that grows. Objects of that time
 * are not tracked, nor are pages without page_owner.
 */
static int __init leaktrend_init(void)
{
	int ret;

	if (!leaktrend_available())
		return 0;

	ret = leaktrend_site_init() ?: leaktrend_table_init() ?:
	      leaktrend_pages_init() ?: leaktrend_orphans_init();
	if (ret) {
		pr_warn("not enough memory for its tables, it stays off\n");
		boot_mode = LT_MODE_OFF;
		return ret;
	}
	leaktrend_sampler_init();

	if (boot_mode == LT_MODE_ON)
		leaktrend_enable();
	pr_info("%s, one sample in %llu allocations, a round every %llu ms\n",
		boot_mode == LT_MODE_ON ? "on" : "on standby",
		lt_param(sample_rate), lt_param(interval_ms));
	return 0;
}
core_initcall(leaktrend_init);
