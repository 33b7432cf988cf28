/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The kernel interface of dray.
 *
 * A node is a DMA-capable device as dray sees it, /dev/drayN.  A buffer is a
 * contiguous, pinned allocation, and its handle is a dma-buf file descriptor:
 * the kernel provides mmap, poll, DMA_BUF_IOCTL_SYNC, SCM_RIGHTS and import
 * into other drivers.  The calls below add what dma-buf lacks: addresses for a
 * node, exact sync, transfers, inspection.
 *
 * Every structure may grow at its end.  If a caller passes an older, smaller
 * structure, its missing fields count as zero; -EINVAL if it is smaller than
 * the first version.  If a caller passes a newer, larger structure, the bytes
 * unknown to this kernel must be zero, else -E2BIG.  Unknown flags are -EINVAL,
 * and so is padding that is not zero.  Output fields are ignored as input, also
 * dray_heap_info.reserved2.
 *
 * An unknown value of an enum is -EINVAL in a call.  In a reply, a caller prints it as a
 * number, and relies on no property of it.
 *
 * 32-bit callers need no translation: user pointers travel as __u64, all fields
 * are of fixed width, and every structure is a multiple of eight bytes.
 */
#ifndef _UAPI_LINUX_DRAY_H
#define _UAPI_LINUX_DRAY_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define DRAY_ABI_VERSION	1

#define DRAY_NAME_LEN		32	/* names, terminating zero included */
#define DRAY_COMM_LEN		16	/* a task's name */
#define DRAY_MAX_AXES		64	/* axes of a strided transfer */
#define DRAY_MAX_RANGES		4096	/* ranges of a SYNC call */
#define DRAY_MAX_TRANSFERS	64	/* transfers of a SUBMIT call */
#define DRAY_MAX_IN_FENCES	16	/* in-fences of a SUBMIT call */
#define DRAY_MAX_PATTERN	16	/* bytes of a fill pattern */
#define DRAY_MIN_POINTS		128	/* points that a timeline shows at least */
#define DRAY_MAX_POINTS		65536
#define DRAY_MAX_FRAMES		1024	/* frames of a ring; at least 2 */
#define DRAY_MAX_DEADLINE	600000000000ull	/* nanoseconds */
#define DRAY_MAX_FENCE_DEADLINE	10000000000ull	/* likewise, of a submission with a fence */

/*
 * The cause of a failure, beside errno.  `limit` of the same reply holds the
 * value named behind the semicolon.
 */
enum dray_reason {
	DRAY_REASON_NONE = 0,
	DRAY_REASON_SIZE,	/* size is 0 or too large; largest possible request, bytes */
	/*
	 * Not a power of two, or above the heap's; -ENOMEM: no free run is
	 * aligned so; the largest possible, now if -ENOMEM, bytes.
	 */
	DRAY_REASON_ALIGNMENT,
	DRAY_REASON_MASK,	/* free memory lies above the limit; highest address allowed */
	DRAY_REASON_FULL,	/* fewer bytes of the heap are free than asked; free bytes */
	DRAY_REASON_FRAGMENTED,	/* no free run is long enough; longest, bytes (cma: at most) */
	DRAY_REASON_ORDER,	/* no piece of the page allocator is so large; largest, bytes */
	DRAY_REASON_HEAP,	/* the heap does not exist; count of heaps */
	DRAY_REASON_MODE,	/* the heap does not support the mode; a mode that it supports */
	DRAY_REASON_PERMISSION,	/* the right is missing; 0, for ALLOC the next lower limit */
	DRAY_REASON_FOREIGN,	/* the fd is not a dma-buf of this driver; the fd */
	DRAY_REASON_RANGE,	/* the range leaves the buffer; size of the buffer, bytes */
	DRAY_REASON_OVERLAP,	/* source and destination, or two runs, share bytes; 0 */
	DRAY_REASON_RUNS,	/* too many descriptors for a call; the most it may use */
	DRAY_REASON_BYTES,	/* too many bytes for a call; the most it may move */
	DRAY_REASON_CHANNEL,	/* the channel does not exist or is in use; count of channels */
	DRAY_REASON_BUSY,	/* the queue is full; its depth in submissions */
	DRAY_REASON_DEAD,	/* the channel did not answer; its index */
	DRAY_REASON_AXES,	/* too many axes; the most of a transfer */
	DRAY_REASON_BOUNCE,	/* the device would bounce silently; highest address it reaches */
	DRAY_REASON_OWN,	/* the fd is a buffer of this driver; the fd */
	DRAY_REASON_READ_ONLY,	/* the fd does not allow writes; the fd */
	DRAY_REASON_QUOTA,	/* the heap's limit, or a user's, is met; limit, bytes */
	DRAY_REASON_MEMLOCK,	/* the user's RLIMIT_MEMLOCK is met; that limit, bytes */
	DRAY_REASON_PINNED,	/* not all pages can be pinned; bytes that could be */
	DRAY_REASON_KIND,	/* the channel does something else; its index */
	DRAY_REASON_STREAM,	/* the stream is in use, or not open here; its index */
	DRAY_REASON_PIECES,	/* too many pieces for a transfer; the most the engine accepts */
	DRAY_REASON_RESIDUE,	/* the engine cannot count the bytes received; its index */
	DRAY_REASON_DEADLINE,	/* a fence needs a deadline, or it is too far; the longest, ns */
	DRAY_REASON_POINTS,	/* the timeline would be too long; the most points */
	DRAY_REASON_FRAMES,	/* too few or too many frames, or no ring; the most frames */
	DRAY_REASON_FRAME,	/* the frame is not held by the reader; the frame */
	DRAY_REASON_ROWS,	/* not rows of a single stride; the longest row and stride, bytes */
	DRAY_REASON_REGISTERS,	/* no whole page from the area's start on; bytes of a page */
	DRAY_REASON_INTERRUPT,	/* the interrupt is in use; its index */
};

