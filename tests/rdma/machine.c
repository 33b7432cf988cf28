// SPDX-License-Identifier: Apache-2.0 OR MIT
/* What a process does whose peer's machine is switched off: no packet says so. */
#include <stdio.h>
#include <sys/reboot.h>

#include "facts.h"

enum {
	WORK_US = 1000000, /* until the machine is switched off */
	DEADLINE_MS = 500,
	LATE_US = 5000000, /* on a busy host; UCX alone needs 20 s */
	LIMIT_US = 60000000 /* for the machine to be off */
};

/* Receives what comes, and switches this machine off meanwhile. */
static void machine_switch_off(struct dray_view *view)
{
	int64_t start = now_us();
	struct dray_ucx_request request;
	int done;

	while (now_us() - start < WORK_US) {
		EXPECT_OK(dray_ucx_recv(&peer, TAG, view, &request));
		for (done = 0; !done && now_us() - start < WORK_US;)
			EXPECT_OK(dray_ucx_test(&request, &done));
	}
	reboot(RB_POWER_OFF);
}

static void a_machine_that_is_off_is_told_within_the_deadline(void)
{
	const int64_t shape[] = { 256, 1024 };
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	unsigned char *data = memory_of(LONG), *there = NULL;
	struct dray_ucx_request request;
	struct dray_ucx_memory *memory;
	int64_t begin = now_us(), start;
	struct dray_view view;
	struct offer offer;
	int ret = 0, turn;

	memory = pair_offer(&offer, ROOM, shape, &there);
	EXPECT_OK(dray_view_init(&view, data, DRAY_INT32, 2, shape, NULL));
	if (side) {
		machine_switch_off(&view);
		dray_ucx_unmap(memory);
		exit(1);
	}
	for (turn = 0; !ret; turn++) {
		start = now_us();
		EXPECT(start - begin < LIMIT_US);
		ret = turn % 2 ? dray_ucx_put(&peer, &view, offer.ticket,
					      offer.size, NULL, &request)
			       : dray_ucx_send(&peer, TAG, &view, &request);
		if (!ret)
			ret = dray_ucx_wait(&request, DEADLINE_MS);
	}
	start = now_us() - start;
	printf("# call %d failed with %d after %lld ms\n", turn, ret,
	       (long long)start / 1000);
	EXPECT(ret == -ETIMEDOUT || ret == -ECONNRESET);
	EXPECT(start < DEADLINE_MS * 1000 + LATE_US);
	EXPECT(!view_is_lent(&view));
	EXPECT_IS(dray_ucx_send(&peer, TAG, &view, &request), -ECONNRESET);
	dray_pool_free(NULL, data);
	EXPECT_OK(dray_pool_stats(pool, &stats));
	EXPECT_IS(stats.parked, 0);
}

const struct fact machine_facts[] = {
	FACT_OF_MACHINE(a_machine_that_is_off_is_told_within_the_deadline),
	{ 0 },
};
