// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: whatever the system refuses to exporter, broker or importer, an error
 * comes back, and nothing is left of what was begun.  fault.h has the way;
 * only calls of the thread that armed it fail, unless the broker is meant.
 */
#include <sys/epoll.h>

#include "fault.h"
#include "records.h"

#define SIZE 20000

static _Thread_local bool is_test;
static _Atomic int failing_accepts;

static bool fails_here(void)
{
	return is_test && fails_now();
}

#define WRAP(type, bad, name, parameters, arguments)                   \
	type __real_##name parameters;                                 \
	type __wrap_##name parameters;                                 \
	type __wrap_##name parameters                                  \
	{                                                              \
		return fails_here() ? (bad) : __real_##name arguments; \
	}

WRAP(void *, NULL, malloc, (size_t size), (size))
WRAP(int, -1, socket, (int family, int type, int protocol),
     (family, type, protocol))
WRAP(int, -1, bind, (int fd, const struct sockaddr *address, socklen_t length),
     (fd, address, length))
WRAP(int, -1, listen, (int fd, int most), (fd, most))
WRAP(int, -1, connect,
     (int fd, const struct sockaddr *address, socklen_t length),
     (fd, address, length))
WRAP(int, -1, setsockopt,
     (int fd, int level, int name, const void *value, socklen_t length),
     (fd, level, name, value, length))
WRAP(int, -1, getsockopt,
     (int fd, int level, int name, void *value, socklen_t *length),
     (fd, level, name, value, length))
WRAP(ssize_t, -1, send, (int fd, const void *bytes, size_t size, int flags),
     (fd, bytes, size, flags))
WRAP(ssize_t, -1, recvmsg, (int fd, struct msghdr *message, int flags),
     (fd, message, flags))
WRAP(int, -1, epoll_create1, (int flags), (flags))
WRAP(int, -1, epoll_ctl,
     (int fd, int how, int other, struct epoll_event *event),
     (fd, how, other, event))
WRAP(int, -1, eventfd, (unsigned int value, int flags), (value, flags))
WRAP(ssize_t, -1, getrandom, (void *bytes, size_t size, unsigned int flags),
     (bytes, size, flags))
WRAPPED(int, pthread_create,
	(pthread_t * thread, const pthread_attr_t *attributes,
	 void *(*run)(void *), void *argument))
{
	return fails_here() ? EAGAIN
			    : __real_pthread_create(thread, attributes, run,
						    argument);
}
WRAPPED(int, accept4,
	(int fd, struct sockaddr *address, socklen_t *length, int flags))
{
	if (atomic_load(&failing_accepts) > 0) {
		atomic_fetch_sub(&failing_accepts, 1);
		errno = EMFILE;
		return -1;
	}
	return __real_accept4(fd, address, length, flags);
}

/* All that an exporter does; 0 or the first error. */
static int use_exporter(void)
{
	struct dray_ipc_record record, handover;
	struct dray_ipc_memory *memory = NULL;
	unsigned char *block = dray_pool_alloc(pool, SIZE, 0);
	struct dray_buffer *buffer = NULL;
	int ret;

	if (!block)
		return -ENOMEM;
	ret = dray_ipc_export(block, SIZE, 0, &record);
	if (!ret)
		ret = dray_ipc_open(&record, NULL, &memory);
	dray_ipc_close(memory);
	if (!ret)
		ret = dray_buffer_alloc(node, 4096, NULL, &buffer);
	if (!ret)
		ret = dray_ipc_export(dray_buffer_data(buffer), 1,
				      DRAY_IPC_HANDOVER | DRAY_IPC_READ_ONLY,
				      &handover);
	if (!ret)
		assert_works(dray_ipc_revoke(&handover));
	dray_buffer_unref(buffer);
	dray_pool_free(pool, block);
	return ret;
}

RECORDS_FACT(whatever_fails_an_exporter_leaves_nothing)
{
	size_t descriptors, buffers;
	int n, ret, failed = 0;

	is_test = true;
	assert_works(use_exporter());
	becomes_true(threads() == 1);
	descriptors = entries("/proc/self/fd");
	buffers = buffers_of(node);
	for (n = 0;; n++) {
		arm(n, ENOMEM);
		ret = use_exporter();
		disarm();
		if (!faulted)
			break;
		failed += ret != 0;
		becomes_true(threads() == 1);
		assert_int_equal(entries("/proc/self/fd"), descriptors);
		assert_int_equal(buffers_of(node), buffers);
		becomes_true(stats_of(pool).parked == 0);
	}
	assert_works(ret);
	assert_true(failed > 10);
	is_test = false;
}

