// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Times messages between two processes and prints samples for tools/bench: views by
 * dray's plan, beside contiguous messages of as many bytes and UCX's generic datatype;
 * and the end of a send to a peer that is stopped.
 *
 *	rdma_times TRANSPORT
 *
 * A sample is a message to a contiguous receiver and an answer of a byte, in
 * microseconds.  Contenders take turns.
 */
#include <signal.h>
#include <stdio.h>

#include "../rdma/pair.h"

enum {
	ROUNDS = 31,
	ROOM = 8 << 20,
	DEADLINE_MS = 100
};

static const char *transport;
static char ucx[16];

/* The runs of a view, and how far a message has read them. */
struct cursor {
	struct iovec *runs;
	size_t count, bytes, run, at;
};

static void *pack_start(void *first, const void *buffer, size_t count)
{
	struct cursor *cursor = malloc(sizeof(*cursor));

	(void)buffer, (void)count;
	*cursor = *(struct cursor *)first;
	return cursor;
}

static size_t pack_size(void *state)
{
	return ((struct cursor *)state)->bytes;
}

/* UCX packs in order. */
static size_t pack_next(void *state, size_t offset, void *to, size_t most)
{
	struct cursor *cursor = state;
	struct iovec *run;
	size_t done = 0, n;

	(void)offset;
	while (done < most && cursor->run < cursor->count) {
		run = &cursor->runs[cursor->run];
		n = run->iov_len - cursor->at;
		n = n < most - done ? n : most - done;
		memcpy((char *)to + done, (char *)run->iov_base + cursor->at,
		       n);
		done += n;
		cursor->at += n;
		if (cursor->at == run->iov_len) {
			cursor->at = 0;
			cursor->run++;
		}
	}
	return done;
}

static const ucp_generic_dt_ops_t packing = {
	.start_pack = pack_start,
	.packed_size = pack_size,
	.pack = pack_next,
	.finish = free,
};

enum way {
	BY_DRAY,
	PLAIN,
	GENERIC
};
static const char *const names[] = { "dray", "contiguous", "generic datatype" };

static void answer_pass(void)
{
	static char byte;
	struct dray_ucx_request request;
	struct dray_view view;

	EXPECT_OK(dray_view_init(&view, &byte, DRAY_UINT8, 0, NULL, NULL));
	if (side)
		EXPECT_OK(dray_ucx_send(&peer, 1, &view, &request));
	else
		EXPECT_OK(dray_ucx_recv(&peer, 1, &view, &request));
	EXPECT_OK(dray_ucx_wait(&request, -1));
}

static void plain_send(void *data, size_t bytes, ucp_datatype_t type)
{
	ucp_request_param_t how = { .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
				    .datatype = type };
	void *sent = ucp_tag_send_nbx(peer.ep, data, bytes, 0, &how);

	EXPECT(!UCS_PTR_IS_ERR(sent));
	if (!UCS_PTR_IS_PTR(sent))
		return;
	while (ucp_request_check_status(sent) == UCS_INPROGRESS)
		if (!ucp_worker_progress(peer.worker))
			sched_yield();
	ucp_request_free(sent);
}

/* Returns microseconds of a message of @view, or of as many bytes. */
static double message_time(const struct dray_view *view,
			   const struct dray_view *flat, ucp_datatype_t generic,
			   size_t bytes, enum way way)
{
	struct dray_ucx_request request;
	int64_t start;

	if (side)
		EXPECT_OK(dray_ucx_recv(&peer, 0, flat, &request));
	pair_meet();
	start = now_us();
	if (side) {
		EXPECT_OK(dray_ucx_wait(&request, -1));
	} else if (way == BY_DRAY) {
		EXPECT_OK(dray_ucx_send(&peer, 0, view, &request));
		EXPECT_OK(dray_ucx_wait(&request, -1));
	} else if (way == PLAIN) {
		plain_send(flat->data, bytes, ucp_dt_make_contig(1));
	} else {
		plain_send(view->data, 1, generic);
	}
	answer_pass();
	return (double)(now_us() - start);
}

static void row_say(const char *name, const char *unit, const char *goal)
{
	if (!side)
		printf("row\t%s, %s, %s\t%s\tlower\t%s\n", name, ucx, transport,
		       unit, goal);
}

static void sample_say(const char *name, const char *contender, double value)
{
	if (!side)
		printf("sample\t%s, %s, %s\t%s\t%.3f\n", name, ucx, transport,
		       contender, value);
}

