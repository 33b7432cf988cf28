/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * manager: the external memory manager of NBEP 7.
 *
 * An array runtime asks its manager for all memory, and the manager can be
 * replaced: by dray_set_manager(), or by a shared object that the environment
 * names.  Each node is served by a single manager, for all of its handles.  The
 * host's private and shareable memory are two nodes.  A manager returns memory
 * objects, which are counted, each with a finalizer and an owner.
 *
 *	struct dray_manager *manager;
 *	struct dray_memory *memory;
 *
 *	ret = dray_get_manager(node, &manager);
 *	if (ret)
 *		return ret;
 *	ret = dray_manager_memalloc(manager, 4096, 0, &memory);
 *	if (!ret) {
 *		memset(dray_memory_describe(memory)->pointer, 0, 4096);
 *		dray_memory_unref(memory);
 *	}
 *	dray_manager_unref(manager);
 *
 * The calls bear Numba's final names.  If these differ from the draft:
 * prepare_for_use is initialize; memory objects expect the owner before the
 * finalizer; get_ipc_handle is without a stream; defer_cleanup, which the draft
 * left open, exists.
 *
 * Every function may be called from any thread, finalizers included, which
 * run without any lock held.
 */
#ifndef DRAY_MANAGER_H
#define DRAY_MANAGER_H

#include <dray/ipc.h>
#include <dray/resource.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of struct dray_manager_ops; a plug-in states the same
 * version. */
#define DRAY_MANAGER_INTERFACE 1

struct dray_manager;
struct dray_memory;

/** The finalizer is put off: see dray_manager_set_pending(). */
#define DRAY_MEMORY_DEFERRED	(1u << 0)

/** A memory object, as its maker describes it; 0 and NULL mean none. */
struct dray_memory_description {
	size_t size;		/* of this structure; 0: the first version's */
	void *pointer;
	size_t bytes;
	uint32_t kind;		/* enum dray_memory_kind */
	uint32_t flags;		/* DRAY_MEMORY_DEFERRED or 0 */
	uint64_t stream;	/* of its allocation */
	/* Kept alive by the object; release_owner() is called last of all. */
	void *owner;
	void (*release_owner)(void *owner);
	/*
	 * Frees the memory; called once, when the last reference is dropped or,
	 * deferred, at some time after that, in any thread.  It may allocate,
	 * and may drop other objects.
	 */
	void (*finalize)(void *ctx,
			 const struct dray_memory_description *memory);
	void *ctx;		/* of finalize */
};

/**
 * Makes a memory object of @manager, with a reference.
 *
 * @description: copied
 *
 * Errors: -EINVAL (an unknown kind or flag), -ENOMEM.  Then the finalizer is
 * not called: the memory is still the caller's.
 */
DRAY_API int
dray_memory_create(struct dray_manager *manager,
		   const struct dray_memory_description *description,
		   struct dray_memory **out);

/**
 * Makes a part of @memory: @size bytes at @offset, without a finalizer.  It
 * keeps the memory alive; a part of a view keeps the memory below, and not the
 * view itself.  Errors: -EINVAL (it leaves @memory), -ENOMEM.
 */
DRAY_API int dray_memory_view(struct dray_memory *memory, size_t offset,
			      size_t size, struct dray_memory **out);

/** Adds a reference, dropped by dray_memory_unref(); returns @memory. */
DRAY_API struct dray_memory *dray_memory_ref(struct dray_memory *memory);
/** Drops a reference; the last drop frees the memory.  NULL: ignored. */
DRAY_API void dray_memory_unref(struct dray_memory *memory);

/** Returns the description, constant for its life; borrowed. */
DRAY_API const struct dray_memory_description *
dray_memory_describe(const struct dray_memory *memory);
/**
 * Writes the address at which the node's device reaches the first byte of @memory,
 * beside the CPU's address in its description.  All bytes follow each other there.
 *
 * Errors: -EINVAL (0 bytes; memory that lies in no buffer of dray, as dray_manager_mempin() makes),
 * -EOPNOTSUPP (the device reaches it in several pieces), and as dray_buffer_addresses().
 */
DRAY_API int dray_memory_device_address(const struct dray_memory *memory,
					uint64_t *address);

/** Returns the manager that made it; borrowed. */
DRAY_API struct dray_manager *
dray_memory_manager_of(const struct dray_memory *memory);

