// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Calls the loop on elements that an iterator converts into buffers. */
#include <pthread.h>

#include "private.h"
#include "ufunc/call.h"

struct buffered {
	struct dray_ufunc_call *call;
	struct dray_pass pass;
	struct dray_nditer *iter; /* that parts are copied from */
	pthread_mutex_t mutex; /* of it */
};

static int call_buffered_begin(struct dray_ufunc_call *call, bool threads,
			       struct dray_nditer **iter)
{
	const bool masked = dray_call_has_mask(call);
	dray_dtype dtypes[DRAY_MAX_OPERANDS] = { 0 };
	uint32_t flags[DRAY_MAX_OPERANDS];
	const struct dray_nditer_options options = {
		.size = sizeof(options),
		.flags = DRAY_NDITER_EXTERNAL_LOOP | DRAY_NDITER_BUFFERED |
			 DRAY_NDITER_GROW_INNER | DRAY_NDITER_ZEROSIZE_OK |
			 DRAY_NDITER_KEEP_FP_FLAGS |
			 (threads ? DRAY_NDITER_RANGED |
					    DRAY_NDITER_DELAY_BUFFERS
				  : 0),
		.casting = DRAY_CASTING_UNSAFE,
		.operand_flags = flags,
		.dtypes = dtypes,
		.buffer_size = dray_fp_buffer_size(),
	};
	int o;

	for (o = 0; o < call->operands; o++) {
		const bool output = dray_call_is_output(call, o);

		flags[o] = DRAY_OPERAND_ALIGNED | DRAY_OPERAND_NATIVE_ORDER;
		flags[o] |=
			output ? DRAY_OPERAND_WRITE | DRAY_OPERAND_NO_BROADCAST
			       : DRAY_OPERAND_READ;
		if (output && masked)
			flags[o] |= DRAY_OPERAND_WRITE_MASKED;
		if (o == call->count)
			flags[o] |= DRAY_OPERAND_MASK;
		else
			dtypes[o] = call->resolved.dtypes[o];
	}
	return dray_nditer_create(call->views, call->operands, &options, iter);
}

static int call_buffered_walk(const struct dray_pass *pass,
			      struct dray_nditer *iter)
{
	char **data = dray_nditer_data(iter);
	const int64_t *strides = dray_nditer_strides(iter);
	const int64_t *count = dray_nditer_count(iter);
	int ret;

	do {
		ret = dray_pass_run(pass, data, strides, *count);
	} while (!ret && dray_nditer_next(iter));
	return ret;
}

/* Ends an iterator; the first failure counts. */
static int call_buffered_end(struct dray_nditer *iter, int ret)
{
	const int ended = dray_nditer_destroy(iter);

	return ret ? ret : ended;
}

/* Computes a part in any thread. */
static int buffered_walk_part(void *context, uint64_t at, uint64_t length)
{
	struct buffered *buffered = context;
	struct dray_nditer *iter;
	int ret;

	pthread_mutex_lock(&buffered->mutex);
	ret = dray_nditer_copy(buffered->iter, &iter);
	pthread_mutex_unlock(&buffered->mutex);
	if (ret)
		return ret;
	dray_fp_clear();
	ret = dray_nditer_reset_range(iter, (int64_t)at,
				      (int64_t)(at + length));
	if (!ret)
		ret = call_buffered_walk(&buffered->pass, iter);
	ret = call_buffered_end(iter, ret);
	__atomic_fetch_or(&buffered->call->errors, dray_fp_take(),
			  __ATOMIC_RELAXED);
	return ret;
}

int dray_call_buffered(struct dray_ufunc_call *call)
{
	const dray_dtype first = call->resolved.dtypes[call->ufunc->inputs];
	const unsigned int threads = dray_call_threads(
		call, (uint64_t)call->elements * dray_dtype_itemsize(first));
	struct buffered buffered = {
		.call = call,
		.mutex = PTHREAD_MUTEX_INITIALIZER,
	};
	int ret;

	dray_pass_init(&buffered.pass, call);
	if (buffered.pass.loop.flags & DRAY_LOOP_NO_FP_ERRORS)
		buffered.pass.errors = &call->errors;
	ret = call_buffered_begin(call, threads > 1, &buffered.iter);
	if (ret)
		return ret;
	if (threads > 1)
		ret = dray_threads_run(
			(uint64_t)dray_nditer_size(buffered.iter), threads,
			buffered_walk_part, &buffered);
	else
		ret = call_buffered_walk(&buffered.pass, buffered.iter);
	return call_buffered_end(buffered.iter, ret);
}
