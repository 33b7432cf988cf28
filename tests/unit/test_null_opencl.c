// SPDX-License-Identifier: Apache-2.0 OR MIT
/* NULL where the executor of OpenCL needs something; no OpenCL is loaded. */
#include <dray/opencl.h>

#include "null.h"

FACT(loops_and_options)
{
	struct dray_opencl_loop loop = { .source = "a" };
	struct dray_opencl_executor_options options = { .loops_count = 1 };
	struct dray_executor *out = NULL;

	refuses(dray_opencl_executor_create(NULL, &out));
	refuses(dray_opencl_executor_create(&options, &out));
	options.loops = &loop;
	refuses(dray_opencl_executor_create(&options, &out));
	refuses(dray_opencl_executor_create(&options, NULL));
	assert_null(out);
}

FACT(devices)
{
	struct dray_opencl_device device = { .size = sizeof(device) };

	refuses(dray_opencl_executor_device(NULL, &device));
	refuses(dray_opencl_executor_device(dray_cpu_executor(), NULL));
	assert_fails(dray_opencl_executor_device(dray_cpu_executor(), &device),
		     -EINVAL, "cpu is not an executor of OpenCL");
}

FACTS_SHARE(set_up, tear_down)
