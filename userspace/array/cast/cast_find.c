// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Finds the way from one type to another.  Most pairs have one loop.  The others
 * go through native numbers in steps, piece by piece in buffers that stay in the
 * cache: bytes are reversed, float16 becomes float or double, and back.
 */
#include <errno.h>

#include "cast/cast.h"
#include "private.h"

#define PIECE 4096 /* bytes of a buffer */

static int run_steps(char *const *data, const int64_t *strides, int64_t count,
		     void *context)
{
	const struct dray_cast *cast = context;
	_Alignas(64) char buffers[2][PIECE];
	const uint32_t last = cast->steps_count - 1;
	uint32_t widest = 1, i;
	int64_t done, part;
	int ret = 0;

	for (i = 0; i < last; i++) {
		if (widest < cast->sizes[i])
			widest = cast->sizes[i];
	}
	for (done = 0; !ret && done < count; done += part) {
		char *ends[2] = { NULL, data[1] + done * strides[1] };
		int64_t steps[2] = { 0, strides[1] };

		part = count - done;
		if (part > PIECE / widest)
			part = PIECE / widest;
		for (i = 0; !ret && i <= last; i++) {
			ends[0] = i == last ? data[0] + done * strides[0]
					    : buffers[i & 1];
			steps[0] = i == last ? strides[0] : cast->sizes[i];
			ret = cast->steps[i](ends, steps, part, context);
			ends[1] = ends[0];
			steps[1] = steps[0];
		}
	}
	return ret;
}

/* Complex numbers from complex ones; dense ones are twice as many parts. */
static int convert_parts(char *const *data, const int64_t *strides,
			 int64_t count, void *context)
{
	const struct dray_cast *cast = context;
	const int64_t sizes[2] = { dray_dtype_itemsize(cast->to) / 2,
				   dray_dtype_itemsize(cast->from) / 2 };
	char *const others[2] = { data[0] + sizes[0], data[1] + sizes[1] };

	if (strides[0] == 2 * sizes[0] && strides[1] == 2 * sizes[1])
		return cast->part(data, sizes, 2 * count, context);
	cast->part(data, strides, count, context);
	return cast->part(others, strides, count, context);
}

static void add_step(struct dray_cast *cast, dray_loop *loop, uint32_t size)
{
	cast->steps[cast->steps_count] = loop;
	cast->sizes[cast->steps_count++] = size;
}

static void add_swap(struct dray_cast *cast, const struct dray_typed *typed)
{
	add_step(cast,
		 dray_class_is_complex(typed->class)
			 ? dray_swap_pair_loop(typed->size / 2)
			 : dray_swap_loop(typed->size),
		 typed->size);
}

static void add_half(struct dray_cast *cast, enum dray_class from)
{
	if (dray_class_is_complex(from)) /* Steps over the imaginary parts. */
		from = dray_class_part(from);
	if (from == DRAY_CLASS_LONG)
		add_step(cast, dray_number_loops[DRAY_CLASS_DOUBLE][from],
			 sizeof(double));
	else if (from != DRAY_CLASS_FLOAT && from != DRAY_CLASS_DOUBLE)
		add_step(cast, dray_number_loops[DRAY_CLASS_FLOAT][from],
			 sizeof(float));
	add_step(cast,
		 from == DRAY_CLASS_DOUBLE || from == DRAY_CLASS_LONG
			 ? dray_loop_double_to_half
			 : dray_loop_float_to_half,
		 2);
}

static void add_complex(struct dray_cast *cast, enum dray_class part,
			enum dray_class from, uint32_t size)
{
	if (dray_class_is_complex(from)) {
		cast->part = dray_number_loops[part][dray_class_part(from)];
		add_step(cast, convert_parts, size);
		return;
	}
	if (part != from)
		add_step(cast, dray_number_loops[part][from], size / 2);
	add_step(cast, dray_to_complex_loops[part - DRAY_CLASS_FLOAT], size);
}

/* The real part, or whether one of the two is not 0. */
static void add_from_complex(struct dray_cast *cast, enum dray_class to,
			     enum dray_class part, uint32_t size)
{
	if (to == DRAY_CLASS_BOOL)
		add_step(cast, dray_complex_bool_loops[part - DRAY_CLASS_FLOAT],
			 size);
	else if (to == part)
		add_step(cast, dray_from_complex_loops[part - DRAY_CLASS_FLOAT],
			 size);
	else
		add_step(cast, dray_number_loops[to][part], size);
}

/* Times are integers here. */
static enum dray_class find_number_of(const struct dray_typed *typed)
{
	return dray_class_is_time(typed->class) ? DRAY_CLASS_INT64
						: typed->class;
}

static void find_add_number(struct dray_cast *cast,
			    const struct dray_typed *target,
			    const struct dray_typed *source)
{
	const enum dray_class to = find_number_of(target);
	enum dray_class from = find_number_of(source);

	if (to == from)
		return;
	if (to == DRAY_CLASS_HALF) {
		add_half(cast, from);
		return;
	}
	if (from == DRAY_CLASS_HALF && to == DRAY_CLASS_DOUBLE) {
		add_step(cast, dray_loop_half_to_double, sizeof(double));
		return;
	}
	if (from == DRAY_CLASS_HALF) {
		add_step(cast, dray_loop_half_to_float, sizeof(float));
		from = DRAY_CLASS_FLOAT;
		if (to == DRAY_CLASS_FLOAT)
			return;
	}
	if (dray_class_is_complex(to))
		add_complex(cast, dray_class_part(to), from, target->size);
	else if (dray_class_is_complex(from))
		add_from_complex(cast, to, dray_class_part(from), target->size);
	else if (dray_class_is_time(target->class) && dray_class_is_float(from))
		add_step(cast, dray_to_time_loops[from - DRAY_CLASS_FLOAT],
			 target->size);
	else
		add_step(cast, dray_number_loops[to][from], target->size);
}

