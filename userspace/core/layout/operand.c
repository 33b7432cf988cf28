// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Operands: measures views, finds their blocks, and checks that a pair can be
 * copied.
 */
#include <errno.h>
#include <inttypes.h>

#include "layout/operand.h"
#include "base/error.h"
#include "base/number.h"
#include "pool/busy.h"

int dray_operand_init(struct dray_operand *operand,
		      const struct dray_view *view, const char *name)
{
	int ret = dray_view_is_usual(view, &operand->extent)
			  ? 0
			  : dray_view_check(view, name, &operand->extent);

	operand->located = false;
	operand->held = false;
	if (ret)
		return ret;
	operand->view = view;
	operand->name = name;
	operand->span.low = (uintptr_t)view->data +
			    (uintptr_t)dray_alone(operand->extent.low);
	operand->span.high = (uintptr_t)view->data +
			     (uintptr_t)dray_alone(operand->extent.high);
	return 0;
}

bool dray_operand_locate(struct dray_operand *operand, bool hold)
{
	const void *lowest =
		dray_address_add(operand->view->data, operand->extent.low);
	int ret;

	if (!operand->located) {
		ret = hold ? dray_locate_hold(lowest, &operand->location)
			   : dray_locate(lowest, &operand->location);
		if (ret)
			operand->location.buffer = NULL;
		operand->located = true;
		operand->held = hold && !ret;
	}
	return operand->location.buffer;
}

int dray_operand_check_block(const struct dray_operand *operand)
{
	const struct dray_location *where = &operand->location;

	if (!where->buffer)
		return dray_fail(-EINVAL, "%s lies outside of dray's memory",
				 operand->name);
	if (operand->span.high - (uintptr_t)where->block > where->block_size)
		return dray_fail(-EINVAL,
				 "%s leaves its block of %" PRIu64 " bytes",
				 operand->name, where->block_size);
	return 0;
}

void dray_operand_drop(struct dray_operand *operand)
{
	if (operand->held)
		dray_locate_release(&operand->location);
	operand->held = false;
}

static int match_types(const struct dray_view *dst, const struct dray_view *src)
{
	char to[64] = "", from[64] = "";

	if (dst->dtype == src->dtype ||
	    dray_dtype_equal(dst->dtype, src->dtype))
		return 0;
	dray_dtype_format(dst->dtype, to, sizeof(to));
	dray_dtype_format(src->dtype, from, sizeof(from));
	return dray_fail(
		-EINVAL,
		"elements of %s cannot be copied to %s: nothing is converted",
		from, to);
}

static int match_shapes(const struct dray_view *dst,
			const struct dray_view *src)
{
	int i;

	if (dst->ndim != src->ndim)
		return dray_fail(
			-EINVAL,
			"the destination has %d axes, the source has %d",
			dst->ndim, src->ndim);
	for (i = 0; i < dst->ndim; i++) {
		if (dst->shape[i] != src->shape[i])
			return dray_fail(
				-EINVAL,
				"axis %d has %" PRId64
				" elements in the destination and %" PRId64
				" in the source",
				i, dst->shape[i], src->shape[i]);
	}
	return 0;
}

int dray_operand_check_writable(const struct dray_operand *operand)
{
	const struct dray_view *view = operand->view;
	int i;

	if (!(view->flags & DRAY_WRITE))
		return dray_fail(-EPERM, "%s is %s", operand->name,
				 view->flags & DRAY_IMMUTABLE ? "immutable"
							      : "read-only");
	for (i = 0; dray_view_has_bytes(view) && i < view->ndim; i++) {
		if (view->strides[i] == 0 && view->shape[i] > 1)
			return dray_fail(
				-EINVAL,
				"axis %d of %s has %" PRId64
				" elements at one address (a stride of 0)",
				i, operand->name, view->shape[i]);
	}
	return 0;
}

int dray_operand_match_shapes(const struct dray_operand *dst,
			      const struct dray_operand *src)
{
	int ret;

	if (!(src->view->flags & DRAY_READ))
		return dray_fail(-EPERM, "the source may not be read");
	ret = match_shapes(dst->view, src->view);
	return ret ? ret : dray_operand_check_writable(dst);
}

int dray_operand_match(const struct dray_operand *dst,
		       const struct dray_operand *src)
{
	int ret = dray_operand_match_shapes(dst, src);

	return ret ? ret : match_types(dst->view, src->view);
}
