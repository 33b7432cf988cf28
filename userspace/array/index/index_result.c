// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Results of indexing: the order of their axes in memory, values broadcast to
 * their shape, and copies aside if operands share bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dray/array/cast.h>

#include "index/index.h"
#include "private.h"

/* Whether two operands have, or may have, a byte in common. */
bool dray_operands_share(const struct dray_operand *a,
			 const struct dray_operand *b)
{
	return a->span.low != a->span.high && b->span.low != b->span.high &&
	       dray_addresses_meet(a->span, b->span) &&
	       dray_overlap_find(a, b) != DRAY_OVERLAP_NONE;
}

/* The addresses of a view that was checked before. */
static struct dray_addresses result_span_of(const struct dray_view *view)
{
	uintptr_t low = (uintptr_t)view->data;
	uintptr_t high = low + dray_dtype_itemsize(view->dtype);
	int i;

	/* Strides of no elements may be anything. */
	if (dray_view_is_empty(view))
		return (struct dray_addresses){ 0, 0 };
	for (i = 0; i < view->ndim; i++) {
		int64_t reach = (view->shape[i] - 1) * view->strides[i];

		if (reach < 0)
			low += (uintptr_t)reach;
		else
			high += (uintptr_t)reach;
	}
	return (struct dray_addresses){ low, high };
}

bool dray_index_shares(const struct dray_operand *operand,
		       const struct dray_view *array)
{
	struct dray_operand other;

	return dray_addresses_meet(operand->span, result_span_of(array)) &&
	       !dray_operand_init(&other, array, "an indexing array") &&
	       dray_operands_share(operand, &other);
}

enum nesting {
	EITHER,
	INSIDE, /* as now */
	OUTSIDE
};

/*
 * Whether axis @a, which stands outside of @b in C order, lies inside of it in
 * memory: in no array the other way round, and in one or more that have both.
 */
static enum nesting index_result_compare(const struct dray_index_plan *plan,
					 int a, int b)
{
	enum nesting found = EITHER;
	int i;

	for (i = 0; i < plan->arrays_count; i++) {
		const struct dray_index_array *array = &plan->arrays[i];
		uint64_t of_a =
			dray_magnitude(dray_index_stride(plan, array, a));
		uint64_t of_b =
			dray_magnitude(dray_index_stride(plan, array, b));

		if (!of_a || !of_b)
			continue;
		if (of_b <= of_a)
			return INSIDE;
		if (found == EITHER)
			found = OUTSIDE;
	}
	return found;
}

/* Orders the broadcast axes as NumPy's iterator does: a stable insertion. */
static void order_arrays(const struct dray_index_plan *plan, int *axes)
{
	int ndim = plan->broadcast_ndim;
	int inside[DRAY_MAX_NDIM]; /* innermost first */
	int i, at, k;

	for (i = 0; i < ndim; i++) {
		int axis = ndim - 1 - i;

		at = i;
		for (k = i - 1; k >= 0; k--) {
			enum nesting found =
				index_result_compare(plan, axis, inside[k]);

			if (found == INSIDE)
				break;
			if (found == OUTSIDE)
				at = k;
		}
		for (k = i; k > at; k--)
			inside[k] = inside[k - 1];
		inside[at] = axis;
	}
	for (i = 0; i < ndim; i++)
		axes[i] = plan->at + inside[ndim - 1 - i];
}

void dray_index_order(const struct dray_index_plan *plan, int *axes)
{
	const struct dray_view *rest = &plan->rest;
	int fancy = plan->broadcast_ndim;
	int i;

	if (dray_view_size(rest) == 1 && fancy > 1) {
		order_arrays(plan, axes);
	} else {
		for (i = 0; i < fancy; i++)
			axes[i] = plan->at + i;
	}
	axes += fancy;
	dray_strides_sort(rest->ndim, rest->strides, axes);
	for (i = 0; i < rest->ndim; i++) {
		if (axes[i] >= plan->at)
			axes[i] += fancy;
	}
}

int dray_array_ordered(dray_dtype dtype, int ndim, const int64_t *shape,
		       const int *axes, struct dray_array **out)
{
	struct dray_array_axis made[DRAY_MAX_NDIM], *of_array;
	int64_t ordered[DRAY_MAX_NDIM];
	struct dray_view view;
	bool moved = false;
	int i, ret;

	ordered[0] = 0; /* The compiler sees no shape without axes. */
	for (i = 0; i < ndim; i++) {
		ordered[i] = shape[axes[i]];
		moved = moved || axes[i] != i;
	}
	ret = dray_array_empty(dtype, ndim, ordered, out);
	if (ret || !moved)
		return ret;
	of_array = dray_array_axes(*out);
	memcpy(made, of_array, (size_t)ndim * sizeof(made[0]));
	for (i = 0; i < ndim; i++)
		of_array[axes[i]] = made[i];
	dray_array_view(*out, &view);
	dray_view_set_facts(&view);
	(*out)->flags &= ~(uint64_t)DRAY_VIEW_FACTS;
	(*out)->flags |= view.flags & DRAY_VIEW_FACTS;
	return 0;
}

int dray_view_put_aside(const struct dray_view *view, dray_dtype dtype,
			struct dray_view *out)
{
	size_t bytes;
	void *memory;
	int ret;

	ret = dray_view_bytes(dtype, view->ndim, view->shape, &bytes);
	if (ret)
		return ret;
	memory = malloc(bytes ? bytes : 1);
	if (!memory)
		return dray_fail(-ENOMEM, "no memory to put %zu bytes aside",
				 bytes);
	ret = dray_view_init_closed(out, memory, dtype, view->ndim, view->shape,
				    NULL);
	if (!ret)
		ret = dray_view_convert(out, view, DRAY_CASTING_UNSAFE);
	if (ret)
		free(memory);
	return ret;
}

int dray_values_use(const struct dray_operand *to,
		    const struct dray_view *values, bool in_order,
		    struct dray_values *out)
{
	int ret;

	out->view = values;
	out->own = NULL;
	if (dray_dtype_equal(to->view->dtype, values->dtype) &&
	    (in_order || !dray_index_shares(to, values)))
		return 0;
	ret = dray_view_put_aside(values, to->view->dtype, &out->converted);
	if (ret)
		return ret;
	out->view = &out->converted;
	out->own = out->converted.data;
	return 0;
}

bool dray_index_broadcast(const struct dray_view *value, int ndim,
			  const int64_t *shape, struct dray_view *view)
{
	int skipped = value->ndim > ndim ? value->ndim - ndim : 0;
	int added = ndim - (value->ndim - skipped);
	int i;

	for (i = 0; i < skipped; i++) {
		if (value->shape[i] != 1)
			return false;
	}
	memcpy(view, value, offsetof(struct dray_view, shape));
	view->ndim = ndim;
	for (i = 0; i < ndim; i++) {
		int from = i - added + skipped;
		bool whole = i >= added && value->shape[from] == shape[i];

		if (i >= added && !whole && value->shape[from] != 1)
			return false;
		view->shape[i] = shape[i];
		view->strides[i] = whole ? value->strides[from] : 0;
	}
	return true;
}
