/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The fixture of tests with the engine of this directory: its knobs, and a node
 * that comes fresh to each test, so that dead channels live again.  Needs
 * dray_test_engine.ko, then dray.ko with nodes=1 channels=2.
 *
 * A test that needs transfers under way turns "hang" on, does what it is about,
 * and turns it off: it does not hope that a slow engine is slow enough.
 */
#ifndef ENGINE_FIXTURE_FAULT_H
#define ENGINE_FIXTURE_FAULT_H

#include "../selftests/binding.h"
#include "../selftests/fixture_engine.h"

#define KNOBS "/sys/module/dray_test_engine/parameters/"
#define DRIVER "/sys/bus/platform/drivers/dray/"
#define PIECE 65536 /* bytes of the engine's longest descriptor */

/* Milliseconds until an engine that hangs is given up, for watchdog(). */
#define PATIENT 600000
#define IMPATIENT 500

static inline int knob(const char *name, unsigned int value)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), KNOBS "%s", name);
	snprintf(text, sizeof(text), "%u", value);
	return write_text(path, text);
}

/* Applies to rounds that begin afterwards. */
static inline int watchdog(unsigned int milliseconds)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", milliseconds);
	return write_text("/sys/module/dray/parameters/watchdog_ms", text);
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
	ASSERT_EQ(0, watchdog(PATIENT));
	ASSERT_TRUE(wait_for(node_answers, NULL));
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
	return (struct dray_transfer)COPY_OF(self->dst.fd, self->src.fd,
					     self->src.size);
}

static inline int submit_on(FIXTURE_DATA(fault) * self, uint32_t channel,
		     struct dray_submit *submit)
{
	struct dray_transfer transfer = whole(self);

	*submit = (struct dray_submit)SUBMIT_OF(channel, &transfer, 1,
						.fence_fd = -1);
	return node_call(self->node, DRAY_IOC_SUBMIT, submit);
}

/* Has the first channel of the engine so many descriptors?  For wait_for(). */
static inline bool engine_has(void *count)
{
	FILE *file = fopen("/sys/kernel/debug/dray/dray0/channels", "r");
	char line[256] = "", text[32];

	snprintf(text, sizeof(text), ", out %d,", *(int *)count);
	if (file && !fgets(line, sizeof(line), file))
		line[0] = 0;
	if (file)
		fclose(file);
	return strstr(line, text);
}

/* Waits until the engine has all that it has slots for. */
static inline bool engine_fills(void)
{
	int slots = 4;

	return wait_for(engine_has, &slots);
}

/*
 * Two jobs of channel 1 on an engine that then hangs there, and is given up:
 * both are queued before the first one starts, since both wait for a job of
 * channel 0, which the engine has before anything may be given up.
 */
static inline int submit_two_that_hang(FIXTURE_DATA(fault) * self,
				       struct dray_submit *first,
				       struct dray_submit *second)
{
	struct dray_transfer transfer = whole(self), piece = whole(self);
	struct dray_submit before = SUBMIT_OF(0, &piece, 1);
	int ret = knob("stuck", 1), one = 1;

	piece.run = PIECE;
	if (!ret)
		ret = node_call(self->node, DRAY_IOC_SUBMIT, &before);
	*first = (struct dray_submit)SUBMIT_OF(
		1, &transfer, 1, .in_fences = (uintptr_t)&before.fence_fd,
		.in_fence_count = 1, .fence_fd = -1);
	*second = *first;
	if (!ret)
		ret = node_call(self->node, DRAY_IOC_SUBMIT, first);
	if (!ret)
		ret = node_call(self->node, DRAY_IOC_SUBMIT, second);
	if (!ret && !wait_for(engine_has, &one))
		ret = -ETIME;
	if (!ret)
		ret = watchdog(IMPATIENT);
	return ret ? ret : knob("stuck", 2);
}

struct unbinding {
	const char *driver; /* the driver's directory in sysfs */
	const char *device;
	pid_t child;
};

static inline int unbind(void *context)
{
	const struct unbinding *unbinding = context;

	return write_name(unbinding->driver, "unbind", unbinding->device) ? 1
									  : 0;
}

/* Nothing is left to it but the wait for the engine. */
static inline bool unbinding_waits(void *context)
{
	const struct unbinding *unbinding = context;

	return node_is_gone(NULL) &&
	       access("/sys/kernel/debug/dray/dray0", F_OK) &&
	       process_state(unbinding->child) == 'D';
}

/*
 * Unbinds a device, the node or its engine, while the engine hangs with what it
 * has; when nothing is fed any more the engine goes on.
 */
static inline int unbind_held(const char *driver, const char *device)
{
	struct unbinding unbinding = { .driver = driver, .device = device };
	bool waits;
	int ret;

	if (!engine_fills())
		return -ETIME;
	unbinding.child = process_start(unbind, &unbinding);
	if (unbinding.child < 0)
		return -errno;
	waits = wait_for(unbinding_waits, &unbinding);
	ret = knob("hang", 0);
	if (process_wait(unbinding.child))
		return -ECHILD;
	return waits ? ret : -ETIME;
}

static inline bool is_equal(FIXTURE_DATA(fault) * self)
{
	return first_difference(self->src.bytes, self->dst.bytes,
				self->src.size) == -1;
}

/* Copies all bytes on a channel: 1, or else its fence's status or an errno. */
static inline int copy_on(FIXTURE_DATA(fault) * self, uint32_t channel)
{
	struct dray_submit submit;
	int ret = submit_on(self, channel, &submit);

	if (ret)
		return ret;
	ret = fence_wait(submit.fence_fd);
	close(submit.fence_fd);
	return ret == 1 && !is_equal(self) ? -EBADMSG : ret;
}

/* The same on channel 0 of an engine that hangs there, and is given up. */
static inline int copy_and_hang(FIXTURE_DATA(fault) * self)
{
	int ret = knob("hang", 1);

	if (!ret)
		ret = watchdog(IMPATIENT);
	return ret ? ret : copy_on(self, 0);
}

#endif
