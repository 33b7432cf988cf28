// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * resource: the object and the calls.  Each live block counts as a reference:
 * the thread that frees the last one may hold nothing else.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/options.h"
#include "resource/resource.h"

struct dray_resource {
	struct dray_resource_ops ops;
	void *ctx;
	_Atomic uint64_t references; /* with one for each block */
	_Atomic uint64_t blocks;
};

int dray_resource_create(const struct dray_resource_ops *ops, void *ctx,
			 struct dray_resource **out)
{
	struct dray_resource *resource;
	struct dray_resource_ops known;
	int ret;

	if (!dray_given(ops, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, ops, DRAY_RESOURCE_OPS_SIZE_FIRST);
	if (ret)
		return ret;
	if (!known.name || !known.allocate || !known.deallocate)
		return dray_fail(-EINVAL, "a resource without %s",
				 !known.name	  ? "a name"
				 : known.allocate ? "deallocate"
						  : "allocate");
	resource = calloc(1, sizeof(*resource));
	if (!resource)
		return dray_fail(-ENOMEM, "no memory for a resource's object");
	resource->ops = known;
	resource->ctx = ctx;
	atomic_init(&resource->references, 1);
	*out = resource;
	return 0;
}

struct dray_resource *dray_resource_ref(struct dray_resource *resource)
{
	if (resource)
		atomic_fetch_add_explicit(&resource->references, 1,
					  memory_order_relaxed);
	return resource;
}

void dray_resource_unref(struct dray_resource *resource)
{
	if (!resource || atomic_fetch_sub_explicit(&resource->references, 1,
						   memory_order_acq_rel) != 1)
		return;
	if (resource->ops.destroy)
		resource->ops.destroy(resource->ctx);
	free(resource);
}

const char *dray_resource_name(const struct dray_resource *resource)
{
	return dray_given(resource, __func__) ? resource->ops.name : NULL;
}

void *dray_resource_context(struct dray_resource *resource,
			    int (*allocate)(void *ctx, size_t size,
					    size_t alignment, uint64_t stream,
					    void **out),
			    const char *kind)
{
	if (resource && resource->ops.allocate == allocate)
		return resource->ctx;
	dray_fail(-EINVAL, "resource \"%s\" is not of kind \"%s\"",
		  resource ? resource->ops.name : "", kind);
	return NULL;
}

int dray_resource_allocate(struct dray_resource *resource, size_t size,
			   size_t alignment, uint64_t stream, void **out)
{
	void *block = NULL;
	int ret;

	if (!dray_given(resource, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (alignment && !dray_is_power_of_two(alignment))
		return dray_fail(
			-EINVAL,
			"an alignment of %zu bytes is not a power of two",
			alignment);
	if (size > PTRDIFF_MAX)
		return dray_fail(-ENOMEM,
				 "a block of %zu bytes, at most %td are "
				 "possible",
				 size, PTRDIFF_MAX);
	ret = resource->ops.allocate(resource->ctx, size, alignment, stream,
				     &block);
	if (ret)
		return ret;
	dray_resource_ref(resource);
	atomic_fetch_add_explicit(&resource->blocks, 1, memory_order_relaxed);
	*out = block;
	return 0;
}

/* One block less, but never below none: a kind may be wrong in its answer. */
static bool count_down(struct dray_resource *resource)
{
	uint64_t blocks = atomic_load(&resource->blocks);

	do {
		if (!blocks)
			return false;
	} while (!atomic_compare_exchange_weak(&resource->blocks, &blocks,
					       blocks - 1));
	return true;
}

int dray_resource_deallocate(struct dray_resource *resource, void *block,
			     size_t size, uint64_t stream)
{
	int ret;

	if (!dray_given(resource, __func__))
		return -EINVAL;
	if (!block)
		return 0;
	/* A caller with a block sees a count of at least one. */
	if (!atomic_load(&resource->blocks))
		return dray_fail(
			-EINVAL,
			"free of %p, but all blocks of \"%s\" are freed", block,
			resource->ops.name);
	ret = resource->ops.deallocate(resource->ctx, block, size, stream);
	if (!ret && count_down(resource))
		dray_resource_unref(resource);
	return ret;
}

int dray_resource_capacity(struct dray_resource *resource,
			   struct dray_capacity *out)
{
	struct dray_capacity known = { 0 };
	int ret;

	if (!dray_given(resource, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (!resource->ops.capacity)
		return dray_fail(-EOPNOTSUPP,
				 "resource \"%s\" cannot report its capacity",
				 resource->ops.name);
	ret = resource->ops.capacity(resource->ctx, &known);
	if (!ret)
		*out = known;
	return ret;
}

int dray_resource_stack(const struct dray_resource_ops *ops, void *ctx,
			struct dray_resource *upstream,
			struct dray_resource **out)
{
	int ret;

	if (!upstream || !out) {
		free(ctx);
		return dray_fail(
			-EINVAL,
			"the upstream or the result pointer of resource \"%s\" is NULL",
			ops->name);
	}
	if (!ctx)
		return dray_fail(-ENOMEM, "no memory for a resource \"%s\"",
				 ops->name);
	ret = dray_resource_create(ops, ctx, out);
	if (ret)
		free(ctx);
	else
		*(struct dray_resource **)ctx = dray_resource_ref(upstream);
	return ret;
}

int dray_upstream_capacity(void *ctx, struct dray_capacity *out)
{
	return dray_resource_capacity(*(struct dray_resource **)ctx, out);
}

void dray_upstream_destroy(void *ctx)
{
	dray_resource_unref(*(struct dray_resource **)ctx);
	free(ctx);
}
