// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Elements chosen by a condition, and elements that are not 0. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dray/array/cast.h>

#include "private.h"
#include "index/index.h"
#include "index/move.h"
#include "index/rows.h"
#include "index/truth.h"

/* Operands of a choice. */
enum {
	OUT,
	YES,
	NO,
	CONDITION
};

typedef void choose(const struct dray_index_rows *rows, int64_t at,
		    const unsigned char *truth, size_t count, size_t size);

/* Elements that a compiler may put into vectors. */
#define BLOCK 16

#define DEFINE_CHOOSE(type)                                                 \
	static void choose_block_##type(type *out, const type *yes,         \
					const type *no,                     \
					const unsigned char *truth)         \
	{                                                                   \
		size_t i;                                                   \
                                                                            \
		for (i = 0; i < BLOCK; i++) {                               \
			type mask = (type) - (type)(truth[i] != 0);         \
                                                                            \
			out[i] = (type)((yes[i] & mask) | (no[i] & ~mask)); \
		}                                                           \
	}                                                                   \
                                                                            \
	static void choose_##type(const struct dray_index_rows *rows,       \
				  int64_t at, const unsigned char *truth,   \
				  size_t count, size_t size)                \
	{                                                                   \
		const int64_t *by = rows->strides;                          \
		unsigned char *out = rows->data[OUT] + at * by[OUT];        \
		const unsigned char *yes = rows->data[YES] + at * by[YES];  \
		const unsigned char *no = rows->data[NO] + at * by[NO];     \
		size_t i = 0;                                               \
                                                                            \
		if (by[OUT] == (int64_t)size && by[YES] == by[OUT] &&       \
		    by[NO] == by[OUT]) {                                    \
			for (; i + BLOCK <= count; i += BLOCK) {            \
				type y[BLOCK], n[BLOCK], o[BLOCK];          \
                                                                            \
				memcpy(y, yes, sizeof(y));                  \
				memcpy(n, no, sizeof(n));                   \
				choose_block_##type(o, y, n, truth + i);    \
				memcpy(out, o, sizeof(o));                  \
				out += sizeof(o);                           \
				yes += sizeof(o);                           \
				no += sizeof(o);                            \
			}                                                   \
		}                                                           \
		for (; i < count; i++) {                                    \
			memcpy(out, truth[i] ? yes : no, sizeof(type));     \
			out += by[OUT];                                     \
			yes += by[YES];                                     \
			no += by[NO];                                       \
		}                                                           \
	}

DEFINE_CHOOSE(uint8_t)
DEFINE_CHOOSE(uint16_t)
DEFINE_CHOOSE(uint32_t)
DEFINE_CHOOSE(uint64_t)

static void choose_bytes(const struct dray_index_rows *rows, int64_t at,
			 const unsigned char *truth, size_t count, size_t size)
{
	size_t i;

	for (i = 0; i < count; i++, at++) {
		int from = truth[i] ? YES : NO;

		memcpy(rows->data[OUT] + at * rows->strides[OUT],
		       rows->data[from] + at * rows->strides[from], size);
	}
}

static choose *choose_for(size_t size)
{
	switch (size) {
	case 1:
		return choose_uint8_t;
	case 2:
		return choose_uint16_t;
	case 4:
		return choose_uint32_t;
	case 8:
		return choose_uint64_t;
	default:
		return choose_bytes;
	}
}

static void choose_all(const struct dray_view *const *views,
		       const struct dray_truth *truth)
{
	size_t size = dray_dtype_itemsize(views[OUT]->dtype);
	choose *loop = choose_for(size);
	bool plain = dray_dtype_is_bool(views[CONDITION]->dtype);
	unsigned char found[DRAY_INDEX_CHUNK];
	struct dray_index_rows rows;
	int64_t at, piece;

	/* Elements without bytes may lack an address. */
	if (!size || !dray_rows_start(&rows, views, 4))
		return;
	do {
		for (at = 0; at < rows.count; at += piece) {
			int64_t step = rows.strides[CONDITION];
			const unsigned char *condition =
				rows.data[CONDITION] + at * step;

			piece = rows.count - at;
			if (piece > DRAY_INDEX_CHUNK)
				piece = DRAY_INDEX_CHUNK;
			if (!plain || step != 1) {
				truth->loop(truth, condition, step,
					    (size_t)piece, found);
				condition = found;
			}
			loop(&rows, at, condition, (size_t)piece, size);
		}
	} while (dray_rows_next(&rows));
}

