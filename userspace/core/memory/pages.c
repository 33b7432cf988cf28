// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * pages: NUMA policy, prefault and huge pages of host memory.
 *
 * The policy is set by the system call itself. libnuma's function is the same
 * call, and each user of the library would link another library for nothing.  A
 * program that wants the machine's topology uses libnuma or hwloc, and passes a
 * mask.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/number.h"
#include "memory/backend.h"
#include "memory/pages.h"

#define KNOWN_FLAGS (DRAY_PAGES_PREFAULT | DRAY_PAGES_HUGE)
#define NODES 64 /* bits of a mask of NUMA nodes */

bool dray_pages_meminfo(const char *name, uint64_t *number)
{
	DRAY_NO_CANCEL;
	FILE *file = dray_descriptor_file("/proc/meminfo");
	size_t length = strlen(name);
	bool found = false;
	char line[128];

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = !strncmp(line, name, length) && line[length] == ':' &&
			sscanf(line + length + 1, "%" SCNu64, number) == 1;
	fclose(file);
	return found;
}

static int check_policy(const struct dray_pages *pages)
{
	if (pages->policy > DRAY_NUMA_INTERLEAVE)
		return dray_fail(-EINVAL, "%u is not a NUMA policy: 0 to %d",
				 pages->policy, DRAY_NUMA_INTERLEAVE);
	if (!pages->policy != !pages->numa_nodes)
		return dray_fail(-EINVAL,
				 "NUMA policy %u with nodes 0x%" PRIx64
				 ": one needs the other",
				 pages->policy, pages->numa_nodes);
	if (pages->policy == DRAY_NUMA_PREFERRED &&
	    !dray_is_power_of_two(pages->numa_nodes))
		return dray_fail(-EINVAL,
				 "nodes 0x%" PRIx64
				 ": one NUMA node can be preferred",
				 pages->numa_nodes);
	return 0;
}

/* If pages cannot be chosen, asking for the usual pages is not an error. */
static int pages_check_node(const struct dray_node *node,
			    const struct dray_pages *pages)
{
	bool chosen = pages->policy || pages->flags & DRAY_PAGES_HUGE;

	/* The host is without a file. */
	if (node->fd >= 0 && chosen)
		return dray_fail(
			-EOPNOTSUPP,
			"%s allocates from heaps; huge pages and NUMA policies are for host memory",
			node->info.name);
	if (pages->flags & DRAY_PAGES_HUGE && !node->shareable)
		return dray_fail(
			-EOPNOTSUPP,
			"reserved huge pages for private memory: a child that "
			"writes its copy could find none; host:shareable has "
			"them, and private memory has transparent ones");
	return 0;
}

int dray_pages_check(const struct dray_node *node,
		     const struct dray_pages *pages, uint64_t *page)
{
	uint64_t kib;
	int ret;

	if (pages->flags & ~KNOWN_FLAGS)
		return dray_fail(-EINVAL, "unknown flags of pages 0x%x",
				 pages->flags & ~KNOWN_FLAGS);
	ret = check_policy(pages);
	if (!ret)
		ret = pages_check_node(node, pages);
	if (ret)
		return ret;
	*page = node->info.page_size;
	if (!(pages->flags & DRAY_PAGES_HUGE))
		return 0;
	if (!dray_pages_meminfo("Hugepagesize", &kib) || !kib)
		return dray_fail(-EOPNOTSUPP, "this kernel has no huge pages");
	*page = kib << 10;
	return 0;
}

int dray_pages_no_huge(uint64_t size, int error)
{
	uint64_t all = 0, free = 0, promised = 0, kib = 0;

	dray_pages_meminfo("HugePages_Total", &all);
	dray_pages_meminfo("HugePages_Free", &free);
	dray_pages_meminfo("HugePages_Rsvd", &promised);
	dray_pages_meminfo("Hugepagesize", &kib);
	return dray_fail(error,
			 "%" PRIu64 " bytes in huge pages of %" PRIu64
			 " KiB: the system has reserved %" PRIu64
			 ", and %" PRIu64
			 " are left (vm.nr_hugepages says how many)",
			 size, kib, all, free > promised ? free - promised : 0);
}

static int set_policy(void *start, uint64_t size,
		      const struct dray_pages *pages)
{
	static const int modes[] = {
		[DRAY_NUMA_PREFERRED] = MPOL_PREFERRED,
		[DRAY_NUMA_BIND] = MPOL_BIND,
		[DRAY_NUMA_INTERLEAVE] = MPOL_INTERLEAVE,
	};
	const size_t bits = 8 * sizeof(unsigned long);
	unsigned long mask[NODES / (8 * sizeof(unsigned long))];
	size_t i;

	for (i = 0; i < NODES / bits; i++)
		mask[i] = (unsigned long)(pages->numa_nodes >> (i * bits));
	/* The kernel reads a bit less than the count says. */
	if (syscall(SYS_mbind, start, (size_t)size, modes[pages->policy], mask,
		    (unsigned long)NODES + 1, 0))
		return dray_fail(-errno,
				 "NUMA policy %u with nodes 0x%" PRIx64 ": %s",
				 pages->policy, pages->numa_nodes,
				 strerror(errno));
	return 0;
}

/* Without changing bytes that an importer of a memfd may write there. */
static void pages_touch(char *start, uint64_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t offset;

	for (offset = 0; offset < size; offset += page)
		__atomic_fetch_or(start + offset, 0, __ATOMIC_RELAXED);
}

/*
 * The kernel makes huge pages of a memfd by itself only if an administrator allows
 * it (shmem_enabled), but on request unless that file says "deny".
 */
void dray_pages_gather(char *start, uint64_t size)
{
	static _Atomic bool worked, refused;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t offset;

	if (atomic_load_explicit(&refused, memory_order_relaxed))
		return;
	/* It refuses a range without any page. */
	for (offset = 0; offset < size; offset += DRAY_PAGES_HUGE_SIZE)
		if (madvise(start + offset, page, MADV_POPULATE_WRITE))
			return;
	if (!madvise(start, (size_t)size, MADV_COLLAPSE))
		atomic_store_explicit(&worked, true, memory_order_relaxed);
	else if (errno == EINVAL &&
		 !atomic_load_explicit(&worked, memory_order_relaxed))
		atomic_store_explicit(&refused, true, memory_order_relaxed);
}

int dray_pages_fetch(void *start, uint64_t size)
{
	int error;

	if (!madvise(start, (size_t)size, MADV_POPULATE_WRITE))
		return 0;
	error = errno;
	/* Before Linux 5.14. */
	if (error == EINVAL) {
		pages_touch(start, size);
		return 0;
	}
	/* A page that touching would be a SIGBUS for. */
	if (error == EFAULT)
		error = ENOMEM;
	return dray_fail(-error, "fetching %" PRIu64 " bytes at once: %s", size,
			 strerror(error));
}

int dray_pages_place(void *start, uint64_t size, const struct dray_pages *pages)
{
	int ret = 0;

	if (pages->policy)
		ret = set_policy(start, size, pages);
	if (!ret && pages->flags & DRAY_PAGES_PREFAULT)
		ret = dray_pages_fetch(start, size);
	return ret;
}
