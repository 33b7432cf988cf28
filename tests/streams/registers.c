// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Registers and an interrupt of the IP brighten: its gain is a register, and the end of
 * a packet is an interrupt.
 */
#include "../selftests/fixture_bound.h"
#include "../selftests/sleep.h"
#include "../selftests/step.h"
#include "areas.h"
#include "axidma.h"

#define NOBODY 65534
#define PAGE 4096u /* of the area */
#define BYTES 256u /* of a packet: an IP keeps it until it is received */

/* Each declares its first argument. */
#define OPEN_AREA(area)                   \
	int area = area_open(self->node); \
	ASSERT_LE(0, area)
#define MAP_AREA(words)                                     \
	volatile uint32_t *words = area_map_of(self->node); \
	ASSERT_NE(MAP_FAILED, words)
#define OPEN_INTERRUPT(interrupt)                   \
	int interrupt = interrupt_open(self->node); \
	ASSERT_LE(0, interrupt)

static volatile uint32_t *area_map_of(int node)
{
	int area = area_open(node);
	volatile uint32_t *words = area_map(area, PAGE);

	close(area);
	return words;
}

struct raised {
	volatile struct fpga_control *model;
	uint32_t count;
};

/* For wait_for(). */
static bool interrupts_raised(void *context)
{
	const struct raised *raised = context;

	return raised->model->raised == raised->count;
}

/*
 * Passes a packet.  The model has a single line to the board: its own interrupt of the
 * receive, which begins when the IP's was raised, arrives behind it.  Returns the number
 * of the first byte that is not brighter by @gain, or -1.
 */
static int64_t brighten(FIXTURE_DATA(axidma) * self, uint32_t gain)
{
	struct raised raised = { self->model, self->model->raised + 1 };
	int64_t in;

	if (send_bytes(self, 0, BYTES) <= 0 ||
	    !wait_for(interrupts_raised, &raised))
		return -2;
	in = receive_bytes(self, 0, BYTES, 0);
	if (in <= 0 || line_bytes(&self->received, (uint64_t)in) != BYTES)
		return -3;
	for (uint32_t i = 0; i < BYTES; i++) {
		uint32_t sum = self->src.bytes[i] + gain;

		if (self->dst.bytes[i] != (sum < 255 ? sum : 255))
			return i;
	}
	return -1;
}

TEST_F(axidma, the_tree_names_an_area_and_an_interrupt)
{
	struct dray_register_area area = { 0 };
	struct dray_interrupt_line interrupt = { 0 };

	READ_NODE(info);
	EXPECT_EQ(1, info.register_count);
	EXPECT_EQ(1, info.interrupt_count);
	EXPECT_NE(0, info.flags & DRAY_NODE_REGISTERS);
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_REGISTER_AREA, &area));
	EXPECT_STREQ("control", area.name);
	EXPECT_EQ(PAGE, area.size);
	EXPECT_EQ(PAGE, area.mappable);
	EXPECT_EQ(-1, area.fd);
	ASSERT_EQ(0,
		  node_call(self->node, DRAY_IOC_INTERRUPT_LINE, &interrupt));
	EXPECT_STREQ("done", interrupt.name);
	EXPECT_EQ(-1, interrupt.fd);
}

TEST_F(axidma, an_area_or_interrupt_that_does_not_exist_is_refused)
{
	struct dray_register_area area = { .index = 1 };
	struct dray_interrupt_line interrupt = { .index = 1 };

	EXPECT_EQ(-EINVAL,
		  node_call(self->node, DRAY_IOC_REGISTER_AREA, &area));
	EXPECT_EQ(-EINVAL,
		  node_call(self->node, DRAY_IOC_INTERRUPT_LINE, &interrupt));
	area = (struct dray_register_area){ .flags = 2 };
	interrupt = (struct dray_interrupt_line){ .flags = 2 };
	EXPECT_EQ(-EINVAL,
		  node_call(self->node, DRAY_IOC_REGISTER_AREA, &area));
	EXPECT_EQ(-EINVAL,
		  node_call(self->node, DRAY_IOC_INTERRUPT_LINE, &interrupt));
}

TEST_F(axidma, a_register_sets_the_gain)
{
	const uint32_t gains[] = { 0, 1, 200, 40 };
	uint32_t frames;

	MAP_AREA(words);
	for (size_t i = 0; i < ARRAY_SIZE(gains); i++) {
		frames = words[FRAMES];
		words[GAIN] = gains[i];
		EXPECT_EQ(gains[i], words[GAIN]);
		ASSERT_EQ(-1, brighten(self, gains[i]));
		EXPECT_EQ(frames + 1, words[FRAMES]);
	}
}

