// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dray/ucx.h between two processes: messages, puts and gets, their ends, refusals. */
#include <signal.h>
#include <stdio.h>

#include "pair.h"

enum {
	ROOM = 1 << 20,
	PAIRS = 200,
	GUARD = 0xa5,
	TAG = 7,
	LONG = 1 << 23
};

/* A sequence of numbers that both sides know. */
static uint64_t random_state;

static int64_t random_below(int64_t limit)
{
	random_state =
		random_state * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((random_state >> 33) % (uint64_t)limit);
}

static unsigned char *memory_of(size_t bytes)
{
	unsigned char *data = dray_pool_alloc(pool, bytes, 0);

	EXPECT(data);
	memset(data, GUARD, bytes);
	return data;
}

/* Lays elements of @shape into @data: any order of the axes, gaps, directions. */
static void view_lay(struct dray_view *view, unsigned char *data,
		     dray_dtype dtype, int ndim, const int64_t *shape,
		     uint64_t seed)
{
	int64_t strides[4], next = dray_dtype_itemsize(dtype), low, high;
	uint64_t kept = random_state;
	int i, axis, turn;

	random_state = seed;
	turn = (int)random_below(ndim);
	for (i = ndim - 1; i >= 0; i--) {
		axis = (i + turn) % ndim;
		strides[axis] = next * (1 + random_below(3) / 2);
		next = strides[axis] * (shape[axis] ? shape[axis] : 1);
		if (!random_below(4))
			strides[axis] = -strides[axis];
	}
	EXPECT_OK(dray_view_init(view, data, dtype, ndim, shape, strides));
	dray_view_span(view, &low, &high);
	EXPECT(high - low <= ROOM);
	view->data = data - low;
	random_state = kept;
}

/* Fills bytes that both sides know. */
static void bytes_number(unsigned char *bytes, size_t size, uint64_t seed)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(((i + seed) * 0x9e3779b97f4a7c15u) >>
					   56);
}

/* Describes elements in C order in @flat as @view. */
static void view_flatten(struct dray_view *flat, const struct dray_view *view,
			 void *data)
{
	EXPECT_OK(dray_view_init(flat, data, view->dtype, view->ndim,
				 view->shape, NULL));
}

static size_t bytes_of(const struct dray_view *view)
{
	return (size_t)dray_view_size(view) *
	       (size_t)dray_dtype_itemsize(view->dtype);
}

/* Writes the numbers of @seed to the elements of @view. */
static void view_number(const struct dray_view *view, uint64_t seed)
{
	unsigned char *bytes = malloc(bytes_of(view) + 1);
	struct dray_view flat;

	bytes_number(bytes, bytes_of(view), seed);
	view_flatten(&flat, view, bytes);
	EXPECT_OK(dray_view_assign(view, &flat));
	free(bytes);
}

/*
 * Returns how many of the first @size bytes of the elements are not those of @seed, and
 * how many other bytes of @memory are not guards.
 */
static size_t view_wrong(const struct dray_view *view, size_t size,
			 uint64_t seed, const unsigned char *memory,
			 size_t room)
{
	unsigned char *bytes = malloc(bytes_of(view) + 1);
	unsigned char *right = malloc(bytes_of(view) + 1);
	struct dray_view flat;
	size_t i, wrong = 0;

	memset(right, GUARD, bytes_of(view));
	bytes_number(right, size, seed);
	view_flatten(&flat, view, bytes);
	EXPECT_OK(dray_view_assign(&flat, view));
	for (i = 0; i < bytes_of(view); i++)
		wrong += bytes[i] != right[i];
	memset(bytes, GUARD, bytes_of(view));
	EXPECT_OK(dray_view_assign(view, &flat));
	for (i = 0; i < room; i++)
		wrong += memory[i] != GUARD;
	free(bytes);
	free(right);
	return wrong;
}

static int send_view(const struct dray_view *view)
{
	struct dray_ucx_request request;
	int ret = dray_ucx_send(&peer, TAG, view, &request);

	return ret ? ret : dray_ucx_wait(&request, -1);
}

static int receive_view(const struct dray_view *view)
{
	struct dray_ucx_request request;
	int ret = dray_ucx_recv(&peer, TAG, view, &request);

	return ret ? ret : dray_ucx_wait(&request, -1);
}

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
		{ { { 16, 65536 }, { 524288, 4 } },
		  { { 16, 65536 }, { 262144, 4 } } },
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

/* Layouts: contiguous, a list, a copy; each of 64 KiB. */
static const int64_t layouts[][2] = { { 1024, 4 }, { 2048, 4 }, { 8, 2048 } };
static const int64_t square[] = { 64, 256 };

