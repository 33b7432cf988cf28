/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of buffers, attachments and transfers, under
 * /sys/kernel/tracing/events/dray.  Memory is named by its identifier, jobs by
 * the context and number of their fences, which the kernel's dma_fence events
 * name too, and frames by queue and index.  No event shows an address.
 *
 * A process is a pid as the whole machine sees it: the owner of a buffer, the
 * caller of a call, the opener of a queue.  dray.4 documents the fields;
 * dmactl reads them by name.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM dray

#if !defined(DRAY_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define DRAY_TRACE_H

#include <linux/device.h>
#include <linux/dma-direction.h>
#include <linux/dma-fence.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

#include "buffer.h"

#define dray_show_direction(direction)              \
	__print_symbolic(direction,                 \
			 { DMA_BIDIRECTIONAL, "both" }, \
			 { DMA_TO_DEVICE, "to device" }, \
			 { DMA_FROM_DEVICE, "from device" })

/* Tools that print events themselves know no names of numbers. */
TRACE_DEFINE_ENUM(DRAY_KIND_BUFFER);
TRACE_DEFINE_ENUM(DRAY_KIND_USER);
TRACE_DEFINE_ENUM(DRAY_KIND_DMABUF);

#define dray_show_kind(kind)                          \
	__print_symbolic(kind,                        \
			 { DRAY_KIND_BUFFER, "buffer" }, \
			 { DRAY_KIND_USER, "user" },     \
			 { DRAY_KIND_DMABUF, "dma-buf" })

/*
 * The kernel's table of histogram keys is small, and never forgets a key: jobs of
 * a queue share as many slots as may be in flight.
 */
#define DRAY_TRACE_SLOTS 64

TRACE_EVENT(dray_alloc,
	TP_PROTO(const struct dray_buffer *buffer),
	TP_ARGS(buffer),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, size)
		__field(s64, offset)
		__field(u32, mode)
		__field(s32, pid)
		__array(char, comm, DRAY_COMM_LEN)
		__array(char, heap, DRAY_NAME_LEN)
		__array(char, name, DRAY_NAME_LEN)
	),
	TP_fast_assign(
		__entry->id = buffer->entry.id;
		__entry->size = buffer->size;
		__entry->offset = dray_trace_offset(buffer);
		__entry->mode = buffer->mode;
		__entry->pid = pid_nr(buffer->entry.pid);
		dray_trace_name(__entry->comm, buffer->entry.comm,
				DRAY_COMM_LEN);
		strscpy(__entry->heap, buffer->heap->name, DRAY_NAME_LEN);
		dray_trace_name(__entry->name, buffer->name, DRAY_NAME_LEN);
	),
	TP_printk("id=%llu size=%llu mode=%u heap=%s offset=%lld pid=%d comm=%s name=%s",
		  __entry->id, __entry->size, __entry->mode, __entry->heap,
		  __entry->offset, __entry->pid, __entry->comm, __entry->name)
);

TRACE_EVENT(dray_free,
	TP_PROTO(const struct dray_buffer *buffer),
	TP_ARGS(buffer),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, size)
		__field(s64, offset)
		__field(s32, pid)
		__field(bool, condemned)
		__array(char, comm, DRAY_COMM_LEN)
		__array(char, heap, DRAY_NAME_LEN)
	),
	TP_fast_assign(
		__entry->id = buffer->entry.id;
		__entry->size = buffer->size;
		__entry->offset = dray_trace_offset(buffer);
		__entry->pid = pid_nr(buffer->entry.pid);
		__entry->condemned = buffer->entry.condemned;
		dray_trace_name(__entry->comm, buffer->entry.comm,
				DRAY_COMM_LEN);
		strscpy(__entry->heap, buffer->heap->name, DRAY_NAME_LEN);
	),
	TP_printk("id=%llu size=%llu heap=%s offset=%lld pid=%d comm=%s%s",
		  __entry->id, __entry->size, __entry->heap, __entry->offset,
		  __entry->pid, __entry->comm,
		  __entry->condemned ? " out of use: a device may write it" : "")
);

/*
 * A call that failed: its number, and its reply; for ALLOC the bytes that it
 * wanted, and the heap's name if the call named it.
 */
