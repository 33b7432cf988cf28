// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The process that allocated a buffer may have ended while another one keeps
 * the memory by a descriptor.  /proc shows dma-bufs and attachments; a copy of
 * each (pidfd_getfd, with a debugger's rights) identifies the buffer.  A
 * process that ends meanwhile is skipped.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli.h"
#include "holders.h"
#include "identify.h"

struct holder_search {
	int node;
	uint64_t id;
	struct holder_list *list;
};

/* Returns the number that a name is, or -1. */
static int holders_number_of(const char *name)
{
	uint64_t number;
	const char *end = parse_number(name, 10, &number);

	return end && !*end && number <= INT32_MAX ? (int)number : -1;
}

/* Whether a descriptor is a dma-buf or an attachment. */
static bool is_memory(int folder, const char *name)
{
	static const char *const starts[] = { "/dmabuf:",
					      "anon_inode:dray-attachment" };
	char target[64];
	ssize_t length = readlinkat(folder, name, target, sizeof(target) - 1);
	size_t i;

	if (length < 0)
		return false;
	target[length] = '\0';
	for (i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (!strncmp(target, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static void read_comm(struct holder *holder)
{
	char *path = text_format("/proc/%d/comm", holder->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = 0;

	free(path);
	if (fd >= 0) {
		length = read(fd, holder->comm, sizeof(holder->comm) - 1);
		close(fd);
	}
	holder->comm[length > 0 ? length : 0] = '\0';
	/* the name may contain further newlines */
	if (length > 0 && holder->comm[length - 1] == '\n')
		holder->comm[length - 1] = '\0';
}

static void add_descriptor(struct holder_list *list, int pid,
			   struct descriptor descriptor)
{
	struct holder *last =
		list->count ? &list->entries[list->count - 1] : NULL;

	if (!last || last->pid != pid) {
		list->entries = memory_resize(list->entries, list->count + 1,
					      sizeof(*list->entries));
		last = &list->entries[list->count++];
		*last = (struct holder){ .pid = pid };
		read_comm(last);
	}
	last->descriptors = memory_resize(last->descriptors, last->count + 1,
					  sizeof(*last->descriptors));
	last->descriptors[last->count++] = descriptor;
}

/* Returns false if the caller may not inspect the process. */
static bool holders_look_at(const struct holder_search *search, int pid,
			    int process, int number)
{
	struct descriptor descriptor = { .number = number };
	int copy = (int)syscall(SYS_pidfd_getfd, process, number, 0);

	if (copy < 0)
		return errno != EPERM;
	if (identify(search->node, copy, &descriptor.read_only) == search->id)
		add_descriptor(search->list, pid, descriptor);
	close(copy);
	return true;
}

static void holders_look_into(const struct holder_search *search, int pid)
{
	char *path = text_format("/proc/%d/fd", pid);
	DIR *folder = opendir(path);
	const struct dirent *entry;
	int process = -1;
	bool allowed = folder || errno != EACCES;

	free(path);
	while (folder && allowed && (entry = readdir(folder))) {
		int number = holders_number_of(entry->d_name);

		if (number < 0 || !is_memory(dirfd(folder), entry->d_name))
			continue;
		if (process < 0)
			process = (int)syscall(SYS_pidfd_open, pid, 0);
		if (process < 0)
			break;
		allowed = holders_look_at(search, pid, process, number);
	}
	if (!allowed)
		search->list->hidden++;
	if (process >= 0)
		close(process);
	if (folder)
		closedir(folder);
}

void holders_find(const char *node, uint64_t id, struct holder_list *list)
{
	struct holder_search search = {
		.node = identify_open(node),
		.id = id,
		.list = list,
	};
	DIR *folder = opendir("/proc");
	const struct dirent *entry;

	*list = (struct holder_list){ 0 };
	while (folder && search.node >= 0 && (entry = readdir(folder))) {
		int pid = holders_number_of(entry->d_name);

		if (pid > 0)
			holders_look_into(&search, pid);
	}
	if (folder)
		closedir(folder);
	if (search.node >= 0)
		close(search.node);
}

static int holders_copy_descriptor(int pid, int number)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0);
	int copy = -1;

	if (process >= 0) {
		copy = (int)syscall(SYS_pidfd_getfd, process, number, 0);
		close(process);
	}
	return copy;
}

int holders_copy(const struct holder_list *list)
{
	size_t i, k;
	int copy;

	for (i = 0; i < list->count; i++)
		for (k = 0; k < list->entries[i].count; k++) {
			const struct holder *holder = &list->entries[i];

			if (holder->descriptors[k].read_only)
				continue;
			copy = holders_copy_descriptor(
				holder->pid, holder->descriptors[k].number);
			if (copy >= 0)
				return copy;
		}
	return -ENOENT;
}

void holders_free(struct holder_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free(list->entries[i].descriptors);
	free(list->entries);
	*list = (struct holder_list){ 0 };
}
