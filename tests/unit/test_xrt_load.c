// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * xrt_load: which libraries are loaded, in their order, and the sentences about
 * missing ones.  The last fact loads them, for good.
 */
#include "mock_xrt.h"

static int forget(void **state)
{
	memset(&xrt, 0, sizeof(xrt));
	unsetenv("XCL_EMULATION_MODE");
	unsetenv("XILINX_XRT");
	return 0;
}

#define LOAD_FACT(name) FACT_WITH(name, forget, forget)

LOAD_FACT(missing_library_is_said_in_the_loaders_words)
{
	static const char *const names[] = { "libxrt_core.so.2",
					     "libxrt_coreutil.so.2" };
	struct dray_xrt_device *device = NULL;

	for (size_t i = 0; i < 2; i++) {
		xrt.absent = names[i];
		assert_fails(dray_xrt_load(), -ENOENT,
			     "XRT is not there (Debian: libxrt1): "
			     "the loader's words");
		assert_fails(dray_xrt_device_open(0, &device), -ENOENT,
			     "the loader's words");
	}
}

LOAD_FACT(home_of_xrt_is_looked_in_after_the_loaders_places)
{
	xrt.absent = "libxrt_core.so.2";
	setenv("XILINX_XRT", "/opt/somewhere", 1);
	assert_fails(dray_xrt_load(), -ENOENT, "nor in /opt/somewhere/lib");
	assert_string_equal(
		xrt.tried,
		"libxrt_core.so.2 /opt/somewhere/lib/libxrt_core.so.2 ");
}

LOAD_FACT(home_with_a_name_too_long_is_not_looked_in)
{
	char home[1024];

	memset(home, 'a', sizeof(home) - 1);
	home[sizeof(home) - 1] = 0;
	xrt.absent = "libxrt_core.so.2";
	setenv("XILINX_XRT", home, 1);
	assert_fails(dray_xrt_load(), -ENOENT, "the loader's words");
	assert_string_equal(xrt.tried, "libxrt_core.so.2 ");
}

LOAD_FACT(emulation_has_a_shim_of_its_own)
{
	static const struct {
		const char *mode, *tried;
	} modes[] = {
		{ "", "libxrt_core.so.2 libxrt_coreutil.so.2 " },
		{ "noop", "libxrt_noop.so.2 libxrt_coreutil.so.2 " },
		{ "sw_emu", "libxrt_swemu.so.2 libxrt_coreutil.so.2 " },
		{ "hw_emu", "libxrt_hwemu.so.2 libxrt_coreutil.so.2 " },
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		forget(state);
		xrt.absent = "coreutil";
		setenv("XCL_EMULATION_MODE", modes[i].mode, 1);
		assert_fails(dray_xrt_load(), -ENOENT, "the loader's words");
		assert_string_equal(xrt.tried, modes[i].tried);
	}
}

LOAD_FACT(unknown_emulation_is_refused_before_anything_is_loaded)
{
	setenv("XCL_EMULATION_MODE", "hw", 1);
	assert_fails(
		dray_xrt_load(), -EINVAL,
		"XCL_EMULATION_MODE is \"hw\", not noop, sw_emu or hw_emu");
	assert_string_equal(xrt.tried, "");
}

LOAD_FACT(library_without_one_of_the_functions_is_refused)
{
	for (size_t i = 0; i < MOCK_FUNCTIONS; i++) {
		xrt.lacks = mock_functions[i].name;
		assert_fails(dray_xrt_load(), -EOPNOTSUPP, xrt.lacks);
	}
}

LOAD_FACT(library_is_loaded_once_after_any_failures)
{
	assert_works(dray_xrt_load());
	assert_int_equal(xrt.loads, 2);
	xrt.absent = "libxrt_";
	assert_works(dray_xrt_load());
	assert_int_equal(xrt.loads, 2);
}
