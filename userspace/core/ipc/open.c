// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: memory that this process opened by a record, another process's or its
 * own, as a counted object for each record; records of a buffer share a mapping
 * if it is long enough.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/number.h"
#include "ipc/ask.h"
#include "ipc/node.h"
#include "memory/node.h"

struct dray_ipc_memory {
	struct dray_ipc_fields fields;
	uint64_t references;
	struct dray_buffer *buffer; /* a reference, if not own and kept */
	bool has_buffer;
	void *data;
	struct dray_ipc_export *own; /* a lease of this process's own */
	int connection; /* the lease of another process's; else -1 */
	struct dray_ipc_identity identity; /* of the buffer */
	struct dray_address_link by_record;
	/* Not of this process's own: */
	struct dray_address_link by_identity;
	struct dray_address_link by_buffer;
};

/* All open records, and their mappings. */
static struct dray_address_table records; /* first link of by_record */
static struct dray_address_table identities; /* first link of by_identity */
static struct dray_address_table buffers; /* first link of by_buffer */

static struct dray_ipc_memory *
first_mapped(const struct dray_ipc_identity *identity)
{
	return DRAY_LINKED(dray_address_get(&identities,
					    dray_ipc_key(identity)),
			   struct dray_ipc_memory, by_identity);
}

static int open_check(const struct dray_ipc_memory *memory)
{
	ssize_t got;
	char byte;

	if (memory->own)
		got = memory->own->ended ? 1 : -1;
	else
		got = recv(memory->connection, &byte, 1,
			   MSG_PEEK | MSG_DONTWAIT);
	if (got > 0)
		return dray_fail(-ESTALE, "the memory of the record was freed");
	if (memory->own || (got < 0 && errno == EAGAIN))
		return 0;
	return dray_fail(-ECONNRESET,
			 "the process that exported the memory is gone");
}

int dray_ipc_check(const struct dray_ipc_memory *memory)
{
	int ret;

	if (!dray_given(memory, __func__))
		return -EINVAL;
	dray_ipc_lock();
	ret = open_check(memory);
	dray_ipc_unlock();
	return ret;
}

/* With the lock: finds the object of this open record; 1 if it is not open. */
static int find_open(const struct dray_ipc_fields *fields,
		     const struct dray_node *node, struct dray_ipc_memory **out)
{
	struct dray_address_link *link =
		dray_address_get(&records, fields->secret[0]);
	int ret;

	for (; link; link = link->next) {
		struct dray_ipc_memory *memory =
			DRAY_LINKED(link, struct dray_ipc_memory, by_record);

		/* A child must not treat its parent's own memory as its own. */
		if (memcmp(&memory->fields, fields, sizeof(*fields)) != 0 ||
		    (memory->own && memory->own->ended) ||
		    (node && dray_buffer_node(memory->buffer) != node))
			continue;
		ret = open_check(memory);
		if (ret == -ECONNRESET)
			return -ECONNREFUSED;
		if (!ret) {
			memory->references++;
			*out = memory;
		}
		return ret;
	}
	return 1;
}

/* With the lock: makes room for another record; -ENOMEM. */
static int open_prepare(void)
{
	if (dray_address_reserve(&records) &&
	    dray_address_reserve(&identities) && dray_address_reserve(&buffers))
		return 0;
	return dray_fail(-ENOMEM, "no memory for an open record");
}

/* With the lock, after open_prepare(). */
static void open_enlist(struct dray_ipc_memory *memory)
{
	memory->references = 1;
	dray_address_join(&records, memory->fields.secret[0],
			  &memory->by_record);
	if (memory->own)
		return;
	dray_address_join(&identities, dray_ipc_key(&memory->identity),
			  &memory->by_identity);
	dray_address_join(&buffers, (uintptr_t)memory->buffer,
			  &memory->by_buffer);
}

/* With the lock. */
static void open_leave(struct dray_ipc_memory *memory)
{
	dray_address_leave(&records, &memory->by_record);
	if (!memory->own) {
		dray_address_leave(&identities, &memory->by_identity);
		dray_address_leave(&buffers, &memory->by_buffer);
	}
	if (records.count)
		return;
	dray_address_end(&records);
	dray_address_end(&identities);
	dray_address_end(&buffers);
}