TRACE_EVENT(dray_fail,
	TP_PROTO(const char *node, unsigned int call, int error, u32 reason,
		 u64 limit, u64 size, const char *heap),
	TP_ARGS(node, call, error, reason, limit, size, heap),
	TP_STRUCT__entry(
		__array(char, node, DRAY_NAME_LEN)
		__field(unsigned int, call)
		__field(int, error)
		__field(u32, reason)
		__field(u64, limit)
		__field(u64, size)
		__field(s32, pid)
		__array(char, heap, DRAY_NAME_LEN)
	),
	TP_fast_assign(
		strscpy(__entry->node, node, DRAY_NAME_LEN);
		__entry->call = call;
		__entry->error = error;
		__entry->reason = reason;
		__entry->limit = limit;
		__entry->size = size;
		__entry->pid = task_tgid_nr(current);
		strscpy(__entry->heap, heap, DRAY_NAME_LEN);
	),
	TP_printk("%s call=%u error=%d reason=%u limit=%llu size=%llu pid=%d heap=%s",
		  __entry->node, __entry->call, __entry->error, __entry->reason,
		  __entry->limit, __entry->size, __entry->pid, __entry->heap)
);

/* A buffer or an attachment, of @size bytes. */
DECLARE_EVENT_CLASS(dray_memory_device,
	TP_PROTO(const struct dray_entry *memory, u64 size, struct device *dev),
	TP_ARGS(memory, size, dev),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, size)
		__field(u32, kind)
		__array(char, device, DRAY_NAME_LEN)
	),
	TP_fast_assign(
		__entry->id = memory->id;
		__entry->size = size;
		__entry->kind = memory->kind;
		strscpy(__entry->device, dev_name(dev), DRAY_NAME_LEN);
	),
	TP_printk("id=%llu size=%llu kind=%s device=%s", __entry->id,
		  __entry->size, dray_show_kind(__entry->kind),
		  __entry->device)
);

/* A device finds it, for the first time. */
DEFINE_EVENT(dray_memory_device, dray_map,
	TP_PROTO(const struct dray_entry *memory, u64 size, struct device *dev),
	TP_ARGS(memory, size, dev)
);

/*
 * Another driver imports a buffer; or ATTACH found an attachment for the node of
 * this device.  If that is refused later, it is detached again.
 */
DEFINE_EVENT(dray_memory_device, dray_attach,
	TP_PROTO(const struct dray_entry *memory, u64 size, struct device *dev),
	TP_ARGS(memory, size, dev)
);

/* Its end; of an attachment that was held when it is reclaimed. */
DEFINE_EVENT(dray_memory_device, dray_detach,
	TP_PROTO(const struct dray_entry *memory, u64 size, struct device *dev),
	TP_ARGS(memory, size, dev)
);

/* A program maps it. */
TRACE_EVENT(dray_mmap,
	TP_PROTO(const struct dray_buffer *buffer, u64 offset, u64 size),
	TP_ARGS(buffer, offset, size),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, offset)
		__field(u64, size)
		__field(s32, pid)
	),
	TP_fast_assign(
		__entry->id = buffer->entry.id;
		__entry->offset = offset;
		__entry->size = size;
		__entry->pid = task_tgid_nr(current);
	),
	TP_printk("id=%llu offset=%llu size=%llu pid=%d", __entry->id,
		  __entry->offset, __entry->size, __entry->pid)
);

/*
 * Cache maintenance of a buffer or an attachment: of how many bytes, and how
 * long it took.
 */
TRACE_EVENT(dray_sync,
	TP_PROTO(const struct dray_entry *memory, struct device *dev,
		 bool for_cpu, enum dma_data_direction direction, u64 bytes,
		 u64 ns),
	TP_ARGS(memory, dev, for_cpu, direction, bytes, ns),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, bytes)
		__field(u64, ns)
		__field(s32, pid)
		__field(bool, for_cpu)
		__field(u32, direction)
		__array(char, device, DRAY_NAME_LEN)
	),
	TP_fast_assign(
		__entry->id = memory->id;
		__entry->bytes = bytes;
		__entry->ns = ns;
		__entry->pid = task_tgid_nr(current);
		__entry->for_cpu = for_cpu;
		__entry->direction = direction;
		strscpy(__entry->device, dev_name(dev), DRAY_NAME_LEN);
	),
	TP_printk("id=%llu bytes=%llu ns=%llu for the %s, %s, pid=%d device=%s",
		  __entry->id, __entry->bytes, __entry->ns,
		  __entry->for_cpu ? "CPU" : "device",
		  dray_show_direction(__entry->direction), __entry->pid,
		  __entry->device)
);

/*
 * @queue: the context of the opener's queue for the channel; each fence of a stream
 * uses another context.
 */
