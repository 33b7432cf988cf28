/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Rings of the loop: frames in one block of the pool, each of FRAME bytes. */
#ifndef DRAY_TESTS_RINGS_H
#define DRAY_TESTS_RINGS_H

#include "streams.h"

#define FRAME ((size_t)512)
#define MOST 16u

struct frames {
	struct dray_view view[MOST];
	const struct dray_view *list[MOST];
	char *block;
};

static inline struct frames *frames_of(uint32_t count)
{
	struct frames *frames = calloc(1, sizeof(*frames));

	assert_non_null(frames);
	frames->block = take(loop.pool, count * FRAME, 4096);
	memset(frames->block, 0, count * FRAME);
	for (uint32_t i = 0; i < count; i++) {
		assert_works(dray_view_init(&frames->view[i],
					    frames->block + i * FRAME,
					    u1, 1, DIMS(FRAME), NULL));
		frames->list[i] = &frames->view[i];
	}
	return frames;
}

/* Gives @stream a ring of new frames. */
static inline struct frames *ring_of(struct dray_stream *stream, uint32_t count,
				     uint32_t flags)
{
	struct frames *frames = frames_of(count);

	assert_works(dray_stream_ring(stream, frames->list, count, flags));
	return frames;
}

static inline void drop(struct frames *frames)
{
	dray_pool_free(loop.pool, frames->block);
	free(frames);
}

static inline struct dray_ring_counts ring_counts(struct dray_stream *stream)
{
	struct dray_ring_counts counts = { .size = sizeof(counts) };

	assert_works(
		dray_stream_ring_counts(stream, &counts));
	return counts;
}

/* Acquires exactly one frame. */
static inline struct dray_point acquire(struct dray_stream *stream)
{
	struct dray_point point;
	int ret = dray_stream_acquire(stream, &point, 1, DEADLINE * 1000);

	if (ret != 1)
		fail_msg("acquire: %d, %s", ret, dray_last_error());
	return point;
}

static inline void release(struct dray_stream *stream, uint32_t frame)
{
	assert_works(dray_stream_release(stream, &frame, 1));
}

/* Fills a frame with bytes that follow from its number. */
static inline void set_number(void *data, uint64_t number)
{
	uint64_t words[FRAME / sizeof(uint64_t)];

	for (size_t i = 0; i < FRAME / sizeof(uint64_t); i++)
		words[i] = number * 31 + i * number;
	words[0] = number;
	memcpy(data, words, FRAME);
}

/* The number in a frame; fails if it is torn. */
static inline uint64_t number_of(const void *data)
{
	uint64_t words[FRAME / sizeof(uint64_t)];

	memcpy(words, data, FRAME);
	for (size_t i = 1; i < FRAME / sizeof(uint64_t); i++)
		if (words[i] != words[0] * 31 + i * words[0])
			fail_msg("frame %" PRIu64 " is torn at word %zu",
				 words[0], i);
	return words[0];
}

#endif /* DRAY_TESTS_RINGS_H */