/* dray_info.flags */
#define DRAY_NODE_COHERENT	(1u << 0)  /* the device snoops the CPU's caches */
#define DRAY_NODE_IOMMU		(1u << 1)  /* DMA addresses are translated */
#define DRAY_NODE_VIRTUAL	(1u << 2)  /* without hardware (nodes=N) */
#define DRAY_NODE_SUBMIT	(1u << 3)  /* SUBMIT exists, even without channels */
#define DRAY_NODE_ADDRESS	(1u << 4)  /* this opener may ask for addresses */
#define DRAY_NODE_REGISTERS	(1u << 5)  /* this opener may map registers */

struct dray_info {
	__u32 abi_version;	/* out: DRAY_ABI_VERSION */
	__u32 flags;		/* out: DRAY_NODE_* */
	__u64 dma_mask;		/* out: highest address that the device reaches */
	__u32 cache_line;	/* out: bytes; a sync may touch whole lines */
	__u32 dma_alignment;	/* out: bytes; of start and length if a device writes */
	__u32 heap_count;	/* out */
	__u32 channel_count;	/* out */
	__u64 max_runs;		/* out: descriptors that a SUBMIT may use */
	__u64 max_bytes;	/* out: bytes that a SUBMIT may move */
	__u32 queue_depth;	/* out: submissions in flight that a user may own */
	__u32 page_size;	/* out: bytes; unit of buffer sizes */
	char name[DRAY_NAME_LEN];	/* out: "dray0" */
	char device[DRAY_NAME_LEN];	/* out: the device's own name */
	char version[DRAY_NAME_LEN];	/* out: the module's version */
	__u32 register_count;	/* out: areas of registers */
	__u32 interrupt_count;	/* out */
};

enum dray_heap_type {
	DRAY_HEAP_RESERVED = 1,	/* a dedicated region with struct pages */
	DRAY_HEAP_CMA = 2,	/* a reusable region or the default CMA area */
	DRAY_HEAP_PAGES = 3,	/* the page allocator */
	DRAY_HEAP_CARVEOUT = 4,	/* a dedicated region that the kernel does not map */
};

/* dray_heap_info.flags */
#define DRAY_HEAP_SHARED	(1u << 0)  /* the system uses it too: free may shrink */
#define DRAY_HEAP_PINNABLE	(1u << 1)  /* mapped as pages: O_DIRECT works */
#define DRAY_HEAP_DEFAULT	(1u << 2)  /* DRAY_HEAP_ANY's first for cached memory */

struct dray_heap_info {
	__u32 index;		/* in: 0 .. heap_count - 1 */
	__u32 type;		/* out: enum dray_heap_type */
	__u32 flags;		/* out: DRAY_HEAP_* */
	__u32 buffers;		/* out: buffers that live in it */
	__u64 total;		/* out: bytes */
	__u64 free;		/* out: bytes; cma: at most */
	__u64 used;		/* out: bytes of dray's buffers */
	__u64 quarantined;	/* out: bytes freed: held by others, or condemned */
	__u64 largest_free;	/* out: bytes of the longest free run; cma: at most */
	__u64 largest_request;	/* out: bytes; ALLOC refuses more even if all is free */
	char name[DRAY_NAME_LEN];	/* out: "reserved", or the region's name */
	__u64 held;		/* out: bytes freed whose address a device may still use */
	__u64 limit;		/* out: bytes that all of dray may use here; 0: no limit */
	__u64 user_limit;	/* out: bytes that a user may use here; 0: no limit */
	__u64 user_used;	/* out: bytes charged to the caller's user */
	__u32 modes;		/* out: bits of enum dray_mode that can be in effect here */
	__u32 reserved2;	/* out: 0 */
	__u64 charged;		/* out: bytes that count against limit */
};

/* dray_channel_info.flags */
#define DRAY_CHANNEL_COPY	(1u << 0)  /* from memory to memory */
#define DRAY_CHANNEL_FILL	(1u << 1)  /* in hardware; if not set, fills copy a pattern */
#define DRAY_CHANNEL_OPEN	(1u << 2)  /* held by dray now */
#define DRAY_CHANNEL_DEAD	(1u << 3)  /* did not answer; not used any more */
#define DRAY_CHANNEL_SEND	(1u << 4)  /* from memory to a stream */
#define DRAY_CHANNEL_RECV	(1u << 5)  /* from a stream to memory */
#define DRAY_CHANNEL_SHOW	(1u << 6)  /* from memory to a display */
#define DRAY_CHANNEL_REPEAT	(1u << 7)  /* known when open: repeats the latest submission */

/* The counts cover submissions that ended since the node appeared. */
struct dray_channel_info {
	__u32 index;		/* in: 0 .. channel_count - 1 */
	__u32 flags;		/* out: DRAY_CHANNEL_* */
	__u32 alignment;	/* out: bytes; of addresses and lengths; 1: none */
	__u32 reserved;
	__u64 max_segment;	/* out: bytes of a descriptor; 0 until opened */
	__u64 submitted;	/* out: transfers of submissions that succeeded */
	__u64 bytes;		/* out: bytes of these transfers */
	__u64 failed;		/* out: submissions that failed or were cancelled */
	char name[DRAY_NAME_LEN];	/* out: its dma-names entry */
	char device[DRAY_NAME_LEN];	/* out: the engine, "dma0chan0"; empty until opened */
	__u32 max_pieces;	/* out: pieces of a transfer of a stream; 0: no limit */
	__u32 first_alignment;	/* out: bytes; of the first byte to repeat; else 0 */
	__u64 packets;		/* out: packets of a stream that passed; else 0 */
	__u64 lost;		/* out: frames that were overwritten unread */
	__u64 held_back;	/* out: times that the engine lacked a frame to continue with */
	__u32 ring_frames;	/* out: frames of the present ring; 0: there is none */
	__u32 ring_ready;	/* out: of these with data, received or to be sent */
};

