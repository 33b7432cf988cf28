/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * stream: packets to and from a DMA engine that serves a stream or a display.
 *
 * A stream is a channel of a node, known by its name: "tx0" sends packets from
 * memory, "rx0" receives packets into memory, "display0" shows memory.  A packet is
 * the bytes of a view, or of several, in the order of their elements: no
 * stride changes the order, and none needs a copy.
 *
 *	struct dray_event *event;
 *	struct dray_stream *rx;
 *
 *	ret = dray_stream_open(node, "rx0", NULL, &rx);
 *	if (ret)
 *		return ret;
 *	ret = dray_stream_recv(rx, &view, NULL, &event);
 *	if (!ret) {
 *		ret = dray_event_wait(event, 1000);	// milliseconds
 *		dray_event_unref(event);
 *	}
 *	dray_stream_close(rx);
 *
 * A stream may stay silent for ever.  So no transfer has a time limit unless it
 * gets a deadline, and a transfer ends in an event: the number of the
 * packet, its bytes, the time and a status.  Events of a stream that
 * ended are read from memory, without a system call.
 *
 * A ring moves packets without a gap: frames that the engine gets once,
 * and that pass between it and the program.
 *
 * On a node of the host, streams are loops: packets that are sent to "tx0" are
 * received from "rx0", and packets to "tx1" from "rx1".  A packet stays in flight
 * until receives got all its bytes.  If it is longer than the receive, it
 * continues in the next receive.  If it is shorter, it ends the receive early.
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
	size_t size;		/* of this structure; 0: the first version's */
	/*
	 * Points of its timeline, at most DRAY_MAX_POINTS; rounded up to a
	 * power of two, at least 128.  0: 1024.  A packet waits for room while
	 * a packet in flight is that many packets before it.
	 */
	uint32_t points;
	/*
	 * Packets that the engine may take up at once, 1 to 64.  They may end
	 * together: a larger batch means fewer gaps, a smaller batch less delay.
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
 * Errors: -EINVAL (no stream has that name: the sentence lists the streams of the
 * node; points, batch, unknown flags), -EBUSY (it is open already, here or in
 * another process), -EOPNOTSUPP (the module does not know streams), -ENOMEM,
 * -EMFILE, -ENODEV (the device is gone), and the errors of mmap().
 */
DRAY_API int dray_stream_open(struct dray_node *node, const char *name,
			      const struct dray_stream_options *options,
			      struct dray_stream **out);

/**
 * Ends the transfers in flight as -ECANCELED, and closes the stream.  Does not
 * wait for the other side.  Events that are kept stay valid.  The frames of a
 * ring are memory like any other then.  NULL is ignored.
 *
 * Other threads may be in calls that wait on the stream: these end.  None may begin a
 * call on it from now on: a stream has a single owner, and is not counted.
 */
DRAY_API void dray_stream_close(struct dray_stream *stream);

/* dray_packet_options.flags */
#define DRAY_PACKET_NONBLOCK	(1u << 0)  /* -EAGAIN rather than wait for room */
#define DRAY_PACKET_NO_SYNC	(1u << 1)  /* the caller maintains caches */
#define DRAY_PACKET_STAGE	(1u << 2)  /* the CPU may copy: see below */

