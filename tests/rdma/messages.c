// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Views as messages between two sides, and what is refused. */
#include <dray/element.h>

#include "facts.h"

enum {
	PAIRS = 200
};

static void views_of_random_layouts_pass(void)
{
	const dray_dtype dtypes[] = { DRAY_INT8, DRAY_FLOAT32, DRAY_FLOAT64,
				      DRAY_COMPLEX128, DRAY_BOOL };
	unsigned char *data = memory_of(ROOM);
	int64_t shape[3];
	struct dray_view view;
	uint64_t seed;
	int i, k, ndim;

	for (i = 0; i < PAIRS; i++) {
		seed = (uint64_t)i;
		ndim = 1 + (int)random_below(3);
		for (k = 0; k < ndim; k++)
			shape[k] = random_below(k ? 17 : 40);
		view_lay(&view, data, dtypes[i % 5], ndim, shape,
			 2 * seed + (unsigned)side);
		if (side == i % 2) {
			view_number(&view, seed);
			EXPECT_OK(send_view(&view));
			memset(data, GUARD, ROOM);
		} else {
			EXPECT_OK(receive_view(&view));
			EXPECT_IS(view_wrong(&view, bytes_of(&view), seed, data,
					     ROOM),
				  0);
		}
	}
	dray_pool_free(NULL, data);
}

/* Layouts of each way, by run; the sides exchange their layouts at half time. */
static void lists_and_copies_pass_both_ways(void)
{
	static const struct {
		int64_t shape[2], strides[2];
	} ways[][2] = {
		{ { { 256, 256 }, { 2048, 4 } },
		  { { 256, 256 }, { 1024, 4 } } },
		{ { { 256, 256 }, { 2048, 4 } },
		  { { 256, 256 }, { 4096, 4 } } },
		{ { { 512, 512 }, { 4, 2048 } },
		  { { 512, 512 }, { 2048, 4 } } },
		{ { { 8, 65536 }, { 524288, 4 } },
		  { { 8, 65536 }, { 262144, 4 } } },
		/* more runs than a list has */
		{ { { 1500, 256 }, { 2048, 4 } },
		  { { 1500, 256 }, { 1024, 4 } } },
	};
	unsigned char *data = memory_of(LONG);
	struct dray_view view;
	unsigned int i, turn;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		for (turn = 0; turn < 2; turn++) {
			EXPECT_OK(dray_view_init(&view, data, DRAY_INT32, 2,
						 ways[i][side].shape,
						 ways[i][side].strides));
			if (side == (int)turn) {
				view_number(&view, i);
				EXPECT_OK(send_view(&view));
				memset(data, GUARD, LONG);
			} else {
				EXPECT_OK(receive_view(&view));
				EXPECT_IS(view_wrong(&view, bytes_of(&view), i,
						     data, LONG),
					  0);
			}
		}
	}
	dray_pool_free(NULL, data);
}

static void several_requests_are_under_way(void)
{
	const int64_t shape[] = { 64, 64 }, strides[] = { 8, 512 };
	struct dray_ucx_request requests[4];
	unsigned char *data = memory_of(4 * 65536);
	struct dray_view views[4];
	int i, done;

	for (i = 0; i < 4; i++) {
		EXPECT_OK(dray_view_init(&views[i], data + i * 65536,
					 DRAY_INT32, 2, shape, strides));
		if (side) {
			EXPECT_OK(dray_ucx_recv(&peer, (ucp_tag_t)i, &views[i],
						&requests[i]));
		} else {
			view_number(&views[i], (uint64_t)i);
			EXPECT_OK(dray_ucx_send(&peer, (ucp_tag_t)(3 - i),
						&views[i], &requests[i]));
		}
	}
	for (i = 3; i >= 0; i--) {
		for (done = i % 2; !done;) /* tests two, waits for two */
			EXPECT_OK(dray_ucx_test(&requests[i], &done));
		EXPECT_OK(dray_ucx_wait(&requests[i], 20000));
	}
	for (i = 0; side && i < 4; i++) {
		EXPECT_IS(view_wrong(&views[i], 16384, (uint64_t)(3 - i), NULL,
				     0),
			  0);
	}
	dray_pool_free(NULL, data);
}

static void messages_of_another_length_are_told(void)
{
	const int64_t lengths[] = { 0, 4, 1500, 65535, 65537, 70000, 1 << 22 };
	unsigned char *data = memory_of(LONG);
	struct dray_view view;
	int i, layout;

	for (i = 0; i < 7; i++) {
		for (layout = 0; layout < 3; layout++) {
			if (!side) {
				EXPECT_OK(dray_view_init(&view, data,
							 DRAY_UINT8, 1,
							 &lengths[i], NULL));
				view_number(&view, 5);
				EXPECT_OK(send_view(&view));
				continue;
			}
			view_layout(&view, data, layout);
			EXPECT_IS(receive_view(&view), -EMSGSIZE);
			if (lengths[i] < 65536)
				EXPECT_IS(view_wrong(&view, (size_t)lengths[i],
						     5, data, LONG),
					  0);
			memset(data, GUARD, LONG);
		}
	}
	dray_pool_free(NULL, data);
}

