/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A node: a device as dray sees it, and the character device /dev/drayN in
 * front of it.  Open files outlive the device: a call enters the node before
 * it touches the device and gets -ENODEV once the device is gone.  User memory
 * is never touched inside, because a page fault there may last for ever and
 * unbinding waits for everybody inside.
 */
#ifndef DRAY_NODE_H
#define DRAY_NODE_H

#include <linux/dray.h>
#include <linux/kref.h>
#include <linux/miscdevice.h>
#include <linux/rwsem.h>
#include <linux/wait.h>

#define DRAY_MAX_HEAPS 16
#define DRAY_MAX_CHANNELS 16

/* INFO reports it also if dray is built in. */
#define DRAY_MODULE_VERSION "0.1.0"

struct dentry;
struct dray_channels;
struct dray_heap;
struct dray_io;
struct dray_queues;
struct dray_usage;

struct dray_node {
	struct kref kref;
	struct miscdevice misc;
	struct device *dev; /* the DMA-capable device; a reference is held */
	char name[DRAY_NAME_LEN];
	int index;
	u32 flags; /* DRAY_NODE_*, but for the opener's */
	bool hold; /* memory that its device may write after a process's end */

	struct rw_semaphore inside; /* read: calls; write: unbinding, sleep */
	bool gone; /* set before unbinding takes @inside: READ_ONCE() */

	struct dray_heap *heaps[DRAY_MAX_HEAPS];
	u32 heap_count;
	struct dray_channels *channels;
	struct dray_io *io; /* registers and interrupts; NULL: none */

	atomic_t mappings; /* of buffers, for this node's devices */
	wait_queue_head_t unmapped; /* @mappings is 0 */
	struct dentry *debug; /* its directory in debugfs */
};

/* An open file. */
struct dray_opener {
	struct dray_node *node;
	bool address; /* may ask for addresses */
	bool registers; /* may map registers */
	bool raw; /* with CAP_SYS_RAWIO */
	struct dray_queues *queues; /* its submissions */
	struct dray_usage *usage; /* a reference */
};

/*
 * The caller may then touch the device and may sleep, but must not touch user
 * memory.  It does not nest.
 */
int dray_node_enter(struct dray_node *node);
bool dray_node_try_enter(struct dray_node *node);
void dray_node_leave(struct dray_node *node);

/* Returns -ENODEV if the node is gone, for callers that do not enter. */
int dray_node_check(struct dray_node *node);

/* References keep the structure, not the device. */
void dray_node_get(struct dray_node *node);
void dray_node_put(struct dray_node *node);

#endif /* DRAY_NODE_H */
