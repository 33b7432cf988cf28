// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Stands in for the executor of OpenCL where its headers were missing. */
#include <errno.h>

#include "private.h"
#include "cast/options.h"
#include "executor/executor.h"

static int missing(void)
{
	return dray_fail(
		-EOPNOTSUPP,
		"this libdray was built without OpenCL's headers (Debian: opencl-c-headers)");
}

int dray_opencl_executor_create(
	const struct dray_opencl_executor_options *options,
	struct dray_executor **out)
{
	struct dray_opencl_executor_options known;
	int ret;

	if (!dray_given(options, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = DRAY_READ_OPTIONS(&known, options,
				DRAY_OPENCL_EXECUTOR_OPTIONS_SIZE_FIRST);
	if (ret)
		return ret;
	return dray_given(known.loops, __func__) ? missing() : -EINVAL;
}

int dray_opencl_executor_device(const struct dray_executor *executor,
				struct dray_opencl_device *out)
{
	if (!dray_given(executor, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	return missing();
}
