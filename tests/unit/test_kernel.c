// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * kernel: what the library makes of the module's answers.
 *
 * The module itself is there when the other tests run with
 * DRAY_TEST_NODE=kernel.  Here a stand-in answers, because a module of
 * another version, a heap that is full or a channel that died cannot be had
 * on demand: the linker sends open, ioctl, mmap, fstatfs, fcntl and scandir
 * here.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

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
	uint32_t sync_flags;
	bool mmap_fails;
	bool calloc_fails;
	bool dup_fails;
	const char *const *nodes; /* what /dev has, NULL: cannot be read */
	char opened[64];
	bool is_dma_buf;
	int calls; /* of any kind */
	int syncs;
	struct dray_sync sync;
	struct dray_range ranges[64];
	struct dray_alloc alloc;
	struct dray_address address;
	struct dray_reclaim reclaim;
} module;

static int answer_info(struct dray_info *info)
{
	*info = (struct dray_info){
		.abi_version = module.abi_version,
		.flags = DRAY_NODE_SUBMIT | DRAY_NODE_ADDRESS,
		.cache_line = 64,
		.dma_alignment = 128,
		.page_size = (uint32_t)sysconf(_SC_PAGESIZE),
		.heap_count = 2,
		.channel_count = 1,
		.name = "dray7",
	};
	return 0;
}

static int answer_sync(struct dray_sync *sync)
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

static int answer_alloc(struct dray_alloc *alloc)
{
	module.alloc = *alloc;
	alloc->fd = memfd_create("stand-in", MFD_CLOEXEC);
	alloc->id = 4711;
	alloc->heap = 1;
	return ftruncate(alloc->fd, (off_t)alloc->size);
}

/* The place where each call has its reason, for those that have one. */
static void set_reason(unsigned long request, void *args)
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
	} else if (request == DRAY_IOC_SUBMIT) {
		((struct dray_submit *)args)->failed = 2;
		((struct dray_submit *)args)->reason = module.reason;
		((struct dray_submit *)args)->limit = module.limit;
	}
}

int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *args;

	(void)fd;
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
		((struct dray_reclaim *)args)->bytes = 3 * MIB;
		return 0;
	case DRAY_IOC_BUFFER_INFO:
		((struct dray_buffer_info *)args)->id = 4711;
		snprintf(((struct dray_buffer_info *)args)->name, DRAY_NAME_LEN,
			 "theirs");
		return 0;
	case DRAY_IOC_LIST:
		((struct dray_list *)args)->count = 5;
		return 0;
	default:
		return 0;
	}
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
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

void *__real_mmap64(void *address, size_t size, int protection, int flags,
		    int fd, off_t offset);
void *__wrap_mmap64(void *address, size_t size, int protection, int flags,
		    int fd, off_t offset);
void *__wrap_mmap64(void *address, size_t size, int protection, int flags,
		    int fd, off_t offset)
{
	if (module.mmap_fails && (flags & MAP_TYPE) == MAP_SHARED) {
		errno = EAGAIN;
		return MAP_FAILED;
	}
	return __real_mmap64(address, size, protection, flags, fd, offset);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return module.calloc_fails ? NULL : __real_calloc(count, size);
}

int __real_fstatfs64(int fd, struct statfs *system);
int __wrap_fstatfs64(int fd, struct statfs *system);
int __wrap_fstatfs64(int fd, struct statfs *system)
{
	int ret = __real_fstatfs64(fd, system);

	if (!ret && module.is_dma_buf)
		system->f_type = DMA_BUF_MAGIC;
	return ret;
}

int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...)
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

typedef int (*order_function)(const struct dirent **a, const struct dirent **b);

int __wrap_scandir64(const char *folder, struct dirent ***found,
		     int (*filter)(const struct dirent *entry),
		     order_function order);
int __wrap_scandir64(const char *folder, struct dirent ***found,
		     int (*filter)(const struct dirent *entry),
		     order_function order)
{
	struct dirent **list = calloc(32, sizeof(*list));
	int n = 0, i;

	assert_string_equal(folder, "/dev");
	if (!module.nodes) {
		free(list);
		errno = EMFILE;
		return -1;
	}
	for (i = 0; module.nodes[i]; i++) {
		list[n] = calloc(1, sizeof(**list));
		snprintf(list[n]->d_name, sizeof(list[n]->d_name), "%s",
			 module.nodes[i]);
		if (filter(list[n]))
			n++;
		else
			free(list[n]);
	}
	qsort(list, (size_t)n, sizeof(*list),
	      (int (*)(const void *, const void *))order);
	*found = list;
	return n;
}

