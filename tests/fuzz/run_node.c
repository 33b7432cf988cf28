// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The calls of a node.  Each structure is made so that it is likely to be
 * accepted; the flaw of the call then spoils a word of it, or its size, or
 * the place where it lies.
 */
#include "run.h"

#define RANGES 8

/* Part 0: the structure; 1 and 2: what it points to; 3: how it is passed. */
void flaw_apply(const struct call *call, unsigned int part, void *data,
		size_t size)
{
	unsigned int at = call->flaw >> 4;

	if (!call->flaw || (call->flaw >> 1 & 3) != part || size < 8)
		return;
	if (call->flaw & 8)
		memcpy((uint8_t *)data + at % (size / 8) * 8, &call->value, 8);
	else
		memcpy((uint8_t *)data + at % (size / 4) * 4, &call->value, 4);
}

/* Where the structure lies, and how large it says it is. */
static uint8_t *argument_place(struct thread *thread, const struct call *call,
			       const void *data, size_t size)
{
	uint8_t *at = thread->area;

	if (call->flaw && (call->flaw >> 1 & 3) == 3) {
		switch (call->flaw >> 5 & 7) {
		case 0:
			at = thread->area + 2 * PAGE - size / 2 / 8 * 8;
			copy_safely(at, data, size / 2 / 8 * 8);
			return at;
		case 1:
			mprotect(thread->constant, PAGE,
				 PROT_READ | PROT_WRITE);
			copy_safely(thread->constant, data, size);
			mprotect(thread->constant, PAGE, PROT_READ);
			return thread->constant;
		case 2:
			return (uint8_t *)call->value;
		case 3:
			at = window_address(call->c) + (call->value & 0xff0);
			break;
		}
	}
	copy_safely(at, data, size);
	return at;
}

static unsigned long argument_request(const struct call *call,
				      unsigned long request)
{
	if (!call->flaw || (call->flaw >> 1 & 3) != 3)
		return request;
	switch (call->flaw >> 5 & 7) {
	case 4:
		return _IOC(_IOC_DIR(request), DRAY_IOC_MAGIC, _IOC_NR(request),
			    call->value & 0x3fff);
	case 5:
		return _IOC(call->value & 3, DRAY_IOC_MAGIC, _IOC_NR(request),
			    _IOC_SIZE(request));
	case 6:
		return _IOC(_IOC_DIR(request), DRAY_IOC_MAGIC, _IOC_NR(request),
			    _IOC_SIZE(request) + call->value % 128);
	}
	return request;
}

int object_ioctl(struct thread *thread, const struct call *call, int fd,
		 unsigned long request, void *data, size_t size)
{
	uint8_t *at = argument_place(thread, call, data, size);
	int ret = 0;

	if (ioctl(fd, argument_request(call, request), at) < 0)
		ret = -errno;
	if (!copy_safely(data, at, size) && !ret)
		ret = -EFAULT;
	return ret;
}

int node_ioctl(struct thread *thread, const struct call *call,
	       unsigned long request, void *data, size_t size)
{
	int ret;

	flaw_apply(call, 0, data, size);
	ret = object_ioctl(thread, call, object_fd(OBJECT_NODE, call->c),
			   request, data, size);
	/* A node that is gone is worth a few calls, not all. */
	if (ret == -ENODEV && !(call->seed & 3))
		object_close(OBJECT_NODE, call->c);
	return ret;
}

