// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dtype: types of a user's own. */
#include <dray/array.h>

#include "unit.h"

static int released;

static void release(void *context)
{
	released += *(int *)context;
}

/* Points of two bytes, compared by their second one. */
static int compare(dray_dtype dtype, const void *a, const void *b)
{
	assert_int_equal(*(int *)dray_dtype_context(dtype), 7);
	return ((const char *)a)[1] - ((const char *)b)[1];
}

static const struct dray_dtype_functions functions = {
	.size = sizeof(functions),
	.compare = compare,
	.release = release,
};

static int seven = 7;

static dray_dtype make(void)
{
	dray_dtype dtype = 0;

	assert_works(dray_dtype_create_user("point", 'p', 2, 2, &functions,
					    &seven, &dtype));
	return dtype;
}

FACT(a_user_type_has_its_functions_and_those_of_bytes)
{
	dray_dtype dtype = make(), other = make();
	const struct dray_dtype_functions *own = dray_dtype_functions(dtype);
	char points[] = { 1, 2, 9, 1, 0, 5, 0, 5 };
	char text[16];

	released = 0;
	assert_int_equal(dray_dtype_kind(dtype), 'p');
	assert_int_equal(dray_dtype_itemsize(dtype), 2);
	assert_int_equal(dray_dtype_alignment(dtype), 2);
	assert_string_equal(dray_dtype_name(dtype), "point");
	assert_int_equal(dray_dtype_format(dtype, text, sizeof(text)), 5);
	assert_string_equal(text, "point");
	assert_true(dray_dtype_equal(dtype, dtype));
	assert_false(dray_dtype_equal(dtype, other));
	assert_int_equal(own->argmax(dtype, points, 2, 4), 2);
	assert_int_equal(own->argmax(dtype, "\x9\1\1\2", 2, 2), 1);
	assert_true(own->nonzero(dtype, points + 4));
	own->fill(dtype, points, 2, 4, points + 2);
	assert_memory_equal(points, "\x9\1\x9\1\x9\1\x9\1", 8);
	assert_null(own->cast);
	assert_int_equal(dray_dtype_to_pep3118(dtype, NULL, 0), -EINVAL);
	dray_dtype_unref(other);
	assert_int_equal(released, 7);
	dray_dtype_unref(dtype);
	assert_int_equal(released, 14);
}

FACT(a_structure_compares_by_the_functions_of_its_parts)
{
	dray_dtype dtype, sub, swapped, user = make();
	struct dray_dtype_field field = { "p", NULL, 0, 0 };
	const int64_t two = 2;

	released = 0;
	assert_works(dray_dtype_create_subarray(user, 1, &two, &sub));
	field.dtype = sub;
	assert_works(dray_dtype_create_struct(&field, 1, 0, 0, &dtype));
	dray_dtype_unref(sub);
	dray_dtype_unref(user);
	assert_int_equal(dray_dtype_functions(dtype)->compare(dtype, "\1\2\3\4",
							      "\5\2\1\3"),
			 1);
	assert_true(dray_dtype_flags(dtype) & DRAY_DTYPE_LOCAL);
	assert_works(dray_dtype_with_order(dtype, 's', &swapped));
	assert_true(dray_dtype_equal(dtype, swapped));
	dray_dtype_unref(swapped);
	dray_dtype_unref(dtype);
	assert_int_equal(released, 7);
}

FACT(an_array_of_a_user_type_is_not_exported)
{
	dray_dtype dtype = make();
	struct dray_array *array;
	char record[DRAY_VIEW_RECORD_SIZE];
	size_t size;

	assert_works(dray_array_zeros(dtype, 1, DIMS(3), &array));
	dray_dtype_unref(dtype);
	assert_fails(dray_view_export(whole_view(array), 0, record,
				      sizeof(record), &size),
		     -EINVAL, "user type");
	released = 0;
	dray_array_unref(array);
	assert_int_equal(released, 7);
}

FACT(wrong_user_types_are_refused)
{
	dray_dtype dtype = 'x';

	released = 0;
	assert_fails(dray_dtype_create_user("", 'p', 2, 2, &functions, &seven,
					    &dtype),
		     -EINVAL, "name");
	assert_fails(dray_dtype_create_user("point", 'f', 2, 2, &functions,
					    &seven, &dtype),
		     -EINVAL, "0x66");
	assert_fails(dray_dtype_create_user("point", ' ', 2, 2, &functions,
					    &seven, &dtype),
		     -EINVAL, "0x20");
	assert_fails(dray_dtype_create_user("point", 'p', 2, 3, &functions,
					    &seven, &dtype),
		     -EINVAL, "3 bytes");
	assert_int_equal(released, 0);
	assert_int_equal(dtype, 'x');
}
