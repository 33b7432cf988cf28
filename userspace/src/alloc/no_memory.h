/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How functions shaped like malloc say that there is no memory: NULL, errno
 * ENOMEM and a sentence.
 */
#ifndef DRAY_ALLOC_NO_MEMORY_H
#define DRAY_ALLOC_NO_MEMORY_H

#include <stddef.h>

/* For @what, of @size bytes. */
void *dray_no_memory(const char *what, size_t size);
/* For elements whose bytes no size_t can count. */
void *dray_no_elements(size_t count, size_t size);

#endif /* DRAY_ALLOC_NO_MEMORY_H */
