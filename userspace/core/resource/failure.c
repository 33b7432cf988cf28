// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The pressure callback for an allocation that fails. */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "pool/pool.h"
#include "resource/resource.h"

struct failure {
	struct dray_resource *upstream;
	dray_pressure *pressure;
	void *argument;
};

static int failure_allocate(void *ctx, size_t size, size_t alignment,
			    uint64_t stream, void **out)
{
	struct failure *failure = ctx;
	int ret;

	do
		ret = dray_resource_allocate(failure->upstream, size, alignment,
					     stream, out);
	while (ret && dray_pressure_ask(failure->pressure, failure->argument,
					failure, size, ret));
	return ret;
}

static int failure_deallocate(void *ctx, void *block, size_t size,
			      uint64_t stream)
{
	struct failure *failure = ctx;

	return dray_resource_deallocate(failure->upstream, block, size, stream);
}

int dray_resource_on_failure(struct dray_resource *upstream,
			     dray_pressure *pressure, void *argument,
			     struct dray_resource **out)
{
	static const struct dray_resource_ops ops = {
		.size = sizeof(ops),
		.name = "on-failure",
		.allocate = failure_allocate,
		.deallocate = failure_deallocate,
		.capacity = dray_upstream_capacity,
		.destroy = dray_upstream_destroy,
	};
	struct failure *failure;

	if (!dray_given((const void *)(uintptr_t)pressure, __func__))
		return -EINVAL;
	failure = calloc(1, sizeof(*failure));
	if (failure) {
		failure->pressure = pressure;
		failure->argument = argument;
	}
	return dray_resource_stack(&ops, failure, upstream, out);
}