static void fail_with(unsigned long call, int error, uint32_t reason,
		      uint64_t limit)
{
	module.failing = call;
	module.error = error;
	module.reason = reason;
	module.limit = limit;
}

static int open_descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int descriptors_before;

static int with_node(void **state)
{
	struct dray_node *node;

	memset(&module, 0, sizeof(module));
	module.abi_version = DRAY_ABI_VERSION;
	module.is_dma_buf = true;
	descriptors_before = open_descriptors();
	assert_works(dray_node_open("kernel:dray7", &node));
	*state = node;
	return 0;
}

static int without_node(void **state)
{
	dray_node_unref(*state);
	return open_descriptors() != descriptors_before;
}

static void a_node_that_may_not_be_opened_is_eacces(void **state)
{
	struct dray_node *node;

	(void)state;
	module.open_error = EACCES;
	assert_fails(dray_node_open("kernel:dray7", &node), -EACCES,
		     "/dev/dray7: Permission denied");
	module.open_error = ENXIO;
	assert_fails(dray_node_open("kernel:dray7", &node), -ENODEV,
		     "no node /dev/dray7");
}

static void a_module_of_another_version_is_refused(void **state)
{
	struct dray_node *node;

	(void)state;
	module.abi_version = 99;
	assert_fails(dray_node_open("kernel:dray7", &node), -EPROTO,
		     "version 99");
	fail_with(DRAY_IOC_INFO, ENODEV, 0, 0);
	assert_fails(dray_node_open("kernel:dray7", &node), -ENODEV,
		     "/dev/dray7 is no node");
}

static void a_signal_does_not_end_a_call(void **state)
{
	struct dray_info info;

	module.interruptions = 3;
	module.calls = 0;
	assert_works(dray_node_info(*state, &info, sizeof(info)));
	assert_int_equal(module.calls, 4);
}

static void a_signal_ends_a_submission(void **state)
{
	struct dray_submit args = { .count = 1 };

	module.interruptions = 1;
	module.calls = 0;
	assert_int_equal(dray_node_submit(*state, &args), -EINTR);
	assert_int_equal(module.calls, 1);
	assert_works(dray_node_submit(*state, &args));
}

static void a_refused_submission_says_why(void **state)
{
	struct dray_submit args = { .count = 3, .runs = 70000 };

	fail_with(DRAY_IOC_SUBMIT, E2BIG, DRAY_REASON_RUNS, 65536);
	assert_fails(dray_node_submit(*state, &args), -E2BIG,
		     "70000 descriptors");
	assert_non_null(strstr(dray_last_error(), "number 2"));
	assert_non_null(strstr(dray_last_error(), "at most 65536"));
}

static void a_full_heap_is_enomem_with_both_numbers(void **state)
{
	struct dray_buffer *buffer;

	fail_with(DRAY_IOC_ALLOC, ENOMEM, DRAY_REASON_FULL, 12288);
	assert_fails(dray_buffer_alloc(*state, MIB, NULL, &buffer), -ENOMEM,
		     "1048576 cached bytes of any heap");
	assert_non_null(strstr(dray_last_error(), "12288 bytes are free"));
}

static void a_mode_that_a_heap_lacks_is_not_supported(void **state)
{
	struct dray_buffer_options options = {
		.heap = "heap1",
		.mode = DRAY_MODE_WRITE_COMBINED,
	};
	struct dray_buffer *buffer;

	fail_with(DRAY_IOC_ALLOC, EINVAL, DRAY_REASON_MODE, 0);
	assert_fails(dray_buffer_alloc(*state, MIB, &options, &buffer),
		     -EOPNOTSUPP, "write-combined bytes of heap 1");
}

