// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Ports: opening one by its node's back end, and the protocol by which points
 * are read while an engine writes them.
 */
#include <errno.h>

#include "base/error.h"
#include "memory/backend.h"

int dray_port_open(struct dray_node *node, struct dray_timeline *args,
		   struct dray_port **out)
{
	struct dray_port *port;
	int ret;

	ret = node->backend->ports->open(node, args, &port);
	if (ret)
		return ret;
	port->ops = node->backend->ports;
	port->node = dray_node_ref(node);
	*out = port;
	return 0;
}

void dray_port_close(struct dray_port *port)
{
	struct dray_node *node = port->node;

	port->ops->close(port);
	dray_node_unref(node);
}

/* A number of the timeline, which the engine's side may write meanwhile. */
#define LOAD(field, order) __atomic_load_n(&(field), __ATOMIC_##order)

int dray_port_read(const struct dray_port *port, uint64_t number,
		   struct dray_point *out)
{
	const struct dray_timeline_head *head = port->timeline;
	const struct dray_point *points =
		(const void *)((const char *)head + head->first);
	const struct dray_point *point = &points[number % head->points];
	uint64_t completed = LOAD(head->completed, ACQUIRE);
	uint64_t seen = LOAD(point->number, ACQUIRE);

	if (seen > number)
		return -EOVERFLOW;
	/* One that is completed is there: its place is being written anew. */
	if (seen < number)
		return completed >= number ? -EOVERFLOW : 0;
	/* Each keeps the second look at the number behind it. */
	out->bytes = LOAD(point->bytes, ACQUIRE);
	out->time_ns = LOAD(point->time_ns, ACQUIRE);
	out->status = LOAD(point->status, ACQUIRE);
	out->frame = LOAD(point->frame, ACQUIRE);
	out->number = number;
	return LOAD(point->number, RELAXED) == number ? 1 : -EOVERFLOW;
}