/*
 * How the CPU sees a buffer.  Only cached buffers ever need a sync.  If the
 * node's device snoops the caches, memory that can be cached is cached, unless
 * the caller asks for DRAY_MODE_DEVICE.
 */
enum dray_mode {
	DRAY_MODE_CACHED = 0,
	DRAY_MODE_WRITE_COMBINED = 1,	/* not cached; writes may be gathered */
	DRAY_MODE_COHERENT = 2,	/* not cached */
	DRAY_MODE_DEVICE = 3,	/* without any CPU mapping */
};

#define DRAY_HEAP_ANY		0xffffffffu	/* tries the node's heaps in their order */

/* dray_alloc.flags */
#define DRAY_ALLOC_TOP		(1u << 0)  /* from the upper end of a reserved heap */

/*
 * If the reply cannot be written, the call is -EFAULT: it installs no fd and
 * frees the buffer.  If the caller lacks the right to the heap's addresses, an
 * address_limit that is neither 0 nor 2^n - 1 is -EPERM.
 */
struct dray_alloc {
	__u64 size;		/* in: bytes, > 0; out: rounded up to pages */
	__u64 alignment;	/* in: bytes, a power of two; 0: a page */
	__u64 address_limit;	/* in: highest address of the last byte; 0: the mask */
	__u32 heap;		/* in: index or DRAY_HEAP_ANY; out: the heap used */
	__u32 mode;		/* in: enum dray_mode; out: the mode in effect */
	__u32 flags;		/* in: DRAY_ALLOC_* */
	__s32 fd;		/* out: dma-buf, O_RDWR | O_CLOEXEC */
	__u64 id;		/* out: unique while the module is loaded, never 0 */
	char name[DRAY_NAME_LEN];	/* in: shown by LIST; may be empty */
	__u32 reason;		/* out, on failure too: enum dray_reason */
	__u32 reserved;
	__u64 limit;		/* out, on failure too */
};

struct dray_segment {
	__u64 address;		/* DMA address for this node */
	__u64 length;		/* bytes */
};

/*
 * Needs the right to addresses (DRAY_NODE_ADDRESS), else -EPERM.  -EACCES for
 * every caller if the file descriptor is read-only (EXPORT), or the attachment
 * is for reading by devices only: an address lets a device write there.
 */
struct dray_address {
	__s32 fd;		/* in: a buffer of this driver, or an attachment */
	__u32 flags;		/* in: 0 */
	__u64 offset;		/* in: bytes */
	__u64 length;		/* in: bytes; 0: to the end */
	__u64 segments;		/* in: pointer to struct dray_segment[room] */
	__u32 room;		/* in: 0: only count */
	__u32 count;		/* out: count of all segments, may exceed room */
	__u32 reason;		/* out */
	__u32 reserved;
	__u64 limit;		/* out */
};

enum dray_direction {
	DRAY_TO_DEVICE = 1,	/* the device reads the memory */
	DRAY_FROM_DEVICE = 2,	/* the device writes it */
	DRAY_BIDIRECTIONAL = 3,
};

enum dray_sync_owner {
	DRAY_SYNC_FOR_DEVICE = 1,	/* before the device accesses the memory */
	DRAY_SYNC_FOR_CPU = 2,		/* after the device wrote it */
};

#define DRAY_TARGET_NODE	0xffffffffu	/* any other target: a channel's index */

/*
 * rows pieces of width bytes, pitch bytes apart; rows = 1 is a plain range.
 * SYNC maintains whole cache lines.  If the gap between rows is narrower than a
 * line, it shares lines with them.  The CPU must not write to such a gap
 * between the sync for the device and the sync for the CPU.
 */
struct dray_range {
	__s32 fd;		/* in: a buffer of this driver, or an attachment */
	__u32 flags;		/* in: 0 */
	__u64 offset;		/* in: bytes, of the first row */
	__u64 width;		/* in: bytes, > 0 */
	__u64 pitch;		/* in: bytes, >= width; ignored if rows is 1 */
	__u64 rows;		/* in: > 0 */
};

/* dray_sync.flags, in */
#define DRAY_SYNC_ASK		(1u << 1)  /* only checks and answers */
/* out; ignored on the way in */
#define DRAY_SYNC_NOT_NEEDED	(1u << 0)  /* no sync is ever needed: see below */

/*
 * The answer is DRAY_SYNC_NOT_NEEDED if this target never needs a sync for any
 * of the named buffers; if count is 0, for any cached buffer.
 *
 * Ranges may overlap: shared bytes are maintained, and counted, once per range.
 * The result is as if they were in a single range.
 */

struct dray_sync {
	__u32 target;		/* in: DRAY_TARGET_NODE or a channel's index */
	__u32 owner;		/* in: enum dray_sync_owner */
	__u32 direction;	/* in: enum dray_direction */
	__u32 count;		/* in: ranges, 0 .. DRAY_MAX_RANGES; 0: only for flags */
	__u64 ranges;		/* in: pointer to struct dray_range[count] */
	__u32 flags;		/* in/out: DRAY_SYNC_* */
	__u32 reason;		/* out */
	__u64 limit;		/* out */
	__u32 failed;		/* out: index of the wrong range, else 0 */
	__u32 reserved;
};

