// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads .npz archives through minizip. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <minizip/unzip.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "file/npy.h"

#define SUFFIX ".npy"
#define SUFFIX_LENGTH (sizeof(SUFFIX) - 1)

/* The most bytes that deflate makes of one, and the most of a small file. */
#define BEST_RATIO 1032u
#define SMALL 65536u

#define LONGEST_NAME 4096u

struct dray_npz {
	unzFile zip;
	size_t count;
	char **names; /* of arrays, without the suffix */
};

static int not_zip(const char *path)
{
	return dray_fail(-EBADMSG, "%s is not a complete zip archive", path);
}

/* Adds the current file's name, if it is an array's. */
static int npz_add_name(struct dray_npz *npz, const char *path)
{
	char name[LONGEST_NAME + 1], **names;
	unz_file_info64 info;
	size_t length;

	if (unzGetCurrentFileInfo64(npz->zip, &info, name, LONGEST_NAME, NULL,
				    0, NULL, 0) != UNZ_OK)
		return not_zip(path);
	if (info.size_filename > LONGEST_NAME)
		return dray_fail(
			-EBADMSG,
			"a name in %s has %lu bytes, at most %u may be", path,
			info.size_filename, LONGEST_NAME);
	name[info.size_filename] = 0;
	length = strlen(name);
	if (length <= SUFFIX_LENGTH ||
	    strcmp(name + length - SUFFIX_LENGTH, SUFFIX) != 0)
		return 0;
	names = realloc(npz->names, (npz->count + 1) * sizeof(*names));
	if (!names)
		return dray_fail(-ENOMEM, "no memory for the names in %s",
				 path);
	npz->names = names;
	names[npz->count] = strndup(name, length - SUFFIX_LENGTH);
	if (!names[npz->count])
		return dray_fail(-ENOMEM, "no memory for the names in %s",
				 path);
	npz->count++;
	return 0;
}

static int npz_list_names(struct dray_npz *npz, const char *path)
{
	unz_global_info64 info;
	int at, ret = 0;

	if (unzGetGlobalInfo64(npz->zip, &info) != UNZ_OK)
		return not_zip(path);
	if (!info.number_entry)
		return 0;
	at = unzGoToFirstFile(npz->zip);
	while (at == UNZ_OK && !ret) {
		ret = npz_add_name(npz, path);
		at = unzGoToNextFile(npz->zip);
	}
	return !ret && at != UNZ_END_OF_LIST_OF_FILE ? not_zip(path) : ret;
}

static void *open_for_minizip(void *error, const void *path, int mode)
{
	FILE *file = dray_descriptor_file(path);

	(void)mode; /* reading */
	if (!file)
		*(int *)error = errno;
	return file;
}

/* Tells a file that cannot be opened from one that is not an archive. */
static int open_archive(const char *path, unzFile *zip)
{
	zlib_filefunc64_def calls;
	int error = 0;

	fill_fopen64_filefunc(&calls);
	calls.zopen64_file = open_for_minizip;
	calls.opaque = &error;
	*zip = unzOpen2_64(path, &calls);
	if (error)
		return dray_fail(-error, "open of %s: %s", path,
				 strerror(error));
	return *zip ? 0 : not_zip(path);
}