static bool has_calendar(const struct dray_typed *to,
			 const struct dray_typed *from)
{
	return to->unit == DRAY_UNIT_YEAR || to->unit == DRAY_UNIT_MONTH ||
	       from->unit == DRAY_UNIT_YEAR || from->unit == DRAY_UNIT_MONTH;
}

static int add_units(struct dray_cast *cast, const struct dray_typed *to,
		     const struct dray_typed *from)
{
	int ret = dray_time_factors(to, from, &cast->numerator,
				    &cast->denominator);

	if (ret || from->unit == DRAY_UNIT_GENERIC ||
	    to->unit == DRAY_UNIT_GENERIC)
		return ret;
	if (to->class == DRAY_CLASS_DATE && has_calendar(to, from) &&
	    (to->unit != from->unit || to->multiple != from->multiple))
		add_step(cast, dray_loop_calendar, sizeof(int64_t));
	else if (cast->numerator != 1 || cast->denominator != 1)
		add_step(cast, dray_loop_rescale, sizeof(int64_t));
	return 0;
}

static int add_from_number(struct dray_cast *cast, const struct dray_typed *to,
			   const struct dray_typed *from)
{
	int ret = 0;

	if (from->swapped)
		add_swap(cast, from);
	if (dray_class_is_text(to->class)) {
		add_step(cast, dray_format_loop(from->class), to->size);
		return 0;
	}
	if (to->class == DRAY_CLASS_VOID) {
		add_step(cast, dray_loop_resize, to->size);
		return 0;
	}
	if (to->class == from->class && dray_class_is_time(to->class))
		ret = add_units(cast, to, from);
	else
		find_add_number(cast, to, from);
	if (to->swapped)
		add_swap(cast, to);
	return ret;
}

static int add_from_bytes(struct dray_cast *cast, const struct dray_typed *to,
			  const struct dray_typed *from)
{
	if (to->class == DRAY_CLASS_VOID)
		add_step(cast,
			 from->class == DRAY_CLASS_UNICODE && from->swapped
				 ? dray_loop_unicode_to_void
				 : dray_loop_resize,
			 to->size);
	else if (to->class == DRAY_CLASS_BYTES && from->class == to->class)
		add_step(cast, dray_loop_resize, to->size);
	else if (from->class == DRAY_CLASS_VOID)
		return to->class == DRAY_CLASS_BOOL
			       ? (add_step(cast, dray_loop_bytes_to_bool, 1), 0)
			       : -EOPNOTSUPP;
	else if (dray_class_is_text(to->class))
		add_step(cast, dray_loop_characters, to->size);
	else
		add_step(cast, dray_loop_parse, to->size);
	if (to->swapped && to->class != DRAY_CLASS_UNICODE)
		add_swap(cast, to);
	return 0;
}

static int fail_conversion(dray_dtype to, dray_dtype from)
{
	char target[DRAY_DTYPE_TYPESTR_SIZE], source[DRAY_DTYPE_TYPESTR_SIZE];

	return dray_fail(-EOPNOTSUPP, "elements of %s do not convert to %s",
			 dray_dtype_text(from, source),
			 dray_dtype_text(to, target));
}

static int find_add_user(struct dray_cast *cast, const struct dray_typed *to,
			 const struct dray_typed *from)
{
	int ret = dray_user_cast(cast->to, cast->from, cast);

	if (ret < 0)
		return ret;
	if (from->swapped && from->class != DRAY_CLASS_UNICODE)
		add_swap(cast, from);
	add_step(cast, dray_loop_user, to->size);
	if (to->swapped && to->class != DRAY_CLASS_UNICODE)
		add_swap(cast, to);
	return 0;
}

bool dray_parts_same(dray_dtype to, dray_dtype from)
{
	return dray_dtype_equal(to, from) && !dray_dtype_has_gaps(to);
}

static int add_object(struct dray_cast *cast, const struct dray_typed *to,
		      const struct dray_typed *from, dray_loop *parts)
{
	if (dray_parts_same(cast->to, cast->from))
		return 0;
	if (!parts)
		return find_add_user(cast, to, from);
	add_step(cast, parts, to->size);
	return 0;
}

static int add_steps(struct dray_cast *cast, const struct dray_typed *to,
		     const struct dray_typed *from, dray_loop *parts)
{
	int ret = 0;

	if (to->class == DRAY_CLASS_OTHER || from->class == DRAY_CLASS_OTHER) {
		ret = add_object(cast, to, from, parts);
	} else if (to->class == from->class && to->swapped != from->swapped &&
		   dray_class_is_number(to->class)) {
		add_swap(cast, to);
	} else if (!dray_typed_same(to, from)) {
		ret = from->class < DRAY_CLASS_BYTES
			      ? add_from_number(cast, to, from)
			      : add_from_bytes(cast, to, from);
	}
	if (ret == -EOPNOTSUPP)
		return fail_conversion(cast->to, cast->from);
	if (!ret && !cast->steps_count)
		add_step(cast, dray_copy_loop(to->size), to->size);
	return ret;
}

int dray_cast_plan(struct dray_cast *cast, const struct dray_typed *target,
		   const struct dray_typed *source, dray_loop *parts)
{
	int ret;

	cast->steps_count = 0;
	ret = add_steps(cast, target, source, parts);
	if (!ret)
		cast->loop =
			cast->steps_count == 1 ? cast->steps[0] : run_steps;
	return ret;
}
