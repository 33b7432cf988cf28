// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The arrays of a run: checks them against the recording, makes outputs that were
 * not given, and finds inputs to copy aside, which an output would change too early.
 */
#include <errno.h>
#include <string.h>

#include "array/array.h"
#include "private.h"
#include "sequence/run.h"

/* Checks a view's type and shape. */
static int check_layout(const struct dray_run *run, const char *kind, int i,
			int v, const struct dray_view *view)
{
	const struct dray_sequence_value *value = &run->sequence->values[v];
	char has[DRAY_SHAPE_TEXT], needs[DRAY_SHAPE_TEXT];
	char has_type[DRAY_DTYPE_TYPESTR_SIZE];
	char needs_type[DRAY_DTYPE_TYPESTR_SIZE];

	if (view->dtype != value->dtype &&
	    !dray_dtype_equal(view->dtype, value->dtype))
		return dray_fail(
			-EINVAL,
			"%s %d of a sequence is recorded with type %s, not %s",
			kind, i, dray_dtype_text(value->dtype, needs_type),
			dray_dtype_text(view->dtype, has_type));
	if (view->ndim == value->ndim &&
	    (!value->ndim || !memcmp(view->shape, value->shape,
				     (size_t)value->ndim * sizeof(int64_t))))
		return 0;
	return dray_fail(
		-EINVAL,
		"%s %d of a sequence is recorded with shape %s, not %s", kind,
		i, dray_shape_format(needs, value->ndim, value->shape),
		dray_shape_format(has, view->ndim, view->shape));
}

static int bind_input(struct dray_run *run, int i)
{
	const int v = run->sequence->inputs[i];
	const struct dray_view *view = run->inputs[i];
	int ret;

	if (!dray_given(view, "dray_sequence_run"))
		return -EINVAL;
	ret = dray_operand_init(&run->workspace->inputs[i], view, "an input");
	if (!ret)
		ret = check_layout(run, "input", i, v, view);
	if (ret)
		return ret;
	if (!(view->flags & DRAY_READ))
		return dray_fail(-EPERM,
				 "input %d of a sequence may not be read", i);
	run->workspace->aside[v] =
		run->sequence->values[v].chained && !dray_view_is_aligned(view);
	dray_view_copy(&run->workspace->views[v], view);
	return 0;
}

/* Makes an array for value @v, in C order. */
static int bind_make(const struct dray_run *run, int v, struct dray_array **out)
{
	const struct dray_sequence_value *value = &run->sequence->values[v];

	return dray_array_from_handler(value->dtype, value->ndim, value->shape,
				       NULL, false, out);
}

/* Checks an output that is given; one that is made gets its array. */
static int bind_output(struct dray_run *run, int i)
{
	const int v = run->sequence->outputs[i];
	struct dray_workspace *workspace = run->workspace;
	struct dray_operand *operand = &workspace->outputs[i];
	const struct dray_view *view = dray_run_output(run, i);
	struct dray_view own;
	int ret;

	operand->view = view;
	if (!view) {
		if (!dray_given(run->out, "dray_sequence_run"))
			return -EINVAL;
		ret = bind_make(run, v, &run->out[i]);
		if (!ret && dray_run_is_primary(run, i))
			dray_array_view(run->out[i], &workspace->views[v]);
		return ret;
	}
	ret = dray_operand_init(operand, view, "an output");
	if (!ret)
		ret = check_layout(run, "output", i, v, view);
	if (!ret)
		ret = dray_operand_check_writable(operand);
	if (ret)
		return ret;
	if (operand->extent.elements > 1 &&
	    dray_overlap_self(operand) == DRAY_OVERLAP_SOME)
		return dray_fail(
			-EINVAL,
			"elements of output %d of a sequence share memory", i);
	if (!dray_run_is_primary(run, i))
		return 0;
	if (run->sequence->values[v].chained && !dray_view_is_aligned(view)) {
		ret = bind_make(run, v, &workspace->made[v]);
		if (ret)
			return ret;
		view = dray_array_view(workspace->made[v], &own);
	}
	dray_view_copy(&workspace->views[v], view);
	return 0;
}

