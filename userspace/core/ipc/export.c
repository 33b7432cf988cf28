// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: records of memory, on the maker's side: the object that keeps the
 * memory, revocation, and the wait for importers.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dray/pool.h>
#include "base/error.h"
#include "ipc/ipc.h"
#include "ipc/node.h"
#include "memory/node.h"
#include "pool/busy.h"

static int export_check_range(const void *address, uint64_t size,
			      const struct dray_location *where)
{
	uint64_t inside = (uintptr_t)address - (uintptr_t)where->block;

	if (size <= where->block_size - inside)
		return 0;
	return dray_fail(-EINVAL,
			 "%" PRIu64
			 " bytes at %p leave their block of %" PRIu64,
			 size, address, where->block_size);
}

/*
 * The block is held from now on, or the memory referenced.  A buffer of its
 * own is kept for a handover only: its end is the end of the record.
 */
static int export_keep(struct dray_ipc_export *export,
		       const struct dray_location *where)
{
	bool handover = export->fields.flags & DRAY_IPC_HANDOVER;
	struct dray_ipc_memory *memory;
	int ret;

	if (where->pool) {
		export->keeper = DRAY_IPC_BLOCK;
		export->kept = where->block;
		export->keeps = true;
		return dray_block_hold(export->address);
	}
	dray_ipc_lock();
	ret = dray_ipc_find_memory(where->buffer, export->address,
				   export->fields.size, &memory);
	dray_ipc_unlock();
	if (ret == -EINVAL)
		return ret;
	export->keeps = handover;
	export->keeper = ret ? DRAY_IPC_BUFFER : DRAY_IPC_MEMORY;
	export->kept = ret ? (void *)where->buffer : memory;
	export->ref_memory = dray_ipc_memory_ref;
	export->close_memory = dray_ipc_close;
	if (ret && handover)
		dray_buffer_ref(where->buffer);
	return 0;
}

static void export_discard(struct dray_ipc_export *export)
{
	if (export->keeper == DRAY_IPC_BLOCK)
		dray_block_release(export->kept);
	else if (export->keeper == DRAY_IPC_MEMORY)
		dray_ipc_close(export->kept);
	else if (export->keeps)
		dray_buffer_unref(export->kept);
	free(export);
}

/* True: it is listed now.  False: an equal record exists, or it failed. */
static int export_list(struct dray_ipc_export *export,
		       struct dray_ipc_record *record, bool *listed)
{
	bool handover = export->fields.flags & DRAY_IPC_HANDOVER;
	struct dray_ipc_export *same = NULL;
	int ret = 0;

	dray_ipc_lock();
	if (!handover)
		same = dray_ipc_find_same(export);
	if (!same)
		ret = dray_ipc_add(export, &dray_ipc_server);
	if (same)
		same->claims++;
	*listed = !same && !ret;
	if (!ret)
		memcpy(record->bytes, same ? &same->fields : &export->fields,
		       sizeof(record->bytes));
	dray_ipc_unlock();
	return ret;
}

static int export_describe(struct dray_ipc_export *export, const void *address,
			   uint64_t size, uint32_t flags,
			   const struct dray_location *where)
{
	bool on_host = !strcmp(
		dray_node_backend(dray_buffer_node(where->buffer)), "host");

	if (where->pool && flags & DRAY_IPC_READ_ONLY && on_host)
		return dray_fail(
			-EOPNOTSUPP,
			"a pool's block cannot be exported read-only: its buffer holds writable blocks too");
	export->fields = (struct dray_ipc_fields){
		.magic = DRAY_IPC_MAGIC,
		.version = DRAY_IPC_VERSION,
		.flags = (uint16_t)flags,
		.buffer = dray_buffer_id(where->buffer),
		.offset = where->offset,
		.size = size,
	};
	export->answer.magic = DRAY_IPC_MAGIC;
	export->user = geteuid();
	export->buffer = where->buffer;
	export->address = (void *)(uintptr_t)address;
	export->waits = flags & DRAY_IPC_HANDOVER;
	export->made = dray_ipc_now();
	export->claims = 1;
	return dray_ipc_describe_node(dray_buffer_node(where->buffer),
				      &export->answer.backend,
				      export->answer.node);
}

