// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The plan of dmactl why against a search that looks at each place of small random
 * heaps, page by page.  The module itself is compared by why_random.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli.h"
#include "why/why_help.h"

#define PAGE 4096ull
#define PAGES 48 /* at most */
#define ROUNDS 20000

/* For the plan, without the rest of cli.c. */
void *memory_new(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	assert_non_null(memory);
	return memory;
}

/* A heap page by page: enum dray_part_state of each. */
struct scene {
	unsigned int count;
	unsigned int state[PAGES];
	unsigned int skew; /* pages between an aligned place and the start */
	struct dray_part parts[PAGES];
	struct plan_heap heap;
	struct plan_node node;
	struct plan_request request;
};

static uint32_t seed = 1;

static unsigned int any_below(unsigned int bound)
{
	seed = seed * 1664525 + 1013904223;
	return (unsigned int)((uint64_t)(seed >> 8) * bound >> 24);
}

static unsigned int random_state(void)
{
	static const unsigned int states[] = {
		DRAY_PART_FREE,	  DRAY_PART_FREE,	 DRAY_PART_FREE,
		DRAY_PART_BUFFER, DRAY_PART_QUARANTINED, DRAY_PART_HELD,
	};

	/* Memory that is lost is rare, or there would be no range. */
	if (!any_below(40))
		return DRAY_PART_CONDEMNED;
	return states[any_below(sizeof(states) / sizeof(*states))];
}

static void fill(struct scene *scene)
{
	unsigned int page, run = 0, state = 0;

	scene->count = 1 + any_below(PAGES);
	scene->skew = any_below(64);
	for (page = 0; page < scene->count; page++, run--) {
		if (!run) {
			run = 1 + any_below(8);
			state = random_state();
		}
		scene->state[page] = state;
	}
}

static void set_parts(struct scene *scene)
{
	struct dray_heap_map *map = &scene->heap.map;
	unsigned int page;

	map->count = 0;
	for (page = 0; page < scene->count; page++) {
		struct dray_part *last = &scene->parts[map->count];

		if (map->count && last[-1].state == scene->state[page] &&
		    any_below(4)) {
			last[-1].length += PAGE;
			continue;
		}
		map->count++;
		*last = (struct dray_part){
			.offset = page * PAGE,
			.length = PAGE,
			.state = scene->state[page],
		};
	}
}

static unsigned int count_free(const struct scene *scene)
{
	unsigned int page, free = 0;

	for (page = 0; page < scene->count; page++)
		free += scene->state[page] == DRAY_PART_FREE;
	return free;
}

static void make(struct scene *scene)
{
	uint64_t total, alignment;

	memset(scene, 0, sizeof(*scene));
	fill(scene);
	set_parts(scene);
	total = scene->count * PAGE;
	alignment = PAGE << any_below(5);
	scene->request = (struct plan_request){
		.size = 1 + any_below(scene->count * (unsigned int)PAGE),
		.alignment = any_below(3) ? alignment : 0,
		.mask = any_below(2) ? 0xffffff : 0,
	};
	scene->heap.info = (struct dray_heap_info){
		.type = DRAY_HEAP_RESERVED,
		.total = total,
		.free = count_free(scene) * PAGE,
		.largest_request = total,
		.modes = 1u << DRAY_MODE_CACHED,
		.limit = any_below(4) ? 0 : any_below(64) * PAGE,
		.charged = any_below(32) * PAGE,
		.user_limit = any_below(4) ? 0 : any_below(64) * PAGE,
		.user_used = any_below(32) * PAGE,
	};
	if (!scene->request.alignment)
		alignment = PAGE;
	scene->heap.map.size = total;
	scene->heap.map.reach =
		any_below(3) ? total : any_below(scene->count) * PAGE;
	scene->heap.map.first_aligned =
		(alignment - scene->skew * PAGE % alignment) % alignment;
	scene->heap.parts = scene->parts;
	scene->node.info = (struct dray_info){
		.page_size = PAGE,
		.heap_count = 1,
		.dma_mask = UINT64_MAX,
	};
	scene->node.heaps = &scene->heap;
}

/* The pages before the first that may be taken; all of them: none may. */
static bool is_aligned(const struct scene *scene, unsigned int page,
		       uint64_t alignment)
{
	return (scene->skew + page) * PAGE % (alignment ? alignment : PAGE) ==
	       0;
}

/* Pages of [first, first + count) in a state; all that are not free if 0. */
static unsigned int count_state(const struct scene *scene, unsigned int first,
				unsigned int count, unsigned int state)
{
	unsigned int page, found = 0;

	for (page = first; page < first + count; page++)
		found += state ? scene->state[page] == state
			       : scene->state[page] != DRAY_PART_FREE;
	return found;
}

static bool has_run(const struct scene *scene, unsigned int count,
		    uint64_t alignment, uint64_t reach)
{
	unsigned int first;

	for (first = 0; (first + count) * PAGE <= reach; first++)
		if (is_aligned(scene, first, alignment) &&
		    !count_state(scene, first, count, 0))
			return true;
	return false;
}

