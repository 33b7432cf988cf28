/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * xrt: dray's memory as buffer objects (BOs) of the Xilinx runtime, and back.
 *
 * XRT is loaded on first use, and only its C functions xrtDevice*() and
 * xrtBO*() are called, so neither its headers nor the library are needed to
 * build.  XRT 2.12 and later export these functions, on boards (driver zocl)
 * and on PCIe cards (driver xocl).
 *
 *	struct dray_xrt_device *device;
 *	struct dray_xrt_bo *bo;
 *	uint64_t address;
 *
 *	ret = dray_xrt_device_open(0, &device);
 *	if (ret)
 *		return ret;
 *	ret = dray_xrt_import_buffer(device, buffer, 0, 0, &bo);
 *	if (!ret) {
 *		ret = dray_xrt_bo_address(bo, &address);
 *		dray_xrt_bo_unref(bo);
 *	}
 *	dray_xrt_device_unref(device);
 *
 * Ways between the two, all without a copy:
 *
 *	dray_xrt_import_buffer(), _view()	dray's dma-buf becomes a BO
 *	dray_xrt_import_user()			mapped memory becomes a BO
 *	dray_xrt_bo_buffer(), _block()		a BO becomes a buffer, a block
 *
 * Life: a BO keeps the buffer or block that it was made of, and its device.  A
 * buffer of dray_xrt_bo_buffer() keeps the memory; a block of dray_xrt_bo_block()
 * keeps the BO too.  Either side may be dropped first.
 *
 * A single import: the kernel makes a single handle for each dma-buf and open
 * device, and the end of any BO over it closes the handle for all others.  The
 * library therefore imports a dma-buf once for each device, counts it, and
 * hands out the BO or parts of it.  A program must not call xrtBOImport()
 * itself with a dma-buf that it also imports here.
 *
 * Mappings: XRT maps an import with other cache attributes than dray, and wrong
 * memory behind an SMMU.  xrtBOMap() of an import is never called here and must
 * not be called by a program: it uses dray's mapping.
 *
 * Exit: a BO or device of XRT that is open when its library's destructors run
 * is a crash.  At exit() this library closes all of its own before, and calls
 * the callers' outstanding release functions.  From then on calls are
 * -ESHUTDOWN, drops only free memory, and memory that only a BO mapped is gone.
 *
 * fork(): all objects made before are the parent's.  In the child calls are
 * -EPERM, and a drop touches nothing of XRT.  If the parent opened a device,
 * the child can open none: XRT shares the open file with it.  Such a child
 * should end by _exit() or exec, as XRT's own destructors do not know of
 * fork().
 *
 * Errors: XRT's errno means nothing, and XRT writes the reason of a failure to
 * stderr, where its first line is a banner.  The sentence of dray_last_error()
 * names the call and its values.  A call of XRT that fails is -EIO; no device
 * -ENODEV; no library -ENOENT; a library that lacks a function -EOPNOTSUPP.
 *
 * Every function may be called from any thread, and may block while the kernel
 * pins, maps or allocates memory.  Coherency between a kernel in the logic and
 * the CPU cannot be seen in an emulator: the tests cover addresses, contents
 * and calls; which side must sync is known from the drivers' sources.
 */
#ifndef DRAY_XRT_H
#define DRAY_XRT_H

#include <dray/block.h>
#include <dray/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An xrtDeviceHandle or an xrtBufferHandle of XRT's C headers. */
typedef void *dray_xrt_handle;

/** A device; counted. */
struct dray_xrt_device;
/** A BO, or a part of a BO, and all that it keeps; counted. */
struct dray_xrt_bo;

/**
 * Loads XRT, as every function here does that needs it.
 *
 * libxrt_core.so.2 is loaded first, or in an emulation mode
 * (XCL_EMULATION_MODE: noop, sw_emu, hw_emu) libxrt_noop, _swemu or _hwemu:
 * without it, the first call of XRT 2.13 would end the process.
 * libxrt_coreutil.so.2 follows.  A library that the loader does not find is
 * looked for in $XILINX_XRT/lib.  A library that failed to load is tried again
 * by the next call; a loaded library stays.
 *
 * Errors: -ENOENT (a library is not found, or does not load; the sentence
 * quotes the loader), -EOPNOTSUPP (it lacks a function), -EINVAL (an unknown
 * XCL_EMULATION_MODE), -ESHUTDOWN (during exit()).
 */
DRAY_API int dray_xrt_load(void);

/**
 * Opens the device with this index by xrtDeviceOpen().
 *
 * @out: a reference, dropped by dray_xrt_device_unref()
 *
 * Errors: as dray_xrt_load(), -ENODEV (no such device, no driver, no
 * permission), -ENOMEM.
 */
