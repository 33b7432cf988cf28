// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dray/mpi.h between real ranks: views of random layouts as messages, their ends, and
 * what is refused.  Ranks 0 and 1 exchange messages; all take part in collective calls.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "facts.h"

enum {
	ROOM = 1 << 20,
	PAIRS = 400,
	GUARD = 0xa5
};

static struct dray_pool *pool;

/* A sequence of numbers that both sides know. */
static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
	random_state =
		random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % limit;
}

static unsigned char *memory_of(size_t bytes)
{
	unsigned char *data = dray_pool_alloc(pool, bytes, 0);

	EXPECT(data);
	memset(data, GUARD, bytes);
	return data;
}

/* Lays a view of @shape anywhere into @room bytes, in a random order of its axes. */
static void view_lay(struct dray_view *view, unsigned char *data,
		     dray_dtype dtype, int ndim, const int64_t *shape,
		     uint64_t seed)
{
	int64_t strides[DRAY_MAX_NDIM] = { 0 }, low, high;
	int64_t next = dray_dtype_itemsize(dtype);
	int order[DRAY_MAX_NDIM], i, k;
	uint64_t kept = random_state;

	random_state = seed;
	for (i = 0; i < ndim; i++)
		order[i] = i;
	for (i = ndim - 1; i > 0 && seed % 3; i--) {
		int j = (int)random_below((uint64_t)i + 1), swapped = order[i];

		order[i] = order[j];
		order[j] = swapped;
	}
	for (i = ndim - 1; i >= 0; i--) {
		k = order[i];
		strides[k] =
			next +
			(random_below(3) ? 0 : (int64_t)random_below(3) * next);
		next = strides[k] * (shape[k] ? shape[k] : 1);
		if (!random_below(4))
			strides[k] = -strides[k];
	}
	EXPECT_OK(dray_view_init(view, data, dtype, ndim, shape, strides));
	dray_view_span(view, &low, &high);
	EXPECT(high - low + 64 <= ROOM);
	view->data = data - low + (int64_t)random_below(64);
	random_state = kept;
}

/* Calls @each with the address and the number of each element in C order. */
static void view_each(const struct dray_view *view,
		      void (*each)(unsigned char *at, int64_t number,
				   size_t size))
{
	int64_t index[DRAY_MAX_NDIM] = { 0 }, total = dray_view_size(view), n;
	unsigned char *at = view->data;
	int i;

	for (n = 0; n < total; n++) {
		each(at, n, dray_dtype_itemsize(view->dtype));
		for (i = view->ndim - 1; i >= 0; i--) {
			at += view->strides[i];
			if (++index[i] < view->shape[i])
				break;
			at -= view->strides[i] * view->shape[i];
			index[i] = 0;
		}
	}
}

static uint64_t seed_of_values;

static unsigned char value_of(int64_t number, size_t byte)
{
	uint64_t x = (uint64_t)number * 31 + byte + seed_of_values;

	return (unsigned char)((x * 0x9e3779b97f4a7c15u) >> 56);
}

static void element_write(unsigned char *at, int64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = value_of(number, i);
}

static int64_t wrong, checked_up_to;

/* Checks an element, and puts the guard in its place. */
static void element_check(unsigned char *at, int64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		wrong += at[i] !=
			 (number < checked_up_to ? value_of(number, i) : GUARD);
		at[i] = GUARD;
	}
}

/* Counts elements that differ from what was sent, and bytes written beside them. */
static int64_t view_wrong(const struct dray_view *view,
			  const unsigned char *data, size_t bytes,
			  int64_t elements)
{
	wrong = 0;
	checked_up_to = elements;
	view_each(view, element_check);
	for (size_t i = 0; i < bytes; i++)
		wrong += data[i] != GUARD;
	return wrong;
}

static dray_dtype a_structure;

static dray_dtype dtype_pick(uint64_t number)
{
	const dray_dtype dtypes[] = {
		DRAY_BOOL,
		DRAY_INT8,
		DRAY_INT16,
		DRAY_INT32,
		DRAY_INT64,
		DRAY_UINT8,
		DRAY_UINT16,
		DRAY_UINT32,
		DRAY_UINT64,
		DRAY_FLOAT16,
		DRAY_FLOAT32,
		DRAY_FLOAT64,
		DRAY_COMPLEX64,
		DRAY_COMPLEX128,
		DRAY_BYTES(5),
		DRAY_VOID(12),
		DRAY_UNICODE(3),
		DRAY_DATETIME64(DRAY_UNIT_SECOND, 25),
		DRAY_TIMEDELTA64(DRAY_UNIT_DAY, 1),
		DRAY_DTYPE('f', '>', 4),
		a_structure,
	};

	return dtypes[number % (sizeof(dtypes) / sizeof(dtypes[0]))];
}

