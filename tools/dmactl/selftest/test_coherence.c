// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Coherence: the CPU writes, the engine copies without a sync, and the CPU reads.
 * If a byte is old, a sync of the destination shows the side at fault: the engine
 * that read old memory, or the CPU that read an old cache line.  The CPU is tried
 * again with new bytes in memory, as an engine that reads old bytes hides it.
 */
#include <inttypes.h>
#include <string.h>

#include "selftest.h"

#define SIZE 16384 /* bytes: less than a first-level cache */
#define ROUNDS 16

struct coherence {
	struct selftest *test;
	struct engine engine;
	struct dray_buffer *buffers[2];
	unsigned char *src;
	unsigned char *dst;
	uint64_t wrong; /* rounds with wrong bytes, in spite of syncs */
	uint64_t source_old; /* rounds in which the engine read old bytes */
	uint64_t target_old; /* rounds in which the CPU did */
};

static int coherence_hand_over(struct coherence *both,
			       enum dray_sync_owner owner)
{
	int ret = selftest_sync(both->test, both->buffers[0], 0, SIZE, owner);

	return ret ? ret
		   : selftest_sync(both->test, both->buffers[1], 0, SIZE,
				   owner);
}

static bool test_coherence_differ(const struct coherence *both)
{
	return memcmp(both->src, both->dst, SIZE) != 0;
}

/* Copies as programs should: with syncs. */
static int round_with_syncs(struct coherence *both, uint64_t seed)
{
	int ret;

	selftest_fill(both->src, SIZE, seed);
	ret = engine_copy(&both->engine, both->dst, both->src, SIZE, 0);
	if (!ret && test_coherence_differ(both))
		both->wrong++;
	return ret;
}

/* Copies without a sync of the destination, and if @neither of the source. */
static int round_without(struct coherence *both, uint64_t seed, bool neither)
{
	int ret = 0;

	/* old bytes in memory, new in the caches, and old bytes of the target */
	selftest_fill(both->src, SIZE, seed);
	if (!neither)
		ret = selftest_sync(both->test, both->buffers[0], 0, SIZE,
				    DRAY_SYNC_FOR_DEVICE);
	if (!ret && test_coherence_differ(both))
		ret = engine_copy(&both->engine, both->dst, both->src, SIZE,
				  DRAY_COPY_NO_SYNC);
	if (ret || !test_coherence_differ(both))
		return ret;
	ret = selftest_sync(both->test, both->buffers[1], 0, SIZE,
			    DRAY_SYNC_FOR_CPU);
	if (!test_coherence_differ(both))
		both->target_old++;
	else if (neither)
		both->source_old++;
	else
		both->wrong++;
	return ret;
}

static int run_rounds(struct coherence *both)
{
	uint64_t seed = both->test->seed;
	int ret = 0;
	uint64_t i;

	for (i = 0; i < 3 * (uint64_t)ROUNDS && !ret; i++) {
		if (i % 3)
			ret = round_without(both, seed + i, i % 3 == 1);
		else
			ret = round_with_syncs(both, seed + i);
		/* leaves no old line for the next round */
		if (!ret && i % 3)
			ret = coherence_hand_over(both, DRAY_SYNC_FOR_DEVICE);
	}
	return ret;
}

static void test_coherence_judge(struct coherence *both)
{
	bool claims = both->test->node->info.flags & DRAY_NODE_COHERENT;
	bool old = both->source_old || both->target_old;
	enum outcome outcome = OUTCOME_PASS;
	json_t *values = json_object();
	char *found;

	document_set(values, "claims_coherent", json_boolean(claims));
	document_number(values, "rounds", ROUNDS);
	document_number(values, "wrong_with_syncs", both->wrong);
	document_number(values, "engine_read_old", both->source_old);
	document_number(values, "cpu_read_old", both->target_old);
	if (both->wrong && !claims) {
		outcome = OUTCOME_FAIL;
		found = text_format("wrong bytes in %" PRIu64
				    " of %d rounds, in spite of syncs",
				    both->wrong, 2 * ROUNDS);
	} else if (old || both->wrong) {
		/* syncs are without effect if the node claims to be coherent */
		outcome = claims ? OUTCOME_FAIL : OUTCOME_PASS;
		found = text_format("not coherent%s: without syncs the engine "
				    "read old bytes in %" PRIu64
				    " of %d rounds, and the CPU in %" PRIu64,
				    claims ? ", although the node says so"
					   : ", as the node says",
				    both->source_old, ROUNDS, both->target_old);
	} else if (claims) {
		found = text_format("coherent, as the node says");
	} else {
		outcome = OUTCOME_SKIP;
		found = text_format(
			"cannot be told: right with syncs, but "
			"without them no byte was old either, as on "
			"an emulated machine");
	}
	selftest_add(both->test, "coherence", outcome, values, "%s", found);
	free(found);
}

static void test_pair(struct coherence *both)
{
	int ret;

	both->src = dray_buffer_data(both->buffers[0]);
	both->dst = dray_buffer_data(both->buffers[1]);
	ret = run_rounds(both);
	if (ret)
		selftest_add(both->test, "coherence", OUTCOME_FAIL, NULL,
			     "the engine failed: %s", dray_last_error());
	else
		test_coherence_judge(both);
}

void test_coherence(struct selftest *test)
{
	struct coherence both = { .test = test };

	if (!engine_open_any(test, &both.engine)) {
		selftest_add(test, "coherence", OUTCOME_SKIP, NULL,
			     "cannot be told: no channel of the node copies%s",
			     test->late ? " in time" : "");
		return;
	}
	if (!selftest_take(test, SIZE, 0, &both.buffers[0]) &&
	    !selftest_take(test, SIZE, 0, &both.buffers[1]))
		test_pair(&both);
	else
		selftest_add(test, "coherence", OUTCOME_SKIP, NULL,
			     "no memory: %s", dray_last_error());
	dray_buffer_unref(both.buffers[0]);
	dray_buffer_unref(both.buffers[1]);
	engine_close(&both.engine);
}
