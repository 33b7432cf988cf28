// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Truth of elements.  The sign of a zero does not count, so that of a floating
 * point number all bits but that one are compared with 0.
 */
#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "index/rows.h"
#include "index/truth.h"
#include "private.h"

#define DEFINE_TRUTH(type)                                                  \
	static void truth_##type(const struct dray_truth *truth,            \
				 const unsigned char *data, int64_t stride, \
				 size_t count, unsigned char *out)          \
	{                                                                   \
		const type mask = (type)truth->mask;                        \
		size_t i;                                                   \
                                                                            \
		for (i = 0; i < count; i++) {                               \
			type raw;                                           \
                                                                            \
			memcpy(&raw, data, sizeof(raw));                    \
			out[i] = (raw & mask) != 0;                         \
			data += stride;                                     \
		}                                                           \
	}

DEFINE_TRUTH(uint8_t)
DEFINE_TRUTH(uint16_t)
DEFINE_TRUTH(uint32_t)
DEFINE_TRUTH(uint64_t)

static unsigned char is_true(const struct dray_truth *truth,
			     const unsigned char *element)
{
	size_t i;

	for (i = 0; i < truth->size; i++) {
		size_t of_part = truth->part ? i % truth->part : 0;
		unsigned char at = element[i];

		if (truth->part && of_part >= truth->used)
			continue;
		if (truth->part && of_part == truth->sign)
			at &= 0x7f;
		if (at)
			return 1;
	}
	return 0;
}

static void truth_bytes(const struct dray_truth *truth,
			const unsigned char *data, int64_t stride, size_t count,
			unsigned char *out)
{
	size_t i;

	for (i = 0; i < count; i++) {
		out[i] = is_true(truth, data);
		data += stride;
	}
}

/* Where the sign of floating point numbers lies. */
static void find_sign(struct dray_truth *truth, dray_dtype dtype)
{
	char kind = dray_dtype_kind(dtype);
	bool little = dray_dtype_order(dtype) == '<';

	truth->part = 0;
	if (kind != 'f' && kind != 'c')
		return;
	truth->part = kind == 'c' ? truth->size / 2 : truth->size;
	truth->used = truth->part;
	/* An x86 long double is 10 bytes and a gap. */
	if (LDBL_MANT_DIG == 64 && truth->part > 8 && little)
		truth->used = 10;
	truth->sign = little ? truth->used - 1 : 0;
}

/* Elements of a type object, by its function. */
static void truth_object(const struct dray_truth *truth,
			 const unsigned char *data, int64_t stride,
			 size_t count, unsigned char *out)
{
	size_t i;

	for (i = 0; i < count; i++) {
		out[i] = truth->functions->nonzero(truth->dtype, data);
		data += stride;
	}
}

void dray_truth_of(struct dray_truth *truth, dray_dtype dtype)
{
	size_t i;

	if (!dray_dtype_is_builtin(dtype)) {
		truth->dtype = dtype;
		truth->functions = dray_dtype_functions(dtype);
		truth->loop = truth_object;
		return;
	}
	truth->size = dray_dtype_itemsize(dtype);
	find_sign(truth, dtype);
	truth->mask = UINT64_MAX;
	truth->loop = truth_bytes;
	if (truth->size > 8)
		return;
	for (i = 0; truth->part && i < truth->size; i += truth->part)
		((unsigned char *)&truth->mask)[i + truth->sign] &= 0x7f;
	if (truth->size == 1)
		truth->loop = truth_uint8_t;
	else if (truth->size == 2)
		truth->loop = truth_uint16_t;
	else if (truth->size == 4)
		truth->loop = truth_uint32_t;
	else if (truth->size == 8)
		truth->loop = truth_uint64_t;
	if (truth->loop != truth_bytes &&
	    __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		truth->mask >>= 64 - 8 * truth->size;
}

int dray_truth_view(const struct dray_view *view, struct dray_view *out)
{
	struct dray_truth truth;
	unsigned char *memory;
	struct dray_index_rows rows;
	int64_t size = dray_view_size(view);
	int ret;

	dray_truth_of(&truth, view->dtype);
	memory = malloc(size ? (size_t)size : 1);
	if (!memory)
		return dray_fail(-ENOMEM, "no memory for %lld booleans",
				 (long long)size);
	ret = dray_view_init(out, memory, DRAY_BOOL, view->ndim, view->shape,
			     NULL);
	if (ret) {
		free(memory);
		return ret;
	}
	if (!dray_rows_start(&rows, &view, 1))
		return 0;
	do {
		truth.loop(&truth, rows.data[0], rows.strides[0],
			   (size_t)rows.count, memory);
		memory += rows.count;
	} while (dray_rows_next(&rows));
	return 0;
}