static void a_receive_ends_with_its_deadline_and_the_endpoint_stays(void)
{
	unsigned char *data = memory_of(LONG);
	struct dray_ucx_request request;
	struct dray_view view;
	int layout, done;

	for (layout = 0; layout < 3; layout++) {
		view_layout(&view, data, layout);
		EXPECT_OK(dray_ucx_recv(&peer, TAG, &view, &request));
		EXPECT_OK(dray_ucx_test(&request, &done));
		EXPECT_IS(done, 0);
		EXPECT(view_is_lent(&view));
		EXPECT_IS(dray_ucx_wait(&request, 20), -ETIME);
		EXPECT(!view_is_lent(&view));
		EXPECT(peer.ep);
		EXPECT_OK(dray_ucx_wait(&request, 0)); /* has ended */
		pair_meet(); /* no message may meet a receive of before */
		if (side)
			EXPECT_OK(send_view(&view));
		else
			EXPECT_OK(receive_view(&view));
		pair_meet();
	}
	dray_pool_free(NULL, data);
}

static void a_block_freed_while_it_is_received_is_not_used_again(void)
{
	unsigned char *data = memory_of(ROOM), *other;
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	struct dray_ucx_request request;
	struct dray_view view;

	view_layout(&view, data, 1);
	if (!side) {
		view_number(&view, 3);
		pair_meet();
		EXPECT_OK(send_view(&view));
		dray_pool_free(NULL, data);
		return;
	}
	EXPECT_OK(dray_ucx_recv(&peer, TAG, &view, &request));
	dray_pool_free(NULL, data);
	EXPECT_OK(dray_pool_stats(pool, &stats));
	EXPECT(stats.parked >= ROOM);
	other = memory_of(ROOM);
	EXPECT(other != data);
	pair_meet();
	EXPECT_OK(dray_ucx_wait(&request, 20000));
	for (int i = 0; i < ROOM; i++)
		if (other[i] != GUARD)
			EXPECT_IS(i, -1);
	dray_pool_free(NULL, other);
	dray_pool_trim(pool);
	EXPECT_OK(dray_pool_stats(pool, &stats));
	EXPECT_IS(stats.parked, 0);
}

static void bad_views_and_buffers_are_refused(void)
{
	const int64_t shape[] = { 4, 4 }, strides[] = { 4, 4 };
	unsigned char *data = memory_of(ROOM);
	struct dray_ucx_memory *memory;
	struct dray_ucx_request request;
	struct dray_location location;
	struct dray_view view;
	dray_dtype dtype;
	int done;

	EXPECT_OK(dray_view_init(&view, data, DRAY_INT32, 2, shape, strides));
	EXPECT_IS(dray_ucx_recv(&peer, TAG, &view, &request), -EINVAL);
	EXPECT(!view_is_lent(
		&(struct dray_view){ .data = data,
				     .dtype = DRAY_INT8,
				     .flags = DRAY_READ | DRAY_WRITE }));
	view.flags = DRAY_READ;
	view.strides[0] = 16;
	EXPECT_IS(dray_ucx_recv(&peer, TAG, &view, &request), -EPERM);
	view.ndim = -1;
	EXPECT_IS(dray_ucx_send(&peer, TAG, &view, &request), -EINVAL);
	/* A pointer in it means nothing elsewhere. */
	EXPECT_OK(dray_dtype_create_user("point", 'p', 4, 4,
					 &(struct dray_dtype_functions){ 0 },
					 NULL, &dtype));
	EXPECT_OK(dray_view_init(&view, data, dtype, 2, shape, NULL));
	EXPECT_IS(dray_ucx_send(&peer, TAG, &view, &request), -EINVAL);
	EXPECT_IS(dray_ucx_recv(&peer, TAG, &view, &request), -EINVAL);
	dray_dtype_unref(dtype);
	EXPECT_OK(dray_view_init(&view, data, DRAY_INT32, 2, shape, NULL));
	EXPECT(!view_is_lent(&view));
	EXPECT_IS(dray_ucx_send(NULL, TAG, &view, &request), -EINVAL);
	EXPECT_IS(dray_ucx_send(&peer, TAG, &view, NULL), -EINVAL);
	EXPECT_IS(dray_ucx_wait(NULL, 0), -EINVAL);
	EXPECT_IS(dray_ucx_test(NULL, &done), -EINVAL);
	EXPECT_OK(dray_locate(data, &location));
	EXPECT_IS(dray_ucx_map(context, location.buffer, &memory), -EINVAL);
	EXPECT_IS(dray_ucx_map(context, NULL, &memory), -EINVAL);
	dray_ucx_unmap(NULL);
	dray_pool_free(NULL, data);
}

