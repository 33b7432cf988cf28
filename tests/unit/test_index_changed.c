// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * index_changed: indices and booleans that change while they are used, as another
 * process can change them in shared memory.  They fill two pages.  The first access to
 * the second one, after the first was read, changes the first.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dray/array/reduce.h>
#include <dray/array/sorting.h>

#include <dray/array.h>

#include "unit.h"

#define MOST 8192 /* elements, of a byte */

static unsigned char *pages; /* two, and one behind that nobody may touch */
static size_t page;
static int after; /* the bytes of the first page then */
static bool changed;
static double elements[MOST], values[MOST];

static void change(int signal_number, siginfo_t *info, void *context)
{
	unsigned char *at = info->si_addr;

	if (changed || at < pages + page || at >= pages + 2 * page) {
		signal(signal_number, SIG_DFL); /* ends the program */
		return;
	}
	changed = true;
	mprotect(pages + page, page, PROT_READ | PROT_WRITE);
	memset(pages, after, page);
}

static int set_up(void **state)
{
	int i;

	page = (size_t)sysconf(_SC_PAGESIZE);
	if (page * 2 != MOST)
		return 0; /* each fact is skipped */
	pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || mprotect(pages + 2 * page, page, PROT_NONE))
		return -1;
	for (i = 0; i < MOST; i++) {
		elements[i] = i;
		values[i] = -i;
	}
	return 0;
}

FACTS_SHARE(set_up, NULL)

/* Fills both pages, and lets the next access to the second one change the first. */
static void arm(int first, int then, bool is_mask)
{
	const struct sigaction action = { .sa_sigaction = change,
					  .sa_flags = SA_SIGINFO };

	if (!pages)
		skip();
	sigaction(SIGSEGV, &action, NULL); /* in place of the tests' own */
	mprotect(pages, 2 * page, PROT_READ | PROT_WRITE);
	after = then;
	changed = false;
	memset(pages, first, page);
	memset(pages + page, 0, page);
	pages[page + 7] = is_mask;
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
}

static struct dray_view view_of(void *data, dray_dtype dtype, int64_t count)
{
	struct dray_view view;

	assert_works(dray_view_init(&view, data, dtype, 1, &count, NULL));
	return view;
}

typedef int called(const struct dray_view *x, const struct dray_view *by,
		   struct dray_array **out);

static int get(const struct dray_view *x, const struct dray_view *by,
	       struct dray_array **out)
{
	return dray_index_get(x, &(struct dray_index)DRAY_BY(by), 1, out);
}

static int set(const struct dray_view *x, const struct dray_view *by,
	       struct dray_array **out)
{
	const struct dray_view value = view_of(values, DRAY_FLOAT64, 1);

	return dray_index_set(x, &(struct dray_index)DRAY_BY(by), 1, &value);
}

/* As many values as booleans were true. */
static int set_each(const struct dray_view *x, const struct dray_view *by,
		    struct dray_array **out)
{
	const struct dray_view value = view_of(values, DRAY_FLOAT64, 2);

	return dray_index_set(x, &(struct dray_index)DRAY_BY(by), 1, &value);
}

static int take(const struct dray_view *x, const struct dray_view *by,
		struct dray_array **out)
{
	return dray_take(x, by, 0, DRAY_INDEX_RAISE, out);
}

static int clip(const struct dray_view *x, const struct dray_view *by,
		struct dray_array **out)
{
	return dray_take(x, by, 0, DRAY_INDEX_CLIP, out);
}

static int put(const struct dray_view *x, const struct dray_view *by,
	       struct dray_array **out)
{
	const struct dray_view value = view_of(values, DRAY_FLOAT64, MOST);

	return dray_put(x, by, &value, DRAY_INDEX_RAISE);
}

static int at(const struct dray_view *x, const struct dray_view *by,
	      struct dray_array **out)
{
	const struct dray_view value = view_of(values, DRAY_FLOAT64, 1);

	return dray_ufunc_at(dray_ufunc_find("add"), x, by, &value);
}

static int reduceat(const struct dray_view *x, const struct dray_view *by,
		    struct dray_array **out)
{
	return dray_ufunc_reduceat(dray_ufunc_find("add"), x, by, 0, 0, NULL,
				   out);
}

