// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * array_made: arrays with given elements, after the model of others, over memory
 * that exists, and copies that are written back.  test_numpy_arrays.py compares
 * random ones with NumPy's.
 */
#include <math.h>

#include <dray/array.h>

#include "pool.h"

FACT(an_array_is_full_of_one_value)
{
	const uint16_t value = 0x1234;
	struct dray_array *array;

	assert_works(dray_array_full(u2, 2, DIMS(3, 5), &value, &array));
	assert_true(array->flags & DRAY_OWNED);
	for (int i = 0; i < 15; i++)
		assert_int_equal(((uint16_t *)array->data)[i], 0x1234);
	dray_array_unref(array);
	assert_works(dray_array_full(u2, 0, NULL, &value, &array));
	assert_int_equal(*(uint16_t *)array->data, 0x1234);
	dray_array_unref(array);
	assert_works(dray_array_full(u2, 2, DIMS(3, 0), &value, &array));
	assert_int_equal(dray_array_axes(array)[0].stride, 0);
	dray_array_unref(array);
	assert_fails(dray_array_full(u2, 1, DIMS(-1), &value, &array), -EINVAL,
		     "-1 elements");
}

FACT(ranges_are_checked)
{
	static const struct {
		dray_dtype dtype;
		int64_t start, stop, step;
		int error;
		const char *part;
	} cases[] = {
		{ 0, 0, 9, 0, -EINVAL, "the step of the range is 0" },
		{ DRAY_INT8, 0, 200, 150, -ERANGE,
		  "150 is out of bounds for integers of 8 bits" },
		{ DRAY_UINT8, -1, 3, 1, -ERANGE, "-1 is out of bounds" },
		{ DRAY_UINT64, -1, 3, 1, -ERANGE, "-1 is out of bounds" },
		{ DRAY_INT8, INT64_MIN, INT64_MAX, 1, -EOVERFLOW, "63 bits" },
		{ DRAY_FLOAT64, 0, INT64_MAX, 1, -EOVERFLOW, "63 bits" },
		{ DRAY_DTYPE('i', '<', 0), 0, 2, 1, -EINVAL,
		  "'i' of 0 bytes does not exist" },
		{ DRAY_DTYPE('u', '<', 1 << 29), 0, 2, 1, -EINVAL,
		  "'u' of 536870912 bytes does not exist" },
		{ DRAY_BOOL, 0, 3, 1, -EINVAL, "at most 2, not 3" },
		{ DRAY_VOID(4), 0, 2, 1, -EINVAL,
		  "not of kind 'V' of 4 bytes" },
		{ DRAY_TIMEDELTA64(DRAY_UNIT_DAY, 1), 0, 2, 0, -EINVAL,
		  "is 0" },
		{ DRAY_TIMEDELTA64(DRAY_UNIT_DAY, 1), INT64_MIN, 2, 1, -EINVAL,
		  "no NaT" },
	};
	struct dray_array *array;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_fails(dray_array_arange(cases[i].dtype, cases[i].start,
					       cases[i].stop, cases[i].step,
					       &array),
			     cases[i].error, cases[i].part);
	assert_fails(dray_array_arange_real(0, 0, 1, 0, &array), -EINVAL,
		     "is 0");
	assert_fails(dray_array_arange_real(0, 0, (double)INFINITY, 1, &array),
		     -EOVERFLOW, "63 bits");
	assert_fails(dray_array_arange_real(0, (double)NAN, 1, 1, &array),
		     -EINVAL, "from nan to 1 by 1");
	assert_fails(dray_array_arange_real(DRAY_DATETIME64(DRAY_UNIT_DAY, 1),
					    0, 1, 0.5, &array),
		     -EINVAL, "times is of integers");
	assert_fails(dray_array_arange_real(DRAY_INT64, 1e19, 2e19, 9e18,
					    &array),
		     -ERANGE, "1e+19 is out of bounds");
}

