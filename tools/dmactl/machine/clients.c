// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads the fdinfo of descriptors of /dev/drayN.  A descriptor may have copies,
 * in other processes too; they share the opener's id, and one is kept.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "clients.h"

static const char *const keys[CLIENT_NUMBERS] = {
	[CLIENT_BUFFERS] = "dray-buffers",
	[CLIENT_MEMORY] = "dray-memory",
	[CLIENT_ALLOCATED] = "dray-allocated",
	[CLIENT_SYNCED] = "dray-sync-bytes",
	[CLIENT_TRANSFERS] = "dray-transfers",
	[CLIENT_MOVED] = "dray-transfer-bytes",
	[CLIENT_RUNNING] = "dray-transfers-running",
};

static bool is_node(int folder, const char *number)
{
	static const char start[] = "/dev/dray";
	char target[sizeof(start)];

	return readlinkat(folder, number, target, sizeof(target)) ==
		       (ssize_t)sizeof(target) &&
	       !memcmp(target, start, sizeof(start) - 1);
}

/* A stream is a line "dray-stream-NAME:" and its counts. */
static void clients_read_streams(struct client *client, const char *text)
{
	static const char start[] = "dray-stream-";
	size_t count = 0;

	while (text && count < CLIENT_STREAMS) {
		size_t length = strcspn(text, ":\n");

		if (!strncmp(text, start, sizeof(start) - 1))
			snprintf(client->streams[count++],
				 sizeof(*client->streams), "%.*s",
				 (int)(length - (sizeof(start) - 1)),
				 text + sizeof(start) - 1);
		text = strchr(text, '\n');
		if (text)
			text++;
	}
}

static void read_client(struct client_list *list, const char *root, int pid,
			const char *number)
{
	char *path = text_format("%s/proc/%d/fdinfo/%s", root, pid, number);
	char *text = file_text(path);
	struct client client = { 0 };
	const char *node;
	size_t length, i;

	free(path);
	node = text ? value_of_key(text, "dray-node", &length) : NULL;
	if (node && length < sizeof(client.node) &&
	    number_of_key(text, "dray-client-id", &client.id)) {
		memcpy(client.node, node, length);
		for (i = 0; i < CLIENT_NUMBERS; i++)
			number_of_key(text, keys[i], &client.numbers[i]);
		clients_read_streams(&client, text);
		process_read(root, pid, &client.process);
		list->entries = memory_resize(list->entries, list->count + 1,
					      sizeof(*list->entries));
		list->entries[list->count++] = client;
	}
	free(text);
}

static bool clients_look_into(void *context, const char *root, int pid)
{
	struct client_list *list = context;
	char *path = text_format("%s/proc/%d/fd", root, pid);
	DIR *folder = pid == getpid() ? NULL : opendir(path);
	const struct dirent *file;

	free(path);
	if (!folder && pid != getpid() && (errno == EACCES || errno == EPERM))
		list->hidden++;
	while (folder && (file = readdir(folder)))
		if (number_of_name(file->d_name) >= 0 &&
		    is_node(dirfd(folder), file->d_name))
			read_client(list, root, pid, file->d_name);
	if (folder)
		closedir(folder);
	return true;
}

static int compare_openers(const void *a, const void *b)
{
	const struct client *first = a;
	const struct client *second = b;

	if (first->id != second->id)
		return first->id < second->id ? -1 : 1;
	return strcmp(first->node, second->node);
}

static int compare_clients(const void *a, const void *b)
{
	const struct client *first = a;
	const struct client *second = b;
	int order = compare_openers(a, b);

	if (order)
		return order;
	return (first->process.pid > second->process.pid) -
	       (first->process.pid < second->process.pid);
}

void clients_gather(const char *root, struct client_list *list)
{
	size_t kept = 0;
	size_t i;

	*list = (struct client_list){ 0 };
	processes_each(root, clients_look_into, list);
	if (!list->count)
		return;
	qsort(list->entries, list->count, sizeof(*list->entries),
	      compare_clients);
	for (i = 0; i < list->count; i++)
		if (!kept || compare_openers(&list->entries[kept - 1],
					     &list->entries[i]) != 0)
			list->entries[kept++] = list->entries[i];
	list->count = kept;
}

void clients_free(struct client_list *list)
{
	free(list->entries);
	*list = (struct client_list){ 0 };
}

const struct client *clients_find(const struct client_list *list,
				  const struct client *client)
{
	return list->count ? bsearch(client, list->entries, list->count,
				     sizeof(*list->entries), compare_openers)
			   : NULL;
}

const struct client *clients_of_stream(const struct client_list *list,
				       const char *node, const char *name)
{
	size_t i, stream;

	for (i = 0; i < list->count; i++)
		for (stream = 0; stream < CLIENT_STREAMS; stream++)
			if (!strcmp(list->entries[i].node, node) &&
			    !strcmp(list->entries[i].streams[stream], name))
				return &list->entries[i];
	return NULL;
}
