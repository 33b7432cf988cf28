// SPDX-License-Identifier: Apache-2.0 OR MIT
/* ufunc_user: ufuncs and loops of a user, and loops of user types. */
#include <dray/array.h>

#include "ufunc_lists.h"

FACTS_SHARE(set_up_lists, drop_lists)

/* A pair of ints, which converts to and from nothing, and one that does. */
static int cast_from_int(dray_dtype from, dray_dtype to, dray_loop **loop,
			 void **context)
{
	if (from != DRAY_INT32)
		return -EOPNOTSUPP;
	*loop = no_loop;
	return DRAY_CASTING_SAFE;
}

static int call_user(struct dray_ufunc *ufunc, dray_dtype a, dray_dtype b)
{
	int64_t elements[3] = { 0 };
	struct dray_view one = view_of(&elements[0], a, 0, NULL, NULL);
	struct dray_view two = view_of(&elements[1], b, 0, NULL, NULL);
	struct dray_array *made = NULL;
	int ret;

	taken = "none";
	ret = dray_ufunc_call(ufunc, INPUTS(&one, &two), NULL, NULL, &made);
	dray_array_unref(made);
	return ret;
}

FACT(loops_of_user_types_are_found_by_their_casts)
{
	const struct dray_dtype_functions functions = {
		.size = sizeof(functions),
		.cast = cast_from_int,
	};
	const struct dray_dtype_functions none = { .size = sizeof(none) };
	struct dray_ufunc *add = NULL;
	dray_dtype pair = 0, other = 0;
	char way[] = "pair";

	assert_works(dray_dtype_create_user("pair", 'P', 8, 4, &functions, NULL,
					    &pair));
	assert_works(dray_dtype_create_user("other", 'Q', 8, 4, &none, NULL,
					    &other));
	assert_works(dray_ufunc_create("add", 2, 1, DRAY_IDENTITY_ZERO, &add));
	assert_fails(call_user(add, pair, pair), -EOPNOTSUPP,
		     "has no loop for the types (pair, pair)");
	set_loop(add, (dray_dtype[]){ pair, pair, pair }, note, way, 0);
	assert_works(call_user(add, pair, pair));
	assert_ptr_equal(taken, way);
	assert_works(call_user(add, DRAY_INT32, pair));
	assert_ptr_equal(taken, way);
	assert_fails(call_user(add, other, pair), -EOPNOTSUPP,
		     "has no loop for the types (other, pair)");
	assert_fails(call_user(add, DRAY_FLOAT32, pair), -EOPNOTSUPP,
		     "has no loop for the types (<f4, pair)");
	/* The table keeps the type. */
	dray_dtype_unref(pair);
	assert_works(call_user(add, DRAY_INT32, DRAY_INT32));
	assert_ptr_equal(taken, way);
	dray_ufunc_unref(add);
	dray_dtype_unref(other);
}

/* Returns the number in the context. */
static int return_number(char *const *data, const int64_t *strides,
			 int64_t count, void *context)
{
	(void)data;
	(void)strides;
	(void)count;
	return *(const int *)context;
}

FACT(a_loop_that_fails_has_a_sentence_of_its_own)
{
	static const struct {
		int returns;
		int error;
		const char *sentence;
	} rows[] = {
		{ -EINVAL, -EINVAL,
		  "a loop of the user failed: Invalid argument" },
		{ -ENOSPC, -ENOSPC, "No space left on device" },
		{ 5, -EIO, "a loop of the user returned 5, which is neither" },
		{ -427771216, -EIO, "returned -427771216" },
	};
	const dray_dtype types[] = { DRAY_FLOAT64, DRAY_FLOAT64 };
	struct dray_ufunc *ufunc = NULL;
	double number = 1;
	struct dray_view view = view_of(&number, DRAY_FLOAT64, 0, NULL, NULL);
	struct dray_array *made = NULL;

	assert_works(dray_ufunc_create("f", 1, 1, DRAY_IDENTITY_NONE, &ufunc));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int returns = rows[i].returns;

		set_loop(ufunc, types, return_number, &returns, 0);
		assert_null(dray_ufunc_find("an earlier failure"));
		assert_fails(dray_ufunc_call(ufunc, INPUTS(&view), NULL, NULL,
					     &made),
			     rows[i].error, rows[i].sentence);
	}
	assert_null(made);
	dray_ufunc_unref(ufunc);
}

