// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: what this process exports, for all who ask.  Each record has a slot,
 * whose generation rises when the record ends: a record of an older generation
 * leads nowhere.
 *
 * An export that has ended stays until its last lease does; only then is what
 * it kept given up, without the lock, as that may free memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc/busy.h"
#include "alloc/ipc.h"
#include "alloc/ipc_generations.h"
#include "base/error.h"
#include "memory/node.h"

/* All of it is there from the first export to the last. */
static struct {
	pid_t process; /* 0: nothing is exported */
	uint64_t name;
	struct dray_ipc_broker *broker;
	struct dray_ipc_generations generations;
	uint32_t next; /* the slot to look at first */
} exporter;

/* Those of a parent too, until they are settled. */
static struct dray_ipc_export *slots[DRAY_IPC_MAX_EXPORTS];
static uint32_t used; /* slots in front of the last in use */
static _Atomic uint32_t count;

bool dray_ipc_is_own(uint64_t broker)
{
	return exporter.process && exporter.name == broker;
}

void dray_ipc_end(struct dray_ipc_export *export)
{
	if (export->ended)
		return;
	export->ended = true;
	export->waits = false;
	if (exporter.generations.slots)
		atomic_fetch_add(
			&exporter.generations.slots[export->fields.slot], 1);
}

static int begin(void)
{
	uint64_t name;
	int ret;

	if (exporter.process)
		return 0;
	ret = dray_ipc_random(&name, sizeof(name));
	if (!ret)
		ret = dray_ipc_generations_make(&exporter.generations);
	if (ret)
		return ret;
	ret = dray_ipc_broker_start(exporter.generations.fd, name,
				    &exporter.broker);
	if (ret) {
		dray_ipc_generations_drop(&exporter.generations);
		return ret;
	}
	exporter.name = name;
	exporter.process = getpid();
	return 0;
}

static void finish(void)
{
	dray_ipc_broker_stop(exporter.broker);
	dray_ipc_generations_drop(&exporter.generations);
	exporter.process = 0;
}

void dray_ipc_inherit(void)
{
	uint32_t i;

	dray_ipc_broker_forget();
	if (exporter.process) {
		dray_ipc_generations_forget(&exporter.generations);
		exporter.process = 0;
	}
	for (i = 0; i < used; i++) {
		if (!slots[i])
			continue;
		slots[i]->leases = slots[i]->own;
		dray_ipc_end(slots[i]);
	}
}

void dray_ipc_notice_fork(void)
{
	if (exporter.process && exporter.process != getpid())
		dray_ipc_inherit();
}

/* What can be given up of an export now; NULL: nothing. */
static void *idle(struct dray_ipc_export *export)
{
	if (export->leases || export->waits || !export->keeps)
		return NULL;
	if (!export->ended && export->keeper != DRAY_IPC_MEMORY)
		return NULL;
	export->keeps = false;
	return export->kept;
}

static void give_up(enum dray_ipc_keeper keeper, void *kept)
{
	if (!kept)
		return;
	if (keeper == DRAY_IPC_BLOCK)
		dray_block_release(kept);
	else if (keeper == DRAY_IPC_BUFFER)
		dray_buffer_unref(kept);
	else
		dray_ipc_close(kept);
}

static void drop_file(struct dray_ipc_export *export)
{
	if (--export->file->exports)
		return;
	close(export->file->fd);
	free(export->file);
}

/* With the lock: out of its slot. */
static void forget(struct dray_ipc_export *export)
{
	slots[export->fields.slot] = NULL;
	while (used && !slots[used - 1])
		used--;
	drop_file(export);
	free(export);
	if (atomic_fetch_sub(&count, 1) == 1 && exporter.process)
		finish();
}

/* One step of dray_ipc_settle(), from slot *@at on; false at the end. */
static bool settle_next(uint32_t *at)
{
	enum dray_ipc_keeper keeper = DRAY_IPC_BLOCK;
	void *kept = NULL;

	dray_ipc_lock();
	for (; *at < used && !kept; ++*at) {
		struct dray_ipc_export *export = slots[*at];

		if (!export)
			continue;
		keeper = export->keeper;
		kept = idle(export);
		if (export->ended && !export->leases)
			forget(export);
	}
	dray_ipc_unlock();
	give_up(keeper, kept);
	return kept;
}

void dray_ipc_settle(void)
{
	uint32_t at = 0;

	while (settle_next(&at))
		;
}

static void buffer_ended(struct dray_buffer *buffer)
{
	uint32_t i;

	if (!atomic_load(&count))
		return;
	dray_ipc_lock();
	dray_ipc_notice_fork();
	for (i = 0; i < used; i++) {
		if (slots[i] && slots[i]->buffer == buffer) {
			dray_ipc_end(slots[i]);
			slots[i]->buffer = NULL;
		}
	}
	dray_ipc_unlock();
	dray_ipc_settle();
}

