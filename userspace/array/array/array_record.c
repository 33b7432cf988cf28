// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Arrays over the memory that another process sends or exports. */
#include <errno.h>

#include <dray/record.h>

#include "array/array.h"
#include "private.h"

/* Makes an array of what a record leads to, and drops the references to that. */
static int adopt_opened(struct dray_view *view, struct dray_block *block,
			struct dray_array **out)
{
	int ret = dray_array_adopt(view, 0, block, out);

	dray_block_unref(block);
	dray_dtype_unref(view->dtype);
	return ret;
}

int dray_array_open(const void *record, size_t size, struct dray_node *node,
		    struct dray_array **out)
{
	struct dray_block *block;
	struct dray_view view;
	int ret;

	if (!dray_given(record, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_open(record, size, node, &view, &block);
	return ret ? ret : adopt_opened(&view, block, out);
}

int dray_array_receive(int socket, struct dray_node *node,
		       struct dray_array **out)
{
	struct dray_block *block;
	struct dray_view view;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_view_receive(socket, node, &view, &block);
	return ret ? ret : adopt_opened(&view, block, out);
}
