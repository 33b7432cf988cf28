// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: the protocol of both sides: records, and the socket that they lead to.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fork.h"
#include "ipc/ipc.h"

#define HOUR_MS ((int64_t)3600 * 1000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int cancel_before; /* of the thread that has the lock */
static bool goes_by_dray_ipc_now; /* clock of changed */

static void record_take_lock(void)
{
	int before = dray_cancel_off();

	pthread_mutex_lock(&lock);
	cancel_before = before;
}

void dray_ipc_lock(void)
{
	dray_fork_check();
	record_take_lock();
}

void dray_ipc_unlock(void)
{
	int before = cancel_before;

	pthread_mutex_unlock(&lock);
	dray_cancel_restore(&before);
}

static void (*inherited)(void); /* NULL: nothing was exported */

void dray_ipc_on_fork(void (*inherit_exports)(void))
{
	inherited = inherit_exports;
}

/* A child has no waiting threads, even if its parent had some. */
static void record_inherit(void)
{
	changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	goes_by_dray_ipc_now = false;
	if (inherited)
		inherited();
	dray_ipc_unlock();
}

static void record_missed(void)
{
	record_take_lock();
	record_inherit();
}

static struct dray_fork_locks locks = {
	.rank = DRAY_FORK_IPC,
	.take = record_take_lock,
	.give = dray_ipc_unlock,
	.inherit = record_inherit,
	.missed = record_missed,
};

void dray_ipc_enlist(void)
{
	dray_fork_enlist(&locks);
}

void dray_ipc_signal(void)
{
	pthread_cond_broadcast(&changed);
}

/* With the lock: a clock that can be set would end a wait early, or late. */
static void choose_clock(void)
{
	pthread_condattr_t attributes;

	if (goes_by_dray_ipc_now)
		return;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &attributes);
	pthread_condattr_destroy(&attributes);
	goes_by_dray_ipc_now = true;
}

bool dray_ipc_wait_signal(int64_t until)
{
	int64_t now = dray_ipc_now();
	int before = cancel_before;
	struct timespec step;

	if (until <= now)
		return false;
	/* Any time_t has room for an hour more. */
	if (until - now > HOUR_MS)
		until = now + HOUR_MS;
	step.tv_sec = (time_t)(until / 1000);
	step.tv_nsec = (long)(until % 1000) * 1000000;
	choose_clock();
	pthread_cond_timedwait(&changed, &lock, &step);
	cancel_before = before;
	return true;
}

int dray_ipc_read(const struct dray_ipc_record *record,
		  struct dray_ipc_fields *fields)
{
	memcpy(fields, record->bytes, sizeof(*fields));
	if (fields->magic != DRAY_IPC_MAGIC)
		return dray_fail(-EBADMSG,
				 "no record of memory: it starts with 0x%08x",
				 fields->magic);
	if (fields->version != DRAY_IPC_VERSION)
		return dray_fail(
			-EPROTO,
			"the record is of version %u, this is version %u",
			fields->version, DRAY_IPC_VERSION);
	if (fields->flags & ~DRAY_IPC_FLAGS)
		return dray_fail(-EBADMSG, "the record's flags are 0x%x",
				 fields->flags);
	if (fields->slot >= DRAY_IPC_MAX_EXPORTS)
		return dray_fail(-EBADMSG,
				 "the record's slot is %u, there are %u",
				 fields->slot, DRAY_IPC_MAX_EXPORTS);
	return 0;
}

/* An abstract name vanishes with its socket. */
unsigned int dray_ipc_address(uint64_t broker, struct sockaddr_un *address)
{
	int length;

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	length = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
			  "dray-ipc-%016" PRIx64, broker);
	return (unsigned int)(offsetof(struct sockaddr_un, sun_path) + 1 +
			      (size_t)length);
}

int dray_ipc_random(void *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = getrandom((char *)bytes + done, size - done, 0);

		if (got < 0 && errno != EINTR)
			return dray_fail(-errno, "random bytes: %s",
					 strerror(errno));
		done += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

int64_t dray_ipc_now(void)
{
	return (int64_t)(dray_clock_now() / 1000000);
}
