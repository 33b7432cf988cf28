// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads samples.  Nodes are open only meanwhile, since an open node keeps the
 * module.  The module may be replaced between two samples: a counter that is less
 * than before began again.
 *
 * A process is known from two sources: the module lists its buffers, and the fdinfo
 * of the nodes it opened counts its calls.  Without a right to the second, rates
 * are computed from the buffers seen, and transfers are unknown.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "top.h"

/* The sentences of a sample; the first counts. */
static char *first_complaint;

static void take_complaint(const char *sentence)
{
	if (!first_complaint)
		first_complaint = text_format("%s", sentence);
}

enum top_state top_state_of(const struct dray_buffer_info *info)
{
	if (info->flags & DRAY_BUFFER_HELD)
		return TOP_HELD;
	return info->flags & DRAY_BUFFER_ORPHAN ? TOP_GONE : TOP_ALIVE;
}

static bool is_process(const struct top_process *process,
		       const struct process *other, enum top_state state)
{
	if (process->process.pid != other->pid || process->state != state)
		return false;
	/* processes of another namespace lack a number */
	return other->pid || process->process.uid == other->uid;
}

static struct top_process *process_of(struct top_sample *sample,
				      const struct process *process,
				      enum top_state state)
{
	struct top_process *found;
	size_t i;

	for (i = 0; i < sample->process_count; i++)
		if (is_process(&sample->processes[i], process, state))
			return &sample->processes[i];
	sample->processes =
		memory_resize(sample->processes, sample->process_count + 1,
			      sizeof(*sample->processes));
	found = &sample->processes[sample->process_count++];
	*found = (struct top_process){ .process = *process, .state = state };
	return found;
}

static struct top_process *model_owner_of(struct top_sample *sample,
					  const struct dray_buffer_info *info)
{
	struct process process = {
		.pid = info->pid,
		.uid = info->uid,
	};

	snprintf(process.comm, sizeof(process.comm), "%.*s",
		 (int)sizeof(process.comm) - 1, info->comm);
	return process_of(sample, &process, top_state_of(info));
}

static void model_add_buffers(struct top_sample *sample)
{
	size_t i;

	for (i = 0; i < sample->buffers.count; i++) {
		const struct dray_buffer_info *info =
			&sample->buffers.entries[i].info;
		struct top_process *owner = model_owner_of(sample, info);

		if (is_buffer(info))
			owner->buffers++;
		else
			owner->attachments++;
		owner->memory += info->size;
		owner->busy += info->transfers;
	}
}

static void add_clients(struct top_sample *sample)
{
	size_t i;

	for (i = 0; i < sample->clients.count; i++) {
		const struct client *client = &sample->clients.entries[i];
		struct top_process *process =
			process_of(sample, &client->process, TOP_ALIVE);

		/* its name may be new since it allocated */
		process->process = client->process;
		process->opener = true;
	}
}

/* Finds the process of each stream. */
static void add_stream_owners(struct top_sample *sample)
{
	size_t i;

	for (i = 0; i < sample->stream_count; i++) {
		struct top_stream *stream = &sample->streams[i];
		char name[sizeof(stream->info.name) + 1] = { 0 };
		const struct client *client;

		memcpy(name, stream->info.name, sizeof(stream->info.name));
		client = *name ? clients_of_stream(&sample->clients,
						   stream->node, name)
			       : NULL;
		if (client)
			stream->pid = client->process.pid;
	}
}

static uint64_t top_model_grown(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : now;
}

/* Adds the growth of the counters of a process's openers. */
static void add_client_rates(struct top_sample *sample,
			     const struct top_sample *before)
{
	static const enum client_number counters[PROCESS_RATES] = {
		[RATE_ALLOCATED] = CLIENT_ALLOCATED,
		[RATE_SYNCED] = CLIENT_SYNCED,
		[RATE_TRANSFERS] = CLIENT_TRANSFERS,
		[RATE_MOVED] = CLIENT_MOVED,
	};
	size_t i, rate;

	for (i = 0; i < sample->clients.count; i++) {
		const struct client *now = &sample->clients.entries[i];
		const struct client *old = clients_find(&before->clients, now);
		struct top_process *process =
			process_of(sample, &now->process, TOP_ALIVE);

		for (rate = 0; rate < PROCESS_RATES; rate++)
			process->rates[rate] += (double)top_model_grown(
				now->numbers[counters[rate]],
				old ? old->numbers[counters[rate]] : 0);
	}
}

