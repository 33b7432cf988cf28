// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: arrays over sockets, and records that lie.  The record is written out
 * here a second time: it is what two builds of the library have to agree on.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node.h"
#include "random_view.h"

struct record {
	uint32_t magic, version, backend, flags;
	char kind, order;
	uint16_t reserved;
	uint32_t itemsize;
	uint32_t ndim, reserved2;
	uint64_t offset, buffer_size;
	char node[32];
	int64_t shape[64], strides[64];
};

/*
 * Sockets that stop and go: while on, every second call is in vain, the
 * others move at most 100 bytes.
 */
static struct {
	bool on;
	unsigned int calls;
	int poll_error; /* what the next poll() meets */
	int patience; /* ms that poll() is let wait at most, all in vain */
} halting;

static bool in_vain(struct msghdr *message)
{
	if (!halting.on)
		return false;
	if (halting.calls++ % 2) {
		errno = halting.calls % 4 ? EAGAIN : EINTR;
		return true;
	}
	if (message->msg_iov->iov_len > 100)
		message->msg_iov->iov_len = 100;
	return false;
}

ssize_t __real_sendmsg(int socket, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int socket, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int socket, const struct msghdr *message, int flags)
{
	struct iovec part = *message->msg_iov;
	struct msghdr less = *message;

	less.msg_iov = &part;
	return in_vain(&less) ? -1 : __real_sendmsg(socket, &less, flags);
}

ssize_t __real_recvmsg(int socket, struct msghdr *message, int flags);
ssize_t __wrap_recvmsg(int socket, struct msghdr *message, int flags);
ssize_t __wrap_recvmsg(int socket, struct msghdr *message, int flags)
{
	struct iovec part = *message->msg_iov, *whole = message->msg_iov;
	ssize_t got;

	message->msg_iov = &part;
	got = in_vain(message) ? -1 : __real_recvmsg(socket, message, flags);
	message->msg_iov = whole;
	return got;
}

int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (halting.patience) {
		/* the time passes here, not in the test */
		assert_in_range(timeout, 1, halting.patience);
		halting.patience = 0;
		return 0;
	}
	errno = halting.poll_error;
	halting.poll_error = 0;
	return errno ? -1 : __real_poll(fds, count, timeout);
}

static const struct dray_dtype u2 = { 'u', '<', 0, 2 };
static struct dray_node *node;
static struct dray_pool *pool;

static int set_up(void **state)
{
	(void)state;
	node = open_shareable_node();
	return dray_pool_create(node, NULL, &pool);
}

static int tear_down(void **state)
{
	(void)state;
	dray_pool_close(pool);
	dray_node_unref(node);
	return 0;
}

static int count_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void make_pair(int type, int *ends)
{
	assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
}

static void close_pair(const int *ends)
{
	close(ends[0]);
	close(ends[1]);
}

static struct dray_array *make_array(int64_t rows, int64_t columns)
{
	struct dray_array *array;

	assert_works(dray_array_create(pool, u2, 2,
				       (int64_t[]){ rows, columns }, &array));
	return array;
}

