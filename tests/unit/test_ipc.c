// SPDX-License-Identifier: Apache-2.0 OR MIT
/* ipc: arrays over sockets, and what comes along or does not. */
#include <dray/array.h>

#include "record.h"

static void passes_over(int type)
{
	struct dray_array *array = make_array(20, 30), *received;
	const struct dray_view *there;
	struct dray_view view;
	int ends[2], before = count_fds();

	make_pair(type, ends);
	assert_works(dray_view_index(
		whole_view(array),
		(struct dray_index[]){ DRAY_SLICE(DRAY_OMIT, 3, -2),
				       DRAY_SLICE(1, 20, 3) },
		2, &view));
	assert_works(dray_view_send(ends[0], &view));
	assert_works(dray_array_receive(ends[1], node, &received));
	there = whole_view(received);
	assert_int_equal(there->ndim, 2);
	assert_int_equal(dray_dtype_kind(there->dtype), 'u');
	assert_int_equal(dray_dtype_order(there->dtype), '<');
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

BRIEF(FACT(a_view_passes_over_a_seqpacket_socket), passes_over(SOCK_SEQPACKET));
BRIEF(FACT(a_view_passes_over_a_stream_socket), passes_over(SOCK_STREAM));

FACT(type_objects_pass_as_their_text)
{
	struct dray_array *array, *received;
	dray_dtype dtype;
	int ends[2];

	assert_works(dray_dtype_parse("i4,(2,3)f8,S3", &dtype));
	assert_works(dray_array_create(pool, dtype, 1, DIMS(4), &array));
	make_pair(SOCK_STREAM, ends);
	assert_works(dray_view_send(ends[0], whole_view(array)));
	assert_works(dray_array_receive(ends[1], NULL, &received));
	assert_true(received->dtype != dtype);
	assert_true(dray_dtype_equal(received->dtype, dtype));
	assert_int_equal(
		dray_block_count(&dray_dtype_as_object(received->dtype)->block),
		1);
	assert_int_equal(dray_array_axes(received)->stride, 55);
	dray_array_unref(received);
	dray_array_unref(array);
	dray_dtype_unref(dtype);
	close_pair(ends);
}

FACT(several_arrays_in_a_stream_stay_apart)
{
	struct dray_array *arrays[3], *received;
	int ends[2];

	make_pair(SOCK_STREAM, ends);
	for (int i = 0; i < 3; i++) {
		arrays[i] = make_array(1, i + 1);
		memset(arrays[i]->data, 'a' + i, 2);
		assert_works(dray_view_send(ends[0], whole_view(arrays[i])));
	}
	for (int i = 0; i < 3; i++) {
		assert_works(dray_array_receive(ends[1], NULL, &received));
		assert_int_equal(dray_array_axes(received)[1].size, i + 1);
		assert_int_equal(*(char *)received->data, 'a' + i);
		dray_array_unref(received);
		dray_array_unref(arrays[i]);
	}
	close_pair(ends);
}

FACT(another_process_changes_the_array_in_place)
{
	struct dray_array *array = make_array(4, 4);
	const struct dray_view *view = whole_view(array);
	int ends[2], status;
	pid_t child;

	make_pair(SOCK_STREAM, ends);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct dray_array *mine;

		close(ends[0]);
		if (dray_array_receive(ends[1], NULL, &mine))
			_exit(1);
		memset(mine->data, 0x77, 32);
		dray_array_unref(mine);
		_exit(0);
	}
	close(ends[1]);
	assert_works(dray_view_send(ends[0], view));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	for (int i = 0; i < 32; i++)
		assert_int_equal(((unsigned char *)view->data)[i], 0x77);
	close(ends[0]);
	dray_array_unref(array);
}

FACT(a_received_array_outlives_the_sender)
{
	struct dray_array *array = make_array(4, 4), *received;
	int ends[2];

	make_pair(SOCK_STREAM, ends);
	memset(array->data, 3, 32);
	assert_works(dray_view_send(ends[0], whole_view(array)));
	close(ends[0]);
	dray_array_unref(array);
	assert_works(dray_array_receive(ends[1], NULL, &received));
	assert_int_equal(dray_array_axes(received)[0].size, 4);
	((volatile char *)received->data)[31] = 1;
	dray_array_unref(received);
	close(ends[1]);
}

FACT(read_only_and_empty_views_pass)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct dray_view view;
	int ends[2];

	make_pair(SOCK_SEQPACKET, ends);
	assert_works(dray_view_index(whole_view(array), &DRAY_SLICE(2, 2, 1), 1,
				     &view));
	view.flags = DRAY_READ;
	assert_works(dray_view_send(ends[0], &view));
	assert_works(dray_array_receive(ends[1], NULL, &received));
	assert_int_equal(received->flags & PERMISSIONS, DRAY_READ);
	assert_int_equal(dray_array_axes(received)[0].size, 0);
	dray_array_unref(received);
	dray_array_unref(array);
	close_pair(ends);
}

