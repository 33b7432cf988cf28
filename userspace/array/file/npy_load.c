// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads .npy files: into memory of the current handler, into a buffer that a
 * device can reach, or by a mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "private.h"
#include "cast/options.h"
#include "file/npy.h"

struct npy_load {
	const char *path;
	int fd;
	bool direct; /* fd bypasses the page cache */
	uint64_t size; /* bytes of the file */
	struct dray_npy_header header;
};

static int npy_load_failed(const struct npy_load *load, const char *call)
{
	return dray_fail(-errno, "%s of %s: %s", call, load->path,
			 strerror(errno));
}

static int fail_end(const struct npy_load *load, uint64_t end, uint64_t needed)
{
	return dray_fail(-EBADMSG,
			 "%s ends after %" PRIu64 " of %" PRIu64 " bytes",
			 load->path, end, needed);
}

/* Drops O_DIRECT if the file system or the memory refuses it. */
static bool goes_on_cached(struct npy_load *load)
{
	if (!load->direct || (errno != EINVAL && errno != EFAULT))
		return false;
	load->direct = false;
	return !fcntl(load->fd, F_SETFL, 0);
}

/* Reads all of [at, at + size), of which @needed bytes must be there. */
static int load_read_bytes(struct npy_load *load, void *to, uint64_t size,
			   uint64_t needed, uint64_t at)
{
	char *bytes = to;
	uint64_t done = 0;

	while (done < size) {
		ssize_t got = pread(load->fd, bytes + done,
				    (size_t)(size - done), (off_t)(at + done));

		if (got < 0 && (errno == EINTR || goes_on_cached(load)))
			continue;
		if (got < 0)
			return npy_load_failed(load, "read");
		if (!got)
			break;
		done += (uint64_t)got;
		/* The rest of the last block is not aligned. */
		if (done < size && load->direct && done % 512) {
			errno = EINVAL;
			goes_on_cached(load);
		}
	}
	return done < needed ? fail_end(load, at + done, at + needed) : 0;
}

static int open_file(struct npy_load *load, bool direct)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	struct stat status;

	load->direct = direct;
	load->fd = dray_descriptor(
		open(load->path, direct ? flags | O_DIRECT : flags));
	if (load->fd < 0 && direct && errno == EINVAL) {
		load->direct = false;
		load->fd = dray_descriptor(open(load->path, flags));
	}
	if (load->fd < 0)
		return npy_load_failed(load, "open");
	if (fstat(load->fd, &status))
		return npy_load_failed(load, "fstat");
	if (!S_ISREG(status.st_mode))
		return dray_fail(-EINVAL, "%s is not a regular file",
				 load->path);
	load->size = (uint64_t)status.st_size;
	return 0;
}

/* Checks that the file has all elements of the header. */
static int load_check_size(const struct npy_load *load)
{
	const struct dray_npy_header *header = &load->header;

	return dray_npy_place(header, load->path, NULL,
			      load->size - header->offset, NULL);
}

/* Reads the header by itself. */
static int load_read_header(struct npy_load *load)
{
	char start[DRAY_NPY_START], *bytes;
	uint64_t size = load->size < sizeof(start) ? load->size : sizeof(start);
	size_t offset;
	int ret;

	ret = load_read_bytes(load, start, size, size, 0);
	if (!ret)
		ret = dray_npy_measure(start, (size_t)size, load->path,
				       &offset);
	if (ret)
		return ret;
	bytes = malloc(offset);
	if (!bytes)
		return dray_fail(-ENOMEM, "no memory for a header of %zu bytes",
				 offset);
	ret = load_read_bytes(load, bytes, offset, offset, 0);
	if (!ret)
		ret = dray_npy_parse(bytes, offset, load->path, &load->header);
	free(bytes);
	return ret ? ret : load_check_size(load);
}

