// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Operands that are copied as a whole, because of their type or because they
 * overlap, and allocations that fail on the way.
 */
#include <dray/array.h>

#include "nditer.h"

#define RO DRAY_OPERAND_READ
#define WO DRAY_OPERAND_WRITE
#define RW (DRAY_OPERAND_READ | DRAY_OPERAND_WRITE)
#define SAME DRAY_OPERAND_ELEMENTWISE

static int to_go = -1; /* allocations until one fails; below 0: none will */

static bool fails_now(void)
{
	return to_go >= 0 && !to_go--;
}

WRAPPED(void *, malloc, (size_t size))
{
	return fails_now() ? NULL : __real_malloc(size);
}

WRAPPED(void *, calloc, (size_t count, size_t size))
{
	return fails_now() ? NULL : __real_calloc(count, size);
}

/* The operands that overlap are copied, as NumPy copies them. */
FACT(overlaps_are_copied_aside)
{
	static const struct {
		struct form of[3];
		uint32_t flags[3];
		int count;
		bool copied[3];
	} cases[] = {
		{ { { 1, { 10 }, { 0 }, 0 } }, { RW }, 1, { false } },
		{ { { 1, { 9 }, { 0 }, 1 }, { 1, { 9 }, { 0 }, 0 } },
		  { RO, RW },
		  2,
		  { false, true } },
		{ { { 1, { 9 }, { 0 }, 0 }, { 1, { 9 }, { 0 }, 0 } },
		  { RO | SAME, RW | SAME },
		  2,
		  { false, false } },
		{ { { 1, { 9 }, { 0 }, 0 }, { 1, { 9 }, { 0 }, 0 } },
		  { RO, RW },
		  2,
		  { false, true } },
		{ { { 1, { 5 }, { 2 }, 0 }, { 1, { 5 }, { 2 }, 1 } },
		  { RO, WO },
		  2,
		  { false, false } },
		{ { { 2, { 4, 4 }, { 4, 1 }, 0 },
		    { 2, { 4, 4 }, { 1, 4 }, 0 },
		    { 2, { 4, 4 }, { 4, 1 }, 0 } },
		  { RO, RO, WO },
		  3,
		  { false, false, true } },
		{ { { 2, { 4, 4 }, { 4, 1 }, 0 },
		    { 2, { 4, 4 }, { 1, 4 }, 0 },
		    { 2, { 4, 4 }, { 4, 1 }, 0 } },
		  { RO, RO, RO },
		  3,
		  { false, false, false } },
		{ { { 1, { 3 }, { 0 }, 0 },
		    { 1, { 3 }, { 0 }, 3 },
		    { 1, { 3 }, { 0 }, 4 } },
		  { RO, WO, WO },
		  3,
		  { false, false, false } },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct dray_view views[3];
		struct dray_nditer *iter;

		for (int o = 0; o < cases[i].count; o++)
			views[o] = view_of(&cases[i].of[o]);
		iter = iterate(views, cases[i].count,
			       &(struct dray_nditer_options){
				       .flags = DRAY_NDITER_COPY_IF_OVERLAP,
				       .operand_flags = cases[i].flags });
		for (int o = 0; o < cases[i].count; o++)
			assert_int_equal(!!dray_nditer_array(iter, o),
					 cases[i].copied[o]);
		assert_works(dray_nditer_destroy(iter));
	}
}

/* Without a copy aside, each element would be that before it. */
FACT(a_shift_in_place_reads_what_was_there)
{
	struct dray_view views[2] = {
		view_of(&(struct form){ 1, { 9 }, { 0 }, 0 }),
		view_of(&(struct form){ 1, { 9 }, { 0 }, 1 })
	};
	struct dray_nditer *iter, *copy;
	char **data;

	count_up();
	iter = iterate(views, 2,
		       &(struct dray_nditer_options){
			       .flags = DRAY_NDITER_COPY_IF_OVERLAP,
			       .operand_flags = (const uint32_t[]){ RO, WO } });
	data = dray_nditer_data(iter);
	do {
		memcpy(data[1], data[0], sizeof(int32_t));
	} while (dray_nditer_next(iter));
	/* A copy of the iterator leaves it to the first one. */
	assert_works(dray_nditer_copy(iter, &copy));
	assert_works(dray_nditer_destroy(copy));
	assert_int_equal(numbers[9], 9);
	assert_works(dray_nditer_destroy(iter));
	for (int i = 1; i < 10; i++)
		assert_int_equal(numbers[i], i - 1);
}

FACT(converted_copies_have_the_order_of_iteration_and_go_back)
{
	struct dray_view view =
		view_of(&(struct form){ 2, { 3, 4 }, { -1, 3 }, 2 });
	struct dray_nditer *iter;
	struct dray_view copied;
	int32_t expected = 0;
	char **data;

	count_up();
	iter = iterate(&view, 1,
		       &(struct dray_nditer_options){
			       .casting = DRAY_CASTING_SAME_KIND,
			       .dtypes = (const dray_dtype[]){ DRAY_INT16 },
			       .operand_flags = (const uint32_t[]){
				       RW | DRAY_OPERAND_COPY_BACK } });
	assert_works(dray_nditer_operand(iter, 0, &copied));
	assert_int_equal(copied.dtype, DRAY_INT16);
	assert_int_equal(copied.strides[0], 2);
	assert_int_equal(copied.strides[1], 6);
	data = dray_nditer_data(iter);
	do {
		int16_t value;

		memcpy(&value, data[0], sizeof(value));
		assert_int_equal(value, expected++);
		value = (int16_t)(value * 2);
		memcpy(data[0], &value, sizeof(value));
	} while (dray_nditer_next(iter));
	assert_int_equal(numbers[5], 5);
	assert_works(dray_nditer_destroy(iter));
	for (int i = 0; i < 12; i++)
		assert_int_equal(numbers[i], 2 * i);
}

