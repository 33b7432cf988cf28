/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Blocks that an engine uses are not free: while a block is held, freeing it
 * only parks it, and the last release completes the free.  Queues hold both
 * blocks of a transfer from before it is submitted until its fence signals.
 */
#ifndef DRAY_POOL_BUSY_H
#define DRAY_POOL_BUSY_H

#include <stdbool.h>

#include <dray/pool.h>

struct dray_found;

/*
 * Holds the block around @address (any byte of it).  Returns -ENOENT if no live
 * block of a pool covers it: memory of an imported or directly allocated buffer
 * is kept by a reference to the buffer instead.
 */
int dray_block_hold(const void *address);

/* Once for each hold that succeeded, with any address in the same block. */
void dray_block_release(const void *address);

/* dray_block_hold() for a block that was found: with its pool's lock held. */
int dray_found_hold(const struct dray_found *found, const void *address);

/*
 * dray_locate() that holds the block it finds, or references the buffer if no
 * pool cut it up: a single look-up for both.
 */
int dray_locate_hold(const void *address, struct dray_location *out);
/* Undoes dray_locate_hold(). */
void dray_locate_release(const struct dray_location *held);

/*
 * Marks the block around @address as sent to another process, which does not
 * report its end.  The block may be freed and reused all the same;
 * until then the library writes nothing of its own there.
 */
void dray_block_sent(const void *address);

/*
 * Releases the blocks of finished transfers that were not noticed yet.  A pool
 * with parked blocks asks before it fetches more memory, and, with @wait, for
 * another engine to be done before it says that there is none.  Called without any
 * lock of a pool.  True if a hold may be gone.
 */
typedef bool dray_reap(bool wait);

/*
 * Adds a function that asks, once for all callers with the same function: of
 * queues, and of streams.
 */
void dray_block_set_reap(dray_reap *reap);
/* Asks them; false if no function is set. */
bool dray_block_reap(bool wait);

/*
 * Ends the records that lead to a block.  Called without a lock when a block
 * that is held is freed, so that no process opens it afterwards.
 */
typedef void dray_freed(const void *block);

/* Sets that function; each caller sets the same function. */
void dray_block_set_freed(dray_freed *freed);
/* Calls it, if it is set. */
void dray_block_freed(const void *block);

#endif /* DRAY_POOL_BUSY_H */