TEST_F(axidma, two_openers_map_the_same_registers)
{
	OPEN_NODE(other);
	MAP_AREA(words);
	volatile uint32_t *others = area_map_of(other);

	ASSERT_NE(MAP_FAILED, others);
	words[GAIN] = 17;
	EXPECT_EQ(17, others[GAIN]);
	others[GAIN] = 40;
	EXPECT_EQ(40, words[GAIN]);
	close(other);
	/* Neither file is needed. */
	words[GAIN] = 41;
	EXPECT_EQ(41, others[GAIN]);
	others[GAIN] = 40;
	munmap((void *)others, PAGE);
}

TEST_F(axidma, a_mapping_is_shared_and_inside_the_area)
{
	const struct {
		size_t size;
		int flags;
		off_t offset;
	} wrong[] = {
		{ PAGE, MAP_PRIVATE, 0 },
		{ 2 * PAGE, MAP_SHARED, 0 },
		{ PAGE, MAP_SHARED, PAGE },
	};
	void *map;

	OPEN_AREA(area);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		map = mmap(NULL, wrong[i].size, PROT_READ, wrong[i].flags, area,
			   wrong[i].offset);
		EXPECT_EQ(MAP_FAILED, map);
		EXPECT_EQ(EINVAL, errno);
	}
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, area, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(40, ((volatile uint32_t *)map)[GAIN]);
	/* It does not grow. */
	EXPECT_EQ(MAP_FAILED, mremap(map, PAGE, 2 * PAGE, MREMAP_MAYMOVE));
	munmap(map, PAGE);
	close(area);
}

static uint64_t interrupts_counted(int node)
{
	struct dray_interrupt_line args = { 0 };

	return node_call(node, DRAY_IOC_INTERRUPT_LINE, &args) ? UINT64_MAX
							       : args.count;
}

TEST_F(axidma, the_end_of_a_packet_is_an_interrupt)
{
	uint64_t before;

	/* This interrupt is lost. */
	ASSERT_EQ(-1, brighten(self, 40));
	OPEN_INTERRUPT(interrupt);
	before = interrupts_counted(self->node);
	EXPECT_EQ(0, interrupt_poll(interrupt, 0));
	ASSERT_EQ(-1, brighten(self, 40));
	EXPECT_EQ(POLLIN, interrupt_poll(interrupt, DEADLINE_MS));
	EXPECT_EQ(1, interrupt_read(interrupt));
	EXPECT_EQ(0, interrupt_poll(interrupt, 0));
	EXPECT_EQ(before + 1, interrupts_counted(self->node));
	close(interrupt);
}

TEST_F(axidma, an_interrupt_is_masked_until_it_is_read)
{
	uint64_t before;

	OPEN_INTERRUPT(interrupt);
	before = interrupts_counted(self->node);
	ASSERT_EQ(-1, brighten(self, 40));
	EXPECT_EQ(POLLIN, interrupt_poll(interrupt, DEADLINE_MS));
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(-1, brighten(self, 40));
	EXPECT_EQ(before + 1, interrupts_counted(self->node));
	EXPECT_EQ(1, interrupt_read(interrupt));
	/* All that arrived meanwhile count once. */
	EXPECT_EQ(1, interrupt_read(interrupt));
	EXPECT_EQ(0, interrupt_poll(interrupt, 0));
	EXPECT_EQ(before + 2, interrupts_counted(self->node));
	close(interrupt);
}

static int await_interrupt(void *context)
{
	return interrupt_read(*(int *)context) == 1 ? 0 : STEP_FAILED;
}

TEST_F(axidma, a_read_waits_for_the_interrupt)
{
	pid_t child;

	OPEN_INTERRUPT(interrupt);
	child = process_start(await_interrupt, &interrupt);
	ASSERT_LT(0, child);
	ASSERT_TRUE(wait_for(process_sleeps, &child));
	ASSERT_EQ(-1, brighten(self, 40));
	EXPECT_EQ(0, process_wait(child));
	close(interrupt);
}

