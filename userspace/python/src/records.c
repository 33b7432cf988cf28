// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What the library fills as structures, as named tuples of Python.
 */
#include "module.h"

static PyStructSequence_Field segment_fields[] = {
	{ "address", "DMA address for the node" },
	{ "length", "bytes" },
	{ NULL, NULL },
};

static PyStructSequence_Field pool_stats_fields[] = {
	{ "regions", "number of buffers that the pool holds" },
	{ "reserved", "bytes in those buffers" },
	{ "used", "bytes in blocks, rounded up to granules" },
	{ "blocks", "number of blocks" },
	{ "peak", "the most bytes that were used or cached" },
	{ "parked", "bytes freed that an engine still uses" },
	{ "largest_free", "bytes of the longest free run" },
	{ "bad_frees", "number of frees of what is no block" },
	{ "cached", "bytes that threads kept for later" },
	{ NULL, NULL },
};

static PyStructSequence_Field node_info_fields[] = {
	{ "name", "'dray0', or 'host'" },
	{ "backend", "'kernel' or 'host'" },
	{ "device", "the device's own name" },
	{ "version", "of the module" },
	{ "coherent", "whether the device sees the CPU's caches" },
	{ "iommu", "whether DMA addresses are translated" },
	{ "virtual", "whether there is no hardware behind it" },
	{ "addresses", "whether this process may ask for addresses" },
	{ "dma_mask", "highest address that the device reaches" },
	{ "cache_line", "bytes" },
	{ "page_size", "bytes" },
	{ "max_runs", "descriptors that one transfer may take" },
	{ "max_bytes", "bytes that one transfer may move" },
	{ NULL, NULL },
};

static PyStructSequence_Field heap_info_fields[] = {
	{ "name", "as dray.memory(heap=) takes it" },
	{ "type", "enum dray_heap_type" },
	{ "buffers", "number of buffers in it" },
	{ "total", "bytes" },
	{ "free", "bytes" },
	{ "used", "bytes in dray's buffers" },
	{ "quarantined", "bytes freed that others still hold" },
	{ "largest_free", "bytes of the longest free run" },
	{ "largest_request", "bytes; more is never possible" },
	{ NULL, NULL },
};

static PyStructSequence_Field channel_info_fields[] = {
	{ "name", "its dma-names entry" },
	{ "device", "the engine; empty until it is used" },
	{ "open", "whether dray holds it now" },
	{ "dead", "whether it stopped answering" },
	{ "alignment", "bytes, of addresses and lengths" },
	{ "max_segment", "bytes of one descriptor" },
	{ "submitted", "transfers since the node came up" },
	{ "bytes", "bytes moved since then" },
	{ "failed", "transfers that failed" },
	{ NULL, NULL },
};

static PyStructSequence_Field explanation_fields[] = {
	{ "elements", "number of elements" },
	{ "bytes", "bytes that move" },
	{ "run", "bytes of one contiguous run, on both sides" },
	{ "descriptors", "descriptors that the engine would take" },
	{ "threshold", "more descriptors than this go to the CPU" },
	{ "axes", "axes left, beside the run" },
	{ "engine", "True: the engine copies, False: the CPU" },
	{ "reason", "why, as a sentence" },
	{ NULL, NULL },
};

#define FIELDS(list) \
	.fields = list, .n_in_sequence = sizeof(list) / sizeof(*list) - 1

static PyStructSequence_Desc descriptions[RECORD_COUNT] = {
	[RECORD_SEGMENT] = { .name = "dray.Segment",
			     .doc = "One piece of an array as its node sees it.",
			     FIELDS(segment_fields) },
	[RECORD_POOL_STATS] = { .name = "dray.PoolStats",
				.doc = "Counters of a pool.",
				FIELDS(pool_stats_fields) },
	[RECORD_NODE_INFO] = { .name = "dray.NodeInfo",
			       .doc = "What a node is and can do.",
			       FIELDS(node_info_fields) },
	[RECORD_HEAP_INFO] = { .name = "dray.HeapInfo",
			       .doc = "A source of memory of a node.",
			       FIELDS(heap_info_fields) },
	[RECORD_CHANNEL_INFO] = { .name = "dray.ChannelInfo",
				  .doc = "A channel of a DMA engine.",
				  FIELDS(channel_info_fields) },
	[RECORD_EXPLANATION] = { .name = "dray.Explanation",
				 .doc = "What a copy would do, and why.",
				 FIELDS(explanation_fields) },
};

