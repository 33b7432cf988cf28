// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Steps that make, map and ask about the buffers of this process.
 */
#include "../selftests/process.h"
#include "scene.h"
#include "step.h"

int run_open(void)
{
	scene.other = node_open();
	return scene.other < 0 ? scene.other : 0;
}

/* Nobody else of this user has the node open. */
int prepare_closed(void)
{
	close_one(&scene.node);
	return 0;
}

int run_open_first(void)
{
	scene.node = node_open();
	return scene.node < 0 ? scene.node : 0;
}

void undo_open_first(void)
{
	if (scene.node < 0)
		scene.node = node_open();
}

/*
 * Which mode a heap takes is asked before, where no question fails.  The account
 * of the last buffer is kept, so the last one is of another heap: then this one
 * wants an account of its own.
 */
int prepare_mode(void)
{
	struct buffer other = { .fd = -1 };
	struct dray_heap_info heap;
	int ret = node_heap(scene.node, scenario->heap, &heap);

	if (ret)
		return ret;
	scene.mode = heap_usual_mode(&heap);
	scene.type = heap.type;
	ret = buffer_allocate(scene.node, !scenario->heap, SIZE, &other);
	buffer_close(&other);
	return ret;
}

int run_alloc(void)
{
	struct dray_alloc alloc = { .size = SIZE,
				    .heap = scenario->heap,
				    .mode = scene.mode,
				    .name = "named" };
	int ret = node_call(scene.node, DRAY_IOC_ALLOC, &alloc);

	scene.alloc = alloc;
	if (!ret)
		scene.src.fd = alloc.fd;
	return ret;
}

/* The largest piece that the page allocator has, of whatever kind; 0: unknown. */
static uint64_t largest_free_piece(void)
{
	FILE *file = fopen("/proc/buddyinfo", "re");
	unsigned long count;
	char line[512], *at;
	int order, largest = -1, length;

	while (file && fgets(line, sizeof(line), file)) {
		at = strstr(line, "zone");
		/* The zone's name, then how many pieces there are of each order. */
		if (!at || sscanf(at, "zone %*s%n", &length) < 0)
			continue;
		at += length;
		for (order = 0; sscanf(at, "%lu%n", &count, &length) == 1;
		     order++, at += length)
			if (count && order > largest)
				largest = order;
	}
	if (file)
		fclose(file);
	return largest < 0 ? 0 : (uint64_t)sysconf(_SC_PAGESIZE) << largest;
}

/*
 * Where it was the memory itself that could not be had, of which the log has
 * nothing, the reply says how large a piece is to be had still.  Other heaps
 * than "pages" have reasons of their own.
 */
bool alloc_replied(int ret, const char *injector)
{
	const struct dray_alloc *alloc = &scene.alloc;

	if (scene.type != DRAY_HEAP_PAGES)
		return true;
	if (ret != -ENOMEM || *injector)
		return alloc->reason == DRAY_REASON_NONE;
	return alloc->reason == DRAY_REASON_FRAGMENTED &&
	       alloc->limit == largest_free_piece();
}

int run_mmap(void)
{
	void *at = mmap(FAR, SIZE, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_FIXED_NOREPLACE, scene.src.fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	scene.map = at;
	return 0;
}

/*
 * Pages of a second mapping come by faults, and want page tables first.  Not by
 * a touch: what cannot be had there is tried again for ever.
 */
int run_fault(void)
{
	void *at = mremap(scene.src.bytes, 0, SIZE,
			  MREMAP_MAYMOVE | MREMAP_FIXED, FAR);

	if (at == MAP_FAILED)
		return -errno;
	scene.map = at;
	return madvise(at, SIZE, MADV_POPULATE_READ) ? -errno : 0;
}

int run_address(void)
{
	struct dray_segment segments[4];
	struct dray_address address = {
		.fd = scene.src.fd,
		.segments = (uintptr_t)segments,
		.room = 4,
	};

	return node_call(scene.node, DRAY_IOC_ADDRESS, &address);
}

int run_sync(void)
{
	struct dray_range ranges[8];
	struct dray_sync sync = SYNC_OF(DRAY_TARGET_NODE, DRAY_SYNC_FOR_DEVICE,
					DRAY_BIDIRECTIONAL, ranges,
					sizeof(ranges) / sizeof(ranges[0]));

	for (unsigned int i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		ranges[i] = (struct dray_range){
			.fd = scene.src.fd,
			.width = 64,
			.pitch = 4096,
			.rows = 16,
		};
	return node_call(scene.node, DRAY_IOC_SYNC, &sync);
}

int run_cpu_access(void)
{
	int ret = buffer_cpu_access(scene.src.fd,
				    DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);

	return ret ? ret
		   : buffer_cpu_access(scene.src.fd,
				       DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
}

/* What is mapped by frame the kernel reads through the driver. */
int run_debugger(void)
{
	uint8_t bytes[64];
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	ssize_t ret;

	if (fd < 0)
		return -errno;
	ret = pread(fd, bytes, sizeof(bytes),
		    (off_t)(uintptr_t)scene.src.bytes);
	ret = ret == sizeof(bytes) ? 0 : ret < 0 ? -errno : -EIO;
	close(fd);
	return (int)ret;
}

/* Gets an address, and ends with it. */
static int know_address(void *unused)
{
	return prepare_unmapped() || run_address();
}

int prepare_held(void)
{
	return process_run(know_address, NULL) ? -EIO : 0;
}

int run_reclaim(void)
{
	return node_reclaim();
}

void undo_held(void)
{
	node_reclaim();
	undo_all();
}

int run_list(void)
{
	uint64_t ids[4];
	struct dray_list list = { .ids = (uintptr_t)ids, .room = 4 };

	return node_call(scene.node, DRAY_IOC_LIST, &list);
}

int run_heap_map(void)
{
	struct dray_part parts[8];
	struct dray_heap_map map = { .heap = scenario->heap,
				     .parts = (uintptr_t)parts,
				     .room = 8 };

	return node_call(scene.node, DRAY_IOC_HEAP_MAP, &map);
}

int run_questions(void)
{
	struct dray_buffer_info buffer;
	struct dray_heap_info heap;
	struct dray_info info;
	int ret = node_info(scene.node, &info);

	if (!ret)
		ret = node_heap(scene.node, 0, &heap);
	return ret ? ret : node_buffer_info(scene.node, scene.src.id, &buffer);
}

static int read_all(const char *folder, const char *file)
{
	char path[128], text[256];
	int fd, ret;

	snprintf(path, sizeof(path), "/sys/kernel/debug/dray/%s/%s", folder,
		 file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do
		ret = (int)read(fd, text, sizeof(text));
	while (ret > 0);
	ret = ret ? -errno : 0;
	close(fd);
	return ret;
}

int run_debugfs(void)
{
	const char *name = strrchr(node_path(), '/') + 1;
	int ret = read_all(name, "node");

	if (!ret)
		ret = read_all(name, "buffers");
	return ret ? ret : read_all(name, "channels");
}
