/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the rest of the module knows of channels and of what is submitted to
 * them.  A kernel without the DMA engine framework or without sync_file has
 * neither: there a node has no channels and SUBMIT is -EOPNOTSUPP.
 */
#ifndef DRAY_ENGINE_H
#define DRAY_ENGINE_H

#include <linux/errno.h>
#include <linux/types.h>

#include "base/node.h"
#include "base/refusal.h"

struct seq_file;

#ifdef DRAY_SUBMIT

/* channel.c: the module's beginning and end */
int dray_channels_init(void);
void dray_channels_exit(void);

/*
 * The channels of a node: describes them (nothing is asked for yet), ends what
 * is on them, frees them with the node.  All may sleep.
 */
int dray_channels_probe(struct dray_node *node,
			const struct dray_node_channel *channels,
			unsigned int count);
void dray_channels_remove(struct dray_node *node);
void dray_channels_free(struct dray_node *node);

/* sleep.c: no round is out when the first returns */
void dray_channels_suspend(struct dray_node *node);
void dray_channels_resume(struct dray_node *node);

/*
 * Gives back the engine of a dead channel, so that the next use asks for it
 * anew; does nothing to a living one.  What its last job may still be written
 * stays out of use.  The node stays bound meanwhile.  -EINVAL: no such channel;
 * -EBUSY: the engine cannot be stopped.
 */
int dray_channel_reopen(struct dray_node *node, u32 index);

/* channel_info.c: for debugfs, and for what INFO says of them */
void dray_channels_print(struct dray_node *node, struct seq_file *file);
void dray_channels_limits(struct dray_node *node, struct dray_info *info);

/* The device by which the engine of channel @index reaches memory. */
int dray_channel_device(struct dray_node *node, u32 index, struct device **dev,
			struct dray_refusal *refusal);

/* queue.c: an opener's queues, made when it opens the node */
int dray_queues_open(struct dray_opener *opener);
void dray_queues_close(struct dray_opener *opener);

/* Calls as in node.h. */
int dray_channel_info_call(struct dray_opener *opener, void *data,
			   struct dray_reply *reply);
int dray_submit_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply);
int dray_cancel_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply);

#else

static inline int dray_channels_init(void)
{
	return 0;
}

static inline void dray_channels_exit(void)
{
}

static inline int
dray_channels_probe(struct dray_node *node,
		    const struct dray_node_channel *channels,
		    unsigned int count)
{
	return 0;
}

static inline void dray_channels_remove(struct dray_node *node)
{
}

static inline void dray_channels_suspend(struct dray_node *node)
{
}

static inline void dray_channels_resume(struct dray_node *node)
{
}

static inline void dray_channels_free(struct dray_node *node)
{
}

static inline void dray_channels_print(struct dray_node *node,
				       struct seq_file *file)
{
}

static inline void dray_channels_limits(struct dray_node *node,
					struct dray_info *info)
{
}

static inline int dray_channel_reopen(struct dray_node *node, u32 index)
{
	return -EINVAL;
}

static inline int dray_channel_device(struct dray_node *node, u32 index,
				      struct device **dev,
				      struct dray_refusal *refusal)
{
	return dray_refuse(refusal, -EINVAL, DRAY_REASON_CHANNEL, 0);
}

static inline int dray_queues_open(struct dray_opener *opener)
{
	return 0;
}

static inline void dray_queues_close(struct dray_opener *opener)
{
}

/* That the device is gone goes before what it never had. */
static inline int dray_call_absent(struct dray_opener *opener, int error)
{
	int ret = dray_node_check(opener->node);

	return ret ? ret : error;
}

static inline int dray_channel_info_call(struct dray_opener *opener, void *data,
					 struct dray_reply *reply)
{
	return dray_call_absent(opener, -EINVAL);
}

static inline int dray_submit_call(struct dray_opener *opener, void *data,
				   struct dray_reply *reply)
{
	return dray_call_absent(opener, -EOPNOTSUPP);
}

static inline int dray_cancel_call(struct dray_opener *opener, void *data,
				   struct dray_reply *reply)
{
	return dray_call_absent(opener, -EOPNOTSUPP);
}

#endif /* DRAY_SUBMIT */

#endif /* DRAY_ENGINE_H */
