/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: which call path's outstanding memory keeps growing.
 *
 * The part of the interface that the page extension core needs. The hooks for
 * the slab allocator are in mm/leaktrend/leaktrend.h.
 */
#ifndef _LINUX_LEAKTREND_H
#define _LINUX_LEAKTREND_H

#include <linux/page_ext.h>

#ifdef CONFIG_LEAKTREND
extern struct page_ext_operations leaktrend_ops;
#endif

#endif /* _LINUX_LEAKTREND_H */
