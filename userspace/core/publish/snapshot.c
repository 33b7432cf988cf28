// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * snapshot: all pools of the process, as <dray/publish.h> describes it, in a
 * memfd.
 *
 * It is sealed before it is handed out: a reader sees all of it or none, and
 * cannot change the copy of others.  Nothing is written with a lock held.  Each
 * step of a walk reads the notes of its blocks while no array that is noted can
 * end.  Callers are looked up after that, and checked by their sizes only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/fork.h"
#include "memory/node.h"
#include "pool/check.h"
#include "publish/notes.h"
#include "publish/snapshot.h"
#include "pool/walk.h"
#include "pool/unused.h"

#define SITE_ROOM 256 /* bytes of a call site's text, with the zero */
#define STAGE_ROOM ((size_t)64 << 10)
/* Left free, for the regions and pools behind the last block. */
#define SPARE ((uint64_t)1 << 20)

struct snapshot_text {
	struct dray_note note; /* ndim and type only if array */
	bool array;
	uint64_t asked;
	char site[SITE_ROOM];
	bool lent;
	struct dray_publish_loan loan; /* its name only if lent */
};

struct pool_snapshot {
	int fd;
	int error; /* the first, negative */
	bool truncated;
	struct dray_runtime *runtime; /* NULL: none */
	uint64_t size; /* bytes written and staged */
	size_t staged;
	struct dray_walk walk;
	struct snapshot_text texts[DRAY_WALK_STEP]; /* of the blocks of a step */
	unsigned char stage[STAGE_ROOM];
};

static void snapshot_flush(struct pool_snapshot *snapshot)
{
	const unsigned char *next = snapshot->stage;
	ssize_t written;

	while (snapshot->staged && !snapshot->error) {
		written = write(snapshot->fd, next, snapshot->staged);
		if (written < 0) {
			snapshot->error = -errno;
			break;
		}
		next += written;
		snapshot->staged -= (size_t)written;
	}
	snapshot->staged = 0;
}

/* At most STAGE_ROOM bytes. */
static void snapshot_put(struct pool_snapshot *snapshot, const void *bytes,
			 size_t size)
{
	if (size > STAGE_ROOM - snapshot->staged)
		snapshot_flush(snapshot);
	memcpy(snapshot->stage + snapshot->staged, bytes, size);
	snapshot->staged += size;
	snapshot->size += size;
}

static bool has_room(const struct pool_snapshot *snapshot, uint64_t size)
{
	return snapshot->size + size <= DRAY_PUBLISH_MOST;
}

static void put_head(struct pool_snapshot *snapshot, uint64_t size)
{
	const struct dray_publish_head head = {
		.magic = DRAY_PUBLISH_MAGIC,
		.version = DRAY_PUBLISH_VERSION,
		.flags = snapshot->truncated ? DRAY_PUBLISH_TRUNCATED : 0,
		.size = size,
		.pid = getpid(),
	};

	snapshot_put(snapshot, &head, sizeof(head));
}

static void put_block(struct pool_snapshot *snapshot, uintptr_t base,
		      const struct dray_pool_block *block,
		      const struct snapshot_text *text)
{
	static const char zeros[8];
	struct dray_publish_block item = {
		.item.kind = DRAY_PUBLISH_BLOCK,
		.offset = (uintptr_t)block->address - base,
		.size = block->size,
		.asked = text->asked,
		.state = block->state,
		.holds = block->holds,
		.site_length = (uint32_t)strlen(text->site),
	};
	size_t size = sizeof(item) + item.site_length;

	if (text->array) {
		item.flags = DRAY_PUBLISH_ARRAY;
		item.ndim = text->note.ndim;
		item.type_length = (uint32_t)strlen(text->note.type);
		size += item.ndim * sizeof(int64_t) + item.type_length;
	}
	item.item.size = (uint32_t)((size + 7) & ~(size_t)7);
	if (!has_room(snapshot, item.item.size + SPARE)) {
		snapshot->truncated = true;
		return;
	}
	snapshot_put(snapshot, &item, sizeof(item));
	snapshot_put(snapshot, text->note.shape, item.ndim * sizeof(int64_t));
	snapshot_put(snapshot, text->note.type, item.type_length);
	snapshot_put(snapshot, text->site, item.site_length);
	snapshot_put(snapshot, zeros, item.item.size - size);
	if (text->lent)
		snapshot_put(snapshot, &text->loan, sizeof(text->loan));
}