static int check_readable(const struct dray_view *view, const char *name)
{
	int ret = dray_view_check(view, name, NULL);

	if (!ret && !(view->flags & DRAY_READ))
		ret = dray_fail(-EPERM, "%s may not be read", name);
	return ret;
}

/*
 * The type that both choices convert to, with a reference: their own if they
 * are equal.
 */
static int where_choose_type(dray_dtype yes, dray_dtype no, dray_dtype *out)
{
	if (!dray_dtype_equal(yes, no))
		return dray_promote(yes, no, out);
	*out = dray_dtype_ref(yes);
	return 0;
}

/* An operand as elements of another type; *own is to be freed. */
static int convert_operand(const struct dray_view **view, dray_dtype dtype,
			   struct dray_view *converted, void **own)
{
	int ret;

	if (dray_dtype_equal((*view)->dtype, dtype))
		return 0;
	ret = dray_view_put_aside(*view, dtype, converted);
	if (ret)
		return ret;
	*own = converted->data;
	*view = converted;
	return 0;
}

/* Chooses from operands of a common type; the output's place is empty. */
static int choose_same(const struct dray_view *const *views,
		       struct dray_array **out)
{
	const int ndims[] = { views[CONDITION]->ndim, views[YES]->ndim,
			      views[NO]->ndim };
	const int64_t *const shapes[] = { views[CONDITION]->shape,
					  views[YES]->shape, views[NO]->shape };
	const struct dray_view *shaped[4];
	int64_t shape[DRAY_MAX_NDIM];
	struct dray_view whole[4];
	struct dray_truth truth;
	int ndim, ret, o;

	dray_truth_of(&truth, views[CONDITION]->dtype);
	ret = dray_broadcast_shapes(3, ndims, shapes, &ndim, shape);
	if (!ret)
		ret = dray_array_empty(views[YES]->dtype, ndim, shape, out);
	if (ret)
		return ret;
	shaped[OUT] = dray_array_view_closed(*out, views[YES]->dtype, ndim,
					     &whole[OUT]);
	for (o = YES; o <= CONDITION; o++) {
		dray_index_broadcast(views[o], ndim, shape, &whole[o]);
		shaped[o] = &whole[o];
	}
	choose_all(shaped, &truth);
	return 0;
}

int dray_where(const struct dray_view *condition, const struct dray_view *yes,
	       const struct dray_view *no, struct dray_array **out)
{
	const struct dray_view *views[4] = { NULL, yes, no, condition };
	struct dray_view converted[4];
	void *own[4] = { NULL, NULL, NULL, NULL };
	dray_dtype dtype = 0;
	int ret, o;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = check_readable(condition, "the condition");
	if (!ret)
		ret = check_readable(yes, "the first choice");
	if (!ret)
		ret = check_readable(no, "the second choice");
	if (!ret)
		ret = where_choose_type(yes->dtype, no->dtype, &dtype);
	for (o = YES; !ret && o <= NO; o++)
		ret = convert_operand(&views[o], dtype, &converted[o], &own[o]);
	/* As in NumPy, a structure is converted to a bool. */
	if (!ret && dray_dtype_has_parts(condition->dtype))
		ret = convert_operand(&views[CONDITION], DRAY_BOOL,
				      &converted[CONDITION], &own[CONDITION]);
	if (!ret)
		ret = choose_same(views, out);
	dray_dtype_unref(dtype);
	for (o = YES; o <= CONDITION; o++)
		free(own[o]);
	return ret;
}

/* Whether elements are true if their only byte is not 0. */
static bool is_byte(dray_dtype dtype)
{
	return dray_dtype_is_builtin(dtype) && dray_dtype_itemsize(dtype) == 1;
}

