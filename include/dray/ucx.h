/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * ucx: views as messages of UCX, and memory that a peer writes and reads by RDMA.  Only
 * programs that use UCX 1.13 or newer include this header, and link libucp and libucs:
 * all of it is inline, and libdray links no UCX.
 *
 *	struct dray_ucx_peer peer = { .worker = worker, .ep = ep };
 *	struct dray_ucx_request sent, received;
 *
 *	ret = dray_ucx_recv(&peer, 7, &to, &received);
 *	if (ret)
 *		return ret;
 *	ret = dray_ucx_send(&peer, 7, &from, &sent);
 *	if (!ret)
 *		ret = dray_ucx_wait(&sent, 1000);
 *	if (!ret)
 *		ret = dray_ucx_wait(&received, 1000);
 *	dray_ucx_leave(&peer);
 *
 * A message is the elements in C order, so that the peer may be a program without dray,
 * and the layouts of the two sides may differ.  Context, worker and endpoint are the
 * program's; the context has UCP_FEATURE_TAG, and UCP_FEATURE_RMA for puts and gets.  The
 * endpoint has UCP_ERR_HANDLING_MODE_PEER, and dray_ucx_failed() as its handler; on a host
 * UCX then uses TCP.  Without, it uses shared memory there, and a deadline ends no send.
 *
 * Each request lends its view to "UCX" (dray/loan.h) until it has ended: it waits for
 * transfers in flight, and later ones wait for it.  Memory of DRAY_MODE_DEVICE is refused,
 * and so are elements that share bytes as a destination.
 *
 * How memory moves:
 *
 *	contiguous	UCX reads or writes the view
 *	runs		of 1 KiB and longer, at most 1024, in messages of UCX 1.16 or
 *			newer: UCX does, as a list
 *	others		through a contiguous block: dray_copy() gathers, with an engine if
 *			there is one, and the CPU scatters; also all memory that cannot be
 *			pinned, as of heaps "cma" and "carveout"
 *
 * A put or get is an operation for each run of the peer's memory.  If these runs are many
 * and shorter than 16 KiB, send the elements instead.
 *
 * A wait has a deadline, since transports find a dead machine late or never.  At its end
 * the endpoint is closed by force, and UCX ends all that was under way.  Only then is the
 * memory lent no longer.  The peer's ep is NULL afterwards; the program makes another.
 *
 * Functions return 0 or a negative errno, with a sentence as all of dray.  Errors of UCX:
 *
 *	-EMSGSIZE	the message is longer than the view; or it is shorter, and its
 *			elements are the view's first
 *	-ECONNRESET	the peer is dead or gone, or the endpoint was closed
 *	-ECONNREFUSED	UCS_ERR_REJECTED
 *	-EOPNOTSUPP	no transport of the endpoint can do it
 *	-ENOMEM		UCS_ERR_NO_MEMORY
 *	-EINVAL		wrong arguments
 *	-EIO		others
 *
 * Threads: as of the worker.  Calls for a worker and its peers are of a thread at a time.
 * In C it needs POSIX's clocks, as with -std=gnu11.
 */
#ifndef DRAY_UCX_H
#define DRAY_UCX_H

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>
#include <dray/loan.h>
#include <dray/pool.h>
#include <dray/rows.h>
#include <dray/transfer.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A peer.  The program sets worker and ep, and the rest to 0; it keeps the structure where
 * it is until dray_ucx_leave().
 */
struct dray_ucx_peer {
	ucp_worker_h worker;
	ucp_ep_h ep;		/* NULL: closed by a deadline */
	ucs_status_t status;	/* of dray_ucx_failed(); 0: none */
	struct dray_pool *pool;	/* from here for this header only */
	struct dray_queue *queue;	/* NULL: the CPU gathers */
	void *block;		/* kept for the next message */
	uint64_t bytes;		/* of the block */
	int busy;		/* whether a request uses it */
};

/**
 * A message, put or get that is under way.  The caller keeps it where it is, and reads
 * none of it, until dray_ucx_wait() or dray_ucx_test() has ended it.
 */
struct dray_ucx_request {
	struct dray_ucx_peer *peer;
	unsigned int access;	/* DRAY_ACCESS_*; 0: it has ended */
	int left;		/* operations that UCX has not ended */
	ucs_status_t status;	/* of the first that failed */
	void *receive;		/* of UCX, which can be cancelled */
	size_t got;		/* bytes that arrived */
	size_t bytes;		/* of the view */
	char *data;		/* UCX reads or writes here, or the pieces */
	struct iovec *pieces;
	ucp_rkey_h key;
	struct dray_loan *loan;
	int staged;
	struct dray_view view;	/* to scatter into */
};

/** A buffer that UCX has registered. */
struct dray_ucx_memory {
	ucp_context_h context;
	struct dray_buffer *buffer;
	ucp_mem_h handle;
};

/** Is for the error handler of an endpoint, with the peer as its argument. */
static inline void dray_ucx_failed(void *peer, ucp_ep_h ep,
				   ucs_status_t status);

/**
 * Frees what requests left with @peer, which has none under way.  The worker, and the
 * endpoint if it is open, stay the program's.
 */
static inline void dray_ucx_leave(struct dray_ucx_peer *peer);

/**
 * Begins to send @view as a message.  Waits for room and for transfers of the view.
 *
 * @tag: as of ucp_tag_send_nbx()
 *
 * Errors: as dray_view_lend(), -EINVAL (a user type), -ECONNRESET (the endpoint is
 * closed), -ENOMEM, as dray_copy(), errors of UCX.
 */
