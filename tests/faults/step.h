/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The steps of the scenarios.  prepare_ and undo_ are done while every
 * allocation succeeds, run_ while one may fail; a step that fails leaves
 * nothing of its own but in the scene.  They return 0 or a negative errno;
 * prepare_ returns NOT_HERE where the machine has not what it takes.
 */
#ifndef FAULTS_STEP_H
#define FAULTS_STEP_H

#include "../selftests/system.h"

/* Far from all else, where the process has no page tables yet. */
#define FAR ((void *)(1ul << 37))

/* step_buffer.c */
int run_open(void);
int prepare_closed(void);
int run_open_first(void);
void undo_open_first(void);
int prepare_mode(void);
int run_alloc(void);
bool alloc_replied(int ret, const char *injector);
int run_mmap(void);
int run_fault(void);
int run_address(void);
int run_sync(void);
int run_cpu_access(void);
int run_list(void);
int run_heap_map(void);
int run_questions(void);
int run_debugfs(void);
int run_debugger(void);
int prepare_held(void);
int run_reclaim(void);
void undo_held(void);

/* step_share.c: other devices and other drivers */
int run_export(void);
int prepare_import(void);
int run_import(void);
int prepare_memory(void); /* of this process */
int prepare_memory_read_only(void);
int run_attach_user(void);
int run_attach_user_read_only(void);
int attach_memory(int *fd); /* a part of this process for src or dst */
int prepare_foreign(void);
int run_attach_dmabuf(void);

/* step_transfer.c */
int prepare_transfer(void);
int run_copy(void);
int prepare_attached(void);
int run_copy_attached(void);
int prepare_pinned(void);
int prepare_unfinished(void);
int prepare_chain(void);
int run_chain(void);
int run_fill(void);
int run_long_fill(void);
int run_cancel(void);

/* step_stream.c: a node with streams, if there is one */
int prepare_streams(void);
int run_timeline(void);
int prepare_line(void); /* the file of a timeline */
int run_line_map(void);
int prepare_receiver(void); /* with a timeline and dst */
int run_receive(void);
int run_ring(void);
int run_ring_of_rows(void);
int prepare_display(void);
int run_show(void);

/* step_bind.c: these close the node, and open it again */
int prepare_bind(void);
int run_bind(void);
void undo_bind(void);
int prepare_fresh(void);

#endif