/* A message of these bytes and @count copies of @fd. */
static void send_raw(int socket, const void *bytes, size_t size, int fd,
		     int count)
{
	char control[CMSG_SPACE(200 * sizeof(int))]
		__attribute__((aligned(sizeof(struct cmsghdr)))) = { 0 };
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

/* What dray_array_send() sends for @view, taken off the wire by hand. */
static void record_of(const struct dray_view *view, struct record *record,
		      int *fd)
{
	char control[CMSG_SPACE(sizeof(int))]
		__attribute__((aligned(sizeof(struct cmsghdr))));
	struct iovec part = { record, sizeof(*record) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	int ends[2];

	make_pair(SOCK_SEQPACKET, ends);
	assert_works(dray_array_send(ends[0], view));
	assert_int_equal(recvmsg(ends[1], &message, MSG_CMSG_CLOEXEC),
			 sizeof(*record));
	assert_non_null(CMSG_FIRSTHDR(&message));
	memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(*fd));
	close_pair(ends);
}

static void passes_over(int type)
{
	struct dray_array *array = make_array(20, 30), *received;
	const struct dray_view *there;
	struct dray_view view;
	int ends[2], before = count_fds();

	make_pair(type, ends);
	assert_works(dray_view_index(
		dray_array_view(array),
		(struct dray_index[]){ DRAY_SLICE(DRAY_OMIT, 3, -2),
				       DRAY_SLICE(1, 20, 3) },
		2, &view));
	assert_works(dray_array_send(ends[0], &view));
	assert_works(dray_array_receive(ends[1], node, &received));
	there = dray_array_view(received);
	assert_int_equal(there->ndim, 2);
	assert_int_equal(there->dtype.kind, 'u');
	assert_int_equal(there->dtype.order, '<');
	for (int i = 0; i < 2; i++) {
		assert_int_equal(there->shape[i], view.shape[i]);
		assert_int_equal(there->strides[i], view.strides[i]);
	}
	assert_ptr_not_equal(there->data, view.data);
	memcpy(view.data, "ab", 2);
	assert_memory_equal(there->data, "ab", 2);
	memcpy((char *)there->data + there->strides[1], "cd", 2);
	assert_memory_equal((char *)view.data + view.strides[1], "cd", 2);
	dray_array_unref(received);
	dray_array_unref(array);
	close_pair(ends);
	assert_int_equal(count_fds(), before);
}

static void a_view_passes_over_a_seqpacket_socket(void **state)
{
	(void)state;
	passes_over(SOCK_SEQPACKET);
}

static void a_view_passes_over_a_stream_socket(void **state)
{
	(void)state;
	passes_over(SOCK_STREAM);
}

static void several_arrays_in_a_stream_stay_apart(void **state)
{
	struct dray_array *arrays[3], *received;
	int ends[2];

	(void)state;
	make_pair(SOCK_STREAM, ends);
	for (int i = 0; i < 3; i++) {
		arrays[i] = make_array(1, i + 1);
		memset(dray_array_view(arrays[i])->data, 'a' + i, 2);
		assert_works(
			dray_array_send(ends[0], dray_array_view(arrays[i])));
	}
	for (int i = 0; i < 3; i++) {
		assert_works(dray_array_receive(ends[1], NULL, &received));
		assert_int_equal(dray_array_view(received)->shape[1], i + 1);
		assert_int_equal(*(char *)dray_array_view(received)->data,
				 'a' + i);
		dray_array_unref(received);
		dray_array_unref(arrays[i]);
	}
	close_pair(ends);
}

static void another_process_changes_the_array_in_place(void **state)
{
	struct dray_array *array = make_array(4, 4);
	const struct dray_view *view = dray_array_view(array);
	int ends[2], status;
	pid_t child;

	(void)state;
	make_pair(SOCK_STREAM, ends);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct dray_array *mine;

		close(ends[0]);
		if (dray_array_receive(ends[1], NULL, &mine))
			_exit(1);
		memset(dray_array_view(mine)->data, 0x77, 32);
		dray_array_unref(mine);
		_exit(0);
	}
	close(ends[1]);
	assert_works(dray_array_send(ends[0], view));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	for (int i = 0; i < 32; i++)
		assert_int_equal(((unsigned char *)view->data)[i], 0x77);
	close(ends[0]);
	dray_array_unref(array);
}

static void a_received_array_outlives_the_sender(void **state)
{
	struct dray_array *array = make_array(4, 4), *received;
	int ends[2];

	(void)state;
	make_pair(SOCK_STREAM, ends);
	memset(dray_array_view(array)->data, 3, 32);
	assert_works(dray_array_send(ends[0], dray_array_view(array)));
	close(ends[0]);
	dray_array_unref(array);
	assert_works(dray_array_receive(ends[1], NULL, &received));
	assert_int_equal(dray_array_view(received)->shape[0], 4);
	((volatile char *)dray_array_view(received)->data)[31] = 1;
	dray_array_unref(received);
	close(ends[1]);
}

static void read_only_and_empty_views_pass(void **state)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct dray_view view;
	int ends[2];

	(void)state;
	make_pair(SOCK_SEQPACKET, ends);
	assert_works(dray_view_index(dray_array_view(array),
				     &DRAY_SLICE(2, 2, 1), 1, &view));
	view.flags = DRAY_VIEW_READONLY;
	assert_works(dray_array_send(ends[0], &view));
	assert_works(dray_array_receive(ends[1], NULL, &received));
	assert_int_equal(dray_array_view(received)->flags, DRAY_VIEW_READONLY);
	assert_int_equal(dray_array_view(received)->shape[0], 0);
	dray_array_unref(received);
	dray_array_unref(array);
	close_pair(ends);
}

