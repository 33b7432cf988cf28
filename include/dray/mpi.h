/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * mpi: views as messages of MPI.  Only programs that use MPI include this header, and
 * their mpicc compiles it: all of it is inline, and libdray links no MPI.
 *
 *	struct dray_mpi_request request;
 *
 *	ret = dray_mpi_irecv(&to, 0, 7, MPI_COMM_SELF, 0, &request);
 *	if (ret)
 *		return ret;
 *	ret = dray_mpi_send(&from, 0, 7, MPI_COMM_SELF, 0);
 *	if (!ret)
 *		ret = dray_mpi_wait(&request, 1000, MPI_STATUS_IGNORE);
 *
 * A view is a single message with its elements in C order, so that the peer may be a
 * program without dray.  Numbers in the machine's byte order are MPI's basic types;
 * elements of other types are MPI_BYTE.  The layouts of the two sides may differ.
 *
 * Each call lends the view's memory to "MPI" (dray/loan.h) until its message is complete:
 * it waits for transfers in flight, and later ones wait for it.  The loan also refuses
 * memory of DRAY_MODE_DEVICE, and elements that share bytes as a destination.
 *
 * The plan of a message, which dray_mpi_explain() returns:
 *
 *	contiguous	MPI reads or writes the view
 *	a datatype	MPI does, if the axes are in the order of memory and runs are 4 KiB
 *			or longer; Open MPI with all ranks on one host: runs of any length,
 *			of messages above 4 KiB
 *	staged		through a contiguous block: dray_copy() gathers, with an engine if
 *			there is one, and the CPU scatters a received message
 *
 * The block stays with the communicator until MPI_Comm_free().
 *
 * Functions return 0 or a negative errno, with a sentence as all of dray.  MPI ends the
 * program at an error of its own, unless MPI_Comm_set_errhandler() was called with
 * MPI_ERRORS_RETURN.  Errors of MPI are then:
 *
 *	-EMSGSIZE	MPI_ERR_TRUNCATE: the message is longer than the view; also a
 *			message that is shorter, whose elements are then in the view
 *	-ECONNRESET	a process failed, or the communicator is revoked: of MPIs with ULFM
 *	-ENOMEM		MPI_ERR_NO_MEM
 *	-EINVAL		wrong arguments, MPI_ERR_TAG and its kin
 *	-EIO		others
 *
 * An MPI without ULFM ends the whole program if a rank dies.
 *
 * Threads: as MPI_Init_thread() has granted.
 */
#ifndef DRAY_MPI_H
#define DRAY_MPI_H

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <dray/loan.h>
#include <dray/pool.h>
#include <dray/record.h>
#include <dray/transfer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Overrides of the plan for views that are not contiguous; not both. */
#define DRAY_MPI_TYPE	(1u << 0)	/* always a datatype */
#define DRAY_MPI_GATHER	(1u << 1)	/* always staged */

/** How a view becomes a message. */
enum dray_mpi_way {
	DRAY_MPI_CONTIGUOUS = 0,	/* as it is */
	DRAY_MPI_TYPED = 1,		/* as a datatype */
	DRAY_MPI_STAGED = 2,		/* by the CPU or an engine */
};

/** The staging of a communicator; for this header only. */
struct dray_mpi_stage {
	int users;		/* the communicator and its requests */
	int busy;		/* whether a request uses the block */
	struct dray_pool *pool;
	struct dray_queue *queue;	/* NULL: the CPU gathers */
	void *block;		/* kept for the next message */
	uint64_t bytes;		/* of the block */
};

/**
 * A message that is under way.  The caller keeps it where it is, and reads none of it,
 * until dray_mpi_wait() or dray_mpi_test() has ended it.
 */
struct dray_mpi_request {
	MPI_Request request;
	MPI_Datatype type;	/* of the message */
	MPI_Datatype made;	/* to be freed, or MPI_DATATYPE_NULL */
	int count;
	unsigned int access;	/* DRAY_ACCESS_*; 0: it has ended */
	void *data;		/* MPI reads or writes here */
	int64_t bytes;		/* of the message */
	struct dray_loan *loan;
	struct dray_mpi_stage *stage;	/* NULL: not staged */
	struct dray_view view;	/* to scatter into */
};

/** An array of another rank, from dray_mpi_share(). */
struct dray_mpi_shared {
	struct dray_view view;
	struct dray_block *block;	/* its memory; NULL: of another host */
};

/**
 * Makes the datatype of @view: its elements in C order, from @view->data.
 *
 * @type: committed; the caller frees it by MPI_Type_free()
 *
 * Errors: -EINVAL (a view that dray_view_init() would refuse, a user type),
 * -EOVERFLOW, of MPI.
 */
static inline int dray_mpi_type(const struct dray_view *view,
				MPI_Datatype *type);

/**
 * Sends @view as a message, and waits until its memory may be written again.
 *
 * @dest, @tag, @comm: as of MPI_Send()
 * @flags: DRAY_MPI_TYPE, DRAY_MPI_GATHER or 0
 *
 * Errors: as dray_view_lend(), -EINVAL (a rank out of range, a user type, unknown
 * flags), -ENOMEM, of MPI, and of an engine that gathers.
 */
static inline int dray_mpi_send(const struct dray_view *view, int dest, int tag,
				MPI_Comm comm, unsigned int flags);

/**
 * Receives a message into @view.
 *
 * @source, @tag, @comm: as of MPI_Recv(), also MPI_ANY_SOURCE and MPI_ANY_TAG
 * @timeout_ms: of the loan and the message together; below 0: no limit
 * @status: filled if a message arrived; MPI_STATUS_IGNORE: not
 *
 * Errors: -ETIME (the receive is cancelled then), else as dray_mpi_send().
 */
static inline int dray_mpi_recv(const struct dray_view *view, int source,
				int tag, MPI_Comm comm, int timeout_ms,
				unsigned int flags, MPI_Status *status);

/** Begins to send @view, otherwise as dray_mpi_send(). */
static inline int dray_mpi_isend(const struct dray_view *view, int dest,
				 int tag, MPI_Comm comm, unsigned int flags,
				 struct dray_mpi_request *request);

/** Begins to receive into @view, otherwise as dray_mpi_recv(). */
static inline int dray_mpi_irecv(const struct dray_view *view, int source,
				 int tag, MPI_Comm comm, unsigned int flags,
				 struct dray_mpi_request *request);

/**
 * Waits for a message that is under way, and ends it.  A request that ended before
 * is not an error.
 *
 * @timeout_ms: milliseconds; below 0: no limit
 * @status: as of dray_mpi_recv()
 *
 * Errors: -ETIME: a receive is cancelled and has ended, unless its message came in this
 * moment.  A send cannot be cancelled: it is under way still.  Others as
 * dray_mpi_recv(): the request has ended.
 */
