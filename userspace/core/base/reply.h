/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Fills a structure of a caller compiled against an older or newer library, as
 * far as both know its fields.
 */
#ifndef DRAY_BASE_REPLY_H
#define DRAY_BASE_REPLY_H

#include <stddef.h>
#include <string.h>

/* Fills the @size bytes of @out: bytes beyond @known become zero. */
static inline void dray_reply(void *out, size_t size, const void *known,
			      size_t known_size)
{
	size_t both = size < known_size ? size : known_size;

	memcpy(out, known, both);
	memset((char *)out + both, 0, size - both);
}

#endif /* DRAY_BASE_REPLY_H */
