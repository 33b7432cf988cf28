// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Arrays of strings as Arrow's text and bytes.  Offsets and bits of validity are made
 * anew, beside the books of the export.  The bytes stay where they are, if they lie
 * side by side; else those of a copy are exported.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array/strings.h"
#include "interop/arrow_text.h"
#include "private.h"

struct strings_held {
	struct dray_block *bytes; /* a reference */
	const void *buffers[3];
	int64_t room[]; /* offsets, then bits */
};

static void arrow_text_release(struct ArrowArray *array)
{
	struct strings_held *held = array->private_data;

	array->release = NULL;
	dray_block_unref(held->bytes);
	free(held);
}

/* Whether bytes are UTF-8: shortest forms, no surrogates, up to U+10FFFF. */
static bool text_is_utf8(const uint8_t *at, const uint8_t *end)
{
	uint8_t lead, low, high;
	int more;

	while (at < end) {
		lead = *at++;
		if (lead < 0x80)
			continue;
		if (lead < 0xc2 || lead > 0xf4)
			return false;
		more = 1 + (lead >= 0xe0) + (lead >= 0xf0);
		if (more > end - at)
			return false;
		low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
		high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
		for (; more; more--, at++, low = 0x80, high = 0xbf) {
			if (*at < low || *at > high)
				return false;
		}
	}
	return true;
}

/* Strings to be exported. */
struct text_plan {
	struct dray_arrow_text text;
	struct dray_view view;
	int64_t bytes; /* in all */
	int64_t nulls;
	const char *
		begin; /* of the first string with bytes; NULL: there is none */
	bool gaps; /* between strings */
};

/* Measures and checks strings.  -EINVAL (no UTF-8), -EOVERFLOW. */
static int text_measure(struct text_plan *plan)
{
	const int64_t limit = plan->text.width == 4 ? INT32_MAX : INT64_MAX;
	const struct dray_string *string;
	const char *next = NULL;
	int64_t i;

	for (i = 0; i < plan->view.shape[0]; i++) {
		string = dray_strings_at(&plan->view, i);
		plan->nulls += !string->begin;
		if (!string->begin || string->begin == string->end)
			continue;
		if (!plan->begin)
			plan->begin = next = string->begin;
		plan->gaps |= string->begin != next;
		next = string->end;
		if (dray_add_overflow(plan->bytes, string->end - string->begin,
				      &plan->bytes) ||
		    plan->bytes > limit)
			return dray_fail(
				-EOVERFLOW,
				"the first %" PRId64
				" strings have more than %" PRId64
				" bytes: Arrow's formats U and Z have room for more",
				i + 1, limit);
		if (plan->text.is_text &&
		    !text_is_utf8((const uint8_t *)string->begin,
				  (const uint8_t *)string->end))
			return dray_fail(
				-EINVAL,
				"string %" PRId64
				" is not UTF-8: Arrow's formats z and Z have any bytes",
				i);
	}
	return 0;
}

static void text_fill(const struct text_plan *plan, void *offsets,
		      uint8_t *bits)
{
	int64_t end = 0, i, count = plan->view.shape[0];
	const struct dray_string *string;

	for (i = 0; i <= count; i++) {
		if (plan->text.width == 4)
			((int32_t *)offsets)[i] = (int32_t)end;
		else
			((int64_t *)offsets)[i] = end;
		if (i == count)
			break;
		string = dray_strings_at(&plan->view, i);
		end += string->end - string->begin;
		if (bits && string->begin)
			bits[i / 8] |= (uint8_t)(1 << (i % 8));
	}
}

/* Exports strings whose bytes lie side by side. */
static int text_send(const struct text_plan *plan,
		     const struct dray_block *strings, struct ArrowArray *out)
{
	/* As many strings exist, each of 16 bytes: no sum overflows. */
	size_t count = (size_t)plan->view.shape[0];
	size_t offsets = (count + 2) / 2 * 2 * (size_t)plan->text.width;
	size_t bits = plan->nulls ? count / 8 + 1 : 0;
	struct strings_held *held = calloc(1, sizeof(*held) + offsets + bits);

	if (!held)
		return dray_fail(-ENOMEM,
				 "no memory for the offsets of %zu strings",
				 count);
	held->bytes = dray_block_ref(dray_strings_bytes(strings));
	if (plan->nulls)
		held->buffers[0] = (uint8_t *)held->room + offsets;
	held->buffers[1] = held->room;
	/* Consumers expect an address, also of no bytes. */
	held->buffers[2] = plan->begin ? plan->begin : (const char *)held->room;
	text_fill(plan, held->room,
		  plan->nulls ? (uint8_t *)held->room + offsets : NULL);
	*out = (struct ArrowArray){
		.length = plan->view.shape[0],
		.null_count = plan->nulls,
		.n_buffers = 3,
		.buffers = held->buffers,
		.release = arrow_text_release,
		.private_data = held,
	};
	return 0;
}

int dray_arrow_export_strings(const struct dray_block *strings,
			      const char *format, uint32_t flags,
			      struct ArrowArray *out)
{
	struct text_plan plan = { .bytes = 0 };
	struct dray_block *copy;
	int ret;

	if (!dray_given(format, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_arrow_check_flags(flags);
	if (!ret)
		ret = dray_strings_view(strings, &plan.view);
	if (!ret)
		ret = dray_arrow_find_text(format, &plan.text);
	if (!ret && plan.text.width == DRAY_ARROW_VIEW_SIZE)
		ret = dray_fail(
			-EOPNOTSUPP,
			"Arrow's format \"%s\" is only imported: export \"%s\"",
			format, format + 1);
	if (!ret)
		ret = text_measure(&plan);
	if (ret)
		return ret;
	if (!plan.gaps)
		return text_send(&plan, strings, out);
	if (!(flags & DRAY_ARROW_COPY))
		return dray_fail(
			-EAGAIN,
			"the bytes of the strings do not lie side by side and need a copy, which is not allowed");
	ret = dray_strings_take(strings, NULL, &copy);
	if (ret)
		return ret;
	ret = dray_arrow_export_strings(copy, format, 0, out);
	dray_block_unref(copy);
	return ret;
}