static inline int dray_ucx_send(struct dray_ucx_peer *peer, ucp_tag_t tag,
				const struct dray_view *view,
				struct dray_ucx_request *request);

/**
 * Begins to receive into @view, otherwise as dray_ucx_send().  The message may be of any
 * peer of the worker that sends with exactly this @tag.
 */
static inline int dray_ucx_recv(struct dray_ucx_peer *peer, ucp_tag_t tag,
				const struct dray_view *view,
				struct dray_ucx_request *request);

/**
 * Waits for a request, and ends it.  A request that ended before is not an error.
 *
 * @timeout_ms: milliseconds; below 0: no limit
 *
 * After -EBUSY the request is under way still, and may be waited for again; after all
 * other errors it has ended.
 *
 * Errors: -ETIME (no message: the receive is cancelled, and the endpoint stays open),
 * -ETIMEDOUT (the endpoint is closed by force), -EBUSY (UCX uses the memory still; an
 * endpoint without UCP_ERR_HANDLING_MODE_PEER stays open), -EMSGSIZE, -ECONNRESET, errors
 * of UCX.
 */
static inline int dray_ucx_wait(struct dray_ucx_request *request,
				int timeout_ms);

/**
 * Looks whether a request is complete, and then ends it.
 *
 * @done: 1: the request has ended; else 0
 *
 * Errors: -EMSGSIZE, -ECONNRESET, errors of UCX.
 */
static inline int dray_ucx_test(struct dray_ucx_request *request, int *done);

/**
 * Registers a whole buffer, and keeps a reference to it.
 *
 * @buffer: of its own, not of a pool: else a peer would reach its other blocks
 * @out: the caller ends it by dray_ucx_unmap()
 *
 * Errors: -EINVAL (a pool's buffer), -EOPNOTSUPP (memory of DRAY_MODE_DEVICE), -ENOMEM,
 * errors of UCX, as for memory that its transports cannot register.
 */
static inline int dray_ucx_map(ucp_context_h context,
			       struct dray_buffer *buffer,
			       struct dray_ucx_memory **out);

/**
 * Ends the registration, and all tickets.  The program has told the peers before, since a
 * late put may still be done: UCX keeps a registration for later, so that a network card
 * may reach the old memory, and no other; on TCP and shared memory UCX checks no key, and
 * writes to whatever the memory is now.  NULL is ignored.
 */
static inline void dray_ucx_unmap(struct dray_ucx_memory *memory);

/**
 * Writes a ticket for @view: plain bytes with address, type, shape, strides, and the key
 * of the whole buffer.  A ticket is secret: with a connection to this worker, its holder
 * reads and writes all bytes of the buffer.  Nothing is lent: the owner uses the
 * memory only when it knows, by messages, that no peer does.
 *
 * @ticket: @room bytes
 * @size: bytes of the ticket, also after -ENOSPC
 *
 * Errors: -EINVAL (a view that dray_view_init() would refuse, or that leaves the buffer;
 * a user type), -ENOSPC (too little room), errors of UCX.
 */
static inline int dray_ucx_offer(const struct dray_ucx_memory *memory,
				 const struct dray_view *view, void *ticket,
				 size_t room, size_t *size);

/**
 * Describes the view of a ticket, of which slices may be made by functions of
 * dray/view.h.  Its data is an address of the owner: no function may follow it.
 *
 * A ticket is for peers that trust each other: damage is found by a sum, which anyone can
 * compute, and dray_ucx_put() hands the key to UCX, which reads it without its length.
 *
 * @view: the caller drops the reference to its type by dray_dtype_unref()
 *
 * Errors: -EBADMSG (no ticket, or cut, or changed), -EOVERFLOW (addresses that this
 * machine does not have), as dray_dtype_parse().
 */
static inline int dray_ucx_ticket(const void *ticket, size_t size,
				  struct dray_view *view);

/**
 * Begins to write @from into the memory of a ticket.  At the request's end the elements
 * are there.
 *
 * @there: a slice of the ticket's view; NULL: all of it
 *
 * Errors: as dray_ucx_ticket() and dray_ucx_send(), -EINVAL (shapes or types that differ,
 * @there leaves the ticket's view, elements there that share bytes), -EPERM (the view was
 * offered read-only).
 */
static inline int dray_ucx_put(struct dray_ucx_peer *peer,
			       const struct dray_view *from, const void *ticket,
			       size_t size, const struct dray_view *there,
			       struct dray_ucx_request *request);

/** Begins to read from the memory of a ticket into @to, otherwise as dray_ucx_put(). */
static inline int dray_ucx_get(struct dray_ucx_peer *peer,
			       const struct dray_view *to, const void *ticket,
			       size_t size, const struct dray_view *there,
			       struct dray_ucx_request *request);

/* All below is how. */

enum {
	DRAY_UCX_RUN = 1024,	/* bytes of a run that UCX moves itself */
	DRAY_UCX_RUNS = 1024,	/* runs of a list */
	DRAY_UCX_TEXT = 4096,	/* bytes of a type's text, with the zero */
	DRAY_UCX_REAP_MS = 50,	/* for UCX to end all of a closed endpoint, */
	DRAY_UCX_REAP_ROUNDS = 100,	/* and at least so many of its rounds */
};

