// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The memory test: allocates free memory of the heap in buffers, so that no
 * other memory is touched, writes a pattern to all of it, pushes that out of the
 * caches, and reads all of it back.  Only then can an address line that is
 * stuck show: two addresses would share a word.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/progress.h"
#include "base/quantity.h"
#include "selftest.h"

#define MOST_PIECES 256
#define LEAST_PIECE 65536 /* bytes; smaller free runs are left alone */
#define CHUNK (1u << 20) /* bytes between two looks at the progress bar */
#define FAULTS_SHOWN 8

static const char *const patterns[] = {
	"address",	 "inverted address", "walking ones",
	"walking zeros", "random",	     "inverted random",
};

#define PATTERNS (sizeof(patterns) / sizeof(*patterns))

struct memory_fault {
	uint64_t id; /* of the buffer */
	uint64_t offset; /* bytes in it */
	uint64_t expected;
	uint64_t found;
	size_t pattern;
};

struct memory_walk {
	struct selftest *test;
	struct dray_buffer *pieces[MOST_PIECES];
	size_t count;
	uint64_t bytes; /* of all pieces */
	uint64_t done; /* bytes written and read, for the progress bar */
	struct memory_fault faults[FAULTS_SHOWN];
	uint64_t fault_count;
};

/* Returns the word that belongs to place @index of the memory. */
static inline uint64_t word_at(size_t pattern, uint64_t seed, uint64_t index)
{
	uint64_t word;

	switch (pattern / 2) {
	case 0:
		word = index * sizeof(word);
		break;
	case 1:
		word = UINT64_C(1) << (index % 64);
		break;
	default:
		word = selftest_random(seed, index);
	}
	return pattern % 2 ? ~word : word;
}

/* Allocates pieces, at first as long as they can be; returns the last error. */
static int take_pieces(struct memory_walk *walk)
{
	const struct dray_heap_info *heap = &walk->test->heap;
	uint64_t most = heap->largest_free;
	int ret = 0;

	if (most > heap->largest_request)
		most = heap->largest_request;
	while (walk->bytes < walk->test->size && walk->count < MOST_PIECES) {
		uint64_t left = walk->test->size - walk->bytes;
		uint64_t size = left < most ? left : most;

		ret = selftest_take(walk->test, size, 0,
				    &walk->pieces[walk->count]);
		if (!ret) {
			walk->bytes +=
				dray_buffer_size(walk->pieces[walk->count++]);
		} else if ((ret == -ENOMEM || ret == -EDQUOT) &&
			   size / 2 >= LEAST_PIECE) {
			most = size / 2;
		} else {
			break;
		}
	}
	return ret;
}

static void add_fault(struct memory_walk *walk,
		      const struct memory_fault *fault)
{
	if (walk->fault_count < FAULTS_SHOWN)
		walk->faults[walk->fault_count] = *fault;
	walk->fault_count++;
}

/* Writes or checks a chunk; its first word is word @index of the pattern. */
static void work_chunk(struct memory_walk *walk, struct dray_buffer *piece,
		       uint64_t offset, uint64_t length, size_t pattern,
		       uint64_t index, bool check)
{
	/* volatile: each word is written and read once */
	volatile uint64_t *words =
		(void *)((char *)dray_buffer_data(piece) + offset);
	uint64_t seed = walk->test->seed;
	uint64_t i;

	for (i = 0; i < length / sizeof(*words); i++) {
		uint64_t expected = word_at(pattern, seed, index + i);
		uint64_t found;

		if (!check) {
			words[i] = expected;
			continue;
		}
		found = words[i];
		if (found == expected)
			continue;
		add_fault(walk, &(struct memory_fault){
					.id = dray_buffer_id(piece),
					.offset = offset + i * sizeof(*words),
					.expected = expected,
					.found = found,
					.pattern = pattern,
				});
	}
}

static void work_all(struct memory_walk *walk, size_t pattern, bool check)
{
	uint64_t index = 0, offset;
	size_t i;

	for (i = 0; i < walk->count; i++) {
		uint64_t size = dray_buffer_size(walk->pieces[i]);

		for (offset = 0; offset < size; offset += CHUNK) {
			uint64_t length =
				size - offset < CHUNK ? size - offset : CHUNK;

			work_chunk(walk, walk->pieces[i], offset, length,
				   pattern, index, check);
			index += length / sizeof(uint64_t);
			walk->done += length;
			progress_step(walk->done);
		}
	}
}

