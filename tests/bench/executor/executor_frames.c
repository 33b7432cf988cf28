// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Times frames that go to an IP and come back, and prints a line
 * "ROW<tab>CONTENDER<tab>VALUE" for each measurement:
 *
 *	ring		the program passes the frames of two rings itself
 *	named		a stream executor that was told the operands before
 *	any		a stream executor for any operands
 *	packets		the same, with two inputs in one stream: no rings
 *
 * The IP is the FIFO between "tx0" and "rx0" of the engine for tests, and so computes
 * "same", or of two inputs "pack".  The clock counts instructions, of all that runs.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dray/array.h>

#define FRAMES 200 /* at one time; the FIFO holds 256 packets */
#define ROUNDS 20

static struct {
	struct dray_node *node;
	struct dray_stream *tx, *rx;
	struct dray_buffer
		*buffer; /* bytes to send, then room for those that come */
	struct dray_view in, out;
	int64_t frame_bytes;
} bench;

static void check(const char *step, int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "%s: %s\n", step, dray_last_error());
	exit(EXIT_FAILURE);
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The node of the engine for tests is the one with such streams. */
static void open_streams(void)
{
	const struct dray_stream_options options = { .batch = 8 };
	int64_t bytes = bench.frame_bytes * FRAMES;
	char spec[16];
	char *data;
	int i, ret = -ENODEV;

	for (i = 0; ret && i < 4; i++) {
		snprintf(spec, sizeof(spec), "kernel:dray%d", i);
		if (dray_node_open(spec, &bench.node))
			continue;
		ret = dray_stream_open(bench.node, "tx0", &options, &bench.tx);
		if (ret)
			dray_node_unref(bench.node);
	}
	check("tx0", ret);
	check("rx0", dray_stream_open(bench.node, "rx0", &options, &bench.rx));
	check("memory", dray_buffer_alloc(bench.node, (size_t)(2 * bytes), NULL,
					  &bench.buffer));
	data = dray_buffer_data(bench.buffer);
	check("view",
	      dray_view_init(&bench.in, data, DRAY_UINT8, 1, &bytes, NULL));
	check("view", dray_view_init(&bench.out, data + bytes, DRAY_UINT8, 1,
				     &bytes, NULL));
	memset(data, 1, (size_t)bytes);
}

static void close_streams(void)
{
	dray_stream_close(bench.tx);
	dray_stream_close(bench.rx);
	dray_buffer_unref(bench.buffer);
	dray_node_unref(bench.node);
}

/* Each round sends other bytes, which must come. */
static void prepare(int round)
{
	memset(bench.in.data, round + 1, (size_t)bench.in.shape[0]);
	memset(bench.out.data, 0, (size_t)bench.out.shape[0]);
}

static void print(const char *contender, uint64_t begin, int round)
{
	uint64_t end = now_ns();

	if (memcmp(bench.in.data, bench.out.data, (size_t)bench.in.shape[0])) {
		fprintf(stderr, "%s: round %d has wrong bytes\n", contender,
			round);
		exit(EXIT_FAILURE);
	}
	/* The first call of a contender is not one of many. */
	if (round)
		printf("frame there and back, %lld bytes\t%s\t%.3f\n",
		       (long long)bench.frame_bytes, contender,
		       (double)(end - begin) / FRAMES);
}

/* Gives a stream a ring over a view, and acquires all frames. */
static void give_ring(struct dray_stream *stream, const struct dray_view *view)
{
	static struct dray_view views[FRAMES];
	const struct dray_view *pointers[FRAMES];
	struct dray_point points[FRAMES];
	int i, owned = 0, ret;

	for (i = 0; i < FRAMES; i++) {
		pointers[i] = &views[i];
		check("frame",
		      dray_view_init(&views[i],
				     (char *)view->data + i * bench.frame_bytes,
				     DRAY_UINT8, 1, &bench.frame_bytes, NULL));
	}
	check("ring", dray_stream_ring(stream, pointers, FRAMES, 0));
	while (owned < FRAMES) {
		check("cancel", dray_stream_cancel(stream));
		ret = dray_stream_acquire(stream, points, FRAMES, 10);
		if (ret != -ETIME)
			check("acquire", ret);
		owned += ret > 0 ? ret : 0;
	}
}

static void acquire_all(struct dray_stream *stream)
{
	struct dray_point points[FRAMES];
	int i, ret, at = 0;

	while (at < FRAMES) {
		ret = dray_stream_acquire(stream, points, FRAMES, 10000);
		check("acquire", ret);
		for (i = 0; i < ret; i++)
			if (points[i].status ||
			    (int64_t)points[i].bytes != bench.frame_bytes)
				check("frame", -EIO);
		at += ret;
	}
}

