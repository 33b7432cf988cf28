/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A back end: a table of operations for each source of memory. node_open.c and
 * buffer.c own the objects, check arguments and count references; a back end
 * does only the rest.  Every operation returns 0 or a negative errno with a
 * sentence from dray_fail().
 */
#ifndef DRAY_MEMORY_BACKEND_H
#define DRAY_MEMORY_BACKEND_H

#include <stdatomic.h>

#include "memory/node.h"
#include "memory/port.h"

struct dray_node {
	const struct dray_backend *backend;
	_Atomic uint32_t references;
	int fd;			/* kernel: /dev/drayN; host: -1 */
	bool shareable;		/* host: memfd rather than anonymous memory */
	bool needs_sync;	/* for DRAY_TARGET_NODE; asked once at open */
	struct dray_info info;	/* as it was at open */
};

struct dray_buffer {
	struct dray_node *node;	/* a reference */
	_Atomic uint32_t references;
	_Atomic bool exposed;	/* others may write it: fd or address disclosed */
	bool writable;
	int fd;			/* -1: private host memory */
	uint32_t heap;		/* index in its node */
	uint32_t mode;		/* enum dray_mode in effect */
	uint64_t id;
	void *data;		/* in the window */
	_Atomic uint64_t size;	/* bytes mapped; a growing buffer's rises */
	uint64_t reserved;	/* bytes of the window, >= size */
	uint64_t created_ns;	/* CLOCK_MONOTONIC */
	struct dray_pages pages;	/* host: of pages mapped now or later */
	struct dray_buffer *next;	/* host: the list of all buffers */
	_Atomic(dray_buffer_end *) end;	/* called before it ends; may be NULL */
	char name[DRAY_NAME_LEN];
};

/* Checked and resolved arguments of an allocation. */
struct dray_request {
	uint64_t size;		/* bytes, > 0, a multiple of the pages' size */
	uint64_t reserve;	/* bytes of the window, >= size; room to grow */
	uint64_t alignment;	/* bytes, a power of two, >= the page size */
	uint64_t address_limit;	/* 0: none */
	uint32_t heap;		/* index or DRAY_HEAP_ANY */
	uint32_t mode;
	uint32_t flags;		/* DRAY_ALLOC_* */
	struct dray_pages pages;	/* all zero but on the host */
};

struct dray_backend {
	const char *name;

	/* Fills node->fd, info and needs_sync.  @name: NULL or after the ':' */
	int (*open)(struct dray_node *node, const char *name);
	void (*close)(struct dray_node *node);

	/*
	 * The index or id is set in the structure to fill, the rest is 0.
	 */
	int (*info)(struct dray_node *node, struct dray_info *info);
	int (*heap)(struct dray_node *node, struct dray_heap_info *info);
	int (*channel)(struct dray_node *node, struct dray_channel_info *info);
	int (*list)(struct dray_node *node, uint64_t *ids, size_t room,
		    size_t *count);
	int (*buffer_info)(struct dray_node *node,
			   struct dray_buffer_info *info);
	/* NULL: nothing is ever held */
	int (*reclaim)(struct dray_node *node, struct dray_reclaim *args);

	/* NULL: the node has no registers and no interrupts.  The sentence is the
	 * caller's; the index and flags are set, and opened files are above 2 */
	int (*area)(struct dray_node *node, struct dray_register_area *args);
	int (*line)(struct dray_node *node, struct dray_interrupt_line *args);

	/* NULL: heaps have no range */
	int (*heap_map)(struct dray_node *node, struct dray_heap_map *args);

	/* Fill every field of a buffer except node and name, which are set. */
	int (*alloc)(struct dray_buffer *buffer,
		     const struct dray_request *request);
	/* @need: as for dray_buffer_import_bytes() */
	int (*import)(struct dray_buffer *buffer, int fd, uint64_t need);
	void (*release)(struct dray_buffer *buffer);

	/* NULL if buffers cannot grow.  Adds zeroed memory up to @size. */
	int (*grow)(struct dray_buffer *buffer, uint64_t size);
	/* NULL if memory cannot be returned piecewise; zeroes it. */
	int (*punch)(struct dray_buffer *buffer, uint64_t offset,
		     uint64_t length);
	/* A hint, as dray_buffer_gather().  NULL if pages come by touch */
	void (*gather)(struct dray_buffer *buffer, uint64_t offset,
		       uint64_t length);

	/*
	 * Opens a new descriptor for other processes.  With @read_only no
	 * holder can write the memory.
	 */
	int (*share)(struct dray_buffer *buffer, bool read_only, int *fd);
	/* Before the descriptor itself goes out.  NULL: nothing to do */
	void (*expose)(struct dray_buffer *buffer);

	int (*addresses)(struct dray_buffer *buffer, uint64_t offset,
			 uint64_t length, struct dray_segment *segments,
			 size_t room, size_t *count);
	/*
	 * Regions are checked, at most DRAY_MAX_RANGES of them.  NULL if
	 * needs_sync is false, and no channel ever needs a sync.
	 */
	int (*sync)(struct dray_node *node, uint32_t target,
		    enum dray_sync_owner owner, enum dray_direction direction,
		    const struct dray_region *regions, size_t count);
	int (*submit)(struct dray_node *node, struct dray_submit *args);
	const struct dray_port_ops *ports;	/* of streams */
};

extern const struct dray_backend dray_backend_kernel;

bool dray_module_loaded(void);

/* Fails with -ENODEV and the next step if /dev shows no node; @before: "" or a start. */
int dray_fail_no_node(const char *before);
extern const struct dray_backend dray_backend_host;

#endif /* DRAY_MEMORY_BACKEND_H */
