// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Publishes a pool with known contents, for dmactl arrays to show: an array
 * of (3, 4) doubles, one of 7 records, a tracked block of 1000 bytes, a plain one
 * of 5000, and 300 bytes that were freed.  Prints "ready" and ends with its
 * standard input.
 *
 *	dmactl-publisher [--many | --churn | --lend]
 *
 * --many: 100,000 blocks more.  --churn: threads allocate and free meanwhile.
 * --lend: the array of doubles is lent to "mpi".
 * DRAY_TEST_NODE is the node, DRAY_PUBLISH is not needed.
 */
#include <err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dray/array.h>

#define MANY 100000
#define CHURNERS 2
#define KEPT 100

static _Atomic bool ends;

static void works(int ret)
{
	if (ret)
		errx(1, "%s", dray_last_error());
}

static void *churn(void *argument)
{
	struct dray_pool *pool = argument;
	void *blocks[KEPT] = { 0 };
	unsigned int i, turn = 0;

	while (!atomic_load(&ends)) {
		i = turn++ * 37 % KEPT;
		dray_pool_free(pool, blocks[i]);
		blocks[i] = dray_pool_alloc(pool, 1 + turn * 7919 % 20000, 0);
	}
	for (i = 0; i < KEPT; i++)
		dray_pool_free(pool, blocks[i]);
	return NULL;
}

static void wait_for_the_end(void)
{
	char byte;

	printf("ready\n");
	if (fflush(stdout))
		err(1, "standard output");
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
}

int main(int argc, char **argv)
{
	const char *option = argc > 1 ? argv[1] : "";
	const char *spec = getenv("DRAY_TEST_NODE");
	const struct dray_pool_options options = { .name = "known pool" };
	const struct dray_loan_options to = { .to = "mpi" };
	struct dray_loan *loan = NULL;
	struct dray_view view;
	struct dray_resource *source, *tracking;
	struct dray_array *doubles, *records;
	pthread_t threads[CHURNERS];
	struct dray_node *node;
	struct dray_pool *pool;
	void *tracked, *plain, *freed;
	dray_dtype dtype;

	works(dray_publish_start());
	works(dray_node_open(spec ? spec : "host", &node));
	works(dray_pool_create(node, &options, &pool));
	works(dray_dtype_parse("i4,f8", &dtype));
	works(dray_array_create(pool, DRAY_FLOAT64, 2, (int64_t[]){ 3, 4 },
				&doubles));
	works(dray_array_create(pool, dtype, 1, (int64_t[]){ 7 }, &records));
	works(dray_resource_pool(pool, &source));
	works(dray_resource_tracking(source, 8, &tracking));
	works(dray_resource_allocate(tracking, 1000, 0, 0, &tracked));
	plain = dray_pool_alloc(pool, 5000, 0);
	freed = dray_pool_alloc(pool, 300, 0);
	dray_pool_free(pool, freed);
	for (int i = 0; !strcmp(option, "--many") && i < MANY; i++)
		if (!dray_pool_alloc(pool, 64, 0))
			errx(1, "%s", dray_last_error());
	for (int i = 0; !strcmp(option, "--churn") && i < CHURNERS; i++)
		if (pthread_create(&threads[i], NULL, churn, pool))
			errx(1, "pthread_create");
	if (!strcmp(option, "--lend"))
		works(dray_view_lend(dray_array_view(doubles, &view),
				     DRAY_ACCESS_READ, 0, &to, &loan));
	wait_for_the_end();
	dray_loan_end(loan);
	atomic_store(&ends, true);
	for (int i = 0; !strcmp(option, "--churn") && i < CHURNERS; i++)
		pthread_join(threads[i], NULL);
	dray_pool_free(pool, plain);
	works(dray_resource_deallocate(tracking, tracked, 1000, 0));
	dray_resource_unref(tracking);
	dray_resource_unref(source);
	dray_array_unref(doubles);
	dray_array_unref(records);
	dray_dtype_unref(dtype);
	dray_pool_close(pool);
	dray_node_unref(node);
	return 0;
}
