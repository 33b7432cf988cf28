// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * executor: a device of OpenCL, the real one.  Its failures are made; all that it
 * makes is released, and no call ends before its kernels.  Bits of results are
 * compared by tests/python/test_opencl.py.
 */
#include <dray/executor.h>
#include <ftw.h>

#include "mock_opencl.h"
#include "pool.h"

/* For LeakSanitizer: PoCL keeps its compiler until the program ends. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpocl.so\n";
}

static dray_dtype bytes[] = { DRAY_UINT8, DRAY_UINT8 };
static dray_dtype doubles[] = { DRAY_FLOAT64, DRAY_FLOAT64, DRAY_FLOAT64 };
static struct dray_opencl_loop loops[2];
static struct dray_opencl_executor_options options = {
	.loops = loops,
	.loops_count = 1,
};

static void set_loops(void)
{
	loops[0] = (struct dray_opencl_loop){
		.ufunc = dray_ufunc_find("invert"),
		.dtypes = bytes,
		.source = "~a",
	};
	loops[1] = (struct dray_opencl_loop){
		.ufunc = dray_ufunc_find("add"),
		.dtypes = doubles,
		.source = "a + b",
	};
	options.loops_count = 1;
	options.flags = 0;
}

/* For kernels that PoCL has compiled. */
static char cache[] = "/tmp/dray-opencl-XXXXXX";

static int remove_entry(const char *path, const struct stat *status, int kind,
			struct FTW *place)
{
	return remove(path);
}