static inline int dray_mpi_wait(struct dray_mpi_request *request,
				int timeout_ms, MPI_Status *status);

/**
 * Looks whether a message is complete, and then ends it.
 *
 * @done: 1: the request has ended; else 0
 *
 * Errors: as dray_mpi_recv(): the request has ended.
 */
static inline int dray_mpi_test(struct dray_mpi_request *request, int *done,
				MPI_Status *status);

/**
 * Writes @from into the window of @rank, and waits until it is there.  The caller has
 * opened a passive epoch, as by MPI_Win_lock_all().
 *
 * @offset: bytes from the window's start to the first element of @there
 * @there: shape, strides and type at the target; its data is not used
 * @win: with a displacement unit of 1
 *
 * Errors: -EINVAL (also shapes or types that differ, another unit, to write elements
 * that share bytes, no epoch if the MPI looks), else as dray_mpi_send().  The MPI does
 * not check that all of @there is in the window.
 */
static inline int dray_mpi_put(const struct dray_view *from, int rank,
			       MPI_Aint offset, const struct dray_view *there,
			       MPI_Win win, unsigned int flags);

/** Reads from the window of @rank into @to, otherwise as dray_mpi_put(). */
static inline int dray_mpi_get(const struct dray_view *to, int rank,
			       MPI_Aint offset, const struct dray_view *there,
			       MPI_Win win, unsigned int flags);

/**
 * Shares an array of each rank with the ranks of the same host, by records
 * (dray/record.h): all see the same memory.  Collective.
 *
 * @mine: in memory that can be shared
 * @all: an entry for each rank of @comm, this rank's included; the caller drops each
 *	by dray_mpi_unshare().  Keep @mine until all ranks have opened it: they have
 *	when the call returns
 *
 * Errors: as dray_view_export() and dray_view_open(); -EREMOTEIO (another rank failed),
 * -ENOMEM, of MPI.
 */
static inline int dray_mpi_share(MPI_Comm comm, const struct dray_view *mine,
				 struct dray_mpi_shared *all);

/** Drops an array of dray_mpi_share(); another host's is ignored. */
static inline void dray_mpi_unshare(struct dray_mpi_shared *shared);

/**
 * Splits an array along another axis: @from is this rank's part of an array that is
 * split along @from_axis, in the order of the ranks, and @to its part along @to_axis.
 * A single MPI_Alltoallw() with datatypes moves it.  Collective.
 *
 * Errors: -EINVAL (types or shapes that do not fit together, on any rank: all fail
 * then; @to is between elements of @from), else as dray_mpi_send().
 */
static inline int dray_mpi_resplit(const struct dray_view *from, int from_axis,
				   const struct dray_view *to, int to_axis,
				   MPI_Comm comm);

/**
 * Returns the plan for a message to or from @peer in @out, and moves nothing.
 *
 * @way: enum dray_mpi_way
 * @out: elements, bytes, the run, the axes beside it, whether an engine gathers, and
 *	a sentence; NULL: not needed
 *
 * Errors: as dray_mpi_send().
 */
static inline int dray_mpi_explain(const struct dray_view *view, int peer,
				   MPI_Comm comm, unsigned int flags, int *way,
				   struct dray_explanation *out);

/* All below is how. */

/* The key of stages, of all files of the program. */
__attribute__((weak, visibility("hidden"))) int dray_mpi_key =
	MPI_KEYVAL_INVALID;

/* The axes of a view in units, from the outermost; beside a run without gaps. */
struct dray_mpi_axes {
	MPI_Datatype unit;	/* MPI's basic type */
	int64_t unit_bytes;
	int64_t run;		/* units */
	int64_t bytes;		/* in all */
	int count;
	bool in_order;		/* of memory */
	int64_t shape[DRAY_MAX_NDIM];
	int64_t strides[DRAY_MAX_NDIM];
};

/* Returns 0, or a negative errno for an error of MPI, with its sentence. */
static inline int dray_mpi_failed(int code, const char *call)
{
	char text[MPI_MAX_ERROR_STRING];
	int kind, length;

	if (code == MPI_SUCCESS)
		return 0;
	MPI_Error_class(code, &kind);
	MPI_Error_string(code, text, &length);
	switch (kind) {
	case MPI_ERR_TRUNCATE:
		return dray_fail(-EMSGSIZE, "%s: the message is longer than "
				 "the view and was cut; receive into a larger "
				 "view, or ask MPI_Probe() first", call);
	case MPI_ERR_NO_MEM:
		return dray_fail(-ENOMEM, "%s: %s", call, text);
#ifdef MPIX_ERR_PROC_FAILED
	case MPIX_ERR_PROC_FAILED:
	case MPIX_ERR_PROC_FAILED_PENDING:
	case MPIX_ERR_REVOKED:
		return dray_fail(-ECONNRESET, "%s: %s; the others may continue "
				 "after MPIX_Comm_shrink()", call, text);
#endif
	case MPI_ERR_ARG: case MPI_ERR_BUFFER: case MPI_ERR_COMM:
	case MPI_ERR_COUNT: case MPI_ERR_DISP: case MPI_ERR_RANK:
	case MPI_ERR_RMA_RANGE: case MPI_ERR_RMA_SYNC: case MPI_ERR_TAG:
	case MPI_ERR_TYPE: case MPI_ERR_WIN:
		return dray_fail(-EINVAL, "%s: %s", call, text);
	default:
		return dray_fail(-EIO, "%s: %s", call, text);
	}
}

static inline MPI_Datatype dray_mpi_unit(dray_dtype dtype)
{
	switch (dtype) {
	case DRAY_BOOL: return MPI_C_BOOL;
	case DRAY_INT8: return MPI_INT8_T;
	case DRAY_INT16: return MPI_INT16_T;
	case DRAY_INT32: return MPI_INT32_T;
	case DRAY_INT64: return MPI_INT64_T;
	case DRAY_UINT8: return MPI_UINT8_T;
	case DRAY_UINT16: return MPI_UINT16_T;
	case DRAY_UINT32: return MPI_UINT32_T;
	case DRAY_UINT64: return MPI_UINT64_T;
	case DRAY_FLOAT32: return MPI_FLOAT;
	case DRAY_FLOAT64: return MPI_DOUBLE;
	case DRAY_COMPLEX64: return MPI_C_FLOAT_COMPLEX;
	case DRAY_COMPLEX128: return MPI_C_DOUBLE_COMPLEX;
	default: return MPI_BYTE; /* and a count of bytes */
	}
}