static int model_compare_ids(const void *a, const void *b)
{
	const struct buffer_entry *first = a;
	const struct buffer_entry *second = b;

	return (first->info.id > second->info.id) -
	       (first->info.id < second->info.id);
}

static const struct dray_buffer_info *
find_buffer(const struct top_sample *sample, const struct buffer_entry *entry)
{
	const struct buffer_entry *found = NULL;

	if (sample->buffers.count)
		found = bsearch(entry, sample->buffers.entries,
				sample->buffers.count, sizeof(*entry),
				model_compare_ids);
	return found ? &found->info : NULL;
}

/*
 * Sums up how much the buffers of each process grew in number and in maintained
 * bytes.  It counts where the openers show less: CPU accesses to a dma-buf belong
 * to no opener.
 */
static void add_buffer_rates(struct top_sample *sample,
			     const struct top_sample *before)
{
	double *synced = memory_new(sample->process_count, sizeof(*synced));
	double *taken = memory_new(sample->process_count, sizeof(*taken));
	size_t i;

	for (i = 0; i < sample->buffers.count; i++) {
		const struct buffer_entry *entry = &sample->buffers.entries[i];
		const struct dray_buffer_info *old = find_buffer(before, entry);
		size_t place = (size_t)(model_owner_of(sample, &entry->info) -
					sample->processes);

		synced[place] += (double)top_model_grown(
			entry->info.sync_bytes, old ? old->sync_bytes : 0);
		if (!old && is_buffer(&entry->info))
			taken[place] += (double)entry->info.size;
	}
	for (i = 0; i < sample->process_count; i++) {
		double *rates = sample->processes[i].rates;

		if (synced[i] > rates[RATE_SYNCED])
			rates[RATE_SYNCED] = synced[i];
		if (taken[i] > rates[RATE_ALLOCATED])
			rates[RATE_ALLOCATED] = taken[i];
	}
	free(synced);
	free(taken);
}

static const struct top_stream *find_stream(const struct top_sample *sample,
					    const struct top_stream *stream)
{
	size_t i;

	for (i = 0; i < sample->stream_count; i++)
		if (sample->streams[i].info.index == stream->info.index &&
		    !strcmp(sample->streams[i].node, stream->node))
			return &sample->streams[i];
	return NULL;
}

/* Reads the counters in the order of enum top_stream_rate. */
static void stream_counters(const struct dray_channel_info *info,
			    uint64_t counters[STREAM_RATES])
{
	counters[STREAM_SUBMITTED] = info->submitted;
	counters[STREAM_BYTES] = info->bytes;
	counters[STREAM_FAILED] = info->failed;
	counters[STREAM_PACKETS] = info->packets;
	counters[STREAM_LOST] = info->lost;
	counters[STREAM_STALLS] = info->held_back;
}

static void add_stream_rates(struct top_sample *sample,
			     const struct top_sample *before)
{
	uint64_t now[STREAM_RATES];
	uint64_t then[STREAM_RATES];
	size_t i, rate;

	for (i = 0; i < sample->stream_count; i++) {
		struct top_stream *stream = &sample->streams[i];
		const struct top_stream *old = find_stream(before, stream);

		if (!old)
			continue;
		stream_counters(&stream->info, now);
		stream_counters(&old->info, then);
		for (rate = 0; rate < STREAM_RATES; rate++)
			stream->rates[rate] =
				(double)top_model_grown(now[rate], then[rate]);
	}
}

/*
 * Whether both samples show the same nodes: a node that could not be read would
 * look as if all its memory was allocated at once.
 */
