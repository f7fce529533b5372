// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: names of addresses in a stack.
 */
#include <linux/kallsyms.h>
#include <linux/string.h>

#include "internal.h"

/**
 * leaktrend_symbol() - Name and offset of an address.
 * @address: Return address from a stack.
 * @text:    Room for KSYM_SYMBOL_LEN characters.
 *
 * Where kallsyms knows no name it shows the address itself, which is no business
 * of a report. That is so after a module has gone.
 */
void leaktrend_symbol(unsigned long address, char *text)
{
	sprint_symbol(text, address);
	if (strstarts(text, "0x"))
		strscpy(text, "(unknown: module unloaded)", KSYM_SYMBOL_LEN);
}

/**
 * leaktrend_symbol_name() - Name of the function of an address.
 * @address: Return address from a stack.
 * @name:    Room for KSYM_SYMBOL_LEN characters. Without offset and module;
 *	     empty if there is no name.
 */
void leaktrend_symbol_name(unsigned long address, char *name)
{
	sprint_symbol_no_offset(name, address);
	if (strstarts(name, "0x"))
		name[0] = '\0';
	*strchrnul(name, ' ') = '\0';
}
