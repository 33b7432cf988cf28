/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the files of this room share about resources: each kind is a file of
 * its own, resource_*.c, with a structure of its own as the context.
 */
#ifndef DRAY_ALLOC_RESOURCE_H
#define DRAY_ALLOC_RESOURCE_H

#include <dray/resource.h>

/*
 * The context of a resource of the kind that @allocate tells; NULL, with a
 * sentence that names @kind, where it is of another one.
 */
void *dray_resource_context(struct dray_resource *resource,
			    int (*allocate)(void *ctx, size_t size,
					    size_t alignment, uint64_t stream,
					    void **out),
			    const char *kind);

#endif /* DRAY_ALLOC_RESOURCE_H */
