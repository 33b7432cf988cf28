/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Random views of a memory, and views made of them by the functions of view.h. */
#ifndef DRAY_TESTS_VIEWS_H
#define DRAY_TESTS_VIEWS_H

#include "fuzzer.h"

/* Bytes of the memory, which has this size exactly: sanitizers see its ends. */
#define MEMORY 512u
extern unsigned char *memory;

/* Allocates the memory and makes the types. */
void views_start(void);

/* Fills the memory, the same way for equal inputs. */
void views_fill(void);

/* Whether every element lies in the memory. */
bool views_inside(const struct dray_view *view);

/* Makes a view of the memory. */
void views_make(struct input *input, struct dray_view *view);

/* Changes a view by one function, or leaves it if that fails. */
void views_change(struct input *input, struct dray_view *view);

#endif /* DRAY_TESTS_VIEWS_H */
