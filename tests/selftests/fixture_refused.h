/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The node vanishes and comes back while two processes make one call again and
 * again, one that is refused or that is right each time.  The program that
 * includes this gives the calls, each a variant; the test is here.
 */
#ifndef SELFTEST_FIXTURE_REFUSED_H
#define SELFTEST_FIXTURE_REFUSED_H

#include "binding.h"
#include "ledger.h"
#include "process.h"
#include "setup.h"
#include "step.h"

#define SIZE (64 * 1024)
#define MILLION (1 << 20) /* runs of one transfer */

/* Somebody with a buffer, on a node that is there or not. */
struct caller {
	int node;
	struct dray_info info;
	struct buffer buffer;
	int reader; /* its read-only descriptor */
	struct buffer large; /* room for the runs of one transfer */
	uint32_t reason; /* of the last call */
};

static inline int caller_open(struct caller *caller)
{
	struct dray_export export = { .flags = DRAY_EXPORT_READ_ONLY };
	int ret = node_info(caller->node, &caller->info);

	if (!ret)
		ret = buffer_open(caller->node, DRAY_HEAP_ANY, SIZE,
				  &caller->buffer);
	if (!ret)
		ret = buffer_allocate(caller->node, DRAY_HEAP_ANY,
				      8 * MILLION / DRAY_MAX_TRANSFERS,
				      &caller->large);
	export.buffer_fd = caller->buffer.fd;
	if (!ret)
		ret = node_call(caller->node, DRAY_IOC_EXPORT, &export);
	caller->reader = export.fd;
	return ret;
}

#define CHANNELS 1
#define ATTACHES 2 /* no copies */

/* A call whose answer is the same each time. */
struct wrong {
	int (*call)(struct caller *caller);
	int error; /* 0: it is right, and done each time */
	uint32_t reason;
	unsigned int needs; /* of the node, or it is skipped */
	/* Of each node, before it is called; 0 or a negative errno. */
	int (*prepare)(struct caller *caller);
	/* At last, whatever came of it, and where nothing was prepared too. */
	int (*undo)(void);
};

FIXTURE(refused)
{
	int node;
	size_t page;
	struct dray_info info;
	struct ledger before;
	struct binding binding;
};

FIXTURE_VARIANT(refused)
{
	struct wrong wrong;
};

FIXTURE_SETUP(refused)
{
	SETUP_NODE();
	ASSERT_EQ(0, node_info(self->node, &self->info));
	ASSERT_EQ(0, ledger_take(self->node, &self->before));
	ASSERT_EQ(0, binding_find(self->node, &self->binding));
}

FIXTURE_TEARDOWN_PARENT(refused)
{
	if (!node_answers(NULL)) {
		EXPECT_EQ(0, binding_bind(&self->binding));
	}
	if (variant->wrong.undo) {
		EXPECT_EQ(0, variant->wrong.undo());
	}
	EXPECT_EQ(0, ledger_reclaimed_differences(&self->before));
}

#define REFUSED(name, ...)                      \
	FIXTURE_VARIANT_ADD(refused, name)        \
	{                                       \
		.wrong = { name, __VA_ARGS__ }, \
	}

struct errand {
	const struct wrong *wrong;
	struct caller *caller;
	int told; /* written to when it was refused once */
};

/* Until the device is gone. */
static inline int keep_calling(void *context)
{
	const struct errand *errand = context;
	struct caller *caller = errand->caller;
	bool first = true;
	int ret;

	for (;;) {
		ret = errand->wrong->call(caller);
		/* what is wrong in itself may be told of a node that is gone */
		if (ret == -ENODEV ||
		    (ret == errand->wrong->error &&
		     node_info(caller->node, &caller->info) == -ENODEV))
			return 0;
		STEP_EQ(errand->wrong->error, ret);
		STEP_EQ(errand->wrong->reason, caller->reason);
		if (first)
			STEP_EQ(1, write(errand->told, "", 1));
		first = false;
	}
}

TEST_F(refused, an_answer_stays_as_it_is_while_the_node_goes_and_comes_back)
{
	struct caller caller = { .node = self->node };
	struct errand errand = { .wrong = &variant->wrong, .caller = &caller };
	pid_t child[2];
	int told[2], round, i;
	char byte;

	SKIP_IF(variant->wrong.needs & CHANNELS && !self->info.channel_count,
		"this node has no DMA channel");
	SKIP_IF(variant->wrong.needs & ATTACHES && node_copies(),
		"nothing is attached for a device that gets copies");
	ASSERT_EQ(0, caller_open(&caller));
	for (round = 0; round < 2; round++) {
		if (variant->wrong.prepare) {
			ASSERT_EQ(0, variant->wrong.prepare(&caller));
		}
		EXPECT_EQ(variant->wrong.error, variant->wrong.call(&caller));
		EXPECT_EQ(variant->wrong.reason, caller.reason);
		ASSERT_EQ(0, pipe(told));
		errand.told = told[1];
		for (i = 0; i < 2; i++) {
			child[i] = process_start(keep_calling, &errand);
			ASSERT_LT(0, child[i]);
		}
		/* Where both ended without a word nobody is waited for. */
		close(told[1]);
		for (i = 0; i < 2; i++)
			ASSERT_EQ(1, read(told[0], &byte, 1));
		close(told[0]);
		ASSERT_EQ(0, binding_unbind(&self->binding));
		for (i = 0; i < 2; i++)
			EXPECT_EQ(0, process_wait(child[i]));
		ASSERT_EQ(0, binding_bind(&self->binding));
		close(caller.node);
		caller.node = node_open();
		ASSERT_LE(0, caller.node);
	}
	/* the buffer is the one that it was */
	EXPECT_EQ(0,
		  buffer_sync(caller.node, caller.buffer.fd,
			      DRAY_SYNC_FOR_DEVICE, DRAY_TO_DEVICE, 0, SIZE));
}

#endif