TRACE_EVENT(dray_submit,
	TP_PROTO(const struct dma_fence *fence, u64 queue, s32 pid,
		 const char *channel, u32 count, u64 runs, u64 bytes),
	TP_ARGS(fence, queue, pid, channel, count, runs, bytes),
	TP_STRUCT__entry(
		__field(u64, context)
		__field(u64, number)
		__field(u64, queue)
		__field(u32, slot)
		__field(s32, pid)
		__field(u32, count)
		__field(u64, runs)
		__field(u64, bytes)
		__array(char, channel, DRAY_NAME_LEN)
	),
	TP_fast_assign(
		__entry->context = fence->context;
		__entry->number = fence->seqno;
		__entry->queue = queue;
		__entry->slot = fence->seqno % DRAY_TRACE_SLOTS;
		__entry->pid = pid;
		__entry->count = count;
		__entry->runs = runs;
		__entry->bytes = bytes;
		strscpy(__entry->channel, channel, DRAY_NAME_LEN);
	),
	TP_printk("context=%llu seqno=%llu queue=%llu channel=%s pid=%d transfers=%u runs=%llu bytes=%llu",
		  __entry->context, __entry->number, __entry->queue,
		  __entry->channel, __entry->pid, __entry->count,
		  __entry->runs, __entry->bytes)
);

/*
 * The end of a job, before its fence signals: the bytes that moved, and 0 or why
 * it failed.
 */
TRACE_EVENT(dray_complete,
	TP_PROTO(const struct dma_fence *fence, u64 queue, s32 pid,
		 const char *channel, u64 bytes, int error),
	TP_ARGS(fence, queue, pid, channel, bytes, error),
	TP_STRUCT__entry(
		__field(u64, context)
		__field(u64, number)
		__field(u64, queue)
		__field(u32, slot)
		__field(s32, pid)
		__field(u64, bytes)
		__field(int, error)
		__array(char, channel, DRAY_NAME_LEN)
	),
	TP_fast_assign(
		__entry->context = fence->context;
		__entry->number = fence->seqno;
		__entry->queue = queue;
		__entry->slot = fence->seqno % DRAY_TRACE_SLOTS;
		__entry->pid = pid;
		__entry->bytes = bytes;
		__entry->error = error;
		strscpy(__entry->channel, channel, DRAY_NAME_LEN);
	),
	TP_printk("context=%llu seqno=%llu queue=%llu channel=%s pid=%d bytes=%llu error=%d",
		  __entry->context, __entry->number, __entry->queue,
		  __entry->channel, __entry->pid, __entry->bytes,
		  __entry->error)
);

/* A frame of a ring is for the engine: filled by it, or sent. */
TRACE_EVENT(dray_frame_submit,
	TP_PROTO(u64 queue, s32 pid, const char *channel, u32 frame, u64 bytes),
	TP_ARGS(queue, pid, channel, frame, bytes),
	TP_STRUCT__entry(
		__field(u64, queue)
		__field(u64, bytes)
		__field(u32, frame)
		__field(s32, pid)
		__array(char, channel, DRAY_NAME_LEN)
	),
	TP_fast_assign(
		__entry->queue = queue;
		__entry->bytes = bytes;
		__entry->frame = frame;
		__entry->pid = pid;
		strscpy(__entry->channel, channel, DRAY_NAME_LEN);
	),
	TP_printk("queue=%llu frame=%u channel=%s pid=%d bytes=%llu",
		  __entry->queue, __entry->frame, __entry->channel,
		  __entry->pid, __entry->bytes)
);

/* Its point: the same frame ends again with a later point. */
TRACE_EVENT(dray_frame_complete,
	TP_PROTO(u64 queue, s32 pid, const char *channel,
		 const struct dray_point *point),
	TP_ARGS(queue, pid, channel, point),
	TP_STRUCT__entry(
		__field(u64, queue)
		__field(u64, point)
		__field(u64, bytes)
		__field(u32, frame)
		__field(s32, pid)
		__field(int, error)
		__array(char, channel, DRAY_NAME_LEN)
	),
	TP_fast_assign(
		__entry->queue = queue;
		__entry->point = point->number;
		__entry->bytes = point->bytes;
		__entry->frame = point->frame;
		__entry->pid = pid;
		__entry->error = point->status;
		strscpy(__entry->channel, channel, DRAY_NAME_LEN);
	),
	TP_printk("queue=%llu frame=%u point=%llu channel=%s pid=%d bytes=%llu error=%d",
		  __entry->queue, __entry->frame, __entry->point,
		  __entry->channel, __entry->pid, __entry->bytes,
		  __entry->error)
);

#endif /* DRAY_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH memory
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
