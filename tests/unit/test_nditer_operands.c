// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Iterators over several operands: broadcasts, maps of axes, operands that are
 * allocated, and reductions.  The tables have the expectations of NumPy's
 * test_nditer.py.
 */
#include <dray/array.h>

#include "nditer.h"

#define RO DRAY_OPERAND_READ
#define WO DRAY_OPERAND_WRITE
#define RW (DRAY_OPERAND_READ | DRAY_OPERAND_WRITE)

FACT(operands_are_broadcast_and_mapped)
{
	static const int own[] = { 0, 1 }, first[] = { 0, -1, -1 },
			 middle[] = { -1, 0, -1 }, left[] = { 0, 1, -1, -1 },
			 right[] = { -1, -1, 0, 1 }, row[] = { 0, -1 },
			 column[] = { -1, 1 };
	static const struct {
		struct form of[2];
		int ndim; /* of the map; 0: none */
		const int *map[2];
		int result;
		int64_t shape[4];
	} cases[] = {
		{ { { 1, { 6 }, { 0 }, 0 }, { 0, { 0 }, { 0 }, 2 } },
		  0,
		  { NULL },
		  1,
		  { 6 } },
		{ { { 2, { 2, 1 }, { 0 }, 0 }, { 1, { 3 }, { 0 }, 0 } },
		  0,
		  { NULL },
		  2,
		  { 2, 3 } },
		{ { { 1, { 3 }, { 0 }, 0 }, { 3, { 4, 2, 1 }, { 0 }, 0 } },
		  0,
		  { NULL },
		  3,
		  { 4, 2, 3 } },
		{ { { 3, { 1, 2, 3 }, { 0 }, 0 },
		    { 3, { 4, 1, 1 }, { 0 }, 0 } },
		  0,
		  { NULL },
		  3,
		  { 4, 2, 3 } },
		{ { { 2, { 2, 3 }, { 0 }, 0 }, { 2, { 2, 3 }, { 0 }, 0 } },
		  2,
		  { own, NULL },
		  2,
		  { 2, 3 } },
		{ { { 3, { 2, 3, 5 }, { 0 }, 0 }, { 1, { 2 }, { 0 }, 0 } },
		  3,
		  { NULL, first },
		  3,
		  { 2, 3, 5 } },
		{ { { 3, { 2, 3, 5 }, { 0 }, 0 }, { 1, { 3 }, { 0 }, 0 } },
		  3,
		  { NULL, middle },
		  3,
		  { 2, 3, 5 } },
		{ { { 3, { 2, 3, 4 }, { 0 }, 0 },
		    { 3, { 5, 2, 4 }, { 0 }, 0 } },
		  4,
		  { left, right },
		  4,
		  { 2, 3, 5, 2 } },
		{ { { 2, { 3, 4 }, { 0 }, 0 }, { 2, { 4, 5 }, { 0 }, 0 } },
		  2,
		  { row, column },
		  2,
		  { 3, 5 } },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct dray_view views[2] = { view_of(&cases[i].of[0]),
					      view_of(&cases[i].of[1]) };
		struct dray_nditer *iter = iterate(
			views, 2,
			&(struct dray_nditer_options){
				.flags = DRAY_NDITER_MULTI_INDEX,
				.ndim = (int16_t)cases[i].ndim,
				.operand_axes =
					cases[i].ndim ? cases[i].map : NULL });
		int64_t shape[DRAY_MAX_NDIM];

		assert_int_equal(dray_nditer_ndim(iter), cases[i].result);
		dray_nditer_shape(iter, shape);
		for (int k = 0; k < cases[i].result; k++)
			assert_int_equal(shape[k], cases[i].shape[k]);
		assert_works(dray_nditer_destroy(iter));
	}
}

