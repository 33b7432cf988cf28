// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Text of Arrow's, made by a stranger: an import fails and leaves the structure, or a
 * second reader finds the same strings, in memory of exactly the size of the structure.
 * Slices and chosen strings are the same strings, argsort() sorts, and exported strings
 * can be imported again.
 */
#include <dray/array/arrow.h>
#include <dray/array/strings.h>

#include "fuzzer.h"

#define STRINGS 12 /* the most of an input */
#define TEXT 40 /* the most bytes */

static const char *const formats[] = { "u", "z", "U", "Z", "vu", "vz" };

/* The structure: every piece is an allocation of its own size. */
static struct {
	struct ArrowSchema schema;
	struct ArrowArray array;
	const void *buffers[4];
	void *valid, *bounds, *text;
	int64_t sizes[1]; /* of the buffers of views */
	int released;
} made;

static void *copy_exactly(const void *bytes, size_t size)
{
	void *copy = malloc(size ? size : 1);

	holds(copy);
	memcpy(copy, bytes, size);
	return copy;
}

/* The schema is borrowed: nobody but the fuzzer may end it. */
static void keep_schema(struct ArrowSchema *schema)
{
	holds(!schema);
}

static void made_release(struct ArrowArray *array)
{
	made.released++;
	array->release = NULL;
}

/* Makes offsets of 32 or 64 bits; most do not decrease. */
static void make_offsets(struct input *input, size_t count, size_t size,
			 bool is_wide)
{
	int64_t wider[STRINGS + 1];
	int32_t narrow[STRINGS + 1];
	int64_t at = 0;
	size_t i;

	for (i = 0; i <= count; i++) {
		at += input_below(input, 5);
		if (at > (int64_t)size)
			at = (int64_t)size;
		wider[i] = at;
		if (!input_below(input, 64) && i < count)
			wider[i] = (int64_t)input_number(input, 8);
		narrow[i] = (int32_t)wider[i];
	}
	made.bounds = is_wide ? copy_exactly(wider, (count + 1) * 8)
			      : copy_exactly(narrow, (count + 1) * 4);
}

/* Makes views of 16 bytes: a length, and the text or its place in the buffer. */
static void make_views(struct input *input, size_t count, size_t size)
{
	int32_t views[STRINGS][4] = { 0 };
	size_t i;

	for (i = 0; i < count; i++) {
		views[i][0] = input_below(input, 20);
		if (views[i][0] > 12) {
			views[i][2] = input_below(input, 16) ? 0 : 1;
			views[i][3] = input_below(input, (int)size + 1);
		} else {
			views[i][1] = (int32_t)input_number(input, 4);
		}
		if (!input_below(input, 64))
			views[i][input_below(input, 4)] =
				(int32_t)input_number(input, 4);
	}
	made.bounds = copy_exactly(views, count * 16);
}

static void make(struct input *input)
{
	const char *format = formats[input_below(input, 6)];
	bool views = format[0] == 'v';
	size_t count = (size_t)input_below(input, STRINGS), size, offset;
	uint16_t bits = (uint16_t)input_number(input, 2);
	uint8_t text[TEXT];

	memset(&made, 0, sizeof(made));
	size = (size_t)input_below(input, TEXT);
	for (size_t i = 0; i < size; i++)
		text[i] = (uint8_t)input_below(input, 4);
	made.text = copy_exactly(text, size);
	if (views)
		make_views(input, count, size);
	else
		make_offsets(input, count, size,
			     format[0] == 'U' || format[0] == 'Z');
	if (input_below(input, 2))
		made.valid = copy_exactly(&bits, (count + 7) / 8);
	offset = count ? (size_t)input_below(input, (int)count) : 0;
	made.sizes[0] = (int64_t)size;
	made.buffers[0] = made.valid;
	made.buffers[1] = made.bounds;
	made.buffers[2] = made.text;
	made.buffers[3] = made.sizes;
	made.schema = (struct ArrowSchema){ .format = format,
					    .flags = ARROW_FLAG_NULLABLE,
					    .release = keep_schema };
	made.array = (struct ArrowArray){
		.length = (int64_t)(count - offset),
		.null_count = -1,
		.offset = (int64_t)offset,
		.n_buffers = views ? 4 : 3,
		.buffers = made.buffers,
		.release = made_release,
	};
	if (!input_below(input, 64))
		made.array.length = -1 - (int64_t)(input_number(input, 8) / 2);
	if (!input_below(input, 64))
		made.array.n_buffers = input_below(input, 5) - 1;
}

static void made_free(void)
{
	free(made.valid);
	free(made.bounds);
	free(made.text);
}

/* Finds string @i of the structure a second time; false: a null. */
static bool made_string(const struct ArrowArray *array, size_t i,
			const char **begin, size_t *size)
{
	const char *text = made.text;
	const int32_t *view;
	int64_t bounds[2];

	i += (size_t)array->offset;
	if (made.valid && !(((uint8_t *)made.valid)[i / 8] >> i % 8 & 1))
		return false;
	if (made.schema.format[0] == 'v') {
		view = (const int32_t *)made.bounds + 4 * i;
		*size = (size_t)view[0];
		*begin = view[0] <= 12 ? (const char *)(view + 1)
				       : text + view[3];
		return true;
	}
	if (made.schema.format[0] < 'a') {
		bounds[0] = ((int64_t *)made.bounds)[i];
		bounds[1] = ((int64_t *)made.bounds)[i + 1];
	} else {
		bounds[0] = ((int32_t *)made.bounds)[i];
		bounds[1] = ((int32_t *)made.bounds)[i + 1];
	}
	*begin = text + bounds[0];
	*size = (size_t)(bounds[1] - bounds[0]);
	return true;
}

