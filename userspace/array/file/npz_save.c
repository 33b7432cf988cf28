// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes .npz archives through minizip. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <minizip/zip.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "private.h"
#include "file/npy.h"
#include "file/replace.h"

#define LONGEST_NAME 4091u /* and ".npy" */

struct archive {
	struct dray_replace file;
	zipFile zip;
};

static int zip_failed(const struct archive *archive, int error)
{
	return dray_fail(error == ZIP_ERRNO && errno ? -errno : -EIO,
			 "writing %s: %s", archive->file.path,
			 error == ZIP_ERRNO && errno ? strerror(errno)
						     : "minizip failed");
}

static int npz_save_put(void *context, const void *bytes, size_t size)
{
	struct archive *archive = context;
	const char *at = bytes;

	while (size) {
		unsigned int part =
			size < INT_MAX ? (unsigned int)size : INT_MAX;
		int ret = zipWriteInFileInZip(archive->zip, at, part);

		if (ret != ZIP_OK)
			return zip_failed(archive, ret);
		at += part;
		size -= part;
	}
	return 0;
}

static int put_array(struct archive *archive, const char *name,
		     const struct dray_view *view, uint32_t flags)
{
	/* The earliest date there is, as in NumPy's files. */
	const zip_fileinfo info = { .tmz_date = { .tm_mday = 1,
						  .tm_year = 1980 } };
	char file[LONGEST_NAME + sizeof(".npy")];
	bool compress = flags & DRAY_NPZ_COMPRESS;
	int ret, closed;

	snprintf(file, sizeof(file), "%s.npy", name);
	ret = zipOpenNewFileInZip64(archive->zip, file, &info, NULL, 0, NULL, 0,
				    NULL, compress ? Z_DEFLATED : 0,
				    compress ? Z_DEFAULT_COMPRESSION : 0, 1);
	if (ret != ZIP_OK)
		return zip_failed(archive, ret);
	ret = dray_npy_put(view, DRAY_NPY_LINE, npz_save_put, archive);
	closed = zipCloseFileInZip(archive->zip);
	if (!ret && closed != ZIP_OK)
		ret = zip_failed(archive, closed);
	return ret;
}

static int save_check_names(const char *const *names, size_t count)
{
	size_t i, j;

	for (i = 0; i < count; i++) {
		if (!dray_given(names[i], "dray_npz_save"))
			return -EINVAL;
		if (!*names[i] || *names[i] == '/' ||
		    strlen(names[i]) > LONGEST_NAME)
			return dray_fail(
				-EINVAL,
				"name %zu is '%.200s': an array's has 1 to %u bytes and begins with no slash",
				i, names[i], LONGEST_NAME);
		for (j = 0; j < i; j++) {
			if (!strcmp(names[i], names[j]))
				return dray_fail(
					-EINVAL,
					"two arrays are named '%.200s'",
					names[i]);
		}
	}
	return 0;
}

static int save_put_all(struct archive *archive, const char *const *names,
			const struct dray_view *const *views, size_t count,
			uint32_t flags)
{
	int ret = 0, closed;
	size_t i;

	errno = 0;
	archive->zip = zipOpen64(archive->file.temporary, APPEND_STATUS_CREATE);
	if (!archive->zip)
		return zip_failed(archive, ZIP_ERRNO);
	for (i = 0; i < count && !ret; i++)
		ret = dray_given(views[i], "dray_npz_save")
			      ? put_array(archive, names[i], views[i], flags)
			      : -EINVAL;
	closed = zipClose(archive->zip, NULL);
	if (!ret && closed != ZIP_OK)
		ret = zip_failed(archive, closed);
	return ret;
}

int dray_npz_save(const char *path, const char *const *names,
		  const struct dray_view *const *views, size_t count,
		  uint32_t flags)
{
	DRAY_NO_CANCEL;
	struct archive archive;
	int ret;

	if (!dray_given(path, __func__) ||
	    (count &&
	     (!dray_given(names, __func__) || !dray_given(views, __func__))))
		return -EINVAL;
	if (flags & ~(DRAY_NPZ_COMPRESS | DRAY_NPY_NEW))
		return dray_fail(-EINVAL, "unknown flags 0x%" PRIx32, flags);
	ret = save_check_names(names, count);
	if (ret)
		return ret;
	ret = dray_replace_begin(&archive.file, path);
	if (!ret)
		ret = save_put_all(&archive, names, views, count, flags);
	if (!ret)
		ret = dray_replace_finish(&archive.file, flags & DRAY_NPY_NEW);
	dray_replace_end(&archive.file);
	return ret;
}
