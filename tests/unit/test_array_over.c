// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * array_over: arrays by their memory: that of the current handler, or of a
 * block that exists; slices; the flags that say how elements lie.
 */
#include <dray/array.h>

#include "pool.h"

POOL_FACT(a_new_array_keeps_the_handler_of_its_thread)
{
	const struct dray_handler *handler = dray_handler_for(*state);
	struct dray_location where;
	struct dray_array *array;

	assert_ptr_equal(dray_set_handler(handler), dray_handler_default());
	assert_works(dray_array_zeros(f4, 2, DIMS(3, 5), &array));
	dray_set_handler(NULL);
	assert_ptr_equal(dray_array_handler(array), handler);
	assert_int_equal(dray_array_handler(array)->version, 1);
	assert_works(dray_locate(array->data, &where));
	assert_true(all_bytes_are(array->data, 0, 60));
	assert_int_equal(array->flags, DRAY_READ | DRAY_WRITE | DRAY_ALIGNED |
					       DRAY_C_CONTIGUOUS | DRAY_OWNED);
	dray_array_unref(array);
	assert_works(dray_array_empty(f4, 1, DIMS(0), &array));
	assert_ptr_equal(dray_array_handler(array), dray_handler_default());
	dray_array_unref(array);
	assert_int_equal(stats_of(*state).blocks, 0);
}

POOL_FACT(a_slice_of_a_slice_keeps_the_memory_and_not_the_slice)
{
	struct dray_array *array, *slice, *inner;
	struct dray_view part;

	assert_works(dray_array_create(*state, u1, 2, DIMS(4, 6), &array));
	((char *)array->data)[2 * 6 + 4] = 9;
	assert_works(dray_view_index(
		whole_view(array),
		((struct dray_index[]){ DRAY_STEP(-1), DRAY_STEP(2) }), 2,
		&part));
	assert_works(dray_array_over(&part, &array->block, &slice));
	assert_ptr_equal(slice->reference, array->reference);
	assert_int_equal(dray_array_axes(slice)[0].stride, -6);
	assert_int_equal(dray_array_axes(slice)[1].size, 3);
	dray_array_unref(array);
	assert_works(dray_view_index(
		whole_view(slice),
		((struct dray_index[]){ DRAY_AT(1), DRAY_AT(2) }), 2, &part));
	assert_works(dray_array_over(&part, &slice->block, &inner));
	dray_array_unref(slice);
	assert_int_equal(*(char *)inner->data, 9);
	assert_int_equal(inner->ndim, 0);
	assert_false(inner->flags & DRAY_OWNED);
	assert_int_equal(stats_of(*state).blocks, 1);
	dray_array_unref(inner);
	assert_int_equal(stats_of(*state).blocks, 0);
}

static int ends;

static void end(void *owner)
{
	ends += *(int *)owner;
}

FACT(an_array_over_a_pointer_ends_with_its_owner)
{
	static uint16_t data[12];
	static int owner = 1;
	struct dray_array *array = NULL;
	struct dray_block *block;
	struct dray_view view;

	assert_works(dray_block_create_external(data, sizeof(data), DRAY_READ,
						end, &owner, &block));
	assert_works(dray_view_init(&view, data, u2, 2, DIMS(3, 4), NULL));
	assert_fails(dray_array_over(&view, block, &array), -EPERM,
		     "may not be written");
	view.flags = DRAY_READ | DRAY_IMMUTABLE;
	view.shape[0] = 4;
	assert_fails(dray_array_over(&view, block, &array), -EINVAL,
		     "do not lie in block");
	view.shape[0] = 3;
	view.data = (char *)data + 2;
	assert_fails(dray_array_over(&view, block, &array), -EINVAL,
		     "do not lie in block");
	assert_null(array);
	view.data = data;
	assert_works(dray_array_over(&view, block, &array));
	dray_block_unref(block);
	assert_null(dray_array_handler(array));
	assert_true(array->flags & DRAY_IMMUTABLE);
	assert_int_equal(ends, 0);
	dray_array_unref(array);
	assert_int_equal(ends, 1);
}

FACT(a_slice_may_be_written_only_if_its_array_may)
{
	static const struct {
		uint32_t flags;
		const char *part;
	} cases[] = {
		{ DRAY_READ, "is read-only" },
		{ DRAY_READ | DRAY_IMMUTABLE, "is immutable" },
	};
	struct dray_array *array, *slice, *inner = NULL;
	struct dray_view view;

	assert_works(dray_array_zeros(u2, 1, DIMS(3), &array));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		dray_array_view(array, &view);
		view.flags = cases[i].flags;
		assert_works(dray_array_over(&view, &array->block, &slice));
		assert_fails(dray_array_over(whole_view(array), &slice->block,
					     &inner),
			     -EPERM, cases[i].part);
		assert_works(dray_array_over(&view, &slice->block, &inner));
		dray_array_unref(inner);
		inner = NULL;
		dray_array_unref(slice);
	}
	dray_array_unref(array);
}

/* A view at an address that 8 divides, and the flags besides permissions. */
FACT(flags_tell_how_elements_lie)
{
	static const struct {
		dray_dtype dtype;
		int offset, ndim;
		int64_t shape[3], strides[3];
		uint32_t flags;
	} cases[] = {
#define C DRAY_C_CONTIGUOUS
#define F DRAY_F_CONTIGUOUS
#define A DRAY_ALIGNED
		{ DRAY_INT32, 0, 0, { 0 }, { 0 }, A | C | F },
		{ DRAY_INT32, 2, 0, { 0 }, { 0 }, C | F },
		{ DRAY_INT32, 0, 1, { 5 }, { 4 }, A | C | F },
		{ DRAY_INT32, 0, 1, { 5 }, { 8 }, A },
		{ DRAY_INT32, 0, 1, { 5 }, { 6 }, 0 },
		{ DRAY_INT32, 0, 1, { 1 }, { 6 }, A | C | F },
		{ DRAY_INT32, 3, 1, { 0 }, { 6 }, A | C | F },
		{ DRAY_INT32, 0, 2, { 3, 4 }, { 16, 4 }, A | C },
		{ DRAY_INT32, 0, 2, { 3, 4 }, { 4, 12 }, A | F },
		{ DRAY_INT32, 0, 2, { 1, 4 }, { 77, 4 }, A | C | F },
		{ DRAY_INT32, 0, 2, { 3, 4 }, { 0, 4 }, A },
		{ DRAY_INT32, 8, 1, { 3 }, { -4 }, A },
		{ DRAY_INT32, 0, 3, { 2, 1, 3 }, { 12, 5, 4 }, A | C },
		{ DRAY_COMPLEX64, 4, 1, { 2 }, { 8 }, A | C | F },
		{ DRAY_VOID(3), 1, 1, { 2 }, { 3 }, A | C | F },
		{ DRAY_UNICODE(2), 4, 1, { 2 }, { 8 }, A | C | F },
		{ DRAY_UNICODE(2), 2, 1, { 2 }, { 8 }, C | F },
#undef C
#undef F
#undef A
	};
	static _Alignas(8) char data[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_view view;

		assert_works(dray_view_init(&view, data + cases[i].offset,
					    cases[i].dtype, cases[i].ndim,
					    cases[i].shape, cases[i].strides));
		if (view.flags != (DRAY_READ | DRAY_WRITE | cases[i].flags))
			fail_msg("case %zu has flags 0x%x", i, view.flags);
		assert_true(dray_view_is_contiguous(&view) ==
			    !!(cases[i].flags & DRAY_C_CONTIGUOUS));
	}
}
