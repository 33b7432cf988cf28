// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrow's structures, made by a stranger: an import fails and leaves all as it was,
 * or its arrays have the elements and nulls that the structures tell, and release
 * them once.  If numbers are boundless, arrays lie where arithmetic of 128 bits
 * says, and nothing is read.  Arrays that leave come in with the same elements.
 */
#include "arrow_model.h"

/* The most fields that are asked for. */
#define FIELDS 4

/* Checks where the elements of an array are that is no copy. */
static void check_boundless(const struct ArrowSchema *schema,
			    const struct ArrowArray *array, wide first,
			    int64_t count, const struct dray_view *view)
{
	struct layout layout = { .unit = 1 };
	struct lists lists;
	wide size;

	lists_follow(schema, array, first, count, &lists);
	size = format_size(lists.schema->format);
	layout = (struct layout){ lists.ndim, lists.shape, NULL, size, size };
	layout_check(&layout,
		     (wide)(uintptr_t)lists.array->buffers[1] +
			     lists.first * size,
		     view);
}

static void check_flags(const struct dray_array *array, uint32_t flags)
{
	holds(array->flags & DRAY_READ);
	holds(flags & DRAY_ARROW_COPY || !(array->flags & DRAY_WRITE));
}

/* If all arrays are copies, reads them before the tree is shown again. */
static void show_released(const struct tree *tree,
			  struct dray_array *const *arrays, int count)
{
	struct dray_view view;
	int i;

	for (i = 0; arrays_released && !tree->boundless && i < count; i++)
		dray_array_unref(packed(dray_array_view(arrays[i], &view)));
	tree_show();
}

/* Imports a whole tree as one array; says whether it was moved. */
static bool import_whole(struct input *input, struct tree *tree, uint32_t flags)
{
	struct ArrowArray before = tree->array;
	struct dray_array *array = NULL, *mask = NULL;
	struct place place = { &tree->schema, &before, 0, before.length };
	bool masks = !tree->boundless && input_below(input, 4);
	struct dray_view view, marks;
	int ret = dray_arrow_import(&tree->schema, &tree->array, flags, -1,
				    &array, masks ? &mask : NULL);

	holds(ret <= 0);
	holds(!!ret == !array);
	holds(!ret || !memcmp(&before, &tree->array, sizeof(before)));
	if (ret)
		return false;
	holds(!tree->array.release);
	check_flags(array, flags);
	dray_array_view(array, &view);
	show_released(tree, &array, 1);
	if (tree->boundless)
		check_boundless(&tree->schema, &before, 0, before.length,
				&view);
	else
		check_place(&place, NULL, &view, dray_array_view(mask, &marks));
	dray_array_unref(mask);
	dray_array_unref(array);
	return true;
}

/* Imports the children of a tree. */
static bool import_fields(struct input *input, struct tree *tree,
			  uint32_t flags)
{
	struct ArrowArray before = tree->array;
	struct dray_array *arrays[FIELDS] = { 0 }, *masks[FIELDS] = { 0 };
	struct place place = { &tree->schema, &before, 0, before.length };
	bool asks = !tree->boundless && input_below(input, 4);
	size_t count = input_below(input, 8) && tree->schema.n_children >= 0
			       ? (size_t)tree->schema.n_children
			       : (size_t)input_below(input, FIELDS);
	struct dray_view view, marks;
	int ret, i;

	if (count > FIELDS)
		return false;
	ret = dray_arrow_import_fields(&tree->schema, &tree->array, flags, -1,
				       count, arrays, asks ? masks : NULL);
	holds(ret <= 0);
	holds(!ret || !memcmp(&before, &tree->array, sizeof(before)));
	if (!ret)
		show_released(tree, arrays, (int)count);
	for (i = 0; i < (int)count; i++) {
		holds(!ret == !!arrays[i]);
		if (ret)
			continue;
		check_flags(arrays[i], flags);
		dray_array_view(arrays[i], &view);
		if (tree->boundless)
			check_boundless(tree->schema.children[i],
					before.children[i], before.offset,
					before.length, &view);
		else
			check_child(&place, i, &view,
				    dray_array_view(masks[i], &marks));
	}
	/* The array of the last is looked at after the others are gone. */
	for (i = 0; i < (int)count; i++) {
		dray_array_unref(masks[i]);
		dray_array_unref(arrays[i]);
	}
	return !ret;
}

static void import(struct input *input)
{
	bool boundless = !input_below(input, 3), moved;
	uint32_t flags = boundless ? 0 : (uint32_t)input_below(input, 4) / 2;
	struct tree tree;

	if (input_below(input, 64) == 63)
		flags |= (uint32_t)input_number(input, 4) & ~DRAY_ARROW_COPY;
	arrays_released = 0;
	tree_make(input, boundless, &tree);
	moved = input_below(input, 2) ? import_whole(input, &tree, flags)
				      : import_fields(input, &tree, flags);
	holds(arrays_released == moved);
	tree_end();
}

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

/* Compares elements without fields, and their nulls. */
static void check_returned(const struct dray_view *sent, const bool *nulls,
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
		is_null = (nulls && nulls[i]) || is_no_date(from, i);
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

/* Sends an array out and takes it in again. */
static void round_trip(struct input *input)
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
		if (!(dray_dtype_flags(view.dtype) & DRAY_DTYPE_STRUCT))
			check_returned(&view, mask ? mask->data : NULL, &back,
				       dray_array_view(nulls, &marks));
		dray_array_unref(nulls);
		dray_array_unref(array);
	}
	dray_array_unref(mask);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	if (!memory)
		views_start();
	if (input_below(&input, 4))
		import(&input);
	else
		round_trip(&input);
	return 0;
}
