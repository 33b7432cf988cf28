/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Snapshots that processes publish of their pools (<dray/publish.h>).  A process
 * may send anything: each number is checked, and nothing is waited for without a
 * limit.
 */
#ifndef DMACTL_PUBLISHED_H
#define DMACTL_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dray/publish.h>

struct published_block {
	const struct dray_publish_block *fixed;
	const int64_t *shape; /* fixed->ndim of them */
	const char *type; /* fixed->type_length bytes, no zero */
	const char *site; /* fixed->site_length bytes, no zero */
	const struct dray_publish_loan *loan; /* NULL: not lent */
};

struct published_region {
	const struct dray_publish_region *fixed;
	const struct dray_publish_pool *pool;
	size_t first; /* index of its first block */
	size_t count; /* of blocks, which do not overlap */
};

struct published {
	int pid;
	char comm[16];
	bool truncated;
	struct published_block *blocks; /* of all regions */
	size_t block_count;
	struct published_region *regions;
	size_t region_count;
	size_t pool_count;
	void *bytes; /* the snapshot, which the others point into */
};

enum published_result {
	PUBLISHED_FINE,
	PUBLISHED_NOT, /* the process does not publish */
	PUBLISHED_FAILED,
};

/*
 * Asks the process for a snapshot.  If the result is not FINE, @reason is a
 * sentence, for free(), and @out needs no published_free().
 */
enum published_result published_read(uint64_t process_number,
				     struct published *out, char **reason);

/*
 * Reads a snapshot of @size bytes, aligned to 8, which stays in use and the
 * caller's.  Returns NULL, or how the snapshot is wrong; it is freed either way.
 */
const char *published_parse(const void *bytes, size_t size,
			    struct published *out);

void published_free(struct published *published);

#endif /* DMACTL_PUBLISHED_H */