enum dray_op {
	DRAY_OP_COPY = 1,
	DRAY_OP_FILL = 2,
	DRAY_OP_SEND = 3,	/* to a stream: without a destination, its strides are 0 */
	DRAY_OP_RECV = 4,	/* from a stream: likewise without a source */
	DRAY_OP_SHOW = 5,	/* to a display: likewise without a destination */
};

/* Outermost axis first; strides may be negative, a source's may be zero. */
struct dray_axis {
	__u64 count;		/* in: > 0 */
	__s64 dst_stride;	/* in: bytes */
	__s64 src_stride;	/* in: bytes; 0 for a fill */
};

/*
 * Moves runs of `run` bytes, which start at offset + sum(i[k] * stride[k]).  A
 * fill repeats the pattern from the start of every run; run is a multiple of
 * pattern_size.  Two runs of the destination must not intersect.  If source and
 * destination are in the same buffer, their spans must not intersect either.
 * If they share memory through two file descriptors, such as an attachment of a
 * buffer's mapping, the result is undefined, as with memcpy().
 */
struct dray_transfer {
	__u32 op;		/* in: enum dray_op */
	__u32 flags;		/* in: 0 */
	__s32 dst_fd;		/* in: a buffer of this driver, or an attachment; -1 to send */
	__s32 src_fd;		/* in: likewise; -1 to fill and to receive */
	__u64 dst_offset;	/* in: bytes, of the element [0, 0, ...]; 0 to send */
	__u64 src_offset;	/* in: bytes; 0 to fill and to receive */
	__u64 run;		/* in: bytes, > 0 */
	__u32 axes_count;	/* in: 0 .. DRAY_MAX_AXES */
	__u32 pattern_size;	/* in: 1, 2, 4, 8 or 16 for a fill, else 0 */
	__u64 axes;		/* in: pointer to struct dray_axis[axes_count] */
	__u8 pattern[DRAY_MAX_PATTERN];	/* in */
};

#define DRAY_CHANNEL_ANY	0xffffffffu

/* dray_submit.flags */
#define DRAY_SUBMIT_NONBLOCK	(1u << 0)  /* -EAGAIN if the call would wait */
#define DRAY_SUBMIT_NO_SYNC	(1u << 1)  /* the caller syncs, or the CPU does not look */
#define DRAY_SUBMIT_NO_FENCE	(1u << 2)  /* fence_fd is -1; see TIMELINE */

/*
 * On a stream's channel, which the caller opened with TIMELINE, the transfers
 * of a call are the pieces of a packet, all SEND or all RECV.  A stream may
 * stay silent for ever, and a fence may not: a fence is only returned with a
 * deadline of at most DRAY_MAX_FENCE_DEADLINE, because other drivers wait for
 * it without a limit.  A later deadline needs DRAY_SUBMIT_NO_FENCE, and other
 * drivers do not wait.  Each submission becomes a point on the timeline.  A
 * packet that is shorter than its pieces ends the submission, and its point
 * counts the received bytes.  At the deadline the engine is stopped:
 * -ETIMEDOUT.  Later submissions on the stream continue.
 *
 * SEND marks the end of a packet at the end of each submission.
 *
 * SHOW puts rows of `run` bytes on a display: a single transfer, with an axis
 * or none, in contiguous memory.  Inner axes without gaps count as part of the
 * run.  The stride is not shorter than the run.  The engine repeats the rows
 * until the next SHOW replaces them.  Only then the submission ends, with
 * status 0; the engine reads its memory until then.  If it is cancelled, or its
 * deadline passes, the engine is stopped.
 *
 * If an engine can only repeat (DRAY_CHANNEL_REPEAT), SEND obeys the same
 * rules: a period is sent until the next replaces it at its end.  Each further
 * time is counted in `held_back` of the timeline.
 */

/*
 * Each opener owns a queue for each channel: a later submission starts later.
 * The transfers of a call run in their order, and each sees the bytes that
 * earlier ones wrote.
 *
 * Without DRAY_SUBMIT_NO_SYNC, the call makes the sources visible to the engine
 * before it returns.  The destinations become visible to the CPU after the
 * transfer.  If the CPU writes to a source between the call and the signal of
 * an in-fence, it needs a SYNC for the device before that signal.  The CPU must
 * not write to a destination until the submission ends.
 *
 * The first transfer waits for the in-fences, and for the fences of other
 * drivers in the dma-bufs that take part: of writers, and in a destination also
 * of readers.  If an in-fence failed, nothing is transferred: -ECANCELED.  It
 * does not matter if a fence of another driver failed.
 *
 * The fence is a sync_file: wait with poll().  Its status is 1, or a negative
 * errno (-EIO, -ETIMEDOUT, -ENODEV, -ECANCELED).  When the opener is closed,
 * its submissions are not fed any more: -ECANCELED.
 *
 * If the submission itself needs more than 4 KiB of the kernel's memory, as a
 * dozen transfers do, it is locked memory of the user until it ends.  The
 * patterns of fills always are.  -ENOMEM with DRAY_REASON_MEMLOCK if that is
 * too much.
 *
 * If the reply cannot be written, the call is -EFAULT and installs no fd.  But
 * the job was accepted: it runs on, and frees its memory at its end.
 *
 * `runs` is 0 if attached memory takes part and ATTACH would hide the count of
 * its pieces from the caller.  Every caller learns that a submission has too
 * many descriptors: DRAY_REASON_RUNS, with the most of a call.
 */
