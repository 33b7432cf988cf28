/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The processes that keep a buffer alive by a descriptor. */
#ifndef DMACTL_HOLDERS_H
#define DMACTL_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct descriptor {
	int number;
	bool read_only;
};

struct holder {
	int pid;
	char comm[16]; /* zero-terminated */
	struct descriptor *descriptors;
	size_t count; /* of descriptors, at least 1 */
};

struct holder_list {
	struct holder *entries;
	size_t count;
	size_t hidden; /* processes that the caller may not inspect */
};

/*
 * Searches /proc for descriptors of buffer @id; @node identifies them.  Finds
 * neither plain mappings nor descriptors in flight.
 */
void holders_find(const char *node, uint64_t id, struct holder_list *list);
/*
 * Returns a copy of a holder's descriptor that may be written, for close();
 * -ENOENT if there is none, or a negative errno.
 */
int holders_copy(const struct holder_list *list);
void holders_free(struct holder_list *list);

#endif /* DMACTL_HOLDERS_H */
