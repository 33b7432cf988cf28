// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A task of another room made of its operands, whose blocks are held until the end. */
#include <errno.h>
#include <stdlib.h>

#include "private.h"
#include "executor/executor.h"

/* Notes the memory of operands, and holds their blocks. */
static void hold_operands(struct dray_queued *queued,
			  struct dray_operand *operands, int count, bool writes)
{
	int o;

	for (o = 0; o < count; o++) {
		if (!operands[o].extent.elements)
			continue;
		dray_operand_locate(&operands[o], true);
		dray_event_keep(queued->event, &operands[o], writes);
	}
}

int dray_queued_create_task(const struct dray_task *task,
			    struct dray_operand *inputs, int inputs_count,
			    struct dray_operand *outputs, int outputs_count,
			    struct dray_queued **out)
{
	const size_t count = (size_t)inputs_count + (size_t)outputs_count;
	struct dray_queued *queued = calloc(1, sizeof(*queued));
	int ret;

	if (!queued)
		return dray_fail(-ENOMEM, "no memory for a call");
	ret = dray_event_create_call(task->name, (uint32_t)count,
				     &queued->event);
	if (ret) {
		dray_queued_free(queued);
		return ret;
	}
	hold_operands(queued, inputs, inputs_count, false);
	hold_operands(queued, outputs, outputs_count, true);
	queued->task = *task;
	dray_get_fp_state(&queued->state);
	*out = queued;
	return 0;
}
