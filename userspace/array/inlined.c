// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Functions that programs in C inline, as symbols for all others: no other file
 * defines them.  Those of libdray's headers are in that library.
 */
#include <dray/dray.h>

#undef DRAY_INLINED
#define DRAY_INLINED(...)     \
	DRAY_API __VA_ARGS__; \
	__VA_ARGS__

#include <dray/array.h>
