/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * memory: where memory comes from.
 *
 * A node is a DMA-capable device as dray sees it: /dev/drayN of the kernel
 * module, or the host itself if no module is loaded.  A buffer is a
 * contiguous piece of memory of a node, mapped into this process.  Both are
 * counted, and every function here may be called from any thread.
 *
 *	struct dray_buffer *buffer;
 *	struct dray_node *node;
 *
 *	ret = dray_node_open(NULL, &node);
 *	if (ret)
 *		return ret;
 *	ret = dray_buffer_alloc(node, 1 << 20, NULL, &buffer);
 *	if (!ret) {
 *		memset(dray_buffer_data(buffer), 1, dray_buffer_size(buffer));
 *		dray_buffer_unref(buffer);
 *	}
 *	dray_node_unref(node);
 *
 * The structures and enumerations named struct dray_info, enum
 * dray_direction and so on are those of the kernel interface, on every back
 * end; <linux/dray.h> documents each field.  Functions that fill such a structure take
 * its size, as a call of the module does: it has no member for it.
 */
#ifndef DRAY_MEMORY_H
#define DRAY_MEMORY_H

#include <stdbool.h>
#include <linux/dray.h>
#include <dray/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dray_node;
struct dray_buffer;

/**
 * The kind of a piece of memory, as the node and the CPU see it: see <dray/kind.h>.  A
 * caller treats an unknown value as DRAY_MEMORY_UNKNOWN.
 */
enum dray_memory_kind {
	DRAY_MEMORY_UNKNOWN = 0,	/* nothing is known of it */
	DRAY_MEMORY_HOST = 1,		/* the CPU's, and may be paged out */
	DRAY_MEMORY_PINNED = 2,		/* the CPU's, pinned in place */
	DRAY_MEMORY_MAPPED = 3,		/* pinned, and the device reaches it */
	DRAY_MEMORY_SHARED = 4,		/* made for both ("managed") */
	DRAY_MEMORY_DEVICE = 5,		/* the CPU does not reach it */
};

/**
 * Opens a node.
 *
 * @spec: the node:
 *	NULL		the environment's DRAY_BACKEND, else
 *			the first node of the kernel module, else the host
 *	"kernel"	the first node of the kernel module
 *	"kernel:NAME"	that one, as "kernel:dray1"
 *	"host"		private memory of this process (anonymous), also
 *			"host:private"
 *	"host:shareable" memory that can be passed to other processes (memfd)
 *	"shareable"	as NULL, but memory of the host is "host:shareable"
 * @out: the node, with a reference, which the caller drops by dray_node_unref()
 *
 * With NULL only a missing module leads to the host; a node that cannot be
 * opened is an error, and so is a module without a node in /dev.
 *
 * Errors: -ENODEV (no module loaded, no such node), -EACCES (no permission),
 * -EINVAL (the spec is none of the above, or its NAME is invalid),
 * -EPROTO (a module with another version of the interface), -ENOMEM, and the
 * errors of open().
 */
DRAY_API int dray_node_open(const char *spec, struct dray_node **out);
/** Adds a reference, which the caller drops by dray_node_unref(); returns @node. */
DRAY_API struct dray_node *dray_node_ref(struct dray_node *node);
/** Closes the node with the last reference.  NULL is ignored. */
DRAY_API void dray_node_unref(struct dray_node *node);

/**
 * The names of the nodes that the kernel module offers ("dray0", ...), in the
 * order of their numbers.  Writes at most @room names and always the number
 * there are to @count; 0 if the module is loaded and has no node.
 *
 * Errors: -ENODEV (the module is not loaded), and errors of reading /dev.
 */
DRAY_API int dray_node_names(char names[][DRAY_NAME_LEN], size_t room,
			     size_t *count);

/** Returns "kernel" or "host"; a constant. */
DRAY_API const char *dray_node_backend(const struct dray_node *node);

/**
 * Returns whether memory of the node can be passed to other processes: true for
 * the kernel module's and for "host:shareable".  Huge pages cannot be, there
 * either.
 */
DRAY_API bool dray_node_shareable(const struct dray_node *node);

/*
 * Describe a node, heap, channel or buffer as it is now.  On the kernel back end
 * each asks the module: beside the errors below, -ENODEV when the device is gone.
 */

/** Fills @size bytes of @info.  Channels of the host are its streams. */
DRAY_API int dray_node_info(struct dray_node *node, struct dray_info *info,
			    size_t size);

/**
 * Describes heap @index of the node.
 * Errors: -EINVAL (beyond the last).
 */
DRAY_API int dray_node_heap(struct dray_node *node, uint32_t index,
			    struct dray_heap_info *info, size_t size);

/**
 * Describes channel @index of the node.
 * Errors: -EINVAL (beyond the last).
 */
DRAY_API int dray_node_channel(struct dray_node *node, uint32_t index,
			       struct dray_channel_info *info, size_t size);

/**
 * The ids of the buffers that the caller may see, at most @room of them, and
 * in @count how many there are.  On a node of the module: those of all its
 * nodes, and of attachments, which are other memory that a program has made
 * reachable for a node.  On the host: those of this process.
 */
