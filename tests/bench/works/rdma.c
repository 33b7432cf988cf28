// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An RDMA memory region on the kernel's software card (rxe) over the loopback
 * device.  The memory is registered, which pins it for a long time; then the
 * card writes ordinary memory from it and reads ordinary memory into it.
 */
#include "../../selftests/node.h"
#include "cell.h"
#include "verbs.h"

static enum outcome region(const struct memory *memory, struct cell *cell)
{
	struct verbs_region ours, other;
	uint8_t *bytes = cell_bytes(memory->size, 1);
	enum outcome outcome;
	struct verbs verbs;

	cell_step(cell, "an rxe device on the loopback device");
	if (verbs_open(&verbs))
		return cell_absent(cell);
	cell_step(cell, "REG_MR of ordinary memory");
	if (verbs_register(&verbs, bytes, memory->size, &other))
		return cell_absent(cell);
	cell_step(cell, "a queue pair that is connected to itself");
	if (verbs_connect(&verbs))
		return cell_absent(cell);
	cell_step(cell, "REG_MR");
	if (verbs_register(&verbs, memory->bytes, memory->size, &ours))
		return cell_refused(cell);
	fill_random(memory->bytes, memory->size, 2);
	cell_step(cell, "RDMA write");
	if (verbs_copy(&verbs, VERBS_WRITE, &ours, &other))
		return cell_refused(cell);
	outcome = cell_compare(cell, bytes, cell_bytes(memory->size, 2),
			       memory->size);
	if (outcome != WORKS)
		return outcome;
	fill_random(bytes, memory->size, 3);
	cell_step(cell, "RDMA read");
	if (verbs_copy(&verbs, VERBS_READ, &ours, &other))
		return cell_refused(cell);
	return cell_compare(cell, memory->bytes, bytes, memory->size);
}

const struct consumer rdma_consumers[] = {
	{ "RDMA memory region", region },
	{ 0 },
};
