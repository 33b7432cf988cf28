// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Checks packets and decides how to move them.  Objections to the engine are in
 * order, those first that a staging copy does not help against.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "layout/layout.h"
#include "layout/overlap.h"
#include "base/error.h"
#include "base/number.h"
#include "base/options.h"
#include "memory/node.h"
#include "stream/packet.h"

static int packet_check_options(const struct dray_packet *packet)
{
	const struct dray_packet_options *options = &packet->options;
	uint32_t known =
		DRAY_PACKET_NONBLOCK | DRAY_PACKET_NO_SYNC | DRAY_PACKET_STAGE;

	if (options->flags & ~known)
		return dray_fail(-EINVAL, "unknown flags 0x%x of a packet",
				 options->flags & ~known);
	if ((options->flags & DRAY_PACKET_STAGE) &&
	    (options->flags & DRAY_PACKET_NO_SYNC))
		return dray_fail(
			-EINVAL,
			"the CPU makes a staging copy, and a packet without syncs is not for the CPU");
	if (options->deadline_ns > DRAY_MAX_DEADLINE)
		return dray_fail(-EINVAL,
				 "a deadline of %" PRIu64
				 " ns, the longest is %llu ns",
				 options->deadline_ns, DRAY_MAX_DEADLINE);
	if (options->fence_count > DRAY_MAX_IN_FENCES)
		return dray_fail(-EINVAL,
				 "%u in-fences; the limit of a packet is %u",
				 options->fence_count, DRAY_MAX_IN_FENCES);
	if (options->fence_count && !options->fences)
		return dray_fail(-EINVAL, "%u in-fence%s, and no list",
				 options->fence_count,
				 dray_plural(options->fence_count));
	return 0;
}

static int check_direction(const struct dray_packet *packet)
{
	const struct dray_stream *stream = packet->stream;

	if (packet->sends == stream->sends)
		return 0;
	return dray_fail(-EINVAL,
			 stream->sends ? "%s sends, it cannot receive"
				       : "%s receives, it cannot send",
			 stream->name);
}

/* Refuses destinations without a right result. */
static int packet_check_destination(struct dray_packet_view *view)
{
	struct dray_operand *operand = &view->operand;
	int ret;

	ret = dray_operand_check_writable(operand);
	if (ret)
		return ret;
	if (dray_overlap_self(operand) == DRAY_OVERLAP_SOME)
		return dray_fail(-EINVAL,
				 "elements of %s share bytes with each other",
				 view->name);
	if (dray_operand_locate(operand, true) &&
	    !dray_buffer_writable(operand->location.buffer))
		return dray_fail(-EPERM, "%s lies in read-only buffer %" PRIu64,
				 view->name,
				 dray_buffer_id(operand->location.buffer));
	return 0;
}

static int packet_check_view(struct dray_packet *packet, uint32_t index,
			     const struct dray_view *given)
{
	struct dray_packet_view *view = &packet->views[index];
	int ret;

	if (packet->count == 1)
		snprintf(view->name, sizeof(view->name), "the view");
	else
		snprintf(view->name, sizeof(view->name), "view %u", index);
	ret = dray_operand_init(&view->operand, given, view->name);
	if (ret)
		return ret;
	if (!view->operand.extent.bytes)
		return dray_fail(-EINVAL, "%s contains no bytes to %s",
				 view->name,
				 packet->sends ? "send" : "receive");
	return packet->sends ? 0 : packet_check_destination(view);
}

/* Refuses views of a receive that share bytes. */
static int check_pairs(const struct dray_packet *packet)
{
	uint32_t i, k;

	for (i = 0; !packet->sends && i < packet->count; i++) {
		for (k = 0; k < i; k++) {
			if (dray_overlap_find(&packet->views[i].operand,
					      &packet->views[k].operand) ==
			    DRAY_OVERLAP_SOME)
				return dray_fail(
					-EINVAL,
					"view %u and view %u share bytes", k,
					i);
		}
	}
	return 0;
}

static uint64_t packet_split(const struct dray_packet *packet, uint64_t bytes)
{
	uint64_t most = packet->stream->max_segment;

	return bytes / most + (bytes % most != 0);
}

/* The rows of a view to show: its first axis, if there are others. */
static uint64_t packet_rows_of(const struct dray_view *view)
{
	int i = 0;

	while (i + 1 < view->ndim && view->shape[i] == 1)
		i++;
	return i + 1 < view->ndim ? (uint64_t)view->shape[i] : 1;
}

/* Cuts a run of a view to show at its rows. */
static void keep_rows(struct dray_packet *packet,
		      struct dray_packet_piece *piece, struct dray_axis *axes)
{
	if (piece->axes_count || packet->rows == 1)
		return;
	piece->run /= packet->rows;
	piece->axes_count = 1;
	axes[0] = (struct dray_axis){
		.count = packet->rows,
		.src_stride = (int64_t)piece->run,
	};
}

