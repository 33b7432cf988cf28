// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Blocks over a range of a file.  The mapping starts at the page that the
 * range starts in; the file's descriptor is closed at once, which the mapping
 * survives, as it does the file's name.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/number.h"
#include "block/block.h"

struct file {
	char *mapping; /* page-aligned */
	size_t mapped; /* bytes from there to the range's end */
	uint64_t offset; /* of the range in the file */
	size_t size; /* of the range */
	bool writable;
	char *path; /* as requested, behind the block */
	struct dray_block_front front;
	struct dray_block block;
};

static struct file *block_file_of(const struct dray_block *block)
{
	return dray_block_around(block, struct file, block);
}

static void file_range(const struct dray_block *block,
		       struct dray_block_range *out)
{
	const struct file *file = block_file_of(block);

	out->data = file->mapping + (file->mapped - file->size);
	out->size = file->size;
	out->writable = file->writable;
}

static void file_destroy(struct dray_block *block)
{
	struct file *file = block_file_of(block);

	munmap(file->mapping, file->mapped);
	free(file);
}

static void file_dump(const struct dray_block *block, FILE *stream)
{
	const struct file *file = block_file_of(block);

	fprintf(stream, " file: %s\n offset: %" PRIu64 "\n", file->path,
		file->offset);
}

static const struct dray_block_class file_class = {
	.type = DRAY_BLOCK_MAPPED,
	.destroy = file_destroy,
	.range = file_range,
	.dump = file_dump,
};

static int system_failed(const char *path, const char *what)
{
	return dray_fail(-errno, "%s of %s: %s", what, path, strerror(errno));
}

/* Sets the range's size if it extends to the file's end. */
static int file_check_range(int fd, const char *path, uint64_t offset,
			    uint64_t *size)
{
	struct stat status;
	uint64_t length;

	if (fstat(fd, &status))
		return system_failed(path, "fstat");
	if (!S_ISREG(status.st_mode))
		return dray_fail(-EINVAL, "%s is not a regular file", path);
	length = (uint64_t)status.st_size;
	if (!length)
		return dray_fail(-EINVAL, "%s is empty", path);
	if (offset >= length || *size > length - offset)
		return dray_fail(-EINVAL,
				 "%" PRIu64 " byte%s at %" PRIu64
				 " beyond the end of %s, which has %" PRIu64,
				 *size, dray_plural(*size), offset, path,
				 length);
	if (!*size)
		*size = length - offset;
	return 0;
}

/* @file has offset, size, writable and path; the rest is found here. */
static int map_file(struct file *file, uint64_t size)
{
	DRAY_NO_CANCEL;
	int protection = PROT_READ | (file->writable ? PROT_WRITE : 0);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t before = file->offset & (page - 1), whole;
	int fd, ret;

	/* A FIFO would be waited for, before it is seen to be no file. */
	fd = dray_descriptor(
		open(file->path, (file->writable ? O_RDWR : O_RDONLY) |
					 O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	if (fd < 0)
		return system_failed(file->path, "open");
	ret = file_check_range(fd, file->path, file->offset, &size);
	if (ret)
		goto close;
	if (dray_add_overflow(size, before, &whole) || whole > PTRDIFF_MAX) {
		ret = dray_fail(-EOVERFLOW,
				"%" PRIu64
				" bytes of %s, at most %td can be mapped",
				size, file->path, PTRDIFF_MAX);
		goto close;
	}
	file->size = (size_t)size;
	file->mapped = (size_t)whole;
	file->mapping = mmap(NULL, file->mapped, protection, MAP_SHARED, fd,
			     (off_t)(file->offset - before));
	if (file->mapping == MAP_FAILED)
		ret = system_failed(file->path, "mmap");
close:
	close(fd);
	return ret;
}

int dray_block_create_mapped(const char *path, uint64_t offset, uint64_t size,
			     uint32_t flags, struct dray_block **out)
{
	struct file *file;
	size_t length;
	int ret;

	if (!path || !out)
		return dray_fail(-EINVAL,
				 "the path or the result pointer is NULL");
	if ((flags | DRAY_WRITE) != (DRAY_READ | DRAY_WRITE))
		return dray_fail(-EINVAL,
				 "flags 0x%" PRIx32
				 ": DRAY_READ alone or with DRAY_WRITE",
				 flags);
	length = strlen(path) + 1;
	file = malloc(sizeof(*file) + length);
	if (!file)
		return dray_fail(-ENOMEM, "no memory for a block's object");
	file->offset = offset;
	file->writable = flags & DRAY_WRITE;
	file->path = memcpy(file + 1, path, length);
	ret = map_file(file, size);
	if (ret) {
		free(file);
		return ret;
	}
	dray_block_init(&file->block, &file_class);
	*out = &file->block;
	return 0;
}
