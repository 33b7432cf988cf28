// SPDX-License-Identifier: Apache-2.0 OR MIT
/* strings_parts: slices, copies, comparisons and sorts of arrays of strings. */
#include <dray/array.h>

#include "pool.h"

/* Bounds of a literal, which may have zero bytes inside, and of a null. */
#define S(text)                                                      \
	{                                                            \
		(char *)(uintptr_t)(text),                           \
			(char *)(uintptr_t)(text) + sizeof(text) - 1 \
	}
#define NOTHING            \
	{                  \
		NULL, NULL \
	}

static const struct dray_string some[] = {
	S("b"), S(""), NOTHING, S("a\0b"), S("a"), S("\xff"), S("b"), NOTHING,
};

enum {
	SOME = sizeof(some) / sizeof(some[0])
};

static struct dray_block *copy_of(const struct dray_string *from, size_t count)
{
	struct dray_block *strings = NULL;

	assert_works(dray_strings_copy(from, count, &strings));
	return strings;
}

static bool is_same(const struct dray_string *a, const struct dray_string *b)
{
	size_t size = (size_t)(a->end - a->begin);

	return !a->begin == !b->begin && b->end - b->begin == (ptrdiff_t)size &&
	       (!size || !memcmp(a->begin, b->begin, size));
}

/* Compares an array with the strings of @from at @indices. */
static void assert_strings(const struct dray_block *strings,
			   const struct dray_string *from,
			   const int64_t *indices, size_t count)
{
	const char *begin, *end;

	assert_int_equal(dray_strings_count(strings), count);
	for (size_t i = 0; i < count; i++) {
		assert_works(dray_strings_get(strings, i, &begin, &end));
		if (!is_same(&from[indices[i]],
			     &(struct dray_string){ (char *)(uintptr_t)begin,
						    (char *)(uintptr_t)end }))
			fail_msg("string %zu is not string %" PRId64, i,
				 indices[i]);
	}
}

/* A view of an axis of plain elements. */
static struct dray_view *over(void *data, dray_dtype dtype, int64_t count,
			      struct dray_view *out)
{
	assert_works(dray_view_init(out, data, dtype, 1, &count, NULL));
	return out;
}