/* Reduces a view to its piece; @axes is large enough.  True if numbers overflow. */
static bool reduce_overflow(struct dray_packet *packet, uint32_t index,
			    struct dray_axis *axes)
{
	const struct dray_operand *operand = &packet->views[index].operand;
	struct dray_packet_piece *piece = &packet->pieces[index];
	struct dray_layout layout;
	int i;

	dray_layout_sequence(&layout, operand->view);
	piece->first = layout.data[0];
	piece->run = layout.run;
	piece->axes_count = (uint32_t)layout.axes_count;
	piece->axes = axes;
	for (i = 0; i < layout.axes_count; i++) {
		int64_t stride = layout.axes[i].strides[0];

		axes[i] = (struct dray_axis){
			.count = layout.axes[i].count,
			.dst_stride = packet->sends ? 0 : stride,
			.src_stride = packet->sends ? stride : 0,
		};
	}
	if (packet->op == DRAY_OP_SHOW) {
		packet->rows = packet_rows_of(operand->view);
		keep_rows(packet, piece, axes);
	}
	packet->elements += (uint64_t)operand->extent.elements;
	/* There are no more descriptors than bytes. */
	packet->descriptors += layout.runs * packet_split(packet, layout.run);
	return dray_add_overflow(packet->bytes, layout.bytes, &packet->bytes);
}

static int packet_reduce(struct dray_packet *packet)
{
	struct dray_axis *axes;
	size_t room = 0;
	uint32_t i;

	for (i = 0; i < packet->count; i++)
		room += (size_t)packet->views[i].operand.view->ndim;
	packet->pieces = calloc(1, packet->count * sizeof(packet->pieces[0]) +
					   room * sizeof(*axes));
	if (!packet->pieces)
		return dray_fail(-ENOMEM, "no memory for a packet");
	axes = (struct dray_axis *)&packet->pieces[packet->count];
	for (i = 0; i < packet->count; i++) {
		if (reduce_overflow(packet, i, axes))
			return dray_fail(
				-EOVERFLOW,
				"the bytes of %u views do not fit 64 bits",
				packet->count);
		axes += packet->pieces[i].axes_count;
	}
	return 0;
}

int dray_packet_init(struct dray_packet *packet, struct dray_stream *stream,
		     bool sends, const struct dray_view *const *views,
		     size_t count, const struct dray_packet_options *options)
{
	uint32_t i;
	int ret;

	*packet = (struct dray_packet){
		.stream = stream,
		.op = stream->op,
		.sends = sends,
		.rows = 1,
	};
	ret = DRAY_READ_OPTIONS(&packet->options, options,
				DRAY_PACKET_OPTIONS_SIZE_FIRST);
	if (!ret)
		ret = check_direction(packet);
	if (!ret)
		ret = packet_check_options(packet);
	if (ret)
		return ret;
	if (!count || count > UINT32_MAX)
		return dray_fail(-EINVAL, "a packet of %zu views", count);
	packet->views = calloc(count, sizeof(packet->views[0]));
	if (!packet->views)
		return dray_fail(-ENOMEM, "no memory for %zu views", count);
	packet->count = (uint32_t)count;
	for (i = 0; i < packet->count; i++) {
		ret = packet_check_view(packet, i, views[i]);
		if (ret)
			return ret;
	}
	ret = check_pairs(packet);
	return ret ? ret : packet_reduce(packet);
}

struct dray_transfer dray_packet_transfer(const struct dray_packet *packet,
					  const struct dray_buffer *buffer,
					  const struct dray_packet_piece *piece)
{
	bool sends = packet->sends;
	uint64_t offset = (uint64_t)((uintptr_t)piece->first -
				     (uintptr_t)dray_buffer_data(buffer));

	return (struct dray_transfer){
		.op = packet->op,
		.dst_fd = -1,
		.src_fd = -1,
		.dst_offset = sends ? 0 : offset,
		.src_offset = sends ? offset : 0,
		.run = piece->run,
		.axes_count = piece->axes_count,
		.axes = (uintptr_t)piece->axes,
	};
}

void dray_packet_drop(struct dray_packet *packet)
{
	uint32_t i;

	for (i = 0; packet->views && i < packet->count; i++)
		dray_operand_drop(&packet->views[i].operand);
	free(packet->views);
	free(packet->pieces);
}

/* Notes the reason. */
#define REJECT(packet, ...)                                                 \
	(snprintf((packet)->reason, sizeof((packet)->reason), __VA_ARGS__), \
	 true)

/* The packet as a whole is nothing for the engine, copied or not. */
static bool reject_size(struct dray_packet *packet)
{
	const struct dray_stream *stream = packet->stream;

	if (packet->bytes > stream->max_bytes)
		return REJECT(packet,
			      "%" PRIu64
			      " bytes; the limit of a packet is %" PRIu64,
			      packet->bytes, stream->max_bytes);
	if (packet->bytes / packet->rows & (stream->alignment - 1))
		return REJECT(packet,
			      "%s moves multiples of %u bytes, not %" PRIu64,
			      stream->name, stream->alignment,
			      packet->bytes / packet->rows);
	if (packet_split(packet, packet->bytes) > stream->max_runs)
		return REJECT(packet,
			      "%" PRIu64 " bytes are %" PRIu64
			      " descriptors; the engine's limit is %" PRIu64,
			      packet->bytes,
			      packet_split(packet, packet->bytes),
			      stream->max_runs);
	return false;
}

