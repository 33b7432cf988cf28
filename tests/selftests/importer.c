// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * vgem as an importer of dma-bufs; see importer.h.
 */
#include "importer.h"

/*
 * The few calls of DRM and of vgem that this needs; their headers are not
 * among those of every compiler.
 */
struct drm_version {
	int major, minor, patch;
	size_t name_length;
	char *name;
	size_t date_length;
	char *date;
	size_t description_length;
	char *description;
};

struct drm_handle {
	uint32_t handle;
	uint32_t pad;
};

struct drm_prime {
	uint32_t handle;
	uint32_t flags;
	int32_t fd;
};

struct drm_dumb {
	uint32_t height;
	uint32_t width;
	uint32_t bits;
	uint32_t flags;
	uint32_t handle;
	uint32_t pitch;
	uint64_t size;
};

struct vgem_fence_attach {
	uint32_t handle;
	uint32_t flags;
	uint32_t out_fence;
	uint32_t pad;
};

struct vgem_fence_signal {
	uint32_t fence;
	uint32_t flags;
};

#define DRM_VERSION _IOWR('d', 0x00, struct drm_version)
#define DRM_GEM_CLOSE _IOW('d', 0x09, struct drm_handle)
#define DRM_HANDLE_TO_FD _IOWR('d', 0x2d, struct drm_prime)
#define DRM_FD_TO_HANDLE _IOWR('d', 0x2e, struct drm_prime)
#define DRM_CREATE_DUMB _IOWR('d', 0xb2, struct drm_dumb)
#define VGEM_FENCE_ATTACH _IOWR('d', 0x41, struct vgem_fence_attach)
#define VGEM_FENCE_SIGNAL _IOW('d', 0x42, struct vgem_fence_signal)
#define VGEM_FENCE_WRITE 1

int importer_open(void)
{
	for (int i = 0; i < 16; i++) {
		char path[32], name[16] = { 0 };
		struct drm_version version = { .name = name,
					       .name_length =
						       sizeof(name) - 1 };
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!ioctl(fd, DRM_VERSION, &version) && !strcmp(name, "vgem"))
			return fd;
		close(fd);
	}
	return -ENODEV;
}

bool importer_maps(void)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	bool maps = true;
	char line[512];

	while (symbols && maps && fgets(line, sizeof(line), symbols))
		maps = !strstr(line, " drm_gem_shmem_prime_import_no_map");
	if (symbols)
		fclose(symbols);
	return maps;
}

int importer_attach(int importer, int fd, uint32_t *handle)
{
	struct drm_prime prime = { .fd = fd };

	if (ioctl(importer, DRM_FD_TO_HANDLE, &prime))
		return -errno;
	*handle = prime.handle;
	return 0;
}

int importer_detach(int importer, uint32_t handle)
{
	struct drm_handle gem = { .handle = handle };

	return ioctl(importer, DRM_GEM_CLOSE, &gem) ? -errno : 0;
}

int importer_create(int importer, size_t size, uint32_t *handle)
{
	struct drm_dumb dumb = {
		.height = 1,
		.width = (uint32_t)size,
		.bits = 8,
	};

	if (ioctl(importer, DRM_CREATE_DUMB, &dumb))
		return -errno;
	*handle = dumb.handle;
	return 0;
}

static int export_with(int importer, uint32_t handle, uint32_t flags)
{
	struct drm_prime prime = { .handle = handle, .flags = flags };

	if (ioctl(importer, DRM_HANDLE_TO_FD, &prime))
		return -errno;
	return prime.fd;
}

int importer_export(int importer, uint32_t handle)
{
	return export_with(importer, handle, O_RDWR | O_CLOEXEC);
}

int importer_export_read_only(int importer, uint32_t handle)
{
	return export_with(importer, handle, O_CLOEXEC);
}

static int fence_with(int importer, uint32_t handle, uint32_t flags,
		      uint32_t *fence)
{
	struct vgem_fence_attach attach = { .handle = handle, .flags = flags };

	if (ioctl(importer, VGEM_FENCE_ATTACH, &attach))
		return -errno;
	*fence = attach.out_fence;
	return 0;
}

int importer_fence(int importer, uint32_t handle, uint32_t *fence)
{
	return fence_with(importer, handle, VGEM_FENCE_WRITE, fence);
}

int importer_reader_fence(int importer, uint32_t handle, uint32_t *fence)
{
	return fence_with(importer, handle, 0, fence);
}

int importer_signal(int importer, uint32_t fence)
{
	struct vgem_fence_signal signal = { .fence = fence };

	return ioctl(importer, VGEM_FENCE_SIGNAL, &signal) ? -errno : 0;
}

int buffer_fences(int fd)
{
	struct dma_buf_export_sync_file export = {
		.flags = DMA_BUF_SYNC_RW,
		.fd = -1,
	};

	if (ioctl(fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export))
		return -errno;
	return export.fd;
}

bool buffer_tells_fences(int fd)
{
	/* of nobody, which is refused */
	struct dma_buf_export_sync_file export = { .fd = -1 };

	return ioctl(fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export) &&
	       errno != ENOTTY;
}