static inline int dray_ucx_error(ucs_status_t status, const char *call)
{
	const char *text = ucs_status_string(status);

	switch (status) {
	case UCS_OK:
		return 0;
	case UCS_ERR_MESSAGE_TRUNCATED:
		return dray_fail(-EMSGSIZE, "%s: the message is longer than "
				 "the view; receive into a larger view, or ask "
				 "ucp_tag_probe_nb() first", call);
	case UCS_ERR_NO_MEMORY:
		return dray_fail(-ENOMEM, "%s: %s", call, text);
	case UCS_ERR_INVALID_PARAM:
	case UCS_ERR_INVALID_ADDR:
		return dray_fail(-EINVAL, "%s: %s", call, text);
	case UCS_ERR_UNSUPPORTED:
	case UCS_ERR_NOT_IMPLEMENTED:
		return dray_fail(-EOPNOTSUPP, "%s: %s", call, text);
	case UCS_ERR_REJECTED:
		return dray_fail(-ECONNREFUSED, "%s: %s", call, text);
	case UCS_ERR_CANCELED:
	case UCS_ERR_UNREACHABLE:
	case UCS_ERR_NOT_CONNECTED:
	case UCS_ERR_CONNECTION_RESET:
	case UCS_ERR_TIMED_OUT:
	case UCS_ERR_ENDPOINT_TIMEOUT:
		return dray_fail(-ECONNRESET, "%s: %s; close the endpoint and "
				 "make another", call, text);
	default:
		return UCS_IS_LINK_ERROR(status) ||
				       UCS_IS_ENDPOINT_ERROR(status)
			       ? dray_fail(-ECONNRESET, "%s: %s", call, text)
			       : dray_fail(-EIO, "%s: %s", call, text);
	}
}

static inline void dray_ucx_failed(void *peer, ucp_ep_h ep, ucs_status_t status)
{
	(void)ep;
	DRAY_STATIC_CAST(struct dray_ucx_peer *, peer)->status = status;
}

static inline void dray_ucx_leave(struct dray_ucx_peer *peer)
{
	dray_pool_free(NULL, peer->block);
	dray_queue_destroy(peer->queue);
	dray_pool_close(peer->pool);
	peer->block = NULL;
	peer->queue = NULL;
	peer->pool = NULL;
	peer->bytes = 0;
}

static inline int64_t dray_ucx_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * DRAY_STATIC_CAST(int64_t, 1000000) +
	       now.tv_nsec / 1000;
}

/* Returns whether UCX has protocols that are fast for lists. */
static inline bool dray_ucx_lists(void)
{
	unsigned int major, minor, release;

	ucp_get_version(&major, &minor, &release);
	return major > 1 || minor >= 16;
}

/* Returns whether a network card's driver can pin the view's memory. */
static inline bool dray_ucx_pinnable(const struct dray_view *view)
{
	struct dray_buffer_info info;
	struct dray_location location;
	struct dray_heap_info heap;
	struct dray_node *node;

	if (dray_locate(view->data, &location))
		return true;
	node = dray_buffer_node(location.buffer);
	if (!strcmp(dray_node_backend(node), "host"))
		return true;
	return !dray_node_buffer_info(node, dray_buffer_id(location.buffer),
				      &info, sizeof(info)) &&
	       info.heap != DRAY_HEAP_ANY &&
	       !dray_node_heap(node, info.heap, &heap, sizeof(heap)) &&
	       (heap.flags & DRAY_HEAP_PINNABLE);
}

/* Makes a pool over memory that can be pinned, and a queue to gather into it. */
static inline int dray_ucx_stage(struct dray_ucx_peer *peer,
				 const struct dray_view *view)
{
	struct dray_pool_options options;
	struct dray_location location;
	struct dray_node *node = NULL;
	struct dray_heap_info heap;
	uint32_t i;
	int ret = 0;

	if (peer->pool)
		return 0;
	memset(&options, 0, sizeof(options));
	options.size = sizeof(options);
	/* An engine gathers only within its node. */
	if (!dray_locate(view->data, &location))
		node = dray_node_ref(dray_buffer_node(location.buffer));
	else
		ret = dray_node_open("host", &node);
	if (!ret && strcmp(dray_node_backend(node), "host")) {
		for (i = 0; !options.heap &&
			    !dray_node_heap(node, i, &heap, sizeof(heap)); i++)
			if (heap.flags & DRAY_HEAP_PINNABLE)
				options.heap = heap.name;
		ret = dray_queue_create(node, NULL, &peer->queue);
	}
	if (!ret)
		ret = dray_pool_create(node, &options, &peer->pool);
	dray_node_unref(node);
	if (ret)
		dray_ucx_leave(peer);
	return ret;
}

/* Finds @bytes bytes: the block that is kept, or another if it is in use. */
static inline char *dray_ucx_stage_find(struct dray_ucx_peer *peer,
					size_t bytes)
{
	if (peer->busy)
		return DRAY_STATIC_CAST(char *,
					dray_pool_alloc(peer->pool, bytes, 0));
	if (peer->bytes < bytes) {
		dray_pool_free(NULL, peer->block);
		peer->block = dray_pool_alloc(peer->pool, bytes, 0);
		peer->bytes = peer->block ? bytes : 0;
	}
	peer->busy = !!peer->block;
	return DRAY_STATIC_CAST(char *, peer->block);
}

