/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of this room.  Each kind of resource is a file of its
 * own, with its own structure as the context.
 */
#ifndef DRAY_RESOURCE_RESOURCE_H
#define DRAY_RESOURCE_RESOURCE_H

#include <dray/resource.h>

/*
 * Returns the context if @allocate is the resource's; else NULL, with a
 * sentence that names @kind.
 */
void *dray_resource_context(struct dray_resource *resource,
			    int (*allocate)(void *ctx, size_t size,
					    size_t alignment, uint64_t stream,
					    void **out),
			    const char *kind);

/*
 * Makes a resource over @upstream.  @ctx comes from calloc() and begins with a
 * pointer for the reference to upstream.  If it is NULL, returns -ENOMEM.  On
 * failure it is freed.
 */
int dray_resource_stack(const struct dray_resource_ops *ops, void *ctx,
			struct dray_resource *upstream,
			struct dray_resource **out);

/*
 * Puts a log over *@resource, whose reference passes to it, if the environment
 * asks for one.
 */
int dray_resource_log_asked(struct dray_resource **resource);

/* For kinds without a capacity of their own: returns upstream's. */
int dray_upstream_capacity(void *ctx, struct dray_capacity *out);
/* Ends a context of dray_resource_stack() that holds nothing else. */
void dray_upstream_destroy(void *ctx);

#endif /* DRAY_RESOURCE_RESOURCE_H */
