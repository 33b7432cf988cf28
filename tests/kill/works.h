/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a process of the load does, one function a work, and what it has for it.
 * Each does one thing at random, counts it when it has worked, and comes back
 * soon.
 */
#ifndef KILL_WORKS_H
#define KILL_WORKS_H

#include "../selftests/node.h"
#include "../selftests/process.h"
#include "load.h"

#define BUFFERS 8
#define FENCES 8
#define LINES 4 /* streams, at most */

struct worker {
	struct load load;
	uint64_t state; /* of its random numbers */
	int node;
	struct dray_info info;
	struct buffer buffers[BUFFERS]; /* fd: -1 where there is none */
	int fences[FENCES]; /* -1 where there is none */
	int importer; /* or a negative errno */
	int pipe_ends[2];
	int streams; /* the node of streams, or -1 */
	uint32_t channels; /* that are streams, its first ones */
	int lines[LINES]; /* their timelines; 0: it is not open here */
};

/* This process. */
extern struct worker me;

/* load.c */
uint64_t pick(uint64_t below);
/* @ret is 0, an errno for what the machine has not, or any other failure. */
void count(enum work work, int ret);
/* NULL: there was none where it looked. */
struct buffer *any_buffer(void);

/* works_buffer.c: what dray.ko does with a buffer by itself */
void work_alloc(void);
void work_sync(void);
void work_address(void);
void work_export(void);
void work_ask(void);

/* works_transfer.c: what engines do */
void fences_look(void);
void work_submit(void);
void work_attach(void);
void work_cancel(void);

/* works_stream.c: what an engine of streams does */
void work_stream(void);
void work_packet(void);
void work_frames(void);

/* works_others.c: what other processes, and others in the kernel, do with it */
void work_fork(void);
void work_send(void);
void work_receive(void);
void work_direct(void);
void work_ring(void);
void work_pipe(void);
void work_import(void);
void work_remap(void);

#endif
