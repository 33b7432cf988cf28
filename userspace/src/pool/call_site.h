/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Who called: addresses now, and names for them when somebody asks. */
#ifndef DRAY_POOL_CALL_SITE_H
#define DRAY_POOL_CALL_SITE_H

#include <stddef.h>
#include <stdio.h>

/* Return addresses of the caller's callers, at most @room of them. */
size_t dray_call_sites(void **sites, size_t room);
/* "function+0x12 in libfoo.so", as far as it is known, without a newline. */
void dray_call_site_print(FILE *file, void *site);

#endif /* DRAY_POOL_CALL_SITE_H */