/* Merges neighbours among the axes, as far as C order stays. */
static inline int dray_mpi_reduce(const struct dray_view *view,
				  struct dray_mpi_axes *axes)
{
	int64_t item = dray_dtype_itemsize(view->dtype), stride, next = 0;
	int i;

	if (dray_dtype_flags(view->dtype) & DRAY_DTYPE_LOCAL)
		return dray_fail(-EINVAL, "elements of a user type mean "
				 "nothing elsewhere; send their parts");
	axes->unit = dray_mpi_unit(view->dtype);
	axes->unit_bytes = axes->unit == MPI_BYTE ? 1 : item;
	axes->run = axes->unit == MPI_BYTE ? item : 1;
	axes->count = 0;
	axes->in_order = true;
	if (__builtin_mul_overflow(dray_view_size(view), item, &axes->bytes))
		return dray_fail(-EOVERFLOW, "the message is longer than 2^63 "
				 "bytes; send parts of the view");
	if (!axes->bytes) {
		axes->run = 0;
		return 0;
	}
	for (i = view->ndim - 1; i >= 0; i--) {
		stride = view->strides[i];
		if (view->shape[i] == 1)
			continue;
		if (!axes->count && stride == axes->run * axes->unit_bytes) {
			axes->run *= view->shape[i];
			continue;
		}
		if (axes->count && stride == next) {
			axes->shape[axes->count - 1] *= view->shape[i];
		} else {
			if (axes->count &&
			    llabs(stride) <
				    llabs(axes->strides[axes->count - 1]))
				axes->in_order = false;
			axes->shape[axes->count] = view->shape[i];
			axes->strides[axes->count++] = stride;
		}
		next = stride * view->shape[i];
	}
	return 0;
}

/*
 * Makes @count times @of, @stride bytes apart.  Open MPI 5.0 mistakes a stride of -1 in
 * MPI_Type_create_hvector() for 1.
 */
static inline int dray_mpi_row(int count, int64_t stride, MPI_Datatype of,
			       MPI_Datatype *out)
{
	MPI_Datatype turned;
	int ret;

	if (stride != -1)
		return MPI_Type_create_hvector(count, 1, stride, of, out);
	ret = MPI_Type_create_resized(of, 0, stride, &turned);
	if (ret)
		return ret;
	ret = MPI_Type_contiguous(count, turned, out);
	MPI_Type_free(&turned);
	return ret;
}

/* Does the same for any @count: MPI 3 counts to INT_MAX. */
static inline int dray_mpi_repeat(int64_t count, int64_t stride,
				  MPI_Datatype of, MPI_Datatype *out)
{
	const int64_t some = 1 << 30;
	MPI_Datatype parts[3] = { MPI_DATATYPE_NULL, MPI_DATATYPE_NULL,
				  MPI_DATATYPE_NULL };
	MPI_Aint places[2] = { 0, 0 };
	int ones[2] = { 1, 1 }, i, ret;

	if (count <= INT_MAX)
		return dray_mpi_row(DRAY_STATIC_CAST(int, count), stride, of,
				    out);
	places[1] = count / some * some * stride;
	ret = dray_mpi_row(1 << 30, stride, of, &parts[2]);
	if (!ret)
		ret = dray_mpi_repeat(count / some, some * stride, parts[2],
				      &parts[0]);
	if (!ret)
		ret = dray_mpi_row(DRAY_STATIC_CAST(int, count % some), stride,
				   of, &parts[1]);
	if (!ret)
		ret = MPI_Type_create_struct(2, ones, places, parts, out);
	for (i = 0; i < 3; i++)
		if (parts[i] != MPI_DATATYPE_NULL)
			MPI_Type_free(&parts[i]);
	return ret;
}

static inline int dray_mpi_build(const struct dray_mpi_axes *axes,
				 MPI_Datatype *type)
{
	MPI_Datatype now = MPI_DATATYPE_NULL, next;
	int i, ret;

	ret = axes->run <= INT_MAX
		      ? MPI_Type_contiguous(DRAY_STATIC_CAST(int, axes->run),
					    axes->unit, &now)
		      : dray_mpi_repeat(axes->run, axes->unit_bytes, axes->unit,
					&now);
	for (i = 0; !ret && i < axes->count; i++) {
		ret = dray_mpi_repeat(axes->shape[i], axes->strides[i], now,
				      &next);
		MPI_Type_free(&now);
		now = ret ? MPI_DATATYPE_NULL : next;
	}
	if (!ret)
		ret = MPI_Type_commit(&now);
	if (!ret)
		*type = now;
	return dray_mpi_failed(ret, "a datatype of the view");
}

static inline int dray_mpi_type(const struct dray_view *view,
				MPI_Datatype *type)
{
	struct dray_mpi_axes axes;
	struct dray_view checked;
	int ret;

	if (!view || !type)
		return dray_fail(-EINVAL, "dray_mpi_type(): no view, or no "
				 "place for the type");
	ret = dray_view_init(&checked, view->data, view->dtype, view->ndim,
			     view->shape, view->strides);
	if (!ret)
		ret = dray_mpi_reduce(&checked, &axes);
	return ret ? ret : dray_mpi_build(&axes, type);
}

/*
 * Returns whether Open MPI's ranks are all on this host and share memory.  Only then the
 * peer's place is known without a message.
 */
static inline bool dray_mpi_near(void)
{
#ifdef OPEN_MPI
	const char *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
	const char *all = getenv("OMPI_COMM_WORLD_SIZE");
	const char *ways = getenv("OMPI_MCA_btl");

	return here && all && !strcmp(here, all) &&
	       (!ways || ways[0] == '^' || strstr(ways, "sm"));
#else
	return false;
#endif
}

/* Checks the arguments of a message, and decides. */
static inline int dray_mpi_plan(const struct dray_view *view, int peer,
				MPI_Comm comm, unsigned int flags, int *way,
				struct dray_mpi_axes *axes)
{
	int ranks, between, ret;

