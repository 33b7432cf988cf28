// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies views with conversion: checks the pair, shapes the source as the
 * destination, and puts it aside if the two overlap.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cast/cast.h"
#include "private.h"
#include "cast/fp_state.h"

/* Shapes the source as the destination: repeats axes, drops leading axes. */
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

static int cast_view_assign(const struct dray_operand *to,
			    const struct dray_operand *from,
			    unsigned int threads)
{
	struct dray_layout layout;

	dray_layout_pair(&layout, to->view, from->view);
	return dray_view_assign_reduced(&layout, to, from, threads);
}

/* Whether a view is a line of elements, as its layout would be. */
static bool cast_view_is_line(const struct dray_view *view)
{
	return view->ndim == 1 && view->strides[0] > 0 &&
	       dray_dtype_itemsize(view->dtype);
}

/* A cast, and the flags of all threads that run it. */
struct noting {
	const struct dray_cast *cast;
	int flags;
};

static int run_noting(char *const *data, const int64_t *strides, int64_t count,
		      void *context)
{
	struct noting *noting = context;
	int ret;

	dray_fp_clear();
	ret = noting->cast->loop(data, strides, count,
				 (void *)(uintptr_t)noting->cast);
	__atomic_fetch_or(&noting->flags, fetestexcept(DRAY_FP_FLAGS),
			  __ATOMIC_RELAXED);
	return ret;
}

/* Applies a cast; the flags of this thread collect all errors. */
static int cast_view_apply(const struct dray_layout *layout,
			   const struct dray_cast *cast, unsigned int threads)
{
	struct noting noting = { .cast = cast };
	int ret;

	if (threads < 2)
		return dray_layout_apply_threads(
			layout, cast->loop, (void *)(uintptr_t)cast, threads);
	ret = dray_layout_apply_threads(layout, run_noting, &noting, threads);
	feraiseexcept(noting.flags);
	return ret;
}

static int cast_view_convert(const struct dray_view *dst,
			     const struct dray_view *src,
			     const struct dray_cast *cast, unsigned int threads)
{
	struct dray_layout layout;
	struct dray_view still;
	int i;

	if (!dray_dtype_itemsize(dst->dtype) &&
	    !dray_dtype_itemsize(src->dtype))
		return 0; /* Such elements may lie nowhere. */
	if (!dray_dtype_itemsize(src->dtype)) {
		/* No stride of it is too long: nothing is read. */
		dray_view_copy(&still, src);
		for (i = 0; i < still.ndim; i++)
			still.strides[i] = 0;
		src = &still;
	}
	if (cast_view_is_line(dst) && threads < 2)
		return dray_cast_run(cast, dst->data, dst->strides[0],
				     src->data, src->strides[0], dst->shape[0]);
	layout.runs = 0; /* Not set if the element size is 0. */
	dray_layout_reduce_items(&layout,
				 (const struct dray_view *[]){ dst, src }, 2);
	if (!layout.runs)
		return 0;
	return cast_view_apply(&layout, cast, threads);
}

/* Converts through a copy of the source, of @src's shape before it is fitted. */
static int convert_aside(const struct dray_view *dst,
			 const struct dray_view *src, int64_t bytes,
			 const struct dray_cast *cast, unsigned int threads)
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
	ret = dray_view_init_closed(&dense, aside, src->dtype, src->ndim,
				    src->shape, NULL);
	if (!ret)
		ret = dray_view_assign(&dense, src);
	if (!ret)
		ret = fit_shape(dst, &dense, &fitted);
	if (!ret)
		ret = cast_view_convert(dst, &fitted, cast, threads);
	free(aside);
	return ret;
}

static int fail_casting(dray_dtype to, dray_dtype from,
			enum dray_casting casting)
{
	char target[DRAY_DTYPE_TYPESTR_SIZE], source[DRAY_DTYPE_TYPESTR_SIZE];

	return dray_fail_as(
		-EINVAL, DRAY_FAILURE_CASTING,
		"cannot cast from '%s' to '%s' according to the rule '%s'",
		dray_dtype_text(from, source), dray_dtype_text(to, target),
		dray_casting_name(casting));
}

/* Two checked views on their way through a call. */
struct cast_pair {
	struct dray_operand to;
	struct dray_operand given; /* the source as passed by the caller */
	struct dray_view fitted; /* the source, if its shape differs */
	struct dray_operand operand; /* that view's */
	const struct dray_operand *from; /* shaped as the destination */
	struct dray_typed target;
	struct dray_typed source;
	bool same; /* type */
	unsigned int threads;
};

static int check_rule(const struct cast_pair *pair, enum dray_casting casting)
{
	enum dray_casting level;

	if ((unsigned int)casting > DRAY_CASTING_UNSAFE)
		return dray_fail(-EINVAL, "casting rule %u does not exist",
				 (unsigned int)casting);
	if (pair->same || casting == DRAY_CASTING_UNSAFE)
		return 0;
	level = pair->source.class == DRAY_CLASS_OTHER ||
				pair->target.class == DRAY_CLASS_OTHER
			? dray_parts_level(pair->given.view->dtype,
					   pair->to.view->dtype)
			: dray_cast_level(&pair->source, &pair->target);
	if (level <= casting)
		return 0;
	return fail_casting(pair->to.view->dtype, pair->given.view->dtype,
			    casting);
}

static bool same_type(const struct cast_pair *pair)
{
	if (pair->source.class == DRAY_CLASS_OTHER)
		return dray_parts_same(pair->to.view->dtype,
				       pair->given.view->dtype);
	return dray_typed_same(&pair->target, &pair->source);
}

