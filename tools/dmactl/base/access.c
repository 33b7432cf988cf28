// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Opening nodes.  Causes of failures are looked up here instead of printing the
 * library's sentence, because the user needs the next step.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access.h"
#include "words.h"

void complain_no_module(void)
{
	struct dray_node *node;

	/* Fails with the next step. */
	cli_error = ENODEV;
	if (dray_node_open("kernel", &node))
		complain("%s", dray_last_error());
	else
		dray_node_unref(node);
}

static char *group_word(gid_t gid)
{
	const struct group *group = getgrgid(gid);

	return group ? text_format("%s", group->gr_name)
		     : text_format("%u", (unsigned int)gid);
}

static void complain_permission(const char *name)
{
	char *path = text_format("/dev/%s", name);
	struct stat status;
	char *owner;
	char *group;

	cli_error = EACCES;
	if (stat(path, &status)) {
		complain("no permission to open %s: %s", path,
			 dray_last_error());
	} else {
		owner = user_word(status.st_uid);
		group = group_word(status.st_gid);
		complain("no permission to open %s: it belongs to user %s and "
			 "group %s with mode %04o, and you have uid %u",
			 path, owner, group,
			 (unsigned int)status.st_mode & 07777,
			 (unsigned int)geteuid());
		free(owner);
		free(group);
	}
	free(path);
}

static void complain_no_node(const char *name, char (*names)[DRAY_NAME_LEN],
			     size_t count)
{
	char *list = NULL;
	size_t i;

	for (i = 0; i < count; i++)
		text_append(&list, "%s%s", i ? ", " : "", names[i]);
	cli_error = ENODEV;
	complain("no node '%s': there %s %s", name,
		 count == 1 ? "is only" : "are", list);
	free(list);
}

/* The node that was last told to have disappeared: once for all its heaps. */
static char gone[DRAY_NAME_LEN];

void node_complain(const struct open_node *node, const char *doing, int error)
{
	if (error == -ENODEV && !strcmp(gone, node->name))
		return;
	cli_error = -error;
	if (error == -ENODEV) {
		complain("%s disappeared while dmactl was reading it",
			 node->name);
		memcpy(gone, node->name, sizeof(gone));
	} else {
		complain("%s: cannot %s: %s", node->name, doing,
			 dray_last_error());
	}
}

bool node_heap(const struct open_node *node, uint32_t index,
	       struct dray_heap_info *heap)
{
	int ret = dray_node_heap(node->node, index, heap, sizeof(*heap));

	if (ret)
		node_complain(node, "read a heap", ret);
	return !ret;
}

/* Returns the names of all nodes; NULL after a complaint if there are none. */
static char (*node_names(size_t *count))[DRAY_NAME_LEN]
{
	char(*names)[DRAY_NAME_LEN] = NULL;
	size_t room = 0;
	int ret;

	for (;;) {
		ret = dray_node_names(names, room, count);
		if (ret || *count <= room)
			break;
		/* one may be added before the next call */
		room = *count + 1;
		names = memory_resize(names, room, sizeof(*names));
	}
	cli_error = -ret;
	if (ret && ret != -ENODEV)
		complain("cannot look for nodes: %s", dray_last_error());
	else if (ret || !*count)
		complain_no_module();
	else
		return names;
	free(names);
	return NULL;
}

static bool node_open(struct open_node *node, const char *name)
{
	char *spec = text_format("kernel:%s", name);
	int ret = dray_node_open(spec, &node->node);

	free(spec);
	memcpy(node->name, name, sizeof(node->name));
	*gone = '\0';
	if (ret) {
		cli_error = -ret;
		if (ret == -EACCES || ret == -EPERM)
			complain_permission(name);
		else
			complain("cannot open %s: %s", name, dray_last_error());
		return false;
	}
	ret = dray_node_info(node->node, &node->info, sizeof(node->info));
	if (ret) {
		node_complain(node, "read its description", ret);
		dray_node_unref(node->node);
		return false;
	}
	return true;
}

bool nodes_open(const struct request *request, struct open_nodes *nodes)
{
	size_t count, i;
	size_t matches = 0;
	char(*names)[DRAY_NAME_LEN] = node_names(&count);

	*nodes = (struct open_nodes){ .status = EXIT_FINE };
	if (!names)
		return false;
	nodes->entries = memory_resize(NULL, count, sizeof(*nodes->entries));
	for (i = 0; i < count; i++) {
		struct open_node *node = &nodes->entries[nodes->count];

		if (request->node && strcmp(request->node, names[i]) != 0)
			continue;
		matches++;
		if (node_open(node, names[i]))
			nodes->count++;
		else
			nodes->status = EXIT_FAILED;
	}
	if (!matches)
		complain_no_node(request->node, names, count);
	free(names);
	if (nodes->count)
		return true;
	nodes_close(nodes);
	return false;
}

bool nodes_open_first(const struct request *request, struct open_nodes *nodes)
{
	char names[1][DRAY_NAME_LEN];
	struct request one = *request;
	size_t count = 0;

	if (!one.node && !dray_node_names(names, 1, &count) && count)
		one.node = names[0];
	return nodes_open(&one, nodes);
}

void nodes_close(struct open_nodes *nodes)
{
	size_t i;

	for (i = 0; i < nodes->count; i++)
		dray_node_unref(nodes->entries[i].node);
	free(nodes->entries);
	nodes->entries = NULL;
	nodes->count = 0;
}
