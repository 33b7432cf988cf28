// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Cache maintenance of attached memory: exactly the bytes that were asked for,
 * in the direction that was asked for, in every piece of the memory, and once
 * before a device is told where it lies.
 */
#include "attach.h"
#include "fixture_dray.h"
#include "fence.h"
#include "frames.h"
#include "maintenance.h"

#define PAGES 16
#define MOST 4096

static struct maintenance list[MOST];

/* Attached memory whose place is known: here the machine's, not a device's. */
struct known {
	int fd;
	struct dray_segment segment[PAGES + 1];
	uint32_t segments;
};

/* Every second page of twice as many: what lies side by side is luck. */
static uint8_t *scattered_memory(size_t page)
{
	uint8_t *bytes = fresh_memory(2 * PAGES * page);

	if (bytes == MAP_FAILED)
		return bytes;
	madvise(bytes, 2 * PAGES * page, MADV_NOHUGEPAGE);
	memset(bytes, 0x5a, 2 * PAGES * page);
	for (int i = 1; i < PAGES; i++)
		if (mremap(bytes + 2 * i * page, page, page,
			   MREMAP_MAYMOVE | MREMAP_FIXED,
			   bytes + i * page) == MAP_FAILED)
			return MAP_FAILED;
	return bytes;
}

/* For a device that writes, which is told where it is. */
static int known_open(int node, const uint8_t *bytes, size_t size,
		      struct known *known)
{
	struct dray_segment segment[PAGES + 1];
	struct dray_address address = {
		.segments = (uintptr_t)segment,
		.room = PAGES + 1,
	};
	struct dray_attach attach;
	int ret;

	known->fd = attach_memory(node, bytes, size, 0, &attach);
	if (known->fd < 0)
		return known->fd;
	address.fd = known->fd;
	ret = node_call(node, DRAY_IOC_ADDRESS, &address);
	if (ret)
		return ret;
	ret = frames_of(bytes, size, known->segment, PAGES + 1);
	if (ret < 0)
		return ret;
	known->segments = (uint32_t)ret;
	return 0;
}

/* Then the same memory for a device that only reads. */
static int known_reopen(int node, const uint8_t *bytes, size_t size,
			struct known *known)
{
	struct dray_attach attach;

	close(known->fd);
	known->fd = attach_memory(node, bytes, size, DRAY_ATTACH_READ_ONLY,
				  &attach);
	return known->fd < 0 ? known->fd : 0;
}

/* What was maintained since WATCH_MAINTENANCE() is these rows; NULL: nothing. */
#define EXPECT_MAINTAINED(known, cpu, how, rows)                           \
	do {                                                               \
		int count = maintenance_read(list, MOST);                  \
		ASSERT_LE(0, count);                                       \
		EXPECT_EQ(-1, maintenance_difference(                      \
				      list, count, (known)->segment,       \
				      (known)->segments, cpu, how, rows))  \
		{                                                          \
			TH_LOG("for the %s, direction %d, of %d in all",   \
			       cpu ? "CPU" : "device", (int)(how), count); \
		}                                                          \
	} while (0)

FIXTURE(attached)
{
	int node;
	size_t page;
	size_t size;
	struct dray_info info;
	struct ledger before;
	uint8_t *bytes; /* begins in the middle of a page */
};

FIXTURE_SETUP(attached)
{
	SETUP_NODE();
	ASSERT_EQ(0, node_info(self->node, &self->info));
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	NEED_ADDRESSES();
	SKIP_IF(self->info.flags & DRAY_NODE_COHERENT, "this node is coherent");
	SKIP_IF(node_copies(),
		"a device that gets copies gets no attached memory");
	self->size = (PAGES - 1) * self->page;
	self->bytes = scattered_memory(self->page);
	ASSERT_NE(MAP_FAILED, self->bytes);
	self->bytes += 192;
}

FIXTURE_TEARDOWN_PARENT(attached)
{
	maintenance_end();
	EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
}

TEST_F(attached, it_is_written_back_before_a_device_is_told_of_it)
{
	struct dray_range all = { .width = self->size, .rows = 1 };
	struct known known;

	WATCH_MAINTENANCE();
	ASSERT_EQ(0, known_open(self->node, self->bytes, self->size, &known));
	EXPECT_MAINTAINED(&known, false, MAINTAIN_TO_DEVICE, &all);
}

TEST_F(attached, what_a_device_only_reads_is_written_back_too)
{
	struct dray_range all = { .width = self->size, .rows = 1 };
	struct known known;

	ASSERT_EQ(0, known_open(self->node, self->bytes, self->size, &known));
	WATCH_MAINTENANCE();
	ASSERT_EQ(0, known_reopen(self->node, self->bytes, self->size, &known));
	EXPECT_MAINTAINED(&known, false, MAINTAIN_TO_DEVICE, &all);
}

/* SYNC of these rows for every owner in every direction. */
static void sync_all_ways(struct __test_metadata *_metadata, int node,
			  const struct known *known, bool read_only,
			  const struct dray_range *rows)
{
	struct dray_range range = *rows;
	struct dray_sync sync = { .target = DRAY_TARGET_NODE,
				  .count = 1,
				  .ranges = (uintptr_t)&range };
	uint32_t owner, direction;
	unsigned int how;

	range.fd = known->fd;
	for (owner = DRAY_SYNC_FOR_DEVICE; owner <= DRAY_SYNC_FOR_CPU; owner++)
		for (direction = DRAY_TO_DEVICE;
		     direction <= DRAY_BIDIRECTIONAL; direction++) {
			WATCH_MAINTENANCE();
			sync.owner = owner;
			sync.direction = direction;
			ASSERT_EQ(0, node_call(node, DRAY_IOC_SYNC, &sync));
			how = read_only ? MAINTAIN_TO_DEVICE
					: maintenance_direction(direction);
			EXPECT_MAINTAINED(
				known, owner == DRAY_SYNC_FOR_CPU, how,
				read_only && owner == DRAY_SYNC_FOR_CPU ? NULL
									: rows);
		}
}

