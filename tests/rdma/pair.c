// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

enum {
	LINE_PORT = 7000,
	LINE_SECONDS = 300, /* until the other machine has booted */
	FACT_SECONDS = 200
};

int side;
bool pair_errors, pair_keys;
struct dray_ucx_peer peer;
ucp_context_h context;
struct dray_node *node;
struct dray_pool *pool;

static const char *address;
static bool remote;
static int failures, line = -1, listener = -1;

void note_failure(const char *file, int number, const char *what, long long is)
{
	if (failures++ < 8)
		fprintf(stderr, "# side %d, %s:%d: %s: %lld (%s)\n", side, file,
			number, what, is, dray_last_error());
}

int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ll + now.tv_nsec / 1000;
}

bool pair_on_kernel(void)
{
	const char *spec = getenv("DRAY_TEST_NODE");

	return spec && !strncmp(spec, "kernel", 6);
}

void pair_tell(const void *bytes, size_t size)
{
	if (send(line, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
		exit(2);
}

void pair_hear(void *bytes, size_t size)
{
	size_t done = 0;
	ssize_t got;

	while (done < size) {
		got = recv(line, (char *)bytes + done, size - done,
			   MSG_DONTWAIT);
		if (got > 0)
			done += (size_t)got;
		else if (!got || errno != EAGAIN)
			exit(3);
		else if (!peer.worker || !ucp_worker_progress(peer.worker))
			sched_yield();
	}
}

void pair_meet(void)
{
	char here = 1;

	pair_tell(&here, 1);
	pair_hear(&here, 1);
}

void pair_raise(int signal)
{
	/* The parent sees the end, and says so. */
	kill(getpid(), signal);
}

void pair_lose(void)
{
	char byte;

	if (recv(line, &byte, 1, 0) != 1)
		exit(4);
}

static void request_note(ucp_conn_request_h request, void *to)
{
	*(ucp_conn_request_h *)to = request;
}

/* Waits for an operation of UCX. */
static void ucx_finish(void *operation)
{
	if (!UCS_PTR_IS_PTR(operation)) {
		EXPECT_OK(UCS_PTR_STATUS(operation));
		return;
	}
	while (ucp_request_check_status(operation) == UCS_INPROGRESS)
		if (!ucp_worker_progress(peer.worker))
			sched_yield();
	ucp_request_free(operation);
}

/* Connects by the workers' addresses. */
static void link_by_worker(ucp_ep_params_t *end)
{
	ucp_address_t *own, *other;
	size_t size, there;

	EXPECT_OK(ucp_worker_get_address(peer.worker, &own, &size));
	pair_tell(&size, sizeof(size));
	pair_tell(own, size);
	pair_hear(&there, sizeof(there));
	other = malloc(there);
	pair_hear(other, there);
	end->field_mask |= UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
	end->address = other;
	EXPECT_OK(ucp_ep_create(peer.worker, end, &peer.ep));
	ucp_worker_release_address(peer.worker, own);
	free(other);
}

/* Connects side 1 to an address and a port of side 0. */
static void link_by_port(ucp_ep_params_t *end)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	ucp_listener_params_t listening = {
		.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
			      UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
		.sockaddr = { (struct sockaddr *)&at, sizeof(at) },
	};
	ucp_listener_attr_t found = {
		.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR
	};
	ucp_request_param_t how = { 0 };
	ucp_conn_request_h request = NULL;
	ucp_listener_h waiting;

	EXPECT_IS(inet_pton(AF_INET, address, &at.sin_addr), 1);
	if (side) {
		pair_hear(&at.sin_port, sizeof(at.sin_port));
		end->field_mask |=
			UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS;
		end->flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
		end->sockaddr = listening.sockaddr;
		EXPECT_OK(ucp_ep_create(peer.worker, end, &peer.ep));
	} else {
		listening.conn_handler.cb = request_note;
		listening.conn_handler.arg = &request;
		EXPECT_OK(
			ucp_listener_create(peer.worker, &listening, &waiting));
		EXPECT_OK(ucp_listener_query(waiting, &found));
		pair_tell(&((struct sockaddr_in *)&found.sockaddr)->sin_port,
			  sizeof(at.sin_port));
		while (!request)
			if (!ucp_worker_progress(peer.worker))
				sched_yield();
		end->field_mask |= UCP_EP_PARAM_FIELD_CONN_REQUEST;
		end->conn_request = request;
		EXPECT_OK(ucp_ep_create(peer.worker, end, &peer.ep));
		ucp_listener_destroy(waiting);
	}
	/* It ends once the two are connected. */
	ucx_finish(ucp_ep_flush_nbx(peer.ep, &how));
}

static void link_open(void)
{
	const char *spec = getenv("DRAY_TEST_NODE");
	ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES,
				.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA };
	ucp_worker_params_t serial = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE
	};
	ucp_ep_params_t end = {
		.field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
			      UCP_EP_PARAM_FIELD_ERR_HANDLER,
		.err_mode = pair_errors ? UCP_ERR_HANDLING_MODE_PEER
					: UCP_ERR_HANDLING_MODE_NONE,
		.err_handler = { dray_ucx_failed, &peer }
	};

	EXPECT_OK(dray_node_open(spec ? spec : "host:shareable", &node));
	EXPECT_OK(dray_pool_create(node, NULL, &pool));
	EXPECT_OK(ucp_init(&params, NULL, &context));
	EXPECT_OK(ucp_worker_create(context, &serial, &peer.worker));
	if (address)
		link_by_port(&end);
	else
		link_by_worker(&end);
}