static void sixty_four_axes_pass(void **state)
{
	struct dray_array *array = make_array(1, 1), *received;
	int64_t shape[64];
	struct dray_view view;
	int ends[2];

	(void)state;
	make_pair(SOCK_STREAM, ends);
	for (int i = 0; i < 64; i++)
		shape[i] = 1;
	assert_works(dray_view_init(&view, dray_array_view(array)->data, u2, 64,
				    shape, NULL));
	assert_works(dray_array_send(ends[0], &view));
	assert_works(dray_array_receive(ends[1], NULL, &received));
	assert_int_equal(dray_array_view(received)->ndim, 64);
	dray_array_unref(received);
	dray_array_unref(array);
	close_pair(ends);
}

static void what_is_not_drays_is_not_sent(void **state)
{
	struct dray_array *array = make_array(4, 4);
	struct dray_node *private_node;
	struct dray_pool *private_pool;
	struct dray_view view;
	char memory[64];
	int ends[2];

	(void)state;
	make_pair(SOCK_STREAM, ends);
	assert_works(
		dray_view_init(&view, memory, u2, 1, (int64_t[]){ 8 }, NULL));
	assert_fails(dray_array_send(ends[0], &view), -EINVAL,
		     "outside of dray's memory");
	dray_view_copy(&view, dray_array_view(array));
	view.shape[0] = 100000;
	assert_fails(dray_array_send(ends[0], &view), -EINVAL,
		     "leaves its block");
	view.strides[0] = INT64_MAX;
	assert_fails(dray_array_send(ends[0], &view), -EOVERFLOW, "63 bits");

	assert_works(dray_node_open("host", &private_node));
	assert_works(dray_pool_create(private_node, NULL, &private_pool));
	assert_works(dray_view_init(&view, dray_pool_alloc(private_pool, 64, 0),
				    u2, 1, (int64_t[]){ 8 }, NULL));
	assert_fails(dray_array_send(ends[0], &view), -EOPNOTSUPP,
		     "private host memory");
	dray_pool_free(private_pool, view.data);
	dray_pool_close(private_pool);
	dray_node_unref(private_node);
	dray_array_unref(array);
	close_pair(ends);
}

static void a_socket_that_cannot_is_told(void **state)
{
	struct dray_array *array = make_array(4, 4), *received = NULL;
	int ends[2], before;

	(void)state;
	before = count_fds();
	make_pair(SOCK_STREAM, ends);
	close(ends[1]);
	assert_fails(dray_array_send(ends[0], dray_array_view(array)), -EPIPE,
		     "sending");
	assert_fails(dray_array_receive(ends[0], NULL, &received), -ECONNRESET,
		     "closed the socket");
	close(ends[0]);
	assert_fails(dray_array_send(-1, dray_array_view(array)), -EBADF,
		     "sending");
	assert_fails(dray_array_receive(-1, NULL, &received), -EBADF,
		     "receiving");
	make_pair(SOCK_STREAM | SOCK_NONBLOCK, ends);
	assert_fails(dray_array_receive(ends[0], NULL, &received), -EAGAIN,
		     "receiving");
	close_pair(ends);
	assert_null(received);
	dray_array_unref(array);
	assert_int_equal(count_fds(), before);
}

/* Sends a record and one descriptor; what the receiver says to them. */
static int receive_forged(const struct record *record, int fd)
{
	struct dray_array *received = NULL;
	int ends[2], before = count_fds(), error;

	make_pair(SOCK_SEQPACKET, ends);
	send_raw(ends[0], record, sizeof(*record), fd, 1);
	error = dray_array_receive(ends[1], node, &received);
	if (!error)
		dray_array_unref(received);
	close_pair(ends);
	assert_int_equal(count_fds(), before);
	return error;
}

