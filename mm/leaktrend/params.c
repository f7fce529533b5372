// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: tunables. One description each serves the command line
 * (leaktrend.<name>=) and debugfs (leaktrend/<name>).
 */
#define pr_fmt(fmt) "leaktrend: " fmt

#include <linux/array_size.h>
#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/overflow.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "internal.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "leaktrend."
#include <linux/moduleparam.h>

struct lt_params leaktrend_params __read_mostly = {
	.sample_rate	= 100,
	.interval_ms	= 60 * 1000,
	.min_rounds	= 8,
	.min_bytes	= 8 << 20,
	.min_age_ms	= 60 * 60 * 1000,
	.elder_rounds	= 4,
	.stack_depth	= 32,
	.max_sites	= 10000,
	.max_overhead	= 10,
};

/*
 * memparse() would let a number that is too large wrap around, and cannot say
 * where it ends in an error.
 */
static int parse(const struct lt_param_desc *desc, const char *text, u64 *value)
{
	static const char suffixes[] = "KMGT";
	size_t len = strlen(text);
	unsigned int shift = 0, base;
	char number[32];
	u64 v;
	int ret;

	if (!len || len >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, len);
	number[len] = '\0';

	if (desc->bytes) {
		const char *suffix = strchr(suffixes, toupper(number[len - 1]));

		if (suffix && *suffix) {
			shift = 10 * (suffix - suffixes + 1);
			number[len - 1] = '\0';
		}
	}

	/* Not base 0: 010 is not meant to be eight. */
	base = strstarts(number, "0x") ? 16 : 10;
	/* It is well formed, only too small. */
	if (number[0] == '-' && !kstrtou64(number + 1, 10, &v))
		return -ERANGE;
	ret = kstrtou64(number, base, &v);
	if (ret)
		return ret;
	if (check_shl_overflow(v, shift, &v) || v < desc->min || v > desc->max)
		return -ERANGE;

	*value = v;
	return 0;
}

static int param_set(const char *text, const struct kernel_param *kp)
{
	const struct lt_param_desc *desc = kp->arg;
	u64 value;
	int ret;

	ret = text ? parse(desc, text, &value) : -EINVAL;
	if (ret)
		pr_warn("%s=%s: not a number from %llu to %llu, staying at %llu\n",
			desc->name, text ?: "", desc->min, desc->max,
			*desc->value);
	else
		*desc->value = value;

	/* It has been said; no need to stop the rest of the command line. */
	return 0;
}

static const struct kernel_param_ops param_ops = {
	.set = param_set,
};

#define LT_PARAM(_name, _min, _max, ...)				\
	static const struct lt_param_desc param_##_name = {		\
		.name = #_name,						\
		.value = &leaktrend_params._name,			\
		.min = _min,						\
		.max = _max,						\
		__VA_ARGS__						\
	}

LT_PARAM(sample_rate, 1, LT_MAX_RATE, .changed = leaktrend_sampler_set_rate);
LT_PARAM(interval_ms, 10, 24 * 60 * 60 * 1000,
	 .changed = leaktrend_engine_interval_changed);
LT_PARAM(min_rounds, 2, LT_RING - 1);
LT_PARAM(min_bytes, 0, 1ULL << 62, .bytes = true);
LT_PARAM(min_age_ms, 0, 30ULL * 24 * 60 * 60 * 1000);
LT_PARAM(elder_rounds, 1, LT_RING - 1);
LT_PARAM(stack_depth, 1, LT_MAX_STACK_DEPTH);
LT_PARAM(max_sites, 1, LT_MAX_SITES);
LT_PARAM(max_overhead, 0, 1000, .changed = leaktrend_sampler_set_rate);

/* Not in sysfs: at run time they are in debugfs. */
#define LT_BOOT_PARAM(_name)						\
	module_param_cb(_name, &param_ops, (void *)&param_##_name, 0)

LT_BOOT_PARAM(sample_rate);
LT_BOOT_PARAM(interval_ms);
LT_BOOT_PARAM(min_rounds);
LT_BOOT_PARAM(min_bytes);
LT_BOOT_PARAM(min_age_ms);
LT_BOOT_PARAM(elder_rounds);
LT_BOOT_PARAM(stack_depth);
LT_BOOT_PARAM(max_sites);
LT_BOOT_PARAM(max_overhead);

const struct lt_param_desc * const leaktrend_param_descs[] = {
	&param_sample_rate,
	&param_interval_ms,
	&param_min_rounds,
	&param_min_bytes,
	&param_min_age_ms,
	&param_elder_rounds,
	&param_stack_depth,
	&param_max_sites,
	&param_max_overhead,
};

const unsigned int leaktrend_nr_params = ARRAY_SIZE(leaktrend_param_descs);

/* A value and what follows from it change together. */
static DEFINE_MUTEX(param_mutex);

/**
 * leaktrend_param_change() - Change a tunable at run time.
 * @desc: Which.
 * @text: The new value, and nothing else.
 *
 * Context: Process context, may sleep.
 * Return: 0, -EINVAL if it is not a number, -ERANGE if it is out of range. Then
 * the old value stays.
 */
int leaktrend_param_change(const struct lt_param_desc *desc, const char *text)
{
	u64 value;
	int ret;

	ret = parse(desc, text, &value);
	if (ret)
		return ret;

	mutex_lock(&param_mutex);
	WRITE_ONCE(*desc->value, value);
	if (desc->changed)
		desc->changed();
	mutex_unlock(&param_mutex);
	return 0;
}