static void views_of_random_layouts_arrive(void)
{
	const unsigned int flags[] = { 0, DRAY_MPI_TYPE, DRAY_MPI_GATHER };
	unsigned char *data;
	struct dray_view view;
	int64_t shape[6];
	int i, k, ndim;

	if (rank > 1)
		return;
	data = memory_of(ROOM);
	for (i = 0; i < PAIRS; i++) {
		dray_dtype dtype;
		uint64_t seeds[2];

		random_state = (uint64_t)i + 1;
		ndim = (int)random_below(6);
		dtype = dtype_pick((uint64_t)i);
		for (k = 0; k < ndim; k++)
			shape[k] = (int64_t)random_below(ndim > 3 ? 4 : 9) +
				   !!random_below(20);
		seeds[0] = random_below(1 << 30);
		seeds[1] = random_below(1 << 30);
		seed_of_values = random_below(1 << 30);
		view_lay(&view, data, dtype, ndim, shape, seeds[rank]);
		if (!rank) {
			view_each(&view, element_write);
			EXPECT_OK(dray_mpi_send(&view, 1, i, MPI_COMM_WORLD,
						flags[seeds[0] % 3]));
			continue;
		}
		EXPECT_OK(dray_mpi_recv(
			&view, 0, i, MPI_COMM_WORLD, seeds[1] & 4 ? 20000 : -1,
			flags[seeds[1] % 3], MPI_STATUS_IGNORE));
		EXPECT_IS(view_wrong(&view, data, ROOM, INT64_MAX), 0);
	}
	dray_pool_free(pool, data);
}

/* Fills @view with a transpose of 8 by 6 int32 within @data. */
static void transpose_of(struct dray_view *view, void *data)
{
	EXPECT_OK(dray_view_init(view, data, DRAY_INT32, 2, (int64_t[]){ 8, 6 },
				 (int64_t[]){ 4, 32 }));
}

