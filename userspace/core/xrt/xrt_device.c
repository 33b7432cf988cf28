// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Devices of XRT, opened here or adopted from the caller. */
#include <errno.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "xrt/xrt.h"

static struct dray_xrt_device *new_device(void)
{
	struct dray_xrt_device *device = calloc(1, sizeof(*device));

	if (!device)
		dray_fail(-ENOMEM, "no memory for the object of a device");
	else
		atomic_init(&device->references, 1);
	return device;
}

static void xrt_device_list(struct dray_xrt_device *device,
			    dray_xrt_handle handle)
{
	void *shim = dray_xrt.xrtDeviceToXclDevice(handle);

	atomic_store(&device->handle, handle);
	device->identity = shim ? shim : handle;
	dray_xrt_list_device(device);
	dray_xrt_before_exit(DRAY_XRT_OPENED);
}

int dray_xrt_device_open(unsigned int index, struct dray_xrt_device **out)
{
	DRAY_NO_CANCEL;
	struct dray_xrt_device *device;
	dray_xrt_handle handle = NULL;
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	ret = dray_xrt_load();
	if (ret)
		return ret;
	device = new_device();
	if (!device)
		return -ENOMEM;
	ret = dray_xrt_enter_first();
	if (!ret) {
		handle = dray_xrt.xrtDeviceOpen(index);
		if (handle) {
			device->opened = true;
			xrt_device_list(device, handle);
		} else {
			ret = dray_fail(
				-ENODEV,
				"xrtDeviceOpen(%u) opens no device: there is no such one, its driver is not loaded, or access is denied; XRT says more on stderr",
				index);
		}
		dray_xrt_leave();
	}
	if (ret)
		free(device);
	else
		*out = device;
	return ret;
}

int dray_xrt_device_adopt(dray_xrt_handle handle, void (*release)(void *owner),
			  void *owner, struct dray_xrt_device **out)
{
	DRAY_NO_CANCEL;
	struct dray_xrt_device *device;
	int ret;

	if (!dray_given(handle, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	ret = dray_xrt_load();
	if (ret)
		return ret;
	device = new_device();
	if (!device)
		return -ENOMEM;
	ret = dray_xrt_enter_first();
	if (!ret) {
		if (dray_xrt.xrtDeviceToXclDevice(handle)) {
			device->release.call = release;
			device->release.owner = owner;
			xrt_device_list(device, handle);
		} else {
			ret = dray_fail(-EINVAL,
					"XRT knows no device with handle %p",
					handle);
		}
		dray_xrt_leave();
	}
	if (ret)
		free(device);
	else
		*out = device;
	return ret;
}

struct dray_xrt_device *dray_xrt_device_ref(struct dray_xrt_device *device)
{
	if (device)
		atomic_fetch_add_explicit(&device->references, 1,
					  memory_order_relaxed);
	return device;
}

void dray_xrt_device_unref(struct dray_xrt_device *device)
{
	DRAY_NO_CANCEL;
	struct dray_xrt_release release;
	dray_xrt_handle handle;
	bool mine;

	if (!device || atomic_fetch_sub_explicit(&device->references, 1,
						 memory_order_acq_rel) != 1)
		return;
	dray_xrt_enter_last();
	mine = device->process == dray_fork_process();
	handle = atomic_exchange(&device->handle, NULL);
	if (handle && device->opened && mine)
		dray_xrt.xrtDeviceClose(handle);
	dray_xrt_unlist_device(device);
	dray_xrt_leave();
	if (dray_xrt_take_release(&device->release, &release) && mine)
		release.call(release.owner);
	free(device);
}

dray_xrt_handle dray_xrt_device_handle(const struct dray_xrt_device *device)
{
	return dray_given(device, __func__)
		       ? atomic_load(
				 &((struct dray_xrt_device *)device)->handle)
		       : NULL;
}
