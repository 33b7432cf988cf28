/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A DMA engine for tests: the CPU copies in its place, and it can be told to
 * take its time, to fail, to hang, and to have no descriptors, which no engine
 * of an emulated machine does when asked; and to let the whole machine stand
 * still, as a busy host does with an emulated one.  A virtual node asks for its
 * channels when dray.ko is inserted with nodes=1 channels=N.
 */
#ifndef DRAY_TEST_ENGINE_H
#define DRAY_TEST_ENGINE_H

#include <linux/dmaengine.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/* Module parameters; dray_test_knobs.c says what each is. */
struct test_knobs {
	unsigned int mask_bits;
	unsigned int align_shift;
	bool fill;
	bool no_terminate;
	unsigned int max_segment;
	bool unordered;
	bool zynqmp;
	unsigned int slots;
	unsigned int delay_ms;
	bool hang;
	unsigned int stuck;
	bool fail;
	bool lose;
	bool mute;
	bool reset;
	bool idle;
	bool stale;
	bool stubborn;
	bool parting;
	bool ahead;
	unsigned int early;
	bool linger;
	bool lingers;
	bool locked;
	unsigned int descriptors;
	unsigned int most;
	unsigned int restless;
};

extern struct test_knobs test_knobs;

struct test_channel {
	struct dma_chan chan;
	spinlock_t lock; /* all below */
	struct list_head submitted;
	struct list_head issued;
	unsigned int used; /* descriptors that are not done */
	dma_cookie_t failed; /* the last that ended with an error */
	struct delayed_work work;
};

/* dray_test_device.c: the system sleeps */
extern bool test_asleep;

/* dray_test_channel.c: the operations of a channel */
void test_channel_init(struct test_channel *channel, struct dma_device *device);
struct dma_async_tx_descriptor *
test_prepare_copy(struct dma_chan *chan, dma_addr_t dst, dma_addr_t src,
		  size_t length, unsigned long flags);
struct dma_async_tx_descriptor *test_prepare_fill(struct dma_chan *chan,
						  dma_addr_t dst, int value,
						  size_t length,
						  unsigned long flags);
void test_issue(struct dma_chan *chan);
enum dma_status test_status(struct dma_chan *chan, dma_cookie_t cookie,
			    struct dma_tx_state *state);
int test_terminate(struct dma_chan *chan);
void test_synchronize(struct dma_chan *chan);
void test_free(struct dma_chan *chan);

#endif /* DRAY_TEST_ENGINE_H */
