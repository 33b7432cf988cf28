// SPDX-License-Identifier: GPL-2.0-only
/*
 * REGISTER_AREA and INTERRUPT_LINE: describe an area of registers or an interrupt of the
 * node's device, and open it.
 */
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/string.h>

#include "base/node.h"
#include "base/reply.h"
#include "io/io.h"
#include "calls.h"

/* Puts a new file, or its error, into the reply. */
static int dray_registers_reply(struct dray_reply *reply, struct file *file,
				s32 *fd)
{
	int ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = dray_reply_give(reply, file);
	if (!ret)
		*fd = reply->fd;
	return ret;
}

static int dray_registers_open(struct dray_opener *opener,
			       struct dray_register_area *args,
			       struct dray_reply *reply)
{
	struct file *file;

	if (!opener->registers)
		return dray_refuse(&reply->refusal, -EPERM,
				   DRAY_REASON_PERMISSION, 0);
	if (!args->mappable)
		return dray_refuse(&reply->refusal, -ENXIO,
				   DRAY_REASON_REGISTERS, PAGE_SIZE);
	file = dray_io_open_registers(opener->node, args->index);
	return dray_registers_reply(reply, file, &args->fd);
}

/* Inside the node. */
static int dray_registers_describe(struct dray_opener *opener,
				   struct dray_register_area *args,
				   struct dray_reply *reply)
{
	struct dray_io *io = opener->node->io;
	u32 flags = args->flags, index = args->index;
	const struct dray_io_area *area;

	if (!io || index >= io->area_count)
		return -EINVAL;
	index = array_index_nospec(index, io->area_count);
	area = &io->areas[index];
	*args = (struct dray_register_area){
		.index = index,
		.flags = flags,
		.size = area->size,
		.mappable = area->mappable,
		.fd = -1,
	};
	strscpy(args->name, area->name, sizeof(args->name));
	return flags ? dray_registers_open(opener, args, reply) : 0;
}

int dray_register_area_call(struct dray_opener *opener, void *data,
			    struct dray_reply *reply)
{
	struct dray_register_area *args = data;
	int ret;

	if (args->flags & ~DRAY_REGISTERS_OPEN)
		return -EINVAL;
	ret = dray_node_enter(opener->node);
	if (ret)
		return ret;
	ret = dray_registers_describe(opener, args, reply);
	dray_node_leave(opener->node);
	return ret;
}

static int dray_interrupt_line_open(struct dray_opener *opener,
				    struct dray_interrupt_line *args,
				    struct dray_reply *reply)
{
	struct file *file = dray_io_open_interrupt(opener->node, args->index);
	int ret = dray_registers_reply(reply, file, &args->fd);

	if (ret == -EBUSY)
		dray_refuse(&reply->refusal, ret, DRAY_REASON_INTERRUPT,
			    args->index);
	return ret;
}

/* Inside the node. */
static int dray_interrupt_describe(struct dray_opener *opener,
				   struct dray_interrupt_line *args,
				   struct dray_reply *reply)
{
	struct dray_io *io = opener->node->io;
	u32 flags = args->flags, index = args->index;

	if (!io || index >= io->line_count)
		return -EINVAL;
	index = array_index_nospec(index, io->line_count);
	*args = (struct dray_interrupt_line){
		.index = index,
		.flags = flags,
		.count = dray_io_total(&io->lines[index]),
		.fd = -1,
	};
	strscpy(args->name, io->lines[index].name, sizeof(args->name));
	return flags ? dray_interrupt_line_open(opener, args, reply) : 0;
}

int dray_interrupt_line_call(struct dray_opener *opener, void *data,
			     struct dray_reply *reply)
{
	struct dray_interrupt_line *args = data;
	int ret;

	if (args->flags & ~DRAY_INTERRUPT_OPEN)
		return -EINVAL;
	ret = dray_node_enter(opener->node);
	if (ret)
		return ret;
	ret = dray_interrupt_describe(opener, args, reply);
	dray_node_leave(opener->node);
	return ret;
}
