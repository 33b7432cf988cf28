// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A view as rows, over the layout room's reduction.
 *
 * A list of rows is never kept: row_at() computes each from its number, so that a
 * caller may ask for any part of a long list.  Two ways make a list, and the way
 * with fewer rows wins: an axis of the layout is the count of all rows, or each
 * row is a piece, and runs that touch are joined.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <dray/rows.h>

#include "base/error.h"
#include "base/options.h"
#include "layout/layout.h"
#include "layout/overlap.h"

/*
 * Pieces of equal length in each run of a layout.  Their own axis, of a run that was
 * cut, is the last.
 */
struct row_part {
	uint64_t offset; /* bytes, of the first piece in its run */
	uint64_t length; /* of a piece; 0: the part has no rows */
	uint64_t pieces; /* in a run */
	int axis; /* the axis that is a row's count, axes_count: the pieces' */
	uint64_t chunks; /* rows along that axis */
	uint64_t rows;
};

struct row_plan {
	struct dray_layout layout;
	struct dray_row_limits limits; /* none: UINT64_MAX */
	struct row_part parts[2]; /* full pieces, and those left over */
	uint64_t seams; /* 0 if rows are with an axis */
	uint64_t single; /* pieces of a run that touches none; 0: parts */
	uint64_t joint; /* pieces of two runs that touch */
	uint64_t rows;
};

static uint64_t divide_up(uint64_t number, uint64_t by)
{
	return number / by + (number % by != 0);
}

static int take_limits(struct row_plan *plan,
		       const struct dray_row_limits *limits)
{
	uint64_t *const numbers[] = { &plan->limits.max_length,
				      &plan->limits.max_stride,
				      &plan->limits.max_count,
				      &plan->limits.max_rows };
	size_t i;
	int ret =
		dray_options_read(&plan->limits, sizeof(plan->limits), limits,
				  DRAY_ROW_LIMITS_SIZE_FIRST, "dray_view_rows");

	if (ret)
		return ret;
	if (plan->limits.flags & ~DRAY_ROWS_ORDERED)
		return dray_fail(-EINVAL, "unknown flags 0x%x of rows",
				 plan->limits.flags & ~DRAY_ROWS_ORDERED);
	if (plan->limits.reserved)
		return dray_fail(
			-EINVAL,
			"reserved is 0x%x in the limits of rows, not 0",
			plan->limits.reserved);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!*numbers[i])
			*numbers[i] = UINT64_MAX;
	}
	return 0;
}

static bool is_ordered(const struct row_plan *plan)
{
	return plan->limits.flags & DRAY_ROWS_ORDERED;
}

/* Refuses elements that share bytes after repeated axes were dropped. */
static int rows_check_apart(const struct row_plan *plan,
			    const struct dray_view *view)
{
	struct dray_operand operand;
	struct dray_view once;
	int i, ret;

	if (plan->layout.nested)
		return 0;
	dray_view_copy(&once, view);
	for (i = 0; i < once.ndim; i++) {
		if (!once.strides[i])
			once.shape[i] = 1;
	}
	ret = dray_operand_init(&operand, &once, "the view");
	if (ret)
		return ret;
	switch (dray_overlap_self(&operand)) {
	case DRAY_OVERLAP_NONE:
		return 0;
	case DRAY_OVERLAP_SOME:
		return dray_fail(
			-EINVAL,
			"elements of the view share bytes, which rows would have twice");
	default:
		return dray_fail(
			-EINVAL,
			"whether elements of the view share bytes takes too long to tell");
	}
}

/* The axis of a cut run is beside the layout's axes. */
static uint64_t axis_count(const struct row_plan *plan,
			   const struct row_part *part, int axis)
{
	return axis == plan->layout.axes_count ? part->pieces
					       : plan->layout.axes[axis].count;
}

static bool axis_fits(const struct row_plan *plan, const struct row_part *part,
		      int axis)
{
	int64_t stride;

	if (axis == plan->layout.axes_count)
		return part->length <= plan->limits.max_stride;
	stride = plan->layout.axes[axis].strides[0];
	return stride > 0 && (uint64_t)stride >= part->length &&
	       (uint64_t)stride <= plan->limits.max_stride;
}

/* Chooses the axis that leaves the fewest rows; false if none fits. */
static bool choose_axis(const struct row_plan *plan, struct row_part *part)
{
	const uint64_t all = plan->layout.runs * part->pieces;
	const int inner = plan->layout.axes_count - (part->pieces == 1);
	int axis;

	part->rows = UINT64_MAX;
	for (axis = is_ordered(plan) && inner > 0 ? inner : 0; axis <= inner;
	     axis++) {
		uint64_t count = axis_count(plan, part, axis);
		uint64_t chunks = divide_up(count, plan->limits.max_count);

		if (!axis_fits(plan, part, axis) ||
		    all / count * chunks >= part->rows)
			continue;
		part->axis = axis;
		part->chunks = chunks;
		part->rows = all / count * chunks;
	}
	return part->rows != UINT64_MAX;
}

