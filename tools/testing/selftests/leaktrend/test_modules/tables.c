// SPDX-License-Identifier: GPL-2.0
/*
 * A module that takes its time to set up its tables when it is loaded, and gives
 * them back when it goes away: growth that is no leak.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>

#define NR_STEPS	20
#define STEP_MS		30
#define NR_ENTRIES	6000

static void *tables[NR_ENTRIES];

static noinline __noclone void scn_tables(unsigned int i)
{
	tables[i] = kmalloc(96, GFP_KERNEL);
	/* No tail call: this function is to be in the stack. */
	asm volatile("" : : : "memory");
}

static void tables_free(void)
{
	unsigned int i;

	for (i = 0; i < NR_ENTRIES; i++)
		kfree(tables[i]);
}

static int __init tables_init(void)
{
	unsigned int i;

	for (i = 0; i < NR_ENTRIES; i++) {
		scn_tables(i);
		if (!tables[i]) {
			tables_free();
			return -ENOMEM;
		}
		if (i % (NR_ENTRIES / NR_STEPS) == 0)
			msleep(STEP_MS);
	}
	return 0;
}

static void __exit tables_exit(void)
{
	tables_free();
}

module_init(tables_init);
module_exit(tables_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tables that are set up when the module is loaded");
