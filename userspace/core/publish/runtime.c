// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * runtime: arrays that an array runtime has in memory of pools.  Only it knows
 * their shapes, so it is asked for all of them before each snapshot.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address_table.h"
#include "memory/window.h"
#include "publish/notes.h"

struct told {
	uint64_t bytes;
	uint32_t ndim;
	char type[124]; /* longer ones are cut */
	int64_t shape[];
};

struct dray_runtime {
	struct dray_address_table table; /* of struct told */
};

static void (*_Atomic each_array)(dray_publish_see *see, void *context);

void dray_publish_set_arrays(void (*each)(dray_publish_see *see, void *context))
{
	atomic_store(&each_array, each);
}

static void runtime_see(void *context, const void *data, uint64_t bytes,
			const char *type, int ndim, const int64_t *shape)
{
	struct dray_runtime *runtime = context;
	size_t axes;
	struct told *told;

	if (!bytes || !type || ndim < 0 || ndim > DRAY_PUBLISH_AXES ||
	    (ndim && !shape) || !dray_window_find(data))
		return;
	axes = (size_t)ndim * sizeof(*shape);
	told = malloc(sizeof(*told) + axes);
	if (!told || !dray_address_reserve(&runtime->table)) {
		free(told);
		return;
	}
	told->bytes = bytes;
	told->ndim = (uint32_t)ndim;
	snprintf(told->type, sizeof(told->type), "%s", type);
	if (axes)
		memcpy(told->shape, shape, axes);
	free(dray_address_put(&runtime->table, (uintptr_t)data, told));
}

struct dray_runtime *dray_runtime_gather(void)
{
	void (*each)(dray_publish_see * see, void *context) =
		atomic_load(&each_array);
	struct dray_runtime *runtime;

	if (!each)
		return NULL;
	runtime = calloc(1, sizeof(*runtime));
	if (runtime)
		each(runtime_see, runtime);
	return runtime;
}

bool dray_runtime_read(const struct dray_runtime *runtime, const void *start,
		       struct dray_note *out)
{
	const struct told *told =
		dray_address_get(&runtime->table, (uintptr_t)start);

	if (!told)
		return false;
	out->bytes = told->bytes;
	out->ndim = told->ndim;
	memcpy(out->type, told->type, sizeof(told->type));
	memcpy(out->shape, told->shape, told->ndim * sizeof(*told->shape));
	return true;
}

void dray_runtime_drop(struct dray_runtime *runtime)
{
	size_t i;

	if (!runtime)
		return;
	for (i = 0; i < runtime->table.size; i++)
		free(runtime->table.slots[i].value);
	dray_address_end(&runtime->table);
	free(runtime);
}
