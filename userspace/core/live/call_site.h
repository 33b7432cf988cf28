/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Call sites: addresses now, and names if a report needs them. */
#ifndef DRAY_LIVE_CALL_SITE_H
#define DRAY_LIVE_CALL_SITE_H

#include <stddef.h>
#include <stdio.h>

#include "live/symbols.h"

#define DRAY_CALLERS_SITES 8

/* The callers of an allocation or a free. */
struct dray_callers {
	const char *place; /* in an interpreter's program; may be NULL */
	size_t count;
	void *sites[DRAY_CALLERS_SITES];
};

/* Return addresses of the caller's callers, at most @room of them. */
size_t dray_call_sites(void **sites, size_t room);
/*
 * Prints "function+0x12 in libfoo.so, at file.c:34", or the parts known, without a
 * newline.  @symbols, which may be NULL, knows functions that are not exported, and
 * lines.
 */
void dray_call_site_print(FILE *file, void *site, struct dray_symbols *symbols);

/* Prints @title and below it the place and each site; nothing without either. */
void dray_callers_print(FILE *file, struct dray_symbols *symbols,
			const char *title, const char *place,
			void *const *sites, size_t count);

/*
 * Writes the first site that does not lie in this library in that form to @out,
 * which has @room bytes; "" if there is none.
 */
void dray_call_site_outside(char *out, size_t room, void *const *sites,
			    size_t count);

#endif /* DRAY_LIVE_CALL_SITE_H */