static void snapshot_put_region(struct pool_snapshot *snapshot,
				const struct dray_walk_region *region)
{
	const struct dray_publish_region item = {
		.item = { DRAY_PUBLISH_REGION, sizeof(item) },
		.buffer = region->buffer,
		.size = region->size,
		.age_ns = region->age_ns,
	};

	if (has_room(snapshot, sizeof(item)))
		snapshot_put(snapshot, &item, sizeof(item));
	else
		snapshot->truncated = true;
}

/* With the pool's lock; false if the pool has ended. */
static bool describe_pool(const struct dray_pool *pool,
			  struct dray_publish_pool *item)
{
	if (!pool->node)
		return false;
	*item = (struct dray_publish_pool){
		.item = { DRAY_PUBLISH_POOL, sizeof(*item) },
		.granule = 1u << pool->shift,
	};
	if (pool->closed)
		item->flags |= DRAY_PUBLISH_POOL_CLOSED;
	if (pool->checked)
		item->flags |= DRAY_PUBLISH_POOL_CHECKED;
	snprintf(item->name, sizeof(item->name), "%s", pool->name);
	snprintf(item->node, sizeof(item->node), "%s",
		 dray_node_name(pool->node));
	snprintf(item->backend, sizeof(item->backend), "%s",
		 dray_node_backend(pool->node));
	return true;
}

/* Where the caller's first byte lies. */
static const char *data_of(const struct dray_pool *pool,
			   const struct dray_pool_block *block)
{
	const char *start = block->address;

	return pool->checked && block->size > 2 * DRAY_CHECK_GUARD
		       ? start + DRAY_CHECK_GUARD
		       : start;
}

/* Looks up a runtime's array, if it fits the block. */
static bool find_foreign(const struct dray_runtime *runtime,
			 const struct dray_pool_block *block, const char *data,
			 struct dray_note *note)
{
	uint64_t before = (uint64_t)(data - (const char *)block->address);

	return runtime && dray_runtime_read(runtime, data, note) &&
	       note->bytes <= block->size - before;
}

/* With the lock of notes. */
static void read_notes(const struct dray_pool *pool,
		       struct pool_snapshot *snapshot)
{
	const struct dray_pool_block *block = snapshot->walk.blocks;
	size_t i;

	for (i = 0; i < snapshot->walk.count; i++, block++) {
		struct snapshot_text *text = &snapshot->texts[i];

		const char *data = data_of(pool, block);

		text->asked = 0;
		text->site[0] = 0;
		text->array = block->state == DRAY_POOL_BLOCK_USED &&
			      (dray_note_read(block->address, &text->note) ||
			       dray_note_read(data, &text->note) ||
			       find_foreign(snapshot->runtime, block, data,
					    &text->note));
		if (text->array)
			text->asked = text->note.bytes;
	}
}

static void read_origins(const struct dray_pool *pool,
			 struct pool_snapshot *snapshot)
{
	const struct dray_pool_block *block = snapshot->walk.blocks;
	size_t i;

	for (i = 0; i < snapshot->walk.count; i++, block++) {
		struct snapshot_text *text = &snapshot->texts[i];
		struct dray_callers callers;
		size_t size;

		if (block->state != DRAY_POOL_BLOCK_USED)
			continue;
		/* Only a handler's blocks have guards in a checked pool. */
		if (!dray_live_origin(data_of(pool, block), &size, &callers) &&
		    !dray_live_origin(block->address, &size, &callers))
			continue;
		if (size > block->size)
			continue;
		if (!text->array)
			text->asked = size;
		if (callers.place)
			snprintf(text->site, SITE_ROOM, "%s", callers.place);
		else
			dray_call_site_outside(text->site, SITE_ROOM,
					       callers.sites, callers.count);
	}
}

