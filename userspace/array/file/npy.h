/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Headers of .npy files, and their elements in order. */
#ifndef DRAY_FILE_NPY_H
#define DRAY_FILE_NPY_H

#include <dray/array/npy.h>

#define DRAY_NPY_PAGE_SIZE 4096u
#define DRAY_NPY_LINE 64u /* a header is a multiple of this, as in NumPy */

/* Bytes up to the end of the header's length, of any version. */
#define DRAY_NPY_START 12u

struct dray_npy_header {
	dray_dtype dtype; /* a reference */
	bool fortran;
	int ndim;
	int64_t shape[DRAY_MAX_NDIM];
	size_t offset; /* bytes before the elements */
};

/*
 * Reads the length of everything before the elements from the first
 * DRAY_NPY_START bytes, or fewer if the file ends there; at least as much, and
 * maybe more than the file's size.  -EBADMSG, -EPROTO.
 */
int dray_npy_measure(const char *start, size_t size, const char *name,
		     size_t *offset);

/*
 * Reads a header of @offset bytes, as measured.  On success the caller drops the
 * type.  @name: of the file, for sentences.  -EBADMSG, -ENOMEM.
 */
int dray_npy_parse(const char *bytes, size_t offset, const char *name,
		   struct dray_npy_header *header);

/*
 * Makes the header of a checked view, padded to a multiple of @multiple bytes, a
 * power of two of 64 or more.  The caller frees *out.  -ENOMEM, -EINVAL.
 */
int dray_npy_format(const struct dray_view *view, size_t multiple, char **out,
		    size_t *size, bool *fortran);

/*
 * Checks that @room bytes hold the header's elements.  -EBADMSG.  If @data is
 * not NULL, it is where they are, and @view is filled.
 */
int dray_npy_place(const struct dray_npy_header *header, const char *name,
		   void *data, uint64_t room, struct dray_view *view);

/*
 * Walks the elements of a view in C order, a part at a time.
 * @take: gets @size bytes; returns 0 or a negative errno, which ends the walk
 */
int dray_npy_walk(const struct dray_view *view,
		  int (*take)(void *context, const void *bytes, size_t size),
		  void *context);

/* Puts a whole .npy file: the header of a view, and its elements. */
int dray_npy_put(const struct dray_view *view, size_t multiple,
		 int (*put_bytes)(void *context, const void *bytes,
				  size_t size),
		 void *context);

#endif /* DRAY_FILE_NPY_H */
