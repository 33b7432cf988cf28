/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * stream: packets to and from a DMA engine that serves a stream or a display.
 *
 * A stream is a channel of a node, known by its name: "tx0" takes packets from
 * memory, "rx0" brings packets to memory, "display0" shows memory.  A packet is
 * the bytes of one view, or of several, in the order of their elements: no
 * stride changes the order, and none needs a copy.
 *
 * A stream may stay silent for ever.  So no transfer has a time limit unless it
 * is given a deadline, and a transfer ends in an event: the number of the
 * packet, its bytes, the time and a status.  The events of a stream that have
 * ended are read from memory, without a system call.
 *
 * On a node of the host, streams are loops: packets that are sent to "tx0" are
 * received from "rx0", and those to "tx1" from "rx1".  A packet stays in flight
 * until receives have taken its bytes.  If it is longer than the receive, it
 * goes on in the next one.  If it is shorter, it ends the receive early.
 *
 * Every function may be called from any thread; but when dray_stream_close() is
 * called, only waits may be under way.  A stream belongs to the process that
 * opened it.  A child of fork() can close it, which frees its memory, and drop
 * events; each other call is -ECHILD there.
 */
#ifndef DRAY_STREAM_H
#define DRAY_STREAM_H

#include <dray/transfer.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dray_stream;
struct dray_event;

/** How to open a stream; all zero is the default. */
struct dray_stream_options {
	/*
	 * Points of its timeline, at most DRAY_MAX_POINTS; rounded up to a
	 * power of two.  0: 1024.
	 */
	uint32_t points;
	/*
	 * Packets that the engine may take up at once, 1 to 64.  They may end
	 * together: a larger batch has fewer gaps, a smaller one less delay.
	 * 0: 1.
	 */
	uint32_t batch;
	uint32_t flags;		/* 0 */
	uint32_t reserved;	/* 0 */
};

/**
 * Opens the stream with the name @name ("rx0") of @node, which it references.
 *
 * @options: NULL is all zero
 * @out: the stream, closed by dray_stream_close()
 *
 * Errors: -EINVAL (no stream has that name: the sentence lists those of the
 * node; points, batch, unknown flags), -EBUSY (it is open already, here or in
 * another process), -EOPNOTSUPP (the module does not know streams), -ENOMEM,
 * -EMFILE, -ENODEV (the device is gone), and the errors of mmap().
 */
DRAY_API int dray_stream_open(struct dray_node *node, const char *name,
			      const struct dray_stream_options *options,
			      struct dray_stream **out);

/**
 * Ends the transfers in flight as -ECANCELED, and closes the stream.  Does not
 * wait for the other side.  Events that are kept stay valid.  NULL is ignored.
 */
DRAY_API void dray_stream_close(struct dray_stream *stream);

/* dray_packet_options.flags */
#define DRAY_PACKET_NONBLOCK	(1u << 0)  /* -EAGAIN rather than wait for room */
#define DRAY_PACKET_NO_SYNC	(1u << 1)  /* the caller maintains caches */
#define DRAY_PACKET_STAGE	(1u << 2)  /* the CPU may copy: see below */

/** How to send or receive a packet; all zero is the default. */
struct dray_packet_options {
	uint32_t flags;		/* DRAY_PACKET_* */
	uint32_t fence_count;	/* 0 .. DRAY_MAX_IN_FENCES */
	/*
	 * In-fences: the engine starts once they have signalled.  The host
	 * waits for them before it takes the packet, and so does a staged one.
	 */
	struct dray_fence *const *fences;
	/*
	 * Nanoseconds from the submission on, when there is room; then the
	 * transfer ends as -ETIMEDOUT.  0: none.  At most DRAY_MAX_DEADLINE.
	 */
	uint64_t deadline_ns;
	uint64_t *bytes;	/* out, if the call waits: bytes moved; or NULL */
};

