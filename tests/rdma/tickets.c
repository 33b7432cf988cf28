// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Puts and gets in memory that the other side offers by a ticket. */
#include <dray/element.h>
#include <stdio.h>

#include "facts.h"

/* Slices of the ticket's 64 x 256 elements: starts, extents and steps. */
static const int64_t slices[][2][3] = {
	{ { 0, 64, 1 }, { 0, 256, 1 } },   { { 0, 32, 2 }, { 0, 256, 1 } },
	{ { 3, 5, 7 }, { 10, 20, 3 } },	   { { 63, 64, -1 }, { 0, 256, 1 } },
	{ { 0, 8, 1 }, { 255, 256, -1 } }, { { 8, 0, 1 }, { 0, 256, 1 } },
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

static void bad_offers_are_refused(void)
{
	struct dray_ucx_memory *memory;
	unsigned char *data = NULL;
	struct dray_buffer *other;
	struct dray_view view;
	struct offer offer;
	dray_dtype dtype;
	size_t size;

	memory = pair_offer(&offer, 65536, square, &data);
	if (!side)
		return;
	EXPECT_OK(dray_buffer_alloc(node, 65536, NULL, &other));
	EXPECT_OK(dray_view_init(&view, dray_buffer_data(other), DRAY_INT32, 2,
				 square, NULL));
	EXPECT_IS(dray_ucx_offer(memory, &view, offer.ticket,
				 sizeof(offer.ticket), &size),
		  -EINVAL); /* of another map */
	EXPECT_OK(dray_dtype_create_user("point", 'p', 4, 4,
					 &(struct dray_dtype_functions){ 0 },
					 NULL, &dtype));
	EXPECT_OK(dray_view_init(&view, data, dtype, 2, square, NULL));
	EXPECT_IS(dray_ucx_offer(memory, &view, offer.ticket,
				 sizeof(offer.ticket), &size),
		  -EINVAL);
	dray_dtype_unref(dtype);
	dray_buffer_unref(other);
	dray_ucx_unmap(memory);
}

/* Changes the ticket's head as a liar can, who knows the sum. */
static void ticket_forge(struct offer *offer, const struct dray_ucx_head *head)
{
	struct dray_ucx_head forged = *head;

	memcpy(offer->ticket, &forged, sizeof(forged));
	forged.sum = dray_ucx_sum(offer->ticket, offer->size);
	memcpy(offer->ticket, &forged, sizeof(forged));
}

static void lengths_that_lie_are_refused(void)
{
	static const uint32_t wrong[] = { 0, 1u << 31, UINT32_MAX - 55,
					  UINT32_MAX };
	struct dray_ucx_head head, lie;
	struct dray_ucx_memory *memory;
	unsigned char *data = NULL;
	struct dray_view view;
	struct offer offer;
	size_t i;

	memory = pair_offer(&offer, 65536, square, &data);
	dray_ucx_unmap(side ? memory : NULL);
	memcpy(&head, offer.ticket, sizeof(head));
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		lie = head;
		lie.key = wrong[i];
		/* The sum of the lengths is right, in 32 bits. */
		lie.text = head.text + head.key - wrong[i];
		ticket_forge(&offer, &lie);
		EXPECT_IS(dray_ucx_ticket(offer.ticket, offer.size, &view),
			  -EBADMSG);
		lie = head;
		lie.text = wrong[i];
		lie.key = head.text + head.key - wrong[i];
		ticket_forge(&offer, &lie);
		EXPECT_IS(dray_ucx_ticket(offer.ticket, offer.size, &view),
			  -EBADMSG);
	}
	lie = head;
	lie.reserved = 1;
	ticket_forge(&offer, &lie);
	EXPECT_IS(dray_ucx_ticket(offer.ticket, offer.size, &view), -EBADMSG);
	lie = head;
	lie.ndim = -1;
	ticket_forge(&offer, &lie);
	EXPECT_IS(dray_ucx_ticket(offer.ticket, offer.size, &view), -EBADMSG);
	ticket_forge(&offer, &head);
	EXPECT_OK(dray_ucx_ticket(offer.ticket, offer.size, &view));
	dray_dtype_unref(view.dtype);
}

/* Side 1 offers the first half of a buffer, and side 0 writes into the second. */
static void a_ticket_reaches_the_whole_buffer(void)
{
	struct dray_ucx_request request;
	struct dray_ucx_memory *memory;
	unsigned char *data = NULL, *own;
	struct dray_ucx_head head;
	struct dray_view view;
	struct offer offer;

	memory = pair_offer(&offer, 2 * 65536, square, &data);
	own = side ? data + 65536 : memory_of(65536);
	EXPECT_OK(dray_view_init(&view, own, DRAY_INT32, 2, square, NULL));
	if (side) {
		pair_meet(); /* it is put */
		EXPECT_IS(view_wrong(&view, 65536, 1, NULL, 0), 0);
		dray_ucx_unmap(memory);
		return;
	}
	view_number(&view, 1);
	memcpy(&head, offer.ticket, sizeof(head));
	head.address += 65536;
	ticket_forge(&offer, &head);
	EXPECT_OK(dray_ucx_put(&peer, &view, offer.ticket, offer.size, NULL,
			       &request));
	EXPECT_OK(dray_ucx_wait(&request, 20000));
	pair_meet();
	dray_pool_free(NULL, own);
}

