/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * ipc: memory of this process for others, by a record of plain bytes.
 *
 * The exporter makes a record of memory (dray_ipc_export()); an importer, any
 * process on the same machine, opens it (dray_ipc_open()) and then maps the
 * same memory: nothing is copied.
 *
 *	struct dray_ipc_record record;
 *	struct dray_ipc_memory *memory;
 *
 *	ret = dray_ipc_export(block, 4096, 0, &record);
 *	if (ret)
 *		return ret;
 *	// in the process that received the record
 *	ret = dray_ipc_open(&record, NULL, &memory);
 *	if (ret)
 *		return ret;
 *	puts(dray_ipc_data(memory));
 *	dray_ipc_close(memory);
 *
 * A record is 64 bytes that travel as a program likes: through a pipe, a file,
 * a message.  They hold neither a pointer nor a file descriptor, but the name
 * of a socket of the exporter, a secret of 128 bits, and the place of the
 * memory.  A thread of the exporter, the broker, answers there.  It hands the
 * memory's file descriptor to a process that knows the secret and runs as the
 * same user, or, with DRAY_IPC_ANY_USER, as any.  The first export starts it;
 * it ends when every record ended and none is open.
 *
 * A record is open from dray_ipc_open() to dray_ipc_close(), or to the end of
 * the process that opened it.  If a pool's block is freed while a record of it
 * is open anywhere, the last close completes the free; until then the memory is
 * not reused.  An importer's mapping of a buffer stays valid if the exporter
 * drops the buffer.  A record ends, so that it can be opened no more, when its
 * memory is freed, when each export of it is revoked (dray_ipc_revoke()), and
 * with the exporter.
 *
 * An importer reaches not only the memory of the record but the whole buffer
 * around it, and can write all of that unless the record is DRAY_IPC_READ_ONLY.
 * A pool's blocks share a buffer, so use a buffer of its own for processes that
 * are not trusted (dray_buffer_alloc(), dray_array_create_alone()).  The bytes
 * of a record are a secret: any process of the same user that reads them can
 * open it.
 *
 * Each open record costs its importer a file descriptor, a connection, and its
 * exporter another.  Children by fork() share it, and the kernel reports when
 * the last holder closes it.  If either process is at its limit
 * (RLIMIT_NOFILE), dray_ipc_open() returns -EMFILE at once, with a sentence
 * that names the process; open records stay open.  The exporter keeps a file
 * descriptor in reserve for that answer.  dray_ipc_copy() works then too: it
 * copies the bytes and keeps nothing open.
 *
 * Of the exporter's limit other users (DRAY_IPC_ANY_USER) get at most half
 * together, each user a quarter, and each user for a single record an eighth.
 * The processes of the exporter's own user may use all of it.
 *
 * Exporter and importer must share a network namespace, where the name of the
 * socket is valid.  A child of fork() inherits its parent's open records, and
 * each stays open until both close it.  The parent's exports are not the
 * child's: it opens records of its parent like any other process.  If a child
 * of a bare clone() outlives its parent, it keeps the socket's name alive, so
 * that records of the parent end with -ETIMEDOUT, not -ECONNREFUSED.
 *
 * Every function may be called from any thread, also at the same time, but not
 * from a signal handler.  A dray_ipc_memory must not be closed for the last time
 * while another thread uses it.  Only dray_ipc_open(), dray_ipc_copy() and
 * dray_ipc_wait() wait for another process.  Functions of type int return 0 or
 * a negative errno, and then dray_last_error() returns a sentence.
 */
#ifndef DRAY_IPC_H
#define DRAY_IPC_H

#include <dray/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a record; part of the ABI. */
#define DRAY_IPC_RECORD_SIZE 64

/**
 * A record: the place of memory of a process.  Copied and compared as bytes;
 * only the library reads their meaning, on this machine.
 */
struct dray_ipc_record {
	unsigned char bytes[DRAY_IPC_RECORD_SIZE];
};

