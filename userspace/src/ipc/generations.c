// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: the page of generations, as its exporter makes it and as importers map
 * it.  It is sealed when it is handed out: an exporter that could shorten it
 * could end its importers with SIGBUS, and one that they could write would let
 * one importer mislead the others.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "ipc/ask.h"
#include "ipc/generations.h"
#include "memory/memfd.h"

/* Bytes of what is mapped: a number for each slot. */
#define CONTROL_SIZE (DRAY_IPC_MAX_EXPORTS * sizeof(uint32_t))

struct dray_ipc_exporter {
	struct dray_ipc_identity identity;
	uint64_t references;
	const _Atomic uint32_t *slots;
	struct dray_ipc_exporter *next;
};

static struct dray_ipc_exporter *exporters;

int dray_ipc_generations_make(struct dray_ipc_generations *generations)
{
	int ret = dray_memfd_check_limit(CONTROL_SIZE);
	void *map;
	int fd;

	if (ret)
		return ret;
	fd = memfd_create("dray-ipc", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return dray_fail(-errno, "memfd_create: %s", strerror(errno));
	if (ftruncate(fd, CONTROL_SIZE))
		goto fail;
	map = mmap(NULL, CONTROL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   0);
	if (map == MAP_FAILED)
		goto fail;
	/* A child that ends its parent's exports must not say so to others. */
	if (madvise(map, CONTROL_SIZE, MADV_DONTFORK) ||
	    fcntl(fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE |
			  F_SEAL_SEAL)) {
		ret = dray_fail(-errno, "the page of generations: %s",
				strerror(errno));
		munmap(map, CONTROL_SIZE);
		close(fd);
		return ret;
	}
	generations->slots = map;
	generations->fd = fd;
	return 0;
fail:
	ret = dray_fail(-errno, "the page of generations: %s", strerror(errno));
	close(fd);
	return ret;
}

void dray_ipc_generations_drop(struct dray_ipc_generations *generations)
{
	munmap((void *)generations->slots, CONTROL_SIZE);
	dray_ipc_generations_forget(generations);
}

void dray_ipc_generations_forget(struct dray_ipc_generations *generations)
{
	generations->slots = NULL;
	close(generations->fd);
}

static int map(int fd, const _Atomic uint32_t **slots)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat status;
	void *page;
	int huge;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &status) ||
	    status.st_size < (off_t)CONTROL_SIZE)
		return dray_fail(
			-EPERM,
			"the exporter's page of generations is too short, or not sealed against shrinking");
	huge = dray_memfd_is_huge(fd);
	if (huge < 0)
		return huge;
	if (huge)
		return dray_fail(
			-EPERM,
			"the exporter's page of generations is a huge page (MFD_HUGETLB), which it can take away");
	page = mmap(NULL, CONTROL_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return dray_fail(-errno,
				 "mapping the exporter's generations: %s",
				 strerror(errno));
	*slots = page;
	return 0;
}

int dray_ipc_exporter_take(int fd, struct dray_ipc_exporter **out)
{
	struct dray_ipc_identity identity;
	struct dray_ipc_exporter *exporter;
	int ret = dray_ipc_identify(fd, &identity);

	if (ret)
		return ret;
	for (exporter = exporters; exporter; exporter = exporter->next) {
		if (dray_ipc_is_same(&exporter->identity, &identity)) {
			exporter->references++;
			*out = exporter;
			return 0;
		}
	}
	exporter = calloc(1, sizeof(*exporter));
	if (!exporter)
		return dray_fail(-ENOMEM, "no memory for an open record");
	ret = map(fd, &exporter->slots);
	if (ret) {
		free(exporter);
		return ret;
	}
	exporter->identity = identity;
	exporter->references = 1;
	exporter->next = exporters;
	exporters = exporter;
	*out = exporter;
	return 0;
}

void dray_ipc_exporter_give(struct dray_ipc_exporter *exporter)
{
	struct dray_ipc_exporter **link = &exporters;

	if (!exporter || --exporter->references)
		return;
	while (*link != exporter)
		link = &(*link)->next;
	*link = exporter->next;
	munmap((void *)(uintptr_t)exporter->slots, CONTROL_SIZE);
	free(exporter);
}

uint32_t dray_ipc_exporter_generation(const struct dray_ipc_exporter *exporter,
				      uint32_t slot)
{
	return atomic_load(&exporter->slots[slot]);
}
