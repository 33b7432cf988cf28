// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Values written where booleans are true. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "index/index.h"
#include "index/move.h"
#include "index/rows.h"
#include "private.h"

/* Bytes of elements between the values and the view. */
#define ROOM 8192

/* Values that take turns: element n of the view takes number n, modulo count. */
struct mask_turns {
	struct dray_mover fetch, store;
	const struct dray_row *values;
	int64_t next; /* the value of the next element */
};

/* Writes a piece of a row of the view, of which some booleans are true. */
static void put_piece(struct mask_turns *turns, unsigned char *data,
		      int64_t step, const unsigned char *mask,
		      int64_t mask_step, size_t count)
{
	int64_t from[DRAY_INDEX_CHUNK], to[DRAY_INDEX_CHUNK];
	const struct dray_row *values = turns->values;
	unsigned char between[ROOM], *row = between;
	size_t i, found = 0, size = turns->fetch.size;

	DRAY_HOLDS(count);
	for (i = 0; i < count; i++) {
		from[found] = turns->next * values->stride;
		to[found] = (int64_t)i * step;
		found += mask[(int64_t)i * mask_step] != 0;
		if (++turns->next == values->count)
			turns->next = 0;
	}
	if (size > ROOM) /* One element. */
		row = values->data + from[0];
	else
		turns->fetch.listed(values->data, 1, from, row, (int64_t)size,
				    found, size);
	turns->store.listed(data, 1, to, row, (int64_t)size, found, size);
}

static void put_rows(const struct dray_view *view, const struct dray_view *mask,
		     const struct dray_row *values)
{
	size_t size = dray_dtype_itemsize(view->dtype);
	size_t most = size > ROOM ? 1 : size ? ROOM / size : 1;
	struct mask_turns turns = { dray_mover_for(DRAY_INDEX_GATHER, size),
				    dray_mover_for(DRAY_INDEX_SCATTER, size),
				    values, 0 };
	struct dray_index_rows rows;
	int64_t at, piece;

	most = most > DRAY_INDEX_CHUNK ? DRAY_INDEX_CHUNK : most;
	if (!dray_rows_start(&rows, (const struct dray_view *[]){ view, mask },
			     2))
		return;
	do {
		for (at = 0; at < rows.count; at += piece) {
			piece = rows.count - at;
			if (piece > (int64_t)most)
				piece = (int64_t)most;
			put_piece(&turns, rows.data[0] + at * rows.strides[0],
				  rows.strides[0],
				  rows.data[1] + at * rows.strides[1],
				  rows.strides[1], (size_t)piece);
		}
	} while (dray_rows_next(&rows));
}

/* Writes with a mask of the view's shape that shares no memory with it. */
static int put_mask_write(const struct dray_operand *to,
			  const struct dray_view *mask,
			  const struct dray_view *values)
{
	struct dray_values used;
	struct dray_row row;
	int ret;

	ret = dray_values_use(to, values, false, &used);
	if (ret)
		return ret;
	ret = dray_values_in_row(used.view, 1, &row);
	if (!ret && row.count == 1)
		dray_index_fill_masked(to->view, mask, row.data);
	else if (!ret)
		put_rows(to->view, mask, &row);
	if (!ret)
		free(row.own);
	free(used.own);
	return ret;
}

/* Checks a mask against the elements. */
static int put_mask_check(const struct dray_operand *to,
			  const struct dray_view *mask)
{
	int ret = dray_view_check(mask, "the mask", NULL);

	if (ret)
		return ret;
	if (!(mask->flags & DRAY_READ))
		return dray_fail(-EPERM, "the mask may not be read");
	if (!dray_dtype_is_bool(mask->dtype))
		return dray_fail(-EINVAL, "the mask is not of booleans");
	if (dray_view_size(mask) != to->extent.elements)
		return dray_fail(-EINVAL,
				 "a mask of %" PRId64 " booleans for %" PRId64
				 " elements",
				 dray_view_size(mask), to->extent.elements);
	return 0;
}

int dray_put_mask(const struct dray_view *view, const struct dray_view *mask,
		  const struct dray_view *values)
{
	struct dray_view dense, shaped;
	struct dray_operand to;
	int ret;

	ret = dray_index_check_values(&to, view, values);
	if (!ret)
		ret = put_mask_check(&to, mask);
	if (ret || !to.extent.elements || !dray_view_size(values))
		return ret;
	if (mask->ndim == view->ndim &&
	    !memcmp(mask->shape, view->shape,
		    (size_t)view->ndim * sizeof(view->shape[0])) &&
	    !dray_index_shares(&to, mask))
		return put_mask_write(&to, mask, values);
	ret = dray_view_put_aside(mask, DRAY_BOOL, &dense);
	if (ret)
		return ret;
	ret = dray_view_init(&shaped, dense.data, DRAY_BOOL, view->ndim,
			     view->shape, NULL);
	if (!ret)
		ret = put_mask_write(&to, &shaped, values);
	free(dense.data);
	return ret;
}
