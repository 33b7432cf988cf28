// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What is open while a scenario runs; see scene.h.
 */
#include "../selftests/fence.h"
#include "scene.h"

struct scene scene = {
	.node = -1,
	.other = -1,
	.src.fd = -1,
	.dst.fd = -1,
	.fence = -1,
	.importer = -1,
	.streams = -1,
	.line = -1,
};

void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void undo_all(void)
{
	if (scene.map)
		munmap(scene.map, SIZE);
	scene.map = NULL;
	/* It keeps what it was given, where it could not tell the handle. */
	close_one(&scene.importer);
	if (scene.fence >= 0)
		fence_wait(scene.fence);
	close_one(&scene.fence);
	close_one(&scene.line);
	close_one(&scene.streams);
	close_one(&scene.other);
	buffer_close(&scene.src);
	buffer_close(&scene.dst);
}

int prepare_nothing(void)
{
	return 0;
}

int prepare_buffers(void)
{
	int ret = buffer_open(scene.node, scenario->heap, SIZE, &scene.src);

	return ret ? ret
		   : buffer_open(scene.node, scenario->heap, SIZE, &scene.dst);
}

int prepare_unmapped(void)
{
	return buffer_allocate(scene.node, scenario->heap, SIZE, &scene.src);
}