	*way = DRAY_MPI_CONTIGUOUS;
	axes->unit = MPI_BYTE;
	axes->unit_bytes = 1;
	axes->run = axes->bytes = axes->count = 0;
	if (comm == MPI_COMM_NULL)
		return dray_fail(-EINVAL, "the communicator is MPI_COMM_NULL");
	ret = MPI_Comm_test_inter(comm, &between);
	if (!ret)
		ret = between ? MPI_Comm_remote_size(comm, &ranks)
			      : MPI_Comm_size(comm, &ranks);
	if (ret)
		return dray_mpi_failed(ret, "the communicator");
	if ((peer < 0 || peer >= ranks) && peer != MPI_PROC_NULL)
		return dray_fail(-EINVAL, "rank %d is out of range: the "
				 "communicator's ranks are 0 to %d", peer,
				 ranks - 1);
	if ((flags & ~(DRAY_MPI_TYPE | DRAY_MPI_GATHER)) ||
	    flags == (DRAY_MPI_TYPE | DRAY_MPI_GATHER))
		return dray_fail(-EINVAL, "flags %#x: use DRAY_MPI_TYPE, "
				 "DRAY_MPI_GATHER or 0", flags);
	ret = dray_mpi_reduce(view, axes);
	if (ret)
		return ret;
	if (!axes->count)
		*way = DRAY_MPI_CONTIGUOUS;
	else if (flags)
		*way = flags & DRAY_MPI_TYPE ? DRAY_MPI_TYPED
					     : DRAY_MPI_STAGED;
	else
		*way = axes->in_order && axes->bytes > 4096 &&
				       (axes->run * axes->unit_bytes >= 4096 ||
					dray_mpi_near())
			       ? DRAY_MPI_TYPED
			       : DRAY_MPI_STAGED;
	return 0;
}

static inline void dray_mpi_stage_drop(struct dray_mpi_stage *stage)
{
	if (__atomic_sub_fetch(&stage->users, 1, __ATOMIC_ACQ_REL))
		return;
	dray_pool_free(NULL, stage->block);
	dray_queue_destroy(stage->queue);
	dray_pool_close(stage->pool);
	free(stage);
}

/* MPI calls it when the communicator ends. */
static inline int dray_mpi_stage_end(MPI_Comm comm, int key, void *stage,
				     void *unused)
{
	(void)comm, (void)key, (void)unused;
	dray_mpi_stage_drop(DRAY_STATIC_CAST(struct dray_mpi_stage *, stage));
	return MPI_SUCCESS;
}

static inline int dray_mpi_stage_create(const struct dray_view *view,
					struct dray_mpi_stage **out)
{
	struct dray_mpi_stage *stage;
	struct dray_location location;
	struct dray_node *node = NULL;
	int ret = 0;

	stage = DRAY_STATIC_CAST(struct dray_mpi_stage *,
				 calloc(1, sizeof(*stage)));
	if (!stage)
		return dray_fail(-ENOMEM, "no memory for the staging of a "
				 "communicator");
	stage->users = 1;
	/* An engine gathers only within its node. */
	if (!dray_locate(view->data, &location) && location.pool)
		node = dray_node_ref(dray_pool_node(location.pool));
	else
		ret = dray_node_open(NULL, &node);
	if (!ret)
		ret = dray_pool_create(node, NULL, &stage->pool);
	/* The host has no engine. */
	if (!ret && strcmp(dray_node_backend(node), "host"))
		ret = dray_queue_create(node, NULL, &stage->queue);
	dray_node_unref(node);
	if (ret)
		dray_mpi_stage_drop(stage);
	else
		*out = stage;
	return ret;
}

/* Finds the stage of @comm, or makes it; the caller gets a use of it. */
static inline int dray_mpi_stage_of(const struct dray_view *view, MPI_Comm comm,
				    struct dray_mpi_stage **out)
{
	struct dray_mpi_stage *stage = NULL;
	int found, ret = 0;

	if (dray_mpi_key == MPI_KEYVAL_INVALID)
		ret = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN,
					     dray_mpi_stage_end, &dray_mpi_key,
					     NULL);
	if (!ret)
		ret = MPI_Comm_get_attr(comm, dray_mpi_key, &stage, &found);
	if (ret)
		return dray_mpi_failed(ret, "the staging of a communicator");
	if (!found) {
		ret = dray_mpi_stage_create(view, &stage);
		if (ret)
			return ret;
		ret = MPI_Comm_set_attr(comm, dray_mpi_key, stage);
		if (ret) {
			dray_mpi_stage_drop(stage);
			return dray_mpi_failed(ret, "MPI_Comm_set_attr");
		}
	}
	__atomic_add_fetch(&stage->users, 1, __ATOMIC_RELAXED);
	*out = stage;
	return 0;
}

/* Finds @bytes bytes: the block that is kept, or another if it is in use. */
static inline void *dray_mpi_stage_take(struct dray_mpi_stage *stage,
					uint64_t bytes)
{
	if (__atomic_exchange_n(&stage->busy, 1, __ATOMIC_ACQUIRE))
		return dray_pool_alloc(stage->pool, bytes, 0);
	if (stage->bytes < bytes) {
		dray_pool_free(NULL, stage->block);
		stage->block = dray_pool_alloc(stage->pool, bytes, 0);
		stage->bytes = stage->block ? bytes : 0;
	}
	if (!stage->block)
		__atomic_store_n(&stage->busy, 0, __ATOMIC_RELEASE);
	return stage->block;
}

static inline void dray_mpi_stage_put(struct dray_mpi_stage *stage, void *data)
{
	if (data && data == stage->block)
		__atomic_store_n(&stage->busy, 0, __ATOMIC_RELEASE);
	else
		dray_pool_free(NULL, data);
	dray_mpi_stage_drop(stage);
}

/* Describes @data as @view in C order. */
static inline int dray_mpi_dense(const struct dray_view *view, void *data,
				 struct dray_view *out)
{
	return dray_view_init(out, data, view->dtype, view->ndim, view->shape,
			      NULL);
}

/* Frees all that a request uses. */
static inline void dray_mpi_drop(struct dray_mpi_request *request)
{
	if (request->made != MPI_DATATYPE_NULL)
		MPI_Type_free(&request->made);
	if (request->stage) {
		dray_dtype_unref(request->view.dtype);
		dray_mpi_stage_put(request->stage, request->data);
	}
	dray_loan_end(request->loan);
	request->loan = NULL;
	request->stage = NULL;
	request->access = 0;
}

/* Gathers into the staging, or only finds room for a receive. */
static inline int dray_mpi_begin_staged(struct dray_mpi_request *request,
					const struct dray_view *view,
					MPI_Comm comm)
{
	struct dray_view dense;
	int ret;

	ret = dray_mpi_stage_of(view, comm, &request->stage);
	if (ret)
		return ret;
	dray_view_copy(&request->view, view);
	dray_dtype_ref(view->dtype);
	request->data = dray_mpi_stage_take(
		request->stage, DRAY_STATIC_CAST(uint64_t, request->bytes));
	if (!request->data)
		return -errno;
	if (request->access & DRAY_ACCESS_WRITE)
		return 0;
	ret = dray_mpi_dense(view, request->data, &dense);
	if (ret)
		return ret;
	return request->stage->queue
		       ? dray_copy(request->stage->queue, &dense, view, 0, NULL)
		       : dray_view_assign(&dense, view);
}

