// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Blocks over the memory that a record of another process leads to. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "record/opened.h"
#include "base/error.h"
#include "block/block.h"

struct opened {
	struct dray_ipc_memory *memory;
	struct dray_block_front front;
	struct dray_block block;
};

static struct opened *opened_of(const struct dray_block *block)
{
	return dray_block_around(block, struct opened, block);
}

static void opened_destroy(struct dray_block *block)
{
	dray_ipc_close(opened_of(block)->memory);
	free(opened_of(block));
}

static void opened_range(const struct dray_block *block,
			 struct dray_block_range *out)
{
	const struct dray_ipc_memory *memory = opened_of(block)->memory;

	out->data = dray_ipc_data(memory);
	out->size = (size_t)dray_ipc_size(memory);
	out->writable = dray_ipc_writable(memory);
}

static void opened_dump(const struct dray_block *block, FILE *stream)
{
	fprintf(stream, " buffer: %" PRIu64 "\n",
		dray_buffer_id(dray_ipc_buffer(opened_of(block)->memory)));
}

static const struct dray_block_class opened_class = {
	.type = DRAY_BLOCK_OPENED,
	.destroy = opened_destroy,
	.range = opened_range,
	.dump = opened_dump,
};

int dray_block_create_opened(struct dray_ipc_memory *memory,
			     struct dray_block **out)
{
	struct opened *opened = malloc(sizeof(*opened));

	if (!opened) {
		dray_ipc_close(memory);
		return dray_fail(-ENOMEM, "no memory for a block's object");
	}
	opened->memory = memory;
	dray_block_init(&opened->block, &opened_class);
	*out = &opened->block;
	return 0;
}
