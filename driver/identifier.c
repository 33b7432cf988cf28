// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree of buffers by their identifiers, for whoever does not come by a
 * descriptor: LIST and BUFFER_INFO, RECLAIM, debugfs, and the end of a node.
 * It has no references: a buffer leaves it when its last one goes.
 */
#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>

#include "buffer.h"
#include "identifier.h"

/*
 * By identifier.  The lock also guards the step of a buffer's references
 * between one and none.
 */
static struct rb_root dray_buffers = RB_ROOT;
static DEFINE_SPINLOCK(dray_buffers_lock);
static atomic64_t dray_last_id;

void dray_buffer_identify(struct dray_buffer *buffer)
{
	RB_CLEAR_NODE(&buffer->link);
	buffer->id = atomic64_inc_return_relaxed(&dray_last_id);
}

void dray_buffer_publish(struct dray_buffer *buffer)
{
	struct rb_node **link = &dray_buffers.rb_node, *parent = NULL;
	struct dray_buffer *other;

	spin_lock(&dray_buffers_lock);
	while (*link) {
		parent = *link;
		other = rb_entry(parent, struct dray_buffer, link);
		link = buffer->id < other->id ? &parent->rb_left
					      : &parent->rb_right;
	}
	rb_link_node(&buffer->link, parent, link);
	rb_insert_color(&buffer->link, &dray_buffers);
	spin_unlock(&dray_buffers_lock);
}

bool dray_buffer_withdraw(struct dray_buffer *buffer)
{
	if (RB_EMPTY_NODE(&buffer->link))
		return false;
	spin_lock(&dray_buffers_lock);
	rb_erase(&buffer->link, &dray_buffers);
	spin_unlock(&dray_buffers_lock);
	return true;
}

void dray_buffer_resurrect(struct dray_buffer *buffer)
{
	spin_lock(&dray_buffers_lock);
	refcount_set(&buffer->kref.refcount, 2);
	spin_unlock(&dray_buffers_lock);
}

/* The first one from @id on, whether or not it is being freed; or NULL. */
static struct dray_buffer *dray_buffer_from(u64 id)
{
	struct rb_node *node = dray_buffers.rb_node;
	struct dray_buffer *buffer, *found = NULL;

	lockdep_assert_held(&dray_buffers_lock);
	while (node) {
		buffer = rb_entry(node, struct dray_buffer, link);
		if (buffer->id >= id) {
			found = buffer;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

struct dray_buffer *dray_buffer_of_id(u64 id)
{
	struct dray_buffer *buffer;

	spin_lock(&dray_buffers_lock);
	buffer = dray_buffer_from(id);
	if (buffer &&
	    (buffer->id != id || !kref_get_unless_zero(&buffer->kref)))
		buffer = NULL;
	spin_unlock(&dray_buffers_lock);
	return buffer;
}

struct dray_buffer *dray_buffer_next(u64 *id)
{
	struct dray_buffer *buffer = NULL;

	spin_lock(&dray_buffers_lock);
	while (*id < U64_MAX) {
		buffer = dray_buffer_from(*id + 1);
		if (!buffer)
			break;
		*id = buffer->id;
		if (kref_get_unless_zero(&buffer->kref))
			break;
		buffer = NULL;
	}
	spin_unlock(&dray_buffers_lock);
	return buffer;
}
