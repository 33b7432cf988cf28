/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file operations of /dev/drayN.
 */
#ifndef DRAY_FILE_H
#define DRAY_FILE_H

#include <linux/fs.h>

extern const struct file_operations dray_fops;

#endif /* DRAY_FILE_H */
