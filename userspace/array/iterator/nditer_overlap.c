// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Operands that share memory: one that is written is copied aside if another
 * that is read has a byte of it, since its elements could change before they are
 * read.
 */
#include "iterator/nditer.h"
#include "private.h"

void dray_nditer_view_of(const struct dray_nditer *iter, int o,
			 struct dray_view *view)
{
	const struct nditer_operand *operand = &iter->operand[o];
	int i;

	if (operand->array) {
		dray_array_view(operand->array, view);
		return;
	}
	view->data = operand->data;
	view->dtype = operand->stored;
	view->ndim = operand->ndim;
	view->flags = operand->permissions;
	for (i = 0; i < operand->ndim; i++) {
		view->shape[i] = nditer_extent(iter, operand, i);
		view->strides[i] = nditer_stride(iter, operand, i);
	}
}

static bool lies_alike(const struct dray_view *a, const struct dray_view *b)
{
	int i;

	if (a->data != b->data || a->ndim != b->ndim ||
	    !dray_dtype_equal(a->dtype, b->dtype))
		return false;
	for (i = 0; i < a->ndim; i++) {
		if (a->shape[i] != b->shape[i] ||
		    a->strides[i] != b->strides[i])
			return false;
	}
	return true;
}

/* Whether writes to @written may change what is read from @read too early. */
static bool nditer_overlap_disturbs(const struct dray_nditer *iter,
				    const struct dray_operand *written,
				    const struct dray_operand *read, int w,
				    int r)
{
	uint32_t both = iter->operand[w].flags & iter->operand[r].flags;

	if (!written->extent.elements || !read->extent.elements)
		return false;
	if ((both & DRAY_OPERAND_ELEMENTWISE) &&
	    lies_alike(written->view, read->view) &&
	    dray_overlap_self(written) == DRAY_OVERLAP_NONE)
		return false;
	return dray_overlap_find(written, read) != DRAY_OVERLAP_NONE;
}

int dray_nditer_mark_overlaps(struct dray_nditer *iter)
{
	struct dray_operand operands[DRAY_MAX_OPERANDS];
	struct dray_view views[DRAY_MAX_OPERANDS];
	int ret, w, r;

	for (w = 0; w < iter->operands; w++) {
		if (!nditer_exists(&iter->operand[w]))
			continue;
		dray_nditer_view_of(iter, w, &views[w]);
		ret = dray_operand_init(&operands[w], &views[w], "an operand");
		if (ret)
			return ret;
	}
	for (w = 0; w < iter->operands; w++) {
		struct nditer_operand *written = &iter->operand[w];

		if (!nditer_exists(written) ||
		    !(written->flags & DRAY_OPERAND_WRITE))
			continue;
		for (r = 0; r < iter->operands; r++) {
			const struct nditer_operand *read = &iter->operand[r];

			if (r == w || !nditer_exists(read) ||
			    !(read->flags & DRAY_OPERAND_READ) ||
			    (read->flags & OPERAND_COPIES))
				continue;
			if (nditer_overlap_disturbs(iter, &operands[w],
						    &operands[r], w, r)) {
				written->flags |= OPERAND_COPIES;
				break;
			}
		}
	}
	return 0;
}