int64_t dray_count_nonzero(const struct dray_view *view)
{
	unsigned char found[DRAY_INDEX_CHUNK];
	struct dray_truth truth;
	struct dray_index_rows rows;
	int64_t at, piece, sum = 0;
	int ret;

	ret = check_readable(view, "the view");
	if (ret)
		return ret;
	/* There may be as many as 63 bits count. */
	if (!dray_dtype_itemsize(view->dtype))
		return 0;
	dray_truth_of(&truth, view->dtype);
	if (is_byte(view->dtype))
		return dray_count_trues(view);
	if (!dray_rows_start(&rows, &view, 1))
		return 0;
	do {
		for (at = 0; at < rows.count; at += piece) {
			piece = rows.count - at;
			if (piece > DRAY_INDEX_CHUNK)
				piece = DRAY_INDEX_CHUNK;
			truth.loop(&truth, rows.data[0] + at * rows.strides[0],
				   rows.strides[0], (size_t)piece, found);
			sum += dray_count_bytes(found, 1, (size_t)piece);
		}
	} while (dray_rows_next(&rows));
	return sum;
}

/* Makes an array of coordinates for each axis, or none. */
static int list_trues(const struct dray_view *mask, struct dray_array **out)
{
	int64_t count = dray_count_trues(mask);
	int64_t *coordinates[DRAY_MAX_NDIM];
	struct dray_array *made[DRAY_MAX_NDIM];
	int i, ret;

	for (i = 0; i < mask->ndim; i++) {
		ret = dray_array_empty(DRAY_INT64, 1, &count, &made[i]);
		if (ret)
			goto fail;
		coordinates[i] = made[i]->data;
	}
	if (count) {
		ret = dray_mask_coordinates(mask, count, coordinates);
		if (ret)
			goto fail;
	}
	for (i = 0; i < mask->ndim; i++)
		out[i] = made[i];
	return 0;
fail:
	while (i > 0)
		dray_array_unref(made[--i]);
	return ret;
}

/* Lists true elements of a short axis, without a mask. */
static int list_few(const struct dray_view *view, struct dray_array **out)
{
	unsigned char found[DRAY_INDEX_CHUNK];
	int64_t numbers[DRAY_INDEX_CHUNK];
	size_t size = (size_t)view->shape[0];
	struct dray_truth truth;
	int64_t count;
	int ret;

	dray_truth_of(&truth, view->dtype);
	/* The stride of a single element may be any number. */
	truth.loop(&truth, view->data, size > 1 ? view->strides[0] : 0, size,
		   found);
	count = (int64_t)dray_list_trues(found, 1, size, 0, 1, numbers);
	ret = dray_array_empty(DRAY_INT64, 1, &count, out);
	if (!ret && count)
		memcpy((*out)->data, numbers, (size_t)count * sizeof(int64_t));
	return ret;
}

/* Lists no elements: those without bytes are false. */
static int list_none(int ndim, struct dray_array **out)
{
	static const int64_t none[DRAY_MAX_NDIM];
	struct dray_view mask;
	int ret = dray_view_init(&mask, NULL, DRAY_BOOL, ndim, none, NULL);

	return ret ? ret : list_trues(&mask, out);
}

int dray_nonzero(const struct dray_view *view, struct dray_array **out)
{
	struct dray_view mask;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = check_readable(view, "the view");
	if (ret)
		return ret;
	if (!view->ndim)
		return dray_fail(-EINVAL,
				 "nonzero on 0d arrays is not allowed");
	if (!dray_dtype_itemsize(view->dtype))
		return list_none(view->ndim, out);
	if (view->ndim == 1 && view->shape[0] <= DRAY_INDEX_CHUNK)
		return list_few(view, out);
	if (is_byte(view->dtype))
		return list_trues(view, out);
	ret = dray_truth_view(view, &mask);
	if (ret)
		return ret;
	ret = list_trues(&mask, out);
	free(mask.data);
	return ret;
}
