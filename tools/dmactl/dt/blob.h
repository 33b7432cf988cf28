/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Blobs of device trees: from a file or the running system. */
#ifndef DMACTL_DT_BLOB_H
#define DMACTL_DT_BLOB_H

#include <stdbool.h>
#include <stddef.h>

#define BLOB_LIVE "live"

struct blob {
	void *data; /* a whole blob, aligned; for free() */
	size_t size;
	char *source; /* where it comes from, for people; for free() */
};

/*
 * Returns NULL if @size bytes begin with a blob that can be read, otherwise a
 * sentence without its subject, for free().
 */
char *blob_refuse(const void *data, size_t size);

/*
 * Loads a file, a directory in the form of /proc/device-tree, or BLOB_LIVE.
 * Complains and returns false if that fails.
 */
bool blob_load(const char *name, struct blob *blob);
void blob_drop(struct blob *blob);

#endif /* DMACTL_DT_BLOB_H */