/* Frees all that a request uses. */
static inline void dray_ucx_drop(struct dray_ucx_request *request)
{
	struct dray_ucx_peer *peer = request->peer;

	if (request->key)
		ucp_rkey_destroy(request->key);
	if (request->staged) {
		dray_dtype_unref(request->view.dtype);
		if (request->data && request->data == peer->block)
			peer->busy = 0;
		else
			dray_pool_free(NULL, request->data);
	}
	free(request->pieces);
	dray_loan_end(request->loan);
	request->access = 0;
}

/* Lists the view's runs as UCX reads them, or gathers them. */
static inline int dray_ucx_begin_runs(struct dray_ucx_request *request,
				      const struct dray_view *view, bool list,
				      size_t runs)
{
	struct dray_ucx_peer *peer = request->peer;
	struct dray_view dense;
	int ret;

	if (list) {
		request->pieces = DRAY_STATIC_CAST(
			struct iovec *,
			malloc(runs * sizeof(*request->pieces)));
		if (!request->pieces)
			return dray_fail(-ENOMEM, "no memory for %zu runs",
					 runs);
		return dray_view_iovec(view, 0, request->pieces, runs, &runs);
	}
	ret = dray_ucx_stage(peer, view);
	if (ret)
		return ret;
	request->staged = 1;
	dray_view_copy(&request->view, view);
	dray_dtype_ref(view->dtype);
	request->data = dray_ucx_stage_find(peer, request->bytes);
	if (!request->data)
		return -errno;
	if (request->access & DRAY_ACCESS_WRITE)
		return 0;
	ret = dray_view_init(&dense, request->data, view->dtype, view->ndim,
			     view->shape, NULL);
	if (ret)
		return ret;
	return peer->queue ? dray_copy(peer->queue, &dense, view, 0, NULL)
			   : dray_view_assign(&dense, view);
}

/*
 * Lends the view and finds the memory that UCX reads or writes.
 *
 * @runs: out: entries of @request->pieces; 0: UCX uses @request->data
 */
static inline int dray_ucx_begin(struct dray_ucx_request *request,
				 struct dray_ucx_peer *peer,
				 const struct dray_view *view,
				 unsigned int access, bool lists, size_t *runs)
{
	struct dray_loan_options options;
	bool unique = true, pinned;
	int ret;

	if (!request || !peer)
		return dray_fail(-EINVAL, "a message of UCX: no request, or no "
				 "peer");
	memset(request, 0, offsetof(struct dray_ucx_request, view));
	request->peer = peer;
	if (!peer->ep)
		return dray_fail(-ECONNRESET, "the endpoint is closed, by a "
				 "deadline or the program; make another");
	memset(&options, 0, sizeof(options));
	options.size = sizeof(options);
	options.to = "UCX";
	/* It refuses a bad view. */
	ret = dray_view_lend(view, access, -1, &options, &request->loan);
	if (ret)
		return ret;
	request->access = access;
	if (dray_dtype_flags(view->dtype) & DRAY_DTYPE_LOCAL)
		ret = dray_fail(-EINVAL, "elements of a user type mean nothing "
				"elsewhere; send their parts");
	if (!ret && (access & DRAY_ACCESS_WRITE))
		ret = dray_view_is_unique(view, 1 << 20, &unique);
	if (!unique)
		ret = dray_fail(-EINVAL, "elements of the view share bytes; "
				"receive into a view without overlap");
	if (!ret)
		ret = dray_view_bytes(view->dtype, view->ndim, view->shape,
				      &request->bytes);
	if (!ret)
		ret = dray_view_iovec(view, 0, NULL, 0, runs);
	if (!ret) {
		pinned = dray_ucx_pinnable(view);
		request->data = DRAY_STATIC_CAST(char *, view->data);
		lists = lists && pinned && dray_ucx_lists() &&
			*runs <= DRAY_UCX_RUNS &&
			request->bytes >= DRAY_UCX_RUN * *runs;
		if (*runs > 1 || (*runs && !pinned))
			ret = dray_ucx_begin_runs(request, view, lists, *runs);
		if (!request->pieces)
			*runs = 0;
	}
	if (ret)
		dray_ucx_drop(request);
	return ret;
}

/* Scatters the bytes of a message; the view's others stay. */
static inline int dray_ucx_scatter(struct dray_ucx_request *request)
{
	struct iovec pieces[64];
	struct dray_view dense;
	size_t count, i, n, from = 0;
	uint64_t first = 0;
	int ret;

	if (request->got == request->bytes) {
		ret = dray_view_init(&dense, request->data, request->view.dtype,
				     request->view.ndim, request->view.shape,
				     NULL);
		return ret ? ret : dray_view_assign(&request->view, &dense);
	}
	while (from < request->got) {
		ret = dray_view_iovec(&request->view, first, pieces, 64,
				      &count);
		if (ret)
			return ret;
		for (i = 0; i < 64 && first < count && from < request->got;
		     i++, first++) {
			n = pieces[i].iov_len;
			if (n > request->got - from)
				n = request->got - from;
			memcpy(pieces[i].iov_base, request->data + from, n);
			from += n;
		}
	}
	return 0;
}

/* Lets UCX stop a card whose endpoint is to end: it ends the requests before that. */
static inline void dray_ucx_settle(ucp_worker_h worker)
{
	int64_t end = dray_ucx_now() + DRAY_UCX_REAP_MS * 1000;

	while (ucp_worker_progress(worker) && dray_ucx_now() < end)
		;
}