DRAY_API int dray_xrt_device_open(unsigned int index,
				  struct dray_xrt_device **out);

/**
 * Makes an object of a device that the caller opened, by xrtDeviceOpen() or
 * another function of XRT.  The handle stays the caller's.
 *
 * @handle: open until @release is called, or without it, until the last object
 *	of the device is gone
 * @release: called once, with @owner, when the last reference is dropped, or by
 *	exit(), without a lock; NULL: there is nothing to do.  On failure it is
 *	not called
 * @out: a reference
 *
 * Errors: as dray_xrt_load(), -EINVAL (XRT does not know the handle), -ENOMEM.
 */
DRAY_API int dray_xrt_device_adopt(dray_xrt_handle handle,
				   void (*release)(void *owner), void *owner,
				   struct dray_xrt_device **out);

/** Adds a reference; returns @device. */
DRAY_API struct dray_xrt_device *
dray_xrt_device_ref(struct dray_xrt_device *device);
/** Closes the device with the last reference.  NULL is ignored. */
DRAY_API void dray_xrt_device_unref(struct dray_xrt_device *device);
/** Returns the handle for XRT's functions, borrowed; NULL during exit(). */
DRAY_API dray_xrt_handle
dray_xrt_device_handle(const struct dray_xrt_device *device);

/**
 * Makes a BO of @size bytes at @offset of @buffer (0: to its end), by an import
 * of its dma-buf.  The DMA address of the BO is the buffer's plus @offset.  The
 * BO keeps the buffer.
 *
 * @buffer: of the kernel module, or another driver's dma-buf that was imported
 *	by dray_buffer_import().  Its size is a multiple of the page size, as
 *	the kernel stops if it is not.  On a board it must be a single piece for
 *	the device
 * @out: a reference, given back by dray_xrt_bo_unref()
 *
 * If the buffer's memory is a BO of the same device (dray_xrt_bo_buffer()), the
 * result is a part of that BO.
 *
 * Errors: as dray_xrt_load(), -EINVAL (a range that leaves the buffer),
 * -EOPNOTSUPP (memory without a dma-buf: the host's), -EIO (XRT refuses it:
 * scattered, read-only, or no address that the device reaches), -EBUSY (it is a
 * BO of dray_xrt_wrap()), -EPERM (a child of fork()), -ESHUTDOWN, -ENOMEM.
 */
DRAY_API int dray_xrt_import_buffer(struct dray_xrt_device *device,
				    struct dray_buffer *buffer, uint64_t offset,
				    uint64_t size, struct dray_xrt_bo **out);

/**
 * Makes a BO of the bytes from a view's first to its last, with gaps, by an
 * import of the dma-buf that they lie in.  Waits until no transfer of this
 * process uses them.
 *
 * @view: in a single block of a pool or in a buffer of the kernel module.  With
 *	negative strides the BO begins at the element with the lowest address
 * @keep: the block of the view's memory, which the BO counts up; may be NULL
 *
 * Errors: as dray_xrt_import_buffer(), -EINVAL (a view without elements, or
 * outside dray's memory), as dray_view_init() for a bad view, as
 * dray_view_wait().
 */
DRAY_API int dray_xrt_import_view(struct dray_xrt_device *device,
				  const struct dray_view *view,
				  struct dray_block *keep,
				  struct dray_xrt_bo **out);

/**
 * Makes a BO of mapped memory of this process, by xrtBOAllocUserPtr().  On a
 * board the pages must be contiguous for the device.
 *
 * Leak: zocl, in all versions up to 2026, never drops its references to these
 * pages, even if the call fails.  They stay in use until the next boot, so this
 * is for few buffers that live as long as the program.  Memory of dray's kernel
 * heaps is better imported: after this, pages of a heap "reserved" that are
 * freed are never allocated again.
 *
 * @address: a multiple of the page size
 * @size: bytes, > 0
 * @keep: a block that keeps the memory mapped, such as &array->block, counted
 *	up by the BO; NULL: the caller does.  A buffer of dray is kept in any
 *	case
 *
 * Errors: as dray_xrt_load(), -EINVAL (the alignment, a size of 0, a range that
 * leaves the address space or dray's buffer), -EOPNOTSUPP (memory of a heap
 * whose pages must return to the system (cma), or that is mapped without pages;
 * a buffer for devices alone, of another driver or of another user), -EIO (XRT
 * refuses it), -EPERM, -ENOMEM.
 */
DRAY_API int dray_xrt_import_user(struct dray_xrt_device *device, void *address,
				  uint64_t size, struct dray_block *keep,
				  struct dray_xrt_bo **out);

