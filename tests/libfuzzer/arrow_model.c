// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Elements and nulls of Arrow's structures, found a second time; see arrow_model.h. */
#include "arrow_model.h"

static bool bit_of(const void *bits, int64_t at)
{
	return ((const uint8_t *)bits)[at / 8] & 1u << at % 8;
}

/* Adds a node's own nulls to those of its parents: memory of the caller's. */
static bool *find_nulls(const struct place *place, const bool *above)
{
	const struct ArrowArray *array = place->array;
	size_t count = (size_t)place->count, i;
	bool *nulls = malloc(count + 1);

	holds(nulls);
	for (i = 0; i < count; i++) {
		nulls[i] = above && above[i];
		if (array->buffers[0] && array->null_count &&
		    !bit_of(array->buffers[0],
			    array->offset + place->first + (int64_t)i))
			nulls[i] = true;
	}
	return nulls;
}

/* Compares elements without children, in C order. */
static void check_elements(const struct place *place, const bool *nulls,
			   const struct dray_view *view,
			   const struct dray_view *mask)
{
	const char *format = place->schema->format;
	int64_t start = place->array->offset + place->first, i;
	const char *from = place->array->buffers[1];
	struct dray_array *elements = packed(view);
	struct dray_array *marks = mask ? packed(mask) : NULL;
	size_t size = format_size(format), itemsize;
	const char *at = elements->data;
	bool *bools = marks ? marks->data : NULL;

	itemsize = dray_dtype_itemsize(view->dtype);
	holds(dray_view_size(view) == place->count);
	holds(!mask || dray_view_size(mask) == place->count);
	for (i = 0; i < place->count; i++, at += itemsize) {
		holds(nulls[i] == (bools && bools[i]));
		if (*format == 'b') {
			holds(*at == bit_of(from, start + i));
		} else if (size == 4 && itemsize == 8) {
			int32_t half;
			int64_t whole;

			memcpy(&half, from + (start + i) * 4, sizeof(half));
			memcpy(&whole, at, sizeof(whole));
			holds(half == whole);
		} else if (size) {
			holds(size == itemsize);
			holds(!memcmp(at, from + (size_t)(start + i) * size,
				      size));
		}
	}
	dray_array_unref(elements);
	dray_array_unref(marks);
}

static void check_list(const struct place *place, const bool *nulls,
		       const struct dray_view *view,
		       const struct dray_view *mask)
{
	int64_t size = strtoll(place->schema->format + 3, NULL, 10), i;
	struct place child = {
		place->schema->children[0],
		place->array->children[0],
		(place->array->offset + place->first) * size,
		place->count * size,
	};
	bool *below = malloc((size_t)child.count + 1);

	holds(below);
	for (i = 0; i < child.count; i++)
		below[i] = nulls[i / size];
	check_place(&child, below, view, mask);
	free(below);
}

/* Takes a field by its number. */
static struct dray_view take_field(const struct dray_view *view, size_t index)
{
	struct dray_dtype_field field;
	struct dray_view part;

	holds(!dray_dtype_get_field(view->dtype, index, &field));
	holds(!dray_view_field(view, field.name, &part));
	return part;
}

static void check_fields(const struct place *place, const bool *nulls,
			 const struct dray_view *view,
			 const struct dray_view *mask)
{
	struct dray_view part, marks;
	int i;

	holds(dray_dtype_field_count(view->dtype) ==
	      (size_t)place->schema->n_children);
	for (i = 0; i < place->schema->n_children; i++) {
		struct place child = child_of(place, i);

		part = take_field(view, (size_t)i);
		if (mask)
			marks = take_field(mask, (size_t)i);
		check_place(&child, nulls, &part, mask ? &marks : NULL);
	}
}

struct place child_of(const struct place *place, int index)
{
	return (struct place){
		place->schema->children[index],
		place->array->children[index],
		place->array->offset + place->first,
		place->count,
	};
}

void check_place(const struct place *place, const bool *above,
		 const struct dray_view *view, const struct dray_view *mask)
{
	bool *nulls = find_nulls(place, above);

	holds(!place->schema->dictionary && !place->array->dictionary);
	if (!strncmp(place->schema->format, "+w:", 3))
		check_list(place, nulls, view, mask);
	else if (!strcmp(place->schema->format, "+s"))
		check_fields(place, nulls, view, mask);
	else
		check_elements(place, nulls, view, mask);
	free(nulls);
}

void check_child(const struct place *place, int index,
		 const struct dray_view *view, const struct dray_view *mask)
{
	struct place child = child_of(place, index);
	bool *nulls = find_nulls(place, NULL);

	check_place(&child, nulls, view, mask);
	free(nulls);
}
