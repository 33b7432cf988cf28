/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Memory that seems to be unused, and the ways to free it. */
#ifndef DMACTL_LEAKS_H
#define DMACTL_LEAKS_H

#include "machine/dmabufs.h"
#include "base/gather.h"
#include "machine/holders.h"

enum leak_kind {
	LEAK_HELD, /* freed, but a device may still write it */
	LEAK_ORPHAN, /* the process that made it ended */
	LEAK_IDLE, /* old, and nothing happened while dmactl watched */
	LEAK_QUARANTINE, /* freed, but its pages are in use: a heap's bytes */
	LEAK_CONDEMNED, /* a heap's bytes that are never freed */
};

struct leak {
	enum leak_kind kind;
	uint64_t size; /* bytes */
	const struct buffer_entry *entry; /* borrowed; NULL: of a heap */
	char node[DRAY_NAME_LEN];
	char heap[DRAY_NAME_LEN];
	/* The processes that keep an orphan; borrowed, or NULL. */
	const struct dmabuf *dmabuf;
	bool guessed; /* by the dma-buf's size and name, without a descriptor */
	struct holder_list holders; /* of an attachment */
};

struct leak_options {
	uint64_t idle; /* nanoseconds of age; 0: idle buffers are none */
	uint64_t watch; /* nanoseconds */
};

struct leak_list {
	struct leak *entries; /* the largest first */
	size_t count;
	uint64_t size; /* bytes of all */
	uint64_t others; /* bytes of buffers that the caller may not see */
	struct buffer_list buffers;
	struct dmabuf_list machine;
	enum exit_code status;
};

/* Looks for them; returns false after a complaint if there is no node. */
bool leaks_find(const struct request *request,
		const struct leak_options *options, struct leak_list *list);
void leaks_free(struct leak_list *list);

/* Returns a sentence on how the memory is freed; for free(). */
char *leak_remedy(const struct leak_list *list, const struct leak *leak);

/* "held", "orphan", "idle", "quarantine" or "condemned". */
const char *leak_word(enum leak_kind kind);

void leaks_print(const struct request *request, const struct leak_list *list);
void leaks_print_json(const struct leak_list *list);

#endif /* DMACTL_LEAKS_H */
