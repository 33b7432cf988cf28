/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How functions shaped like malloc say that there is no memory: NULL, errno,
 * which is ENOMEM where nothing else is said, and a sentence.
 */
#ifndef DRAY_POOL_NO_MEMORY_H
#define DRAY_POOL_NO_MEMORY_H

#include <stddef.h>

/* What dray_fail() has said: @error is a negative errno. */
void *dray_no_block(int error);
/* For @what, of @size bytes. */
void *dray_no_memory(const char *what, size_t size);
/* For elements whose bytes no size_t can count. */
void *dray_no_elements(size_t count, size_t size);

#endif /* DRAY_POOL_NO_MEMORY_H */
