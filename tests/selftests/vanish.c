// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The node vanishes and comes back at each point in the life of a buffer.
 * Whatever had been done with the buffer: on the old descriptor of the node
 * every call says that the device is gone, on a new one the old buffer works,
 * its bytes are those that were there, and all memory returns in the end.
 */
#include "attach.h"
#include "binding.h"
#include "fixture_engine.h"
#include "importer.h"

#define SIZE (64 * 1024)

struct life {
	int node;
	int importer; /* an outside one, or negative */
	int fence; /* of a transfer that may be under way, or -1 */
	struct buffer buffer;
	int reader; /* its read-only descriptor, or 0 */
	struct dray_attach attach; /* of memory of this process */
	uint8_t *copy; /* what the buffer must hold */
};

static int do_allocate(struct life *life)
{
	return buffer_allocate(life->node, DRAY_HEAP_ANY, SIZE, &life->buffer);
}

/* Fills it too, the first time. */
static int do_map(struct life *life)
{
	void *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			 life->buffer.fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	life->buffer.bytes = map;
	fill_random(life->copy, SIZE, 17);
	memcpy(map, life->copy, SIZE);
	return 0;
}

static int do_export(struct life *life)
{
	struct dray_export export = {
		.buffer_fd = life->buffer.fd,
		.flags = DRAY_EXPORT_READ_ONLY,
	};
	int ret = node_call(life->node, DRAY_IOC_EXPORT, &export);

	life->reader = export.fd;
	return ret;
}

static int do_attach(struct life *life)
{
	int ret = attach_memory(life->node, life->copy, SIZE, 0, &life->attach);

	return ret < 0 ? ret : 0;
}

static int do_address(struct life *life)
{
	struct dray_segment segment = { 0 };
	struct dray_address address = {
		.fd = life->buffer.fd,
		.segments = (uintptr_t)&segment,
		.room = 1,
	};
	int ret = node_call(life->node, DRAY_IOC_ADDRESS, &address);

	if (ret)
		return ret;
	return segment.length == SIZE ? 0 : -ERANGE;
}

static int do_sync(struct life *life)
{
	int ret = buffer_sync(life->node, life->buffer.fd, DRAY_SYNC_FOR_DEVICE,
			      DRAY_BIDIRECTIONAL, 0, SIZE);

	if (ret)
		return ret;
	return buffer_sync(life->node, life->buffer.fd, DRAY_SYNC_FOR_CPU,
			   DRAY_BIDIRECTIONAL, 0, SIZE);
}

static int do_import(struct life *life)
{
	uint32_t handle;

	if (life->importer < 0)
		return 0;
	return importer_attach(life->importer, life->buffer.fd, &handle);
}

static int do_access(struct life *life)
{
	return cpu_begin(life->buffer.fd, DMA_BUF_SYNC_RW);
}

/* The lower half to the upper one. */
static int do_submit(struct life *life)
{
	struct dray_transfer transfer =
		COPY_OF(life->buffer.fd, life->buffer.fd, SIZE / 2,
			.dst_offset = SIZE / 2);
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);
	int ret = node_call(life->node, DRAY_IOC_SUBMIT, &submit);

	if (!ret)
		life->fence = submit.fence_fd;
	return ret;
}

/* 1 done; a negative errno otherwise. */
static int wait_for_transfer(struct life *life)
{
	int ret = fence_wait(life->fence);

	close(life->fence);
	life->fence = -1;
	if (ret == 1)
		memcpy(life->copy + SIZE / 2, life->copy, SIZE / 2);
	return ret;
}

static int do_copy(struct life *life)
{
	int ret = do_submit(life);

	if (ret)
		return ret;
	ret = wait_for_transfer(life);
	return ret == 1 ? 0 : ret;
}

/* In the order of a buffer's life: each point has those before it behind it. */
static int (*const points[])(struct life *life) = {
	do_allocate, do_map,	do_export, do_attach, do_address,
	do_sync,     do_import, do_access, do_copy,   do_submit,
};

