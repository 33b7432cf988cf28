// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Each channel that copies: whether it answers in time, the bytes arrive, and
 * nothing beside them is written, and the alignment that it needs.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/progress.h"
#include "base/quantity.h"
#include "selftest.h"

#define ROOM (2u << 20) /* bytes of each buffer */
#define GUARD 0xa5
#define LARGEST_STEP 64 /* bytes, of alignment */
#define LATE 1000000000 /* nanoseconds of the smallest copy */
#define TRIES 3 /* as a busy system may stall a copy */

struct test_pair {
	struct dray_buffer *buffers[2];
	unsigned char *src;
	unsigned char *dst;
};

static bool pair_take(struct selftest *test, const char *name,
		      struct test_pair *pair)
{
	int ret = selftest_take(test, ROOM, 0, &pair->buffers[0]);

	if (!ret) {
		ret = selftest_take(test, ROOM, 0, &pair->buffers[1]);
		if (ret)
			dray_buffer_unref(pair->buffers[0]);
	}
	if (ret) {
		selftest_add(test, name, OUTCOME_SKIP, NULL, "no memory: %s",
			     dray_last_error());
		return false;
	}
	pair->src = dray_buffer_data(pair->buffers[0]);
	pair->dst = dray_buffer_data(pair->buffers[1]);
	return true;
}

static void pair_drop(struct test_pair *pair)
{
	dray_buffer_unref(pair->buffers[0]);
	dray_buffer_unref(pair->buffers[1]);
}

/* Finds the first byte of the destination that is wrong; ROOM: none. */
static size_t find_wrong(const struct test_pair *pair, size_t src, size_t dst,
			 size_t length, unsigned char *expected)
{
	size_t i;

	for (i = 0; i < ROOM; i++) {
		*expected = i >= dst && i < dst + length
				    ? pair->src[src + i - dst]
				    : GUARD;
		if (pair->dst[i] != *expected)
			return i;
	}
	return ROOM;
}

/*
 * Copies and compares.  Returns an error of the copy, 1 if bytes are wrong,
 * with a sentence in @wrong for free(), or 0.
 */
static int try_copy(const struct selftest *test, const struct engine *engine,
		    const struct test_pair *pair, size_t src, size_t dst,
		    size_t length, char **wrong)
{
	unsigned char expected;
	size_t place;
	int ret;

	memset(pair->dst, GUARD, ROOM);
	ret = selftest_sync(test, pair->buffers[1], 0, ROOM,
			    DRAY_SYNC_FOR_DEVICE);
	if (!ret)
		ret = engine_copy(engine, pair->dst + dst, pair->src + src,
				  length, 0);
	if (ret)
		return ret;
	place = find_wrong(pair, src, dst, length, &expected);
	if (place == ROOM)
		return 0;
	*wrong = text_format("%zu bytes from offset %zu to offset %zu: at "
			     "offset %zu expected 0x%02x, found 0x%02x",
			     length, src, dst, place, expected,
			     pair->dst[place]);
	return 1;
}

/* Finds the time of the smallest copy; only a late copy is repeated. */
static int find_time(const struct engine *engine, const struct test_pair *pair,
		     uint64_t *time)
{
	int ret = 0, i;

	*time = UINT64_MAX;
	for (i = 0; i < TRIES && !ret && *time > LATE; i++) {
		uint64_t start = clock_now(), taken;

		ret = engine_copy(engine, pair->dst, pair->src, engine->unit,
				  0);
		taken = clock_now() - start;
		if (taken < *time)
			*time = taken;
	}
	return ret;
}

/* Whether a channel is of use: the tests of a late channel would last hours. */
static bool test_time(struct selftest *test, const struct engine *engine,
		      const struct test_pair *pair, const char *name)
{
	char text[QUANTITY_ROOM];
	uint64_t time;

	if (find_time(engine, pair, &time)) {
		selftest_add(test, name, OUTCOME_FAIL, NULL,
			     "copies no %" PRIu64 " bytes: %s", engine->unit,
			     dray_last_error());
		return false;
	}
	if (time <= LATE)
		return true;
	selftest_add(test, name, OUTCOME_FAIL, NULL,
		     "is late: %" PRIu64 " bytes take %s at best; maybe its "
		     "interrupt does not come",
		     engine->unit, quantity_time(text, time));
	test->late |= UINT64_C(1) << engine->info.index;
	return false;
}

