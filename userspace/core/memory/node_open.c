// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Nodes: which back end a spec names, references, and the questions that go
 * to the back end with nothing to add but sizes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/reply.h"
#include "memory/backend.h"
#include "memory/node.h"
#include "memory/window.h"

static int open_backend(const struct dray_backend *backend, const char *name,
			struct dray_node **out)
{
	struct dray_node *node = calloc(1, sizeof(*node));
	int ret;

	if (!node)
		return dray_fail(-ENOMEM, "no memory for a node");
	node->backend = backend;
	node->fd = -1;
	atomic_init(&node->references, 1);
	dray_window_enlist();
	ret = backend->open(node, name);
	if (ret) {
		free(node);
		return ret;
	}
	*out = node;
	return 0;
}

/* Without a spec: the module if it is loaded, else the host. */
static int open_default(struct dray_node **out)
{
	int ret = open_backend(&dray_backend_kernel, NULL, out);

	/*
	 * Only a missing module leads to the host.  A node that may not be
	 * opened, or that a container does not show, is an error: a program
	 * that wants DMA memory must not silently get something else.
	 */
	if (ret == -ENODEV && !dray_module_loaded())
		return open_backend(&dray_backend_host, NULL, out);
	return ret;
}

static int open_spec(const char *spec, const char *from, struct dray_node **out)
{
	const char *colon = strchrnul(spec, ':');
	const char *name = *colon ? colon + 1 : NULL;
	size_t length = (size_t)(colon - spec);

	if (length == 6 && !memcmp(spec, "kernel", length))
		return open_backend(&dray_backend_kernel, name, out);
	if (length == 4 && !memcmp(spec, "host", length))
		return open_backend(&dray_backend_host, name, out);
	return dray_fail(
		-EINVAL,
		"\"%s\"%s is not a back end: kernel, kernel:NAME, host, "
		"host:shareable or shareable",
		spec, from);
}

static bool is_shareable(const char *spec)
{
	return spec && !strcmp(spec, "shareable");
}

int dray_node_open(const char *spec, struct dray_node **out)
{
	bool shareable = is_shareable(spec);
	struct dray_node *node = NULL;
	const char *from = "";
	int ret;

	if (!dray_given(out, __func__))
		return -EINVAL;
	if (!spec || shareable) {
		spec = getenv("DRAY_BACKEND");
		from = " in DRAY_BACKEND";
		shareable = shareable || is_shareable(spec);
		if (is_shareable(spec) || (spec && !*spec))
			spec = NULL;
	}
	ret = spec ? open_spec(spec, from, &node) : open_default(&node);
	if (ret)
		return ret;
	if (shareable && node->backend == &dray_backend_host)
		node->shareable = true;
	*out = node;
	return 0;
}

const char *dray_node_backend(const struct dray_node *node)
{
	return dray_given(node, __func__) ? node->backend->name : NULL;
}

bool dray_node_shareable(const struct dray_node *node)
{
	return dray_given(node, __func__) &&
	       (node->shareable || !strcmp(node->backend->name, "kernel"));
}

int dray_node_info(struct dray_node *node, struct dray_info *info, size_t size)
{
	struct dray_info known = { 0 };
	int ret;

	if (!dray_given(node, __func__) || !dray_given(info, __func__))
		return -EINVAL;
	ret = node->backend->info(node, &known);
	if (!ret)
		dray_reply(info, size, &known, sizeof(known));
	return ret;
}

bool dray_node_same(struct dray_node *a, struct dray_node *b)
{
	struct dray_info of_a, of_b;

	if (a == b)
		return true;
	return a->backend == b->backend && a->shareable == b->shareable &&
	       !a->backend->info(a, &of_a) && !b->backend->info(b, &of_b) &&
	       !strcmp(of_a.name, of_b.name);
}

int dray_node_heap(struct dray_node *node, uint32_t index,
		   struct dray_heap_info *info, size_t size)
{
	struct dray_heap_info known = { .index = index };
	int ret;

	if (!dray_given(node, __func__) || !dray_given(info, __func__))
		return -EINVAL;
	if (index >= node->info.heap_count)
		return dray_fail(-EINVAL, "heap %u: %s has %u", index,
				 node->info.name, node->info.heap_count);
	ret = node->backend->heap(node, &known);
	if (!ret)
		dray_reply(info, size, &known, sizeof(known));
	return ret;
}

int dray_node_channel(struct dray_node *node, uint32_t index,
		      struct dray_channel_info *info, size_t size)
{
	struct dray_channel_info known = { .index = index };
	int ret;

	if (!dray_given(node, __func__) || !dray_given(info, __func__))
		return -EINVAL;
	if (index >= node->info.channel_count)
		return dray_fail(-EINVAL, "channel %u: %s has %u", index,
				 node->info.name, node->info.channel_count);
	ret = node->backend->channel(node, &known);
	if (!ret)
		dray_reply(info, size, &known, sizeof(known));
	return ret;
}

int dray_node_list(struct dray_node *node, uint64_t *ids, size_t room,
		   size_t *count)
{
	if (!dray_given(node, __func__) || !dray_given(count, __func__) ||
	    (room && !dray_given(ids, __func__)))
		return -EINVAL;
	return node->backend->list(node, ids, room, count);
}

int dray_node_buffer_info(struct dray_node *node, uint64_t id,
			  struct dray_buffer_info *info, size_t size)
{
	struct dray_buffer_info known = { .id = id, .fd = -1 };
	int ret;

	if (!dray_given(node, __func__) || !dray_given(info, __func__))
		return -EINVAL;
	ret = node->backend->buffer_info(node, &known);
	if (!ret)
		dray_reply(info, size, &known, sizeof(known));
	return ret;
}

int dray_node_reclaim(struct dray_node *node, uint64_t id,
		      struct dray_reclaim *freed, size_t size)
{
	struct dray_reclaim known = { .id = id };
	int ret = 0;

	if (!dray_given(node, __func__) || !dray_given(freed, __func__))
		return -EINVAL;
	if (node->backend->reclaim)
		ret = node->backend->reclaim(node, &known);
	else if (id)
		ret = dray_fail(-ENOENT, "nothing with id %" PRIu64 " is held",
				id);
	dray_reply(freed, size, &known, sizeof(known));
	return ret;
}

int dray_node_heap_map(struct dray_node *node, struct dray_heap_map *map,
		       size_t size)
{
	struct dray_heap_map known = { 0 };
	int ret = 0;

	if (!dray_given(node, __func__) || !dray_given(map, __func__))
		return -EINVAL;
	memcpy(&known, map, size < sizeof(known) ? size : sizeof(known));
	if (known.heap >= node->info.heap_count)
		return dray_fail(-EINVAL, "heap %u: %s has %u", known.heap,
				 node->info.name, node->info.heap_count);
	known.count = 0;
	known.size = 0;
	if (node->backend->heap_map)
		ret = node->backend->heap_map(node, &known);
	if (!ret)
		dray_reply(map, size, &known, sizeof(known));
	return ret;
}

bool dray_node_grows(const struct dray_node *node)
{
	return node->backend->grow != NULL;
}

const char *dray_node_name(const struct dray_node *node)
{
	return node->info.name;
}
