/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The kernel interface of dray.
 *
 * A node is one DMA-capable device as dray sees it, /dev/drayN.  A buffer is
 * one contiguous, pinned allocation, and its handle is a dma-buf file
 * descriptor: mmap, poll, DMA_BUF_IOCTL_SYNC, SCM_RIGHTS and import into
 * other drivers come with the kernel.  The calls below add what dma-buf
 * lacks: addresses for a node, exact sync, transfers, inspection.
 *
 * Every structure may grow at its end.  A caller may pass an older, smaller
 * structure, down to the first version, else -EINVAL: what it does not know is
 * taken as zero.  A caller may pass a newer, larger one: bytes that this
 * kernel does not know must be zero, else -E2BIG.  Unknown flags are -EINVAL,
 * and so is padding that is not zero, but for dray_heap_info.reserved2, which
 * goes out: fields that go out are ignored on the way in.  User pointers travel
 * as __u64, all fields have fixed width, every structure is a multiple of eight
 * bytes, so that 32-bit callers need no translation.
 */
#ifndef _UAPI_LINUX_DRAY_H
#define _UAPI_LINUX_DRAY_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define DRAY_ABI_VERSION	1

#define DRAY_NAME_LEN		32	/* names, terminating zero included */
#define DRAY_COMM_LEN		16	/* a task's name */
#define DRAY_MAX_AXES		64	/* axes of one strided transfer */
#define DRAY_MAX_RANGES		4096	/* ranges of one SYNC call */
#define DRAY_MAX_TRANSFERS	64	/* transfers of one SUBMIT call */
#define DRAY_MAX_IN_FENCES	16	/* in-fences of one SUBMIT call */
#define DRAY_MAX_PATTERN	16	/* bytes of a fill pattern */

/*
 * Why a call failed, beside errno.  `limit` of the same reply holds the value
 * of the limit that was met, in the unit named here.
 */
enum dray_reason {
	DRAY_REASON_NONE = 0,
	DRAY_REASON_SIZE,	/* size is 0 or above the largest possible request, bytes */
	/* no power of two, or above the heap's; -ENOMEM: above what is free; bytes */
	DRAY_REASON_ALIGNMENT,
	DRAY_REASON_MASK,	/* free memory lies above the address limit, highest address */
	DRAY_REASON_FULL,	/* the heap's free bytes are fewer than asked, bytes */
	DRAY_REASON_FRAGMENTED,	/* enough is free, the largest run, bytes; cma: at most */
	DRAY_REASON_ORDER,	/* the page allocator's largest piece, bytes */
	DRAY_REASON_HEAP,	/* no such heap; the number of heaps */
	DRAY_REASON_MODE,	/* not a mode that the heap has; one that it has */
	DRAY_REASON_PERMISSION,	/* the right is missing; ALLOC: next limit */
	DRAY_REASON_FOREIGN,	/* the fd is no dma-buf of this driver; the fd's number */
	DRAY_REASON_RANGE,	/* the range leaves the buffer; the buffer's size, bytes */
	DRAY_REASON_OVERLAP,	/* source and destination, or two runs, share bytes; 0 */
	DRAY_REASON_RUNS,	/* more descriptors than one call may take; that number */
	DRAY_REASON_BYTES,	/* more bytes than one call may move; that number */
	DRAY_REASON_CHANNEL,	/* no such channel, or none is free; number of channels */
	DRAY_REASON_BUSY,	/* the queue is full; its depth in submissions */
	DRAY_REASON_DEAD,	/* the channel did not answer; its index */
	DRAY_REASON_AXES,	/* too many axes; the most there may be */
	DRAY_REASON_BOUNCE,	/* the device would bounce silently, highest address it reaches */
	DRAY_REASON_OWN,	/* the fd is a buffer of this driver; its number */
	DRAY_REASON_READ_ONLY,	/* not to be written by this fd; its number */
	DRAY_REASON_QUOTA,	/* the heap's limit, or its limit for one user, is met; bytes */
	DRAY_REASON_MEMLOCK,	/* the user's RLIMIT_MEMLOCK is met; bytes */
	DRAY_REASON_PINNED,	/* not all pages can be pinned; bytes that could */
	DRAY_REASON_DEVICES,	/* given by early versions: too many devices use it */
};