FACT(a_loop_that_is_set_again_replaces_the_old_one)
{
	struct dray_ufunc *add = list_of("add")->ufunc;
	const dray_dtype types[] = { f4, f4, f4 };
	struct dray_ufunc_loop before, loop;
	dray_dtype found[3];
	char ours[] = "ours";
	size_t count, i;

	for (count = 0; !dray_ufunc_get_loop(add, count, found, &loop);)
		count++;
	assert_int_equal(count, 14);
	assert_fails(dray_ufunc_get_loop(add, count, found, &loop), -ERANGE,
		     "add has 14 loops, not a loop 14");
	assert_works(dray_ufunc_get_loop(add, 10, found, &before));
	assert_memory_equal(found, types, sizeof(types));
	set_loop(add, types, note, ours, 0);
	assert_works(call_user(add, f4, f4));
	assert_ptr_equal(taken, ours);
	assert_works(dray_ufunc_get_loop(add, 10, found, &loop));
	assert_ptr_equal(loop.context, ours);
	assert_works(dray_ufunc_set_loop(add, types, &before));
	/* A new one is searched last, but for the very types of its inputs. */
	set_loop(add, (dray_dtype[]){ f4, DRAY_INT8, f4 }, note, ours, 0);
	assert_works(call_user(add, f4, DRAY_INT8));
	assert_ptr_equal(taken, ours);
	assert_works(call_user(add, DRAY_FLOAT16, DRAY_INT8));
	assert_string_equal(taken, "f2 f2 f2");
	for (i = 0; !dray_ufunc_get_loop(add, i, found, &loop);)
		i++;
	assert_int_equal(i, count + 1);
}

FACT(a_builtin_function_takes_loops_of_user_types)
{
	struct dray_ufunc *add = dray_ufunc_find("add");
	const struct dray_dtype_functions none = { .size = sizeof(none) };
	dray_dtype pair = 0;
	char way[] = "pair";

	assert_non_null(add);
	assert_works(
		dray_dtype_create_user("pair", 'P', 8, 4, &none, NULL, &pair));
	set_loop(add, (dray_dtype[]){ pair, pair, pair }, note, way, 0);
	assert_works(call_user(add, pair, pair));
	assert_ptr_equal(taken, way);
	dray_dtype_unref(pair);
}

FACT(loops_that_make_no_sense_are_refused)
{
	struct dray_ufunc *add = list_of("add")->ufunc;
	struct dray_ufunc_loop loop = { note, NULL, 0 };
	dray_dtype items = 0;

	assert_int_equal(dray_ufunc_set_loop(add, (dray_dtype[]){ f4, 0, f4 },
					     &loop),
			 -EINVAL);
	assert_works(dray_dtype_create_subarray(f4, 1, DIMS(2), &items));
	assert_fails(dray_ufunc_set_loop(add, (dray_dtype[]){ f4, f4, items },
					 &loop),
		     -EINVAL, "sub-array");
	dray_dtype_unref(items);
	loop.flags = 8;
	assert_fails(dray_ufunc_set_loop(add, (dray_dtype[]){ f4, f4, f4 },
					 &loop),
		     -EINVAL, "unknown flags of a loop: 0x8");
	loop.flags = 0;
	loop.loop = NULL;
	assert_fails(dray_ufunc_set_loop(add, (dray_dtype[]){ f4, f4, f4 },
					 &loop),
		     -EINVAL, "a loop has no function");
}

FACT(functions_that_make_no_sense_are_refused)
{
	struct dray_ufunc *made = NULL;

	assert_fails(dray_ufunc_create("f", 0, 1, DRAY_IDENTITY_NONE, &made),
		     -EINVAL, "not 0 and 1");
	assert_fails(dray_ufunc_create("f", 1, 0, DRAY_IDENTITY_NONE, &made),
		     -EINVAL, "not 1 and 0");
	assert_fails(dray_ufunc_create("f", 7, 1, DRAY_IDENTITY_NONE, &made),
		     -EINVAL, "at most 7 of both, not 7 and 1");
	assert_fails(dray_ufunc_create("f", 1, 1, DRAY_IDENTITY_ZERO, &made),
		     -EINVAL, "has an identity");
	assert_fails(dray_ufunc_create("f", 2, 1, 9, &made), -EINVAL,
		     "has an identity");
	assert_null(dray_ufunc_find("no such function"));
	assert_non_null(strstr(dray_last_error(),
			       "there is no ufunc 'no such function'"));
}

FACT(builtin_functions_are_in_the_order_of_their_names)
{
	const char *last = "";
	struct dray_ufunc *ufunc;
	size_t i;

	for (i = 0; (ufunc = dray_ufunc_number(i)); i++) {
		assert_true(strcmp(last, dray_ufunc_name(ufunc)) < 0);
		last = dray_ufunc_name(ufunc);
		assert_ptr_equal(dray_ufunc_find(last), ufunc);
		assert_ptr_equal(dray_ufunc_ref(ufunc), ufunc);
		dray_ufunc_unref(ufunc);
		assert_true(dray_ufunc_inputs(ufunc) >= 1);
		assert_true(dray_ufunc_outputs(ufunc) >= 1);
	}
	assert_true(i >= 1);
	assert_int_equal(dray_ufunc_identity(dray_ufunc_find("add")),
			 DRAY_IDENTITY_ZERO);
}
