// SPDX-License-Identifier: Apache-2.0 OR MIT
/* arrow_flight: nothing is in flight in an array that has gone to Arrow, or came. */
#include <dray/array.h>

#include "arrow.h"
#include "streams.h"

FACTS_ON(on_host)

#define BYTES 64

/* Makes an array over a view; the memory stays the fact's. */
static struct dray_array *array_over(const struct dray_view *view)
{
	struct dray_array *array = NULL;

	assert_works(dray_array_from_pointer(view, NULL, NULL, &array));
	return array;
}

LOOP_FACT(an_export_waits_for_a_packet_that_writes_the_array)
{
	struct dray_view view = bytes_of(BYTES, 1);
	struct dray_event *receive = recv_view(&view);
	struct dray_array *array = array_over(&view);
	struct ArrowArray out = { 0 };

	assert_fails(dray_arrow_export(array, NULL, 0, 0, &out), -ETIME,
		     "0 ms");
	assert_null(out.release);
	assert_works(dray_event_cancel(receive));
	assert_works(dray_arrow_export(array, NULL, 0, 0, &out));
	out.release(&out);
	dray_event_unref(receive);
	dray_array_unref(array);
	discard(&view);
}

LOOP_FACT(an_export_waits_for_a_packet_that_writes_the_mask)
{
	struct dray_view view = bytes_of(BYTES, 1), mask = view;
	struct dray_event *receive = recv_view(&view);
	struct dray_array *array = make("i4", 1, DIMS(BYTES));
	struct ArrowArray out = { 0 };

	mask.dtype = DRAY_BOOL;
	assert_fails(dray_arrow_export(array, &mask, 0, 1, &out), -ETIME,
		     "1 ms");
	assert_works(dray_event_cancel(receive));
	assert_works(dray_arrow_export(array, &mask, 0, 1, &out));
	assert_int_equal(out.null_count, BYTES);
	out.release(&out);
	dray_event_unref(receive);
	dray_array_unref(array);
	discard(&view);
}

/* A transfer begins while a consumer has the array; another import waits for it. */
LOOP_FACT(an_import_waits_for_a_packet_that_writes_the_array)
{
	struct dray_view view = bytes_of(BYTES, 1);
	struct dray_array *array = array_over(&view), *back = NULL;
	struct dray_event *receive;
	struct passed passed;

	pass(array, NULL, 0, &passed);
	receive = recv_view(&view);
	assert_fails(dray_arrow_import(&passed.schema, &passed.array, 0, 0,
				       &back, NULL),
		     -ETIME, "0 ms");
	assert_non_null(passed.array.release);
	assert_works(dray_event_cancel(receive));
	assert_works(dray_arrow_import(&passed.schema, &passed.array, 0, 0,
				       &back, NULL));
	dray_array_unref(back);
	drop(&passed);
	dray_event_unref(receive);
	dray_array_unref(array);
	discard(&view);
}

LOOP_FACT(a_packet_that_only_reads_the_array_does_not_matter)
{
	struct dray_view view = bytes_of(BYTES, 1);
	struct dray_array *array = array_over(&view);
	struct dray_event *send = NULL;
	struct ArrowArray out = { 0 };

	assert_works(dray_stream_send(loop.tx, &view, NULL, &send));
	assert_works(dray_arrow_export(array, NULL, 0, 0, &out));
	out.release(&out);
	assert_works(dray_event_cancel(send));
	dray_event_unref(send);
	dray_array_unref(array);
	discard(&view);
}
