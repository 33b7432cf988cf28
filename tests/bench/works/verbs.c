// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * RDMA on the kernel's own interface; see verbs.h.  Calls are structures that
 * are written to the device; rxe's queues are mapped, and it is told to look
 * at them.
 */
#include <glob.h>

#include <linux/netlink.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_netlink.h>

#include "verbs.h"

#define CARD "rxe0"
#define DEADLINE_S 20

/* Local write, remote write, remote read */
#define ACCESS (1 | 2 | 4)

/* What a queue pair is told, as include/rdma/ib_verbs.h counts it */
enum {
	SET_STATE = 1 << 0,
	SET_ACCESS = 1 << 3,
	SET_PARTITION = 1 << 4,
	SET_PORT = 1 << 5,
	SET_PATH = 1 << 7,
	SET_MTU = 1 << 8,
	SET_TIMEOUT = 1 << 9,
	SET_RETRIES = 1 << 10,
	SET_NOT_READY_RETRIES = 1 << 11,
	SET_RECEIVE_NUMBER = 1 << 12,
	SET_READS = 1 << 13,
	SET_NOT_READY_TIMER = 1 << 15,
	SET_SEND_NUMBER = 1 << 16,
	SET_READS_SERVED = 1 << 17,
	SET_PARTNER = 1 << 20,
};
enum {
	STATE_INIT = 1,
	STATE_RECEIVE = 2,
	STATE_SEND = 3
};
#define RELIABLE 2 /* IB_QPT_RC */
#define MTU_1024 3

/* Each call begins like this; the reply's address is its first field. */
struct call {
	struct ib_uverbs_cmd_hdr header;
	uint64_t reply;
};

static int verbs_call(int fd, uint32_t command, void *call, size_t size,
		      void *reply, size_t room)
{
	struct call *head = call;

	head->header.command = command;
	head->header.in_words = (uint16_t)(size / 4);
	head->header.out_words = (uint16_t)(room / 4);
	head->reply = (uintptr_t)reply;
	return write(fd, call, size) == (ssize_t)size ? 0 : -1;
}

/* What "rdma link add rxe0 type rxe netdev lo" does. */
static int card_make(void)
{
	struct {
		struct nlmsghdr header;
		struct {
			struct nlattr head;
			char text[8];
		} name;
		struct {
			struct nlattr head;
			char text[4];
		} type, device;
	} request = {
		.header = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
						       RDMA_NLDEV_CMD_NEWLINK),
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.name = { { 4 + sizeof(CARD), RDMA_NLDEV_ATTR_DEV_NAME }, CARD },
		.type = { { 4 + 4, RDMA_NLDEV_ATTR_LINK_TYPE }, "rxe" },
		.device = { { 4 + 3, RDMA_NLDEV_ATTR_NDEV_NAME }, "lo" },
	};
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char more[256];
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	int ret = -1;

	if (fd < 0)
		return -1;
	if (send(fd, &request, sizeof(request), 0) == sizeof(request) &&
	    recv(fd, &answer, sizeof(answer), 0) > 0) {
		errno = -answer.error.error;
		ret = !errno || errno == EEXIST ? 0 : -1;
	}
	close(fd);
	return ret;
}

static int card_open(void)
{
	int fd = -1;
	glob_t found;

	if (!glob("/dev/infiniband/uverbs*", 0, NULL, &found))
		fd = open(found.gl_pathv[0], O_RDWR | O_CLOEXEC);
	globfree(&found);
	return fd;
}

int verbs_open(struct verbs *verbs)
{
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_get_context body;
	} context = { 0 };
	struct ib_uverbs_get_context_resp context_reply;
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_alloc_pd body;
	} domain = { 0 };
	struct ib_uverbs_alloc_pd_resp domain_reply;

	if (card_make())
		return -1;
	verbs->fd = card_open();
	if (verbs->fd < 0 ||
	    verbs_call(verbs->fd, IB_USER_VERBS_CMD_GET_CONTEXT, &context,
		       sizeof(context), &context_reply,
		       sizeof(context_reply)) ||
	    verbs_call(verbs->fd, IB_USER_VERBS_CMD_ALLOC_PD, &domain,
		       sizeof(domain), &domain_reply, sizeof(domain_reply)))
		return -1;
	verbs->domain = domain_reply.pd_handle;
	return 0;
}

