// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Exact overlap of strided views.
 *
 * Two elements share a byte if a sum of n[k] * stride[k] with 0 <= n[k] <=
 * most[k] falls into a short interval: a bounded linear Diophantine problem.
 * The search starts at the largest stride; the reach of the smaller ones bounds
 * each n[k].  Slices and transposes need a single path.  Contrived strides can
 * make the search exponential, so its work is bounded, and the answer is then
 * "unknown".
 */
#include "array/overlap.h"

#define MAX_TERMS (2 * DRAY_MAX_NDIM)
#define MAX_WORK 20000

/* Wider views are not measured, so that no sum below leaves 63 bits. */
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

/* @divisor divides strides above 0, or is 0 for no stride. */
static int64_t round_up(int64_t n, int64_t divisor)
{
	int64_t rest = divisor > 1 ? n % divisor : 0;

	return rest > 0 ? n + divisor - rest : n - rest;
}

/* Adds a term in order, and joins terms of one stride. */
static void add_term(struct problem *problem, int64_t stride, int64_t most)
{
	int64_t size;
	int at = 0;
	int i;

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
	for (i = problem->count++; i > at; i--)
		problem->terms[i] = problem->terms[i - 1];
	problem->terms[at] = (struct term){ size, most };
}

static void bound(struct problem *problem)
{
	int k;

	problem->work = MAX_WORK;
	problem->reach[problem->count] = 0;
	problem->divisor[problem->count] = 0;
	for (k = problem->count - 1; k >= 0; k--) {
		const struct term *term = &problem->terms[k];

		problem->reach[k] =
			problem->reach[k + 1] + term->stride * term->most;
		problem->divisor[k] =
			common_divisor(problem->divisor[k + 1], term->stride);
	}
}

static bool is_within_bounds(const struct dray_operand *operand)
{
	return operand->extent.low > -MAX_SPAN &&
	       operand->extent.high < MAX_SPAN;
}

/* Whether terms [k, count) have a sum in [low, high]. */
static enum dray_overlap search(struct problem *problem, int k, int64_t low,
				int64_t high)
{
	const struct term *term = &problem->terms[k];
	int64_t first, last;
	int64_t n;

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
	/* No stride is below 1, see add_term(); the divisions need to know. */
	if (term->stride < 1 || round_up(low, problem->divisor[k]) > high)
		return DRAY_OVERLAP_NONE;
	/* n * stride has to come within reach of the rest. */
	first = low - problem->reach[k + 1];
	first = first > 0 ? round_up(first, term->stride) / term->stride : 0;
	last = high / term->stride;
	if (last > term->most)
		last = term->most;
	for (n = last; n >= first; n--) {
		enum dray_overlap found;

		found = search(problem, k + 1, low - n * term->stride,
			       high - n * term->stride);
		if (found != DRAY_OVERLAP_NONE)
			return found;
	}
	return DRAY_OVERLAP_NONE;
}

static void add_terms(struct problem *problem, const struct dray_view *view)
{
	int i;

	for (i = 0; i < view->ndim; i++)
		add_term(problem, view->strides[i], view->shape[i] - 1);
}

enum dray_overlap dray_overlap_find(const struct dray_operand *a,
				    const struct dray_operand *b)
{
	struct problem problem;
	int64_t distance;

	if (!dray_addresses_meet(a->span, b->span))
		return DRAY_OVERLAP_NONE;
	if (!is_within_bounds(a) || !is_within_bounds(b))
		return DRAY_OVERLAP_UNKNOWN;
	problem.count = 0;
	add_terms(&problem, a->view);
	add_terms(&problem, b->view);
	bound(&problem);
	/*
	 * Takes a's element at its span's start plus x, and b's element at its
	 * span's last element minus y: x + y has to be their distance, give or
	 * take the bytes by which the two still touch.
	 */
	distance =
		(int64_t)(b->span.high - a->span.low) - b->view->dtype.itemsize;
	return search(&problem, 0,
		      distance - ((int64_t)a->view->dtype.itemsize - 1),
		      distance + ((int64_t)b->view->dtype.itemsize - 1));
}

/*
 * Whether two elements share a byte that differ first in axis @k, by 1 to
 * extent - 1.  In each later axis they differ by anything either way, which is
 * 0 to 2 * (extent - 1) after adding extent - 1.
 */
static enum dray_overlap search_axis(const struct dray_view *view, int k)
{
	int64_t touch = (int64_t)view->dtype.itemsize - 1;
	struct problem problem;
	int64_t stride = view->strides[k];
	int64_t middle = 0, size;
	int i;

	if (view->shape[k] < 2)
		return DRAY_OVERLAP_NONE;
	if (stride == 0)
		return DRAY_OVERLAP_SOME;
	if (stride < 0)
		stride = -stride;
	problem.count = 0;
	add_term(&problem, stride, view->shape[k] - 2);
	for (i = k + 1; i < view->ndim; i++) {
		if (view->shape[i] < 2)
			continue;
		size = view->strides[i] < 0 ? -view->strides[i]
					    : view->strides[i];
		add_term(&problem, size, 2 * (view->shape[i] - 1));
		middle += size * (view->shape[i] - 1);
	}
	bound(&problem);
	return search(&problem, 0, middle - stride - touch,
		      middle - stride + touch);
}

enum dray_overlap dray_overlap_self(const struct dray_operand *operand)
{
	enum dray_overlap found = DRAY_OVERLAP_NONE;
	int k;

	if (operand->extent.elements < 2 || !operand->view->dtype.itemsize)
		return DRAY_OVERLAP_NONE;
	if (!is_within_bounds(operand))
		return DRAY_OVERLAP_UNKNOWN;
	for (k = 0; k < operand->view->ndim && found == DRAY_OVERLAP_NONE; k++)
		found = search_axis(operand->view, k);
	return found;
}