FACT(sixty_four_axes_pass)
{
	struct dray_array *array = make_array(1, 1), *received;
	int64_t shape[64];
	struct dray_view view;
	int ends[2];

	make_pair(SOCK_STREAM, ends);
	for (int i = 0; i < 64; i++)
		shape[i] = 1;
	assert_works(dray_view_init(&view, array->data, u2, 64, shape, NULL));
	assert_works(dray_view_send(ends[0], &view));
	assert_works(dray_array_receive(ends[1], NULL, &received));
	assert_int_equal(received->ndim, 64);
	dray_array_unref(received);
	dray_array_unref(array);
	close_pair(ends);
}

FACT(what_is_not_drays_is_not_sent)
{
	struct dray_array *array = make_array(4, 4);
	struct dray_node *private_node;
	struct dray_pool *private_pool;
	struct dray_view view;
	char memory[64];
	int ends[2];

	make_pair(SOCK_STREAM, ends);
	assert_works(dray_view_init(&view, memory, u2, 1, DIMS(8), NULL));
	assert_fails(dray_view_send(ends[0], &view), -EINVAL,
		     "outside of dray's memory");
	dray_view_copy(&view, whole_view(array));
	view.shape[0] = 100000;
	assert_fails(dray_view_send(ends[0], &view), -EINVAL,
		     "leaves its block");
	view.strides[0] = INT64_MAX;
	assert_fails(dray_view_send(ends[0], &view), -EOVERFLOW, "63 bits");

	assert_works(dray_node_open("host", &private_node));
	assert_works(dray_pool_create(private_node, NULL, &private_pool));
	assert_works(dray_view_init(&view, dray_pool_alloc(private_pool, 64, 0),
				    u2, 1, DIMS(8), NULL));
	assert_fails(dray_view_send(ends[0], &view), -EOPNOTSUPP,
		     "private host memory");
	dray_pool_free(private_pool, view.data);
	dray_pool_close(private_pool);
	dray_node_unref(private_node);
	dray_array_unref(array);
	close_pair(ends);
}

FACT(a_socket_that_cannot_is_told)
{
	struct dray_array *array = make_array(4, 4), *received = NULL;
	int ends[2], before;

	before = count_fds();
	make_pair(SOCK_STREAM, ends);
	close(ends[1]);
	assert_fails(dray_view_send(ends[0], whole_view(array)), -EPIPE,
		     "sending");
	assert_fails(dray_array_receive(ends[0], NULL, &received), -ECONNRESET,
		     "closed the socket");
	close(ends[0]);
	assert_fails(dray_view_send(-1, whole_view(array)), -EBADF, "sending");
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

FACT(credentials_may_come_along)
{
	struct dray_array *array = make_array(4, 4), *received;
	int ends[2], on = 1;

	make_pair(SOCK_SEQPACKET, ends);
	assert_int_equal(setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on,
				    sizeof(on)),
			 0);
	assert_works(dray_view_send(ends[0], whole_view(array)));
	assert_works(dray_array_receive(ends[1], node, &received));
	dray_array_unref(received);
	dray_array_unref(array);
	close_pair(ends);
}

#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76 /* since Linux 6.5 */
#endif

FACT(descriptors_of_the_sender_are_closed)
{
	static const int types[] = { SOCK_SEQPACKET, SOCK_STREAM };
	struct dray_array *array = make_array(4, 4), *received;
	int ends[2], on = 1, before = count_fds(), error = 0;

	for (int i = 0; i < 2 && !error; i++) {
		make_pair(types[i], ends);
		error = setsockopt(ends[1], SOL_SOCKET, SO_PASSPIDFD, &on,
				   sizeof(on));
		if (error) {
			print_message("skipped: SO_PASSPIDFD: %s\n",
				      strerror(errno));
		} else {
			assert_works(
				dray_view_send(ends[0], whole_view(array)));
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

FACT(a_node_that_is_not_there_is_told)
{
	struct dray_array *array = make_array(4, 4), *received = NULL;
	struct record record;
	int fd, ends[2], before;

	record_of(whole_view(array), &record, &fd);
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

FACT(what_cannot_be_written_is_received_read_only)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct record record;
	char path[64];
	int fd, read_only, ends[2];

	record_of(whole_view(array), &record, &fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_only = open(path, O_RDONLY | O_CLOEXEC);
	/* a dma-buf cannot be opened a second time */
	assert_true(read_only >= 0 || on_kernel());
	if (read_only >= 0) {
		make_pair(SOCK_STREAM, ends);
		send_raw(ends[0], &record, sizeof(record), read_only, 1);
		assert_works(dray_array_receive(ends[1], node, &received));
		assert_int_equal(received->flags & PERMISSIONS, DRAY_READ);
		dray_array_unref(received);
		close_pair(ends);
		close(read_only);
	}
	close(fd);
	dray_array_unref(array);
}

FACT(received_descriptors_are_closed_on_exec)
{
	struct dray_array *array = make_array(4, 4), *received;
	struct dray_location location;
	int ends[2];

	make_pair(SOCK_STREAM, ends);
	assert_works(dray_view_send(ends[0], whole_view(array)));
	assert_works(dray_array_receive(ends[1], node, &received));
	assert_works(dray_locate(received->data, &location));
	assert_int_equal(fcntl(dray_buffer_fd(location.buffer), F_GETFD),
			 FD_CLOEXEC);
	dray_array_unref(received);
	dray_array_unref(array);
	close_pair(ends);
}

FACTS_SHARE(set_up, tear_down)