FACT(allocated_operands_have_the_order_of_iteration)
{
	static const int added[] = { 0, 1, -1 }, swapped[] = { 1, 0 },
			 none[] = { -1, -1 },
			 kept[] = { 0, DRAY_REDUCTION_AXIS(-1) },
			 one[] = { DRAY_REDUCTION_AXIS(0), 1 };
	static const struct {
		struct form form;
		char order;
		int ndim;
		const int *map[2];
		int64_t wanted[3];
		struct form result;
	} cases[] = {
		{ { 2, { 2, 3 }, { 3, 1 }, 0 },
		  'K',
		  0,
		  { NULL },
		  { 0 },
		  { 2, { 2, 3 }, { 3, 1 }, 0 } },
		{ { 2, { 2, 3 }, { 1, 2 }, 0 },
		  'K',
		  0,
		  { NULL },
		  { 0 },
		  { 2, { 2, 3 }, { 1, 2 }, 0 } },
		{ { 2, { 2, 3 }, { 1, 2 }, 0 },
		  'C',
		  0,
		  { NULL },
		  { 0 },
		  { 2, { 2, 3 }, { 3, 1 }, 0 } },
		{ { 2, { 2, 3 }, { -3, -1 }, 5 },
		  'K',
		  0,
		  { NULL },
		  { 0 },
		  { 2, { 2, 3 }, { 3, 1 }, 0 } },
		{ { 2, { 2, 3 }, { 3, 1 }, 0 },
		  'K',
		  3,
		  { added, NULL },
		  { -1, -1, 4 },
		  { 3, { 2, 3, 4 }, { 12, 4, 1 }, 0 } },
		{ { 2, { 3, 2 }, { 1, 3 }, 0 },
		  'K',
		  3,
		  { added, NULL },
		  { -1, -1, 4 },
		  { 3, { 3, 2, 4 }, { 4, 12, 1 }, 0 } },
		{ { 2, { 3, 2 }, { 1, 3 }, 0 },
		  'F',
		  3,
		  { added, NULL },
		  { -1, -1, 4 },
		  { 3, { 3, 2, 4 }, { 1, 3, 6 }, 0 } },
		{ { 2, { 2, 3 }, { 3, 1 }, 0 },
		  'K',
		  2,
		  { NULL, swapped },
		  { -1, -1 },
		  { 2, { 3, 2 }, { 1, 3 }, 0 } },
		{ { 2, { 2, 3 }, { 3, 1 }, 0 },
		  'K',
		  2,
		  { NULL, none },
		  { -1, -1 },
		  { 0, { 0 }, { 0 }, 0 } },
		{ { 2, { 2, 3 }, { 3, 1 }, 0 },
		  'K',
		  2,
		  { NULL, kept },
		  { -1, -1 },
		  { 1, { 2 }, { 1 }, 0 } },
		{ { 2, { 2, 3 }, { 3, 1 }, 0 },
		  'K',
		  2,
		  { NULL, one },
		  { -1, -1 },
		  { 2, { 1, 3 }, { 3, 1 }, 0 } },
		{ { 2, { 0, 3 }, { 0 }, 0 },
		  'K',
		  0,
		  { NULL },
		  { 0 },
		  { 2, { 0, 3 }, { 0, 0 }, 0 } },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct form *wanted = &cases[i].result;
		struct dray_view views[2] = { view_of(&cases[i].form) }, out;
		struct dray_nditer *iter = iterate(
			views, 2,
			&(struct dray_nditer_options){
				.flags = DRAY_NDITER_REDUCE_OK |
					 DRAY_NDITER_ZEROSIZE_OK,
				.order = cases[i].order,
				.ndim = (int16_t)cases[i].ndim,
				.operand_axes =
					cases[i].ndim ? cases[i].map : NULL,
				.shape = cases[i].ndim ? cases[i].wanted : NULL,
				.operand_flags = (const uint32_t[]){
					RO, RW | DRAY_OPERAND_ALLOCATE } });

		assert_works(dray_nditer_operand(iter, 1, &out));
		assert_ptr_equal(out.data, dray_nditer_array(iter, 1)->data);
		assert_true(dray_nditer_array(iter, 1)->flags & DRAY_OWNED);
		assert_null(dray_nditer_array(iter, 0));
		assert_int_equal(out.dtype, DRAY_INT32);
		assert_int_equal(out.ndim, wanted->ndim);
		for (int k = 0; k < out.ndim; k++) {
			assert_int_equal(out.shape[k], wanted->shape[k]);
			assert_int_equal(out.strides[k],
					 4 * wanted->strides[k]);
		}
		assert_works(dray_nditer_destroy(iter));
	}
}

