// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays of booleans as indices: counts of true elements, their coordinates, and
 * copies of the elements that they choose.  Any byte but 0 is true.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "index/index.h"
#include "index/move.h"
#include "index/rows.h"
#include "private.h"

/* Bytes that a processor compares at once. */
typedef uint8_t bytes __attribute__((vector_size(16)));

/* Counts of at most 255 vectors fit a byte each. */
static int64_t count_vectors(const unsigned char *data, size_t vectors)
{
	bytes counts = { 0 }, at;
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < vectors; i++) {
		memcpy(&at, data + i * sizeof(at), sizeof(at));
		counts -= (bytes)(at != 0); /* -1 where it holds */
	}
	for (i = 0; i < sizeof(counts); i++)
		sum += counts[i];
	return sum;
}

int64_t dray_count_bytes(const unsigned char *data, int64_t stride,
			 size_t count)
{
	int64_t sum = 0;

	if (stride == 1) {
		while (count >= sizeof(bytes)) {
			size_t vectors = count / sizeof(bytes);

			vectors = vectors > 255 ? 255 : vectors;
			sum += count_vectors(data, vectors);
			data += vectors * sizeof(bytes);
			count -= vectors * sizeof(bytes);
		}
	}
	for (; count; count--) {
		sum += *data != 0;
		data += stride;
	}
	return sum;
}

int64_t dray_count_trues(const struct dray_view *mask)
{
	struct dray_index_rows rows;
	int64_t sum = 0;

	if (!dray_rows_start(&rows, &mask, 1))
		return 0;
	do {
		sum += dray_count_bytes(rows.data[0], rows.strides[0],
					(size_t)rows.count);
	} while (dray_rows_next(&rows));
	return sum;
}

size_t dray_list_trues(const unsigned char *mask, int64_t stride, size_t count,
		       int64_t first, int64_t step, int64_t *offsets)
{
	size_t i = 0, found = 0;

	if (stride == 1) {
		for (; i + 8 <= count; i += 8) {
			uint64_t eight;
			size_t j;

			memcpy(&eight, mask + i, sizeof(eight));
			if (!eight)
				continue;
			for (j = i; j < i + 8; j++) {
				offsets[found] = first + (int64_t)j * step;
				found += mask[j] != 0;
			}
		}
	}
	for (; i < count; i++) {
		offsets[found] = first + (int64_t)i * step;
		found += mask[(int64_t)i * stride] != 0;
	}
	return found;
}

/*
 * Copies a piece of a row, at most @left true elements; returns their count, also
 * if it is above @left.
 */
static int64_t move_piece(const struct dray_mover *mover,
			  const struct dray_index_rows *rows, int64_t from,
			  size_t count, unsigned char *row, int64_t stride,
			  int64_t left)
{
	unsigned char *data = rows->data[0] + from * rows->strides[0];
	const unsigned char *mask = rows->data[1] + from * rows->strides[1];
	int64_t offsets[DRAY_INDEX_CHUNK];
	size_t trues = (size_t)dray_count_bytes(mask, rows->strides[1], count);

	if (!trues)
		return 0;
	if (trues == count && left >= (int64_t)count) {
		mover->strided(data, rows->strides[0], row, stride, count,
			       mover->size);
		return (int64_t)count;
	}
	/* Counts again: the mask may differ now. */
	trues = dray_list_trues(mask, rows->strides[1], count, 0,
				rows->strides[0], offsets);
	mover->listed(data, 1, offsets, row, stride,
		      (int64_t)trues < left ? trues : (size_t)left,
		      mover->size);
	return (int64_t)trues;
}

/* Copies at most @left true elements; returns how many remain, below 0 if more. */
static int64_t move_masked(const struct dray_view *view,
			   const struct dray_view *mask, unsigned char *row,
			   int64_t stride, int64_t left,
			   enum dray_index_way way)
{
	struct dray_mover mover =
		dray_mover_for(way, dray_dtype_itemsize(view->dtype));
	struct dray_index_rows rows;
	int64_t at, piece, moved;

	if (!dray_rows_start(&rows, (const struct dray_view *[]){ view, mask },
			     2))
		return left;
	do {
		for (at = 0; at < rows.count && left >= 0; at += piece) {
			piece = rows.count - at;
			if (piece > DRAY_INDEX_CHUNK)
				piece = DRAY_INDEX_CHUNK;
			moved = move_piece(&mover, &rows, at, (size_t)piece,
					   row, stride, left);
			row += moved * stride;
			left -= moved;
		}
	} while (left >= 0 && dray_rows_next(&rows));
	return left;
}

