/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An overlay that is to be made: a region, and a node of dray with its engines.
 * plan.c decides on it, overlay_blob.c and overlay_text.c write it.
 */
#ifndef DMACTL_DT_PLAN_H
#define DMACTL_DT_PLAN_H

#include "blob.h"
#include "extent.h"

/* A board without its tree. */
struct board {
	const char *name;
	const char *text;
	struct cells cells; /* of the root */
	struct extent window; /* where Linux may place a region */
};

extern const struct board boards[]; /* up to one without a name */

/* How an overlay refers to a node of the base. */
enum provider_form {
	PROVIDER_LABEL, /* by a label of the base */
	PROVIDER_PHANDLE, /* by the number that the node has */
	PROVIDER_PATH, /* by a phandle that the overlay gives to it */
};

/* An entry of dmas or iommus. */
struct provider {
	char *name; /* of a channel */
	char *target; /* a label, or a path */
	enum provider_form form;
	uint32_t phandle; /* of PROVIDER_PHANDLE and PROVIDER_PATH */
	uint32_t *cells;
	size_t cell_count;
};

struct providers {
	struct provider *list;
	size_t count;
};

struct plan {
	const char *board; /* as given, for people */
	const char *heap; /* "reserved", "cma" or "carveout" */
	uint64_t size;
	uint64_t alignment; /* of its place */
	bool placed;
	uint64_t start;
	struct extent window; /* if it is not placed */
	bool windowed;
	struct cells cells;
	char *node_name; /* that the base does not have */
	char *region_name;
	char *label; /* of the region */
	bool coherent;
	struct providers channels;
	struct providers iommus;
};

/*
 * Reads NAME=PROVIDER,CELL... of a channel, or PROVIDER,CELL... if @named is
 * false.  Complains if it is wrong.
 */
bool provider_add(struct providers *providers, const char *text, bool named);

void plan_drop(struct plan *plan);

/* Decides for a board of the table; complains if it cannot be. */
bool plan_for_board(struct plan *plan, const struct board *board);

/* Decides for a tree of a board. */
bool plan_for_tree(struct plan *plan, const struct blob *base,
		   const struct tree *tree);

/* Returns the overlay's blob, for free(). */
void *overlay_blob(const struct plan *plan, size_t *size);

/* Returns the overlay's source, for free(). */
char *overlay_text(const struct plan *plan);

#endif /* DMACTL_DT_PLAN_H */
