/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the files of this room share about resources: each kind is a file of
 * its own, resource_*.c, with a structure of its own as the context.
 */
#ifndef DRAY_RESOURCE_RESOURCE_H
#define DRAY_RESOURCE_RESOURCE_H

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

/*
 * Makes a resource over @upstream, whose context is @ctx, memory of calloc(),
 * which begins with a pointer for the reference to upstream.  @ctx may be
 * NULL: -ENOMEM.  On failure it is freed.
 */
int dray_resource_stack(const struct dray_resource_ops *ops, void *ctx,
			struct dray_resource *upstream,
			struct dray_resource **out);

/* As dray_resource_log(), but -EEXIST if there is such a file already. */
int dray_resource_log_new(struct dray_resource *upstream, const char *path,
			  struct dray_resource **out);

/* For kinds that have nothing to say themselves: what upstream says. */
int dray_upstream_capacity(void *ctx, struct dray_capacity *out);
/* Ends a context of dray_resource_stack() that holds nothing else. */
void dray_upstream_destroy(void *ctx);

#endif /* DRAY_RESOURCE_RESOURCE_H */
