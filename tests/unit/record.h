/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Arrays over sockets: the record as it lies on the wire, written out here a
 * second time, because it is what two builds of the library have to agree on;
 * and a node and a pool for the whole program.
 */
#ifndef DRAY_TESTS_RECORD_H
#define DRAY_TESTS_RECORD_H

#include <dray/array.h>

#include "descriptors.h"
#include "shareable.h"

/* Of an array with two axes. */
struct record {
	uint32_t backend, reserved2;
	uint64_t buffer_size;
	char node[32], unused[16];
	uint32_t magic, version, flags, ndim;
	char kind, order;
	uint16_t reserved;
	uint32_t itemsize;
	uint64_t offset;
	int64_t shape[2], strides[2];
	uint32_t text_size, text_reserved;	/* if the type is 0 */
	char text[5080];
};

static inline void make_pair(int type, int *ends)
{
	assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
}

static inline void close_pair(const int *ends)
{
	close(ends[0]);
	close(ends[1]);
}

static inline struct dray_array *make_array(int64_t rows, int64_t columns)
{
	struct dray_array *array;

	assert_works(dray_array_create(pool, u2, 2,
				       DIMS(rows, columns), &array));
	return array;
}

/* A message of these bytes and @count copies of @fd. */
static inline void send_raw(int socket, const void *bytes, size_t size, int fd,
		     int count)
{
	char control[CMSG_SPACE(200 * sizeof(int))]
		__attribute__((aligned(_Alignof(struct cmsghdr)))) = { 0 };
	struct iovec part = { (void *)bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header;

	if (count) {
		message.msg_control = control;
		message.msg_controllen =
			CMSG_SPACE((size_t)count * sizeof(int));
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
		for (int i = 0; i < count; i++)
			memcpy(CMSG_DATA(header) + (size_t)i * sizeof(int), &fd,
			       sizeof(fd));
	}
	assert_int_equal(sendmsg(socket, &message, 0), (ssize_t)size);
}

/* What dray_view_send() sends for @view, taken off the wire by hand. */
static inline void record_of(const struct dray_view *view, struct record *record,
		      int *fd)
{
	char control[CMSG_SPACE(sizeof(int))]
		__attribute__((aligned(_Alignof(struct cmsghdr))));
	struct iovec part = { record, sizeof(*record) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	int ends[2];

	make_pair(SOCK_SEQPACKET, ends);
	assert_works(dray_view_send(ends[0], view));
	assert_int_equal(recvmsg(ends[1], &message, MSG_CMSG_CLOEXEC),
			 sizeof(*record));
	assert_non_null(CMSG_FIRSTHDR(&message));
	memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(*fd));
	close_pair(ends);
}

#endif /* DRAY_TESTS_RECORD_H */
