// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * assign: the CPU's copy against a loop over elements, with every byte that
 * belongs to no element watched.
 */
#include <dray/array.h>

#include "node.h"
#include "random_view.h"

#define ROOM 40000

static unsigned char to[ROOM], from[ROOM], expected[ROOM], aside[ROOM];

static void fill(struct dice *dice, unsigned char *memory, size_t room)
{
	for (size_t i = 0; i < room; i++)
		memory[i] = (unsigned char)roll(dice, 256);
}

/* The slow way's result for all of @memory's ROOM bytes. */
static void slow_copy(unsigned char *memory, const struct dray_view *dst,
		      const struct dray_view *src)
{
	size_t itemsize = dray_dtype_itemsize(dst->dtype), count = 0;
	int64_t position[DRAY_MAX_NDIM] = { 0 };

	if (dray_view_size(dst) == 0)
		return;
	do {
		memcpy(aside + itemsize * count++, walk_at(src, position),
		       itemsize);
	} while (walk_on(src, position));
	count = 0;
	memset(position, 0, sizeof(position));
	memcpy(expected, memory, ROOM);
	do {
		memcpy(expected + (walk_at(dst, position) - memory),
		       aside + itemsize * count++, itemsize);
	} while (walk_on(dst, position));
}

FACT(random_pairs_are_copied_and_gaps_are_not)
{
	static const uint32_t sizes[] = { 1, 2, 3,  4,	5,  6,	7,
					  8, 9, 12, 16, 17, 24, 32 };
	struct dice dice = { 12345 };
	int done = 0;

	fill(&dice, to, ROOM);
	fill(&dice, from, ROOM);
	while (done < rounds(20000)) {
		uint32_t itemsize = sizes[roll(&dice, 14)];
		struct dray_view dst, src;
		int64_t shape[4];
		int ndim = random_shape(&dice, shape);

		if (ndim && roll(&dice, 3) == 0) /* long enough for all loops */
			shape[roll(&dice, (uint64_t)ndim)] =
				1 + (int64_t)roll(&dice, 60);
		if (!random_view(&dice, &dst, to, ROOM, ndim, shape,
				 itemsize) ||
		    !random_view(&dice, &src, from, ROOM, ndim, shape,
				 itemsize))
			continue;
		for (int i = 0; i < ndim; i++) {
			if (roll(&dice, 10) == 0)
				src.strides[i] = 0;
		}
		slow_copy(to, &dst, &src);
		assert_works(dray_view_assign(&dst, &src));
		assert_memory_equal(to, expected, ROOM);
		fill(&dice, to, roll(&dice, 1000));
		done++;
	}
}

FACT(overlapping_pairs_are_copied_as_if_aside)
{
	struct dice dice = { 6789 };
	int done = 0, overlapping = 0;

	fill(&dice, to, ROOM);
	while (done < rounds(20000)) {
		uint32_t itemsize = 1 + (uint32_t)roll(&dice, 8);
		size_t room = 200 + roll(&dice, 4000);
		struct dray_view dst, src;
		int64_t shape[4];
		int ndim = random_shape(&dice, shape);

		if (!random_view(&dice, &dst, to, room, ndim, shape,
				 itemsize) ||
		    !random_view(&dice, &src, to, room, ndim, shape, itemsize))
			continue;
		for (int i = 0; i < ndim; i++) {
			if (roll(&dice, 10) == 0)
				src.strides[i] = 0;
		}
		overlapping += dray_view_spans_overlap(&dst, &src);
		slow_copy(to, &dst, &src);
		assert_works(dray_view_assign(&dst, &src));
		assert_memory_equal(to, expected, ROOM);
		done++;
	}
	assert_true(overlapping > rounds(1000));
}

FACT(large_transposes_go_through_tiles)
{
	static const uint32_t sizes[] = { 1, 2, 3, 4, 8, 12, 16, 20, 64, 80 };
	struct dice dice = { 24 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int round = 0; round < rounds(40); round++) {
			dray_dtype dtype = DRAY_DTYPE('V', '|', sizes[i]);
			int64_t rows = 1 + (int64_t)roll(&dice, 400);
			int64_t columns = 40000 / sizes[i] / rows * 2 + 3;
			int64_t gap = (int64_t)roll(&dice, 3) * sizes[i];
			int64_t pitch = columns * sizes[i] + gap;
			size_t bytes = (size_t)(rows * pitch);
			unsigned char *a = malloc(bytes);
			unsigned char *b = malloc(bytes);
			struct dray_view dst, src;

			if (roll(&dice, 2))
				columns = 1 + columns % 3;
			fill(&dice, a, bytes);
			memset(b, 0x5a, bytes);
			assert_works(dray_view_init(&src, a, dtype, 2,
						    DIMS(rows, columns),
						    DIMS(pitch, sizes[i])));
			assert_works(dray_view_transpose(&src, NULL, &src));
			assert_works(dray_view_init(&dst, b, dtype, 2,
						    DIMS(columns, rows), NULL));
			assert_works(dray_view_assign(&dst, &src));
			for (int64_t r = 0; r < rows; r++) {
				for (int64_t c = 0; c < columns; c++)
					assert_memory_equal(
						b + (c * rows + r) * sizes[i],
						a + r * pitch + c * sizes[i],
						sizes[i]);
			}
			for (size_t at = (size_t)(rows * columns) * sizes[i];
			     at < bytes; at++)
				assert_int_equal(b[at], 0x5a);
			free(a);
			free(b);
		}
	}
}

static void make(struct dray_view *view, void *data, int64_t rows,
		 int64_t columns)
{
	assert_works(
		dray_view_init(view, data, u2, 2, DIMS(rows, columns), NULL));
}