/* Makes rows of each run, along its pieces. */
static void keep_runs(const struct row_plan *plan, struct row_part *part)
{
	part->axis = plan->layout.axes_count;
	part->chunks = divide_up(part->pieces, plan->limits.max_count);
	part->rows = plan->layout.runs * part->chunks;
}

/* Plans rows with strides; false if there is no way. */
static bool plan_parts(struct row_plan *plan)
{
	const uint64_t run = plan->layout.run, most = plan->limits.max_length;
	struct row_part *full = &plan->parts[0], *rest = &plan->parts[1];

	if (plan->limits.max_count == 1)
		return false;
	*full = (struct row_part){
		.length = run < most ? run : most,
		.pieces = run < most ? 1 : run / most,
	};
	*rest = (struct row_part){
		.offset = full->length * full->pieces,
		.length = run - full->length * full->pieces,
		.pieces = 1,
	};
	if (is_ordered(plan) && rest->length) {
		/* The rest of each run is between the pieces of two. */
		if (!axis_fits(plan, full, plan->layout.axes_count))
			return false;
		keep_runs(plan, full);
		keep_runs(plan, rest);
	} else if (!choose_axis(plan, full)) {
		return false;
	} else if (rest->length && !choose_axis(plan, rest)) {
		keep_runs(plan, rest);
	}
	plan->rows = full->rows + rest->rows;
	return true;
}

/* Plans a row for each piece, if those are fewer. */
static void plan_pieces(struct row_plan *plan)
{
	const uint64_t most = plan->limits.max_length;
	const uint64_t seams = dray_layout_seams(&plan->layout);
	const uint64_t single = divide_up(plan->layout.run, most);
	const uint64_t joint =
		seams ? divide_up(2 * plan->layout.run, most) : 0;
	const uint64_t rows =
		(plan->layout.runs - 2 * seams) * single + seams * joint;

	if (rows >= plan->rows)
		return;
	plan->rows = rows;
	plan->seams = seams;
	plan->single = single;
	plan->joint = joint;
}

static int rows_make(struct row_plan *plan, const struct dray_view *view,
		     const struct dray_row_limits *limits)
{
	int ret;

	ret = take_limits(plan, limits);
	if (!ret)
		ret = dray_view_check(view, "the view", NULL);
	if (ret)
		return ret;
	plan->rows = 0;
	plan->single = 0;
	if (is_ordered(plan))
		dray_layout_sequence(&plan->layout, view);
	else
		dray_layout_cover(&plan->layout, view);
	if (!plan->layout.runs)
		return 0;
	if (!is_ordered(plan))
		ret = rows_check_apart(plan, view);
	if (ret)
		return ret;
	if (!plan_parts(plan))
		plan->rows = UINT64_MAX;
	plan_pieces(plan);
	if (plan->rows > SIZE_MAX)
		return dray_fail(-EOVERFLOW,
				 "the view has %" PRIu64
				 " rows, %zu are counted",
				 plan->rows, (size_t)SIZE_MAX);
	return 0;
}

/* Returns the address of a run, with that axis at its start. */
static uint64_t run_address(const struct dray_layout *layout, uint64_t number,
			    int without)
{
	uint64_t address = (uintptr_t)layout->data[0];
	int i;

	for (i = layout->axes_count - 1; i >= 0; i--) {
		const struct dray_layout_axis *axis = &layout->axes[i];

		if (i == without)
			continue;
		address += number % axis->count * (uint64_t)axis->strides[0];
		number /= axis->count;
	}
	return address;
}

/* Fills the row of that number of a part. */
static void part_row(const struct row_plan *plan, const struct row_part *part,
		     uint64_t number, struct dray_row *row)
{
	const struct dray_layout *layout = &plan->layout;
	const uint64_t most = plan->limits.max_count;
	const uint64_t count = axis_count(plan, part, part->axis);
	const uint64_t start = number % part->chunks * most;
	uint64_t cut = 0;

	number /= part->chunks;
	row->length = part->length;
	row->stride = part->length;
	row->count = count - start < most ? count - start : most;
	if (part->axis != layout->axes_count) {
		cut = number % part->pieces;
		number /= part->pieces;
		if (row->count > 1)
			row->stride =
				(uint64_t)layout->axes[part->axis].strides[0];
	}
	row->address = run_address(layout, number, part->axis) + part->offset +
		       cut * part->length;
	if (start)
		row->address +=
			start * (part->axis == layout->axes_count
					 ? part->length
					 : (uint64_t)layout->axes[part->axis]
						   .strides[0]);
}

static void fill_parts(const struct row_plan *plan, uint64_t first,
		       struct dray_row *rows, size_t count)
{
	const struct row_part *full = &plan->parts[0], *rest = &plan->parts[1];
	const uint64_t together = full->chunks + rest->chunks;
	uint64_t number;
	size_t i;

	for (i = 0; i < count; i++) {
		number = first + i;
		if (!is_ordered(plan) || !rest->length) {
			if (number < full->rows)
				part_row(plan, full, number, &rows[i]);
			else
				part_row(plan, rest, number - full->rows,
					 &rows[i]);
		} else if (number % together < full->chunks) {
			part_row(plan, full,
				 number / together * full->chunks +
					 number % together,
				 &rows[i]);
		} else {
			part_row(plan, rest, number / together, &rows[i]);
		}
	}
}

