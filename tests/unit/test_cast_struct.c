// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * cast_struct: structures and arrays in elements.  test_cast_numpy.py compares
 * pairs of them with NumPy; here are references, failures and sanitizers.
 */
#include <dray/array.h>

#include "fault.h"

WRAPPED(void *, malloc, (size_t size))
{
	return fails_now() ? NULL : __real_malloc(size);
}

static dray_dtype type(const char *text)
{
	dray_dtype dtype = 0;

	assert_works(dray_dtype_parse(text, &dtype));
	return dtype;
}

FACT(structures_have_a_packed_structure_in_common)
{
	dray_dtype a = type("{'names': ['x', 'y'], 'formats': ['<i4', '>f4'], "
			    "'offsets': [8, 0], 'itemsize': 20}");
	dray_dtype b = type("[('x', '<u4'), ('y', '<i8')]");
	dray_dtype wanted = type("[('x', '=i8'), ('y', '=f8')]"), both = 0;

	assert_works(dray_promote(a, b, &both));
	assert_true(dray_dtype_equal(both, wanted));
	dray_dtype_unref(both);
	assert_works(dray_promote(wanted, wanted, &both));
	assert_true(dray_dtype_equal(both, wanted));
	dray_dtype_unref(both);
	dray_dtype_unref(wanted);
	dray_dtype_unref(b);
	dray_dtype_unref(a);
}

