/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Channels in debugfs and in INFO.
 */
#ifndef DRAY_CHANNEL_INFO_H
#define DRAY_CHANNEL_INFO_H

struct dray_info;
struct dray_node;
struct dray_opener;
struct seq_file;

void dray_channels_print(struct dray_node *node, struct seq_file *file);
void dray_channels_limits(struct dray_node *node, struct dray_info *info);
/* The streams that @opener has, for fdinfo. */
void dray_streams_print(struct dray_opener *opener, struct seq_file *file);

#endif /* DRAY_CHANNEL_INFO_H */
