// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Running results along an axis.  Where the axis is the innermost in memory, line
 * by line; else row by row, each of which is made of the one before.
 */
#include <errno.h>

#include "private.h"
#include "index/rows.h"
#include "ufunc/method.h"
#include "ufunc/users_loop.h"

#define BLOCK 16384 /* bytes of a row that stay in the cache */

/* The axis that results run along. */
struct accumulate_running {
	struct dray_method method;
	const struct dray_line *line;
	int64_t count, in, result;
};

/* Extends a line: @to is the last result that is there. */
static int accumulate_extend(const struct accumulate_running *running, char *to,
			     const char *in, int64_t stride, int64_t count)
{
	const struct dray_method *method = &running->method;
	const int64_t strides[3] = { 0, stride, 0 };
	int64_t i;
	int ret = 0;

	if (running->line && running->line->running) {
		running->line->running(to, running->result, in, stride, count);
		return 0;
	}
	/* One at a time: a loop's output lies nowhere near its inputs. */
	for (i = 0; i < count && !ret; i++) {
		char *const data[3] = { to + i * running->result,
					(char *)(uintptr_t)in + i * stride,
					to + (i + 1) * running->result };

		ret = dray_loop_run(&method->resolved.loop, data, strides, 1);
	}
	return ret;
}

static int run_line(const struct accumulate_running *running, char *to,
		    const char *in)
{
	const struct dray_method *method = &running->method;
	const int64_t count = running->count - 1;
	int64_t done, piece;
	int ret = dray_method_set(method, to, 0, in, 0, 1);

	in += running->in;
	if (!method->converts || ret)
		return ret ? ret
			   : accumulate_extend(running, to, in, running->in,
					       count);
	for (done = 0; done < count && !ret; done += piece) {
		piece = count - done < method->piece ? count - done
						     : method->piece;
		ret = dray_method_convert(method, &method->cast, method->buffer,
					  method->item, in, running->in, piece);
		if (!ret)
			ret = accumulate_extend(running, to, method->buffer,
						method->item, piece);
		in += piece * running->in;
		to += piece * running->result;
	}
	return ret;
}

/* Computes @count elements of a row from those of the row before. */
static int accumulate_add_row(const struct accumulate_running *running,
			      char *to, int64_t to_stride, const char *in,
			      int64_t stride, int64_t count)
{
	const struct dray_method *method = &running->method;
	char *const data[3] = { to - running->result,
				method->converts ? method->buffer
						 : (char *)(uintptr_t)in,
				to };
	const int64_t strides[3] = { to_stride,
				     method->converts ? method->item : stride,
				     to_stride };
	int ret = 0;

	if (method->converts)
		ret = dray_method_convert(method, &method->cast, method->buffer,
					  method->item, in, stride, count);
	return ret ? ret
		   : dray_loop_run(&method->resolved.loop, data, strides,
				   count);
}

static int run_rows(const struct accumulate_running *running,
		    const struct dray_index_rows *rows)
{
	const struct dray_method *method = &running->method;
	int64_t block = BLOCK / method->result_item, at, count, i;
	int ret = 0;

	if (block < 64)
		block = 64;
	if (block > method->piece)
		block = method->piece;
	for (at = 0; at < rows->count && !ret; at += count) {
		char *to = (char *)rows->data[0] + at * rows->strides[0];
		const char *in =
			(const char *)rows->data[1] + at * rows->strides[1];

		count = rows->count - at < block ? rows->count - at : block;
		ret = dray_method_set(method, to, rows->strides[0], in,
				      rows->strides[1], count);
		for (i = 1; i < running->count && !ret; i++) {
			to += running->result;
			in += running->in;
			ret = accumulate_add_row(running, to, rows->strides[0],
						 in, rows->strides[1], count);
		}
	}
	return ret;
}

static int accumulate_run(const struct accumulate_running *running,
			  const struct dray_view *result,
			  const struct dray_view *in, bool by_lines)
{
	const struct dray_view *const views[] = { result, in };
	struct dray_index_rows rows;
	int64_t i;
	int ret = 0;

	if (!dray_rows_start(&rows, views, 2))
		return 0;
	do {
		if (!by_lines) {
			ret = run_rows(running, &rows);
			continue;
		}
		for (i = 0; i < rows.count && !ret; i++)
			ret = run_line(running,
				       (char *)rows.data[0] +
					       i * rows.strides[0],
				       (const char *)rows.data[1] +
					       i * rows.strides[1]);
	} while (!ret && dray_rows_next(&rows));
	return ret;
}

static int accumulate_all(struct accumulate_running *running, int axis,
			  dray_dtype dtype)
{
	struct dray_method *method = &running->method;
	const struct dray_view *in = method->in;
	struct dray_view others[2];
	bool by_lines;
	int ret;

	if (!in->ndim)
		return dray_fail(-EOPNOTSUPP,
				 "an element without axes has no running %s",
				 method->ufunc->name);
	ret = dray_method_axis(axis, in->ndim, &axis);
	if (!ret)
		ret = dray_method_resolve(method, dtype, true);
	if (!ret)
		ret = dray_method_prepare(method, in, NULL, 0, true);
	if (ret || !method->operand.extent.elements)
		return ret;
	running->line = dray_method_find_line(method->ufunc, &method->resolved);
	running->count = in->shape[axis];
	running->in = in->strides[axis];
	running->result = method->result.strides[axis];
	by_lines = dray_method_across(&method->result, in, axis, others);
	return accumulate_run(running, &others[0], &others[1], by_lines);
}

int dray_ufunc_accumulate(struct dray_ufunc *ufunc, const struct dray_view *in,
			  int axis, dray_dtype dtype,
			  const struct dray_view *to, struct dray_array **out)
{
	struct accumulate_running running;
	int ret;

	if (!dray_given(ufunc, __func__) || !dray_given(in, __func__) ||
	    (!to && !dray_given(out, __func__)))
		return -EINVAL;
	ret = dray_method_start(&running.method, "accumulate", ufunc, in, to);
	if (!ret)
		ret = accumulate_all(&running, axis, dtype);
	return dray_method_end(&running.method, ret, out);
}