static void forged_fields_are_refused_by_name(void **state)
{
	struct dray_array *array = make_array(4, 4);
	struct record good, bad;
	int fd;

	(void)state;
	record_of(dray_array_view(array), &good, &fd);
	assert_works(receive_forged(&good, fd));
#define FORGED(change, code, part)                                    \
	do {                                                          \
		bad = good;                                           \
		change;                                               \
		assert_fails(receive_forged(&bad, fd), (code), part); \
	} while (0)
	FORGED(bad.magic ^= 1, -EBADMSG, "no record");
	FORGED(bad.version = 2, -EPROTO, "version 2");
	FORGED(bad.backend = 0, -EBADMSG, "back end is 0");
	FORGED(bad.backend = 3, -EBADMSG, "back end is 3");
	FORGED(bad.flags = 2, -EBADMSG, "flags field is 2");
	FORGED(bad.kind = 'O', -EBADMSG, "0x4f");
	FORGED(bad.order = 0, -EBADMSG, "byte order");
	FORGED(bad.reserved = 1, -EBADMSG, "reserved");
	FORGED(bad.itemsize = 3, -EBADMSG, "3 bytes");
	FORGED(bad.ndim = 65, -EBADMSG, "axes is 65");
	FORGED(bad.ndim = UINT32_MAX, -EBADMSG, "axes is 4294967295");
	FORGED(bad.reserved2 = 1, -EBADMSG, "reserved field is 1");
	FORGED((bad.backend = 2, memcpy(bad.node, "../mem", 7)), -EBADMSG,
	       "name a node");
	FORGED((bad.backend = 2, memset(bad.node, '1', 32),
		memcpy(bad.node, "dray", 4)),
	       -EBADMSG, "name a node");
	FORGED((bad.backend = 2, memset(bad.node, 0, 32)), -EBADMSG,
	       "name a node");
	FORGED(bad.shape[0] = -1, -EBADMSG, "-1 elements");
#undef FORGED
	close(fd);
	dray_array_unref(array);
}

static void records_that_reach_out_of_the_buffer_are_refused(void **state)
{
	struct dray_array *array = make_array(4, 4);
	struct record good, bad;
	uint64_t size;
	int fd;

	(void)state;
	record_of(dray_array_view(array), &good, &fd);
	size = (uint64_t)lseek(fd, 0, SEEK_END);
	assert_int_equal(good.buffer_size, size);
#define REACHES(change)                                               \
	do {                                                          \
		bad = good;                                           \
		change;                                               \
		assert_int_equal(receive_forged(&bad, fd), -EBADMSG); \
	} while (0)
	REACHES(bad.offset = size);
	REACHES(bad.offset = size - 31);
	REACHES(bad.offset = size + 1);
	REACHES(bad.offset = UINT64_MAX);
	REACHES(bad.offset = UINT64_MAX - 31);
	REACHES(bad.offset = (uint64_t)INT64_MAX + 1);
	REACHES(bad.shape[0] = (int64_t)size);
	REACHES(bad.shape[0] = INT64_MAX);
	REACHES((bad.shape[0] = bad.shape[1] = INT64_C(1) << 32,
		 bad.strides[0] = bad.strides[1] = 0));
	REACHES(bad.strides[0] = (int64_t)size);
	REACHES(bad.strides[0] = INT64_MAX);
	REACHES(bad.strides[0] = INT64_MIN);
	REACHES((bad.strides[0] = -8, bad.offset = 23));
	REACHES((bad.itemsize = UINT32_MAX, bad.kind = 'V', bad.order = '|'));
#undef REACHES
	/* to the last byte is within, and so is a lie about the size */
	bad = good;
	bad.offset = size - 32;
	bad.buffer_size = UINT64_MAX;
	assert_works(receive_forged(&bad, fd));
	bad.offset = 24;
	bad.strides[0] = -8;
	assert_works(receive_forged(&bad, fd));
	close(fd);
	dray_array_unref(array);
}

static void random_damage_never_reaches_out_of_the_buffer(void **state)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct dice dice = { 2026 };
	struct record good, bad;
	int fd, ends[2], accepted = 0;
	uint64_t size;

	(void)state;
	record_of(dray_array_view(array), &good, &fd);
	size = (uint64_t)lseek(fd, 0, SEEK_END);
	make_pair(SOCK_SEQPACKET, ends);
	for (int round = 0; round < rounds(3000); round++) {
		int changes = 1 + (int)roll(&dice, 3);

		bad = good;
		while (changes--) /* mostly where it matters */
			((unsigned char *)&bad)[roll(&dice, 4)
							? roll(&dice, 100)
							: roll(&dice, 1104)] =
				(unsigned char)roll(&dice, 256);
		send_raw(ends[0], &bad, sizeof(bad), fd, 1);
		if (!dray_array_receive(ends[1], node, &received)) {
			const struct dray_view *view =
				dray_array_view(received);
			struct dray_location location;
			int64_t low, high;

			dray_view_span(view, &low, &high);
			assert_works(dray_locate((char *)view->data + low,
						 &location));
			assert_true(location.offset + (uint64_t)(high - low) <=
				    size);
			dray_array_unref(received);
			accepted++;
		}
	}
	assert_true(accepted > rounds(100) && accepted < rounds(2900));
	close_pair(ends);
	close(fd);
	dray_array_unref(array);
}

