// SPDX-License-Identifier: Apache-2.0 OR MIT
/* What a process does whose peer is dead, or does nothing. */
#include <signal.h>

#include "facts.h"

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
	const int64_t shape[] = { 512, 1024 }; /* 2 MiB */
	unsigned char *data = memory_of(LONG), *there = NULL;
	struct dray_ucx_request request, second;
	struct dray_ucx_memory *memory = NULL;
	const int64_t strides[][2] = { { 4096, 4 }, { 8192, 4 }, { 4, 2048 } };
	struct dray_view view, word;
	struct offer offer;
	int64_t start;
	int ret;

	if (puts)
		memory = pair_offer(&offer, LONG / 2, shape, &there);
	(void)memory; /* the dead keep it */
	EXPECT_OK(dray_view_init(&view, data, DRAY_INT32, 2, shape,
				 strides[layout]));
	EXPECT_OK(dray_view_init(&word, data + LONG - 8, DRAY_INT64, 0, NULL,
				 NULL));
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

static void a_card_serves_puts_and_gets_of_a_stopped_process(void)
{
	unsigned char *data = memory_of(ROOM), *there = NULL;
	struct dray_ucx_memory *memory;
	struct dray_ucx_request request;
	struct dray_view view;
	struct offer offer;

	memory = pair_offer(&offer, 65536, square, &there);
	(void)memory; /* the dead keep it */
	if (side)
		pair_raise(SIGSTOP);
	pair_lose();
	view_layout(&view, data, 1);
	view_number(&view, 1);
	EXPECT_OK(dray_ucx_put(&peer, &view, offer.ticket, offer.size, NULL,
			       &request));
	EXPECT_OK(dray_ucx_wait(&request, 20000));
	memset(data, GUARD, ROOM);
	EXPECT_OK(dray_ucx_get(&peer, &view, offer.ticket, offer.size, NULL,
			       &request));
	EXPECT_OK(dray_ucx_wait(&request, 20000));
	EXPECT_IS(view_wrong(&view, bytes_of(&view), 1, data, ROOM), 0);
	dray_pool_free(NULL, data);
}

static const char *no_card(void)
{
	return pair_keys ? NULL : "UCX emulates puts here";
}

static const char *no_emulation(void)
{
	return pair_keys ? "the card ends a put itself" : NULL;
}

const struct fact death_facts[] = {
	FACT_OF_DEATH(a_receive_from_a_dead_peer_is_reset, NULL),
	FACT_OF_DEATH(a_send_to_a_dead_peer_is_reset, NULL),
	FACT_OF_DEATH(a_put_to_a_dead_peer_is_reset, NULL),
	FACT_OF_DEATH(a_send_that_nobody_receives_ends_with_its_deadline, NULL),
	FACT_OF_DEATH(a_list_that_nobody_receives_ends_with_its_deadline, NULL),
	FACT_OF_DEATH(a_copy_that_nobody_receives_ends_with_its_deadline, NULL),
	FACT_OF_DEATH(a_put_that_stops_ends_with_its_deadline, no_emulation),
	FACT_OF_DEATH(a_get_that_stops_ends_with_its_deadline, no_emulation),
	FACT_OF_DEATH(a_card_serves_puts_and_gets_of_a_stopped_process,
		      no_card),
	FACT_OF_DEATH(a_message_that_stops_half_way_ends_with_its_deadline,
		      NULL),
	{ 0 },
};
