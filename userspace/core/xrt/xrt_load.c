// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loads XRT: the shim first, which announces itself to the library that follows.
 * Without it that library would look for the shim in places where Debian has none,
 * and end the process.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/load.h"
#include "xrt/xrt.h"

#define LIBRARY "libxrt_coreutil.so.2"

#define CALL(name)                                           \
	{                                                    \
#name, offsetof(struct dray_xrt_calls, name) \
	}

static const struct {
	const char *name;
	size_t offset;
} calls[] = {
	CALL(xrtDeviceOpen),
	CALL(xrtDeviceClose),
	CALL(xrtDeviceToXclDevice),
	CALL(xrtBOAlloc),
	CALL(xrtBOAllocUserPtr),
	CALL(xrtBOImport),
	CALL(xrtBOExport),
	CALL(xrtBOSubAlloc),
	CALL(xrtBOFree),
	CALL(xrtBOSize),
	CALL(xrtBOAddress),
	CALL(xrtBOSync),
	CALL(xrtBOMap),
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))
_Static_assert(sizeof(struct dray_xrt_calls) == CALLS * sizeof(void (*)(void)),
	       "each function is found by its name");

static _Atomic bool loaded;

/* The shim for an emulation mode, or for hardware. */
static int name_shim(const char **shim)
{
	static const struct {
		const char *mode;
		const char *shim;
	} modes[] = {
		{ "noop", "libxrt_noop.so.2" },
		{ "sw_emu", "libxrt_swemu.so.2" },
		{ "hw_emu", "libxrt_hwemu.so.2" },
	};
	const char *mode = getenv("XCL_EMULATION_MODE");
	size_t i;

	*shim = "libxrt_core.so.2";
	if (!mode || !*mode)
		return 0;
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!strcmp(mode, modes[i].mode)) {
			*shim = modes[i].shim;
			return 0;
		}
	}
	return dray_fail(
		-EINVAL,
		"XCL_EMULATION_MODE is \"%.64s\", not noop, sw_emu or hw_emu",
		mode);
}

static int xrt_library_load(const char *name, void **library)
{
	const char *home = secure_getenv("XILINX_XRT");
	const char *said;
	char first[256] = "";
	char path[512];

	*library = dray_load(name, RTLD_NOW | RTLD_GLOBAL);
	if (*library)
		return 0;
	said = dray_load_failure();
	snprintf(first, sizeof(first), "%s", said ? said : name);
	if (home && *home &&
	    (size_t)snprintf(path, sizeof(path), "%s/lib/%s", home, name) <
		    sizeof(path)) {
		*library = dray_load(path, RTLD_NOW | RTLD_GLOBAL);
		if (*library)
			return 0;
	}
	return dray_fail(-ENOENT,
			 "XRT is not there (Debian: libxrt1): %s%s%s%s", first,
			 home ? ", nor in " : "", home ? home : "",
			 home ? "/lib" : "");
}

static int xrt_load_find(void *library)
{
	char *into = (char *)&dray_xrt;
	size_t i;

	for (i = 0; i < CALLS; i++) {
		void *symbol = dlsym(library, calls[i].name);

		if (!symbol)
			return dray_fail(
				-EOPNOTSUPP,
				LIBRARY
				" has no function %s: XRT 2.12 or later has",
				calls[i].name);
		memcpy(into + calls[i].offset, &symbol, sizeof(symbol));
	}
	return 0;
}

static int load_both(void)
{
	const char *shim;
	void *library;
	int ret;

	ret = name_shim(&shim);
	if (ret)
		return ret;
	ret = xrt_library_load(shim, &library);
	if (ret)
		return ret;
	ret = xrt_library_load(LIBRARY, &library);
	return ret ? ret : xrt_load_find(library);
}

int dray_xrt_load(void)
{
	DRAY_NO_CANCEL;
	int ret;

	/* exit() may have begun, which the lock's taker asks. */
	ret = dray_xrt_enter_first();
	if (ret)
		return ret;
	if (!atomic_load_explicit(&loaded, memory_order_relaxed)) {
		ret = load_both();
		if (!ret) {
			dray_xrt_before_exit(DRAY_XRT_LOADED);
			atomic_store(&loaded, true);
		}
	}
	dray_xrt_leave();
	return ret;
}