/* For memhostalloc and mempin; a manager need not support each of them. */
#define DRAY_HOST_MAPPED	(1u << 0)  /* the device reaches it */
#define DRAY_HOST_PORTABLE	(1u << 1)  /* pinned for all devices */
#define DRAY_HOST_WRITE_COMBINED (1u << 2) /* not cached, writes gathered */
#define DRAY_HOST_READ_ONLY	(1u << 3)  /* mempin: the device only reads */

/**
 * The way of another process to memory: plain bytes, never a pointer or a file
 * descriptor.  <dray/ipc.h> says how long it holds and which users may open it.
 */
struct dray_ipc_handle {
	struct dray_ipc_record record;
	uint64_t size;		/* bytes of the memory; for the reader's eyes */
};

/** The operations of the base, which a manager may leave out.  -EINVAL for an unknown value. */
enum dray_manager_base {
	DRAY_MANAGER_NONE = 0,		/* -EOPNOTSUPP */
	/* memhostalloc, mempin, initialize, reset: memory of the node */
	DRAY_MANAGER_HOST_ONLY = 1,
	/* and memalloc, get_memory_info, get_ipc_handle: all of them */
	DRAY_MANAGER_NATIVE = 2,
};

/**
 * The operations of a manager, which a plug-in implements.  A NULL member falls
 * back to the base.  Each function returns 0 or a negative errno.  If an
 * allocation returns -ENOMEM or -EDQUOT, the library flushes the pending frees
 * and asks once more.
 */
struct dray_manager_ops {
	uint32_t interface_version;	/* DRAY_MANAGER_INTERFACE */
	uint32_t base;			/* enum dray_manager_base */
	const char *name;

	/* @ctx: returned by dray_manager_context() from then on */
	int (*create)(struct dray_manager *self, void **ctx);
	/* The manager's last object is gone. */
	void (*destroy)(void *ctx);

	/*
	 * Called before the first allocation, and again whenever a runtime
	 * likes: memory in use stays as it is.
	 */
	int (*initialize)(struct dray_manager *self);
	/* Memory that the node reaches. */
	int (*memalloc)(struct dray_manager *self, size_t size,
			uint64_t stream, struct dray_memory **out);
	/*
	 * @flags:  DRAY_HOST_MAPPED, _PORTABLE, _WRITE_COMBINED.
	 *	Write-combined memory is a buffer of its own, of the node and
	 *	not of the manager's resource: limits, statistics and logs do
	 *	not see it.
	 */
	int (*memhostalloc)(struct dray_manager *self, size_t size,
			    uint32_t flags, struct dray_memory **out);
	/*
	 * @memory: pointer, bytes, owner and release_owner are set, for the
	 *	object that is made; on failure the owner is not released
	 * @flags: DRAY_HOST_MAPPED, _READ_ONLY
	 */
	int (*mempin)(struct dray_manager *self,
		      const struct dray_memory_description *memory,
		      uint32_t flags, struct dray_memory **out);
	int (*get_memory_info)(struct dray_manager *self,
			       struct dray_capacity *out);
	int (*get_ipc_handle)(struct dray_manager *self,
			      const struct dray_memory *memory,
			      struct dray_ipc_handle *out);
	/* May be called before initialize.  Objects that are alive stay so. */
	int (*reset)(struct dray_manager *self);
	/*
	 * A section begins or ends in which nothing is freed; of nested
	 * sections only the outermost.  The library's own queue needs no help.
	 */
	void (*defer_cleanup)(struct dray_manager *self, bool begins);
};

/**
 * Returns the operations of a base, for a manager that adds to them; NULL for
 * DRAY_MANAGER_NONE.  Each works on any manager.  Constants.
 */
DRAY_API const struct dray_manager_ops *
dray_manager_base_ops(enum dray_manager_base base);

/**
 * Chooses the operations of the managers that dray_get_manager() makes from
 * now on; NULL: the environment's, else the native ones.
 *
 * @ops: must stay valid
 *
 * Errors: -EPROTO (another interface version), -EINVAL (an unknown base, no
 * name, no memalloc either there or in the base), -EBUSY (such a manager is in
 * use: it would keep the old operations).
 */
DRAY_API int dray_set_manager(const struct dray_manager_ops *ops);

