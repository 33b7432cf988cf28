/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Lists of phandles with arguments, such as dmas and iommus.  The target of an entry
 * has the count of its arguments.
 */
#ifndef DMACTL_DT_REFERENCE_H
#define DMACTL_DT_REFERENCE_H

#include "tree.h"

struct reference {
	/* Set by the caller. */
	const struct tree_node *node; /* has the property */
	const char *list; /* the property, as "dmas" */
	const char *count_name; /* as "#dma-cells"; NULL: no arguments */

	size_t index; /* of this entry; the first is 0 */
	size_t next; /* cell behind it */
	uint32_t phandle;
	const struct tree_node *target; /* NULL: none has the phandle */
	bool counted; /* the target has the property @count_name */
	uint32_t count; /* of arguments */
	size_t first; /* cell of the first one */
	bool cut; /* the list ends before the last argument */
};

/* The channels of a node, its property dmas, and its heaps, memory-region. */
struct reference reference_channels(const struct tree_node *node);
struct reference reference_heaps(const struct tree_node *node);

/*
 * Reads the next entry: false behind the last, and behind one with an unknown
 * number of arguments.
 */
bool reference_next(struct reference *reference);

#endif /* DMACTL_DT_REFERENCE_H */
