/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Checks of views.  A view is a plain struct that a caller may fill by hand, so
 * nothing in it is trusted before dray_view_check().
 */
#ifndef DRAY_ARRAY_VIEW_H
#define DRAY_ARRAY_VIEW_H

#include <dray/view.h>

#define DRAY_VIEW_FACTS (DRAY_ALIGNED | DRAY_C_CONTIGUOUS | DRAY_F_CONTIGUOUS)
#define DRAY_VIEW_FLAGS \
	(DRAY_READ | DRAY_WRITE | DRAY_IMMUTABLE | DRAY_VIEW_FACTS)

/* Bytes that a view covers; low == high if it covers none. */
struct dray_extent {
	int64_t elements;
	int64_t bytes; /* elements times item size */
	int64_t low; /* relative to data */
	int64_t high;
};

/*
 * Checks a whole view and measures it.  @name begins the sentence.
 * -EINVAL (ndim, an extent below 0, a type, flags, no data), -EOVERFLOW (its
 * bytes do not fit 63 bits or leave the address space).
 */
int dray_view_check(const struct dray_view *view, const char *name,
		    struct dray_extent *extent);

/* Sets the flags that say how a checked view lies in memory. */
void dray_view_set_facts(struct dray_view *view);

/*
 * Places a view that another process described over the @size bytes at @memory.
 * Its ndim, shape, strides, flags and type are in it, and are not trusted, but
 * for the address of a type object.
 * @offset: bytes, of the element [0, 0, ...]
 * -EBADMSG if any of it is wrong or leads out of the memory.
 */
int dray_view_place(struct dray_view *view, void *memory, uint64_t size,
		    uint64_t offset);

/* dray_view_assign() for a pair that matches and was reduced.  -ENOMEM. */
struct dray_layout;
struct dray_operand;
int dray_view_assign_reduced(const struct dray_layout *layout,
			     const struct dray_operand *dst,
			     const struct dray_operand *src);

/* Adds to an address that need not belong to an object; may wrap. */
static inline void *dray_address_add(const void *address, int64_t offset)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	return (void *)((uintptr_t)address + (uintptr_t)offset);
}

#endif /* DRAY_ARRAY_VIEW_H */