static void what_was_asked_reaches_the_module(void **state)
{
	struct dray_buffer_options options = {
		.heap = "heap1",
		.name = "photo",
		.alignment = 65536,
		.address_limit = 0xffffffff,
		.mode = DRAY_MODE_COHERENT,
		.flags = DRAY_ALLOC_TOP,
	};
	struct dray_buffer *buffer;

	assert_works(dray_buffer_alloc(*state, 100, &options, &buffer));
	assert_int_equal(module.alloc.size, sysconf(_SC_PAGESIZE));
	assert_int_equal(module.alloc.alignment, 65536);
	assert_int_equal(module.alloc.address_limit, 0xffffffff);
	assert_int_equal(module.alloc.heap, 1);
	assert_int_equal(module.alloc.mode, DRAY_MODE_COHERENT);
	assert_int_equal(module.alloc.flags, DRAY_ALLOC_TOP);
	assert_string_equal(module.alloc.name, "photo");
	assert_int_equal(dray_buffer_id(buffer), 4711);
	dray_buffer_unref(buffer);

	assert_works(dray_buffer_alloc(*state, 100, NULL, &buffer));
	assert_int_equal(module.alloc.heap, DRAY_HEAP_ANY);
	dray_buffer_unref(buffer);
}

static void an_unknown_heap_is_answered_with_those_there_are(void **state)
{
	struct dray_buffer_options options = { .heap = "cma" };
	struct dray_buffer *buffer;

	assert_fails(dray_buffer_alloc(*state, 1, &options, &buffer), -EINVAL,
		     "no heap \"cma\" on dray7, which has: heap0, heap1");
	fail_with(DRAY_IOC_HEAP_INFO, ENODEV, 0, 0);
	assert_fails(dray_buffer_alloc(*state, 1, &options, &buffer), -ENODEV,
		     "HEAP_INFO of heap 0");
}

static void a_buffer_that_cannot_be_mapped_is_closed(void **state)
{
	struct dray_buffer *buffer;
	int before = open_descriptors();

	module.mmap_fails = true;
	assert_fails(dray_buffer_alloc(*state, MIB, NULL, &buffer), -EAGAIN,
		     "mapping a buffer of 1048576 bytes");
	assert_int_equal(open_descriptors(), before);
}

static void questions_that_fail_name_the_call(void **state)
{
	struct dray_channel_info channel;
	struct dray_buffer_info info;
	struct dray_heap_info heap;
	struct dray_info node;
	size_t count;

	fail_with(DRAY_IOC_INFO, ENODEV, 0, 0);
	assert_fails(dray_node_info(*state, &node, sizeof(node)), -ENODEV,
		     "INFO of dray7");
	fail_with(DRAY_IOC_HEAP_INFO, EIO, 0, 0);
	assert_fails(dray_node_heap(*state, 1, &heap, sizeof(heap)), -EIO,
		     "heap 1 of dray7");
	fail_with(DRAY_IOC_CHANNEL_INFO, EIO, 0, 0);
	assert_fails(dray_node_channel(*state, 0, &channel, sizeof(channel)),
		     -EIO, "channel 0 of dray7");
	fail_with(DRAY_IOC_LIST, EFAULT, 0, 0);
	assert_fails(dray_node_list(*state, NULL, 0, &count), -EFAULT,
		     "LIST of dray7");
	fail_with(DRAY_IOC_BUFFER_INFO, EPERM, 0, 0);
	assert_fails(dray_node_buffer_info(*state, 9, &info, sizeof(info)),
		     -EPERM, "BUFFER_INFO of 9");
	fail_with(DRAY_IOC_BUFFER_INFO, ENOENT, 0, 0);
	assert_fails(dray_node_buffer_info(*state, 9, &info, sizeof(info)),
		     -ENOENT, "no buffer 9 to be seen on dray7");
}

static void reclaim_asks_the_module_and_tells_what_was_freed(void **state)
{
	uint32_t count;
	uint64_t bytes;

	assert_works(dray_node_reclaim(*state, 17, &count, &bytes));
	assert_int_equal(module.reclaim.id, 17);
	assert_int_equal(count, 2);
	assert_int_equal(bytes, 3 * MIB);
	fail_with(DRAY_IOC_RECLAIM, ENOENT, 0, 0);
	assert_fails(dray_node_reclaim(*state, 17, &count, &bytes), -ENOENT,
		     "no buffer 17 is held");
	assert_int_equal(count, 0);
	fail_with(DRAY_IOC_RECLAIM, EPERM, DRAY_REASON_PERMISSION, 0);
	assert_fails(dray_node_reclaim(*state, 0, &count, &bytes), -EPERM,
		     "does not have the right");
}

