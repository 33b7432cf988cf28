// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/drayN: an open file is an opener, with its rights and its queues.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "base/node.h"
#include "engine/queue.h"
#include "file.h"
#include "ioctl.h"

static bool addresses;
module_param(addresses, bool, 0444);
MODULE_PARM_DESC(addresses,
		 "addresses of reserved and carveout memory need no right");

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
	/*
	 * Asks without an audit record: opening never fails for want of this.
	 */
	opener->raw = ns_capable_noaudit(&init_user_ns, CAP_SYS_RAWIO);
	opener->address = opener->raw || addresses;
	ret = DRAY_ENGINES ? dray_queues_open(opener) : 0;
	if (ret) {
		kfree(opener);
		return ret;
	}
	dray_node_get(node);
	file->private_data = opener;
	return nonseekable_open(inode, file);
}

static int dray_close(struct inode *inode, struct file *file)
{
	struct dray_opener *opener = file->private_data;

	if (DRAY_ENGINES)
		dray_queues_close(opener);
	dray_node_put(opener->node);
	kfree(opener);
	return 0;
}

const struct file_operations dray_fops = {
	.owner = THIS_MODULE,
	.open = dray_open,
	.release = dray_close,
	.unlocked_ioctl = dray_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