struct dray_submit {
	__u32 channel;		/* in: index or DRAY_CHANNEL_ANY; out: channel used */
	__u32 flags;		/* in: DRAY_SUBMIT_* */
	__u64 transfers;	/* in: pointer to struct dray_transfer[count] */
	__u32 count;		/* in: 1 .. DRAY_MAX_TRANSFERS */
	__u32 in_fence_count;	/* in: 0 .. DRAY_MAX_IN_FENCES */
	__u64 in_fences;	/* in: pointer to __s32[in_fence_count], sync_files */
	__s32 fence_fd;		/* out: sync_file, O_CLOEXEC */
	__u32 failed;		/* out: index of the wrong transfer, else 0 */
	__u64 runs;		/* out: descriptors of all transfers, or 0: see above */
	__u64 bytes;		/* out: bytes of all transfers */
	__u32 reason;		/* out, on failure too */
	__u32 reserved;
	__u64 limit;		/* out, on failure too */
	__u64 deadline_ns;	/* in: of a stream, from now, at most DRAY_MAX_DEADLINE; 0: none */
	__u64 point;		/* out: number on the timeline of the channel's queue */
};

/*
 * Stops submissions of this opener: the engine gets no more of their
 * descriptors, and drains those it holds.  The fences end as -ECANCELED, in the
 * order of their queue.  If the engine holds all of a submission, or it ended,
 * the call leaves it alone and does not count it.
 *
 * On a stream, the engine is stopped if it holds a submission that is
 * cancelled.  Its point states the least count of received bytes.  Submissions
 * behind it continue; those of which bytes moved, or may be moving, end as
 * -ECONNRESET, as do those of the other direction if the engine can only stop
 * both.  A ring's frames that the engine holds, or may use next, return as
 * -ECANCELED.
 */
struct dray_cancel {
	__s32 fence_fd;		/* in: a submission's sync_file; negative: see point */
	__u32 channel;		/* in: without a fence: index, for all also DRAY_CHANNEL_ANY */
	__u32 flags;		/* in: 0 */
	__u32 count;		/* out: submissions that the call stopped */
	__u32 reason;		/* out, on failure too */
	__u32 reserved;
	__u64 limit;		/* out, on failure too */
	__u64 point;		/* in: without a fence: a submission's point; 0: all */
};

/*
 * Lists the buffers and attachments of all nodes by id: those that the caller's
 * effective uid made, or all for CAP_SYS_ADMIN.
 */
struct dray_list {
	__u64 ids;		/* in: pointer to __u64[room] */
	__u32 room;		/* in: 0: only count */
	__u32 count;		/* out: count of all, may exceed room */
};

/* The kinds of objects with an id. */
enum dray_kind {
	DRAY_KIND_BUFFER = 0,
	DRAY_KIND_USER = 1,	/* an attachment: memory of a process, pinned */
	DRAY_KIND_DMABUF = 2,	/* an attachment: another driver's dma-buf */
};

/* dray_buffer_info.flags, in */
#define DRAY_BUFFER_BY_FD	(1u << 0)  /* fd names the object, not id */
/* out */
#define DRAY_BUFFER_ORPHAN	(1u << 8)  /* its owner's process ended */
#define DRAY_BUFFER_READ_ONLY	(1u << 9)  /* only for reading, by devices or by this fd (EXPORT) */
#define DRAY_BUFFER_DISCLOSED	(1u << 10)  /* its address was disclosed to a process */
#define DRAY_BUFFER_HELD	(1u << 11)  /* freed, but a device may still write it */

/*
 * An attachment belongs to no heap, and its size counts whole pages.  Counts
 * that exist only for buffers are 0.
 */
struct dray_buffer_info {
	__u64 id;		/* in/out */
	__s32 fd;		/* in: with DRAY_BUFFER_BY_FD */
	__u32 flags;		/* in/out: DRAY_BUFFER_* */
	__u64 size;		/* out: bytes */
	__u64 age_ns;		/* out: time since ALLOC or ATTACH */
	__u64 sync_bytes;	/* out: bytes that SYNC and CPU accesses maintained */
	__u64 sync_ns;		/* out: time for that */
	__u32 heap;		/* out: index in this node; DRAY_HEAP_ANY if not in it */
	__u32 mode;		/* out: enum dray_mode */
	__u32 mapped;		/* out: user mappings */
	__u32 attachments;	/* out: devices attached through dma-buf */
	__u32 transfers;	/* out: transfers in flight */
	__u32 uid;		/* out: the owner's, in the caller's user namespace */
	__s32 pid;		/* out: the owner's, in the caller's pid namespace; 0: not in it */
	__u32 kind;		/* out: enum dray_kind */
	char comm[DRAY_COMM_LEN];	/* out: the owner's name at ALLOC or ATTACH */
	char name[DRAY_NAME_LEN];	/* out; of a dma-buf: DMA_BUF_SET_NAME's */
	char heap_name[DRAY_NAME_LEN];	/* out; of a dma-buf: its exporter */
	char node_name[DRAY_NAME_LEN];	/* out: the attachment's node; empty for a buffer */
};

/*
 * Frees held memory.  Memory is held if a process learned its address and ended
 * before the last reference to the buffer or attachment was dropped.  Attached
 * memory is also held if an engine did not answer before its node was unbound,
 * and may still write it.  Needs CAP_SYS_RAWIO, else -EPERM: the caller says
 * that the hardware is quiet.
 */
struct dray_reclaim {
	__u64 id;		/* in: a held buffer or attachment; 0: all */
	__u32 flags;		/* in: 0 */
	__u32 count;		/* out: buffers and attachments freed */
	__u64 bytes;		/* out: bytes freed */
	__u32 reason;		/* out */
	__u32 attachments;	/* out: attachments among count */
	__u64 limit;		/* out */
};

