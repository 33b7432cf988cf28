// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Memory for other processes. */
#include "driver.h"

int cuIpcGetMemHandle(struct cuda_ipc_handle *out, uint64_t address)
{
	(void)out;
	(void)address;
	return CUDA_ERROR_NOT_SUPPORTED;
}

int cuIpcOpenMemHandle(uint64_t *out, struct cuda_ipc_handle handle,
		       unsigned int flags)
{
	(void)out;
	(void)handle;
	(void)flags;
	return CUDA_ERROR_NOT_SUPPORTED;
}

int cuIpcCloseMemHandle(uint64_t address)
{
	(void)address;
	return CUDA_ERROR_NOT_SUPPORTED;
}
