/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A tree of numbered address intervals, which may overlap: a search can ask for
 * older intervals only.  A balanced search tree by chance (a treap), in the order of the
 * lower ends; each node knows the highest end and the lowest number below them.  It is
 * without a lock and allocates nothing.
 */
#ifndef DRAY_BASE_INTERVAL_TREE_H
#define DRAY_BASE_INTERVAL_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct dray_interval {
	uintptr_t low, high; /* [low, high), not empty */
	uint64_t number;
	/* the tree's */
	struct dray_interval *left, *right;
	uint64_t priority; /* above the numbers of both children */
	uintptr_t highest; /* end, of this interval and all below it */
	uint64_t oldest; /* number, of these */
};

/* All zero is an empty tree. */
struct dray_interval_tree {
	struct dray_interval *root;
	uint64_t inserted; /* intervals so far */
};

/* The caller sets low, high and number, and keeps the interval until it is removed. */
void dray_interval_insert(struct dray_interval_tree *tree,
			  struct dray_interval *interval);
void dray_interval_remove(struct dray_interval_tree *tree,
			  struct dray_interval *interval);

/* Whether an interval is wanted. */
typedef bool dray_interval_wanted(const struct dray_interval *interval,
				  void *context);

/*
 * Returns a wanted interval that meets [low, high), with a number below @before, or NULL.
 */
struct dray_interval *
dray_interval_find(const struct dray_interval_tree *tree, uintptr_t low,
		   uintptr_t high, uint64_t before,
		   dray_interval_wanted *wanted, void *context);

#endif /* DRAY_BASE_INTERVAL_TREE_H */