int dray_ipc_export(const void *address, uint64_t size, uint32_t flags,
		    struct dray_ipc_record *record)
{
	struct dray_ipc_memory *memory = NULL;
	struct dray_ipc_export *export;
	struct dray_location where;
	bool listed = false;
	int ret;

	if (!dray_given(record, __func__))
		return -EINVAL;
	if (flags & ~DRAY_IPC_FLAGS)
		return dray_fail(-EINVAL, "unknown flags 0x%x",
				 flags & ~DRAY_IPC_FLAGS);
	if (dray_locate(address, &where))
		return dray_fail(-EINVAL,
				 "the memory at %p lies in no buffer of dray",
				 address);
	ret = export_check_range(address, size, &where);
	if (ret)
		return ret;
	export = calloc(1, sizeof(*export));
	if (!export)
		return dray_fail(-ENOMEM, "no memory for an export");
	dray_ipc_enlist();
	/* In a child: drops its copies of the parent's exports. */
	dray_ipc_settle();
	ret = export_describe(export, address, size, flags, &where);
	if (!ret)
		ret = export_keep(export, &where);
	if (ret) {
		free(export);
		return ret;
	}
	/* Kept by its leases, once there are any; listed, it may end at once. */
	if (export->keeper == DRAY_IPC_MEMORY && !export->keeps)
		memory = export->kept;
	ret = export_list(export, record, &listed);
	if (listed)
		dray_ipc_close(memory);
	else
		export_discard(export);
	return ret;
}

int dray_ipc_revoke(const struct dray_ipc_record *record)
{
	struct dray_ipc_export *export;
	struct dray_ipc_fields fields;
	int ret;

	if (!dray_given(record, __func__))
		return -EINVAL;
	ret = dray_ipc_read(record, &fields);
	if (ret)
		return ret;
	dray_ipc_lock();
	if (!dray_ipc_is_own(fields.broker))
		ret = dray_fail(-ESTALE,
				"the record is of no export of this process");
	else
		ret = dray_ipc_find(&fields, NULL, &export);
	if (!ret && !--export->claims) {
		if (export->waits)
			dray_ipc_signal();
		dray_ipc_end(export);
	}
	dray_ipc_unlock();
	dray_ipc_settle();
	return ret;
}

int dray_ipc_wait(int timeout_ms)
{
	int64_t until =
		timeout_ms < 0 ? INT64_MAX : dray_ipc_now() + timeout_ms;
	uint32_t left;

	dray_ipc_enlist();
	dray_ipc_lock();
	while ((left = dray_ipc_waiting()) && dray_ipc_wait_signal(until))
		;
	dray_ipc_unlock();
	if (left)
		return dray_fail(-ETIMEDOUT,
				 "%u records were not opened within %d ms",
				 left, timeout_ms);
	return 0;
}

int dray_ipc_handovers(struct dray_ipc_handover *list, size_t room,
		       size_t *count)
{
	const struct dray_ipc_export *export;
	uint32_t at = 0;
	int64_t now;
	size_t n;

	if (!dray_given(count, __func__) ||
	    (room && !dray_given(list, __func__)))
		return -EINVAL;
	dray_ipc_enlist();
	dray_ipc_lock();
	*count = dray_ipc_waiting();
	now = dray_ipc_now();
	for (n = 0; n < room && (export = dray_ipc_next_waiting(&at)); n++) {
		memcpy(list[n].record.bytes, &export->fields,
		       sizeof(list[n].record.bytes));
		list[n].size = export->fields.size;
		list[n].age_ms = (uint64_t)(now - export->made);
	}
	dray_ipc_unlock();
	return 0;
}
