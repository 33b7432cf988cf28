// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What exists before a test and must be all that exists after it; see
 * ledger.h.
 */
#include "ledger.h"
#include "node.h"
#include "process.h"

int ledger_take(int node, struct ledger *ledger)
{
	struct dray_heap_info heap;
	struct dray_info info;
	int ret;

	memset(ledger, 0, sizeof(*ledger));
	ret = node_info(node, &info);
	if (ret)
		return ret;
	if (info.heap_count > LEDGER_HEAPS)
		return -E2BIG;
	ledger->heap_count = info.heap_count;
	for (uint32_t i = 0; i < info.heap_count; i++) {
		ret = node_heap(node, i, &heap);
		if (ret)
			return ret;
		ledger->heap[i].shared = heap.flags & DRAY_HEAP_SHARED;
		ledger->heap[i].buffers = heap.buffers;
		ledger->heap[i].free = heap.free;
		ledger->heap[i].used = heap.used;
		ledger->heap[i].quarantined = heap.quarantined;
		ledger->heap[i].user_used = heap.user_used;
	}
	ledger->buffers = node_count(node);
	return ledger->buffers < 0 ? ledger->buffers : 0;
}

static int differs(bool print, uint32_t heap, const char *what, uint64_t before,
		   uint64_t now)
{
	if (before == now)
		return 0;
	if (print)
		fprintf(stderr,
			"# heap %" PRIu32 ": %s was %" PRIu64 ", is %" PRIu64
			"\n",
			heap, what, before, now);
	return 1;
}

static int compare(const struct ledger *before, const struct ledger *now,
		   bool print)
{
	int count = 0;

	if (before->buffers != now->buffers) {
		if (print)
			fprintf(stderr, "# LIST had %d buffers, has %d\n",
				before->buffers, now->buffers);
		count++;
	}
	if (before->heap_count != now->heap_count) {
		if (print)
			fprintf(stderr,
				"# %" PRIu32 " heaps became %" PRIu32 "\n",
				before->heap_count, now->heap_count);
		return count + 1;
	}
	for (uint32_t i = 0; i < now->heap_count; i++) {
		count += differs(print, i, "buffers", before->heap[i].buffers,
				 now->heap[i].buffers);
		count += differs(print, i, "used", before->heap[i].used,
				 now->heap[i].used);
		count += differs(print, i, "quarantined",
				 before->heap[i].quarantined,
				 now->heap[i].quarantined);
		count += differs(print, i, "used by this user",
				 before->heap[i].user_used,
				 now->heap[i].user_used);
		if (!now->heap[i].shared)
			count += differs(print, i, "free", before->heap[i].free,
					 now->heap[i].free);
	}
	return count;
}

struct settling {
	int node;
	bool reclaims;
	const struct ledger *before;
	struct ledger now;
	int ret;
};

static bool settled(void *context)
{
	struct settling *settling = context;
	struct dray_reclaim all = { 0 };

	settling->ret = 0;
	if (settling->reclaims)
		settling->ret =
			node_call(settling->node, DRAY_IOC_RECLAIM, &all);
	if (!settling->ret)
		settling->ret = ledger_take(settling->node, &settling->now);
	return settling->ret ||
	       !compare(settling->before, &settling->now, false);
}

static int settle(const struct ledger *before, bool reclaims)
{
	struct settling settling = { .before = before, .reclaims = reclaims };
	int count;

	settling.node = node_open();
	if (settling.node < 0) {
		fprintf(stderr, "# %s: %s\n", node_path(),
			strerror(-settling.node));
		return 1;
	}
	wait_for(settled, &settling);
	if (settling.ret) {
		fprintf(stderr, "# cannot ask the node: %s\n",
			strerror(-settling.ret));
		count = 1;
	} else {
		count = compare(before, &settling.now, true);
	}
	close(settling.node);
	return count;
}

int ledger_differences(const struct ledger *before)
{
	return settle(before, false);
}

int ledger_reclaimed_differences(const struct ledger *before)
{
	return settle(before, true);
}