/* Ends a request that UCX has ended. */
static inline int dray_ucx_end(struct dray_ucx_request *request, int ret)
{
	if (ret || request->status)
		dray_ucx_settle(request->peer->worker);
	if (!ret)
		ret = dray_ucx_error(request->status, "UCX");
	if (!ret && request->access == DRAY_ACCESS_WRITE) {
		if (request->staged)
			ret = dray_ucx_scatter(request);
		if (!ret && request->got != request->bytes)
			ret = dray_fail(-EMSGSIZE, "the message is %zu bytes "
					"long and the view %zu; its elements "
					"are the view's first: receive into a "
					"part of the view",
					request->got, request->bytes);
	}
	dray_ucx_drop(request);
	return ret;
}

/* Is called by UCX when an operation has ended. */
static inline void dray_ucx_sent(void *ucx, ucs_status_t status, void *user)
{
	struct dray_ucx_request *request =
		DRAY_STATIC_CAST(struct dray_ucx_request *, user);

	if (!request->status)
		request->status = status;
	request->left--;
	ucp_request_free(ucx);
}

static inline void dray_ucx_received(void *ucx, ucs_status_t status,
				     const ucp_tag_recv_info_t *info,
				     void *user)
{
	struct dray_ucx_request *request =
		DRAY_STATIC_CAST(struct dray_ucx_request *, user);

	request->receive = NULL;
	if (!status)
		request->got = info->length;
	dray_ucx_sent(ucx, status, user);
}

/* Counts an operation that UCX has begun, or notes its failure. */
static inline void dray_ucx_count(struct dray_ucx_request *request, void *ucx)
{
	if (UCS_PTR_IS_ERR(ucx)) {
		if (!request->status)
			request->status = UCS_PTR_STATUS(ucx);
	} else if (ucx) {
		request->left++;
	}
}

/* Prepares the parameters of an operation. */
static inline void dray_ucx_parameters(struct dray_ucx_request *request,
				       ucp_request_param_t *parameters)
{
	memset(parameters, 0, sizeof(*parameters));
	parameters->op_attr_mask =
		UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
	parameters->cb.send = dray_ucx_sent;
	parameters->user_data = request;
	if (request->pieces) {
		parameters->op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
		parameters->datatype = ucp_dt_make_iov();
	}
}

/* Ends a request that could not begin. */
static inline int dray_ucx_begun(struct dray_ucx_request *request)
{
	return request->status && !request->left ? dray_ucx_end(request, 0) : 0;
}

static inline int dray_ucx_send(struct dray_ucx_peer *peer, ucp_tag_t tag,
				const struct dray_view *view,
				struct dray_ucx_request *request)
{
	ucp_request_param_t parameters;
	size_t runs;
	int ret;

	ret = dray_ucx_begin(request, peer, view, DRAY_ACCESS_READ, true,
			     &runs);
	if (ret)
		return ret;
	dray_ucx_parameters(request, &parameters);
	dray_ucx_count(request,
		       runs ? ucp_tag_send_nbx(peer->ep, request->pieces, runs,
					       tag, &parameters)
			    : ucp_tag_send_nbx(peer->ep, request->data,
					       request->bytes, tag,
					       &parameters));
	return dray_ucx_begun(request);
}

static inline int dray_ucx_recv(struct dray_ucx_peer *peer, ucp_tag_t tag,
				const struct dray_view *view,
				struct dray_ucx_request *request)
{
	const ucp_tag_t whole = ~DRAY_STATIC_CAST(ucp_tag_t, 0);
	ucp_request_param_t parameters;
	size_t runs;
	void *ucx;
	int ret;

	ret = dray_ucx_begin(request, peer, view, DRAY_ACCESS_WRITE, true,
			     &runs);
	if (ret)
		return ret;
	dray_ucx_parameters(request, &parameters);
	/* UCX 1.13 returns no length from a receive that is complete at once. */
	parameters.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
	parameters.cb.recv = dray_ucx_received;
	request->left = 1;
	ucx = runs ? ucp_tag_recv_nbx(peer->worker, request->pieces, runs, tag,
				      whole, &parameters)
		   : ucp_tag_recv_nbx(peer->worker, request->data,
				      request->bytes, tag, whole, &parameters);
	if (UCS_PTR_IS_ERR(ucx)) {
		request->left = 0;
		request->status = UCS_PTR_STATUS(ucx);
	} else if (request->left) {
		request->receive = ucx;
	}
	return dray_ucx_begun(request);
}

/* Closes the endpoint by force, and lets UCX end all that it has under way. */
static inline void dray_ucx_close(struct dray_ucx_request *request)
{
	struct dray_ucx_peer *peer = request->peer;
	int64_t end = dray_ucx_now() + DRAY_UCX_REAP_MS * 1000;
	ucp_request_param_t parameters;
	void *closing = NULL;
	int rounds = 0;

	if (peer->ep) {
		memset(&parameters, 0, sizeof(parameters));
		parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
		parameters.flags = UCP_EP_CLOSE_FLAG_FORCE;
		closing = ucp_ep_close_nbx(peer->ep, &parameters);
		/* It is without UCP_ERR_HANDLING_MODE_PEER. */
		if (closing == UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM))
			return;
		peer->ep = NULL;
	}
	while ((request->left ||
		(UCS_PTR_IS_PTR(closing) &&
		 ucp_request_check_status(closing) == UCS_INPROGRESS)) &&
	       (rounds++ < DRAY_UCX_REAP_ROUNDS || dray_ucx_now() < end))
		if (!ucp_worker_progress(peer->worker))
			sched_yield();
	if (UCS_PTR_IS_PTR(closing))
		ucp_request_free(closing);
}