/* With the lock: opens memory of this process, which needs no mapping. */
static int open_own(struct dray_ipc_memory *memory)
{
	struct dray_ipc_export *export;
	int ret = open_prepare();

	if (!ret)
		ret = dray_ipc_lease(&memory->fields, NULL, &export);
	if (ret)
		return ret;
	memory->own = export;
	memory->buffer = export->buffer;
	memory->has_buffer = export->keeper == DRAY_IPC_BUFFER;
	memory->data = export->address;
	open_enlist(memory);
	return 0;
}

/* With the lock: finds a mapping of the same buffer that is long enough. */
static struct dray_buffer *
find_mapping(const struct dray_ipc_identity *identity,
	     const struct dray_node *node, const struct dray_ipc_fields *fields)
{
	const struct dray_ipc_memory *memory;

	for (memory = first_mapped(identity); memory;
	     memory = DRAY_LINKED(memory->by_identity.next,
				  struct dray_ipc_memory, by_identity)) {
		struct dray_buffer *buffer = memory->buffer;
		uint64_t size = dray_buffer_size(buffer);

		if (dray_ipc_is_same(&memory->identity, identity) &&
		    (!node || dray_buffer_node(buffer) == node) &&
		    fields->offset <= size &&
		    fields->size <= size - fields->offset)
			return dray_buffer_ref(buffer);
	}
	return NULL;
}

