// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A call on its way through OpenCL: a buffer around the bytes of its operands where
 * they are, kernels along three axes at a time, and the bytes back to the CPU.
 * Operands that meet share one buffer, since OpenCL knows of no others.
 */
#include <errno.h>
#include <string.h>

#include "private.h"
#include "executor/opencl.h"

/* Kernels on their way, before they are waited for. */
#define MOST_LAUNCHES 64
/* A row of fewer elements is not worth a work-group. */
#define DENSE_ROW 16

/* A call that is cut into kernels. */
struct run {
	const struct dray_opencl_executor *executor;
	const struct dray_queued *queued;
	cl_kernel kernel;
	struct dray_layout layout;
	struct dray_opencl_region regions[DRAY_CALL_OPERANDS];
	int regions_count;
	struct dray_opencl_arguments arguments;
	int outer[DRAY_MAX_NDIM]; /* axes that kernels do not go along */
	int outer_count;
	int64_t index[DRAY_MAX_NDIM]; /* on these */
	cl_event events[MOST_LAUNCHES];
	cl_uint launched;
};

cl_int dray_opencl_launch(const struct dray_opencl_executor *executor,
			  cl_kernel kernel,
			  const struct dray_opencl_arguments *arguments,
			  cl_event *event)
{
	const size_t group[3] = { executor->group, 1, 1 };
	size_t items[3] = { arguments->items[0], arguments->items[1],
			    arguments->items[2] };
	cl_uint place = 0;
	cl_int error = 0;
	int o;

	for (o = 0; !error && o < arguments->operands; o++) {
		error = dray_opencl.clSetKernelArg(
			kernel, place++, sizeof(cl_mem), &arguments->memory[o]);
		if (!error)
			error = dray_opencl.clSetKernelArg(
				kernel, place++, sizeof(cl_long4),
				&arguments->places[o]);
	}
	if (!error)
		error = dray_opencl.clSetKernelArg(
			kernel, place, sizeof(cl_long4), &arguments->counts);
	if (error)
		return error;
	items[0] = (items[0] + group[0] - 1) / group[0] * group[0];
	return dray_opencl.clEnqueueNDRangeKernel(
		executor->queue, kernel, 3, NULL, items, group, 0, NULL, event);
}

cl_int dray_opencl_give_back(const struct dray_opencl_executor *executor,
			     cl_mem memory, size_t size)
{
	cl_int error;
	void *mapped;

	mapped = dray_opencl.clEnqueueMapBuffer(executor->queue, memory,
						CL_TRUE, CL_MAP_READ, 0, size,
						0, NULL, NULL, &error);
	if (!error)
		error = dray_opencl.clEnqueueUnmapMemObject(
			executor->queue, memory, mapped, 0, NULL, NULL);
	return error ? error : dray_opencl.clFinish(executor->queue);
}

int dray_opencl_regions(const struct dray_queued *queued,
			struct dray_opencl_region *regions)
{
	int o, i, count = 0;

	for (o = 0; o < queued->operands; o++) {
		struct dray_opencl_region region = {
			.span = queued->spans[o],
			.written = dray_queued_is_output(queued, o),
		};

		/* Takes in all that it meets; its bounds grow on the way. */
		for (i = 0; i < count;) {
			if (!dray_addresses_meet(regions[i].span,
						 region.span)) {
				i++;
				continue;
			}
			if (regions[i].span.low < region.span.low)
				region.span.low = regions[i].span.low;
			if (regions[i].span.high > region.span.high)
				region.span.high = regions[i].span.high;
			region.written |= regions[i].written;
			regions[i] = regions[--count];
			i = 0;
		}
		regions[count++] = region;
	}
	return count;
}

static int create_buffers(struct run *run)
{
	cl_int error;
	int i;

	run->regions_count = dray_opencl_regions(run->queued, run->regions);
	for (i = 0; i < run->regions_count; i++) {
		struct dray_opencl_region *region = &run->regions[i];

		region->memory = dray_opencl.clCreateBuffer(
			run->executor->context,
			CL_MEM_USE_HOST_PTR |
				(region->written ? CL_MEM_READ_WRITE
						 : CL_MEM_READ_ONLY),
			region->span.high - region->span.low,
			(void *)region->span.low, &error);
		if (!region->memory)
			return dray_opencl_fail(error, "clCreateBuffer");
	}
	return 0;
}

/* Finds the buffer of each operand, and where it begins there. */
static void place_operands(struct run *run)
{
	int o, i;

	run->arguments.operands = run->queued->operands;
	for (o = 0; o < run->queued->operands; o++)
		for (i = 0; i < run->regions_count; i++) {
			const struct dray_opencl_region *region =
				&run->regions[i];

			if (!dray_addresses_meet(region->span,
						 run->queued->spans[o]))
				continue;
			run->arguments.memory[o] = region->memory;
			run->arguments.places[o].s[3] =
				(cl_long)((uintptr_t)run->layout.data[o] -
					  region->span.low);
		}
}

/* Gives axis @axis of the layout to the kernel, as @place. */
static void take_axis(struct run *run, int axis, int place)
{
	const struct dray_layout_axis *taken = &run->layout.axes[axis];
	int o;

	for (o = 0; o < run->queued->operands; o++)
		run->arguments.places[o].s[place] = taken->strides[o];
	run->arguments.counts.s[place] = (cl_long)taken->count;
	run->arguments.items[place] = (size_t)taken->count;
}

