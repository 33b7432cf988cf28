/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files about blocks: the header in front of every block, by
 * which block.c asks and ends a block of any type.
 */
#ifndef DRAY_BLOCK_BLOCK_H
#define DRAY_BLOCK_BLOCK_H

#include <dray/block.h>

#include "base/shared.h"

/* The memory that a block stands for. */
struct dray_block_range {
	void *data; /* NULL: in pieces */
	size_t size;
	bool writable;
};

/* A constant for each type. */
struct dray_block_class {
	uint32_t type;
	/* Drops the block's references and frees its memory. */
	void (*destroy)(struct dray_block *block);
	void (*range)(const struct dray_block *block,
		      struct dray_block_range *out);
	/* Whether @size bytes at @data are its own; NULL: the range decides. */
	bool (*holds)(const struct dray_block *block, const char *data,
		      size_t size);
	/* Writes the lines of this type only; NULL: none. */
	void (*dump)(const struct dray_block *block, FILE *stream);
	const struct dray_block_allocator *allocator; /* of arenas only */
};

/* Lies just before each struct dray_block, at the same distance always. */
struct dray_block_front {
	const struct dray_block_class *class;
} __attribute__((aligned(8)));

static inline const struct dray_block_class *
dray_block_class(const struct dray_block *block)
{
	return ((const struct dray_block_front *)(const void *)block - 1)->class;
}

static inline void dray_block_init(struct dray_block *block,
				   const struct dray_block_class *class)
{
	((struct dray_block_front *)(void *)block - 1)->class = class;
	block->type = class->type;
	__atomic_store_n(&block->count, 1, __ATOMIC_RELAXED);
}

/* The @type in which @block is the member @member. */
#define dray_block_around(block, type, member) \
	((type *)(void *)((char *)(block)-offsetof(type, member)))

/* Whether @size bytes at @data lie in [start, start + room). */
static inline bool dray_range_holds(const void *start, size_t room,
				    const char *data, size_t size)
{
	uintptr_t offset = (uintptr_t)data - (uintptr_t)start;

	return offset <= room && size <= room - offset;
}

/*
 * Make blocks with @room bytes beside the block's object, aligned for pointers and
 * freed with it: for an object with a reference to the block.  -ENOMEM.
 */
DRAY_PRIVATE void *dray_block_room(struct dray_block *block);

/* As dray_block_create_pooled(), of zeroed bytes. */
DRAY_PRIVATE int dray_block_create_cleared(struct dray_pool *pool, size_t size,
					   size_t room,
					   struct dray_block **out);

/* As dray_block_create_handled(), with a usable handler. */
DRAY_PRIVATE int dray_block_create_current(const struct dray_handler *handler,
					   size_t size, bool zeroed,
					   size_t room,
					   struct dray_block **out);

/* As dray_block_create_external(), of memory that was checked. */
DRAY_PRIVATE int dray_block_create_foreign(void *data, size_t size,
					   bool writable,
					   void (*release)(void *owner),
					   void *owner, size_t room,
					   struct dray_block **out);

/* Sets the function and owner of a block of dray_block_create_external(). */
DRAY_PRIVATE void dray_block_set_owner(struct dray_block *block,
				       void (*release)(void *owner),
				       void *owner);

#endif /* DRAY_BLOCK_BLOCK_H */
