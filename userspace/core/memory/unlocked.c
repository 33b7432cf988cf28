// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * unlocked: the kernel checks the limit of locked memory for a whole new
 * mapping, before the process could unlock it, but a mapping that grows stays
 * unlocked.  So it begins as one page, which is unlocked and then grows.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "memory/unlocked.h"

static void *unlocked_page(size_t page, int protection)
{
	void *start = mmap(NULL, page, protection,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start != MAP_FAILED)
		munlock(start, page);
	return start;
}

/* In a sandbox that forbids mremap(), where few programs lock their memory. */
static void *map_at_once(size_t size, int protection)
{
	void *start = mmap(NULL, size, protection,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start != MAP_FAILED && protection & PROT_WRITE)
		madvise(start, size, MADV_DONTDUMP);
	return start;
}

void *dray_map_unlocked(size_t size, int protection)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *first = unlocked_page(page, protection), *start;
	bool forbidden;

	if (first == MAP_FAILED)
		return first;
	/*
	 * What can be written is a table.  A core would have all that it reserves,
	 * gigabytes of zeros.
	 */
	if (protection & PROT_WRITE)
		madvise(first, page, MADV_DONTDUMP);
	if (size <= page)
		return first;
	/* It keeps this advice. */
	start = mremap(first, page, size, MREMAP_MAYMOVE);
	if (start != MAP_FAILED)
		return start;
	forbidden = errno == EPERM || errno == ENOSYS;
	munmap(first, page);
	if (forbidden)
		return map_at_once(size, protection);
	errno = ENOMEM;
	return MAP_FAILED;
}

int dray_unmap_to_addresses(void *start, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *first;

	/* In one step, so that no other mapping can land in between. */
	if (mmap(start, size, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) != MAP_FAILED) {
		munlock(start, size);
		return 0;
	}
	if (errno != EAGAIN)
		return -1;
	/* Beyond the limit, of which the page needs a part. */
	munlock(start, size);
	first = unlocked_page(page, PROT_NONE);
	if (first == MAP_FAILED)
		return -1;
	if (mremap(first, page, size, MREMAP_MAYMOVE | MREMAP_FIXED, start) !=
	    MAP_FAILED)
		return 0;
	munmap(first, page);
	return -1;
}

int dray_map_refused(const char *subject, uint64_t size, int error)
{
	if (error != EAGAIN)
		return dray_fail(-error, "mapping %" PRIu64 " bytes of %s: %s",
				 size, subject, strerror(error));
	return dray_fail(
		-ENOMEM,
		"mapping %" PRIu64
		" bytes of %s: the process locks its mappings (mlockall), and RLIMIT_MEMLOCK (ulimit -l) leaves less",
		size, subject);
}