FACT(ranges_count_and_wrap)
{
	struct dray_array *array;

	assert_works(dray_array_arange(DRAY_UINT8, 250, 260, 2, &array));
	assert_int_equal(dray_array_axes(array)[0].size, 5);
	assert_memory_equal(array->data, ((uint8_t[]){ 250, 252, 254, 0, 2 }),
			    5);
	dray_array_unref(array);
	assert_works(dray_array_arange_real(0, 1, 0, -0.25, &array));
	assert_memory_equal(array->data, ((double[]){ 1, 0.75, 0.5, 0.25 }),
			    32);
	dray_array_unref(array);
	assert_works(dray_array_arange(0, 5, 5, 1, &array));
	assert_int_equal(dray_array_axes(array)[0].size, 0);
	dray_array_unref(array);
}

/* Bytes are those of a machine with the low ones first, as are the types. */
FACT(ranges_are_converted_to_their_type)
{
	static const struct {
		const char *type;
		int64_t start, stop, step, length;
		uint8_t last[16];
	} cases[] = {
		{ "<f2", 0, 3000, 1, 3000, { 0xdc, 0x69 } }, /* 3000 */
		{ ">f2", 1, 3, 1, 2, { 0x40, 0x00 } },
		{ "<c8", -1, 1, 1, 2, { 0 } },
		{ ">c8", 0, 300, 1, 300, { 0x43, 0x95, 0x80 } },
		{ "<c16", 1, 3, 1, 2, { [7] = 0x40 } },
		{ "|b1", 0, 2, 1, 2, { 1 } },
		{ "|b1", 5, 0, -5, 1, { 1 } },
		{ "<M8[D]", 10, 2, -3, 3, { 4 } },
		{ ">M8[25s]", 0, 513, 1, 513, { [6] = 2 } },
		/* A distance that a double does not hold. */
		{ "<m8", -INT64_MAX, INT64_MAX, INT64_MAX, 2, { 0 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_array *array;
		dray_dtype dtype;
		uint32_t size;

		assert_works(dray_dtype_parse(cases[i].type, &dtype));
		assert_works(dray_array_arange(dtype, cases[i].start,
					       cases[i].stop, cases[i].step,
					       &array));
		size = dray_dtype_itemsize(dtype);
		assert_true(array->dtype == dtype);
		assert_int_equal(dray_array_axes(array)[0].size,
				 cases[i].length);
		assert_memory_equal((char *)array->data +
					    (cases[i].length - 1) * size,
				    cases[i].last, size);
		dray_array_unref(array);
	}
}

FACT(an_array_like_another_keeps_the_order_of_its_axes)
{
	static float memory[240];
	struct dray_array *array;
	struct dray_view view;

	assert_works(dray_view_init(&view, memory, f4, 3, DIMS(2, 3, 4),
				    DIMS(8, -320, 80)));
	view.data = memory + 200;
	assert_works(dray_array_like(&view, 0, DRAY_ORDER_K, &array));
	assert_int_equal(dray_array_axes(array)[0].stride, 4);
	assert_int_equal(dray_array_axes(array)[1].stride, 32);
	assert_int_equal(dray_array_axes(array)[2].stride, 8);
	dray_array_unref(array);
	assert_works(dray_array_like(&view, u2, DRAY_ORDER_F, &array));
	assert_int_equal(dray_array_axes(array)[2].stride, 12);
	assert_true(array->dtype == u2);
	dray_array_unref(array);
	assert_fails(dray_array_like(&view, 0, 3, &array), -EINVAL,
		     "3 is not an order");
	view.flags = DRAY_WRITE;
	assert_fails(dray_array_copy(&view, DRAY_ORDER_K, &array), -EPERM,
		     "may not be read");
}

static int ends;

static void end(void *owner)
{
	ends += *(int *)owner;
}

FACT(an_array_from_a_pointer_releases_it)
{
	static uint16_t data[12];
	static int owner = 1;
	struct dray_array *array;
	struct dray_view view;

	assert_works(
		dray_view_init(&view, data + 11, u2, 1, DIMS(12), DIMS(-2)));
	assert_works(dray_array_from_pointer(&view, end, &owner, &array));
	assert_false(array->flags & DRAY_OWNED);
	assert_true(array->flags & DRAY_WRITE);
	assert_ptr_equal(dray_block_data(array->reference), data);
	dray_array_unref(array);
	assert_int_equal(ends, 1);
	view.shape[0] = -1;
	assert_fails(dray_array_from_pointer(&view, end, &owner, &array),
		     -EINVAL, "-1 elements");
	view.shape[0] = 0;
	view.data = NULL;
	assert_works(dray_array_from_pointer(&view, NULL, NULL, &array));
	dray_array_unref(array);
	assert_int_equal(ends, 1);
}

POOL_FACT(an_array_from_a_buffer_lies_in_it)
{
	struct dray_buffer *buffer;
	struct dray_array *array;

	assert_works(
		dray_buffer_alloc(dray_pool_node(*state), 4096, NULL, &buffer));
	assert_works(dray_array_from_buffer(buffer, 96, f4, 1, DIMS(1000), NULL,
					    &array));
	assert_ptr_equal(array->data, (char *)dray_buffer_data(buffer) + 96);
	assert_fails(dray_array_from_buffer(buffer, 97, f4, 1, DIMS(1000), NULL,
					    &array),
		     -EINVAL, "4000 bytes at");
	assert_fails(dray_array_from_buffer(buffer, 4097, f4, 1, DIMS(0), NULL,
					    &array),
		     -EINVAL, "offset 4097 in a buffer of 4096 bytes");
	dray_buffer_unref(buffer);
	memset(array->data, 1, 4000);
	dray_array_unref(array);
}

/* An array of 2 x 3 in F order, and a copy of it in C order. */
static void make_pair(struct dray_array **target, struct dray_array **copy)
{
	struct dray_array *range;
	struct dray_view view;

	assert_works(dray_array_arange(u2, 0, 6, 1, &range));
	assert_works(dray_view_reshape(dray_array_view(range, &view), 2,
				       DIMS(2, 3), DRAY_ORDER_F, &view));
	assert_works(dray_array_over(&view, &range->block, target));
	dray_array_unref(range);
	assert_works(dray_array_copy(&view, DRAY_ORDER_C, copy));
	assert_memory_equal((*copy)->data, ((uint16_t[]){ 0, 2, 4, 1, 3, 5 }),
			    12);
	assert_works(dray_array_set_write_back(*copy, *target));
	assert_true((*copy)->flags & DRAY_WRITE_BACK);
	assert_false((*target)->flags & DRAY_WRITE);
	((uint16_t *)(*copy)->data)[1] = 77;
}

FACT(a_copy_is_written_back_once)
{
	static const uint16_t before[] = { 0, 1, 2, 3, 4, 5 };
	static const uint16_t after[] = { 0, 1, 77, 3, 4, 5 };
	struct dray_array *target, *copy;

	make_pair(&target, &copy);
	assert_works(dray_array_write_back(copy));
	assert_memory_equal(target->data, after, sizeof(after));
	assert_true(target->flags & DRAY_WRITE);
	assert_false(copy->flags & DRAY_WRITE_BACK);
	((uint16_t *)target->data)[2] = 2;
	assert_works(dray_array_write_back(copy));
	dray_array_unref(copy);
	assert_memory_equal(target->data, before, sizeof(before));
	dray_array_unref(target);

	make_pair(&target, &copy);
	dray_array_discard(copy);
	assert_true(target->flags & DRAY_WRITE);
	dray_array_unref(copy);
	assert_memory_equal(target->data, before, sizeof(before));
	dray_array_unref(target);

	make_pair(&target, &copy);
	dray_array_unref(copy);
	assert_memory_equal(target->data, after, sizeof(after));
	assert_int_equal(dray_block_count(&target->block), 1);
	dray_array_unref(target);
}

FACT(what_cannot_be_written_back_is_refused)
{
	struct dray_array *target, *copy, *other;

	make_pair(&target, &copy);
	assert_fails(dray_array_set_write_back(copy, target), -EBUSY,
		     "already to be written back");
	assert_works(dray_array_zeros(u2, 2, DIMS(2, 3), &other));
	assert_works(dray_array_set_write_back(other, copy));
	assert_fails(dray_array_set_write_back(target, other), -EINVAL,
		     "a circle never ends");
	dray_array_discard(other);
	assert_fails(dray_array_set_write_back(other, other), -EINVAL,
		     "not a copy of itself");
	assert_fails(dray_array_set_write_back(other, target), -EPERM,
		     "the array to be written back to is read-only");
	dray_array_unref(copy);
	dray_array_unref(target);
	assert_works(dray_array_zeros(u2, 2, DIMS(3, 3), &target));
	assert_fails(dray_array_set_write_back(other, target), -EINVAL,
		     "axis 0 has 3 elements in the destination and 2");
	dray_array_unref(target);
	dray_array_unref(other);
	assert_works(dray_array_zeros(u2, 2, DIMS(2, 3), &target));
	assert_works(dray_array_zeros(DRAY_VOID(2), 2, DIMS(2, 3), &other));
	assert_fails(dray_array_set_write_back(other, target), -EOPNOTSUPP,
		     "|V2 do not convert to <u2");
	dray_array_unref(target);
	dray_array_unref(other);
}

FACT(a_copy_of_another_type_is_converted_back)
{
	static const char texts[] = "9\0-300x";
	struct dray_array *target, *copy;
	int16_t *numbers;
	double reals[4];

	assert_works(
		dray_array_zeros(DRAY_DTYPE('i', '>', 2), 1, DIMS(4), &target));
	numbers = target->data;
	assert_works(dray_array_zeros(DRAY_FLOAT64, 1, DIMS(4), &copy));
	for (int i = 0; i < 4; i++)
		reals[i] = 1.75 * i;
	memcpy(copy->data, reals, sizeof(reals));
	assert_works(dray_array_set_write_back(copy, target));
	assert_false(target->flags & DRAY_WRITE);
	assert_int_equal(numbers[3], 0);
	dray_array_unref(copy);
	assert_true(target->flags & DRAY_WRITE);
	assert_memory_equal(numbers, "\0\0\0\1\0\3\0\5", 8);
	/* Text that is not a number stays in the copy, until that ends. */
	assert_works(dray_array_zeros(DRAY_BYTES(2), 1, DIMS(4), &copy));
	memcpy(copy->data, texts, 8);
	assert_works(dray_array_set_write_back(copy, target));
	assert_fails(dray_array_write_back(copy), -EINVAL, "'x'");
	assert_true(copy->flags & DRAY_WRITE_BACK);
	assert_false(target->flags & DRAY_WRITE);
	dray_array_unref(copy);
	assert_true(target->flags & DRAY_WRITE);
	dray_array_unref(target);
}

/* Extents and strides of an array, the first of each axis first. */
static void lies_as(struct dray_array *array, dray_dtype dtype, int ndim,
		    const int64_t *expected)
{
	assert_true(dray_dtype_equal(array->dtype, dtype));
	assert_int_equal(array->ndim, ndim);
	for (int i = 0; i < ndim; i++) {
		assert_int_equal(dray_array_axes(array)[i].size, expected[i]);
		assert_int_equal(dray_array_axes(array)[i].stride,
				 expected[ndim + i]);
	}
	dray_array_unref(array);
}

/* The strides are those of numpy.zeros((3, 4), '(2,5)i4') and others. */
FACT(the_axes_of_a_sub_array_are_axes_of_the_array)
{
	static const int32_t value[2] = { 5, 6 };
	static int32_t memory[40];
	dray_dtype items, pair, of_pairs;
	struct dray_array *array;
	struct dray_view view;

	assert_works(dray_dtype_parse("(2,5)i4", &items));
	assert_works(dray_dtype_parse("(2,)i4", &pair));
	assert_works(dray_dtype_create_subarray(pair, 1, DIMS(3), &of_pairs));
	assert_works(dray_array_zeros(items, 2, DIMS(3, 4), &array));
	lies_as(array, DRAY_INT32, 4, DIMS(3, 4, 2, 5, 160, 40, 20, 4));
	assert_works(dray_array_empty(items, 0, NULL, &array));
	lies_as(array, DRAY_INT32, 2, DIMS(2, 5, 20, 4));
	assert_works(dray_array_empty(of_pairs, 1, DIMS(4), &array));
	lies_as(array, DRAY_INT32, 3, DIMS(4, 3, 2, 24, 8, 4));
	assert_works(dray_array_zeros(items, 2, DIMS(0, 3), &array));
	lies_as(array, DRAY_INT32, 4, DIMS(0, 3, 2, 5, 0, 0, 0, 0));
	assert_works(dray_array_full(pair, 1, DIMS(2), value, &array));
	assert_memory_equal(array->data, ((int32_t[]){ 5, 6, 5, 6 }), 16);
	lies_as(array, DRAY_INT32, 2, DIMS(2, 2, 8, 4));
	assert_works(dray_scalar_create(pair, DRAY_INT32, value, &array));
	assert_memory_equal(array->data, ((int32_t[]){ 5, 5 }), 8);
	assert_true(array->flags & DRAY_C_CONTIGUOUS);
	lies_as(array, DRAY_INT32, 1, DIMS(2, 4));
	assert_works(dray_view_init(&view, memory, pair, 1, DIMS(3), DIMS(12)));
	assert_int_equal(view.ndim, 2);
	assert_int_equal(view.strides[1], 4);
	assert_fails(dray_view_init(&view, memory, items, 63,
				    (int64_t[63]){ 1 }, NULL),
		     -EINVAL, "63 axes and 2 of its elements");
	dray_dtype_unref(of_pairs);
	dray_dtype_unref(pair);
	dray_dtype_unref(items);
}

FACT(arrays_like_others_have_the_axes_of_a_sub_array_too)
{
	static int32_t memory[120];
	static const struct {
		int axes[3]; /* of an array of the shape (2, 3, 4) */
		enum dray_order order;
		int64_t expected[8];
	} rows[] = {
		{ { 0, 1, 2 }, DRAY_ORDER_F, { 2, 3, 4, 5, 4, 8, 24, 96 } },
		{ { 2, 1, 0 }, DRAY_ORDER_K, { 4, 3, 2, 5, 4, 16, 48, 96 } },
		{ { 1, 0, 2 }, DRAY_ORDER_K, { 3, 2, 4, 5, 80, 240, 20, 4 } },
		{ { 1, 0, 2 }, DRAY_ORDER_A, { 3, 2, 4, 5, 160, 80, 20, 4 } },
	};
	struct dray_view view;
	struct dray_array *array;
	dray_dtype items;

	assert_works(dray_dtype_parse("(5,)i4", &items));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_works(dray_view_init(&view, memory, DRAY_INT32, 3,
					    DIMS(2, 3, 4), NULL));
		assert_works(dray_view_transpose(&view, rows[i].axes, &view));
		assert_works(
			dray_array_like(&view, items, rows[i].order, &array));
		lies_as(array, DRAY_INT32, 4, rows[i].expected);
	}
	/* A view that was made by hand. */
	assert_works(dray_view_init(&view, memory, DRAY_INT32, 1, DIMS(3),
				    DIMS(20)));
	view.dtype = items;
	memory[7] = 9;
	assert_works(dray_array_copy(&view, DRAY_ORDER_C, &array));
	assert_int_equal(((int32_t *)array->data)[7], 9);
	lies_as(array, DRAY_INT32, 2, DIMS(3, 5, 20, 4));
	dray_dtype_unref(items);
}