static void a_deadline_needs_an_endpoint_with_errors(void)
{
	const int64_t length = LONG;
	unsigned char *data = memory_of(LONG);
	struct dray_ucx_request request;
	struct dray_view view;

	EXPECT_OK(dray_view_init(&view, data, DRAY_UINT8, 1, &length, NULL));
	if (!side && !pair_errors) {
		view_number(&view, 1);
		EXPECT_OK(dray_ucx_send(&peer, TAG, &view, &request));
		EXPECT_IS(dray_ucx_wait(&request, 0), -EBUSY);
		EXPECT(peer.ep);
		EXPECT(view_is_lent(&view));
		pair_meet();
		EXPECT_OK(dray_ucx_wait(&request, -1));
		EXPECT(!view_is_lent(&view));
	} else if (!pair_errors) {
		pair_meet();
		EXPECT_OK(receive_view(&view));
		EXPECT_IS(view_wrong(&view, LONG, 1, NULL, 0), 0);
	}
	dray_pool_free(NULL, data);
}

static void runs_decide_how_a_view_moves(void)
{
	static const struct {
		int64_t rows, columns, pitch;
		bool list; /* with new versions of UCX; else a copy */
	} ways[] = {
		{ 1024, 256, 1024, false }, /* contiguous */
		{ 1024, 256, 2048, true },
		{ 1025, 256, 2048, false },
		{ 1024, 255, 2048, false },
	};
	unsigned char *data = memory_of(LONG);
	struct dray_ucx_request request;
	struct dray_view view;
	bool list;

	for (int i = 0; i < 4; i++) {
		list = ways[i].list && dray_ucx_lists();
		EXPECT_OK(dray_view_init(&view, data, DRAY_INT32, 2,
					 (int64_t[]){ ways[i].rows,
						      ways[i].columns },
					 (int64_t[]){ ways[i].pitch, 4 }));
		EXPECT_OK(dray_ucx_recv(&peer, TAG, &view, &request));
		EXPECT_IS(!!request.pieces, list);
		EXPECT_IS(request.staged, i && !list);
		EXPECT_IS(request.data == (char *)data, !i || list);
		EXPECT_IS(dray_ucx_wait(&request, 0), -ETIME);
	}
	dray_pool_free(NULL, data);
}

static void errors_of_ucx_are_errnos(void)
{
	static const struct {
		ucs_status_t status;
		int error;
	} errors[] = {
		{ UCS_OK, 0 },
		{ UCS_ERR_MESSAGE_TRUNCATED, -EMSGSIZE },
		{ UCS_ERR_NO_MEMORY, -ENOMEM },
		{ UCS_ERR_INVALID_PARAM, -EINVAL },
		{ UCS_ERR_UNSUPPORTED, -EOPNOTSUPP },
		{ UCS_ERR_NOT_IMPLEMENTED, -EOPNOTSUPP },
		{ UCS_ERR_REJECTED, -ECONNREFUSED },
		{ UCS_ERR_CONNECTION_RESET, -ECONNRESET },
		{ UCS_ERR_ENDPOINT_TIMEOUT, -ECONNRESET },
		{ UCS_ERR_UNREACHABLE, -ECONNRESET },
		{ UCS_ERR_IO_ERROR, -EIO },
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		EXPECT_IS(dray_ucx_error(errors[i].status, "UCX"),
			  errors[i].error);
}

/* An endpoint of this worker to itself, with errors of peers. */
static void shared_memory_has_no_errors_of_peers(void)
{
	ucp_ep_params_t end = { .field_mask =
					UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
					UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
				.err_mode = UCP_ERR_HANDLING_MODE_PEER };
	ucp_address_t *own;
	ucp_ep_h ep = NULL;
	size_t size;

	if (pair_errors)
		return;
	EXPECT_OK(ucp_worker_get_address(peer.worker, &own, &size));
	end.address = own;
	EXPECT_IS(ucp_ep_create(peer.worker, &end, &ep), UCS_ERR_UNREACHABLE);
	ucp_worker_release_address(peer.worker, own);
}

const struct fact message_facts[] = {
	FACT(views_of_random_layouts_pass),
	FACT(lists_and_copies_pass_both_ways),
	FACT(runs_decide_how_a_view_moves),
	FACT(several_requests_are_under_way),
	FACT(messages_of_another_length_are_told),
	FACT(a_receive_ends_with_its_deadline_and_the_endpoint_stays),
	FACT(a_block_freed_while_it_is_received_is_not_used_again),
	FACT(bad_views_and_buffers_are_refused),
	FACT(errors_of_ucx_are_errnos),
	FACT(a_deadline_needs_an_endpoint_with_errors),
	FACT(shared_memory_has_no_errors_of_peers),
	{ 0 },
};
