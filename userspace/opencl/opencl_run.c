// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A call on its way through OpenCL: a buffer around the bytes of its operands where
 * they are, kernels along three axes at a time, and the bytes back to the CPU.
 * Operands that meet share a buffer: OpenCL does not see that two buffers
 * overlap.
 */
#include <errno.h>
#include <string.h>

#include "opencl.h"

/* Kernels on their way, before they are waited for. */
#define MOST_LAUNCHES 64
/* A row of fewer elements is not worth a work-group. */
#define DENSE_ROW 16

/* Axes of a call, as few as its operands allow, the fastest first. */
struct axes {
	int count;
	int64_t shape[DRAY_MAX_NDIM];
	int64_t strides[DRAY_MAX_NDIM][DRAY_MAX_OPERANDS];
	char *data[DRAY_MAX_OPERANDS]; /* the first elements */
};

/* A call that is cut into kernels. */
struct opencl_run {
	const struct dray_opencl_executor *executor;
	const struct dray_call *call;
	cl_kernel kernel;
	struct axes axes;
	struct dray_opencl_region regions[DRAY_MAX_OPERANDS];
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

static bool do_meet(const struct dray_opencl_region *a,
		    const struct dray_opencl_region *b)
{
	return a->low < b->high && b->low < a->high;
}

static struct dray_opencl_region region_of(const struct dray_call *call, int o)
{
	const struct dray_view *view = dray_opencl_operand(call, o);
	const uintptr_t data = (uintptr_t)view->data;
	int64_t low, high;

	dray_view_span(view, &low, &high);
	return (struct dray_opencl_region){
		.low = data + (uintptr_t)low,
		.high = data + (uintptr_t)high,
		.written = dray_opencl_is_output(call, o),
	};
}

int dray_opencl_regions(const struct dray_call *call,
			struct dray_opencl_region *regions)
{
	const int operands = dray_opencl_call_operands(call);
	int o, i, opencl_run_count = 0;

	for (o = 0; o < operands; o++) {
		struct dray_opencl_region region = region_of(call, o);

		/* Merges all that it meets; its bounds grow on the way. */
		for (i = 0; i < opencl_run_count;) {
			if (!do_meet(&regions[i], &region)) {
				i++;
				continue;
			}
			if (regions[i].low < region.low)
				region.low = regions[i].low;
			if (regions[i].high > region.high)
				region.high = regions[i].high;
			region.written |= regions[i].written;
			regions[i] = regions[--opencl_run_count];
			i = 0;
		}
		regions[opencl_run_count++] = region;
	}
	return opencl_run_count;
}

static int create_buffers(struct opencl_run *run)
{
	cl_int error;
	int i;

	run->regions_count = dray_opencl_regions(run->call, run->regions);
	for (i = 0; i < run->regions_count; i++) {
		struct dray_opencl_region *region = &run->regions[i];

		region->memory = dray_opencl.clCreateBuffer(
			run->executor->context,
			CL_MEM_USE_HOST_PTR |
				(region->written ? CL_MEM_READ_WRITE
						 : CL_MEM_READ_ONLY),
			region->high - region->low, (void *)region->low,
			&error);
		if (!region->memory)
			return dray_opencl_fail(error, "clCreateBuffer");
	}
	return 0;
}

/* Finds the buffer of each operand, and where it begins there. */
static void place_operands(struct opencl_run *run)
{
	int o, i;

	for (o = 0; o < run->arguments.operands; o++)
		for (i = 0; i < run->regions_count; i++) {
			const struct dray_opencl_region *region =
				&run->regions[i];
			const uintptr_t data = (uintptr_t)run->axes.data[o];

			if (data < region->low || data >= region->high)
				continue;
			run->arguments.memory[o] = region->memory;
			run->arguments.places[o].s[3] =
				(cl_long)(data - region->low);
		}
}

/* Makes axis @axis the kernel's axis @place. */
static void run_take_axis(struct opencl_run *run, int axis, int place)
{
	int o;

	for (o = 0; o < run->arguments.operands; o++)
		run->arguments.places[o].s[place] = run->axes.strides[axis][o];
	run->arguments.counts.s[place] = run->axes.shape[axis];
	run->arguments.items[place] = (size_t)run->axes.shape[axis];
}

/* Whether operands are without gaps along the fastest axis. */
static bool is_dense(const struct opencl_run *run)
{
	int o;

	for (o = 0; o < run->arguments.operands; o++)
		if (run->axes.strides[0][o] !=
		    dray_dtype_itemsize(
			    dray_opencl_operand(run->call, o)->dtype))
			return false;
	return run->axes.shape[0] >= DENSE_ROW;
}

/* Chooses up to three axes for the kernel: a dense row, else the longest. */
static enum dray_opencl_way opencl_run_cut(struct opencl_run *run)
{
	const struct axes *axes = &run->axes;
	const bool dense = axes->count && is_dense(run);
	bool taken[DRAY_MAX_NDIM] = { false };
	int place, axis, best;