/** Importers can read the memory, and never write it. */
#define DRAY_IPC_READ_ONLY	(1u << 0)
/**
 * The record keeps the memory, freed or not, until a process opens it.  If an
 * open fails, at a limit of the importer for example, it can be tried again.
 * After the first open the importers keep the memory, and the record ends with
 * the last close.  For memory that its maker hands over and forgets.  A record
 * that no process opens keeps its memory until dray_ipc_revoke() or the end of
 * the process, see dray_ipc_handovers() and dray_ipc_wait().
 */
#define DRAY_IPC_HANDOVER	(1u << 1)
/**
 * Any user may open it, and the importer accepts any user's exporter.  Without
 * the flag a record is opened from a process of the importer's own user only.
 * The flag is part of the record, so a forged record may contain it: the forger
 * then chooses the bytes, and changes them at any moment.  Trust such a record
 * only if you trust its sender.
 */
#define DRAY_IPC_ANY_USER	(1u << 2)

/** The most records that a process may export at a time. */
#define DRAY_IPC_MAX_EXPORTS 16384

/**
 * Makes a record of the @size bytes at @address.
 *
 * @address: in a block of a pool, in a buffer, or in memory that this process
 *	opened itself
 * @size: bytes, all in that block, buffer or memory; 0 is allowed
 * @flags: DRAY_IPC_*, or 0
 * @record: written on success
 *
 * While a record lives, the same memory with the same flags yields the same
 * record, counted once more for each call, because a program and its libraries
 * may all export it.  With DRAY_IPC_HANDOVER each call makes a new record.
 *
 * Memory that this process opened is passed on as its own, even if its exporter
 * freed it (dray_ipc_check() is -ESTALE): the open record here keeps it.  The
 * new record ends when its last keeper is gone: this process's open record, the
 * new record's importers, and, with DRAY_IPC_HANDOVER, the new record itself.
 *
 * On the host, DRAY_IPC_READ_ONLY needs a buffer of its own, and seals it: no
 * later call can share it for writing.  This process may still write it.
 *
 * Errors:
 *
 *	-EINVAL		an unknown flag; no memory of dray; a range that leaves
 *			its block or buffer
 *	-EOPNOTSUPP	private host memory; reserved huge pages; for reading
 *			only: a block of a pool on the host
 *	-EPERM		memory that this process may only read, or gave for
 *			reading, without DRAY_IPC_READ_ONLY; memory that it gave
 *			for writing, with that flag on the host
 *	-ENOSPC		DRAY_IPC_MAX_EXPORTS
 *	-ENOMEM
 *	-EAGAIN		no thread
 *	-EMFILE		no file descriptor
 *
 * and the errors of socket().
 */
DRAY_API int dray_ipc_export(const void *address, uint64_t size,
			     uint32_t flags, struct dray_ipc_record *record);

/**
 * Undoes a dray_ipc_export() of this process.  The last call ends the record:
 * it cannot be opened from now on, importers keep the memory until they close
 * it, and a later export of the memory makes another record.
 *
 * Errors: -ESTALE (it ended, or is another process's), -EBADMSG.
 */
DRAY_API int dray_ipc_revoke(const struct dray_ipc_record *record);

/**
 * Waits until every record with DRAY_IPC_HANDOVER of this process was opened
 * once, or revoked; 0 at once if there is none.  For a process that is about to
 * end: unopened records end with it.
 *
 * @timeout_ms: milliseconds; 0 only looks, below 0 there is no limit
 *
 * Errors: -ETIMEDOUT (the sentence counts the unopened records).
 */
DRAY_API int dray_ipc_wait(int timeout_ms);

/** A record with DRAY_IPC_HANDOVER that was not opened yet. */
struct dray_ipc_handover {
	struct dray_ipc_record record;
	uint64_t size;		/* bytes that it names, and keeps */
	uint64_t age_ms;	/* since it was made */
};

/**
 * Lists the unopened records with DRAY_IPC_HANDOVER of this process, which keep
 * their memory, at most @room of them; counts all of them in @count.  Returns
 * 0.  Revoke a record if you know that it will not be opened.
 *
 * @list: may be NULL if @room is 0
 */
