// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Lines of a reduction: elements that go into one, by the short cut of the loop
 * or by the loop itself, one after the other.  Those that need it are converted in
 * pieces, and those that a mask is true for are picked out of each.
 */
#include "ufunc/reduce.h"

/* Whether elements to come cannot change a result. */
static bool is_settled(const struct dray_reduction *reduction,
		       const char *result)
{
	const struct dray_line *line = reduction->line;

	return line && line->settles && *result == line->settled;
}

static int add_line(const struct dray_reduction *reduction, char *result,
		    const char *in, int64_t stride, int64_t count)
{
	const struct dray_line *line = reduction->line;
	int ret = 0;

	if (line) {
		line->loop(result, in, stride, count);
		return 0;
	}
	/* One at a time: a loop need not see its output as its next input. */
	for (; count && !ret; count--, in += stride)
		ret = dray_method_loop(reduction->method, result, 0, in, stride,
				       1);
	return ret;
}

int64_t dray_reduce_pick(char *to, const char *from, int64_t stride,
			 int64_t item, const char *mask, int64_t mask_stride,
			 int64_t count)
{
	int64_t i, picked = 0;

#define PICK(type)                                                         \
	do {                                                               \
		for (i = 0; i < count; i++) {                              \
			((type *)(void *)to)[picked] =                     \
				*(const type *)(const void *)(from +       \
							      i * stride); \
			picked += mask[i * mask_stride] != 0;              \
		}                                                          \
	} while (0)
	switch (item) {
	case 1:
		PICK(uint8_t);
		break;
	case 2:
		PICK(uint16_t);
		break;
	case 4:
		PICK(uint32_t);
		break;
	case 8:
		PICK(uint64_t);
		break;
	default:
		for (i = 0; i < count; i++)
			if (mask[i * mask_stride])
				__builtin_memcpy(to + picked++ * item,
						 from + i * stride,
						 (size_t)item);
	}
#undef PICK
	return picked;
}

void dray_reduce_put(char *to, int64_t stride, const char *from, int64_t item,
		     const char *mask, int64_t mask_stride, int64_t count)
{
	int64_t i, put = 0;

	/* By bits: a branch that nothing predicts takes longer. */
#define PUT(type)                                                           \
	do {                                                                \
		for (i = 0; i < count; i++) {                               \
			type *at = (type *)(void *)(to + i * stride);       \
			const bool is_put = mask[i * mask_stride] != 0;     \
			const type bits = (type) - (type)is_put;            \
			const type value =                                  \
				((const type *)(const void *)from)[put];    \
                                                                            \
			*at = (type)((value & bits) | (*at & (type)~bits)); \
			put += is_put;                                      \
		}                                                           \
	} while (0)
	switch (item) {
	case 1:
		PUT(uint8_t);
		break;
	case 2:
		PUT(uint16_t);
		break;
	case 4:
		PUT(uint32_t);
		break;
	case 8:
		PUT(uint64_t);
		break;
	default:
		for (i = 0; i < count; i++)
			if (mask[i * mask_stride])
				__builtin_memcpy(to + i * stride,
						 from + put++ * item,
						 (size_t)item);
	}
#undef PUT
}

/* Reduces a line to one element. */
int dray_reduce_line(const struct dray_reduction *reduction,
		     struct dray_reduce_place at,
		     const struct dray_reduce_axis *line, bool first)
{
	const struct dray_method *method = reduction->method;
	const bool converts = reduction->converts;
	const int64_t item = dray_reduce_item(reduction);
	int64_t count = line->count, done, piece;
	int ret = 0;

	if (first) {
		ret = dray_method_set(method, at.result, 0, at.in, 0, 1);
		at = dray_place_move(at, line, 1);
		count--;
	}
	if (!converts && !at.mask && !ret)
		return count ? add_line(reduction, at.result, at.in, line->in,
					count)
			     : 0;
	for (done = 0; done < count && !ret; done += piece) {
		const char *in = at.in;
		int64_t stride = line->in, left;

		piece = count - done < method->piece ? count - done
						     : method->piece;
		left = piece;
		if (converts) {
			ret = dray_method_convert(method, &method->cast,
						  method->buffer, item, in,
						  stride, piece);
			in = method->buffer;
			stride = item;
		}
		if (at.mask) {
			left = dray_reduce_pick(reduction->picked, in, stride,
						item, at.mask, line->mask,
						piece);
			in = reduction->picked;
			stride = item;
		}
		if (!ret && left)
			ret = add_line(reduction, at.result, in, stride, left);
		if (is_settled(reduction, at.result))
			break;
		at.in += piece * line->in;
		if (at.mask)
			at.mask += piece * line->mask;
	}
	return ret;
}
