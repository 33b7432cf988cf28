/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The little of RDMA that a transfer needs, on the kernel's own interface:
 * the library for it would have to be in the guest.
 */
#ifndef WORKS_VERBS_H
#define WORKS_VERBS_H

#include <rdma/rdma_user_rxe.h>

#include "../../selftests/system.h"

struct verbs {
	int fd;
	uint32_t domain, completions, pair, pair_number;
	struct rxe_queue_buf *done, *work;
};

struct verbs_region {
	uint64_t address;
	uint32_t length, local_key, remote_key;
};

enum verbs_operation {
	VERBS_WRITE = 0, /* IB_WR_RDMA_WRITE: ours to the other */
	VERBS_READ = 4, /* IB_WR_RDMA_READ: the other to ours */
};

/* Each gives 0, or -1 and errno. */
int verbs_open(struct verbs *verbs);
int verbs_register(struct verbs *verbs, const void *bytes, size_t size,
		   struct verbs_region *region);
int verbs_connect(struct verbs *verbs);

/* One transfer of all of it, and its completion. */
int verbs_copy(struct verbs *verbs, enum verbs_operation operation,
	       const struct verbs_region *ours,
	       const struct verbs_region *other);

#endif
