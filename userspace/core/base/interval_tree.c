// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * interval_tree: functions call themselves as deep as the tree is, some two dozen levels
 * for thousands of intervals.
 */
#include <stddef.h>

#include "base/interval_tree.h"

/* NOLINTBEGIN(misc-no-recursion) */

/* Mixes a number (splitmix64), so that no order of insertions makes a deep tree. */
static uint64_t interval_tree_mix(uint64_t number)
{
	number += 0x9e3779b97f4a7c15;
	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
	number = (number ^ number >> 27) * 0x94d049bb133111eb;
	return number ^ number >> 31;
}

/* The order of the tree: that of equal lower ends is by age. */
static bool is_before(const struct dray_interval *a,
		      const struct dray_interval *b)
{
	if (a->low != b->low)
		return a->low < b->low;
	if (a->number != b->number)
		return a->number < b->number;
	return (uintptr_t)a < (uintptr_t)b;
}

static void add_child(struct dray_interval *interval,
		      const struct dray_interval *child)
{
	if (!child)
		return;
	if (child->highest > interval->highest)
		interval->highest = child->highest;
	if (child->oldest < interval->oldest)
		interval->oldest = child->oldest;
}

static void interval_tree_sum(struct dray_interval *interval)
{
	interval->highest = interval->high;
	interval->oldest = interval->number;
	add_child(interval, interval->left);
	add_child(interval, interval->right);
}

/* Parts a tree into the intervals before @at and those behind it. */
static void interval_tree_split(struct dray_interval *root,
				const struct dray_interval *at,
				struct dray_interval **before,
				struct dray_interval **behind)
{
	if (!root) {
		*before = NULL;
		*behind = NULL;
		return;
	}
	if (is_before(root, at)) {
		interval_tree_split(root->right, at, &root->right, behind);
		*before = root;
	} else {
		interval_tree_split(root->left, at, before, &root->left);
		*behind = root;
	}
	interval_tree_sum(root);
}

/* Joins two trees, all intervals of @a before those of @b. */
static struct dray_interval *interval_tree_join(struct dray_interval *a,
						struct dray_interval *b)
{
	if (!a || !b)
		return a ? a : b;
	if (a->priority > b->priority) {
		a->right = interval_tree_join(a->right, b);
		interval_tree_sum(a);
		return a;
	}
	b->left = interval_tree_join(a, b->left);
	interval_tree_sum(b);
	return b;
}

static struct dray_interval *
interval_tree_insert(struct dray_interval *root, struct dray_interval *interval)
{
	if (!root || interval->priority > root->priority) {
		interval_tree_split(root, interval, &interval->left,
				    &interval->right);
		interval_tree_sum(interval);
		return interval;
	}
	if (is_before(interval, root))
		root->left = interval_tree_insert(root->left, interval);
	else
		root->right = interval_tree_insert(root->right, interval);
	interval_tree_sum(root);
	return root;
}

static struct dray_interval *tree_take_out(struct dray_interval *root,
					   const struct dray_interval *interval)
{
	if (root == interval)
		return interval_tree_join(root->left, root->right);
	if (is_before(interval, root))
		root->left = tree_take_out(root->left, interval);
	else
		root->right = tree_take_out(root->right, interval);
	interval_tree_sum(root);
	return root;
}

void dray_interval_insert(struct dray_interval_tree *tree,
			  struct dray_interval *interval)
{
	interval->priority = interval_tree_mix(tree->inserted++);
	tree->root = interval_tree_insert(tree->root, interval);
}

void dray_interval_remove(struct dray_interval_tree *tree,
			  struct dray_interval *interval)
{
	tree->root = tree_take_out(tree->root, interval);
}

struct tree_search {
	uintptr_t low, high;
	uint64_t before;
	dray_interval_wanted *wanted;
	void *context;
};

static struct dray_interval *
interval_tree_find(struct dray_interval *root, const struct tree_search *search)
{
	struct dray_interval *found;

	if (!root || root->highest <= search->low ||
	    root->oldest >= search->before)
		return NULL;
	found = interval_tree_find(root->left, search);
	if (found)
		return found;
	if (root->low >= search->high)
		return NULL;
	if (root->high > search->low && root->number < search->before &&
	    search->wanted(root, search->context))
		return root;
	return interval_tree_find(root->right, search);
}

struct dray_interval *dray_interval_find(const struct dray_interval_tree *tree,
					 uintptr_t low, uintptr_t high,
					 uint64_t before,
					 dray_interval_wanted *wanted,
					 void *context)
{
	const struct tree_search search = { low, high, before, wanted,
					    context };

	return low < high ? interval_tree_find(tree->root, &search) : NULL;
}

/* NOLINTEND(misc-no-recursion) */
