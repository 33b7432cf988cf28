// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * HEAP_MAP: parts that cover a heap's range, as ALLOC finds it.
 */
#include "fixture_held.h"
#include "map.h"

#define NOBODY 65534

FIXTURE(map)
{
	int node;
	size_t page;
	struct dray_info info;
	struct dray_heap_info heap;
	struct ledger before;
	struct map *map;
};

FIXTURE_VARIANT(map)
{
	uint32_t type;
};

FIXTURE_VARIANT_ADD(map, reserved){
	.type = DRAY_HEAP_RESERVED,
};

FIXTURE_VARIANT_ADD(map, carveout){
	.type = DRAY_HEAP_CARVEOUT,
};

FIXTURE_VARIANT_ADD(map, cma){
	.type = DRAY_HEAP_CMA,
};

FIXTURE_SETUP(map)
{
	struct dray_heap_map call = { 0 };

	SETUP_NODE();
	ASSERT_EQ(0, node_info(self->node, &self->info));
	SETUP_HEAP(variant->type);
	call.heap = self->heap.index;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_HEAP_MAP, &call));
	SKIP_IF(!call.size, "this heap has no range of its own");
	self->map = malloc(sizeof(*self->map));
	ASSERT_NE(NULL, self->map);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
}

FIXTURE_TEARDOWN_PARENT(map)
{
	EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
}

#define READ_MAP()                                                            \
	do {                                                                  \
		ASSERT_EQ(0,                                                  \
			  map_read(self->node, self->heap.index, self->map)); \
		ASSERT_EQ(-1, map_wrong_part(self->map, self->page));         \
	} while (0)

TEST_F(map, its_parts_cover_the_whole_heap)
{
	READ_MAP();
	EXPECT_EQ(self->heap.total, self->map->call.size);
	EXPECT_LT(0, self->map->call.count);
}

TEST_F(map, its_sums_are_those_of_the_heap)
{
	struct buffer buffer[6];
	uint64_t longest;

	for (int i = 0; i < 6; i++)
		ASSERT_EQ(0, buffer_allocate(self->node, self->heap.index,
					     (i + 1) * self->page, &buffer[i]));
	buffer_close(&buffer[1]);
	buffer_close(&buffer[4]);
	READ_MAP();
	READ_HEAP(heap, self->heap.index);
	EXPECT_EQ(heap.used, map_bytes(self->map, DRAY_PART_BUFFER, &longest));
	if (variant->type == DRAY_HEAP_CMA) {
		EXPECT_EQ(heap.total - heap.used,
			  map_bytes(self->map, DRAY_PART_SYSTEM, &longest));
		return;
	}
	EXPECT_EQ(heap.free, map_bytes(self->map, DRAY_PART_FREE, &longest));
	EXPECT_EQ(heap.largest_free, longest);
}

TEST_F(map, a_buffer_is_a_part_of_its_own)
{
	const struct dray_part *part[2];

	ALLOCATE_BUFFER(first, self->heap.index, 4 * self->page);
	ALLOCATE_BUFFER(second, self->heap.index, 4 * self->page);
	READ_MAP();
	part[0] = map_find(self->map, first.id);
	part[1] = map_find(self->map, second.id);
	ASSERT_NE(NULL, part[0]);
	ASSERT_NE(NULL, part[1]);
	EXPECT_EQ(DRAY_PART_BUFFER, part[0]->state);
	EXPECT_EQ(4 * self->page, part[0]->length);
	EXPECT_EQ(4 * self->page, part[1]->length);
	EXPECT_NE(part[0]->offset, part[1]->offset);
}

TEST_F(map, it_is_as_before_when_a_buffer_is_freed)
{
	struct map *before = malloc(sizeof(*before));

	ASSERT_NE(NULL, before);
	ASSERT_EQ(0, map_read(self->node, self->heap.index, before));
	ALLOCATE_BUFFER(buffer, self->heap.index, 3 * self->page);
	READ_MAP();
	EXPECT_NE(NULL, map_find(self->map, buffer.id));
	buffer_close(&buffer);
	READ_MAP();
	ASSERT_EQ(before->call.count, self->map->call.count);
	EXPECT_EQ(0, memcmp(before->parts, self->map->parts,
			    before->call.count * sizeof(before->parts[0])));
}

