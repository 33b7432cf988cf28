// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Structures of another age: every call with an older, smaller structure and
 * with a newer, larger one.  Each test runs once for each call.
 */
#include "fixture_dray.h"
#include "fence.h"

/* A structure as it might be in years, and what lies behind it. */
union any_call {
	uint8_t bytes[1024];
	struct dray_info info;
	struct dray_heap_info heap_info;
	struct dray_channel_info channel_info;
	struct dray_alloc alloc;
	struct dray_address address;
	struct dray_sync sync;
	struct dray_submit submit;
	struct dray_list list;
	struct dray_buffer_info buffer_info;
	struct dray_export export;
	struct dray_attach attach;
	struct dray_cancel cancel;
	struct dray_reclaim reclaim;
	struct dray_timeline timeline;
	struct dray_heap_map heap_map;
};

FIXTURE(structs)
{
	int node;
	struct ledger before;
	struct dray_info info;
	struct buffer buffer;
	struct dray_transfer transfer;
	union any_call call;
};

FIXTURE_VARIANT(structs)
{
	unsigned int number;
	unsigned int size;
	unsigned int first; /* size of the first version, which never changes */
};

#define CALL(type, request, bytes)                                \
	{                                                         \
		.number = _IOC_NR(request), .size = sizeof(type), \
		.first = (bytes),                                 \
	}

FIXTURE_VARIANT_ADD(structs, info)
CALL(struct dray_info, DRAY_IOC_INFO, 152);

FIXTURE_VARIANT_ADD(structs, heap_info)
CALL(struct dray_heap_info, DRAY_IOC_HEAP_INFO, 96);

FIXTURE_VARIANT_ADD(structs, channel_info)
CALL(struct dray_channel_info, DRAY_IOC_CHANNEL_INFO, 112);

FIXTURE_VARIANT_ADD(structs, alloc)
CALL(struct dray_alloc, DRAY_IOC_ALLOC, 96);

FIXTURE_VARIANT_ADD(structs, address)
CALL(struct dray_address, DRAY_IOC_ADDRESS, 56);

FIXTURE_VARIANT_ADD(structs, sync)
CALL(struct dray_sync, DRAY_IOC_SYNC, 48);

FIXTURE_VARIANT_ADD(structs, submit)
CALL(struct dray_submit, DRAY_IOC_SUBMIT, 72);

FIXTURE_VARIANT_ADD(structs, list)
CALL(struct dray_list, DRAY_IOC_LIST, 16);

FIXTURE_VARIANT_ADD(structs, buffer_info)
CALL(struct dray_buffer_info, DRAY_IOC_BUFFER_INFO, 160);

FIXTURE_VARIANT_ADD(structs, export)
CALL(struct dray_export, DRAY_IOC_EXPORT, 24);

FIXTURE_VARIANT_ADD(structs, attach)
CALL(struct dray_attach, DRAY_IOC_ATTACH, 48);

FIXTURE_VARIANT_ADD(structs, cancel)
CALL(struct dray_cancel, DRAY_IOC_CANCEL, 32);

FIXTURE_VARIANT_ADD(structs, reclaim)
CALL(struct dray_reclaim, DRAY_IOC_RECLAIM, 40);

FIXTURE_VARIANT_ADD(structs, timeline)
CALL(struct dray_timeline, DRAY_IOC_TIMELINE, 48);

FIXTURE_VARIANT_ADD(structs, heap_map)
CALL(struct dray_heap_map, DRAY_IOC_HEAP_MAP, 80);

/* A call that succeeds with the structure that this header knows. */
static void prepare(FIXTURE_DATA(structs) * self, unsigned int number)
{
	union any_call *call = &self->call;

	memset(call, 0, sizeof(*call));
	switch (number) {
	case _IOC_NR(DRAY_IOC_ALLOC):
		call->alloc.size = 1;
		call->alloc.heap = DRAY_HEAP_ANY;
		break;
	case _IOC_NR(DRAY_IOC_ADDRESS):
		call->address.fd = self->buffer.fd;
		break;
	case _IOC_NR(DRAY_IOC_SYNC):
		call->sync.target = DRAY_TARGET_NODE;
		call->sync.owner = DRAY_SYNC_FOR_DEVICE;
		call->sync.direction = DRAY_TO_DEVICE;
		break;
	case _IOC_NR(DRAY_IOC_SUBMIT):
		self->transfer = (struct dray_transfer)COPY_OF(
			self->buffer.fd, self->buffer.fd, 64, .dst_offset = 64);
		call->submit.channel = DRAY_CHANNEL_ANY;
		call->submit.transfers = (uintptr_t)&self->transfer;
		call->submit.count = 1;
		break;
	case _IOC_NR(DRAY_IOC_BUFFER_INFO):
		call->buffer_info.id = self->buffer.id;
		break;
	case _IOC_NR(DRAY_IOC_ATTACH):
		call->attach.dmabuf_fd = -1;
		call->attach.flags = DRAY_ATTACH_USER;
		call->attach.address = (uintptr_t)self;
		call->attach.length = 1;
		break;
	case _IOC_NR(DRAY_IOC_EXPORT):
		call->export.buffer_fd = self->buffer.fd;
		call->export.flags = DRAY_EXPORT_READ_ONLY;
		break;
	case _IOC_NR(DRAY_IOC_CANCEL):
		call->cancel.fence_fd = -1;
		call->cancel.channel = DRAY_CHANNEL_ANY;
		break;
	case _IOC_NR(DRAY_IOC_TIMELINE):
		call->timeline.event_fd = -1;
		break;
	}
}