DRAY_API int dray_node_list(struct dray_node *node, uint64_t *ids, size_t room,
			    size_t *count);

/**
 * Describes buffer or attachment @id, and says which of them it is (kind).
 * Errors: -ENOENT (the caller can see no such buffer).
 */
DRAY_API int dray_node_buffer_info(struct dray_node *node, uint64_t id,
				   struct dray_buffer_info *info, size_t size);

/**
 * Frees memory that the module holds because a process that had its address
 * has ended and a device may still use it: the memory of buffer or attachment
 * @id, or all of it if @id is 0.  By this the caller says that the hardware is
 * quiet.
 *
 * @freed: the count, attachments and bytes that were freed, on failure too;
 *	@size bytes of it are filled
 *
 * Errors: -EPERM (without CAP_SYS_RAWIO), -ENOENT (@id is not held).  The host
 * holds nothing.
 */
DRAY_API int dray_node_reclaim(struct dray_node *node, uint64_t id,
			       struct dray_reclaim *freed, size_t size);

/**
 * Tells which buffer has which part of a heap, and which parts are free: offsets,
 * never addresses.  A part of a buffer that the caller may not see has no id.
 *
 * @map: in: the heap, an alignment and an address limit of interest, and with
 *	@map->parts room for @map->room parts; out: the parts, their count, which
 *	may exceed the room, and the size of the heap, which is 0 if it has no range
 *	of its own: see struct dray_heap_map of <linux/dray.h>
 * @size: of *@map
 *
 * Errors: -EINVAL (no such heap; an alignment that is not a power of two, or above
 * the heap's), -EPERM (this address limit needs the right to addresses), -ENOMEM,
 * -EFAULT.  Then *@map is unchanged.  Memory of the host has no range.  Several
 * threads may call it at once.
 */
DRAY_API int dray_node_heap_map(struct dray_node *node,
				struct dray_heap_map *map, size_t size);

/**
 * Writes the sentence that dray_last_error() has for a reply of the kernel beside
 * errno, such as "the heap is full, 4096 bytes are free".  May be called by any
 * number of threads at once.
 *
 * @error: the negative errno of the reply
 * @reason: enum dray_reason of the reply
 * @limit: the value that came with it
 * @text: @room bytes for the sentence, which is cut if it is longer; or NULL
 *
 * Returns the length of the whole sentence in bytes, without its terminating
 * zero; 0 if the reason has none, and @text is unchanged then.
 */
DRAY_API size_t dray_reason_text(int error, uint32_t reason, uint64_t limit,
				 char *text, size_t room);

/** Requests about pages, or-ed.  -EINVAL for an unknown value. */
enum dray_pages_flags {
	/*
	 * All pages are there when the call returns, so that no first access
	 * waits for one.  The module's memory is always so.
	 */
	DRAY_PAGES_PREFAULT = 1 << 0,
	/*
	 * Huge pages of the system's default size, of those that were reserved
	 * (vm.nr_hugepages); for host:shareable.  Sizes are rounded up to them.
	 * Such memory cannot be passed to other processes: dray_ipc_export() and
	 * dray_view_send() refuse it, as dray_buffer_import() does.
	 * Without being asked, host:private has transparent huge pages, and
	 * host:shareable has them in blocks of 1 to 256 MiB of a pool
	 * (Linux 6.1), and everywhere if the system lets memory files have
	 * them (/sys/kernel/mm/transparent_hugepage/shmem_enabled: advise).
	 */
	DRAY_PAGES_HUGE = 1 << 1,
};

/**
 * As MPOL_ of <linux/mempolicy.h>; set_mempolicy(2) explains each.  -EINVAL for an unknown
 * value.
 */
enum dray_numa_policy {
	DRAY_NUMA_DEFAULT = 0,		/* as the process has it */
	DRAY_NUMA_PREFERRED = 1,	/* one node, others if it is full */
	DRAY_NUMA_BIND = 2,		/* these nodes and no others */
	DRAY_NUMA_INTERLEAVE = 3,	/* these nodes in turn */
};

/** Requests about the pages of host memory; all zero: none. */
struct dray_pages {
	uint32_t flags;		/* DRAY_PAGES_* */
	uint32_t policy;	/* enum dray_numa_policy */
	uint64_t numa_nodes;	/* a bit for each node of a policy, 0 the lowest */
};

/** How to allocate; all zero is a page-aligned cached buffer of any heap. */
struct dray_buffer_options {
	size_t size;		/* of this structure; 0: the first version's */
	const char *heap;	/* its name, NULL: the node's order */
	const char *name;	/* shown by dmactl, cut to 31 bytes, NULL: none */
	uint64_t alignment;	/* bytes, a power of two; a page or more */
	uint64_t address_limit;	/* highest address, 0: as the node reaches;
				 * without the right to addresses 2^n - 1
				 */
	/*
	 * enum dray_mode.  Memory of DRAY_MODE_DEVICE has addresses for views,
	 * but an access by the CPU is a SIGSEGV; engines and streams move it.
	 */
	uint32_t mode;
	uint32_t flags;		/* DRAY_ALLOC_* */
	struct dray_pages pages;
};