FACT(a_copy_has_its_bytes_side_by_side)
{
	static const int64_t all[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct dray_block *strings = copy_of(some, SOME);
	const char *begin, *end, *next = NULL;

	assert_strings(strings, some, all, SOME);
	for (size_t i = 0; i < SOME; i++) {
		assert_works(dray_strings_get(strings, i, &begin, &end));
		assert_int_equal(!begin, !some[i].begin);
		if (!begin)
			continue;
		assert_true(!next || begin == next);
		next = end;
	}
	assert_int_equal(dray_block_type(dray_strings_bytes(strings)),
			 DRAY_BLOCK_HANDLED);
	assert_int_equal(dray_block_size(dray_strings_bytes(strings)), 7);
	/* It is finished already. */
	assert_works(dray_strings_finish(strings));
	assert_fails(dray_strings_append(strings, "x", 1), -EPERM, "finished");
	dray_block_unref(strings);
}

POOL_FACT(a_copy_lies_in_memory_of_the_threads_handler)
{
	const struct dray_handler *handler = dray_handler_for(*state);
	const struct dray_handler *before = dray_set_handler(handler);
	struct dray_block *strings = copy_of(some, SOME);

	dray_set_handler(before);
	assert_ptr_equal(dray_block_handler(dray_strings_bytes(strings)),
			 handler);
	dray_block_unref(strings);
}

FACT(bounds_of_copies_are_checked)
{
	static char text[4];
	const struct dray_string backwards = { text + 1, text };
	const struct dray_string headless = { NULL, text };
	const struct dray_string huge[] = {
		{ (char *)1, (char *)UINTPTR_MAX },
		{ (char *)1, (char *)UINTPTR_MAX },
	};
	struct dray_block *strings = NULL;

	assert_fails(dray_strings_copy(&backwards, 1, &strings), -EINVAL,
		     "string 0 of 1 begins at");
	assert_fails(dray_strings_copy(&headless, 1, &strings), -EINVAL,
		     "string 0 of 1 begins at");
	assert_fails(dray_strings_copy(huge, 2, &strings), -EOVERFLOW,
		     "2 strings exceed the address space");
	assert_fails(dray_strings_copy(huge, SIZE_MAX / 2, NULL), -EINVAL,
		     "result pointer is NULL");
	assert_null(strings);
}

FACT(a_slice_has_pythons_rules_and_the_same_bytes)
{
	static const struct {
		int64_t start, stop, step;
		size_t count;
		int64_t indices[SOME];
	} rows[] = {
		{ 1, 4, 1, 3, { 1, 2, 3 } },
		{ 1, DRAY_OMIT, 3, 3, { 1, 4, 7 } },
		{ DRAY_OMIT, DRAY_OMIT, -3, 3, { 7, 4, 1 } },
		{ -2, 100, DRAY_OMIT, 2, { 6, 7 } },
		{ 5, 2, 1, 0, { 0 } },
		{ 5, 2, -1, 3, { 5, 4, 3 } },
		{ 100, 200, 1, 0, { 0 } },
		{ INT64_MAX, INT64_MIN + 1, INT64_MIN + 1, 1, { 7 } },
	};
	struct dray_block *strings = copy_of(some, SOME), *slice, *again;
	const char *begin, *end, *other;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_works(dray_strings_slice(strings, rows[i].start,
						rows[i].stop, rows[i].step,
						&slice));
		assert_strings(slice, some, rows[i].indices, rows[i].count);
		dray_block_unref(slice);
	}
	assert_fails(dray_strings_slice(strings, 0, 1, 0, &slice), -EINVAL,
		     "step");
	/* A slice of a slice keeps the memory alone. */
	assert_works(dray_strings_slice(strings, 1, DRAY_OMIT, 2, &slice));
	assert_works(
		dray_strings_slice(slice, DRAY_OMIT, DRAY_OMIT, -1, &again));
	assert_ptr_equal(dray_block_as_array(again)->reference, strings);
	assert_works(dray_strings_get(strings, 1, &begin, &end));
	assert_works(dray_strings_get(again, 3, &other, &end));
	assert_ptr_equal(begin, other);
	dray_block_unref(strings);
	dray_block_unref(slice);
	assert_strings(again, some, (int64_t[]){ 7, 5, 3, 1 }, 4);
	dray_block_unref(again);
}

FACT(strings_are_taken_by_their_indices)
{
	int64_t indices[] = { 7, -1, 0, 0, -8 };
	int64_t wrong[] = { 0, 8, 0, -9, INT64_MIN };
	struct dray_block *strings = copy_of(some, SOME), *taken = NULL;
	struct dray_view view;
	uint8_t small = 0;

	assert_works(dray_strings_take(
		strings, over(indices, DRAY_INT64, 5, &view), &taken));
	assert_strings(taken, some, (int64_t[]){ 7, 7, 0, 0, 0 }, 5);
	dray_block_unref(taken);
	/* Every second, from the last. */
	view.data = indices + 4;
	view.shape[0] = 3;
	view.strides[0] = -16;
	assert_works(dray_strings_take(strings, &view, &taken));
	assert_strings(taken, some, (int64_t[]){ 0, 0, 7 }, 3);
	dray_block_unref(taken);
	assert_works(dray_strings_take(
		strings, over(indices, DRAY_INT64, 0, &view), &taken));
	assert_int_equal(dray_strings_count(taken), 0);
	dray_block_unref(taken);
	taken = NULL;
	for (int i = 1; i < 5; i++) {
		if (!wrong[i])
			continue;
		assert_fails(
			dray_strings_take(strings,
					  over(&wrong[i], DRAY_INT64, 1, &view),
					  &taken),
			-ERANGE, "is out of bounds for 8 strings");
	}
	assert_fails(dray_strings_take(strings,
				       over(&small, DRAY_UINT8, 1, &view),
				       &taken),
		     -EINVAL, "the indices: 1 axes of");
	assert_works(dray_view_init(&view, indices, DRAY_INT64, 2,
				    (int64_t[]){ 1, 2 }, NULL));
	assert_fails(dray_strings_take(strings, &view, &taken), -EINVAL,
		     "2 axes");
	over(indices, DRAY_INT64, 2, &view)->flags &= ~(uint32_t)DRAY_READ;
	assert_fails(dray_strings_take(strings, &view, &taken), -EPERM,
		     "the indices may not be read");
	assert_null(taken);
	dray_block_unref(strings);
}

