// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * xrt: BOs over a mock of XRT (mock_xrt.h); each of its functions fails once: nothing
 * is left over, and a sentence names the call.  Then the cases that no
 * emulator has: a card that gives imports no address, and the order at exit().
 */
#include <dray/array.h>

#include "buffers.h"
#include "child.h"
#include "mock_xrt.h"

#define PAGE 4096
#define SIZE 65536

static struct dray_node *node;
static struct dray_xrt_device *device;
static struct dray_buffer *buffer;

static char *shared;

/* Registered before all others, and so called after them. */
static void note_ends(void)
{
	strcpy(shared, xrt.ends);
}

static int open_all(void)
{
	struct dray_xrt_bo *bo = NULL, *part = NULL;

	STEP_EQ(0, atexit(note_ends));
	STEP_EQ(0, dray_xrt_device_open(0, &device));
	STEP_EQ(0, dray_xrt_alloc(device, SIZE, 0, 0, &bo));
	STEP_EQ(0, dray_xrt_bo_part(bo, PAGE, PAGE, &part));
	return 0;
}

static struct dray_xrt_bo *synced;
static atomic_bool syncing;

/* Goes on until exit() has begun, which the main thread calls meanwhile. */
static void sync_until_the_end(void)
{
	xrt.in_sync = NULL;
	atomic_store(&syncing, true);
	while (dray_xrt_sync(synced, DRAY_SYNC_FOR_CPU, 0, 0) != -ESHUTDOWN)
		sched_yield();
	strcat(xrt.ends, "s");
}

static void *sync_bo(void *argument)
{
	dray_xrt_sync(synced, DRAY_SYNC_FOR_CPU, 0, 0);
	return NULL;
}

static int exit_in_a_sync(void)
{
	pthread_t thread;

	STEP_EQ(0, atexit(note_ends));
	STEP_EQ(0, dray_xrt_device_open(0, &device));
	STEP_EQ(0, dray_xrt_alloc(device, SIZE, 0, 0, &synced));
	xrt.in_sync = sync_until_the_end;
	STEP_EQ(0, pthread_create(&thread, NULL, sync_bo, NULL));
	pthread_detach(thread);
	while (!atomic_load(&syncing))
		sched_yield();
	return 0;
}

static void note_release(void *owner)
{
	strcat(xrt.ends, "r");
}

/* Nested calls only ask. */
static int sync_once(void *owner, int direction, uint64_t size, uint64_t offset)
{
	if (!atomic_load(&syncing))
		sync_until_the_end();
	return 0;
}

static int exit_in_a_foreign_sync(void)
{
	struct dray_xrt_foreign foreign = {
		.size = sizeof(foreign),
		.fd = -1,
		.bytes = 1,
		.sync = sync_once,
		.release = note_release,
	};
	pthread_t thread;

	STEP_EQ(0, atexit(note_ends));
	STEP_EQ(0, dray_xrt_wrap(NULL, &foreign, &synced));
	STEP_EQ(0, pthread_create(&thread, NULL, sync_bo, NULL));
	pthread_detach(thread);
	while (!atomic_load(&syncing))
		sched_yield();
	return 0;
}

/* A child that ends by exit() after @work, and the order in which it did. */
static void exits(int (*work)(void), const char *ends)
{
	pid_t child;

	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child = fork();
	if (!child)
		exit(work());
	assert_int_equal(status_of(child), 0);
	assert_string_equal(shared, ends);
	munmap(shared, PAGE);
}

/* First, as children of a process with a device may open none. */
FACT(exit_frees_parts_before_wholes_and_devices_last)
{
	exits(open_all, "pbd");
}

FACT(exit_waits_for_a_sync_of_another_thread)
{
	exits(exit_in_a_sync, "sbd");
}

FACT(exit_waits_for_a_foreign_sync_before_its_release)
{
	exits(exit_in_a_foreign_sync, "sr");
}

static int begin(void **state)
{
	node = open_node("host:shareable");
	assert_works(dray_xrt_device_open(0, &device));
	buffer = alloc(node, SIZE);
	return 0;
}

static int end(void **state)
{
	dray_buffer_unref(buffer);
	dray_xrt_device_unref(device);
	dray_node_unref(node);
	assert_int_equal(xrt.bos, 0);
	assert_int_equal(xrt.devices, 0);
	memset(&xrt, 0, sizeof(xrt));
	return 0;
}

#define XRT_FACT(name) FACT_WITH(name, begin, end)

static int no_sync(void *owner, int direction, uint64_t size, uint64_t offset)
{
	return -ENXIO;
}

static void mark(void *owner)
{
	++*(int *)owner;
}

