/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The elements and nulls of Arrow's structures, read one by one as the specification
 * says, beside those of an imported array.
 */
#ifndef DRAY_TESTS_ARROW_MODEL_H
#define DRAY_TESTS_ARROW_MODEL_H

#include "arrow_trees.h"

/* A range of a node's elements. */
struct place {
	const struct ArrowSchema *schema;
	const struct ArrowArray *array;
	int64_t first; /* not counting those before the node's offset */
	int64_t count;
};

/* The same range of a structure's child. */
struct place child_of(const struct place *place, int index);

/*
 * Checks that @view has these elements in C order, and @mask (NULL: none are null)
 * their nulls.  @above: for each element, whether a parent is null; NULL: none is.
 */
void check_place(const struct place *place, const bool *above,
		 const struct dray_view *view, const struct dray_view *mask);

/* Does so for a child of a structure, with the structure's own nulls. */
void check_child(const struct place *place, int index,
		 const struct dray_view *view, const struct dray_view *mask);

/* Sends an array out and takes it in again, with the same elements and nulls. */
void arrow_round_trip(struct input *input);

#endif /* DRAY_TESTS_ARROW_MODEL_H */
