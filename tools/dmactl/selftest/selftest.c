// SPDX-License-Identifier: Apache-2.0 OR MIT
/* What the parts of the self-test share: findings, memory, numbers, engines. */
#include <stdarg.h>
#include <string.h>

#include "selftest.h"

void selftest_add(struct selftest *test, const char *name, enum outcome outcome,
		  json_t *values, const char *format, ...)
{
	struct finding *finding;
	va_list args;

	test->findings = memory_resize(test->findings, test->count + 1,
				       sizeof(*test->findings));
	finding = &test->findings[test->count++];
	*finding = (struct finding){
		.name = text_format("%s", name),
		.outcome = outcome,
		.values = values,
	};
	va_start(args, format);
	finding->sentence = text_format_list(format, args);
	va_end(args);
}

int selftest_take(const struct selftest *test, uint64_t size,
		  uint64_t address_limit, struct dray_buffer **buffer)
{
	struct dray_buffer_options options = {
		.heap = test->heap.name,
		.name = "dmactl test",
		.address_limit = address_limit,
	};

	return dray_buffer_alloc(test->node->node, size, &options, buffer);
}

int selftest_sync(const struct selftest *test, struct dray_buffer *buffer,
		  uint64_t offset, uint64_t length, enum dray_sync_owner owner)
{
	struct dray_region region = {
		.buffer = buffer,
		.offset = offset,
		.width = length,
		.rows = 1,
	};

	return dray_node_sync(test->node->node, owner, DRAY_BIDIRECTIONAL,
			      &region, 1);
}

/* (Source: splitmix64, Steele, Lea and Flood 2014.) */
uint64_t selftest_random(uint64_t seed, uint64_t index)
{
	uint64_t word = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);

	word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
	return word ^ (word >> 31);
}

void selftest_fill(void *data, size_t size, uint64_t seed)
{
	size_t i;

	for (i = 0; i < size; i += sizeof(uint64_t)) {
		uint64_t word = selftest_random(seed, i);
		size_t part = size - i < sizeof(word) ? size - i : sizeof(word);

		memcpy((char *)data + i, &word, part);
	}
}

int engine_open(const struct selftest *test, uint32_t index,
		struct engine *engine)
{
	const struct open_node *node = test->node;
	struct dray_queue_options options = { .channel = index + 1 };
	int ret = dray_node_channel(node->node, index, &engine->info,
				    sizeof(engine->info));

	if (ret)
		return ret;
	if (!(engine->info.flags & DRAY_CHANNEL_COPY))
		return 0;
	engine->unit = engine->info.alignment;
	if (engine->unit < node->info.dma_alignment)
		engine->unit = node->info.dma_alignment;
	ret = dray_queue_create(node->node, &options, &engine->queue);
	return ret ? ret : 1;
}

bool engine_open_any(const struct selftest *test, struct engine *engine)
{
	uint32_t i;

	for (i = 0; i < test->node->info.channel_count; i++) {
		if (test->late >> i & 1 || engine_open(test, i, engine) != 1)
			continue;
		if (!(engine->info.flags & DRAY_CHANNEL_DEAD))
			return true;
		engine_close(engine);
	}
	return false;
}

void engine_close(struct engine *engine)
{
	dray_queue_destroy(engine->queue);
}

static int bytes_view(void *data, uint64_t length, struct dray_view *view)
{
	int64_t count = (int64_t)length;

	return dray_view_init(view, data, DRAY_UINT8, 1, &count, NULL);
}

int engine_copy(const struct engine *engine, void *dst, void *src,
		uint64_t length, unsigned int flags)
{
	struct dray_view to, from;
	int ret = bytes_view(dst, length, &to);

	if (!ret)
		ret = bytes_view(src, length, &from);
	return ret ? ret
		   : dray_copy(engine->queue, &to, &from,
			       flags | DRAY_COPY_ENGINE, NULL);
}

int engine_fill(const struct engine *engine, void *dst, uint64_t length)
{
	static const unsigned char zero;
	struct dray_view to;
	int ret = bytes_view(dst, length, &to);

	return ret ? ret
		   : dray_fill(engine->queue, &to, &zero, DRAY_COPY_ENGINE,
			       NULL);
}
