// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Converts structures of the library to the named tuples of dray/_records.py.
 */
#include "base/module.h"

static const char *const names[RECORD_COUNT] = {
	[RECORD_SEGMENT] = "Segment",
	[RECORD_POOL_STATS] = "PoolStats",
	[RECORD_NODE_INFO] = "NodeInfo",
	[RECORD_HEAP_INFO] = "HeapInfo",
	[RECORD_CHANNEL_INFO] = "ChannelInfo",
	[RECORD_EXPLANATION] = "Explanation",
	[RECORD_STREAM_COUNTS] = "StreamCounts",
	[RECORD_RING_COUNTS] = "RingCounts",
	[RECORD_ARRAY_FLAGS] = "ArrayFlags",
	[RECORD_BANK] = "Bank",
	[RECORD_CALL_EXPLANATION] = "CallExplanation",
	[RECORD_OPENCL_DEVICE] = "OpenCLDevice",
};

int records_init(struct module_state *state)
{
	PyObject *records = PyImport_ImportModule("dray._records");
	int i;

	for (i = 0; records && i < RECORD_COUNT; i++) {
		state->records[i] = PyObject_GetAttrString(records, names[i]);
		if (!state->records[i])
			Py_CLEAR(records);
	}
	Py_XDECREF(records);
	return records ? 0 : -1;
}

/* Takes over @values, a tuple or NULL. */
static PyObject *record_fill(struct module_state *state, enum record which,
			     PyObject *values)
{
	PyObject *result;

	if (!values)
		return NULL;
	result = PyObject_CallObject(state->records[which], values);
	Py_DECREF(values);
	return result;
}

typedef unsigned long long wide;

static PyObject *record_flag(uint32_t flags, uint32_t bit)
{
	return flags & bit ? Py_True : Py_False;
}

PyObject *record_segment(struct module_state *state,
			 const struct dray_segment *segment)
{
	return record_fill(state, RECORD_SEGMENT,
			   Py_BuildValue("(KK)", (wide)segment->address,
					 (wide)segment->length));
}

