// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Elements of a view in C order.  Contiguous parts are taken where they lie,
 * others by way of a bounce buffer of a bounded size.
 */
#include <errno.h>
#include <stdlib.h>

#include <dray/array/index.h>

#include "private.h"
#include "file/npy.h"

#define BOUNCE ((size_t)1 << 20)

struct npy_walk {
	int (*take)(void *context, const void *bytes, size_t size);
	void *context;
	char *bounce; /* NULL until it is needed */
};

static int copy_aside(struct npy_walk *walk, const struct dray_view *view,
		      size_t bytes)
{
	struct dray_view packed;
	int ret;

	if (!walk->bounce)
		walk->bounce = malloc(BOUNCE);
	if (!walk->bounce)
		return dray_fail(-ENOMEM, "no memory to copy elements aside");
	ret = dray_view_init_closed(&packed, walk->bounce, view->dtype,
				    view->ndim, view->shape, NULL);
	if (!ret)
		ret = dray_view_assign(&packed, view);
	return ret ? ret : walk->take(walk->context, walk->bounce, bytes);
}

static int npy_walk_part(struct npy_walk *walk, const struct dray_view *view);

/* Takes as many of the first axis at once as fit the bounce buffer. */
static int walk_axis(struct npy_walk *walk, const struct dray_view *view,
		     size_t bytes)
{
	int64_t length = view->shape[0], at, step;
	struct dray_view part;
	int ret = 0;

	step = (int64_t)(BOUNCE / (bytes / (uint64_t)length));
	for (at = 0; at < length && !ret; at += step ? step : 1) {
		struct dray_index index = DRAY_AT(at);

		if (step)
			index = DRAY_SLICE(at, at + step, 1);
		ret = dray_view_index(view, &index, 1, &part);
		if (!ret)
			ret = npy_walk_part(walk, &part);
	}
	return ret;
}

static int npy_walk_part(struct npy_walk *walk, const struct dray_view *view)
{
	size_t bytes;
	int ret;

	ret = dray_view_bytes(view->dtype, view->ndim, view->shape, &bytes);
	if (ret || !bytes)
		return ret;
	if (dray_view_is_contiguous(view))
		return walk->take(walk->context, view->data, bytes);
	/* One element is contiguous, so there is an axis to divide. */
	return bytes <= BOUNCE ? copy_aside(walk, view, bytes)
			       : walk_axis(walk, view, bytes);
}

int dray_npy_walk(const struct dray_view *view,
		  int (*take)(void *context, const void *bytes, size_t size),
		  void *context)
{
	struct npy_walk walk = { take, context, NULL };
	int ret = npy_walk_part(&walk, view);

	free(walk.bounce);
	return ret;
}
