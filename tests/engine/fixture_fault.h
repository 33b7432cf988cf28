/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of tests with the engine of this folder: its knobs, and a node
 * that comes fresh to each test, so that dead channels live again.  Needs
 * dray_test_engine.ko, then dray.ko with nodes=1 channels=2 watchdog_ms=2000.
 */
#ifndef ENGINE_FIXTURE_FAULT_H
#define ENGINE_FIXTURE_FAULT_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../selftests/binding.h"
#include "../selftests/fixture_engine.h"

#define KNOBS "/sys/module/dray_test_engine/parameters/"
#define DRIVER "/sys/bus/platform/drivers/dray/"
#define PIECE 65536 /* bytes of the engine's longest descriptor */

static inline int knob(const char *name, unsigned int value)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), KNOBS "%s", name);
	snprintf(text, sizeof(text), "%u", value);
	return write_text(path, text);
}

/* The number that a module's parameter is, or a negative errno. */
static inline int parameter_read(const char *module, const char *name)
{
	char path[128], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s", module,
		 name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 1)
		return -errno;
	close(fd);
	return atoi(text);
}

static inline bool knob_is_on(const char *name)
{
	char path[128], text[2] = "";
	bool on;
	int fd;

	snprintf(path, sizeof(path), KNOBS "%s", name);
	fd = open(path, O_RDONLY);
	on = fd >= 0 && read(fd, text, 1) == 1 && text[0] == 'Y';
	close(fd);
	return on;
}

static inline int knobs_reset(void)
{
	return knob("hang", 0) || knob("fail", 0) || knob("lose", 0) ||
	       knob("stale", 0) || knob("delay_ms", 0) || knob("slots", 4) ||
	       knob("stubborn", 0) || knob("ahead", 0) ||
	       knob("linger", 0) || knob("stuck", 0) ||
	       knob("parting", 0) || knob("mute", 0) ||
	       knob("reset", 0) || knob("idle", 0);
}

/* Two buffers that the node's end does not take away from the test. */
FIXTURE(fault)
{
	int node;
	struct buffer src;
	struct buffer dst;
	struct dray_info info;
};

FIXTURE_SETUP(fault)
{
	ASSERT_EQ(0, knobs_reset());
	ASSERT_TRUE(wait_for(node_answers, NULL, 5000));
	self->node = node_open();
	ASSERT_LE(0, self->node);
	ASSERT_EQ(0, node_info(self->node, &self->info));
	ASSERT_EQ(2, self->info.channel_count);
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, 8 * PIECE,
				 &self->src));
	ASSERT_EQ(0, buffer_open(self->node, DRAY_HEAP_ANY, 8 * PIECE,
				 &self->dst));
	fill_random(self->src.bytes, self->src.size, 7);
}

/* The node comes fresh to the next test: dead channels live again. */
FIXTURE_TEARDOWN(fault)
{
	EXPECT_EQ(0, knobs_reset());
	close(self->node);
	write_text(DRIVER "unbind", "dray-virtual.0");
	EXPECT_EQ(0, write_text(DRIVER "bind", "dray-virtual.0"));
}

static inline struct dray_transfer whole(FIXTURE_DATA(fault) * self)
{
	return (struct dray_transfer){
		.op = DRAY_OP_COPY,
		.dst_fd = self->dst.fd,
		.src_fd = self->src.fd,
		.run = self->src.size,
	};
}

static inline int submit_on(FIXTURE_DATA(fault) * self, uint32_t channel,
		     struct dray_submit *submit)
{
	struct dray_transfer transfer = whole(self);

	*submit = (struct dray_submit){
		.channel = channel,
		.transfers = (uintptr_t)&transfer,
		.count = 1,
		.fence_fd = -1,
	};
	return node_call(self->node, DRAY_IOC_SUBMIT, submit);
}

static inline bool is_equal(FIXTURE_DATA(fault) * self)
{
	return first_difference(self->src.bytes, self->dst.bytes,
				self->src.size) == -1;
}

#endif
