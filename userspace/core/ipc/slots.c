// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: the exports of this process.  Each record names a slot, which is used
 * again after its end, and a generation of its own: a record of an older
 * generation leads nowhere.
 *
 * An ended export stays until the end of its last lease.  Only then its memory
 * is freed, without the lock, because that may acquire others.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/user.h"
#include "ipc/index.h"
#include "ipc/ipc.h"
#include "memory/node.h"
#include "pool/busy.h"

/* All of it is there from the first export to the last. */
static struct {
	bool is_there; /* something is exported */
	uint64_t name;
	const struct dray_ipc_server
		*server; /* NULL: nothing was ever exported */
	struct dray_ipc_broker *broker;
} exporter;

/* A child keeps its parent's exports here until they are settled. */
static struct dray_ipc_export *slots[DRAY_IPC_MAX_EXPORTS];
static _Atomic uint32_t count;
static uint32_t made; /* exports, ever: the latest generation */
static uint32_t waiting; /* handovers without a mapping */
static struct dray_ipc_export *unsettled;

/* Resting slots: all behind touched, then a ring of the freed slots. */
static struct {
	uint32_t touched;
	uint32_t first;
	uint32_t rested;
	uint16_t ring[DRAY_IPC_MAX_EXPORTS];
} resting;

_Static_assert(DRAY_IPC_MAX_EXPORTS - 1 <= UINT16_MAX, "a slot fits");

bool dray_ipc_is_own(uint64_t broker)
{
	return exporter.is_there && exporter.name == broker;
}

/* There may be an object to drop. */
static void slots_unsettle(struct dray_ipc_export *export)
{
	if (export->unsettled)
		return;
	export->unsettled = true;
	export->next_unsettled = unsettled;
	unsettled = export;
}

static void wait_no_more(struct dray_ipc_export *export)
{
	waiting -= export->waits;
	export->waits = false;
}

void dray_ipc_end(struct dray_ipc_export *export)
{
	if (export->ended)
		return;
	export->ended = true;
	wait_no_more(export);
	dray_ipc_index_end(export);
	slots_unsettle(export);
	exporter.server->tell_end(export);
}

static void slots_finish(void)
{
	exporter.server->stop(exporter.broker);
	exporter.is_there = false;
}

/* With the lock, in a child: drops the parent's exports. */
static void slots_inherit(void)
{
	uint32_t i;

	exporter.server->forget();
	exporter.is_there = false;
	for (i = 0; i < resting.touched; i++) {
		if (!slots[i])
			continue;
		exporter.server->forget_leases(slots[i]);
		slots[i]->leases = slots[i]->own;
		slots_unsettle(slots[i]);
		dray_ipc_end(slots[i]);
	}
}

/* The object to drop if the export is idle now, or NULL. */
static void *slots_idle(struct dray_ipc_export *export)
{
	if (export->leases || export->waits || !export->keeps)
		return NULL;
	if (!export->ended && export->keeper != DRAY_IPC_MEMORY)
		return NULL;
	export->keeps = false;
	return export->kept;
}

static void slots_give_up(enum dray_ipc_keeper keeper, void *kept,
			  void (*close_memory)(struct dray_ipc_memory *memory))
{
	if (!kept)
		return;
	if (keeper == DRAY_IPC_BLOCK)
		dray_block_release(kept);
	else if (keeper == DRAY_IPC_BUFFER)
		dray_buffer_unref(kept);
	else
		close_memory(kept);
}

/* With the lock: frees its slot, to be used again after other free slots. */
static void slots_forget(struct dray_ipc_export *export)
{
	uint32_t slot = export->fields.slot;

	slots[slot] = NULL;
	resting.ring[(resting.first + resting.rested++) % DRAY_IPC_MAX_EXPORTS] =
		(uint16_t)slot;
	dray_ipc_index_remove(export);
	free(export);
	if (atomic_fetch_sub(&count, 1) != 1)
		return;
	dray_ipc_index_clear();
	resting.touched = 0;
	resting.rested = 0;
	if (exporter.is_there)
		slots_finish();
}

/* A step of dray_ipc_settle(); false at the end. */
static bool settle_next(void)
{
	enum dray_ipc_keeper keeper = DRAY_IPC_BLOCK;
	void (*close_memory)(struct dray_ipc_memory * memory) = NULL;
	struct dray_ipc_export *export;
	void *kept = NULL;

	dray_ipc_lock();
	while ((export = unsettled) && !kept) {
		unsettled = export->next_unsettled;
		export->unsettled = false;
		keeper = export->keeper;
		close_memory = export->close_memory;
		kept = slots_idle(export);
		if (export->ended && !export->leases)
			slots_forget(export);
	}
	dray_ipc_unlock();
	slots_give_up(keeper, kept, close_memory);
	return kept;
}

void dray_ipc_settle(void)
{
	while (settle_next())
		;
}

/* With the lock: ends all exports that @kept keeps; its buffer ends, too. */
static void slots_lose(const void *kept, enum dray_ipc_keeper keeper)
{
	struct dray_ipc_export *export;

	for (export = dray_ipc_index_first(kept); export;
	     export = dray_ipc_index_next(export)) {
		if (export->keeper == keeper) {
			dray_ipc_end(export);
			dray_ipc_index_lose_buffer(export);
		}
	}
}

static void buffer_ended(struct dray_buffer *buffer)
{
	if (!atomic_load(&count))
		return;
	dray_ipc_lock();
	slots_lose(buffer, DRAY_IPC_BUFFER);
	dray_ipc_unlock();
	dray_ipc_settle();
}

void dray_ipc_end_memory(const struct dray_ipc_memory *memory)
{
	slots_lose(memory, DRAY_IPC_MEMORY);
}