/**
 * Allocates @size bytes (rounded up to pages), zeroed and mapped.
 *
 * @options: NULL is all zero
 * @out: the buffer, with a reference
 *
 * Errors: -EINVAL (size 0 or overflowing, alignment, an unknown heap, mode,
 * flag or NUMA policy, NUMA nodes that are not there), -ENOMEM (the sentence
 * names the limit: full, fragmented, order, mask, locked memory, huge pages),
 * -EDQUOT (the heap's limit, or its limit for each user), -EPERM (an
 * address_limit that needs the right to addresses), -EMFILE and -ENFILE (no
 * file descriptor is left), -EOPNOTSUPP (a cache mode that the heap does not
 * have; the host gives cached memory for every mode; huge pages or a NUMA
 * policy for other memory than theirs), -ENODEV (the device is gone), and the
 * errors of mbind() and mmap().  May block while memory is reclaimed.
 */
DRAY_API int dray_buffer_alloc(struct dray_node *node, uint64_t size,
			       const struct dray_buffer_options *options,
			       struct dray_buffer **out);

/**
 * Maps the memory behind @fd, a buffer exported by another process (a dma-buf
 * of any driver on the kernel back end, a memfd sealed against shrinking on
 * the host).  The file descriptor is duplicated; the caller keeps its own.
 * Writable when the file descriptor is.
 *
 * Errors: -EINVAL (not such a file descriptor, a size that is not a multiple of
 * the page size), -EPERM (a memfd that may shrink, or one of MFD_HUGETLB, whose
 * pages its other holders can take away), -ENOMEM (a memfd that is longer than
 * the machine has memory, too), and the errors of dup, fstat, fstatfs and mmap.
 */
DRAY_API int dray_buffer_import(struct dray_node *node, int fd,
				struct dray_buffer **out);

/** Adds a reference, which the caller drops by dray_buffer_unref(); returns @buffer. */
DRAY_API struct dray_buffer *dray_buffer_ref(struct dray_buffer *buffer);
/** Unmaps and closes with the last reference.  NULL is ignored. */
DRAY_API void dray_buffer_unref(struct dray_buffer *buffer);

/** Returns the first byte, page-aligned; the same for the buffer's life. */
DRAY_API void *dray_buffer_data(const struct dray_buffer *buffer);
/** Returns the bytes, a multiple of the page size. */
DRAY_API uint64_t dray_buffer_size(const struct dray_buffer *buffer);
/**
 * Returns the id, unique on this node and shown by dmactl.  The id of another
 * driver's dma-buf is above 2^63 and not known to dmactl.
 */
DRAY_API uint64_t dray_buffer_id(const struct dray_buffer *buffer);
/**
 * Returns the file descriptor, borrowed: it belongs to the buffer; -1 for
 * private host memory.
 */
DRAY_API int dray_buffer_fd(const struct dray_buffer *buffer);
/** Returns the node of the buffer; borrowed. */
DRAY_API struct dray_node *dray_buffer_node(const struct dray_buffer *buffer);
/** Returns whether the mapping may be written: false for a read-only import. */
DRAY_API bool dray_buffer_writable(const struct dray_buffer *buffer);

/**
 * DMA addresses of @length bytes at @offset (0: to the end), for this node.
 * Writes at most @room segments, and the number there are to @count.
 *
 * Errors: -EPERM (this caller may not see addresses), -EINVAL (a range that
 * is empty or leaves the buffer, another driver's dma-buf), -EOPNOTSUPP (the
 * host has none), -ENODEV (the device is gone).
 */
DRAY_API int dray_buffer_addresses(struct dray_buffer *buffer, uint64_t offset,
				   uint64_t length,
				   struct dray_segment *segments, size_t room,
				   size_t *count);

/** Part of a buffer: rows pieces of width bytes, pitch bytes apart. */
struct dray_region {
	struct dray_buffer *buffer;
	uint64_t offset;	/* bytes, of the first row */
	uint64_t width;		/* bytes, > 0 */
	uint64_t pitch;		/* bytes, ignored for a single row, else >= width */
	uint64_t rows;		/* > 0 */
};

/** Returns whether dray_node_sync() ever does anything for the node. */
DRAY_API bool dray_node_needs_sync(const struct dray_node *node);

/**
 * Hands memory over between the CPU and the node: cleans or invalidates
 * exactly the lines of the regions.  One system call for up to
 * DRAY_MAX_RANGES regions, none if nothing is needed; the regions are
 * checked all the same.
 *
 * @owner: the side that reads or writes next
 * @direction: the device's transfer
 *
 * The buffers may be of any handle of the node.
 *
 * Errors: -EINVAL (a region that is empty or leaves its buffer, a buffer of
 * another node or, if there is something to do, of another driver; an
 * unknown owner or direction), -EPERM (a read-only buffer that the device
 * would write), -ENOMEM, -ENODEV (the device is gone).
 */
DRAY_API int dray_node_sync(struct dray_node *node,
			    enum dray_sync_owner owner,
			    enum dray_direction direction,
			    const struct dray_region *regions, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_MEMORY_H */
