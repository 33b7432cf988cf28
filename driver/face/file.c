// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/drayN: an open file is an opener, with its rights and its queues.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "base/node.h"
#include "base/usage.h"
#include "engine/queue.h"
#include "channel_info.h"
#include "file.h"
#include "ioctl.h"

static bool addresses;
module_param(addresses, bool, 0444);
MODULE_PARM_DESC(addresses,
		 "addresses of reserved and carveout memory need no right");

static bool registers;
module_param(registers, bool, 0444);
MODULE_PARM_DESC(registers,
		 "registers that the device tree offers need no right");

/*
 * Runs under the lock of misc.c, so that the node cannot be unregistered here.
 */
static int dray_open(struct inode *inode, struct file *file)
{
	struct dray_node *node =
		container_of(file->private_data, struct dray_node, misc);
	struct dray_opener *opener;
	int ret;

	opener = kzalloc(sizeof(*opener), GFP_KERNEL_ACCOUNT);
	if (!opener)
		return -ENOMEM;
	opener->node = node;
	opener->usage = dray_usage_create();
	if (!opener->usage) {
		ret = -ENOMEM;
		goto free_opener;
	}
	/*
	 * Asks without an audit record: opening never fails for want of this.
	 */
	opener->raw = ns_capable_noaudit(&init_user_ns, CAP_SYS_RAWIO);
	opener->address = opener->raw || addresses;
	opener->registers = opener->raw || registers;
	ret = DRAY_ENGINES ? dray_queues_open(opener) : 0;
	if (ret)
		goto put_usage;
	dray_node_get(node);
	file->private_data = opener;
	return nonseekable_open(inode, file);

put_usage:
	dray_usage_put(opener->usage);
free_opener:
	kfree(opener);
	return ret;
}

static int dray_close(struct inode *inode, struct file *file)
{
	struct dray_opener *opener = file->private_data;

	if (DRAY_ENGINES)
		dray_queues_close(opener);
	dray_usage_put(opener->usage);
	dray_node_put(opener->node);
	kfree(opener);
	return 0;
}

/* Prints the keys of dray(4) in /proc/PID/fdinfo. */
static void dray_show_fdinfo(struct seq_file *seq, struct file *file)
{
	struct dray_opener *opener = file->private_data;

	seq_printf(seq, "dray-node:\t%s\n", opener->node->name);
	dray_usage_print(opener->usage, seq);
	if (DRAY_ENGINES)
		dray_streams_print(opener, seq);
}

const struct file_operations dray_fops = {
	.owner = THIS_MODULE,
	.open = dray_open,
	.release = dray_close,
	.unlocked_ioctl = dray_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.show_fdinfo = dray_show_fdinfo,
};
