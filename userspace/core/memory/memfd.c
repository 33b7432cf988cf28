// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * memfd: the file of shareable host memory.  It never shrinks, which would make
 * another holder's next access a SIGBUS, and it grows only if its buffer does.  A
 * memfd from elsewhere is believed no further than its seals reach.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "memory/memfd.h"

/* Bytes that a pool begins with, and that are mapped at least of its file. */
#define LEAST_MAPPED ((uint64_t)32 << 20)

/*
 * A memfd can be longer than memory, and a touch beyond it is a SIGBUS.
 * Refuses more than the machine's memory, as a mapping of private memory does.
 */
static int memfd_check_size(uint64_t size)
{
	struct sysinfo memory;
	uint64_t most;

	if (sysinfo(&memory))
		return dray_fail(-errno, "sysinfo: %s", strerror(errno));
	most = ((uint64_t)memory.totalram + memory.totalswap) * memory.mem_unit;
	if (size > most)
		return dray_fail(-ENOMEM,
				 "%" PRIu64 " bytes of shareable memory, the "
				 "machine has %" PRIu64,
				 size, most);
	return 0;
}

/*
 * Refuses more bytes than RLIMIT_FSIZE: making a file longer would not only
 * fail, but end the process by SIGXFSZ.
 */
static int memfd_check_limit(uint64_t size)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur)
		return 0;
	return dray_fail(-ENOMEM,
			 "%" PRIu64 " bytes of shareable memory are more than "
			 "a file may have (RLIMIT_FSIZE, ulimit -f): %" PRIu64,
			 size, (uint64_t)limit.rlim_cur);
}

/*
 * Sealed from the start against another size, and the buffer of a pool, which
 * grows, against a shorter size.  Whether it can be written is settled when it
 * is first passed on; a pool returns its pages, which a seal against writing
 * forbids.
 */
int dray_memfd_make(struct dray_buffer *buffer, uint64_t size, bool grows)
{
	DRAY_NO_CANCEL;
	bool huge = buffer->pages.flags & DRAY_PAGES_HUGE;
	int ret = memfd_check_size(size);
	int fd;

	if (!ret)
		ret = memfd_check_limit(size);
	if (ret)
		return ret;
	fd = dray_descriptor(memfd_create(
		buffer->name[0] ? buffer->name : "dray",
		MFD_CLOEXEC | MFD_ALLOW_SEALING | (huge ? MFD_HUGETLB : 0)));
	if (fd < 0)
		return dray_fail(-errno, "memfd_create: %s", strerror(errno));
	if (ftruncate(fd, (off_t)size) ||
	    fcntl(fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | (grows ? F_SEAL_SEAL : F_SEAL_GROW))) {
		ret = dray_fail(-errno, "a memfd of %" PRIu64 " bytes: %s",
				size, strerror(errno));
		close(fd);
		return ret;
	}
	buffer->fd = fd;
	return 0;
}

int dray_memfd_lengthen(const struct dray_buffer *buffer, uint64_t size)
{
	struct stat status;
	int ret = memfd_check_size(size);

	if (ret)
		return ret;
	/* An importer may make it longer, and shorter it cannot be. */
	if (!fstat(buffer->fd, &status) && (uint64_t)status.st_size >= size)
		return 0;
	ret = memfd_check_limit(size);
	if (ret)
		return ret;
	if (ftruncate(buffer->fd, (off_t)size))
		return dray_fail(-errno,
				 "growing a memfd to %" PRIu64 " bytes: %s",
				 size, strerror(errno));
	return 0;
}

/*
 * Returns 1 for a memfd of huge pages of hugetlbfs, else 0, or an errno.  They
 * are a supply that runs out: another holder may punch a hole and take the
 * page, and the next access here is a SIGBUS, which no seal forbids.
 */
static int is_huge(int fd)
{
	struct statfs system;

	if (fstatfs(fd, &system))
		return dray_fail(-errno, "file descriptor %d: %s", fd,
				 strerror(errno));
	return (uint32_t)system.f_type == HUGETLBFS_MAGIC;
}