int records_init(PyObject *module, struct module_state *state)
{
	int i;

	for (i = 0; i < RECORD_COUNT; i++) {
		state->records[i] = PyStructSequence_NewType(&descriptions[i]);
		if (!state->records[i] ||
		    PyModule_AddType(module, state->records[i]))
			return -1;
	}
	return 0;
}

/* Takes over @values, a tuple or NULL. */
static PyObject *record(struct module_state *state, enum record which,
			PyObject *values)
{
	PyObject *result;

	if (!values)
		return NULL;
	result = PyObject_CallOneArg((PyObject *)state->records[which], values);
	Py_DECREF(values);
	return result;
}

typedef unsigned long long wide;

static PyObject *flag(uint32_t flags, uint32_t bit)
{
	return flags & bit ? Py_True : Py_False;
}

PyObject *record_segment(struct module_state *state,
			 const struct dray_segment *segment)
{
	return record(state, RECORD_SEGMENT,
		      Py_BuildValue("(KK)", (wide)segment->address,
				    (wide)segment->length));
}

PyObject *record_pool_stats(struct module_state *state,
			    const struct dray_pool_stats *stats)
{
	return record(
		state, RECORD_POOL_STATS,
		Py_BuildValue("(KKKKKKKKK)", (wide)stats->regions,
			      (wide)stats->reserved, (wide)stats->used,
			      (wide)stats->blocks, (wide)stats->peak,
			      (wide)stats->parked, (wide)stats->largest_free,
			      (wide)stats->bad_frees, (wide)stats->cached));
}

PyObject *record_node_info(struct module_state *state, const char *backend,
			   const struct dray_info *info)
{
	return record(state, RECORD_NODE_INFO,
		      Py_BuildValue("(ssssOOOOKIIKK)", info->name, backend,
				    info->device, info->version,
				    flag(info->flags, DRAY_NODE_COHERENT),
				    flag(info->flags, DRAY_NODE_IOMMU),
				    flag(info->flags, DRAY_NODE_VIRTUAL),
				    flag(info->flags, DRAY_NODE_ADDRESS),
				    (wide)info->dma_mask,
				    (unsigned int)info->cache_line,
				    (unsigned int)info->page_size,
				    (wide)info->max_runs,
				    (wide)info->max_bytes));
}

PyObject *record_heap_info(struct module_state *state,
			   const struct dray_heap_info *info)
{
	return record(state, RECORD_HEAP_INFO,
		      Py_BuildValue("(sIIKKKKKK)", info->name,
				    (unsigned int)info->type,
				    (unsigned int)info->buffers,
				    (wide)info->total, (wide)info->free,
				    (wide)info->used, (wide)info->quarantined,
				    (wide)info->largest_free,
				    (wide)info->largest_request));
}

PyObject *record_channel_info(struct module_state *state,
			      const struct dray_channel_info *info)
{
	return record(state, RECORD_CHANNEL_INFO,
		      Py_BuildValue("(ssOOIKKKK)", info->name, info->device,
				    flag(info->flags, DRAY_CHANNEL_OPEN),
				    flag(info->flags, DRAY_CHANNEL_DEAD),
				    (unsigned int)info->alignment,
				    (wide)info->max_segment,
				    (wide)info->submitted, (wide)info->bytes,
				    (wide)info->failed));
}

PyObject *record_explanation(struct module_state *state,
			     const struct dray_explanation *explanation)
{
	return record(state, RECORD_EXPLANATION,
		      Py_BuildValue("(KKKKKiOs)", (wide)explanation->elements,
				    (wide)explanation->bytes,
				    (wide)explanation->run,
				    (wide)explanation->descriptors,
				    (wide)explanation->threshold,
				    (int)explanation->axes,
				    explanation->engine ? Py_True : Py_False,
				    explanation->reason));
}
