// SPDX-License-Identifier: GPL-2.0
/*
 * A module that takes its time to set up its tables when it is loaded, and gives
 * them back when it goes away: growth that is no leak. With keep=1 it forgets them.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>

#define NR_STEPS	20
#define STEP_MS		30
#define MAX_ENTRIES	6000

static unsigned int entries = MAX_ENTRIES;
module_param(entries, uint, 0444);
MODULE_PARM_DESC(entries, "how many, at most 6000");
static bool keep;
module_param(keep, bool, 0444);
MODULE_PARM_DESC(keep, "do not give them back");

static void *tables[MAX_ENTRIES];

static noinline __noclone void scn_tables(unsigned int i)
{
	tables[i] = kmalloc(96, GFP_KERNEL);
	/* No tail call: this function is to be in the stack. */
	asm volatile("" : : : "memory");
}

static void tables_free(void)
{
	unsigned int i;

	for (i = 0; i < entries; i++)
		kfree(tables[i]);
}

static int __init tables_init(void)
{
	unsigned int i;

	entries = min(entries, MAX_ENTRIES);
	for (i = 0; i < entries; i++) {
		scn_tables(i);
		if (!tables[i]) {
			tables_free();
			return -ENOMEM;
		}
		if (i % (MAX_ENTRIES / NR_STEPS) == 0)
			msleep(STEP_MS);
	}
	return 0;
}

static void __exit tables_exit(void)
{
	if (!keep)
		tables_free();
}

module_init(tables_init);
module_exit(tables_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tables that are set up when the module is loaded");