XRT_FACT(device_that_does_not_open_is_none)
{
	struct dray_xrt_device *other = NULL;

	assert_fails(dray_xrt_device_open(7, &other), -ENODEV,
		     "xrtDeviceOpen(7) opens no device");
	assert_null(other);
}

XRT_FACT(functions_that_fail_are_named_and_leave_nothing)
{
	int64_t shape = PAGE;
	struct dray_xrt_bo *bo = NULL, *own = NULL;
	struct dray_array *array = NULL;
	struct dray_buffer *other = NULL;
	struct mock_bo *callers;
	uint64_t offset;
	void *page = dray_buffer_data(buffer);

	assert_works(dray_xrt_alloc(device, SIZE, 0, 0, &own));
	callers = mock_alloc(NULL, PAGE, 0, 0);

#define FAILING(function, call, error)                     \
	do {                                               \
		xrt.fails = #function;                     \
		assert_fails(call, error, #function "()"); \
		xrt.fails = NULL;                          \
		assert_int_equal(xrt.bos, 2);              \
	} while (0)

	FAILING(xrtBOAlloc, dray_xrt_alloc(device, SIZE, 0, 3, &bo), -EIO);
	FAILING(xrtBOAllocUserPtr,
		dray_xrt_import_user(device, page, PAGE, NULL, &bo), -EIO);
	FAILING(xrtBOImport, dray_xrt_import_buffer(device, buffer, 0, 0, &bo),
		-EIO);
	FAILING(xrtBOSubAlloc,
		dray_xrt_import_buffer(device, buffer, PAGE, PAGE, &bo), -EIO);
	FAILING(xrtBOSubAlloc, dray_xrt_bo_part(own, PAGE, PAGE, &bo), -EIO);
	FAILING(xrtBOExport, dray_xrt_bo_buffer(own, node, &other, &offset),
		-EOPNOTSUPP);
	FAILING(xrtBOSync, dray_xrt_sync(own, DRAY_SYNC_FOR_CPU, 0, 0), -EIO);
#undef FAILING

	xrt.fails = "xrtBOSize";
	assert_fails(dray_xrt_adopt(device, callers, NULL, NULL, NULL, &bo),
		     -EINVAL, "XRT knows no BO with handle");
	xrt.fails = "xrtDeviceToXclDevice";
	assert_fails(dray_xrt_device_adopt(page, NULL, NULL, &device), -EINVAL,
		     "XRT knows no device with handle");
	xrt.fails = "xrtBOExport";
	xrt.bad_map = true;
	assert_fails(dray_xrt_bo_array(own, NULL, 0, u1, 1, &shape, NULL,
				       &array),
		     -EOPNOTSUPP, "XRT neither exports nor maps");
	xrt.fails = NULL;
	mock_free(callers);
	dray_xrt_bo_unref(own);
}

XRT_FACT(release_is_not_called_on_failure)
{
	struct dray_xrt_device *other = NULL;
	struct dray_xrt_bo *bo = NULL;
	struct mock_bo *callers = mock_alloc(NULL, PAGE, 0, 0);
	int released = 0;

	xrt.fails = "xrtBOSize";
	assert_fails(dray_xrt_adopt(device, callers, NULL, mark, &released,
				    &bo),
		     -EINVAL, "XRT knows no BO");
	xrt.fails = "xrtDeviceToXclDevice";
	assert_fails(dray_xrt_device_adopt(callers, mark, &released, &other),
		     -EINVAL, "XRT knows no device");
	assert_int_equal(released, 0);
	xrt.fails = NULL;
	mock_free(callers);
}

XRT_FACT(part_is_found_by_its_address_if_nothing_is_mapped)
{
	struct mock_bo *root = mock_alloc(NULL, SIZE, 0, 0);
	struct mock_bo *part = mock_part(root, PAGE, 2 * PAGE);
	struct dray_xrt_bo *bo = NULL;
	struct dray_buffer *memory = NULL;
	uint64_t offset = 0;

	xrt.bad_map = true;
	assert_works(dray_xrt_adopt(device, part, root, NULL, NULL, &bo));
	assert_works(dray_xrt_bo_buffer(bo, node, &memory, &offset));
	assert_int_equal(offset, 2 * PAGE);
	dray_buffer_unref(memory);
	dray_xrt_bo_unref(bo);
	xrt.fails = "xrtBOAddress";
	assert_fails(dray_xrt_adopt(device, part, root, NULL, NULL, &bo),
		     -EINVAL, "neither mappings nor addresses");
	xrt.fails = NULL;
	mock_free(part);
	mock_free(root);
}

XRT_FACT(import_on_a_card_is_synced_by_dray)
{
	struct dray_xrt_bo *bo = NULL;
	uint64_t address;

	xrt.no_address = true;
	assert_works(dray_xrt_import_buffer(device, buffer, 0, 0, &bo));
	assert_int_equal(dray_xrt_side(bo), DRAY_XRT_SIDE_DRAY);
	assert_works(dray_xrt_sync(bo, DRAY_SYNC_FOR_DEVICE, 0, 0));
	assert_int_equal(xrt.syncs, 0);
	assert_fails(dray_xrt_bo_address(bo, &address), -EOPNOTSUPP,
		     "xrtBOCopy()");
	dray_xrt_bo_unref(bo);
}

XRT_FACT(sync_has_the_direction_and_bytes_asked_for)
{
	struct dray_xrt_bo *bo = NULL;

	assert_works(
		dray_xrt_import_buffer(device, buffer, PAGE, SIZE / 2, &bo));
	assert_works(dray_xrt_sync(bo, DRAY_SYNC_FOR_DEVICE, 100, 28));
	assert_int_equal(xrt.direction, 0);
	assert_int_equal(xrt.sync_offset, 100);
	assert_int_equal(xrt.sync_size, 28);
	assert_works(dray_xrt_sync(bo, DRAY_SYNC_FOR_CPU, PAGE, 0));
	assert_int_equal(xrt.direction, 1);
	assert_int_equal(xrt.sync_offset, PAGE);
	assert_int_equal(xrt.sync_size, SIZE / 2 - PAGE);
	dray_xrt_bo_unref(bo);
}

XRT_FACT(handles_of_one_device_share_an_import)
{
	struct dray_xrt_device *again = NULL;
	struct dray_xrt_bo *first = NULL, *second = NULL;

	assert_works(dray_xrt_device_open(0, &again));
	assert_works(dray_xrt_import_buffer(device, buffer, 0, 0, &first));
	assert_works(dray_xrt_import_buffer(again, buffer, 0, 0, &second));
	assert_int_equal(xrt.imports, 1);
	dray_xrt_device_unref(again);
	dray_xrt_bo_unref(first);
	assert_int_equal(xrt.bos, 1);
	dray_xrt_bo_unref(second);
	assert_int_equal(xrt.bos, 0);
}

XRT_FACT(import_is_shared_though_the_memory_is_a_foreign_bo_too)
{
	struct dray_xrt_foreign foreign = {
		.size = sizeof(foreign),
		.fd = dray_buffer_fd(buffer),
		.bytes = SIZE,
		.sync = no_sync,
	};
	struct dray_xrt_bo *first = NULL, *second = NULL, *other = NULL;

	assert_works(dray_xrt_import_buffer(device, buffer, 0, 0, &first));
	assert_works(dray_xrt_wrap(NULL, &foreign, &other));
	assert_works(dray_xrt_import_buffer(device, buffer, 0, 0, &second));
	assert_int_equal(xrt.imports, 1);
	dray_xrt_bo_unref(first);
	dray_xrt_bo_unref(second);
	assert_fails(dray_xrt_import_buffer(device, buffer, 0, 0, &first),
		     -EBUSY, "is a BO of dray_xrt_wrap() already");
	dray_xrt_bo_unref(other);
}

XRT_FACT(file_of_another_size_than_pages_does_not_come_to_the_kernel)
{
	int fd = memfd_create("odd", MFD_CLOEXEC);
	struct dray_xrt_foreign foreign = {
		.size = sizeof(foreign),
		.fd = fd,
		.bytes = 100,
		.sync = no_sync,
	};
	struct dray_xrt_bo *bo = NULL;

	assert_int_equal(ftruncate(fd, PAGE + 100), 0);
	assert_fails(dray_xrt_wrap(device, &foreign, &bo), -EINVAL,
		     "4196 bytes, not a multiple of the page size");
	close(fd);
}

XRT_FACT(foreign_bos_that_make_no_sense_are_refused)
{
	struct {
		struct dray_xrt_foreign known;
		uint64_t more;
	} newer = { .known = { .size = sizeof(newer),
			       .fd = -1,
			       .bytes = 1,
			       .sync = no_sync },
		    .more = 1 };
	int fd = dray_buffer_fd(buffer);
	const struct {
		struct dray_xrt_foreign foreign;
		const char *says;
	} bad[] = {
#define FOREIGN(...) { .size = sizeof(struct dray_xrt_foreign), __VA_ARGS__ }
		{ { .size = 8 }, "of 8 bytes, at least" },
		{ FOREIGN(.fd = -1, .bytes = 1), "without sync()" },
		{ FOREIGN(.fd = -1, .sync = no_sync), "of 0 bytes" },
		{ FOREIGN(.fd = fd, .bytes = SIZE + 1, .sync = no_sync),
		  "leave a dma-buf of 65536" },
		{ FOREIGN(.fd = fd, .bytes = 1, .offset = SIZE,
			  .sync = no_sync),
		  "leave a dma-buf of 65536" },
		{ FOREIGN(.fd = fd, .bytes = UINT64_MAX, .offset = UINT64_MAX,
			  .sync = no_sync),
		  "leave a dma-buf of 65536" },
	};
	struct dray_xrt_bo *bo = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_fails(dray_xrt_wrap(device, &bad[i].foreign, &bo),
			     -EINVAL, bad[i].says);
	assert_fails(dray_xrt_wrap(NULL, &newer.known, &bo), -E2BIG,
		     "is not 0, this library knows");
	newer.more = 0;
	newer.known.size = SIZE_MAX;
	assert_fails(dray_xrt_wrap(NULL, &newer.known, &bo), -E2BIG,
		     "bytes, at most 4096");
}

XRT_FACT(file_descriptor_that_is_not_open_is_refused)
{
	struct dray_xrt_foreign foreign = {
		.size = sizeof(foreign), .fd = 9999, .bytes = 1, .sync = no_sync
	};
	struct dray_xrt_bo *bo = NULL;

	assert_fails(dray_xrt_wrap(device, &foreign, &bo), -EBADF,
		     "file descriptor 9999");
}

XRT_FACT(foreign_bo_without_a_dma_buf_can_only_sync)
{
	struct dray_xrt_foreign foreign = {
		.size = sizeof(foreign),
		.fd = -1,
		.bytes = 100,
		.address = NO_ADDRESS,
		.sync = no_sync,
		.release = mark,
	};
	int released = 0;
	struct dray_xrt_bo *bo = NULL, *part = NULL;
	struct dray_buffer *memory = NULL;
	struct dray_array *array = NULL;
	uint64_t offset;

	foreign.owner = &released;
	assert_works(dray_xrt_wrap(NULL, &foreign, &bo));
	assert_null(dray_xrt_bo_handle(bo));
	assert_null(dray_xrt_bo_device(bo));
	assert_int_equal(dray_xrt_sync(bo, DRAY_SYNC_FOR_CPU, 0, 0), -ENXIO);
	assert_fails(dray_xrt_bo_buffer(bo, node, &memory, &offset),
		     -EOPNOTSUPP, "without a dma-buf");
	assert_fails(dray_xrt_bo_array(bo, NULL, 0, u1, 1, DIMS(100), NULL,
				       &array),
		     -EOPNOTSUPP, "neither exports nor maps");
	assert_fails(dray_xrt_bo_part(bo, 1, 2, &part), -EOPNOTSUPP,
		     "has no parts");
	dray_xrt_bo_unref(bo);
	assert_int_equal(released, 1);
}

XRT_FACT(arrays_outside_a_bo_are_refused)
{
	struct dray_xrt_bo *bo = NULL;
	struct dray_array *array = NULL;
	int64_t back = -1;

	assert_works(dray_xrt_import_buffer(device, buffer, PAGE, PAGE, &bo));
	assert_fails(dray_xrt_bo_array(bo, NULL, PAGE + 1, u1, 0, NULL, NULL,
				       &array),
		     -EINVAL, "offset 4097 in a BO of 4096");
	assert_int_equal(dray_xrt_bo_array(bo, NULL, 0, u1, 1, DIMS(PAGE + 1),
					   NULL, &array),
			 -EINVAL);
	assert_int_equal(dray_xrt_bo_array(bo, NULL, 0, u1, 1, DIMS(2), &back,
					   &array),
			 -EINVAL);
	assert_int_equal(dray_xrt_bo_array(bo, NULL, 0, u1, 1, DIMS(-1), NULL,
					   &array),
			 -EINVAL);
	assert_null(array);
	assert_works(dray_xrt_bo_array(bo, NULL, PAGE - 1, u1, 1, DIMS(1), NULL,
				       &array));
	dray_array_unref(array);
	dray_xrt_bo_unref(bo);
}

XRT_FACT(array_without_elements_or_dray_memory_is_no_bo)
{
	struct dray_array *array = NULL;
	struct dray_xrt_bo *bo = NULL;
	struct dray_view view;
	static char bytes[4];

	assert_works(dray_array_from_buffer(buffer, 0, u1, 1, DIMS(0), NULL,
					    &array));
	assert_fails(dray_xrt_import_array(device, array, &bo), -EINVAL,
		     "without elements");
	dray_array_unref(array);
	assert_works(dray_view_init(&view, bytes, u1, 1, DIMS(4), NULL));
	assert_works(dray_array_from_pointer(&view, NULL, NULL, &array));
	assert_fails(dray_xrt_import_array(device, array, &bo), -EINVAL,
		     "lies in no buffer of dray");
	dray_array_unref(array);
}
