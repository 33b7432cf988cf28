/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A stand-in for the module, because a module of another version, a heap that
 * is full or a channel that died cannot be had on demand: the linker sends
 * open, ioctl, mmap, fstatfs, fcntl and readdir here.  The module itself is
 * there when the other tests run with DRAY_TEST_NODE=kernel.
 */
#ifndef DRAY_TESTS_STAND_IN_H
#define DRAY_TESTS_STAND_IN_H

#include <dirent.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>

#include "unit.h"
#include "memory/node.h"

#define MIB ((uint64_t)1 << 20)
#define DMA_BUF_MAGIC 0x444d4142

/* The stand-in: what it answers, and what it was asked last. */
static struct {
	int open_error;
	unsigned long failing; /* the call that fails, 0: none */
	int error;
	uint32_t reason;
	uint64_t limit;
	int interruptions; /* calls that end with EINTR first */
	uint32_t abi_version;
	uint32_t cache_line;
	uint32_t sync_flags;
	bool mmap_fails;
	bool calloc_fails;
	bool dup_fails;
	const char *const *nodes; /* what /dev has, NULL: cannot be read */
	char opened[64];
	bool is_dma_buf;
	uint64_t alignment_most; /* that buffers may have, 0: any */
	uint64_t room; /* bytes that buffers may have in all, 0: any */
	uint64_t taken; /* bytes that they had */
	int calls; /* of any kind */
	int syncs;
	struct dray_sync sync;
	struct dray_range ranges[64];
	struct dray_alloc alloc;
	struct dray_address address;
	struct dray_reclaim reclaim;
	struct dray_heap_map map;
	bool registers; /* areas control and status, an interrupt done */
	int area; /* the file of the area that was opened last */
	int interrupt; /* likewise, an eventfd to write to */
	/* streams: channels mem0, tx0 and rx0; with a display also display0 */
	bool streams;
	bool display;
	struct dray_timeline timeline;
	struct dray_timeline_head *head; /* to write to, and unmap */
	struct dray_submit submit;
	struct dray_transfer transfers[4];
	struct dray_axis axes[4]; /* of the first transfer */
	int32_t in_fences[4];
	struct dray_cancel cancel;
	int cancels;
	bool keeps_frames; /* CANCEL ends nothing; after a thousand the node is gone */
	int waits;
	/* rings; the transfers of the first frames are in transfers[] */
	struct dray_ring ring;
	int releases;
	struct dray_release release;
	uint32_t released[4];
	struct dray_point acquired[4]; /* to be acquired next */
	uint32_t acquired_count;
} module;

#define STAND_IN_POINTS 128

/* As the module ends a submission, or fills a frame. */
static inline void publish_frame(uint64_t number, uint64_t bytes, int status,
				 uint32_t frame)
{
	struct dray_point *points = (void *)(module.head + 1);
	struct dray_point *point = &points[number % STAND_IN_POINTS];

	*point = (struct dray_point){ .number = number,
				      .bytes = bytes,
				      .time_ns = 1000 + number,
				      .status = status,
				      .frame = frame };
	if (number > module.head->completed)
		module.head->completed = number;
	module.head->published++;
}

static inline void publish(uint64_t number, uint64_t bytes, int status)
{
	publish_frame(number, bytes, status, 0);
}

void *__real_mmap64(void *address, size_t size, int protection, int flags,
		    int fd, off_t offset);

static inline int answer_timeline(struct dray_timeline *args)
{
	size_t size = sizeof(*module.head) +
		      STAND_IN_POINTS * sizeof(struct dray_point);

	module.timeline = *args;
	args->fd = memfd_create("timeline", MFD_CLOEXEC);
	args->size = size;
	args->points = STAND_IN_POINTS;
	if (ftruncate(args->fd, (off_t)size))
		return -1;
	module.head = __real_mmap64(NULL, size, PROT_READ | PROT_WRITE,
				    MAP_SHARED, args->fd, 0);
	module.head->points = STAND_IN_POINTS;
	module.head->first = sizeof(*module.head);
	return 0;
}

static inline int answer_channel(struct dray_channel_info *info)
{
	static const char *const names[] = { "mem0", "tx0", "rx0", "display0" };
	static const uint32_t flags[] = { DRAY_CHANNEL_COPY, DRAY_CHANNEL_SEND,
					  DRAY_CHANNEL_RECV,
					  DRAY_CHANNEL_SHOW |
						  DRAY_CHANNEL_REPEAT };

	info->alignment = 4;
	if (!module.streams)
		return 0;
	info->flags = flags[info->index];
	info->max_segment = 65536;
	info->max_pieces = 8;
	if (info->flags & DRAY_CHANNEL_REPEAT)
		info->first_alignment = 256;
	snprintf(info->name, sizeof(info->name), "%s", names[info->index]);
	return 0;
}

