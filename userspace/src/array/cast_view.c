// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies views with conversion: checks the pair, shapes the source as the
 * destination, and puts it aside if the two overlap.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array/cast.h"
#include "array/dtype.h"
#include "array/layout.h"
#include "array/overlap.h"
#include "array/view.h"
#include "base/error.h"

/* Shapes the source as the destination: repeats axes, drops leading ones. */
static int fit_shape(const struct dray_view *dst, const struct dray_view *src,
		     struct dray_view *out)
{
	const int extra = src->ndim - dst->ndim;
	int i;

	for (i = 0; i < extra; i++) {
		if (src->shape[i] != 1)
			return dray_fail(
				-EINVAL,
				"axis %d of the source has %" PRId64
				" elements, and the destination has only %d axes",
				i, src->shape[i], dst->ndim);
	}
	for (i = 0; i < dst->ndim; i++) {
		const int from = i + extra;

		out->shape[i] = dst->shape[i];
		out->strides[i] = 0;
		if (from < 0 || src->shape[from] == 1)
			continue;
		if (src->shape[from] != dst->shape[i])
			return dray_fail(
				-EINVAL,
				"axis %d has %" PRId64
				" elements in the destination and %" PRId64
				" in the source",
				i, dst->shape[i], src->shape[from]);
		out->strides[i] = src->strides[from];
	}
	out->data = src->data;
	out->dtype = src->dtype;
	out->ndim = dst->ndim;
	out->flags = src->flags & ~DRAY_VIEW_FACTS;
	return 0;
}

static bool same_shape(const struct dray_view *a, const struct dray_view *b)
{
	return a->ndim == b->ndim &&
	       !memcmp(a->shape, b->shape,
		       (size_t)a->ndim * sizeof(a->shape[0]));
}

static int assign(const struct dray_operand *to,
		  const struct dray_operand *from)
{
	struct dray_layout layout;

	dray_layout_pair(&layout, to->view, from->view);
	return dray_view_assign_reduced(&layout, to, from);
}

static int convert(const struct dray_view *dst, const struct dray_view *src,
		   const struct dray_cast *cast)
{
	struct dray_layout layout;

	layout.runs = 0; /* Not set if elements have no bytes. */
	dray_layout_reduce_items(&layout,
				 (const struct dray_view *[]){ dst, src }, 2);
	return layout.runs ? dray_cast_layout(&layout, cast) : 0;
}

/* Converts through a copy of the source, of @src's shape before it is fitted. */
static int convert_aside(const struct dray_view *dst,
			 const struct dray_view *src, int64_t bytes,
			 const struct dray_cast *cast)
{
	struct dray_view dense, fitted;
	void *aside = malloc((size_t)bytes);
	int ret;

	if (!aside)
		return dray_fail(
			-ENOMEM,
			"source and destination overlap, and there is no memory to put %" PRId64
			" bytes aside",
			bytes);
	ret = dray_view_init(&dense, aside, src->dtype, src->ndim, src->shape,
			     NULL);
	if (!ret)
		ret = dray_view_assign(&dense, src);
	if (!ret)
		ret = fit_shape(dst, &dense, &fitted);
	if (!ret)
		ret = convert(dst, &fitted, cast);
	free(aside);
	return ret;
}

/* Converts one element once, and repeats it. */
static int repeat(const struct dray_operand *to, const struct dray_view *src,
		  const struct dray_cast *cast)
{
	const size_t size = dray_dtype_itemsize(cast->to);
	struct dray_view one, fitted;
	struct dray_operand from;
	char small[256], *value = size <= sizeof(small) ? small : malloc(size);
	int ret;

	if (!value)
		return dray_fail(
			-ENOMEM,
			"there is no memory for an element of %zu bytes", size);
	ret = dray_cast_run(cast, value, 0, src->data, 0, 1);
	if (!ret)
		ret = dray_view_init(&one, value, cast->to, 0, NULL, NULL);
	if (!ret)
		ret = fit_shape(to->view, &one, &fitted);
	if (!ret)
		ret = dray_operand_init(&from, &fitted, "the element");
	if (!ret)
		ret = assign(to, &from);
	if (value != small)
		free(value);
	return ret;
}

static int fail_casting(dray_dtype to, dray_dtype from,
			enum dray_casting casting)
{
	char target[16] = "a structure", source[16] = "a structure";

	dray_dtype_format(to, target);
	dray_dtype_format(from, source);
	return dray_fail(
		-EINVAL,
		"cannot cast from '%s' to '%s' according to the rule '%s'",
		source, target, dray_casting_name(casting));
}

static int check(const struct dray_operand *to, const struct dray_operand *from,
		 enum dray_casting casting)
{
	if ((unsigned int)casting > DRAY_CASTING_UNSAFE)
		return dray_fail(-EINVAL, "casting rule %u does not exist",
				 (unsigned int)casting);
	if (!(from->view->flags & DRAY_READ))
		return dray_fail(-EPERM, "the source may not be read");
	if (casting != DRAY_CASTING_UNSAFE &&
	    !dray_can_cast(from->view->dtype, to->view->dtype, casting))
		return fail_casting(to->view->dtype, from->view->dtype,
				    casting);
	return dray_operand_check_writable(to);
}

/* Converts between views that are checked and have different types. */
static int convert_checked(const struct dray_operand *to,
			   const struct dray_operand *from,
			   const struct dray_operand *given)
{
	struct dray_cast cast;
	int ret = dray_cast_prepare(to->view->dtype, from->view->dtype, &cast);

	if (ret || !to->extent.elements)
		return ret;
	if (given->extent.elements == 1 && to->extent.elements > 1 &&
	    dray_dtype_itemsize(cast.to))
		return repeat(to, given->view, &cast);
	if (dray_addresses_meet(to->span, from->span) &&
	    dray_overlap_find(to, from) != DRAY_OVERLAP_NONE)
		return convert_aside(to->view, given->view, given->extent.bytes,
				     &cast);
	return convert(to->view, from->view, &cast);
}

int dray_view_convert(const struct dray_view *dst, const struct dray_view *src,
		      enum dray_casting casting)
{
	struct dray_operand to, given, fitted_from;
	const struct dray_operand *from = &given;
	struct dray_view fitted;
	int ret;

	ret = dray_operand_init(&to, dst, "the destination");
	if (!ret)
		ret = dray_operand_init(&given, src, "the source");
	if (!ret)
		ret = check(&to, &given, casting);
	if (ret)
		return ret;
	if (!same_shape(dst, src)) {
		ret = fit_shape(dst, src, &fitted);
		if (!ret)
			ret = dray_operand_init(&fitted_from, &fitted,
						"the source");
		if (ret)
			return ret;
		from = &fitted_from;
	}
	if (dray_dtype_equal(dst->dtype, src->dtype))
		return assign(&to, from);
	return convert_checked(&to, from, &given);
}
