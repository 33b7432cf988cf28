// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Ways out of a refusal.  Smaller sizes, lower alignments, other heaps and modes
 * are tried on the plan, which never allocates.
 *
 * The bytes in use of a range grow and shrink evenly while it moves, except where
 * either end passes the border of a part.  So the best ranges are the aligned
 * ranges next to such places, and only these are compared.
 */
#include <stdlib.h>

#include "cli.h"
#include "why_help.h"

/* Sums of the parts before each: bytes to be freed, and bytes that are lost. */
struct sums {
	uint64_t *taken; /* parts + 1 */
	uint64_t *lost;
};

struct help_search {
	const struct plan_heap *heap;
	struct sums sums;
	uint64_t size;
	uint64_t alignment;
	uint64_t first; /* the lowest aligned offset */
	uint64_t last; /* the highest that leaves room */
	struct plan_window best;
};

static void sum_up(struct help_search *search)
{
	const struct plan_heap *heap = search->heap;
	uint32_t count = heap->map.count, i;
	uint64_t *taken = memory_new(count + 1, sizeof(*taken));
	uint64_t *lost = memory_new(count + 1, sizeof(*lost));

	for (i = 0; i < count; i++) {
		const struct dray_part *part = &heap->parts[i];
		bool is_lost = part->state == DRAY_PART_CONDEMNED;

		taken[i + 1] = taken[i];
		lost[i + 1] = lost[i];
		if (!plan_is_free(heap, part))
			*(is_lost ? &lost[i + 1] : &taken[i + 1]) +=
				part->length;
	}
	search->sums = (struct sums){ .taken = taken, .lost = lost };
}

/* The part that @offset lies in, or the count of parts at the end. */
static uint32_t part_at(const struct plan_heap *heap, uint64_t offset)
{
	uint32_t low = 0, high = heap->map.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct dray_part *part = &heap->parts[middle];

		if (part->offset + part->length <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The bytes before @offset of those that @sums counts. */
static uint64_t sum_before(const struct help_search *search,
			   const uint64_t *sums, uint64_t offset)
{
	const struct plan_heap *heap = search->heap;
	uint32_t at = part_at(heap, offset);
	const struct dray_part *part = &heap->parts[at];

	if (at == heap->map.count || sums[at + 1] == sums[at])
		return sums[at];
	return sums[at] + offset - part->offset;
}

static void try_at(struct help_search *search, uint64_t offset)
{
	const struct sums *sums = &search->sums;
	uint64_t end = offset + search->size;
	uint64_t taken;

	if (offset < search->first || offset > search->last ||
	    sum_before(search, sums->lost, end) !=
		    sum_before(search, sums->lost, offset))
		return;
	taken = sum_before(search, sums->taken, end) -
		sum_before(search, sums->taken, offset);
	if (search->best.found &&
	    (taken > search->best.taken ||
	     (taken == search->best.taken && offset >= search->best.offset)))
		return;
	search->best = (struct plan_window){
		.found = true,
		.offset = offset,
		.length = search->size,
		.taken = taken,
	};
}

/* Tries the aligned offsets on both sides of @offset. */
static void try_near(struct help_search *search, uint64_t offset)
{
	uint64_t below;

	if (offset < search->first)
		return;
	below = offset - ((offset - search->first) & (search->alignment - 1));
	try_at(search, below);
	if (below != offset)
		try_at(search, below + search->alignment);
}

struct plan_window plan_window(const struct plan_node *node, uint32_t index,
			       const struct plan_request *request)
{
	const struct plan_heap *heap = &node->heaps[index];
	uint64_t page = node->info.page_size;
	struct help_search search = {
		.heap = heap,
		.size = plan_bytes(node, request),
		.alignment =
			request->alignment > page ? request->alignment : page,
	};
	uint32_t i;

	search.first = heap->map.first_aligned & (search.alignment - 1);
	if (!heap->map.count || search.size > heap->map.reach ||
	    heap->map.reach - search.size < search.first)
		return search.best;
	search.last = heap->map.reach - search.size;
	sum_up(&search);
	try_near(&search, search.first);
	try_near(&search, search.last);
	for (i = 0; i < heap->map.count; i++) {
		uint64_t offset = heap->parts[i].offset;

		try_near(&search, offset);
		if (offset >= search.size)
			try_near(&search, offset - search.size);
	}
	free(search.sums.taken);
	free(search.sums.lost);
	if (search.best.found) {
		search.best.first = part_at(heap, search.best.offset);
		search.best.end =
			part_at(heap, search.best.offset + search.size - 1) + 1;
	}
	return search.best;
}

static bool why_help_succeeds(const struct plan_node *node,
			      const struct plan_request *request)
{
	uint32_t heap;

	return !plan_decide(node, request, &heap).error;
}

/* If a size succeeds, so do all smaller sizes. */
uint64_t plan_largest_size(const struct plan_node *node,
			   const struct plan_request *request)
{
	struct plan_request tried = *request;
	uint64_t page = node->info.page_size;
	uint64_t low = 0, high = 0, middle;
	uint32_t i;

	for (i = 0; i < node->info.heap_count; i++)
		if (node->heaps[i].info.largest_request > high)
			high = node->heaps[i].info.largest_request;
	/* In pages; low is served. */
	for (high /= page; low < high;) {
		middle = low + (high - low + 1) / 2;
		tried.size = middle * page;
		if (why_help_succeeds(node, &tried))
			low = middle;
		else
			high = middle - 1;
	}
	return low * page;
}

uint64_t plan_largest_alignment(const struct plan_node *node,
				const struct plan_request *request)
{
	struct plan_request tried = *request;

	uint64_t alignment = UINT64_C(1) << 63;

	/* The requested alignment need not be a power of two. */
	for (; alignment; alignment /= 2) {
		tried.alignment = alignment;
		if (alignment < request->alignment &&
		    why_help_succeeds(node, &tried))
			return alignment;
	}
	return 0;
}

uint32_t plan_other_heap(const struct plan_node *node,
			 const struct plan_request *request)
{
	struct plan_request tried = *request;

	for (tried.heap = 0; tried.heap < node->info.heap_count; tried.heap++)
		if (tried.heap != request->heap &&
		    why_help_succeeds(node, &tried))
			return tried.heap;
	return DRAY_HEAP_ANY;
}

uint32_t plan_other_mode(const struct plan_node *node,
			 const struct plan_request *request)
{
	struct plan_request tried = *request;

	for (tried.mode = 0; tried.mode <= DRAY_MODE_DEVICE; tried.mode++)
		if (why_help_succeeds(node, &tried))
			return tried.mode;
	return request->mode;
}