static void a_peer_without_dray_reads_and_writes_plain_numbers(void)
{
	int32_t flat[48], i;
	struct dray_view view;
	unsigned char *data = memory_of(4096);

	transpose_of(&view, data);
	seed_of_values = 5;
	if (!rank) {
		view_each(&view, element_write);
		EXPECT_OK(dray_mpi_send(&view, 1, 3, MPI_COMM_WORLD, 0));
		MPI_Recv(flat, 48, MPI_INT32_T, 1, 4, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		for (i = 0; i < 48; i++)
			EXPECT_IS(flat[i], i);
	} else if (rank == 1) {
		MPI_Recv(flat, 48, MPI_INT32_T, 0, 3, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		wrong = 0;
		checked_up_to = INT64_MAX;
		for (i = 0; i < 48; i++)
			element_check((unsigned char *)&flat[i], i, 4);
		EXPECT_IS(wrong, 0);
		for (i = 0; i < 48; i++)
			((int32_t *)data)[i % 6 * 8 + i / 6] = i;
		EXPECT_OK(dray_mpi_send(&view, 0, 4, MPI_COMM_WORLD,
					DRAY_MPI_TYPE));
	}
	dray_pool_free(pool, data);
}

static bool is_lent(const struct dray_view *view)
{
	struct dray_loan *loan = NULL;
	int ret = dray_view_lend(view, DRAY_ACCESS_WRITE, 0, NULL, &loan);

	dray_loan_end(loan);
	return ret == -ETIME;
}

static void several_messages_are_under_way_at_once(void)
{
	enum {
		COUNT = 5
	};
	unsigned char *data = memory_of(COUNT * 4096);
	struct dray_mpi_request requests[COUNT];
	struct dray_view views[COUNT];
	MPI_Status status;
	int i, done;

	for (i = 0; i < COUNT; i++) {
		transpose_of(&views[i], data + i * 4096);
		seed_of_values = (uint64_t)i;
		if (!rank)
			view_each(&views[i], element_write);
		if (!rank)
			EXPECT_OK(
				dray_mpi_isend(&views[i], 1, i, MPI_COMM_WORLD,
					       DRAY_MPI_GATHER, &requests[i]));
		else if (rank == 1)
			EXPECT_OK(dray_mpi_irecv(&views[i], MPI_ANY_SOURCE, i,
						 MPI_COMM_WORLD, 0,
						 &requests[i]));
	}
	for (i = COUNT - 1; rank < 2 && i >= 0; i--) {
		if (i % 2) {
			EXPECT_OK(dray_mpi_wait(&requests[i], 20000, &status));
			EXPECT_OK(dray_mpi_test(&requests[i], &done, &status));
			EXPECT_OK(dray_mpi_wait(&requests[i], -1, &status));
		} else {
			do
				EXPECT_OK(dray_mpi_test(&requests[i], &done,
							&status));
			while (!done);
		}
		EXPECT(!is_lent(&views[i]));
		if (!rank)
			continue;
		EXPECT_IS(status.MPI_SOURCE, 0);
		seed_of_values = (uint64_t)i;
		EXPECT_IS(view_wrong(&views[i], data + i * 4096, 4096, 48), 0);
	}
	dray_pool_free(pool, data);
}

static void a_receive_is_cancelled_before_its_timeout_returns(void)
{
	unsigned char *data = memory_of(4096);
	struct dray_mpi_request request;
	struct dray_view view;
	double start;
	int way;

	transpose_of(&view, data);
	seed_of_values = 1;
	for (way = 0; way < 2; way++) {
		unsigned int flags = way ? DRAY_MPI_TYPE : DRAY_MPI_GATHER;

		if (rank == 1) {
			start = MPI_Wtime();
			EXPECT_IS(dray_mpi_recv(&view, 0, 1, MPI_COMM_WORLD, 50,
						flags, MPI_STATUS_IGNORE),
				  -ETIME);
			EXPECT(MPI_Wtime() - start > 0.045);
			EXPECT(!is_lent(&view));
			EXPECT_OK(dray_mpi_irecv(&view, 0, 1, MPI_COMM_WORLD,
						 flags, &request));
			EXPECT(is_lent(&view));
			EXPECT_IS(dray_mpi_wait(&request, 0, NULL), -ETIME);
			EXPECT(!is_lent(&view));
			EXPECT_OK(dray_mpi_wait(&request, 0, NULL));
		}
		MPI_Barrier(MPI_COMM_WORLD);
		/* The message that comes later finds the next receive. */
		if (!rank) {
			view_each(&view, element_write);
			EXPECT_OK(
				dray_mpi_send(&view, 1, 1, MPI_COMM_WORLD, 0));
		} else if (rank == 1) {
			EXPECT_OK(dray_mpi_recv(&view, 0, 1, MPI_COMM_WORLD,
						20000, flags, NULL));
			EXPECT_IS(view_wrong(&view, data, 4096, 48), 0);
		}
	}
	dray_pool_free(pool, data);
}

static void a_send_stays_under_way_after_its_timeout(void)
{
	enum {
		BYTES = 32 << 20
	}; /* more than the buffers of a socket */
	struct dray_mpi_request request;
	unsigned char *data;
	char pipe_path[] = "/tmp/dray-mpi-XXXXXXXXXX";
	struct dray_view view;

	/* Not MPI: rank 1 would receive the message in it. */
	if (!rank) {
		snprintf(pipe_path, sizeof(pipe_path), "/tmp/dray-mpi-%d",
			 getpid());
		EXPECT_OK(mkfifo(pipe_path, 0600));
	}
	MPI_Bcast(pipe_path, sizeof(pipe_path), MPI_CHAR, 0, MPI_COMM_WORLD);
	if (rank > 1) {
		MPI_Barrier(MPI_COMM_WORLD);
		return;
	}
	data = memory_of(BYTES);
	EXPECT_OK(dray_view_init(&view, data, DRAY_UINT8, 1,
				 (int64_t[]){ BYTES }, NULL));
	if (!rank) {
		EXPECT_OK(dray_mpi_isend(&view, 1, 2, MPI_COMM_WORLD, 0,
					 &request));
		EXPECT_IS(dray_mpi_wait(&request, 30, NULL), -ETIME);
		EXPECT(is_lent(&view));
		EXPECT_OK(close(open(pipe_path, O_WRONLY)));
		EXPECT_OK(unlink(pipe_path));
		MPI_Barrier(MPI_COMM_WORLD);
		EXPECT_OK(dray_mpi_wait(&request, 20000, NULL));
		EXPECT(!is_lent(&view));
	} else {
		EXPECT_OK(close(open(pipe_path, O_RDONLY)));
		MPI_Barrier(MPI_COMM_WORLD);
		data[0] = 0;
		EXPECT_OK(dray_mpi_recv(&view, 0, 2, MPI_COMM_WORLD, 20000, 0,
					NULL));
		EXPECT_IS(data[0], GUARD);
	}
	dray_pool_free(pool, data);
}

static void memory_freed_under_a_receive_is_used_again_only_after_it(void)
{
	struct dray_mpi_request request;
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	unsigned char *data, *other;
	struct dray_view view;
	size_t bytes = 1 << 16;

	if (rank > 1) {
		MPI_Barrier(MPI_COMM_WORLD);
		return;
	}
	data = memory_of(bytes);
	EXPECT_OK(dray_view_init(&view, data, DRAY_UINT8, 1,
				 (int64_t[]){ 1 << 16 }, NULL));
	if (!rank) {
		MPI_Barrier(MPI_COMM_WORLD);
		EXPECT_OK(dray_mpi_send(&view, 1, 3, MPI_COMM_WORLD, 0));
		dray_pool_free(pool, data);
		return;
	}
	EXPECT_OK(dray_mpi_irecv(&view, 0, 3, MPI_COMM_WORLD, 0, &request));
	dray_pool_free(pool, data);
	EXPECT_OK(dray_pool_stats(pool, &stats));
	EXPECT_IS(stats.parked, bytes);
	other = dray_pool_calloc(pool, 1, bytes);
	EXPECT(other != data);
	MPI_Barrier(MPI_COMM_WORLD);
	EXPECT_OK(dray_mpi_wait(&request, 20000, NULL));
	for (size_t i = 0; i < bytes; i++)
		EXPECT_IS(other[i], 0);
	dray_pool_trim(pool);
	EXPECT_OK(dray_pool_stats(pool, &stats));
	EXPECT_IS(stats.parked, 0);
	dray_pool_free(pool, other);
}

static void a_message_of_another_length_is_an_error(void)
{
	unsigned char *data = memory_of(4096);
	struct dray_view view;
	int way;

	seed_of_values = 9;
	for (way = 0; way < 2 && rank < 2; way++) {
		unsigned int flags = way ? DRAY_MPI_TYPE : DRAY_MPI_GATHER;
		MPI_Status status;
		int32_t flat[60];

		transpose_of(&view, data);
		if (!rank) {
			for (int i = 0; i < 60; i++)
				element_write((unsigned char *)&flat[i], i, 4);
			MPI_Send(flat, 20, MPI_INT32_T, 1, 1, MPI_COMM_WORLD);
			MPI_Send(flat, 60, MPI_INT32_T, 1, 2, MPI_COMM_WORLD);
			MPI_Send(flat, 48, MPI_INT32_T, 1, 3, MPI_COMM_WORLD);
			continue;
		}
		EXPECT_IS(dray_mpi_recv(&view, 0, 1, MPI_COMM_WORLD, 20000,
					flags, &status),
			  -EMSGSIZE);
		EXPECT_IS(view_wrong(&view, data, 4096, 20), 0);
		EXPECT_IS(dray_mpi_recv(&view, 0, 2, MPI_COMM_WORLD, 20000,
					flags, &status),
			  -EMSGSIZE);
		EXPECT(!is_lent(&view));
		memset(data, GUARD, 4096);
		EXPECT_OK(dray_mpi_recv(&view, 0, 3, MPI_COMM_WORLD, -1, flags,
					&status));
		EXPECT_IS(view_wrong(&view, data, 4096, 48), 0);
	}
	dray_pool_free(pool, data);
}

/* Checks the code, and that a sentence with a part says why. */
static void refused(int line, int ret, int expected, const char *part)
{
	if (ret != expected || !strstr(dray_last_error(), part))
		note_failure(__FILE__, line, part, ret);
}

static void bad_input_is_refused_and_nothing_stays_lent(void)
{
	unsigned char *data = memory_of(4096);
	struct dray_view view, twice, fixed;
	struct dray_mpi_request request;
	MPI_Comm world = MPI_COMM_WORLD;
	MPI_Datatype type;
	int way;

	transpose_of(&view, data);
	twice = fixed = view;
	twice.strides[0] = 0;
	fixed.flags &= ~DRAY_WRITE;
	refused(__LINE__, dray_mpi_send(&view, ranks, 0, world, 0), -EINVAL,
		"out of range");
	refused(__LINE__, dray_mpi_send(&view, -77, 0, world, 0), -EINVAL,
		"rank -77");
	refused(__LINE__, dray_mpi_recv(&view, ranks, 0, world, 0, 0, NULL),
		-EINVAL, "out of range");
	refused(__LINE__, dray_mpi_send(&view, 0, 0, MPI_COMM_NULL, 0), -EINVAL,
		"MPI_COMM_NULL");
	refused(__LINE__, dray_mpi_send(&view, 0, 0, world, 8), -EINVAL, "0x8");
	refused(__LINE__, dray_mpi_isend(&view, 0, 0, world, 3, &request),
		-EINVAL, "0x3");
	refused(__LINE__, dray_mpi_send(NULL, 0, 0, world, 0), -EINVAL, "");
	refused(__LINE__, dray_mpi_irecv(&view, 0, 0, world, 0, NULL), -EINVAL,
		"no request");
	refused(__LINE__, dray_mpi_recv(&twice, 0, 0, world, 0, 0, NULL),
		-EINVAL, "one address");
	refused(__LINE__, dray_mpi_recv(&fixed, 0, 0, world, 0, 0, NULL),
		-EPERM, "");
	refused(__LINE__, dray_mpi_send(&view, 0, -5, world, 0), -EINVAL,
		"MPI_Send");
	refused(__LINE__, dray_mpi_type(NULL, &type), -EINVAL, "no view");
	refused(__LINE__, dray_mpi_wait(NULL, 0, NULL), -EINVAL, "no request");
	refused(__LINE__, dray_mpi_explain(&view, 99, world, 0, &way, NULL),
		-EINVAL, "rank 99");
	EXPECT(!is_lent(&view));
	EXPECT(!dray_transfers_in_flight());
	EXPECT_OK(dray_mpi_send(&view, MPI_PROC_NULL, 0, world, 0));
	EXPECT_OK(dray_mpi_recv(&view, MPI_PROC_NULL, 0, world, 0, 0, NULL));
	dray_pool_free(pool, data);
}

static void a_plan_fits_the_layout_and_can_be_overridden(void)
{
	struct dray_explanation why = { .size = sizeof(why) };
	unsigned char *data = memory_of(1 << 17);
	bool near = false;
	struct dray_view view;
	int way;

	EXPECT_OK(dray_view_init(&view, data, DRAY_FLOAT32, 2,
				 (int64_t[]){ 8, 1024 }, NULL));
	EXPECT_OK(dray_mpi_explain(&view, 0, MPI_COMM_WORLD, DRAY_MPI_GATHER,
				   &way, &why));
	EXPECT_IS(way, DRAY_MPI_CONTIGUOUS);
	EXPECT_IS(why.bytes, 32768);
	view.strides[0] = 8192;
	EXPECT_OK(dray_mpi_explain(&view, 0, MPI_COMM_WORLD, 0, &way, &why));
	EXPECT_IS(way, DRAY_MPI_TYPED);
	EXPECT_IS(why.run, 4096);
	EXPECT_IS(why.axes, 1);
	EXPECT_OK(dray_mpi_explain(&view, 0, MPI_COMM_WORLD, DRAY_MPI_GATHER,
				   &way, &why));
	EXPECT_IS(way, DRAY_MPI_STAGED);
	EXPECT_IS(why.engine, 0);
	EXPECT_OK(dray_view_transpose(&view, NULL, &view));
	EXPECT_OK(dray_mpi_explain(&view, 0, MPI_COMM_WORLD, 0, &way, &why));
	EXPECT_IS(way, DRAY_MPI_STAGED);
#ifdef OPEN_MPI
	near = !getenv("OMPI_MCA_btl"); /* the suite names TCP there */
#endif
	EXPECT_OK(dray_view_init(&view, data, DRAY_FLOAT32, 1,
				 (int64_t[]){ 4096 }, (int64_t[]){ 8 }));
	EXPECT_OK(dray_mpi_explain(&view, 0, MPI_COMM_WORLD, 0, &way, NULL));
	EXPECT_IS(way, near ? DRAY_MPI_TYPED : DRAY_MPI_STAGED);
	view.shape[0] = 1024; /* 4 KiB */
	EXPECT_OK(dray_mpi_explain(&view, 0, MPI_COMM_WORLD, 0, &way, NULL));
	EXPECT_IS(way, DRAY_MPI_STAGED);
	EXPECT_OK(dray_mpi_explain(&view, 0, MPI_COMM_WORLD, DRAY_MPI_TYPE,
				   &way, NULL));
	EXPECT_IS(way, DRAY_MPI_TYPED);
	dray_pool_free(pool, data);
}

/* The host has no engine: the stage gets a queue as on a node with engines. */
static void a_queue_gathers_where_there_may_be_an_engine(void)
{
	struct dray_explanation why = { .size = sizeof(why) };
	unsigned char *data = memory_of(4096);
	struct dray_mpi_stage *stage;
	struct dray_view view;
	struct dray_node *node;
	MPI_Comm copy;
	int way, found;

	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	transpose_of(&view, data);
	EXPECT_OK(
		dray_mpi_explain(&view, 0, copy, DRAY_MPI_GATHER, &way, &why));
	MPI_Comm_get_attr(copy, dray_mpi_key, &stage, &found);
	EXPECT(found && !stage->queue);
	EXPECT_OK(dray_node_open("host", &node));
	EXPECT_OK(dray_queue_create(node, NULL, &stage->queue));
	dray_node_unref(node);
	EXPECT_OK(
		dray_mpi_explain(&view, 0, copy, DRAY_MPI_GATHER, &way, &why));
	EXPECT_IS(way, DRAY_MPI_STAGED);
	EXPECT_IS(why.elements, 48);
	EXPECT_IS(why.engine, 0);
	seed_of_values = 2;
	if (!rank) {
		view_each(&view, element_write);
		EXPECT_OK(dray_mpi_send(&view, 1, 1, copy, DRAY_MPI_GATHER));
	} else if (rank == 1) {
		EXPECT_OK(dray_mpi_recv(&view, 0, 1, copy, 20000,
					DRAY_MPI_GATHER, NULL));
		EXPECT_IS(view_wrong(&view, data, 4096, 48), 0);
	}
	MPI_Comm_free(&copy);
	dray_pool_free(pool, data);
}

static void a_type_counts_more_than_an_int(void)
{
	const int64_t most = (1ll << 31) + 5;
	unsigned char byte[2] = { 0 };
	struct dray_view view;
	MPI_Datatype type;
	MPI_Count size;

	EXPECT_OK(dray_view_init(&view, byte, DRAY_UINT8, 1, &most,
				 (int64_t[]){ 0 }));
	EXPECT_OK(dray_mpi_type(&view, &type));
	MPI_Type_size_x(type, &size);
	EXPECT_IS(size, most);
	MPI_Type_free(&type);
	view.strides[0] = 1;
	EXPECT_OK(dray_mpi_type(&view, &type));
	MPI_Type_size_x(type, &size);
	EXPECT_IS(size, most);
	MPI_Type_free(&type);
}

static void a_window_is_written_and_read_in_other_layouts(void)
{
	unsigned char *data = memory_of(4096), *own = memory_of(4096);
	const unsigned int flags[] = { 0, DRAY_MPI_TYPE, DRAY_MPI_GATHER };
	struct dray_view view, there;
	MPI_Win win, wide;
	int i;

	MPI_Win_create(data, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	transpose_of(&view, own);
	EXPECT_OK(dray_view_init(&there, NULL + 0, DRAY_INT32, 2,
				 (int64_t[]){ 0, 0 }, NULL));
	there = view;
	there.strides[0] = 80;
	there.strides[1] = 8;
	for (i = 0; i < 3; i++) {
		seed_of_values = (uint64_t)i;
		MPI_Win_lock_all(0, win);
		if (!rank) {
			view_each(&view, element_write);
			EXPECT_OK(dray_mpi_put(&view, 1, 100, &there, win,
					       flags[i]));
			memset(own, GUARD, 4096);
			EXPECT_OK(dray_mpi_get(&view, 1, 100, &there, win,
					       flags[i]));
			EXPECT_IS(view_wrong(&view, own, 4096, 48), 0);
			refused(__LINE__,
				dray_mpi_put(&view, ranks, 0, &there, win, 0),
				-EINVAL, "out of range");
		}
		MPI_Win_unlock_all(win);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 1) {
			there.data = data + 100;
			EXPECT_IS(view_wrong(&there, data, 4096, 48), 0);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	there.strides[0] = 0;
	refused(__LINE__, dray_mpi_put(&view, 0, 0, &there, win, 0), -EINVAL,
		"share bytes");
	there.strides[0] = 80;
	there.shape[0]--;
	refused(__LINE__, dray_mpi_put(&view, 0, 0, &there, win, 0), -EINVAL,
		"differ");
	MPI_Win_free(&win);
	there.shape[0]++;
	MPI_Win_create(data, 4096, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &wide);
	refused(__LINE__, dray_mpi_put(&view, 0, 0, &there, wide, 0), -EINVAL,
		"unit is 4");
	MPI_Win_free(&wide);
	EXPECT(!is_lent(&view));
	dray_pool_free(pool, data);
	dray_pool_free(pool, own);
}

static void arrays_of_the_ranks_of_a_host_are_shared(void)
{
	struct dray_mpi_shared *all = calloc((size_t)ranks, sizeof(*all));
	struct dray_pool_stats stats = { .size = sizeof(stats) };
	struct dray_node *node;
	struct dray_pool *shareable;
	struct dray_view view;
	int32_t *data;
	MPI_Comm host;
	double end;
	int i, near;

	/* Without shared memory MPICH finds no other rank on its host. */
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank,
			    MPI_INFO_NULL, &host);
	MPI_Comm_size(host, &near);
	MPI_Comm_free(&host);
	EXPECT(near == ranks || near == 1);
	EXPECT_OK(dray_node_open("host:shareable", &node));
	EXPECT_OK(dray_pool_create(node, NULL, &shareable));
	data = dray_pool_calloc(shareable, 48, 4);
	transpose_of(&view, data);
	EXPECT_OK(dray_mpi_share(MPI_COMM_WORLD, &view, all));
	for (i = 0; i < ranks; i++) {
		EXPECT_IS(!!all[i].block, near > 1 || i == rank);
		if (all[i].block) {
			EXPECT_IS(all[i].view.strides[1], 32);
			((int32_t *)all[i].view.data)[rank] = rank + 1;
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (i = 0; i < ranks; i++)
		EXPECT_IS(data[i], near > 1 || i == rank ? i + 1 : 0);
	MPI_Barrier(MPI_COMM_WORLD);
	for (i = 0; i < ranks; i++)
		dray_mpi_unshare(&all[i]);
	dray_mpi_unshare(&all[0]);
	MPI_Barrier(MPI_COMM_WORLD);
	dray_pool_free(shareable, data);
	/* The others' ends arrive in a thread. */
	end = MPI_Wtime() + 20;
	do {
		dray_pool_trim(shareable);
		EXPECT_OK(dray_pool_stats(shareable, &stats));
	} while (stats.used && MPI_Wtime() < end);
	EXPECT_IS(stats.used, 0);

	/* A rank whose memory cannot be shared makes all fail, and none wait. */
	data = dray_pool_calloc(rank ? shareable : pool, 48, 4);
	transpose_of(&view, data);
	EXPECT_IS(dray_mpi_share(MPI_COMM_WORLD, &view, all),
		  rank ? -EREMOTEIO : -EOPNOTSUPP);
	refused(__LINE__, dray_mpi_share(MPI_COMM_WORLD, &view, NULL), -EINVAL,
		"no place");
	refused(__LINE__, dray_mpi_share(MPI_COMM_NULL, &view, all), -EINVAL,
		"the communicator");
	dray_pool_free(NULL, data);
	dray_pool_close(shareable);
	dray_node_unref(node);
	free(all);
}

static void rows_here_become_columns_there(void)
{
	enum {
		ROWS = 11,
		COLUMNS = 7
	};
	unsigned char *here = memory_of(8192), *there = memory_of(8192);
	int64_t first_row = ROWS * rank / ranks,
		first_column = COLUMNS * rank / ranks;
	int64_t rows = ROWS * (rank + 1) / ranks - first_row;
	int64_t columns = COLUMNS * (rank + 1) / ranks - first_column, i, k;
	struct dray_view from, to;

	EXPECT_OK(dray_view_init(&from, here + 2048, DRAY_INT32, 2,
				 (int64_t[]){ rows, COLUMNS },
				 (int64_t[]){ 4, 64 }));
	EXPECT_OK(dray_view_init(&to, there + 4096, DRAY_INT32, 2,
				 (int64_t[]){ ROWS, columns },
				 (int64_t[]){ -48, 8 }));
	for (i = 0; i < rows; i++)
		for (k = 0; k < COLUMNS; k++)
			*(int32_t *)(here + 2048 + 4 * i + 64 * k) =
				(int32_t)(100 * (first_row + i) + k);
	EXPECT_OK(dray_mpi_resplit(&from, 0, &to, 1, MPI_COMM_WORLD));
	for (i = 0; i < ROWS; i++)
		for (k = 0; k < columns; k++)
			EXPECT_IS(*(int32_t *)(there + 4096 - 48 * i + 8 * k),
				  100 * i + first_column + k);
	EXPECT(!is_lent(&from));
	to.shape[0] += rank == ranks - 1;
	refused(__LINE__, dray_mpi_resplit(&from, 0, &to, 1, MPI_COMM_WORLD),
		rank == ranks - 1 ? -EINVAL : -EREMOTEIO, "");
	refused(__LINE__, dray_mpi_resplit(&from, 0, &to, 0, MPI_COMM_WORLD),
		-EINVAL, "two different axes");
	refused(__LINE__,
		dray_mpi_resplit(&from, 0, rank ? &to : NULL, 1,
				 MPI_COMM_WORLD),
		rank ? -EREMOTEIO : -EINVAL, "");
	dray_pool_free(pool, here);
	dray_pool_free(pool, there);
}

static void parts_of_different_arrays_are_refused_on_all_ranks(void)
{
	unsigned char *data = memory_of(8192);
	const struct {
		dray_dtype dtype;
		int64_t beside; /* the length of a third axis */
		int axis;
	} parts[] = {
		{ rank ? DRAY_FLOAT32 : DRAY_FLOAT64, 1, 0 },
		{ DRAY_INT8, 1 + rank, 0 },
		{ DRAY_INT8, 1, !!rank },
	};
	int64_t shape[3] = { ranks, ranks, 1 };
	struct dray_view from, to;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		shape[2] = parts[i].beside;
		EXPECT_OK(dray_view_init(&from, data, parts[i].dtype, 3, shape,
					 NULL));
		EXPECT_OK(dray_view_init(&to, data + 4096, parts[i].dtype, 3,
					 shape, NULL));
		refused(__LINE__,
			dray_mpi_resplit(&from, parts[i].axis, &to,
					 !parts[i].axis, MPI_COMM_WORLD),
			-EINVAL, "of the same array");
	}
	to.data = from.data;
	refused(__LINE__, dray_mpi_resplit(&from, 0, &to, 1, MPI_COMM_WORLD),
		-EINVAL, "other memory");
	refused(__LINE__, dray_mpi_resplit(&from, 0, &to, 1, MPI_COMM_NULL),
		-EINVAL, "the communicator");
	EXPECT(!is_lent(&from));
	dray_pool_free(pool, data);
}

static void a_communicator_that_ends_leaves_its_staging_to_requests(void)
{
	unsigned char *data = memory_of(4096);
	struct dray_mpi_request request;
	struct dray_view view;
	MPI_Comm copy;

	transpose_of(&view, data);
	seed_of_values = 3;
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	if (!rank)
		view_each(&view, element_write);
	if (!rank)
		EXPECT_OK(dray_mpi_isend(&view, 1, 1, copy, DRAY_MPI_GATHER,
					 &request));
	else if (rank == 1)
		EXPECT_OK(dray_mpi_irecv(&view, 0, 1, copy, DRAY_MPI_GATHER,
					 &request));
	MPI_Comm_free(&copy);
	if (rank < 2)
		EXPECT_OK(dray_mpi_wait(&request, -1, NULL));
	if (rank == 1)
		EXPECT_IS(view_wrong(&view, data, 4096, 48), 0);
	dray_pool_free(pool, data);
}

static void nothing_is_left(void)
{
	struct dray_pool_stats stats = { .size = sizeof(stats) };

	EXPECT(!dray_transfers_in_flight());
	EXPECT_OK(dray_pool_stats(pool, &stats));
	EXPECT_IS(stats.used, 0);
	EXPECT_IS(stats.parked, 0);
	dray_dtype_unref(a_structure);
	dray_pool_close(pool);
}

int main(void)
{
	const struct dray_dtype_field fields[] = {
		{ .name = "x", .dtype = DRAY_FLOAT32 },
		{ .name = "id", .dtype = DRAY_INT64 },
	};
	static const struct fact facts[] = {
		FACT(views_of_random_layouts_arrive),
		FACT(a_peer_without_dray_reads_and_writes_plain_numbers),
		FACT(several_messages_are_under_way_at_once),
		FACT(a_receive_is_cancelled_before_its_timeout_returns),
		FACT(a_send_stays_under_way_after_its_timeout),
		FACT(memory_freed_under_a_receive_is_used_again_only_after_it),
		FACT(a_message_of_another_length_is_an_error),
		FACT(bad_input_is_refused_and_nothing_stays_lent),
		FACT(a_plan_fits_the_layout_and_can_be_overridden),
		FACT(a_queue_gathers_where_there_may_be_an_engine),
		FACT(a_type_counts_more_than_an_int),
		FACT(a_window_is_written_and_read_in_other_layouts),
		FACT(arrays_of_the_ranks_of_a_host_are_shared),
		FACT(rows_here_become_columns_there),
		FACT(parts_of_different_arrays_are_refused_on_all_ranks),
		FACT(a_communicator_that_ends_leaves_its_staging_to_requests),
		FACT(nothing_is_left),
	};
	struct dray_node *node;

	if (dray_node_open("host", &node) ||
	    dray_pool_create(node, NULL, &pool) ||
	    dray_dtype_create_struct(fields, 2, 0, 0, &a_structure)) {
		fprintf(stderr, "%s\n", dray_last_error());
		return 1;
	}
	dray_node_unref(node);
	return facts_run(facts, sizeof(facts) / sizeof(facts[0]));
}
