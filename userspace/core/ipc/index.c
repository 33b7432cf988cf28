// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: exports by their range and flags, by the object that keeps their memory,
 * and descriptors by buffer.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "ipc/index.h"
#include "memory/node.h"

static struct dray_address_table ranges; /* first link of by_range */
static struct dray_address_table keepers; /* first link of by_kept */
static struct dray_address_table files; /* struct dray_ipc_file */

/* Ranges that differ may share one: they are compared as well. */
static uint64_t key_of_range(const struct dray_ipc_export *export)
{
	uint64_t key = (uintptr_t) export->address;

	key = (key ^ export->fields.size) * 0x9e3779b97f4a7c15u;
	key = (key ^ key >> 32 ^ export->fields.flags) * 0x9e3779b97f4a7c15u;
	return key ^ (uintptr_t) export->kept;
}

/* A buffer has at most two descriptors, and an even address. */
static uint64_t key_of_file(const struct dray_ipc_export *export)
{
	return (uintptr_t) export->buffer |
	       !!(export->fields.flags & DRAY_IPC_READ_ONLY);
}

static int make_file(struct dray_ipc_export *export)
{
	struct dray_ipc_file *file = malloc(sizeof(*file));
	int ret;

	if (!file)
		return dray_fail(-ENOMEM, "no memory for an export");
	ret = dray_buffer_share(export->buffer,
				export->fields.flags & DRAY_IPC_READ_ONLY,
				&file->fd);
	if (ret) {
		free(file);
		return ret;
	}
	file->exports = 0;
	file->key = key_of_file(export);
	dray_address_put(&files, file->key, file);
	export->file = file;
	return 0;
}

int dray_ipc_index_prepare(struct dray_ipc_export *export)
{
	int ret = 0;

	if (!dray_address_reserve(&ranges) || !dray_address_reserve(&keepers) ||
	    !dray_address_reserve(&files))
		return dray_fail(-ENOMEM, "no memory for an export");
	export->file = dray_address_get(&files, key_of_file(export));
	if (!export->file)
		ret = make_file(export);
	if (!ret)
		export->file->exports++;
	return ret;
}

static void hide_file(const struct dray_ipc_file *file)
{
	if (dray_address_get(&files, file->key) == file)
		dray_address_take(&files, file->key);
}

void dray_ipc_index_remove(struct dray_ipc_export *export)
{
	dray_ipc_index_end(export);
	if (export->is_indexed)
		dray_address_leave(&keepers, &export->by_kept);
	if (--export->file->exports)
		return;
	hide_file(export->file);
	close(export->file->fd);
	free(export->file);
}

void dray_ipc_index_add(struct dray_ipc_export *export)
{
	dray_address_join(&keepers, (uintptr_t) export->kept, &export->by_kept);
	export->is_indexed = true;
	if (export->fields.flags & DRAY_IPC_HANDOVER)
		return;
	dray_address_join(&ranges, key_of_range(export), &export->by_range);
	export->has_likes = true;
}

void dray_ipc_index_end(struct dray_ipc_export *export)
{
	if (export->has_likes)
		dray_address_leave(&ranges, &export->by_range);
	export->has_likes = false;
}

void dray_ipc_index_lose_buffer(struct dray_ipc_export *export)
{
	if (export->buffer)
		hide_file(export->file);
	export->buffer = NULL;
}

struct dray_ipc_export *dray_ipc_find_same(const struct dray_ipc_export *wanted)
{
	struct dray_address_link *link =
		dray_address_get(&ranges, key_of_range(wanted));

	for (; link; link = link->next) {
		struct dray_ipc_export *export =
			DRAY_LINKED(link, struct dray_ipc_export, by_range);

		if (export->address == wanted->address &&
		    export->fields.size == wanted->fields.size &&
		    export->fields.flags == wanted->fields.flags &&
		    export->kept == wanted->kept)
			return export;
	}
	return NULL;
}

struct dray_ipc_export *dray_ipc_index_first(const void *kept)
{
	struct dray_address_link *link =
		dray_address_get(&keepers, (uintptr_t)kept);

	return DRAY_LINKED(link, struct dray_ipc_export, by_kept);
}

struct dray_ipc_export *dray_ipc_index_next(struct dray_ipc_export *export)
{
	return DRAY_LINKED(export->by_kept.next, struct dray_ipc_export,
			   by_kept);
}

void dray_ipc_index_clear(void)
{
	dray_address_end(&ranges);
	dray_address_end(&keepers);
	dray_address_end(&files);
}