static bool is_comparable(const struct top_sample *sample,
			  const struct top_sample *before)
{
	const char *now = sample->trouble ? sample->trouble : "";
	const char *then = before->trouble ? before->trouble : "";

	return sample->nodes && before->nodes && !strcmp(now, then) &&
	       before->time_ns < sample->time_ns;
}

/* Turns amounts into amounts a second. */
static void make_rates(struct top_sample *sample,
		       const struct top_sample *before)
{
	double seconds;
	size_t i, rate;

	if (!before || !is_comparable(sample, before))
		return;
	sample->interval_ns = sample->time_ns - before->time_ns;
	seconds = (double)sample->interval_ns / 1e9;
	add_client_rates(sample, before);
	add_buffer_rates(sample, before);
	add_stream_rates(sample, before);
	for (i = 0; i < sample->process_count; i++)
		for (rate = 0; rate < PROCESS_RATES; rate++)
			sample->processes[i].rates[rate] /= seconds;
	for (i = 0; i < sample->stream_count; i++)
		for (rate = 0; rate < STREAM_RATES; rate++)
			sample->streams[i].rates[rate] /= seconds;
}

static void read_heaps(struct top_sample *sample, const struct open_node *node,
		       const char *name)
{
	uint32_t i;

	for (i = 0; i < node->info.heap_count; i++) {
		struct top_heap heap = { .node = name, .info.index = i };
		int ret = dray_node_heap(node->node, i, &heap.info,
					 sizeof(heap.info));

		if (ret) {
			node_complain(node, "read a heap", ret);
			return;
		}
		sample->heaps =
			memory_resize(sample->heaps, sample->heap_count + 1,
				      sizeof(*sample->heaps));
		sample->heaps[sample->heap_count++] = heap;
	}
}

static void model_read_streams(struct top_sample *sample,
			       const struct open_node *node, const char *name)
{
	uint32_t i;

	for (i = 0; i < node->info.channel_count; i++) {
		struct top_stream stream = { .node = name, .info.index = i };
		int ret = dray_node_channel(node->node, i, &stream.info,
					    sizeof(stream.info));

		if (ret) {
			node_complain(node, "read a channel", ret);
			return;
		}
		sample->streams =
			memory_resize(sample->streams, sample->stream_count + 1,
				      sizeof(*sample->streams));
		sample->streams[sample->stream_count++] = stream;
	}
}

static void read_nodes(const struct request *request, struct top_sample *sample)
{
	struct open_nodes *nodes = &sample->buffers.nodes;
	size_t i;

	if (!buffers_gather(request, &sample->buffers))
		return;
	sample->nodes =
		memory_resize(NULL, nodes->count, sizeof(*sample->nodes));
	for (i = 0; i < nodes->count; i++) {
		memcpy(sample->nodes[i], nodes->entries[i].name,
		       sizeof(*sample->nodes));
		read_heaps(sample, &nodes->entries[i], sample->nodes[i]);
		model_read_streams(sample, &nodes->entries[i],
				   sample->nodes[i]);
	}
	nodes_close(nodes);
	for (i = 0; i < sample->buffers.count; i++)
		sample->buffers.entries[i].node = NULL;
}

void top_take(const struct request *request, const struct top_sample *before,
	      struct top_sample *sample)
{
	void (*complain_to)(const char *sentence) = cli_complain_to;

	*sample = (struct top_sample){ .time_ns = machine_clock() };
	cli_complain_to = take_complaint;
	read_nodes(request, sample);
	cli_complain_to = complain_to;
	sample->trouble = first_complaint;
	first_complaint = NULL;
	clients_gather(machine_root(), &sample->clients);
	model_add_buffers(sample);
	add_clients(sample);
	add_stream_owners(sample);
	make_rates(sample, before);
}

void top_drop(struct top_sample *sample)
{
	free(sample->buffers.entries);
	clients_free(&sample->clients);
	free(sample->processes);
	free(sample->heaps);
	free(sample->streams);
	free(sample->nodes);
	free(sample->trouble);
	*sample = (struct top_sample){ 0 };
}
