// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The host back end: ordinary memory, for machines without the module.
 *
 * Private memory is anonymous, in transparent huge pages if the system supports
 * them: a forked child gets its own copy, as array programs expect.  Shareable
 * memory is a memfd.  Both grow in place, and both return pages, except for
 * reserved huge pages.  The rules of memfds are in memfd.c, the choices of pages
 * in pages.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "memory/backend.h"
#include "memory/loopback.h"
#include "memory/memfd.h"
#include "memory/pages.h"
#include "memory/unlocked.h"
#include "memory/window.h"

/* The buffers of this process:  LIST on the host. */
DEFINE_FORK_LOCK(DRAY_FORK_HOST, lock);
static struct dray_buffer *buffers;
static uint64_t last_id;

static int host_info(struct dray_node *node, struct dray_info *info)
{
	*info = node->info;
	return 0;
}

static int host_open(struct dray_node *node, const char *name)
{
	struct dray_info *info = &node->info;
#ifdef _SC_LEVEL1_DCACHE_LINESIZE
	long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
#else
	long line = 0;
#endif

	if (name && strcmp(name, "shareable") && strcmp(name, "private"))
		return dray_fail(-EINVAL,
				 "\"host:%s\" is not a kind of host memory: "
				 "private or shareable",
				 name);
	node->shareable = name && !strcmp(name, "shareable");
	dray_fork_enlist(&locks);
	dray_loopback_enlist();

	info->abi_version = DRAY_ABI_VERSION;
	info->flags = DRAY_NODE_COHERENT | DRAY_NODE_VIRTUAL;
	info->dma_mask = UINT64_MAX;
	info->cache_line = line >= 16 ? (uint32_t)line : 64;
	info->dma_alignment = info->cache_line;
	info->heap_count = 1;
	info->channel_count = DRAY_LOOPBACK_CHANNELS;
	info->max_runs = DRAY_LOOPBACK_RUNS;
	info->max_bytes = DRAY_LOOPBACK_BYTES;
	info->queue_depth = DRAY_LOOPBACK_DEPTH;
	info->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	snprintf(info->name, sizeof(info->name), "host");
	snprintf(info->device, sizeof(info->device), "cpu");
	snprintf(info->version, sizeof(info->version), "%s", dray_version());
	return 0;
}

static void host_close(struct dray_node *node)
{
	(void)node;
}

static const char *host_kind(bool shareable)
{
	return shareable ? "shareable" : "private";
}

/* Bytes available without swapping. */
static uint64_t host_available(const struct sysinfo *memory)
{
	uint64_t kib;

	if (dray_pages_meminfo("MemAvailable", &kib))
		return kib << 10;
	return (uint64_t)memory->freeram * memory->mem_unit;
}

