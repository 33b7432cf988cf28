// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Arrays that leave by Arrow's structures and come in again; see arrow_model.h. */
#include "arrow_model.h"

/* Makes a copy of elements as Arrow has them; NULL: it has another size. */
static struct dray_array *as_exported(const struct dray_view *view)
{
	struct dray_array *copy;
	struct dray_view whole;
	dray_dtype native;

	holds(!dray_dtype_with_order(view->dtype, '=', &native));
	holds(!dray_array_like(view, native, DRAY_ORDER_C, &copy));
	holds(!dray_view_convert(dray_array_view(copy, &whole), view,
				 DRAY_CASTING_EQUIV));
	dray_dtype_unref(native);
	return copy;
}

/* Whether element @i of a copy is no date, which leaves as a null. */
static bool is_no_date(const struct dray_array *copy, int64_t i)
{
	char kind = dray_dtype_kind(copy->dtype);

	return (kind == 'M' || kind == 'm') &&
	       ((const int64_t *)copy->data)[i] == INT64_MIN;
}

/* Nulls as they were sent: one for @each elements; NULL: none. */
struct nulls {
	const bool *bools;
	int64_t each;
};

/* Compares elements without fields, and their nulls. */
static void check_elements(const struct dray_view *sent,
			   const struct nulls *nulls,
			   const struct dray_view *view,
			   const struct dray_view *mask)
{
	struct dray_array *from = as_exported(sent), *to = packed(view);
	struct dray_array *marks = mask ? packed(mask) : NULL;
	size_t size = dray_dtype_itemsize(sent->dtype);
	const char *a = from->data, *b = to->data;
	int64_t count = dray_view_size(sent), i;
	/* The parts of complex numbers have a mask each. */
	int64_t parts = count ? dray_view_size(view) / count : 1;
	bool is_null;

	holds(bytes_of(view) == bytes_of(sent));
	for (i = 0; i < count; i++, a += size, b += size) {
		is_null = (nulls->bools && nulls->bools[i / nulls->each]) ||
			  is_no_date(from, i);
		holds(is_null ==
		      (marks && ((const bool *)marks->data)[i * parts]));
		if (sent->dtype == DRAY_BOOL)
			holds(!*a == !*b);
		else if (!is_no_date(from, i))
			holds(!memcmp(a, b, size));
	}
	dray_array_unref(from);
	dray_array_unref(to);
	dray_array_unref(marks);
}

/* Compares a view and the one that came back, field by field. */
static void check_returned(const struct dray_view *sent,
			   const struct nulls *nulls,
			   const struct dray_view *view,
			   const struct dray_view *mask)
{
	struct dray_view part, other, marks;
	struct dray_dtype_field field;
	struct nulls below = *nulls;
	size_t i;

	if (!(dray_dtype_flags(sent->dtype) & DRAY_DTYPE_STRUCT)) {
		check_elements(sent, nulls, view, mask);
		return;
	}
	for (i = 0; i < dray_dtype_field_count(sent->dtype); i++) {
		holds(!dray_dtype_get_field(sent->dtype, i, &field));
		holds(!dray_view_field(sent, field.name, &part));
		holds(!dray_view_field(view, field.name, &other));
		holds(!mask || !dray_view_field(mask, field.name, &marks));
		/* A sub-array has more elements than the structure. */
		if (dray_view_size(sent))
			below.each = nulls->each * (dray_view_size(&part) /
						    dray_view_size(sent));
		if (below.each)
			check_returned(&part, &below, &other,
				       mask ? &marks : NULL);
	}
}

/* Makes bools for the elements of @view; NULL: no mask. */
static struct dray_array *make_mask(struct input *input,
				    const struct dray_view *view)
{
	struct dray_array *mask;
	int64_t i;

	if (input_below(input, 2))
		return NULL;
	holds(!dray_array_zeros(DRAY_BOOL, view->ndim, view->shape, &mask));
	for (i = 0; i < dray_view_size(view); i++)
		((bool *)mask->data)[i] = !input_below(input, 3);
	return mask;
}

void arrow_round_trip(struct input *input)
{
	static const int64_t no_date = INT64_MIN;
	int changes = input_below(input, 4), ret;
	uint32_t flags = input_below(input, 4) ? DRAY_ARROW_COPY : 0;
	struct dray_array *sent, *mask, *array, *nulls;
	struct dray_view view, back, marks;
	struct ArrowSchema schema;
	struct ArrowArray out;
	size_t bytes;

	views_fill();
	while (input_below(input, 4) == 3)
		memcpy(memory + 8 * input_below(input, MEMORY / 8), &no_date,
		       sizeof(no_date));
	views_make(input, &view);
	while (changes--)
		views_change(input, &view);
	/* Of no elements, extents may be too large for a copy. */
	if (dray_view_bytes(view.dtype, view.ndim, view.shape, &bytes) ||
	    dray_view_size(&view) > MAX_READ ||
	    dray_array_from_pointer(&view, NULL, NULL, &sent))
		return;
	mask = make_mask(input, &view);
	ret = dray_arrow_export(sent, dray_array_view(mask, &marks), flags, 0,
				&out);
	holds(ret <= 0);
	dray_array_unref(sent);
	if (!ret) {
		holds(!dray_arrow_schema(view.dtype, view.ndim, view.shape,
					 &schema));
		holds(!dray_arrow_import(&schema, &out, DRAY_ARROW_COPY, -1,
					 &array, &nulls));
		schema.release(&schema);
		dray_array_view(array, &back);
		check_returned(&view,
			       &(struct nulls){ mask ? mask->data : NULL, 1 },
			       &back, dray_array_view(nulls, &marks));
		dray_array_unref(nulls);
		dray_array_unref(array);
	}
	dray_array_unref(mask);
}
