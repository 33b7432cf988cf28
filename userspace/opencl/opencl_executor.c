// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The executor of OpenCL: the loops of one device, and the calls that it can run. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

#define MOST_LOOPS 256
/* Steps that a question about shared bytes may take. */
#define MOST_WORK 20000

static bool is_given(const void *needed, const char *function)
{
	if (!needed)
		dray_fail(-EINVAL, "%s(): a required argument is NULL",
			  function);
	return needed;
}

static const char *type_text(dray_dtype dtype,
			     char text[DRAY_DTYPE_TYPESTR_SIZE])
{
	return dray_dtype_format(dtype, text, DRAY_DTYPE_TYPESTR_SIZE) < 0
		       ? "a type without a text"
		       : text;
}

static bool are_equal(const dray_dtype *a, const dray_dtype *b, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (!dray_dtype_equal(a[i], b[i]))
			return false;
	return true;
}

static const struct dray_opencl_kernels *
opencl_executor_find(const struct dray_opencl_executor *executor,
		     const struct dray_call *call)
{
	uint32_t i;

	for (i = 0; i < executor->count; i++) {
		const struct dray_opencl_kernels *loop = &executor->loops[i];

		if (loop->ufunc == call->ufunc &&
		    are_equal(loop->dtypes, call->dtypes,
			      call->inputs + call->outputs))
			return loop;
	}
	return NULL;
}

/* Elements are of the loop's types, and a kernel can load each of them. */
static int check_elements(const struct dray_call *call)
{
	char has[DRAY_DTYPE_TYPESTR_SIZE], wants[DRAY_DTYPE_TYPESTR_SIZE];
	int o;

	for (o = 0; o < call->inputs + call->outputs; o++) {
		const struct dray_view *view = call->views[o];

		if (!dray_dtype_equal(view->dtype, call->dtypes[o]))
			return dray_fail(
				-EOPNOTSUPP,
				"operand %d is %s, the kernel needs %s", o,
				type_text(view->dtype, has),
				type_text(call->dtypes[o], wants));
		if (dray_view_alignment(view) <
		    dray_dtype_alignment(view->dtype))
			return dray_fail(-EOPNOTSUPP,
					 "operand %d is not aligned", o);
	}
	if (call->where && !dray_dtype_equal(call->where->dtype, DRAY_BOOL))
		return dray_fail(-EOPNOTSUPP, "the mask is not of bools");
	return 0;
}

/* Strides of axes of one element do not count. */
static bool are_the_same(const struct dray_view *a, const struct dray_view *b)
{
	int i;

	if (a->data != b->data || !dray_dtype_equal(a->dtype, b->dtype))
		return false;
	for (i = 0; i < a->ndim; i++)
		if (a->shape[i] > 1 && a->strides[i] != b->strides[i])
			return false;
	return true;
}

/* Work-items run in any order: an element that is written is not used by others. */
static int executor_check_overlap(const struct dray_call *call)
{
	const int operands = dray_opencl_call_operands(call);
	bool unique, shared;
	int o, i;

	for (o = call->inputs; o < call->inputs + call->outputs; o++) {
		const struct dray_view *out = call->views[o];

		if (dray_view_is_unique(out, MOST_WORK, &unique) || !unique)
			return dray_fail(-EOPNOTSUPP,
					 "elements of output %d share bytes",
					 o);
		for (i = 0; i < operands; i++) {
			const struct dray_view *other =
				dray_opencl_operand(call, i);

			if (i == o ||
			    (i < call->inputs && are_the_same(other, out)))
				continue;
			if (dray_view_shares_memory(out, other, MOST_WORK,
						    &shared) ||
			    shared)
				return dray_fail(
					-EOPNOTSUPP,
					"output %d shares bytes with operand %d",
					o, i);
		}
	}
	return 0;
}

static int check_sizes(const struct dray_opencl_executor *executor,
		       const struct dray_call *call)
{
	struct dray_opencl_region regions[DRAY_MAX_OPERANDS];
	int i, count = dray_opencl_regions(call, regions);

	for (i = 0; i < count; i++)
		if (regions[i].high - regions[i].low > executor->most_bytes)
			return dray_fail(
				-EOPNOTSUPP,
				"operands cover %zu bytes; the device's limit is %" PRIu64,
				(size_t)(regions[i].high - regions[i].low),
				executor->most_bytes);
	return 0;
}

