/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Doing a call: a function for each kind, 0 or a negative errno.
 */
#ifndef FUZZ_RUN_H
#define FUZZ_RUN_H

#include "object.h"

typedef int call_function(struct thread *thread, const struct call *call);

/* run_node.c */
call_function run_open, run_info, run_heap_info, run_channel_info, run_alloc,
	run_address, run_sync, run_list, run_buffer_info, run_export,
	run_attach_user, run_attach_dmabuf, run_cancel, run_reclaim,
	run_heap_map, run_register_area, run_interrupt_line, run_unknown;

/* run_submit.c */
call_function run_submit;

/* run_stream.c */
call_function run_timeline, run_packet, run_wait, run_frames, run_release,
	run_points;

/* run_memory.c */
call_function run_mmap, run_munmap, run_madvise, run_mprotect, run_mremap,
	run_mlock, run_anonymous, run_touch, run_copy_in, run_copy_out,
	run_vmsplice, run_direct, run_ring;

/* run_files.c */
call_function run_close, run_dup, run_reopen, run_seek, run_poll, run_send,
	run_receive, run_cpu_sync, run_set_name, run_export_fence,
	run_import_fence, run_fence_wait, run_fence_merge;

/* run_outside.c */
call_function run_import, run_detach, run_foreign_mmap, run_foreign,
	run_foreign_fence, run_fork, run_rebind;

int call_run(struct thread *thread, const struct call *call);

/* The path of a node's device file, of those that were there at the start. */
const char *node_file(uint32_t object);

/* Finds the nodes and the driver's folder; their number. */
int nodes_find(void);

/*
 * Calls a node: the structure is put somewhere, mostly into the thread's area,
 * with the flaw of the call in it, and what came back is in @data again.
 */
int node_ioctl(struct thread *thread, const struct call *call,
	       unsigned long request, void *data, size_t size);

/* Overwrites a word of @data, when the flaw is one of part @part. */
void flaw_apply(const struct call *call, unsigned int part, void *data,
		size_t size);

/*
 * Calls the file @fd, as node_ioctl(); a flaw of part 0 is already in @data.
 */
int object_ioctl(struct thread *thread, const struct call *call, int fd,
		 unsigned long request, void *data, size_t size);

#endif