PyObject *record_pool_stats(struct module_state *state,
			    const struct dray_pool_stats *stats)
{
	return record_fill(
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
	return record_fill(
		state, RECORD_NODE_INFO,
		Py_BuildValue("(ssssOOOOKIIKK)", info->name, backend,
			      info->device, info->version,
			      record_flag(info->flags, DRAY_NODE_COHERENT),
			      record_flag(info->flags, DRAY_NODE_IOMMU),
			      record_flag(info->flags, DRAY_NODE_VIRTUAL),
			      record_flag(info->flags, DRAY_NODE_ADDRESS),
			      (wide)info->dma_mask,
			      (unsigned int)info->cache_line,
			      (unsigned int)info->page_size,
			      (wide)info->max_runs, (wide)info->max_bytes));
}

PyObject *record_heap_info(struct module_state *state,
			   const struct dray_heap_info *info)
{
	return record_fill(
		state, RECORD_HEAP_INFO,
		Py_BuildValue("(sIIKKKKKK)", info->name,
			      (unsigned int)info->type,
			      (unsigned int)info->buffers, (wide)info->total,
			      (wide)info->free, (wide)info->used,
			      (wide)info->quarantined, (wide)info->largest_free,
			      (wide)info->largest_request));
}

PyObject *record_channel_info(struct module_state *state,
			      const struct dray_channel_info *info)
{
	return record_fill(
		state, RECORD_CHANNEL_INFO,
		Py_BuildValue("(ssOOIKKKK)", info->name, info->device,
			      record_flag(info->flags, DRAY_CHANNEL_OPEN),
			      record_flag(info->flags, DRAY_CHANNEL_DEAD),
			      (unsigned int)info->alignment,
			      (wide)info->max_segment, (wide)info->submitted,
			      (wide)info->bytes, (wide)info->failed));
}

PyObject *record_explanation(struct module_state *state,
			     const struct dray_explanation *explanation)
{
	return record_fill(
		state, RECORD_EXPLANATION,
		Py_BuildValue("(KKKKKiOs)", (wide)explanation->elements,
			      (wide)explanation->bytes, (wide)explanation->run,
			      (wide)explanation->descriptors,
			      (wide)explanation->threshold,
			      (int)explanation->axes,
			      explanation->engine ? Py_True : Py_False,
			      explanation->reason));
}

PyObject *record_stream_counts(struct module_state *state,
			       const struct dray_stream_counts *counts)
{
	return record_fill(
		state, RECORD_STREAM_COUNTS,
		Py_BuildValue("(KKKKKKKK)", (wide)counts->submitted,
			      (wide)counts->transfers, (wide)counts->bytes,
			      (wide)counts->failed, (wide)counts->cancelled,
			      (wide)counts->timed_out, (wide)counts->staged,
			      (wide)counts->in_flight));
}

PyObject *record_ring_counts(struct module_state *state,
			     const struct dray_ring_counts *counts)
{
	return record_fill(
		state, RECORD_RING_COUNTS,
		Py_BuildValue("(KKKKKKK)", (wide)counts->frames,
			      (wide)counts->ended, (wide)counts->acquired,
			      (wide)counts->lost, (wide)counts->waiting,
			      (wide)counts->owned, (wide)counts->held_back));
}

PyObject *record_array_flags(struct module_state *state, uint32_t flags)
{
	const uint32_t shown = DRAY_C_CONTIGUOUS | DRAY_F_CONTIGUOUS |
			       DRAY_WRITE | DRAY_ALIGNED | DRAY_OWNED |
			       DRAY_IMMUTABLE;
	PyObject **kept = &state->array_flags[flags & shown];
	PyObject *made;

	if (*kept)
		return Py_NewRef(*kept);
	made = record_fill(state, RECORD_ARRAY_FLAGS,
			   Py_BuildValue("(OOOOOO)",
					 record_flag(flags, DRAY_C_CONTIGUOUS),
					 record_flag(flags, DRAY_F_CONTIGUOUS),
					 record_flag(flags, DRAY_WRITE),
					 record_flag(flags, DRAY_ALIGNED),
					 record_flag(flags, DRAY_OWNED),
					 record_flag(flags, DRAY_IMMUTABLE)));
	/* Another thread may be faster. */
	if (made && !*kept)
		*kept = Py_NewRef(made);
	return made;
}

PyObject *record_bank(struct module_state *state, const struct dray_bank *bank)
{
	return record_fill(
		state, RECORD_BANK,
		Py_BuildValue("(IssKKO)", (unsigned int)bank->index, bank->name,
			      dray_bank_type_name(bank->type),
			      (wide)bank->address, (wide)bank->size,
			      record_flag(bank->flags, DRAY_BANK_USED)));
}

PyObject *
record_call_explanation(struct module_state *state,
			const struct dray_call_explanation *explanation)
{
	PyObject *seconds =
		explanation->measured
			? PyFloat_FromDouble((double)explanation->ns / 1e9)
			: Py_NewRef(Py_None);

	if (!seconds)
		return NULL;
	return record_fill(state, RECORD_CALL_EXPLANATION,
			   Py_BuildValue("(sLKNs)", explanation->executor,
					 (long long)explanation->elements,
					 (wide)explanation->bytes, seconds,
					 explanation->reason));
}

PyObject *record_opencl_device(struct module_state *state,
			       const struct dray_opencl_device *device)
{
	return record_fill(
		state, RECORD_OPENCL_DEVICE,
		Py_BuildValue("(sssOOOOOKK)", device->platform, device->device,
			      device->version,
			      record_flag(device->flags, DRAY_OPENCL_SHARED),
			      record_flag(device->flags, DRAY_OPENCL_UNIFIED),
			      record_flag(device->flags, DRAY_OPENCL_DOUBLE),
			      record_flag(device->flags, DRAY_OPENCL_ROUNDED),
			      record_flag(device->flags, DRAY_OPENCL_SUBNORMAL),
			      (wide)device->calls, (wide)device->bytes));
}
