/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a node's device beside memory and engines: areas of registers, and
 * interrupts.  The device tree names them.
 */
#ifndef DRAY_IO_H
#define DRAY_IO_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "base/node.h"

#define DRAY_IO_MAX 16 /* areas, and interrupts, of a node */

struct platform_device;

struct dray_io_area {
	phys_addr_t start;
	u64 size; /* bytes, as the tree says */
	u64 mappable; /* bytes from the start: whole pages */
	char name[DRAY_NAME_LEN];
};

struct dray_io_line {
	struct mutex order; /* requests, frees and unmasks the interrupt */
	unsigned int irq;
	bool open; /* under @order; a single file is */
	bool gone; /* written under @order: READ_ONCE() elsewhere */

	spinlock_t lock; /* of the rest */
	bool masked; /* until the count is read */
	u64 pending; /* interrupts since the count was read */
	u64 total;
	wait_queue_head_t arrived;
	char name[DRAY_NAME_LEN];
};

struct dray_io {
	/* Under this lock no page is mapped behind the node's end. */
	struct mutex mapped;
	bool gone; /* under @mapped */
	struct address_space mapping; /* of all files of registers */

	u32 area_count;
	u32 line_count;
	struct dray_io_area areas[DRAY_IO_MAX];
	struct dray_io_line lines[DRAY_IO_MAX];
};

/*
 * Reads registers and interrupts of @device, and claims the registers for its driver.
 * Returns NULL if there are none.  An ERR_PTR and a sentence in the log: -EINVAL if the
 * tree is wrong, -EBUSY if another driver has the registers, -EPROBE_DEFER if the
 * interrupt's controller is not there yet, -ENOMEM.
 */
struct dray_io *dray_io_read(struct platform_device *device);

/* Ends all mappings and interrupts of @node, after its calls have left. */
void dray_io_end(struct dray_node *node);

/* Returns a file that maps the area, or an ERR_PTR.  The caller is inside @node. */
struct file *dray_io_open_registers(struct dray_node *node, u32 index);

/*
 * Returns a file that counts interrupts, or an ERR_PTR: -EBUSY if another file or
 * driver has the interrupt.  The caller is inside @node.
 */
struct file *dray_io_open_interrupt(struct dray_node *node, u32 index);

/* Returns how often the interrupt arrived. */
u64 dray_io_total(struct dray_io_line *line);

#endif /* DRAY_IO_H */
