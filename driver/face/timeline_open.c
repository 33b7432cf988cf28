// SPDX-License-Identifier: GPL-2.0-only
/*
 * TIMELINE: the file of a queue's points.  That of a stream is also the claim to
 * the stream.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "base/node.h"
#include "base/reply.h"
#include "memory/trace.h"
#include "engine/channel.h"
#include "engine/points.h"
#include "engine/queue.h"
#include "engine/stream.h"
#include "calls.h"
#include "timeline.h"

static u64 dray_timeline_published(struct dray_timeline_file *line)
{
	return READ_ONCE(line->points->head->published);
}

static ssize_t dray_timeline_read(struct file *file, char __user *data,
				  size_t size, loff_t *position)
{
	struct dray_timeline_file *line = file->private_data;
	u64 published = dray_timeline_published(line);

	if (size < sizeof(published))
		return -EINVAL;
	if (copy_to_user(data, &published, sizeof(published)))
		return -EFAULT;
	WRITE_ONCE(line->seen, published);
	return sizeof(published);
}

static __poll_t dray_timeline_poll(struct file *file, poll_table *table)
{
	struct dray_timeline_file *line = file->private_data;
	__poll_t events = 0;

	poll_wait(file, &line->points->moved, table);
	if (dray_timeline_published(line) != READ_ONCE(line->seen))
		events |= EPOLLIN | EPOLLRDNORM;
	if (dray_timeline_is_over(line))
		events |= EPOLLHUP;
	return events;
}

static int dray_timeline_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct dray_timeline_file *line = file->private_data;

	return dray_points_map(line->points, vma);
}

/* A call of the file; those with a reason tell it in their reply. */
struct dray_timeline_entry {
	unsigned int command;
	unsigned int first_size; /* bytes, of its first version */
	int (*run)(struct dray_timeline_file *line, void *data,
		   struct dray_refusal *refusal);
	unsigned int reason; /* offset in bytes; 0: none */
	unsigned int limit;
};

static const struct dray_timeline_entry dray_timeline_entries[] = {
	{ DRAY_IOC_WAIT, offsetofend(struct dray_wait, completed),
	  dray_wait_call },
	{ DRAY_IOC_RING, offsetofend(struct dray_ring, limit), dray_ring_call,
	  offsetof(struct dray_ring, reason),
	  offsetof(struct dray_ring, limit) },
	{ DRAY_IOC_RELEASE, offsetofend(struct dray_release, until_ns),
	  dray_release_call, offsetof(struct dray_release, reason),
	  offsetof(struct dray_release, limit) },
};

/* Structures may grow, as those of a node's calls. */
static const struct dray_timeline_entry *
dray_timeline_entry_of(unsigned int command)
{
	const struct dray_timeline_entry *entry = dray_timeline_entries;
	const struct dray_timeline_entry *end =
		entry + ARRAY_SIZE(dray_timeline_entries);

	for (; entry < end; entry++)
		if (_IOC_NR(command) == _IOC_NR(entry->command) &&
		    _IOC_TYPE(command) == _IOC_TYPE(entry->command) &&
		    _IOC_DIR(command) == _IOC_DIR(entry->command))
			return entry;
	return NULL;
}

static int dray_timeline_run(const struct dray_timeline_entry *entry,
			     struct dray_timeline_file *line, void *args)
{
	struct dray_refusal refusal = {};
	int ret = entry->run(line, args, &refusal);

	if (entry->reason) {
		*(u32 *)(args + entry->reason) = refusal.reason;
		*(u64 *)(args + entry->limit) = refusal.limit;
	}
	/* A wait that was too short is not refused. */
	if (ret && ret != -ETIME)
		trace_dray_fail(line->node->name, _IOC_NR(entry->command), ret,
				refusal.reason, refusal.limit, 0, "");
	return ret;
}

static long dray_timeline_ioctl(struct file *file, unsigned int command,
				unsigned long arg)
{
	const struct dray_timeline_entry *entry =
		dray_timeline_entry_of(command);
	void __user *user = (void __user *)arg;
	union {
		struct dray_wait wait;
		struct dray_ring ring;
		struct dray_release release;
	} args;
	size_t user_size = _IOC_SIZE(command), size;
	int ret;

	if (!entry)
		return -ENOTTY;
	size = _IOC_SIZE(entry->command);
	if (user_size < entry->first_size)
		return -EINVAL;
	ret = copy_struct_from_user(&args, size, user, user_size);
	if (ret)
		return ret;
	ret = dray_timeline_run(entry, file->private_data, &args);
	return copy_to_user(user, &args, min(user_size, size)) ? -EFAULT : ret;
}

/* Submissions have points from now on, or none.  Under the queue's order. */
static void dray_timeline_give(struct dray_timeline_file *line,
			       struct dray_points *points)
{
	struct dray_channel *channel = line->channel;

