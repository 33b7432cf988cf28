/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * ipc: memory of this process for others, by a record of plain bytes.
 *
 * The exporter makes a record of memory (dray_ipc_export()); an importer, any
 * process on the same machine, opens it (dray_ipc_open()) and then has the same
 * memory mapped: nothing is copied.
 *
 * A record is 64 bytes that travel as a program likes: through a pipe, a file,
 * a message.  They hold no pointer and no descriptor, but the name of a socket
 * of the exporter, a secret of 128 bits, and which memory it is.  A thread of
 * the exporter, the broker, answers there: it hands the memory's descriptor to
 * whoever has the secret and is of the same user, or, with DRAY_IPC_ANY_USER, of
 * any.  It is started by the first export, and ends when every record has ended
 * and nobody has one open.
 *
 * A record is open from dray_ipc_open() to dray_ipc_close(), or to the end of
 * the process that opened it.  As long as a record of a pool's block is open
 * somewhere, a free of the block does not give the memory to anybody else: the
 * last close completes the free.  Memory of a buffer of its own stays mapped
 * where it is open, whatever becomes of the exporter's buffer.  A record ends,
 * so that it can be opened no more, when its memory is freed, when each export
 * of it is revoked (dray_ipc_revoke()), and with the exporter.
 *
 * Who opens a record reaches not only what it names but the whole buffer around
 * it, and can write all of that unless the record is DRAY_IPC_READ_ONLY.  A
 * pool's blocks share a buffer; memory for processes that are not trusted is
 * therefore a buffer of its own (dray_buffer_alloc(),
 * dray_array_create_alone()).  The bytes of a record are a secret: whoever of
 * the same user reads them can open it.
 *
 * Each record that is open takes a descriptor, a connection, of its importer and
 * another one of its exporter: both processes and their children by fork() have
 * it, and the kernel tells when the last of them has closed it.  Either one at
 * its limit (RLIMIT_NOFILE) makes dray_ipc_open() give -EMFILE at once, with a
 * sentence that says which; what is open stays so.  The exporter keeps one
 * descriptor in reserve for that answer.  dray_ipc_copy() works then too: it
 * copies the bytes and keeps nothing open.
 *
 * Of the exporter's limit other users (DRAY_IPC_ANY_USER) get at most half
 * together, one of them a quarter, and one of them for one record an eighth.
 * The processes of the exporter's own user can have the rest, and all of it.
 *
 * Exporter and importer are in the same network namespace, where the name of
 * the socket holds.  A child of fork() has what its parent had open, and it
 * stays open until both have closed it.  What its parent exports is not the
 * child's: it opens records of its parent like any other process.  A child of
 * the bare clone() that outlives its parent keeps the socket's name alive, so
 * that records of the parent end with -ETIMEDOUT, not -ECONNREFUSED.
 *
 * Every function may be called from any thread, also at the same time, but not
 * from a signal handler.  A dray_ipc_memory must not be closed for the last time
 * while another thread uses it.  Only dray_ipc_open(), dray_ipc_copy() and
 * dray_ipc_wait() wait for another process.  Those that return int give 0 or a
 * negative errno, and then dray_last_error() has a sentence.
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
 * A record: where memory of a process is.  Copied and compared as bytes; what
 * they mean is the library's, and holds on this machine only.
 */
struct dray_ipc_record {
	unsigned char bytes[DRAY_IPC_RECORD_SIZE];
};

/** Whoever opens the record can read the memory, and never write it. */
#define DRAY_IPC_READ_ONLY	(1u << 0)
/**
 * The record keeps the memory, freed or not, until a process has opened it.  An
 * open that fails, at a limit of the importer for example, can be tried again.
 * After the first open the importers keep the memory, and the record ends with
 * the last close.  For memory that its maker hands over and forgets.  A record
 * that nobody opens keeps its memory until dray_ipc_revoke() or the end of the
 * process, see dray_ipc_handovers() and dray_ipc_wait().
 */
#define DRAY_IPC_HANDOVER	(1u << 1)
/**
 * Whoever has the record may open it, whatever user runs that process.  And who
 * opens it takes memory from whatever user answers: a record without the flag
 * is opened from a process of the importer's own user only.  The flag is part of
 * the record, so that a forged one may have it: that user then says what the
 * bytes are, and changes them at any moment.  A record that came from somebody
 * who is not trusted is no more to be trusted than he is.
 */
#define DRAY_IPC_ANY_USER	(1u << 2)

/** The most records that one process can have which have not ended. */
#define DRAY_IPC_MAX_EXPORTS 16384

/**
 * Makes a record of the @size bytes at @address.
 *
 * @address: in a block of a pool, in a buffer, or in memory that this process
 *	has opened itself
 * @size: bytes, all in that block, buffer or memory; 0 is allowed
 * @flags: DRAY_IPC_*, or 0
 * @record: is written where 0 is returned
 *
 * The same memory with the same flags gives the same record as long as that has
 * not ended, once more for each call, as a program and its libraries may all
 * export it.  With DRAY_IPC_HANDOVER each call gives a new record.
 *
 * Memory that this process has opened is passed on as its own, also when its
 * exporter has freed it (dray_ipc_check() is -ESTALE): that it is open here keeps
 * it.  The record ends when nothing does so any more: neither this process, nor
 * those who have the record open, nor, with DRAY_IPC_HANDOVER, the record itself.
 *
 * On the host, for DRAY_IPC_READ_ONLY, the memory has to be a buffer of its
 * own, and is sealed: nobody can be given it for writing afterwards, by this
 * call or another.  This process goes on writing it.
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
 *	-EMFILE		no descriptor
 *
 * and what socket() and memfd_create() give.
 */