static void layout_time(const char *name, const char *goal, const char *beside,
			const int64_t *shape, const int64_t *strides)
{
	char *data = dray_pool_calloc(pool, 1, ROOM);
	void *kept = dray_pool_calloc(pool, 1, ROOM);
	struct cursor cursor = { 0 };
	struct dray_view view, flat;
	ucp_datatype_t generic;

	memset(data, 1, ROOM);
	memset(kept, 1, ROOM);
	EXPECT_OK(dray_view_init(&view, data, DRAY_FLOAT32, 2, shape, strides));
	EXPECT_OK(dray_view_init(&flat, kept, DRAY_FLOAT32, 2, shape, NULL));
	cursor.bytes = (size_t)dray_view_size(&view) * 4;
	EXPECT_OK(dray_view_iovec(&view, 0, NULL, 0, &cursor.count));
	cursor.runs = malloc(cursor.count * sizeof(*cursor.runs));
	EXPECT_OK(dray_view_iovec(&view, 0, cursor.runs, cursor.count,
				  &cursor.count));
	EXPECT_OK(ucp_dt_create_generic(&packing, &cursor, &generic));
	row_say(name, "us", goal);
	if (beside)
		row_say(beside, "us", "generic datatype\t0.2");
	for (int round = 0; round <= ROUNDS; round++) {
		for (int turn = 0; turn < 3; turn++) {
			enum way way = (enum way)((round + turn) % 3);
			double time = message_time(&view, &flat, generic,
						   cursor.bytes, way);

			if (!round)
				continue; /* the first call of each */
			sample_say(name, names[way], time);
			if (beside && way != PLAIN)
				sample_say(beside, names[way], time);
		}
	}
	ucp_dt_destroy(generic);
	free(cursor.runs);
	dray_pool_free(NULL, data);
	dray_pool_free(NULL, kept);
}

static void a_tile(void)
{
	const int64_t shape[] = { 256, 256 }, strides[] = { 7680, 4 };

	layout_time("a tile of 256 runs of 1 KiB", "contiguous\t1.2", NULL,
		    shape, strides);
}

static void long_runs(void)
{
	const int64_t shape[] = { 64, 4096 }, strides[] = { 32768, 4 };

	layout_time("64 runs of 16 KiB", "contiguous\t1.2", NULL, shape,
		    strides);
}

static void a_transpose(void)
{
	const int64_t shape[] = { 1024, 1024 }, strides[] = { 4, 4096 };

	layout_time("a transpose of 4 MiB", "contiguous\t2",
		    "a transpose beside the generic datatype", shape, strides);
	if (pair_errors)
		row_say("a dead peer: from the deadline", "ms", "-\t100");
}

static void a_dead_peer(void)
{
	const int64_t bytes = ROOM;
	struct dray_ucx_request request;
	struct dray_view view;
	int64_t start;

	EXPECT_OK(dray_view_init(&view, dray_pool_calloc(pool, 1, ROOM),
				 DRAY_UINT8, 1, &bytes, NULL));
	answer_pass();
	pair_meet();
	if (side)
		pair_raise(SIGSTOP);
	pair_lose();
	start = now_us();
	EXPECT_OK(dray_ucx_send(&peer, 0, &view, &request));
	EXPECT_IS(dray_ucx_wait(&request, DEADLINE_MS), -ETIMEDOUT);
	sample_say("a dead peer: from the deadline", "dray",
		   (double)(now_us() - start) / 1e3 - DEADLINE_MS);
	dray_pool_free(NULL, view.data);
}

int main(int argc, char **argv)
{
	static const struct fact facts[] = {
		FACT(a_tile),
		FACT(long_runs),
		FACT(a_transpose),
		FACT_OF_DEATH(a_dead_peer, NULL),
		FACT_OF_DEATH(a_dead_peer, NULL),
		FACT_OF_DEATH(a_dead_peer, NULL),
		{ 0 },
	};
	const struct fact *const tables[] = { facts };

	unsigned int major, minor, release;

	if (argc < 2)
		return 2;
	transport = argv[1];
	pair_errors = !strcmp(transport, "TCP");
	ucp_get_version(&major, &minor, &release);
	snprintf(ucx, sizeof(ucx), "UCX %u.%u", major, minor);
	return facts_run(tables, 1);
}