static inline int dray_ucx_wait(struct dray_ucx_request *request,
				int timeout_ms)
{
	struct dray_ucx_peer *peer;
	bool dead = false;
	unsigned int moved;
	int64_t end;

	if (!request)
		return dray_fail(-EINVAL, "dray_ucx_wait(): no request");
	if (!request->access)
		return 0;
	peer = request->peer;
	end = dray_ucx_now() + DRAY_STATIC_CAST(int64_t, timeout_ms) * 1000;
	while (request->left) {
		moved = ucp_worker_progress(peer->worker);
		dead = peer->status || !peer->ep;
		if (!request->left || (dead && !moved && request->receive) ||
		    (timeout_ms >= 0 && dray_ucx_now() >= end))
			break;
		if (!moved)
			sched_yield();
	}
	if (!request->left)
		return dray_ucx_end(request, 0);
	if (request->receive)
		ucp_request_cancel(peer->worker, request->receive);
	if (!request->left)
		return dray_ucx_end(
			request,
			dead ? dray_ucx_error(UCS_ERR_CONNECTION_RESET, "UCX")
			     : dray_fail(-ETIME, "no message after %d ms; the "
					 "receive is cancelled", timeout_ms));
	dray_ucx_close(request);
	if (request->left)
		return dray_fail(-EBUSY, "UCX uses the memory still, which "
				 "stays lent: wait again%s",
				 peer->ep ? "; only an endpoint with "
					    "UCP_ERR_HANDLING_MODE_PEER can be "
					    "closed"
					  : "");
	return dray_ucx_end(
		request,
		dead ? dray_ucx_error(UCS_ERR_CONNECTION_RESET, "UCX")
		     : dray_fail(-ETIMEDOUT, "not complete after %d ms; the "
				 "endpoint is closed, and the memory lent no "
				 "longer", timeout_ms));
}

static inline int dray_ucx_test(struct dray_ucx_request *request, int *done)
{
	if (!request || !done)
		return dray_fail(-EINVAL, "dray_ucx_test(): no request, or no "
				 "place for the answer");
	*done = 1;
	if (!request->access)
		return 0;
	ucp_worker_progress(request->peer->worker);
	*done = !request->left;
	return *done ? dray_ucx_end(request, 0) : 0;
}

static inline int dray_ucx_map(ucp_context_h context,
			       struct dray_buffer *buffer,
			       struct dray_ucx_memory **out)
{
	struct dray_ucx_memory *memory;
	ucp_mem_map_params_t parameters;
	struct dray_location location;
	struct dray_buffer_info info;
	int ret;

	if (!buffer || !out ||
	    dray_locate(dray_buffer_data(buffer), &location) || location.pool)
		return dray_fail(-EINVAL, "a buffer of its own is needed, as "
				 "of dray_buffer_alloc(): a peer would reach "
				 "the other blocks of a pool");
	ret = dray_node_buffer_info(dray_buffer_node(buffer),
				    dray_buffer_id(buffer), &info,
				    sizeof(info));
	if (!ret && info.mode == DRAY_MODE_DEVICE)
		return dray_fail(-EOPNOTSUPP, "only the device reaches memory "
				 "of DRAY_MODE_DEVICE; map another");
	memory = DRAY_STATIC_CAST(struct dray_ucx_memory *,
				  malloc(sizeof(*memory)));
	if (!memory)
		return dray_fail(-ENOMEM, "no memory for a registration");
	memset(&parameters, 0, sizeof(parameters));
	parameters.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
				UCP_MEM_MAP_PARAM_FIELD_LENGTH;
	parameters.address = dray_buffer_data(buffer);
	parameters.length = dray_buffer_size(buffer);
	ret = dray_ucx_error(ucp_mem_map(context, &parameters, &memory->handle),
			     "ucp_mem_map()");
	if (ret) {
		free(memory);
		return ret;
	}
	memory->context = context;
	memory->buffer = dray_buffer_ref(buffer);
	*out = memory;
	return 0;
}

static inline void dray_ucx_unmap(struct dray_ucx_memory *memory)
{
	if (!memory)
		return;
	ucp_mem_unmap(memory->context, memory->handle);
	dray_buffer_unref(memory->buffer);
	free(memory);
}

/* A ticket: this, shape, strides, the type's text with its zero, and the key. */
struct dray_ucx_head {
	uint64_t magic;		/* a version of its own for each byte order */
	uint64_t sum;		/* of all bytes behind */
	uint64_t address;	/* of the element [0, 0, ...] */
	uint32_t size;		/* bytes of all */
	uint32_t key;		/* bytes */
	uint32_t text;		/* bytes */
	uint32_t flags;		/* of the view */
	int32_t ndim;
	uint32_t reserved;	/* 0 */
};

/* "drayucx1" */
#define DRAY_UCX_MAGIC DRAY_STATIC_CAST(uint64_t, 0x3178637579617264)

/* Returns FNV-1a, which finds damage, not forgery. */
static inline uint64_t dray_ucx_sum(const void *bytes, size_t size)
{
	const unsigned char *at =
		DRAY_STATIC_CAST(const unsigned char *, bytes);
	uint64_t sum = 0xcbf29ce484222325;
	size_t i;

	for (i = 16; i < size; i++)
		sum = (sum ^ at[i]) * 0x100000001b3;
	return sum;
}