enum {
	OPENED,
	ALLOCATED,
	MAPPED,
	EXPORTED,
	ATTACHED,
	ADDRESSED,
	SYNCED,
	IMPORTED,
	ACCESSED,
	COPIED,
	SUBMITTED,
};

FIXTURE(vanish)
{
	bool submits; /* the node has channels */
	struct life life;
	struct binding binding;
	struct ledger before;
};

FIXTURE_VARIANT(vanish)
{
	int point;
};

FIXTURE_VARIANT_ADD(vanish, before_alloc){ .point = OPENED };
FIXTURE_VARIANT_ADD(vanish, after_alloc){ .point = ALLOCATED };
FIXTURE_VARIANT_ADD(vanish, after_mmap){ .point = MAPPED };
FIXTURE_VARIANT_ADD(vanish, after_export){ .point = EXPORTED };
FIXTURE_VARIANT_ADD(vanish, after_attach){ .point = ATTACHED };
FIXTURE_VARIANT_ADD(vanish, after_address){ .point = ADDRESSED };
FIXTURE_VARIANT_ADD(vanish, after_sync){ .point = SYNCED };
FIXTURE_VARIANT_ADD(vanish, after_import){ .point = IMPORTED };
FIXTURE_VARIANT_ADD(vanish, within_an_access){ .point = ACCESSED };
FIXTURE_VARIANT_ADD(vanish, after_a_copy){ .point = COPIED };
FIXTURE_VARIANT_ADD(vanish, after_submit){ .point = SUBMITTED };

/* Goes up to the point. */
FIXTURE_SETUP(vanish)
{
	struct life *life = &self->life;
	struct dray_info info;

	life->fence = -1;
	life->buffer.fd = -1;
	life->node = node_open();
	ASSERT_LE(0, life->node);
	ASSERT_EQ(0, node_info(life->node, &info));
	self->submits = info.channel_count;
	SKIP_IF(variant->point >= COPIED && !self->submits,
		"this node has no DMA channel");
	life->importer = importer_open();
	SKIP_IF(variant->point == IMPORTED && life->importer < 0,
		"vgem, an outside importer, is not loaded");
	ASSERT_EQ(0, ledger_take(life->node, &self->before));
	ASSERT_EQ(0, binding_find(life->node, &self->binding));
	life->copy = calloc(1, SIZE);
	for (int i = 0; i < variant->point; i++) {
		ASSERT_EQ(0, points[i](life))
		{
			TH_LOG("point %d", i);
		}
	}
}

FIXTURE_TEARDOWN_PARENT(vanish)
{
	if (self->binding.device[0] && !node_answers(NULL)) {
		EXPECT_EQ(0, binding_bind(&self->binding));
	}
	if (self->binding.device[0]) {
		EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
	}
}

/* A new descriptor of the node that came back; the old one stays open. */
static int come_back(struct binding *binding, struct life *life)
{
	int ret = binding_bind(binding);

	if (ret)
		return ret;
	life->node = node_open();
	if (life->node < 0)
		return life->node;
	return life->buffer.fd < 0 ? do_allocate(life) : 0;
}

TEST_F(vanish, the_old_descriptor_knows_that_the_device_is_gone)
{
	struct life *life = &self->life;
	int old = life->node;

	ASSERT_EQ(0, binding_unbind(&self->binding));
	EXPECT_EQ(-ENODEV, do_allocate(&(struct life){ .node = old }));
	ASSERT_EQ(0, come_back(&self->binding, life));
	EXPECT_STREQ("", node_call_that_lives(old, life->buffer.fd,
					      life->buffer.id));
}

/* The mapping, or one that is made now, has the bytes that were there. */
static int64_t changed_byte(struct life *life, int fd, size_t size)
{
	uint8_t *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	int64_t at;

	if (map == MAP_FAILED)
		return SIZE;
	at = first_difference(life->copy, map, size);
	if (at < 0 && life->buffer.bytes)
		at = first_difference(life->copy, life->buffer.bytes, size);
	munmap(map, SIZE);
	return at;
}

