// SPDX-License-Identifier: Apache-2.0 OR MIT
/* opencl_faults: functions of OpenCL that fail, and devices of other kinds. */
#include <dray/array.h>

#include "opencl_device.h"

FACTS_ON(has_device)

/* Whether a failure of the function changes nothing: it stands after the last byte. */
static bool is_last(const char *name)
{
	return !strcmp(name, "clFinish");
}

/* Fails the @n-th function of a call; false if there is none. */
static bool fail_call(int n, cl_int error)
{
	struct dray_view in = block_of(1000, 1), out = block_of(1000, 0);
	const int code = error == CL_OUT_OF_HOST_MEMORY ? -ENOMEM : -EIO;
	int alive = opencl.alive, ret;
	bool failed;

	opencl.error = error;
	opencl.failed = NULL;
	opencl.to_go = n;
	ret = submit(&in, &out, NULL);
	opencl.to_go = -1;
	failed = opencl.failed;
	if (ret)
		assert_fails(ret, code, code == -ENOMEM ? "no memory" : "");
	assert_true(ret ? failed : !failed || is_last(opencl.failed));
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
	  "does not compute doubles, operand 0 of add" },
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