/* dray_info.flags */
#define DRAY_NODE_COHERENT	(1u << 0)  /* the device snoops the CPU's caches */
#define DRAY_NODE_IOMMU		(1u << 1)  /* DMA addresses are translated */
#define DRAY_NODE_VIRTUAL	(1u << 2)  /* no hardware behind it (nodes=N) */
#define DRAY_NODE_SUBMIT	(1u << 3)  /* SUBMIT is there (channels or not) */
#define DRAY_NODE_ADDRESS	(1u << 4)  /* this opener may ask for addresses */

struct dray_info {
	__u32 abi_version;	/* out: DRAY_ABI_VERSION */
	__u32 flags;		/* out: DRAY_NODE_* */
	__u64 dma_mask;		/* out: highest address that the device reaches */
	__u32 cache_line;	/* out: bytes; what one sync may touch */
	__u32 dma_alignment;	/* out: bytes; start and length of what a device writes */
	__u32 heap_count;	/* out */
	__u32 channel_count;	/* out */
	__u64 max_runs;		/* out: descriptors that one SUBMIT may take */
	__u64 max_bytes;	/* out: bytes that one SUBMIT may move */
	__u32 queue_depth;	/* out: submissions that may be in flight for a user */
	__u32 page_size;	/* out: bytes; granularity of buffers */
	char name[DRAY_NAME_LEN];	/* out: "dray0" */
	char device[DRAY_NAME_LEN];	/* out: the device's own name */
	char version[DRAY_NAME_LEN];	/* out: the module's version */
};

enum dray_heap_type {
	DRAY_HEAP_RESERVED = 1,	/* a dedicated region with struct pages */
	DRAY_HEAP_CMA = 2,	/* a reusable region or the default CMA area */
	DRAY_HEAP_PAGES = 3,	/* the page allocator */
	DRAY_HEAP_CARVEOUT = 4,	/* a dedicated region that the kernel does not map */
};

/* dray_heap_info.flags */
#define DRAY_HEAP_SHARED	(1u << 0)  /* others take from it too: free may shrink */
#define DRAY_HEAP_PINNABLE	(1u << 1)  /* its mappings have pages: O_DIRECT works */
#define DRAY_HEAP_DEFAULT	(1u << 2)  /* what DRAY_HEAP_ANY tries first */

struct dray_heap_info {
	__u32 index;		/* in: 0 .. heap_count - 1 */
	__u32 type;		/* out: enum dray_heap_type */
	__u32 flags;		/* out: DRAY_HEAP_* */
	__u32 buffers;		/* out: buffers alive in it */
	__u64 total;		/* out: bytes */
	__u64 free;		/* out: bytes; cma: at most */
	__u64 used;		/* out: bytes that dray's buffers take */
	__u64 quarantined;	/* out: bytes freed that others still hold */
	__u64 largest_free;	/* out: bytes of the longest free run; cma: at most */
	__u64 largest_request;	/* out: bytes; more is never possible here */
	char name[DRAY_NAME_LEN];	/* out: "reserved", or the region's name */
	__u64 held;		/* out: bytes freed whose address a device may still use */
	__u64 limit;		/* out: bytes that all of dray may take here; 0: no limit */
	__u64 user_limit;	/* out: bytes that one user may take here; 0: no limit */
	__u64 user_used;	/* out: bytes that the caller's user has */
	__u32 modes;		/* out: bits of enum dray_mode that can be in effect here */
	__u32 reserved2;	/* out: 0 */
};

/* dray_channel_info.flags */
#define DRAY_CHANNEL_COPY	(1u << 0)  /* always there */
#define DRAY_CHANNEL_FILL	(1u << 1)  /* in hardware; else fills are copies of a pattern */
#define DRAY_CHANNEL_OPEN	(1u << 2)  /* held by dray now */
#define DRAY_CHANNEL_DEAD	(1u << 3)  /* did not answer, not used any more */

