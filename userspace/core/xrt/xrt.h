/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * XRT's BOs, for the files xrt_*.c.
 *
 * A whole is a BO of XRT that is not a part of another: an import, user memory,
 * memory of XRT, or the caller's BO.  A struct dray_xrt_bo is a range of a whole,
 * with a handle of its own (a sub-buffer of the whole, never of a part) if it is
 * not all of it.  Wholes are counted under the lock, because a single whole stands
 * for a dma-buf on a device: an import while another thread frees the last
 * reference would get the handle that is about to be closed.
 *
 * The lock is held while XRT makes and frees BOs, never while a function of the
 * caller's runs.  A sync needs no lock: the caller's reference keeps the BO, and
 * exit() waits for it.
 */
#ifndef DRAY_XRT_XRT_H
#define DRAY_XRT_XRT_H

#include <stdatomic.h>
#include <sys/types.h>

#include <dray/xrt.h>

/* The functions of XRT that are called, by their names there. */
struct dray_xrt_calls {
	dray_xrt_handle (*xrtDeviceOpen)(unsigned int index);
	int (*xrtDeviceClose)(dray_xrt_handle device);
	void *(*xrtDeviceToXclDevice)(dray_xrt_handle device);
	dray_xrt_handle (*xrtBOAlloc)(dray_xrt_handle device, size_t size,
				      uint64_t flags, uint32_t bank);
	dray_xrt_handle (*xrtBOAllocUserPtr)(dray_xrt_handle device,
					     void *address, size_t size,
					     uint64_t flags, uint32_t bank);
	dray_xrt_handle (*xrtBOImport)(dray_xrt_handle device, int32_t fd);
	int32_t (*xrtBOExport)(dray_xrt_handle bo);
	dray_xrt_handle (*xrtBOSubAlloc)(dray_xrt_handle bo, size_t size,
					 size_t offset);
	int (*xrtBOFree)(dray_xrt_handle bo);
	size_t (*xrtBOSize)(dray_xrt_handle bo);
	uint64_t (*xrtBOAddress)(dray_xrt_handle bo);
	int (*xrtBOSync)(dray_xrt_handle bo, int direction, size_t size,
			 size_t offset);
	void *(*xrtBOMap)(dray_xrt_handle bo);
};

/* After dray_xrt_load(); constant from then on. */
extern struct dray_xrt_calls dray_xrt;

/* XRT's answer for a BO without an address, or without a size. */
#define DRAY_XRT_NONE UINT64_MAX

/* A function of the caller's at the end of an object; called once. */
struct dray_xrt_release {
	void (*call)(void *owner);	/* NULL: none, or done */
	void *owner;
};

struct dray_xrt_device {
	_Atomic uint32_t references;
	uint32_t process;	/* dray_fork_process() of its maker */
	_Atomic(dray_xrt_handle) handle;	/* NULL: closed by exit() */
	/* the shim's device: equal for all opens of a device */
	void *identity;
	bool opened;		/* here, and to be closed here */
	struct dray_xrt_release release;
	struct dray_xrt_device *next, **link;	/* of all; under the lock */
};

enum dray_xrt_kind {
	DRAY_XRT_IMPORT,	/* a dma-buf; buffer is its mapping */
	DRAY_XRT_USER,		/* mapped memory; data is its start */
	DRAY_XRT_OWN,		/* memory of XRT */
	DRAY_XRT_CALLERS,	/* a handle of the caller's */
	DRAY_XRT_FOREIGN,	/* functions of the caller's, no handle */
};

/* A dma-buf, whichever file descriptor leads to it; inode 0: none. */
struct dray_xrt_inode {
	dev_t device;
	ino_t number;
};

struct dray_xrt_whole {
	uint32_t count;		/* of its BOs; under the lock */
	uint32_t process;	/* dray_fork_process() of its maker */
	enum dray_xrt_kind kind;
	struct dray_xrt_device *device;	/* a reference; may be NULL */
	_Atomic(dray_xrt_handle) handle;	/* NULL: none, or exit() */
	uint64_t size;		/* bytes */
	struct dray_xrt_inode inode;	/* of its dma-buf, as far as known */
	bool part_unknown;	/* the caller's may be a part of another */
	struct dray_buffer *buffer;	/* a reference, or NULL */
	void *data;		/* DRAY_XRT_USER */
	struct dray_xrt_foreign foreign;	/* its fd is a duplicate */
	struct dray_xrt_release release;
	struct dray_xrt_whole *next, **link;	/* of all; under the lock */
};

