/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reply of a call besides its structure.  The ioctl layer installs the
 * descriptor and copies the refusal into the structure.
 */
#ifndef DRAY_REPLY_H
#define DRAY_REPLY_H

#include "refusal.h"

struct file;

struct dray_reply {
	struct file *file; /* installed once the reply was copied out */
	int fd;
	struct dray_refusal refusal; /* why it was refused */
};

/*
 * Reserves @reply->fd for @file.  Takes over the caller's reference, also on
 * failure: -EMFILE or -ENFILE.
 */
int dray_reply_give(struct dray_reply *reply, struct file *file);
/* Drops both if the call has failed after all. */
void dray_reply_undo(struct dray_reply *reply);

#endif /* DRAY_REPLY_H */