static void block_freed(const void *block)
{
	struct dray_ipc_export *export;

	if (!atomic_load(&count))
		return;
	dray_ipc_lock();
	for (export = dray_ipc_index_first(block); export;
	     export = dray_ipc_index_next(export)) {
		if (export->keeper == DRAY_IPC_BLOCK &&
		    !(export->fields.flags & DRAY_IPC_HANDOVER))
			dray_ipc_end(export);
	}
	dray_ipc_unlock();
	dray_ipc_settle();
}

/* In a time that does not show how much of it was right. */
static bool is_secret(const uint64_t *said, const uint64_t *secret)
{
	return !((said[0] ^ secret[0]) | (said[1] ^ secret[1]));
}

bool dray_ipc_is_same_user(uid_t one, uid_t other)
{
	return one == other && dray_user_is_known(one);
}

int dray_ipc_find(const struct dray_ipc_fields *asked, const uid_t *user,
		  struct dray_ipc_export **out)
{
	struct dray_ipc_export *export = slots[asked->slot];

	if (user &&
	    !dray_ipc_is_same_user(*user, export ? export->user : geteuid()) &&
	    !(export && export->fields.flags & DRAY_IPC_ANY_USER))
		return dray_fail(-EACCES, "the memory is of another user");
	if (!export || export->ended ||
	    export->fields.generation != asked->generation)
		return dray_fail(-ESTALE, "the memory of the record was freed");
	if (!is_secret(asked->secret, export->fields.secret))
		return dray_fail(-EACCES, "the record's secret is wrong");
	if (memcmp(asked, &export->fields, sizeof(*asked)) != 0)
		return dray_fail(
			-EBADMSG,
			"the record names other memory than was exported");
	*out = export;
	return 0;
}

int dray_ipc_lease(const struct dray_ipc_fields *asked, const uid_t *user,
		   struct dray_ipc_export **out)
{
	struct dray_ipc_export *export = NULL;
	int ret = dray_ipc_find(asked, user, &export);

	if (ret)
		return ret;
	if (!user && export->keeper == DRAY_IPC_BUFFER &&
	    !dray_buffer_ref_alive(export->buffer))
		return dray_fail(-ESTALE, "the buffer of the record was freed");
	if (export->keeper == DRAY_IPC_MEMORY && !export->keeps) {
		export->ref_memory(export->kept);
		export->keeps = true;
	}
	export->leases++;
	export->own += !user;
	if (!user)
		dray_ipc_mapped(export);
	*out = export;
	return 0;
}

void dray_ipc_mapped(struct dray_ipc_export *export)
{
	if (!export->waits)
		return;
	wait_no_more(export);
	dray_ipc_signal();
}

void dray_ipc_release(struct dray_ipc_export *export, bool own)
{
	export->own -= own;
	if (--export->leases)
		return;
	slots_unsettle(export);
	/* An export that no importer could map waits for the next. */
	if (export->fields.flags & DRAY_IPC_HANDOVER && !export->waits)
		dray_ipc_end(export);
}

static int slots_begin(void)
{
	uint64_t name;
	int ret;

	if (exporter.is_there)
		return 0;
	ret = dray_ipc_random(&name, sizeof(name));
	if (!ret)
		ret = exporter.server->start(name, &exporter.broker);
	if (ret)
		return ret;
	dray_block_set_freed(block_freed);
	exporter.name = name;
	exporter.is_there = true;
	return 0;
}

static int slots_find_slot(uint32_t *slot)
{
	if (resting.touched < DRAY_IPC_MAX_EXPORTS)
		*slot = resting.touched;
	else if (resting.rested)
		*slot = resting.ring[resting.first];
	else
		return dray_fail(
			-ENOSPC,
			"this process has exported %u records, the most possible; free some of their memory",
			DRAY_IPC_MAX_EXPORTS);
	return 0;
}

static void take_slot(void)
{
	if (resting.touched < DRAY_IPC_MAX_EXPORTS) {
		resting.touched++;
		return;
	}
	resting.first = (resting.first + 1) % DRAY_IPC_MAX_EXPORTS;
	resting.rested--;
}

int dray_ipc_add(struct dray_ipc_export *export,
		 const struct dray_ipc_server *server)
{
	struct dray_ipc_fields *fields = &export->fields;
	int ret = slots_find_slot(&fields->slot);

	if (!ret)
		ret = dray_ipc_random(fields->secret, sizeof(fields->secret));
	if (!ret)
		ret = dray_ipc_index_prepare(export);
	if (!ret) {
		exporter.server = server;
		dray_ipc_on_fork(slots_inherit);
		ret = slots_begin();
		if (ret)
			dray_ipc_index_remove(export);
	}
	if (ret) {
		if (!atomic_load(&count))
			dray_ipc_index_clear();
		return ret;
	}
	take_slot();
	fields->broker = exporter.name;
	fields->generation = ++made;
	slots[fields->slot] = export;
	dray_ipc_index_add(export);
	waiting += export->waits;
	atomic_fetch_add(&count, 1);
	if (export->keeper == DRAY_IPC_BUFFER)
		dray_buffer_on_end(export->buffer, buffer_ended);
	return 0;
}

uint32_t dray_ipc_waiting(void)
{
	uint32_t i;

	for (i = 0; waiting && i < resting.touched; i++)
		if (slots[i] && slots[i]->waits)
			exporter.server->hear(slots[i]);
	return waiting;
}

const struct dray_ipc_export *dray_ipc_next_waiting(uint32_t *at)
{
	while (*at < resting.touched) {
		const struct dray_ipc_export *export = slots[(*at)++];

		if (export && export->waits)
			return export;
	}
	return NULL;
}