static void check_same(const struct dray_block *a, size_t i,
		       const struct dray_block *b, size_t j)
{
	const char *begin[2], *end[2];

	holds(!dray_strings_get(a, i, &begin[0], &end[0]));
	holds(!dray_strings_get(b, j, &begin[1], &end[1]));
	holds(!begin[0] == !begin[1]);
	holds(end[0] - begin[0] == end[1] - begin[1]);
	holds(!begin[0] ||
	      !memcmp(begin[0], begin[1], (size_t)(end[0] - begin[0])));
}

static void check_import(const struct dray_block *strings,
			 const struct ArrowArray *before)
{
	size_t count = dray_strings_count(strings), i, size;
	const char *begin, *end, *wanted;

	holds(count == (size_t)before->length);
	for (i = 0; i < count; i++) {
		holds(!dray_strings_get(strings, i, &begin, &end));
		if (!made_string(before, i, &wanted, &size)) {
			holds(!begin && !end);
			continue;
		}
		holds((size_t)(end - begin) == size);
		holds(!memcmp(begin, wanted, size));
	}
}

/* Python's rule for an end of a slice of @count strings. */
static int64_t end_of(int64_t end, int64_t count, bool backward)
{
	if (end < 0)
		end += count;
	if (end < 0)
		return backward ? -1 : 0;
	return end < count ? end : count - backward;
}

static void check_slice(struct input *input, const struct dray_block *strings)
{
	int64_t count = (int64_t)dray_strings_count(strings);
	int64_t start = input_around(input, STRINGS);
	int64_t stop = input_around(input, STRINGS);
	int64_t step = input_around(input, 3), at;
	struct dray_block *part;
	size_t i = 0;
	int ret = dray_strings_slice(strings, start, stop, step, &part);

	holds(!ret == !!step);
	if (ret)
		return;
	at = end_of(start, count, step < 0);
	stop = end_of(stop, count, step < 0);
	for (; step < 0 ? at > stop : at < stop; at += step)
		check_same(part, i++, strings, (size_t)at);
	holds(dray_strings_count(part) == i);
	dray_block_unref(part);
}

/* Whether string @i is at most string @j; a null is behind all. */
static bool in_order(const struct dray_block *strings, size_t i, size_t j)
{
	const char *a, *a_end, *b, *b_end;
	size_t common;
	int order;

	holds(!dray_strings_get(strings, i, &a, &a_end));
	holds(!dray_strings_get(strings, j, &b, &b_end));
	if (!a || !b)
		return !b;
	common = (size_t)(a_end - a < b_end - b ? a_end - a : b_end - b);
	order = common ? memcmp(a, b, common) : 0;
	return order ? order < 0 : a_end - a <= b_end - b;
}

static void check_order(const struct dray_block *strings)
{
	int64_t count = (int64_t)dray_strings_count(strings), i;
	int64_t at[STRINGS];
	struct dray_block *sorted;
	struct dray_view view;
	uint32_t seen = 0;

	holds(!dray_view_init(&view, at, DRAY_INT64, 1, &count, NULL));
	holds(!dray_strings_argsort(strings, &view));
	holds(!dray_strings_take(strings, &view, &sorted));
	for (i = 0; i < count; i++) {
		holds(at[i] >= 0 && at[i] < count);
		seen |= 1u << at[i];
		check_same(sorted, (size_t)i, strings, (size_t)at[i]);
		if (!i)
			continue;
		holds(in_order(sorted, (size_t)i - 1, (size_t)i));
		/* Equal strings stay in their order. */
		holds(!in_order(sorted, (size_t)i, (size_t)i - 1) ||
		      at[i - 1] < at[i]);
	}
	holds(seen == (1u << count) - 1);
	dray_block_unref(sorted);
}

static void check_round_trip(struct input *input,
			     const struct dray_block *strings)
{
	const char *format = formats[1 + 2 * input_below(input, 2)];
	struct ArrowSchema schema;
	struct ArrowArray array;
	struct dray_block *again;

	holds(!dray_arrow_export_strings(strings, format, DRAY_ARROW_COPY,
					 &array));
	holds(!dray_arrow_schema_strings(format, &schema));
	holds(!dray_arrow_import_strings(&schema, &array, -1, &again));
	holds(dray_strings_count(again) == dray_strings_count(strings));
	for (size_t i = 0; i < dray_strings_count(again); i++)
		check_same(again, i, strings, i);
	dray_block_unref(again);
	schema.release(&schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct dray_block *strings = NULL;
	struct ArrowArray before;
	int ret;

	make(&input);
	before = made.array;
	ret = dray_arrow_import_strings(&made.schema, &made.array, -1,
					&strings);
	holds(ret <= 0);
	holds(!!ret == !strings);
	if (ret) {
		holds(!memcmp(&before, &made.array, sizeof(before)));
	} else {
		holds(!made.array.release);
		check_import(strings, &before);
		check_slice(&input, strings);
		check_order(strings);
		check_round_trip(&input, strings);
		dray_block_unref(strings);
	}
	holds(made.released == !ret);
	made_free();
	return 0;
}