static inline int answer_submit(struct dray_submit *args)
{
	uint64_t point = module.submit.point + 1;
	size_t known = args->count < 4 ? args->count : 4;

	if (!module.streams)
		return 0;
	memcpy(module.transfers, (void *)(uintptr_t)args->transfers,
	       known * sizeof(module.transfers[0]));
	memcpy(module.axes, (void *)(uintptr_t)module.transfers[0].axes,
	       module.transfers[0].axes_count * sizeof(module.axes[0]));
	memcpy(module.in_fences, (void *)(uintptr_t)args->in_fences,
	       args->in_fence_count * sizeof(module.in_fences[0]));
	args->point = point;
	module.submit = *args;
	return 0;
}

static inline int answer_ring(struct dray_ring *args)
{
	size_t known = args->count < 4 ? args->count : 4;

	module.ring = *args;
	if (known)
		memcpy(module.transfers, (void *)(uintptr_t)args->frames,
		       known * sizeof(module.transfers[0]));
	return 0;
}

static inline int answer_release(struct dray_release *args)
{
	size_t known = args->count < 4 ? args->count : 4;

	module.releases++;
	module.release = *args;
	if (known)
		memcpy(module.released, (void *)(uintptr_t)args->frames,
		       known * sizeof(module.released[0]));
	args->released = args->count;
	args->acquired = module.acquired_count < args->room
				 ? module.acquired_count
				 : args->room;
	if (args->acquired)
		memcpy((void *)(uintptr_t)args->points, module.acquired,
		       args->acquired * sizeof(module.acquired[0]));
	module.acquired_count = 0;
	if (args->acquired || !args->until_ns ||
	    module.head->completed >= args->number)
		return 0;
	errno = ETIME;
	return -1;
}

/* Ends all that the test has not ended. */
static inline int answer_cancel(struct dray_cancel *args)
{
	module.cancel = *args;
	module.cancels++;
	if (module.keeps_frames && module.cancels < 1000)
		return 0;
	if (module.keeps_frames) {
		errno = ENODEV;
		return -1;
	}
	if (args->point) {
		publish(args->point, 3, -ECANCELED);
		return 0;
	}
	while (module.head->completed < module.submit.point)
		publish(module.head->completed + 1, 0, -ECANCELED);
	return 0;
}

static inline int answer_wait(struct dray_wait *args)
{
	const struct dray_point *points = (void *)(module.head + 1);
	const struct dray_point *point =
		&points[args->number % STAND_IN_POINTS];

	module.waits++;
	args->completed = module.head->completed;
	args->point = *point;
	if (point->number == args->number)
		return 0;
	errno = point->number > args->number ? EOVERFLOW : ETIME;
	return -1;
}

static inline int answer_info(struct dray_info *info)
{
	*info = (struct dray_info){
		.abi_version = module.abi_version,
		.flags = DRAY_NODE_SUBMIT | DRAY_NODE_ADDRESS,
		.cache_line = module.cache_line,
		.dma_alignment = 128,
		.page_size = (uint32_t)sysconf(_SC_PAGESIZE),
		.heap_count = 2,
		.channel_count = module.display	  ? 4
				 : module.streams ? 3
						  : 1,
		.max_runs = 65536,
		.max_bytes = (uint64_t)1 << 30,
		.register_count = module.registers ? 2 : 0,
		.interrupt_count = module.registers ? 1 : 0,
		.name = "dray7",
	};
	return 0;
}

static inline int answer_area(struct dray_register_area *args)
{
	snprintf(args->name, sizeof(args->name), "%s",
		 args->index ? "status" : "control");
	args->size = 4096;
	args->mappable = 4096;
	if (!(args->flags & DRAY_REGISTERS_OPEN))
		return 0;
	args->fd = memfd_create("area", MFD_CLOEXEC);
	module.area = args->fd;
	return ftruncate(args->fd, 4096);
}

static inline int answer_line(struct dray_interrupt_line *args)
{
	snprintf(args->name, sizeof(args->name), "done");
	args->count = 7;
	if (!(args->flags & DRAY_INTERRUPT_OPEN))
		return 0;
	args->fd = eventfd(0, EFD_CLOEXEC);
	module.interrupt = args->fd;
	return 0;
}

