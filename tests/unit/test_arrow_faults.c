// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * arrow_faults: each allocation of an export and of an import fails once, then with
 * all that come after it.  There is a code and a sentence, nothing is left, and the
 * structures are the caller's as before.  The address sanitizer sees leaks.
 */
#include <dray/array.h>

#include "arrow.h"
#include "fault.h"

WRAPPED(void *, malloc, (size_t size))
{
	return fails_now() ? NULL : __real_malloc(size);
}

WRAPPED(void *, realloc, (void *memory, size_t size))
{
	return fails_now() ? NULL : __real_realloc(memory, size);
}

WRAPPED(int, posix_memalign, (void **out, size_t alignment, size_t size))
{
	return fails_now() ? ENOMEM
			   : __real_posix_memalign(out, alignment, size);
}

static struct dray_array *records, *mask;
static struct passed whole;

static int set_up(void **state)
{
	static const char text[] =
		"[('a', '>i2'), ('b', '<M8[D]'), ('c', [('d', '?'), ('e', '<c8')])]";

	records = make(text, 2, DIMS(2, 3));
	mask = make("[('a', '?'), ('b', '?'), ('c', [('d', '?'), ('e', '?')])]",
		    2, DIMS(2, 3));
	/* Days that fit 32 bits. */
	for (int i = 0; i < 6; i++)
		memset((char *)records->data + i * 19 + 2, 0, 8);
	memset(mask->data, 1, 7);
	return 0;
}

static int tear_down(void **state)
{
	dray_array_unref(records);
	dray_array_unref(mask);
	return 0;
}

FACTS_SHARE(set_up, tear_down)

static int export(void)
{
	struct ArrowArray out = { 0 };
	struct dray_view view;
	int ret = dray_arrow_export(records, dray_array_view(mask, &view),
				    DRAY_ARROW_COPY, -1, &out);

	if (ret)
		assert_null(out.release);
	else
		out.release(&out);
	return ret;
}

static int describe(void)
{
	struct ArrowSchema out = { 0 };
	int ret = schema_of(records, &out);

	if (ret)
		assert_null(out.release);
	else
		out.release(&out);
	return ret;
}

/* Ends an import: nothing was made, or all of it. */
static int done(int ret, struct dray_array **out, int count)
{
	assert_int_equal(!whole.array.release, !ret);
	for (int i = 0; i < count; i++) {
		if (ret)
			assert_null(out[i]);
		dray_array_unref(out[i]);
	}
	return ret;
}

static int import(void)
{
	struct dray_array *out[2] = { NULL };

	return done(dray_arrow_import(&whole.schema, &whole.array,
				      DRAY_ARROW_COPY, -1, &out[0], &out[1]),
		    out, 2);
}

static int import_fields(void)
{
	struct dray_array *out[6] = { NULL };

	return done(dray_arrow_import_fields(whole.schema.children[0],
					     &whole.array, DRAY_ARROW_COPY, -1,
					     3, out, out + 3),
		    out, 6);
}

/* The strings come back in another order, which needs a copy. */
static int move_strings(void)
{
	static const char *const texts[] = { "one", "two" };
	struct dray_block *strings = NULL, *back = NULL;
	struct passed passed = { 0 };
	struct dray_view order;
	int64_t indices[2];
	int ret = dray_strings_from(NULL, texts, 2, &strings);

	if (ret)
		return ret;
	assert_works(
		dray_view_init(&order, indices, DRAY_INT64, 1, DIMS(2), NULL));
	ret = dray_strings_argsort(strings, &order);
	if (!ret)
		ret = dray_strings_slice(strings, DRAY_OMIT, DRAY_OMIT, -1,
					 &back);
	if (!ret)
		ret = dray_arrow_schema_strings("u", &passed.schema);
	if (!ret)
		ret = dray_arrow_export_strings(back, "u", DRAY_ARROW_COPY,
						&passed.array);
	dray_block_unref(strings);
	dray_block_unref(back);
	back = NULL;
	if (!ret) {
		ret = dray_arrow_import_strings(&passed.schema, &passed.array,
						-1, &back);
		assert_int_equal(!passed.array.release, !ret);
		assert_int_equal(!back, !!ret);
	}
	drop(&passed);
	dray_block_unref(back);
	return ret;
}

static bool fail_call(int (*work)(void), int n, bool last)
{
	struct ArrowArray rows = { 0 };
	int ret;

	pass(records, whole_view(mask), DRAY_ARROW_COPY, &whole);
	if (work == import_fields) {
		/* The structure is the child of the list of the second axis. */
		rows = whole.array;
		whole.array = *rows.children[0];
		rows.children[0]->release = NULL;
	}
	arm_with(n, last);
	ret = work();
	disarm_after(ret);
	drop(&whole);
	if (rows.release)
		rows.release(&rows);
	return faulted;
}

FACT(each_allocation_may_fail)
{
	fail_each_call(fail_call, describe);
	fail_each_call(fail_call, export);
	fail_each_call(fail_call, import);
	fail_each_call(fail_call, import_fields);
	fail_each_call(fail_call, move_strings);
}