int run_open(struct thread *thread, const struct call *call)
{
	int fd = open(node_file(call->a), O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	object_put(OBJECT_NODE, call->c, fd, 0);
	return 0;
}

int run_info(struct thread *thread, const struct call *call)
{
	struct dray_info info = { 0 };

	return node_ioctl(thread, call, DRAY_IOC_INFO, &info, sizeof(info));
}

int run_heap_info(struct thread *thread, const struct call *call)
{
	struct dray_heap_info heap = { .index = call->a % 4 };

	return node_ioctl(thread, call, DRAY_IOC_HEAP_INFO, &heap,
			  sizeof(heap));
}

int run_channel_info(struct thread *thread, const struct call *call)
{
	struct dray_channel_info channel = { .index = call->a % 3 };

	return node_ioctl(thread, call, DRAY_IOC_CHANNEL_INFO, &channel,
			  sizeof(channel));
}

int run_alloc(struct thread *thread, const struct call *call)
{
	static const uint64_t limits[] = { UINT64_MAX, 0x3fffffff, 0x37ffffff,
					   4096 };
	uint64_t state = call->seed;
	struct dray_alloc alloc = {
		.size = call->size,
		.heap = pick(&state, 2) ? DRAY_HEAP_ANY : call->b % 4,
		.alignment = pick(&state, 4) ? 0 : 1ull << pick(&state, 23),
		.address_limit = pick(&state, 8) ? 0 : limits[pick(&state, 4)],
		.mode = pick(&state, 3) ? 0 : (uint32_t)pick(&state, 4),
		.flags = (uint32_t)pick(&state, 2),
		.fd = -1,
	};
	int ret;

	snprintf(alloc.name, sizeof(alloc.name), "%u", call->a);
	ret = node_ioctl(thread, call, DRAY_IOC_ALLOC, &alloc, sizeof(alloc));
	if (ret)
		return ret;
	object_remember(alloc.id);
	object_put(OBJECT_BUFFER, call->a, alloc.fd, alloc.size);
	return 0;
}

/* A buffer, or an attachment. */
static int memory_fd(uint32_t object, uint64_t *size, uint64_t *state)
{
	enum object_type type =
		pick(state, 4) ? OBJECT_BUFFER : OBJECT_ATTACHMENT;

	if (object_fd(type, object) < 0)
		type = OBJECT_BUFFER;
	*size = object_size(type, object);
	return object_fd(type, object);
}

int run_address(struct thread *thread, const struct call *call)
{
	struct dray_segment segments[4];
	uint64_t state = call->seed, size;
	struct dray_address address = {
		.segments = (uintptr_t)segments,
		.room = (uint32_t)pick(&state, 5),
	};

	address.fd = memory_fd(call->a, &size, &state);
	address.offset = pick(&state, 2) ? 0 : call->offset % size;
	address.length =
		pick(&state, 2) ? 0 : 1 + call->size % (size - address.offset);
	return node_ioctl(thread, call, DRAY_IOC_ADDRESS, &address,
			  sizeof(address));
}

int run_sync(struct thread *thread, const struct call *call)
{
	struct dray_range ranges[RANGES] = { 0 };
	uint64_t state = call->seed, size;
	struct dray_sync sync = {
		.target = pick(&state, 2) ? DRAY_TARGET_NODE
					  : (uint32_t)pick(&state, 3),
		.owner = 1 + (uint32_t)pick(&state, 2),
		.direction = 1 + (uint32_t)pick(&state, 3),
		.count = (uint32_t)pick(&state, RANGES + 1),
		.ranges = (uintptr_t)ranges,
		.flags = (uint32_t)pick(&state, 8) ? 0 : 2,
	};
	struct dray_range *range;

	for (uint32_t i = 0; i < sync.count; i++) {
		range = &ranges[i];
		range->fd = memory_fd(i ? (uint32_t)pick(&state, 8) : call->a,
				      &size, &state);
		range->offset = call->offset % size;
		size -= range->offset;
		range->rows = 1 + pick(&state, 16);
		range->pitch = 1 + size / (2 * range->rows);
		range->width = 1 + pick(&state, range->pitch);
		if (pick(&state, 4))
			continue;
		range->rows = 1;
		range->width = 1 + call->size % size;
	}
	flaw_apply(call, 1, ranges, sizeof(ranges[0]) * (1 + sync.count) / 2);
	return node_ioctl(thread, call, DRAY_IOC_SYNC, &sync, sizeof(sync));
}

int run_list(struct thread *thread, const struct call *call)
{
	uint64_t ids[64];
	struct dray_list list = { .ids = (uintptr_t)ids, .room = call->a % 65 };
	int ret = node_ioctl(thread, call, DRAY_IOC_LIST, &list, sizeof(list));

	for (uint32_t i = 0; !ret && i < list.count && i < call->a % 65; i++)
		object_remember(ids[i]);
	return ret;
}

int run_buffer_info(struct thread *thread, const struct call *call)
{
	struct dray_buffer_info info = { .id = object_id(call->a) };

	if (call->seed & 1) {
		info.flags = DRAY_BUFFER_BY_FD;
		info.fd = object_fd(OBJECT_BUFFER, call->b);
	}
	return node_ioctl(thread, call, DRAY_IOC_BUFFER_INFO, &info,
			  sizeof(info));
}

int run_export(struct thread *thread, const struct call *call)
{
	struct dray_export export = {
		.buffer_fd = object_fd(OBJECT_BUFFER, call->a),
		.flags = DRAY_EXPORT_READ_ONLY,
		.fd = -1,
	};
	int ret = node_ioctl(thread, call, DRAY_IOC_EXPORT, &export,
			     sizeof(export));

	if (!ret)
		object_put(OBJECT_BUFFER, call->b, export.fd,
			   object_size(OBJECT_BUFFER, call->a));
	return ret;
}

static int attach(struct thread *thread, const struct call *call,
		  struct dray_attach *attach)
{
	int ret = node_ioctl(thread, call, DRAY_IOC_ATTACH, attach,
			     sizeof(*attach));

	if (!ret)
		object_put(OBJECT_ATTACHMENT, call->b, attach->fd,
			   attach->length);
	return ret;
}

/* Memory of a window: ours, somebody else's, a buffer's, or nothing at all. */
int run_attach_user(struct thread *thread, const struct call *call)
{
	struct dray_attach args = {
		.dmabuf_fd = -1,
		.flags = DRAY_ATTACH_USER |
			 (call->seed & 1 ? DRAY_ATTACH_READ_ONLY : 0),
		.address = (uintptr_t)window_address(call->a) +
			   call->offset % 65536,
		.length = 1 + call->size % 262144,
		.fd = -1,
	};

	if (call->seed & 2)
		args.length = 1 + args.length % 16384;
	return attach(thread, call, &args);
}

int run_attach_dmabuf(struct thread *thread, const struct call *call)
{
	struct dray_attach args = {
		.dmabuf_fd = object_fd(OBJECT_FOREIGN, call->a),
		.flags = call->seed & 1 ? DRAY_ATTACH_READ_ONLY : 0,
		.fd = -1,
	};

	return attach(thread, call, &args);
}

int run_cancel(struct thread *thread, const struct call *call)
{
	struct dray_cancel cancel = {
		.fence_fd = -1,
		.channel = call->seed & 2 ? DRAY_CHANNEL_ANY : call->b % 5,
		.point = call->seed & 14 ? 0 : call->a % 8,
	};

	if (call->seed & 1)
		cancel.fence_fd = object_fd(OBJECT_FENCE, call->a);
	return node_ioctl(thread, call, DRAY_IOC_CANCEL, &cancel,
			  sizeof(cancel));
}

int run_reclaim(struct thread *thread, const struct call *call)
{
	struct dray_reclaim reclaim = {
		.id = call->seed & 1 ? object_id(call->a) : 0,
	};

	return node_ioctl(thread, call, DRAY_IOC_RECLAIM, &reclaim,
			  sizeof(reclaim));
}

/* What comes back must be parts that follow each other. */
int run_heap_map(struct thread *thread, const struct call *call)
{
	static const uint64_t limits[] = { 0, UINT64_MAX, 0x3fffffff,
					   0x37ffffff };
	struct dray_part parts[32] = { 0 };
	uint64_t state = call->seed, at = 0;
	struct dray_heap_map map = {
		.heap = call->a % 4,
		.alignment = pick(&state, 2) ? 0 : 1ull << pick(&state, 28),
		.address_limit = limits[pick(&state, 4)],
		.parts = (uintptr_t)parts,
		.room = call->b % 33,
	};
	int ret =
		node_ioctl(thread, call, DRAY_IOC_HEAP_MAP, &map, sizeof(map));

	if (ret || call->flaw)
		return ret;
	for (uint32_t i = 0; i < map.room && i < map.count; i++) {
		if (parts[i].offset != at || !parts[i].length)
			return -EPROTO;
		at += parts[i].length;
	}
	return at > map.size ? -EPROTO : 0;
}

/* Any number, size and direction, with any content. */
int run_unknown(struct thread *thread, const struct call *call)
{
	unsigned long request = _IOC(call->seed & 3, DRAY_IOC_MAGIC,
				     call->a & 31, call->size & 0x1ff);
	uint64_t words[128], state = call->seed;
	uint32_t i;

	for (i = 0; i < 128; i++)
		words[i] = pick(&state, 3) ? 0 : value_pick(&state);
	/* What it may have made is unknown, and goes with the process. */
	return node_ioctl(thread, call, request, words, sizeof(words));
}

/* A node without registers refuses each index, as it should: 0 then. */
static int refused_rightly(int ret, const struct call *call, uint32_t index,
			   bool interrupts)
{
	struct dray_info info = { 0 };

	if (ret != -EINVAL || call->flaw ||
	    ioctl(object_fd(OBJECT_NODE, call->c), DRAY_IOC_INFO, &info))
		return ret;
	return index < (interrupts ? info.interrupt_count : info.register_count)
		       ? -EPROTO
		       : 0;
}

int run_register_area(struct thread *thread, const struct call *call)
{
	struct dray_register_area area = {
		.index = call->a % 3,
		.flags = call->b % 2 ? DRAY_REGISTERS_OPEN : 0,
	};
	int ret = node_ioctl(thread, call, DRAY_IOC_REGISTER_AREA, &area,
			     sizeof(area));

	if (!ret && !call->flaw && area.flags)
		object_put(OBJECT_FOREIGN, call->a, area.fd, area.mappable);
	return refused_rightly(ret, call, call->a % 3, false);
}

int run_interrupt_line(struct thread *thread, const struct call *call)
{
	struct dray_interrupt_line line = {
		.index = call->a % 3,
		.flags = call->b % 2 ? DRAY_INTERRUPT_OPEN : 0,
	};
	int ret = node_ioctl(thread, call, DRAY_IOC_INTERRUPT_LINE, &line,
			     sizeof(line));

	if (!ret && !call->flaw && line.flags)
		object_put(OBJECT_FOREIGN, call->a, line.fd, 0);
	return refused_rightly(ret, call, call->a % 3, true);
}
