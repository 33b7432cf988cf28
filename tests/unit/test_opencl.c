// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * opencl: calls on a real device.  All that it makes is released, and no call ends
 * before its kernels.  Bits of results are compared by tests/python/test_opencl.py.
 */
#include <dray/array.h>

#include "opencl.h"
#include "opencl_device.h"
#include "sizes.h"

FACTS_ON(has_device)

DEVICE_FACT(operands_are_given_where_they_are)
{
	struct dray_view in = block_of(1000, 5), out = block_of(1000, 0);
	struct dray_opencl_device device = { .size = sizeof(device) };
	int before = opencl.buffers;

	opencl.bytes = 0;
	assert_works(submit(&in, &out, NULL));
	assert_int_equal(opencl.buffers - before, 2);
	assert_int_equal(opencl.bytes, 2000);
	assert_true(all_bytes(out.data, 250, 1000));
	/* The same elements, and every second byte, are in one buffer. */
	assert_works(submit(&in, &in, NULL));
	assert_int_equal(opencl.buffers - before, 3);
	assert_true(all_bytes(in.data, 250, 1000));
	discard(&out);
	in.shape[0] = 500;
	in.strides[0] = 2;
	dray_view_copy(&out, &in);
	out.dtype = in.dtype;
	out.flags = in.flags;
	out.data = (char *)in.data + 1;
	opencl.bytes = 0;
	assert_works(submit(&in, &out, NULL));
	assert_int_equal(opencl.buffers - before, 4);
	assert_int_equal(opencl.bytes, 1000);
	assert_works(dray_opencl_executor_device(executor, &device));
	assert_int_equal(device.calls, 3);
	assert_int_equal(device.bytes, 2000 + 2000 + 1000);
	discard(&in);
}

/* A view of seven axes, of which no two are one. */
static struct dray_view wide_view(struct dray_view *block)
{
	struct dray_view view;

	*block = block_of(16384, 3);
	assert_works(dray_view_init(&view, block->data, u1, 7,
				    DIMS(4, 4, 4, 4, 4, 4, 4), NULL));
	for (int axis = 0; axis < 7; axis++)
		view.shape[axis] = 3;
	return view;
}

DEVICE_FACT(views_of_many_axes_take_several_kernels)
{
	struct dray_view blocks[2], in, out;
	int before = opencl.launches;
	size_t changed = 0;

	in = wide_view(&blocks[0]);
	out = wide_view(&blocks[1]);
	assert_works(submit(&in, &out, NULL));
	assert_int_equal(opencl.launches - before, 81);
	for (size_t i = 0; i < 16384; i++)
		changed += ((unsigned char *)blocks[1].data)[i] == 252;
	assert_int_equal(changed, 3 * 3 * 3 * 3 * 3 * 3 * 3);
	discard(&blocks[0]);
	discard(&blocks[1]);
}

/* The event of the call, as soon as the test has it. */
static _Atomic(struct dray_event *) submitted;

static void cancel_late(int number)
{
	if (opencl.launches % 81 != 9)
		return;
	becomes_true(atomic_load(&submitted));
	assert_works(dray_event_cancel(atomic_load(&submitted)));
}

DEVICE_FACT(a_call_is_cancelled_between_kernels)
{
	struct dray_view blocks[2], in, out;
	struct dray_event *event;

	in = wide_view(&blocks[0]);
	out = wide_view(&blocks[1]);
	opencl.launches = 0;
	opencl.in_launch = cancel_late;
	assert_works(submit(&in, &out, &event));
	atomic_store(&submitted, event);
	assert_fails(dray_event_wait(event, DEADLINE * 1000), -ECANCELED,
		     "the call of invert was cancelled");
	opencl.in_launch = NULL;
	atomic_store(&submitted, NULL);
	assert_int_equal(opencl.launches, 10);
	dray_event_unref(event);
	/* The device goes on. */
	assert_string_equal(explain(&in, &out).executor, "opencl");
	assert_works(submit(&in, &out, NULL));
	discard(&blocks[0]);
	discard(&blocks[1]);
}

static _Atomic bool waits, goes_on;

static void wait_for_test(void)
{
	atomic_store(&waits, true);
	becomes_true(atomic_load(&goes_on));
}

DEVICE_FACT(memory_is_not_used_again_before_the_kernel_has_ended)
{
	struct dray_view in = block_of(100, 1), out = block_of(100, 2);
	struct dray_event *event;

	opencl.in_wait = wait_for_test;
	assert_works(submit(&in, &out, &event));
	becomes_true(atomic_load(&waits));
	discard(&in);
	discard(&out);
	assert_int_not_equal(stats_of(pool).parked, 0);
	assert_fails(dray_event_wait(event, 0), -ETIME, "");
	atomic_store(&goes_on, true);
	assert_works(dray_event_wait(event, DEADLINE * 1000));
	opencl.in_wait = NULL;
	assert_int_equal(stats_of(pool).parked, 0);
	dray_event_unref(event);
}

FACT(a_call_that_is_too_large_for_a_buffer_is_the_cpus)
{
	struct dray_view in, out;

	opencl.told = CL_DEVICE_MAX_MEM_ALLOC_SIZE;
	opencl.tells = 1000;
	device_setup(NULL);
	opencl.told = 0;
	in = block_of(1001, 1);
	out = block_of(1001, 1);
	assert_string_equal(explain(&in, &out).executor, "cpu");
	assert_non_null(strstr(explain(&in, &out).reason,
			       "cover 1001 bytes; the device's limit is 1000"));
	discard(&in);
	discard(&out);
	device_teardown(NULL);
}

static int device_sized(void *device)
{
	return dray_opencl_executor_device(executor, device);
}

/* Refuses the loop after the size. */
static int options_sized(void *sized)
{
	struct dray_executor *made;

	return dray_opencl_executor_create(sized, &made);
}

DEVICE_FACT(options_and_facts_of_a_device_have_any_size)
{
	static const struct dray_opencl_loop none;
	static const struct dray_opencl_executor_options bad = {
		.loops = &none,
	};
	static const struct sizes_row table[] = {
		OPTIONS(dray_opencl_executor_options,
			DRAY_OPENCL_EXECUTOR_OPTIONS, 48, true, &bad,
			options_sized),
		RESULT(dray_opencl_device, DRAY_OPENCL_DEVICE, 288,
		       device_sized),
	};

	SIZES_CHECK(table);
}

FACT(bad_arguments_are_refused)
{
	struct dray_executor *made = NULL;
	struct dray_opencl_device device = { .size = sizeof(device) };

	set_loops();
	options.flags = 1u << 9;
	assert_fails(dray_opencl_executor_create(&options, &made), -EINVAL,
		     "0x200");
	set_loops();
	options.loops_count = 257;
	assert_fails(dray_opencl_executor_create(&options, &made), -EINVAL,
		     "not 257");
	set_loops();
	loops[0].flags = 1u << 8;
	assert_fails(dray_opencl_executor_create(&options, &made), -EINVAL,
		     "0x100");
	loops[0].flags = DRAY_OPENCL_BY_ADDRESS;
	assert_fails(dray_opencl_executor_create(&options, &made), -EINVAL,
		     "name a function");
	set_loops();
	loops[0].source = NULL;
	assert_fails(dray_opencl_executor_create(&options, &made), -EINVAL, "");
	assert_fails(dray_opencl_executor_device(dray_cpu_executor(), &device),
		     -EINVAL, "cpu is not an executor of OpenCL");
}
