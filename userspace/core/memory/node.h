/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Nodes and buffers for the rooms above, beside <dray/memory.h>. */
#ifndef DRAY_MEMORY_NODE_H
#define DRAY_MEMORY_NODE_H

#include <dray/memory.h>

#include "base/shared.h"

/*
 * A SUBMIT call.  @args is the kernel's structure, filled by the caller.  Its out
 * fields are valid on success; reason and limit on failure too, if the sentence
 * explains them.
 *
 * Errors: -EOPNOTSUPP (the back end has no engine), -EINTR (a signal before a
 * slot was free: nothing was submitted), -EAGAIN, and errors of the kernel.
 */
int dray_node_submit(struct dray_node *node, struct dray_submit *args);

/*
 * As dray_node_sync(), for the device of @target:  DRAY_TARGET_NODE or the
 * index of a channel.
 */
int dray_node_sync_target(struct dray_node *node, uint32_t target,
			  enum dray_sync_owner owner,
			  enum dray_direction direction,
			  const struct dray_region *regions, size_t count);

/*
 * Whether two handles are of the same device, so that each may use the memory of
 * the other.  Private and shareable memory of the host count as two devices.  If
 * its device is gone, a handle equals no other: a new device may bear its name.
 */
bool dray_node_same(struct dray_node *a, struct dray_node *b);

/*
 * The buffer's descriptor for a system call of this process.  Never to be
 * passed on: dray_buffer_fd() is for that, which remembers that others may
 * write the memory from then on.  -1 for private host memory.
 */
int dray_buffer_descriptor(const struct dray_buffer *buffer);

/* Whether the CPU can access the memory: not of DRAY_MODE_DEVICE. */
DRAY_PRIVATE bool dray_buffer_mapped(const struct dray_buffer *buffer);
/* The mode in effect.  Another driver's dma-buf counts as cached. */
enum dray_mode dray_buffer_mode(const struct dray_buffer *buffer);

/*
 * As dray_buffer_import(), if only the first @need bytes are needed.  If any
 * holder can make the file longer, that much is mapped, rounded up; else the
 * whole file.
 */
int dray_buffer_import_bytes(struct dray_node *node, int fd, uint64_t need,
			     struct dray_buffer **out);

/*
 * As dray_buffer_alloc(), with @reserve bytes of addresses to grow into, if the
 * back end can grow buffers (dray_node_grows()).
 */
int dray_buffer_alloc_growing(struct dray_node *node, uint64_t size,
			      uint64_t reserve,
			      const struct dray_buffer_options *options,
			      struct dray_buffer **out);
/* Whether buffers of the node can grow in place. */
bool dray_node_grows(const struct dray_node *node);

/* Makes the buffer @size bytes; new bytes are zero. */
int dray_buffer_grow(struct dray_buffer *buffer, uint64_t size);

/*
 * Returns pages to the system; they read as zero afterwards. -EOPNOTSUPP if the
 * back end cannot.
 */
int dray_buffer_punch(struct dray_buffer *buffer, uint64_t offset,
		      uint64_t length);

/*
 * Fetches huge pages for a range of a memfd that will soon be written; they may
 * cover bytes around it.  Other memory gets them by itself.
 */
void dray_buffer_gather(struct dray_buffer *buffer, uint64_t offset,
			uint64_t length);

/*
 * Whether other processes can get the memory at all: 0, or -EOPNOTSUPP (private
 * host memory; reserved huge pages, which no importer accepts).
 */
int dray_buffer_may_be_shared(const struct dray_buffer *buffer);

/*
 * Opens a descriptor of the buffer's memory for other processes, to be closed
 * by the caller.  With @read_only its holders can map the memory, and never
 * write it.
 *
 * On the host the first call decides if a buffer is shared for reading or for
 * writing.  A buffer that grows is shared for writing only.
 *
 * Errors: as dray_buffer_may_be_shared(), -EPERM (for writing: a buffer that is
 * read-only, or was shared so; for reading: a buffer that grows, or was shared
 * for writing), and errors of EXPORT and fcntl().
 */
int dray_buffer_share(struct dray_buffer *buffer, bool read_only, int *fd);

/*
 * @end is called with the buffer, still mapped, after its last reference is
 * dropped; the same function every time.
 */
typedef void dray_buffer_end(struct dray_buffer *buffer);
void dray_buffer_on_end(struct dray_buffer *buffer, dray_buffer_end *end);

/* Adds a reference, unless the last is gone: then false. */
bool dray_buffer_ref_alive(struct dray_buffer *buffer);

/* As in struct dray_info, which was read when the node was opened. */
const char *dray_node_name(const struct dray_node *node);

/* Nanoseconds since the buffer was made or came. */
uint64_t dray_buffer_age(const struct dray_buffer *buffer);

/* Whether anyone outside of this process may know the memory. */
bool dray_buffer_exposed(const struct dray_buffer *buffer);

/*
 * Pins memory of this process for the node's device.
 *
 * @read_only: the device only reads it
 * @fd: the attachment, to be closed at the end; -1: there is nothing to end
 *
 * Errors: -EFAULT (not all of it is memory), and errors of ATTACH.
 */
int dray_node_pin(struct dray_node *node, void *address, size_t size,
		  bool read_only, int *fd);

#endif /* DRAY_MEMORY_NODE_H */
