// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies and fills with an engine that is simulated, see simulated_engine.h:
 * what it is told to do, and what it is never told.
 */
#include "random_view.h"
#include "simulated_queue.h"

#define ROOM 40000

static unsigned char expected[ROOM], aside[ROOM];

QUEUE_FACT(random_pairs_are_described_to_the_engine)
{
	unsigned char *to = dray_pool_alloc(pool, ROOM, 0);
	unsigned char *from = dray_pool_alloc(pool, ROOM, 0);
	struct dice dice = { 314 };
	int done = 0;

	for (int i = 0; i < ROOM; i++) {
		to[i] = (unsigned char)roll(&dice, 256);
		from[i] = (unsigned char)roll(&dice, 256);
	}
	while (done < rounds(3000)) {
		uint32_t itemsize = 1 + (uint32_t)roll(&dice, 16);
		int64_t shape[4], position[4] = { 0 };
		int ndim = random_shape(&dice, shape);
		struct dray_view dst, src;
		size_t count = 0;

		if (!random_view(&dice, &dst, to, ROOM, ndim, shape,
				 itemsize) ||
		    !random_view(&dice, &src, from, ROOM, ndim, shape,
				 itemsize))
			continue;
		memcpy(expected, to, ROOM);
		do {
			memcpy(aside + itemsize * count++,
			       walk_at(&src, position), itemsize);
		} while (walk_on(&src, position));
		count = 0;
		do {
			memcpy(expected + (walk_at(&dst, position) - to),
			       aside + itemsize * count++, itemsize);
		} while (walk_on(&dst, position));
		engine.calls = 0;
		assert_works(
			dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
		assert_int_equal(engine.calls, 1);
		assert_memory_equal(to, expected, ROOM);
		done++;
	}
	dray_pool_free(pool, to);
	dray_pool_free(pool, from);
}

QUEUE_FACT(random_fills_are_described_to_the_engine)
{
	static const uint32_t sizes[] = { 1, 2, 4, 8, 16 };
	unsigned char *to = dray_pool_alloc(pool, ROOM, 0);
	struct dice dice = { 2718 };
	int done = 0;

	memset(to, 0x11, ROOM);
	while (done < rounds(2000)) {
		uint32_t itemsize = sizes[roll(&dice, 5)];
		int64_t shape[4], position[4] = { 0 };
		int ndim = random_shape(&dice, shape);
		unsigned char element[16];
		struct dray_view dst;

		if (!random_view(&dice, &dst, to, ROOM, ndim, shape, itemsize))
			continue;
		for (int i = 0; i < 16; i++)
			element[i] = (unsigned char)roll(&dice, 256);
		memcpy(expected, to, ROOM);
		do {
			memcpy(expected + (walk_at(&dst, position) - to),
			       element, itemsize);
		} while (walk_on(&dst, position));
		assert_works(dray_fill(queue, &dst, element, DRAY_COPY_ENGINE,
				       NULL));
		assert_int_equal(engine.last_transfer.op, DRAY_OP_FILL);
		assert_memory_equal(to, expected, ROOM);
		done++;
	}
	dray_pool_free(pool, to);
}

QUEUE_FACT(elements_that_are_no_pattern_are_filled_by_the_cpu)
{
	unsigned char *to = dray_pool_alloc(pool, 4096, 0);
	unsigned char element[24];
	struct dray_view dst;

	for (uint32_t itemsize = 3; itemsize <= 24; itemsize += 21) {
		dray_dtype dtype = DRAY_DTYPE('V', '|', itemsize);

		memset(to, 0, 4096);
		memset(element, (int)itemsize, sizeof(element));
		assert_works(
			dray_view_init(&dst, to + 8, dtype, 1, DIMS(10), NULL));
		assert_fails(dray_fill(queue, &dst, element, DRAY_COPY_ENGINE,
				       NULL),
			     -EOPNOTSUPP, "fills elements of 1, 2, 4, 8 or 16");
		assert_works(dray_fill(queue, &dst, element, 0, NULL));
		assert_true(
			all_bytes_are(to + 8, (int)itemsize, 10 * itemsize));
		assert_int_equal(to[7], 0);
		assert_int_equal(to[8 + 10 * itemsize], 0);
	}
	assert_int_equal(engine.calls, 0);
	assert_fails(dray_fill(queue, &dst, NULL, 0, NULL), -EINVAL,
		     "no element");
	dray_pool_free(pool, to);
}

QUEUE_FACT(a_read_only_buffer_is_no_destination)
{
	struct dray_view src = square(5), dst;
	struct dray_buffer *buffer, *sealed;
	char path[64];
	int fd;

	assert_works(dray_buffer_alloc(node, 64 * 64, NULL, &buffer));
	snprintf(path, sizeof(path), "/proc/self/fd/%d",
		 dray_buffer_fd(buffer));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_works(dray_buffer_import(node, fd, &sealed));
	close(fd);
	dray_view_copy(&dst, &src);
	dst.data = dray_buffer_data(sealed);
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EPERM,
		     "read-only buffer");
	assert_fails(dray_fill(queue, &dst, "x", DRAY_COPY_CPU, NULL), -EPERM,
		     "read-only buffer");
	assert_works(dray_copy(queue, &src, &dst, 0, NULL));
	dray_buffer_unref(sealed);
	dray_buffer_unref(buffer);
	discard(&src);
}