int dray_index_fail_changed(void)
{
	return dray_fail(
		-ERANGE,
		"the booleans were changed, by another thread or process, while they were used");
}

int dray_index_move_masked(const struct dray_view *view,
			   const struct dray_view *mask, unsigned char *row,
			   int64_t stride, int64_t trues,
			   enum dray_index_way way)
{
	return move_masked(view, mask, row, stride, trues, way)
		       ? dray_index_fail_changed()
		       : 0;
}

void dray_index_fill_masked(const struct dray_view *view,
			    const struct dray_view *mask,
			    unsigned char *element)
{
	move_masked(view, mask, element, 0, INT64_MAX, DRAY_INDEX_SCATTER);
}

/* The coordinates of true elements. */
struct found {
	int ndim;
	int64_t left; /* missing elements; below 0: there were more */
	int64_t *to[DRAY_MAX_NDIM]; /* of each axis, the next to write */
};

/* Adds a piece of a row, of which the first element is number @first. */
static void list_piece(struct found *found, const unsigned char *mask,
		       int64_t stride, size_t count, int64_t first,
		       const int64_t *position)
{
	int64_t room[DRAY_INDEX_CHUNK];
	int last = found->ndim - 1, k;
	/* Listing writes behind the last true element. */
	bool fits = found->left >= (int64_t)count;
	size_t trues, i;

	trues = dray_list_trues(mask, stride, count, first, 1,
				fits ? found->to[last] : room);
	if ((int64_t)trues > found->left) {
		found->left = -1;
		return;
	}
	if (!fits)
		memcpy(found->to[last], room, trues * sizeof(room[0]));
	found->to[last] += trues;
	for (k = 0; k < last; k++) {
		for (i = 0; i < trues; i++)
			*found->to[k]++ = position[k];
	}
	found->left -= (int64_t)trues;
}

static void mask_list_row(struct found *found, const unsigned char *mask,
			  int64_t stride, int64_t count,
			  const int64_t *position)
{
	int64_t at, piece;

	for (at = 0; at < count && found->left >= 0; at += piece) {
		piece = count - at;
		if (piece > DRAY_INDEX_CHUNK)
			piece = DRAY_INDEX_CHUNK;
		list_piece(found, mask + at * stride, stride, (size_t)piece, at,
			   position);
	}
}

int dray_mask_coordinates(const struct dray_view *mask, int64_t trues,
			  int64_t *const *out)
{
	int64_t position[DRAY_MAX_NDIM] = { 0 };
	const unsigned char *data = mask->data;
	struct found found;
	int last = mask->ndim - 1, k;

	found.ndim = mask->ndim;
	found.left = trues;
	memcpy(found.to, out, (size_t)mask->ndim * sizeof(out[0]));
	for (;;) {
		mask_list_row(&found, data, mask->strides[last],
			      mask->shape[last], position);
		for (k = last - 1; k >= 0; k--) {
			if (++position[k] < mask->shape[k]) {
				data += mask->strides[k];
				break;
			}
			data -= (mask->shape[k] - 1) * mask->strides[k];
			position[k] = 0;
		}
		if (k < 0 || found.left < 0)
			return found.left ? dray_index_fail_changed() : 0;
	}
}

int dray_index_expand(struct dray_index_plan *plan)
{
	size_t needed = 0;
	int64_t *next;
	int i, k, ret = 0;

	for (i = 0; i < plan->arrays_count; i++) {
		if (!plan->arrays[i].data)
			needed += (size_t)plan->arrays[i].trues;
	}
	if (!needed)
		return 0;
	plan->coordinates = malloc(needed * sizeof(*next));
	if (!plan->coordinates)
		return dray_fail(-ENOMEM,
				 "no memory for %zu coordinates of booleans",
				 needed);
	next = plan->coordinates;
	for (i = 0; i < plan->arrays_count && !ret; i += k) {
		const struct dray_view *mask = plan->arrays[i].from;
		int64_t *out[DRAY_MAX_NDIM];

		k = 1;
		if (plan->arrays[i].data || !plan->arrays[i].trues)
			continue;
		for (k = 0; k < mask->ndim; k++) {
			out[k] = next;
			plan->arrays[i + k].data = (unsigned char *)next;
			next += plan->arrays[i].trues;
		}
		ret = dray_mask_coordinates(mask, plan->arrays[i].trues, out);
	}
	return ret;
}

void dray_index_end(struct dray_index_plan *plan)
{
	free(plan->coordinates);
}
