// SPDX-License-Identifier: Apache-2.0 OR MIT
/* cast_faults: conversions without the memory that they need. */
#include <dray/array.h>

#include "unit.h"

static bool fails;

WRAPPED(void *, malloc, (size_t size))
{
	return fails ? NULL : __real_malloc(size);
}

static int without_memory(int (*work)(void))
{
	int ret;

	/* The first sentence of a thread allocates its memory. */
	assert_int_equal(dray_promote(0, 0, NULL), -EINVAL);
	fails = true;
	ret = work();
	fails = false;
	return ret;
}

static int64_t memory[8];

static int convert_in_place(void)
{
	struct dray_view to, from;

	assert_works(
		dray_view_init(&to, memory, DRAY_FLOAT64, 1, DIMS(8), NULL));
	assert_works(
		dray_view_init(&from, memory, DRAY_INT32, 1, DIMS(8), NULL));
	return dray_view_convert(&to, &from, DRAY_CASTING_SAFE);
}

static int fill_long_elements(void)
{
	static char texts[2][400];
	struct dray_view view;

	assert_works(dray_view_init(&view, texts, DRAY_BYTES(400), 1, DIMS(2),
				    NULL));
	return dray_view_fill(&view, DRAY_INT64, memory);
}

FACT(a_copy_aside_that_cannot_be_had_leaves_the_elements)
{
	int64_t before[8];

	memory[3] = 5;
	memcpy(before, memory, sizeof(memory));
	assert_fails(without_memory(convert_in_place), -ENOMEM,
		     "no memory to put 32 bytes aside");
	assert_memory_equal(memory, before, sizeof(memory));
	assert_works(convert_in_place());
}

FACT(an_element_that_cannot_be_had_is_an_error)
{
	assert_fails(without_memory(fill_long_elements), -ENOMEM,
		     "an element of 400 bytes");
	assert_works(fill_long_elements());
}