int verbs_register(struct verbs *verbs, const void *bytes, size_t size,
		   struct verbs_region *region)
{
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_reg_mr body;
	} call = {
		.body = {
			.start = (uintptr_t)bytes,
			.hca_va = (uintptr_t)bytes,
			.length = size,
			.pd_handle = verbs->domain,
			.access_flags = ACCESS,
		},
	};
	struct ib_uverbs_reg_mr_resp reply;

	if (verbs_call(verbs->fd, IB_USER_VERBS_CMD_REG_MR, &call, sizeof(call),
		       &reply, sizeof(reply)))
		return -1;
	region->address = (uintptr_t)bytes;
	region->length = (uint32_t)size;
	region->local_key = reply.lkey;
	region->remote_key = reply.rkey;
	return 0;
}

static struct rxe_queue_buf *queue_map(int fd, const struct mminfo *info)
{
	void *queue = mmap(NULL, info->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			   fd, (off_t)info->offset);

	return queue == MAP_FAILED ? NULL : queue;
}

static int queues_make(struct verbs *verbs)
{
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_create_cq body;
	} completions = { .body = { .cqe = 16, .comp_channel = -1 } };
	struct {
		struct ib_uverbs_create_cq_resp body;
		struct rxe_create_cq_resp queue;
	} completions_reply;
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_create_qp body;
	} pair = { 0 };
	struct {
		struct ib_uverbs_create_qp_resp body;
		struct rxe_create_qp_resp queue;
	} pair_reply;

	if (verbs_call(verbs->fd, IB_USER_VERBS_CMD_CREATE_CQ, &completions,
		       sizeof(completions), &completions_reply,
		       sizeof(completions_reply)))
		return -1;
	verbs->completions = completions_reply.body.cq_handle;
	verbs->done = queue_map(verbs->fd, &completions_reply.queue.mi);
	pair.body = (struct ib_uverbs_create_qp){
		.pd_handle = verbs->domain,
		.send_cq_handle = verbs->completions,
		.recv_cq_handle = verbs->completions,
		.max_send_wr = 4,
		.max_recv_wr = 4,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.qp_type = RELIABLE,
	};
	if (verbs_call(verbs->fd, IB_USER_VERBS_CMD_CREATE_QP, &pair,
		       sizeof(pair), &pair_reply, sizeof(pair_reply)))
		return -1;
	verbs->pair = pair_reply.body.qp_handle;
	verbs->pair_number = pair_reply.body.qpn;
	verbs->work = queue_map(verbs->fd, &pair_reply.queue.sq_mi);
	return verbs->done && verbs->work ? 0 : -1;
}