static inline int answer_sync(struct dray_sync *sync)
{
	size_t known = sync->count < 64 ? sync->count : 64;

	module.syncs += sync->count > 0;
	module.sync = *sync;
	if (known)
		memcpy(module.ranges, (void *)(uintptr_t)sync->ranges,
		       known * sizeof(module.ranges[0]));
	sync->flags = module.sync_flags;
	return 0;
}

static inline int answer_alloc(struct dray_alloc *alloc)
{
	module.alloc = *alloc;
	if (module.alignment_most && alloc->alignment > module.alignment_most) {
		alloc->reason = DRAY_REASON_ALIGNMENT;
		alloc->limit = module.alignment_most;
		errno = EINVAL;
		return -1;
	}
	if (module.room && alloc->size > module.room - module.taken) {
		alloc->reason = DRAY_REASON_FULL;
		alloc->limit = module.room - module.taken;
		errno = ENOMEM;
		return -1;
	}
	module.taken += alloc->size;
	alloc->fd = memfd_create("stand-in", MFD_CLOEXEC);
	alloc->id = 4711;
	alloc->heap = 1;
	return ftruncate(alloc->fd, (off_t)alloc->size);
}

/* A buffer, and free memory behind it. */
static inline int answer_map(struct dray_heap_map *args)
{
	const struct dray_part parts[] = {
		{ .length = MIB, .id = 4711, .state = DRAY_PART_BUFFER },
		{ .offset = MIB, .length = 3 * MIB },
	};
	size_t known = args->room < 2 ? args->room : 2;

	module.map = *args;
	if (known)
		memcpy((void *)(uintptr_t)args->parts, parts,
		       known * sizeof(parts[0]));
	args->count = 2;
	args->size = 4 * MIB;
	args->reach = 3 * MIB;
	return 0;
}

