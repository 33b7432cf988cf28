// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: the state of a node, for root, under /sys/kernel/debug/dray/NODE. No
 * format here is an interface; programs use LIST, BUFFER_INFO and CHANNEL_INFO.
 */
#include <linux/debugfs.h>
#include <linux/dma-buf.h>
#include <linux/pid.h>
#include <linux/seq_file.h>
#include <linux/string_helpers.h>

#include "base/device.h"
#include "base/node.h"
#include "memory/attachment.h"
#include "memory/buffer.h"
#include "memory/mapping.h"
#include "channel_info.h"
#include "debug.h"

static struct dentry *dray_debug_root;

/*
 * Prints a user's name without characters that would end it or the line, or
 * that would control a terminal.
 */
static void dray_name_show(struct seq_file *file, const char *name)
{
	seq_putc(file, '"');
	seq_escape_str(file, name, ESCAPE_OCTAL | ESCAPE_NAP | ESCAPE_APPEND,
		       "\"\\");
	seq_putc(file, '"');
}

static void dray_owner_show(struct seq_file *file, struct dray_entry *entry)
{
	seq_printf(file, ", pid %d ", pid_nr(entry->pid));
	dray_name_show(file, entry->comm);
	if (atomic_read(&entry->held))
		seq_puts(file, ", held");
}

static void dray_buffer_show(struct seq_file *file, struct dray_buffer *buffer)
{
	seq_printf(file, "%llu %zu %s mode %u, mapped %d, transfers %d",
		   buffer->entry.id, buffer->size, buffer->heap->name,
		   buffer->mode, atomic_read(&buffer->mapped),
		   atomic_read(&buffer->entry.transfers));
	dray_owner_show(file, &buffer->entry);
	if (buffer->name[0]) {
		seq_puts(file, ", name ");
		dray_name_show(file, buffer->name);
	}
	seq_puts(file, ", devices");
	dray_mapping_print(buffer, file);
	seq_putc(file, '\n');
}

static void dray_attachment_show(struct seq_file *file,
				 struct dray_attachment *attachment)
{
	seq_printf(file, "%llu %llu attached to %s, transfers %d",
		   attachment->entry.id, attachment->charged,
		   attachment->node->name,
		   atomic_read(&attachment->entry.transfers));
	dray_owner_show(file, &attachment->entry);
	if (attachment->dmabuf)
		seq_printf(file, ", dma-buf of %s",
			   attachment->dmabuf->exp_name);
	seq_puts(file, ", devices");
	dray_attachment_print(attachment, file);
	seq_putc(file, '\n');
}

/* Prints the buffers of all nodes: any of them may belong to the search. */
static int dray_buffers_show(struct seq_file *file, void *unused)
{
	struct dray_buffer *buffer;
	struct dray_entry *entry;
	u64 id = 0;

	while ((entry = dray_entry_next(&id))) {
		buffer = dray_entry_buffer(entry);
		if (buffer)
			dray_buffer_show(file, buffer);
		else
			dray_attachment_show(file,
					     dray_entry_attachment(entry));
		dray_entry_put(entry);
		cond_resched();
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(dray_buffers);

static int dray_node_show(struct seq_file *file, void *unused)
{
	struct dray_node *node = file->private;
	u32 i;

	seq_printf(file, "device %s, flags %#x, reach %#llx\n",
		   dev_name(node->dev), node->flags,
		   dray_device_reach(node->dev));
	for (i = 0; i < node->heap_count; i++)
		seq_printf(file, "heap %u %s, buffers %d, used %lld\n", i,
			   node->heaps[i]->name,
			   atomic_read(&node->heaps[i]->buffers),
			   (long long)atomic64_read(&node->heaps[i]->used));
	seq_printf(file, "mappings %d\n", atomic_read(&node->mappings));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(dray_node);

static int dray_debug_channels_show(struct seq_file *file, void *unused)
{
	if (DRAY_ENGINES)
		dray_channels_print(file->private, file);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(dray_debug_channels);

void dray_debug_add(struct dray_node *node)
{
	node->debug = debugfs_create_dir(node->name, dray_debug_root);
	debugfs_create_file("node", 0400, node->debug, node, &dray_node_fops);
	debugfs_create_file("buffers", 0400, node->debug, node,
			    &dray_buffers_fops);
	debugfs_create_file("channels", 0400, node->debug, node,
			    &dray_debug_channels_fops);
}

/* Waits for readers. */
void dray_debug_remove(struct dray_node *node)
{
	debugfs_remove_recursive(node->debug);
}

void dray_debug_init(void)
{
	dray_debug_root = debugfs_create_dir("dray", NULL);
}

void dray_debug_exit(void)
{
	debugfs_remove_recursive(dray_debug_root);
}