struct dray_xrt_bo {
	_Atomic uint32_t references;
	uint32_t process;
	struct dray_xrt_whole *whole;
	/* the part's; NULL: it is the whole's, or exit() freed it */
	_Atomic(dray_xrt_handle) part;
	bool is_part;
	bool callers;		/* the part's handle is not ours to free */
	uint64_t offset;	/* bytes, in the whole */
	uint64_t size;		/* bytes */
	uint64_t address;	/* DRAY_XRT_NONE: none */
	enum dray_xrt_side side;
	struct dray_block *keep;	/* a reference, or NULL */
	struct dray_xrt_bo *next, **link;	/* of all; under the lock */
};

/* xrt_life.c */

/*
 * Acquires the lock, or fails: -ESHUTDOWN, and -EPERM if @process, the maker of an
 * object, is another process.
 */
int dray_xrt_enter(uint32_t process);
/* The same, before there is an object. */
int dray_xrt_enter_first(void);
/* For the end of an object, which is always allowed. */
void dray_xrt_enter_last(void);
void dray_xrt_leave(void);
/* The same question without the lock. */
int dray_xrt_check(uint32_t process);

/*
 * Around a call of XRT without the lock, for which exit() waits; the first fails
 * as dray_xrt_enter().
 */
int dray_xrt_begin_call(uint32_t process);
void dray_xrt_end_call(void);

/* Calls in which XRT may make static objects, before which exit() must run. */
enum dray_xrt_first {
	DRAY_XRT_LOADED = 1 << 0,
	DRAY_XRT_OPENED = 1 << 1,
	DRAY_XRT_MADE = 1 << 2,
	DRAY_XRT_EXPORTED = 1 << 3,
	DRAY_XRT_MAPPED = 1 << 4,
	DRAY_XRT_PARTED = 1 << 5,
	DRAY_XRT_WRAPPED = 1 << 6,
};

/* With the lock, after a call of XRT that worked. */
void dray_xrt_before_exit(enum dray_xrt_first first);

/* With the lock: moves the function out, to be called without it; false: none. */
bool dray_xrt_take_release(struct dray_xrt_release *from,
			   struct dray_xrt_release *out);

/* With the lock: the objects that exit() closes.  Listing notes the process. */
void dray_xrt_list_device(struct dray_xrt_device *device);
void dray_xrt_unlist_device(struct dray_xrt_device *device);
void dray_xrt_list_whole(struct dray_xrt_whole *whole);
void dray_xrt_unlist_whole(struct dray_xrt_whole *whole);
void dray_xrt_list_bo(struct dray_xrt_bo *bo);
void dray_xrt_unlist_bo(struct dray_xrt_bo *bo);
/* With the lock: the first whole of all; the others are linked to it. */
struct dray_xrt_whole *dray_xrt_wholes(void);

/* xrt_bo.c */

/* An empty whole that keeps @device (may be NULL), or NULL with a sentence. */
struct dray_xrt_whole *dray_xrt_new_whole(enum dray_xrt_kind kind,
					  struct dray_xrt_device *device);

/*
 * With the lock: makes a BO of @size bytes at @offset of @whole, and counts it there.
 *
 * @part: a handle of the caller's for these bytes; NULL: a handle is made, if they
 *	are not all of @whole
 */
int dray_xrt_new_bo(struct dray_xrt_whole *whole, uint64_t offset,
		    uint64_t size, dray_xrt_handle part,
		    struct dray_xrt_bo **out);

/*
 * The end of a whole without references: with the lock, then without it.  Frees
 * the whole's handle of XRT if it is its to free.
 */
void dray_xrt_close(struct dray_xrt_whole *whole);
void dray_xrt_discard(struct dray_xrt_whole *whole);

/* xrt_dmabuf.c */

/*
 * The size and the inode of the dma-buf behind @fd.
 *
 * Errors: -EOPNOTSUPP (not a dma-buf), -EINVAL (a size that is not a multiple
 * of the page size), and errors of fstat() and lseek().
 */
int dray_xrt_measure(int fd, uint64_t *size, struct dray_xrt_inode *inode);

/*
 * With the lock: the whole over that dma-buf on the device, or NULL.  Fails
 * with -EBUSY if it is a BO of an unknown device.
 */
int dray_xrt_find(const struct dray_xrt_device *device,
		  const struct dray_xrt_inode *inode,
		  struct dray_xrt_whole **out);

#endif /* DRAY_XRT_XRT_H */
