/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Contenders: those who hand out memory as dma-bufs.  What differs between
 * them stands in a table of operations; mapping, writing and unmapping are the
 * same calls for all.  Functions return 0 or a negative errno.
 */
#ifndef BENCH_CONTENDER_H
#define BENCH_CONTENDER_H

#include "../../selftests/system.h"

/* Memory that a contender gave. */
struct piece {
	int fd; /* the dma-buf */
	int backing; /* what it was made of, or -1 */
	size_t size; /* bytes */
	volatile uint8_t *bytes; /* a shared, writable mapping; or NULL */
	uint32_t handle; /* of the importer that is attached; 0: none is */
};

struct contender;

struct contender_ops {
	int (*allocate)(const struct contender *contender, size_t size,
			struct piece *piece);
	/*
	 * Makes the bytes visible to the CPU and then to the device again;
	 * NULL: there is a call for the whole piece only.
	 */
	int (*sync)(const struct contender *contender,
		    const struct piece *piece, size_t offset, size_t width);
	/*
	 * Brings the piece within reach of one device, as it is; NULL: the
	 * importer is attached.
	 */
	int (*attach)(const struct contender *contender, struct piece *piece);
	void (*free)(const struct piece *piece);
};

struct contender {
	const char *name;
	const struct contender_ops *ops;
	int (*open)(struct contender *contender);
	int file; /* what allocates; -1: it is not there */
	uint32_t heap; /* dray: the heap's index */
};

extern struct contender contenders[];
extern const size_t contender_count;

/* Of every contender, or of those whose operations name it. */
int piece_map(struct piece *piece);
void piece_touch(const struct piece *piece); /* one write in every page */
int piece_sync(const struct piece *piece); /* DMA_BUF_IOCTL_SYNC */
int piece_unmap(struct piece *piece);
void piece_close(const struct piece *piece);

/* contender_dray.c */
extern const struct contender_ops dray_ops;
int dray_reserved_open(struct contender *contender);
int dray_cma_open(struct contender *contender);
int dray_pages_open(struct contender *contender);

/* contender_heap.c */
extern const struct contender_ops heap_ops;
int heap_cma_open(struct contender *contender);
int heap_system_open(struct contender *contender);

/* contender_udmabuf.c */
extern const struct contender_ops udmabuf_ops;
int udmabuf_open(struct contender *contender);

#endif
