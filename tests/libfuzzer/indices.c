// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Indices: a view of a memory, changed some times, and steps of every kind.  Results
 * lie in the memory; elements that are read and written back leave it as it was;
 * two ways to the same elements agree.
 */
#include "views.h"

#define MAX_STEPS 7
#define MAX_ELEMENTS 2048 /* of a view, if they are touched */
#define MAX_RESULT 65536

struct steps {
	struct dray_index steps[MAX_STEPS];
	struct dray_view arrays[MAX_STEPS];
	int64_t values[MAX_STEPS][16];
	size_t count;
	bool has_arrays;
};

#define BIG(kind, size) DRAY_DTYPE(kind, '>', size)

static const dray_dtype integers[] = {
	DRAY_INT64,  DRAY_INT8,	  DRAY_INT16,  DRAY_INT32,
	DRAY_UINT8,  DRAY_UINT16, DRAY_UINT32, DRAY_UINT64,
	BIG('i', 2), BIG('i', 4), BIG('i', 8), BIG('u', 2),
	BIG('u', 4), BIG('u', 8), DRAY_BOOL,   DRAY_BOOL,
};

#define INTEGERS ((int)(sizeof(integers) / sizeof(integers[0])))

/* Makes an array of 16 elements at most. */
static void read_array(struct input *input, const struct dray_view *view,
		       struct dray_view *out, int64_t *values)
{
	int type = input_below(input, 2 * INTEGERS);
	int ndim = input_below(input, 3), i;
	int64_t shape[2], number;
	struct dray_view all;

	if (type >= INTEGERS)
		type = 0;
	for (i = 0; i < ndim; i++)
		shape[i] = input_below(input, 5);
	/* Booleans often have the view's own extents. */
	for (i = 0; i < ndim && integers[type] == DRAY_BOOL; i++)
		if (i < view->ndim && view->shape[i] <= 4 &&
		    input_below(input, 8))
			shape[i] = view->shape[i];
	holds(!dray_view_init(out, values, integers[type], ndim, shape, NULL));
	out->flags |= DRAY_READ | DRAY_WRITE;
	shape[0] = dray_view_size(out);
	holds(!dray_view_init(&all, values, integers[type], 1, shape, NULL));
	all.flags |= DRAY_READ | DRAY_WRITE;
	for (i = 0; i < shape[0]; i++) {
		const struct dray_index at = DRAY_AT(i);
		struct dray_view one;

		number = input_around(input, 5);
		holds(!dray_view_index(&all, &at, 1, &one));
		holds(!dray_view_put(&one, DRAY_INT64, &number));
	}
}

static int64_t read_bound(struct input *input)
{
	int what = input_below(input, 16);

	if (what == 15)
		return (int64_t)input_number(input, 8);
	return what > 11 ? DRAY_OMIT : input_around(input, 7);
}

static void read_steps(struct input *input, const struct dray_view *view,
		       struct steps *steps)
{
	size_t i;

	memset(steps, 0, sizeof(*steps));
	steps->count = (size_t)input_below(input, MAX_STEPS + 1);
	for (i = 0; i < steps->count; i++) {
		struct dray_index *step = &steps->steps[i];

		step->kind = (enum dray_index_kind)input_below(input, 5);
		step->start = read_bound(input);
		step->stop = read_bound(input);
		step->step = read_bound(input);
		if (step->kind != DRAY_INDEX_ARRAY)
			continue;
		read_array(input, view, &steps->arrays[i], steps->values[i]);
		step->array = &steps->arrays[i];
		steps->has_arrays = true;
	}
}

/* Whether the memory still has the bytes of views_fill(). */
static bool is_unchanged(void)
{
	unsigned int i;

	for (i = 0; i < MEMORY; i++)
		if (memory[i] != (unsigned char)(i * 7 + i / 64))
			return false;
	return true;
}

/* Writes the elements to themselves, and then a value to all. */
static void write_back(const struct dray_view *view, const struct steps *steps,
		       const struct dray_view *value)
{
	struct dray_view one;
	int64_t number = 1;

	if (dray_index_set(view, steps->steps, steps->count, value))
		return;
	holds(is_unchanged());
	holds(!dray_view_init(&one, &number, DRAY_INT64, 0, NULL, NULL));
	one.flags |= DRAY_READ;
	dray_index_set(view, steps->steps, steps->count, &one);
	views_fill();
}