static bool bind_meet(const struct dray_operand *a,
		      const struct dray_operand *b)
{
	return dray_addresses_meet(a->span, b->span) && a->extent.elements &&
	       b->extent.elements &&
	       dray_overlap_find(a, b) != DRAY_OVERLAP_NONE;
}

/* Whether all of input @i has been read when output @o is written over it. */
static bool is_read_before(const struct dray_run *run, int i, int o)
{
	const struct dray_sequence *sequence = run->sequence;
	const struct dray_sequence_value *read =
		&sequence->values[sequence->inputs[i]];
	const struct dray_sequence_value *written =
		&sequence->values[sequence->outputs[o]];
	const bool primary = dray_run_is_primary(run, o);
	const int written_in = primary ? written->written_in : DRAY_AT_END;

	if (read->read_in < written_in)
		return true;
	if (read->read_in > written_in || !primary)
		return false;
	/* A call of whole arrays looks at its operands itself. */
	if (sequence->groups[written_in].step >= 0)
		return !written->apart;
	return (read->read_at < written->written_at ||
		(read->read_at == written->written_at && !written->apart)) &&
	       dray_views_are_alike(run->workspace->inputs[i].view,
				    run->workspace->outputs[o].view) &&
	       dray_overlap_self(&run->workspace->inputs[i]) ==
		       DRAY_OVERLAP_NONE;
}

static int bind_check_overlap(struct dray_run *run, int o)
{
	const struct dray_sequence *sequence = run->sequence;
	struct dray_workspace *workspace = run->workspace;
	const struct dray_operand *output = &workspace->outputs[o];
	int i;

	if (!output->view)
		return 0;
	for (i = 0; i < o; i++)
		if (workspace->outputs[i].view &&
		    bind_meet(output, &workspace->outputs[i]))
			return dray_fail(
				-EINVAL,
				"outputs %d and %d of a sequence share memory",
				i, o);
	for (i = 0; i < sequence->inputs_count; i++) {
		const int v = sequence->inputs[i];

		if (!workspace->aside[v] && !is_read_before(run, i, o) &&
		    bind_meet(output, &workspace->inputs[i]))
			workspace->aside[v] = true;
	}
	return 0;
}

/* Gives values in between their arrays, which the next run finds. */
static int bind_value(struct dray_run *run, int v)
{
	const struct dray_sequence_value *value = &run->sequence->values[v];
	struct dray_workspace *workspace = run->workspace;
	int ret;

	if (value->constant) {
		dray_array_view(value->constant, &workspace->views[v]);
		return 0;
	}
	if (!value->in_memory || value->input >= 0 || value->output >= 0 ||
	    value->written_in < 0)
		return 0;
	if (!workspace->arrays[v]) {
		ret = bind_make(run, v, &workspace->arrays[v]);
		if (ret)
			return ret;
	}
	dray_array_view(workspace->arrays[v], &workspace->views[v]);
	return 0;
}

int dray_run_copy_aside(struct dray_run *run)
{
	struct dray_workspace *workspace = run->workspace;
	int i, ret = 0;

	for (i = 0; i < run->sequence->inputs_count && !ret; i++) {
		const int v = run->sequence->inputs[i];

		if (!workspace->aside[v])
			continue;
		ret = dray_array_copy(&workspace->views[v], DRAY_ORDER_K,
				      &workspace->made[v]);
		if (!ret)
			dray_array_view(workspace->made[v],
					&workspace->views[v]);
	}
	return ret;
}

int dray_run_bind(struct dray_run *run)
{
	const struct dray_sequence *sequence = run->sequence;
	int i, ret = 0;

	for (i = 0; i < sequence->inputs_count && !ret; i++)
		ret = bind_input(run, i);
	for (i = 0; i < sequence->outputs_count && !ret; i++)
		ret = bind_output(run, i);
	for (i = 0; i < sequence->outputs_count && !ret; i++)
		ret = bind_check_overlap(run, i);
	for (i = 0; i < sequence->values_count && !ret; i++)
		ret = bind_value(run, i);
	return ret;
}