/* Lends the view and finds the memory that MPI reads or writes. */
static inline int dray_mpi_begin(struct dray_mpi_request *request,
				 const struct dray_view *view,
				 unsigned int access, int timeout_ms, int peer,
				 MPI_Comm comm, unsigned int flags)
{
	struct dray_loan_options options;
	struct dray_mpi_axes axes;
	int ret, way;

	if (!request)
		return dray_fail(-EINVAL, "a message of MPI: no request");
	request->request = MPI_REQUEST_NULL;
	request->made = MPI_DATATYPE_NULL;
	request->stage = NULL;
	request->loan = NULL;
	request->access = 0;
	memset(&options, 0, sizeof(options));
	options.size = sizeof(options);
	options.to = "MPI";
	/* It refuses a bad view. */
	ret = dray_view_lend(view, access, timeout_ms, &options,
			     &request->loan);
	if (!ret)
		ret = dray_mpi_plan(view, peer, comm, flags, &way, &axes);
	if (ret) {
		dray_loan_end(request->loan);
		return ret;
	}
	request->access = access;
	request->bytes = axes.bytes;
	request->data = view->data;
	request->type = axes.unit;
	request->count = DRAY_STATIC_CAST(int, axes.bytes / axes.unit_bytes);
	if (way == DRAY_MPI_STAGED) {
		ret = dray_mpi_begin_staged(request, view, comm);
		axes.count = 0;
		axes.run = axes.bytes / axes.unit_bytes;
	}
	if (!ret && (axes.count || axes.run > INT_MAX)) {
		ret = dray_mpi_build(&axes, &request->made);
		request->type = request->made;
		request->count = 1;
	}
	if (ret)
		dray_mpi_drop(request);
	return ret;
}

/* Scatters the @got bytes of a message; the view's others stay. */
static inline int dray_mpi_scatter(struct dray_mpi_request *request,
				   int64_t got)
{
	struct dray_view dense, before;
	void *kept;
	int ret;

	ret = dray_mpi_dense(&request->view, request->data, &dense);
	if (ret || got == request->bytes)
		return ret ? ret : dray_view_assign(&request->view, &dense);
	kept = malloc(DRAY_STATIC_CAST(size_t, request->bytes));
	if (!kept)
		return dray_fail(-ENOMEM, "no memory to scatter a short "
				 "message");
	ret = dray_mpi_dense(&request->view, kept, &before);
	if (!ret)
		ret = dray_view_assign(&before, &request->view);
	if (!ret) {
		memcpy(kept, request->data, DRAY_STATIC_CAST(size_t, got));
		ret = dray_view_assign(&request->view, &before);
	}
	free(kept);
	return ret;
}

/* Ends a request that MPI has completed with @ret. */
static inline int dray_mpi_end(struct dray_mpi_request *request, int ret,
			       const MPI_Status *status)
{
	MPI_Count got = request->bytes;

	if (!ret && status && status->MPI_SOURCE != MPI_PROC_NULL) {
		ret = dray_mpi_failed(
			MPI_Get_elements_x(status, MPI_BYTE, &got),
			"MPI_Get_elements_x");
		if (!ret && request->stage)
			ret = dray_mpi_scatter(request, got);
		if (!ret && got != request->bytes)
			ret = dray_fail(-EMSGSIZE, "the message of rank %d is "
					"%lld bytes long and the view %lld; "
					"its elements are the view's first: "
					"receive into a part of the view",
					status->MPI_SOURCE,
					DRAY_STATIC_CAST(long long, got),
					DRAY_STATIC_CAST(long long,
							 request->bytes));
	}
	dray_mpi_drop(request);
	return ret;
}

/* Ends a wait: with MPI's result @ret, and the status of a receive. */
static inline int dray_mpi_complete(struct dray_mpi_request *request, int ret,
				    MPI_Status *own, MPI_Status *status)
{
	bool receives = request->access & DRAY_ACCESS_WRITE;

	if (request->request != MPI_REQUEST_NULL) { /* failed, but not over */
		MPI_Cancel(&request->request);
		MPI_Wait(&request->request, MPI_STATUS_IGNORE);
	}
	if (!ret && receives && status && status != MPI_STATUS_IGNORE)
		*status = *own;
	return dray_mpi_end(request, ret, receives ? own : NULL);
}

static inline int dray_mpi_send(const struct dray_view *view, int dest, int tag,
				MPI_Comm comm, unsigned int flags)
{
	struct dray_mpi_request request;
	int ret;

	ret = dray_mpi_begin(&request, view, DRAY_ACCESS_READ, -1, dest, comm,
			     flags);
	if (ret)
		return ret;
	ret = MPI_Send(request.data, request.count, request.type, dest, tag,
		       comm);
	return dray_mpi_end(&request, dray_mpi_failed(ret, "MPI_Send"), NULL);
}

static inline int dray_mpi_isend(const struct dray_view *view, int dest,
				 int tag, MPI_Comm comm, unsigned int flags,
				 struct dray_mpi_request *request)
{
	int ret;

	ret = dray_mpi_begin(request, view, DRAY_ACCESS_READ, -1, dest, comm,
			     flags);
	if (ret)
		return ret;
	ret = dray_mpi_failed(MPI_Isend(request->data, request->count,
					request->type, dest, tag, comm,
					&request->request),
			      "MPI_Isend");
	if (ret)
		dray_mpi_drop(request);
	return ret;
}

static inline int dray_mpi_irecv_within(const struct dray_view *view,
					int source, int tag, MPI_Comm comm,
					int timeout_ms, unsigned int flags,
					struct dray_mpi_request *request)
{
	int ret;

	ret = dray_mpi_begin(request, view, DRAY_ACCESS_WRITE, timeout_ms,
			     source == MPI_ANY_SOURCE ? MPI_PROC_NULL : source,
			     comm, flags);
	if (ret)
		return ret;
	ret = dray_mpi_failed(MPI_Irecv(request->data, request->count,
					request->type, source, tag, comm,
					&request->request),
			      "MPI_Irecv");
	if (ret)
		dray_mpi_drop(request);
	return ret;
}

static inline int dray_mpi_irecv(const struct dray_view *view, int source,
				 int tag, MPI_Comm comm, unsigned int flags,
				 struct dray_mpi_request *request)
{
	return dray_mpi_irecv_within(view, source, tag, comm, -1, flags,
				     request);
}