/* Makes an array over @base, where the elements are at @data. */
static int npy_load_make(const struct npy_load *load, void *data,
			 struct dray_block *base, bool writable,
			 struct dray_array **out)
{
	struct dray_view view;
	int ret;

	ret = dray_npy_place(&load->header, load->path, data,
			     load->size - load->header.offset, &view);
	if (ret)
		return ret;
	if (!writable)
		view.flags &= ~DRAY_WRITE;
	return dray_array_over(&view, base, out);
}

static int into_handler(struct npy_load *load, struct dray_array **out)
{
	struct dray_block *base;
	size_t bytes;
	int ret;

	ret = load_read_header(load);
	if (!ret)
		ret = dray_view_bytes(load->header.dtype, load->header.ndim,
				      load->header.shape, &bytes);
	if (!ret)
		ret = dray_block_create_handled(dray_get_handler(), bytes,
						false, &base);
	if (ret)
		return ret;
	ret = load_read_bytes(load, dray_block_data(base), bytes, bytes,
			      load->header.offset);
	if (!ret)
		ret = npy_load_make(load, dray_block_data(base), base, true,
				    out);
	dray_block_unref(base);
	return ret;
}

/* Reads header and elements together. */
static int into_buffer(struct npy_load *load,
		       const struct dray_npy_options *options,
		       struct dray_array **out)
{
	struct dray_block *base = NULL;
	struct dray_buffer *buffer;
	size_t offset;
	char *data;
	int ret;

	ret = dray_buffer_alloc(options->node, load->size ? load->size : 1,
				options->buffer, &buffer);
	if (ret)
		return ret;
	data = dray_buffer_data(buffer);
	if (!data)
		ret = dray_fail(-EINVAL,
				"the CPU cannot reach the buffer for %s",
				load->path);
	/* All of the buffer: its last page takes the file's last block. */
	if (!ret)
		ret = load_read_bytes(load, data, dray_buffer_size(buffer),
				      load->size, 0);
	if (!ret)
		ret = dray_npy_measure(data, (size_t)load->size, load->path,
				       &offset);
	if (!ret && offset > load->size)
		ret = fail_end(load, load->size, offset);
	if (!ret)
		ret = dray_npy_parse(data, offset, load->path, &load->header);
	if (!ret)
		ret = dray_block_create_buffer(buffer, &base);
	if (!ret)
		ret = npy_load_make(load, data + offset, base, true, out);
	dray_block_unref(base);
	dray_buffer_unref(buffer);
	return ret;
}

static void npy_load_end(struct npy_load *load)
{
	if (load->fd >= 0)
		close(load->fd);
	dray_dtype_unref(load->header.dtype);
}

int dray_npy_load(const char *path, const struct dray_npy_options *options,
		  struct dray_array **out)
{
	DRAY_NO_CANCEL;
	struct npy_load load = { .path = path, .fd = -1 };
	struct dray_npy_options known;
	int ret;

	if (!dray_given(path, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, options, DRAY_NPY_OPTIONS_SIZE_FIRST);
	if (!ret)
		ret = open_file(&load, known.node);
	if (!ret)
		ret = known.node ? into_buffer(&load, &known, out)
				 : into_handler(&load, out);
	npy_load_end(&load);
	return ret;
}

int dray_npy_map(const char *path, uint32_t flags, struct dray_array **out)
{
	DRAY_NO_CANCEL;
	struct npy_load load = { .path = path, .fd = -1 };
	struct dray_block *base;
	int ret;

	if (!dray_given(path, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = open_file(&load, false);
	if (!ret)
		ret = load_read_header(&load);
	if (!ret)
		ret = dray_block_create_mapped(path, 0, load.size, flags,
					       &base);
	if (!ret) {
		ret = npy_load_make(&load,
				    (char *)dray_block_data(base) +
					    load.header.offset,
				    base, flags & DRAY_WRITE, out);
		dray_block_unref(base);
	}
	npy_load_end(&load);
	return ret;
}