static void check_result(const struct dray_view *view,
			 const struct steps *steps, struct dray_array *got)
{
	struct dray_array *other;
	struct dray_view result, into;

	dray_array_view(got, &result);
	holds(!dray_array_like(&result, 0, DRAY_ORDER_F, &other));
	dray_array_view(other, &into);
	holds(!dray_index_get_into(view, steps->steps, steps->count, &into));
	holds(same_elements(&result, &into));
	dray_array_unref(other);
	if (!steps->has_arrays) {
		holds(!dray_view_index(view, steps->steps, steps->count,
				       &into));
		holds(views_inside(&into));
		holds(same_elements(&result, &into));
	}
	write_back(view, steps, &result);
}

static int64_t product(int ndim, const int64_t *shape)
{
	int64_t size = 1;
	int i;

	for (i = 0; i < ndim; i++)
		if (__builtin_mul_overflow(size, shape[i], &size))
			return INT64_MAX;
	return size;
}

static void check_index(struct input *input, const struct dray_view *view)
{
	int64_t shape[DRAY_MAX_NDIM];
	struct dray_view part;
	struct dray_array *got;
	struct steps steps;
	int ndim, ret;

	read_steps(input, view, &steps);
	if (!dray_view_index(view, steps.steps, steps.count, &part))
		holds(views_inside(&part));
	ret = dray_index_shape(view, steps.steps, steps.count, &ndim, shape);
	if (!ret && product(ndim, shape) > MAX_RESULT)
		return;
	if (dray_index_get(view, steps.steps, steps.count, &got))
		return;
	holds(!ret && got->ndim == ndim);
	dray_array_view(got, &part);
	holds(!memcmp(part.shape, shape, (size_t)ndim * sizeof(shape[0])));
	check_result(view, &steps, got);
	dray_array_unref(got);
}

/* Whether a single one is out of bounds, as an array would not be. */
static bool may_exceed(const struct dray_view *array)
{
	return dray_dtype_kind(array->dtype) == 'u' &&
	       dray_dtype_itemsize(array->dtype) == 8;
}

/* Compares dray_take() with an index, and puts the elements back. */
static void check_take(struct input *input, const struct dray_view *view)
{
	enum dray_index_mode mode = (enum dray_index_mode)input_below(input, 3);
	int axis = input_around(input, view->ndim + 1);
	struct dray_index steps[2] = { DRAY_ELLIPSIS };
	struct dray_view indices, values;
	struct dray_array *taken, *got;
	int64_t numbers[16];

	read_array(input, view, &indices, numbers);
	steps[1] = DRAY_BY(&indices);
	if (!dray_take(view, &indices, axis, mode, &taken)) {
		if (mode == DRAY_INDEX_RAISE && !may_exceed(&indices) &&
		    (axis == -1 || axis == view->ndim - 1)) {
			holds(!dray_index_get(view, steps, 2, &got));
			holds(same_arrays(taken, got));
			dray_array_unref(got);
		}
		dray_array_unref(taken);
	}
	if (dray_take(view, &indices, DRAY_FLAT, mode, &taken))
		return;
	dray_array_view(taken, &values);
	if (!dray_put(view, &indices, &values, mode))
		holds(is_unchanged());
	views_fill();
	dray_array_unref(taken);
}

/* Compares the three functions that look for elements other than 0. */
static void check_nonzero(const struct dray_view *view)
{
	struct dray_array *found[DRAY_MAX_NDIM], *got;
	struct dray_view arrays[DRAY_MAX_NDIM];
	struct dray_index steps[DRAY_MAX_NDIM];
	int64_t count = dray_count_nonzero(view);
	struct dray_view all;
	int i;

	if (dray_nonzero(view, found))
		return;
	for (i = 0; i < view->ndim; i++) {
		dray_array_view(found[i], &arrays[i]);
		holds(dray_view_size(&arrays[i]) == count);
		steps[i] = DRAY_BY(&arrays[i]);
	}
	holds(!dray_index_get(view, steps, (size_t)view->ndim, &got));
	dray_array_view(got, &all);
	holds(dray_count_nonzero(&all) == count);
	dray_array_unref(got);
	for (i = 0; i < view->ndim; i++)
		dray_array_unref(found[i]);
}

