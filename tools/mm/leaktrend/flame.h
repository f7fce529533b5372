/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: a flame graph of outstanding bytes by stack.
 */
#ifndef LEAKTREND_FLAME_H
#define LEAKTREND_FLAME_H

#include "model.h"

struct flame;

struct flame *flame_new(void);
/* flame_add() - @stack may be NULL: that is not known. */
void flame_add(struct flame *flame, const struct stack *stack, uint64_t bytes);
/* flame_html() - As elements of a page. @text writes what has to be escaped. */
void flame_html(struct flame *flame, FILE *f, void (*text)(FILE *f, const char *s));
void flame_free(struct flame *flame);

#endif