/* The place of 127.0.0.1 in the card's table of addresses, or -1. */
static int address_find(uint8_t address[16])
{
	static const uint8_t loopback[16] = {
		[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1
	};
	char path[80], text[64] = { 0 },
		       wanted[] = "0000:0000:0000:0000:0000:ffff:7f00:0001";
	int i, fd;

	memcpy(address, loopback, sizeof(loopback));
	for (i = 0; i < 16; i++) {
		snprintf(path, sizeof(path),
			 "/sys/class/infiniband/" CARD "/ports/1/gids/%d", i);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			break;
		if (read(fd, text, sizeof(text) - 1) > 0 &&
		    !strncmp(text, wanted, strlen(wanted))) {
			close(fd);
			return i;
		}
		close(fd);
	}
	errno = EADDRNOTAVAIL;
	return -1;
}

static int pair_modify(struct verbs *verbs, struct ib_uverbs_modify_qp body)
{
	struct {
		struct ib_uverbs_cmd_hdr header;
		/* this one has no reply, and no address of it */
		struct ib_uverbs_modify_qp body;
	} call = { .body = body };

	call.header.command = IB_USER_VERBS_CMD_MODIFY_QP;
	call.header.in_words = sizeof(call) / 4;
	call.body.qp_handle = verbs->pair;
	return write(verbs->fd, &call, sizeof(call)) == sizeof(call) ? 0 : -1;
}

int verbs_connect(struct verbs *verbs)
{
	struct ib_uverbs_qp_dest path = { .is_global = 1,
					  .port_num = 1,
					  .hop_limit = 64 };
	int index;

	if (queues_make(verbs))
		return -1;
	index = address_find(path.dgid);
	if (index < 0)
		return -1;
	path.sgid_index = (uint8_t)index;
	if (pair_modify(verbs, (struct ib_uverbs_modify_qp){
				       .attr_mask = SET_STATE | SET_ACCESS |
						    SET_PARTITION | SET_PORT,
				       .qp_state = STATE_INIT,
				       .qp_access_flags = ACCESS,
				       .port_num = 1,
			       }))
		return -1;
	if (pair_modify(verbs,
			(struct ib_uverbs_modify_qp){
				.attr_mask = SET_STATE | SET_PATH | SET_MTU |
					     SET_PARTNER | SET_RECEIVE_NUMBER |
					     SET_READS_SERVED |
					     SET_NOT_READY_TIMER,
				.qp_state = STATE_RECEIVE,
				.dest = path,
				.path_mtu = MTU_1024,
				.dest_qp_num = verbs->pair_number,
				.max_dest_rd_atomic = 1,
				.min_rnr_timer = 12,
			}))
		return -1;
	return pair_modify(verbs,
			   (struct ib_uverbs_modify_qp){
				   .attr_mask = SET_STATE | SET_TIMEOUT |
						SET_RETRIES |
						SET_NOT_READY_RETRIES |
						SET_SEND_NUMBER | SET_READS,
				   .qp_state = STATE_SEND,
				   .timeout = 18,
				   .retry_cnt = 7,
				   .rnr_retry = 7,
				   .max_rd_atomic = 1,
			   });
}

static void *queue_entry(struct rxe_queue_buf *queue, uint32_t index)
{
	return queue->data + ((size_t)index << queue->log2_elem_size);
}

static int doorbell(struct verbs *verbs)
{
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_post_send body;
	} call = { .body = { .qp_handle = verbs->pair,
			     .wqe_size = sizeof(struct ib_uverbs_send_wr) } };
	struct ib_uverbs_post_send_resp reply;

	return verbs_call(verbs->fd, IB_USER_VERBS_CMD_POST_SEND, &call,
			  sizeof(call), &reply, sizeof(reply));
}

static int completion_wait(struct verbs *verbs)
{
	struct rxe_queue_buf *queue = verbs->done;
	uint32_t index = queue->consumer_index & queue->index_mask;
	struct timespec begin, now;
	struct ib_uverbs_wc *done;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (index ==
	       (__atomic_load_n(&queue->producer_index, __ATOMIC_ACQUIRE) &
		queue->index_mask)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - begin.tv_sec > DEADLINE_S) {
			errno = ETIMEDOUT;
			return -1;
		}
	}
	done = queue_entry(queue, index);
	__atomic_store_n(&queue->consumer_index,
			 (index + 1) & queue->index_mask, __ATOMIC_RELEASE);
	/* its own numbers: 4 is protection, 10 remote access, 12 no answer */
	errno = done->status ? EREMOTEIO : 0;
	return done->status ? -1 : 0;
}

int verbs_copy(struct verbs *verbs, enum verbs_operation operation,
	       const struct verbs_region *ours,
	       const struct verbs_region *other)
{
	struct rxe_queue_buf *queue = verbs->work;
	uint32_t index = queue->producer_index & queue->index_mask;
	struct rxe_send_wqe *work = queue_entry(queue, index);

	memset(work, 0, sizeof(*work));
	work->wr.opcode = operation;
	work->wr.send_flags = 2; /* IB_SEND_SIGNALED */
	work->wr.wr.rdma.remote_addr = other->address;
	work->wr.wr.rdma.rkey = other->remote_key;
	work->iova = other->address;
	work->dma.length = ours->length;
	work->dma.resid = ours->length;
	work->dma.num_sge = 1;
	work->dma.sge[0] = (struct rxe_sge){
		.addr = ours->address,
		.length = ours->length,
		.lkey = ours->local_key,
	};
	__atomic_store_n(&queue->producer_index,
			 (index + 1) & queue->index_mask, __ATOMIC_RELEASE);
	return doorbell(verbs) ? -1 : completion_wait(verbs);
}
