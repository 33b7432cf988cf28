/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * block: counted memory with a type.
 *
 * A block starts with a count and a type.  It is a buffer, a piece of a
 * pool, foreign memory with a function that releases it, an arena for elements
 * of variable size, a file, an array.  A holder counts it up; the holder that
 * counts it down to 0 frees it, without knowing its type. (Source: DyND's
 * memory blocks, the memory_block_data and memory_block_pod_allocator_api of
 * its low-level description.)
 *
 *	struct dray_block *block;
 *
 *	ret = dray_block_create_pooled(pool, 4096, 0, &block);
 *	if (ret)
 *		return ret;
 *	memset(dray_block_data(block), 0, dray_block_size(block));
 *	dray_block_ref(block);		// for a second holder
 *	dray_block_unref(block);	// by the second holder
 *	dray_block_unref(block);	// frees it
 *
 * Any thread may change a count, and free a block.  Other changes (the
 * allocator's calls, the fields of an array) are for one thread at a time.  A
 * function blocks only if the call beneath it does, when it makes or frees a
 * block: a buffer's end, a file's open.
 */
#ifndef DRAY_BLOCK_H
#define DRAY_BLOCK_H

#include <stdio.h>
#include <dray/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The type of a block.  The numbers are ABI: they stay, new numbers are added.  A caller
 * only counts and describes a block of an unknown value.
 */
enum dray_block_tag {
	DRAY_BLOCK_BUFFER = 1,	/* a reference to a struct dray_buffer */
	DRAY_BLOCK_POOLED = 2,	/* a block of a pool */
	DRAY_BLOCK_EXTERNAL = 3,	/* foreign memory, and its release */
	DRAY_BLOCK_POD = 4,	/* an arena of plain bytes */
	DRAY_BLOCK_ZEROED = 5,	/* an arena of bytes that are zero at first */
	DRAY_BLOCK_MAPPED = 6,	/* a range of a file */
	DRAY_BLOCK_ARRAY = 7,	/* struct dray_array, of <dray/array/array.h> */
	DRAY_BLOCK_HANDLED = 8,	/* a block of an allocator handle */
	DRAY_BLOCK_OPENED = 9,	/* memory of a record of another process */
	DRAY_BLOCK_DTYPE = 10,	/* a type object, of <dray/dtype.h> */
};

/*
 * Flags of blocks, views and arrays: a common set, ABI.  The first three are
 * permissions, with DyND's numbers.  The others are facts: functions that make a
 * view or an array set them, and functions do not trust them.
 */
#define DRAY_READ (1u << 0)
#define DRAY_WRITE (1u << 1)
#define DRAY_IMMUTABLE (1u << 2)	/* never changes; excludes WRITE */
#define DRAY_ALIGNED (1u << 3)	/* all elements, for their type */
#define DRAY_C_CONTIGUOUS (1u << 4)	/* no gaps, the last axis fastest */
#define DRAY_F_CONTIGUOUS (1u << 5)	/* no gaps, the first axis fastest */
/* of arrays only: */
#define DRAY_OWNED (1u << 6)	/* made with its memory; no slice */
#define DRAY_WRITE_BACK (1u << 7)	/* a copy that will be copied back */

/**
 * The start of every block, and all that an inlined count needs to know.  ABI:
 * 8 bytes, aligned to 8, the count first, on every machine.  Only the functions
 * below make blocks: the library's own header lies in front.
 */
struct dray_block {
	/* references, 1 or more; only with atomic operations; see below */
	uint32_t count;
	uint32_t type;		/* enum dray_block_tag; constant */
} __attribute__((aligned(8)));

/*
 * A count that gets here stops counting: the block stays for ever, at
 * DRAY_BLOCK_SATURATED, instead of being freed under its users.
 */
#define DRAY_BLOCK_COUNT_LIMIT 0x80000000u
#define DRAY_BLOCK_SATURATED 0xc0000000u

/**
 * Ends a block if its count has come to 0.  Only dray_block_unref() calls it,
 * at the place in the program that drops the last reference.
 */
DRAY_API void dray_block_free(struct dray_block *block);

/**
 * Called if a count left its range at @before: 0 (the block is freed), or next
 * to DRAY_BLOCK_COUNT_LIMIT and above.  Leaves a sentence and saturates the
 * count.
 */
DRAY_API void dray_block_miscounted(struct dray_block *block, uint32_t before);

/**
 * Adds a reference, which the caller drops by dray_block_unref(); returns @block.  NULL
 * is ignored.  At DRAY_BLOCK_COUNT_LIMIT references the count saturates, which
 * dray_last_error() says: the block is then never freed.
 */
DRAY_INLINED(struct dray_block *dray_block_ref(struct dray_block *block))
{
	uint32_t before;

	if (!block)
		return block;
	before = __atomic_fetch_add(&block->count, 1, __ATOMIC_RELAXED);
	if (__builtin_expect(before - 1 >= DRAY_BLOCK_COUNT_LIMIT - 2, 0))
		dray_block_miscounted(block, before);
	return block;
}

/**
 * Drops a reference; the last frees the block, in this thread, with all
 * that it refers to.  NULL is ignored.
 */
DRAY_INLINED(void dray_block_unref(struct dray_block *block))
{
	uint32_t before;

	if (!block)
		return;
	/* All that others did with the block is done before it is freed. */
	before = __atomic_load_n(&block->count, __ATOMIC_ACQUIRE);
	/* The only holder can meet no other change, and saves an atomic one. */
	if (before == 1)
		__atomic_store_n(&block->count, 0, __ATOMIC_RELAXED);
	else
		before = __atomic_fetch_sub(&block->count, 1, __ATOMIC_ACQ_REL);
	if (before == 1)
		dray_block_free(block);
	else if (__builtin_expect(before - 1 >= DRAY_BLOCK_COUNT_LIMIT - 1, 0))
		dray_block_miscounted(block, before);
}

/**
 * Returns the number of references at some moment; 0 for NULL.  For people and
 * tests, not to decide by.
 */
DRAY_INLINED(uint32_t dray_block_count(const struct dray_block *block))
{
	return block ? __atomic_load_n(&block->count, __ATOMIC_RELAXED) : 0;
}

/** Returns the block's type, enum dray_block_tag; 0 for NULL. */
DRAY_INLINED(uint32_t dray_block_type(const struct dray_block *block))
{
	return block ? block->type : 0;
}

/**
 * Returns the name of a type, "buffer", "pooled", ...; "unknown" for another
 * number.  A constant.
 */
DRAY_API const char *dray_block_type_name(uint32_t type);

/**
 * Returns the first byte of the block's memory, valid as long as the block;
 * NULL for an arena, whose memory is in pieces, and for NULL.
 */
DRAY_API void *dray_block_data(const struct dray_block *block);
/**
 * Returns the bytes from there, of an arena the bytes of its elements; 0 for
 * NULL.
 */
DRAY_API size_t dray_block_size(const struct dray_block *block);
/** Returns whether that memory may be written; false for NULL. */
DRAY_API bool dray_block_writable(const struct dray_block *block);

/**
 * Describes the block, for people, on @stream.  If it refers to another block,
 * prints that block's address, type and count.  The text may change.
 *
 * Errors: -EINVAL (no block, no stream), -EIO (the stream takes no more).
 */
DRAY_API int dray_block_dump(const struct dray_block *block, FILE *stream);

/*
 * Each of the following makes a block with a reference, the caller's.  It
 * fails with -EINVAL for a NULL that is not allowed and with -ENOMEM.
 */

/** The whole of @buffer, of which the block keeps a reference of its own. */
DRAY_API int dray_block_create_buffer(struct dray_buffer *buffer,
				      struct dray_block **out);

/**
 * @size bytes of @pool, as from dray_pool_alloc(): contents undefined, a size of
 * 0 is 1, @alignment a power of two or 0.  The block may outlive the pool's
 * closing.  Its header is not in the pool's memory.
 */
DRAY_API int dray_block_create_pooled(struct dray_pool *pool, size_t size,
				      size_t alignment,
				      struct dray_block **out);

struct dray_handler;

/**
 * @size bytes of an allocator handle, such as dray_get_handler(), to which they
 * go back: DRAY_BLOCK_HANDLED.  A size of 0 is 1.
 *
 * @handler: stays valid as long as the block
 * @zeroed: whether the bytes are zero; else undefined
 *
 * Errors: -EINVAL also for a handler of another version, or with a function missing.
 */
DRAY_API int dray_block_create_handled(const struct dray_handler *handler,
				       size_t size, bool zeroed,
				       struct dray_block **out);

/** Returns the handler that @block is freed by; NULL if no handler made it. */
DRAY_API const struct dray_handler *
dray_block_handler(const struct dray_block *block);

/**
 * Foreign memory, with a function that releases it.
 *
 * @data: its first byte; NULL with 0 bytes only
 * @size: bytes
 * @flags: DRAY_READ, or DRAY_READ | DRAY_WRITE
 * @release: called once, with @owner, in the thread that drops the last
 *	reference and without a lock of the library, so that it may call
 *	everything here; NULL if there is nothing to do
 *
 * On failure it is not called: the memory is still the caller's.
 * Errors: -EINVAL also for other flags, and a range that leaves the address
 * space.
 */
DRAY_API int dray_block_create_external(void *data, size_t size, uint32_t flags,
					void (*release)(void *owner),
					void *owner, struct dray_block **out);

/**
 * Bytes of a file, mapped: a write through the block changes the file for all
 * its readers.
 *
 * @path: a regular file
 * @offset: bytes; need be no multiple of anything
 * @size: bytes; 0: from there to the file's end as it is now
 * @flags: as above; only a file mapped for writing need be writable
 *
 * The file may be renamed or deleted under the block.  It must not be made
 * shorter: a touch behind its new end is a SIGBUS, as with any mapping, and the
 * library cannot prevent that.
 *
 * Errors: -EINVAL (other flags, not a regular file, an empty file, a range
 * outside the file), -EOVERFLOW (more than can be mapped), and errors of open(),
 * fstat() and mmap() (-ENOENT, -EACCES, ...).
 */
DRAY_API int dray_block_create_mapped(const char *path, uint64_t offset,
				      uint64_t size, uint32_t flags,
				      struct dray_block **out);

/**
 * An empty arena, DRAY_BLOCK_POD: elements of variable size, each behind the
 * last in pieces.  The first piece has 2048 bytes.  Each other has twice the
 * last one's, or the requested size if that is more.
 *
 * @pool: the source of its pieces, the first at once; the arena may outlive the
 *	pool's closing, but then takes no more.  NULL: the C library's heap
 *
 * Nothing but the elements is written to the pool's memory.
 */
DRAY_API int dray_block_create_pod(struct dray_pool *pool,
				   struct dray_block **out);

/** The same, and each byte is zero when it is given out: DRAY_BLOCK_ZEROED. */
DRAY_API int dray_block_create_zeroed(struct dray_pool *pool,
				      struct dray_block **out);

/**
 * The functions that fill an arena; one thread at a time for each arena.  They
 * return 0 or a negative errno and leave a sentence; on failure the arena and
 * the caller's pointers are unchanged.  All fail with -EINVAL for NULL and for
 * a block that is not an arena.
 */
struct dray_block_allocator {
	size_t size;		/* bytes of this structure, which may grow */

	/**
	 * @size bytes (0 too), of which the first is at a multiple of
	 * @alignment, a power of two (0 is 1): [*begin, *end).
	 *
	 * Errors: -EINVAL (the alignment), -EPERM (after finalize),
	 * -EOVERFLOW (more bytes than there are addresses), -ENOMEM.
	 */
	int (*allocate)(struct dray_block *block, size_t size, size_t alignment,
			char **begin, char **end);

	/**
	 * Makes the last allocation, [*begin, *end) as allocate() or the last
	 * resize() left it, @size bytes, longer or shorter.  It may move, with
	 * its contents and its alignment, when it gets longer.
	 *
	 * Errors: -EINVAL (not the last element), else as allocate().
	 */
	int (*resize)(struct dray_block *block, size_t size, char **begin,
		      char **end);

	/**
	 * Ends the filling.  A last piece with no element in it is given back;
	 * nothing moves.  A second time does nothing.
	 */
	int (*finalize)(struct dray_block *block);

	/**
	 * Drops all elements and keeps the last piece, usually the largest, to
	 * be filled again.  The caller knows that no reader is left. -EPERM
	 * after finalize.
	 */
	int (*reset)(struct dray_block *block);
};

/**
 * Writes to @out the functions that fill @block, a constant: the same for all
 * arenas of a type.
 *
 * Errors: -EINVAL (a block that is not an arena).
 */
DRAY_API int dray_block_get_allocator(const struct dray_block *block,
				      const struct dray_block_allocator **out);

#ifdef __cplusplus
#define DRAY_ABI(fact) static_assert(fact, #fact)
#else
#define DRAY_ABI(fact) _Static_assert(fact, #fact)
#endif
DRAY_ABI(sizeof(struct dray_block) == 8);
DRAY_ABI(offsetof(struct dray_block, count) == 0);
DRAY_ABI(offsetof(struct dray_block, type) == 4);
#undef DRAY_ABI

#ifdef __cplusplus
}
#endif

#endif /* DRAY_BLOCK_H */