static inline int dray_mpi_recv(const struct dray_view *view, int source,
				int tag, MPI_Comm comm, int timeout_ms,
				unsigned int flags, MPI_Status *status)
{
	struct dray_mpi_request request;
	double left, start = MPI_Wtime();
	int ret;

	ret = dray_mpi_irecv_within(view, source, tag, comm, timeout_ms, flags,
				    &request);
	if (ret || timeout_ms < 0)
		return ret ? ret : dray_mpi_wait(&request, -1, status);
	left = timeout_ms - (MPI_Wtime() - start) * 1000;
	return dray_mpi_wait(&request,
			     left < 0 ? 0 : DRAY_STATIC_CAST(int, left),
			     status);
}

static inline int dray_mpi_wait(struct dray_mpi_request *request,
				int timeout_ms, MPI_Status *status)
{
	int cancelled = 0, done = 0, ret;
	double end;
	MPI_Status own;

	if (!request)
		return dray_fail(-EINVAL, "dray_mpi_wait(): no request");
	if (!request->access)
		return 0;
	if (timeout_ms < 0)
		return dray_mpi_complete(
			request,
			dray_mpi_failed(MPI_Wait(&request->request, &own),
					"MPI_Wait"),
			&own, status);
	end = MPI_Wtime() + timeout_ms / 1000.;
	do {
		ret = dray_mpi_failed(MPI_Test(&request->request, &done, &own),
				      "MPI_Test");
		if (!ret && !done)
			sched_yield();
	} while (!ret && !done && MPI_Wtime() < end);
	if (!ret && !done && request->access == DRAY_ACCESS_READ)
		return dray_fail(-ETIME, "the send is not complete after %d "
				 "ms and its memory stays lent; wait again",
				 timeout_ms);
	if (!ret && !done) {
		MPI_Cancel(&request->request);
		ret = dray_mpi_failed(MPI_Wait(&request->request, &own),
				      "MPI_Wait");
		if (!ret)
			MPI_Test_cancelled(&own, &cancelled);
		if (cancelled)
			ret = dray_fail(-ETIME, "no message after %d ms; the "
					"receive is cancelled", timeout_ms);
	}
	return dray_mpi_complete(request, ret, &own, status);
}

static inline int dray_mpi_test(struct dray_mpi_request *request, int *done,
				MPI_Status *status)
{
	MPI_Status own;
	int ret;

	if (!request || !done)
		return dray_fail(-EINVAL, "dray_mpi_test(): no request, or no "
				 "place for the answer");
	*done = 1;
	if (!request->access)
		return 0;
	ret = dray_mpi_failed(MPI_Test(&request->request, done, &own),
			      "MPI_Test");
	if (!ret && !*done)
		return 0;
	*done = 1;
	return dray_mpi_complete(request, ret, &own, status);
}

/* Writes to a window, or reads from it. */
static inline int dray_mpi_move(const struct dray_view *view,
				unsigned int access, int rank, MPI_Aint offset,
				const struct dray_view *there, MPI_Win win,
				unsigned int flags)
{
	struct dray_mpi_request request;
	bool unique = true;
	MPI_Group group;
	MPI_Datatype type;
	int *unit, found, ranks, ret;

	if (!view || !there || there->ndim != view->ndim || view->ndim < 0 ||
	    view->ndim > DRAY_MAX_NDIM ||
	    !dray_dtype_equal(there->dtype, view->dtype) ||
	    memcmp(there->shape, view->shape,
		   DRAY_STATIC_CAST(size_t, view->ndim) * sizeof(int64_t)))
		return dray_fail(-EINVAL, "the view and the target differ in "
				 "shape or type; describe the target as the "
				 "view, with its own strides");
	ret = MPI_Win_get_group(win, &group);
	if (ret)
		return dray_mpi_failed(ret, "MPI_Win_get_group");
	MPI_Group_size(group, &ranks);
	MPI_Group_free(&group);
	MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &found);
	if (rank < 0 || rank >= ranks)
		return dray_fail(-EINVAL, "rank %d is out of range: the "
				 "window's ranks are 0 to %d", rank, ranks - 1);
	if (!found || *unit != 1)
		return dray_fail(-EINVAL, "the window's displacement unit is "
				 "%d bytes; make it with 1",
				 found ? *unit : 0);
	ret = dray_mpi_type(there, &type);
	if (ret)
		return ret;
	if (access == DRAY_ACCESS_READ)
		ret = dray_view_is_unique(there, 1 << 20, &unique);
	if (!unique)
		ret = dray_fail(-EINVAL, "elements of the target share bytes; "
				"put into a target without overlap");
	if (!ret)
		ret = dray_mpi_begin(&request, view, access, -1, 0,
				     MPI_COMM_SELF, flags);
	if (!ret) {
		ret = access == DRAY_ACCESS_READ
			      ? MPI_Put(request.data, request.count,
					request.type, rank, offset, 1, type,
					win)
			      : MPI_Get(request.data, request.count,
					request.type, rank, offset, 1, type,
					win);
		if (!ret)
			ret = MPI_Win_flush(rank, win);
		ret = dray_mpi_failed(ret, "the window");
		if (!ret && request.stage && access == DRAY_ACCESS_WRITE)
			ret = dray_mpi_scatter(&request, request.bytes);
		dray_mpi_drop(&request);
	}
	MPI_Type_free(&type);
	return ret;
}

static inline int dray_mpi_put(const struct dray_view *from, int rank,
			       MPI_Aint offset, const struct dray_view *there,
			       MPI_Win win, unsigned int flags)
{
	return dray_mpi_move(from, DRAY_ACCESS_READ, rank, offset, there, win,
			     flags);
}

static inline int dray_mpi_get(const struct dray_view *to, int rank,
			       MPI_Aint offset, const struct dray_view *there,
			       MPI_Win win, unsigned int flags)
{
	return dray_mpi_move(to, DRAY_ACCESS_WRITE, rank, offset, there, win,
			     flags);
}

/* Returns the worst result of all ranks, so that none continues alone. */
static inline int dray_mpi_agree(int ret, MPI_Comm comm)
{
	int worst, failed;

	failed = dray_mpi_failed(MPI_Allreduce(&ret, &worst, 1, MPI_INT,
					       MPI_MIN, comm),
				 "MPI_Allreduce");
	if (failed || ret)
		return failed ? failed : ret;
	return worst ? dray_fail(-EREMOTEIO, "another rank failed: %s",
				 strerror(-worst))
		     : 0;
}

