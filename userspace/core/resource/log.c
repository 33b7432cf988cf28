// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A log, in the columns of RMM's.  It uses neither a lock nor a buffer: each line is
 * a single write to a file opened for appending.  It computes the local time itself,
 * because the C library's functions hold a lock, which a child of fork() may find
 * locked.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/fork.h"
#include "resource/resource.h"

struct resource_log {
	struct dray_resource *upstream;
	int fd;
	dev_t device; /* of the file that @fd was opened for */
	ino_t number; /* of that file, too */
	uint32_t process; /* the writer's dray_fork_process() */
	_Atomic int error; /* the first, negative */
	bool asked; /* by the environment: errors are printed */
	bool wide; /* the twelve columns of dray_resource_log_wide() */
	_Atomic int64_t blocks; /* allocated and not freed, if wide */
	struct timespec begun;
};

/*
 * Returns whether the descriptor refers to another file: a program that closes all
 * descriptors, as a daemon does, may open a file of its own with the same number.
 */
static bool log_is_lost(const struct resource_log *log)
{
	struct stat now;

	return !fstat(log->fd, &now) &&
	       (now.st_dev != log->device || now.st_ino != log->number);
}

static int log_put(struct resource_log *log, const char *text, size_t length)
{
	ssize_t written;
	int none = 0, ret;

	do
		written = log_is_lost(log) ? (errno = EBADF, -1)
					   : write(log->fd, text, length);
	while (written < 0 && errno == EINTR);
	if (written == (ssize_t)length)
		return 0;
	/* A full disk may hold part of a line. */
	ret = written < 0 ? -errno : -ENOSPC;
	if (atomic_compare_exchange_strong(&log->error, &none, ret) &&
	    log->asked)
		fprintf(stderr,
			"dray: the log of DRAY_MEMORY_LOG is not complete: %s\n",
			strerror(-ret));
	return ret;
}

/* The program's errno is none of the log's business. */
static void log_note(struct resource_log *log, const char *action,
		     const void *block, size_t size, uint64_t stream)
{
	DRAY_NO_CANCEL;
	char line[160], pointer[24] = "(nil)";
	struct timespec now;
	int saved = errno, length;
	unsigned int second;

	if (dray_fork_process() != log->process)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	second = (unsigned int)(now.tv_sec % 86400);
	if (block)
		snprintf(pointer, sizeof(pointer), "0x%" PRIxPTR,
			 (uintptr_t)block);
	length = snprintf(line, sizeof(line),
			  "%ld,%02u:%02u:%02u.%06ld,%s,%s,%zu,%" PRIu64 "\n",
			  syscall(SYS_gettid), second / 3600, second / 60 % 60,
			  second % 60, now.tv_nsec / 1000, action, pointer,
			  size, stream);
	log_put(log, line, (size_t)length);
	errno = saved;
}

/* Seconds since the log was made. */
static double log_seconds(const struct resource_log *log)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - log->begun.tv_sec) +
	       (double)(now.tv_nsec - log->begun.tv_nsec) / 1e9;
}

/* Writes a line of twelve columns for an event that began at @start. */
static void log_note_wide(struct resource_log *log, const char *event,
			  const void *block, size_t size, uint64_t stream,
			  double start)
{
	DRAY_NO_CANCEL;
	struct dray_capacity capacity = { 0 };
	char line[320], pointer[24] = "(nil)";
	const double end = log_seconds(log);
	int saved = errno, length;

	if (dray_fork_process() != log->process)
		return;
	if (dray_upstream_capacity(log, &capacity))
		capacity = (struct dray_capacity){ 0 };
	if (block)
		snprintf(pointer, sizeof(pointer), "0x%" PRIxPTR,
			 (uintptr_t)block);
	length = snprintf(line, sizeof(line),
			  "%s,0,%s,%" PRIu64 ",%zu,%" PRIu64 ",%" PRIu64
			  ",%" PRId64 ",%.9f,%.9f,%.9f,thread %ld\n",
			  event, pointer, stream, size, capacity.free,
			  capacity.total, atomic_load(&log->blocks), start, end,
			  end - start, syscall(SYS_gettid));
	log_put(log, line, (size_t)length);
	errno = saved;
}

static int log_allocate_wide(struct resource_log *log, size_t size,
			     size_t alignment, uint64_t stream, void **out)
{
	const double start = log_seconds(log);
	int ret = dray_resource_allocate(log->upstream, size, alignment, stream,
					 out);

	if (!ret)
		atomic_fetch_add(&log->blocks, 1);
	log_note_wide(log, ret ? "Alloc failure" : "Alloc", ret ? NULL : *out,
		      size, stream, start);
	return ret;
}

static int log_allocate(void *ctx, size_t size, size_t alignment,
			uint64_t stream, void **out)
{
	struct resource_log *log = ctx;
	int ret;

	if (log->wide)
		return log_allocate_wide(log, size, alignment, stream, out);
	ret = dray_resource_allocate(log->upstream, size, alignment, stream,
				     out);
	if (ret)
		log_note(log, "allocate failure", NULL, size, stream);
	else
		log_note(log, "allocate", *out, size, stream);
	return ret;
}

static int log_deallocate(void *ctx, void *block, size_t size, uint64_t stream)
{
	struct resource_log *log = ctx;

	if (log->wide) {
		atomic_fetch_sub(&log->blocks, 1);
		log_note_wide(log, "Free", block, size, stream,
			      log_seconds(log));
	} else {
		log_note(log, "free", block, size, stream);
	}
	return dray_resource_deallocate(log->upstream, block, size, stream);
}

