/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Registers and interrupts of a node, found by their names. */
#ifndef DRAY_MEMORY_IO_H
#define DRAY_MEMORY_IO_H

#include "memory/backend.h"

struct dray_io_kind {
	const char *plural; /* for sentences */
	const char *property; /* of the device tree */
	uint32_t (*count)(const struct dray_node *node);
	int (*name)(struct dray_node *node, uint32_t index,
		    char name[DRAY_NAME_LEN]);
};

/*
 * Finds the index of @name; NULL: the first.  Errors: -EINVAL (the sentence lists the
 * names), -EOPNOTSUPP (the node has none), and errors of the module.
 */
int dray_io_find(struct dray_node *node, const struct dray_io_kind *kind,
		 const char *name, uint32_t *index);

#endif /* DRAY_MEMORY_IO_H */