static inline void dray_mpi_unshare(struct dray_mpi_shared *shared)
{
	if (!shared || !shared->block)
		return;
	dray_dtype_unref(shared->view.dtype);
	dray_block_unref(shared->block);
	shared->block = NULL;
}

/* What each rank says of its array. */
struct dray_mpi_offer {
	int rank;	/* in the communicator of the caller */
	size_t size;	/* of the record */
	unsigned char record[DRAY_VIEW_RECORD_SIZE];
};

static inline int dray_mpi_share(MPI_Comm comm, const struct dray_view *mine,
				 struct dray_mpi_shared *all)
{
	struct dray_mpi_offer *offers = NULL, own;
	int ranks, neighbours, ret, i;
	MPI_Comm host;

	memset(&own, 0, sizeof(own));
	ret = MPI_Comm_size(comm, &ranks);
	if (!ret)
		ret = MPI_Comm_rank(comm, &own.rank);
	if (ret)
		return dray_mpi_failed(ret, "the communicator");
	if (all)
		memset(all, 0, DRAY_STATIC_CAST(size_t, ranks) * sizeof(*all));
	ret = dray_mpi_failed(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED,
						  own.rank, MPI_INFO_NULL,
						  &host),
			      "MPI_Comm_split_type");
	if (ret)
		return ret;
	MPI_Comm_size(host, &neighbours);
	offers = DRAY_STATIC_CAST(
		struct dray_mpi_offer *,
		calloc(DRAY_STATIC_CAST(size_t, neighbours), sizeof(own)));
	if (!all)
		ret = dray_fail(-EINVAL, "dray_mpi_share(): no place for the "
				"arrays");
	else if (!offers)
		ret = dray_fail(-ENOMEM, "no memory for %d records",
				neighbours);
	else
		ret = dray_view_export(mine, 0, own.record, sizeof(own.record),
				       &own.size);
	ret = dray_mpi_agree(ret, comm);
	if (!ret)
		ret = dray_mpi_failed(
			MPI_Allgather(&own, DRAY_STATIC_CAST(int, sizeof(own)),
				      MPI_BYTE, offers,
				      DRAY_STATIC_CAST(int, sizeof(own)),
				      MPI_BYTE, host),
			"MPI_Allgather");
	if (!ret) {
		for (i = 0; !ret && i < neighbours; i++)
			ret = dray_view_open(offers[i].record, offers[i].size,
					     NULL, &all[offers[i].rank].view,
					     &all[offers[i].rank].block);
		ret = dray_mpi_agree(ret, comm);
		for (i = 0; ret && i < ranks; i++)
			dray_mpi_unshare(&all[i]);
	}
	free(offers);
	MPI_Comm_free(&host);
	return ret;
}

/* Makes the type of elements @first to @first + @count of @axis, in place. */
static inline int dray_mpi_part(const struct dray_view *view, int axis,
				int64_t first, int64_t count, MPI_Datatype *out)
{
	MPI_Aint place = first * view->strides[axis];
	struct dray_view part;
	MPI_Datatype type;
	int one = 1, ret;

	dray_view_copy(&part, view);
	part.shape[axis] = count;
	ret = dray_mpi_type(&part, &type);
	if (ret)
		return ret;
	ret = MPI_Type_create_struct(1, &one, &place, &type, out);
	MPI_Type_free(&type);
	if (!ret)
		ret = MPI_Type_commit(out);
	return dray_mpi_failed(ret, "a datatype of a part");
}

/* What each rank says of its part. */
struct dray_mpi_claim {
	int64_t extents[2];	/* before, and behind */
	uint64_t sum;		/* of all that is the same on each rank */
};

/* Returns FNV-1a, continued from @sum. */
static inline uint64_t dray_mpi_sum(uint64_t sum, const void *bytes,
				    size_t size)
{
	const unsigned char *at =
		DRAY_STATIC_CAST(const unsigned char *, bytes);

	while (size--)
		sum = (sum ^ *at++) * 0x100000001b3;
	return sum;
}

/* Describes this rank's part. */
static inline int dray_mpi_claim_make(const struct dray_view *from,
				      int from_axis, const struct dray_view *to,
				      int to_axis, struct dray_mpi_claim *out)
{
	int axes[3] = { from->ndim, from_axis, to_axis }, i, length;
	uint64_t sum = dray_mpi_sum(0xcbf29ce484222325, axes, sizeof(axes));
	char *text;

	for (i = 0; i < from->ndim; i++)
		if (i != from_axis)
			sum = dray_mpi_sum(sum, &from->shape[i],
					   sizeof(from->shape[i]));
	length = dray_dtype_format(from->dtype, NULL, 0);
	if (length < 0)
		return length;
	text = DRAY_STATIC_CAST(
		char *, malloc(DRAY_STATIC_CAST(size_t, length) + 1));
	if (!text)
		return dray_fail(-ENOMEM, "no memory for the text of a type");
	dray_dtype_format(from->dtype, text,
			  DRAY_STATIC_CAST(size_t, length) + 1);
	out->sum = dray_mpi_sum(sum, text, DRAY_STATIC_CAST(size_t, length));
	free(text);
	out->extents[0] = from->shape[from_axis];
	out->extents[1] = to->shape[to_axis];
	return 0;
}

/* Checks that the parts of all ranks fit together; @claims are theirs. */
static inline int dray_mpi_fits(const struct dray_view *from, int from_axis,
				const struct dray_view *to, int to_axis,
				const struct dray_mpi_claim *claims, int ranks)
{
	int64_t sums[2] = { 0, 0 };
	int i;

	for (i = 0; i < ranks; i++) {
		if (claims[i].sum != claims[0].sum)
			return dray_fail(-EINVAL, "the type, axes or lengths "
					 "beside the axis differ on ranks 0 "
					 "and %d; split parts of the same "
					 "array", i);
		sums[0] += claims[i].extents[0];
		sums[1] += claims[i].extents[1];
	}
	for (i = 0; i < from->ndim; i++)
		if ((i == from_axis ? sums[0] : from->shape[i]) !=
		    (i == to_axis ? sums[1] : to->shape[i]))
			return dray_fail(-EINVAL, "axis %d of the array is "
					 "%lld elements long in the parts "
					 "before, and %lld behind; make them "
					 "the same", i,
					 DRAY_STATIC_CAST(long long,
						i == from_axis
							? sums[0]
							: from->shape[i]),
					 DRAY_STATIC_CAST(long long,
						i == to_axis ? sums[1]
							     : to->shape[i]));
	return 0;
}