/** How to send or receive a packet; all zero is the default. */
struct dray_packet_options {
	size_t size;		/* of this structure; 0: the first version's */
	uint32_t flags;		/* DRAY_PACKET_* */
	uint32_t fence_count;	/* 0 .. DRAY_MAX_IN_FENCES */
	/*
	 * In-fences: the engine starts once they are signalled.  The host
	 * waits for them before it accepts the packet, and so does a staged packet.
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
 * Sends the elements of @view in C order as a packet: of any rank, with any
 * strides, 0 included.  The memory is busy until the transfer ends: a block
 * that is freed meanwhile is parked.  It must not be written until then.
 *
 * The engine reads the memory itself, which lies in dray's memory of the
 * stream's node; the CPU does not touch it.  If the engine cannot (other
 * memory, its alignment, too many pieces), the call is -EOPNOTSUPP, and the
 * sentence names the limit and the value.  If dray_last_failure() is
 * DRAY_FAILURE_STAGE, the same call with DRAY_PACKET_STAGE may work: the CPU then
 * copies the packet to a buffer of the node, which the call allocates.
 *
 * The call waits for room: until fewer than 64 packets are in flight, and each
 * of them is fewer packets before this one than the stream has points.  Only
 * packets that end out of order, by a cancel or a deadline, meet the second
 * limit.
 *
 * @options: NULL is all zero
 * @event: the end of the transfer, with a reference.  NULL waits for it:
 *	until the deadline, or without a limit.
 *
 * Errors: -EINVAL (a view that dray_view_init() would refuse, no bytes, flags,
 * the deadline; the stream receives; DRAY_PACKET_STAGE with
 * DRAY_PACKET_NO_SYNC), -EOVERFLOW (sizes beyond 64 bits), -EOPNOTSUPP (see
 * above), -EAGAIN (DRAY_PACKET_NONBLOCK), -EINTR (while waiting for room or for
 * an in-fence), -ECANCELED (an in-fence failed), -ECHILD, -ENOMEM, -ENODEV;
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
 * On an AXI DMA, a view of several pieces needs packets that fill it: later drivers
 * let the next packet continue behind a short packet, and the event is -EBADMSG
 * (docs/kernel-interface.md).
 *
 * With DRAY_PACKET_STAGE, the CPU copies the bytes that came when the end is
 * noticed: in a wait, in a question about the event or the stream, in the
 * next call on the stream, or in a dray_view_wait() of any thread that meets @view.
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
 * It stays there until the next show replaces it, within a vertical sync, or
 * the stream is closed.  Its event ends when it is replaced, with status 0.  The
 * memory is busy until then, and changes to it may be seen.
 *
 * The first axis counts the rows, the other axes are the pixels of a row.  Rows
 * share a stride, of at least their own length.  The engine limits the
 * start, the length of a row and the stride; with DRAY_PACKET_STAGE, the CPU
 * copies views that it cannot show to a buffer.
 *
 * If a stream sends to an engine that can only repeat, such as an engine of sound,
 * dray_stream_send() follows the same rules: a period is sent again if no other
 * replaces it in time, and its event ends when the next period has begun.
 *
 * If as many packets behind it are cancelled as the stream has points, and none
 * replaces it, the call ends it as -ECANCELED rather than wait for room.
 *
 * @options: NULL is all zero
 * @event: the replacement, with a reference; NULL asks for none, and the call
 *	does not wait for it
 *
 * Errors: as dray_stream_send(), and -EINVAL for a stream that does not
 * show.
 */
DRAY_API int dray_stream_show(struct dray_stream *stream,
			      const struct dray_view *view,
			      const struct dray_packet_options *options,
			      struct dray_event **event);

/**
 * As dray_stream_send(): the elements of @count views, view by
 * view, as a packet.  Without a staging copy at most DRAY_MAX_TRANSFERS.
 */
DRAY_API int dray_stream_send_pieces(struct dray_stream *stream,
				     const struct dray_view *const *views,
				     size_t count,
				     const struct dray_packet_options *options,
				     struct dray_event **event);

/**
 * As dray_stream_recv(): fills @count views in turn.  No two may
 * share bytes (-EINVAL).
 */
DRAY_API int dray_stream_recv_pieces(struct dray_stream *stream,
				     const struct dray_view *const *views,
				     size_t count,
				     const struct dray_packet_options *options,
				     struct dray_event **event);

/**
 * Tells how the stream would move a packet of @count views, and why; moves
 * nothing.  Fills @out: engine is 0 if the CPU would make a
 * staging copy, descriptors are the contiguous pieces of memory, and threshold
 * is the most that the engine accepts.  run and axes describe the first view.
 * Errors as dray_stream_send() and dray_stream_recv().
 */
DRAY_API int dray_stream_explain(struct dray_stream *stream,
				 const struct dray_view *const *views,
				 size_t count,
				 const struct dray_packet_options *options,
				 struct dray_explanation *out);

/**
 * Gives the stream a ring: @count views, 2 .. DRAY_MAX_FRAMES, known by their
 * indices.  From then on only its frames pass, until the stream is closed or the
 * ring is removed, and dray_stream_send(), dray_stream_recv() and
 * dray_stream_show() are -EBUSY.  A frame is a packet.  Frames may lie in several blocks;
 * in most rings they are of the same shape.
 *
 * To receive, the engine owns all frames at first, and fills them in the order
 * of their indices, then in the order in which they are released.  A frame that
 * was filled waits until dray_stream_acquire() returns it.  From then on it is
 * the caller's, until dray_stream_release().  If no frame is free, the stream
 * is held back; with DRAY_RING_OVERWRITE, the engine continues with the frame
 * that has been waiting longest, and that packet is lost.
 *
 * To send, all frames are the caller's at first: acquire, fill, release.  They
 * are sent in the order in which they are released.  A display shows each until
 * the next replaces it: then it can be acquired again.
 *
 * With DRAY_RING_RELEASED, frames to send hold their bytes already: all are released
 * from the start, in the order of their indices.
 *
 * With DRAY_RING_REPLACE the frames replace the frames of a ring, if
 * callers acquired all of them.  With @count 0 and this flag the ring is removed: packets or another ring may follow.  If that
 * fails, the old ring stays as it was.
 *
 * The memory is as for dray_stream_send(), without staging copies.  It is busy
 * until the stream is closed or the ring is replaced, and blocks that are freed
 * meanwhile are parked.
 * The CPU must not access frames before they are acquired.  Received bytes
 * are visible to the CPU before their frame is acquired, and bytes to send are
 * made visible to the engine by the release, so no sync is needed.
 *
 * @views: NULL if @count is 0
 * @flags: DRAY_RING_OVERWRITE, only of a stream that receives,
 * DRAY_RING_RELEASED, DRAY_RING_REPLACE; or 0
 *
 * Errors: as dray_stream_send() and dray_stream_recv(), with the index of
 * the frame; -EINVAL (flags, count, a stream with fewer points than @count;
 * frames to receive that begin between the first and the last byte of
 * another), -EBUSY (the stream has packets in flight, or a ring; to replace it: some
 * of its frames are not acquired, or a thread waits for some), -ENODEV.
 */
DRAY_API int dray_stream_ring(struct dray_stream *stream,
			      const struct dray_view *const *views,
			      size_t count, uint32_t flags);

/**
 * Acquires the frames that have waited longest, and waits if there are none.
 * Without DRAY_RING_OVERWRITE, frames that are waiting cost no system call;
 * with it, they cost a single call, however many are acquired.
 *
 * Fills @points in order.  frame is the index of the view, number counts the
 * packets of the stream from 1, bytes and time_ns (CLOCK_MONOTONIC) are of its
 * transfer, and status is 0 or a negative errno: a frame that broke off counts the
 * bytes before.  In a ring with DRAY_RING_OVERWRITE, a gap between two numbers
 * is the count of packets lost.  In a ring that sends, a point describes the
 * frame's last transfer, and number is 0 if there was none yet.
 *
 * Any thread may acquire, and each frame is acquired by a single thread.
 *
 * @room: of @points, 1 or more
 * @timeout_ms: milliseconds, below 0: no limit, 0: does not wait
 *
 * Returns the count of frames, at least 1, or a negative errno: -EINVAL (@room;
 * the stream has no ring), -ETIME (none within @timeout_ms), -EINTR, -ECANCELED
 * (dray_stream_close() was called meanwhile), -ECHILD, -ENODEV.
 */
DRAY_API int dray_stream_acquire(struct dray_stream *stream,
				 struct dray_point *points, size_t room,
				 int timeout_ms);

/**
 * Hands @count frames to the engine, in any order, with a single system call:
 * for further packets, or to be sent.  If it fails with -EINVAL, none was
 * released.
 *
 * @frames: indices of acquired frames, each once
 *
 * Errors: -EINVAL (a frame that does not exist, or is not acquired; no ring),
 * -ECHILD, -ENODEV.
 */
DRAY_API int dray_stream_release(struct dray_stream *stream,
				 const uint32_t *frames, size_t count);

/**
 * As dray_stream_release() and then dray_stream_acquire(), with a single system call,
 * also if it waits.  After -ETIME, -EINTR and -ECANCELED, the frames have been
 * released.  Returns the count of acquired frames, or a negative errno of both.
 */
DRAY_API int dray_stream_exchange(struct dray_stream *stream,
				  const uint32_t *frames, size_t count,
				  struct dray_point *points, size_t room,
				  int timeout_ms);

/** Counts of a ring since it was given. */
struct dray_ring_counts {
	size_t size;		/* of this structure; 0: the first version's */
	uint64_t frames;	/* of the ring */
	uint64_t ended;		/* packets that were received or sent, or broke off */
	uint64_t acquired;	/* of these, by callers */
	uint64_t lost;		/* of these, overwritten before they were acquired */
	uint64_t waiting;	/* of these, to be acquired now */
	uint64_t owned;		/* frames that are the callers' now */
	uint64_t held_back;	/* times that no frame was free for the engine */
	uint64_t base;		/* number of the last packet before the ring */
};

/**
 * Fills @counts, as they are at about the same moment.  Packets of a
 * ring are not in dray_stream_counts().
 * Errors: -EINVAL (no ring), -ECHILD.
 */
DRAY_API int dray_stream_ring_counts(struct dray_stream *stream,
				     struct dray_ring_counts *counts);

/**
 * Returns a descriptor to poll(), borrowed: readable if transfers ended since
 * dray_stream_ended() was called last.  Only to be polled.
 */
DRAY_API int dray_stream_fd(const struct dray_stream *stream);

/**
 * Returns the count of transfers that ended since the stream was opened.
 * Makes dray_stream_fd() quiet until the next transfer ends, so poll, call this,
 * then look at events, or acquire frames without a wait.
 */
DRAY_API uint64_t dray_stream_ended(struct dray_stream *stream);

/** Counts of a stream since it was opened. */
struct dray_stream_counts {
	size_t size;		/* of this structure; 0: the first version's */
	uint64_t submitted;	/* transfers */
	uint64_t transfers;	/* that ended with success */
	uint64_t bytes;		/* of transfers that ended, in any way */
	uint64_t failed;	/* that ended with an error, and: */
	uint64_t cancelled;	/* of these, -ECANCELED */
	uint64_t timed_out;	/* of these, -ETIMEDOUT */
	uint64_t staged;	/* submitted with a copy by the CPU */
	uint64_t in_flight;	/* that did not end yet */
};

/**
 * Fills @counts, as they are at a moment.
 * Errors: -ECHILD.
 */
DRAY_NAMESAKE_BEGIN
DRAY_API int dray_stream_counts(struct dray_stream *stream,
				struct dray_stream_counts *counts);
DRAY_NAMESAKE_END

/**
 * Ends all transfers in flight as -ECANCELED; their events say how many bytes
 * were moved at least.  A ring continues; the frame that was under way ends with
 * this status, and so do others that the engine had begun.
 * Errors: -ECHILD, -ENODEV.
 */
DRAY_API int dray_stream_cancel(struct dray_stream *stream);

/*
 * Ends.  An event is the end of a packet or of a queued call, a fence the end of a transfer
 * (dray/transfer.h).  One rule holds for all three:
 *
 * - Memory is in use until the end, and dray_view_wait() waits for it.
 * - Events and fences are counted.  They outlive their stream or queue, and without any
 *   reference the work continues.
 * - Streams and queues have a single owner.  _destroy() and _close() return when no memory
 *   is in use any more.  A stream cancels first; queues wait, since engines end each
 *   transfer, and dray_call_queue_cancel() ends calls.
 * - A cancel ends at once work that did not begin, and asks for the end of other work.
 *   Transfers are not cancelled.
 * - A full stream or queue makes a submission wait, or refuses it with -EAGAIN if a flag
 *   says so.
 */

/**
 * Waits until the transfer ends.  Returns 0 or the negative errno that it
 * ended with, -ETIME after @timeout_ms milliseconds (below 0: never), -EINTR,
 * -ECHILD.  May be called again, from any thread, and after
 * dray_stream_close().
 */
DRAY_API int dray_event_wait(struct dray_event *event, int timeout_ms);

/**
 * Returns 1 if ended with success, 0 if not yet, a negative errno if it failed.
 */
DRAY_API int dray_event_status(struct dray_event *event);

/**
 * Returns a descriptor for poll(), borrowed, that is readable once a queued call
 * (dray/array/executor.h) has ended; -1 with errno if it fails.  Made at the
 * first question, and closed with the event.  Only to be polled.
 *
 * In errno: EOPNOTSUPP (a packet: dray_stream_fd() serves all of a stream),
 * ECHILD, EMFILE or another error of eventfd().  Fences of transfers have
 * dray_fence_fd().
 */
DRAY_API int dray_event_fd(struct dray_event *event);

/**
 * Calls @ended with @context at the end of the queued call (dray/array/executor.h), or at
 * once if the call ended already: from a thread of its queue or of an executor.
 * @ended must not wait for a call.  It is called once, also after the last reference
 * to the event, and not in a child of fork().
 *
 * Errors: -EBUSY (the event has a function already), -EOPNOTSUPP (a packet), -ECHILD.
 */
DRAY_API int dray_event_on_end(struct dray_event *event,
			       void (*ended)(void *context), void *context);

/**
 * Fills @size bytes of @point: number counts the packets of a stream from 1 (on
 * the module it continues if the node opens the stream again), bytes were moved,
 * status is 0 or a negative errno, and time_ns is of CLOCK_MONOTONIC.
 * Errors: -EINPROGRESS (the transfer did not end yet), -ECHILD.
 */
DRAY_API int dray_event_point(struct dray_event *event,
			      struct dray_point *point, size_t size);

/**
 * Ends the transfer as -ECANCELED, unless it ended already.  Packets behind it
 * continue.  A queued call (dray/array/executor.h) that waits ends at once, a call that runs when
 * its executor looks.
 * Errors: -ECHILD, -ENODEV.
 */
DRAY_API int dray_event_cancel(struct dray_event *event);

/** Adds a reference, dropped by dray_event_unref(); returns @event. */
DRAY_API struct dray_event *dray_event_ref(struct dray_event *event);
/** Drops a reference; the transfer continues without any.  NULL is ignored. */
DRAY_API void dray_event_unref(struct dray_event *event);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_STREAM_H */
