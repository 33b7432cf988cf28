// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A program that was started without standard streams, as by "2>&-": nothing that
 * the library opens may have their numbers, or messages land in it.  The calls
 * below are all that open files of their own; test_library.py finds new ones.
 */
#include <dray/array.h>

#include "shareable.h"

static int spare[3];
static char folder[] = "/tmp/dray-streams-XXXXXX";
static char path[64];

/* Closes the standard streams, and keeps copies far above. */
static void close_streams(void)
{
	fflush(NULL);
	for (int fd = 0; fd < 3; fd++) {
		spare[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
		close(fd);
	}
}

static void open_streams(void)
{
	for (int fd = 0; fd < 3; fd++) {
		if (spare[fd] < 0)
			continue;
		dup2(spare[fd], fd);
		close(spare[fd]);
	}
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static bool is_taken(void)
{
	return is_open(0) || is_open(1) || is_open(2);
}

static int alloc_buffer(void)
{
	struct dray_buffer *buffer, *imported;
	int ret, fd;

	ret = dray_buffer_alloc(node, 4096, NULL, &buffer);
	if (ret)
		return ret;
	ret = is_taken() ? -EBADF : 0;
	fd = dray_buffer_fd(buffer);
	if (!ret)
		ret = fd < 3 ? -EBADF : dray_buffer_import(node, fd, &imported);
	dray_buffer_unref(buffer);
	if (!ret)
		dray_buffer_unref(imported);
	return ret;
}

static bool has_stream(const char *name)
{
	struct dray_channel_info channel;
	uint32_t i;

	for (i = 0; !dray_node_channel(node, i, &channel, sizeof(channel)); i++)
		if (!strcmp(channel.name, name))
			return true;
	return false;
}

static int stream(void)
{
	struct dray_stream *opened;
	int ret;

	if (!has_stream("tx0"))
		return 0; /* a node without engines of streams */
	ret = dray_stream_open(node, "tx0", NULL, &opened);

	if (!ret && (is_taken()))
		ret = -EBADF;
	if (!ret)
		dray_stream_close(opened);
	return ret;
}

static int export(void)
{
	struct dray_array *array, *copy;
	char record[8192];
	size_t size;
	int ret = dray_array_create(pool, DRAY_UINT8, 1, DIMS(100), &array);

	if (ret)
		return ret;
	ret = dray_view_export(whole_view(array), 0, record, sizeof(record),
			       &size);
	if (!ret && (is_taken()))
		ret = -EBADF;
	if (!ret)
		ret = dray_array_open(record, size, node, &copy);
	if (!ret)
		dray_array_unref(copy);
	dray_array_unref(array);
	return ret;
}

static int pass(void)
{
	struct dray_array *array, *received;
	int ends[2], low, ret;

	/* Fills the numbers while the sockets are made. */
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(spare[0], F_DUPFD, 0) < 0)
			return -errno;
	ret = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)
		      ? -errno
		      : dray_array_create(pool, DRAY_UINT8, 1, DIMS(100),
					  &array);
	for (low = 0; low < 3; low++)
		close(low);
	if (ret)
		return ret;
	ret = dray_view_send(ends[0], whole_view(array));
	if (!ret)
		ret = dray_array_receive(ends[1], node, &received);
	if (!ret && (is_taken()))
		ret = -EBADF;
	if (!ret)
		dray_array_unref(received);
	dray_array_unref(array);
	close(ends[0]);
	close(ends[1]);
	return ret;
}

static int publish(void)
{
	int ret = dray_publish_start();

	if (!ret && (is_taken()))
		ret = -EBADF;
	dray_publish_stop();
	return ret;
}

static int save(void)
{
	struct dray_array *array, *loaded;
	int ret = dray_array_create(pool, DRAY_UINT8, 1, DIMS(100), &array);

	if (ret)
		return ret;
	ret = dray_npy_save(path, whole_view(array), 0);
	dray_array_unref(array);
	if (ret)
		return ret;
	ret = dray_npy_load(path, NULL, &loaded);
	if (ret)
		return ret;
	dray_array_unref(loaded);
	ret = dray_npy_map(path, DRAY_READ, &loaded);
	if (!ret)
		dray_array_unref(loaded);
	return ret;
}

static int log_calls(void)
{
	struct dray_resource *host, *log;
	int ret = dray_resource_malloc(&host);

	if (ret)
		return ret;
	ret = dray_resource_log(host, path, &log);
	dray_resource_unref(host);
	if (!ret && (is_taken()))
		ret = -EBADF;
	if (!ret)
		dray_resource_unref(log);
	return ret;
}

static const struct {
	const char *name;
	int (*call)(void);
} calls[] = {
	{ "buffers", alloc_buffer }, { "streams", stream },
	{ "exports", export },	     { "sockets", pass },
	{ "publishing", publish },   { "files", save },
	{ "logs", log_calls },
};

FACT(no_descriptor_of_the_library_is_that_of_a_standard_stream)
{
	int fd;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a.npy", folder);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const char *open = "";
		char reason[200];
		int ret;

		close_streams();
		ret = calls[i].call();
		snprintf(reason, sizeof(reason), "%s", dray_last_error());
		for (fd = 0; fd < 3; fd++)
			if (is_open(fd))
				open = "left open";
		open_streams();
		if (ret || *open)
			fail_msg("%s: %d %s, %s", calls[i].name, ret, open,
				 reason);
	}
	unlink(path);
	rmdir(folder);
}

FACT(a_message_does_not_land_in_an_array)
{
	struct dray_pool *own;
	static const char text[] = "a message";
	char *bytes;
	ssize_t written;
	char first;
	int ret;

	close_streams();
	ret = dray_pool_create(node, NULL, &own);
	bytes = ret ? NULL : dray_pool_calloc(own, 1, 4096);
	written = write(2, text, sizeof(text));
	first = bytes ? *bytes : 1;
	open_streams();
	assert_int_equal(ret, 0);
	assert_non_null(bytes);
	assert_int_equal(first, 0);
	assert_int_equal(written, -1);
	dray_pool_free(own, bytes);
	dray_pool_close(own);
}

FACTS_SHARE(set_up, tear_down)
