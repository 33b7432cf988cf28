/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Failures of functions shaped like malloc:  NULL, errno (ENOMEM by default),
 * and a sentence.
 */
#ifndef DRAY_POOL_NO_MEMORY_H
#define DRAY_POOL_NO_MEMORY_H

#include <stddef.h>

/* After dray_fail() left the sentence:  @error is a negative errno. */
void *dray_no_block(int error);
/* No memory for @what, of @size bytes. */
void *dray_no_memory(const char *what, size_t size);
/* The bytes of the elements exceed a size_t. */
void *dray_no_elements(size_t count, size_t size);

#endif /* DRAY_POOL_NO_MEMORY_H */