/* One that fails at each of its calls in turn: 0, or how often it did not. */
static int faulty_step(char what, const struct dray_ipc_record *record)
{
	struct dray_ipc_memory *memory;
	size_t descriptors = entries("/proc/self/fd");
	struct dray_node *mine;
	int n, failed = 0;

	is_test = true;
	if (dray_node_open(on_kernel() ? test_spec() : "host:shareable", &mine))
		return -1;
	if (on_kernel())
		descriptors++;
	for (n = 0;; n++) {
		int ret;

		arm(n, ENOMEM);
		ret = dray_ipc_open(record, mine, &memory);
		disarm();
		if (!faulted) {
			if (ret)
				return -2;
			dray_ipc_close(memory);
			break;
		}
		if (!ret)
			dray_ipc_close(memory);
		failed += ret != 0;
		if (entries("/proc/self/fd") != descriptors)
			return -100 - n;
	}
	dray_node_unref(mine);
	return failed > 10 ? 0 : failed;
}

RECORDS_FACT(whatever_fails_an_importer_leaves_nothing)
{
	struct importer importer = start_importer(faulty_step);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);

	assert_int_equal(tell(&importer, 'o', &record), 0);
	dray_pool_free(pool, block);
	becomes_true(stats_of(pool).parked == 0);
	stop_importer(&importer);
}

/* Fails the call whose number is in the record; 2: there are not so many. */
static int faulty_once(char what, const struct dray_ipc_record *record)
{
	struct dray_ipc_memory *memory;
	static int call;
	int ret, value;

	is_test = true;
	if (what == 'n')
		return call = record->bytes[0];
	arm(call, ENOMEM);
	ret = dray_ipc_open(record, NULL, &memory);
	disarm();
	if (ret)
		ret = dray_ipc_open(record, NULL, &memory);
	if (ret)
		return ret;
	value = *(volatile unsigned char *)dray_ipc_data(memory);
	dray_ipc_close(memory);
	if (value != 5)
		return -1;
	return faulted ? 0 : 2;
}

RECORDS_FACT(whatever_fails_a_handover_can_be_opened_later)
{
	struct importer importer = start_importer(faulty_once);
	struct dray_ipc_record number = { { 0 } };
	int ret = 0;

	for (int n = 0; !ret && n < 100; n++) {
		unsigned char *block = take_filled(SIZE, 5);
		struct dray_ipc_record record =
			export_of(block, SIZE, DRAY_IPC_HANDOVER);

		dray_pool_free(pool, block);
		number.bytes[0] = (unsigned char)n;
		assert_int_equal(tell(&importer, 'n', &number), n);
		ret = tell(&importer, 'o', &record);
		if (ret < 0)
			fail_msg("call %d fails: %d", n, ret);
		assert_works(dray_ipc_wait(0));
	}
	assert_int_equal(ret, 2);
	stop_importer(&importer);
	becomes_true(stats_of(pool).parked == 0);
}

RECORDS_FACT(a_broker_without_descriptors_goes_on_when_there_are)
{
	struct importer importer = start_importer(import_step);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);

	for (int n = 1; n < 5; n++) {
		atomic_store(&failing_accepts, n);
		assert_int_equal(tell(&importer, 'o', &record), 0);
		assert_int_equal(atomic_load(&failing_accepts), 0);
		assert_int_equal(tell(&importer, 'c', NULL), 0);
	}
	dray_pool_free(pool, block);
	stop_importer(&importer);
	becomes_true(stats_of(pool).parked == 0);
}

/* One more that asks is a connection to remember; nobody is hung up on. */
RECORDS_FACT(and_so_does_one_without_memory)
{
	struct importer importer = start_importer(import_step);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);

	arm(0, ENOMEM);
	assert_int_equal(tell(&importer, 'o', &record), 0);
	assert_true(faulted);
	disarm();
	assert_int_equal(tell(&importer, 'c', NULL), 0);
	dray_pool_free(pool, block);
	stop_importer(&importer);
	becomes_true(stats_of(pool).parked == 0);
}

FACTS_SHARE(set_up, tear_down)
