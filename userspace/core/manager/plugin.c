// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Plug-in managers: a shared object with one symbol, and checks of the
 * operations found there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/load.h"
#include "manager/manager.h"

#define PLUGIN_SYMBOL "dray_memory_manager"

int dray_manager_check_ops(const struct dray_manager_ops *ops, const char *from)
{
	/* First of all: of another version nothing else is known. */
	if (ops->interface_version != DRAY_MANAGER_INTERFACE)
		return dray_fail(-EPROTO,
				 "%s has interface version %u, this library "
				 "has %u",
				 from, ops->interface_version,
				 DRAY_MANAGER_INTERFACE);
	if (ops->base > DRAY_MANAGER_NATIVE)
		return dray_fail(-EINVAL, "%s has the unknown base %u", from,
				 ops->base);
	if (!ops->name || !*ops->name)
		return dray_fail(-EINVAL, "%s has no name", from);
	if (!ops->memalloc && ops->base != DRAY_MANAGER_NATIVE)
		return dray_fail(-EINVAL, "%s has no memalloc", from);
	return 0;
}

/* The reason has the name. */
static int no_plugin(const char *name)
{
	const char *reason = dray_load_failure();

	return dray_fail(-ENOENT, "the memory manager \"%s\": %s", name,
			 reason ? reason : "it cannot be loaded");
}

int dray_manager_load(const char *name, const struct dray_manager_ops **out)
{
	DRAY_NO_CANCEL;
	const struct dray_manager_ops *ops;
	char path[4096], from[256];
	void *object;
	int ret;

	if (!dray_given(name, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (!strcmp(name, "native")) {
		*out = dray_manager_base_ops(DRAY_MANAGER_NATIVE);
		return 0;
	}
	ret = snprintf(path, sizeof(path),
		       strchr(name, '/') ? "%s" : "libdray-manager-%s.so",
		       name);
	if (ret < 0 || (size_t)ret >= sizeof(path))
		return dray_fail(
			-ENOENT,
			"the name of a memory manager is %d bytes long", ret);
	object = dray_load(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!object)
		return no_plugin(name);
	ops = dlsym(object, PLUGIN_SYMBOL);
	/* RTLD_NODELETE: it stays, and this keeps its count right. */
	dlclose(object);
	if (!ops)
		return dray_fail(
			-ENOEXEC,
			"\"%s\" is not a memory manager: it lacks the symbol " PLUGIN_SYMBOL,
			name);
	snprintf(from, sizeof(from), "the memory manager \"%s\"", name);
	ret = dray_manager_check_ops(ops, from);
	if (!ret)
		*out = ops;
	return ret;
}

int dray_manager_environment(const struct dray_manager_ops **out)
{
	const char *name = secure_getenv("DRAY_MEMORY_MANAGER");

	*out = NULL;
	return name && *name ? dray_manager_load(name, out) : 0;
}