static int host_heap(struct dray_node *node, struct dray_heap_info *info)
{
	const struct dray_buffer *buffer;
	struct sysinfo memory;

	if (sysinfo(&memory))
		return dray_fail(-errno, "sysinfo: %s", strerror(errno));
	info->type = DRAY_HEAP_PAGES;
	info->flags = DRAY_HEAP_SHARED | DRAY_HEAP_PINNABLE | DRAY_HEAP_DEFAULT;
	info->total = (uint64_t)memory.totalram * memory.mem_unit;
	info->free = host_available(&memory);
	info->largest_free = info->free;
	info->largest_request = dray_window_size();
	snprintf(info->name, sizeof(info->name), "%s",
		 host_kind(node->shareable));

	pthread_mutex_lock(&lock);
	for (buffer = buffers; buffer; buffer = buffer->next) {
		if (buffer->node->shareable != node->shareable)
			continue;
		info->buffers++;
		info->used += atomic_load(&buffer->size);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

static int host_list(struct dray_node *node, uint64_t *ids, size_t room,
		     size_t *count)
{
	const struct dray_buffer *buffer;
	size_t n = 0;

	(void)node;
	pthread_mutex_lock(&lock);
	for (buffer = buffers; buffer; buffer = buffer->next, n++) {
		if (n < room)
			ids[n] = buffer->id;
	}
	pthread_mutex_unlock(&lock);
	*count = n;
	return 0;
}

static int host_buffer_info(struct dray_node *node,
			    struct dray_buffer_info *info)
{
	const struct dray_buffer *buffer;
	uint64_t now = dray_clock_now();
	bool shareable = false;

	pthread_mutex_lock(&lock);
	for (buffer = buffers; buffer; buffer = buffer->next) {
		if (buffer->id == info->id)
			break;
	}
	if (buffer) {
		shareable = buffer->node->shareable;
		info->size = atomic_load(&buffer->size);
		info->age_ns = now - buffer->created_ns;
		info->heap = shareable == node->shareable ? 0 : DRAY_HEAP_ANY;
		info->mode = buffer->mode;
		snprintf(info->name, sizeof(info->name), "%s", buffer->name);
	}
	pthread_mutex_unlock(&lock);
	if (!buffer)
		return dray_fail(-ENOENT,
				 "no buffer %" PRIu64 " in this process",
				 (uint64_t)info->id);

	info->mapped = 1;
	info->uid = getuid();
	info->pid = getpid();
	snprintf(info->comm, sizeof(info->comm), "%.*s", DRAY_COMM_LEN - 1,
		 program_invocation_short_name);
	snprintf(info->heap_name, sizeof(info->heap_name), "%s",
		 host_kind(shareable));
	return 0;
}

static bool has_huge_pages(const struct dray_buffer *buffer)
{
	return buffer->pages.flags & DRAY_PAGES_HUGE;
}

/* Maps [@from, @to) of the buffer, which the window keeps free for it. */
static int host_map(struct dray_buffer *buffer, uint64_t from, uint64_t to)
{
	int protection = PROT_READ | (buffer->writable ? PROT_WRITE : 0);
	int flags = MAP_FIXED |
		    (buffer->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
	char *start = (char *)buffer->data + from;
	size_t size = (size_t)(to - from);
	int ret;

	if (mmap(start, size, protection, flags, buffer->fd,
		 buffer->fd < 0 ? 0 : (off_t)from) == MAP_FAILED) {
		ret = dray_map_refused("host memory", size, errno);
		if (ret == -ENOMEM && has_huge_pages(buffer))
			dray_pages_no_huge(size, ret);
		goto clear;
	}
	/*
	 * A hint, so a refusal is not a failure: the system may lack huge
	 * pages, and most lack them for a memfd unless shmem_enabled allows it.
	 */
	if (size >= DRAY_PAGES_HUGE_SIZE)
		madvise(start, size, MADV_HUGEPAGE);
	ret = dray_pages_place(start, size, &buffer->pages);
	if (!ret)
		return 0;
clear:
	dray_window_clear(start, size);
	return ret;
}

static void host_enlist(struct dray_buffer *buffer)
{
	pthread_mutex_lock(&lock);
	buffer->id = ++last_id;
	buffer->next = buffers;
	buffers = buffer;
	pthread_mutex_unlock(&lock);
}

/* Reserves addresses for the buffer and maps @size bytes; closes fd if not. */
static int host_place(struct dray_buffer *buffer, uint64_t size,
		      uint64_t reserve, uint64_t alignment)
{
	DRAY_NO_CANCEL;
	int ret = dray_window_take(reserve, alignment, &buffer->data);

	if (ret)
		goto close_fd;
	ret = host_map(buffer, 0, size);
	if (ret)
		goto give;
	buffer->reserved = reserve;
	atomic_store(&buffer->size, size);
	host_enlist(buffer);
	return 0;
give:
	dray_window_give(buffer->data);
close_fd:
	if (buffer->fd >= 0)
		close(buffer->fd);
	return ret;
}

static int host_alloc(struct dray_buffer *buffer,
		      const struct dray_request *request)
{
	int ret;

	/* The CPU is coherent with itself: every mode is met by cached. */
	buffer->mode = DRAY_MODE_CACHED;
	buffer->writable = true;
	buffer->pages = request->pages;
	if (buffer->node->shareable) {
		ret = dray_memfd_make(buffer, request->size,
				      request->reserve > request->size);
		if (ret)
			return ret;
	}
	return host_place(buffer, request->size, request->reserve,
			  request->alignment);
}

static int host_import(struct dray_buffer *buffer, int fd, uint64_t need)
{
	uint64_t size;
	int ret = dray_memfd_take(buffer, fd, need, &size);

	if (ret)
		return ret;
	buffer->mode = DRAY_MODE_CACHED;
	return host_place(buffer, size, size, buffer->node->info.page_size);
}

static void host_release(struct dray_buffer *buffer)
{
	DRAY_NO_CANCEL;
	struct dray_buffer **link = &buffers;

	pthread_mutex_lock(&lock);
	while (*link != buffer)
		link = &(*link)->next;
	*link = buffer->next;
	pthread_mutex_unlock(&lock);

	dray_window_give(buffer->data);
	if (buffer->fd >= 0)
		close(buffer->fd);
}

static int host_grow(struct dray_buffer *buffer, uint64_t size)
{
	uint64_t old = atomic_load(&buffer->size);
	int ret;

	if (size <= old)
		return 0;
	ret = buffer->fd >= 0 ? dray_memfd_lengthen(buffer, size) : 0;
	if (!ret)
		ret = host_map(buffer, old, size);
	if (!ret)
		atomic_store(&buffer->size, size);
	return ret;
}

static int host_punch(struct dray_buffer *buffer, uint64_t offset,
		      uint64_t length)
{
	DRAY_NO_CANCEL;
	int ret;

	/* Others may use up the last page before the next access. */
	if (has_huge_pages(buffer))
		return dray_fail(-EOPNOTSUPP,
				 "reserved huge pages are given back with "
				 "their buffer");
	if (buffer->fd < 0)
		ret = madvise((char *)buffer->data + offset, (size_t)length,
			      MADV_DONTNEED);
	else
		ret = fallocate(buffer->fd,
				FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)offset, (off_t)length);
	if (ret)
		return dray_fail(-errno, "giving %" PRIu64 " bytes back: %s",
				 length, strerror(errno));
	return 0;
}

static void host_gather(struct dray_buffer *buffer, uint64_t offset,
			uint64_t length)
{
	uint64_t from = offset & ~(DRAY_PAGES_HUGE_SIZE - 1);
	uint64_t to = (offset + length + DRAY_PAGES_HUGE_SIZE - 1) &
		      ~(DRAY_PAGES_HUGE_SIZE - 1);

	/* Anonymous memory gets huge pages when it is touched. */
	if (buffer->fd < 0 || has_huge_pages(buffer))
		return;
	if (to > atomic_load(&buffer->size))
		to -= DRAY_PAGES_HUGE_SIZE;
	if (from < to)
		dray_pages_gather((char *)buffer->data + from, to - from);
}

static int host_addresses(struct dray_buffer *buffer, uint64_t offset,
			  uint64_t length, struct dray_segment *segments,
			  size_t room, size_t *count)
{
	(void)buffer;
	(void)offset;
	(void)length;
	(void)segments;
	(void)room;
	(void)count;
	return dray_fail(
		-EOPNOTSUPP,
		"host memory has no DMA addresses: load the dray module (modprobe dray), and make the array in memory of its node");
}

static int host_submit(struct dray_node *node, struct dray_submit *args)
{
	(void)node;
	(void)args;
	return dray_fail(-EOPNOTSUPP, "the host has no DMA engine");
}

const struct dray_backend dray_backend_host = {
	.name = "host",
	.open = host_open,
	.close = host_close,
	.info = host_info,
	.heap = host_heap,
	.channel = dray_loopback_channel,
	.list = host_list,
	.buffer_info = host_buffer_info,
	.alloc = host_alloc,
	.import = host_import,
	.release = host_release,
	.grow = host_grow,
	.punch = host_punch,
	.gather = host_gather,
	.share = dray_memfd_share,
	.expose = dray_memfd_expose,
	.addresses = host_addresses,
	.submit = host_submit,
	.ports = &dray_loopback_ports,
};