static inline int dray_ucx_offer(const struct dray_ucx_memory *memory,
				 const struct dray_view *view, void *ticket,
				 size_t room, size_t *size)
{
	char text[DRAY_UCX_TEXT], *at = DRAY_STATIC_CAST(char *, ticket);
	struct dray_ucx_head head;
	struct dray_view checked;
	int64_t low, high;
	size_t axes, key;
	char *base;
	void *packed;
	int ret;

	if (!memory || !view || !size)
		return dray_fail(-EINVAL, "dray_ucx_offer(): no memory, no "
				 "view, or no place for the size");
	ret = dray_view_init(&checked, view->data, view->dtype, view->ndim,
			     view->shape, view->strides);
	if (ret)
		return ret;
	base = DRAY_STATIC_CAST(char *, dray_buffer_data(memory->buffer));
	dray_view_span(&checked, &low, &high);
	if (low < high &&
	    (DRAY_STATIC_CAST(char *, view->data) + low < base ||
	     DRAY_STATIC_CAST(char *, view->data) + high >
		     base + dray_buffer_size(memory->buffer)))
		return dray_fail(-EINVAL, "the view leaves the mapped buffer "
				 "of %llu bytes",
				 DRAY_STATIC_CAST(unsigned long long,
					 dray_buffer_size(memory->buffer)));
	ret = dray_dtype_flags(checked.dtype) & DRAY_DTYPE_LOCAL
		      ? -1
		      : dray_dtype_format(checked.dtype, text, sizeof(text));
	if (ret < 0 || ret >= DRAY_UCX_TEXT)
		return dray_fail(-EINVAL, "the elements' type means nothing "
				 "elsewhere, or its text is longer than %d "
				 "bytes; offer parts of them", DRAY_UCX_TEXT);
	memset(&head, 0, sizeof(head));
	head.text = DRAY_STATIC_CAST(uint32_t, ret) + 1;
	ret = dray_ucx_error(ucp_rkey_pack(memory->context, memory->handle,
					   &packed, &key), "ucp_rkey_pack()");
	if (ret)
		return ret;
	axes = DRAY_STATIC_CAST(size_t, checked.ndim) * sizeof(int64_t);
	*size = sizeof(head) + 2 * axes + head.text + key;
	if (room < *size || !ticket) {
		ucp_rkey_buffer_release(packed);
		return dray_fail(-ENOSPC, "the ticket has %zu bytes, and there "
				 "is room for %zu", *size, room);
	}
	head.magic = DRAY_UCX_MAGIC;
	head.address = DRAY_REINTERPRET_CAST(uintptr_t, checked.data);
	head.size = DRAY_STATIC_CAST(uint32_t, *size);
	head.key = DRAY_STATIC_CAST(uint32_t, key);
	head.flags = view->flags;
	head.ndim = checked.ndim;
	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), checked.shape, axes);
	memcpy(at + sizeof(head) + axes, checked.strides, axes);
	memcpy(at + sizeof(head) + 2 * axes, text, head.text);
	memcpy(at + *size - key, packed, key);
	ucp_rkey_buffer_release(packed);
	head.sum = dray_ucx_sum(ticket, *size);
	memcpy(at, &head, sizeof(head));
	return 0;
}

static inline int dray_ucx_ticket(const void *ticket, size_t size,
				  struct dray_view *view)
{
	const char *at = DRAY_STATIC_CAST(const char *, ticket);
	int64_t shape[DRAY_MAX_NDIM], strides[DRAY_MAX_NDIM];
	struct dray_ucx_head head;
	dray_dtype dtype;
	size_t axes;
	int ret;

	if (!ticket || !view)
		return dray_fail(-EINVAL, "dray_ucx_ticket(): no ticket, or no "
				 "place for the view");
	memset(&head, 0, sizeof(head));
	if (size >= sizeof(head))
		memcpy(&head, ticket, sizeof(head));
	axes = head.ndim >= 0 && head.ndim <= DRAY_MAX_NDIM
		       ? DRAY_STATIC_CAST(size_t, head.ndim) * sizeof(int64_t)
		       : SIZE_MAX / 4;
	if (head.magic != DRAY_UCX_MAGIC || head.size != size ||
	    head.sum != dray_ucx_sum(ticket, size) || head.reserved ||
	    !head.text || head.text > size || !head.key || head.key > size ||
	    axes > size ||
	    sizeof(head) + 2 * axes + head.text + head.key != size ||
	    at[sizeof(head) + 2 * axes + head.text - 1])
		return dray_fail(-EBADMSG, "a ticket of %zu bytes is cut, "
				 "changed or of another version; let its owner "
				 "offer the view again", size);
	if (head.address > UINTPTR_MAX)
		return dray_fail(-EOVERFLOW, "the owner's address is beyond "
				 "the addresses of this machine");
	memcpy(shape, at + sizeof(head), axes);
	memcpy(strides, at + sizeof(head) + axes, axes);
	ret = dray_dtype_parse(at + sizeof(head) + 2 * axes, &dtype);
	if (ret)
		return ret;
	ret = dray_view_init(view,
			     DRAY_REINTERPRET_CAST(void *,
				     DRAY_STATIC_CAST(uintptr_t, head.address)),
			     dtype, head.ndim, shape, strides);
	if (ret)
		dray_dtype_unref(dtype);
	else
		view->flags = head.flags & (DRAY_READ | DRAY_WRITE);
	return ret;
}