/*
 * Returns the bytes to map of a file of @length bytes that @need are needed of.
 * Any holder can make it longer if it is not sealed against that, so at most
 * twice the need is mapped, or LEAST_MAPPED, which many records then share.
 */
static uint64_t bytes_to_map(uint64_t length, uint64_t need, int seals,
			     uint32_t page)
{
	uint64_t most = LEAST_MAPPED;

	if (seals & F_SEAL_GROW || need >= length)
		return length;
	while (most < need)
		most *= 2;
	return most < length ? most : length & ~(uint64_t)(page - 1);
}

int dray_memfd_take(struct dray_buffer *buffer, int fd, uint64_t need,
		    uint64_t *size)
{
	uint32_t page = buffer->node->info.page_size;
	int seals = fcntl(fd, F_GET_SEALS);
	int flags = fcntl(fd, F_GETFL);
	struct stat status;
	int ret;

	if (flags < 0)
		return dray_fail(-errno, "file descriptor %d: %s", fd,
				 strerror(errno));
	if (seals < 0)
		return dray_fail(-EINVAL, "file descriptor %d is not a memfd",
				 fd);
	if (!(seals & F_SEAL_SHRINK))
		return dray_fail(
			-EPERM, "memfd %d is not sealed against shrinking", fd);
	ret = is_huge(fd);
	if (ret < 0)
		return ret;
	if (ret)
		return dray_fail(
			-EPERM,
			"memfd %d uses reserved huge pages (MFD_HUGETLB) and cannot be imported: other holders could take them away",
			fd);
	if (fstat(fd, &status))
		return dray_fail(-errno, "file descriptor %d: %s", fd,
				 strerror(errno));
	*size = bytes_to_map((uint64_t)status.st_size, need, seals, page);
	if (!*size || *size % page)
		return dray_fail(
			-EINVAL,
			"memfd %d has %jd bytes, not a multiple of the "
			"page size %u",
			fd, (intmax_t)status.st_size, page);
	/* A sparse memfd would cost its sender nothing, and us our addresses. */
	ret = memfd_check_size(*size);
	if (ret)
		return ret;

	buffer->writable = (flags & O_ACCMODE) == O_RDWR &&
			   !(seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE));
	buffer->fd = dray_descriptor_copy(fd);
	if (buffer->fd < 0)
		return dray_fail(-errno, "duplicating file descriptor %d: %s",
				 fd, strerror(errno));
	return 0;
}

/* Sealed by another thread meanwhile is sealed too. */
void dray_memfd_expose(struct dray_buffer *buffer)
{
	fcntl(buffer->fd, F_ADD_SEALS, F_SEAL_SEAL);
}

int dray_memfd_share(struct dray_buffer *buffer, bool read_only, int *fd)
{
	int seals = fcntl(buffer->fd, F_GET_SEALS);
	bool sealed = seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE);

	if (seals < 0)
		return dray_fail(-errno, "the seals of a memfd: %s",
				 strerror(errno));
	if (sealed && !read_only)
		return dray_fail(-EPERM,
				 "buffer %" PRIu64 " was exported read-only",
				 buffer->id);
	if (!sealed && read_only && seals & F_SEAL_SEAL)
		return dray_fail(-EPERM,
				 "buffer %" PRIu64
				 " grows, or was passed on for writing already",
				 buffer->id);
	if (!(seals & F_SEAL_SEAL) &&
	    fcntl(buffer->fd, F_ADD_SEALS,
		  read_only ? F_SEAL_FUTURE_WRITE | F_SEAL_SEAL : F_SEAL_SEAL))
		return dray_fail(-errno, "sealing a memfd: %s",
				 strerror(errno));
	*fd = dray_descriptor_copy(buffer->fd);
	if (*fd < 0)
		return dray_fail(-errno, "duplicating a memfd: %s",
				 strerror(errno));
	return 0;
}