static unsigned int longest_run(const struct scene *scene)
{
	unsigned int count = 0;

	while (count < scene->count &&
	       has_run(scene, count + 1, PAGE, scene->count * PAGE))
		count++;
	return count;
}

static struct plan_answer refusal(int error, uint32_t reason, uint64_t limit)
{
	return (struct plan_answer){
		.error = error,
		.reason = reason,
		.limit = limit,
	};
}

static bool is_above(uint64_t limit, uint64_t used, uint64_t bytes)
{
	return limit && used + bytes > limit;
}

/* As the driver's comments say it. */
static struct plan_answer expected(const struct scene *scene)
{
	const struct dray_heap_info *info = &scene->heap.info;
	unsigned int pages =
		(unsigned int)((scene->request.size + PAGE - 1) / PAGE);
	uint64_t alignment =
		scene->request.alignment ? scene->request.alignment : PAGE;
	uint64_t largest = PAGE, charge = pages * PAGE;
	uint64_t reach = scene->heap.map.reach;

	while (largest * 2 <= info->total)
		largest *= 2;
	if (scene->heap.largest_alignment)
		return refusal(-EINVAL, DRAY_REASON_ALIGNMENT, largest);
	if (alignment > charge)
		charge = alignment;
	if (is_above(info->limit, info->charged, charge))
		return refusal(-EDQUOT, DRAY_REASON_QUOTA, info->limit);
	if (is_above(info->user_limit, info->user_used, charge))
		return refusal(-EDQUOT, DRAY_REASON_QUOTA, info->user_limit);
	if (has_run(scene, pages, alignment, reach))
		return refusal(0, 0, 0);
	if (info->free < pages * PAGE)
		return refusal(-ENOMEM, DRAY_REASON_FULL, info->free);
	if (longest_run(scene) < pages)
		return refusal(-ENOMEM, DRAY_REASON_FRAGMENTED,
			       longest_run(scene) * PAGE);
	if (!has_run(scene, pages, PAGE, reach))
		return refusal(-ENOMEM, DRAY_REASON_MASK,
			       scene->request.mask ? scene->request.mask
						   : UINT64_MAX);
	while (!has_run(scene, pages, alignment, reach))
		alignment /= 2;
	return refusal(-ENOMEM, DRAY_REASON_ALIGNMENT, alignment);
}

/* As plan_read() does when the kernel refuses the alignment. */
static void read_alignment(struct scene *scene)
{
	uint64_t largest = PAGE;

	while (largest * 2 <= scene->heap.info.total)
		largest *= 2;
	if (scene->request.alignment > largest)
		scene->heap.largest_alignment = largest;
}

static void assert_same(const struct plan_answer *a,
			const struct plan_answer *b)
{
	assert_int_equal(a->error, b->error);
	assert_int_equal(a->reason, b->reason);
	assert_int_equal(a->limit, b->limit);
}

static void the_answer_is_that_of_a_search_page_by_page(void **state)
{
	unsigned int round, seen[DRAY_REASON_MEMLOCK + 1] = { 0 };
	struct plan_answer wanted, found;
	struct scene scene;
	uint32_t heap;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		make(&scene);
		read_alignment(&scene);
		wanted = expected(&scene);
		found = plan_heap(&scene.node, 0, &scene.request);
		assert_same(&found, &wanted);
		scene.request.heap = DRAY_HEAP_ANY;
		found = plan_decide(&scene.node, &scene.request, &heap);
		assert_same(&found, &wanted);
		assert_int_equal(heap, 0);
		assert_false(found.likely);
		seen[wanted.reason]++;
	}
	assert_true(seen[DRAY_REASON_NONE] > 100);
	assert_true(seen[DRAY_REASON_FULL] > 100);
	assert_true(seen[DRAY_REASON_FRAGMENTED] > 100);
	assert_true(seen[DRAY_REASON_MASK] > 100);
	assert_true(seen[DRAY_REASON_ALIGNMENT] > 100);
	assert_true(seen[DRAY_REASON_QUOTA] > 100);
}

/* The fewest pages that must be given back, or more than there are. */
static unsigned int fewest(const struct scene *scene, unsigned int pages,
			   unsigned int *at)
{
	unsigned int first, best = PAGES + 1;

	for (first = 0; (first + pages) * PAGE <= scene->heap.map.reach;
	     first++) {
		unsigned int taken = count_state(scene, first, pages, 0);

		if (!is_aligned(scene, first, scene->request.alignment) ||
		    count_state(scene, first, pages, DRAY_PART_CONDEMNED) ||
		    taken >= best)
			continue;
		best = taken;
		*at = first;
	}
	return best;
}

static void no_range_needs_fewer_bytes(void **state)
{
	unsigned int round, found = 0, at = 0;
	struct plan_window window;
	struct scene scene;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		unsigned int pages, best;

		make(&scene);
		pages = (unsigned int)((scene.request.size + PAGE - 1) / PAGE);
		best = fewest(&scene, pages, &at);
		window = plan_window(&scene.node, 0, &scene.request);
		assert_int_equal(window.found, best <= PAGES);
		if (!window.found)
			continue;
		found++;
		assert_int_equal(window.taken, best * PAGE);
		assert_int_equal(window.offset, at * PAGE);
		assert_int_equal(window.length, pages * PAGE);
		assert_true(scene.parts[window.first].offset <= window.offset);
		assert_true(scene.parts[window.end - 1].offset +
				    scene.parts[window.end - 1].length >=
			    window.offset + window.length);
	}
	assert_true(found > ROUNDS / 4);
}

