/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files about records.  record.c packs the messages between
 * processes, node.c the part of them about nodes.  The exporter's side:
 * export.c makes records, slots.c keeps the memory they lead to, index.c finds
 * records by memory, broker_thread.c is the thread that answers, serve.c its
 * connections, and others.c the share of other users.  The importer's side:
 * ask.c asks the broker, open.c keeps the memory that is open, and copy.c copies
 * without opening.
 *
 * Each connection is a lease.  After the answer the importer sends a byte when
 * the memory is mapped, and nothing more; the exporter sends a byte if the
 * record ends.  The lease ends with the connection, from either side and for any
 * reason.  A child of fork() inherits mapping and connection alike.
 *
 * A single lock for all of it, the lowest of the library: nothing that acquires
 * another lock is called with it.
 */
#ifndef DRAY_IPC_IPC_H
#define DRAY_IPC_IPC_H

#include <stdatomic.h>
#include <sys/types.h>

#include <dray/ipc.h>
#include "base/address_chain.h"

#define DRAY_IPC_MAGIC 0x69797264u	/* "dryi" in memory */
#define DRAY_IPC_VERSION 3u
#define DRAY_IPC_FLAGS \
	(DRAY_IPC_READ_ONLY | DRAY_IPC_HANDOVER | DRAY_IPC_ANY_USER)

/* How long a process waits for another that began, or should answer. */
#define DRAY_IPC_PATIENCE_MS 5000

/* The bytes of a record, in the byte order of the machine. */
struct dray_ipc_fields {
	uint32_t magic;
	uint16_t version;
	uint16_t flags;		/* DRAY_IPC_* */
	uint64_t secret[2];
	uint64_t broker;	/* the name of its socket */
	uint32_t slot;
	uint32_t generation;	/* counts the exports: slots are used again */
	uint64_t buffer;	/* its id in the exporter */
	uint64_t offset;	/* bytes, in the buffer */
	uint64_t size;		/* bytes */
};

_Static_assert(sizeof(struct dray_ipc_fields) == DRAY_IPC_RECORD_SIZE,
	       "a record is part of the ABI");

/*
 * The importer's question: the fields alone for a lease, all of it for a lease
 * that ends when the bytes are copied.
 */
struct dray_ipc_question {
	struct dray_ipc_fields fields;
	uint64_t copies;	/* 1 */
};

/*
 * The broker's answer to a record, with the buffer's descriptor if error is 0.
 */
struct dray_ipc_answer {
	uint32_t magic;
	int32_t error;		/* 0 or a negative errno */
	uint32_t backend;	/* enum dray_ipc_backend; 0 with an error */
	uint32_t share;		/* -EDQUOT: enum dray_ipc_share; else 0 */
	uint32_t limit;		/* -EDQUOT: leases in the share; else 0 */
	uint32_t reserved;	/* 0 */
	char node[DRAY_NAME_LEN];	/* kernel: "dray0"; else empty */
};

/* Reads a record and checks its form: -EBADMSG, -EPROTO. */
int dray_ipc_read(const struct dray_ipc_record *record,
		  struct dray_ipc_fields *fields);

/* The address of a broker's socket; its length. */
struct sockaddr_un;
unsigned int dray_ipc_address(uint64_t broker, struct sockaddr_un *address);

/* @size random bytes. */
int dray_ipc_random(void *bytes, size_t size);

/* CLOCK_MONOTONIC in milliseconds. */
int64_t dray_ipc_now(void);

/* A child of a bare clone() notices its fork here. */
void dray_ipc_lock(void);
void dray_ipc_unlock(void);

/*
 * Registers the lock with fork(), so that a child drops its parent's exports.
 */
void dray_ipc_enlist(void);
/* With the lock: names the function that a child calls with the lock. */
void dray_ipc_on_fork(void (*inherit_exports)(void));

/* With the lock: waits for a signal; false if the time is over. */
bool dray_ipc_wait_signal(int64_t until);
void dray_ipc_signal(void);

/* The object that keeps an export's memory. */
enum dray_ipc_keeper {
	DRAY_IPC_BLOCK,		/* a hold on the block, from the start */
	DRAY_IPC_BUFFER,	/* a reference to the buffer, for a handover */
	DRAY_IPC_MEMORY,	/* an open record, for a handover or a lease */
};

/* The descriptor for importers, shared by equal exports of a buffer. */
struct dray_ipc_file {
	int fd;
	uint32_t exports;
	uint64_t key;		/* index.c's */
};