static int cast_view_check(struct cast_pair *pair, enum dray_casting casting)
{
	int ret;

	pair->same = same_type(pair);
	ret = check_rule(pair, casting);
	if (ret)
		return ret;
	if (!(pair->given.view->flags & DRAY_READ))
		return dray_fail(-EPERM, "the source may not be read");
	return dray_operand_check_writable(&pair->to);
}

/* Converts between different types. */
static int convert_pair(const struct cast_pair *pair)
{
	const struct dray_operand *to = &pair->to, *given = &pair->given;
	struct dray_cast cast;
	int ret = dray_cast_prepare(to->view->dtype, &pair->target,
				    given->view->dtype, &pair->source, &cast);

	if (ret || !to->extent.elements)
		return ret;
	if (dray_addresses_meet(to->span, pair->from->span) &&
	    dray_overlap_find(to, pair->from) != DRAY_OVERLAP_NONE)
		return convert_aside(to->view, given->view, given->extent.bytes,
				     &cast, pair->threads);
	return cast_view_convert(to->view, pair->from->view, &cast,
				 pair->threads);
}

static int convert_or_assign(const struct cast_pair *pair)
{
	return pair->same
		       ? cast_view_assign(&pair->to, pair->from, pair->threads)
		       : convert_pair(pair);
}

/* Repeats a value that lies outside of the destination. */
static void cast_view_repeat(const struct dray_view *dst, char *value,
			     unsigned int threads)
{
	struct dray_layout layout;
	struct dray_view view;

	view.data = value;
	view.dtype = dst->dtype;
	view.ndim = dst->ndim;
	memcpy(view.shape, dst->shape, (size_t)dst->ndim * sizeof(int64_t));
	memset(view.strides, 0, (size_t)dst->ndim * sizeof(int64_t));
	dray_layout_pair(&layout, dst, &view);
	if (layout.runs)
		dray_layout_apply_threads(&layout, NULL, NULL, threads);
}

/* Converts the only element of the source once. */
static int convert_and_repeat(const struct cast_pair *pair)
{
	const struct dray_view *dst = pair->to.view, *src = pair->given.view;
	const size_t size = dray_dtype_itemsize(dst->dtype);
	char small[256], *value = small;
	struct dray_cast cast;
	int ret = dray_cast_prepare(dst->dtype, &pair->target, src->dtype,
				    &pair->source, &cast);

	if (ret || !pair->to.extent.elements)
		return ret;
	if (size > sizeof(small))
		value = malloc(size);
	if (!value)
		return dray_fail(
			-ENOMEM,
			"there is no memory for an element of %zu bytes", size);
	ret = dray_cast_run(&cast, value, 0, src->data, 0, 1);
	if (!ret)
		cast_view_repeat(dst, value, pair->threads);
	if (value != small)
		free(value);
	return ret;
}

/* Converts after it shapes the source as the destination. */
static int fit_and_convert(struct cast_pair *pair)
{
	struct dray_cast cast;
	int ret = 0;

	if (pair->given.extent.elements == 1 &&
	    !dray_dtype_has_gaps(pair->to.view->dtype))
		return convert_and_repeat(pair);
	if (!pair->same) /* As in NumPy, types before shapes. */
		ret = dray_cast_prepare(pair->to.view->dtype, &pair->target,
					pair->given.view->dtype, &pair->source,
					&cast);
	if (!ret)
		ret = fit_shape(pair->to.view, pair->given.view, &pair->fitted);
	if (!ret)
		ret = dray_operand_init(&pair->operand, &pair->fitted,
					"the source");
	if (ret)
		return ret;
	pair->from = &pair->operand;
	return convert_or_assign(pair);
}

static int check_and_convert(struct cast_pair *pair, enum dray_casting casting)
{
	int ret;

	pair->target = dray_typed(pair->to.view->dtype);
	pair->source = dray_typed(pair->given.view->dtype);
	ret = cast_view_check(pair, casting);
	if (ret)
		return ret;
	if (!same_shape(pair->to.view, pair->given.view))
		return fit_and_convert(pair);
	pair->from = &pair->given;
	return convert_or_assign(pair);
}

int dray_view_cast_threads(const struct dray_view *dst,
			   const struct dray_view *src,
			   enum dray_casting casting, unsigned int threads)
{
	struct cast_pair pair;
	int ret;

	pair.threads = threads;
	ret = dray_operand_init(&pair.to, dst, "the destination");
	if (!ret)
		ret = dray_operand_init(&pair.given, src, "the source");
	return ret ? ret : check_and_convert(&pair, casting);
}

int dray_view_cast(const struct dray_view *dst, const struct dray_view *src,
		   enum dray_casting casting)
{
	return dray_view_cast_threads(dst, src, casting, 1);
}

bool dray_cast_notes_errors(dray_dtype to, dray_dtype from)
{
	const enum dray_class target = dray_typed(to).class;
	const enum dray_class source = dray_typed(from).class;

	return !dray_class_is_text(target) && !dray_class_is_text(source);
}

int dray_view_convert_threads(const struct dray_view *dst,
			      const struct dray_view *src,
			      enum dray_casting casting, unsigned int threads)
{
	int ret;

	dray_fp_clear();
	ret = dray_view_cast_threads(dst, src, casting, threads);
	return ret || !dray_cast_notes_errors(dst->dtype, src->dtype)
		       ? ret
		       : dray_fp_check("cast");
}

int dray_view_convert(const struct dray_view *dst, const struct dray_view *src,
		      enum dray_casting casting)
{
	return dray_view_convert_threads(dst, src, casting, 1);
}