TEST_F(map, a_small_room_gets_the_first_parts)
{
	struct dray_part parts[3];
	struct dray_heap_map call = { .heap = self->heap.index,
				      .parts = (uintptr_t)parts,
				      .room = 2 };

	ALLOCATE_BUFFER(first, self->heap.index, self->page);
	ALLOCATE_BUFFER(second, self->heap.index, self->page);
	READ_MAP();
	ASSERT_LT(2, self->map->call.count);
	memset(parts, 0x5a, sizeof(parts));
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_HEAP_MAP, &call));
	EXPECT_EQ(self->map->call.count, call.count);
	EXPECT_EQ(0, memcmp(parts, self->map->parts, 2 * sizeof(parts[0])));
	EXPECT_EQ(-1, first_other_byte((uint8_t *)&parts[2], sizeof(parts[2]),
				       0x5a));
}

TEST_F(map, without_room_its_parts_are_counted)
{
	struct dray_heap_map call = { .heap = self->heap.index };

	READ_MAP();
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_HEAP_MAP, &call));
	EXPECT_EQ(self->map->call.count, call.count);
	EXPECT_EQ(self->map->call.size, call.size);
}

TEST_F(map, a_huge_room_costs_nothing)
{
	self->map->call = (struct dray_heap_map){
		.heap = self->heap.index,
		.parts = (uintptr_t)self->map->parts,
		.room = UINT32_MAX,
	};
	ASSERT_EQ(0,
		  node_call(self->node, DRAY_IOC_HEAP_MAP, &self->map->call));
	EXPECT_EQ(-1, map_wrong_part(self->map, self->page));
}

TEST_F(map, parts_to_nowhere_are_refused)
{
	const uint64_t places[] = { 0, 8, UINT64_MAX - 7, UINT64_MAX / 2 + 1 };
	struct dray_heap_map call;

	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++) {
		call = (struct dray_heap_map){ .heap = self->heap.index,
					       .parts = places[i],
					       .room = UINT32_MAX };
		EXPECT_EQ(-EFAULT,
			  node_call(self->node, DRAY_IOC_HEAP_MAP, &call));
	}
}

/* Every second of many buffers is freed, so that none has a neighbour. */
TEST_F(map, thousands_of_buffers_have_thousands_of_parts)
{
	size_t most = self->heap.total / self->page / 2, count = 0, i;
	struct rlimit limit = { 20000, 20000 };
	struct buffer *buffers;

	SKIP_IF(variant->type == DRAY_HEAP_CMA, "the system has a part of it");
	most = most > 12000 ? 12000 : most;
	most /= (size_t)machine_slowness();
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	buffers = calloc(most, sizeof(*buffers));
	ASSERT_NE(NULL, buffers);
	while (count < most && !buffer_allocate(self->node, self->heap.index,
						self->page, &buffers[count]))
		count++;
	ASSERT_EQ(most, count);
	for (i = 0; i < count; i += 2)
		buffer_close(&buffers[i]);
	READ_MAP();
	EXPECT_LE(count, self->map->call.count);
	for (i = 1; i < count; i += 2)
		if (!map_find(self->map, buffers[i].id))
			break;
	EXPECT_LE(count, i);
}

static int ask(FIXTURE_DATA(map) * self, uint64_t alignment, uint64_t limit,
	       struct dray_heap_map *call)
{
	*call = (struct dray_heap_map){ .heap = self->heap.index,
					.alignment = alignment,
					.address_limit = limit };
	return node_call(self->node, DRAY_IOC_HEAP_MAP, call);
}

/* Up to the alignment that ALLOC refuses, which is refused alike. */
TEST_F(map, alignments_start_where_aligned_buffers_lie)
{
	struct dray_alloc alloc = { 0 };
	const struct dray_part *part;
	struct dray_heap_map call;
	uint64_t alignment;
	int ret = 0;

	for (alignment = self->page; !ret; alignment *= 2) {
		alloc = (struct dray_alloc){
			.size = self->page,
			.heap = self->heap.index,
			.alignment = alignment,
			.mode = heap_usual_mode(&self->heap),
		};
		ret = node_call(self->node, DRAY_IOC_ALLOC, &alloc);
		if (ret == -ENOMEM) {
			ret = 0;
			continue;
		}
		ASSERT_EQ(ret, ask(self, alignment, 0, &call));
		if (ret)
			break;
		READ_MAP();
		part = map_find(self->map, alloc.id);
		ASSERT_NE(NULL, part);
		EXPECT_LE(call.first_aligned, part->offset);
		EXPECT_LT(call.first_aligned, alignment);
		EXPECT_EQ(0, (part->offset - call.first_aligned) % alignment);
		close(alloc.fd);
	}
	EXPECT_EQ(-EINVAL, ret);
	EXPECT_EQ(DRAY_REASON_ALIGNMENT, call.reason);
	EXPECT_EQ(alloc.limit, call.limit);
}

