/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of the stand-in for the library. */
#ifndef DMACTL_SCRIPTED_H
#define DMACTL_SCRIPTED_H

#include <stdbool.h>

#include <dray/memory.h>

#define MIB (1024ull * 1024)

struct dray_node {
	unsigned int index;
};

/* Tells whether DRAY_SCENE is @name. */
bool is_scene(const char *name);

/* Keeps the sentence of a scripted failure; returns -@error. */
int fail(const char *call, int error);

/* The failure that DRAY_FAIL asks for in this call on this node, or 0. */
int scripted_failure(const char *call, unsigned int node);

/* The sentence of the last scripted failure; "" if there was none. */
const char *scripted_sentence(void);

/* The library's own function @name, which the stand-in hides. */
void *scripted_library(const char *name);

/* The node's number. */
unsigned int scripted_index(const struct dray_node *node);

#endif /* DMACTL_SCRIPTED_H */
