// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Types in DLPack and in dray, and checks that both directions share.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <dray/transfer.h>

#include "interop/dlpack.h"
#include "private.h"

/* Kinds with a code, and the bits of their elements. */
static const struct {
	char kind;
	uint8_t code;
	uint8_t least; /* bits; each doubled up to the most */
	uint8_t most;
} kinds[] = {
	{ '?', DRAY_DLPACK_BOOL, 8, 8 },
	{ 'i', DRAY_DLPACK_INT, 8, 64 },
	{ 'u', DRAY_DLPACK_UINT, 8, 64 },
	{ 'f', DRAY_DLPACK_FLOAT, 16, 64 },
	{ 'c', DRAY_DLPACK_COMPLEX, 64, 128 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool has_bits(size_t kind, uint64_t bits)
{
	return bits >= kinds[kind].least && bits <= kinds[kind].most &&
	       !(bits & (bits - 1));
}

static int dlpack_type_refuse(dray_dtype dtype)
{
	char text[128];

	if (dray_dtype_format(dtype, text, sizeof(text)) < 0)
		snprintf(text, sizeof(text), "0x%" PRIx64, dtype);
	if (dray_dtype_flags(dtype) & DRAY_DTYPE_SWAPPED)
		return dray_fail(
			-EOPNOTSUPP,
			"type %s has the other byte order; DLPack has only this machine's",
			text);
	return dray_fail(-EOPNOTSUPP,
			 "DLPack has no code for elements of type %s", text);
}

int dray_dlpack_from_dtype(dray_dtype dtype, struct dray_dlpack_dtype *out)
{
	uint64_t bits = (uint64_t)dray_dtype_itemsize(dtype) * 8;
	char kind = dray_dtype_kind(dtype);
	size_t i;

	if (!dray_given(out, __func__))
		return -EINVAL;
	if (!dray_dtype_is_builtin(dtype) ||
	    dray_dtype_flags(dtype) & DRAY_DTYPE_SWAPPED)
		return dlpack_type_refuse(dtype);
	for (i = 0; i < KINDS; i++) {
		if (kinds[i].kind == kind && has_bits(i, bits)) {
			*out = (struct dray_dlpack_dtype){ kinds[i].code,
							   (uint8_t)bits, 1 };
			return 0;
		}
	}
	return dlpack_type_refuse(dtype);
}

int dray_dlpack_to_dtype(const struct dray_dlpack_dtype *type, dray_dtype *out)
{
	uint32_t size;
	size_t i;

	if (!dray_given(type, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (type->lanes != 1)
		return dray_fail(-EOPNOTSUPP,
				 "elements of %u lanes, only 1 is possible",
				 type->lanes);
	for (i = 0; i < KINDS; i++) {
		if (kinds[i].code != type->code || !has_bits(i, type->bits))
			continue;
		size = type->bits / 8u;
		*out = size == 1 ? DRAY_DTYPE(kinds[i].kind, '|', 1)
				 : DRAY_DTYPE(kinds[i].kind, DRAY_NATIVE_ORDER,
					      size);
		return 0;
	}
	return dray_fail(-EOPNOTSUPP,
			 "no type has DLPack's code %u with %u bits",
			 type->code, type->bits);
}

int dray_dlpack_check_aligned(const void *data, dray_dtype dtype)
{
	uint32_t alignment = dray_dtype_alignment(dtype);
	char text[DRAY_DTYPE_TYPESTR_SIZE];

	if (!((uintptr_t)data & (alignment - 1)))
		return 0;
	dray_dtype_format(dtype, text, sizeof(text));
	return dray_fail(
		-EINVAL,
		"data at %p are not aligned to %u bytes, as elements of type %s are",
		data, alignment, text);
}

int dray_dlpack_wait(const struct dray_view *view, uint32_t flags,
		     uint32_t known, int timeout_ms)
{
	unsigned int access = DRAY_ACCESS_READ;

	if (flags & ~known)
		return dray_fail(-EINVAL, "unknown flags 0x%" PRIx32,
				 flags & ~known);
	if (flags & DRAY_DLPACK_NO_WAIT || !dray_transfers_in_flight())
		return 0;
	if (view->flags & DRAY_WRITE)
		access |= DRAY_ACCESS_WRITE;
	return dray_view_wait(view, access, timeout_ms);
}