QUEUE_FACT(overlap_is_for_the_cpu_and_an_error_on_the_engine)
{
	struct dray_view view = square(0), dst, src;
	unsigned char *bytes = view.data;

	for (int i = 0; i < 64 * 64; i++)
		bytes[i] = (unsigned char)(i / 64);
	assert_works(dray_view_index(&view, &DRAY_SLICE(1, 64, 1), 1, &dst));
	assert_works(dray_view_index(&view, &DRAY_SLICE(0, 63, 1), 1, &src));
	assert_fails(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL),
		     -EINVAL, "overlap");
	explain_cpu(queue, &dst, &src, "overlap");
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	for (int i = 64; i < 64 * 64; i++)
		assert_int_equal(bytes[i], i / 64 - 1);
	assert_int_equal(engine.calls, 0);
	discard(&view);
}

QUEUE_FACT(destinations_that_share_bytes_are_refused)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_explanation explanation = { .size = sizeof(explanation) };

	dst.strides[0] = 32;
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EINVAL,
		     "share bytes");
	assert_fails(dray_explain(queue, &dst, &src, 0, &explanation), -EINVAL,
		     "share bytes");
	dst.strides[0] = 0;
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EINVAL,
		     "stride of 0");
	/* 0 4 8 and 6 10 14: apart, but no engine's axes */
	dst.shape[0] = src.shape[0] = 2;
	dst.shape[1] = src.shape[1] = 3;
	dst.strides[0] = 6;
	dst.strides[1] = 4;
	explain_cpu(queue, &dst, &src, "interleave");
	assert_works(dray_copy(queue, &dst, &src, 0, NULL));
	assert_int_equal(engine.calls, 0);
	assert_int_equal(((unsigned char *)dst.data)[14], 2);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(flags_and_arguments_are_checked)
{
	struct dray_queue_options options = { .flags = 1 };
	struct dray_view dst = square(1), src = square(2);
	struct dray_queue *other = NULL;

	assert_fails(dray_copy(queue, &dst, &src, 16, NULL), -EINVAL,
		     "flags 0x10");
	assert_fails(dray_copy(queue, &dst, &src,
			       DRAY_COPY_ENGINE | DRAY_COPY_CPU, NULL),
		     -EINVAL, "engine only");
	src.shape[0] = 63;
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EINVAL, "axis 0");
	src.shape[0] = 64;
	dst.flags = DRAY_READ;
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EPERM,
		     "read-only");
	assert_fails(dray_fill(queue, &dst, "x", 0, NULL), -EPERM, "read-only");
	assert_fails(dray_fill(queue, NULL, "x", 0, NULL), -EINVAL, "NULL");
	dst.flags = DRAY_WRITE;
	assert_fails(dray_queue_create(node, &options, &other), -EINVAL,
		     "flags 0x1");
	options = (struct dray_queue_options){ .channel = 3 };
	assert_fails(dray_queue_create(node, &options, &other), -EINVAL,
		     "no channel 2");
	assert_null(other);
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_NO_SYNC, NULL));
	assert_int_equal(engine.last.flags, DRAY_SUBMIT_NO_SYNC);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(nothing_is_copied_without_a_call)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence;

	dst.shape[1] = src.shape[1] = 0;
	assert_works(dray_copy(queue, &dst, &src, 0, &fence));
	assert_int_equal(dray_fence_status(fence), 1);
	dray_fence_unref(fence);
	explain_cpu(queue, &dst, &src, "nothing");
	assert_int_equal(engine.calls, 0);
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(a_signal_before_a_slot_is_free_submits_nothing)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence = NULL;

	for (int i = 0; i < 2; i++) {
		engine.errors[0] = -EINTR;
		assert_fails(dray_copy(queue, &dst, &src, 0, i ? &fence : NULL),
			     -EINTR, "nothing was submitted");
		assert_null(fence);
		assert_int_equal(*(unsigned char *)dst.data, 1);
	}
	engine.errors[0] = -EINTR;
	assert_fails(dray_fill(queue, &dst, "x", 0, &fence), -EINTR,
		     "nothing was submitted");
	assert_null(fence);
	assert_int_equal(engine.calls, 3);
	/* and the same call again does it */
	assert_works(dray_copy(queue, &dst, &src, DRAY_COPY_ENGINE, NULL));
	assert_int_equal(engine.calls, 4);
	assert_int_equal(*(unsigned char *)dst.data, 2);
	discard(&dst);
	discard(&src);
	assert_int_equal(parked(), 0);
}

QUEUE_FACT(a_full_queue_is_told_and_holds_nothing)
{
	struct dray_view dst = square(1), src = square(2);
	struct dray_fence *fence = NULL;

	engine.errors[0] = -EAGAIN;
	engine.reason = DRAY_REASON_BUSY;
	assert_int_equal(dray_copy(queue, &dst, &src, DRAY_COPY_NONBLOCK,
				   &fence),
			 -EAGAIN);
	assert_null(fence);
	assert_int_equal(engine.last.flags, DRAY_SUBMIT_NONBLOCK);
	assert_int_equal(*(unsigned char *)dst.data, 1);
	discard(&dst);
	discard(&src);
	assert_int_equal(parked(), 0);
}
