// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Functions that programs in C inline, as symbols for all others: no other file
 * defines them.
 */
#include <dray/base.h>

#undef DRAY_INLINED
#define DRAY_INLINED(...)     \
	DRAY_API __VA_ARGS__; \
	__VA_ARGS__

#include <dray/dray.h>