/* A loan is a hold. */
static void read_loans(struct pool_snapshot *snapshot)
{
	const struct dray_pool_block *block = snapshot->walk.blocks;
	size_t i;

	for (i = 0; i < snapshot->walk.count; i++, block++) {
		struct snapshot_text *text = &snapshot->texts[i];

		text->loan = (struct dray_publish_loan){
			.item = { DRAY_PUBLISH_LOAN, sizeof(text->loan) },
		};
		text->lent = block->holds &&
			     dray_note_lent(block->address, block->size,
					    text->loan.to);
	}
}

/* Writes a step, all under the lock of notes; false at the end. */
static bool snapshot_step(struct dray_pool *pool,
			  struct pool_snapshot *snapshot)
{
	bool more;

	dray_notes_lock();
	pthread_mutex_lock(&pool->lock);
	more = dray_walk_step(pool, &snapshot->walk);
	pthread_mutex_unlock(&pool->lock);
	if (more)
		read_notes(pool, snapshot);
	dray_notes_unlock();
	if (more) {
		read_origins(pool, snapshot);
		read_loans(snapshot);
	}
	return more;
}

static void put_blocks(struct dray_pool *pool, struct pool_snapshot *snapshot)
{
	struct dray_walk *walk = &snapshot->walk;
	struct dray_walk_region before = { .base = 0 }; /* 0: none yet */
	size_t i;

	walk->from = 0;
	while (!snapshot->error && snapshot_step(pool, snapshot)) {
		if (walk->region.inherited)
			continue;
		if (before.base && (before.buffer != walk->region.buffer ||
				    before.base != walk->region.base))
			snapshot_put_region(snapshot, &before);
		for (i = 0; i < walk->count; i++)
			put_block(snapshot, walk->region.base, &walk->blocks[i],
				  &snapshot->texts[i]);
		before = walk->region;
	}
	if (before.base)
		snapshot_put_region(snapshot, &before);
}

static void put_pool(struct dray_pool *pool, struct pool_snapshot *snapshot)
{
	struct dray_publish_pool item;

	pthread_mutex_lock(&pool->lock);
	if (!describe_pool(pool, &item)) {
		pthread_mutex_unlock(&pool->lock);
		return;
	}
	pool->pending++; /* it does not end meanwhile */
	pthread_mutex_unlock(&pool->lock);
	if (has_room(snapshot, sizeof(item))) {
		snapshot_put(snapshot, &item, sizeof(item));
		put_blocks(pool, snapshot);
	} else {
		snapshot->truncated = true;
	}
	pthread_mutex_lock(&pool->lock);
	pool->pending--;
	dray_pool_unlock_or_end(pool);
}

static int snapshot_seal(struct pool_snapshot *snapshot)
{
	uint64_t size = snapshot->size;

	snapshot_flush(snapshot);
	if (!snapshot->error && lseek(snapshot->fd, 0, SEEK_SET))
		return -errno;
	put_head(snapshot, size);
	snapshot_flush(snapshot);
	if (snapshot->error)
		return snapshot->error;
	return fcntl(snapshot->fd, F_ADD_SEALS,
		     F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
		       ? -errno
		       : 0;
}

int dray_snapshot_make(_Atomic int *open)
{
	struct pool_snapshot *snapshot = malloc(sizeof(*snapshot));
	struct dray_pool *pool;
	int fd, ret;

	if (!snapshot)
		return -ENOMEM;
	fd = dray_descriptor(
		memfd_create("dray-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	if (fd < 0) {
		ret = -errno;
		free(snapshot);
		return ret;
	}
	atomic_store(open, fd);
	snapshot->fd = fd;
	snapshot->error = 0;
	snapshot->truncated = false;
	snapshot->size = 0;
	snapshot->staged = 0;
	put_head(snapshot, 0);
	snapshot->runtime = dray_runtime_gather();
	dray_fork_check();
	for (pool = dray_pool_latest(); pool; pool = pool->all)
		put_pool(pool, snapshot);
	ret = snapshot_seal(snapshot);
	dray_runtime_drop(snapshot->runtime);
	free(snapshot);
	if (!ret)
		return fd;
	atomic_store(open, -1);
	close(fd);
	return ret;
}