/* Side 1 fills a buffer with guards and offers it. */
static struct dray_ucx_memory *buffer_offer(struct dray_buffer *buffer,
					    struct offer *offer)
{
	struct dray_ucx_memory *memory = NULL;
	struct dray_view view;

	memset(dray_buffer_data(buffer), GUARD, 65536);
	EXPECT_OK(dray_ucx_map(context, buffer, &memory));
	EXPECT_OK(dray_view_init(&view, dray_buffer_data(buffer), DRAY_INT32, 2,
				 square, NULL));
	EXPECT_OK(dray_ucx_offer(memory, &view, offer->ticket,
				 sizeof(offer->ticket), &offer->size));
	return memory;
}

/* Puts by the ticket of side 1, and returns how that ended. */
static int put_once(struct offer *offer)
{
	unsigned char *own = memory_of(65536);
	struct dray_ucx_request request;
	struct dray_view view;
	int ret;

	EXPECT_OK(dray_view_init(&view, own, DRAY_INT32, 2, square, NULL));
	view_number(&view, 1);
	ret = dray_ucx_put(&peer, &view, offer->ticket, offer->size, NULL,
			   &request);
	ret = ret ? ret : dray_ucx_wait(&request, 20000);
	EXPECT(!view_is_lent(&view));
	dray_pool_free(NULL, own);
	return ret;
}

/* Returns how many bytes of a buffer are not as a put of all would make them. */
static size_t buffer_wrong(struct dray_buffer *buffer, bool put)
{
	struct dray_view view;

	EXPECT_OK(dray_view_init(&view, dray_buffer_data(buffer), DRAY_INT32, 2,
				 square, NULL));
	return view_wrong(&view, put ? 65536 : 0, 1, NULL, 0);
}

/* The ticket has a map's key, and the address of another map. */
static void a_card_alone_refuses_the_ticket_of_another_map(void)
{
	struct dray_ucx_memory *maps[2];
	struct dray_buffer *buffers[2];
	struct dray_ucx_head head;
	struct offer offer;
	int i;

	if (!side) {
		pair_hear(&offer, sizeof(offer));
		EXPECT_IS(put_once(&offer), pair_keys ? -ECONNRESET : 0);
		pair_meet();
		return;
	}
	for (i = 0; i < 2; i++) {
		EXPECT_OK(dray_buffer_alloc(node, 65536, NULL, &buffers[i]));
		maps[i] = buffer_offer(buffers[i], &offer);
	}
	memcpy(&head, offer.ticket, sizeof(head));
	head.address = (uintptr_t)dray_buffer_data(buffers[0]);
	ticket_forge(&offer, &head);
	pair_tell(&offer, sizeof(offer));
	pair_meet(); /* it is put */
	EXPECT_IS(buffer_wrong(buffers[0], !pair_keys), 0);
	for (i = 0; i < 2; i++) {
		dray_ucx_unmap(maps[i]);
		dray_buffer_unref(buffers[i]);
	}
}

/* UCX may keep the registration, and so the key. */
static void an_old_ticket_may_reach_its_buffer(void)
{
	struct dray_buffer *buffer;
	struct offer offer;
	int ret;

	if (!side) {
		pair_hear(&offer, sizeof(offer));
		ret = put_once(&offer);
		EXPECT(!ret || (pair_keys && ret == -ECONNRESET));
		pair_tell(&ret, sizeof(ret));
		return;
	}
	EXPECT_OK(dray_buffer_alloc(node, 65536, NULL, &buffer));
	dray_ucx_unmap(buffer_offer(buffer, &offer));
	pair_tell(&offer, sizeof(offer));
	pair_hear(&ret, sizeof(ret));
	EXPECT_IS(buffer_wrong(buffer, !ret), 0);
	dray_buffer_unref(buffer);
}

/* Over TCP the put would crash side 1, or change the next buffer. */
static void an_old_ticket_reaches_no_other_buffer(void)
{
	struct dray_buffer *buffer, *next;
	struct offer offer;
	int ret;

	if (!side) {
		pair_hear(&offer, sizeof(offer));
		ret = put_once(&offer);
		printf("# the put returned %d\n", ret);
		pair_meet();
		return;
	}
	EXPECT_OK(dray_buffer_alloc(node, 65536, NULL, &buffer));
	dray_ucx_unmap(buffer_offer(buffer, &offer));
	dray_buffer_unref(buffer);
	EXPECT_OK(dray_buffer_alloc(node, 65536, NULL, &next));
	memset(dray_buffer_data(next), GUARD, 65536);
	pair_tell(&offer, sizeof(offer));
	pair_meet(); /* it is put */
	EXPECT_IS(buffer_wrong(next, false), 0);
	dray_buffer_unref(next);
}

static const char *no_card(void)
{
	return pair_keys ? NULL : "UCX checks no key here";
}

const struct fact ticket_facts[] = {
	FACT(slices_of_an_offered_view_are_put_and_got),
	FACT(a_buffer_freed_while_it_is_mapped_is_not_used_again),
	FACT(bad_tickets_are_refused),
	FACT(bad_offers_are_refused),
	FACT(lengths_that_lie_are_refused),
	FACT(a_ticket_reaches_the_whole_buffer),
	FACT(a_card_alone_refuses_the_ticket_of_another_map),
	FACT(an_old_ticket_may_reach_its_buffer),
	FACT_UNLESS(an_old_ticket_reaches_no_other_buffer, no_card),
	{ 0 },
};
