// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: the file that counts them.  An interrupt masks itself, and reading its
 * count unmasks it, so that a device with a cause that no program clears cannot keep
 * the processor.
 */
#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "io.h"

struct dray_interrupt_file {
	struct dray_node *node; /* a reference */
	struct dray_io_line *line;
};

static irqreturn_t dray_interrupt_arrive(int irq, void *data)
{
	struct dray_io_line *line = data;
	unsigned long flags;

	spin_lock_irqsave(&line->lock, flags);
	if (!line->masked)
		disable_irq_nosync(irq);
	line->masked = true;
	line->pending++;
	line->total++;
	spin_unlock_irqrestore(&line->lock, flags);
	wake_up_interruptible(&line->arrived);
	return IRQ_HANDLED;
}

/* Reads a count of the line; 32-bit machines do not load it at once. */
static u64 dray_interrupt_load(struct dray_io_line *line, const u64 *count)
{
	u64 value;

	spin_lock_irq(&line->lock);
	value = *count;
	spin_unlock_irq(&line->lock);
	return value;
}

u64 dray_io_total(struct dray_io_line *line)
{
	return dray_interrupt_load(line, &line->total);
}

static u64 dray_interrupt_pending(struct dray_io_line *line)
{
	return dray_interrupt_load(line, &line->pending);
}

/* Returns the count and unmasks the interrupt; 0 if another reader was faster. */
static u64 dray_interrupt_fetch(struct dray_io_line *line)
{
	bool masked;
	u64 pending;

	mutex_lock(&line->order);
	spin_lock_irq(&line->lock);
	pending = line->pending;
	masked = line->masked;
	line->pending = 0;
	line->masked = false;
	spin_unlock_irq(&line->lock);
	if (masked && !line->gone)
		enable_irq(line->irq);
	mutex_unlock(&line->order);
	return pending;
}

/* Restores a count that could not be copied to its reader. */
static void dray_interrupt_restore(struct dray_io_line *line, u64 count)
{
	spin_lock_irq(&line->lock);
	line->pending += count;
	spin_unlock_irq(&line->lock);
	wake_up_interruptible(&line->arrived);
}

static int dray_interrupt_await(struct dray_io_line *line, struct file *file)
{
	if (file->f_flags & O_NONBLOCK)
		return -EAGAIN;
	return wait_event_interruptible(line->arrived,
					dray_interrupt_pending(line) ||
						READ_ONCE(line->gone));
}

static ssize_t dray_interrupt_read(struct file *file, char __user *data,
				   size_t size, loff_t *position)
{
	struct dray_interrupt_file *interrupt = file->private_data;
	struct dray_io_line *line = interrupt->line;
	u64 count;
	int ret;

	if (size < sizeof(count))
		return -EINVAL;
	for (;;) {
		if (READ_ONCE(line->gone))
			return -ENODEV;
		count = dray_interrupt_fetch(line);
		if (count)
			break;
		ret = dray_interrupt_await(line, file);
		if (ret)
			return ret;
	}
	if (!copy_to_user(data, &count, sizeof(count)))
		return sizeof(count);
	dray_interrupt_restore(line, count);
	return -EFAULT;
}

static __poll_t dray_interrupt_poll(struct file *file, poll_table *table)
{
	struct dray_interrupt_file *interrupt = file->private_data;
	struct dray_io_line *line = interrupt->line;

	poll_wait(file, &line->arrived, table);
	if (READ_ONCE(line->gone))
		return EPOLLERR | EPOLLHUP;
	return dray_interrupt_pending(line) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* Frees the interrupt, which no handler counts any more.  Under @line->order. */
static void dray_interrupt_free(struct dray_io_line *line)
{
	if (line->open && !line->gone)
		free_irq(line->irq, line);
}

static void dray_interrupt_release(struct dray_io_line *line)
{
	/*
	 * An edge that arrived under the mask is the kernel's to deliver, as soon as
	 * the mask ends: now, rather than to the next file.
	 */
	dray_interrupt_fetch(line);
	mutex_lock(&line->order);
	dray_interrupt_free(line);
	line->open = false;
	mutex_unlock(&line->order);
}

static int dray_interrupt_close(struct inode *inode, struct file *file)
{
	struct dray_interrupt_file *interrupt = file->private_data;

	dray_interrupt_release(interrupt->line);
	dray_node_put(interrupt->node);
	kfree(interrupt);
	return 0;
}

static const struct file_operations dray_interrupt_fops = {
	.owner = THIS_MODULE,
	.read = dray_interrupt_read,
	.poll = dray_interrupt_poll,
	.release = dray_interrupt_close,
};

/* Under @line->order. */
static int dray_interrupt_enable(struct dray_io_line *line)
{
	int ret;

	line->masked = false;
	line->pending = 0;
	ret = request_irq(line->irq, dray_interrupt_arrive, IRQF_NO_AUTOEN,
			  line->name, line);
	if (ret)
		return ret;
	/*
	 * The controller keeps an edge that arrived without a file.  If it cannot
	 * forget the edge, the file counts an interrupt too many.
	 */
	irq_set_irqchip_state(line->irq, IRQCHIP_STATE_PENDING, false);
	enable_irq(line->irq);
	line->open = true;
	return 0;
}

static int dray_interrupt_request(struct dray_io_line *line)
{
	int ret;

	mutex_lock(&line->order);
	ret = line->open ? -EBUSY : dray_interrupt_enable(line);
	mutex_unlock(&line->order);
	return ret;
}

struct file *dray_io_open_interrupt(struct dray_node *node, u32 index)
{
	struct dray_interrupt_file *interrupt;
	struct file *file;
	int ret;

	interrupt = kzalloc(sizeof(*interrupt), GFP_KERNEL_ACCOUNT);
	if (!interrupt)
		return ERR_PTR(-ENOMEM);
	interrupt->line = &node->io->lines[index];
	ret = dray_interrupt_request(interrupt->line);
	if (ret)
		goto free_interrupt;
	dray_node_get(node);
	interrupt->node = node;
	file = anon_inode_getfile("[dray-interrupt]", &dray_interrupt_fops,
				  interrupt, O_RDONLY);
	if (!IS_ERR(file))
		return file;
	ret = PTR_ERR(file);
	dray_interrupt_release(interrupt->line);
	dray_node_put(node);
free_interrupt:
	kfree(interrupt);
	return ERR_PTR(ret);
}

void dray_io_end(struct dray_node *node)
{
	struct dray_io *io = node->io;
	struct dray_io_line *line;

	if (!io)
		return;
	mutex_lock(&io->mapped);
	io->gone = true;
	mutex_unlock(&io->mapped);
	unmap_mapping_range(&io->mapping, 0, 0, 1);
	for (line = io->lines; line < io->lines + io->line_count; line++) {
		mutex_lock(&line->order);
		dray_interrupt_free(line);
		WRITE_ONCE(line->gone, true);
		mutex_unlock(&line->order);
		wake_up_all(&line->arrived);
	}
}
