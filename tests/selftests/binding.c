// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Drivers and devices through sysfs; see binding.h.
 */
#include <sys/sysmacros.h>

#include "binding.h"
#include "node.h"
#include "process.h"

int write_text(const char *path, const char *text)
{
	size_t length = strlen(text);
	int fd = open(path, O_WRONLY), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, length) == (ssize_t)length ? 0 : -errno;
	close(fd);
	return ret;
}

int write_name(const char *folder, const char *file, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", folder, file) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	return write_text(path, name);
}

int binding_find(int node, struct binding *binding)
{
	struct dray_info info;
	struct stat status;
	char link[64];
	int ret = node_info(node, &info);

	if (ret)
		return ret;
	if (fstat(node, &status))
		return -errno;
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device/driver",
		 major(status.st_rdev), minor(status.st_rdev));
	if (!realpath(link, binding->driver))
		return -errno;
	memcpy(binding->device, info.device, sizeof(binding->device));
	return 0;
}

int binding_unbind(const struct binding *binding)
{
	return write_name(binding->driver, "unbind", binding->device);
}

int binding_bind(const struct binding *binding)
{
	int ret = write_name(binding->driver, "bind", binding->device);

	if (ret)
		return ret;
	return wait_for(node_answers, NULL) ? 0 : -ETIME;
}

bool node_answers(void *unused)
{
	struct dray_info info;
	int node = node_open(), ret;

	if (node < 0)
		return false;
	ret = node_info(node, &info);
	close(node);
	return !ret;
}

bool node_is_gone(void *unused)
{
	return access(node_path(), F_OK) != 0;
}

const char *node_call_that_lives(int node, int buffer_fd, uint64_t buffer_id)
{
	struct dray_transfer transfer =
		COPY_OF(buffer_fd, buffer_fd, 64, .dst_offset = 64);
	struct dray_info info = { 0 };
	struct dray_heap_info heap_info = { 0 };
	struct dray_channel_info channel_info = { 0 };
	struct dray_alloc alloc = { .size = 1, .heap = DRAY_HEAP_ANY };
	struct dray_address address = { .fd = buffer_fd };
	struct dray_sync sync = { .target = DRAY_TARGET_NODE,
				  .owner = DRAY_SYNC_FOR_DEVICE,
				  .direction = DRAY_TO_DEVICE };
	struct dray_submit submit = SUBMIT_OF(DRAY_CHANNEL_ANY, &transfer, 1);
	struct dray_list list = { 0 };
	struct dray_buffer_info buffer_info = { .id = buffer_id };
	struct dray_cancel cancel = { .fence_fd = -1,
				      .channel = DRAY_CHANNEL_ANY };
	struct dray_reclaim reclaim = { 0 };
	struct dray_heap_map heap_map = { 0 };
	struct dray_register_area register_area = { 0 };
	struct dray_interrupt_line interrupt_line = { 0 };
	struct dray_export export = { .buffer_fd = buffer_fd,
				      .flags = DRAY_EXPORT_READ_ONLY };
	struct dray_attach attach = { .dmabuf_fd = -1,
				      .flags = DRAY_ATTACH_USER,
				      .address = (uintptr_t)&transfer,
				      .length = 1 };
	const struct {
		const char *name;
		unsigned long request;
		void *argument;
	} calls[] = {
		{ "INFO", DRAY_IOC_INFO, &info },
		{ "HEAP_INFO", DRAY_IOC_HEAP_INFO, &heap_info },
		{ "CHANNEL_INFO", DRAY_IOC_CHANNEL_INFO, &channel_info },
		{ "ALLOC", DRAY_IOC_ALLOC, &alloc },
		{ "ADDRESS", DRAY_IOC_ADDRESS, &address },
		{ "SYNC", DRAY_IOC_SYNC, &sync },
		{ "SUBMIT", DRAY_IOC_SUBMIT, &submit },
		{ "LIST", DRAY_IOC_LIST, &list },
		{ "BUFFER_INFO", DRAY_IOC_BUFFER_INFO, &buffer_info },
		{ "CANCEL", DRAY_IOC_CANCEL, &cancel },
		{ "RECLAIM", DRAY_IOC_RECLAIM, &reclaim },
		{ "HEAP_MAP", DRAY_IOC_HEAP_MAP, &heap_map },
		{ "REGISTER_AREA", DRAY_IOC_REGISTER_AREA, &register_area },
		{ "INTERRUPT_LINE", DRAY_IOC_INTERRUPT_LINE, &interrupt_line },
		{ "EXPORT", DRAY_IOC_EXPORT, &export },
		{ "ATTACH", DRAY_IOC_ATTACH, &attach },
	};
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (node_call(node, calls[i].request, calls[i].argument) !=
		    -ENODEV)
			return calls[i].name;
	return "";
}
