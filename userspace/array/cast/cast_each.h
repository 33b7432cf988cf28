/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Makes loops that convert items one by one, at any address. */
#ifndef DRAY_CAST_EACH_H
#define DRAY_CAST_EACH_H

#include <string.h>

#include "cast/cast.h"

/* Defines store_TYPE(), which stores an item of a type of C. */
#define DEFINE_STORE_OF(type)                              \
	static inline void store_##type(char *dst, type x) \
	{                                                  \
		memcpy(dst, &x, sizeof(x));                \
	}

/* Stores convert(x) of items @ss bytes apart @ds bytes apart. */
#define EACH(ds, ss, store, convert)                           \
	do {                                                   \
		for (i = 0; i < count; i++) {                  \
			memcpy(&x, src + i * (ss), sizeof(x)); \
			store(dst + i * (ds), convert(x));     \
		}                                              \
	} while (0)

/*
 * A loop over items of @from_size bytes that start with a @type.  The compiler
 * sees the sizes of dense ones.
 */
#define DEFINE_EACH(scope, name, type, from_size, to_size, store, convert) \
	scope int name(char *const *data, const int64_t *strides,          \
		       int64_t count, void *context)                       \
	{                                                                  \
		const ptrdiff_t ds = (ptrdiff_t)strides[0];                \
		const ptrdiff_t ss = (ptrdiff_t)strides[1];                \
		char *restrict dst = data[0];                              \
		const char *restrict src = data[1];                        \
		ptrdiff_t i;                                               \
		type x;                                                    \
                                                                           \
		(void)context;                                             \
		if (ds == (to_size) && ss == (from_size))                  \
			EACH((ptrdiff_t)(to_size), (ptrdiff_t)(from_size), \
			     store, convert);                              \
		else                                                       \
			EACH(ds, ss, store, convert);                      \
		return 0;                                                  \
	}

#endif /* DRAY_CAST_EACH_H */