static bool test_bytes(struct selftest *test, const struct engine *engine,
		       const struct test_pair *pair, const char *name)
{
	size_t unit = (size_t)engine->unit;
	const size_t lengths[] = { unit, 4096, 65536 + unit, ROOM - 8 * unit };
	size_t count = sizeof(lengths) / sizeof(*lengths), i;
	char *wrong = NULL;
	int ret = 0;

	for (i = 0; i < count && !ret; i++)
		ret = try_copy(test, engine, pair, unit, 3 * unit, lengths[i],
			       &wrong);
	if (ret < 0)
		selftest_add(test, name, OUTCOME_FAIL, NULL,
			     "copies no %zu bytes: %s", lengths[i - 1],
			     dray_last_error());
	else if (ret)
		selftest_add(test, name, OUTCOME_FAIL, NULL, "%s", wrong);
	else
		selftest_add(
			test, name, OUTCOME_PASS, NULL,
			"copies %zu to %zu bytes right, and writes nothing "
			"beside them",
			lengths[0], lengths[count - 1]);
	free(wrong);
	return !ret;
}

/* The places of a transfer that can be out of line. */
enum test_place {
	PLACE_SOURCE,
	PLACE_DESTINATION,
	PLACE_LENGTH,
	PLACES
};

/*
 * Finds the least power of two that the engine accepts at @place, 0 if there is
 * none; returns 1 if bytes are wrong, or an error.
 */
static int find_step(const struct selftest *test, const struct engine *engine,
		     const struct test_pair *pair, enum test_place place,
		     size_t *least, char **wrong)
{
	size_t step;
	int ret;

	*least = 0;
	for (step = 1; step <= LARGEST_STEP; step *= 2) {
		ret = try_copy(test, engine, pair,
			       place == PLACE_SOURCE ? step : 0,
			       place == PLACE_DESTINATION ? step : 0,
			       place == PLACE_LENGTH ? 4096 + step : 4096,
			       wrong);
		if (!ret)
			*least = step;
		if (ret != -EINVAL && ret != -EOPNOTSUPP)
			return ret;
	}
	return 0;
}

static void test_alignment(struct selftest *test, const struct engine *engine,
			   const struct test_pair *pair, const char *name)
{
	static const char *const words[] = { "source", "destination",
					     "length" };
	json_t *values = json_object();
	enum outcome outcome = OUTCOME_PASS;
	size_t claim = engine->info.alignment;
	size_t least[PLACES];
	char *wrong = NULL;
	int ret = 0, i;

	for (i = 0; i < PLACES && !ret; i++) {
		ret = find_step(test, engine, pair, (enum test_place)i,
				&least[i], &wrong);
		document_number(values, words[i], least[i]);
		/* the module asks for more if a device writes */
		if (!least[i] || least[i] > engine->unit ||
		    least[i] < (claim > LARGEST_STEP ? 0 : claim))
			outcome = OUTCOME_FAIL;
	}
	document_number(values, "channel", claim);
	document_number(values, "node", test->node->info.dma_alignment);
	if (ret) {
		selftest_add(test, name, OUTCOME_FAIL, values, "%s",
			     wrong ? wrong : dray_last_error());
		free(wrong);
		return;
	}
	selftest_add(
		test, name, outcome, values,
		"takes multiples of %zu bytes as source, %zu as "
		"destination, %zu as length; the channel says %zu, and the "
		"node %u where a device writes",
		least[0], least[1], least[2], claim,
		test->node->info.dma_alignment);
}

static void test_engine(struct selftest *test, const struct engine *engine)
{
	char *bytes =
		text_format("copy %.*s", DRAY_NAME_LEN, engine->info.name);
	char *alignment =
		text_format("alignment %.*s", DRAY_NAME_LEN, engine->info.name);
	struct test_pair pair;

	if (pair_take(test, bytes, &pair)) {
		selftest_fill(pair.src, ROOM, test->seed);
		if (test_time(test, engine, &pair, bytes) &&
		    test_bytes(test, engine, &pair, bytes))
			test_alignment(test, engine, &pair, alignment);
		pair_drop(&pair);
	}
	free(alignment);
	free(bytes);
}

/* Tests channel @index; false if it does not copy. */
static bool test_channel(struct selftest *test, uint32_t index)
{
	struct engine engine;
	int ret = engine_open(test, index, &engine);
	char *name = text_format("channel %" PRIu32, index);

	if (ret < 0)
		selftest_add(test, name, OUTCOME_FAIL, NULL,
			     "cannot be opened: %s", dray_last_error());
	else if (ret && engine.info.flags & DRAY_CHANNEL_DEAD)
		selftest_add(test, name, OUTCOME_FAIL, NULL,
			     "is dead: it did not answer once, and is not used "
			     "any more");
	else if (ret)
		test_engine(test, &engine);
	if (ret == 1)
		engine_close(&engine);
	free(name);
	return ret;
}

void test_engines(struct selftest *test)
{
	uint32_t found = 0, i;

	for (i = 0; i < test->node->info.channel_count; i++)
		found += test_channel(test, i);
	if (!found)
		selftest_add(test, "copy", OUTCOME_SKIP, NULL,
			     "no channel of the node copies");
}