TEST_F(map, a_limit_ends_the_range_that_may_be_used)
{
	struct dray_segment segment;
	struct dray_address address = { .segments = (uintptr_t)&segment,
					.room = 1 };
	const struct dray_part *part;
	struct dray_heap_map call;
	uint64_t start, size;

	NEED_ADDRESSES();
	ALLOCATE_BUFFER(buffer, self->heap.index, self->page);
	address.fd = buffer.fd;
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ADDRESS, &address));
	READ_MAP();
	part = map_find(self->map, buffer.id);
	ASSERT_NE(NULL, part);
	size = self->map->call.size;
	start = segment.address - part->offset;
	if (self->info.flags & DRAY_NODE_IOMMU || node_copies()) {
		ASSERT_EQ(0, ask(self, 0, 4096, &call));
		SKIP_IF(call.reach == size, "addresses are translated");
		return;
	}
	ASSERT_EQ(0, ask(self, 0, 0, &call));
	EXPECT_EQ(size, call.reach);
	ASSERT_EQ(0, ask(self, 0, start + 5 * self->page - 1, &call));
	EXPECT_EQ(5 * self->page, call.reach);
	ASSERT_EQ(0, ask(self, 0, start + 5 * self->page - 2, &call));
	EXPECT_EQ(4 * self->page, call.reach);
	ASSERT_EQ(0, ask(self, 0, start + size - 1, &call));
	EXPECT_EQ(size, call.reach);
	ASSERT_EQ(0, ask(self, 0, start - 1, &call));
	EXPECT_EQ(0, call.reach);
	ASSERT_EQ(0, ask(self, 0, UINT64_MAX, &call));
	EXPECT_EQ(size, call.reach);
}

TEST_F(map, wrong_requests_are_refused_with_a_reason)
{
	const struct {
		struct dray_heap_map call;
		uint32_t reason;
		uint64_t limit;
	} cases[] = {
		{ { .flags = 1 }, DRAY_REASON_NONE, 0 },
		{ { .reserved = 1 }, DRAY_REASON_NONE, 0 },
		{ { .alignment = 3 }, DRAY_REASON_ALIGNMENT, 1ull << 63 },
		{ { .alignment = UINT64_MAX },
		  DRAY_REASON_ALIGNMENT,
		  1ull << 63 },
		{ { .heap = self->info.heap_count },
		  DRAY_REASON_HEAP,
		  self->info.heap_count },
		{ { .heap = UINT32_MAX },
		  DRAY_REASON_HEAP,
		  self->info.heap_count },
	};
	struct dray_heap_map call;

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		call = cases[i].call;
		EXPECT_EQ(-EINVAL,
			  node_call(self->node, DRAY_IOC_HEAP_MAP, &call));
		EXPECT_EQ(cases[i].reason, call.reason)
		{
			TH_LOG("case %u", i);
		}
		EXPECT_EQ(cases[i].limit, call.limit);
	}
}

struct other {
	struct map *map;
	uint32_t heap;
	size_t page;
	uint64_t offset[2]; /* of buffers of somebody else's */
	uint64_t length;
};

/* Sees its own buffer, and one part of two others that lie side by side. */
static int look_as_nobody(void *context)
{
	struct other *other = context;
	const struct dray_part *part;
	struct buffer buffer;

	STEP_OPEN_AS(node, NOBODY, OPENER);
	STEP_EQ(0, process_keep(0));
	STEP_EQ(0, buffer_allocate(node, other->heap, other->page, &buffer));
	STEP_EQ(0, map_read(node, other->heap, other->map));
	STEP_EQ(-1, map_wrong_part(other->map, other->page));
	STEP_TRUE(map_find(other->map, buffer.id));
	for (uint32_t i = 0; i < other->map->call.count; i++)
		STEP_TRUE(!other->map->parts[i].id ||
			  other->map->parts[i].id == buffer.id);
	for (int i = 0; i < 2; i++) {
		part = map_at(other->map, other->offset[i]);
		STEP_EQ(DRAY_PART_BUFFER, part->state);
		STEP_LE(part->offset, other->offset[i]);
		STEP_GE(part->offset + part->length,
			other->offset[i] + other->length);
	}
	if (other->offset[1] == other->offset[0] + other->length)
		STEP_TRUE(map_at(other->map, other->offset[0]) == part);
	return 0;
}

