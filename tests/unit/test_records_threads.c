// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: threads that export, free and revoke, threads of another process that
 * open and close the same records, and a broker between them.
 */
#include "records.h"

#define SIZE 4096
#define THREADS 3
#define ROUNDS 200

/* Opens what it is told, in all of its threads at once. */
static struct dray_ipc_record target;

static void *open_again_and_again(void *unused)
{
	struct dray_ipc_memory *memory;
	unsigned char *data;

	for (int i = 0; i < 20; i++) {
		if (dray_ipc_open(&target, NULL, &memory))
			return (void *)1;
		data = dray_ipc_data(memory);
		if (data[0] != data[SIZE - 1])
			return (void *)2;
		dray_ipc_check(memory);
		dray_ipc_close(memory);
	}
	return NULL;
}

static int open_in_threads(char what, const struct dray_ipc_record *record)
{
	pthread_t openers[THREADS];
	void *said;
	long worst = 0;

	target = *record;
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&openers[i], NULL, open_again_and_again,
				   NULL))
			return -1;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(openers[i], &said);
		worst = worst ? worst : (long)said;
	}
	return (int)worst;
}

static void *export_and_free(void *unused)
{
	struct dray_ipc_record record;
	struct dray_ipc_memory *memory;

	for (int i = 0; i < rounds(ROUNDS); i++) {
		unsigned char *block = dray_pool_alloc(pool, SIZE, 0);

		if (!block ||
		    dray_ipc_export(block, SIZE, i % 3 ? 0 : DRAY_IPC_HANDOVER,
				    &record) ||
		    dray_ipc_open(&record, NULL, &memory))
			return "export, open";
		if (i % 2 && dray_ipc_revoke(&record))
			return "revoke";
		dray_pool_free(pool, block);
		dray_ipc_close(memory);
	}
	return NULL;
}

RECORDS_FACT(exports_and_opens_of_many_threads_do_not_meet)
{
	struct importer one = start_importer(open_in_threads);
	struct importer two = start_importer(open_in_threads);
	pthread_t exporters[THREADS];
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record;
	void *said;

	memset(block, 1, SIZE);
	record = export_of(block, SIZE, 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&exporters[i], NULL,
						export_and_free, NULL),
				 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(tell(&one, 'o', &record), 0);
		assert_int_equal(tell(&two, 'o', &record), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(exporters[i], &said), 0);
		if (said)
			fail_msg("%s", (char *)said);
	}
	dray_pool_free(pool, block);
	stop_importer(&one);
	stop_importer(&two);
	becomes_true(stats_of(pool).parked == 0);
	assert_int_equal(stats_of(pool).blocks, 0);
}

FACTS_SHARE(set_up, tear_down)