/* The counts are since the node came up, of submissions that have ended. */
struct dray_channel_info {
	__u32 index;		/* in: 0 .. channel_count - 1 */
	__u32 flags;		/* out: DRAY_CHANNEL_* */
	__u32 alignment;	/* out: bytes; of addresses and lengths, 1: none */
	__u32 reserved;
	__u64 max_segment;	/* out: bytes of one descriptor; 0 until opened */
	__u64 submitted;	/* out: transfers of submissions that succeeded */
	__u64 bytes;		/* out: bytes that these moved */
	__u64 failed;		/* out: submissions that failed, cancelled ones too */
	char name[DRAY_NAME_LEN];	/* out: its dma-names entry */
	char device[DRAY_NAME_LEN];	/* out: the engine, "dma0chan0"; empty until opened */
};

/*
 * How the CPU sees a buffer.  Only cached ones ever need a sync.  Where the
 * node's device snoops the caches, memory that can be cached is, unless it is
 * asked for without CPU mapping.
 */
enum dray_mode {
	DRAY_MODE_CACHED = 0,
	DRAY_MODE_WRITE_COMBINED = 1,	/* not cached; writes may be gathered */
	DRAY_MODE_COHERENT = 2,	/* not cached */
	DRAY_MODE_DEVICE = 3,	/* no CPU mapping at all */
};

#define DRAY_HEAP_ANY		0xffffffffu	/* the node's heaps in their order */

/* dray_alloc.flags */
#define DRAY_ALLOC_TOP		(1u << 0)  /* from the upper end of a reserved heap */

/*
 * When the reply cannot be written the call is -EFAULT: no fd is installed, and
 * the buffer is freed.  Without the right to the heap's addresses an
 * address_limit that is neither 0 nor 2^n - 1 is -EPERM.
 */
