// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A snapshot of pools, as a process that means harm would send it to dmactl: it
 * is refused, or each block lies in its buffer apart from the others, and all of
 * its texts in the snapshot.
 */
#include "cli.h"
#include "fuzzer.h"
#include "arrays/published.h"

const char cli_program[] = "fuzz_published";

/* Memory of its exact size: sanitizers see its end. */
static void *make_snapshot(struct input *input, size_t *size)
{
	struct dray_publish_head head = {
		.magic = DRAY_PUBLISH_MAGIC,
		.version = DRAY_PUBLISH_VERSION,
	};
	bool begins = input_below(input, 8);
	size_t before = begins ? sizeof(head) : 0;
	char *bytes;

	*size = before + input->left;
	bytes = malloc(*size ? *size : 1);
	holds(bytes);
	head.size = *size;
	if (begins)
		memcpy(bytes, &head, sizeof(head));
	if (input->left)
		memcpy(bytes + before, input->at, input->left);
	return bytes;
}

static void check_bytes(const char *from, size_t size, const char *bytes,
			size_t all)
{
	holds(from >= bytes && size <= all &&
	      (size_t)(from - bytes) <= all - size);
}

static void check_region(const struct published *published,
			 const struct published_region *region,
			 const char *bytes, size_t size)
{
	uint64_t end = 0;
	size_t i;

	holds(region->pool);
	for (i = region->first; i < region->first + region->count; i++) {
		const struct published_block *block = &published->blocks[i];

		holds(block->fixed->size && block->fixed->offset >= end);
		end = block->fixed->offset + block->fixed->size;
		holds(end >= block->fixed->size);
		check_bytes((const char *)block->shape,
			    block->fixed->ndim * sizeof(int64_t), bytes, size);
		check_bytes(block->type, block->fixed->type_length, bytes,
			    size);
		check_bytes(block->site, block->fixed->site_length, bytes,
			    size);
	}
	holds(end <= region->fixed->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct published published;
	const char *wrong;
	size_t length, i, blocks = 0;
	char *bytes = make_snapshot(&input, &length);

	wrong = published_parse(bytes, length, &published);
	for (i = 0; !wrong && i < published.region_count; i++) {
		holds(published.regions[i].first == blocks);
		blocks += published.regions[i].count;
		check_region(&published, &published.regions[i], bytes, length);
	}
	holds(wrong || blocks == published.block_count);
	if (!wrong)
		published_free(&published);
	free(bytes);
	return 0;
}