TEST_F(attached, a_sync_maintains_exactly_its_rows)
{
	struct dray_range rows = { .offset = 64,
				   .width = 320,
				   .pitch = self->page - 64,
				   .rows = PAGES - 1 };
	struct known known;

	ASSERT_EQ(0, known_open(self->node, self->bytes, self->size, &known));
	sync_all_ways(_metadata, self->node, &known, false, &rows);
}

TEST_F(attached, a_sync_of_all_maintains_every_piece)
{
	struct dray_range all = { .width = self->size, .rows = 1 };
	struct known known;

	ASSERT_EQ(0, known_open(self->node, self->bytes, self->size, &known));
	sync_all_ways(_metadata, self->node, &known, false, &all);
}

TEST_F(attached, a_device_that_only_reads_leaves_nothing_for_the_cpu)
{
	struct dray_range rows = { .offset = 1000,
				   .width = 2 * self->page,
				   .pitch = 3 * self->page,
				   .rows = 4 };
	struct known known;

	ASSERT_EQ(0, known_open(self->node, self->bytes, self->size, &known));
	ASSERT_EQ(0, known_reopen(self->node, self->bytes, self->size, &known));
	sync_all_ways(_metadata, self->node, &known, true, &rows);
}

/* A copy of rows between two attachments, as a channel is told of it. */
struct rows_copy {
	struct known src; /* which devices only read */
	struct known dst;
	struct dray_range read;
	struct dray_range written;
};

/*
 * Watches the copy, not the first one: with that a channel's device is told of
 * the memory too.  1, or what went wrong.
 */
static int copy_watched(int node, const struct rows_copy *copy)
{
	struct dray_axis axis = {
		.count = copy->read.rows,
		.dst_stride = (int64_t)copy->written.pitch,
		.src_stride = (int64_t)copy->read.pitch,
	};
	struct dray_transfer transfer =
		COPY_OF(copy->dst.fd, copy->src.fd, copy->read.width,
			.dst_offset = copy->written.offset,
			.src_offset = copy->read.offset,
			.axes = (uintptr_t)&axis, .axes_count = 1);
	struct dray_submit submit = SUBMIT_OF(0, &transfer, 1);
	int i, ret = 1;

	for (i = 0; i < 2 && ret == 1; i++) {
		ret = maintenance_watch();
		if (!ret)
			ret = node_call(node, DRAY_IOC_SUBMIT, &submit);
		if (ret)
			break;
		ret = fence_wait(submit.fence_fd);
		close(submit.fence_fd);
	}
	return ret;
}

/* The number of entries of the list, all of them about the copy. */
static int copy_rows(FIXTURE_DATA(attached) * self, struct rows_copy *copy)
{
	uint8_t *to = scattered_memory(self->page);
	int ret;

	if (to == MAP_FAILED)
		return -ENOMEM;
	copy->read = (struct dray_range){ .offset = 1024,
					  .width = self->page,
					  .pitch = self->page + 256,
					  .rows = 4 };
	copy->written = (struct dray_range){ .offset = 512,
					     .width = self->page,
					     .pitch = 2 * self->page,
					     .rows = 4 };
	ret = known_open(self->node, self->bytes, self->size, &copy->src);
	if (!ret)
		ret = known_reopen(self->node, self->bytes, self->size,
				   &copy->src);
	if (!ret)
		ret = known_open(self->node, to, self->size, &copy->dst);
	if (!ret)
		ret = copy_watched(self->node, copy);
	if (ret != 1)
		return ret ? ret : -ETIME;
	return maintenance_read(list, MOST);
}

#define COPY_ROWS(copy, count)                                            \
	do {                                                              \
		if (!self->info.channel_count)                            \
			SKIP(return, "this node has no DMA channel");     \
		(count) = copy_rows(self, copy);                          \
		if ((count) == -ENODEV)                                   \
			SKIP(return, "this kernel does not tell what it " \
				     "maintains");                        \
		ASSERT_LE(0, count);                                      \
	} while (0)

TEST_F(attached, a_submission_writes_back_what_it_reads)
{
	struct rows_copy copy;
	int count;

	COPY_ROWS(&copy, count);
	EXPECT_EQ(-1, maintenance_difference(list, count, copy.src.segment,
					     copy.src.segments, false,
					     MAINTAIN_TO_DEVICE, &copy.read));
}

/* First for the engine, in the end for the CPU. */
TEST_F(attached, a_submission_maintains_what_it_writes_for_both_owners)
{
	struct rows_copy copy;
	int count, first;

	COPY_ROWS(&copy, count);
	for (first = 0; first < count && !list[first].for_cpu;)
		first++;
	EXPECT_EQ(-1, maintenance_difference(list, first, copy.dst.segment,
					     copy.dst.segments, false,
					     MAINTAIN_BOTH, &copy.written));
	EXPECT_EQ(-1, maintenance_difference(
			      list + first, count - first, copy.dst.segment,
			      copy.dst.segments, true, MAINTAIN_FROM_DEVICE,
			      &copy.written));
}
