/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * publish: shows the contents of this process's pools to others, as
 * dmactl arrays does.
 *
 * It is off unless the program calls dray_publish_start(), or DRAY_PUBLISH=1 is
 * in the environment when the process makes its first pool.  Then a thread waits
 * at a socket.  Each process that connects gets a snapshot of all pools as a
 * sealed file, if it belongs to the same user or to root.  The thread reads
 * nothing from it and never waits for it.
 *
 *	ret = dray_publish_start();
 *	if (ret)
 *		return ret;
 *	// "dmactl arrays" shows this process's pools now
 *	dray_publish_stop();
 *
 * Allocations and frees do the same work whether it is on or off.  While it is
 * on, arrays that own their memory (<dray/array/array.h>) are noted in a table when
 * they are made, and removed when they end: arrays from before are shown as
 * blocks.  NumPy's arrays in a handler's memory are looked for when a snapshot is
 * made, if the Python package is loaded.  A snapshot holds the lock of a pool for
 * 64 blocks at a time.
 *
 * A child of fork() does not publish its parent's pools: it starts anew, with
 * its first pool or by a call, and leaves out its parent's memory.
 *
 * The format.  The socket has the abstract name "dray-publish-PID", with the
 * decimal number of the process, and is of type SOCK_SEQPACKET.  A connection
 * gets a struct dray_publish_answer; if its error is 0, with one file
 * descriptor: a memfd, sealed against writing, growing and shrinking, of at most
 * DRAY_PUBLISH_MOST bytes.  It holds a struct dray_publish_head, and items up to
 * its end: a pool; then for each of its regions its blocks, in the order of their
 * offsets, a block that is lent with its loan behind it, and the region itself; then
 * the next pool.  Numbers are in the
 * machine's byte order.  Readers skip items of unknown kinds, and bytes of an
 * item beyond the fields that they know.  They ignore an unknown value of each enum
 * here, as they do an unknown flag.
 */
#ifndef DRAY_PUBLISH_H
#define DRAY_PUBLISH_H

#include <dray/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DRAY_PUBLISH_SOCKET "dray-publish-"	/* the number follows */
#define DRAY_PUBLISH_MAGIC 0x3162757079617264	/* "draypub1" */
#define DRAY_PUBLISH_VERSION 1
#define DRAY_PUBLISH_MOST (64ull << 20)	/* bytes of a snapshot */
#define DRAY_PUBLISH_AXES 64

/** All that a connection receives, besides the file descriptor. */
struct dray_publish_answer {
	uint64_t magic;
	uint32_t version;
	int32_t error;	/* 0, or a negative errno: -EACCES, another user */
};

enum dray_publish_flags {
	DRAY_PUBLISH_TRUNCATED = 1,	/* it was full: blocks are left out */
};

/** The beginning of a snapshot. */
struct dray_publish_head {
	uint64_t magic;
	uint32_t version;
	uint32_t flags;	/* enum dray_publish_flags */
	uint64_t size;	/* bytes of the whole snapshot */
	int32_t pid;	/* of the process, as it sees itself */
	uint32_t reserved;
};

enum dray_publish_kind {
	DRAY_PUBLISH_POOL = 1,
	DRAY_PUBLISH_REGION = 2,
	DRAY_PUBLISH_BLOCK = 3,
	DRAY_PUBLISH_LOAN = 4,
};

/** The beginning of each item. */
struct dray_publish_item {
	uint32_t kind;
	uint32_t size;	/* bytes of the item, a multiple of 8 */
};

enum dray_publish_pool_flags {
	DRAY_PUBLISH_POOL_CLOSED = 1,	/* and still has blocks */
	DRAY_PUBLISH_POOL_CHECKED = 2,	/* by DRAY_HANDLER=check */
};

struct dray_publish_pool {
	struct dray_publish_item item;
	uint32_t granule;	/* bytes */
	uint32_t flags;		/* enum dray_publish_pool_flags */
	char name[32];		/* filled up with zeros, as the others */
	char node[32];		/* "dray0", or the host's */
	char backend[16];	/* "kernel" or "host" */
};

/** A buffer of the pool; the blocks before it lie in it. */
struct dray_publish_region {
	struct dray_publish_item item;
	uint64_t buffer;	/* id; of "host": a number of this process only */
	uint64_t size;		/* bytes */
	uint64_t age_ns;
};

enum dray_publish_block_state {
	DRAY_PUBLISH_USED = 0,
	DRAY_PUBLISH_PARKED = 1,	/* freed, but an engine still uses it */
	DRAY_PUBLISH_CACHED = 2,	/* freed, and kept by a thread for later */
};

enum dray_publish_block_flags {
	DRAY_PUBLISH_ARRAY = 1,	/* it has the elements of an array */
};

/**
 * A block.  @ndim numbers of 64 bits follow, the shape; then the texts, each of
 * that many bytes without a zero; then zeros up to the item's end.
 */
struct dray_publish_block {
	struct dray_publish_item item;
	uint64_t offset;	/* bytes, in the region's buffer */
	uint64_t size;		/* bytes that it takes */
	uint64_t asked;		/* bytes that were asked for; 0: not known */
	uint32_t state;		/* enum dray_publish_block_state */
	uint32_t flags;		/* enum dray_publish_block_flags */
	uint32_t holds;		/* transfers that use it */
	uint32_t ndim;		/* of an array, at most DRAY_PUBLISH_AXES */
	uint32_t type_length;	/* of an array's element type, in NumPy's words */
	uint32_t site_length;	/* of the call site that allocated it; 0: unknown */
};

/** Says that the block before it, or a part, is lent (<dray/loan.h>); of several loans, any. */
struct dray_publish_loan {
	struct dray_publish_item item;
	char to[32];		/* the engine's name */
};

/**
 * Starts to publish all pools of this process, made earlier or later; if it
 * publishes already, does nothing.  Blocks only while a thread starts.
 *
 * Errors: -EADDRINUSE (another process, or another copy of the library, has the
 * socket's name), and the errors of socket(), listen() and pthread_create().
 */
DRAY_API int dray_publish_start(void);

/**
 * Ends it, after the snapshot under way; does nothing if it was not started.
 * Not from a signal handler.
 */
DRAY_API void dray_publish_stop(void);

/**
 * Takes an array of a runtime into a snapshot: @bytes at @data, in elements of
 * @type (its words for it, as "<f4").  Arrays outside of pools are ignored.
 *
 * @context: as @each got it
 */
typedef void dray_publish_see(void *context, const void *data, uint64_t bytes,
			      const char *type, int ndim, const int64_t *shape);

/**
 * Lets snapshots name arrays that an array runtime keeps in memory from a handler,
 * which does not learn their shape.  There is a single such function; NULL removes it.
 *
 * @each: calls @see for each array that it finds; called on the publisher's
 *	thread before a snapshot, without a lock.  An array may end before the
 *	blocks are read: it is left out if it does not fit the block.
 */
DRAY_API void dray_publish_set_arrays(void (*each)(dray_publish_see *see,
						   void *context));

#ifdef __cplusplus
}
#endif

#endif /* DRAY_PUBLISH_H */