/* The states of a part of a heap. */
enum dray_part_state {
	DRAY_PART_FREE = 0,
	DRAY_PART_BUFFER = 1,	/* in a buffer, or in a buffer that is made or freed now */
	DRAY_PART_HELD = 2,	/* freed, but a device may still write it: see RECLAIM */
	DRAY_PART_QUARANTINED = 3,	/* freed, but others still hold its pages */
	DRAY_PART_CONDEMNED = 4,	/* out of use: broken, or a device may write it */
	DRAY_PART_SYSTEM = 5,	/* cma: no buffer's; free, or the system uses it */
};

/* A part of a heap's range; a buffer's may be longer than its size (cma). */
struct dray_part {
	__u64 offset;		/* bytes, from the start of the heap's range */
	__u64 length;		/* bytes, whole pages */
	__u64 id;		/* the buffer; 0: none, or hidden from the caller */
	__u32 state;		/* enum dray_part_state */
	__u32 reserved;
};

/*
 * Lists the parts of a heap's range, which follow each other without gaps, in
 * the order of their offsets, never addresses.  Adjacent parts of the same
 * state, without a buffer that the caller may see (LIST), are joined.  All
 * results are 0 if the heap is without a range of its own: DRAY_HEAP_PAGES, and
 * the system's default CMA area.  The heap may change between two calls, and
 * during a call: each part is true of a moment of the call.
 *
 * `first_aligned` and `reach` show the runs that suit a request: a request with
 * `alignment` starts at first_aligned plus a multiple of it, and ends at or
 * before reach.  If an IOMMU or the bus translates addresses, reach is the
 * size.  An alignment that ALLOC refuses for any size is refused in the same
 * way.  An address_limit that is neither 0 nor 2^n - 1 is -EPERM without the
 * right to addresses, as for ALLOC.
 */
struct dray_heap_map {
	__u32 heap;		/* in: index */
	__u32 flags;		/* in: 0 */
	__u64 alignment;	/* in: bytes, a power of two; 0: a page */
	__u64 address_limit;	/* in: as dray_alloc.address_limit */
	__u64 parts;		/* in: pointer to struct dray_part[room] */
	__u32 room;		/* in: 0: only count */
	__u32 count;		/* out: count of all parts, may exceed room */
	__u64 size;		/* out: bytes of the heap's range */
	__u64 first_aligned;	/* out: bytes, offset; size or more: there is none */
	__u64 reach;		/* out: bytes, offset: the end of what may be used */
	__u32 reason;		/* out, on failure too */
	__u32 reserved;
	__u64 limit;		/* out, on failure too */
};

/* dray_register_area.flags */
#define DRAY_REGISTERS_OPEN	(1u << 0)  /* returns a file; if not set, only describes */

/*
 * Describes an area of registers of the node's device, as the device tree names it,
 * and opens it.  The file can be mapped, shared, from offset 0 to `mappable`, and
 * needs the right (DRAY_NODE_REGISTERS), else -EPERM; -ENXIO if no page can be mapped.
 * The CPU caches no access.  Several openers may map the same registers.  Once the
 * node is gone, an access is SIGBUS, and mmap() -ENODEV.
 */
struct dray_register_area {
	__u32 index;		/* in: 0 .. register_count - 1 */
	__u32 flags;		/* in: DRAY_REGISTERS_* */
	__u64 size;		/* out: bytes of the area */
	__u64 mappable;		/* out: bytes from its start, whole pages; may be 0 */
	char name[DRAY_NAME_LEN];	/* out: its reg-names entry, or "registers0" */
	__s32 fd;		/* out: O_RDWR | O_CLOEXEC; -1: not asked for */
	__u32 reason;		/* out, on failure too */
	__u64 limit;		/* out, on failure too */
};

/* dray_interrupt_line.flags */
#define DRAY_INTERRUPT_OPEN	(1u << 0)  /* returns a file; if not set, only describes */

/*
 * Describes an interrupt of the node's device, and opens it, for a single file at a
 * time: -EBUSY, also if another driver has it.
 *
 * An interrupt is masked when it arrives.  read() of 8 bytes returns the interrupts
 * since the last read(), waits if there is none (-EAGAIN with O_NONBLOCK), and unmasks.
 * A program that waits by poll() clears the cause in the device before it reads; else
 * the interrupt arrives once more.  Once the node is gone, read() is -ENODEV, and
 * poll() says POLLERR and POLLHUP.
 */
struct dray_interrupt_line {
	__u32 index;		/* in: 0 .. interrupt_count - 1 */
	__u32 flags;		/* in: DRAY_INTERRUPT_* */
	__u64 count;		/* out: interrupts since the node appeared, while open */
	char name[DRAY_NAME_LEN];	/* out: its interrupt-names entry, or "interrupt0" */
	__s32 fd;		/* out: O_RDONLY | O_CLOEXEC; -1: not asked for */
	__u32 reason;		/* out, on failure too */
	__u64 limit;		/* out, on failure too */
};

/* dray_export.flags */
#define DRAY_EXPORT_READ_ONLY	(1u << 0)  /* must be set; there is no other kind */

/*
 * Makes a second dma-buf over a buffer, for processes that may read it but not
 * write.  Refuses a writable mapping, an importer that writes, use as a
 * destination, and ADDRESS.  It shares the fences and the life of the first
 * dma-buf.
 */