/* Kinds of memory of XRT: the numbers of its XRT_BO_FLAGS_. */
#define DRAY_XRT_NORMAL 0
#define DRAY_XRT_CACHEABLE (1ull << 24)	/* boards: cached mapping */
#define DRAY_XRT_SVM (1ull << 27)
#define DRAY_XRT_DEVICE_ONLY (1ull << 28)	/* without a mapping */
#define DRAY_XRT_HOST_ONLY (1ull << 29)
#define DRAY_XRT_P2P (1ull << 30)

/**
 * Makes a BO of memory that XRT allocates, by xrtBOAlloc().
 *
 * @size: bytes, > 0
 * @flags: a kind above, or other XRT_BO_FLAGS_ that XRT knows
 * @bank: the memory bank, a kernel argument's group id; 0 needs no xclbin on
 *	boards
 *
 * Errors: as dray_xrt_load(), -EINVAL (a size of 0), -EIO (XRT lacks such
 * memory), -EPERM, -ENOMEM.
 */
DRAY_API int dray_xrt_alloc(struct dray_xrt_device *device, uint64_t size,
			    uint64_t flags, uint32_t bank,
			    struct dray_xrt_bo **out);

/**
 * Makes an object of a BO that the caller made by XRT's C functions.  The
 * handle stays the caller's.
 *
 * @handle: open until @release is called, or without it, until the object and
 *	its arrays are gone
 * @root: NULL for a whole BO.  If @handle is a part (xrtBOSubAlloc()), the BO
 *	that it is a part of, directly or through others, open as long: only so
 *	can its offset be known.  XRT maps both to compare, as its address of a
 *	part of a part is wrong
 * @release: called once, with @owner, at the end or by exit(), without a lock;
 *	NULL: there is nothing to do.  On failure it is not called
 *
 * Errors: as dray_xrt_load(), -EINVAL (XRT does not know the handle; a part
 * that does not lie in @root), -EPERM, -ENOMEM.
 */
DRAY_API int dray_xrt_adopt(struct dray_xrt_device *device,
			    dray_xrt_handle handle, dray_xrt_handle root,
			    void (*release)(void *owner), void *owner,
			    struct dray_xrt_bo **out);

/**
 * A BO that only its owner can call, such as an xrt::bo of C++ or a pyxrt.bo,
 * which lack an xrtBufferHandle.
 */
struct dray_xrt_foreign {
	size_t size;		/* of this structure; 0: the first version's */
	int fd;			/* bo.export_buffer(), its owner's; -1: none */
	uint64_t offset;	/* bytes, of the BO in the fd's memory */
	uint64_t bytes;		/* bo.size() */
	uint64_t address;	/* bo.address() */
	/*
	 * bo.sync(): to the device (0) or from it (1), @size bytes at @offset.
	 * Returns 0 or a negative errno.  Called without a lock
	 */
	int (*sync)(void *owner, int direction, uint64_t size, uint64_t offset);
	/* called once, at the end or by exit(), without a lock; may be NULL */
	void (*release)(void *owner);
	void *owner;
};

/**
 * Makes an object of such a BO, without a handle and parts.
 *
 * @device: NULL: not known.  The memory can then not be imported into any
 *	device
 * @foreign: copied, and its fd duplicated.  On failure nothing of it is called
 *
 * Errors: -EINVAL (a smaller structure, no sync function, 0 bytes, a range that
 * leaves the memory of the fd, an fd that is not a dma-buf), -E2BIG (a larger
 * structure with bytes that are not 0, or above 4096), as dup(), -ENOMEM.
 */
DRAY_API int dray_xrt_wrap(struct dray_xrt_device *device,
			   const struct dray_xrt_foreign *foreign,
			   struct dray_xrt_bo **out);

/**
 * Makes a part of a BO: @size bytes at @offset.  It keeps @bo.  Parts of parts
 * are at the right address, as all are made of the whole BO.
 *
 * Errors: -EINVAL (0 bytes, a range that leaves @bo), -EOPNOTSUPP (a BO of
 * dray_xrt_wrap()), -EIO, -EPERM, -ESHUTDOWN, -ENOMEM.
 */
DRAY_API int dray_xrt_bo_part(struct dray_xrt_bo *bo, uint64_t offset,
			      uint64_t size, struct dray_xrt_bo **out);

/** Adds a reference; returns @bo. */
DRAY_API struct dray_xrt_bo *dray_xrt_bo_ref(struct dray_xrt_bo *bo);
/**
 * Frees the BO with the last reference, unless it is the caller's own, and
 * drops the objects that it kept.  NULL is ignored.
 */
DRAY_API void dray_xrt_bo_unref(struct dray_xrt_bo *bo);

