// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A memory manager of a version that this library does not know. */
#include <dray/manager.h>

__attribute__((visibility("default")))
const struct dray_manager_ops dray_memory_manager = {
	.interface_version = DRAY_MANAGER_INTERFACE + 1,
	.base = 77,
};