struct dray_alloc {
	__u64 size;		/* in: bytes, > 0; out: rounded up to pages */
	__u64 alignment;	/* in: bytes, a power of two; 0: one page */
	__u64 address_limit;	/* in: highest address of the last byte; 0: the mask */
	__u32 heap;		/* in: index or DRAY_HEAP_ANY; out: the one taken */
	__u32 mode;		/* in: enum dray_mode; out: the one in effect */
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
 * Needs the right to addresses (DRAY_NODE_ADDRESS), else -EPERM.  A read-only
 * descriptor (EXPORT), or an attachment that devices only read, is -EACCES,
 * whoever asks: who has an address can have a device write there.
 */
struct dray_address {
	__s32 fd;		/* in: a buffer of this driver, or an attachment */
	__u32 flags;		/* in: 0 */
	__u64 offset;		/* in: bytes */
	__u64 length;		/* in: bytes; 0: to the end */
	__u64 segments;		/* in: pointer to struct dray_segment[room] */
	__u32 room;		/* in: 0: only count */
	__u32 count;		/* out: segments there are, may exceed room */
	__u32 reason;		/* out */
	__u32 reserved;
	__u64 limit;		/* out */
};

enum dray_direction {
	DRAY_TO_DEVICE = 1,	/* the device reads */
	DRAY_FROM_DEVICE = 2,	/* the device writes */
	DRAY_BIDIRECTIONAL = 3,
};

enum dray_sync_owner {
	DRAY_SYNC_FOR_DEVICE = 1,	/* before the device looks */
	DRAY_SYNC_FOR_CPU = 2,		/* after the device wrote */
};

#define DRAY_TARGET_NODE	0xffffffffu	/* else a channel's index */

/*
 * rows pieces of width bytes, pitch bytes apart; rows = 1 is a plain range.
 * Maintenance is by whole cache lines.  A gap between rows that is narrower than
 * a line shares its lines with them: between the sync for the device and the one
 * for the CPU, the CPU must not write there.
 */
struct dray_range {
	__s32 fd;		/* in: a buffer of this driver, or an attachment */
	__u32 flags;		/* in: 0 */
	__u64 offset;		/* in: bytes, of the first row */
	__u64 width;		/* in: bytes, > 0 */
	__u64 pitch;		/* in: bytes; ignored for one row, else >= width */
	__u64 rows;		/* in: > 0 */
};

/* dray_sync.flags, in */
#define DRAY_SYNC_ASK		(1u << 1)  /* checks and answers, and does nothing */
/* out; ignored on the way in */
#define DRAY_SYNC_NOT_NEEDED	(1u << 0)  /* nothing is ever needed: see below */

/*
 * DRAY_SYNC_NOT_NEEDED is the answer when for this target and for all the
 * buffers named nothing is ever needed; with a count of 0, for any cached
 * buffer.
 *
 * Ranges may overlap: what lies in several of them is maintained, and counted,
 * as often, with the result of once.
 */

struct dray_sync {
	__u32 target;		/* in: DRAY_TARGET_NODE or a channel's index */
	__u32 owner;		/* in: enum dray_sync_owner */
	__u32 direction;	/* in: enum dray_direction */
	__u32 count;		/* in: ranges, 0 .. DRAY_MAX_RANGES; 0 only asks for flags */
	__u64 ranges;		/* in: pointer to struct dray_range[count] */
	__u32 flags;		/* in/out: DRAY_SYNC_* */
	__u32 reason;		/* out */
	__u64 limit;		/* out */
	__u32 failed;		/* out: index of the range that is wrong, else 0 */
	__u32 reserved;
};

enum dray_op {
	DRAY_OP_COPY = 1,
	DRAY_OP_FILL = 2,
};

/* Outermost axis first; strides may be negative, a source's may be zero. */
struct dray_axis {
	__u64 count;		/* in: > 0 */
	__s64 dst_stride;	/* in: bytes */
	__s64 src_stride;	/* in: bytes; 0 for a fill */
};

/*
 * The bytes at offset + sum(i[k] * stride[k]), each the start of a run of
 * `run` bytes.  A fill repeats the pattern from the start of every run; run
 * is a multiple of pattern_size.  The spans of source and destination in one
 * buffer must not intersect, nor may two runs of the destination.  If they share
 * memory by two descriptors, such as an attachment of a buffer's mapping, the
 * result is undefined, as with memcpy().
 */
struct dray_transfer {
	__u32 op;		/* in: enum dray_op */
	__u32 flags;		/* in: 0 */
	__s32 dst_fd;		/* in: a buffer of this driver, or an attachment */
	__s32 src_fd;		/* in: the same; -1 for a fill */
	__u64 dst_offset;	/* in: bytes, of the element [0, 0, ...] */
	__u64 src_offset;	/* in: bytes; 0 for a fill */
	__u64 run;		/* in: bytes, > 0 */
	__u32 axes_count;	/* in: 0 .. DRAY_MAX_AXES */
	__u32 pattern_size;	/* in: 1, 2, 4, 8 or 16 for a fill, else 0 */
	__u64 axes;		/* in: pointer to struct dray_axis[axes_count] */
	__u8 pattern[DRAY_MAX_PATTERN];	/* in */
};

#define DRAY_CHANNEL_ANY	0xffffffffu

/* dray_submit.flags */
#define DRAY_SUBMIT_NONBLOCK	(1u << 0)  /* -EAGAIN rather than wait */
#define DRAY_SUBMIT_NO_SYNC	(1u << 1)  /* the caller syncs, or no CPU looks */

/*
 * One queue for each opener and channel: what is submitted later starts
 * later.  The transfers of one call are done in their order, and each sees the
 * bytes that those before it wrote.  Without DRAY_SUBMIT_NO_SYNC the sources are
 * made visible to the engine before the call returns, and the destinations to the
 * CPU after the transfer.  What the CPU writes to a source between the call and
 * the signal of an in-fence needs a SYNC for the device before that signal; to a
 * destination it writes nothing until the submission has ended.
 *
 * Before the first transfer the in-fences are waited for, and the fences that
 * other drivers have left in the dma-bufs that take part: those of writers, and
 * for a destination those of readers too.  Where an in-fence failed nothing is
 * transferred: -ECANCELED; how the others ended does not matter.
 *
 * The fence is a sync_file: wait with poll(); its status is 1, or a negative
 * errno (-EIO, -ETIMEDOUT, -ENODEV, -ECANCELED).  When the opener is closed,
 * what it has submitted is not fed any more: -ECANCELED.
 *
 * A submission that itself takes more than 4 KiB of the kernel's memory, as one
 * of a dozen transfers does, and the patterns of fills are locked memory of the
 * user until the end: -ENOMEM with DRAY_REASON_MEMLOCK.
 *
 * When the reply cannot be written the call is -EFAULT and no fd is installed,
 * but the job was taken: it runs on, and frees what it holds at its end.
 *
 * How many descriptors it takes is not told where attached memory takes part, to
 * callers who would not learn from ATTACH how many pieces that is in.  That they
 * are more than one call may take everybody is told, by a refusal with
 * DRAY_REASON_RUNS and that number as its limit.
 */
struct dray_submit {
	__u32 channel;		/* in: index or DRAY_CHANNEL_ANY; out: the one taken */
	__u32 flags;		/* in: DRAY_SUBMIT_* */
	__u64 transfers;	/* in: pointer to struct dray_transfer[count] */
	__u32 count;		/* in: 1 .. DRAY_MAX_TRANSFERS */
	__u32 in_fence_count;	/* in: 0 .. DRAY_MAX_IN_FENCES */
	__u64 in_fences;	/* in: pointer to __s32[in_fence_count], sync_files */
	__s32 fence_fd;		/* out: sync_file, O_CLOEXEC */
	__u32 failed;		/* out: index of the transfer that is wrong, else 0 */
	__u64 runs;		/* out: descriptors that this takes, or 0 */
	__u64 bytes;		/* out: bytes that this moves */
	__u32 reason;		/* out, on failure too */
	__u32 reserved;
	__u64 limit;		/* out, on failure too */
};

/*
 * Of what this opener has submitted: what the engine was not given is not fed
 * any more, what it was given drains.  The fences end as -ECANCELED, in the
 * order of their queue.  A submission that the engine has all of, or one that
 * has ended, is left alone and not counted.
 */
struct dray_cancel {
	__s32 fence_fd;		/* in: a submission's sync_file; negative: all */
	__u32 channel;		/* in: for all: index or DRAY_CHANNEL_ANY */
	__u32 flags;		/* in: 0 */
	__u32 count;		/* out: submissions that this stopped */
	__u32 reason;		/* out, on failure too */
	__u32 reserved;
	__u64 limit;		/* out, on failure too */
};

/*
 * The buffers and attachments of all nodes, by id.  Callers with CAP_SYS_ADMIN
 * see all, others those that their effective uid made.
 */
struct dray_list {
	__u64 ids;		/* in: pointer to __u64[room] */
	__u32 room;		/* in: 0: only count */
	__u32 count;		/* out: how many there are, may exceed room */
};

/* What has an id. */
enum dray_kind {
	DRAY_KIND_BUFFER = 0,
	DRAY_KIND_USER = 1,	/* an attachment: memory of a process, pinned */
	DRAY_KIND_DMABUF = 2,	/* an attachment: another driver's dma-buf */
};

/* dray_buffer_info.flags, in */
#define DRAY_BUFFER_BY_FD	(1u << 0)  /* fd names it, not id */
/* out */
#define DRAY_BUFFER_ORPHAN	(1u << 8)  /* its owner's process is gone */
#define DRAY_BUFFER_READ_ONLY	(1u << 9)  /* devices, or this fd (EXPORT), only read it */
#define DRAY_BUFFER_DISCLOSED	(1u << 10)  /* its address was given out */
#define DRAY_BUFFER_HELD	(1u << 11)  /* freed, but a device may still write it */

/*
 * An attachment is of no heap, and its size is what it takes: whole pages.
 * What is only counted for buffers is 0.
 */
struct dray_buffer_info {
	__u64 id;		/* in/out */
	__s32 fd;		/* in: with DRAY_BUFFER_BY_FD */
	__u32 flags;		/* in/out: DRAY_BUFFER_* */
	__u64 size;		/* out: bytes */
	__u64 age_ns;		/* out: since it was allocated or attached */
	__u64 sync_bytes;	/* out: bytes that SYNC and CPU accesses maintained */
	__u64 sync_ns;		/* out: time that took */
	__u32 heap;		/* out: index in this node; DRAY_HEAP_ANY: not of this node */
	__u32 mode;		/* out: enum dray_mode */
	__u32 mapped;		/* out: user mappings */
	__u32 attachments;	/* out: devices attached through dma-buf */
	__u32 transfers;	/* out: transfers in flight */
	__u32 uid;		/* out: the owner's, in the caller's user namespace */
	__s32 pid;		/* out: the owner's, in the caller's pid namespace; 0: not there */
	__u32 kind;		/* out: enum dray_kind */
	char comm[DRAY_COMM_LEN];	/* out: the owner's name when it allocated */
	char name[DRAY_NAME_LEN];	/* out; of a dma-buf: DMA_BUF_SET_NAME's */
	char heap_name[DRAY_NAME_LEN];	/* out; of a dma-buf: its exporter */
	char node_name[DRAY_NAME_LEN];	/* out: for which node it is attached; a buffer: empty */
};

/*
 * Frees memory that is held because its address was given to a process that
 * ended before it let go of the buffer or attachment, and attached memory that
 * an engine may still write, which did not answer before its node was unbound.
 * Needs CAP_SYS_RAWIO, else -EPERM: the caller says that the hardware is quiet.
 */
struct dray_reclaim {
	__u64 id;		/* in: what is held; 0: all of it */
	__u32 flags;		/* in: 0 */
	__u32 count;		/* out: buffers and attachments freed */
	__u64 bytes;		/* out: bytes freed */
	__u32 reason;		/* out */
	__u32 attachments;	/* out: how many of count are attachments */
	__u64 limit;		/* out */
};

/* dray_export.flags */
#define DRAY_EXPORT_READ_ONLY	(1u << 0)  /* must be set: the only kind there is */

/*
 * A second dma-buf over a buffer, for whoever may read and not write: no
 * writable mapping, no importer that writes, no destination of a transfer, no
 * address.  Waiting for transfers, and the end of the buffer, are as with the
 * first one.
 */
struct dray_export {
	__s32 buffer_fd;	/* in: a buffer of this driver, read-only or not */
	__u32 flags;		/* in: DRAY_EXPORT_READ_ONLY */
	__s32 fd;		/* out: dma-buf, O_RDONLY | O_CLOEXEC */
	__u32 reason;		/* out, on failure too */
	__u64 limit;		/* out, on failure too */
};

/* dray_attach.flags */
#define DRAY_ATTACH_USER	(1u << 0)  /* memory at address, length; else dmabuf_fd */
#define DRAY_ATTACH_READ_ONLY	(1u << 1)  /* the device only reads: the memory may be read-only */

/*
 * Memory that is not dray's, made reachable for the node: memory of the caller,
 * pinned, or the dma-buf of another driver.  What it gives is a file: close()
 * ends the attachment, transfers under way hold it.  ADDRESS, SYNC and SUBMIT
 * take it where they take a buffer, on this node only.  Offset 0 is the first
 * byte of the memory.  How many pieces it is in is not told, without an IOMMU,
 * to callers who may not know addresses.
 */
struct dray_attach {
	__s32 dmabuf_fd;	/* in: a dma-buf of another driver; -1 with DRAY_ATTACH_USER */
	__u32 flags;		/* in: DRAY_ATTACH_* */
	__u64 address;		/* in: user address, any alignment; 0 for a dma-buf */
	__u64 length;		/* in: bytes of user memory, > 0; 0 for a dma-buf; out: size */
	__s32 fd;		/* out: the attachment, O_CLOEXEC */
	__u32 segments;		/* out: pieces as the node's device sees them, or 0 */
	__u32 reason;		/* out, on failure too */
	__u32 reserved;
	__u64 limit;		/* out, on failure too */
	__u64 id;		/* out: as a buffer's, for LIST, BUFFER_INFO and RECLAIM */
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

#endif /* _UAPI_LINUX_DRAY_H */
