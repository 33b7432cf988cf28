// SPDX-License-Identifier: Apache-2.0 OR MIT
/* ipc: records that keep memory for whoever is to open it, and are passed on. */
#include "records_wire.h"

#define SIZE 20000

/* To the library the clock was right once, and was set back since. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
#ifdef SYS_clock_gettime64
	long call =
		sizeof(time_t) == 8 ? SYS_clock_gettime64 : SYS_clock_gettime;
#else
	long call = SYS_clock_gettime;
#endif
	int ret = (int)syscall(call, clock, now);

	if (clock == CLOCK_REALTIME)
		now->tv_sec += 3600;
	return ret;
}

static int pass_on(char what, const struct dray_ipc_record *record)
{
	static struct dray_ipc_memory *memory;
	struct dray_ipc_record again;
	int said = 0;

	switch (what) {
	case 'o':
		return dray_ipc_open(record, NULL, &memory);
	case 'p': {
		/* The answer is the exit of a process that opens it. */
		pid_t child;
		int status;

		said = dray_ipc_export((char *)dray_ipc_data(memory) + 1, 10,
				       DRAY_IPC_HANDOVER, &again);
		if (said)
			return said;
		dray_ipc_close(memory);
		child = fork();
		if (!child) {
			struct dray_ipc_memory *mine;

			if (dray_ipc_open(&again, NULL, &mine))
				_exit(1);
			_exit(*(unsigned char *)dray_ipc_data(mine));
		}
		waitpid(child, &status, 0);
		return WEXITSTATUS(status);
	}
	case 'b':
		return dray_ipc_export((char *)dray_ipc_data(memory) - 1, 10, 0,
				       &again);
	}
	return -1;
}

/*
 * Comes first, before there is a broker here: the importer starts one, which the
 * thread sanitizer forbids to the child of a process with threads, and the last
 * fact's may yet be ending.
 */
RECORDS_FACT(what_was_opened_can_be_passed_on)
{
	struct importer importer = start_importer(pass_on);
	unsigned char *block = take_filled(SIZE, 8);
	struct dray_ipc_record record = export_of(block + 64, 64, 0);

	assert_int_equal(tell(&importer, 'o', &record), 0);
	dray_pool_free(pool, block);
	/* What lies beside it was not given to it. */
	assert_int_equal(tell(&importer, 'b', NULL), -EINVAL);
	assert_int_equal(tell(&importer, 'p', NULL), 8);
	becomes_true(stats_of(pool).parked == 0);
	stop_importer(&importer);
}

RECORDS_FACT(a_clock_that_is_set_back_makes_no_wait_longer)
{
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record =
		export_of(block, SIZE, DRAY_IPC_HANDOVER);
	struct timespec before, after;

	/* Ends the program where it is an hour. */
	alarm(DEADLINE);
	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_fails(dray_ipc_wait(50), -ETIMEDOUT, "1 records");
	clock_gettime(CLOCK_MONOTONIC, &after);
	alarm(0);
	assert_true((after.tv_sec - before.tv_sec) * 1000000000LL +
			    after.tv_nsec - before.tv_nsec >=
		    49 * 1000000LL);
	assert_works(dray_ipc_revoke(&record));
	dray_pool_free(pool, block);
}

RECORDS_FACT(a_handover_keeps_memory_until_it_was_opened)
{
	struct importer importer = start_importer(import_step);
	unsigned char *block = take_filled(SIZE, 6);
	struct dray_ipc_record record =
		export_of(block, SIZE, DRAY_IPC_HANDOVER);

	dray_pool_free(pool, block);
	assert_true(stats_of(pool).parked >= SIZE);
	assert_fails(dray_ipc_wait(1), -ETIMEDOUT, "1 records");
	assert_int_equal(tell(&importer, 'o', &record), 0);
	assert_works(dray_ipc_wait(0));
	assert_int_equal(tell(&importer, 'k', NULL), 0);
	assert_int_equal(tell(&importer, 'r', NULL), 6);
	assert_int_equal(tell(&importer, 'c', NULL), 0);
	becomes_true(stats_of(pool).parked == 0);
	assert_int_equal(tell(&importer, 'o', &record), -ECONNREFUSED);
	stop_importer(&importer);
}

RECORDS_FACT(handovers_are_records_of_their_own)
{
	struct importer importer = start_importer(import_step);
	struct dray_ipc_record first, second;
	struct dray_buffer *buffer;

	assert_works(dray_buffer_alloc(node, 4096, NULL, &buffer));
	memset(dray_buffer_data(buffer), 2, 4096);
	first = export_of(dray_buffer_data(buffer), 9, DRAY_IPC_HANDOVER);
	second = export_of(dray_buffer_data(buffer), 9, DRAY_IPC_HANDOVER);
	assert_memory_not_equal(&first, &second, sizeof(first));
	dray_buffer_unref(buffer);
	assert_int_equal(tell(&importer, 'o', &first), 0);
	assert_int_equal(tell(&importer, 'r', NULL), 2);
	assert_int_equal(tell(&importer, 'c', NULL), 0);
	assert_int_equal(tell(&importer, 'o', &second), 0);
	assert_int_equal(tell(&importer, 'r', NULL), 2);
	stop_importer(&importer);
}

