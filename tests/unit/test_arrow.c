// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * arrow: arrays as Arrow's, and back: layouts, masks, copies, and the lives of
 * structures that are moved and released in any order.
 */
#include <dray/array.h>

#include "arrow.h"
#include "memory/backend.h"
#include "node.h"

static const uint8_t *bits_of(const struct ArrowArray *array)
{
	return array->buffers[0];
}

FACT(numbers_keep_their_address)
{
	static const struct {
		const char *type, *format;
	} cases[] = {
		{ "i1", "c" },	      { "i2", "s" },
		{ "i4", "i" },	      { "i8", "l" },
		{ "u1", "C" },	      { "u2", "S" },
		{ "u4", "I" },	      { "u8", "L" },
		{ "f2", "e" },	      { "f4", "f" },
		{ "f8", "g" },	      { "S5", "w:5" },
		{ "V3", "w:3" },      { "M8[s]", "tss:" },
		{ "M8[ms]", "tsm:" }, { "M8[us]", "tsu:" },
		{ "M8[ns]", "tsn:" }, { "m8[s]", "tDs" },
		{ "m8[ms]", "tDm" },  { "m8[us]", "tDu" },
		{ "m8[ns]", "tDn" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_array *array = make(cases[i].type, 1, DIMS(6));
		struct dray_array *back = NULL;
		struct passed passed;

		pass(array, NULL, 0, &passed);
		assert_string_equal(passed.schema.format, cases[i].format);
		assert_int_equal(passed.schema.flags, ARROW_FLAG_NULLABLE);
		assert_int_equal(passed.array.length, 6);
		assert_int_equal(passed.array.null_count, 0);
		assert_int_equal(passed.array.n_buffers, 2);
		assert_null(passed.array.buffers[0]);
		assert_ptr_equal(passed.array.buffers[1], array->data);
		assert_works(dray_arrow_import(&passed.schema, &passed.array, 0,
					       -1, &back, NULL));
		assert_ptr_equal(back->data, array->data);
		assert_int_equal(back->flags & PERMISSIONS,
				 DRAY_READ | DRAY_IMMUTABLE);
		if (cases[i].type[0] != 'S')
			assert_int_equal(back->dtype, array->dtype);
		else
			assert_int_equal(back->dtype, DRAY_VOID(5));
		dray_array_unref(back);
		drop(&passed);
		dray_array_unref(array);
	}
}

FACT(more_axes_are_lists_of_a_fixed_size)
{
	struct dray_array *array = make("i4", 3, DIMS(2, 3, 4)), *back = NULL;
	struct passed passed;

	pass(array, NULL, 0, &passed);
	assert_string_equal(passed.schema.format, "+w:3");
	assert_string_equal(passed.schema.children[0]->format, "+w:4");
	assert_string_equal(passed.schema.children[0]->children[0]->format,
			    "i");
	assert_int_equal(passed.array.length, 2);
	assert_int_equal(passed.array.n_buffers, 1);
	assert_int_equal(passed.array.children[0]->length, 6);
	assert_int_equal(passed.array.children[0]->children[0]->length, 24);
	assert_works(dray_arrow_import(&passed.schema, &passed.array, 0, -1,
				       &back, NULL));
	assert_int_equal(back->ndim, 3);
	assert_ptr_equal(back->data, array->data);
	for (int i = 0; i < 3; i++)
		assert_int_equal(dray_array_axes(back)[i].size, 2 + i);
	dray_array_unref(back);
	drop(&passed);
	dray_array_unref(array);
}

FACT(complex_numbers_are_pairs)
{
	struct dray_array *array = make("c8", 1, DIMS(3)), *back = NULL;
	struct passed passed;

	pass(array, NULL, 0, &passed);
	assert_string_equal(passed.schema.format, "+w:2");
	assert_string_equal(passed.schema.children[0]->format, "f");
	assert_works(dray_arrow_import(&passed.schema, &passed.array, 0, -1,
				       &back, NULL));
	assert_int_equal(back->ndim, 2);
	assert_int_equal(back->dtype, DRAY_FLOAT32);
	assert_ptr_equal(back->data, array->data);
	dray_array_unref(back);
	drop(&passed);
	dray_array_unref(array);
}

FACT(numbers_at_odd_addresses_take_a_copy)
{
	_Alignas(double) char bytes[3 * sizeof(double) + 1] = "";
	struct dray_array *array, *back = NULL;
	struct ArrowArray refused = { 0 };
	struct dray_view view;
	struct passed passed;
	double last = 2.5;

	memcpy(bytes + 1 + 2 * sizeof(last), &last, sizeof(last));
	assert_works(dray_view_init(&view, bytes + 1, DRAY_FLOAT64, 1, DIMS(3),
				    NULL));
	assert_works(dray_array_from_pointer(&view, NULL, NULL, &array));
	assert_fails(dray_arrow_export(array, NULL, 0, -1, &refused), -EAGAIN,
		     "at multiples of their alignment");
	pass(array, NULL, DRAY_ARROW_COPY, &passed);
	assert_works(dray_arrow_import(&passed.schema, &passed.array, 0, -1,
				       &back, NULL));
	assert_true(back->flags & DRAY_ALIGNED);
	assert_memory_equal(back->data, bytes + 1, 3 * sizeof(last));
	dray_array_unref(back);
	drop(&passed);
	dray_array_unref(array);
}

FACT(some_arrays_take_a_copy_which_is_refused_unless_allowed)
{
	static const struct {
		const char *type;
		int64_t step;
		const char *part;
	} cases[] = {
		{ "?", 1, "one bit each" },
		{ "i4", 2, "one after the other" },
		{ "i4", -1, "one after the other" },
		{ ">i4", 1, "the other byte order" },
		{ "M8[D]", 1, "have 32 bits" },
		{ "i4,f8", 1, "one after the other" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_array *array = make(cases[i].type, 1, DIMS(7));
		struct dray_array *slice, *back = NULL;
		struct ArrowArray refused = { 0 };
		struct dray_view view, expected;
		struct passed passed;
		bool same = false;

		/* Days that fit. */
		if (cases[i].type[0] == 'M')
			for (int j = 0; j < 7; j++)
				((int64_t *)array->data)[j] = j - 3;
		dray_array_view(array, &view);
		assert_works(dray_view_index(&view, &DRAY_STEP(cases[i].step),
					     1, &view));
		assert_works(dray_array_over(&view, &array->block, &slice));
		assert_fails(dray_arrow_export(slice, NULL, 0, -1, &refused),
			     -EAGAIN, cases[i].part);
		assert_null(refused.release);
		pass(slice, NULL, DRAY_ARROW_COPY, &passed);
		assert_works(dray_arrow_import(&passed.schema, &passed.array,
					       DRAY_ARROW_COPY, -1, &back,
					       NULL));
		assert_int_equal(dray_array_axes(back)->size,
				 dray_array_axes(slice)->size);
		/* The same values, in the machine's byte order. */
		dray_array_view(back, &expected);
		for (int64_t j = 0; j < expected.shape[0]; j++) {
			struct dray_view a, b;
			char wide[32] = { 0 }, other[32] = { 0 };

			assert_works(
				dray_view_index(&expected, &DRAY_AT(j), 1, &a));
			assert_works(
				dray_view_index(&view, &DRAY_AT(j), 1, &b));
			assert_works(dray_view_get(&a, back->dtype, wide));
			assert_works(dray_view_get(&b, back->dtype, other));
			assert_memory_equal(wide, other, sizeof(wide));
			same = true;
		}
		assert_true(same);
		dray_array_unref(back);
		drop(&passed);
		dray_array_unref(slice);
		dray_array_unref(array);
	}
}

FACT(a_structure_of_one_field_needs_no_copy)
{
	struct dray_array *array = make("[('x', '(2,)i4')]", 1, DIMS(3));
	struct dray_array *out[1], *masks[1] = { array };
	struct passed passed;

	pass(array, NULL, 0, &passed);
	assert_string_equal(passed.schema.format, "+s");
	assert_string_equal(passed.schema.children[0]->name, "x");
	assert_string_equal(passed.schema.children[0]->format, "+w:2");
	assert_works(dray_arrow_import_fields(&passed.schema, &passed.array, 0,
					      -1, 1, out, masks));
	assert_ptr_equal(out[0]->data, array->data);
	assert_int_equal(out[0]->ndim, 2);
	assert_null(masks[0]);
	dray_array_unref(out[0]);
	drop(&passed);
	dray_array_unref(array);
}

FACT(fields_come_back_one_by_one_or_as_one_structure)
{
	struct dray_array *array =
		make("[('a', '<i2'), ('b', [('c', '?'), ('d', '<f4', (2,))])]",
		     1, DIMS(3));
	struct dray_array *out[2], *back = NULL;
	struct passed passed;

	/* Bools are 0 or 1. */
	for (int i = 0; i < 3; i++)
		((uint8_t *)array->data)[i * 11 + 2] = i == 1;
	pass(array, NULL, DRAY_ARROW_COPY, &passed);
	assert_fails(dray_arrow_import(&passed.schema, &passed.array, 0, -1,
				       &back, NULL),
		     -EAGAIN, "lie apart");
	assert_non_null(passed.array.release);
	assert_fails(dray_arrow_import_fields(&passed.schema, &passed.array,
					      DRAY_ARROW_COPY, -1, 3, out,
					      NULL),
		     -EINVAL, "with 2 children, asked for 3");
	assert_works(dray_arrow_import_fields(&passed.schema, &passed.array,
					      DRAY_ARROW_COPY, -1, 2, out,
					      NULL));
	assert_int_equal(out[0]->dtype, DRAY_INT16);
	assert_int_equal(((int16_t *)out[0]->data)[1], 0x0c0b);
	assert_int_equal(dray_dtype_field_count(out[1]->dtype), 2);
	dray_array_unref(out[0]);
	dray_array_unref(out[1]);
	drop(&passed);
	pass(array, NULL, DRAY_ARROW_COPY, &passed);
	assert_works(dray_arrow_import(&passed.schema, &passed.array,
				       DRAY_ARROW_COPY, -1, &back, NULL));
	assert_true(dray_dtype_equal(back->dtype, array->dtype));
	assert_memory_equal(back->data, array->data, 33);
	dray_array_unref(back);
	drop(&passed);
	dray_array_unref(array);
}

FACT(a_mask_becomes_bits_and_comes_back)
{
	struct dray_array *array = make("i4", 2, DIMS(5, 3)), *back, *nulls;
	struct dray_array *mask = make("?", 2, DIMS(5, 3));
	const struct ArrowArray *items;
	struct passed passed;

	pass(array, whole_view(mask), 0, &passed);
	items = passed.array.children[0];
	assert_int_equal(passed.array.null_count, 0);
	assert_int_equal(items->null_count, 5);
	/* Bit i is 0 where i is a multiple of 3. */
	assert_int_equal(bits_of(items)[0], 0xb6);
	assert_int_equal(bits_of(items)[1], 0x6d);
	assert_ptr_equal(items->buffers[1], array->data);
	assert_fails(dray_arrow_import(&passed.schema, &passed.array, 0, -1,
				       &back, NULL),
		     -EINVAL, "5 of 15 elements are null");
	assert_works(dray_arrow_import(&passed.schema, &passed.array, 0, -1,
				       &back, &nulls));
	assert_int_equal(nulls->dtype, DRAY_BOOL);
	assert_int_equal(nulls->ndim, 2);
	assert_memory_equal(nulls->data, mask->data, 15);
	dray_array_unref(nulls);
	dray_array_unref(back);
	drop(&passed);
	dray_array_unref(mask);
	dray_array_unref(array);
}

FACT(a_mask_without_nulls_makes_no_bits)
{
	struct dray_array *array = make("f4", 1, DIMS(4)), *back;
	struct dray_array *mask, *nulls = array;
	struct passed passed;

	assert_works(dray_array_zeros(DRAY_BOOL, 1, DIMS(4), &mask));
	pass(array, whole_view(mask), 0, &passed);
	assert_int_equal(passed.array.null_count, 0);
	assert_null(passed.array.buffers[0]);
	assert_works(dray_arrow_import(&passed.schema, &passed.array, 0, -1,
				       &back, &nulls));
	assert_null(nulls);
	dray_array_unref(back);
	drop(&passed);
	dray_array_unref(mask);
	dray_array_unref(array);
}

FACT(a_structure_has_a_mask_of_its_own_or_of_its_fields)
{
	static const char text[] =
		"[('a', '<i2'), ('b', '<c8'), ('c', 'S3', (2,))]";
	struct dray_array *array = make(text, 1, DIMS(4)), *back, *nulls;
	struct dray_array *whole = make("?", 1, DIMS(4));
	struct dray_array *parts =
		make("[('a', '?'), ('b', '?'), ('c', '?', (2,))]", 1, DIMS(4));
	struct passed passed;

	for (int i = 0; i < 16; i++)
		((uint8_t *)parts->data)[i] = i % 5 == 0;
	pass(array, whole_view(parts), DRAY_ARROW_COPY, &passed);
	assert_int_equal(passed.array.null_count, 0);
	assert_int_equal(passed.array.children[0]->null_count, 1);
	assert_int_equal(passed.array.children[1]->null_count, 1);
	assert_int_equal(passed.array.children[1]->children[0]->null_count, 0);
	assert_int_equal(passed.array.children[2]->children[0]->null_count, 2);
	assert_works(dray_arrow_import(&passed.schema, &passed.array,
				       DRAY_ARROW_COPY, -1, &back, &nulls));
	/* Of a complex number both parts are null. */
	assert_int_equal(dray_dtype_itemsize(nulls->dtype), 5);
	assert_memory_equal(nulls->data,
			    "\1\0\0\0\0"
			    "\0\1\1\0\0"
			    "\0\0\0\1\0"
			    "\0\0\0\0\1",
			    20);
	dray_array_unref(nulls);
	dray_array_unref(back);
	drop(&passed);

	pass(array, whole_view(whole), DRAY_ARROW_COPY, &passed);
	assert_int_equal(passed.array.null_count, 2);
	assert_works(dray_arrow_import(&passed.schema, &passed.array,
				       DRAY_ARROW_COPY, -1, &back, &nulls));
	assert_memory_equal(nulls->data,
			    "\1\1\1\1\1"
			    "\0\0\0\0\0"
			    "\0\0\0\0\0"
			    "\1\1\1\1\1",
			    20);
	dray_array_unref(nulls);
	dray_array_unref(back);
	drop(&passed);
	dray_array_unref(parts);
	dray_array_unref(whole);
	dray_array_unref(array);
}

FACT(masks_are_checked)
{
	struct dray_array *array = make("i4", 1, DIMS(4));
	struct dray_array *numbers = make("u1", 1, DIMS(4));
	struct dray_array *bools = make("?", 1, DIMS(5));
	struct dray_array *parts = make("[('a', '?')]", 1, DIMS(4));
	struct dray_array *records = make("[('b', '<i4')]", 1, DIMS(4));
	struct dray_array *lists = make("[('a', '<i4', (3,))]", 1, DIMS(4));
	struct dray_array *longer = make("[('a', '?', (2,))]", 1, DIMS(4));
	struct ArrowArray out;

	assert_fails(dray_arrow_export(array, whole_view(bools), 0, -1, &out),
		     -EINVAL, "another shape");
	assert_fails(dray_arrow_export(array, whole_view(numbers), 0, -1, &out),
		     -EINVAL, "a mask has bools, not |u1");
	assert_fails(dray_arrow_export(array, whole_view(parts), 0, -1, &out),
		     -EINVAL, "a mask has bools");
	assert_fails(dray_arrow_export(records, whole_view(parts), 0, -1, &out),
		     -EINVAL, "no field \"b\"");
	assert_fails(dray_arrow_export(lists, whole_view(longer), 0, -1, &out),
		     -EINVAL, "another shape than the field");
	dray_array_unref(longer);
	dray_array_unref(lists);
	dray_array_unref(records);
	dray_array_unref(parts);
	dray_array_unref(bools);
	dray_array_unref(numbers);
	dray_array_unref(array);
}

FACT(what_is_not_a_date_is_a_null)
{
	static const char *const types[] = { "M8[ns]", "m8[s]", "M8[D]" };

	for (size_t i = 0; i < 3; i++) {
		struct dray_array *array = make(types[i], 1, DIMS(3));
		struct dray_array *mask = make("?", 1, DIMS(3));
		struct passed passed;

		((int64_t *)array->data)[0] = 1;
		((int64_t *)array->data)[1] = INT64_MIN;
		((int64_t *)array->data)[2] = -1;
		pass(array, NULL, DRAY_ARROW_COPY, &passed);
		assert_int_equal(passed.array.null_count, 1);
		assert_int_equal(bits_of(&passed.array)[0], 5);
		if (i < 2)
			assert_ptr_equal(passed.array.buffers[1], array->data);
		else
			assert_memory_equal(passed.array.buffers[1],
					    ((int32_t[]){ 1, 0, -1 }), 12);
		drop(&passed);
		/* The first is masked besides. */
		pass(array, whole_view(mask), DRAY_ARROW_COPY, &passed);
		assert_int_equal(passed.array.null_count, 2);
		assert_int_equal(bits_of(&passed.array)[0], 4);
		drop(&passed);
		dray_array_unref(mask);
		dray_array_unref(array);
	}
}

FACT(days_beyond_32_bits_are_refused)
{
	struct dray_array *array = make("M8[D]", 1, DIMS(1));
	struct ArrowArray out = { 0 };

	*(int64_t *)array->data = (int64_t)INT32_MAX + 1;
	assert_fails(dray_arrow_export(array, NULL, DRAY_ARROW_COPY, -1, &out),
		     -ERANGE, "day 2147483648");
	assert_null(out.release);
	dray_array_unref(array);
}

FACT(types_that_arrow_lacks_are_named)
{
	static const char *const types[] = { "U3",     "M8[h]", "m8[Y]", "m8",
					     "M8[2s]", "f16",	"c32" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		dray_dtype dtype = type_of(types[i]);
		struct ArrowSchema schema = { 0 };

		assert_fails(dray_arrow_schema(dtype, 1, DIMS(1), &schema),
			     -EOPNOTSUPP, "Arrow has no fixed-size type");
		assert_null(schema.release);
	}
}

FACT(axes_and_sizes_have_limits)
{
	struct dray_array *array = make("i4", 0, NULL);
	int64_t ones[DRAY_MAX_NDIM];
	struct ArrowSchema schema = { 0 };
	struct ArrowArray out = { 0 };

	for (int i = 0; i < DRAY_MAX_NDIM; i++)
		ones[i] = 1;
	assert_fails(dray_arrow_export(array, NULL, 0, -1, &out), -EINVAL,
		     "an array of 0 axes");
	assert_fails(dray_arrow_schema(DRAY_INT8, 65, ones, &schema), -EINVAL,
		     "an array of 65 axes");
	assert_fails(dray_arrow_schema(DRAY_COMPLEX64, 64, ones, &schema),
		     -EINVAL, "complex numbers of 64 axes");
	assert_fails(dray_arrow_schema(DRAY_INT8, 2, DIMS(1, INT64_C(1) << 31),
				       &schema),
		     -EOVERFLOW, "a size of 2147483648");
	assert_fails(dray_arrow_schema(DRAY_VOID(0x80000000u), 1, ones,
				       &schema),
		     -EOVERFLOW, "a size of 2147483648");
	assert_fails(dray_arrow_schema(DRAY_INT8, 2, DIMS(1, -1), &schema),
		     -EINVAL, "");
	assert_fails(dray_arrow_export(array, NULL, 2, -1, &out), -EINVAL,
		     "flags 0x2");
	assert_works(dray_arrow_schema(DRAY_INT8, 64, ones, &schema));
	schema.release(&schema);
	dray_array_unref(array);
}

FACT(arrays_without_elements_pass)
{
	static const struct {
		int ndim;
		int64_t shape[3];
	} cases[] = { { 1, { 0 } },
		      { 2, { 0, 4 } },
		      { 2, { 4, 0 } },
		      { 3, { 2, 0, 3 } } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_array *array =
			make("f8", cases[i].ndim, cases[i].shape);
		struct dray_array *back = NULL;
		struct passed passed;
		struct dray_view view;

		pass(array, NULL, 0, &passed);
		assert_works(dray_arrow_import(&passed.schema, &passed.array, 0,
					       -1, &back, NULL));
		dray_array_view(back, &view);
		assert_int_equal(view.ndim, cases[i].ndim);
		assert_memory_equal(view.shape, cases[i].shape,
				    (size_t)view.ndim * sizeof(int64_t));
		dray_array_unref(back);
		drop(&passed);
		dray_array_unref(array);
	}
}

static void count_release(void *owner)
{
	++*(int *)owner;
}

/* Makes an array over @numbers; its end adds 1 to @released. */
static struct dray_array *watched(int32_t *numbers, int count, int *released)
{
	struct dray_array *array = NULL;
	struct dray_view view;

	assert_works(dray_view_init(&view, numbers, DRAY_INT32, 2,
				    DIMS(count / 2, 2), NULL));
	assert_works(dray_array_from_pointer(&view, count_release, released,
					     &array));
	return array;
}

FACT(the_array_lives_until_all_of_the_structures_are_released)
{
	int32_t numbers[4] = { 1, 2, 3, 4 };
	struct ArrowArray moved, child;
	struct dray_array *array;
	struct passed passed;
	int released = 0;

	array = watched(numbers, 4, &released);
	pass(array, NULL, 0, &passed);
	dray_array_unref(array);
	/* A consumer moves the child, then the rest. */
	child = *passed.array.children[0];
	passed.array.children[0]->release = NULL;
	moved = passed.array;
	passed.array.release = NULL;
	passed.schema.release(&passed.schema);
	assert_null(passed.schema.release);
	moved.release(&moved);
	assert_null(moved.release);
	assert_int_equal(released, 0);
	assert_int_equal(((const int32_t *)child.buffers[1])[3], 4);
	child.release(&child);
	assert_int_equal(released, 1);
}

static struct ArrowSchema *moved_out(struct ArrowSchema *schema)
{
	static struct ArrowSchema moved;

	moved = *schema;
	schema->release = NULL;
	return &moved;
}

FACT(a_child_of_a_schema_outlives_it)
{
	struct dray_array *array = make("[('name', 'i4')]", 1, DIMS(1));
	struct ArrowSchema schema, *child;

	assert_works(schema_of(array, &schema));
	child = moved_out(schema.children[0]);
	schema.release(&schema);
	assert_string_equal(child->name, "name");
	assert_string_equal(child->format, "i");
	child->release(child);
	dray_array_unref(array);
}

FACT(the_last_import_releases_the_producers_array_once)
{
	int32_t numbers[8] = { 0 };
	struct dray_array *array, *back = NULL, *slice = NULL;
	struct passed passed;
	int released = 0;

	array = watched(numbers, 8, &released);
	pass(array, NULL, 0, &passed);
	dray_array_unref(array);
	assert_works(dray_arrow_import(&passed.schema, &passed.array, 0, -1,
				       &back, NULL));
	assert_null(passed.array.release);
	assert_works(dray_array_over(whole_view(back), &back->block, &slice));
	dray_array_unref(back);
	assert_int_equal(released, 0);
	dray_array_unref(slice);
	assert_int_equal(released, 1);
	drop(&passed);
}

FACT(a_copy_releases_the_producers_array_at_once)
{
	struct dray_array *array = make("?", 1, DIMS(70)), *back = NULL;
	struct passed passed;

	pass(array, NULL, DRAY_ARROW_COPY, &passed);
	assert_fails(dray_arrow_import(&passed.schema, &passed.array, 0, -1,
				       &back, NULL),
		     -EAGAIN, "another size");
	assert_works(dray_arrow_import(&passed.schema, &passed.array,
				       DRAY_ARROW_COPY, -1, &back, NULL));
	assert_int_equal(dray_block_count(&array->block), 1);
	assert_memory_equal(back->data, array->data, 70);
	assert_int_equal(back->flags & DRAY_WRITE, DRAY_WRITE);
	dray_array_unref(back);
	drop(&passed);
	dray_array_unref(array);
}

static void *release_elsewhere(void *argument)
{
	struct ArrowArray *array = argument;

	array->release(array);
	return NULL;
}

FACT(any_thread_may_release)
{
	struct dray_array *array = make("i8", 1, DIMS(100));
	struct passed passed;
	pthread_t thread;

	pass(array, NULL, 0, &passed);
	assert_int_equal(dray_block_count(&array->block), 2);
	assert_int_equal(pthread_create(&thread, NULL, release_elsewhere,
					&passed.array),
			 0);
	pthread_join(thread, NULL);
	assert_int_equal(dray_block_count(&array->block), 1);
	drop(&passed);
	dray_array_unref(array);
}

FACT(a_device_array_is_the_cpus_and_has_no_event)
{
	struct dray_array *array = make("i4", 1, DIMS(3)), *back = NULL;
	struct ArrowDeviceArray device;
	struct ArrowSchema schema;

	memset(&device, 0xff, sizeof(device));
	assert_works(schema_of(array, &schema));
	assert_works(dray_arrow_export_device(array, NULL, 0, -1, &device));
	assert_int_equal(device.device_type, ARROW_DEVICE_CPU);
	assert_int_equal(device.device_id, -1);
	assert_null(device.sync_event);
	for (int i = 0; i < 3; i++)
		assert_int_equal(device.reserved[i], 0);
	assert_works(dray_arrow_check_device(&device));
	assert_works(
		dray_arrow_import(&schema, &device.array, 0, -1, &back, NULL));
	assert_ptr_equal(back->data, array->data);
	dray_array_unref(back);
	schema.release(&schema);
	dray_array_unref(array);
}

FACT(devices_and_events_of_others_are_refused)
{
	struct ArrowDeviceArray device = { .device_type = ARROW_DEVICE_CPU };

	device.sync_event = &device;
	assert_fails(dray_arrow_check_device(&device), -EOPNOTSUPP,
		     "sync_event");
	device.sync_event = NULL;
	device.device_type = ARROW_DEVICE_EXT_DEV;
	assert_fails(dray_arrow_check_device(&device), -EOPNOTSUPP, "type 12");
	device.device_type = ARROW_DEVICE_CUDA_HOST;
	assert_works(dray_arrow_check_device(&device));
}

/* Makes an array in memory that only a device reaches: an access ends the test. */
static struct dray_array *make_unreached(dray_dtype dtype, int64_t count)
{
	struct dray_node *node = open_node("host");
	struct dray_array *array = NULL;
	struct dray_buffer *buffer;

	assert_works(dray_buffer_alloc(node, 4096, NULL, &buffer));
	dray_node_unref(node);
	assert_int_equal(mprotect(dray_buffer_data(buffer), 4096, PROT_NONE),
			 0);
	buffer->mode = DRAY_MODE_DEVICE; /* as a carve-out may be */
	assert_works(dray_array_from_buffer(buffer, 0, dtype, 1, DIMS(count),
					    NULL, &array));
	dray_buffer_unref(buffer);
	return array;
}

FACT(memory_that_the_cpu_does_not_reach_is_on_a_device_of_its_own)
{
	static const dray_dtype dtypes[] = {
		DRAY_FLOAT32, DRAY_DATETIME64(DRAY_UNIT_SECOND, 1)
	};
	struct ArrowArray plain = { 0 };

	for (size_t i = 0; i < 2; i++) {
		struct dray_array *array = make_unreached(dtypes[i], 9);
		struct ArrowDeviceArray out;

		assert_fails(dray_arrow_export(array, NULL, 0, -1, &plain),
			     -EOPNOTSUPP, "the CPU does not reach");
		assert_works(
			dray_arrow_export_device(array, NULL, 0, -1, &out));
		assert_int_equal(out.device_type, ARROW_DEVICE_EXT_DEV);
		assert_int_equal(out.device_id, -1);
		assert_ptr_equal(out.array.buffers[1], array->data);
		assert_fails(dray_arrow_check_device(&out), -EOPNOTSUPP,
			     "type 12");
		out.array.release(&out.array);
		dray_array_unref(array);
	}
}

FACT(memory_that_the_cpu_does_not_reach_takes_no_copy_and_no_mask)
{
	struct dray_array *bools = make_unreached(DRAY_BOOL, 9);
	struct dray_array *array = make("u1", 1, DIMS(9));
	struct dray_array *mask = make("?", 1, DIMS(9));
	struct ArrowDeviceArray out;

	assert_fails(dray_arrow_export_device(bools, NULL, DRAY_ARROW_COPY, -1,
					      &out),
		     -EAGAIN, "one bit each");
	assert_fails(dray_arrow_export_device(bools, whole_view(mask), 0, -1,
					      &out),
		     -EOPNOTSUPP, "takes no mask");
	assert_fails(dray_arrow_export_device(array, whole_view(bools), 0, -1,
					      &out),
		     -EOPNOTSUPP, "does not reach the mask");
	dray_array_unref(bools);
	dray_array_unref(array);
	dray_array_unref(mask);
}

FACT(an_array_that_may_not_be_read_stays_at_home)
{
	struct dray_array *array = make("i4", 1, DIMS(3));
	struct ArrowArray out = { 0 };

	array->flags &= ~(uint64_t)DRAY_READ;
	assert_fails(dray_arrow_export(array, NULL, 0, -1, &out), -EPERM,
		     "may not be read");
	dray_array_unref(array);
}
