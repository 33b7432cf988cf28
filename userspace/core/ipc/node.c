// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: the node that memory is of, as processes tell it each other.  A name
 * that came from elsewhere opens a node of the kernel, and nothing else.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ipc/node.h"
#include "memory/node.h"

int dray_ipc_describe_node(struct dray_node *node, uint32_t *backend,
			   char name[DRAY_NAME_LEN])
{
	struct dray_info info;
	int ret;

	memset(name, 0, DRAY_NAME_LEN);
	*backend = DRAY_IPC_HOST;
	if (strcmp(dray_node_backend(node), "kernel") != 0)
		return 0;
	*backend = DRAY_IPC_KERNEL;
	ret = dray_node_info(node, &info, sizeof(info));
	if (!ret)
		memcpy(name, info.name, DRAY_NAME_LEN);
	return ret;
}

static bool is_node_name(const char name[DRAY_NAME_LEN])
{
	size_t length = strnlen(name, DRAY_NAME_LEN);

	if (length < 5 || length == DRAY_NAME_LEN ||
	    memcmp(name, "dray", 4) != 0)
		return false;
	return strspn(name + 4, "0123456789") == length - 4;
}

int dray_ipc_check_node(uint32_t backend, const char name[DRAY_NAME_LEN])
{
	if (backend != DRAY_IPC_HOST && backend != DRAY_IPC_KERNEL)
		return dray_fail(
			-EBADMSG,
			"the record's back end is %u, neither the kernel's nor the host's",
			backend);
	if (backend == DRAY_IPC_KERNEL && !is_node_name(name))
		return dray_fail(
			-EBADMSG,
			"the sender does not name a node of the kernel");
	return 0;
}

int dray_ipc_open_node(uint32_t backend, const char name[DRAY_NAME_LEN],
		       struct dray_node **out)
{
	char spec[sizeof("kernel:") + DRAY_NAME_LEN] = "host:shareable";
	int ret = dray_ipc_check_node(backend, name);

	if (ret)
		return ret;
	if (backend == DRAY_IPC_KERNEL)
		snprintf(spec, sizeof(spec), "kernel:%s", name);
	return dray_node_open(spec, out);
}