/* Writes caches back to memory, and drops their lines. */
static int push_out(struct memory_walk *walk)
{
	int ret = 0;
	size_t i;

	for (i = 0; i < walk->count && !ret; i++) {
		uint64_t size = dray_buffer_size(walk->pieces[i]);

		ret = selftest_sync(walk->test, walk->pieces[i], 0, size,
				    DRAY_SYNC_FOR_DEVICE);
		if (!ret)
			ret = selftest_sync(walk->test, walk->pieces[i], 0,
					    size, DRAY_SYNC_FOR_CPU);
	}
	return ret;
}

static json_t *walk_document(const struct memory_walk *walk)
{
	uint64_t shown = walk->fault_count < FAULTS_SHOWN ? walk->fault_count
							  : FAULTS_SHOWN;
	json_t *root = json_object();
	json_t *faults = json_array();
	uint64_t i;

	for (i = 0; i < shown; i++) {
		const struct memory_fault *fault = &walk->faults[i];
		json_t *object = json_object();
		char word[32];

		document_word(object, "pattern", patterns[fault->pattern]);
		document_number(object, "id", fault->id);
		document_number(object, "offset", fault->offset);
		snprintf(word, sizeof(word), "0x%016" PRIx64, fault->expected);
		document_word(object, "expected", word);
		snprintf(word, sizeof(word), "0x%016" PRIx64, fault->found);
		document_word(object, "found", word);
		document_set(faults, NULL, object);
	}
	document_number(root, "bytes", walk->bytes);
	document_number(root, "buffers", walk->count);
	document_number(root, "seed", walk->test->seed);
	document_number(root, "faults", walk->fault_count);
	document_set(root, "first_faults", faults);
	return root;
}

static char *fault_lines(const struct memory_walk *walk)
{
	char *lines = NULL;
	uint64_t i;

	for (i = 0; i < walk->fault_count && i < FAULTS_SHOWN; i++) {
		const struct memory_fault *fault = &walk->faults[i];

		text_append(&lines,
			    "\nbuffer %" PRIu64 ", offset 0x%" PRIx64
			    ", %s: expected 0x%016" PRIx64
			    ", found 0x%016" PRIx64,
			    fault->id, fault->offset, patterns[fault->pattern],
			    fault->expected, fault->found);
	}
	return lines;
}

static void test_memory_report(struct memory_walk *walk)
{
	bool cached = !dray_node_needs_sync(walk->test->node->node);
	char size[QUANTITY_ROOM];
	char *lines = fault_lines(walk);

	quantity_size(size, walk->bytes, false);
	selftest_add(walk->test, "memory",
		     walk->fault_count ? OUTCOME_FAIL : OUTCOME_PASS,
		     walk_document(walk),
		     "%s in %zu %s, %zu patterns, seed %" PRIu64 ": %" PRIu64
		     " %s%s%s",
		     size, walk->count, walk->count == 1 ? "buffer" : "buffers",
		     PATTERNS, walk->test->seed, walk->fault_count,
		     walk->fault_count == 1 ? "fault" : "faults",
		     cached ? "; by way of the CPU's caches, which nothing "
			      "empties here"
			    : "",
		     lines ? lines : "");
	free(lines);
}

static int walk_patterns(struct memory_walk *walk)
{
	size_t pattern;
	int ret = 0;

	progress_begin("memory", walk->bytes * PATTERNS * 2);
	for (pattern = 0; pattern < PATTERNS && !ret; pattern++) {
		work_all(walk, pattern, false);
		ret = push_out(walk);
		if (!ret)
			work_all(walk, pattern, true);
	}
	progress_end();
	return ret;
}

void test_memory(struct selftest *test)
{
	struct memory_walk walk = { .test = test };
	int ret = take_pieces(&walk);

	if (!walk.count) {
		selftest_add(test, "memory",
			     ret == -EOPNOTSUPP || !test->size ? OUTCOME_SKIP
							       : OUTCOME_FAIL,
			     NULL, "no memory to test: %s",
			     ret ? dray_last_error() : "none is free");
		return;
	}
	ret = walk_patterns(&walk);
	if (ret)
		selftest_add(test, "memory", OUTCOME_FAIL, NULL,
			     "cannot sync: %s", dray_last_error());
	else
		test_memory_report(&walk);
	while (walk.count)
		dray_buffer_unref(walk.pieces[--walk.count]);
}