DRAY_API int dray_ipc_handovers(struct dray_ipc_handover *list, size_t room,
				size_t *count);

/** Memory that a record leads to, open in this process. */
struct dray_ipc_memory;

/**
 * Opens a record.  The record and the exporter's answer are not trusted: the
 * memory is measured by the real size of the buffer, which must not be able to
 * shrink.
 *
 * A record that is open in this process already yields the same object once
 * more, without asking the exporter.  A record of this process leads to the
 * memory itself, without a mapping.  Records of the same buffer share a
 * mapping.
 *
 * @node: for which the memory is mapped, not for a record of this process; NULL
 *	opens the node that the memory is of
 * @out: the memory; each open is undone by a dray_ipc_close()
 *
 * Waits for the exporter: five seconds at most until it accepts the connection,
 * and five for its answer.
 *
 * Errors:
 *
 *	-EBADMSG	no record; a range that leaves its memory; an exporter
 *			that answers nonsense
 *	-EPROTO		a record of another version
 *	-ECONNREFUSED	the exporter is gone, or exports nothing any more
 *	-ETIMEDOUT	the exporter does not answer
 *	-ESTALE		freed, or revoked
 *	-EACCES		a wrong secret; another user
 *	-EPERM		the memory that came could shrink; or, of a record for
 *			reading, be written
 *	-EMFILE, -ENFILE	this process, or the exporter, can open no more
 *			file descriptors
 *	-EDQUOT		another user's: all that the exporter gives this user,
 *			for this record or in all, or other users, is taken
 *	-ENOMEM
 *
 * and the errors of dray_node_open() and dray_buffer_import().
 */
DRAY_API int dray_ipc_open(const struct dray_ipc_record *record,
			   struct dray_node *node,
			   struct dray_ipc_memory **out);
/**
 * Undoes a dray_ipc_open(); the last call unmaps the memory unless another
 * record of the same buffer is open.  Waits for no other process.  NULL is
 * ignored.
 */
DRAY_API void dray_ipc_close(struct dray_ipc_memory *memory);

/**
 * Copies the bytes that a record names, and opens nothing: for a process with
 * few file descriptors left, or none, or needs the bytes as they are now.
 *
 * It works if this process or the exporter is at its limit of file descriptors.
 * A record with DRAY_IPC_HANDOVER ends by it, as by the close of its only
 * opener.
 *
 * @to: @room bytes
 * @size: bytes that the record names, also if there is too little room
 *
 * Waits as dray_ipc_open(), also for a record of this process.
 *
 * Errors: -ENOSPC (too little room: the exporter was not asked), else as
 * dray_ipc_open(); -EMFILE only if the kernel is older than 5.9.
 */
DRAY_API int dray_ipc_copy(const struct dray_ipc_record *record, void *to,
			   uint64_t room, uint64_t *size);

/** Returns the first byte that the record names; valid until the last close. */
DRAY_API void *dray_ipc_data(const struct dray_ipc_memory *memory);
/** Returns the number of bytes that the record names. */
DRAY_API uint64_t dray_ipc_size(const struct dray_ipc_memory *memory);
/**
 * Returns the buffer around it, borrowed: valid until the last close.  A pool's
 * buffer on the host grows: this is the part of it that is mapped here.
 */
DRAY_API struct dray_buffer *
dray_ipc_buffer(const struct dray_ipc_memory *memory);
/**
 * Returns whether it may be written: false if it was exported for reading only.
 */
DRAY_API bool dray_ipc_writable(const struct dray_ipc_memory *memory);

/**
 * Checks whether the exporter still holds the memory, as far as known without
 * asking it.  The memory stays mapped, with its bytes, in each case.  Costs a
 * system call.
 *
 * Errors: -ESTALE (it freed the memory or revoked the record), -ECONNRESET (the
 * exporter is gone).
 */
DRAY_API int dray_ipc_check(const struct dray_ipc_memory *memory);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_IPC_H */