/**
 * Finds the manager of @node: an existing manager, or a new manager.  It is
 * initialized; getting it again does not initialize it again.  Without
 * dray_set_manager() DRAY_MEMORY_MANAGER names it:
 *
 *	"native", or nothing	dray's own
 *	a word, as "rmm"	libdray-manager-rmm.so, where the system looks
 *				for libraries
 *	a path with a '/'	a shared object at that path
 *
 * Such a shared object exports a struct dray_manager_ops with the name
 * dray_memory_manager.  It is never unloaded.  If a program runs with another
 * user's rights, the variable is ignored.
 *
 * @out: a reference
 *
 * Errors: -ENOENT (no such plug-in, or the system's loader refuses it: a
 * library that it needs is missing, it is of another machine, it may not be
 * read; the sentence quotes the loader), -ENOEXEC (it lacks the symbol),
 * -EPROTO, -EINVAL (as dray_set_manager()), -ENOMEM, and the errors of create()
 * and initialize() of the manager.
 */
DRAY_API int dray_get_manager(struct dray_node *node,
			      struct dray_manager **out);

/**
 * Finds the operations of a plug-in, named as above, "native" among them;
 * errors as above, but none of create() and initialize().
 */
DRAY_API int dray_manager_load(const char *name,
			       const struct dray_manager_ops **out);

/**
 * Makes a manager of the caller's own, beside those of dray_get_manager().
 * Nothing stays when it ended; while it lives, its own pool counts among the 63
 * that threads keep blocks of (dray/pool.h).
 *
 * @ops: as for dray_set_manager(); NULL: native
 * @resource: the source of the base's memory; NULL: a pool on @node, with a log
 *	(dray_resource_log()) if the environment sets DRAY_MEMORY_LOG: in a new
 *	file of that name, with ".PID", and ".PID.1" and so on if that exists
 * @out: a reference
 *
 * Errors: -EPROTO, -EINVAL (as dray_set_manager()), -ENOMEM, and the errors of
 * create().
 */
DRAY_API int dray_manager_create(struct dray_node *node,
				 const struct dray_manager_ops *ops,
				 struct dray_resource *resource,
				 struct dray_manager **out);

/** Adds a reference, dropped by dray_manager_unref(); returns @manager. */
DRAY_API struct dray_manager *dray_manager_ref(struct dray_manager *manager);
/**
 * Drops a reference.  The last drop frees all pending memory, and no later free
 * is put off; the manager ends with its last object.  NULL is ignored.
 */
DRAY_API void dray_manager_unref(struct dray_manager *manager);

/** Returns the name of its operations; valid as long as the manager. */
DRAY_API const char *dray_manager_name(const struct dray_manager *manager);
/** Returns the handle that it was made with; borrowed. */
DRAY_API struct dray_node *
dray_manager_node(const struct dray_manager *manager);
/** Returns the context from create() of its operations; NULL without it. */
DRAY_API void *dray_manager_context(const struct dray_manager *manager);
/**
 * The source of the base's memory, made by the first call; a new reference.
 * Errors: as dray_pool_create().
 */
DRAY_API int dray_manager_resource(struct dray_manager *manager,
				   struct dray_resource **out);

/*
 * The operations.  Each also returns the errors of the manager, and -EOPNOTSUPP
 * if the manager lacks the operation.
 */

/** Gets ready; may be called again at any time. */
DRAY_API int dray_manager_initialize(struct dray_manager *manager);

/**
 * @size bytes that the node reaches; 0 is an object of no bytes.  Native: a
 * block of the pool, of kind DRAY_MEMORY_SHARED, freed late.
 */
DRAY_API int dray_manager_memalloc(struct dray_manager *manager, size_t size,
				   uint64_t stream, struct dray_memory **out);

/**
 * @size bytes of host memory.  Native: a block of the pool, of kind
 * DRAY_MEMORY_PINNED, or DRAY_MEMORY_MAPPED with that flag; write-combined, a
 * buffer of its own.  On the host back end no device is there to pin it for,
 * and it is ordinary memory.  Freed late.
 *
 * Errors: -EINVAL (an unknown flag), -EOPNOTSUPP (the node lacks write-combined
 * memory).
 */
DRAY_API int dray_manager_memhostalloc(struct dray_manager *manager,
				       size_t size, uint32_t flags,
				       struct dray_memory **out);

