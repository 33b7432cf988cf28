/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The parts of a board's self-test: each adds its findings. */
#ifndef DMACTL_SELFTEST_H
#define DMACTL_SELFTEST_H

#include <dray/transfer.h>

#include "base/access.h"
#include "base/document.h"

enum outcome {
	OUTCOME_PASS,
	OUTCOME_FAIL,
	OUTCOME_SKIP, /* the board lacks it, or the caller a right */
};

struct finding {
	char *name;
	enum outcome outcome;
	char *sentence; /* further lines after '\n' */
	json_t *values; /* for --json; NULL: none */
};

struct selftest {
	const struct open_node *node;
	struct dray_heap_info heap;
	uint64_t size; /* bytes of the memory test */
	uint64_t seed;
	bool quick;
	uint64_t late; /* bit N: channel N is late, and not tested further */
	struct finding *findings;
	size_t count;
};

/* Adds a finding; owns @values from then on. */
void selftest_add(struct selftest *test, const char *name, enum outcome outcome,
		  json_t *values, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Allocates from the heap that is tested; as dray_buffer_alloc(). */
int selftest_take(const struct selftest *test, uint64_t size,
		  uint64_t address_limit, struct dray_buffer **buffer);

/*
 * Hands @length bytes from @offset on over between the CPU and the device, for
 * transfers in both directions.
 */
int selftest_sync(const struct selftest *test, struct dray_buffer *buffer,
		  uint64_t offset, uint64_t length, enum dray_sync_owner owner);

/* Returns word @index of a sequence that looks random. */
uint64_t selftest_random(uint64_t seed, uint64_t index);

/* Fills @size bytes with such words. */
void selftest_fill(void *data, size_t size, uint64_t seed);

/* Walks patterns over the free memory of the heap. */
void test_memory(struct selftest *test);
/* Compares addresses with the node's mask. */
void test_mask(struct selftest *test);
/* The channels that copy: right bytes, alignment. */
void test_engines(struct selftest *test);
/* Whether the device and the CPU see the same bytes, with and without syncs. */
void test_coherence(struct selftest *test);
/* Rates, latency, and the cost of a sync. */
void test_rates(struct selftest *test);

/* A channel that copies, and its queue. */
struct engine {
	struct dray_channel_info info;
	struct dray_queue *queue;
	uint64_t unit; /* bytes; offsets and lengths are multiples of it */
};

/* Opens channel @index: 1, 0 if it does not copy, or an error. */
int engine_open(const struct selftest *test, uint32_t index,
		struct engine *engine);
/* Opens the first channel that copies and is not dead or late; false if none is. */
bool engine_open_any(const struct selftest *test, struct engine *engine);
void engine_close(struct engine *engine);

/* Copies by the engine alone; @flags as of dray_copy(). */
int engine_copy(const struct engine *engine, void *dst, void *src,
		uint64_t length, unsigned int flags);
/* Fills with zero bytes by the engine alone. */
int engine_fill(const struct engine *engine, void *dst, uint64_t length);

#endif /* DMACTL_SELFTEST_H */
