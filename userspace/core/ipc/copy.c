// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: the bytes of a record, copied by an importer that keeps nothing open.
 *
 * A process at its limit of descriptors has no room for the socket to ask
 * through.  A thread with an empty table of descriptors of its own asks then:
 * the limit counts the descriptors of one table.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/thread.h"
#include "ipc/ask.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1u << 1)
#endif

struct ipc_copy {
	const struct dray_ipc_fields *fields;
	char *to;
	int ret;
	struct dray_kept_failure failure; /* of the thread that asked */
};

/* For a dma-buf, of a fixed size: a mapped file might shrink. */
static int copy_mapped(const struct ipc_copy *copy, int fd)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t inside = copy->fields->offset % page;
	size_t size = (size_t)(inside + copy->fields->size);
	off_t whole = lseek(fd, 0, SEEK_END);
	char *mapped;

	if (whole < 0 || copy->fields->offset > (uint64_t)whole ||
	    copy->fields->size > (uint64_t)whole - copy->fields->offset)
		return dray_fail(-EBADMSG,
				 "%" PRIu64 " byte%s at %" PRIu64
				 ", the buffer has %lld",
				 copy->fields->size,
				 dray_plural(copy->fields->size),
				 copy->fields->offset, (long long)whole);
	mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, fd,
		      (off_t)(copy->fields->offset - inside));
	if (mapped == MAP_FAILED)
		return dray_fail(-errno, "mapping %zu bytes: %s", size,
				 strerror(errno));
	memcpy(copy->to, mapped + inside, (size_t)copy->fields->size);
	munmap(mapped, size);
	return 0;
}

static int copy_file(const struct ipc_copy *copy, int fd)
{
	uint64_t done = 0;
	ssize_t got;

	while (done < copy->fields->size) {
		got = pread(fd, copy->to + done,
			    (size_t)(copy->fields->size - done),
			    (off_t)(copy->fields->offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		/* A dma-buf has no read(). */
		if (got < 0 && (errno == ESPIPE || errno == EINVAL))
			return copy_mapped(copy, fd);
		if (got < 0)
			return dray_fail(-errno,
					 "reading the exporter's memory: %s",
					 strerror(errno));
		if (!got)
			return dray_fail(-EBADMSG,
					 "%" PRIu64 " byte%s at %" PRIu64
					 ", the buffer ends before",
					 copy->fields->size,
					 dray_plural(copy->fields->size),
					 copy->fields->offset);
		done += (uint64_t)got;
	}
	return 0;
}

static int copy_bytes(const struct ipc_copy *copy)
{
	struct dray_ipc_answer answer;
	int connection, fd, ret;

	ret = dray_ipc_ask(copy->fields, true, &answer, &connection, &fd);
	if (ret)
		return ret;
	ret = copy_file(copy, fd);
	if (!ret)
		ret = dray_ipc_say_mapped(connection);
	close(fd);
	close(connection);
	return ret;
}

static void *ipc_copy_run(void *argument)
{
	struct ipc_copy *copy = argument;

	if (syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE))
		return NULL;
	copy->ret = copy_bytes(copy);
	dray_failure_keep(&copy->failure);
	return NULL;
}

/* Leaves copy->ret unchanged if the thread cannot start. */
static void copy_apart(struct ipc_copy *copy)
{
	pthread_t thread;
	int error;

	dray_failure_keep(&copy->failure);
	error = dray_thread_create(&thread, NULL, ipc_copy_run, copy);
	if (!error)
		pthread_join(thread, NULL);
	if (copy->ret)
		dray_failure_restore(copy->ret, &copy->failure);
}

int dray_ipc_copy(const struct dray_ipc_record *record, void *to, uint64_t room,
		  uint64_t *size)
{
	DRAY_NO_CANCEL;
	struct dray_ipc_fields fields;
	struct ipc_copy copy = { .fields = &fields, .to = to };
	int ret;

	if (!dray_given(record, __func__) || !dray_given(size, __func__) ||
	    (room && !dray_given(to, __func__)))
		return -EINVAL;
	ret = dray_ipc_read(record, &fields);
	if (ret)
		return ret;
	*size = fields.size;
	if (room < fields.size)
		return dray_fail(-ENOSPC,
				 "the record names %" PRIu64
				 " bytes, there is room for %" PRIu64,
				 fields.size, room);
	dray_ipc_enlist();
	copy.ret = copy_bytes(&copy);
	if (copy.ret == -EMFILE)
		copy_apart(&copy);
	return copy.ret;
}
