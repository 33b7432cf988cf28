/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where memory of this process lies in the machine's: what the kernel tells of
 * it to root.
 */
#ifndef SELFTEST_FRAMES_H
#define SELFTEST_FRAMES_H

#include "system.h"

/* The frame of a mapped page, or 0. */
uint64_t frame_of(const void *address);

/* What /proc/kpageflags has of it, or 0. */
uint64_t frame_flags(uint64_t frame);

/*
 * The pages of @size bytes, a segment for each, whether they lie side by side
 * or not.  How many, or a negative errno: -E2BIG there are more than @room.
 */
int frames_of(const void *bytes, size_t size, struct dray_segment *segment,
	      uint32_t room);

#endif
