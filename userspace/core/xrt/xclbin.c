// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads the table of banks in an .xclbin file.  Every read is checked against the
 * size of the file first, so that no number in the file is trusted.  A file is
 * read and not mapped: one that becomes shorter is an error, not a SIGBUS.
 */
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dray/xclbin.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/number.h"
#include "xrt/xclbin.h"

/* A file: open, or in memory. */
struct source {
	const char *name;
	const unsigned char *bytes; /* NULL: read @fd */
	int fd;
	uint64_t size;
};

static int is_cut(const struct source *source, const char *part, uint64_t end)
{
	return dray_fail(-EBADMSG,
			 "%s is cut: %s ends at byte %" PRIu64
			 ", the file has %" PRIu64,
			 source->name, part, end, source->size);
}

static int xclbin_read_at(const struct source *source, const char *part,
			  uint64_t offset, void *to, size_t length)
{
	unsigned char *at = to;
	uint64_t end;
	ssize_t done;

	if (dray_add_overflow(offset, length, &end))
		end = UINT64_MAX;
	if (end > source->size)
		return is_cut(source, part, end);
	if (source->bytes) {
		memcpy(to, source->bytes + offset, length);
		return 0;
	}
	while (length) {
		done = pread(source->fd, at, length, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return dray_fail(-errno, "read of %s: %s", source->name,
					 strerror(errno));
		if (!done)
			return is_cut(source, part, end);
		at += done;
		offset += (uint64_t)done;
		length -= (size_t)done;
	}
	return 0;
}

/* Reads the header, and limits the file to the length that it tells. */
static int xclbin_read_header(struct source *source, uint32_t *count)
{
	struct dray_xclbin_header header;
	uint64_t length;
	int ret;

	ret = xclbin_read_at(source, "the header", 0, &header, sizeof(header));
	if (ret)
		return ret;
	if (memcmp(header.magic, DRAY_XCLBIN_MAGIC, sizeof(header.magic)) != 0)
		return dray_fail(-EBADMSG,
				 "%s does not begin as an xclbin of version 2",
				 source->name);
	length = le64toh(header.length);
	if (length > source->size)
		return is_cut(source, "its content", length);
	source->size = length;
	*count = le32toh(header.count);
	if (*count > DRAY_XCLBIN_MOST_SECTIONS)
		return dray_fail(-EBADMSG,
				 "%s has %u sections, at most %u may be",
				 source->name, *count,
				 DRAY_XCLBIN_MOST_SECTIONS);
	return 0;
}

/* Finds the first section of banks, as XRT does. */
static int find_topology(const struct source *source, uint32_t count,
			 uint64_t *offset, uint64_t *size)
{
	struct dray_xclbin_section section;
	uint64_t end;
	uint32_t i;
	int ret;

	for (i = 0; i < count; i++) {
		ret = xclbin_read_at(source, "its list of sections",
				     sizeof(struct dray_xclbin_header) +
					     i * sizeof(section),
				     &section, sizeof(section));
		if (ret)
			return ret;
		if (le32toh(section.kind) == DRAY_XCLBIN_TOPOLOGY)
			break;
	}
	if (i == count)
		return dray_fail(
			-ENODATA,
			"%s has no table of memory banks among its %u section%s",
			source->name, count, dray_plural(count));
	*offset = le64toh(section.offset);
	*size = le64toh(section.size);
	if (dray_add_overflow(*offset, *size, &end))
		end = UINT64_MAX;
	return end > source->size
		       ? is_cut(source, "the table of memory banks", end)
		       : 0;
}

static int count_banks(const struct source *source, uint64_t offset,
		       uint64_t size, uint32_t *count)
{
	struct dray_xclbin_topology topology;
	uint64_t fit;
	int32_t told;
	int ret;

	if (size < sizeof(topology))
		return dray_fail(-EBADMSG,
				 "the table of memory banks in %s has %" PRIu64
				 " bytes, at least %zu must be",
				 source->name, size, sizeof(topology));
	ret = xclbin_read_at(source, "the table of memory banks", offset,
			     &topology, sizeof(topology));
	if (ret)
		return ret;
	told = (int32_t)le32toh((uint32_t)topology.count);
	fit = (size - sizeof(topology)) / sizeof(struct dray_xclbin_bank);
	if (told < 0 || (uint32_t)told > fit)
		return dray_fail(-EBADMSG,
				 "%s tells of %" PRId32
				 " memory banks, its table holds %" PRIu64,
				 source->name, told, fit);
	if ((uint32_t)told > DRAY_XCLBIN_MOST_BANKS)
		return dray_fail(-EBADMSG,
				 "%s has %" PRId32
				 " memory banks, at most %u may be",
				 source->name, told, DRAY_XCLBIN_MOST_BANKS);
	*count = (uint32_t)told;
	return 0;
}

static bool is_stream(uint32_t type)
{
	return type == DRAY_BANK_STREAM || type == DRAY_BANK_STREAM_CONNECTION;
}

static int fill_bank(const struct source *source,
		     const struct dray_xclbin_bank *from,
		     struct dray_bank *bank)
{
	uint64_t end;
	size_t i;

	bank->type = from->type;
	bank->flags = from->used ? DRAY_BANK_USED : 0;
	for (i = 0; i < sizeof(from->tag) && from->tag[i]; i++)
		bank->name[i] = isascii(from->tag[i]) && isprint(from->tag[i])
					? from->tag[i]
					: '?';
	if (is_stream(bank->type))
		return 0;
	bank->address = le64toh(from->address);
	if (dray_mul_overflow(le64toh(from->kilobytes), 1024, &bank->size) ||
	    dray_add_overflow(bank->address, bank->size, &end))
		return dray_fail(
			-EBADMSG,
			"memory bank %u of %s ends above 2^64: %" PRIu64
			" KiB from 0x%" PRIx64,
			bank->index, source->name, le64toh(from->kilobytes),
			bank->address);
	return 0;
}

static int xclbin_read_banks(struct source *source, struct dray_bank *banks,
			     size_t room, size_t *out)
{
	uint32_t sections = 0, count = 0, i;
	struct dray_xclbin_bank from;
	uint64_t offset = 0, size = 0;
	int ret;

	ret = xclbin_read_header(source, &sections);
	if (!ret)
		ret = find_topology(source, sections, &offset, &size);
	if (!ret)
		ret = count_banks(source, offset, size, &count);
	/* All are read, so that an error does not depend on @room. */
	for (i = 0; !ret && i < count; i++) {
		struct dray_bank bank = { .index = i };

		ret = xclbin_read_at(
			source, "the table of memory banks",
			offset + sizeof(struct dray_xclbin_topology) +
				i * sizeof(from),
			&from, sizeof(from));
		if (!ret)
			ret = fill_bank(source, &from, &bank);
		if (!ret && i < room)
			banks[i] = bank;
	}
	if (!ret)
		*out = count;
	return ret;
}

/* Checks an open file: nothing but a regular one has a size. */
static int xclbin_measure(struct source *source)
{
	struct stat about;

	if (fstat(source->fd, &about))
		return dray_fail(-errno, "fstat of %s: %s", source->name,
				 strerror(errno));
	if (S_ISDIR(about.st_mode))
		return dray_fail(-EISDIR, "%s is a directory", source->name);
	if (!S_ISREG(about.st_mode))
		return dray_fail(-EINVAL, "%s is not a regular file",
				 source->name);
	source->size = (uint64_t)about.st_size;
	return 0;
}

int dray_xclbin_banks(const char *path, struct dray_bank *banks, size_t room,
		      size_t *count)
{
	DRAY_NO_CANCEL;
	struct source source = { .name = path };
	int ret;

	if (!dray_given(path, __func__) || !dray_given(count, __func__) ||
	    (room && !dray_given(banks, __func__)))
		return -EINVAL;
	/* A pipe must not stop the caller before it is refused. */
	source.fd =
		dray_descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	if (source.fd < 0)
		return dray_fail(-errno, "open of %s: %s", path,
				 strerror(errno));
	ret = xclbin_measure(&source);
	if (!ret)
		ret = xclbin_read_banks(&source, banks, room, count);
	close(source.fd);
	return ret;
}

int dray_xclbin_banks_in(const void *file, size_t size, struct dray_bank *banks,
			 size_t room, size_t *count)
{
	struct source source = {
		.name = "the xclbin", .bytes = file, .fd = -1, .size = size
	};

	if (!dray_given(file, __func__) || !dray_given(count, __func__) ||
	    (room && !dray_given(banks, __func__)))
		return -EINVAL;
	return xclbin_read_banks(&source, banks, room, count);
}

const char *dray_bank_type_name(uint32_t type)
{
	static const char *const names[] = {
		[DRAY_BANK_DDR3] = "DDR3",
		[DRAY_BANK_DDR4] = "DDR4",
		[DRAY_BANK_DRAM] = "DRAM",
		[DRAY_BANK_STREAM] = "stream",
		[DRAY_BANK_PREALLOCATED] = "preallocated",
		[DRAY_BANK_AURORA] = "Aurora",
		[DRAY_BANK_HBM] = "HBM",
		[DRAY_BANK_BRAM] = "BRAM",
		[DRAY_BANK_URAM] = "URAM",
		[DRAY_BANK_STREAM_CONNECTION] = "stream connection",
		[DRAY_BANK_HOST] = "host",
		[DRAY_BANK_PS_KERNEL] = "PS kernel",
	};

	return type < sizeof(names) / sizeof(names[0]) ? names[type]
						       : "unknown";
}
