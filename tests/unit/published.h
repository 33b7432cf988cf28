/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The pools that a process publishes, read as another process would, and
 * checked to be whole: blocks in order, apart, and in their buffers.
 */
#ifndef DRAY_TESTS_PUBLISHED_H
#define DRAY_TESTS_PUBLISHED_H

#include <sys/un.h>

#include "unit.h"

struct seen_block {
	struct dray_publish_block fixed;
	uint64_t buffer;
	int64_t shape[DRAY_PUBLISH_AXES];
	char type[300];
	char site[300];
	char lent[33]; /* "": not lent */
};

struct snapshot_read {
	struct dray_publish_answer answer;
	int fd; /* -1: none came */
	uint64_t flags;
	size_t pools, regions, count;
	struct dray_publish_pool pool; /* the last one */
	struct dray_publish_region region; /* the last one */
	uint64_t bytes; /* in blocks of all regions */
	struct seen_block *blocks;
};

static inline socklen_t published_address(pid_t pid, struct sockaddr_un *out)
{
	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(out->sun_path + 1,
					    sizeof(out->sun_path) - 1,
					    DRAY_PUBLISH_SOCKET "%d", pid));
}

/* A connection, or a negative errno. */
static inline int published_connect(pid_t pid)
{
	struct sockaddr_un address;
	socklen_t length = published_address(pid, &address);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int error;

	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, length))
		return fd;
	error = errno;
	close(fd);
	return -error;
}

/* 0, or the step that failed: usable in a child, which cannot assert. */
static inline int published_receive(int socket, struct snapshot_read *out)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { &out->answer, sizeof(out->answer) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	struct cmsghdr *header;

	*out = (struct snapshot_read){ .fd = -1 };
	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof(out->answer))
		return 1;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(&out->fd, CMSG_DATA(header), sizeof(int));
	if (out->answer.magic != DRAY_PUBLISH_MAGIC ||
	    out->answer.version != DRAY_PUBLISH_VERSION)
		return 2;
	return (out->fd < 0) == !out->answer.error ? 3 : 0;
}

static inline void published_take_block(struct snapshot_read *out,
					const char *item)
{
	struct seen_block *block = &out->blocks[out->count++];
	const char *rest = item + sizeof(block->fixed);

	memset(block, 0, sizeof(*block));
	memcpy(&block->fixed, item, sizeof(block->fixed));
	assert_true(block->fixed.ndim <= DRAY_PUBLISH_AXES);
	memcpy(block->shape, rest, block->fixed.ndim * sizeof(int64_t));
	rest += block->fixed.ndim * sizeof(int64_t);
	assert_true(block->fixed.type_length < sizeof(block->type));
	memcpy(block->type, rest, block->fixed.type_length);
	rest += block->fixed.type_length;
	assert_true(block->fixed.site_length < sizeof(block->site));
	memcpy(block->site, rest, block->fixed.site_length);
	rest += block->fixed.site_length;
	assert_true(rest <= item + block->fixed.item.size);
}

/* @first: the first block of the region at @item */
static inline void published_check_region(struct snapshot_read *out,
					  size_t first, const char *item)
{
	uint64_t end = 0, used = 0;

	memcpy(&out->region, item, sizeof(out->region));
	for (; first < out->count; first++) {
		struct seen_block *block = &out->blocks[first];

		assert_true(block->fixed.offset >= end);
		assert_true(block->fixed.size > 0);
		end = block->fixed.offset + block->fixed.size;
		used += block->fixed.size;
		block->buffer = out->region.buffer;
	}
	assert_true(end <= out->region.size);
	assert_true(used <= out->region.size);
	out->bytes += used;
	out->regions++;
}

/* Maps the snapshot, checks and copies it; published_drop() ends it. */
static inline void published_parse(struct snapshot_read *out)
{
	struct dray_publish_head head;
	struct stat file;
	size_t first = 0;
	uint64_t at = sizeof(head);
	char *bytes;

	assert_int_equal(fstat(out->fd, &file), 0);
	bytes = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED, out->fd,
		     0);
	assert_ptr_not_equal(bytes, MAP_FAILED);
	memcpy(&head, bytes, sizeof(head));
	assert_int_equal(head.magic, DRAY_PUBLISH_MAGIC);
	assert_int_equal(head.size, file.st_size);
	assert_true(head.size <= DRAY_PUBLISH_MOST);
	out->flags = head.flags;
	out->blocks = calloc(head.size / sizeof(struct dray_publish_block) + 1,
			     sizeof(*out->blocks));
	while (at < head.size) {
		struct dray_publish_item item;

		memcpy(&item, bytes + at, sizeof(item));
		assert_true(item.size >= sizeof(item) && item.size % 8 == 0);
		assert_true(item.size <= head.size - at);
		if (item.kind == DRAY_PUBLISH_POOL) {
			memcpy(&out->pool, bytes + at, sizeof(out->pool));
			out->pools++;
		} else if (item.kind == DRAY_PUBLISH_BLOCK) {
			published_take_block(out, bytes + at);
		} else if (item.kind == DRAY_PUBLISH_LOAN) {
			assert_true(out->count > first);
			assert_int_equal(item.size,
					 sizeof(struct dray_publish_loan));
			memcpy(out->blocks[out->count - 1].lent,
			       bytes + at + sizeof(item), 32);
		} else {
			assert_int_equal(item.kind, DRAY_PUBLISH_REGION);
			published_check_region(out, first, bytes + at);
			first = out->count;
		}
		at += item.size;
	}
	assert_int_equal(first, out->count);
	munmap(bytes, (size_t)file.st_size);
}

/* A snapshot of this process. */
static inline struct snapshot_read published(void)
{
	struct snapshot_read seen;
	int socket = published_connect(getpid());

	assert_true(socket >= 0);
	assert_int_equal(published_receive(socket, &seen), 0);
	close(socket);
	assert_int_equal(seen.answer.error, 0);
	published_parse(&seen);
	return seen;
}

static inline void published_drop(struct snapshot_read *seen)
{
	close(seen->fd);
	free(seen->blocks);
}

/* The block of this process that has the address. */
static inline const struct seen_block *
published_block(const struct snapshot_read *seen, const void *address)
{
	struct dray_location where;

	assert_works(dray_locate(address, &where));
	for (size_t i = 0; i < seen->count; i++)
		if (seen->blocks[i].buffer == dray_buffer_id(where.buffer) &&
		    where.offset - seen->blocks[i].fixed.offset <
			    seen->blocks[i].fixed.size)
			return &seen->blocks[i];
	fail_msg("%p is in no block of the snapshot", address);
	return NULL;
}

#endif /* DRAY_TESTS_PUBLISHED_H */