/**
 * Sends the elements of @view in C order as one packet: of any rank, with any
 * strides, 0 included.  The memory is busy until the transfer ends: a block
 * that is freed meanwhile is parked.  It must not be written until then.
 *
 * The engine reads the memory itself, which lies in dray's memory of the
 * stream's node; the CPU does not touch it.  If the engine cannot (other
 * memory, its alignment, too many pieces), the call is -EOPNOTSUPP, and the
 * sentence has the limit and the value.  With DRAY_PACKET_STAGE, the CPU then
 * copies the packet to a buffer of the node, which the call allocates.
 *
 * @options: NULL is all zero
 * @event: the end of the transfer, with one reference.  NULL waits for it:
 *	until the deadline, or without a limit.
 *
 * Errors: -EINVAL (a view that dray_view_init() would refuse, no bytes, flags,
 * the deadline; the stream receives; DRAY_PACKET_STAGE with
 * DRAY_PACKET_NO_SYNC), -EOVERFLOW (sizes beyond 64 bits), -EOPNOTSUPP (see
 * above), -EAGAIN (DRAY_PACKET_NONBLOCK), -EINTR (while waiting for room or for
 * an in-fence), -ECANCELED (an in-fence has failed), -ECHILD, -ENOMEM, -ENODEV;
 * if the call waits, also the status of the transfer, as of dray_event_wait().
 */
DRAY_API int dray_stream_send(struct dray_stream *stream,
			      const struct dray_view *view,
			      const struct dray_packet_options *options,
			      struct dray_event **event);

/**
 * Receives a packet into @view, in C order, otherwise as dray_stream_send().  A
 * packet that is shorter than the view ends the transfer: the event has its
 * bytes.  The rest of the view keeps its contents, up to the cache line that
 * the engine writes.  The CPU must not access the view until the transfer ends.
 *
 * With DRAY_PACKET_STAGE, the CPU copies the bytes that came when the end is
 * noticed: in a wait, in a question about the event or the stream, or in the
 * next call on the stream.
 *
 * Errors: also -EINVAL (the stream sends; elements that share bytes, as with a
 * stride of 0), -EPERM (a read-only view, or read-only memory).
 */
DRAY_API int dray_stream_recv(struct dray_stream *stream,
			      const struct dray_view *view,
			      const struct dray_packet_options *options,
			      struct dray_event **event);

/**
 * Shows @view, an array of rows, on the display of a stream such as "display0".
 * It stays there until the next show replaces it, within one vertical sync, or
 * the stream is closed.  Its event ends when it is replaced, with status 0.  The
 * memory is busy until then, and changes to it may be seen.
 *
 * The first axis is that of the rows, the rest makes the pixels of one.  Rows
 * have one stride, of at least their own length.  The engine has limits for its
 * start, the length of a row and the stride; with DRAY_PACKET_STAGE, the CPU
 * copies views that it cannot show to a buffer.
 *
 * If a stream sends to an engine that can only repeat, such as that of sound,
 * dray_stream_send() has the same rules: a period is sent again if no other
 * replaces it in time, and its event ends when the next one has begun.
 *
 * @options: NULL is all zero
 * @event: the replacement, with one reference; NULL asks for none, and the call
 *	does not wait for it
 *
 * Errors: those of dray_stream_send(), and -EINVAL for a stream that does not
 * show.
 */
DRAY_API int dray_stream_show(struct dray_stream *stream,
			      const struct dray_view *view,
			      const struct dray_packet_options *options,
			      struct dray_event **event);

/**
 * As dray_stream_send(): the elements of @count views, one view after the
 * other, as one packet.  Without a staging copy at most DRAY_MAX_TRANSFERS.
 */
DRAY_API int dray_stream_send_pieces(struct dray_stream *stream,
				     const struct dray_view *const *views,
				     size_t count,
				     const struct dray_packet_options *options,
				     struct dray_event **event);

/**
 * As dray_stream_recv(): fills @count views, one after the other.  No two may
 * share bytes (-EINVAL).
 */