static void time_ring(void)
{
	uint32_t frames[FRAMES], i;
	uint64_t begin;
	int round;

	open_streams();
	give_ring(bench.tx, &bench.in);
	give_ring(bench.rx, &bench.out);
	for (i = 0; i < FRAMES; i++)
		frames[i] = i;
	for (round = 0; round <= ROUNDS; round++) {
		prepare(round);
		begin = now_ns();
		check("release", dray_stream_release(bench.rx, frames, FRAMES));
		check("release", dray_stream_release(bench.tx, frames, FRAMES));
		acquire_all(bench.rx);
		acquire_all(bench.tx);
		print("ring", begin, round);
	}
	close_streams();
}

static int no_loop(char *const *data, const int64_t *strides, int64_t count,
		   void *context)
{
	(void)data;
	(void)strides;
	(void)count;
	(void)context;
	return -ENOSYS;
}

/* A ufunc that the IP computes, and no CPU. */
static struct dray_ufunc *make_ufunc(const char *name, int inputs,
				     const dray_dtype *dtypes)
{
	const struct dray_ufunc_loop loop = { .loop = no_loop };
	struct dray_ufunc *ufunc;

	check("ufunc",
	      dray_ufunc_create(name, inputs, 1, DRAY_IDENTITY_NONE, &ufunc));
	check("loop", dray_ufunc_set_loop(ufunc, dtypes, &loop));
	return ufunc;
}

static void time_calls(const char *contender,
		       struct dray_stream_executor_options *options,
		       const struct dray_view *const *operands)
{
	static const struct dray_call_cost cheap = { { 1, 2 }, { 1, 1 } };
	static const struct dray_call_cost dear = { { 1, 2 }, { 9, 9 } };
	const struct dray_view *const *outputs =
		operands + dray_ufunc_inputs(options->ufunc);
	struct dray_executor *executor;
	struct dray_call_queue *queue;
	uint64_t begin;
	int round;

	options->tx = &bench.tx;
	options->tx_count = 1;
	options->rx = &bench.rx;
	options->rx_count = 1;
	options->frame_bytes = (uint64_t)bench.frame_bytes;
	options->depth = 32;
	check("executor", dray_stream_executor_create(options, &executor));
	check("cost", dray_executor_set_cost(executor, options->ufunc,
					     options->dtypes, &cheap));
	check("cost",
	      dray_executor_set_cost(dray_cpu_executor(), options->ufunc,
				     options->dtypes, &dear));
	check("queue", dray_call_queue_create(&executor, 1, NULL, &queue));
	for (round = 0; round <= ROUNDS; round++) {
		prepare(round);
		begin = now_ns();
		check("call",
		      dray_call_queue_submit(queue, options->ufunc, operands,
					     outputs, NULL, NULL, NULL));
		print(contender, begin, round);
	}
	dray_call_queue_destroy(queue);
	dray_executor_unref(executor);
	dray_ufunc_unref(options->ufunc);
}

static void time_executor(const char *contender, bool named)
{
	const dray_dtype dtypes[] = { DRAY_UINT8, DRAY_UINT8 };
	const struct dray_view *operands[] = { &bench.in, &bench.out };
	struct dray_stream_executor_options options = {
		.ufunc = make_ufunc("same", 1, dtypes),
		.dtypes = dtypes,
		.ring = operands,
		.ring_count = named,
	};

	open_streams();
	time_calls(contender, &options, operands);
	close_streams();
}

/* A frame is an element of each input, one behind the other in memory, too. */
static void time_packets(void)
{
	const uint32_t half = (uint32_t)bench.frame_bytes / 2;
	const dray_dtype part = DRAY_DTYPE('V', '|', half);
	const dray_dtype whole = DRAY_DTYPE('V', '|', 2 * half);
	const dray_dtype dtypes[] = { part, part, whole };
	const int64_t count = FRAMES, stride = bench.frame_bytes;
	struct dray_view views[3];
	const struct dray_view *operands[] = { &views[0], &views[1],
					       &views[2] };
	struct dray_stream_executor_options options = {
		.ufunc = make_ufunc("pack", 2, dtypes),
		.dtypes = dtypes,
	};
	int i;

	open_streams();
	for (i = 0; i < 3; i++)
		check("view", dray_view_init(&views[i],
					     i < 2 ? (char *)bench.in.data +
							     (uint32_t)i * half
						   : bench.out.data,
					     dtypes[i], 1, &count, &stride));
	time_calls("packets", &options, operands);
	close_streams();
}

/* All contenders, or the one that is named. */
int main(int argc, char **argv)
{
	static const int64_t sizes[] = { 64, 4096 };
	const char *only = argc > 1 ? argv[1] : NULL;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		bench.frame_bytes = sizes[i];
		if (!only || !strcmp(only, "ring"))
			time_ring();
		if (!only || !strcmp(only, "named"))
			time_executor("named", true);
		if (!only || !strcmp(only, "any"))
			time_executor("any", false);
		if (!only || !strcmp(only, "packets"))
			time_packets();
	}
	return 0;
}