	for (place = 0; place < 3; place++) {
		run->arguments.counts.s[place] = 1;
		run->arguments.items[place] = 1;
		best = -1;
		for (axis = 0; axis < axes->count; axis++) {
			if (!taken[axis] &&
			    (best < 0 || axes->shape[axis] > axes->shape[best]))
				best = axis;
			if (dense && !place)
				break;
		}
		if (best < 0)
			continue;
		taken[best] = true;
		run_take_axis(run, best, place);
	}
	for (axis = axes->count - 1; axis >= 0; axis--)
		if (!taken[axis])
			run->outer[run->outer_count++] = axis;
	if (run->call->where)
		return DRAY_OPENCL_MASKED;
	return dense ? DRAY_OPENCL_DENSE : DRAY_OPENCL_STRIDED;
}

/* Steps along the axes outside of the kernels; false after the last step. */
static bool opencl_run_step(struct opencl_run *run)
{
	int i, o;

	for (i = run->outer_count - 1; i >= 0; i--) {
		const int64_t count = run->axes.shape[run->outer[i]];
		const int64_t *strides = run->axes.strides[run->outer[i]];
		const bool ends = ++run->index[i] == count;

		for (o = 0; o < run->arguments.operands; o++)
			run->arguments.places[o].s[3] +=
				ends ? -strides[o] * (count - 1) : strides[o];
		if (!ends)
			return true;
		run->index[i] = 0;
	}
	return false;
}

/* Waits for kernels on their way. */
static cl_int opencl_run_collect(struct opencl_run *run)
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

static int launch_all(struct opencl_run *run)
{
	cl_int error = 0;

	do {
		if (run->launched == MOST_LAUNCHES)
			error = opencl_run_collect(run);
		if (!error && dray_call_is_cancelled(run->call))
			return dray_fail(-ECANCELED,
					 "the call of %s was cancelled",
					 dray_ufunc_name(run->call->ufunc));
		if (!error)
			error = dray_opencl_launch(run->executor, run->kernel,
						   &run->arguments,
						   &run->events[run->launched]);
		if (error)
			break;
		run->launched++;
	} while (opencl_run_step(run));
	if (!error)
		error = opencl_run_collect(run);
	return error ? dray_opencl_fail(error, "a kernel") : 0;
}

static int run_give_back(const struct opencl_run *run)
{
	cl_int error = 0;
	int i;

	for (i = 0; !error && i < run->regions_count; i++) {
		const struct dray_opencl_region *region = &run->regions[i];

		if (region->written)
			error = dray_opencl_give_back(
				run->executor, region->memory,
				region->high - region->low);
	}
	return error ? dray_opencl_fail(error, "clEnqueueMapBuffer") : 0;
}

/* Ends all kernels on their way: nothing touches the operands any more. */
static void opencl_run_end(struct opencl_run *run)
{
	int i;

	opencl_run_collect(run);
	dray_opencl.clFinish(run->executor->queue);
	for (i = 0; i < run->regions_count; i++)
		if (run->regions[i].memory)
			dray_opencl.clReleaseMemObject(run->regions[i].memory);
}

static void opencl_run_count(struct dray_opencl_executor *executor,
			     const struct dray_call *call)
{
	uint64_t bytes = 0;
	int o;

	for (o = 0; o < dray_opencl_call_operands(call); o++)
		bytes += dray_dtype_itemsize(
			dray_opencl_operand(call, o)->dtype);
	atomic_fetch_add(&executor->calls, 1);
	atomic_fetch_add(&executor->bytes, bytes * (uint64_t)call->elements);
}

/* Asks an iterator, which merges and sorts the axes, and reads nothing. */
static int call_find_axes(const struct dray_call *call, struct axes *axes)
{
	const struct dray_view *views[DRAY_MAX_OPERANDS];
	const int operands = dray_opencl_call_operands(call);
	struct dray_nditer *iter;
	int o, axis, ret;

	for (o = 0; o < operands; o++)
		views[o] = dray_opencl_operand(call, o);
	ret = dray_nditer_create(views, operands, NULL, &iter);
	if (ret)
		return ret;
	axes->count = dray_nditer_ndim(iter);
	dray_nditer_shape(iter, axes->shape);
	for (axis = 0; axis < axes->count; axis++)
		dray_nditer_axis_strides(iter, axis, axes->strides[axis]);
	memcpy(axes->data, dray_nditer_data(iter),
	       (size_t)operands * sizeof(axes->data[0]));
	return dray_nditer_destroy(iter);
}

int dray_opencl_run(struct dray_opencl_executor *executor,
		    const struct dray_opencl_kernels *kernels,
		    const struct dray_call *call)
{
	struct opencl_run run = { .executor = executor, .call = call };
	int ret;

	run.arguments.operands = dray_opencl_call_operands(call);
	ret = call_find_axes(call, &run.axes);
	if (ret)
		return ret;
	run.kernel = kernels->kernels[opencl_run_cut(&run)];
	ret = create_buffers(&run);
	if (!ret) {
		place_operands(&run);
		ret = launch_all(&run);
		if (!ret)
			ret = run_give_back(&run);
		/* The device may be stopped halfway, for good. */
		if (ret && ret != -ECANCELED && ret != -ENOMEM)
			atomic_store(&executor->failed, true);
	}
	opencl_run_end(&run);
	if (!ret)
		opencl_run_count(executor, call);
	return ret;
}