/* Checks what a peer's memory is to be, against the view here and the ticket's. */
static inline int dray_ucx_fits(const struct dray_view *here,
				const struct dray_view *there,
				const struct dray_view *whole,
				unsigned int access)
{
	int64_t low, high, most[2];
	struct dray_view checked;
	bool unique = true;
	int ret;

	ret = dray_view_init(&checked, there->data, there->dtype, there->ndim,
			     there->shape, there->strides);
	if (ret)
		return ret;
	if (!dray_dtype_equal(here->dtype, there->dtype) ||
	    here->ndim != there->ndim ||
	    memcmp(here->shape, there->shape,
		   DRAY_STATIC_CAST(size_t, here->ndim) * sizeof(int64_t)))
		return dray_fail(-EINVAL, "the view and the ticket's differ in "
				 "shape or type; make a slice of either");
	dray_view_span(&checked, &low, &high);
	dray_view_span(whole, &most[0], &most[1]);
	low += DRAY_STATIC_CAST(char *, there->data) -
	       DRAY_STATIC_CAST(char *, whole->data);
	high += DRAY_STATIC_CAST(char *, there->data) -
		DRAY_STATIC_CAST(char *, whole->data);
	if (low < high && (low < most[0] || high > most[1]))
		return dray_fail(-EINVAL, "the slice covers bytes %lld to %lld "
				 "from the ticket's first element, which "
				 "covers %lld to %lld",
				 DRAY_STATIC_CAST(long long, low),
				 DRAY_STATIC_CAST(long long, high),
				 DRAY_STATIC_CAST(long long, most[0]),
				 DRAY_STATIC_CAST(long long, most[1]));
	if (access & DRAY_ACCESS_WRITE) /* into the view here */
		return 0;
	if (!(whole->flags & DRAY_WRITE))
		return dray_fail(-EPERM, "the owner offers the view for "
				 "reading only");
	ret = dray_view_is_unique(&checked, 1 << 20, &unique);
	if (!ret && !unique)
		ret = dray_fail(-EINVAL, "elements of the peer's view share "
				"bytes; put into a view without overlap");
	return ret;
}

/* Begins an operation for each run of the peer's memory. */
static inline int dray_ucx_runs(struct dray_ucx_request *request,
				const struct dray_view *there)
{
	ucp_ep_h ep = request->peer->ep;
	ucp_request_param_t parameters;
	struct iovec pieces[64];
	size_t count, i, at = 0;
	uint64_t first = 0, where;
	int ret;

	dray_ucx_parameters(request, &parameters);
	do {
		ret = dray_view_iovec(there, first, pieces, 64, &count);
		if (ret && !first)
			return ret;
		if (ret) { /* UCX uses the memory already */
			request->status = UCS_ERR_INVALID_PARAM;
			break;
		}
		for (i = 0; i < 64 && first < count && !request->status;
		     i++, first++) {
			where = DRAY_REINTERPRET_CAST(uintptr_t,
						      pieces[i].iov_base);
			dray_ucx_count(
				request,
				request->access == DRAY_ACCESS_READ
					? ucp_put_nbx(ep, request->data + at,
						      pieces[i].iov_len, where,
						      request->key, &parameters)
					: ucp_get_nbx(ep, request->data + at,
						      pieces[i].iov_len, where,
						      request->key,
						      &parameters));
			at += pieces[i].iov_len;
		}
	} while (first < count && !request->status);
	/* It ends when all puts before are in the peer's memory. */
	if (request->access == DRAY_ACCESS_READ && !request->status)
		dray_ucx_count(request, ucp_ep_flush_nbx(ep, &parameters));
	request->got = at;
	return 0;
}

/* Puts or gets. */
static inline int dray_ucx_move(struct dray_ucx_peer *peer,
				const struct dray_view *here,
				unsigned int access, const void *ticket,
				size_t size, const struct dray_view *there,
				struct dray_ucx_request *request)
{
	struct dray_ucx_head head;
	struct dray_view whole;
	size_t runs;
	int ret;

	ret = dray_ucx_ticket(ticket, size, &whole);
	if (ret)
		return ret;
	memcpy(&head, ticket, sizeof(head));
	there = there ? there : &whole;
	/* It refuses a bad view. */
	ret = dray_ucx_begin(request, peer, here, access, false, &runs);
	if (!ret) {
		ret = dray_ucx_fits(here, there, &whole, access);
		if (!ret)
			ret = dray_ucx_error(
				ucp_ep_rkey_unpack(
					peer->ep,
					DRAY_STATIC_CAST(const char *, ticket) +
						size - head.key,
					&request->key),
				"ucp_ep_rkey_unpack()");
		if (!ret)
			ret = dray_ucx_runs(request, there);
		if (ret)
			dray_ucx_drop(request);
		else
			ret = dray_ucx_begun(request);
	}
	dray_dtype_unref(whole.dtype);
	return ret;
}

static inline int dray_ucx_put(struct dray_ucx_peer *peer,
			       const struct dray_view *from, const void *ticket,
			       size_t size, const struct dray_view *there,
			       struct dray_ucx_request *request)
{
	return dray_ucx_move(peer, from, DRAY_ACCESS_READ, ticket, size, there,
			     request);
}

static inline int dray_ucx_get(struct dray_ucx_peer *peer,
			       const struct dray_view *to, const void *ticket,
			       size_t size, const struct dray_view *there,
			       struct dray_ucx_request *request)
{
	return dray_ucx_move(peer, to, DRAY_ACCESS_WRITE, ticket, size, there,
			     request);
}

#ifdef __cplusplus
}
#endif

#endif /* DRAY_UCX_H */