static void regions_reach_the_module_as_they_are(void **state)
{
	struct dray_buffer *buffer;
	struct dray_region regions[40];
	uint32_t i;

	assert_works(dray_buffer_alloc(*state, MIB, NULL, &buffer));
	for (i = 0; i < 40; i++)
		regions[i] =
			(struct dray_region){ buffer, 100 * i, 10, 20, 1 + i };
	assert_works(dray_node_sync(*state, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
				    regions, 40));
	assert_int_equal(module.syncs, 1);
	assert_int_equal(module.sync.target, DRAY_TARGET_NODE);
	assert_int_equal(module.sync.owner, DRAY_SYNC_FOR_CPU);
	assert_int_equal(module.sync.direction, DRAY_FROM_DEVICE);
	assert_int_equal(module.sync.count, 40);
	for (i = 0; i < 40; i++) {
		assert_int_equal(module.ranges[i].fd,
				 dray_buffer_descriptor(buffer));
		assert_int_equal(module.ranges[i].offset, 100 * i);
		assert_int_equal(module.ranges[i].width, 10);
		assert_int_equal(module.ranges[i].pitch, 20);
		assert_int_equal(module.ranges[i].rows, 1 + i);
	}
	module.calloc_fails = true;
	assert_fails(dray_node_sync(*state, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
				    regions, 40),
		     -ENOMEM, "40 regions");
	module.calloc_fails = false;
	fail_with(DRAY_IOC_SYNC, EINVAL, DRAY_REASON_RANGE, 4096);
	assert_fails(dray_node_sync_target(*state, 0, DRAY_SYNC_FOR_CPU,
					   DRAY_FROM_DEVICE, regions, 3),
		     -EINVAL, "which has 4096 bytes");
	dray_buffer_unref(buffer);
}

static void buffers_that_are_not_cached_are_not_synced(void **state)
{
	struct dray_buffer_options options = { .mode = DRAY_MODE_COHERENT };
	struct dray_buffer *cached, *coherent;
	struct dray_region regions[2] = { { .width = 64, .rows = 1 },
					  { .width = 64, .rows = 1 } };

	assert_works(dray_buffer_alloc(*state, MIB, NULL, &cached));
	assert_works(dray_buffer_alloc(*state, MIB, &options, &coherent));
	regions[0].buffer = coherent;
	regions[1].buffer = coherent;
	assert_works(dray_node_sync(*state, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
				    regions, 2));
	assert_int_equal(module.syncs, 0);
	regions[1].buffer = cached;
	assert_works(dray_node_sync(*state, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
				    regions, 2));
	assert_int_equal(module.syncs, 1);
	dray_buffer_unref(coherent);
	dray_buffer_unref(cached);
}

static void a_node_that_needs_no_sync_is_not_called(void **state)
{
	struct dray_region region;
	struct dray_node *node;
	struct dray_buffer *buffer;

	assert_true(dray_node_needs_sync(*state));
	module.sync_flags = DRAY_SYNC_NOT_NEEDED;
	assert_works(dray_node_open("kernel:dray7", &node));
	assert_false(dray_node_needs_sync(node));
	assert_works(dray_buffer_alloc(node, MIB, NULL, &buffer));
	region = (struct dray_region){ buffer, 0, 1, 0, 1 };
	assert_works(dray_node_sync(node, DRAY_SYNC_FOR_CPU, DRAY_FROM_DEVICE,
				    &region, 1));
	assert_int_equal(module.syncs, 0);
	/* Its channels are devices of their own. */
	assert_works(dray_node_sync_target(node, 0, DRAY_SYNC_FOR_CPU,
					   DRAY_FROM_DEVICE, &region, 1));
	assert_int_equal(module.syncs, 1);
	dray_buffer_unref(buffer);
	dray_node_unref(node);

	/* One that does not say is taken to need it. */
	fail_with(DRAY_IOC_SYNC, EIO, 0, 0);
	assert_works(dray_node_open("kernel:dray7", &node));
	assert_true(dray_node_needs_sync(node));
	dray_node_unref(node);
}

static void addresses_are_asked_for_the_range(void **state)
{
	struct dray_segment segments[2];
	struct dray_buffer *buffer;
	size_t count;

	assert_works(dray_buffer_alloc(*state, MIB, NULL, &buffer));
	assert_works(
		dray_buffer_addresses(buffer, 4096, 0, segments, 2, &count));
	assert_int_equal(count, 3);
	assert_int_equal(module.address.offset, 4096);
	assert_int_equal(module.address.length, MIB - 4096);
	assert_int_equal(module.address.room, 2);
	assert_true(dray_buffer_exposed(buffer));
	fail_with(DRAY_IOC_ADDRESS, EPERM, DRAY_REASON_PERMISSION, 0);
	assert_fails(dray_buffer_addresses(buffer, 0, 1, segments, 2, &count),
		     -EPERM, "does not have the right");
	dray_buffer_unref(buffer);
}