/* Chooses all elements of @view, and writes them to themselves by a mask. */
static void check_choice(const struct dray_view *view)
{
	const int64_t flat = dray_view_size(view);
	const bool yes = true;
	struct dray_array *chosen, *mask;
	struct dray_view values, where;

	if (!dray_where(view, view, view, &chosen)) {
		dray_array_view(chosen, &values);
		holds(bytes_of(&values) == bytes_of(view));
		dray_array_unref(chosen);
	}
	holds(!dray_array_full(DRAY_BOOL, 1, &flat, &yes, &mask));
	dray_put_mask(view, dray_array_view(mask, &where), view);
	holds(is_unchanged());
	dray_array_unref(mask);
}

/* Asks the two questions about bytes in common, with few steps. */
static void check_overlap(const struct dray_view *view)
{
	bool shared = false, unique = true;

	if (!dray_view_shares_memory(view, view, 1000, &shared))
		holds(shared == (bytes_of(view) != 0));
	if (!dray_view_is_unique(view, 1000, &unique) && bytes_of(view))
		holds(unique || !dray_view_is_contiguous(view));
}

/* Counts the bytes of rows, which all lie in the memory and within the limits. */
static uint64_t bytes_of_rows(const struct dray_row *rows, size_t count,
			      const struct dray_row_limits *limits)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct dray_row *row = &rows[i];
		uint64_t start = row->address - (uintptr_t)memory;

		holds(row->length && row->count && row->stride >= row->length);
		holds(!limits->max_length || row->length <= limits->max_length);
		holds(!limits->max_count || row->count <= limits->max_count);
		holds(start < MEMORY && row->length <= MEMORY &&
		      row->count <= MEMORY);
		holds(start + (row->count - 1) * row->stride + row->length <=
		      MEMORY);
		bytes += row->length * row->count;
	}
	return bytes;
}

/* Describes @view by rows: all at once, one alone, and as entries of writev(). */
static void check_rows(struct input *input, const struct dray_view *view)
{
	static struct dray_row rows[MAX_ELEMENTS * 64], one;
	static struct iovec entries[MAX_ELEMENTS * 64];
	struct dray_row_limits limits = {
		.max_length = (uint64_t)input_below(input, 9),
		.max_stride = (uint64_t)input_below(input, 100),
		.max_count = (uint64_t)input_below(input, 4),
		.flags = input_below(input, 2) ? DRAY_ROWS_ORDERED : 0,
	};
	const size_t room = sizeof(rows) / sizeof(rows[0]);
	const uint64_t all = (uint64_t)dray_view_size(view) *
			     dray_dtype_itemsize(view->dtype);
	uint64_t bytes;
	size_t count, again, i;

	if (!dray_view_rows(view, &limits, rows, room, &count)) {
		holds(count <= room);
		bytes = bytes_of_rows(rows, count, &limits);
		holds(limits.flags ? bytes == all : bytes <= all);
		limits.first = count ? count / 2 : 0;
		holds(!dray_view_rows(view, &limits, &one, 1, &again));
		holds(again == count);
		holds(!count || !memcmp(&one, &rows[count / 2], sizeof(one)));
	}
	holds(!dray_view_iovec(view, 0, entries, room, &count));
	for (i = 0, bytes = 0; i < count; i++)
		bytes += entries[i].iov_len;
	holds(bytes == all);
}

/* Whether results are of few elements, even without one of the axes. */
static bool is_small(const struct dray_view *view)
{
	int64_t size = 1;
	int i;

	for (i = 0; i < view->ndim; i++)
		if (view->shape[i] &&
		    __builtin_mul_overflow(size, view->shape[i], &size))
			return false;
	return size <= MAX_ELEMENTS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct dray_view view;
	int changes;

	if (!memory)
		views_start();
	views_fill();
	views_make(&input, &view);
	holds(views_inside(&view));
	changes = input_below(&input, 8);
	while (changes-- && input.left)
		views_change(&input, &view);
	if (!is_small(&view))
		return 0;
	check_index(&input, &view);
	check_take(&input, &view);
	check_nonzero(&view);
	check_choice(&view);
	check_overlap(&view);
	check_rows(&input, &view);
	holds(is_unchanged());
	return 0;
}
