/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * All dma-bufs of the machine, of every exporter, as /proc, sysfs and debugfs
 * list them; an entry for each inode.
 */
#ifndef DMACTL_DMABUFS_H
#define DMACTL_DMABUFS_H

#include "processes.h"

#define DMABUF_NAME_ROOM 32 /* of the kernel, with the terminating zero */

struct dmabuf_holder {
	struct process process;
	size_t descriptors;
	size_t mappings;
	int descriptor; /* any of them; -1: none */
};

struct dmabuf {
	uint64_t inode;
	uint64_t size; /* bytes */
	uint64_t references; /* of the file; 0: unknown */
	bool size_known;
	char exporter[DMABUF_NAME_ROOM]; /* "": unknown */
	char name[DMABUF_NAME_ROOM];
	struct dmabuf_holder *holders;
	size_t holder_count;
	char **devices; /* that are attached */
	size_t device_count;
	uint64_t id; /* dray's; 0: of another exporter, or unknown */
};

/* A source that could not be read. */
struct unread {
	char *path;
	int error; /* errno */
	const char *lost; /* a phrase for people */
};

struct dmabuf_list {
	struct dmabuf *entries; /* by inode */
	size_t count;
	size_t room;
	struct unread unread[3];
	size_t unread_count;
	bool devices_known; /* else no entry lists devices */
	size_t hidden; /* processes that the caller may not inspect */
};

/* Reads all sources below @root, "" for the machine itself. */
void dmabufs_gather(const char *root, struct dmabuf_list *list);
void dmabufs_free(struct dmabuf_list *list);

/* For the sources: the entry of an inode, new if there is none. */
struct dmabuf *dmabufs_entry(struct dmabuf_list *list, uint64_t inode);

/* Sets a name if none is set; copies up to @length bytes. */
void dmabuf_set_name(char name[DMABUF_NAME_ROOM], const char *text,
		     size_t length);

/* Each returns an errno if its source could not be read, else 0. */
int dmabufs_read_processes(const char *root, struct dmabuf_list *list);
int dmabufs_read_sysfs(const char *path, struct dmabuf_list *list);
int dmabufs_read_bufinfo(const char *path, struct dmabuf_list *list);

/* Asks dray for the ids of its own among the entries. */
void dmabufs_identify(struct dmabuf_list *list);

#endif /* DMACTL_DMABUFS_H */
