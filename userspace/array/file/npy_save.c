// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes .npy files. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "private.h"
#include "file/npy.h"
#include "file/replace.h"

static int npy_save_put(void *context, const void *bytes, size_t size)
{
	const struct dray_replace *file = context;
	const char *at = bytes;

	while (size) {
		ssize_t done = write(file->fd, at, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return dray_replace_failed(file, "write");
		at += done;
		size -= (size_t)done;
	}
	return 0;
}

int dray_npy_put(const struct dray_view *view, size_t multiple,
		 int (*put_bytes)(void *context, const void *bytes,
				  size_t size),
		 void *context)
{
	struct dray_view transposed;
	bool fortran;
	char *header;
	size_t size;
	int ret;

	if (!(view->flags & DRAY_READ))
		return dray_fail(-EPERM, "the view may not be read");
	ret = dray_npy_format(view, multiple, &header, &size, &fortran);
	if (ret)
		return ret;
	ret = put_bytes(context, header, size);
	free(header);
	if (!ret && fortran) {
		ret = dray_view_transpose(view, NULL, &transposed);
		view = &transposed;
	}
	return ret ? ret : dray_npy_walk(view, put_bytes, context);
}

int dray_npy_save(const char *path, const struct dray_view *view,
		  uint32_t flags)
{
	size_t multiple =
		flags & DRAY_NPY_PAGE ? DRAY_NPY_PAGE_SIZE : DRAY_NPY_LINE;
	DRAY_NO_CANCEL;
	struct dray_replace file;
	int ret;

	if (!dray_given(path, __func__) || !dray_given(view, __func__))
		return -EINVAL;
	if (flags & ~(DRAY_NPY_PAGE | DRAY_NPY_NEW))
		return dray_fail(-EINVAL, "unknown flags 0x%" PRIx32, flags);
	ret = dray_replace_begin(&file, path);
	if (!ret)
		ret = dray_npy_put(view, multiple, npy_save_put, &file);
	if (!ret)
		ret = dray_replace_finish(&file, flags & DRAY_NPY_NEW);
	dray_replace_end(&file);
	return ret;
}
