// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An array to a file and back by io_uring, without the page cache: uring [FILE]
 *
 * The memory of two arrays is registered with the ring, which pins its pages.
 * It writes the first and reads the second in pieces, eight at a time.  Direct I/O
 * moves whole blocks: the last piece ends in the last page of the array's buffer,
 * and the file is cut to the array's size.
 */
#define _GNU_SOURCE 1 /* O_DIRECT */
#include <dray/array.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS 1000
#define COLUMNS 777
#define BYTES (ROWS * COLUMNS * sizeof(float))
#define PIECE (256u << 10)
#define BLOCK 4096u /* a multiple of the blocks of disks, within a page */
#define DEPTH 8

/* Prints the step if it failed: @result is a negative errno then. */
static int check(const char *step, int result)
{
	if (result < 0)
		fprintf(stderr, "%s: %s\n", step, strerror(-result));
	return result;
}

static int open_direct(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0644);

	if (file >= 0 || errno != EINVAL)
		return check(path, file < 0 ? -errno : file);
	fprintf(stderr, "%s: this file system has no direct I/O\n", path);
	return -EINVAL;
}

/* Queues piece @n of array @index; false behind the last. */
static bool queue_piece(struct io_uring *ring, int file, int index,
			struct dray_array **arrays, int n)
{
	size_t offset = (size_t)n * PIECE;
	size_t left = offset < BYTES ? BYTES - offset : 0;
	size_t length = left < PIECE ? left : PIECE;
	unsigned int blocks = (unsigned int)(length + BLOCK - 1) / BLOCK;
	char *data = (char *)arrays[index]->data + offset;
	struct io_uring_sqe *entry;

	if (!left)
		return false;
	entry = io_uring_get_sqe(ring);
	if (index) {
		io_uring_prep_read_fixed(entry, file, data, blocks * BLOCK,
					 offset, index);
		entry->user_data = length; /* The file ends there. */
	} else {
		io_uring_prep_write_fixed(entry, file, data, blocks * BLOCK,
					  offset, index);
		entry->user_data = (uint64_t)blocks * BLOCK;
	}
	return true;
}

/* Moves all pieces; returns their number or a negative errno. */
static int move_pieces(struct io_uring *ring, int file, int index,
		       struct dray_array **arrays)
{
	struct io_uring_cqe *done;
	int begun = 0, ended = 0, ret = 0, got;

	for (;;) {
		while (!ret && begun - ended < DEPTH &&
		       queue_piece(ring, file, index, arrays, begun))
			begun++;
		if (begun == ended)
			return ret ? ret : ended;
		got = io_uring_submit_and_wait(ring, 1);
		if (got >= 0)
			got = io_uring_wait_cqe(ring, &done);
		if (got == -EINTR)
			continue; /* A signal came, such as SIGCONT. */
		if (got < 0)
			return got;
		ended++;
		if (done->res < 0)
			ret = done->res;
		else if ((uint64_t)done->res != done->user_data)
			ret = -EIO; /* as of a full disk */
		io_uring_cqe_seen(ring, done);
	}
}

static int run(struct io_uring *ring, int file, struct dray_array **arrays)
{
	const struct iovec memory[] = {
		{ arrays[0]->data, dray_block_size(arrays[0]->reference) },
		{ arrays[1]->data, dray_block_size(arrays[1]->reference) },
	};
	int ret;

	ret = check("register", io_uring_register_buffers(ring, memory, 2));
	if (!ret)
		ret = check("write", move_pieces(ring, file, 0, arrays));
	if (ret > 0)
		ret = check("cut", ftruncate(file, BYTES) ? -errno : 0);
	if (!ret)
		ret = check("read", move_pieces(ring, file, 1, arrays));
	if (ret < 0)
		return ret;
	if (memcmp(arrays[0]->data, arrays[1]->data, BYTES) != 0)
		return check("other bytes came back", -EBADMSG);
	printf("%zu bytes written in %d pieces, and the same ones read\n",
	       BYTES, ret);
	return 0;
}

int main(int argc, char **argv)
{
	const int64_t shape[] = { ROWS, COLUMNS };
	struct dray_array *arrays[2] = { NULL, NULL };
	struct dray_node *node = NULL;
	struct io_uring ring;
	int file, ret, i;

	file = open_direct(argc > 1 ? argv[1] : "uring.raw");
	if (file < 0 || check("io_uring", io_uring_queue_init(DEPTH, &ring, 0)))
		return EXIT_FAILURE;
	ret = dray_node_open(NULL, &node);
	for (i = 0; !ret && i < 2; i++)
		ret = dray_array_create_alone(node, DRAY_FLOAT32, 2, shape,
					      &arrays[i]);
	if (ret)
		fprintf(stderr, "uring: %s\n", dray_last_error());
	for (i = 0; !ret && i < ROWS * COLUMNS; i++)
		((float *)arrays[0]->data)[i] = (float)i;
	if (!ret)
		ret = run(&ring, file, arrays);
	io_uring_queue_exit(&ring);
	for (i = 0; i < 2; i++)
		dray_array_unref(arrays[i]);
	dray_node_unref(node);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