	spin_lock_irq(&channel->lock);
	line->queues->queue[channel->index].points = points;
	spin_unlock_irq(&channel->lock);
}

/* The queue's points stay with the jobs that have them. */
static void dray_timeline_detach(struct dray_timeline_file *line)
{
	struct dray_queue *queue = &line->queues->queue[line->channel->index];

	if (line->channel->kind != DRAY_CHANNEL_COPY)
		dray_stream_release(line->channel, line->queues);
	mutex_lock(&queue->order);
	dray_timeline_give(line, NULL);
	mutex_unlock(&queue->order);
	dray_channels_forget(line->node->channels, line->points);
}

static void dray_timeline_free(struct dray_timeline_file *line)
{
	dray_points_put(line->points);
	dray_queues_put(line->queues);
	dray_node_put(line->node);
	kfree(line);
}

static int dray_timeline_close(struct inode *inode, struct file *file)
{
	struct dray_timeline_file *line = file->private_data;

	dray_timeline_detach(line);
	dray_timeline_free(line);
	return 0;
}

static const struct file_operations dray_timeline_fops = {
	.owner = THIS_MODULE,
	.read = dray_timeline_read,
	.poll = dray_timeline_poll,
	.mmap = dray_timeline_mmap,
	.unlocked_ioctl = dray_timeline_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = dray_timeline_close,
};

/* Gives the queue its points, and the opener the stream. */
static int dray_timeline_attach(struct dray_timeline_file *line,
				const struct dray_timeline *args,
				struct dray_refusal *refusal)
{
	struct dray_channel *channel = line->channel;
	struct dray_queue *queue = &line->queues->queue[channel->index];
	struct dray_points *points;
	int ret = 0;

	mutex_lock(&queue->order);
	if (queue->points)
		ret = dray_refuse(refusal, -EBUSY, DRAY_REASON_STREAM,
				  channel->index);
	if (ret)
		goto unlock;
	points = dray_points_create(args, queue->number, refusal);
	if (IS_ERR(points)) {
		ret = PTR_ERR(points);
		goto unlock;
	}
	if (channel->kind != DRAY_CHANNEL_COPY)
		ret = dray_stream_claim(channel, line->queues, args->batch);
	if (ret) {
		dray_refuse(refusal, ret, DRAY_REASON_STREAM, channel->index);
		dray_points_put(points);
		goto unlock;
	}
	line->points = points;
	dray_timeline_give(line, points);
	dray_channels_show(line->node->channels, points);
unlock:
	mutex_unlock(&queue->order);
	return ret;
}

static struct dray_timeline_file *
dray_timeline_create(struct dray_opener *opener, u32 index)
{
	struct dray_node *node = opener->node;
	struct dray_timeline_file *line;

	line = kzalloc(sizeof(*line), GFP_KERNEL_ACCOUNT);
	if (!line)
		return NULL;
	dray_node_get(node);
	line->node = node;
	kref_get(&opener->queues->kref);
	line->queues = opener->queues;
	index = array_index_nospec(index, node->channels->count);
	line->channel = &node->channels->channel[index];
	return line;
}

/* Inside the node. */
static int dray_timeline_start(struct dray_opener *opener,
			       struct dray_timeline *args,
			       struct dray_reply *reply)
{
	struct dray_timeline_file *line;
	struct device *dev;
	struct file *file;
	int ret;

	ret = dray_channel_device(opener->node, args->channel, &dev,
				  &reply->refusal);
	if (ret)
		return ret;
	line = dray_timeline_create(opener, args->channel);
	if (!line)
		return -ENOMEM;
	ret = dray_timeline_attach(line, args, &reply->refusal);
	if (ret) {
		dray_timeline_free(line);
		return ret;
	}
	args->points = line->points->head->points;
	args->size = line->points->size;
	file = anon_inode_getfile("[dray-timeline]", &dray_timeline_fops, line,
				  O_RDONLY);
	if (IS_ERR(file)) {
		dray_timeline_detach(line);
		dray_timeline_free(line);
		return PTR_ERR(file);
	}
	ret = dray_reply_give(reply, file);
	if (!ret)
		args->fd = reply->fd;
	return ret;
}

int dray_timeline_call(struct dray_opener *opener, void *data,
		       struct dray_reply *reply)
{
	struct dray_timeline *args = data;
	int ret;

	if (args->flags || args->reserved || args->batch > DRAY_QUEUE_DEPTH ||
	    args->event_fd < -1)
		return -EINVAL;
	if (!args->batch)
		args->batch = 1;
	ret = dray_node_enter(opener->node);
	if (ret)
		return ret;
	ret = dray_timeline_start(opener, args, reply);
	dray_node_leave(opener->node);
	return ret;
}