FACT(structures_without_a_common_type_are_refused)
{
	static const struct {
		const char *a, *b, *said;
	} rows[] = {
		{ "i4,f8", "i4", "<i4 have no type in common" },
		{ "i4,f8", "i4,f8,i2", "of 2 and of 3 fields" },
		{ "[('x', 'i4')]", "[('y', 'i4')]", "fields 'x' and 'y'" },
		{ "[('x', 'i4')]", "[(('t', 'x'), 'i4')]", "at place 0" },
		{ "[('x', 'i4'), ('y', 'i4')]", "[('x', 'i8'), ('y', 'M8[s]')]",
		  "<i4 and <M8[s]" },
		{ "[('x', 'i4', (2,))]", "[('x', 'i4', (3,))]",
		  "have no type in common" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		dray_dtype a = type(rows[i].a), b = type(rows[i].b), both = 0;

		assert_fails(dray_promote(a, b, &both), -EINVAL, rows[i].said);
		assert_int_equal(both, 0);
		dray_dtype_unref(a);
		dray_dtype_unref(b);
	}
}

FACT(a_common_structure_without_memory_is_refused)
{
	dray_dtype a = type("[('x', 'i4'), ('y', 'i4', (2,)), ('z', 'S3')]");
	dray_dtype b = type("[('x', 'f4'), ('y', 'i2', (2,)), ('z', 'S5')]");
	dray_dtype both = 0;
	int n, ret;

	for (n = 0;; n++) {
		arm(n, ENOMEM);
		ret = dray_promote(a, b, &both);
		disarm();
		if (!faulted)
			break;
		assert_int_equal(ret, -ENOMEM);
		assert_int_equal(both, 0);
	}
	assert_works(ret);
	assert_true(n >= 3);
	dray_dtype_unref(both);
	dray_dtype_unref(b);
	dray_dtype_unref(a);
}

struct one {
	int16_t x[2];
	_Alignas(8) double y;
};

struct other {
	_Alignas(8) int64_t y;
	float x[3];
};

FACT(fields_meet_by_their_place)
{
	const struct one from[2] = { { { 1, 2 }, 3.5 }, { { 4, 5 }, 6.5 } };
	struct other to[2] = { { 0, { 7, 7, 7 } }, { 0, { 7, 7, 7 } } };
	dray_dtype one = type("{'names': ['x', 'y'], 'formats': ['(2,)i2', "
			      "'f8'], 'offsets': [0, 8]}");
	dray_dtype other = type("{'names': ['x', 'y'], 'formats': ['(3,)f4', "
				"'i8'], 'offsets': [8, 0], 'itemsize': 24}");
	struct dray_view dst, src;

	assert_works(dray_view_init(&dst, to, other, 1, DIMS(2), NULL));
	assert_works(dray_view_init(&src, (void *)(uintptr_t)from, one, 1,
				    DIMS(2), NULL));
	assert_fails(dray_view_convert(&dst, &src, DRAY_CASTING_SAME_KIND),
		     -EINVAL, "according to the rule 'same_kind'");
	assert_works(dray_view_convert(&dst, &src, DRAY_CASTING_UNSAFE));
	assert_int_equal(to[1].y, 6);
	assert_memory_equal(to[1].x, ((float[]){ 4, 5, 0 }), 12);
	assert_works(dray_view_fill(&dst, DRAY_BYTES(2), "42"));
	assert_int_equal(to[0].y, 42);
	assert_memory_equal(to[0].x, ((float[]){ 42, 42, 42 }), 12);
	assert_fails(dray_view_fill(&dst, DRAY_BYTES(2), "4x"), -EINVAL,
		     "'4x'");
	dray_dtype_unref(other);
	dray_dtype_unref(one);
}

FACT(what_lies_between_fields_is_not_written)
{
	dray_dtype gaps = type("{'names': ['x', 'y'], 'formats': ['u1', 'u1'], "
			       "'offsets': [2, 0], 'itemsize': 4}");
	dray_dtype other = type("[('x', 'u1'), ('y', 'u1')]");
	unsigned char to[8], from[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	const unsigned char all[] = { 1, 9, 3, 9, 5, 9, 7, 9 };
	const unsigned char first[] = { 1, 9, 3, 9, 1, 9, 3, 9 };
	const unsigned char placed[] = { 2, 9, 1, 9, 4, 9, 3, 9 };
	const int64_t two = 2;
	struct dray_view dst, src;

	assert_works(dray_view_init(&dst, to, gaps, 1, &two, NULL));
	assert_works(dray_view_init(&src, from, gaps, 1, &two, NULL));
	memset(to, 9, sizeof(to));
	assert_works(dray_view_convert(&dst, &src, DRAY_CASTING_NO));
	assert_memory_equal(to, all, sizeof(to));
	assert_works(dray_view_init(&src, from, gaps, 0, NULL, NULL));
	assert_works(dray_view_convert(&dst, &src, DRAY_CASTING_NO));
	assert_memory_equal(to, first, sizeof(to));
	assert_works(dray_view_init(&src, from, other, 1, &two, NULL));
	assert_works(dray_view_convert(&dst, &src, DRAY_CASTING_SAFE));
	assert_memory_equal(to, placed, sizeof(to));
	dray_dtype_unref(other);
	dray_dtype_unref(gaps);
}

FACT(structures_that_do_not_convert_are_refused)
{
	static const struct {
		const char *to, *from;
	} rows[] = {
		{ "i4", "i4,f8" },	 { "V12", "i4,f8" },
		{ "i4,f8,i2", "i4,f8" }, { "i4,i4", "i4,V4" },
		{ "(2,)i4", "i4,f8" },	 { "(2,)i4", "V4" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		dray_dtype to = type(rows[i].to), from = type(rows[i].from);
		struct dray_cast cast;

		assert_fails(dray_cast_find(to, from, &cast), -EOPNOTSUPP,
			     "do not convert");
		dray_dtype_unref(to);
		dray_dtype_unref(from);
	}
}

FACT(items_of_an_element_are_broadcast)
{
	static const struct {
		const char *to, *from;
		int16_t given[6];
		int32_t items[6];
	} rows[] = {
		{ "(2,3)i4", "(3,)i2", { 1, 2, 3 }, { 1, 2, 3, 1, 2, 3 } },
		{ "(2,3)i4", "(2,1)i2", { 1, 2 }, { 1, 1, 1, 2, 2, 2 } },
		{ "(2,3)i4", "(2,2)i2", { 1, 2, 3, 4 }, { 1, 2, 0, 3, 4, 0 } },
		{ "(6,)i4", "i2", { 9 }, { 9, 9, 9, 9, 9, 9 } },
		{ "(6,)i4", "(2,3)i2", { 1, 2, 3, 4, 5, 6 }, { 1, 2, 3 } },
		{ "i4", "(2,3)i2", { 8, 2, 3, 4, 5, 6 }, { 8 } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		dray_dtype to = type(rows[i].to), from = type(rows[i].from);
		int32_t items[6] = { 0 };
		struct dray_cast cast;

		assert_works(dray_cast_find(to, from, &cast));
		assert_works(
			dray_cast_run(&cast, items, 0, rows[i].given, 0, 1));
		assert_memory_equal(items, rows[i].items, sizeof(items));
		dray_dtype_unref(to);
		dray_dtype_unref(from);
	}
}
