// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What others have to do with it: importers of our buffers, dma-bufs and
 * fences of other drivers, child processes, and the end of a node.
 */
#include <sys/sysmacros.h>

#include <linux/udmabuf.h>

#include "../selftests/importer.h"
#include "../selftests/node.h"
#include "run.h"

#define HANDLES 8
#define BIND_TRIES 1000

struct node {
	char file[32];
	char driver[PATH_MAX]; /* its folder in sysfs */
	char device[DRAY_NAME_LEN];
};

static struct node nodes[NODES];
static uint32_t node_total;

static int node_find(struct node *node)
{
	char link[64], folder[PATH_MAX];
	struct stat status;

	if (stat(node->file, &status))
		return -errno;
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device/driver",
		 major(status.st_rdev), minor(status.st_rdev));
	if (!realpath(link, node->driver))
		return -errno;
	*strrchr(link, '/') = 0;
	if (!realpath(link, folder))
		return -errno;
	snprintf(node->device, sizeof(node->device), "%s",
		 strrchr(folder, '/') + 1);
	/* Processes without rights are to come in too. */
	return chmod(node->file, 0666) ? -errno : 0;
}

int nodes_find(void)
{
	int ret;

	for (node_total = 0; node_total < NODES; node_total++) {
		snprintf(nodes[node_total].file, sizeof(nodes[node_total].file),
			 "/dev/dray%u", node_total);
		ret = node_find(&nodes[node_total]);
		if (ret == -ENOENT)
			break;
		if (ret)
			return ret;
	}
	return (int)node_total;
}

const char *node_file(uint32_t object)
{
	return nodes[object % node_total].file;
}

static int write_name(const struct node *node, const char *file)
{
	char path[PATH_MAX + 16];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s/%s", node->driver, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, node->device, strlen(node->device)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int run_rebind(struct thread *thread, const struct call *call)
{
	const struct node *node = &nodes[call->a % node_total];
	int ret, tries;

	if (!thread->rebinds)
		return -EPERM;
	ret = write_name(node, "unbind");
	/* Whatever became of that: all others need a node. */
	for (tries = 0; tries < BIND_TRIES; tries++)
		if (write_name(node, "bind") != -EBUSY)
			break;
	for (tries = 0; tries < BIND_TRIES; tries++)
		if (!chmod(node->file, 0666))
			break;
	return ret;
}

int run_import(struct thread *thread, const struct call *call)
{
	uint32_t *handle = &thread->handles[call->b % HANDLES], new;
	int ret;

	if (thread->importer < 0)
		return -ENOTTY;
	ret = importer_attach(thread->importer,
			      object_fd(OBJECT_BUFFER, call->a), &new);
	if (ret)
		return ret;
	if (*handle)
		importer_detach(thread->importer, *handle);
	*handle = new;
	return 0;
}

int run_detach(struct thread *thread, const struct call *call)
{
	uint32_t *handle = &thread->handles[call->b % HANDLES];
	int ret;

	if (thread->importer < 0)
		return -ENOTTY;
	if (!*handle)
		return -ENOENT;
	ret = importer_detach(thread->importer, *handle);
	*handle = 0;
	return ret;
}

/*
 * udmabuf maps its pages for the direction of the first access and syncs them
 * for that of each later one, which the checker of mappings reports as a fault
 * of udmabuf.  So the first access is for both directions.
 */
static void udmabuf_map(int fd)
{
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_RW };

	ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync);
	sync.flags |= DMA_BUF_SYNC_END;
	ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync);
}

static int udmabuf_make(size_t size)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC,
					 .size = size };
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd = -1;

	create.memfd = (uint32_t)memfd_create("udmabuf", MFD_ALLOW_SEALING);
	if (device >= 0 && !ftruncate((int)create.memfd, (off_t)size) &&
	    !fcntl((int)create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = ioctl(device, UDMABUF_CREATE, &create);
	if (fd < 0)
		fd = -errno;
	else
		udmabuf_map(fd);
	close((int)create.memfd);
	if (device >= 0)
		close(device);
	return fd;
}

static int vgem_make(struct thread *thread, size_t size)
{
	uint32_t handle;
	int fd, ret;

	if (thread->importer < 0)
		return -ENOTTY;
	ret = importer_create(thread->importer, size, &handle);
	if (ret)
		return ret;
	fd = importer_export(thread->importer, handle);
	importer_detach(thread->importer, handle);
	return fd;
}

/* A dma-buf of another driver: scattered pages. */
int run_foreign(struct thread *thread, const struct call *call)
{
	size_t size = PAGE + call->size % (64 * PAGE) / PAGE * PAGE;
	int fd = call->seed & 1 ? udmabuf_make(size) : -ENOENT;

	if (fd < 0)
		fd = vgem_make(thread, size);
	if (fd < 0)
		return fd;
	object_put(OBJECT_FOREIGN, call->a, fd, size);
	return 0;
}

int run_foreign_mmap(struct thread *thread, const struct call *call)
{
	size_t length =
		object_size(OBJECT_FOREIGN, call->a) & (WINDOW_SIZE - 1);
	void *map = mmap(window_address(call->b), length,
			 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 object_fd(OBJECT_FOREIGN, call->a), 0);

	return map == MAP_FAILED ? -errno : 0;
}

/* A fence of an importer on one of our buffers, which others must wait for. */
int run_foreign_fence(struct thread *thread, const struct call *call)
{
	uint32_t handle = thread->handles[call->b % HANDLES], fence;
	int ret;

	if (thread->importer < 0)
		return -ENOTTY;
	if (!handle)
		return -ENOENT;
	ret = importer_fence(thread->importer, handle, &fence);
	if (ret)
		return ret;
	/* Else it ends with an error after ten seconds. */
	if (call->seed % 16)
		importer_signal(thread->importer, fence);
	return 0;
}

/* A child has all that its parent has, and goes soon. */
int run_fork(struct thread *thread, const struct call *call)
{
	struct call inner = *call;
	pid_t child = fork();

	if (child < 0)
		return -errno;
	if (!child) {
		alarm(20);
		run_touch(thread, &inner);
		run_submit(thread, &inner);
		run_cpu_sync(thread, &inner);
		_exit(0);
	}
	if (call->seed & 3)
		waitpid(child, NULL, 0);
	return 0;
}
