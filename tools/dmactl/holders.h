/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The processes that have a descriptor of a buffer: who keeps it alive. */
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
	size_t count; /* of them, at least 1 */
};

struct holder_list {
	struct holder *entries;
	size_t count;
	size_t hidden; /* processes that the caller may not look into */
};

/*
 * Looks through /proc for descriptors of buffer @id; @node is asked what they
 * are.  What a process has only mapped, or only in flight, is not found.
 */
void holders_find(const char *node, uint64_t id, struct holder_list *list);
void holders_free(struct holder_list *list);

#endif /* DMACTL_HOLDERS_H */
