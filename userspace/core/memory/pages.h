/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * pages: choices of the pages of host memory, and the system's numbers of them.
 */
#ifndef DRAY_MEMORY_PAGES_H
#define DRAY_MEMORY_PAGES_H

#include <sys/mman.h>

#include <dray/memory.h>

/* In Linux since 5.14 and 6.1; C libraries may lack the names. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define DRAY_PAGES_HUGE_SIZE ((uint64_t)2 << 20)	/* with pages of 4 KiB */

/*
 * Checks a choice of pages against @node's memory.
 *
 * @page: bytes of its pages: the system's, or of huge pages
 *
 * Errors: -EINVAL (unknown bits, nodes that do not fit the policy), -EOPNOTSUPP
 * (the node's memory does not offer that choice).
 */
int dray_pages_check(const struct dray_node *node,
		     const struct dray_pages *pages, uint64_t *page);

/*
 * Sets the policy of [@start, @start + @size), just mapped and not touched, and
 * fetches its pages if the choice asks for that.  May block while memory is
 * reclaimed. -EINVAL (NUMA nodes that do not exist), -ENOMEM, and errors of
 * mbind() and madvise().
 */
int dray_pages_place(void *start, uint64_t size,
		     const struct dray_pages *pages);

/*
 * Fetches all pages of a range of whole pages; contents stay.  -ENOMEM, and
 * errors of madvise().
 */
int dray_pages_fetch(void *start, uint64_t size);

/*
 * Puts a part of a memfd's shared mapping into transparent huge pages; contents
 * stay, and pages that were not touched are fetched.  @start and @size are
 * multiples of DRAY_PAGES_HUGE_SIZE.  Does nothing if the system lacks them.
 */
void dray_pages_gather(char *start, uint64_t size);

/* Why @size bytes in huge pages could not be mapped: returns @error. */
int dray_pages_no_huge(uint64_t size, int error);

/* The number beside @name in /proc/meminfo; false if it is not there. */
bool dray_pages_meminfo(const char *name, uint64_t *number);

#endif /* DRAY_MEMORY_PAGES_H */
