// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What a transfer means, written down as the plainest loop; see
 * transfer_model.h.
 */
#include "transfer_model.h"

static uint8_t *memory_of(const struct model_memory *memories,
			  unsigned int count, int fd)
{
	for (unsigned int i = 0; i < count; i++)
		if (memories[i].fd == fd)
			return memories[i].bytes;
	abort();
}

static void one_run(const struct dray_transfer *transfer, uint8_t *dst,
		    const uint8_t *src)
{
	for (uint64_t i = 0; i < transfer->run; i++)
		dst[i] = transfer->op == DRAY_OP_FILL
				 ? transfer->pattern[i % transfer->pattern_size]
				 : src[i];
}

static void one_axis(const struct dray_transfer *transfer, unsigned int axis,
		     uint8_t *dst, const uint8_t *src)
{
	const struct dray_axis *axes = (void *)(uintptr_t)transfer->axes;

	if (axis == transfer->axes_count) {
		one_run(transfer, dst, src);
		return;
	}
	for (uint64_t i = 0; i < axes[axis].count; i++) {
		one_axis(transfer, axis + 1, dst, src);
		dst += axes[axis].dst_stride;
		if (src)
			src += axes[axis].src_stride;
	}
}

void model_transfer(const struct model_memory *memories, unsigned int count,
		    const struct dray_transfer *transfer)
{
	const uint8_t *src = NULL;

	if (transfer->op == DRAY_OP_COPY)
		src = memory_of(memories, count, transfer->src_fd) +
		      transfer->src_offset;
	one_axis(transfer, 0,
		 memory_of(memories, count, transfer->dst_fd) +
			 transfer->dst_offset,
		 src);
}