FACT(all_operands_get_the_type_that_theirs_promote_to)
{
	static int16_t shorts[] = { -1, 2, 300 };
	static uint16_t others[] = { 65535, 1, 0 };
	struct dray_view views[2];
	struct dray_nditer *iter;
	char **data;

	assert_works(dray_view_init(&views[0], shorts, DRAY_INT16, 1,
				    (int64_t[]){ 3 }, NULL));
	assert_works(dray_view_init(&views[1], others, DRAY_UINT16, 1,
				    (int64_t[]){ 3 }, NULL));
	iter = iterate(views, 2,
		       &(struct dray_nditer_options){
			       .flags = DRAY_NDITER_BUFFERED |
					DRAY_NDITER_COMMON_DTYPE,
			       .casting = DRAY_CASTING_SAFE });
	data = dray_nditer_data(iter);
	assert_true(dray_nditer_dtype(iter, 0) == DRAY_INT32);
	assert_true(dray_nditer_dtype(iter, 1) == DRAY_INT32);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(*(int32_t *)(void *)data[0], shorts[i]);
		assert_int_equal(*(int32_t *)(void *)data[1], others[i]);
		assert_int_equal(dray_nditer_next(iter), i < 2);
	}
	assert_works(dray_nditer_destroy(iter));
}

FACT(an_allocated_operand_outlives_its_iterator)
{
	struct dray_view views[2] = { view_of(
		&(struct form){ 2, { 3, 4 }, { 1, 3 }, 0 }) };
	struct dray_nditer *iter = iterate(
		views, 2,
		&(struct dray_nditer_options){
			.dtypes = (const dray_dtype[]){ 0, DRAY_FLOAT64 },
			.operand_flags = (const uint32_t[]){
				RO, WO | DRAY_OPERAND_ALLOCATE } });
	char **data = dray_nditer_data(iter);
	struct dray_array *array;

	count_up();
	do {
		double value = int_at(data[0]);

		memcpy(data[1], &value, sizeof(value));
	} while (dray_nditer_next(iter));
	array = dray_array_ref(dray_nditer_array(iter, 1));
	assert_works(dray_nditer_destroy(iter));
	assert_int_equal(dray_block_count(&array->block), 1);
	for (int i = 0; i < 12; i++)
		assert_true(((double *)array->data)[i] == i);
	dray_array_unref(array);
}

FACT(reductions_visit_each_result_first_once)
{
	static const int row[] = { 0, DRAY_REDUCTION_AXIS(-1) },
			 column[] = { DRAY_REDUCTION_AXIS(-1), 0 };
	static const struct {
		const int *map;
		int64_t extent;
		int32_t sums[3];
	} cases[] = {
		{ row, 2, { 3, 12 } },
		{ column, 3, { 3, 5, 7 } },
	};

	count_up();
	for (size_t i = 0; i < 2 * LENGTH(cases); i++) {
		struct dray_view views[2] = { view_of(
			&(struct form){ 2, { 2, 3 }, { 3, 1 }, 0 }) };
		const int *const maps[] = { NULL, cases[i / 2].map };
		struct dray_nditer *iter = iterate(
			views, 2,
			&(struct dray_nditer_options){
				.flags = i & 1 ? DRAY_NDITER_EXTERNAL_LOOP : 0,
				.ndim = 2,
				.operand_axes = maps,
				.operand_flags = (const uint32_t[]){
					RO, RW | DRAY_OPERAND_ALLOCATE } });
		char **data = dray_nditer_data(iter);
		const int64_t *strides = dray_nditer_strides(iter);
		const int64_t *count = dray_nditer_count(iter);
		struct dray_array *out = dray_nditer_array(iter, 1);

		do {
			bool first = dray_nditer_is_first_visit(iter, 1);

			for (int64_t k = 0; k < *count; k++) {
				int32_t *sum =
					(void *)(data[1] + k * strides[1]);

				if (first && (!k || strides[1]))
					*sum = 0;
				*sum += int_at(data[0] + k * strides[0]);
			}
		} while (dray_nditer_next(iter));
		assert_int_equal(dray_array_axes(out)[0].size,
				 cases[i / 2].extent);
		for (int64_t k = 0; k < cases[i / 2].extent; k++)
			assert_int_equal(((int32_t *)out->data)[k],
					 cases[i / 2].sums[k]);
		assert_works(dray_nditer_destroy(iter));
	}
}