static const char *text_of(enum dray_strings_relation relation)
{
	static const char *const texts[] = { "<", "<=", "==", "!=", ">", ">=" };

	return texts[relation];
}

/* Against the order that these strings are written in. */
FACT(relations_follow_the_order)
{
	static const struct dray_string ordered[] = {
		S(""),	 S("\0"), S("\0\0"),	 S("A"),    S("a"),  S("a\0"),
		S("aa"), S("b"),  S("\xc3\xa9"), S("\xff"), NOTHING,
	};
	enum {
		COUNT = sizeof(ordered) / sizeof(ordered[0])
	};
	struct dray_block *all = copy_of(ordered, COUNT), *one;
	bool results[COUNT];
	struct dray_view out;

	over(results, DRAY_BOOL, COUNT, &out);
	for (int i = 0; i < COUNT; i++) {
		one = copy_of(&ordered[i], 1);
		for (int r = 0; r <= DRAY_STRINGS_GREATER_EQUAL; r++) {
			assert_works(dray_strings_compare(all, one, r, &out));
			for (int j = 0; j < COUNT; j++) {
				const bool expected[] = {
					j<i, j <= i, j == i, j != i, j> i,
					j >= i
				};

				if (results[j] != expected[r])
					fail_msg("%d %s %d is %d", j,
						 text_of(r), i, results[j]);
			}
		}
		/* The single string may stand on the left, too. */
		assert_works(dray_strings_compare(one, all, DRAY_STRINGS_LESS,
						  &out));
		for (int j = 0; j < COUNT; j++)
			assert_int_equal(results[j], i < j);
		dray_block_unref(one);
	}
	assert_works(dray_strings_compare(all, all, DRAY_STRINGS_EQUAL, &out));
	for (int j = 0; j < COUNT; j++)
		assert_true(results[j]);
	dray_block_unref(all);
}

FACT(results_have_as_many_elements)
{
	struct dray_block *eight = copy_of(some, SOME), *two = copy_of(some, 2);
	struct dray_block *one = copy_of(some, 1), *none = copy_of(some, 0);
	int64_t order[SOME];
	bool results[SOME];
	struct dray_view out;

	over(results, DRAY_BOOL, SOME, &out);
	assert_fails(dray_strings_compare(eight, two, DRAY_STRINGS_LESS, &out),
		     -EINVAL, "8 strings are compared with 2");
	assert_fails(dray_strings_compare(two, two, DRAY_STRINGS_LESS, &out),
		     -EINVAL, "with 8 elements; it must have one axis of 2");
	assert_fails(dray_strings_compare(eight, one, 6, &out), -EINVAL,
		     "relation 6, the last is 5");
	assert_fails(dray_strings_compare(eight, one, -1, &out), -EINVAL,
		     "relation -1");
	assert_fails(dray_strings_argsort(eight, &out), -EINVAL,
		     "8 elements of kind i");
	out.flags &= ~(uint32_t)DRAY_WRITE;
	assert_fails(dray_strings_compare(eight, one, 0, &out), -EPERM,
		     "the result may not be written");
	/* Of none and one, there is none. */
	over(results, DRAY_BOOL, 0, &out);
	assert_works(dray_strings_compare(none, one, DRAY_STRINGS_LESS, &out));
	assert_works(dray_strings_compare(one, none, DRAY_STRINGS_LESS, &out));
	assert_works(dray_strings_compare(none, none, DRAY_STRINGS_LESS, &out));
	over(order, DRAY_INT64, 0, &out);
	assert_works(dray_strings_argsort(none, &out));
	dray_block_unref(eight);
	dray_block_unref(two);
	dray_block_unref(one);
	dray_block_unref(none);
}

