// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Opening nodes.  What is wrong is looked up here again rather than taken from
 * the library's sentence, because the person wants to know what to do next.
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
#include "message.h"

static void complain_no_module(void)
{
	if (!access("/sys/module/dray", F_OK))
		complain("the dray module is loaded but offers no node: no "
			 "device of the device tree is bound to it; for one "
			 "without a device: rmmod dray && "
			 "modprobe dray nodes=1");
	else
		complain("the dray module is not loaded, load it with: "
			 "modprobe dray (or, from a build: insmod dray.ko)");
}

/* Who may open the node is what its file says. */
static void complain_permission(const char *name)
{
	char *path = text_format("/dev/%s", name);
	struct stat status;

	if (stat(path, &status)) {
		complain("no permission to open %s: %s", path,
			 dray_last_error());
	} else {
		const struct group *group = getgrgid(status.st_gid);
		char *group_name =
			group ? text_format("%s", group->gr_name)
			      : text_format("%u", (unsigned int)status.st_gid);
		const struct passwd *owner = getpwuid(status.st_uid);
		char *owner_name =
			owner ? text_format("%s", owner->pw_name)
			      : text_format("%u", (unsigned int)status.st_uid);

		complain("no permission to open %s: it belongs to user %s and "
			 "group %s with mode %04o, and you have uid %u",
			 path, owner_name, group_name,
			 (unsigned int)status.st_mode & 07777,
			 (unsigned int)geteuid());
		free(owner_name);
		free(group_name);
	}
	free(path);
}

static void complain_no_node(const char *name, char (*names)[DRAY_NAME_LEN],
			     size_t count)
{
	char *there = text_format("%s", "");

	for (size_t i = 0; i < count; i++) {
		char *longer =
			text_format("%s%s%s", there, i ? ", " : "", names[i]);

		free(there);
		there = longer;
	}
	complain("no node '%s': there %s %s", name,
		 count == 1 ? "is only" : "are", there);
	free(there);
}

void node_complain(const struct open_node *node, const char *doing, int error)
{
	if (error == -ENODEV)
		complain("%s went away while dmactl was reading it",
			 node->name);
	else
		complain("%s: cannot %s: %s", node->name, doing,
			 dray_last_error());
}

/* The names of all nodes; NULL where there are none, which has been said. */
static char (*node_names(size_t *count))[DRAY_NAME_LEN]
{
	char(*names)[DRAY_NAME_LEN] = NULL;
	size_t room = 0;
	int error;

	for (;;) {
		error = dray_node_names(names, room, count);
		if (error || *count <= room)
			break;
		/* there may be one more by the time of the next call */
		room = *count + 1;
		names = memory_resize(names, room, sizeof(*names));
	}
	if (error && error != -ENODEV)
		complain("cannot look for nodes: %s", dray_last_error());
	else if (error || !*count)
		complain_no_module();
	else
		return names;
	free(names);
	return NULL;
}

static bool node_open(struct open_node *node, const char *name)
{
	char *spec = text_format("kernel:%s", name);
	int error = dray_node_open(spec, &node->node);

	free(spec);
	memcpy(node->name, name, sizeof(node->name));
	if (error) {
		if (error == -EACCES || error == -EPERM)
			complain_permission(name);
		else
			complain("cannot open %s: %s", name, dray_last_error());
		return false;
	}
	error = dray_node_info(node->node, &node->info, sizeof(node->info));
	if (error) {
		node_complain(node, "ask what it is", error);
		dray_node_unref(node->node);
		return false;
	}
	return true;
}

bool nodes_open(const struct request *request, struct open_nodes *nodes)
{
	size_t count;
	size_t matches = 0;
	char(*names)[DRAY_NAME_LEN] = node_names(&count);

	*nodes = (struct open_nodes){ .status = EXIT_FINE };
	if (!names)
		return false;
	nodes->entries = memory_resize(NULL, count, sizeof(*nodes->entries));
	for (size_t i = 0; i < count; i++) {
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

void nodes_close(struct open_nodes *nodes)
{
	for (size_t i = 0; i < nodes->count; i++)
		dray_node_unref(nodes->entries[i].node);
	free(nodes->entries);
	nodes->entries = NULL;
	nodes->count = 0;
}