/* A record that this process exported. */
struct dray_ipc_export {
	struct dray_ipc_fields fields;
	struct dray_ipc_answer answer;
	enum dray_ipc_keeper keeper;
	void *kept;		/* the block's start, the buffer, the memory */
	bool keeps;
	/* of an open record */
	void (*ref_memory)(struct dray_ipc_memory *memory);
	void (*close_memory)(struct dray_ipc_memory *memory);
	bool waits;		/* a handover without a mapping yet */
	int64_t made;		/* dray_ipc_now() */
	uint64_t claims;	/* calls that gave the record, less revocations */
	bool ended;		/* cannot be opened any more */
	uint32_t leases;	/* of other processes, and this process */
	uint32_t own;		/* of this process */
	struct dray_ipc_connection *connections;	/* of the leases */
	uid_t user;
	struct dray_buffer *buffer;	/* NULL: it is gone */
	void *address;		/* of the first byte */
	struct dray_ipc_file *file;
	bool unsettled;		/* dray_ipc_settle() must look at it */
	struct dray_ipc_export *next_unsettled;
	/* index.c's */
	bool is_indexed;
	bool has_likes;
	struct dray_address_link by_range;
	struct dray_address_link by_kept;
};

struct dray_ipc_broker;

/* The thread that answers, for the exports below it.  With the lock, each of these. */
struct dray_ipc_server {
	int (*start)(uint64_t name, struct dray_ipc_broker **out);
	/* Its socket is closed, its thread ends in a moment. */
	void (*stop)(struct dray_ipc_broker *broker);
	/* In a child, without these threads: closes the inherited descriptors. */
	void (*forget)(void);
	/* Reads pending bytes of the importers of @export. */
	void (*hear)(struct dray_ipc_export *export);
	/* Notifies the importers of @export of its end. */
	void (*tell_end)(struct dray_ipc_export *export);
	/* In a child: closes the connections of @export, which are the parent's. */
	void (*forget_leases)(struct dray_ipc_export *export);
};

extern const struct dray_ipc_server dray_ipc_server;

/*
 * With the lock: puts it into a slot, with flags, size and the like filled in.  The
 * first export starts @server.
 */
int dray_ipc_add(struct dray_ipc_export *export,
		 const struct dray_ipc_server *server);
/* With the lock: an export that leads to the same memory, the same way, or NULL. */
struct dray_ipc_export *
dray_ipc_find_same(const struct dray_ipc_export *wanted);
/* With the lock: counts the handovers that were not opened. */
uint32_t dray_ipc_waiting(void);
/* Returns an export in slot *@at or behind, and moves *@at behind it; or NULL. */
const struct dray_ipc_export *dray_ipc_next_waiting(uint32_t *at);
/* With the lock: ends it, so that it cannot be opened. */
void dray_ipc_end(struct dray_ipc_export *export);

/*
 * With the lock: finds the export of a record; lease also adds a lease to it.
 * @user: of the importer; NULL: this process.  -ESTALE, -EACCES, -EBADMSG.
 */
int dray_ipc_find(const struct dray_ipc_fields *asked, const uid_t *user,
		  struct dray_ipc_export **out);
int dray_ipc_lease(const struct dray_ipc_fields *asked, const uid_t *user,
		   struct dray_ipc_export **out);
/* With the lock: its importer mapped it, so a handover waits no more. */
void dray_ipc_mapped(struct dray_ipc_export *export);
/* With the lock: ends a lease; dray_ipc_settle() follows, without it. */
void dray_ipc_release(struct dray_ipc_export *export, bool own);
/* Without the lock: frees the memory of ended exports. */
void dray_ipc_settle(void);
/* With the lock: ends the exports of memory that is closed. */
void dray_ipc_end_memory(const struct dray_ipc_memory *memory);
/* Users that this namespace of users hides are never the same. */
bool dray_ipc_is_same_user(uid_t one, uid_t other);

/* With the lock: whether that broker is of this process. */
bool dray_ipc_is_own(uint64_t broker);

/*
 * With the lock: finds the open record around @size bytes at @address, and
 * adds a reference, which dray_ipc_close() drops.  Returns -ENOENT if no
 * record leads to this buffer, -EINVAL if the bytes lie outside the opened
 * range.
 */
int dray_ipc_find_memory(const struct dray_buffer *buffer, const void *address,
			 uint64_t size, struct dray_ipc_memory **out);
void dray_ipc_memory_ref(struct dray_ipc_memory *memory);

/* serve.c's part of the server, which broker_thread.c holds together. */
void dray_ipc_hear(struct dray_ipc_export *export);
void dray_ipc_tell_end(struct dray_ipc_export *export);
void dray_ipc_forget_leases(struct dray_ipc_export *export);

#endif /* DRAY_IPC_IPC_H */