DRAY_API int dray_ipc_export(const void *address, uint64_t size,
			     uint32_t flags, struct dray_ipc_record *record);

/**
 * Undoes one dray_ipc_export() of this process.  The last one ends the record:
 * nobody can open it from now on, importers that have it open keep the memory
 * until they close it, and a later export of the memory gives another record.
 *
 * Errors: -ESTALE (it has ended, or is another process's), -EBADMSG.
 */
DRAY_API int dray_ipc_revoke(const struct dray_ipc_record *record);

/**
 * Waits until every record with DRAY_IPC_HANDOVER of this process was opened
 * once, or revoked; 0 at once where there is none.  For a process that is about
 * to end: what nobody has opened by then ends with it.
 *
 * @timeout_ms: milliseconds; 0 only looks, below 0 there is no limit
 *
 * Errors: -ETIMEDOUT (the sentence has the number of those that are left).
 */
DRAY_API int dray_ipc_wait(int timeout_ms);

/** A record with DRAY_IPC_HANDOVER that nobody has opened yet. */
struct dray_ipc_handover {
	struct dray_ipc_record record;
	uint64_t size;		/* bytes that it names, and keeps */
	uint64_t age_ms;	/* since it was made */
};

/**
 * The records with DRAY_IPC_HANDOVER of this process that keep memory and wait
 * for whoever opens them, at most @room of them, and in @count how many there
 * are; always 0.  Whoever knows that nobody will come revokes them.
 *
 * @list: may be NULL where @room is 0
 */
DRAY_API int dray_ipc_handovers(struct dray_ipc_handover *list, size_t room,
				size_t *count);

/** Memory that a record leads to, open in this process. */
struct dray_ipc_memory;

/**
 * Opens a record.  Nothing that it or the other process says is believed: the
 * memory is measured by the real size of what came, which must not be able to
 * shrink.
 *
 * A record that is open in this process already gives the same object once
 * more, without asking the exporter.  A record of this process leads to the
 * memory itself, without a mapping.  Records of one buffer share a mapping.
 *
 * @node: for which the memory is mapped, not for a record of this process; NULL
 *	opens the node that the memory is of
 * @out: the memory; each open is undone by one dray_ipc_close()
 *
 * Waits for the exporter: five seconds at most until it takes the connection,
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
 *			descriptors
 *	-EDQUOT		another user's: all that the exporter gives this user,
 *			for this record or in all, or other users, is taken
 *	-ENOMEM
 *
 * and what dray_node_open() and dray_buffer_import() give.
 */
DRAY_API int dray_ipc_open(const struct dray_ipc_record *record,
			   struct dray_node *node,
			   struct dray_ipc_memory **out);
/**
 * Undoes one dray_ipc_open(); the last one unmaps the memory, as far as no other
 * record of the same buffer is open.  Waits for nobody.  NULL is ignored.
 */
DRAY_API void dray_ipc_close(struct dray_ipc_memory *memory);

/**
 * Copies the bytes that a record names, and opens nothing: for a process that
 * has few descriptors left, or none, or needs the bytes as they are now.
 *
 * It works if this process or the exporter is at its limit of descriptors.
 * A record with DRAY_IPC_HANDOVER ends by it, as by the close of its only
 * opener.
 *
 * @to: @room bytes
 * @size: bytes that the record names, also if there is too little room
 *
 * Waits as dray_ipc_open(), also for a record of this process.
 *
 * Errors: -ENOSPC (too little room: nobody was asked), else as dray_ipc_open();
 * -EMFILE only if the kernel is older than 5.9.
 */
DRAY_API int dray_ipc_copy(const struct dray_ipc_record *record, void *to,
			   uint64_t room, uint64_t *size);

/** The first byte that the record names; valid until the last close. */
DRAY_API void *dray_ipc_data(const struct dray_ipc_memory *memory);
/** Bytes that the record names. */
DRAY_API uint64_t dray_ipc_size(const struct dray_ipc_memory *memory);
/**
 * The buffer around it; borrowed: valid until the last close.  A pool's buffer
 * on the host grows: this is the part of it that is mapped here.
 */
DRAY_API struct dray_buffer *
dray_ipc_buffer(const struct dray_ipc_memory *memory);
/** Whether it may be written: not what was exported for reading only. */
DRAY_API bool dray_ipc_writable(const struct dray_ipc_memory *memory);

/**
 * Whether the exporter still has the memory, as far as is known without asking
 * it: 0, -ESTALE (it has freed the memory or revoked the record) or -ECONNRESET
 * (it is gone).  The memory stays mapped, with its bytes, in each case.  Costs
 * one system call.
 */
DRAY_API int dray_ipc_check(const struct dray_ipc_memory *memory);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_IPC_H */