/**
 * Returns the handle for XRT's functions, such as xrtRunSetArg(), borrowed;
 * NULL for a BO of dray_xrt_wrap(), and during exit().  It must not be freed,
 * and an import's handle not be mapped.
 */
DRAY_API dray_xrt_handle dray_xrt_bo_handle(const struct dray_xrt_bo *bo);
/** Returns the device, borrowed; NULL for a BO of dray_xrt_wrap() without a
 * device. */
DRAY_API struct dray_xrt_device *
dray_xrt_bo_device(const struct dray_xrt_bo *bo);
/** Returns the bytes of the BO. */
DRAY_API uint64_t dray_xrt_bo_size(const struct dray_xrt_bo *bo);
/**
 * Writes the DMA address of the first byte, as XRT says it.
 *
 * Errors: -EOPNOTSUPP (no address: an import on a PCIe card).
 */
DRAY_API int dray_xrt_bo_address(const struct dray_xrt_bo *bo,
				 uint64_t *address);

/**
 * The side that keeps CPU caches and the device's view of a BO together.  If a caller
 * meets an unknown value, dray_xrt_sync() knows the way.
 */
enum dray_xrt_side {
	/*
	 * No side: dray's memory that is not cached, or not mapped.  (A BO of
	 * the kind DRAY_XRT_NORMAL is not cached on boards either, and XRT's
	 * sync does nothing; but on a card it moves the data, so it counts
	 * below.)
	 */
	DRAY_XRT_SIDE_NONE = 0,
	/*
	 * XRT: cached memory of dray on a board, user memory, memory of XRT.
	 * dray_view_sync() of these answers for the device of the dray node,
	 * which may snoop caches where the logic does not; DMA_BUF_IOCTL_SYNC
	 * of a BO's dma-buf succeeds and does nothing.
	 */
	DRAY_XRT_SIDE_XRT = 1,
	/*
	 * dray: an import on a PCIe card, which XRT refuses to sync.  Such a BO
	 * is only source or target of xrtBOCopy().
	 */
	DRAY_XRT_SIDE_DRAY = 2,
};

/** Returns the side that dray_xrt_sync() calls; DRAY_XRT_SIDE_NONE for NULL. */
DRAY_API enum dray_xrt_side dray_xrt_side(const struct dray_xrt_bo *bo);

/**
 * Hands @size bytes at @offset of the BO (0: to its end) over between the CPU
 * and the device, by the side that does it: exactly these bytes, no others.
 * Does nothing if no side must.
 *
 * @owner: the side that reads or writes next.  For the device, wait first until
 *	no transfer of dray writes the memory (dray_view_wait()): kernels of XRT
 *	do not wait for fences
 *
 * Errors: -EINVAL (a range that leaves the BO, an unknown owner), -EIO (XRT
 * refuses), -EPERM (a child of fork()), -ESHUTDOWN, as dray_node_sync()
 * or of dray_xrt_foreign.sync.
 */
DRAY_API int dray_xrt_sync(struct dray_xrt_bo *bo, enum dray_sync_owner owner,
			   uint64_t offset, uint64_t size);

/**
 * The memory of the BO as a buffer of @node, by the BO's export: the whole
 * dma-buf that it lies in.  For an import it is the buffer that was imported.
 *
 * @node: of the kernel module; not used for an import
 * @buffer: a reference; it keeps the memory, but not the BO
 * @offset: bytes, of the BO's first byte in @buffer
 *
 * Errors: -EOPNOTSUPP (XRT does not export it: emulation, user memory), -EINVAL
 * (the BO is a part, and @root was not given to dray_xrt_adopt()), -EPERM,
 * -ESHUTDOWN, as dray_buffer_import().
 */
DRAY_API int dray_xrt_bo_buffer(struct dray_xrt_bo *bo, struct dray_node *node,
				struct dray_buffer **buffer, uint64_t *offset);

/**
 * Makes a block of the memory of the BO, which it keeps.
 *
 * @node: of the kernel module: the memory becomes a buffer of it, so that its
 *	engines reach it.  NULL: it is mapped alone.  Unused for an import or
 *	for user memory, which are mapped, and if XRT exports nothing
 *	(emulation): then the memory is XRT's mapping
 *
 * The block may be written unless the buffer, or the dma-buf, is read-only.
 * Errors: -EOPNOTSUPP (no mapping: DRAY_XRT_DEVICE_ONLY), else as
 * dray_xrt_bo_buffer(), mmap() and -ENOMEM.
 */
DRAY_API int dray_xrt_bo_block(struct dray_xrt_bo *bo, struct dray_node *node,
			       struct dray_block **out);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_XRT_H */
