// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Steps by which dray's memory comes to others, and theirs to dray.
 */
#include "../selftests/importer.h"
#include "scene.h"
#include "step.h"

int run_export(void)
{
	struct dray_export export = { .buffer_fd = scene.src.fd,
				      .flags = DRAY_EXPORT_READ_ONLY };
	int ret = node_call(scene.node, DRAY_IOC_EXPORT, &export);

	if (!ret)
		scene.other = export.fd;
	return ret;
}

int prepare_import(void)
{
	scene.importer = importer_open();
	return scene.importer < 0 ? NOT_HERE : prepare_unmapped();
}

int run_import(void)
{
	return importer_attach(scene.importer, scene.src.fd, &scene.handle);
}

static int attach(struct dray_attach *attach)
{
	int ret = node_call(scene.node, DRAY_IOC_ATTACH, attach);

	if (!ret)
		scene.other = attach->fd;
	return ret;
}

/* Memory without pages: they are allocated when it is pinned. */
static int memory_map(int protection)
{
	void *at = mmap(NULL, SIZE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (at == MAP_FAILED)
		return -errno;
	scene.map = at;
	return 0;
}

int prepare_memory(void)
{
	return memory_map(PROT_READ | PROT_WRITE);
}

int prepare_memory_read_only(void)
{
	return memory_map(PROT_READ);
}

static int attach_user(uint32_t flags)
{
	struct dray_attach args = {
		.dmabuf_fd = -1,
		.flags = DRAY_ATTACH_USER | flags,
		.address = (uintptr_t)scene.map + 100,
		.length = SIZE - 200,
	};

	return attach(&args);
}

int run_attach_user(void)
{
	return attach_user(0);
}

int run_attach_user_read_only(void)
{
	return attach_user(DRAY_ATTACH_READ_ONLY);
}

int attach_memory(int *fd)
{
	static uint8_t memory[2][SIZE] __attribute__((aligned(4096)));
	struct dray_attach args = {
		.dmabuf_fd = -1,
		.flags = DRAY_ATTACH_USER,
		.address = (uintptr_t)memory[fd == &scene.dst.fd],
		.length = SIZE,
	};
	int ret = node_call(scene.node, DRAY_IOC_ATTACH, &args);

	if (!ret)
		*fd = args.fd;
	return ret;
}

/* A dma-buf of the importer's own memory. */
int prepare_foreign(void)
{
	int ret;

	scene.importer = importer_open();
	if (scene.importer < 0)
		return NOT_HERE;
	ret = importer_create(scene.importer, SIZE, &scene.handle);
	if (ret)
		return ret;
	scene.src.fd = importer_export(scene.importer, scene.handle);
	return scene.src.fd < 0 ? scene.src.fd : 0;
}

int run_attach_dmabuf(void)
{
	struct dray_attach args = { .dmabuf_fd = scene.src.fd };

	return attach(&args);
}