/* Counts the seams among the first runs of the layout. */
static uint64_t seams_before(const struct dray_layout *layout, uint64_t runs)
{
	int64_t end = (int64_t)layout->run;
	uint64_t inside = 1, seams = 0;
	int i;

	if (!runs)
		return 0;
	for (i = layout->axes_count - 1; i >= 0; i--) {
		const struct dray_layout_axis *axis = &layout->axes[i];

		/* The axis steps after each @inside runs but its last. */
		if (axis->strides[0] == end)
			seams += (runs - 1) / inside -
				 (runs - 1) / inside / axis->count;
		end += ((int64_t)axis->count - 1) * axis->strides[0];
		inside *= axis->count;
	}
	return seams;
}

/* Counts the pieces of the first runs, of which the last touches no later run. */
static uint64_t pieces_before(const struct row_plan *plan, uint64_t runs)
{
	uint64_t seams = plan->seams ? seams_before(&plan->layout, runs) : 0;

	return (runs - 2 * seams) * plan->single + seams * plan->joint;
}

static bool touches_next(const struct row_plan *plan, uint64_t run)
{
	return plan->seams && run + 1 < plan->layout.runs &&
	       seams_before(&plan->layout, run + 2) !=
		       seams_before(&plan->layout, run + 1);
}

/* Finds the run with which the pieces around a numbered piece begin. */
static uint64_t rows_find_run(const struct row_plan *plan, uint64_t number)
{
	uint64_t low = 0, high = plan->layout.runs, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		/* Two runs that touch are begun or passed together. */
		if (touches_next(plan, middle - 1))
			middle--;
		if (middle == low)
			middle = low + 2;
		if (middle >= high)
			break;
		if (pieces_before(plan, middle) <= number)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void fill_pieces(const struct row_plan *plan, uint64_t first,
			struct dray_row *rows, size_t count)
{
	const struct dray_layout *layout = &plan->layout;
	uint64_t run = rows_find_run(plan, first);
	uint64_t done = first - pieces_before(plan, run);
	size_t i = 0;

	while (i < count) {
		bool joint = touches_next(plan, run);
		uint64_t address = run_address(layout, run, -1);
		uint64_t left = layout->run * (joint ? 2 : 1);
		uint64_t most = plan->limits.max_length;

		address += done * most;
		left -= done * most;
		for (done = 0; left && i < count; i++) {
			uint64_t length = left < most ? left : most;

			rows[i] =
				(struct dray_row){ address, length, length, 1 };
			address += length;
			left -= length;
		}
		run += joint ? 2 : 1;
	}
}

static void rows_fill(const struct row_plan *plan, uint64_t first,
		      struct dray_row *rows, size_t count)
{
	if (plan->single)
		fill_pieces(plan, first, rows, count);
	else
		fill_parts(plan, first, rows, count);
}

/* Returns how many rows are written from @first on. */
static size_t place_rows_from(const struct row_plan *plan, uint64_t first,
			      size_t room)
{
	uint64_t left = first < plan->rows ? plan->rows - first : 0;

	return left < room ? (size_t)left : room;
}

int dray_view_rows(const struct dray_view *view,
		   const struct dray_row_limits *limits, struct dray_row *rows,
		   size_t room, size_t *count)
{
	struct row_plan plan;
	int ret;

	if (!dray_given(view, __func__) || !dray_given(count, __func__) ||
	    (room && !dray_given(rows, __func__)))
		return -EINVAL;
	ret = rows_make(&plan, view, limits);
	if (ret)
		return ret;
	*count = (size_t)plan.rows;
	if (plan.rows > plan.limits.max_rows)
		return dray_fail(-E2BIG,
				 "the view has %" PRIu64
				 " rows, the limit is %" PRIu64,
				 plan.rows, plan.limits.max_rows);
	room = place_rows_from(&plan, plan.limits.first, room);
	if (room)
		rows_fill(&plan, plan.limits.first, rows, room);
	return 0;
}

int dray_view_iovec(const struct dray_view *view, uint64_t first,
		    struct iovec *entries, size_t room, size_t *count)
{
	const struct dray_row_limits limits = {
		.max_count = 1,
		.flags = DRAY_ROWS_ORDERED,
	};
	struct dray_row rows[64];
	struct row_plan plan;
	size_t done, part, i;
	int ret;

	if (!dray_given(view, __func__) || !dray_given(count, __func__) ||
	    (room && !dray_given(entries, __func__)))
		return -EINVAL;
	ret = rows_make(&plan, view, &limits);
	if (ret)
		return ret;
	*count = (size_t)plan.rows;
	room = place_rows_from(&plan, first, room);
	for (done = 0; done < room; done += part) {
		part = room - done < 64 ? room - done : 64;
		rows_fill(&plan, first + done, rows, part);
		for (i = 0; i < part; i++) {
			/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
			entries[done + i].iov_base =
				(void *)(uintptr_t)rows[i].address;
			entries[done + i].iov_len = (size_t)rows[i].length;
		}
	}
	return 0;
}
