// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "views.h"

static uint64_t random_state;

int64_t random_below(int64_t limit)
{
	random_state =
		random_state * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((random_state >> 33) % (uint64_t)limit);
}

unsigned char *memory_of(size_t bytes)
{
	unsigned char *data = dray_pool_alloc(pool, bytes, 0);

	EXPECT(data);
	memset(data, GUARD, bytes);
	return data;
}

void view_lay(struct dray_view *view, unsigned char *data, dray_dtype dtype,
	      int ndim, const int64_t *shape, uint64_t seed)
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

size_t bytes_of(const struct dray_view *view)
{
	return (size_t)dray_view_size(view) *
	       (size_t)dray_dtype_itemsize(view->dtype);
}

void view_number(const struct dray_view *view, uint64_t seed)
{
	unsigned char *bytes = malloc(bytes_of(view) + 1);
	struct dray_view flat;

	bytes_number(bytes, bytes_of(view), seed);
	view_flatten(&flat, view, bytes);
	EXPECT_OK(dray_view_assign(view, &flat));
	free(bytes);
}

size_t view_wrong(const struct dray_view *view, size_t size, uint64_t seed,
		  const unsigned char *memory, size_t room)
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

int send_view(const struct dray_view *view)
{
	struct dray_ucx_request request;
	int ret = dray_ucx_send(&peer, TAG, view, &request);

	return ret ? ret : dray_ucx_wait(&request, -1);
}

int receive_view(const struct dray_view *view)
{
	struct dray_ucx_request request;
	int ret = dray_ucx_recv(&peer, TAG, view, &request);

	return ret ? ret : dray_ucx_wait(&request, -1);
}

static const int64_t layouts[][2] = { { 1024, 4 }, { 2048, 4 }, { 8, 2048 } };
const int64_t square[] = { 64, 256 };

void view_layout(struct dray_view *view, unsigned char *data, int layout)
{
	EXPECT_OK(dray_view_init(view, data, DRAY_INT32, 2, square,
				 layouts[layout]));
}

bool view_is_lent(const struct dray_view *view)
{
	struct dray_loan *loan = NULL;
	int ret = dray_view_lend(view, DRAY_ACCESS_WRITE, 0, NULL, &loan);

	dray_loan_end(loan);
	if (ret == -ETIME) {
		EXPECT_IS(dray_last_failure(), DRAY_FAILURE_LENT);
		EXPECT(strstr(dray_last_error(), "UCX"));
	}
	if (ret != -ETIME)
		EXPECT_IS(ret, 0);
	return ret == -ETIME;
}

struct dray_ucx_memory *pair_offer(struct offer *offer, uint64_t bytes,
				   const int64_t *shape, unsigned char **data)
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