static int check_seals(const struct dray_ipc_fields *fields,
		       const struct dray_ipc_answer *answer, int fd)
{
	int seals;

	if (!(fields->flags & DRAY_IPC_READ_ONLY) ||
	    answer->backend != DRAY_IPC_HOST)
		return 0;
	seals = fcntl(fd, F_GET_SEALS);
	if (seals >= 0 && seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return 0;
	return dray_fail(
		-EPERM,
		"the record is read-only, but its memory is not sealed against writers");
}

/* Maps the received buffer, or finds its mapping. */
static int open_map(struct dray_ipc_memory *memory, struct dray_node *node,
		    const struct dray_ipc_answer *answer, int fd)
{
	const struct dray_ipc_fields *fields = &memory->fields;
	struct dray_node *opened = NULL;
	uint64_t need, size;
	int ret = check_seals(fields, answer, fd);

	/* Checked against the buffer that came, when its size is known. */
	if (dray_add_overflow(fields->offset, fields->size, &need))
		need = UINT64_MAX;

	if (!ret)
		ret = dray_ipc_identify(fd, &memory->identity);
	if (ret)
		return ret;
	dray_ipc_lock();
	memory->buffer = find_mapping(&memory->identity, node, fields);
	dray_ipc_unlock();
	if (!memory->buffer) {
		if (!node)
			ret = dray_ipc_open_node(answer->backend, answer->node,
						 &opened);
		if (!ret)
			ret = dray_buffer_import_bytes(node ? node : opened, fd,
						       need, &memory->buffer);
		dray_node_unref(opened);
		if (ret)
			return ret;
	}
	memory->has_buffer = true;
	size = dray_buffer_size(memory->buffer);
	if (fields->offset > size || fields->size > size - fields->offset)
		return dray_fail(-EBADMSG,
				 "%" PRIu64 " byte%s at %" PRIu64
				 ", the buffer has %" PRIu64,
				 fields->size, dray_plural(fields->size),
				 fields->offset, size);
	if (fields->flags & DRAY_IPC_READ_ONLY &&
	    dray_buffer_writable(memory->buffer))
		return dray_fail(
			-EPERM,
			"the record is read-only, but its memory can be written");
	memory->data =
		(char *)dray_buffer_data(memory->buffer) + fields->offset;
	return 0;
}

/* Unmaps the memory before the exporter hears that it may reuse it. */
static void open_discard(struct dray_ipc_memory *memory)
{
	DRAY_NO_CANCEL;

	if (memory->has_buffer)
		dray_buffer_unref(memory->buffer);
	if (memory->connection >= 0)
		close(memory->connection);
	free(memory);
}

/*
 * With the lock: only the last message can fail now.  When the exporter gets
 * it, it hands the memory over to no other process.
 */
static int finish_open(struct dray_ipc_memory *memory,
		       struct dray_ipc_memory **out)
{
	int ret = dray_ipc_say_mapped(memory->connection);

	if (ret)
		return ret;
	open_enlist(memory);
	*out = memory;
	return 0;
}

static int open_other(struct dray_ipc_memory *memory, struct dray_node *node,
		      struct dray_ipc_memory **out)
{
	DRAY_NO_CANCEL;
	struct dray_ipc_answer answer;
	int fd, ret;

	ret = dray_ipc_ask(&memory->fields, false, &answer, &memory->connection,
			   &fd);
	if (ret)
		return ret;
	ret = open_map(memory, node, &answer, fd);
	close(fd);
	if (ret)
		return ret;
	dray_ipc_lock();
	/* Another thread may be faster. */
	ret = find_open(&memory->fields, node, out);
	if (ret == 1) {
		ret = open_prepare();
		if (!ret)
			ret = finish_open(memory, out);
	}
	dray_ipc_unlock();
	return ret;
}

int dray_ipc_open(const struct dray_ipc_record *record, struct dray_node *node,
		  struct dray_ipc_memory **out)
{
	struct dray_ipc_memory *memory, *opened = NULL;
	struct dray_ipc_fields fields;
	int ret;

	if (!dray_given(record, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_ipc_read(record, &fields);
	if (ret)
		return ret;
	memory = calloc(1, sizeof(*memory));
	if (!memory)
		return dray_fail(-ENOMEM, "no memory for an open record");
	memory->fields = fields;
	memory->connection = -1;
	dray_ipc_enlist();
	dray_ipc_lock();
	ret = find_open(&fields, node, &opened);
	if (ret == 1 && dray_ipc_is_own(fields.broker)) {
		ret = open_own(memory);
		opened = memory;
	}
	dray_ipc_unlock();
	if (ret == 1)
		ret = open_other(memory, node, &opened);
	if (ret || opened != memory)
		open_discard(memory);
	if (!ret)
		*out = opened;
	return ret;
}

/* With the lock: removes the object from the list. */
static void open_forget(struct dray_ipc_memory *memory)
{
	open_leave(memory);
	dray_ipc_end_memory(memory);
	if (memory->own)
		dray_ipc_release(memory->own, true);
}

void dray_ipc_close(struct dray_ipc_memory *memory)
{
	bool last;

	if (!memory)
		return;
	dray_ipc_lock();
	last = !--memory->references;
	if (last)
		open_forget(memory);
	dray_ipc_unlock();
	if (!last)
		return;
	open_discard(memory);
	dray_ipc_settle();
}

void dray_ipc_memory_ref(struct dray_ipc_memory *memory)
{
	memory->references++;
}

int dray_ipc_find_memory(const struct dray_buffer *buffer, const void *address,
			 uint64_t size, struct dray_ipc_memory **out)
{
	uintptr_t at = (uintptr_t)address;
	struct dray_address_link *link =
		dray_address_get(&buffers, (uintptr_t)buffer);

	if (!link)
		return -ENOENT;
	for (; link; link = link->next) {
		struct dray_ipc_memory *memory =
			DRAY_LINKED(link, struct dray_ipc_memory, by_buffer);
		uint64_t inside = at - (uintptr_t)memory->data;

		if (inside <= memory->fields.size &&
		    size <= memory->fields.size - inside) {
			memory->references++;
			*out = memory;
			return 0;
		}
	}
	return dray_fail(
		-EINVAL,
		"%" PRIu64
		" bytes at %p are not all in the opened part of another process's buffer",
		size, address);
}

void *dray_ipc_data(const struct dray_ipc_memory *memory)
{
	return dray_given(memory, __func__) ? memory->data : NULL;
}

uint64_t dray_ipc_size(const struct dray_ipc_memory *memory)
{
	return dray_given(memory, __func__) ? memory->fields.size : 0;
}

struct dray_buffer *dray_ipc_buffer(const struct dray_ipc_memory *memory)
{
	return dray_given(memory, __func__) ? memory->buffer : NULL;
}

bool dray_ipc_writable(const struct dray_ipc_memory *memory)
{
	return dray_given(memory, __func__) &&
	       dray_buffer_writable(memory->buffer) &&
	       !(memory->fields.flags & DRAY_IPC_READ_ONLY);
}