/* The place where each call has its reason, for those that have one. */
static inline void set_reason(unsigned long request, void *args)
{
	if (request == DRAY_IOC_ALLOC) {
		((struct dray_alloc *)args)->reason = module.reason;
		((struct dray_alloc *)args)->limit = module.limit;
	} else if (request == DRAY_IOC_ADDRESS) {
		((struct dray_address *)args)->reason = module.reason;
		((struct dray_address *)args)->limit = module.limit;
	} else if (request == DRAY_IOC_SYNC) {
		((struct dray_sync *)args)->reason = module.reason;
		((struct dray_sync *)args)->limit = module.limit;
	} else if (request == DRAY_IOC_RECLAIM) {
		((struct dray_reclaim *)args)->reason = module.reason;
	} else if (request == DRAY_IOC_HEAP_MAP) {
		((struct dray_heap_map *)args)->reason = module.reason;
		((struct dray_heap_map *)args)->limit = module.limit;
	} else if (request == DRAY_IOC_REGISTER_AREA) {
		((struct dray_register_area *)args)->reason = module.reason;
		((struct dray_register_area *)args)->limit = module.limit;
	} else if (request == DRAY_IOC_INTERRUPT_LINE) {
		((struct dray_interrupt_line *)args)->reason = module.reason;
		((struct dray_interrupt_line *)args)->limit = module.limit;
	} else if (request == DRAY_IOC_TIMELINE) {
		((struct dray_timeline *)args)->reason = module.reason;
		((struct dray_timeline *)args)->limit = module.limit;
	} else if (request == DRAY_IOC_SUBMIT) {
		((struct dray_submit *)args)->failed = 2;
		((struct dray_submit *)args)->reason = module.reason;
		((struct dray_submit *)args)->limit = module.limit;
	} else if (request == DRAY_IOC_RING) {
		((struct dray_ring *)args)->failed = 2;
		((struct dray_ring *)args)->reason = module.reason;
		((struct dray_ring *)args)->limit = module.limit;
	}
}
WRAPPED(int, ioctl, (int fd, unsigned long request, ...))
{
	va_list list;
	void *args;

	va_start(list, request);
	args = va_arg(list, void *);
	va_end(list);
	module.calls++;
	if (module.interruptions) {
		module.interruptions--;
		errno = EINTR;
		return -1;
	}
	if (request == module.failing) {
		set_reason(request, args);
		errno = module.error;
		return -1;
	}
	switch (request) {
	case DRAY_IOC_INFO:
		return answer_info(args);
	case DRAY_IOC_SYNC:
		return answer_sync(args);
	case DRAY_IOC_ALLOC:
		return answer_alloc(args);
	case DRAY_IOC_HEAP_INFO:
		snprintf(((struct dray_heap_info *)args)->name, DRAY_NAME_LEN,
			 "heap%u", ((struct dray_heap_info *)args)->index);
		return 0;
	case DRAY_IOC_ADDRESS:
		module.address = *(struct dray_address *)args;
		((struct dray_address *)args)->count = 3;
		return 0;
	case DRAY_IOC_RECLAIM:
		module.reclaim = *(struct dray_reclaim *)args;
		((struct dray_reclaim *)args)->count = 2;
		((struct dray_reclaim *)args)->attachments = 1;
		((struct dray_reclaim *)args)->bytes = 3 * MIB;
		return 0;
	case DRAY_IOC_HEAP_MAP:
		return answer_map(args);
	case DRAY_IOC_REGISTER_AREA:
		return answer_area(args);
	case DRAY_IOC_INTERRUPT_LINE:
		return answer_line(args);
	case DRAY_IOC_BUFFER_INFO:
		((struct dray_buffer_info *)args)->id = 4711;
		snprintf(((struct dray_buffer_info *)args)->name, DRAY_NAME_LEN,
			 "theirs");
		return 0;
	case DRAY_IOC_CHANNEL_INFO:
		return answer_channel(args);
	case DRAY_IOC_TIMELINE:
		return answer_timeline(args);
	case DRAY_IOC_SUBMIT:
		return answer_submit(args);
	case DRAY_IOC_CANCEL:
		return answer_cancel(args);
	case DRAY_IOC_WAIT:
		return answer_wait(args);
	case DRAY_IOC_RING:
		return answer_ring(args);
	case DRAY_IOC_RELEASE:
		return answer_release(args);
	case DRAY_IOC_LIST:
		((struct dray_list *)args)->count = 5;
		return 0;
	default:
		return 0;
	}
}
WRAPPED(int, open64, (const char *path, int flags, ...))
{
	if (strncmp(path, "/dev/dray", 9))
		return __real_open64(path, flags, 0);
	if (module.open_error) {
		errno = module.open_error;
		return -1;
	}
	snprintf(module.opened, sizeof(module.opened), "%s", path);
	return __real_open64("/dev/null", O_RDWR | O_CLOEXEC);
}
WRAPPED(void *, mmap64,
	(void *address, size_t size, int protection, int flags, int fd,
	 off_t offset))
{
	if (module.mmap_fails && (flags & MAP_TYPE) == MAP_SHARED) {
		errno = EAGAIN;
		return MAP_FAILED;
	}
	return __real_mmap64(address, size, protection, flags, fd, offset);
}
WRAPPED(void *, calloc, (size_t count, size_t size))
{
	return module.calloc_fails ? NULL : __real_calloc(count, size);
}
WRAPPED(int, fstatfs64, (int fd, struct statfs *system))
{
	int ret = __real_fstatfs64(fd, system);

	if (!ret && module.is_dma_buf)
		system->f_type = DMA_BUF_MAGIC;
	return ret;
}
WRAPPED(int, fcntl64, (int fd, int command, ...))
{
	va_list args;
	long argument;

	va_start(args, command);
	argument = va_arg(args, long);
	va_end(args);
	if (module.dup_fails && command == F_DUPFD_CLOEXEC) {
		errno = EMFILE;
		return -1;
	}
	return __real_fcntl64(fd, command, argument);
}

/* Names in /dev that have been read */
static int nodes_read;

WRAPPED(DIR *, dray_descriptor_folder, (const char *folder))
{
	assert_string_equal(folder, "/dev");
	nodes_read = 0;
	if (module.nodes)
		return opendir("/");
	errno = EMFILE;
	return NULL;
}
WRAPPED(struct dirent *, readdir64, (DIR *folder))
{
	static struct dirent entry;
	const char *name = module.nodes[nodes_read];

	if (!name)
		return NULL;
	nodes_read++;
	snprintf(entry.d_name, sizeof(entry.d_name), "%s", name);
	return &entry;
}

static inline void fail_with(unsigned long call, int error, uint32_t reason,
			     uint64_t limit)
{
	module.failing = call;
	module.error = error;
	module.reason = reason;
	module.limit = limit;
}

static inline int open_descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int descriptors_before;

static inline int with_node(void **state)
{
	struct dray_node *node;

	memset(&module, 0, sizeof(module));
	module.abi_version = DRAY_ABI_VERSION;
	module.cache_line = 64;
	module.is_dma_buf = true;
	descriptors_before = open_descriptors();
	assert_works(dray_node_open("kernel:dray7", &node));
	*state = node;
	return 0;
}

static inline int without_node(void **state)
{
	dray_node_unref(*state);
	return open_descriptors() != descriptors_before;
}

/* A test with a node of it; no descriptor may be left. */
#define STAND_IN_FACT(name) FACT_WITH(name, with_node, without_node)

#endif /* DRAY_TESTS_STAND_IN_H */