/* Holds the memory of a view, if the engine can reach it. */
static bool packet_reject_memory(struct dray_packet *packet,
				 struct dray_packet_view *view)
{
	struct dray_operand *operand = &view->operand;

	dray_operand_locate(operand, true);
	if (dray_operand_check_block(operand))
		return REJECT(packet, "%s", dray_last_error());
	if (!dray_node_same(dray_buffer_node(operand->location.buffer),
			    packet->stream->port->node))
		return REJECT(packet, "%s is of another node", view->name);
	return false;
}

static bool reject_alignment(struct dray_packet *packet, uint32_t index)
{
	const struct dray_packet_piece *piece = &packet->pieces[index];
	uint64_t bits = piece->run | (uint64_t)(uintptr_t)piece->first;
	uint32_t alignment = packet->stream->alignment;
	uint32_t i;

	/* Buffers start on pages, so the CPU's addresses show the alignment. */
	for (i = 0; i < piece->axes_count; i++)
		bits |= (uint64_t)(piece->axes[i].src_stride |
				   piece->axes[i].dst_stride);
	if (!(bits & (alignment - 1)))
		return false;
	return REJECT(
		packet,
		"the engine needs addresses and lengths in multiples of %u bytes; %s is aligned to %" PRIu64,
		alignment, packet->views[index].name, bits & -bits);
}

/* An engine that repeats needs rows of equal stride. */
static bool reject_rows(struct dray_packet *packet)
{
	const struct dray_packet_piece *piece = &packet->pieces[0];
	const struct dray_stream *stream = packet->stream;
	uint32_t alignment = stream->first_alignment;
	uint64_t first = (uintptr_t)piece->first;
	int64_t stride = piece->axes_count ? piece->axes[0].src_stride
					   : (int64_t)piece->run;

	if (first & (alignment - 1))
		return REJECT(
			packet,
			"the engine needs a first byte at a multiple of %u bytes; %s begins at a multiple of %" PRIu64,
			alignment, packet->views[0].name, first & -first);
	if (packet->count == 1 && piece->axes_count <= 1 && stride > 0 &&
	    (uint64_t)stride >= piece->run &&
	    (uint64_t)stride <= stream->max_segment)
		return false;
	return REJECT(
		packet,
		"%s shows rows of a single stride, not shorter than a row and at most %" PRIu64
		" bytes",
		stream->name, stream->max_segment);
}

static bool reject_pieces(struct dray_packet *packet)
{
	const struct dray_stream *stream = packet->stream;

	if (packet->count > DRAY_MAX_TRANSFERS)
		return REJECT(packet, "%u views; the limit of a packet is %u",
			      packet->count, DRAY_MAX_TRANSFERS);
	if (packet->descriptors > stream->max_runs)
		return REJECT(
			packet,
			"%" PRIu64
			" contiguous pieces; the engine's limit is %" PRIu64,
			packet->descriptors, stream->max_runs);
	return false;
}

static bool packet_reject_engine(struct dray_packet *packet)
{
	uint32_t i;

	for (i = 0; i < packet->count; i++)
		if (packet_reject_memory(packet, &packet->views[i]))
			return true;
	for (i = 0; i < packet->count; i++)
		if (reject_alignment(packet, i))
			return true;
	return packet->stream->repeats ? reject_rows(packet)
				       : reject_pieces(packet);
}

/* Memory without a mapping is nothing for the CPU. */
static const char *packet_unmapped(const struct dray_packet *packet)
{
	uint32_t i;

	for (i = 0; i < packet->count; i++) {
		struct dray_operand *operand = &packet->views[i].operand;

		if (dray_operand_locate(operand, true) &&
		    !dray_buffer_mapped(operand->location.buffer))
			return packet->views[i].name;
	}
	return NULL;
}

int dray_packet_choose(struct dray_packet *packet)
{
	const char *name;

	if (reject_size(packet))
		return dray_fail(-EOPNOTSUPP, "the engine cannot: %s",
				 packet->reason);
	packet->staged = packet_reject_engine(packet);
	if (!packet->staged) {
		snprintf(
			packet->reason, sizeof(packet->reason),
			"%" PRIu64
			" descriptor%s %s within the engine's limit of %" PRIu64,
			packet->descriptors, dray_plural(packet->descriptors),
			packet->descriptors == 1 ? "is" : "are",
			packet->stream->max_runs);
		return 0;
	}
	if (!(packet->options.flags & DRAY_PACKET_STAGE))
		return dray_fail_as(-EOPNOTSUPP, DRAY_FAILURE_STAGE,
				    "the engine cannot: %s", packet->reason);
	name = packet_unmapped(packet);
	if (name)
		return dray_fail(
			-EOPNOTSUPP,
			"the engine cannot: %s; and the CPU cannot copy %s, which is not mapped",
			packet->reason, name);
	return 0;
}