static int opencl_check(void *context, const struct dray_call *call)
{
	struct dray_opencl_executor *executor = context;
	int ret;

	if (!dray_opencl_is_own())
		return dray_fail(-EOPNOTSUPP, "OpenCL is the parent's");
	if (atomic_load(&executor->failed))
		return dray_fail(-EOPNOTSUPP,
				 "the device failed in an earlier call");
	if (!opencl_executor_find(executor, call))
		return dray_fail(-EOPNOTSUPP,
				 "there is no kernel of %s with these types",
				 dray_ufunc_name(call->ufunc));
	ret = check_elements(call);
	if (!ret)
		ret = executor_check_overlap(call);
	return ret ? ret : check_sizes(executor, call);
}

/* Waits in the thread of the queue: a driver's thread may not drop the executor. */
static int opencl_submit(void *context, struct dray_call *call)
{
	struct dray_opencl_executor *executor = context;
	int ret;

	pthread_mutex_lock(&executor->mutex);
	ret = atomic_load(&executor->failed)
		      ? dray_fail(-EIO, "the device failed in an earlier call")
		      : dray_opencl_run(executor,
					opencl_executor_find(executor, call),
					call);
	pthread_mutex_unlock(&executor->mutex);
	dray_call_end(call, ret);
	return 0;
}

static void opencl_release(void *context)
{
	struct dray_opencl_executor *executor = context;
	const bool alive = dray_opencl_is_own();
	uint32_t i;

	for (i = 0; i < executor->count; i++)
		dray_opencl_drop(&executor->loops[i], alive);
	if (alive)
		dray_opencl_close(executor);
	pthread_mutex_destroy(&executor->mutex);
	free(executor);
}

/* Checks a loop by itself, and that none before it is the same. */
static int check_loop(const struct dray_opencl_loop *loops, uint32_t number)
{
	const struct dray_opencl_loop *loop = &loops[number];
	const bool addresses = loop->flags & DRAY_OPENCL_BY_ADDRESS;
	char text[DRAY_DTYPE_TYPESTR_SIZE];
	uint32_t i;
	int o, operands;

	if (!is_given(loop->ufunc, "dray_opencl_executor_create") ||
	    !is_given(loop->dtypes, "dray_opencl_executor_create") ||
	    !is_given(loop->source, "dray_opencl_executor_create"))
		return -EINVAL;
	operands = dray_opencl_ufunc_operands(loop->ufunc);
	if (loop->flags & ~DRAY_OPENCL_BY_ADDRESS || loop->reserved)
		return dray_fail(-EINVAL, "flags 0x%x of a loop of OpenCL",
				 loop->flags | loop->reserved);
	if (loop->function && !*loop->function)
		return dray_fail(
			-EINVAL,
			"the function of a loop of %s is without a name",
			dray_ufunc_name(loop->ufunc));
	if (!loop->function &&
	    (addresses || dray_ufunc_outputs(loop->ufunc) != 1))
		return dray_fail(
			-EINVAL,
			"an expression makes a single value: name a function of the source of %s",
			dray_ufunc_name(loop->ufunc));
	for (o = 0; o < operands; o++)
		if (!loop->dtypes[o] || !dray_dtype_itemsize(loop->dtypes[o]) ||
		    (!addresses && !dray_opencl_has_type(loop->dtypes[o])))
			return dray_fail(
				-EINVAL,
				"OpenCL lacks a type for %s, operand %d of %s",
				type_text(loop->dtypes[o], text), o,
				dray_ufunc_name(loop->ufunc));
	for (i = 0; i < number; i++)
		if (loops[i].ufunc == loop->ufunc &&
		    are_equal(loops[i].dtypes, loop->dtypes, operands))
			return dray_fail(
				-EINVAL,
				"loops %u and %u of %s are of the same types",
				i, number, dray_ufunc_name(loop->ufunc));
	return 0;
}