TEST_F(map, another_users_buffers_are_anonymous)
{
	struct other other = { .map = self->map,
			       .heap = self->heap.index,
			       .page = self->page };
	const struct dray_part *part;

	ALLOCATE_BUFFER(first, self->heap.index, self->page);
	ALLOCATE_BUFFER(second, self->heap.index, self->page);
	READ_MAP();
	part = map_find(self->map, first.id);
	ASSERT_NE(NULL, part);
	other.offset[0] = part->offset;
	other.length = part->length;
	part = map_find(self->map, second.id);
	ASSERT_NE(NULL, part);
	other.offset[1] = part->offset;
	if (variant->type == DRAY_HEAP_RESERVED) {
		EXPECT_EQ(other.offset[0] + other.length, other.offset[1]);
	}
	EXPECT_EQ(0, process_run(look_as_nobody, &other));
}

TEST_F(map, a_page_that_a_pipe_holds_is_quarantined)
{
	struct iovec iovec = { .iov_len = self->page };
	const struct dray_part *part;
	uint64_t offset;
	int pipes[2];

	SKIP_IF(variant->type != DRAY_HEAP_RESERVED,
		"nobody can hold pages of this heap");
	ASSERT_EQ(0, pipe(pipes));
	OPEN_BUFFER(buffer, self->heap.index, 3 * self->page);
	iovec.iov_base = buffer.bytes + self->page;
	READ_MAP();
	part = map_find(self->map, buffer.id);
	ASSERT_NE(NULL, part);
	offset = part->offset;
	ASSERT_EQ(self->page, vmsplice(pipes[1], &iovec, 1, 0));
	buffer_close(&buffer);
	READ_MAP();
	EXPECT_EQ(DRAY_PART_FREE, map_at(self->map, offset)->state);
	part = map_at(self->map, offset + self->page);
	EXPECT_EQ(DRAY_PART_QUARANTINED, part->state);
	EXPECT_EQ(offset + self->page, part->offset);
	EXPECT_EQ(self->page, part->length);
	EXPECT_EQ(DRAY_PART_FREE,
		  map_at(self->map, offset + 2 * self->page)->state);
	close(pipes[0]);
	close(pipes[1]);
	READ_MAP();
	EXPECT_EQ(DRAY_PART_FREE,
		  map_at(self->map, offset + self->page)->state);
}

TEST_F(held, held_memory_is_a_part_until_it_is_reclaimed)
{
	struct dray_reclaim reclaim = { .id = hold_one(self) };
	struct map *map = malloc(sizeof(*map));
	const struct dray_part *part;

	ASSERT_NE(0, reclaim.id);
	ASSERT_EQ(0, map_read(self->node, self->heap.index, map));
	if (!map->call.size) {
		EXPECT_EQ(0, map->call.count);
		EXPECT_EQ(0, map->call.reach);
		return;
	}
	part = map_find(map, reclaim.id);
	ASSERT_NE(NULL, part);
	EXPECT_EQ(DRAY_PART_HELD, part->state);
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_RECLAIM, &reclaim));
	ASSERT_EQ(0, map_read(self->node, self->heap.index, map));
	EXPECT_EQ(NULL, map_find(map, reclaim.id));
}

/* Makes and frees buffers of all sizes until it is killed. */
static int churn(void *context)
{
	const struct other *other = context;
	struct buffer buffers[16] = { 0 };
	uint64_t state = (uint64_t)getpid();
	int node = node_open();
	unsigned int i;

	STEP_LE(0, node);
	for (i = 0; i < 16; i++)
		buffers[i].fd = -1;
	for (;;) {
		i = (unsigned int)(next_random(&state) % 16);
		buffer_close(&buffers[i]);
		buffer_allocate(node, other->heap,
				(1 + next_random(&state) % 8) * other->page,
				&buffers[i]);
	}
}

TEST_F(map, it_has_no_gaps_while_others_allocate_and_free)
{
	struct other other = { .heap = self->heap.index, .page = self->page };
	pid_t children[3];
	int i, times, wrong = -1;

	for (i = 0; i < 3; i++)
		children[i] = process_start(churn, &other);
	times = 600 / machine_slowness();
	for (i = 0; i < times && wrong < 0; i++) {
		ASSERT_EQ(0, map_read(self->node, self->heap.index, self->map));
		wrong = map_wrong_part(self->map, self->page);
	}
	EXPECT_EQ(-1, wrong);
	for (i = 0; i < 3; i++) {
		kill(children[i], SIGKILL);
		EXPECT_EQ(-SIGKILL, process_wait(children[i]));
	}
}
