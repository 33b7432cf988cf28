// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Random sends and receives on an AXI DMA with the kernel's own driver, through an
 * IP that inverts each byte: views of any rank and order, and packets that are
 * shorter than the view that receives them.  Bytes between and around the runs of a
 * view must stay.
 *
 * DRAY_TEST_ROUNDS is the number of packets, DRAY_TEST_SEED another start of the
 * random numbers.
 */
#include "axidma.h"

#define ROUNDS 300
#define AXES 5
#define AREA 65536 /* bytes that a view lies in */

/* Nested axes in any order and direction: no byte is written twice. */
struct shape {
	struct dray_axis axes[AXES];
	uint32_t rank;
	uint64_t start, run, count;
};

static uint64_t state;

static uint64_t dice(uint64_t sides)
{
	return next_random(&state) % sides;
}

static uint64_t number_of(const char *name, uint64_t missing)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : missing;
}

static struct shape random_shape(bool sends)
{
	struct shape shape = { .rank = (uint32_t)dice(AXES + 1),
			       .start = 4 * dice(1000),
			       .run = 4 * (1 + dice(10)),
			       .count = 1 };
	int64_t cover = (int64_t)shape.run;

	for (uint32_t i = 0; i < shape.rank; i++) {
		uint32_t place = (uint32_t)dice(i + 1);
		uint32_t count = 1 + (uint32_t)dice(3);
		int64_t stride = cover + 4 * (int64_t)dice(16);

		cover = stride * count;
		shape.count *= count;
		if (!dice(4)) {
			shape.start += (uint64_t)stride * (count - 1);
			stride = -stride;
		}
		shape.axes[i] = shape.axes[place];
		shape.axes[place] = (struct dray_axis){
			.count = count,
			.src_stride = sends ? stride : 0,
			.dst_stride = sends ? 0 : stride,
		};
	}
	return shape;
}

/* The offset of run @n. */
static uint64_t run_offset(const struct shape *shape, uint64_t n)
{
	uint64_t offset = shape->start;

	for (uint32_t i = shape->rank; i-- > 0;) {
		const struct dray_axis *axis = &shape->axes[i];

		offset += n % axis->count *
			  (uint64_t)(axis->src_stride + axis->dst_stride);
		n /= axis->count;
	}
	return offset;
}

/* A place for the same bytes. */
static struct shape mirrored(const struct shape *from)
{
	struct shape to = *from;

	for (uint32_t i = 0; i < AXES; i++) {
		to.axes[i].dst_stride = from->axes[i].src_stride;
		to.axes[i].src_stride = 0;
	}
	return to;
}

/* A packet must fill the pieces of a driver that ends with the last piece only. */
static bool fits(const struct shape *from, const struct shape *to)
{
	uint64_t bytes = from->run * from->count, room = to->run * to->count;

	return engine_merges() ? bytes == room : bytes <= room;
}

static void expect(FIXTURE_DATA(axidma) * self, const struct shape *from,
		   const struct shape *to, uint8_t *expected)
{
	memset(expected, GUARD, AREA);
	for (uint64_t i = 0; i < from->run * from->count; i++)
		expected[run_offset(to, i / to->run) + i % to->run] =
			~self->src.bytes[run_offset(from, i / from->run) +
					 i % from->run];
}

static int64_t send_shape(FIXTURE_DATA(axidma) * self,
			  const struct shape *shape)
{
	struct dray_transfer transfer =
		SEND_OF(self->src.fd, shape->start, shape->run,
			.axes = (uintptr_t)shape->axes,
			.axes_count = shape->rank);

	return submit(self, &transfer, 0);
}

static int64_t receive_shape(FIXTURE_DATA(axidma) * self,
			     const struct shape *shape)
{
	struct dray_transfer transfer =
		RECV_OF(self->dst.fd, shape->start, shape->run,
			.axes = (uintptr_t)shape->axes,
			.axes_count = shape->rank);

	return submit(self, &transfer, 0);
}

TEST_F_TIMEOUT(axidma, views_of_any_shape_pass, 3600)
{
	uint64_t rounds = number_of("DRAY_TEST_ROUNDS", ROUNDS);
	static uint8_t expected[AREA];

	state = number_of("DRAY_TEST_SEED", 1);
	for (uint64_t round = 1; round <= rounds; round++) {
		struct shape from = random_shape(true);
		struct shape to = random_shape(false);
		int64_t bytes = (int64_t)(from.run * from.count), at = -1;

		if (!fits(&from, &to))
			to = mirrored(&from);
		memset(self->dst.bytes, GUARD, AREA);
		expect(self, &from, &to, expected);
		ASSERT_EQ((int64_t)round, receive_shape(self, &to));
		ASSERT_EQ((int64_t)round, send_shape(self, &from));
		ASSERT_EQ(bytes, line_bytes(&self->received, round));
		ASSERT_EQ(bytes, line_bytes(&self->sent, round));
		if (memcmp(expected, self->dst.bytes, AREA))
			at = first_difference(expected, self->dst.bytes, AREA);
		ASSERT_EQ(-1, at)
		{
			TH_LOG("packet %llu differs",
			       (unsigned long long)round);
		}
	}
	for (size_t i = AREA; i < SIZE; i++)
		ASSERT_EQ(GUARD, self->dst.bytes[i]);
}
