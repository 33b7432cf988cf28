// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Exact overlap of strided views.
 *
 * Two elements share a byte when a sum of n[k] * stride[k] with 0 <= n[k] <=
 * most[k] falls into a short interval: a bounded linear Diophantine problem.
 * It is searched from the largest stride down; what the smaller strides can
 * still add bounds each n[k], so that views as slices and transposes make
 * them take one path.  Contrived strides can make it exponential: the work is
 * bounded, and then the answer is "unknown".
 */
#include "array/overlap.h"
#include "array/view.h"

#define MAX_TERMS (2 * DRAY_MAX_NDIM)
#define MAX_WORK 20000

/* Views that cover more are not measured: no sum below leaves 63 bits. */
#define MAX_SPAN (INT64_MAX / 16)

struct term {
	int64_t stride; /* > 0 */
	int64_t most; /* > 0 */
};

struct problem {
	struct term terms[MAX_TERMS]; /* strides fall, all different */
	int64_t reach[MAX_TERMS + 1]; /* most that terms [k, count) add */
	int64_t divisor[MAX_TERMS + 1]; /* of all strides of [k, count) */
	int count;
	int work;
};

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* @divisor is that of strides, which are above 0, or 0 for no stride. */
static int64_t round_up(int64_t n, int64_t divisor)
{
	int64_t rest = divisor > 1 ? n % divisor : 0;

	return rest > 0 ? n + divisor - rest : n - rest;
}

/* Keeps the order, and terms of one stride together as one. */
static void add_term(struct problem *problem, int64_t stride, int64_t most)
{
	int64_t size;
	int at = 0;

	/* The stride of an axis of one element may be anything. */
	if (stride == 0 || most == 0)
		return;
	size = stride < 0 ? -stride : stride;
	while (at < problem->count && problem->terms[at].stride > size)
		at++;
	if (at < problem->count && problem->terms[at].stride == size) {
		problem->terms[at].most += most;
		return;
	}
	for (int i = problem->count++; i > at; i--)
		problem->terms[i] = problem->terms[i - 1];
	problem->terms[at] = (struct term){ size, most };
}

static void bound(struct problem *problem)
{
	problem->work = MAX_WORK;
	problem->reach[problem->count] = 0;
	problem->divisor[problem->count] = 0;
	for (int k = problem->count - 1; k >= 0; k--) {
		const struct term *term = &problem->terms[k];

		problem->reach[k] =
			problem->reach[k + 1] + term->stride * term->most;
		problem->divisor[k] =
			common_divisor(problem->divisor[k + 1], term->stride);
	}
}

static bool is_measured(const struct dray_view *view)
{
	int64_t low, high;

	dray_view_span(view, &low, &high);
	return low > -MAX_SPAN && high < MAX_SPAN;
}

/* Whether terms [k, count) have a sum in [low, high]. */
static enum dray_overlap search(struct problem *problem, int k, int64_t low,
				int64_t high)
{
	const struct term *term = &problem->terms[k];
	int64_t first, last;

	if (--problem->work < 0)
		return DRAY_OVERLAP_UNKNOWN;
	if (low < 0)
		low = 0;
	if (high > problem->reach[k])
		high = problem->reach[k];
	if (low > high)
		return DRAY_OVERLAP_NONE;
	if (low == 0 || high == problem->reach[k])
		return DRAY_OVERLAP_SOME;
	/* no stride is below 1, see add_term(): said for the divisions */
	if (term->stride < 1 || round_up(low, problem->divisor[k]) > high)
		return DRAY_OVERLAP_NONE;
	/* n * stride has to come within reach of the rest */
	first = low - problem->reach[k + 1];
	first = first > 0 ? round_up(first, term->stride) / term->stride : 0;
	last = high / term->stride;
	if (last > term->most)
		last = term->most;
	for (int64_t n = last; n >= first; n--) {
		enum dray_overlap found;

		found = search(problem, k + 1, low - n * term->stride,
			       high - n * term->stride);
		if (found != DRAY_OVERLAP_NONE)
			return found;
	}
	return DRAY_OVERLAP_NONE;
}

enum dray_overlap dray_view_overlap(const struct dray_view *a,
				    const struct dray_view *b)
{
	struct problem problem = { .count = 0 };
	int64_t a_low, a_high, b_low, b_high;
	int64_t distance;

	if (!dray_view_spans_overlap(a, b))
		return DRAY_OVERLAP_NONE;
	if (!is_measured(a) || !is_measured(b))
		return DRAY_OVERLAP_UNKNOWN;
	dray_view_span(a, &a_low, &a_high);
	dray_view_span(b, &b_low, &b_high);
	for (int i = 0; i < a->ndim; i++)
		add_term(&problem, a->strides[i], a->shape[i] - 1);
	for (int i = 0; i < b->ndim; i++)
		add_term(&problem, b->strides[i], b->shape[i] - 1);
	bound(&problem);
	/*
	 * Element of a at its span's start plus x, element of b at its
	 * span's last element minus y: x + y has to be their distance,
	 * give or take what makes the two touch.
	 */
	distance = (intptr_t)((uintptr_t)b->data - (uintptr_t)a->data) +
		   b_high - b->dtype.itemsize - a_low;
	return search(&problem, 0, distance - ((int64_t)a->dtype.itemsize - 1),
		      distance + ((int64_t)b->dtype.itemsize - 1));
}

enum dray_overlap dray_view_self_overlap(const struct dray_view *view)
{
	int64_t touch = (int64_t)view->dtype.itemsize - 1;

	if (dray_view_size(view) < 2 || touch < 0)
		return DRAY_OVERLAP_NONE;
	if (!is_measured(view))
		return DRAY_OVERLAP_UNKNOWN;
	/*
	 * Two different elements differ first in some axis k, by 1 to
	 * extent - 1; in the axes after it by anything either way, which is
	 * 0 to 2 * (extent - 1) after adding extent - 1.
	 */
	for (int k = 0; k < view->ndim; k++) {
		struct problem problem = { .count = 0 };
		int64_t stride = view->strides[k];
		enum dray_overlap found;
		int64_t middle = 0;

		if (view->shape[k] < 2)
			continue;
		if (stride == 0)
			return DRAY_OVERLAP_SOME;
		if (stride < 0)
			stride = -stride;
		add_term(&problem, view->strides[k], view->shape[k] - 2);
		for (int i = k + 1; i < view->ndim; i++) {
			int64_t size = view->strides[i];

			if (view->shape[i] < 2)
				continue;
			add_term(&problem, view->strides[i],
				 2 * (view->shape[i] - 1));
			middle += (size < 0 ? -size : size) *
				  (view->shape[i] - 1);
		}
		bound(&problem);
		found = search(&problem, 0, middle - stride - touch,
			       middle - stride + touch);
		if (found != DRAY_OVERLAP_NONE)
			return found;
	}
	return DRAY_OVERLAP_NONE;
}
