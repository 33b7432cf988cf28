// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Assigns one view to another, through a copy aside if the two overlap. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout_threads.h"
#include "layout/overlap.h"
#include "view/view.h"
#include "base/error.h"

/*
 * Copies through memory aside, which holds the source's elements once and
 * densely: axes that only repeat them are left out.
 */
static int copy_through(const struct dray_layout *layout, unsigned int threads)
{
	struct dray_layout in = *layout, out = *layout;
	uint64_t bytes = layout->run;
	unsigned char *aside;
	int i;

	in.axes_count = 0;
	for (i = layout->axes_count - 1; i >= 0; i--) {
		if (!layout->axes[i].strides[DRAY_SRC])
			continue;
		out.axes[i].strides[DRAY_SRC] = (int64_t)bytes;
		bytes *= layout->axes[i].count;
	}
	/* Windows of few bytes may have more elements than memory has bytes. */
	aside = (size_t)bytes == bytes ? malloc((size_t)bytes) : NULL;
	if (!aside)
		return dray_fail(
			-ENOMEM,
			"source and destination overlap, and there is no memory to put %" PRIu64
			" bytes aside",
			bytes);
	for (i = 0; i < layout->axes_count; i++) {
		struct dray_layout_axis axis = layout->axes[i];

		if (!axis.strides[DRAY_SRC])
			continue;
		axis.strides[DRAY_DST] = out.axes[i].strides[DRAY_SRC];
		in.axes[in.axes_count++] = axis;
	}
	in.data[DRAY_DST] = aside;
	out.data[DRAY_SRC] = aside;
	dray_layout_apply_threads(&in, NULL, NULL, threads);
	dray_layout_apply_threads(&out, NULL, NULL, threads);
	free(aside);
	return 0;
}

static bool is_onto_itself(const struct dray_layout *layout)
{
	int i;

	if (layout->data[DRAY_DST] != layout->data[DRAY_SRC])
		return false;
	for (i = 0; i < layout->axes_count; i++) {
		if (layout->axes[i].strides[DRAY_DST] !=
		    layout->axes[i].strides[DRAY_SRC])
			return false;
	}
	return true;
}

int dray_view_assign_reduced(const struct dray_layout *layout,
			     const struct dray_operand *dst,
			     const struct dray_operand *src,
			     unsigned int threads)
{
	if (!layout->runs || is_onto_itself(layout))
		return 0;
	if (layout->axes_count == 0 &&
	    (threads < 2 || dray_addresses_meet(dst->span, src->span))) {
		memmove(layout->data[DRAY_DST], layout->data[DRAY_SRC],
			(size_t)layout->run);
		return 0;
	}
	if (dray_overlap_find(dst, src) != DRAY_OVERLAP_NONE)
		return copy_through(layout, threads);
	if (threads > 1)
		return dray_layout_apply_threads(layout, NULL, NULL, threads);
	dray_layout_copy(layout);
	return 0;
}

int dray_view_assign(const struct dray_view *dst, const struct dray_view *src)
{
	struct dray_operand to, from;
	struct dray_layout layout;
	int ret;

	ret = dray_operand_init(&to, dst, "the destination");
	if (!ret)
		ret = dray_operand_init(&from, src, "the source");
	if (!ret)
		ret = dray_operand_match(&to, &from);
	if (ret)
		return ret;
	dray_layout_pair(&layout, dst, src);
	return dray_view_assign_reduced(&layout, &to, &from, 1);
}
