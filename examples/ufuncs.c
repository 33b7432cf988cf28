// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Universal functions: a loop of your own becomes a function of whole arrays, which
 * runs as a call, in a reduction, on a queue of calls, and in a recorded sequence.
 */
#include <dray/array.h>
#include <stdio.h>

/* Each element of the output is a + b / 4: a loop, along any strides. */
static int blend(char *const *data, const int64_t *strides, int64_t count,
		 void *context)
{
	(void)context;
	for (int64_t i = 0; i < count; i++) {
		const float *a = (void *)(data[0] + i * strides[0]);
		const float *b = (void *)(data[1] + i * strides[1]);
		float *out = (void *)(data[2] + i * strides[2]);

		*out = *a + *b / 4;
	}
	return 0;
}

static int make_blend(struct dray_ufunc **out)
{
	const dray_dtype types[] = { DRAY_FLOAT32, DRAY_FLOAT32, DRAY_FLOAT32 };
	int ret = dray_ufunc_create("blend", 2, 1, DRAY_IDENTITY_NONE, out);

	return ret ? ret
		   : dray_ufunc_set_loop(
			     *out, types,
			     &(struct dray_ufunc_loop){ .loop = blend });
}

static int print(const char *title, struct dray_array *array)
{
	struct dray_view view;
	int ret;

	printf("%s ", title);
	ret = dray_view_print(dray_array_view(array, &view), stdout);
	dray_array_unref(array);
	return ret;
}

/* Calls it on a table and one row, which is broadcast, and sums the columns. */
static int call(struct dray_ufunc *ufunc, const struct dray_view *table,
		const struct dray_view *row)
{
	const struct dray_view *inputs[] = { table, row };
	struct dray_array *sums, *made;
	struct dray_view view;
	int ret = dray_ufunc_call(ufunc, inputs, NULL, NULL, &made);

	if (ret)
		return ret;
	ret = dray_sum(dray_array_view(made, &view), NULL,
		       &(struct dray_reduce_options){ .axes = (int[]){ 0 },
						      .axes_count = 1 },
		       &sums);
	ret = ret ? ret : print("sums of columns:", sums);
	return print("blend:", made) ? -1 : ret;
}

/* Submits a call, and waits for its end. */
static int queue(struct dray_ufunc *ufunc, const struct dray_view *table)
{
	const struct dray_view *inputs[] = { table, table };
	struct dray_call_queue *calls;
	struct dray_event *event = NULL;
	struct dray_array *made = NULL;
	int ret = dray_call_queue_create(NULL, 0, NULL, &calls);

	if (ret)
		return ret;
	ret = dray_call_queue_submit(calls, ufunc, inputs, NULL, NULL, &made,
				     &event);
	if (!ret)
		ret = dray_event_wait(event, 10000);
	dray_event_unref(event);
	dray_call_queue_destroy(calls);
	if (!ret)
		return print("on a queue:", made);
	dray_array_unref(made);
	return ret;
}

/* Records sqrt(blend(x, x)), and runs it without an array in between. */
static int record(struct dray_ufunc *ufunc, const struct dray_view *table)
{
	struct dray_sequence *sequence;
	struct dray_array *made = NULL;
	dray_value x, blended, root;
	int ret = dray_sequence_create(&sequence);

	if (ret)
		return ret;
	ret = dray_sequence_input(sequence, table->dtype, table->ndim,
				  table->shape, &x);
	if (!ret)
		ret = dray_sequence_call(sequence, ufunc,
					 (dray_value[]){ x, x }, NULL,
					 &blended);
	if (!ret)
		ret = dray_sequence_call(sequence, dray_ufunc_find("sqrt"),
					 &blended, NULL, &root);
	if (!ret)
		ret = dray_sequence_output(sequence, root);
	if (!ret)
		ret = dray_sequence_end(sequence);
	if (!ret)
		ret = dray_sequence_run(sequence, &table, NULL, NULL, &made);
	if (!ret)
		ret = print("recorded:", made);
	dray_sequence_destroy(sequence);
	return ret;
}

int main(void)
{
	float numbers[] = { 0, 4, 8, 12, 16, 20 };
	const int64_t shape[] = { 2, 3 };
	struct dray_view table, row;
	struct dray_ufunc *ufunc = NULL;
	int ret = dray_view_init(&table, numbers, DRAY_FLOAT32, 2, shape, NULL);

	if (!ret)
		ret = dray_view_init(&row, numbers, DRAY_FLOAT32, 1, shape + 1,
				     NULL);
	if (!ret)
		ret = make_blend(&ufunc);
	if (!ret)
		ret = call(ufunc, &table, &row);
	if (!ret)
		ret = queue(ufunc, &table);
	if (!ret)
		ret = record(ufunc, &table);
	dray_ufunc_unref(ufunc);
	if (ret)
		fprintf(stderr, "%s\n", dray_last_error());
	return ret != 0;
}