static bool is_served(struct scene *scene, uint64_t size, uint64_t alignment)
{
	scene->request.size = size;
	scene->request.alignment = alignment;
	return !plan_heap(&scene->node, 0, &scene->request).error;
}

static void no_larger_size_or_alignment_succeeds(void **state)
{
	uint64_t size, alignment, asked;
	struct scene scene;
	unsigned int round;

	(void)state;
	for (round = 0; round < ROUNDS / 10; round++) {
		make(&scene);
		asked = scene.request.size;
		alignment = scene.request.alignment;
		size = plan_largest_size(&scene.node, &scene.request);
		assert_true(!size || is_served(&scene, size, alignment));
		assert_false(is_served(&scene, size + 1, alignment));
		scene.request.size = asked;
		size = plan_largest_alignment(&scene.node, &scene.request);
		assert_true(size < alignment || !size);
		assert_true(!size || is_served(&scene, asked, size));
		for (; size && size * 2 < alignment; size *= 2)
			assert_false(is_served(&scene, asked, size * 2));
	}
}

/* Heaps of all types, in an order, and the one that serves. */
struct order {
	const char *heaps; /* r, c, p, o: reserved, cma, pages, carveout */
	uint32_t mode;
	int served; /* -1: none */
	bool likely;
	bool elsewhere;
};

static const struct order orders[] = {
	{ "r", DRAY_MODE_CACHED, 0, false, false },
	{ "cr", DRAY_MODE_CACHED, 0, false, true },
	{ "cp", DRAY_MODE_CACHED, 0, true, true },
	{ "p", DRAY_MODE_CACHED, 0, true, true },
	{ "or", DRAY_MODE_CACHED, 1, false, false },
	{ "or", DRAY_MODE_DEVICE, 0, false, false },
	{ "ro", DRAY_MODE_COHERENT, 1, false, false },
	{ "oc", DRAY_MODE_COHERENT, 1, true, true },
	{ "r", DRAY_MODE_COHERENT, -1, false, false },
	{ "Rr", DRAY_MODE_CACHED, 1, false, false }, /* R: full */
	{ "Rp", DRAY_MODE_CACHED, 1, true, true },
	{ "R", DRAY_MODE_CACHED, -1, false, false },
};

static void set_heap(struct plan_heap *heap, char letter)
{
	static const char letters[] = "rcpo";
	static const uint32_t types[] = { DRAY_HEAP_RESERVED, DRAY_HEAP_CMA,
					  DRAY_HEAP_PAGES, DRAY_HEAP_CARVEOUT };
	static struct dray_part free = { .length = 8 * PAGE };
	size_t type =
		letter == 'R' ? 0 : (size_t)(strchr(letters, letter) - letters);
	uint32_t cached = 1u << DRAY_MODE_CACHED | 1u << DRAY_MODE_DEVICE;
	uint32_t uncached = 1u << DRAY_MODE_COHERENT | 1u << DRAY_MODE_DEVICE;

	*heap = (struct plan_heap){
		.info = {
			.type = types[type],
			.total = 8 * PAGE,
			.free = letter == 'R' ? 0 : 8 * PAGE,
			.largest_free = 8 * PAGE,
			.largest_request = 8 * PAGE,
			.modes = letter == 'o' ? uncached
				: letter == 'c' ? cached | uncached : cached,
		},
		.map = {
			.count = letter != 'p' && letter != 'R',
			.size = 8 * PAGE,
			.reach = 8 * PAGE,
		},
		.parts = &free,
	};
}

static void heaps_are_asked_in_the_order_of_the_module(void **state)
{
	struct plan_heap heaps[4];
	struct plan_node node = {
		.info = { .page_size = PAGE, .dma_mask = UINT64_MAX },
		.heaps = heaps,
		.may_lock = true,
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		const struct order *order = &orders[i];
		struct plan_request request = {
			.size = PAGE,
			.heap = DRAY_HEAP_ANY,
			.mode = order->mode,
		};
		struct plan_answer answer;
		uint32_t heap;

		node.info.heap_count = (uint32_t)strlen(order->heaps);
		for (k = 0; order->heaps[k]; k++)
			set_heap(&heaps[k], order->heaps[k]);
		answer = plan_decide(&node, &request, &heap);
		assert_int_equal(!answer.error, order->served >= 0);
		if (!answer.error)
			assert_int_equal(heap, order->served);
		assert_int_equal(answer.likely, order->likely);
		assert_int_equal(answer.elsewhere, order->elsewhere);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answer_is_that_of_a_search_page_by_page),
		cmocka_unit_test(no_range_needs_fewer_bytes),
		cmocka_unit_test(no_larger_size_or_alignment_succeeds),
		cmocka_unit_test(heaps_are_asked_in_the_order_of_the_module),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