TEST_F(axidma, a_read_that_fails_loses_no_interrupt)
{
	uint64_t count;

	OPEN_INTERRUPT(interrupt);
	ASSERT_EQ(0, fcntl(interrupt, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(-EAGAIN, interrupt_read(interrupt));
	ASSERT_EQ(-1, brighten(self, 40));
	EXPECT_EQ(POLLIN, interrupt_poll(interrupt, DEADLINE_MS));
	EXPECT_EQ(-1, read(interrupt, &count, 4));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, syscall(SYS_read, interrupt, 1, 8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(1, interrupt_read(interrupt));
	EXPECT_EQ(-EAGAIN, interrupt_read(interrupt));
	close(interrupt);
}

TEST_F(axidma, an_interrupt_has_a_single_reader)
{
	struct dray_interrupt_line args = { .flags = DRAY_INTERRUPT_OPEN };

	OPEN_NODE(other);
	OPEN_INTERRUPT(interrupt);
	EXPECT_EQ(-EBUSY, node_call(other, DRAY_IOC_INTERRUPT_LINE, &args));
	EXPECT_EQ(DRAY_REASON_INTERRUPT, args.reason);
	EXPECT_EQ(0, args.limit);
	close(interrupt);
	/* It closes while it is masked, too. */
	for (int i = 0; i < 3; i++) {
		interrupt = interrupt_open(other);
		ASSERT_LE(0, interrupt);
		ASSERT_EQ(-1, brighten(self, 40));
		EXPECT_EQ(POLLIN, interrupt_poll(interrupt, DEADLINE_MS));
		close(interrupt);
	}
	close(other);
}

TEST_F(axidma, an_interrupt_arrives_after_sleep)
{
	OPEN_INTERRUPT(interrupt);
	MAP_AREA(words);
	ASSERT_EQ(0, system_sleep());
	EXPECT_EQ(40, words[GAIN]);
	ASSERT_EQ(-1, brighten(self, 40));
	EXPECT_EQ(1, interrupt_read(interrupt));
	close(interrupt);
}

static int open_as_nobody(void *unused)
{
	struct dray_register_area area = { 0 };
	struct dray_info info;
	int interrupt;

	(void)unused;
	STEP_OPEN_AS(node, NOBODY, OPENER);
	STEP_EQ(0, node_info(node, &info));
	STEP_EQ(0, info.flags & DRAY_NODE_REGISTERS);
	STEP_EQ(0, node_call(node, DRAY_IOC_REGISTER_AREA, &area));
	STEP_EQ(PAGE, area.size);
	area = (struct dray_register_area){ .flags = DRAY_REGISTERS_OPEN };
	STEP_EQ(-EPERM, node_call(node, DRAY_IOC_REGISTER_AREA, &area));
	STEP_EQ(DRAY_REASON_PERMISSION, area.reason);
	/* Waiting for a device needs no right. */
	interrupt = interrupt_open(node);
	STEP_LE(0, interrupt);
	return 0;
}

BRIEF(TEST_F(axidma, registers_need_a_right),
      EXPECT_EQ(0, process_run(open_as_nobody, NULL)));

/* Ends by SIGBUS. */
static int touch_after_end(void *context)
{
	FIXTURE_DATA(bound) *self = context;
	int area = area_open(self->node), untouched = area_open(self->node);
	volatile uint32_t *words = area_map(area, PAGE);

	STEP_TRUE(words != MAP_FAILED);
	STEP_EQ(40, words[GAIN]);
	STEP_EQ(0, binding_unbind(&self->binding));
	STEP_TRUE(area_map(untouched, PAGE) == MAP_FAILED);
	STEP_EQ(ENODEV, errno);
	words[GAIN] = 41;
	return 0;
}

BRIEF(TEST_F(bound, a_register_of_a_device_that_is_gone_is_a_bus_error),
      EXPECT_EQ(-SIGBUS, process_run(touch_after_end, self)));

/* Its exit status is the errno. */
static int read_to_the_end(void *context)
{
	return (int)-interrupt_read(*(int *)context);
}

TEST_F(bound, unbind_ends_the_wait_for_an_interrupt)
{
	pid_t child;

	OPEN_INTERRUPT(interrupt);
	child = process_start(read_to_the_end, &interrupt);
	ASSERT_LT(0, child);
	ASSERT_TRUE(wait_for(process_sleeps, &child));
	ASSERT_EQ(0, binding_unbind(&self->binding));
	EXPECT_EQ(ENODEV, process_wait(child));
	EXPECT_EQ(POLLERR | POLLHUP, interrupt_poll(interrupt, DEADLINE_MS));
	EXPECT_EQ(-ENODEV, interrupt_read(interrupt));
	ASSERT_EQ(0, binding_bind(&self->binding));
	/* The device that came back has an interrupt of its own. */
	OPEN_NODE(node);
	EXPECT_LE(0, interrupt_open(node));
	EXPECT_EQ(-ENODEV, interrupt_read(interrupt));
}

/* Maps and reads until the node is gone; ends by SIGBUS, or -ENODEV of a call. */
static int use_to_the_end(void *unused)
{
	int node = node_open();

	(void)unused;
	for (;;) {
		volatile uint32_t *words = area_map_of(node);

		if (words == MAP_FAILED)
			return 0;
		for (int i = 0; i < 100; i++)
			(void)words[i];
		munmap((void *)words, PAGE);
	}
}

TEST_F(bound, unbind_while_registers_are_used)
{
	pid_t users[3];
	int status;

	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 3; i++)
			users[i] = process_start(use_to_the_end, NULL);
		ASSERT_EQ(0, binding_unbind(&self->binding));
		for (int i = 0; i < 3; i++) {
			status = process_wait(users[i]);
			EXPECT_TRUE(status == 0 || status == -SIGBUS);
		}
		ASSERT_EQ(0, binding_bind(&self->binding));
	}
}