struct dray_export {
	__s32 buffer_fd;	/* in: a buffer of this driver, read-only or not */
	__u32 flags;		/* in: DRAY_EXPORT_READ_ONLY */
	__s32 fd;		/* out: dma-buf, O_RDONLY | O_CLOEXEC */
	__u32 reason;		/* out, on failure too */
	__u64 limit;		/* out, on failure too */
};

/* dray_attach.flags */
#define DRAY_ATTACH_USER	(1u << 0)  /* memory at address, length; if not set, dmabuf_fd */
#define DRAY_ATTACH_READ_ONLY	(1u << 1)  /* devices only read: the memory may be read-only */

/*
 * Makes foreign memory reachable for the node: pinned memory of the caller, or
 * the dma-buf of another driver.  Returns a file: close() ends the attachment,
 * but transfers in flight hold it.  ADDRESS, SYNC and SUBMIT accept it like a
 * buffer, on this node only.  Offset 0 is the first byte of the memory.
 * `segments` is 0 if there is no IOMMU and the caller may not know addresses.
 */
struct dray_attach {
	__s32 dmabuf_fd;	/* in: a dma-buf of another driver; -1 with DRAY_ATTACH_USER */
	__u32 flags;		/* in: DRAY_ATTACH_* */
	__u64 address;		/* in: user address, any alignment; 0 for a dma-buf */
	__u64 length;		/* in: bytes of user memory, > 0; 0 for a dma-buf; out: size */
	__s32 fd;		/* out: the attachment, O_CLOEXEC */
	__u32 segments;		/* out: pieces as the node's device sees them; see above */
	__u32 reason;		/* out, on failure too */
	__u32 reserved;
	__u64 limit;		/* out, on failure too */
	__u64 id;		/* out: for LIST, BUFFER_INFO and RECLAIM, as a buffer's */
};

/*
 * A timeline: the points at which the submissions of a queue ended.  Its file
 * is mapped for reading: a struct dray_timeline_head, then, at `first`, the
 * points.  The point with number n is at n % points.
 *
 * The submissions of a queue are numbered 1, 2, ... All points up to
 * `completed` are there; a point beyond may be, if it was cancelled or its
 * deadline passed before an earlier submission ended.  SUBMIT waits, or is
 * -EAGAIN, if the place of a missing point could be reused for the new point.
 *
 * A point is there if its `number` is the expected number.  Load that with
 * acquire semantics, read the rest, then load it again behind a barrier for
 * loads.  If it is greater then, a later point overwrote this point; 0: it is
 * being written.  Received bytes are visible to the CPU before their point is
 * there.
 *
 * poll() says POLLIN if points came since the last read(), and POLLHUP once the
 * node is gone.  read() of 8 bytes returns `published` and never blocks.
 */
struct dray_point {
	__u64 number;
	__u64 bytes;		/* that were sent or received */
	__u64 time_ns;		/* CLOCK_MONOTONIC, when the engine reported its end */
	__s32 status;		/* 0, or a negative errno as of a fence */
	__u32 frame;		/* of a ring, else 0 */
};

struct dray_timeline_head {
	__u64 completed;	/* all points up to this one are there; acquire */
	__u64 published;	/* count of points written */
	__u32 points;		/* that are shown, a power of two */
	__u32 first;		/* bytes, from the mapping's start to the points */
	__u64 lost;		/* frames that were overwritten unread */
	__u64 held_back;	/* times that the engine lacked a frame to continue with */
	__u64 reserved[3];
};

/*
 * Makes the timeline of the opener's queue for a channel, a single timeline at
 * a time: -EBUSY.  It shows submissions from then on.  If the channel serves a
 * stream, this opens the stream, for a single opener at a time: -EBUSY.  close()
 * ends its submissions, and returns when the engine stopped.
 *
 * Some engines start several submissions at once, and report them together at
 * the end of the last: `batch` bounds them.  A larger batch means fewer gaps, a
 * smaller batch less delay.
 */
struct dray_timeline {
	__u32 channel;		/* in: index */
	__u32 flags;		/* in: 0 */
	__u32 points;		/* in: 0: 1024; out: rounded up to a power of two */
	__u32 batch;		/* in: submissions, 1 .. 64; 0: 1; ignored without a stream */
	__s32 event_fd;		/* in: an eventfd that each point adds 1 to; -1 */
	__s32 fd;		/* out: the timeline, O_RDONLY | O_CLOEXEC */
	__u64 size;		/* out: bytes to map */
	__u32 reason;		/* out, on failure too */
	__u32 reserved;
	__u64 limit;		/* out, on failure too */
};

/*
 * A call of a timeline's file: waits until the point is there.  -ETIME if that
 * lasts too long; -EOVERFLOW if the point was overwritten; -ENODEV once the
 * node is gone; -ECANCELED if the stream's ring is removed meanwhile.
 */
struct dray_wait {
	__u64 number;		/* in: > 0 */
	__u64 until_ns;		/* in: CLOCK_MONOTONIC; 0: do not wait; ~0: no limit */
	struct dray_point point;	/* out */
	__u64 completed;	/* out, on failure too */
};

/* dray_ring.flags */
#define DRAY_RING_OVERWRITE	(1u << 0)  /* the oldest unread frame, if no other is free */
#define DRAY_RING_REPLACE	(1u << 1)  /* replaces a ring: see below */
#define DRAY_RING_RELEASED	(1u << 2)  /* frames to send are released from the start */