static void remove_cache(void)
{
	nftw(cache, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static bool find_device(void)
{
	struct dray_executor *executor;
	int ret;

	if (mkdtemp(cache))
		atexit(remove_cache);
	setenv("POCL_CACHE_DIR", cache, 1);
	set_loops();
	ret = dray_opencl_executor_create(&options, &executor);
	if (!ret)
		dray_executor_unref(executor);
	else
		printf("# %s\n", dray_last_error());
	return !ret;
}

/* A run that has to find a device fails without one. */
static bool has_device(void)
{
	static int found = -1;

	if (found < 0)
		found = find_device();
	return found || getenv("DRAY_TEST_OPENCL");
}

FACTS_ON(has_device)

static const struct dray_call_cost cheap = { { 1, 1000 }, { 1, 1 } };
static const struct dray_call_cost dear = { { 1, 1000 }, { 9, 9000000 } };

static struct dray_pool *pool;
static struct dray_executor *executor;
static struct dray_call_queue *queue;

static int device_setup(void **state)
{
	struct dray_executor *cpu = dray_cpu_executor();

	set_loops();
	opencl.alive = opencl.launches = opencl.buffers = 0;
	opencl.bytes = 0;
	pool = open_pool("host", NULL);
	assert_works(dray_opencl_executor_create(&options, &executor));
	assert_works(dray_executor_set_cost(executor, loops[0].ufunc, bytes,
					    &cheap));
	assert_works(dray_executor_set_cost(cpu, loops[0].ufunc, bytes, &dear));
	assert_works(dray_call_queue_create(&executor, 1, &queue));
	return 0;
}

static int device_teardown(void **state)
{
	dray_call_queue_destroy(queue);
	dray_executor_unref(executor);
	assert_int_equal(opencl.alive, 0);
	dray_executor_set_cost(dray_cpu_executor(), loops[0].ufunc, bytes,
			       NULL);
	assert_int_equal(stats_of(pool).blocks, 0);
	assert_int_equal(stats_of(pool).parked, 0);
	dray_pool_close(pool);
	return 0;
}

#define DEVICE_FACT(name) FACT_WITH(name, device_setup, device_teardown)

/* A block of bytes as a view. */
static struct dray_view block_of(int64_t size, int value)
{
	struct dray_view view;
	void *block = take(pool, (size_t)size, 0);

	memset(block, value, (size_t)size);
	assert_works(dray_view_init(&view, block, u1, 1, &size, NULL));
	return view;
}

static void discard(const struct dray_view *view)
{
	dray_pool_free(pool, view->data);
}

static int submit(const struct dray_view *in, const struct dray_view *out,
		  struct dray_event **event)
{
	return dray_call_queue_submit(queue, loops[0].ufunc, &in, &out, NULL,
				      NULL, event);
}

static struct dray_call_explanation explain(const struct dray_view *in,
					    const struct dray_view *out)
{
	struct dray_call_explanation plan;

	assert_works(dray_explain_call(queue, loops[0].ufunc, &in, &out, NULL,
				       &plan, sizeof(plan)));
	return plan;
}

static bool all_bytes(const void *data, int value, size_t count)
{
	const unsigned char *at = data;

	while (count && *at == value)
		at++, count--;
	return !count;
}

DEVICE_FACT(operands_are_given_where_they_are)
{
	struct dray_view in = block_of(1000, 5), out = block_of(1000, 0);
	struct dray_opencl_device device;
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
	assert_works(
		dray_opencl_executor_device(executor, &device, sizeof(device)));
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

/* Fails the @n-th function of a call; false if there is none. */
static bool fail_call(int n, cl_int error)
{
	struct dray_view in = block_of(1000, 1), out = block_of(1000, 0);
	const int code = error == CL_OUT_OF_HOST_MEMORY ? -ENOMEM : -EIO;
	int alive = opencl.alive;
	bool failed;

	opencl.error = error;
	opencl.failed = NULL;
	opencl.to_go = n;
	if (submit(&in, &out, NULL)) {
		assert_non_null(opencl.failed);
		assert_fails(code, code, code == -ENOMEM ? "no memory" : "");
	}
	opencl.to_go = -1;
	failed = opencl.failed;
	assert_int_equal(opencl.alive, alive);
	if (failed && code == -EIO && strcmp(opencl.failed, "clCreateBuffer")) {
		/* The CPU takes the next one. */
		assert_string_equal(explain(&in, &out).executor, "cpu");
		assert_non_null(strstr(explain(&in, &out).reason,
				       "failed in an earlier call"));
	}
	assert_works(submit(&in, &out, NULL));
	assert_true(all_bytes(out.data, 254, 1000));
	discard(&in);
	discard(&out);
	return failed;
}

FACT(a_failure_of_opencl_is_the_error_of_the_call)
{
	const cl_int errors[] = { CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY };
	bool failed = true;

	for (int e = 0; e < 2; e++, failed = true)
		for (int n = 0; failed; n++) {
			device_setup(NULL);
			failed = fail_call(n, errors[e]);
			assert_true(failed || n >= 9);
			device_teardown(NULL);
		}
}

FACT(a_failure_of_opencl_is_the_error_of_creation)
{
	struct dray_executor *made;
	int ret = -1;

	set_loops();
	opencl.alive = 0;
	opencl.error = CL_OUT_OF_HOST_MEMORY;
	for (int n = 0; ret; n++) {
		opencl.failed = NULL;
		opencl.to_go = n;
		ret = dray_opencl_executor_create(&options, &made);
		opencl.to_go = -1;
		if (ret) {
			assert_fails(ret, -ENOMEM, "no memory");
			assert_non_null(opencl.failed);
			assert_int_equal(opencl.alive, 0);
		} else {
			assert_true(n > 20);
			assert_null(opencl.failed);
		}
	}
	dray_executor_unref(made);
	assert_int_equal(opencl.alive, 0);
}

/* Facts of other devices, and the answer to them. */
static const struct {
	cl_device_info told;
	uint64_t tells;
	uint32_t flags;
	int ret;
	const char *part;
} devices[] = {
	{ CL_DEVICE_HOST_UNIFIED_MEMORY, 0, 0, -EOPNOTSUPP,
	  "memory of its own" },
	{ CL_DEVICE_HOST_UNIFIED_MEMORY, 0, DRAY_OPENCL_COPIES, 0, "" },
	{ CL_DEVICE_DOUBLE_FP_CONFIG, 0, 0, -EOPNOTSUPP,
	  "has no doubles, operand 0 of add" },
	{ CL_DEVICE_MAX_WORK_GROUP_SIZE, 1, 0, 0, "" },
	{ CL_DEVICE_SINGLE_FP_CONFIG, CL_FP_ROUND_TO_NEAREST, 0, 0, "" },
};

FACT(devices_of_other_kinds_are_taken_or_refused)
{
	struct dray_executor *made;

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		set_loops();
		options.loops_count = 2;
		options.flags = devices[i].flags;
		opencl.alive = 0;
		opencl.told = devices[i].told;
		opencl.tells = devices[i].tells;
		assert_fails(dray_opencl_executor_create(&options, &made),
			     devices[i].ret, devices[i].part);
		opencl.told = 0;
		if (!devices[i].ret)
			dray_executor_unref(made);
		assert_int_equal(opencl.alive, 0);
	}
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
			       "cover 1001 bytes, the device takes 1000"));
	discard(&in);
	discard(&out);
	device_teardown(NULL);
}

FACT(bad_arguments_are_refused)
{
	struct dray_executor *made = NULL;
	struct dray_opencl_device device;

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
	assert_fails(dray_opencl_executor_device(dray_cpu_executor(), &device,
						 sizeof(device)),
		     -EINVAL, "cpu is not an executor of OpenCL");
}
