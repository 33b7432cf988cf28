// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Staging.  The buffer has the packet as it is on the stream, so a receive of
 * any length is copied byte by byte in the order of the view.
 */
#include <stdlib.h>
#include <string.h>

#include "memory/runs.h"
#include "stream/stage.h"

int dray_stage_begin(struct dray_stage *stage, struct dray_node *node,
		     uint64_t bytes)
{
	struct dray_buffer_options options = { .name = "stream" };

	return dray_buffer_alloc(node, bytes, &options, &stage->buffer);
}

void dray_stage_fill(struct dray_stage *stage,
		     const struct dray_packet_piece *pieces, uint32_t count)
{
	unsigned char *to = dray_buffer_data(stage->buffer);
	struct dray_runs runs;
	uint64_t length;
	uint32_t i;

	for (i = 0; i < count; i++) {
		dray_runs_begin(&runs, pieces[i].first, pieces[i].run,
				pieces[i].axes, pieces[i].axes_count, true);
		do {
			const void *from = dray_runs_next(&runs, &length);

			memcpy(to, from, (size_t)length);
			to += length;
		} while (dray_runs_pass(&runs, length));
	}
}

void dray_stage_return_to(struct dray_stage *stage,
			  struct dray_packet_piece *pieces, uint32_t count)
{
	stage->pieces = pieces;
	stage->count = count;
}

static void copy_back(const struct dray_stage *stage, uint64_t bytes)
{
	const unsigned char *from = dray_buffer_data(stage->buffer);
	struct dray_runs runs;
	uint64_t length;
	uint32_t i;

	for (i = 0; i < stage->count && bytes; i++) {
		const struct dray_packet_piece *piece = &stage->pieces[i];

		dray_runs_begin(&runs, piece->first, piece->run, piece->axes,
				piece->axes_count, false);
		do {
			void *to = dray_runs_next(&runs, &length);

			if (length > bytes)
				length = bytes;
			memcpy(to, from, (size_t)length);
			from += length;
			bytes -= length;
		} while (bytes && dray_runs_pass(&runs, length));
	}
}

void dray_stage_end(struct dray_stage *stage, uint64_t bytes)
{
	if (!stage->buffer)
		return;
	copy_back(stage, bytes);
	free(stage->pieces);
	dray_buffer_unref(stage->buffer);
	*stage = (struct dray_stage){ .buffer = NULL };
}