/*
 * A call of a stream's timeline: sets the frames of the stream.  From then on
 * only frames pass, and SUBMIT is -EBUSY.  A frame is a view of a packet;
 * frames of a stream that receives must not overlap.
 *
 * To receive, the engine holds all frames at first.  Each packet is a point on
 * the timeline, which names its frame.  The frame is the reader's from its
 * point until RELEASE.  If no frame is free, the stream is held back.  In a
 * ring with DRAY_RING_OVERWRITE the engine continues instead with the oldest
 * frame that the reader did not acquire by RELEASE.  `held_back` and `lost`
 * count both.
 *
 * To send, all frames are the writer's at first.  RELEASE sends a frame, and
 * its point returns it.  With DRAY_RING_RELEASED all are sent at once, in
 * order.
 *
 * The point of a broken frame states its status and the received bytes.  No
 * point of a frame is overwritten unread: a ring without DRAY_RING_OVERWRITE
 * consists of at most as many frames as the timeline of points.
 *
 * With DRAY_RING_REPLACE the frames replace those of any old ring, whose memory
 * is dropped.  -EBUSY if the engine holds a frame of the old ring: none of them
 * once the reader or writer holds each.  If the call fails, the old ring
 * continues.  Points are counted on.  Without frames, the ring is removed:
 * calls that wait are -ECANCELED, and SUBMIT or another ring may follow.
 * -ENODEV: the ring ended.
 *
 * A call without frames and without DRAY_RING_REPLACE ends the ring for good: no
 * frame passes any more, and once the engine stopped, WAIT and RELEASE are
 * -ENODEV.  close() does so too.
 */
struct dray_ring {
	__u64 frames;		/* in: pointer to struct dray_transfer[count] */
	__u32 count;		/* in: 2 .. DRAY_MAX_FRAMES, see above; 0: ends the ring */
	__u32 flags;		/* in: DRAY_RING_* */
	__u32 failed;		/* out: index of the wrong frame, else 0 */
	__u32 reason;		/* out, on failure too */
	__u64 limit;		/* out, on failure too */
};

/*
 * Returns frames to the engine, in any order, and acquires the oldest that are
 * unread, if the ring has DRAY_RING_OVERWRITE.  A frame that the caller does
 * not hold is -EINVAL; frames before it are released.
 *
 * If the call acquires none, it waits for a point, as WAIT does, and tries again.
 * `released` is `count` then, also if the wait fails: -ETIME, -EINTR, -ENODEV,
 * -ECANCELED.
 */
struct dray_release {
	__u64 frames;		/* in: pointer to __u32[count] */
	__u32 count;		/* in: frames to release, at most DRAY_MAX_FRAMES */
	__u32 room;		/* in: frames to acquire, likewise */
	__u64 points;		/* in: pointer to struct dray_point[room] */
	__u32 released;		/* out, on failure too */
	__u32 acquired;		/* out */
	__u32 reason;		/* out, on failure too */
	__u32 reserved;
	__u64 limit;		/* out, on failure too */
	__u64 number;		/* in: of the point to wait for; ignored if until_ns is 0 */
	__u64 until_ns;		/* in: CLOCK_MONOTONIC; 0: do not wait; ~0: no limit */
};

#define DRAY_IOC_MAGIC		0xda

#define DRAY_IOC_INFO		_IOWR(DRAY_IOC_MAGIC, 0, struct dray_info)
#define DRAY_IOC_HEAP_INFO	_IOWR(DRAY_IOC_MAGIC, 1, struct dray_heap_info)
#define DRAY_IOC_CHANNEL_INFO	_IOWR(DRAY_IOC_MAGIC, 2, struct dray_channel_info)
#define DRAY_IOC_ALLOC		_IOWR(DRAY_IOC_MAGIC, 3, struct dray_alloc)
#define DRAY_IOC_ADDRESS	_IOWR(DRAY_IOC_MAGIC, 4, struct dray_address)
#define DRAY_IOC_SYNC		_IOWR(DRAY_IOC_MAGIC, 5, struct dray_sync)
#define DRAY_IOC_SUBMIT		_IOWR(DRAY_IOC_MAGIC, 6, struct dray_submit)
#define DRAY_IOC_LIST		_IOWR(DRAY_IOC_MAGIC, 7, struct dray_list)
#define DRAY_IOC_BUFFER_INFO	_IOWR(DRAY_IOC_MAGIC, 8, struct dray_buffer_info)
#define DRAY_IOC_EXPORT		_IOWR(DRAY_IOC_MAGIC, 9, struct dray_export)
#define DRAY_IOC_ATTACH		_IOWR(DRAY_IOC_MAGIC, 10, struct dray_attach)
#define DRAY_IOC_CANCEL		_IOWR(DRAY_IOC_MAGIC, 11, struct dray_cancel)
#define DRAY_IOC_RECLAIM	_IOWR(DRAY_IOC_MAGIC, 12, struct dray_reclaim)
#define DRAY_IOC_TIMELINE	_IOWR(DRAY_IOC_MAGIC, 13, struct dray_timeline)
#define DRAY_IOC_HEAP_MAP	_IOWR(DRAY_IOC_MAGIC, 14, struct dray_heap_map)
#define DRAY_IOC_REGISTER_AREA	_IOWR(DRAY_IOC_MAGIC, 15, struct dray_register_area)
#define DRAY_IOC_INTERRUPT_LINE	_IOWR(DRAY_IOC_MAGIC, 16, struct dray_interrupt_line)

/* of a timeline's file */
#define DRAY_IOC_WAIT		_IOWR(DRAY_IOC_MAGIC, 32, struct dray_wait)
#define DRAY_IOC_RING		_IOWR(DRAY_IOC_MAGIC, 33, struct dray_ring)
#define DRAY_IOC_RELEASE	_IOWR(DRAY_IOC_MAGIC, 34, struct dray_release)

#endif /* _UAPI_LINUX_DRAY_H */
