/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Generations: a number for each slot of an exporter, which rises when the
 * record in it ends.  They lie in memory that every importer maps, so that it
 * sees the end of a record without asking.  The exporter's side is for
 * slots.c, the importer's for open.c.
 */
#ifndef DRAY_IPC_GENERATIONS_H
#define DRAY_IPC_GENERATIONS_H

#include <stdatomic.h>

#include "ipc/ipc.h"

/* This process's own. */
struct dray_ipc_generations {
	int fd;			/* handed out; can be neither cut nor written */
	_Atomic uint32_t *slots;	/* NULL in a child */
};

int dray_ipc_generations_make(struct dray_ipc_generations *generations);
void dray_ipc_generations_drop(struct dray_ipc_generations *generations);
/* In a child: they are its parent's, and are not mapped here. */
void dray_ipc_generations_forget(struct dray_ipc_generations *generations);

/* Another process's, mapped for reading; one for all of its records. */
struct dray_ipc_exporter;

/*
 * With the lock, each of these.
 * @fd: what the exporter sent, borrowed.  -EPERM where it could be cut.
 */
int dray_ipc_exporter_take(int fd, struct dray_ipc_exporter **out);
/* Undoes one take; NULL is ignored. */
void dray_ipc_exporter_give(struct dray_ipc_exporter *exporter);
uint32_t dray_ipc_exporter_generation(const struct dray_ipc_exporter *exporter,
				      uint32_t slot);

#endif /* DRAY_IPC_GENERATIONS_H */
