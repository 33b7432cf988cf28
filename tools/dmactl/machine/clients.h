/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Openers of dray's nodes, from the "dray-" keys of their fdinfo: the memory and
 * transfers of each.
 */
#ifndef DMACTL_CLIENTS_H
#define DMACTL_CLIENTS_H

#include "processes.h"

enum client_number {
	CLIENT_BUFFERS,
	CLIENT_MEMORY, /* bytes of them */
	CLIENT_ALLOCATED, /* bytes of all buffers so far */
	CLIENT_SYNCED, /* bytes so far */
	CLIENT_TRANSFERS, /* so far */
	CLIENT_MOVED, /* bytes of these transfers */
	CLIENT_RUNNING, /* transfers now */
	CLIENT_NUMBERS,
};

#define CLIENT_STREAMS 8 /* more are not looked at */

struct client {
	struct process process; /* the first that has it */
	char node[32];
	uint64_t id; /* unique in a node */
	uint64_t numbers[CLIENT_NUMBERS];
	char streams[CLIENT_STREAMS][32]; /* names of its channels */
};

struct client_list {
	struct client *entries; /* by node and id, each once */
	size_t count;
	size_t hidden; /* processes that the caller may not inspect */
};

/* Reads all openers below @root, except this process. */
void clients_gather(const char *root, struct client_list *list);
void clients_free(struct client_list *list);

/* Finds the same opener, or NULL. */
const struct client *clients_find(const struct client_list *list,
				  const struct client *client);

/* Finds the opener that has the stream of this name, or NULL. */
const struct client *clients_of_stream(const struct client_list *list,
				       const char *node, const char *name);

#endif /* DMACTL_CLIENTS_H */
