// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The nodes in use, each with the one queue of its transfers.  An array leads
 * to its node through its buffer, and from there to the queue through this
 * list.  Node objects, handlers of pools, received arrays and fences hold an
 * entry; dropping the last reference ends the queue.
 *
 * The list has its own lock, because capsule destructors and threads without a
 * GIL use it.  No code of Python runs under it.  fork() takes it, so that a
 * child does not inherit it locked.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/module.h"

struct node_entry {
	struct node_entry *next;
	struct dray_node *node; /* one reference */
	struct dray_queue *queue; /* NULL until it is needed */
	size_t references;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node_entry *entries;

static void entry_take_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void entry_give_lock(void)
{
	pthread_mutex_unlock(&lock);
}

int node_entry_init(void)
{
	static bool done;
	int ret = 0;

	entry_take_lock();
	if (!done)
		ret = pthread_atfork(entry_take_lock, entry_give_lock,
				     entry_give_lock);
	done = !ret;
	entry_give_lock();
	return -ret;
}

struct node_entry *node_entry_get(struct dray_node *node)
{
	struct node_entry *entry;

	entry_take_lock();
	for (entry = entries; entry; entry = entry->next) {
		if (entry->node == node)
			break;
	}
	if (entry) {
		entry->references++;
	} else {
		entry = calloc(1, sizeof(*entry));
		if (entry) {
			entry->node = dray_node_ref(node);
			entry->references = 1;
			entry->next = entries;
			entries = entry;
		}
	}
	entry_give_lock();
	return entry;
}

struct node_entry *node_entry_ref(struct node_entry *entry)
{
	entry_take_lock();
	entry->references++;
	entry_give_lock();
	return entry;
}

void node_entry_put(struct node_entry *entry)
{
	struct node_entry **place;

	if (!entry)
		return;
	entry_take_lock();
	if (--entry->references) {
		entry_give_lock();
		return;
	}
	for (place = &entries; *place != entry; place = &(*place)->next)
		;
	*place = entry->next;
	entry_give_lock();

	Py_BEGIN_ALLOW_THREADS
	if (entry->queue)
		dray_queue_destroy(entry->queue);
	dray_node_unref(entry->node);
	Py_END_ALLOW_THREADS
	free(entry);
}

struct dray_node *node_entry_node(const struct node_entry *entry)
{
	return entry->node;
}

/*
 * Calls the library without our lock: it has its own, and fork() takes all of
 * them in another order.
 */
int node_entry_queue(struct node_entry *entry, struct dray_queue **out)
{
	struct dray_queue *queue;
	int ret;

	entry_take_lock();
	*out = entry->queue;
	entry_give_lock();
	if (*out)
		return 0;
	ret = dray_queue_create(entry->node, NULL, &queue);
	if (ret)
		return ret;
	entry_take_lock();
	if (!entry->queue) {
		entry->queue = queue;
		queue = NULL;
	}
	*out = entry->queue;
	entry_give_lock();
	/* Another thread was faster if this is left. */
	dray_queue_destroy(queue);
	return 0;
}