static void descriptors_are_one_and_a_buffer(void **state)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct record record;
	int fd, ends[2], before;

	(void)state;
	record_of(dray_array_view(array), &record, &fd);
	before = count_fds();
	make_pair(SOCK_SEQPACKET, ends);
	send_raw(ends[0], &record, sizeof(record), fd, 0);
	assert_fails(dray_array_receive(ends[1], node, &received), -EBADMSG,
		     "0 descriptors");
	send_raw(ends[0], &record, sizeof(record), fd, 2);
	assert_fails(dray_array_receive(ends[1], node, &received), -EBADMSG,
		     "2 descriptors");
	send_raw(ends[0], &record, sizeof(record), fd, 100);
	assert_fails(dray_array_receive(ends[1], node, &received), -EBADMSG,
		     "100 descriptors");
	send_raw(ends[0], &record, sizeof(record), fd, 200);
	assert_fails(dray_array_receive(ends[1], node, &received), -EBADMSG,
		     "descriptors were lost");
	close_pair(ends);
	assert_int_equal(count_fds(), before);
	assert_int_equal(receive_forged(&record, STDERR_FILENO), -EINVAL);
	close(fd);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(receive_forged(&record, fd), -EINVAL);
	close(fd);
	dray_array_unref(array);
}

static void without_room_for_a_descriptor_nothing_is_received(void **state)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct rlimit limit, tight;
	int ends[2], before, error;

	(void)state;
	make_pair(SOCK_STREAM, ends);
	assert_works(dray_array_send(ends[0], dray_array_view(array)));
	before = count_fds();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	tight = limit;
	tight.rlim_cur = (rlim_t)dup(0); /* the first that is free */
	close((int)tight.rlim_cur);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	error = dray_array_receive(ends[1], node, &received);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(error, -EBADMSG);
	assert_non_null(strstr(dray_last_error(), "can open no more"));
	assert_int_equal(count_fds(), before);
	close_pair(ends);
	dray_array_unref(array);
}

static void a_memfd_that_may_shrink_is_refused(void **state)
{
	struct dray_array *array = make_array(4, 4);
	struct record record;
	int fd, own;

	(void)state;
	record_of(dray_array_view(array), &record, &fd);
	close(fd);
	own = memfd_create("mine", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(own, 1 << 20), 0);
	/* and for the kernel's node it is no dma-buf */
	assert_int_equal(receive_forged(&record, own),
			 on_kernel() ? -EINVAL : -EPERM);
	close(own);
	dray_array_unref(array);
}

static void messages_that_are_too_short_or_long_are_refused(void **state)
{
	struct dray_array *array = make_array(4, 4), *received;
	char longer[sizeof(struct record) + 1] = { 0 };
	struct record record;
	int fd, ends[2], before;

	(void)state;
	record_of(dray_array_view(array), &record, &fd);
	before = count_fds();
	make_pair(SOCK_SEQPACKET, ends);
	memcpy(longer, &record, sizeof(record));
	send_raw(ends[0], longer, sizeof(longer), fd, 1);
	assert_fails(dray_array_receive(ends[1], node, &received), -EBADMSG,
		     "more than the 1104 bytes");
	close_pair(ends);
	make_pair(SOCK_STREAM, ends);
	send_raw(ends[0], &record, 100, fd, 1);
	close(ends[0]);
	assert_fails(dray_array_receive(ends[1], node, &received), -EBADMSG,
		     "after 100 of 1104 bytes");
	close(ends[1]);
	assert_int_equal(count_fds(), before);
	close(fd);
	dray_array_unref(array);
}

struct dribble {
	int socket;
	const struct record *record;
	int fd;
};