static void an_imported_buffer_is_asked_for_its_id(void **state)
{
	struct dray_buffer *buffer;
	struct stat status;
	int fd = memfd_create("theirs", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, 8192), 0);
	assert_int_equal(fstat(fd, &status), 0);
	assert_works(dray_buffer_import(*state, fd, &buffer));
	assert_int_equal(dray_buffer_id(buffer), 4711);
	assert_int_equal(dray_buffer_size(buffer), 8192);
	assert_true(dray_buffer_exposed(buffer));
	dray_buffer_unref(buffer);

	/* Another driver's: its inode, where no id of the module can be. */
	fail_with(DRAY_IOC_BUFFER_INFO, EINVAL, DRAY_REASON_FOREIGN, 0);
	assert_works(dray_buffer_import(*state, fd, &buffer));
	assert_int_equal(dray_buffer_id(buffer),
			 (uint64_t)status.st_ino | (uint64_t)1 << 63);
	dray_buffer_unref(buffer);

	module.mmap_fails = true;
	assert_int_equal(dray_buffer_import(*state, fd, &buffer), -EAGAIN);
	module.mmap_fails = false;
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_fails(dray_buffer_import(*state, fd, &buffer), -EINVAL,
		     "has 100 bytes");
	close(fd);
}

static void what_is_no_dma_buf_is_not_imported(void **state)
{
	struct dray_buffer *buffer;
	int fd = memfd_create("theirs", MFD_CLOEXEC), before;

	assert_int_equal(ftruncate(fd, 8192), 0);
	before = open_descriptors();
	module.dup_fails = true;
	assert_fails(dray_buffer_import(*state, fd, &buffer), -EMFILE,
		     "duplicating descriptor");
	module.is_dma_buf = false;
	assert_fails(dray_buffer_import(*state, fd, &buffer), -EINVAL,
		     "is no dma-buf");
	assert_int_equal(open_descriptors(), before);
	close(fd);
	assert_fails(dray_buffer_import(*state, fd, &buffer), -EBADF,
		     "descriptor");
}

static void nodes_are_named_in_the_order_of_their_numbers(void **state)
{
	static const char *const dev[] = {
		"dray10", "tty",    "dray2",	      "dray",  "draya",
		"dray0x", "dray-1", "dray1234567890", "dray1", NULL
	};
	char names[3][DRAY_NAME_LEN];
	struct dray_node *node;
	size_t count;

	(void)state;
	module.nodes = dev;
	assert_works(dray_node_names(names, 3, &count));
	assert_int_equal(count, 3);
	assert_string_equal(names[0], "dray1");
	assert_string_equal(names[1], "dray2");
	assert_string_equal(names[2], "dray10");
	names[1][0] = 'x';
	assert_works(dray_node_names(names, 1, &count));
	assert_int_equal(count, 3);
	assert_int_equal(names[1][0], 'x');

	assert_works(dray_node_open("kernel", &node));
	assert_string_equal(module.opened, "/dev/dray1");
	dray_node_unref(node);
	unsetenv("DRAY_BACKEND");
	assert_works(dray_node_open(NULL, &node));
	assert_string_equal(dray_node_backend(node), "kernel");
	dray_node_unref(node);
	/* One that is there and may not be used is never replaced unseen. */
	module.open_error = EACCES;
	assert_fails(dray_node_open(NULL, &node), -EACCES, "/dev/dray1");

	module.nodes = NULL;
	assert_fails(dray_node_names(names, 1, &count), -EMFILE, "/dev: ");
}

static struct dray_pool *pool_on(struct dray_node *node)
{
	struct dray_pool *pool = NULL;

	assert_works(dray_pool_create(node, NULL, &pool));
	return pool;
}

static struct dray_pool_stats stats_of(struct dray_pool *pool)
{
	struct dray_pool_stats stats;

	assert_works(dray_pool_stats(pool, &stats, sizeof(stats)));
	return stats;
}

static void granules_are_what_a_node_that_is_not_coherent_needs(void **state)
{
	struct dray_pool *pool = pool_on(*state);
	void *block = dray_pool_alloc(pool, 1, 0);

	assert_int_equal(dray_usable_size(block), 128);
	dray_pool_free(pool, block);
	dray_pool_close(pool);
}

