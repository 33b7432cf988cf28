// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays as Arrow's.  Each branch owns a piece of memory, references to its elements
 * and its bits, and nothing of its parent's: a child that a consumer moves lives
 * on.  The release of a branch frees its own memory, in which the children's branches
 * lie.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interop/arrow_give.h"
#include "private.h"

static void arrow_export_release(struct ArrowArray *array)
{
	struct dray_arrow_held *held = array->private_data;
	int64_t i;

	/* A release of other memory, below, may look at the structure. */
	array->release = NULL;
	for (i = 0; i < array->n_children; i++) {
		if (array->children[i]->release)
			array->children[i]->release(array->children[i]);
	}
	dray_array_unref(held->bits);
	dray_array_unref(held->elements);
	free(held);
}

/* Starts a branch without memory, with released children.  -ENOMEM. */
static int arrow_export_start(struct ArrowArray *out, int64_t length,
			      size_t children)
{
	/* Each child, and a pointer to it. */
	size_t branch = sizeof(struct ArrowArray) + sizeof(void *);
	struct dray_arrow_held *held =
		calloc(1, sizeof(*held) + children * branch);
	size_t i;

	if (!held)
		return dray_fail(-ENOMEM, "no memory for an array of Arrow");
	*out = (struct ArrowArray){
		.length = length,
		.n_buffers = 1,
		.buffers = held->buffers,
		.n_children = (int64_t)children,
		.release = arrow_export_release,
		.private_data = held,
	};
	if (children)
		out->children =
			(struct ArrowArray **)(void *)&held->children[children];
	for (i = 0; i < children; i++)
		out->children[i] = &held->children[i];
	return 0;
}

static int arrow_export_fill(const struct dray_arrow_sender *sender,
			     const struct dray_view *view,
			     const struct dray_view *mask, int level,
			     struct ArrowArray *out);

/* Finds the part of a structured mask for the field @view. */
static int field_mask(const struct dray_view *mask, const char *name,
		      const struct dray_view *view, struct dray_view *out)
{
	int ret;

	if (dray_dtype_find_field(mask->dtype, name, &(size_t){ 0 }))
		return dray_fail(-EINVAL, "the mask has no field \"%.40s\"",
				 name);
	ret = dray_view_field(mask, name, out);
	if (ret)
		return ret;
	if (out->ndim > view->ndim ||
	    memcmp(out->shape, view->shape,
		   (size_t)out->ndim * sizeof(out->shape[0])))
		return dray_fail(
			-EINVAL,
			"the mask of field \"%.40s\" has another shape than the field",
			name);
	return 0;
}

static int fill_fields(const struct dray_arrow_sender *sender,
		       const struct dray_view *view,
		       const struct dray_view *mask, struct ArrowArray *out)
{
	bool parts = mask && dray_dtype_flags(mask->dtype) & DRAY_DTYPE_STRUCT;
	struct dray_dtype_field field = { 0 };
	struct dray_view child, marks;
	int64_t i;
	int ret = parts ? 0 : dray_arrow_set_nulls(out, mask);

	for (i = 0; !ret && i < out->n_children; i++) {
		ret = dray_arrow_field(view, (size_t)i, &field, &child);
		if (!ret && parts)
			ret = field_mask(mask, field.name, &child, &marks);
		if (!ret)
			ret = arrow_export_fill(sender, &child,
						parts ? &marks : NULL,
						view->ndim - 1,
						out->children[i]);
	}
	return ret;
}

/* Checks the type of a mask for the elements of @view. */
static int export_check_mask(const struct dray_view *view,
			     const struct dray_view *mask)
{
	char name[DRAY_DTYPE_TYPESTR_SIZE];

	if (mask->dtype == DRAY_BOOL ||
	    (dray_dtype_flags(mask->dtype) & dray_dtype_flags(view->dtype) &
	     DRAY_DTYPE_STRUCT))
		return 0;
	return dray_fail(-EINVAL, "a mask has bools, not %s",
			 dray_dtype_text(mask->dtype, name));
}

/*
 * Fills the branch of axis @level, merged with all axes before it.  @mask has the
 * axes of @view, or the axes in front of the parts of complex numbers.
 */
static int arrow_export_fill(const struct dray_arrow_sender *sender,
			     const struct dray_view *view,
			     const struct dray_view *mask, int level,
			     struct ArrowArray *out)
{
	bool structure = dray_dtype_flags(view->dtype) & DRAY_DTYPE_STRUCT;
	bool last = level == view->ndim - 1;
	const struct dray_view *marks =
		mask && level == mask->ndim - 1 ? mask : NULL;
	int64_t length = 1;
	size_t children = 1;
	int i, ret = 0;

