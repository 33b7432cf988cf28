// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Calls the loop on elements that are converted a piece at a time, where each operand
 * is one line of elements, or one number: without an iterator, since making one takes
 * longer than a short line.
 */
#include "ufunc/call.h"
#include "private.h"

#define BUFFERS 4 /* operands that convert, at most */
#define BYTES 8192 /* of a buffer */
#define ITEM 16 /* bytes of an element, at most */

struct line {
	char *data;
	int64_t stride;
	char *buffer; /* or NULL */
	int64_t item; /* bytes of an element in it */
	bool once; /* an input that is one number */
	struct dray_cast cast;
};

/* Prepares an operand; @buffers counts those that convert. */
static int call_pieces_prepare(const struct dray_ufunc_call *call, int o,
			       struct line *line, char (*buffer)[BYTES],
			       int *buffers)
{
	const struct dray_view *view = call->views[o];
	const dray_dtype dtype = call->resolved.dtypes[o];
	const bool output = dray_call_is_output(call, o);

	line->data = view->data;
	line->buffer = NULL;
	line->once = !output && !line->stride;
	if (dray_view_is_ready(view, dtype))
		return 0;
	line->buffer = buffer[(*buffers)++];
	line->item = dray_dtype_itemsize(dtype);
	return output ? dray_cast_find(view->dtype, dtype, &line->cast)
		      : dray_cast_find(dtype, view->dtype, &line->cast);
}

static int call_pieces_walk(struct dray_ufunc_call *call, struct line *lines,
			    int64_t most)
{
	const int64_t count = call->elements;
	const int operands = call->count;
	int64_t strides[DRAY_UFUNC_MAX_OPERANDS], at, size;
	char *data[DRAY_UFUNC_MAX_OPERANDS];
	struct dray_pass pass;
	struct line *line;
	int o, ret = 0;

	dray_pass_init(&pass, call);
	if (pass.loop.flags & DRAY_LOOP_NO_FP_ERRORS)
		pass.errors = &call->errors;
	for (at = 0; at < count && !ret; at += size) {
		size = count - at < most ? count - at : most;
		for (o = 0; o < operands && !ret; o++) {
			line = &lines[o];
			data[o] = line->buffer ?: line->data;
			strides[o] = line->once	    ? 0
				     : line->buffer ? line->item
						    : line->stride;
			if (!line->buffer || dray_call_is_output(call, o) ||
			    (line->once && at))
				continue;
			ret = dray_cast_run(&line->cast, line->buffer,
					    line->item, line->data,
					    line->stride,
					    line->once ? 1 : size);
		}
		if (!ret)
			ret = dray_pass_run(&pass, data, strides, size);
		for (o = 0; o < operands && !ret; o++) {
			line = &lines[o];
			if (line->buffer && dray_call_is_output(call, o))
				ret = dray_cast_run(&line->cast, line->data,
						    line->stride, line->buffer,
						    line->item, size);
			line->data += size * line->stride;
		}
	}
	return ret;
}

bool dray_call_pieces(struct dray_ufunc_call *call, int *ret)
{
	const int64_t most = dray_fp_buffer_size();
	char buffer[BUFFERS][BYTES] __attribute__((aligned(64)));
	struct line lines[DRAY_UFUNC_MAX_OPERANDS];
	int o, buffers = 0;

	if (dray_call_has_mask(call) || call->options->threads > 1 ||
	    call->count > BUFFERS)
		return false;
	for (o = 0; o < call->count; o++)
		if (dray_dtype_itemsize(call->resolved.dtypes[o]) > ITEM ||
		    !dray_call_find_line(call, call->views[o],
					 &lines[o].stride))
			return false;
	*ret = 0;
	for (o = 0; o < call->count && !*ret; o++)
		*ret = call_pieces_prepare(call, o, &lines[o], buffer,
					   &buffers);
	if (!*ret)
		*ret = call_pieces_walk(
			call, lines, most < BYTES / ITEM ? most : BYTES / ITEM);
	return true;
}
