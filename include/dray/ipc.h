/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * ipc: memory of this process for others, by a record of plain bytes.
 *
 * A record is 64 bytes that travel as a program likes: through a pipe, a file,
 * a message.  They hold no pointer and no descriptor, but lead to the process
 * that exported the memory: the name of a socket there, a secret of 128 bits,
 * and which memory it is.  A thread of that process, the broker, hands the
 * memory's descriptor to whoever has the secret and is of the same user.  It
 * begins with the first export and ends with the last.
 *
 * Memory that somebody has open is not used again: a block that is freed
 * meanwhile waits until every importer has closed it or is gone.  A record of
 * memory that was freed, or whose exporter is gone, opens no more.
 *
 * Whoever opens a record reaches the whole buffer that the memory lies in,
 * unless it was made for reading: memory for others is best a buffer of its
 * own (dray_buffer_alloc(), dray_array_create_alone()).
 *
 * The socket is one of the network namespace that exporter and importer share.
 * A child of fork() has what its parent had open, and the memory stays open
 * until both have closed it; what its parent exports is not the child's: it
 * opens records like any other process.
 *
 * Every function may be called from any thread.
 */
#ifndef DRAY_IPC_H
#define DRAY_IPC_H

#include <dray/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a record; part of the ABI. */
#define DRAY_IPC_RECORD_SIZE 64

/** Where memory of a process is; what the bytes mean is the library's. */
struct dray_ipc_record {
	unsigned char bytes[DRAY_IPC_RECORD_SIZE];
};

/** Whoever opens it can read the memory, and never write it. */
#define DRAY_IPC_READ_ONLY	(1u << 0)
/**
 * The record keeps the memory, freed or not, until it is opened for the first
 * time; from then on those do who have it open, and with the last of them the
 * record ends.  For memory that its maker hands over and forgets.
 */
#define DRAY_IPC_HANDOVER	(1u << 1)
/** Whoever has the record may open it, of whatever user he is. */
#define DRAY_IPC_ANY_USER	(1u << 2)

/** The most records of a process that lead somewhere, at one time. */
#define DRAY_IPC_MAX_EXPORTS 16384

/**
 * Makes a record of the @size bytes at @address.
 *
 * @address: in a block of a pool, in a buffer, or in memory that this process
 *	has opened itself
 * @size: bytes; 0 is allowed
 * @flags: DRAY_IPC_*
 *
 * The same memory with the same flags has the same record, except with
 * DRAY_IPC_HANDOVER.  It ends as said above, or by dray_ipc_revoke().
 *
 * On the host, for DRAY_IPC_READ_ONLY, the memory has to be a buffer of its
 * own, and is sealed against writers: nobody can be given it for writing
 * afterwards.  This process goes on writing it.
 *
 * Errors: -EINVAL (an unknown flag, no memory of dray, a range that leaves its
 * block or buffer), -EOPNOTSUPP (private host memory; reserved huge pages; for
 * reading only: a block of a pool on the host), -EPERM (memory that this process may only
 * read, or gave for reading, without DRAY_IPC_READ_ONLY; memory that it gave
 * for writing, with that flag on the host), -ENOSPC (DRAY_IPC_MAX_EXPORTS),
 * -ENOMEM, -EAGAIN (no thread), -EMFILE, what socket() and memfd_create() give.
 */
DRAY_API int dray_ipc_export(const void *address, uint64_t size,
			     uint32_t flags, struct dray_ipc_record *record);

/**
 * Ends a record of this process: nobody can open it from now on.  Those who
 * have it open keep it.
 *
 * Errors: -ESTALE (it has ended, or is another process's), -EBADMSG.
 */
DRAY_API int dray_ipc_revoke(const struct dray_ipc_record *record);

/**
 * Waits until every record with DRAY_IPC_HANDOVER was opened once, at most
 * @timeout_ms milliseconds (below 0: without a limit).  For a process that is
 * about to end: what it leaves behind is nobody's.
 *
 * Errors: -ETIMEDOUT (the sentence has their number).
 */
DRAY_API int dray_ipc_wait(int timeout_ms);

/** Memory that a record leads to, opened. */
struct dray_ipc_memory;

/**
 * Opens a record.  Nothing that it or the other process says is believed: the
 * memory is measured by the real size of what came, which must not be able to
 * shrink.
 *
 * A record that is open already is counted and costs no exchange; a record of
 * this process leads to the memory itself.  Records of one buffer share a
 * mapping.
 *
 * @node: for which the memory is mapped; NULL opens the one that it is of
 * @out: to be closed by dray_ipc_close()
 *
 * Waits for the exporter's answer, for five seconds at most.
 *
 * Errors: -EBADMSG (no record; a range that leaves its memory; an exporter
 * that answers nonsense), -EPROTO (a record of another version),
 * -ECONNREFUSED (the exporter is gone, or exports nothing any more), -ESTALE
 * (freed, or revoked), -EACCES (a wrong secret; another user), -EPERM (the
 * memory that came could shrink; or, of a record for reading, be written),
 * -ETIMEDOUT, -ENOMEM, -EMFILE, what dray_node_open() and
 * dray_buffer_import() give.
 */
DRAY_API int dray_ipc_open(const struct dray_ipc_record *record,
			   struct dray_node *node,
			   struct dray_ipc_memory **out);
/** Undoes one dray_ipc_open(); never blocks.  NULL is ignored. */
DRAY_API void dray_ipc_close(struct dray_ipc_memory *memory);

/** The first byte that the record names. */
DRAY_API void *dray_ipc_data(const struct dray_ipc_memory *memory);
/** Bytes that the record names. */
DRAY_API uint64_t dray_ipc_size(const struct dray_ipc_memory *memory);
/** The buffer around it, borrowed. */
DRAY_API struct dray_buffer *
dray_ipc_buffer(const struct dray_ipc_memory *memory);
/** Whether it may be written. */
DRAY_API bool dray_ipc_writable(const struct dray_ipc_memory *memory);

/**
 * Whether the exporter still has the memory: 0, -ESTALE (it has freed or
 * revoked it) or -ECONNRESET (it is gone).  The memory stays what it is in
 * each case.
 */
DRAY_API int dray_ipc_check(const struct dray_ipc_memory *memory);

#ifdef __cplusplus
}
#endif

#endif /* DRAY_IPC_H */
