// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Exact overlap of strided views.
 *
 * Two elements share a byte if a sum of n[k] * stride[k] with 0 <= n[k] <=
 * most[k] falls into a short interval: a bounded linear Diophantine problem.
 * The search starts at the largest stride; the reach of the smaller ones bounds
 * each n[k].  Slices and transposes need a single path.  Contrived strides can
 * make the search exponential, so its work may be bounded; the answer is then
 * "unknown".
 */
#include <errno.h>
#include <inttypes.h>

#include "layout/overlap.h"
#include "base/error.h"
#include "base/holds.h"

#define MAX_TERMS (2 * DRAY_MAX_NDIM)

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
	int64_t work; /* steps that are left; below 0: any number */
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
static int64_t overlap_round_up(int64_t n, int64_t divisor)
{
	int64_t rest = divisor > 1 ? n % divisor : 0;

	return rest > 0 ? n + divisor - rest : n - rest;
}

/* Adds a term in order, and joins terms of equal stride. */
static void add_term(struct problem *problem, int64_t stride, int64_t most)
{
	int64_t size;
	int at = 0;
	int i;

	/* The stride of an axis of a single element may be anything. */
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

/* Starts without terms, and without the cost of clearing all of them. */
static void overlap_begin(struct problem *problem, int64_t work)
{
	problem->count = 0;
	problem->work = work;
}

static void overlap_bound(struct problem *problem)
{
	int k;

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

/* Whether a sum of terms [k, count) is in [low, high]. */
static enum dray_overlap overlap_search(struct problem *problem, int k,
					int64_t low, int64_t high)
{
	const struct term *term = &problem->terms[k];
	int64_t first, last;
	int64_t n;

	if (problem->work == 0)
		return DRAY_OVERLAP_UNKNOWN;
	if (problem->work > 0)
		problem->work--;
	if (low < 0)
		low = 0;
	if (high > problem->reach[k])
		high = problem->reach[k];
	if (low > high)
		return DRAY_OVERLAP_NONE;
	if (low == 0 || high == problem->reach[k])
		return DRAY_OVERLAP_SOME;
	DRAY_HOLDS(k < problem->count && term->stride > 0);
	if (overlap_round_up(low, problem->divisor[k]) > high)
		return DRAY_OVERLAP_NONE;
	/* n * stride must be within reach of the rest. */
	first = low - problem->reach[k + 1];
	first = first > 0 ? overlap_round_up(first, term->stride) / term->stride
			  : 0;
	last = high / term->stride;
	if (last > term->most)
		last = term->most;
	for (n = last; n >= first; n--) {
		enum dray_overlap found;

		found = overlap_search(problem, k + 1, low - n * term->stride,
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

enum dray_overlap dray_overlap_find_within(const struct dray_operand *a,
					   const struct dray_operand *b,
					   int64_t max_work)
{
	struct problem problem;
	int64_t distance;

	/* Strides of a view that covers no bytes may be anything. */
	if (a->extent.low == a->extent.high || b->extent.low == b->extent.high)
		return DRAY_OVERLAP_NONE;
	if (!dray_addresses_meet(a->span, b->span))
		return DRAY_OVERLAP_NONE;
	if (!is_within_bounds(a) || !is_within_bounds(b))
		return DRAY_OVERLAP_UNKNOWN;
	overlap_begin(&problem, max_work);
	add_terms(&problem, a->view);
	add_terms(&problem, b->view);
	overlap_bound(&problem);
	/*
	 * Of a's element at its span's start plus x, and b's element at its
	 * span's last element minus y: x + y must be their distance, up to the
	 * bytes by which the two still touch.
	 */
	distance = (int64_t)(b->span.high - a->span.low) -
		   dray_dtype_itemsize(b->view->dtype);
	return overlap_search(
		&problem, 0,
		distance - ((int64_t)dray_dtype_itemsize(a->view->dtype) - 1),
		distance + ((int64_t)dray_dtype_itemsize(b->view->dtype) - 1));
}

/*
 * Whether two elements share a byte that differ first in axis @k, by 1 to
 * extent - 1.  In each later axis they differ by anything either way, which is
 * 0 to 2 * (extent - 1) after adding extent - 1.
 */
static enum dray_overlap search_axis(const struct dray_view *view, int k,
				     int64_t *work)
{
	int64_t touch = (int64_t)dray_dtype_itemsize(view->dtype) - 1;
	struct problem problem;
	int64_t stride = view->strides[k];
	int64_t middle = 0, size;
	enum dray_overlap found;
	int i;

	if (view->shape[k] < 2)
		return DRAY_OVERLAP_NONE;
	if (stride == 0)
		return DRAY_OVERLAP_SOME;
	if (stride < 0)
		stride = -stride;
	overlap_begin(&problem, *work);
	add_term(&problem, stride, view->shape[k] - 2);
	for (i = k + 1; i < view->ndim; i++) {
		if (view->shape[i] < 2)
			continue;
		size = view->strides[i] < 0 ? -view->strides[i]
					    : view->strides[i];
		add_term(&problem, size, 2 * (view->shape[i] - 1));
		middle += size * (view->shape[i] - 1);
	}
	overlap_bound(&problem);
	found = overlap_search(&problem, 0, middle - stride - touch,
			       middle - stride + touch);
	*work = problem.work;
	return found;
}

enum dray_overlap dray_overlap_self_within(const struct dray_operand *operand,
					   int64_t max_work)
{
	enum dray_overlap found = DRAY_OVERLAP_NONE;
	int k;

	if (operand->extent.elements < 2 ||
	    !dray_dtype_itemsize(operand->view->dtype))
		return DRAY_OVERLAP_NONE;
	if (!is_within_bounds(operand))
		return DRAY_OVERLAP_UNKNOWN;
	for (k = 0; k < operand->view->ndim && found == DRAY_OVERLAP_NONE; k++)
		found = search_axis(operand->view, k, &max_work);
	return found;
}

static int overlap_check_limit(int64_t max_work)
{
	if (max_work < DRAY_SHARE_EXACT)
		return dray_fail(-EINVAL,
				 "a limit of %" PRId64
				 " steps, -1 and more are possible",
				 max_work);
	return 0;
}

/* Returns the answer, or why there is none. */
static int overlap_answer(enum dray_overlap found, int64_t max_work, bool wide,
			  bool *some)
{
	if (found == DRAY_OVERLAP_UNKNOWN && wide)
		return dray_fail(
			-EOVERFLOW,
			"a view covers too many bytes, 59 bits count them");
	if (found == DRAY_OVERLAP_UNKNOWN)
		return dray_fail(-E2BIG,
				 "not known after %" PRId64
				 " steps whether elements share a byte",
				 max_work);
	*some = found == DRAY_OVERLAP_SOME;
	return 0;
}

int dray_view_shares_memory(const struct dray_view *a,
			    const struct dray_view *b, int64_t max_work,
			    bool *shared)
{
	enum dray_overlap found = DRAY_OVERLAP_NONE;
	struct dray_operand one, other;
	bool meet;
	int ret;

	if (!dray_given(shared, __func__))
		return -EINVAL;
	ret = overlap_check_limit(max_work);
	if (!ret)
		ret = dray_operand_init(&one, a, "the first view");
	if (!ret)
		ret = dray_operand_init(&other, b, "the second view");
	if (ret)
		return ret;
	meet = one.extent.low != one.extent.high &&
	       other.extent.low != other.extent.high &&
	       dray_addresses_meet(one.span, other.span);
	if (max_work == DRAY_SHARE_BOUNDS) {
		*shared = meet;
		return 0;
	}
	if (meet)
		found = dray_overlap_find_within(&one, &other, max_work);
	return overlap_answer(
		found, max_work,
		!is_within_bounds(&one) || !is_within_bounds(&other), shared);
}

/* Whether no stride is below the bytes that the axes with smaller strides cover. */
static bool is_nested(const struct dray_view *view)
{
	int64_t covered = dray_dtype_itemsize(view->dtype);
	int axes[DRAY_MAX_NDIM];
	int i;

	dray_strides_sort(view->ndim, view->strides, axes);
	for (i = view->ndim - 1; i >= 0; i--) {
		int64_t stride = view->strides[axes[i]];

		if (view->shape[axes[i]] == 1)
			continue;
		if (stride < covered && stride > -covered)
			return false;
		covered += (stride < 0 ? -stride : stride) *
			   (view->shape[axes[i]] - 1);
	}
	return true;
}

int dray_view_is_unique(const struct dray_view *view, int64_t max_work,
			bool *unique)
{
	struct dray_operand operand;
	bool shared = false;
	int ret;

	if (!dray_given(unique, __func__))
		return -EINVAL;
	ret = overlap_check_limit(max_work);
	if (!ret)
		ret = dray_operand_init(&operand, view, "the view");
	if (ret)
		return ret;
	if (operand.extent.low != operand.extent.high && !is_nested(view)) {
		shared = true;
		if (max_work != DRAY_SHARE_BOUNDS)
			ret = overlap_answer(
				dray_overlap_self_within(&operand, max_work),
				max_work, !is_within_bounds(&operand), &shared);
	}
	if (!ret)
		*unique = !shared;
	return ret;
}