static inline int dray_mpi_resplit(const struct dray_view *from, int from_axis,
				   const struct dray_view *to, int to_axis,
				   MPI_Comm comm)
{
	struct dray_mpi_claim *claims = NULL, own;
	struct dray_mpi_request send, receive;
	MPI_Datatype *types = NULL;
	struct dray_view checked;
	int64_t places[2] = { 0, 0 };
	int *ones = NULL, ranks, ret, i;
	size_t count;

	ret = MPI_Comm_size(comm, &ranks);
	if (ret)
		return dray_mpi_failed(ret, "the communicator");
	memset(&own, 0, sizeof(own));
	count = DRAY_STATIC_CAST(size_t, ranks);
	send.access = receive.access = 0;
	if (!from || !to || !dray_dtype_equal(from->dtype, to->dtype) ||
	    from->ndim != to->ndim || from_axis < 0 ||
	    from_axis >= from->ndim || to_axis < 0 || to_axis >= to->ndim ||
	    from_axis == to_axis)
		ret = dray_fail(-EINVAL, "resplit needs two views of the same "
				"type and axes, and two different axes");
	if (!ret)
		ret = dray_view_init(&checked, from->data, from->dtype,
				     from->ndim, from->shape, from->strides);
	if (!ret)
		ret = dray_view_init(&checked, to->data, to->dtype, to->ndim,
				     to->shape, to->strides);
	/* Its loan would wait for the other's. */
	if (!ret && dray_view_spans_overlap(from, to))
		ret = dray_fail(-EINVAL, "the part to write lies between the "
				"elements of the part to read; split into "
				"other memory");
	if (!ret)
		ret = dray_mpi_claim_make(from, from_axis, to, to_axis, &own);
	if (!ret) {
		types = DRAY_STATIC_CAST(MPI_Datatype *,
					 malloc(2 * count * sizeof(*types)));
		claims = DRAY_STATIC_CAST(struct dray_mpi_claim *,
					  malloc(count * sizeof(*claims)));
		ones = DRAY_STATIC_CAST(int *,
					calloc(2 * count, sizeof(*ones)));
		if (!types || !claims || !ones)
			ret = dray_fail(-ENOMEM, "no memory for %d ranks",
					ranks);
	}
	for (i = 0; types && i < 2 * ranks; i++)
		types[i] = MPI_DATATYPE_NULL;
	if (!ret)
		ret = dray_mpi_begin(&send, from, DRAY_ACCESS_READ, -1, 0,
				     MPI_COMM_SELF, DRAY_MPI_TYPE);
	if (!ret)
		ret = dray_mpi_begin(&receive, to, DRAY_ACCESS_WRITE, -1, 0,
				     MPI_COMM_SELF, DRAY_MPI_TYPE);
	ret = dray_mpi_agree(ret, comm);
	if (!ret) {
		ret = dray_mpi_failed(
			MPI_Allgather(&own, DRAY_STATIC_CAST(int, sizeof(own)),
				      MPI_BYTE, claims,
				      DRAY_STATIC_CAST(int, sizeof(own)),
				      MPI_BYTE, comm),
			"MPI_Allgather");
		if (!ret)
			ret = dray_mpi_fits(from, from_axis, to, to_axis,
					    claims, ranks);
		for (i = 0; !ret && i < ranks; i++) {
			ones[i] = 1;
			ret = dray_mpi_part(from, to_axis, places[1],
					    claims[i].extents[1], &types[i]);
			if (!ret)
				ret = dray_mpi_part(to, from_axis, places[0],
						    claims[i].extents[0],
						    &types[ranks + i]);
			places[0] += claims[i].extents[0];
			places[1] += claims[i].extents[1];
		}
		ret = dray_mpi_agree(ret, comm);
	}
	if (!ret)
		ret = dray_mpi_failed(MPI_Alltoallw(from->data, ones,
						    ones + ranks, types,
						    to->data, ones,
						    ones + ranks,
						    types + ranks, comm),
				      "MPI_Alltoallw");
	for (i = 0; types && i < 2 * ranks; i++)
		if (types[i] != MPI_DATATYPE_NULL)
			MPI_Type_free(&types[i]);
	if (receive.access)
		dray_mpi_drop(&receive);
	if (send.access)
		dray_mpi_drop(&send);
	free(types);
	free(claims);
	free(ones);
	return ret;
}

/* Asks the queue that would gather, if there is one. */
static inline int dray_mpi_explain_copy(const struct dray_view *view,
					MPI_Comm comm, uint64_t bytes,
					struct dray_explanation *out)
{
	struct dray_mpi_stage *stage;
	struct dray_view dense;
	void *data = NULL;
	int ret;

	ret = dray_mpi_stage_of(view, comm, &stage);
	if (ret)
		return ret;
	if (stage->queue) {
		data = dray_mpi_stage_take(stage, bytes);
		ret = data ? dray_mpi_dense(view, data, &dense) : -errno;
		out->size = sizeof(*out);
		if (!ret)
			ret = dray_explain(stage->queue, &dense, view, 0, out);
	}
	dray_mpi_stage_put(stage, data);
	return ret;
}

static inline int dray_mpi_explain(const struct dray_view *view, int peer,
				   MPI_Comm comm, unsigned int flags, int *way,
				   struct dray_explanation *out)
{
	struct dray_explanation own;
	struct dray_mpi_axes axes;
	struct dray_view checked;
	int ret;

	if (!view || !way)
		return dray_fail(-EINVAL, "dray_mpi_explain(): no view, or no "
				 "place for the way");
	ret = dray_view_init(&checked, view->data, view->dtype, view->ndim,
			     view->shape, view->strides);
	if (!ret)
		ret = dray_mpi_plan(&checked, peer, comm, flags, way, &axes);
	if (ret || !out)
		return ret;
	memset(&own, 0, sizeof(own));
	own.elements = DRAY_STATIC_CAST(uint64_t, dray_view_size(&checked));
	own.bytes = DRAY_STATIC_CAST(uint64_t, axes.bytes);
	own.run = DRAY_STATIC_CAST(uint64_t, axes.run * axes.unit_bytes);
	own.axes = axes.count;
	strcpy(own.reason, *way == DRAY_MPI_TYPED
				   ? "MPI moves the view as a datatype"
			   : *way == DRAY_MPI_STAGED
				   ? "the CPU copies: its node is the host"
				   : "the view is contiguous");
	if (*way == DRAY_MPI_STAGED)
		ret = dray_mpi_explain_copy(&checked, comm, own.bytes, &own);
	if (ret)
		return ret;
	return dray_result_write(out, &own, sizeof(own), sizeof(own),
				 "dray_mpi_explain");
}

#ifdef __cplusplus
}
#endif

#endif /* DRAY_MPI_H */
