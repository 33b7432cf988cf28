// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A device whose interrupts do not stop, while a program reads their count: storm_ip.c.
 */
#include "../selftests/process.h"
#include "../selftests/setup.h"
#include "areas.h"
#include "model.h"

#define PAGE 4096u
#define STORM 20000u /* interrupts */

FIXTURE(storm)
{
	int node;
	size_t page;
	volatile uint32_t *wanted; /* the IP's register */
	volatile struct fpga_control *model;
	uint32_t last; /* count of the model's interrupts at the end */
	uint64_t before; /* interrupts that dray counted */
	int interrupt;
};

static uint64_t interrupts_counted(int node)
{
	struct dray_interrupt_line args = { 0 };

	return node_call(node, DRAY_IOC_INTERRUPT_LINE, &args) ? UINT64_MAX
							       : args.count;
}

FIXTURE_SETUP(storm)
{
	int area;

	SETUP_NODE();
	self->model = model_map();
	ASSERT_NE(NULL, self->model);
	area = area_open(self->node);
	ASSERT_LE(0, area);
	self->wanted = area_map(area, PAGE);
	ASSERT_NE(MAP_FAILED, self->wanted);
	close(area);
	self->interrupt = interrupt_open(self->node);
	ASSERT_LE(0, self->interrupt);
	self->before = interrupts_counted(self->node);
	self->last = self->model->raised + STORM;
	*self->wanted = STORM;
}

FIXTURE_TEARDOWN(storm)
{
	close(self->interrupt);
	munmap((void *)self->wanted, PAGE);
	close(self->node);
}

/* An interrupt that was raised and lost would leave the program waiting. */
TEST_F(storm, the_last_interrupt_is_not_lost)
{
	uint64_t sum = 0;
	int64_t count;

	do {
		ASSERT_EQ(POLLIN, interrupt_poll(self->interrupt, DEADLINE_MS));
		count = interrupt_read(self->interrupt);
		ASSERT_LT(0, count);
		sum += (uint64_t)count;
	} while (self->model->raised != self->last);
	TH_LOG("%llu of %u interrupts", (unsigned long long)sum, STORM);
	EXPECT_LT(1, sum);
	EXPECT_GE(STORM, sum);
}

/* For wait_for(). */
static bool storm_ended(void *context)
{
	const FIXTURE_DATA(storm) *self = context;

	return self->model->raised == self->last;
}

TEST_F(storm, interrupts_that_nobody_reads_cost_the_machine_nothing)
{
	ASSERT_TRUE(wait_for(storm_ended, self));
	EXPECT_EQ(POLLIN, interrupt_poll(self->interrupt, DEADLINE_MS));
	EXPECT_EQ(self->before + 1, interrupts_counted(self->node));
	EXPECT_EQ(1, interrupt_read(self->interrupt));
}
