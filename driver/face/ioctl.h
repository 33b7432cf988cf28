/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one entrance of all calls.
 */
#ifndef DRAY_IOCTL_H
#define DRAY_IOCTL_H

struct file;

long dray_ioctl(struct file *file, unsigned int command, unsigned long arg);

#endif /* DRAY_IOCTL_H */