/**
 * Pins @size bytes of the caller until the object ends.  Un-pinning is at once,
 * never late.  Ranges may overlap.  Native: on the kernel back end they are
 * attached to the node, on the host there is no device to pin them for.
 *
 * @owner: kept alive by the object; may be NULL
 * @release_owner: NULL: nothing to do.  Not called on failure
 *
 * Errors: -EINVAL (0 bytes, an unknown flag), -EFAULT (not all of it is
 * memory), -ENOMEM (the limit for locked memory).
 */
DRAY_API int dray_manager_mempin(struct dray_manager *manager, void *pointer,
				 size_t size, uint32_t flags, void *owner,
				 void (*release_owner)(void *owner),
				 struct dray_memory **out);

/** The manager's memory: free and in all. */
DRAY_API int dray_manager_get_memory_info(struct dray_manager *manager,
					  struct dray_capacity *out);

/**
 * Describes how to pass @memory to another process.  The receiver reaches the
 * whole buffer around it.  If the object ends while others hold it open, its
 * memory waits for them.
 *
 * Errors: -EINVAL (another manager's memory), else native: as
 * dray_ipc_export().
 */
DRAY_API int dray_manager_get_ipc_handle(struct dray_manager *manager,
					 const struct dray_memory *memory,
					 struct dray_ipc_handle *out);

/**
 * Opens memory of another process.  The object is closed at once, never late;
 * opens of the same handle are counted.
 *
 * Errors: as dray_ipc_open(), -ENOMEM.
 */
DRAY_API int dray_manager_open_ipc_handle(struct dray_manager *manager,
					  const struct dray_ipc_handle *handle,
					  struct dray_memory **out);

/**
 * Frees the pending memory, even in a section of deferral, and returns unused
 * memory.  Live objects stay.
 */
DRAY_API int dray_manager_reset(struct dray_manager *manager);

/**
 * Begins a section in which no deferred free happens, even above the limits and
 * even when an allocation fails; sections nest, over all threads.
 */
DRAY_API void dray_manager_defer_cleanup(struct dray_manager *manager);
/**
 * Ends a section.  If it is the outermost, frees the memory above the limits.
 * Errors: -EINVAL (none began).
 */
DRAY_API int dray_manager_end_deferral(struct dray_manager *manager);

/**
 * Sets when objects of DRAY_MEMORY_DEFERRED are finalized: all of them, as soon
 * as more than @entries wait, or more bytes than @percent of the manager's
 * memory. 0 entries: at once.  At first 10 and 20, as in Numba.
 *
 * Errors: -EINVAL (more than 100 percent).
 */
DRAY_API int dray_manager_set_pending(struct dray_manager *manager,
				      uint32_t entries, uint32_t percent);

/**
 * Finalizes waiting objects, except in a section of deferral; returns the
 * number of finalized objects.
 */
DRAY_API size_t dray_manager_flush(struct dray_manager *manager);

/** Counters of a manager at a moment. */
struct dray_manager_stats {
	size_t size;		/* of this structure; 0: the first version's */
	uint64_t objects;	/* alive, views included */
	uint64_t bytes;		/* in them, views left out */
	uint64_t pending;	/* objects that wait to be finalized */
	uint64_t pending_bytes;
	uint64_t flushes;	/* how often any were */
	uint64_t retries;	/* allocations that were asked for again */
	uint64_t deferrals;	/* sections that began and did not end */
	uint64_t capacity;	/* bytes that the percentage is of, 0: unknown */
};

/** Fills @stats. */
DRAY_NAMESAKE_BEGIN
DRAY_API void dray_manager_stats(struct dray_manager *manager,
				 struct dray_manager_stats *stats);
DRAY_NAMESAKE_END

/**
 * Returns the kind of the memory at @address, as the manager sees it: the kind
 * of the object around it, else DRAY_MEMORY_DEVICE for memory of dray that the
 * CPU does not reach, DRAY_MEMORY_SHARED for the rest of it, and
 * DRAY_MEMORY_UNKNOWN for all else.  For occasional questions: it looks through
 * all objects.
 */
DRAY_API enum dray_memory_kind
dray_manager_kind_of(struct dray_manager *manager, const void *address);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_MANAGER_H */
