/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The calls: ioctl.c has the table, and each has a file.  @data is the call's
 * structure, which is copied back on failure too.  None is inside the node when
 * it begins.
 */
#ifndef DRAY_CALLS_H
#define DRAY_CALLS_H

struct dray_opener;
struct dray_reply;

int dray_info_call(struct dray_opener *opener, void *data,
		   struct dray_reply *reply);
int dray_heap_info_call(struct dray_opener *opener, void *data,
			struct dray_reply *reply);
int dray_channel_info_call(struct dray_opener *opener, void *data,
			   struct dray_reply *reply);
int dray_alloc_call(struct dray_opener *opener, void *data,
		    struct dray_reply *reply);
int dray_address_call(struct dray_opener *opener, void *data,
		      struct dray_reply *reply);
int dray_sync_call(struct dray_opener *opener, void *data,
		   struct dray_reply *reply);
int dray_submit_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply);
int dray_list_call(struct dray_opener *opener, void *data,
		   struct dray_reply *reply);
int dray_buffer_info_call(struct dray_opener *opener, void *data,
			  struct dray_reply *reply);
int dray_export_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply);
int dray_attach_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply);
int dray_cancel_call(struct dray_opener *opener, void *data,
		     struct dray_reply *reply);
int dray_reclaim_call(struct dray_opener *opener, void *data,
		      struct dray_reply *reply);
int dray_timeline_call(struct dray_opener *opener, void *data,
		       struct dray_reply *reply);
int dray_heap_map_call(struct dray_opener *opener, void *data,
		       struct dray_reply *reply);
int dray_register_area_call(struct dray_opener *opener, void *data,
			    struct dray_reply *reply);
int dray_interrupt_line_call(struct dray_opener *opener, void *data,
			     struct dray_reply *reply);

#endif /* DRAY_CALLS_H */
