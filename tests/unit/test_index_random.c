// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * index_random: random indices, of which many are wrong, for the sanitizers.  An
 * index gives the same into a view; if that is set again, nothing changes.
 */
#include <dray/array.h>

#include "node.h"
#include "random_view.h"

#define AXES 4
#define STEPS 6

static unsigned char memory[65536], twin[sizeof(memory)];

/* An array of an index, in memory of its own size, so that a stray read shows. */
struct operand {
	struct dray_view view;
	unsigned char *data;
};

static const dray_dtype types[] = {
	DRAY_INT8,
	DRAY_INT16,
	DRAY_INT32,
	DRAY_INT64,
	DRAY_UINT8,
	DRAY_UINT32,
	DRAY_BOOL,
	DRAY_BOOL,
	DRAY_UINT64,
	DRAY_FLOAT32,
	DRAY_DTYPE('i', '>', 2),
};

static void store(unsigned char *to, dray_dtype dtype, int64_t value)
{
	uint32_t size = dray_dtype_itemsize(dtype);

	for (uint32_t i = 0; i < size; i++) {
		uint32_t at = dray_dtype_order(dtype) == '>' ? size - 1 - i : i;

		to[at] = (unsigned char)(value >> 8 * i);
	}
}

static void make_operand(struct dice *dice, struct operand *operand,
			 int64_t extent)
{
	dray_dtype dtype = types[roll(dice, sizeof(types) / sizeof(types[0]))];
	uint32_t size = dray_dtype_itemsize(dtype);
	int64_t shape[3], elements = 1;
	int ndim = (int)roll(dice, 4);
	bool wild = roll(dice, 20) == 0;

	for (int i = 0; i < ndim; i++) {
		shape[i] = roll(dice, 4)   ? 1 + (int64_t)roll(dice, 4)
			   : roll(dice, 4) ? extent
					   : 0;
		elements *= shape[i];
	}
	operand->data = malloc((size_t)elements * size + 1);
	for (int64_t i = 0; i < elements; i++) {
		int64_t value =
			extent ? (int64_t)roll(dice, (uint64_t)extent) : 0;

		if (dtype == DRAY_BOOL)
			value = (int64_t)roll(dice, 2);
		else if (wild)
			value = (int64_t)roll(dice, UINT64_MAX);
		store(operand->data + i * size, dtype, value);
	}
	assert_works(dray_view_init(&operand->view, operand->data, dtype, ndim,
				    shape, NULL));
}

/* Makes a step for an axis of @extent elements. */
static struct dray_index make_step(struct dice *dice, struct operand *operand,
				   int64_t extent)
{
	switch (roll(dice, 8)) {
	case 0:
		return DRAY_AT((int64_t)roll(dice, (uint64_t)extent + 1) -
			       (int64_t)roll(dice, 2));
	case 1:
		return DRAY_STEP((int64_t)roll(dice, 5) - 2);
	case 2:
		return DRAY_SLICE((int64_t)roll(dice, 3), DRAY_OMIT, 1);
	case 3:
		return DRAY_NEWAXIS;
	case 4:
		return DRAY_ELLIPSIS;
	default:
		make_operand(dice, operand, extent);
		return DRAY_BY(&operand->view);
	}
}

/* Gets, gets into a view, and sets; returns whether the index was right. */
static bool use_index(const struct dray_view *view,
		      const struct dray_index *index, size_t count)
{
	int64_t shape[DRAY_MAX_NDIM];
	struct dray_array *out, *again;
	struct dray_view one, other;
	int ndim, ret;

	ret = dray_index_get(view, index, count, &out);
	if (ret) {
		assert_true(ret == -ERANGE || ret == -EINVAL);
		assert_works(
			dray_view_init(&one, twin, view->dtype, 0, NULL, NULL));
		assert_int_equal(dray_index_set(view, index, count, &one), ret);
		assert_memory_equal(memory, twin, sizeof(memory));
		return false;
	}
	dray_array_view(out, &one);
	assert_works(dray_index_shape(view, index, count, &ndim, shape));
	assert_int_equal(ndim, one.ndim);
	assert_memory_equal(shape, one.shape, (size_t)ndim * sizeof(*shape));
	assert_works(dray_array_zeros(view->dtype, ndim, shape, &again));
	dray_array_view(again, &other);
	assert_works(dray_index_get_into(view, index, count, &other));
	assert_works(dray_index_set(view, index, count, &other));
	assert_memory_equal(memory, twin, sizeof(memory));
	dray_array_unref(out);
	dray_array_unref(again);
	return true;
}

FACT(random_indices_read_and_write_nothing_else)
{
	struct dice dice = { 20261126 };
	int right = 0, wrong = 0, done = 0;

	while (done < rounds(20000)) {
		struct operand operands[STEPS] = { 0 };
		struct dray_index index[STEPS];
		int64_t shape[AXES];
		struct dray_view view;
		int ndim = random_shape(&dice, shape);
		size_t count = roll(&dice, STEPS + 1);

		if (!random_view(&dice, &view, memory, sizeof(memory), ndim,
				 shape, 1 + (uint32_t)roll(&dice, 17)))
			continue;
		for (size_t i = 0; i < sizeof(memory); i += 64)
			memory[i] = (unsigned char)roll(&dice, 256);
		memcpy(twin, memory, sizeof(memory));
		for (size_t i = 0; i < count; i++)
			index[i] = make_step(&dice, &operands[i],
					     (int)i < ndim ? shape[i] : 2);
		if (use_index(&view, index, count))
			right++;
		else
			wrong++;
		for (size_t i = 0; i < count; i++)
			free(operands[i].data);
		done++;
	}
	assert_true(right > done / 20);
	assert_true(wrong > done / 20);
}