FACT(byte_order_and_alignment_ask_for_a_copy)
{
	static char bytes[4 * 8 + 1];
	static const struct {
		int offset;
		dray_dtype dtype;
		uint32_t flags;
		bool copied;
	} cases[] = {
		{ 0, DRAY_INT64, DRAY_OPERAND_ALIGNED, false },
		{ 1, DRAY_INT64, DRAY_OPERAND_ALIGNED, true },
		{ 1, DRAY_INT64, DRAY_OPERAND_NATIVE_ORDER, false },
		{ 0, DRAY_DTYPE('i', '>', 8), DRAY_OPERAND_NATIVE_ORDER,
		  DRAY_NATIVE_ORDER == '<' },
		{ 0, DRAY_DTYPE('i', '<', 8), DRAY_OPERAND_NATIVE_ORDER,
		  DRAY_NATIVE_ORDER == '>' },
	};
	char *aligned = bytes + (-(uintptr_t)bytes & 7);

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct dray_view view;
		struct dray_nditer *iter;

		assert_works(dray_view_init(&view, aligned + cases[i].offset,
					    cases[i].dtype, 1, DIMS(2), NULL));
		iter = iterate(&view, 1,
			       &(struct dray_nditer_options){
				       .casting = DRAY_CASTING_EQUIV,
				       .operand_flags = (const uint32_t[]){
					       RO | DRAY_OPERAND_COPY |
					       cases[i].flags } });
		assert_int_equal(!!dray_nditer_array(iter, 0), cases[i].copied);
		assert_int_equal(dray_dtype_order(dray_nditer_dtype(iter, 0)),
				 cases[i].flags & DRAY_OPERAND_NATIVE_ORDER
					 ? DRAY_NATIVE_ORDER
					 : dray_dtype_order(cases[i].dtype));
		assert_works(dray_nditer_destroy(iter));
	}
}

/* An iterator with each kind of memory that one takes. */
static int make(struct dray_nditer **iter, struct dray_nditer **copy)
{
	struct dray_view views[2] = {
		view_of(&(struct form){ 2, { 3, 4 }, { 1, 3 }, 0 }),
		view_of(&(struct form){ 2, { 3, 4 }, { 4, 1 }, 20 })
	};
	int ret;

	ret = dray_nditer_create(
		(const struct dray_view *[]){ &views[0], &views[1], NULL }, 3,
		&(struct dray_nditer_options){
			.flags = DRAY_NDITER_BUFFERED,
			.casting = DRAY_CASTING_UNSAFE,
			.dtypes = (const dray_dtype[]){ DRAY_FLOAT64,
							DRAY_FLOAT64, 0 },
			.operand_flags =
				(const uint32_t[]){
					RO, RW | DRAY_OPERAND_COPY_BACK,
					WO | DRAY_OPERAND_ALLOCATE } },
		iter);
	if (ret)
		return ret;
	ret = dray_nditer_copy(*iter, copy);
	if (ret) {
		to_go = -1;
		assert_works(dray_nditer_destroy(*iter));
	}
	return ret;
}

FACT(each_allocation_may_fail)
{
	struct dray_nditer *iter = NULL, *copy = NULL;
	int failed = 0, ret;

	count_up();
	do {
		to_go = failed;
		ret = make(&iter, &copy);
		if (ret) {
			assert_int_equal(ret, -ENOMEM);
			assert_true(strlen(dray_last_error()) > 0);
			failed++;
		}
	} while (ret);
	to_go = -1;
	assert_true(failed > 5);
	assert_works(dray_nditer_destroy(copy));
	assert_works(dray_nditer_destroy(iter));
	for (int i = 0; i < 32; i++)
		assert_int_equal(numbers[i], i);
}

FACT(buffers_that_cannot_be_had_are_had_by_a_later_reset)
{
	struct dray_view view =
		view_of(&(struct form){ 2, { 3, 4 }, { 4, 1 }, 0 });
	struct dray_nditer *iter;

	count_up();
	iter = iterate(
		&view, 1,
		&(struct dray_nditer_options){
			.flags = DRAY_NDITER_BUFFERED | DRAY_NDITER_MULTI_INDEX,
			.casting = DRAY_CASTING_SAFE,
			.dtypes = (const dray_dtype[]){ DRAY_FLOAT64 } });
	assert_true(dray_nditer_next(iter));
	to_go = 0;
	assert_fails(dray_nditer_remove_multi_index(iter), -ENOMEM,
		     "no memory for a buffer of 96 bytes for operand 0");
	assert_int_equal(to_go, -1);
	assert_false(dray_nditer_next(iter));
	assert_works(dray_nditer_reset(iter));
	for (int i = 0; i < 12; i++) {
		assert_true(double_at(dray_nditer_data(iter)[0]) == i);
		assert_int_equal(dray_nditer_next(iter), i < 11);
	}
	assert_works(dray_nditer_destroy(iter));
}
