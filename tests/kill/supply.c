// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What there is to be had; see supply.h.
 */
#include "kselftest.h"

#include "../selftests/binding.h"
#include "../selftests/node.h"
#include "../selftests/process.h"
#include "supply.h"

#define PIECE (1024 * 1024)
/* Slabs, stacks and tables grow while processes come and go. */
#define KEPT (4 * 1024 * 1024)

/* Bytes that the heap gives in pieces, all at one time. */
static uint64_t pieces_of(int node, const struct dray_heap_info *heap)
{
	size_t most = heap->total / PIECE, count = 0;
	struct buffer *pieces = calloc(most + 1, sizeof(*pieces));

	if (!pieces)
		return 0;
	while (count < most &&
	       !buffer_allocate(node, heap->index, PIECE, &pieces[count]))
		count++;
	most = count;
	while (count--)
		buffer_close(&pieces[count]);
	free(pieces);
	return (uint64_t)most * PIECE;
}

/* The sum of the numbers in lines of a file of /proc that look like @line. */
static uint64_t sum_of(const char *path, const char *line)
{
	char text[128];
	uint64_t number, sum = 0;
	FILE *file = fopen(path, "r");

	while (file && fgets(text, sizeof(text), file))
		if (sscanf(text, line, &number) == 1)
			sum += number;
	if (file)
		fclose(file);
	return sum;
}

/* What the kernel could use again is free, and what processors keep is too. */
static uint64_t free_bytes(void)
{
	write_text("/proc/sys/vm/drop_caches", "3");
	return sum_of("/proc/meminfo", "MemFree: %" SCNu64) * 1024 +
	       sum_of("/proc/zoneinfo", " count: %" SCNu64) *
		       (uint64_t)sysconf(_SC_PAGESIZE);
}

int supply_take(struct supply *supply)
{
	struct dray_heap_info heap;
	struct dray_info info;
	int node = node_open();

	memset(supply, 0, sizeof(*supply));
	if (node < 0 || node_info(node, &info)) {
		close(node);
		return -ENODEV;
	}
	for (uint32_t i = 0; i < info.heap_count && i < LEDGER_HEAPS; i++)
		if (!node_heap(node, i, &heap) && heap.type == DRAY_HEAP_CMA)
			supply->cma[i] = pieces_of(node, &heap);
	close(node);
	supply->free = free_bytes();
	return 0;
}

static bool is_back(void *context)
{
	const struct supply *before = context;
	struct supply now;

	if (supply_take(&now) || now.free + KEPT < before->free)
		return false;
	for (uint32_t i = 0; i < LEDGER_HEAPS; i++)
		if (now.cma[i] + PIECE < before->cma[i])
			return false;
	return true;
}

bool supply_is_back(const struct supply *before)
{
	bool back = wait_for(is_back, (void *)before);
	struct supply now;

	supply_take(&now);
	for (uint32_t i = 0; i < LEDGER_HEAPS; i++)
		if (before->cma[i])
			ksft_print_msg("heap %" PRIu32 " gave %" PRIu64
				       " bytes, gives %" PRIu64 "\n",
				       i, before->cma[i], now.cma[i]);
	ksft_print_msg("%" PRIu64 " bytes were free, are %" PRIu64 "\n",
		       before->free, now.free);
	return back;
}