static void *send_in_pieces(void *argument)
{
	const struct dribble *dribble = argument;
	const char *bytes = (const char *)dribble->record;
	size_t done = 0;

	while (done < sizeof(*dribble->record)) {
		size_t size = sizeof(*dribble->record) - done;

		if (size > 100)
			size = 100;
		send_raw(dribble->socket, bytes + done, size, dribble->fd,
			 !done);
		done += size;
	}
	return NULL;
}

static void a_record_in_pieces_is_put_together(void **state)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct record record;
	struct dribble dribble;
	pthread_t thread;
	int fd, ends[2], error;

	(void)state;
	record_of(dray_array_view(array), &record, &fd);
	for (int type = 0; type < 2; type++) {
		make_pair(SOCK_STREAM | (type ? SOCK_NONBLOCK : 0), ends);
		dribble = (struct dribble){ ends[0], &record, fd };
		assert_int_equal(pthread_create(&thread, NULL, send_in_pieces,
						&dribble),
				 0);
		do { /* before the first byte a socket may say: not yet */
			error = dray_array_receive(ends[1], node, &received);
		} while (error == -EAGAIN);
		assert_works(error);
		assert_int_equal(pthread_join(thread, NULL), 0);
		dray_array_unref(received);
		close_pair(ends);
	}
	close(fd);
	dray_array_unref(array);
}

static void records_go_on_after_signals_and_waits(void **state)
{
	struct dray_array *array = make_array(4, 4), *received;
	int ends[2], before = count_fds(), error;

	(void)state;
	make_pair(SOCK_STREAM, ends);
	halting.on = true;
	halting.calls = 0;
	assert_works(dray_array_send(ends[0], dray_array_view(array)));
	halting.calls = 0;
	halting.poll_error = EINTR;
	assert_works(dray_array_receive(ends[1], node, &received));
	halting.on = false;
	assert_true(halting.calls >= 2 * (sizeof(struct record) / 100));
	assert_int_equal(dray_array_view(received)->shape[1], 4);
	dray_array_unref(received);

	halting.on = true;
	halting.calls = 0;
	halting.poll_error = ENOMEM;
	assert_fails(dray_array_send(ends[0], dray_array_view(array)), -ENOMEM,
		     "waiting for the socket");
	halting.calls = 0;
	halting.poll_error = ENOMEM;
	error = dray_array_receive(ends[1], node, &received);
	halting.on = false;
	assert_int_equal(error, -ENOMEM);
	close_pair(ends);
	assert_int_equal(count_fds(), before);
	dray_array_unref(array);
}

static void a_peer_that_stops_in_the_middle_is_given_up(void **state)
{
	struct dray_array *received = NULL;
	int ends[2], before = count_fds();

	(void)state;
	for (int type = 0; type < 2; type++) {
		make_pair(SOCK_STREAM | (type ? SOCK_NONBLOCK : 0), ends);
		assert_int_equal(write(ends[0], "d", 1), 1);
		halting.patience = 5000;
		assert_fails(dray_array_receive(ends[1], node, &received),
			     -ETIMEDOUT, "in the middle of a record");
		assert_int_equal(halting.patience, 0);
		close_pair(ends);
	}
	assert_null(received);
	assert_int_equal(count_fds(), before);
}

static void credentials_may_come_along(void **state)
{
	struct dray_array *array = make_array(4, 4), *received;
	int ends[2], on = 1;

	(void)state;
	make_pair(SOCK_SEQPACKET, ends);
	assert_int_equal(setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on,
				    sizeof(on)),
			 0);
	assert_works(dray_array_send(ends[0], dray_array_view(array)));
	assert_works(dray_array_receive(ends[1], node, &received));
	dray_array_unref(received);
	dray_array_unref(array);
	close_pair(ends);
}

#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76 /* since Linux 6.5 */
#endif

static void descriptors_of_the_sender_are_closed(void **state)
{
	static const int types[] = { SOCK_SEQPACKET, SOCK_STREAM };
	struct dray_array *array = make_array(4, 4), *received;
	int ends[2], on = 1, before = count_fds(), error = 0;

	(void)state;
	for (int i = 0; i < 2 && !error; i++) {
		make_pair(types[i], ends);
		error = setsockopt(ends[1], SOL_SOCKET, SO_PASSPIDFD, &on,
				   sizeof(on));
		if (error) {
			print_message("skipped: SO_PASSPIDFD: %s\n",
				      strerror(errno));
		} else {
			assert_works(dray_array_send(ends[0],
						     dray_array_view(array)));
			assert_works(
				dray_array_receive(ends[1], node, &received));
			dray_array_unref(received);
		}
		close_pair(ends);
		assert_int_equal(count_fds(), before);
	}
	dray_array_unref(array);
	if (error)
		skip();
}

