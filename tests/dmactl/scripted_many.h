/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Scenes of 10,000 buffers: "many", and "swelling", which has more at each look. */
#ifndef DMACTL_SCRIPTED_MANY_H
#define DMACTL_SCRIPTED_MANY_H

#include <stdbool.h>

#include <dray/memory.h>

#define MANY 10000 /* buffers; ids from 1 on */

/* Is it one of these scenes? */
bool has_many(void);

/* Fills in the owner, size and heap of a buffer of that id. */
void make_one_of_many(struct dray_buffer_info *info);

/* Appends the parts of the heap: buffers of one to four pages, and free runs. */
void set_many_parts(struct dray_heap_map *map);

#endif /* DMACTL_SCRIPTED_MANY_H */
