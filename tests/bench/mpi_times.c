// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Times messages between two ranks and prints samples for tools/bench: views of eight
 * layouts by dray's plan, beside MPI's datatype and a copy into a kept block; small
 * contiguous messages beside MPI_Send(); a frame that is shared beside one that is sent.
 *
 *	mpiexec -n 2 mpi_times MPI TRANSPORT
 *
 * A sample is a message and an answer of one byte, in microseconds.  The receiver is
 * contiguous.  Contenders take turns.  On TCP there are no rows of what needs no network.
 */
#include <stdio.h>

#include <dray/mpi.h>

enum {
	ROUNDS = 31,
	LOOPS = 200,
	ROOM = 16 << 20,
	FRAME = 8 << 20
};

static int rank;
static const char *mpi, *transport;
static char *memory, *flat;

static void must_succeed(int ret, const char *what)
{
	if (ret) {
		fprintf(stderr, "%s: %d, %s\n", what, ret, dray_last_error());
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

#define MUST(call) must_succeed(call, #call)

enum way {
	BY_DRAY,
	BY_TYPE,
	BY_COPY,
	PLAIN,
	EMPTY
};
static const char *const names[] = { "dray", "datatype", "copy and MPI_Send" };

/* Sends @view in a way and waits for the answer; the other rank receives @bytes. */
static void message_pass(const struct dray_view *view, MPI_Datatype type,
			 int bytes, enum way way)
{
	struct dray_view dense;
	char answer = 0;

	if (rank) {
		MPI_Recv(flat, way == EMPTY ? 0 : bytes, MPI_BYTE, 0, 0,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&answer, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
		return;
	}
	if (way == BY_DRAY) {
		MUST(dray_mpi_send(view, 1, 0, MPI_COMM_WORLD, 0));
	} else if (way == BY_TYPE) {
		MPI_Send(view->data, 1, type, 1, 0, MPI_COMM_WORLD);
	} else if (way == BY_COPY) {
		MUST(dray_view_init(&dense, flat, view->dtype, view->ndim,
				    view->shape, NULL));
		MUST(dray_view_assign(&dense, view));
		MPI_Send(flat, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
	} else {
		MPI_Send(view->data, way == EMPTY ? 0 : bytes, MPI_BYTE, 1, 0,
			 MPI_COMM_WORLD);
	}
	MPI_Recv(&answer, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Returns microseconds of a message, of @loops. */
static double message_time(const struct dray_view *view, MPI_Datatype type,
			   int bytes, enum way way, int loops)
{
	double start;

	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (int i = 0; i < loops; i++)
		message_pass(view, type, bytes, way);
	return (MPI_Wtime() - start) * 1e6 / loops;
}

static void row_say(const char *name, const char *goal)
{
	if (!rank)
		printf("row\t%s, %s, %s\tus\tlower%s\n", name, mpi, transport,
		       goal);
}

static void sample_say(const char *name, const char *contender, double time)
{
	if (!rank)
		printf("sample\t%s, %s, %s\t%s\t%.3f\n", name, mpi, transport,
		       contender, time);
}

static void layout_time(const char *name, char *data, int ndim,
			const int64_t *shape, const int64_t *strides)
{
	const bool turned = strstr(name, "transpose");
	char beside[64];
	struct dray_view view;
	MPI_Datatype type;
	int bytes;

	MUST(dray_view_init(&view, data, DRAY_FLOAT32, ndim, shape, strides));
	MUST(dray_mpi_type(&view, &type));
	MPI_Type_size(type, &bytes);
	snprintf(beside, sizeof(beside), "%s beside the datatype", name);
	row_say(name, "\tbest\t1.3");
	if (turned)
		row_say(beside, "\tdatatype\t0.3333");
	for (int round = 0; round < ROUNDS; round++) {
		for (int turn = 0; turn < 3; turn++) {
			enum way way = (enum way)((round + turn) % 3);
			double time = message_time(&view, type, bytes, way, 1);

			if (!round)
				continue; /* the first call of each */
			sample_say(name, names[way], time);
			if (turned && way != BY_COPY)
				sample_say(beside, names[way], time);
		}
	}
	MPI_Type_free(&type);
}

/* Returns microseconds of a message to this rank itself, which needs no other. */
static double self_time(const struct dray_view *view, int bytes, enum way way)
{
	double start = MPI_Wtime();
	struct dray_view dense;
	MPI_Request request;

	for (int i = 0; i < LOOPS; i++) {
		MPI_Irecv(flat, bytes, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request);
		if (way == BY_DRAY) {
			MUST(dray_mpi_send(view, 0, 0, MPI_COMM_SELF, 0));
		} else if (way == BY_COPY) {
			MUST(dray_view_init(&dense, memory + ROOM / 2,
					    view->dtype, view->ndim,
					    view->shape, NULL));
			MUST(dray_view_assign(&dense, view));
			MPI_Send(dense.data, bytes, MPI_BYTE, 0, 0,
				 MPI_COMM_SELF);
		} else {
			MPI_Send(view->data, bytes, MPI_BYTE, 0, 0,
				 MPI_COMM_SELF);
		}
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	return (MPI_Wtime() - start) * 1e6 / LOOPS;
}

/* Times what dray_mpi_send() adds to MPI_Send(), or to a copy and MPI_Send(). */
static void small_time(const char *name, int64_t elements, int64_t stride,
		       enum way plain)
{
	struct dray_view view;
	int bytes = (int)elements * 4;

	MUST(dray_view_init(&view, memory, DRAY_FLOAT32, 1, &elements,
			    &stride));
	row_say(name, "\t-\t1");
	for (int round = 0; !rank && round < ROUNDS; round++) {
		double ours = self_time(&view, bytes, BY_DRAY);

		sample_say(name, "dray", ours - self_time(&view, bytes, plain));
	}
}

static void contiguous_time(void)
{
	const char *name = "1 MiB, contiguous";
	const int64_t elements = 1 << 18;
	struct dray_view view;

	MUST(dray_view_init(&view, memory, DRAY_FLOAT32, 1, &elements, NULL));
	row_say(name, "\tMPI_Send\t1.3");
	for (int round = 0; round < ROUNDS; round++) {
		sample_say(name, "dray",
			   message_time(&view, MPI_BYTE, 1 << 20, BY_DRAY, 1));
		sample_say(name, "MPI_Send",
			   message_time(&view, MPI_BYTE, 1 << 20, PLAIN, 1));
	}
}

static void frame_time(struct dray_pool *pool)
{
	const int64_t size = FRAME;
	const char *name = "a frame of 8 MiB, shared";
	struct dray_mpi_shared all[2];
	struct dray_view view;
	char *data = dray_pool_calloc(pool, 1, FRAME);
	long seen = 0;

	MUST(dray_view_init(&view, data, DRAY_UINT8, 1, &size, NULL));
	MUST(dray_mpi_share(MPI_COMM_WORLD, &view, all));
	row_say(name, "\tMPI_Send\t0.05");
	for (int round = 0; round < ROUNDS; round++) {
		double ours, plain;

		if (!rank)
			memset(data, round, FRAME);
		ours = message_time(&view, MPI_BYTE, FRAME, EMPTY, 8);
		seen += ((volatile char *)all[0].view.data)[FRAME - 1];
		plain = message_time(&view, MPI_BYTE, FRAME, PLAIN, 8);
		sample_say(name, "dray", ours);
		sample_say(name, "MPI_Send", plain);
	}
	if (seen != ROUNDS * (ROUNDS - 1) / 2)
		must_succeed(-EIO, "the frame");
	dray_mpi_unshare(&all[0]);
	dray_mpi_unshare(&all[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	dray_pool_free(pool, data);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int64_t offset;
		int64_t shape[3], strides[3];
		int ndim;
	} layouts[] = {
		{ "runs of 4 bytes", 0, { 1 << 18, 1 }, { 8, 4 }, 2 },
		{ "runs of 16 bytes", 0, { 1 << 16, 4 }, { 32, 4 }, 2 },
		{ "runs of 64 bytes", 0, { 1 << 14, 16 }, { 128, 4 }, 2 },
		{ "runs of 1 KiB", 0, { 1 << 10, 256 }, { 2048, 4 }, 2 },
		{ "runs of 16 KiB", 0, { 64, 4096 }, { 32768, 4 }, 2 },
		{ "mirrored lines", 4092, { 256, 1024 }, { 8192, -4 }, 2 },
		{ "axes exchanged", 0, { 64, 64, 64 }, { 4, 16384, 256 }, 3 },
		{ "transpose", 0, { 1024, 1024 }, { 4, 4096 }, 2 },
	};
	struct dray_node *node;
	struct dray_pool *pool;

	if (argc < 3)
		return 2;
	mpi = argv[1];
	transport = argv[2];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MUST(dray_node_open("host:shareable", &node));
	MUST(dray_pool_create(node, NULL, &pool));
	memory = dray_pool_calloc(pool, 1, ROOM);
	flat = dray_pool_calloc(pool, 1, ROOM);
	memset(memory, 1, ROOM);
	memset(flat, 1, ROOM);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		layout_time(layouts[i].name, memory + layouts[i].offset,
			    layouts[i].ndim, layouts[i].shape,
			    layouts[i].strides);
	contiguous_time();
	if (!strcmp(transport, "TCP")) {
		MPI_Finalize();
		return 0;
	}
	/* Without a network. */
	small_time("1 KiB: more than MPI_Send in C", 256, 4, PLAIN);
	small_time("64 elements: more than a copy and MPI_Send in C", 64, 4096,
		   BY_COPY);
	frame_time(pool);
	MPI_Finalize();
	return 0;
}
