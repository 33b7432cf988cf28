// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Steps that take the node's device from its driver and give it back.
 */
#include "../selftests/process.h"
#include "scene.h"
#include "step.h"

static int write_name(const char *file)
{
	char path[PATH_MAX + 16];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s/%s", scene.driver, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, scene.device, strlen(scene.device)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int prepare_bind(void)
{
	close_one(&scene.node);
	/* Where it was not bound again it is not there. */
	write_name("unbind");
	return 0;
}

int run_bind(void)
{
	int ret = write_name("bind");

	/* The core may have lost the device file; dray's part is done. */
	return ret;
}

static bool node_comes(void *context)
{
	if (scene.node < 0)
		scene.node = node_open();
	return scene.node >= 0;
}

/* The device file is there when "bind" has returned. */
void undo_bind(void)
{
	write_name("bind");
	if (node_comes(NULL))
		return;
	/* It was bound, but the core could not make its file. */
	write_name("unbind");
	write_name("bind");
	wait_for(node_comes, NULL);
}

/* A channel is asked for by the first that needs it. */
int prepare_fresh(void)
{
	close_one(&scene.node);
	write_name("unbind");
	undo_bind();
	return scene.node < 0 ? scene.node : prepare_transfer();
}
