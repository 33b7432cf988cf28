/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The decision of ALLOC, over numbers that were read before: whether a heap would
 * serve a request, and the limit that it meets.  The order of the steps and the
 * values are those of the driver (face/alloc.c, heap/).  A test compares both.
 */
#ifndef DMACTL_WHY_PLAN_H
#define DMACTL_WHY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/dray.h>

struct plan_request {
	uint64_t size; /* bytes */
	uint64_t alignment; /* bytes; 0: a page */
	uint64_t mask; /* as dray_alloc.address_limit; 0: the device's */
	uint32_t heap; /* index, or DRAY_HEAP_ANY */
	uint32_t mode; /* enum dray_mode */
};

/* A heap, and its map for the request's alignment and mask. */
struct plan_heap {
	struct dray_heap_info info;
	int error; /* of HEAP_MAP, a negative errno */
	uint64_t largest_alignment; /* bytes; 0: the request's is possible */
	struct dray_heap_map map;
	struct dray_part *parts; /* map.count */
};

struct plan_node {
	struct dray_info info;
	struct plan_heap *heaps; /* info.heap_count */
	bool may_lock; /* by CAP_IPC_LOCK of the caller */
	uint64_t lock_limit; /* bytes: RLIMIT_MEMLOCK */
	uint64_t locked; /* bytes that dray knows of */
};

struct plan_answer {
	int error; /* as ALLOC returns it; 0: it would succeed */
	uint32_t reason; /* enum dray_reason */
	uint64_t limit; /* the value of the reason */
	bool likely; /* not certain: the system uses the memory too */
	bool elsewhere; /* it may be a later heap that serves it */
};

/* Checks the request by itself, as ALLOC does before it asks a heap. */
struct plan_answer plan_check(const struct plan_node *node,
			      const struct plan_request *request);

/* Decides for a single heap, which @request need not name. */
struct plan_answer plan_heap(const struct plan_node *node, uint32_t index,
			     const struct plan_request *request);

/*
 * Decides the request.  Sets *@heap to the heap that serves it; if none does, to
 * the heap that the answer is about, or to DRAY_HEAP_ANY if it is about none.
 */
struct plan_answer plan_decide(const struct plan_node *node,
			       const struct plan_request *request,
			       uint32_t *heap);

/* Whether ALLOC with DRAY_HEAP_ANY would ask this heap. */
bool plan_asks(const struct plan_node *node, uint32_t index, uint32_t mode);

/* Whether the heap owns a range that dray alone divides. */
bool plan_is_dedicated(const struct plan_heap *heap);

/* Return the bytes that the request needs, and that the user is charged for. */
uint64_t plan_bytes(const struct plan_node *node,
		    const struct plan_request *request);
uint64_t plan_charge(const struct plan_node *node, uint32_t index,
		     const struct plan_request *request);

/* Whether this part may become part of a new buffer without a free. */
bool plan_is_free(const struct plan_heap *heap, const struct dray_part *part);

/*
 * Returns the bytes of the longest free run that starts at a multiple of
 * @alignment and ends at or before @reach.
 */
uint64_t plan_longest(const struct plan_heap *heap, uint64_t alignment,
		      uint64_t reach);

#endif /* DMACTL_WHY_PLAN_H */