static void a_pool_doubles_and_gives_large_blocks_their_own(void **state)
{
	struct dray_pool *pool = pool_on(*state);
	void *small[40], *large;
	int i;

	assert_int_equal(stats_of(pool).reserved, 4 * MIB);
	for (i = 0; i < 40; i++) {
		small[i] = dray_pool_alloc(pool, MIB / 2, 0);
		assert_non_null(small[i]);
	}
	/* 4, 4, 8 and 16 MiB. */
	assert_int_equal(stats_of(pool).regions, 4);
	assert_int_equal(stats_of(pool).reserved, 32 * MIB);
	large = dray_pool_alloc(pool, 20 * MIB + 1, 0);
	assert_int_equal(module.alloc.size,
			 20 * MIB + (uint64_t)sysconf(_SC_PAGESIZE));
	dray_pool_free(pool, large);
	/* As much as half of the pool stays. */
	assert_int_equal(stats_of(pool).regions, 5);
	for (i = 0; i < 40; i++)
		dray_pool_free(pool, small[i]);
	assert_true(stats_of(pool).reserved <= 20 * MIB);
	dray_pool_close(pool);
}

static void what_is_kept_goes_back_before_a_pool_gives_up(void **state)
{
	struct dray_pool *pool = pool_on(*state);
	void *first = dray_pool_alloc(pool, 3 * MIB, 0);
	void *large = dray_pool_alloc(pool, 6 * MIB, 0);
	int before;

	dray_pool_free(pool, large);
	assert_true(stats_of(pool).reserved >= 10 * MIB);
	before = open_descriptors();
	fail_with(DRAY_IOC_ALLOC, ENOMEM, DRAY_REASON_FULL, 4096);
	errno = 0;
	assert_null(dray_pool_alloc(pool, 8 * MIB, 0));
	assert_int_equal(errno, ENOMEM);
	assert_non_null(strstr(dray_last_error(), "4096 bytes are free"));
	assert_int_equal(stats_of(pool).reserved, 4 * MIB);
	assert_int_equal(open_descriptors(), before - 1);
	/* Smaller than the next region would be, and still not to be had. */
	assert_null(dray_pool_alloc(pool, MIB + 1, 65536));
	fail_with(0, 0, 0, 0);
	large = dray_pool_alloc(pool, 8 * MIB, 1 << 20);
	assert_non_null(large);
	assert_int_equal(module.alloc.alignment, 1 << 20);
	dray_pool_free(pool, large);
	dray_pool_free(pool, first);
	dray_pool_close(pool);
}

static void a_node_that_is_gone_is_not_asked_again(void **state)
{
	struct dray_pool *pool = pool_on(*state);

	fail_with(DRAY_IOC_ALLOC, ENODEV, 0, 0);
	module.calls = 0;
	assert_null(dray_pool_alloc(pool, 64 * MIB, 1 << 20));
	assert_int_equal(module.calls, 1);
	assert_non_null(strstr(dray_last_error(), strerror(ENODEV)));
	dray_pool_close(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define FACT(name) \
	cmocka_unit_test_setup_teardown(name, with_node, without_node)
		FACT(a_node_that_may_not_be_opened_is_eacces),
		FACT(a_module_of_another_version_is_refused),
		FACT(a_signal_does_not_end_a_call),
		FACT(a_signal_ends_a_submission),
		FACT(a_refused_submission_says_why),
		FACT(a_full_heap_is_enomem_with_both_numbers),
		FACT(a_mode_that_a_heap_lacks_is_not_supported),
		FACT(what_was_asked_reaches_the_module),
		FACT(an_unknown_heap_is_answered_with_those_there_are),
		FACT(a_buffer_that_cannot_be_mapped_is_closed),
		FACT(questions_that_fail_name_the_call),
		FACT(reclaim_asks_the_module_and_tells_what_was_freed),
		FACT(regions_reach_the_module_as_they_are),
		FACT(buffers_that_are_not_cached_are_not_synced),
		FACT(a_node_that_needs_no_sync_is_not_called),
		FACT(addresses_are_asked_for_the_range),
		FACT(an_imported_buffer_is_asked_for_its_id),
		FACT(what_is_no_dma_buf_is_not_imported),
		FACT(nodes_are_named_in_the_order_of_their_numbers),
		FACT(granules_are_what_a_node_that_is_not_coherent_needs),
		FACT(a_pool_doubles_and_gives_large_blocks_their_own),
		FACT(what_is_kept_goes_back_before_a_pool_gives_up),
		FACT(a_node_that_is_gone_is_not_asked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