static void a_node_that_is_not_there_is_told(void **state)
{
	struct dray_array *array = make_array(4, 4), *received = NULL;
	struct record record;
	int fd, ends[2], before;

	(void)state;
	record_of(dray_array_view(array), &record, &fd);
	before = count_fds();
	record.backend = 2;
	memset(record.node, 0, sizeof(record.node));
	memcpy(record.node, "dray4294967295", 14);
	make_pair(SOCK_STREAM, ends);
	send_raw(ends[0], &record, sizeof(record), fd, 1);
	assert_fails(dray_array_receive(ends[1], NULL, &received), -ENODEV,
		     "dray4294967295");
	assert_null(received);
	close_pair(ends);
	assert_int_equal(count_fds(), before);
	close(fd);
	dray_array_unref(array);
}

static void what_cannot_be_written_is_received_read_only(void **state)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct record record;
	char path[64];
	int fd, read_only, ends[2];

	(void)state;
	record_of(dray_array_view(array), &record, &fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_only = open(path, O_RDONLY | O_CLOEXEC);
	/* a dma-buf cannot be opened a second time */
	assert_true(read_only >= 0 || on_kernel());
	if (read_only >= 0) {
		make_pair(SOCK_STREAM, ends);
		send_raw(ends[0], &record, sizeof(record), read_only, 1);
		assert_works(dray_array_receive(ends[1], node, &received));
		assert_int_equal(dray_array_view(received)->flags,
				 DRAY_VIEW_READONLY);
		dray_array_unref(received);
		close_pair(ends);
		close(read_only);
	}
	close(fd);
	dray_array_unref(array);
}

static void received_descriptors_are_closed_on_exec(void **state)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct dray_location location;
	int ends[2];

	(void)state;
	make_pair(SOCK_STREAM, ends);
	assert_works(dray_array_send(ends[0], dray_array_view(array)));
	assert_works(dray_array_receive(ends[1], node, &received));
	assert_works(dray_locate(dray_array_view(received)->data, &location));
	assert_int_equal(fcntl(dray_buffer_fd(location.buffer), F_GETFD),
			 FD_CLOEXEC);
	dray_array_unref(received);
	dray_array_unref(array);
	close_pair(ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_view_passes_over_a_seqpacket_socket),
		cmocka_unit_test(a_view_passes_over_a_stream_socket),
		cmocka_unit_test(several_arrays_in_a_stream_stay_apart),
		cmocka_unit_test(another_process_changes_the_array_in_place),
		cmocka_unit_test(a_received_array_outlives_the_sender),
		cmocka_unit_test(read_only_and_empty_views_pass),
		cmocka_unit_test(sixty_four_axes_pass),
		cmocka_unit_test(what_is_not_drays_is_not_sent),
		cmocka_unit_test(a_socket_that_cannot_is_told),
		cmocka_unit_test(forged_fields_are_refused_by_name),
		cmocka_unit_test(
			records_that_reach_out_of_the_buffer_are_refused),
		cmocka_unit_test(random_damage_never_reaches_out_of_the_buffer),
		cmocka_unit_test(descriptors_are_one_and_a_buffer),
		cmocka_unit_test(
			without_room_for_a_descriptor_nothing_is_received),
		cmocka_unit_test(a_memfd_that_may_shrink_is_refused),
		cmocka_unit_test(
			messages_that_are_too_short_or_long_are_refused),
		cmocka_unit_test(a_record_in_pieces_is_put_together),
		cmocka_unit_test(records_go_on_after_signals_and_waits),
		cmocka_unit_test(a_peer_that_stops_in_the_middle_is_given_up),
		cmocka_unit_test(credentials_may_come_along),
		cmocka_unit_test(descriptors_of_the_sender_are_closed),
		cmocka_unit_test(a_node_that_is_not_there_is_told),
		cmocka_unit_test(what_cannot_be_written_is_received_read_only),
		cmocka_unit_test(received_descriptors_are_closed_on_exec),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