int dray_npz_open(const char *path, struct dray_npz **out)
{
	DRAY_NO_CANCEL;
	struct dray_npz *npz;
	int ret;

	if (!dray_given(path, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	npz = calloc(1, sizeof(*npz));
	if (!npz)
		return dray_fail(-ENOMEM, "no memory for an archive");
	ret = open_archive(path, &npz->zip);
	if (!ret)
		ret = npz_list_names(npz, path);
	if (ret) {
		dray_npz_close(npz);
		return ret;
	}
	*out = npz;
	return 0;
}

void dray_npz_close(struct dray_npz *npz)
{
	DRAY_NO_CANCEL;
	size_t i;

	if (!npz)
		return;
	if (npz->zip)
		unzClose(npz->zip);
	for (i = 0; i < npz->count; i++)
		free(npz->names[i]);
	free(npz->names);
	free(npz);
}

size_t dray_npz_count(const struct dray_npz *npz)
{
	return dray_given(npz, __func__) ? npz->count : 0;
}

const char *dray_npz_name(const struct dray_npz *npz, size_t index)
{
	if (!dray_given(npz, __func__) || index >= npz->count)
		return NULL;
	return npz->names[index];
}

/* Reads @size bytes of the current file. */
static int npz_read_bytes(struct dray_npz *npz, const char *name, void *to,
			  size_t size)
{
	char *at = to;

	while (size) {
		unsigned int part =
			size < INT_MAX ? (unsigned int)size : INT_MAX;
		int got = unzReadCurrentFile(npz->zip, at, part);

		if (got < 0)
			return dray_fail(
				-EBADMSG,
				"array '%s' is damaged: minizip says %d", name,
				got);
		if (!got)
			return dray_fail(-EBADMSG,
					 "array '%s' ends %zu byte%s early",
					 name, size, dray_plural(size));
		at += got;
		size -= (size_t)got;
	}
	return 0;
}

static int npz_read_header(struct dray_npz *npz, const char *name,
			   uint64_t size, struct dray_npy_header *header)
{
	char start[DRAY_NPY_START], *bytes;
	size_t offset, have;
	int ret;

	have = size < sizeof(start) ? (size_t)size : sizeof(start);
	ret = npz_read_bytes(npz, name, start, have);
	if (!ret)
		ret = dray_npy_measure(start, have, name, &offset);
	if (ret)
		return ret;
	bytes = malloc(offset);
	if (!bytes)
		return dray_fail(-ENOMEM, "no memory for a header of %zu bytes",
				 offset);
	memcpy(bytes, start, have);
	ret = npz_read_bytes(npz, name, bytes + have, offset - have);
	if (!ret)
		ret = dray_npy_parse(bytes, offset, name, header);
	free(bytes);
	return ret;
}

/* Reads the elements of the current file; @size: bytes left of it. */
static int read_elements(struct dray_npz *npz, const char *name, uint64_t size,
			 const struct dray_npy_header *header,
			 struct dray_array **out)
{
	struct dray_block *base;
	struct dray_view view;
	size_t bytes;
	int ret;

	ret = dray_npy_place(header, name, NULL, size, NULL);
	if (!ret)
		ret = dray_view_bytes(header->dtype, header->ndim,
				      header->shape, &bytes);
	if (!ret)
		ret = dray_block_create_handled(dray_get_handler(), bytes,
						false, &base);
	if (ret)
		return ret;
	ret = npz_read_bytes(npz, name, dray_block_data(base), bytes);
	if (!ret)
		ret = dray_npy_place(header, name, dray_block_data(base), size,
				     &view);
	if (!ret)
		ret = dray_array_over(&view, base, out);
	dray_block_unref(base);
	return ret;
}

static int load_current(struct dray_npz *npz, const char *name, uint64_t size,
			struct dray_array **out)
{
	struct dray_npy_header header = { 0 };
	struct dray_array *array = NULL;
	int ret;

	if (unzOpenCurrentFile(npz->zip) != UNZ_OK)
		return dray_fail(-EBADMSG, "array '%s' is damaged or encrypted",
				 name);
	ret = npz_read_header(npz, name, size, &header);
	if (!ret)
		ret = read_elements(npz, name, size - header.offset, &header,
				    &array);
	dray_dtype_unref(header.dtype);
	if (unzCloseCurrentFile(npz->zip) == UNZ_CRCERROR && !ret)
		ret = dray_fail(-EBADMSG, "array '%s' has a wrong checksum",
				name);
	if (ret) {
		dray_array_unref(array);
		return ret;
	}
	*out = array;
	return 0;
}

int dray_npz_load(struct dray_npz *npz, const char *name,
		  struct dray_array **out)
{
	DRAY_NO_CANCEL;
	char file[LONGEST_NAME + sizeof(SUFFIX)];
	unz_file_info64 info;

	if (!dray_given(npz, __func__) || !dray_given(name, __func__) ||
	    !dray_given(out, __func__))
		return -EINVAL;
	if ((size_t)snprintf(file, sizeof(file), "%s" SUFFIX, name) >=
		    sizeof(file) ||
	    unzLocateFile(npz->zip, file, 1) != UNZ_OK)
		return dray_fail(-ENOENT, "the archive has no array '%.200s'",
				 name);
	if (unzGetCurrentFileInfo64(npz->zip, &info, NULL, 0, NULL, 0, NULL,
				    0) != UNZ_OK)
		return dray_fail(-EBADMSG, "array '%s' is damaged", name);
	/* Memory is taken by the size that the archive tells. */
	if (info.uncompressed_size > SMALL &&
	    info.uncompressed_size / BEST_RATIO > info.compressed_size)
		return dray_fail(-EBADMSG,
				 "array '%s' cannot have %" PRIu64
				 " bytes in %" PRIu64,
				 name, (uint64_t)info.uncompressed_size,
				 (uint64_t)info.compressed_size);
	return load_current(npz, name, info.uncompressed_size, out);
}