void dray_ipc_block_freed(const void *block)
{
	uint32_t i;

	if (!atomic_load(&count))
		return;
	dray_ipc_lock();
	dray_ipc_notice_fork();
	for (i = 0; i < used; i++) {
		if (slots[i] && slots[i]->keeper == DRAY_IPC_BLOCK &&
		    slots[i]->kept == block &&
		    !(slots[i]->fields.flags & DRAY_IPC_HANDOVER))
			dray_ipc_end(slots[i]);
	}
	dray_ipc_unlock();
	dray_ipc_settle();
}

void dray_ipc_end_memory(const struct dray_ipc_memory *memory)
{
	uint32_t i;

	for (i = 0; i < used; i++) {
		if (slots[i] && slots[i]->keeper == DRAY_IPC_MEMORY &&
		    slots[i]->kept == memory) {
			dray_ipc_end(slots[i]);
			slots[i]->buffer = NULL;
		}
	}
}

/* In a time that does not tell how much of it was right. */
static bool is_secret(const uint64_t *said, const uint64_t *secret)
{
	return !((said[0] ^ secret[0]) | (said[1] ^ secret[1]));
}

int dray_ipc_find(const struct dray_ipc_fields *asked, const uid_t *user,
		  struct dray_ipc_export **out)
{
	struct dray_ipc_export *export = slots[asked->slot];

	if (user && *user != (export ? export->user : geteuid()) &&
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
		dray_ipc_memory_ref(export->kept);
		export->keeps = true;
	}
	export->leases++;
	export->own += !user;
	if (export->waits) {
		export->waits = false;
		dray_ipc_signal();
	}
	*out = export;
	return 0;
}

void dray_ipc_release(struct dray_ipc_export *export, bool own)
{
	export->own -= own;
	if (!--export->leases && export->fields.flags & DRAY_IPC_HANDOVER)
		dray_ipc_end(export);
}

static int find_file(struct dray_ipc_export *export)
{
	struct dray_ipc_file *file;
	uint32_t i;
	int ret;

	for (i = 0; i < used; i++) {
		if (slots[i] && slots[i]->buffer == export->buffer &&
		    !((slots[i]->fields.flags ^ export->fields.flags) &
		      DRAY_IPC_READ_ONLY)) {
			export->file = slots[i]->file;
			export->file->exports++;
			return 0;
		}
	}
	file = malloc(sizeof(*file));
	if (!file)
		return dray_fail(-ENOMEM, "no memory for an export");
	ret = dray_buffer_share(export->buffer,
				export->fields.flags & DRAY_IPC_READ_ONLY,
				&file->fd);
	if (ret) {
		free(file);
		return ret;
	}
	file->exports = 1;
	export->file = file;
	return 0;
}

static int find_slot(uint32_t *slot)
{
	uint32_t i, at = exporter.next;

	for (i = 0; i < DRAY_IPC_MAX_EXPORTS; i++, at++) {
		at %= DRAY_IPC_MAX_EXPORTS;
		if (!slots[at]) {
			*slot = at;
			return 0;
		}
	}
	return dray_fail(-ENOSPC,
			 "%u records lead to memory, the most there are",
			 DRAY_IPC_MAX_EXPORTS);
}

int dray_ipc_add(struct dray_ipc_export *export)
{
	struct dray_ipc_fields *fields = &export->fields;
	int ret = find_slot(&fields->slot);

	if (!ret)
		ret = dray_ipc_random(fields->secret, sizeof(fields->secret));
	if (!ret)
		ret = find_file(export);
	if (ret)
		return ret;
	ret = begin();
	if (ret) {
		drop_file(export);
		return ret;
	}
	/* A slot rests as long as there are others. */
	exporter.next = fields->slot + 1;
	fields->broker = exporter.name;
	fields->generation =
		atomic_load(&exporter.generations.slots[fields->slot]);
	slots[fields->slot] = export;
	if (fields->slot >= used)
		used = fields->slot + 1;
	atomic_fetch_add(&count, 1);
	if (export->keeper == DRAY_IPC_BUFFER)
		dray_buffer_on_end(export->buffer, buffer_ended);
	return 0;
}

struct dray_ipc_export *dray_ipc_find_same(const struct dray_ipc_export *wanted)
{
	uint32_t i;

	for (i = 0; i < used; i++) {
		struct dray_ipc_export *export = slots[i];

		if (export && !export->ended &&
		    export->address == wanted->address &&
		    export->fields.size == wanted->fields.size &&
		    export->fields.flags == wanted->fields.flags &&
		    export->kept == wanted->kept)
			return export;
	}
	return NULL;
}

uint32_t dray_ipc_waiting(void)
{
	uint32_t i, n = 0;

	for (i = 0; i < used; i++)
		n += slots[i] && slots[i]->waits;
	return n;
}
