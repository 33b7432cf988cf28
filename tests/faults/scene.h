/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The scene of a scenario: the node, and what its steps leave open for one
 * another.  There is one at a time, in one thread.
 */
#ifndef FAULTS_SCENE_H
#define FAULTS_SCENE_H

#include "../selftests/node.h"
#include "scenario.h"

#define SIZE 65536 /* bytes of a buffer */

struct scene {
	int node; /* open all the time */
	char driver[PATH_MAX]; /* the folder of its driver in sysfs */
	char device[DRAY_NAME_LEN];

	/* Descriptors: -1, what is not open. */
	int other; /* what a step opens or is given */
	struct buffer src;
	struct buffer dst;
	int fence; /* of the last transfer */
	int importer;
	int streams; /* a node with streams */
	int line; /* a timeline of that */

	uint64_t line_size; /* bytes of its mapping */
	uint32_t handle; /* the importer's, of what it has */
	uint32_t mode; /* of the next allocation */
	uint32_t type; /* of the heap that it is from */
	struct dray_alloc alloc; /* its reply */
	uint8_t *map; /* SIZE bytes of @src; or NULL */
};

extern struct scene scene;

void close_one(int *fd);

/* Closes all but the node, when the transfers have ended. */
void undo_all(void);

/* Steps before a run; 0 or a negative errno. */
int prepare_nothing(void);
int prepare_unmapped(void); /* src, of the scenario's heap */
int prepare_buffers(void); /* src and dst, mapped */

#endif
