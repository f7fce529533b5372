/* SPDX-License-Identifier: GPL-2.0 */
/* Tests in C: one line per case, which run.sh numbers. */
#ifndef LEAKTREND_TAP_H
#define LEAKTREND_TAP_H

#include <stdarg.h>
#include <stdio.h>

static int tap_failed;

/* A case: what was to be seen, and whether it was. */
__attribute__((format(printf, 2, 3)))
static void tap(int passed, const char *fmt, ...)
{
	va_list ap;

	printf("%s - ", passed ? "ok" : "not ok");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	tap_failed |= !passed;
}

#endif
