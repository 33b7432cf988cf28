/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of tests of memory that is held, for each kind of heap: at the end
 * nothing is.  And the owner of a buffer, a process that asks for its address and
 * ends as it is told.
 */
#ifndef SELFTEST_FIXTURE_HELD_H
#define SELFTEST_FIXTURE_HELD_H

#include "ledger.h"
#include "process.h"
#include "setting.h"
#include "setup.h"
#include "step.h"

#define PAGES 4

FIXTURE(held)
{
	int node;
	size_t page;
	struct dray_heap_info heap;
	struct ledger before;
	char hold[PATH_MAX];
};

HEAP_VARIANTS(held);

FIXTURE_SETUP(held)
{
	struct dray_info info;

	SETUP_NODE();
	SETUP_HEAP(variant->type);
	ASSERT_EQ(0, node_info(self->node, &info));
	SKIP_IF(info.flags & DRAY_NODE_IOMMU,
		"nothing is held behind an IOMMU");
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	ASSERT_EQ(0, setting_of_node(self->hold, self->node, "hold"));
}

FIXTURE_TEARDOWN_PARENT(held)
{
	if (*self->hold) {
		EXPECT_EQ(0, setting_write(self->hold, 1));
	}
	EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
}

enum asking {
	ASK, /* for the address */
	COUNT, /* only for the number of segments */
	NOTHING,
};

enum end {
	KILLED,
	EXITS, /* with all open */
	CLOSES, /* everything, and lives */
};

struct owner {
	uint32_t heap;
	size_t size;
	enum asking asking;
	enum end end;
	bool map; /* a mapping is all that is left */
	int socket; /* the buffer's descriptor goes there too; or -1 */
	int told;
};

static inline int own(void *context)
{
	const struct owner *owner = context;
	struct dray_segment segment;
	struct dray_address call = { .segments = (uintptr_t)&segment,
				     .room = owner->asking == ASK };
	struct buffer buffer;
	int node = node_open();

	STEP_LE(0, node);
	STEP_EQ(0, buffer_open(node, owner->heap, owner->size, &buffer));
	call.fd = buffer.fd;
	if (owner->asking != NOTHING)
		STEP_EQ(0, node_call(node, DRAY_IOC_ADDRESS, &call));
	if (owner->socket >= 0)
		STEP_EQ(0, send_descriptor(owner->socket, buffer.fd));
	if (owner->map)
		close(buffer.fd);
	if (owner->end == CLOSES)
		buffer_close(&buffer);
	STEP_EQ(sizeof(buffer.id),
		write(owner->told, &buffer.id, sizeof(buffer.id)));
	if (owner->end == EXITS)
		return 0;
	for (;;)
		pause();
}

/* A process that got an address and ended; the buffer's id, or 0. */
static inline uint64_t run_owner(FIXTURE_DATA(held) * self, struct owner *owner)
{
	uint64_t id = 0;
	int told[2];
	pid_t child;

	if (pipe(told))
		return 0;
	owner->heap = self->heap.index;
	owner->size = PAGES * self->page;
	owner->told = told[1];
	child = process_start(own, owner);
	close(told[1]);
	if (read(told[0], &id, sizeof(id)) != sizeof(id))
		id = 0;
	close(told[0]);
	if (owner->end != EXITS)
		kill(child, SIGKILL);
	process_wait(child);
	return id;
}

/* The id of a buffer that is held now, or 0. */
static inline uint64_t hold_one(FIXTURE_DATA(held) * self)
{
	struct owner owner = { .socket = -1 };

	return run_owner(self, &owner);
}

static inline bool is_held(int node, uint64_t id)
{
	struct dray_buffer_info info;

	return !node_buffer_info(node, id, &info) &&
	       info.flags & DRAY_BUFFER_HELD;
}

#endif