FACT(a_sort_is_stable_and_has_nulls_last)
{
	static const int64_t expected[] = { 1, 4, 3, 0, 6, 5, 2, 7 };
	struct dray_block *strings = copy_of(some, SOME), *sorted;
	int64_t order[2 * SOME];
	struct dray_view out;

	memset(order, 0xff, sizeof(order));
	over(order, DRAY_INT64, SOME, &out)->strides[0] = 16;
	assert_works(dray_strings_argsort(strings, &out));
	for (int i = 0; i < SOME; i++) {
		assert_int_equal(order[2 * i], expected[i]);
		assert_int_equal(order[2 * i + 1], -1);
	}
	assert_works(dray_strings_take(strings, &out, &sorted));
	assert_strings(sorted, some, expected, SOME);
	dray_block_unref(strings);
	dray_block_unref(sorted);
}

POOL_FACT(many_strings_are_sorted)
{
	enum {
		STRINGS = 1000
	};
	struct dray_block *strings = NULL, *sorted;
	struct dice dice = { 521288629 };
	static int64_t order[STRINGS];
	static bool results[STRINGS];
	struct dray_block *left, *right;
	struct dray_view out;
	char text[4];

	assert_works(dray_strings_create(*state, STRINGS, &strings));
	for (int i = 0; i < STRINGS; i++) {
		for (int j = 0; j < 4; j++)
			text[j] = (char)('a' + roll(&dice, 3));
		assert_works(
			dray_strings_append(strings, text, roll(&dice, 5)));
	}
	assert_works(dray_strings_finish(strings));
	assert_works(dray_strings_argsort(strings, over(order, DRAY_INT64,
							STRINGS, &out)));
	assert_works(dray_strings_take(strings, &out, &sorted));
	assert_works(dray_strings_slice(sorted, 0, -1, 1, &left));
	assert_works(dray_strings_slice(sorted, 1, DRAY_OMIT, 1, &right));
	over(results, DRAY_BOOL, STRINGS - 1, &out);
	assert_works(dray_strings_compare(left, right, DRAY_STRINGS_LESS_EQUAL,
					  &out));
	for (int i = 0; i < STRINGS - 1; i++)
		assert_true(results[i]);
	assert_works(
		dray_strings_compare(left, right, DRAY_STRINGS_EQUAL, &out));
	for (int i = 0; i < STRINGS - 1; i++) {
		if (results[i])
			assert_true(order[i] < order[i + 1]);
	}
	dray_block_unref(left);
	dray_block_unref(right);
	dray_block_unref(strings);
	dray_block_unref(sorted);
}

POOL_FACT(unfinished_strings_have_no_parts)
{
	struct dray_block *strings = NULL, *other = NULL;
	struct ArrowArray out = { 0 };
	struct dray_view view;
	bool less;

	assert_works(dray_strings_create(*state, 1, &strings));
	assert_works(dray_strings_append(strings, "a", 1));
	over(&less, DRAY_BOOL, 1, &view);
	for (int i = 0; i < 2; i++) {
		const int code = i ? -EINVAL : -EPERM;
		const char *part =
			i ? "not an array of strings"
			  : "are not finished: call dray_strings_finish() first";
		struct dray_block *block =
			i ? dray_strings_bytes(strings) : strings;

		assert_fails(dray_strings_slice(block, 0, 1, 1, &other), code,
			     part);
		assert_fails(dray_strings_take(block, NULL, &other), code,
			     part);
		assert_fails(dray_strings_compare(block, block, 0, &view), code,
			     part);
		assert_fails(dray_strings_argsort(block, &view), code, part);
		assert_fails(dray_arrow_export_strings(block, "u", 0, &out),
			     code, part);
	}
	assert_null(other);
	dray_block_unref(strings);
}
