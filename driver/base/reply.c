// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file that a call returns: its descriptor is reserved first, and installed
 * only when the reply has reached the program.
 */
#include <linux/file.h>
#include <linux/fs.h>

#include "reply.h"

int dray_reply_give(struct dray_reply *reply, struct file *file)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);

	if (fd < 0) {
		fput(file);
		return fd;
	}
	reply->fd = fd;
	reply->file = file;
	return 0;
}

void dray_reply_undo(struct dray_reply *reply)
{
	if (!reply->file)
		return;
	put_unused_fd(reply->fd);
	fput(reply->file);
}