FACT(different_shapes_are_refused)
{
	struct dray_view dst, src;

	make(&dst, to, 3, 4);
	make(&src, from, 3, 5);
	assert_fails(dray_view_assign(&dst, &src), -EINVAL,
		     "axis 1 has 4 elements in the destination and 5");
	src.ndim = 1;
	assert_fails(dray_view_assign(&dst, &src), -EINVAL, "2 axes");
}

/* Checks the assignment of these two types, and the copy by a queue. */
static void is_refused(const char *dst_type, const char *src_type,
		       const char *part)
{
	struct dray_node *node = open_node(test_spec());
	struct dray_queue *queue = NULL;
	struct dray_view dst, src;

	assert_works(dray_queue_create(node, NULL, &queue));
	make(&dst, to, 3, 4);
	make(&src, from, 3, 4);
	assert_works(dray_dtype_parse(dst_type, &dst.dtype));
	assert_works(dray_dtype_parse(src_type, &src.dtype));
	memset(to, 1, sizeof(to));
	memset(from, 2, sizeof(from));
	assert_fails(dray_view_assign(&dst, &src), -EINVAL, part);
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EINVAL, part);
	assert_true(all_bytes_are(to, 1, sizeof(to)));
	/* The bits are copied where the caller says that they are the same. */
	dst.strides[1] = src.strides[1] = dray_dtype_itemsize(dst.dtype);
	dst.strides[0] = src.strides[0] = 4 * dray_dtype_itemsize(dst.dtype);
	src.dtype = dst.dtype;
	assert_works(dray_view_assign(&dst, &src));
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	assert_true(all_bytes_are(to, 2, 12 * dray_dtype_itemsize(dst.dtype)));
	dray_queue_destroy(queue);
	dray_node_unref(node);
}

FACT(different_types_are_refused)
{
	is_refused(">i4", "<f4", "elements of <f4 cannot be copied to >i4");
	is_refused("<i4", ">i4", "elements of >i4 cannot be copied to <i4");
	is_refused("|u1", "|i1", "elements of |i1 cannot be copied to |u1");
	is_refused("<f4", "<f8", "elements of <f8 cannot be copied to <f4");
	is_refused("<M8", "<m8", "elements of <m8 cannot be copied to <M8");
}

FACT(one_type_may_be_written_in_two_ways)
{
	struct dray_view dst, src;

	make(&dst, to, 3, 4);
	make(&src, from, 3, 4);
	dst.dtype = DRAY_DTYPE('?', '|', 1);
	src.dtype = DRAY_DTYPE('b', '<', 1);
	assert_works(dray_view_assign(&dst, &src));
}

FACT(a_read_only_destination_is_refused)
{
	struct dray_view dst, src;

	make(&dst, to, 3, 4);
	make(&src, from, 3, 4);
	dst.flags = DRAY_READ;
	assert_fails(dray_view_assign(&dst, &src), -EPERM, "read-only");
	dst.flags = DRAY_READ | DRAY_IMMUTABLE;
	assert_fails(dray_view_assign(&dst, &src), -EPERM, "immutable");
	dst.flags = DRAY_WRITE | DRAY_IMMUTABLE;
	assert_fails(dray_view_assign(&dst, &src), -EINVAL,
		     "writable and immutable");
	dst.flags = DRAY_WRITE;
	src.flags = DRAY_READ;
	assert_works(dray_view_assign(&dst, &src));
	src.flags = DRAY_WRITE;
	assert_fails(dray_view_assign(&dst, &src), -EPERM,
		     "the source may not be read");
	dst.flags = 0x100;
	assert_fails(dray_view_assign(&dst, &src), -EINVAL, "flags 0x100");
}

FACT(a_destination_that_repeats_is_refused)
{
	struct dray_view dst, src;

	make(&dst, to, 3, 4);
	make(&src, from, 3, 4);
	dst.strides[0] = 0;
	assert_fails(dray_view_assign(&dst, &src), -EINVAL, "stride of 0");
	dst.shape[1] = src.shape[1] = 0;
	assert_works(dray_view_assign(&dst, &src));
}

FACT(elements_without_bytes_are_written_at_one_address)
{
	struct dray_view view;

	assert_works(
		dray_view_init(&view, NULL, DRAY_VOID(0), 2, DIMS(3, 2), NULL));
	assert_works(dray_view_assign(&view, &view));
	assert_works(dray_view_convert(&view, &view, DRAY_CASTING_NO));
}

FACT(views_that_do_not_fit_are_refused)
{
	struct dray_view dst, src;

	make(&dst, to, 3, 4);
	make(&src, from, 3, 4);
	src.strides[0] = INT64_MAX;
	assert_fails(dray_view_assign(&dst, &src), -EOVERFLOW, "the source");
	src.data = NULL;
	src.strides[0] = 8;
	assert_fails(dray_view_assign(&dst, &src), -EINVAL, "no data");
	assert_fails(dray_view_assign(NULL, &src), -EINVAL, "NULL");
}

/* Has malloc() say no, as it does without the sanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

FACT(without_memory_for_the_copy_aside_nothing_is_copied)
{
	int64_t shape[] = { INT64_C(1) << 25, INT64_C(1) << 25 };
	struct dray_view dst, src;

	memcpy(expected, to, ROOM);
	assert_works(dray_view_init(&dst, to, u2, 2, shape, NULL));
	assert_works(dray_view_transpose(&dst, NULL, &src));
	assert_fails(dray_view_assign(&dst, &src), -ENOMEM,
		     "2251799813685248 bytes aside");
	assert_memory_equal(to, expected, ROOM);
}