static int
executor_check_options(const struct dray_opencl_executor_options *options)
{
	uint32_t i;
	int ret = 0;

	if (!options->loops_count || options->loops_count > MOST_LOOPS)
		return dray_fail(
			-EINVAL,
			"an executor of OpenCL needs 1 to %d loops, not %u",
			MOST_LOOPS, options->loops_count);
	if (options->flags & ~DRAY_OPENCL_COPIES)
		return dray_fail(
			-EINVAL,
			"flags 0x%x of an executor, of which only DRAY_OPENCL_COPIES is known",
			options->flags);
	for (i = 0; !ret && i < options->loops_count; i++)
		ret = check_loop(options->loops, i);
	return ret;
}

static int check_doubles(const struct dray_opencl_executor *executor,
			 const struct dray_opencl_loop *loop)
{
	int o;

	if (executor->device.flags & DRAY_OPENCL_DOUBLE)
		return 0;
	for (o = 0; o < dray_opencl_ufunc_operands(loop->ufunc); o++)
		if (dray_opencl_is_double(loop->dtypes[o]))
			return dray_fail(
				-EOPNOTSUPP,
				"%s does not compute doubles, operand %d of %s",
				executor->device.device, o,
				dray_ufunc_name(loop->ufunc));
	return 0;
}

static int
opencl_executor_prepare(struct dray_opencl_executor *executor,
			const struct dray_opencl_executor_options *options)
{
	sigset_t all, before;
	uint32_t i;
	int ret;

	/* Signals go to the program's threads; PoCL's handle divisions by 0. */
	sigfillset(&all);
	sigdelset(&all, SIGFPE);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	ret = dray_opencl_open(executor, options);
	for (i = 0; !ret && i < options->loops_count; i++)
		ret = check_doubles(executor, &options->loops[i]);
	for (i = 0; !ret && i < options->loops_count; i++)
		ret = dray_opencl_compile(executor, &options->loops[i],
					  &executor->loops[executor->count++]);
	executor->build_options = NULL;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

static const struct dray_executor_functions functions = {
	sizeof(functions), opencl_check, opencl_submit, opencl_release
};

static int create_executor(const struct dray_opencl_executor_options *options,
			   struct dray_executor **out)
{
	struct dray_opencl_executor *executor;
	int ret = dray_opencl_load();

	if (ret)
		return ret;
	executor = calloc(1, sizeof(*executor) +
				     options->loops_count *
					     sizeof(executor->loops[0]));
	if (!executor)
		return dray_fail(-ENOMEM, "no memory for an executor");
	executor->build_options = options->build_options;
	pthread_mutex_init(&executor->mutex, NULL);
	ret = opencl_executor_prepare(executor, options);
	if (!ret)
		ret = dray_executor_create("opencl", &functions, executor, out);
	if (ret)
		opencl_release(executor);
	return ret;
}

int dray_opencl_executor_create(
	const struct dray_opencl_executor_options *options,
	struct dray_executor **out)
{
	struct dray_opencl_executor_options known;
	int ret, before;

	if (!is_given(options, __func__) || !is_given(out, __func__))
		return -EINVAL;
	ret = dray_options_adapt(&known, sizeof(known), options,
				 DRAY_OPENCL_EXECUTOR_OPTIONS_SIZE_FIRST,
				 __func__);
	if (ret)
		return ret;
	options = &known;
	if (!is_given(options->loops, __func__))
		return -EINVAL;
	ret = executor_check_options(options);
	if (ret)
		return ret;
	/* No function of dray is a cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	ret = create_executor(options, out);
	pthread_setcancelstate(before, &before);
	return ret;
}

int dray_opencl_executor_device(const struct dray_executor *executor,
				struct dray_opencl_device *out)
{
	const struct dray_opencl_executor *opencl;
	struct dray_opencl_device device;

	if (!is_given(executor, __func__) || !is_given(out, __func__))
		return -EINVAL;
	opencl = dray_executor_context(executor, &functions);
	if (!opencl)
		return dray_fail(-EINVAL, "%s is not an executor of OpenCL",
				 dray_executor_name(executor));
	device = opencl->device;
	device.calls = atomic_load(&opencl->calls);
	device.bytes = atomic_load(&opencl->bytes);
	return dray_result_write(out, &device, sizeof(device),
				 DRAY_OPENCL_DEVICE_SIZE_FIRST, __func__);
}