/* The call with a structure of that size; what came with it is put away. */
static int call(FIXTURE_DATA(structs) * self, unsigned int number,
		unsigned int size)
{
	int ret = node_call(self->node,
			    _IOC(_IOC_READ | _IOC_WRITE, DRAY_IOC_MAGIC, number,
				 size),
			    &self->call);

	if (ret)
		return ret;
	if (number == _IOC_NR(DRAY_IOC_ALLOC))
		close(self->call.alloc.fd);
	if (number == _IOC_NR(DRAY_IOC_ATTACH))
		close(self->call.attach.fd);
	if (number == _IOC_NR(DRAY_IOC_EXPORT))
		close(self->call.export.fd);
	if (number == _IOC_NR(DRAY_IOC_TIMELINE))
		close(self->call.timeline.fd);
	if (number == _IOC_NR(DRAY_IOC_SUBMIT)) {
		ret = fence_wait(self->call.submit.fence_fd);
		close(self->call.submit.fence_fd);
		return ret == 1 ? 0 : -EIO;
	}
	return 0;
}

FIXTURE_SETUP(structs)
{
	struct dray_channel_info channel;

	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	ASSERT_EQ(0, node_info(self->node, &self->info));
	SKIP_IF((variant->number == _IOC_NR(DRAY_IOC_SUBMIT) ||
		 variant->number == _IOC_NR(DRAY_IOC_TIMELINE)) &&
			!self->info.channel_count,
		"this node has no DMA channel");
	SKIP_IF(variant->number == _IOC_NR(DRAY_IOC_CANCEL) &&
			!(self->info.flags & DRAY_NODE_SUBMIT),
		"this kernel has no DMA engines or no sync_file");
	SKIP_IF(variant->number == _IOC_NR(DRAY_IOC_CHANNEL_INFO) &&
			node_channel(self->node, 0, &channel) == -EINVAL,
		"this node has no DMA channel");
	ASSERT_EQ(0, buffer_allocate(self->node, DRAY_HEAP_ANY, 4096,
				     &self->buffer));
	prepare(self, variant->number);
}

FIXTURE_TEARDOWN_PARENT(structs)
{
	EXPECT_EQ(0, ledger_differences(&self->before));
}

BRIEF(TEST_F(structs, the_known_size_is_taken),
      EXPECT_EQ(0, call(self, variant->number, variant->size)));
BRIEF(TEST_F(structs, the_size_of_the_first_version_is_taken),
      EXPECT_EQ(0, call(self, variant->number, variant->first)));

TEST_F(structs, nothing_is_written_behind_the_first_version)
{
	memset(self->call.bytes + variant->first, 0x5a,
	       sizeof(self->call) - variant->first);
	EXPECT_EQ(0, call(self, variant->number, variant->first));
	EXPECT_EQ(-1,
		  first_other_byte(self->call.bytes + variant->first,
				   sizeof(self->call) - variant->first, 0x5a));
}

TEST_F(structs, a_size_that_no_version_ever_had_is_refused)
{
	for (unsigned int size = 1; size < variant->first; size++) {
		EXPECT_EQ(-EINVAL, call(self, variant->number, size))
		{
			TH_LOG("%u bytes", size);
		}
	}
}

BRIEF(TEST_F(structs, a_size_of_zero_is_refused),
      EXPECT_EQ(-EINVAL, call(self, variant->number, 0)));
BRIEF(TEST_F(structs, a_larger_size_with_a_zero_tail_is_taken),
      EXPECT_EQ(0, call(self, variant->number, variant->size + 64)));

TEST_F(structs, a_larger_tail_stays_zero)
{
	ASSERT_EQ(0, call(self, variant->number, variant->size + 64));
	EXPECT_EQ(-1,
		  first_other_byte(self->call.bytes + variant->size, 64, 0));
}

TEST_F(structs, a_larger_size_with_a_tail_is_refused)
{
	self->call.bytes[variant->size + 63] = 1;
	EXPECT_EQ(-E2BIG, call(self, variant->number, variant->size + 64));
	self->call.bytes[variant->size + 63] = 0;
	self->call.bytes[variant->size] = 1;
	EXPECT_EQ(-E2BIG, call(self, variant->number, variant->size + 8));
}

TEST_F(structs, a_structure_at_an_odd_address_is_taken)
{
	uint8_t shifted[sizeof(union any_call) + 1];

	memcpy(shifted + 1, &self->call, sizeof(self->call));
	EXPECT_EQ(0, node_call(self->node,
			       _IOC(_IOC_READ | _IOC_WRITE, DRAY_IOC_MAGIC,
				    variant->number, variant->size),
			       shifted + 1));
}

TEST_F(structs, a_structure_that_ends_in_no_mans_land_is_refused)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *place = pages + page - variant->size + 8;

	ASSERT_NE(MAP_FAILED, pages);
	ASSERT_EQ(0, munmap(pages + page, page));
	memcpy(place, &self->call, variant->size - 8);
	EXPECT_EQ(-EFAULT,
		  node_call(self->node,
			    _IOC(_IOC_READ | _IOC_WRITE, DRAY_IOC_MAGIC,
				 variant->number, variant->size),
			    place));
}