static void log_destroy(void *ctx)
{
	DRAY_NO_CANCEL;
	struct resource_log *log = ctx;

	if (log->fd >= 0 && !log_is_lost(log))
		close(log->fd);
	dray_upstream_destroy(ctx);
}

/* Makes the file; @how: for open(), of a file that is there already. */
static int log_open(struct resource_log *log, const char *path, int how)
{
	DRAY_NO_CANCEL;
	static const char narrow[] = "Thread,Time,Action,Pointer,Size,Stream\n";
	static const char wide[] =
		"Event Type,Device ID,Address,Stream,Size (bytes),Free Memory,Total Memory,Current Allocs,Start,End,Elapsed,Location\n";
	const char *header = log->wide ? wide : narrow;
	struct stat file = { 0 };
	int ret = 0;

	dray_fork_watch();
	log->process = dray_fork_process();
	if (log->fd >= 0)
		close(log->fd);
	log->fd = dray_descriptor(open(
		path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | how, 0666));
	if (log->fd < 0)
		ret = -errno;
	if (!ret && fstat(log->fd, &file)) {
		ret = -errno;
		close(log->fd);
		log->fd = -1;
	}
	log->device = file.st_dev;
	log->number = file.st_ino;
	if (!ret)
		ret = log_put(log, header, strlen(header));
	return ret ? dray_fail(ret, "the log %s: %s", path, strerror(-ret)) : 0;
}

/*
 * Children, and the programs they start, have the same environment, so each log
 * needs a name that no file uses.
 */
static int log_open_new(struct resource_log *log, const char *name)
{
	char path[4096], number[12] = "";
	int length, ret, i = 0;

	do {
		length = snprintf(path, sizeof(path), "%s.%d%s", name,
				  (int)getpid(), number);
		if (length < 0 || (size_t)length >= sizeof(path))
			return dray_fail(-ENAMETOOLONG,
					 "DRAY_MEMORY_LOG is %zu bytes long",
					 strlen(name));
		ret = log_open(log, path, O_EXCL);
		snprintf(number, sizeof(number), ".%d", ++i);
	} while (ret == -EEXIST);
	log->asked = !ret;
	return ret;
}

static int make_log(struct dray_resource *upstream, const char *path,
		    int (*file)(struct resource_log *log, const char *path),
		    struct dray_resource **out)
{
	static const struct dray_resource_ops ops = {
		.size = sizeof(ops),
		.name = "log",
		.allocate = log_allocate,
		.deallocate = log_deallocate,
		.capacity = dray_upstream_capacity,
		.destroy = log_destroy,
	};
	struct dray_resource *resource;
	struct resource_log *log;
	int ret;

	if (!dray_given(path, "dray_resource_log") ||
	    !dray_given(out, "dray_resource_log"))
		return -EINVAL;
	log = calloc(1, sizeof(*log));
	ret = dray_resource_stack(&ops, log, upstream, &resource);
	if (ret)
		return ret;
	log->fd = -1;
	ret = file(log, path);
	if (ret) {
		dray_resource_unref(resource);
		return ret;
	}
	*out = resource;
	return 0;
}

static int log_open_empty(struct resource_log *log, const char *path)
{
	return log_open(log, path, O_TRUNC);
}

static int log_open_wide(struct resource_log *log, const char *path)
{
	log->wide = true;
	clock_gettime(CLOCK_MONOTONIC, &log->begun);
	return log_open(log, path, O_TRUNC);
}

int dray_resource_log_wide(struct dray_resource *upstream, const char *path,
			   struct dray_resource **out)
{
	return make_log(upstream, path, log_open_wide, out);
}

int dray_resource_log(struct dray_resource *upstream, const char *path,
		      struct dray_resource **out)
{
	return make_log(upstream, path, log_open_empty, out);
}

/* The name of the log that the environment asks for, or NULL. */
static const char *log_asked(void)
{
	const char *name = secure_getenv("DRAY_MEMORY_LOG");

	return name && *name ? name : NULL;
}

int dray_resource_log_asked(struct dray_resource **resource)
{
	struct dray_resource *upstream = *resource;
	const char *name = log_asked();
	int ret;

	if (!name)
		return 0;
	ret = make_log(upstream, name, log_open_new, resource);
	if (!ret)
		dray_resource_unref(upstream);
	return ret;
}

/* The log of all handlers, open until the process ends. */
static struct resource_log handler_log = { .fd = -1 };

static void log_see(const struct dray_handler_event *event)
{
	if (event->action == DRAY_HANDLER_ALLOCATED)
		log_note(&handler_log,
			 event->block ? "allocate" : "allocate failure",
			 event->block, (size_t)event->asked, 0);
	else if (event->action == DRAY_HANDLER_FREES)
		log_note(&handler_log, "free", event->block,
			 (size_t)event->asked, 0);
}

int dray_log_handlers(void)
{
	static _Atomic bool begun;
	const char *name = log_asked();
	int ret;

	if (!name || atomic_exchange(&begun, true))
		return 0;
	ret = log_open_new(&handler_log, name);
	if (!ret)
		ret = dray_watch_add(log_see);
	if (ret)
		atomic_store(&begun, false);
	return ret;
}

int dray_log_check(struct dray_resource *resource)
{
	struct resource_log *log =
		dray_resource_context(resource, log_allocate, "log");
	int error;

	if (!log)
		return -EINVAL;
	error = atomic_load(&log->error);
	if (error)
		return dray_fail(error, "the log is not complete: %s",
				 strerror(-error));
	return 0;
}