RECORDS_FACT(a_handover_that_is_revoked_keeps_nothing)
{
	unsigned char *block = take_filled(SIZE, 6);
	struct dray_ipc_record record =
		export_of(block, SIZE, DRAY_IPC_HANDOVER);

	dray_pool_free(pool, block);
	assert_works(dray_ipc_revoke(&record));
	becomes_true(stats_of(pool).parked == 0);
	assert_works(dray_ipc_wait(-1));
}

RECORDS_FACT(handovers_that_nobody_has_opened_are_listed)
{
	struct importer importer = start_importer(import_step);
	unsigned char *block = take_filled(SIZE, 6);
	struct dray_ipc_record first, second;
	struct dray_ipc_handover list[3];
	size_t count = 9;

	assert_works(dray_ipc_handovers(NULL, 0, &count));
	assert_int_equal(count, 0);
	export_of(block, 1, 0); /* keeps nothing */
	first = export_of(block, SIZE, DRAY_IPC_HANDOVER);
	second = export_of(block, 100, DRAY_IPC_HANDOVER);
	assert_works(dray_ipc_handovers(NULL, 0, &count));
	assert_int_equal(count, 2);
	assert_works(dray_ipc_handovers(list, 1, &count));
	assert_int_equal(count, 2);
	assert_works(dray_ipc_handovers(list, 3, &count));
	assert_int_equal(count, 2);
	assert_memory_equal(&list[0].record, &first, sizeof(first));
	assert_memory_equal(&list[1].record, &second, sizeof(second));
	assert_int_equal(list[0].size, SIZE);
	assert_int_equal(list[1].size, 100);
	assert_in_range(list[0].age_ms, list[1].age_ms, DEADLINE * 1000);
	assert_int_equal(tell(&importer, 'o', &first), 0);
	assert_works(dray_ipc_handovers(list, 3, &count));
	assert_int_equal(count, 1);
	assert_memory_equal(&list[0].record, &second, sizeof(second));
	assert_works(dray_ipc_revoke(&list[0].record));
	assert_works(dray_ipc_handovers(list, 3, &count));
	assert_int_equal(count, 0);
	stop_importer(&importer);
	dray_pool_free(pool, block);
	becomes_true(stats_of(pool).parked == 0);
}

RECORDS_FACT(handovers_of_a_parent_are_not_a_childs)
{
	unsigned char *block = take_filled(SIZE, 6);
	struct dray_ipc_record record =
		export_of(block, SIZE, DRAY_IPC_HANDOVER);
	size_t count;
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child)
		_exit(dray_ipc_handovers(NULL, 0, &count) || count ||
		      dray_ipc_revoke(&record) != -ESTALE);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_works(dray_ipc_handovers(NULL, 0, &count));
	assert_int_equal(count, 1);
	assert_works(dray_ipc_revoke(&record));
	dray_pool_free(pool, block);
}

/* An importer that has all it needs, and never says so. */
static int ask_only(const struct dray_ipc_record *record)
{
	int fd = connect_to(fields_of(record).broker);
	struct said said = { .error = 1 };

	assert_true(fd >= 0);
	assert_int_equal(send(fd, record, sizeof(*record), MSG_NOSIGNAL),
			 sizeof(*record));
	assert_int_equal(recv(fd, &said, sizeof(said), 0), sizeof(said));
	assert_int_equal(said.error, 0);
	return fd;
}

RECORDS_FACT(an_importer_that_never_says_it_has_it_keeps_no_more)
{
	struct importer importer = start_importer(import_step);
	unsigned char *block = take_filled(SIZE, 6);
	struct dray_ipc_record record =
		export_of(block, SIZE, DRAY_IPC_HANDOVER);
	int silent = ask_only(&record);

	dray_pool_free(pool, block);
	assert_fails(dray_ipc_wait(0), -ETIMEDOUT, "1 records");
	/* Others open it, and it ends with the last of them. */
	assert_int_equal(tell(&importer, 'o', &record), 0);
	assert_works(dray_ipc_wait(0));
	assert_int_equal(tell(&importer, 'c', NULL), 0);
	close(silent);
	becomes_true(stats_of(pool).parked == 0);
	assert_int_equal(tell(&importer, 'o', &record), -ECONNREFUSED);
	stop_importer(&importer);
}

RECORDS_FACT(a_handover_is_revoked_while_one_never_says_he_has_it)
{
	unsigned char *block = take_filled(SIZE, 6);
	struct dray_ipc_record record =
		export_of(block, SIZE, DRAY_IPC_HANDOVER);
	int silent = ask_only(&record);

	dray_pool_free(pool, block);
	assert_works(dray_ipc_revoke(&record));
	assert_works(dray_ipc_wait(0));
	/* It keeps what it has until it hangs up, as any importer does. */
	assert_true(stats_of(pool).parked >= SIZE);
	close(silent);
	becomes_true(stats_of(pool).parked == 0);
}

RECORDS_FACT(an_importer_says_once_that_it_has_it)
{
	unsigned char *block = take_filled(SIZE, 6);
	struct dray_ipc_record record =
		export_of(block, SIZE, DRAY_IPC_HANDOVER);
	int talker = ask_only(&record);
	char none;

	dray_pool_free(pool, block);
	assert_int_equal(send(talker, "", 1, MSG_NOSIGNAL), 1);
	assert_works(dray_ipc_wait(0));
	assert_int_equal(send(talker, "", 1, MSG_NOSIGNAL), 1);
	assert_int_equal(recv(talker, &none, 1, 0), 0);
	close(talker);
	becomes_true(stats_of(pool).parked == 0);
}

FACTS_SHARE(set_up, tear_down)
