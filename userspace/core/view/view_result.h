/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Results: views that functions of this room make of other views, with their facts. */
#ifndef DRAY_VIEW_VIEW_RESULT_H
#define DRAY_VIEW_VIEW_RESULT_H

#include "view/view.h"

/*
 * A result on its way: filled in place, or in @room if it replaces its own input.
 * It is begun when nothing can fail any more.
 */
struct dray_result {
	struct dray_view *view, *out;
	int ndim;
	struct dray_facts facts;
};

/* Begins a result without axes, with data and type of @view. */
static inline struct dray_result dray_result_start(const struct dray_view *view,
						   struct dray_view *out,
						   struct dray_view *room)
{
	struct dray_result result = {
		.view = out == view ? room : out,
		.out = out,
	};

	result.view->data = view->data;
	result.view->dtype = view->dtype;
	return result;
}

static inline void dray_result_add(struct dray_result *result, int64_t count,
				   int64_t stride)
{
	int at = result->ndim++;

	dray_facts_add(&result->facts, count, stride);
	result->view->shape[at] = count;
	result->view->strides[at] = stride;
}

/* Ends a result; @flags has its permissions. */
static inline int dray_result_end(struct dray_result *result, uint32_t flags)
{
	struct dray_view *view = result->view;

	view->ndim = result->ndim;
	view->flags = (flags & ~(uint32_t)DRAY_VIEW_FACTS) |
		      dray_facts_end(&result->facts, view);
	if (view != result->out)
		dray_view_write(result->out, view);
	return 0;
}

/* Sets the facts of a view, and writes it, maybe over its own input. */
static inline int dray_view_finish(struct dray_view *result,
				   struct dray_view *out)
{
	uint32_t facts = dray_view_facts(result);

	result->flags = (result->flags & ~(uint32_t)DRAY_VIEW_FACTS) | facts;
	dray_view_write(out, result);
	return 0;
}

#endif /* DRAY_VIEW_VIEW_RESULT_H */