static void view_layout(struct dray_view *view, unsigned char *data, int layout)
{
	EXPECT_OK(dray_view_init(view, data, DRAY_INT32, 2, square,
				 layouts[layout]));
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

/* Returns whether the view's memory is lent. */
static int view_is_lent(const struct dray_view *view)
{
	struct dray_loan *loan = NULL;
	int ret = dray_view_lend(view, DRAY_ACCESS_WRITE, 0, NULL, &loan);

	dray_loan_end(loan);
	if (ret == -ETIME)
		EXPECT_IS(dray_last_failure(), DRAY_FAILURE_LENT);
	else
		EXPECT_IS(ret, 0);
	return ret == -ETIME;
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

/* The other side's ticket. */
struct offer {
	size_t size;
	unsigned char ticket[4096];
};

/* Side 1 maps a buffer of @bytes and offers int32 of @shape in it; side 0 hears it. */
static struct dray_ucx_memory *pair_offer(struct offer *offer, uint64_t bytes,
					  const int64_t *shape,
					  unsigned char **data)
{
	struct dray_ucx_memory *memory = NULL;
	struct dray_buffer *buffer;
	struct dray_view view;

	if (side) {
		EXPECT_OK(dray_buffer_alloc(node, bytes, NULL, &buffer));
		*data = dray_buffer_data(buffer);
		memset(*data, GUARD, bytes);
		EXPECT_OK(dray_ucx_map(context, buffer, &memory));
		dray_buffer_unref(buffer); /* the map keeps it */
		EXPECT_OK(dray_view_init(&view, *data, DRAY_INT32, 2, shape,
					 NULL));
		EXPECT_OK(dray_ucx_offer(memory, &view, offer->ticket,
					 sizeof(offer->ticket), &offer->size));
		pair_tell(offer, sizeof(*offer));
	} else {
		pair_hear(offer, sizeof(*offer));
	}
	return memory;
}

/* Slices of the ticket's 64 x 256 elements: starts, extents and steps. */
static const int64_t slices[][2][3] = {
	{ { 0, 64, 1 }, { 0, 256, 1 } },    { { 0, 32, 2 }, { 0, 256, 1 } },
	{ { 3, 5, 7 }, { 10, 20, 3 } },	    { { 63, 64, -1 }, { 0, 256, 1 } },
	{ { 0, 64, 1 }, { 255, 256, -1 } }, { { 8, 0, 1 }, { 0, 256, 1 } },
	{ { 8, 1, 1 }, { 9, 1, 1 } },
};

static void view_slice(const struct dray_view *whole, unsigned int slice,
		       struct dray_view *view)
{
	int64_t shape[2], strides[2], at = 0;

	for (int i = 0; i < 2; i++) {
		at += slices[slice][i][0] * whole->strides[i];
		shape[i] = slices[slice][i][1];
		strides[i] = slices[slice][i][2] * whole->strides[i];
	}
	EXPECT_OK(dray_view_init(view, (char *)whole->data + at, whole->dtype,
				 2, shape, strides));
}

static void slices_of_an_offered_view_are_put_and_got(void)
{
	const unsigned int count = sizeof(slices) / sizeof(slices[0]);
	struct dray_view whole, there, here;
	struct dray_ucx_request request;
	struct dray_ucx_memory *memory;
	unsigned char *data = NULL, *own;
	struct offer offer;
	unsigned int i;

	memory = pair_offer(&offer, 65536, square, &data);
	if (side) {
		EXPECT_OK(dray_view_init(&whole, data, DRAY_INT32, 2, square,
					 NULL));
		for (i = 0; i < count; i++) {
			view_slice(&whole, i, &there);
			pair_meet(); /* it is put */
			EXPECT_IS(view_wrong(&there, bytes_of(&there), i, data,
					     65536),
				  0);
			view_number(&there, i + 100);
			pair_meet(); /* it may be got */
			pair_meet();
			memset(data, GUARD, 65536);
			pair_meet();
		}
		dray_ucx_unmap(memory);
		return;
	}
	own = memory_of(ROOM);
	EXPECT_OK(dray_ucx_ticket(offer.ticket, offer.size, &whole));
	for (i = 0; i < count; i++) {
		view_slice(&whole, i, &there);
		view_lay(&here, own, DRAY_INT32, 2, there.shape, i);
		view_number(&here, i);
		EXPECT_OK(dray_ucx_put(&peer, &here, offer.ticket, offer.size,
				       i ? &there : NULL, &request));
		EXPECT_OK(dray_ucx_wait(&request, 20000));
		EXPECT(!view_is_lent(&here));
		pair_meet();
		pair_meet();
		memset(own, GUARD, ROOM);
		EXPECT_OK(dray_ucx_get(&peer, &here, offer.ticket, offer.size,
				       i ? &there : NULL, &request));
		EXPECT_OK(dray_ucx_wait(&request, 20000));
		EXPECT_IS(view_wrong(&here, bytes_of(&here), i + 100, own,
				     ROOM),
			  0);
		pair_meet();
		pair_meet();
	}
	dray_dtype_unref(whole.dtype);
	dray_pool_free(NULL, own);
}

static void a_buffer_freed_while_it_is_mapped_is_not_used_again(void)
{
	const int64_t shape[] = { 256, 1024 };
	struct dray_ucx_request request;
	struct dray_ucx_memory *memory;
	unsigned char *data = NULL, *own;
	struct dray_buffer *next;
	struct dray_view view;
	struct offer offer;

	memory = pair_offer(&offer, ROOM, shape, &data); /* frees it */
	if (side) {
		EXPECT_OK(dray_buffer_alloc(node, ROOM, NULL, &next));
		memset(dray_buffer_data(next), GUARD, ROOM);
		pair_meet();
		pair_meet(); /* it is put */
		EXPECT_OK(dray_view_init(&view, dray_buffer_data(next),
					 DRAY_INT32, 2, shape, NULL));
		EXPECT_IS(view_wrong(&view, 0, 0, NULL, 0), 0);
		EXPECT_OK(dray_view_init(&view, data, DRAY_INT32, 2, shape,
					 NULL));
		EXPECT_IS(view_wrong(&view, ROOM, 1, NULL, 0), 0);
		dray_ucx_unmap(memory);
		dray_buffer_unref(next);
		return;
	}
	own = memory_of(ROOM);
	EXPECT_OK(dray_view_init(&view, own, DRAY_INT32, 2, shape, NULL));
	view_number(&view, 1);
	pair_meet();
	EXPECT_OK(dray_ucx_put(&peer, &view, offer.ticket, offer.size, NULL,
			       &request));
	EXPECT_OK(dray_ucx_wait(&request, 20000));
	pair_meet();
	dray_pool_free(NULL, own);
}

static void bad_tickets_are_refused(void)
{
	struct dray_view whole, there, here;
	struct dray_ucx_request request;
	struct dray_ucx_memory *memory;
	unsigned char *data = NULL, *own;
	struct offer offer;
	int64_t stride;
	size_t i;

	memory = pair_offer(&offer, 65536, square, &data);
	if (side) {
		EXPECT_OK(dray_view_init(&whole, data, DRAY_INT32, 2, square,
					 NULL));
		EXPECT_IS(dray_ucx_offer(memory, &whole, offer.ticket,
					 offer.size - 1, &i),
			  -ENOSPC);
		EXPECT_IS(i, offer.size);
		whole.data = data + 4;
		EXPECT_IS(dray_ucx_offer(memory, &whole, offer.ticket,
					 sizeof(offer.ticket), &i),
			  -EINVAL);
		whole.ndim = -1;
		EXPECT_IS(dray_ucx_offer(memory, &whole, offer.ticket,
					 sizeof(offer.ticket), &i),
			  -EINVAL);
		pair_meet(); /* nothing is put */
		EXPECT_OK(dray_view_init(&whole, data, DRAY_INT32, 2, square,
					 NULL));
		EXPECT_IS(view_wrong(&whole, 0, 0, NULL, 0), 0);
		whole.flags = DRAY_READ;
		EXPECT_OK(dray_ucx_offer(memory, &whole, offer.ticket,
					 sizeof(offer.ticket), &offer.size));
		pair_tell(&offer, sizeof(offer));
		pair_meet();
		dray_ucx_unmap(memory);
		return;
	}
	own = memory_of(ROOM);
	EXPECT_OK(dray_view_init(&here, own, DRAY_INT32, 2, square, NULL));
	EXPECT_OK(dray_ucx_ticket(offer.ticket, offer.size, &whole));
	for (i = 0; i < offer.size; i++) { /* cut, and changed */
		EXPECT_IS(dray_ucx_put(&peer, &here, offer.ticket, i, NULL,
				       &request),
			  -EBADMSG);
		offer.ticket[i] ^= 1;
		EXPECT_IS(dray_ucx_put(&peer, &here, offer.ticket, offer.size,
				       NULL, &request),
			  -EBADMSG);
		offer.ticket[i] ^= 1;
	}
	dray_view_copy(&there, &whole);
	there.data = (char *)whole.data + 4; /* leaves it */
	EXPECT_IS(dray_ucx_put(&peer, &here, offer.ticket, offer.size, &there,
			       &request),
		  -EINVAL);
	dray_view_copy(&there, &whole);
	stride = there.strides[0];
	there.strides[0] = 4; /* shares bytes */
	EXPECT_IS(dray_ucx_put(&peer, &here, offer.ticket, offer.size, &there,
			       &request),
		  -EINVAL);
	there.strides[0] = stride;
	there.shape[0]--;
	EXPECT_IS(dray_ucx_put(&peer, &here, offer.ticket, offer.size, &there,
			       &request),
		  -EINVAL);
	here.dtype = DRAY_UINT32;
	EXPECT_IS(dray_ucx_get(&peer, &here, offer.ticket, offer.size, NULL,
			       &request),
		  -EINVAL);
	EXPECT(!view_is_lent(&here));
	here.dtype = DRAY_INT32;
	pair_meet();
	pair_hear(&offer, sizeof(offer));
	EXPECT_IS(dray_ucx_put(&peer, &here, offer.ticket, offer.size, NULL,
			       &request),
		  -EPERM);
	EXPECT_OK(dray_ucx_get(&peer, &here, offer.ticket, offer.size, NULL,
			       &request));
	EXPECT_OK(dray_ucx_wait(&request, 20000));
	pair_meet();
	dray_dtype_unref(whole.dtype);
	dray_pool_free(NULL, own);
}

static void bad_views_and_buffers_are_refused(void)
{
	const int64_t shape[] = { 4, 4 }, strides[] = { 4, 4 };
	unsigned char *data = memory_of(ROOM);
	struct dray_ucx_memory *memory;
	struct dray_ucx_request request;
	struct dray_location location;
	struct dray_view view;
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

/* Checks that the peer is lost, within @limit us of @start. */
static void peer_is_lost(struct dray_view *view, int64_t start, int64_t limit)
{
	struct dray_ucx_request request;
	int ret;

	EXPECT(now_us() - start <= limit);
	EXPECT(!view_is_lent(view));
	ret = dray_ucx_send(&peer, TAG, view, &request);
	EXPECT_IS(ret ? ret : dray_ucx_wait(&request, 20000), -ECONNRESET);
	ret = dray_ucx_recv(&peer, TAG, view, &request);
	EXPECT_IS(ret ? ret : dray_ucx_wait(&request, 20000), -ECONNRESET);
}

static void a_receive_from_a_dead_peer_is_reset(void)
{
	unsigned char *data = memory_of(ROOM);
	struct dray_ucx_request request;
	struct dray_view view;
	int64_t start;

	view_layout(&view, data, 2);
	EXPECT_OK(side ? send_view(&view) : receive_view(&view));
	if (!side)
		EXPECT_OK(dray_ucx_recv(&peer, TAG, &view, &request));
	pair_meet();
	if (side)
		pair_raise(SIGKILL);
	pair_lose();
	start = now_us();
	EXPECT_IS(dray_ucx_wait(&request, 20000), -ECONNRESET);
	peer_is_lost(&view, start, 20000000);
	dray_pool_free(NULL, data);
}

/* A send of @layout, a put (1) or a get (2), to a peer that is killed or stopped by @signal. */
static void send_to_nobody(int signal, int layout, int puts)
{
	const int64_t shape[] = { 2048, 1024 }; /* 8 MiB */
	unsigned char *data = memory_of(2 * LONG), *there = NULL;
	struct dray_ucx_request request, second;
	struct dray_ucx_memory *memory = NULL;
	const int64_t strides[][2] = { { 4096, 4 }, { 8192, 4 }, { 4, 8192 } };
	struct dray_view view, word;
	struct offer offer;
	int64_t start;
	int ret;

	if (puts)
		memory = pair_offer(&offer, LONG, shape, &there);
	(void)memory; /* the dead keep it */
	EXPECT_OK(dray_view_init(&view, data, DRAY_INT32, 2, shape,
				 strides[layout]));
	EXPECT_OK(dray_view_init(&word, data + 2 * LONG - 8, DRAY_INT64, 0,
				 NULL, NULL));
	EXPECT_OK(side ? send_view(&word) : receive_view(&word));
	pair_meet();
	if (side)
		pair_raise(signal);
	pair_lose();
	start = now_us();
	ret = puts == 2 ? dray_ucx_get(&peer, &view, offer.ticket, offer.size,
				       NULL, &request)
	      : puts	? dray_ucx_put(&peer, &view, offer.ticket, offer.size,
				       NULL, &request)
			: dray_ucx_send(&peer, TAG, &view, &request);
	if (ret) { /* told at once */
		EXPECT_IS(ret, -ECONNRESET);
		EXPECT_IS(signal, SIGKILL);
	} else {
		second.access = 0;
		ret = dray_ucx_recv(&peer, TAG, &word, &second);
		EXPECT(!ret || ret == -ECONNRESET);
		start = now_us();
		ret = dray_ucx_wait(&request, 500);
		if (signal == SIGSTOP || ret != -ECONNRESET)
			EXPECT_IS(ret, -ETIMEDOUT);
		if (signal == SIGSTOP)
			EXPECT(!peer.ep);
		EXPECT(now_us() - start < 5000000); /* UCX needs 20 s */
		/* A request beside it ends, too. */
		if (second.access)
			EXPECT_IS(dray_ucx_wait(&second, 20000), -ECONNRESET);
	}
	EXPECT(!view_is_lent(&word));
	peer_is_lost(&view, start, 20000000);
	dray_pool_free(NULL, data);
}

static void a_send_to_a_dead_peer_is_reset(void)
{
	send_to_nobody(SIGKILL, 0, 0);
}

static void a_put_to_a_dead_peer_is_reset(void)
{
	send_to_nobody(SIGKILL, 2, 1);
}

static void a_send_that_nobody_receives_ends_with_its_deadline(void)
{
	send_to_nobody(SIGSTOP, 0, 0);
}

static void a_list_that_nobody_receives_ends_with_its_deadline(void)
{
	send_to_nobody(SIGSTOP, 1, 0);
}

static void a_copy_that_nobody_receives_ends_with_its_deadline(void)
{
	send_to_nobody(SIGSTOP, 2, 0);
}

static void a_put_that_stops_ends_with_its_deadline(void)
{
	send_to_nobody(SIGSTOP, 0, 1);
}

static void a_get_that_stops_ends_with_its_deadline(void)
{
	send_to_nobody(SIGSTOP, 2, 2);
}

static void a_message_that_stops_half_way_ends_with_its_deadline(void)
{
	const int64_t length = LONG;
	unsigned char *data = memory_of(LONG);
	struct dray_ucx_request request;
	struct dray_view view;
	int64_t start;
	int ret;

	EXPECT_OK(dray_view_init(&view, data, DRAY_UINT8, 1, &length, NULL));
	if (side) {
		EXPECT_OK(dray_ucx_send(&peer, TAG, &view, &request));
		pair_meet();
		pair_raise(SIGSTOP);
	}
	pair_meet();
	pair_lose();
	EXPECT_OK(dray_ucx_recv(&peer, TAG, &view, &request));
	start = now_us();
	ret = dray_ucx_wait(&request, 500);
	/* With shared memory the receiver reads alone. */
	if (ret)
		EXPECT(ret == -ETIMEDOUT || ret == -ETIME);
	EXPECT(now_us() - start < 5000000);
	EXPECT(!view_is_lent(&view));
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

int main(int argc, char **argv)
{
	static const struct fact facts[] = {
		FACT(views_of_random_layouts_pass),
		FACT(lists_and_copies_pass_both_ways),
		FACT(several_requests_are_under_way),
		FACT(messages_of_another_length_are_told),
		FACT(a_receive_ends_with_its_deadline_and_the_endpoint_stays),
		FACT(a_block_freed_while_it_is_received_is_not_used_again),
		FACT(slices_of_an_offered_view_are_put_and_got),
		FACT(a_buffer_freed_while_it_is_mapped_is_not_used_again),
		FACT(bad_tickets_are_refused),
		FACT(bad_views_and_buffers_are_refused),
		FACT(a_deadline_needs_an_endpoint_with_errors),
		FACT_OF_DEATH(a_receive_from_a_dead_peer_is_reset),
		FACT_OF_DEATH(a_send_to_a_dead_peer_is_reset),
		FACT_OF_DEATH(a_put_to_a_dead_peer_is_reset),
		FACT_OF_DEATH(
			a_send_that_nobody_receives_ends_with_its_deadline),
		FACT_OF_DEATH(
			a_list_that_nobody_receives_ends_with_its_deadline),
		FACT_OF_DEATH(
			a_copy_that_nobody_receives_ends_with_its_deadline),
		FACT_OF_DEATH(a_put_that_stops_ends_with_its_deadline),
		FACT_OF_DEATH(a_get_that_stops_ends_with_its_deadline),
		FACT_OF_DEATH(
			a_message_that_stops_half_way_ends_with_its_deadline),
	};

	pair_errors = argc < 2 || strcmp(argv[1], "shm");
	return facts_run(facts, sizeof(facts) / sizeof(facts[0]));
}
