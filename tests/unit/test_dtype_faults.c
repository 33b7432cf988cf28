// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dtype: each allocation of the texts and the makers of types fails in turn; the
 * call says -ENOMEM, and nothing is left over (the sanitizer's build sees that).
 */
#include "fault.h"
WRAPPED(void *, malloc, (size_t size))
{
	return fails_now() ? NULL : __real_malloc(size);
}
WRAPPED(void *, realloc, (void *memory, size_t size))
{
	return fails_now() ? NULL : __real_realloc(memory, size);
}
WRAPPED(char *, strdup, (const char *text))
{
	return fails_now() ? NULL : __real_strdup(text);
}

static const char *text;

static int parse(dray_dtype *out)
{
	return dray_dtype_parse(text, out);
}

static int parse_format(dray_dtype *out)
{
	return dray_dtype_from_pep3118(text, out);
}

static int swap(dray_dtype *out)
{
	int armed = calls_to_go, ret;
	dray_dtype dtype;

	disarm();
	assert_works(dray_dtype_parse(text, &dtype));
	calls_to_go = armed;
	ret = dray_dtype_with_order(dtype, 's', out);
	disarm();
	dray_dtype_unref(dtype);
	return ret;
}

static int make_user(dray_dtype *out)
{
	static const struct dray_dtype_functions none = {
		.size = sizeof(none),
	};

	return dray_dtype_create_user(text, 'p', 1, 1, &none, NULL, out);
}

FACT(each_failing_allocation_is_told)
{
	static const struct {
		int (*make)(dray_dtype *out);
		const char *text;
		int allocations;
	} cases[] = {
		{ parse, "(2,3)f4", 1 },
		{ parse, "i4,(2,3)f8,S3", 3 },
		{ parse, "[('a', [('b', 'i4', (2,)), ('c', '2f4,i1')])]", 8 },
		{ parse, "{'names':['a','b'],'formats':['i4','(2,)f4']}", 4 },
		{ parse,
		  "[('a','b'),('c','d'),('e','f'),('g','h'),('i','l')"
		  ",('m','B'),('n','H'),('o','I'),('p','L')]",
		  4 },
		{ parse_format, "T{i:x:T{(2)f:y:}:z:}", 7 },
		{ swap, "[('a', [('b', 'i4', (2,))]), ('c', 'f4')]", 5 },
		{ make_user, "point", 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		dray_dtype dtype = 0;
		int n = 0, ret;

		text = cases[i].text;
		for (;; n++) {
			arm(n, ENOMEM);
			ret = cases[i].make(&dtype);
			disarm();
			if (!ret)
				break;
			assert_int_equal(ret, -ENOMEM);
			assert_non_null(strstr(dray_last_error(), "no memory"));
			assert_true(dtype == 0);
		}
		if (n < cases[i].allocations)
			fail_msg("'%s': %d allocations", text, n);
		dray_dtype_unref(dtype);
	}
}