static void link_close(void)
{
	ucp_request_param_t how = { .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
				    .flags = pair_errors
						     ? UCP_EP_CLOSE_FLAG_FORCE
						     : 0 };
	void *closing = NULL;
	size_t count;

	dray_ucx_leave(&peer);
	if (peer.ep)
		closing = ucp_ep_close_nbx(peer.ep, &how);
	if (UCS_PTR_IS_PTR(closing))
		ucx_finish(closing);
	ucp_worker_destroy(peer.worker);
	ucp_cleanup(context);
	dray_pool_close(pool);
	/* All memory is free; the module lists that of both sides. */
	EXPECT_OK(dray_node_list(node, NULL, 0, &count));
	if (remote || !pair_on_kernel())
		EXPECT_IS(count, 0);
	dray_node_unref(node);
}

/* Is a side: its exit status says whether all held. */
static void side_run(const struct fact *fact)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* if a limit ends the program */
	alarm(FACT_SECONDS);
	link_open();
	pair_meet();
	fact->run();
	if (!fact->death)
		pair_meet();
	link_close();
	fflush(NULL);
	_exit(!!failures);
}

/*
 * Runs a fact in a child, as this side.  When a child that is to die is dead or stopped,
 * says so on the line; the child stays as it is until the other side has ended.
 */
static int side_keep(const struct fact *fact)
{
	int status, good, died = fact->death && side;
	char byte = 0;
	pid_t child;

	child = fork();
	if (!child)
		side_run(fact);
	waitpid(child, &status, died ? WUNTRACED : 0);
	good = !status;
	if (died) {
		good = WIFSTOPPED(status) ||
		       (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		good &= send(line, &byte, 1, MSG_NOSIGNAL) == 1;
		while (recv(line, &byte, 1, 0) > 0)
			;
		if (WIFSTOPPED(status)) {
			kill(child, SIGKILL);
			waitpid(child, NULL, 0);
		}
	}
	close(line);
	return good;
}

/* Opens the line to the other machine: side 0 listens. */
static int line_open(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(LINE_PORT) };
	int64_t end = now_us() + LINE_SECONDS * 1000000ll;
	int fd, yes = 1;

	if (inet_pton(AF_INET, address, &at.sin_addr) != 1)
		return -1;
	if (!side && listener < 0) {
		listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes,
			   sizeof(yes));
		if (bind(listener, (struct sockaddr *)&at, sizeof(at)) ||
		    listen(listener, 1))
			return -1;
	}
	if (!side) {
		fd = accept(listener, NULL, NULL);
	} else {
		while ((fd = socket(AF_INET, SOCK_STREAM, 0)) >= 0 &&
		       connect(fd, (struct sockaddr *)&at, sizeof(at))) {
			close(fd);
			if (now_us() > end)
				return -1;
			usleep(100000);
		}
	}
	/* Two short writes in a row shall not wait for an acknowledgement. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return fd;
}

/* Runs both sides on this machine. */
static int sides_keep(const struct fact *fact)
{
	int lines[2], status, good = 1;
	pid_t sides[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, lines))
		return 0;
	for (side = 0; side < 2; side++) {
		sides[side] = fork();
		if (sides[side])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		line = lines[side];
		close(lines[!side]);
		_exit(!side_keep(fact));
	}
	close(lines[0]);
	close(lines[1]);
	for (side = 0; side < 2; side++) {
		waitpid(sides[side], &status, 0);
		good &= !status;
	}
	return good;
}

static int fact_holds(const struct fact *fact)
{
	if (!remote)
		return sides_keep(fact);
	line = line_open();
	return line >= 0 && side_keep(fact);
}

static const char *fact_lacks(const struct fact *fact)
{
	if (fact->death && !pair_errors)
		return "no errors of peers";
	if (fact->death == MACHINE_DIES && !remote)
		return "both sides are of this machine";
	return fact->lacks ? fact->lacks() : NULL;
}

/* Runs fact @number, and prints whether it holds; returns whether it does not. */
static int fact_fails(const struct fact *fact, int number)
{
	const char *lack = fact_lacks(fact);
	int good = lack || fact_holds(fact);

	printf("%sok %d - %s%s%s\n", good ? "" : "not ", number, fact->name,
	       lack ? " # SKIP " : "", lack ? lack : "");
	fflush(stdout);
	return !good;
}

int facts_run(const struct fact *const *tables, int count)
{
	const char *given = getenv("PAIR_SIDE");
	int i, k, number = 0, failed = 0;

	address = getenv("PAIR_ADDRESS");
	remote = given && address;
	if (remote)
		side = *given == '1';
	for (i = 0; i < count; i++)
		for (k = 0; tables[i][k].name; k++)
			failed += fact_fails(&tables[i][k], ++number);
	printf("1..%d\n", number);
	return !!failed;
}
