// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A sample as JSON.  Without a sample before, rates are null. */
#include <stdlib.h>
#include <string.h>

#include "top.h"
#include "base/words.h"

static json_t *top_document_rate(const struct top_sample *sample, double value)
{
	return sample->interval_ns ? json_real(value) : json_null();
}

static json_t *heap_document(const struct top_heap *heap)
{
	const struct dray_heap_info *info = &heap->info;
	json_t *object = json_object();
	char type[WORD_ROOM];

	document_text(object, "node", heap->node, DRAY_NAME_LEN);
	document_text(object, "heap", info->name, sizeof(info->name));
	document_word(object, "type", heap_type_word(info->type, type));
	document_number(object, "total", info->total);
	document_number(object, "used", info->used);
	document_number(object, "held", info->held);
	document_number(object, "quarantined", info->quarantined);
	document_number(object, "free", info->free);
	document_number(object, "buffers", info->buffers);
	return object;
}

static json_t *process_document(const struct top_sample *sample,
				const struct top_process *process)
{
	static const char *const states[] = {
		[TOP_ALIVE] = "alive",
		[TOP_GONE] = "gone",
		[TOP_HELD] = "held",
	};
	const struct process *who = &process->process;
	const double *rates = process->rates;
	json_t *object = json_object();
	char *user = user_word(who->uid);

	document_set(object, "pid",
		     who->pid ? json_integer(who->pid) : json_null());
	document_word(object, "state", states[process->state]);
	document_number(object, "uid", who->uid);
	document_text(object, "user", user, strlen(user));
	document_text(object, "comm", who->comm, sizeof(who->comm));
	document_number(object, "buffers", process->buffers);
	document_number(object, "attachments", process->attachments);
	document_number(object, "memory", process->memory);
	document_set(object, "allocated_per_second",
		     top_document_rate(sample, rates[RATE_ALLOCATED]));
	document_set(object, "synced_per_second",
		     top_document_rate(sample, rates[RATE_SYNCED]));
	document_set(object, "transfers_per_second",
		     process->opener
			     ? top_document_rate(sample, rates[RATE_TRANSFERS])
			     : json_null());
	document_set(object, "moved_per_second",
		     process->opener
			     ? top_document_rate(sample, rates[RATE_MOVED])
			     : json_null());
	document_number(object, "busy", process->busy);
	free(user);
	return object;
}

static json_t *stream_document(const struct top_sample *sample,
			       const struct top_stream *stream)
{
	const struct dray_channel_info *info = &stream->info;
	json_t *object = json_object();

	document_text(object, "node", stream->node, DRAY_NAME_LEN);
	document_text(object, "channel", info->name, sizeof(info->name));
	document_text(object, "engine", info->device, sizeof(info->device));
	document_word(object, "state", channel_state_word(info->flags));
	document_set(object, "pid",
		     stream->pid ? json_integer(stream->pid) : json_null());
	document_number(object, "submitted", info->submitted);
	document_number(object, "bytes", info->bytes);
	document_number(object, "failed", info->failed);
	document_number(object, "packets", info->packets);
	document_number(object, "lost", info->lost);
	document_number(object, "stalls", info->held_back);
	document_number(object, "ring_frames", info->ring_frames);
	document_number(object, "ring_ready", info->ring_ready);
	document_set(object, "transfers_per_second",
		     top_document_rate(sample,
				       stream->rates[STREAM_SUBMITTED]));
	document_set(object, "bytes_per_second",
		     top_document_rate(sample, stream->rates[STREAM_BYTES]));
	document_set(object, "failed_per_second",
		     top_document_rate(sample, stream->rates[STREAM_FAILED]));
	document_set(object, "packets_per_second",
		     top_document_rate(sample, stream->rates[STREAM_PACKETS]));
	document_set(object, "lost_per_second",
		     top_document_rate(sample, stream->rates[STREAM_LOST]));
	document_set(object, "stalls_per_second",
		     top_document_rate(sample, stream->rates[STREAM_STALLS]));
	return object;
}

json_t *top_document(const struct row_view *view,
		     const struct top_sample *sample)
{
	json_t *root = json_object();
	json_t *heaps = json_array();
	json_t *processes = json_array();
	json_t *streams = json_array();
	size_t count, i;
	const void **rows = top_rows(view, sample, "", &count);

	for (i = 0; i < sample->heap_count; i++)
		document_set(heaps, NULL, heap_document(&sample->heaps[i]));
	for (i = 0; i < count; i++)
		document_set(processes, NULL,
			     row_view_trim(view,
					   process_document(sample, rows[i])));
	for (i = 0; i < sample->stream_count; i++)
		document_set(streams, NULL,
			     stream_document(sample, &sample->streams[i]));
	free(rows);
	document_number(root, "time_ns", sample->time_ns);
	document_set(root, "interval_ns",
		     sample->interval_ns
			     ? json_integer((json_int_t)sample->interval_ns)
			     : json_null());
	document_set(root, "heaps", heaps);
	document_set(root, "processes", processes);
	document_set(root, "streams", streams);
	document_number(root, "hidden_processes", sample->clients.hidden);
	if (sample->trouble)
		document_text(root, "trouble", sample->trouble,
			      strlen(sample->trouble));
	else
		document_set(root, "trouble", json_null());
	return root;
}