DRAY_API int dray_stream_recv_pieces(struct dray_stream *stream,
				     const struct dray_view *const *views,
				     size_t count,
				     const struct dray_packet_options *options,
				     struct dray_event **event);

/**
 * Tells how the stream would move a packet of @count views, and why; moves
 * nothing.  Fills @size bytes of @out: engine is 0 if the CPU would make a
 * staging copy, descriptors are the contiguous pieces of memory, and threshold
 * is the most that the engine takes.  run and axes are those of the first view.
 * Errors as dray_stream_send() and dray_stream_recv().
 */
DRAY_API int dray_stream_explain(struct dray_stream *stream,
				 const struct dray_view *const *views,
				 size_t count,
				 const struct dray_packet_options *options,
				 struct dray_explanation *out, size_t size);

/**
 * Returns a descriptor to poll(), borrowed: readable if transfers ended since
 * dray_stream_ended() was called last.  Only to be polled.
 */
DRAY_API int dray_stream_fd(const struct dray_stream *stream);

/**
 * Returns the count of transfers that have ended since the stream was opened.
 * Makes dray_stream_fd() quiet until the next one ends, so poll, call this,
 * then look at events.
 */
DRAY_API uint64_t dray_stream_ended(struct dray_stream *stream);

/** Counts of a stream since it was opened. */
struct dray_stream_counts {
	uint64_t submitted;	/* transfers */
	uint64_t transfers;	/* that ended with success */
	uint64_t bytes;		/* of transfers that have ended, in any way */
	uint64_t failed;	/* that ended with an error, and: */
	uint64_t cancelled;	/* of these, -ECANCELED */
	uint64_t timed_out;	/* of these, -ETIMEDOUT */
	uint64_t staged;	/* submitted with a copy by the CPU */
	uint64_t in_flight;	/* that have not ended */
};

/** Fills @size bytes of @counts, as they are at one moment.  -ECHILD. */
DRAY_NAMESAKE_BEGIN
DRAY_API int dray_stream_counts(struct dray_stream *stream,
				struct dray_stream_counts *counts, size_t size);
DRAY_NAMESAKE_END

/**
 * Ends all transfers in flight as -ECANCELED; their events say how many bytes
 * had moved at least.  Errors: -ECHILD, -ENODEV.
 */
DRAY_API int dray_stream_cancel(struct dray_stream *stream);

/**
 * Waits until the transfer has ended.  Returns 0 or the negative errno that it
 * ended with, -ETIME after @timeout_ms milliseconds (below 0: never), -EINTR,
 * -EOVERFLOW (its point was overwritten before anybody looked: the result is
 * lost), -ECHILD.  May be called again, from any thread, and after
 * dray_stream_close().
 */
DRAY_API int dray_event_wait(struct dray_event *event, int timeout_ms);

/**
 * Returns 1 if ended with success, 0 if not yet, a negative errno if it failed.
 */
DRAY_API int dray_event_status(struct dray_event *event);

/**
 * Fills @size bytes of @point: number counts the packets of a stream from 1,
 * bytes were moved, status is 0 or a negative errno, and time_ns is of
 * CLOCK_MONOTONIC.
 * Errors: -EINPROGRESS (the transfer has not ended), -EOVERFLOW, -ECHILD.
 */
DRAY_API int dray_event_point(struct dray_event *event,
			      struct dray_point *point, size_t size);

/**
 * Ends the transfer as -ECANCELED, unless it has ended.  Packets behind it go
 * on.
 * Errors: -ECHILD, -ENODEV.
 */
DRAY_API int dray_event_cancel(struct dray_event *event);

/** Adds a reference, dropped by dray_event_unref(); returns @event. */
DRAY_API struct dray_event *dray_event_ref(struct dray_event *event);
/** Drops a reference; the transfer goes on without any.  NULL is ignored. */
DRAY_API void dray_event_unref(struct dray_event *event);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_STREAM_H */