TEST_F(vanish, the_buffer_keeps_its_bytes_while_there_is_no_node)
{
	struct life *life = &self->life;
	size_t size = SIZE;
	int ret;

	ASSERT_EQ(0, binding_unbind(&self->binding));
	if (life->buffer.fd < 0)
		return;
	if (life->fence >= 0) {
		ret = wait_for_transfer(life);
		EXPECT_TRUE(ret == 1 || ret == -ENODEV)
		{
			TH_LOG("the fence says %d", ret);
		}
		if (ret != 1)
			size = SIZE / 2;
	}
	EXPECT_EQ(-1, changed_byte(life, life->buffer.fd, size));
	if (life->reader)
		EXPECT_EQ(-1, changed_byte(life, life->reader, size));
	EXPECT_EQ(0, cpu_end(life->buffer.fd, DMA_BUF_SYNC_RW));
}

/* From one point to another that is behind it, if it is. */
static int go_on(struct life *life, int from, int to)
{
	int ret = 0;

	for (; from < to && !ret; from++)
		ret = points[from](life);
	return ret;
}

static int sync_attachment(const struct life *life, int node)
{
	return buffer_sync(node, life->attach.fd, DRAY_SYNC_FOR_DEVICE,
			   DRAY_TO_DEVICE, 0, SIZE);
}

TEST_F(vanish, what_was_attached_ends_with_the_node)
{
	struct life *life = &self->life;
	int old = life->node;

	ASSERT_EQ(0, go_on(life, variant->point, ATTACHED));
	ASSERT_EQ(0, binding_unbind(&self->binding));
	EXPECT_EQ(-ENODEV, sync_attachment(life, old));
	ASSERT_EQ(0, come_back(&self->binding, life));
	/* the node that came back is another one */
	EXPECT_EQ(-EINVAL, sync_attachment(life, life->node));
	EXPECT_EQ(0, close(life->attach.fd));
	EXPECT_EQ(0, do_attach(life));
	EXPECT_EQ(0, sync_attachment(life, life->node));
}

TEST_F(vanish, the_read_only_descriptor_works_on_the_new_descriptor)
{
	struct life *life = &self->life;

	ASSERT_EQ(0, go_on(life, variant->point, EXPORTED));
	ASSERT_EQ(0, binding_unbind(&self->binding));
	EXPECT_EQ(-ENODEV,
		  do_export(&(struct life){ .node = life->node,
					    .buffer.fd = life->buffer.fd }));
	ASSERT_EQ(0, come_back(&self->binding, life));
	if (life->fence >= 0)
		wait_for_transfer(life);
	EXPECT_EQ(0, buffer_sync(life->node, life->reader, DRAY_SYNC_FOR_CPU,
				 DRAY_FROM_DEVICE, 0, SIZE));
	EXPECT_EQ(0, do_export(life));
	EXPECT_EQ(-1, changed_byte(life, life->reader, SIZE / 2));
}

TEST_F(vanish, the_old_buffer_works_on_the_new_descriptor)
{
	struct life *life = &self->life;
	struct dray_buffer_info info;

	ASSERT_EQ(0, binding_unbind(&self->binding));
	ASSERT_EQ(0, come_back(&self->binding, life));
	if (life->fence >= 0)
		wait_for_transfer(life);
	if (!life->buffer.bytes) {
		ASSERT_EQ(0, do_map(life));
	}
	EXPECT_EQ(0, do_address(life));
	EXPECT_EQ(0, do_sync(life));
	EXPECT_EQ(1, node_lists(life->node, life->buffer.id));
	ASSERT_EQ(0, node_buffer_info(life->node, life->buffer.id, &info));
	EXPECT_EQ(variant->point >= IMPORTED && life->importer >= 0,
		  info.attachments);
	if (self->submits) {
		EXPECT_EQ(0, do_copy(life));
		EXPECT_EQ(-1, changed_byte(life, life->buffer.fd, SIZE));
	} else {
		EXPECT_EQ(-1, changed_byte(life, life->buffer.fd, SIZE));
	}
}
