// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The node vanishes and comes back where what a call needs has gone before: the
 * device that exported a dma-buf, and a channel that hung.  Needs what faults.c
 * wants, and dray_test_exporter.ko.
 */
#include "../selftests/attach.h"
#include "../selftests/fixture_refused.h"
#include "fixture_fault.h"

#define EXPORTER "/sys/bus/platform/drivers/dray-test-exporter/"
#define EXPORTER_DEVICE "dray-test-exporter"

static int removed = -1; /* the dma-buf of a device that is unbound */

static int bind_exporter(void)
{
	/* It may be bound. */
	write_text(EXPORTER "bind", EXPORTER_DEVICE);
	return access(EXPORTER EXPORTER_DEVICE, F_OK) ? -ENODEV : 0;
}

static int prepare_removed(struct caller *caller)
{
	if (removed >= 0)
		return 0;
	removed = parameter_read("dray_test_exporter", "export");
	if (removed < 0)
		return removed;
	return write_text(EXPORTER "unbind", EXPORTER_DEVICE);
}

static int attach_what_a_removed_device_exported(struct caller *caller)
{
	struct dray_attach attach;
	int ret = attach_dma_buf(caller->node, removed, 0, &attach);

	caller->reason = attach.reason;
	return ret;
}

static int submit_to_the_first(struct caller *caller, int *fence)
{
	struct dray_transfer transfer =
		COPY_OF(caller->large.fd, caller->buffer.fd, SIZE);
	struct dray_submit submit = SUBMIT_OF(0, &transfer, 1);
	int ret = node_call(caller->node, DRAY_IOC_SUBMIT, &submit);

	caller->reason = submit.reason;
	*fence = ret ? -1 : submit.fence_fd;
	return ret;
}

static bool nothing_is_out(void *context)
{
	struct caller *caller = context;
	struct dray_buffer_info info;

	return !node_buffer_info(caller->node, caller->large.id, &info) &&
	       !info.transfers;
}

/* It has finished after all, but is dead. */
static int prepare_dead(struct caller *caller)
{
	int ret = knob("hang", 1), status = 0, fence;

	if (!ret)
		ret = watchdog(IMPATIENT);
	if (!ret)
		ret = submit_to_the_first(caller, &fence);
	if (!ret) {
		status = fence_wait(fence);
		close(fence);
	}
	if (!ret)
		ret = knob("hang", 0);
	if (!ret)
		ret = watchdog(PATIENT);
	if (!ret && status != -ETIMEDOUT)
		ret = status ? status : -ETIME;
	if (!ret && !wait_for(nothing_is_out, caller))
		ret = -EBUSY;
	return ret;
}

static int submit_to_a_channel_that_is_dead(struct caller *caller)
{
	int fence, ret = submit_to_the_first(caller, &fence);

	if (!ret)
		close(fence);
	return ret;
}

REFUSED(attach_what_a_removed_device_exported, -ENXIO, DRAY_REASON_NONE,
	ATTACHES, prepare_removed, bind_exporter);
REFUSED(submit_to_a_channel_that_is_dead, -EIO, DRAY_REASON_DEAD, CHANNELS,
	prepare_dead, knobs_reset);
