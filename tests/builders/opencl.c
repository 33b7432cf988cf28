// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Asks for a device of OpenCL, and prints why there is none. */
#include <stdio.h>

#include <dray/opencl.h>

int main(void)
{
	dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	struct dray_opencl_loop loop = {
		.ufunc = dray_ufunc_find("invert"),
		.dtypes = dtypes,
		.source = "~a",
	};
	struct dray_opencl_executor_options options = {
		.loops = &loop,
		.loops_count = 1,
	};
	struct dray_executor *executor;

	if (dray_opencl_executor_create(&options, &executor))
		printf("%s\n", dray_last_error());
	else
		dray_executor_unref(executor);
	return 0;
}
