/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * npy: arrays in files of NumPy's formats, .npy and .npz.
 *
 * A .npy file is a header (type, order, shape) and the elements.  Versions 1.0,
 * 2.0 and 3.0 are read; the lowest that can hold the header is written.  Object
 * arrays, which hold pickles, are refused.  A .npz file is a zip archive of
 * .npy files.  (Source: NumPy's numpy.lib.format.)
 *
 * All functions block for the file.  They may be called from any thread; an open
 * archive is for one thread at a time.  A file is not trusted: its header is
 * checked against its length before memory is taken.
 */
#ifndef DRAY_NPY_H
#define DRAY_NPY_H

#include <dray/array/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of dray_npy_save(). */
/* pads the header to 4096 bytes, so that the elements start a page */
#define DRAY_NPY_PAGE		(1u << 0)
/* fails with -EEXIST if the file exists */
#define DRAY_NPY_NEW		(1u << 1)

/**
 * Writes a view to a .npy file, which is made, or replaced when all is written:
 * a reader sees the old file or the new file, and on failure the old file stays.
 * A file that is replaced keeps its permissions, its owner and group, access control
 * lists, attributes of users ("user."), and symbolic links to it.  A view that is F
 * contiguous, and not C contiguous, is written in F order, any other in C order.
 *
 * @path: the file; its directory takes a temporary file meanwhile
 * @view: a readable view; only a bounded part of it is copied aside
 * @flags: DRAY_NPY_PAGE, DRAY_NPY_NEW
 *
 * Errors: as dray_view_init() for a bad view, -EPERM (it may not be read),
 * -EINVAL (unknown flags, a name of something else than a regular file, a user
 * type, fields that overlap or are out of order), -ENOENT (a link to nothing), -EMLINK
 * (a file of several names, as a new file would have only this), -EPERM (a file of
 * another user, whom this process cannot give a file), -ENOMEM, and errors of open(),
 * write() and rename().
 */
DRAY_API int dray_npy_save(const char *path, const struct dray_view *view,
			   uint32_t flags);

/** Arguments of dray_npy_load(); all zero is allowed. */
struct dray_npy_options {
	size_t size;		/* of this structure; 0: the first version's */
	/*
	 * NULL: memory of the handler that this thread allocates with.  Else a
	 * buffer of its own from this node, which takes the whole file, header
	 * and elements, by O_DIRECT if file system and memory allow
	 */
	struct dray_node *node;
	/* with a node: the buffer's options, or NULL */
	const struct dray_buffer_options *buffer;
};

/**
 * Reads a .npy file into a new array.
 *
 * @options: may be NULL
 * @out: with a reference; writable
 *
 * Errors: -EBADMSG (the sentence names the wrong part of the file), -EPROTO
 * (another version of the format), -EOVERFLOW, -ENOMEM, errors of open() and
 * read(), and of dray_buffer_alloc().
 */
DRAY_API int dray_npy_load(const char *path,
			   const struct dray_npy_options *options,
			   struct dray_array **out);

/**
 * Maps a .npy file: elements are read when they are touched.
 *
 * @flags: DRAY_READ, or DRAY_READ | DRAY_WRITE: writes change the file
 *
 * If another process makes the file shorter, a touch of an element behind its
 * new end is a SIGBUS, as with any mapping.
 *
 * Errors: as dray_npy_load(), dray_block_create_mapped().
 */
DRAY_API int dray_npy_map(const char *path, uint32_t flags,
			  struct dray_array **out);

/** An open .npz archive. */
struct dray_npz;

/**
 * Opens a .npz archive for reading.
 *
 * Errors: -EBADMSG (the file is not a zip archive), -EOPNOTSUPP (the library was
 * built without minizip), -ENOMEM, errors of open().
 */
DRAY_API int dray_npz_open(const char *path, struct dray_npz **out);

/** Closes it; NULL is ignored. */
DRAY_API void dray_npz_close(struct dray_npz *npz);

/** Returns the number of its arrays. */
DRAY_API size_t dray_npz_count(const struct dray_npz *npz);

/**
 * Returns the name of array @index, without ".npy"; valid until the archive is
 * closed.  NULL beyond the last.
 */
DRAY_API const char *dray_npz_name(const struct dray_npz *npz, size_t index);

/**
 * Reads an array into memory of the handler that this thread allocates with.
 * Errors: -ENOENT (no array of that name), as dray_npy_load(); -EBADMSG also if
 * its checksum is wrong.
 */
DRAY_API int dray_npz_load(struct dray_npz *npz, const char *name,
			   struct dray_array **out);

/* Flags of dray_npz_save(), besides DRAY_NPY_NEW. */
#define DRAY_NPZ_COMPRESS	(1u << 2)

/**
 * Writes views to a .npz archive, as dray_npy_save() writes files.
 *
 * @names, @views: @count of each; names are unique, not empty, and relative
 * @flags: DRAY_NPZ_COMPRESS, DRAY_NPY_NEW
 *
 * Errors: as dray_npy_save(), -EOPNOTSUPP, -EINVAL (a name).
 */
DRAY_API int dray_npz_save(const char *path, const char *const *names,
			   const struct dray_view *const *views, size_t count,
			   uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_NPY_H */