/* Whether operands have no gaps along the innermost axis. */
static bool is_dense(const struct dray_layout *layout)
{
	const struct dray_layout_axis *axis =
		&layout->axes[layout->axes_count - 1];
	int o;

	for (o = 0; o < layout->operands; o++)
		if (axis->strides[o] != (int64_t)layout->sizes[o])
			return false;
	return axis->count >= DENSE_ROW;
}

/* Gives up to three axes to the kernel: a dense row first, else the longest ones. */
static enum dray_opencl_way cut(struct run *run)
{
	const struct dray_layout *layout = &run->layout;
	const bool dense = layout->axes_count && is_dense(layout);
	bool taken[DRAY_MAX_NDIM] = { false };
	int place, axis, best;

	for (place = 0; place < 3; place++) {
		run->arguments.counts.s[place] = 1;
		run->arguments.items[place] = 1;
		best = -1;
		for (axis = layout->axes_count - 1; axis >= 0; axis--) {
			if (!taken[axis] &&
			    (best < 0 || layout->axes[axis].count >
						 layout->axes[best].count))
				best = axis;
			if (dense && !place)
				break;
		}
		if (best < 0)
			continue;
		taken[best] = true;
		take_axis(run, best, place);
	}
	for (axis = 0; axis < layout->axes_count; axis++)
		if (!taken[axis])
			run->outer[run->outer_count++] = axis;
	if (run->queued->call.where)
		return DRAY_OPENCL_MASKED;
	return dense ? DRAY_OPENCL_DENSE : DRAY_OPENCL_STRIDED;
}

/* Steps along the axes that kernels do not go along; false after the last step. */
static bool step(struct run *run)
{
	int i, o;

	for (i = run->outer_count - 1; i >= 0; i--) {
		const struct dray_layout_axis *axis =
			&run->layout.axes[run->outer[i]];
		const bool ends = ++run->index[i] == (int64_t)axis->count;

		for (o = 0; o < run->queued->operands; o++)
			run->arguments.places[o].s[3] +=
				ends ? -axis->strides[o] *
						((int64_t)axis->count - 1)
				     : axis->strides[o];
		if (!ends)
			return true;
		run->index[i] = 0;
	}
	return false;
}

/* Waits for kernels on their way. */
static cl_int collect(struct run *run)
{
	cl_int error = 0;
	cl_uint i;

	if (run->launched)
		error = dray_opencl.clWaitForEvents(run->launched, run->events);
	for (i = 0; i < run->launched; i++)
		dray_opencl.clReleaseEvent(run->events[i]);
	run->launched = 0;
	return error;
}

static int launch_all(struct run *run)
{
	cl_int error = 0;

	do {
		if (run->launched == MOST_LAUNCHES)
			error = collect(run);
		if (!error && dray_call_is_cancelled(&run->queued->call))
			return dray_fail(-ECANCELED,
					 "the call of %s was cancelled",
					 run->queued->call.ufunc->name);
		if (!error)
			error = dray_opencl_launch(run->executor, run->kernel,
						   &run->arguments,
						   &run->events[run->launched]);
		if (error)
			break;
		run->launched++;
	} while (step(run));
	if (!error)
		error = collect(run);
	return error ? dray_opencl_fail(error, "a kernel") : 0;
}

static int give_back(const struct run *run)
{
	cl_int error = 0;
	int i;

	for (i = 0; !error && i < run->regions_count; i++) {
		const struct dray_opencl_region *region = &run->regions[i];

		if (region->written)
			error = dray_opencl_give_back(
				run->executor, region->memory,
				region->span.high - region->span.low);
	}
	return error ? dray_opencl_fail(error, "clEnqueueMapBuffer") : 0;
}

/* Ends all kernels on their way: nothing touches the operands any more. */
static void end(struct run *run)
{
	int i;

	collect(run);
	dray_opencl.clFinish(run->executor->queue);
	for (i = 0; i < run->regions_count; i++)
		if (run->regions[i].memory)
			dray_opencl.clReleaseMemObject(run->regions[i].memory);
}

static void count(struct dray_opencl_executor *executor,
		  const struct dray_queued *queued)
{
	uint64_t bytes = 0;
	int o;

	for (o = 0; o < queued->operands; o++)
		bytes += dray_dtype_itemsize(queued->views[o].dtype);
	atomic_fetch_add(&executor->calls, 1);
	atomic_fetch_add(&executor->bytes,
			 bytes * (uint64_t)queued->call.elements);
}

int dray_opencl_run(struct dray_opencl_executor *executor,
		    const struct dray_opencl_kernels *kernels,
		    struct dray_queued *queued)
{
	struct run run = { .executor = executor, .queued = queued };
	int ret;

	dray_layout_reduce_items(&run.layout, queued->pointers,
				 queued->operands);
	run.kernel = kernels->kernels[cut(&run)];
	ret = create_buffers(&run);
	if (!ret) {
		place_operands(&run);
		ret = launch_all(&run);
		if (!ret)
			ret = give_back(&run);
		/* A device may have stopped halfway, for good. */
		if (ret && ret != -ECANCELED && ret != -ENOMEM)
			atomic_store(&executor->failed, true);
	}
	end(&run);
	if (!ret)
		count(executor, queued);
	return ret;
}