static int put_mask(const struct dray_view *x, const struct dray_view *by,
		    struct dray_array **out)
{
	const struct dray_view value = view_of(values, DRAY_FLOAT64, 3);

	return dray_put_mask(x, by, &value);
}

static int nonzero(const struct dray_view *x, const struct dray_view *by,
		   struct dray_array **out)
{
	return dray_nonzero(by, out);
}

/* The mask's axis beside another one: true elements become coordinates. */
static int get_rows(const struct dray_view *x, const struct dray_view *by,
		    struct dray_array **out)
{
	struct dray_view rows;

	assert_works(dray_view_init(&rows, x->data, x->dtype, 2,
				    (int64_t[]){ by->shape[0], 1 }, NULL));
	return dray_index_get(&rows, &(struct dray_index)DRAY_BY(by), 1, out);
}

static const struct {
	const char *name;
	called *call;
	dray_dtype type;
	int before, after; /* bytes */
	int wanted;
} rows[] = {
	/* Indices from 0 to far outside; -ERANGE too, if memcpy() began with the last. */
	{ "get", get, DRAY_INT64, 0, 0x11, 0 },
	{ "set", set, DRAY_INT64, 0, 0x11, 0 },
	{ "take", take, DRAY_INT64, 0, 0x11, 0 },
	{ "take, clip", clip, DRAY_INT64, 0, 0x11, 0 },
	{ "put", put, DRAY_INT64, 0, 0x11, -ERANGE },
	{ "at", at, DRAY_INT64, 0, 0x11, -ERANGE },
	{ "reduceat", reduceat, DRAY_INT64, 0, 0x11, 0 },
	{ "get", get, DRAY_INT32, 0, 0x11, 0 },
	{ "set", set, DRAY_INT32, 0, 0x11, -ERANGE },
	{ "put", put, DRAY_INT32, 0, 0x11, -ERANGE },
	{ "at", at, DRAY_INT32, 0, 0x11, 0 },
	/* More booleans, fewer booleans. */
	{ "get", get, DRAY_BOOL, 0, 1, -ERANGE },
	{ "get", get, DRAY_BOOL, 1, 0, -ERANGE },
	{ "get rows", get_rows, DRAY_BOOL, 0, 1, -ERANGE },
	{ "get rows", get_rows, DRAY_BOOL, 1, 0, -ERANGE },
	{ "set", set, DRAY_BOOL, 0, 1, 0 },
	{ "set each", set_each, DRAY_BOOL, 0, 1, -EINVAL },
	{ "nonzero", nonzero, DRAY_BOOL, 0, 1, -ERANGE },
	{ "nonzero", nonzero, DRAY_BOOL, 1, 0, -ERANGE },
	{ "put_mask", put_mask, DRAY_BOOL, 0, 1, 0 },
};

FACT(what_is_used_is_what_was_checked)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const int64_t count = MOST / dray_dtype_itemsize(rows[i].type);
		const struct dray_view x =
			view_of(elements, DRAY_FLOAT64, count);
		struct dray_array *out = NULL;
		struct dray_view by;
		bool copied;
		int ret;

		arm(rows[i].before, rows[i].after, rows[i].type == DRAY_BOOL);
		by = view_of(pages, rows[i].type, count);
		ret = rows[i].call(&x, &by, &out);
		dray_array_unref(out);
		copied = !rows[i].wanted && rows[i].type != DRAY_BOOL;
		if (!changed ||
		    (ret != rows[i].wanted && !(copied && ret == -ERANGE)))
			fail_msg("row %zu, %s: %s, %d instead of %d: %s", i,
				 rows[i].name, changed ? "changed" : "unread",
				 ret, rows[i].wanted, dray_last_error());
	}
}

FACT(a_value_that_goes_is_not_searched_behind_the_end)
{
	struct dray_array *out = NULL;
	struct dray_view bytes;

	arm(1, 0, true);
	bytes = view_of(pages, DRAY_UINT8, MOST);
	pages[5] = 200;
	assert_works(dray_argmax(&bytes, 0, &out));
	assert_true(changed);
	assert_in_range(*(int64_t *)out->data, 0, MOST - 1);
	dray_array_unref(out);
}
