// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A block device over ordinary memory; see loop_device.h.
 */
#include <linux/loop.h>

#include "loop_device.h"

int loop_device_open(struct loop_device *device, size_t size)
{
	struct loop_config config = {
		/* it goes away by itself when it is closed */
		.info = { .lo_flags = LO_FLAGS_AUTOCLEAR },
	};
	char path[32];
	int control, number, ret;

	device->direct = -1;
	device->memory = memfd_create("disk", MFD_CLOEXEC);
	if (device->memory < 0)
		return -errno;
	if (ftruncate(device->memory, (off_t)size)) {
		ret = -errno;
		goto close_memory;
	}
	control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (control < 0) {
		ret = -ENODEV;
		goto close_memory;
	}
	number = ioctl(control, LOOP_CTL_GET_FREE);
	ret = number < 0 ? -errno : 0;
	close(control);
	if (ret)
		goto close_memory;
	snprintf(path, sizeof(path), "/dev/loop%d", number);
	device->direct = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (device->direct < 0) {
		ret = -errno;
		goto close_memory;
	}
	config.fd = (unsigned int)device->memory;
	if (!ioctl(device->direct, LOOP_CONFIGURE, &config))
		return 0;
	ret = -errno;
	close(device->direct);
close_memory:
	close(device->memory);
	device->memory = -1;
	return ret;
}

void loop_device_close(struct loop_device *device)
{
	close(device->direct);
	close(device->memory);
}