	for (i = 0; i <= level; i++) {
		if (dray_mul_overflow(length, view->shape[i], &length))
			return dray_fail(
				-EOVERFLOW,
				"the first %d axes have more elements than 63 bits count",
				level + 1);
	}
	if (marks)
		ret = export_check_mask(view, marks);
	if (last)
		children = structure ? dray_dtype_field_count(view->dtype) : 0;
	else if (!ret)
		ret = dray_arrow_check_size(view->shape[level + 1]);
	if (!ret)
		ret = arrow_export_start(out, length, children);
	if (ret)
		return ret;
	if (last && structure)
		return fill_fields(sender, view, marks, out);
	if (last)
		return dray_arrow_fill_elements(sender, view, marks, out);
	ret = dray_arrow_set_nulls(out, marks);
	return ret ? ret
		   : arrow_export_fill(sender, view, mask, level + 1,
				       out->children[0]);
}

/* Checks array and mask, and waits until nothing is in flight in either. */
static int arrow_export_prepare(struct dray_array *array,
				const struct dray_view *mask, uint32_t flags,
				int timeout_ms, struct dray_view *view)
{
	int ret = dray_arrow_check_flags(flags);

	dray_array_view(array, view);
	if (!ret)
		ret = dray_arrow_check_axes(view->ndim);
	if (!ret && !(view->flags & DRAY_READ))
		ret = dray_fail(-EPERM, "the array may not be read");
	if (!ret && mask)
		ret = dray_view_check(mask, "the mask", NULL);
	if (!ret && mask && !(mask->flags & DRAY_READ))
		ret = dray_fail(-EPERM, "the mask may not be read");
	if (!ret && mask &&
	    (mask->ndim != view->ndim ||
	     memcmp(mask->shape, view->shape,
		    (size_t)view->ndim * sizeof(view->shape[0]))))
		ret = dray_fail(-EINVAL,
				"the mask has another shape than the array");
	if (!ret)
		ret = dray_arrow_wait(view, timeout_ms);
	if (!ret && mask)
		ret = dray_arrow_wait(mask, timeout_ms);
	return ret ? ret : dray_arrow_open_complex(view);
}

/* Passes on memory beyond the CPU's reach only in place: no copy and no mask. */
static int export_check_reach(const struct dray_arrow_sender *sender,
			      const struct dray_view *mask, bool device)
{
	if (mask && !dray_arrow_is_reached(mask))
		return dray_fail(-EOPNOTSUPP,
				 "the CPU does not reach the mask at %p",
				 mask->data);
	if (sender->reached)
		return 0;
	if (!device)
		return dray_fail(
			-EOPNOTSUPP,
			"the CPU does not reach the array at %p: only a device array passes it on",
			sender->array->data);
	return mask ? dray_fail(
			      -EOPNOTSUPP,
			      "an array that the CPU does not reach takes no mask")
		    : 0;
}

/* Exports, for the device interface too if @device.  @reached: by the CPU. */
static int export_array(struct dray_array *array, const struct dray_view *mask,
			uint32_t flags, int timeout_ms, bool device,
			struct ArrowArray *out, bool *reached)
{
	struct dray_arrow_sender sender = { .array = array, .flags = flags };
	struct ArrowArray result = { 0 };
	struct dray_view view;
	int ret = arrow_export_prepare(array, mask, flags, timeout_ms, &view);

	if (ret)
		return ret;
	*reached = sender.reached = dray_arrow_is_reached(&view);
	if (!sender.reached)
		sender.flags &= ~DRAY_ARROW_COPY;
	ret = export_check_reach(&sender, mask, device);
	if (!ret)
		ret = arrow_export_fill(&sender, &view, mask, 0, &result);
	if (!ret)
		*out = result;
	else if (result.release)
		result.release(&result);
	return ret;
}

int dray_arrow_export(struct dray_array *array, const struct dray_view *mask,
		      uint32_t flags, int timeout_ms, struct ArrowArray *out)
{
	bool reached;

	if (!dray_given(array, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	return export_array(array, mask, flags, timeout_ms, false, out,
			    &reached);
}

int dray_arrow_export_device(struct dray_array *array,
			     const struct dray_view *mask, uint32_t flags,
			     int timeout_ms, struct ArrowDeviceArray *out)
{
	struct ArrowDeviceArray result = { .device_id = -1 };
	bool reached = true;
	int ret;

	if (!dray_given(array, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = export_array(array, mask, flags, timeout_ms, true, &result.array,
			   &reached);
	if (ret)
		return ret;
	result.device_type = reached ? ARROW_DEVICE_CPU : ARROW_DEVICE_EXT_DEV;
	*out = result;
	return 0;
}
