// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

int side;
bool pair_errors;
struct dray_ucx_peer peer;
ucp_context_h context;
struct dray_node *node;
struct dray_pool *pool;

static int failures, line_out, deaths;

void note_failure(const char *file, int line, const char *what, long long is)
{
	if (failures++ < 8)
		fprintf(stderr, "# side %d, %s:%d: %s: %lld (%s)\n", side, file,
			line, what, is, dray_last_error());
}

int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ll + now.tv_nsec / 1000;
}

void pair_tell(const void *bytes, size_t size)
{
	if (send(line_out, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
		exit(2);
}

void pair_hear(void *bytes, size_t size)
{
	size_t done = 0;
	ssize_t got;

	while (done < size) {
		got = recv(line_out, (char *)bytes + done, size - done,
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

	if (read(deaths, &byte, 1) != 1)
		exit(4);
}

static void link_open(void)
{
	ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES,
				.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA };
	ucp_worker_params_t serial = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE
	};
	ucp_ep_params_t end = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
			      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
			      UCP_EP_PARAM_FIELD_ERR_HANDLER,
		.err_mode = pair_errors ? UCP_ERR_HANDLING_MODE_PEER
					: UCP_ERR_HANDLING_MODE_NONE,
		.err_handler = { dray_ucx_failed, &peer }
	};
	ucp_address_t *own, *other;
	ucp_worker_h worker;
	size_t size, there;

	EXPECT_OK(ucp_init(&params, NULL, &context));
	EXPECT_OK(ucp_worker_create(context, &serial, &worker));
	EXPECT_OK(ucp_worker_get_address(worker, &own, &size));
	pair_tell(&size, sizeof(size));
	pair_tell(own, size);
	pair_hear(&there, sizeof(there));
	other = malloc(there);
	pair_hear(other, there);
	end.address = other;
	peer.worker = worker;
	EXPECT_OK(ucp_ep_create(worker, &end, &peer.ep));
	ucp_worker_release_address(worker, own);
	free(other);
	EXPECT_OK(dray_node_open("host:shareable", &node));
	EXPECT_OK(dray_pool_create(node, NULL, &pool));
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
	if (UCS_PTR_IS_PTR(closing)) {
		while (ucp_request_check_status(closing) == UCS_INPROGRESS)
			ucp_worker_progress(peer.worker);
		ucp_request_free(closing);
	}
	ucp_worker_destroy(peer.worker);
	ucp_cleanup(context);
	dray_pool_close(pool);
	/* All memory is free. */
	EXPECT_OK(dray_node_list(node, NULL, 0, &count));
	EXPECT_IS(count, 0);
	dray_node_unref(node);
}

/* Is a side: its exit status says whether all held. */
static void side_run(const struct fact *fact, int *lines, int *said)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* if a limit ends the program */
	line_out = lines[side];
	close(lines[!side]);
	deaths = said[0];
	close(said[1]);
	link_open();
	pair_meet();
	fact->run();
	if (!fact->dies)
		pair_meet();
	link_close();
	fflush(NULL);
	_exit(!!failures);
}

static int fact_holds(const struct fact *fact)
{
	int lines[2], said[2], status, good = 1;
	pid_t sides[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, lines) || pipe(said))
		return 0;
	for (side = 0; side < 2; side++) {
		sides[side] = fork();
		if (!sides[side])
			side_run(fact, lines, said);
	}
	close(lines[0]);
	close(lines[1]);
	close(said[0]);
	if (fact->dies) {
		waitpid(sides[1], &status, WUNTRACED);
		good = WIFSIGNALED(status) || WIFSTOPPED(status);
		if (write(said[1], "", 1) != 1)
			good = 0;
	}
	waitpid(sides[0], &status, 0);
	good &= !status;
	if (fact->dies) {
		kill(sides[1], SIGKILL); /* it may be stopped */
		waitpid(sides[1], NULL, 0);
	} else {
		waitpid(sides[1], &status, 0);
		good &= !status;
	}
	close(said[1]);
	return good;
}

int facts_run(const struct fact *facts, int count)
{
	int i, good, failed = 0;

	for (i = 0; i < count; i++) {
		if (facts[i].dies && !pair_errors) {
			printf("ok %d - %s # SKIP no errors of peers\n", i + 1,
			       facts[i].name);
			continue;
		}
		good = fact_holds(&facts[i]);
		failed += !good;
		printf("%sok %d - %s\n", good ? "" : "not ", i + 1,
		       facts[i].name);
		fflush(stdout);
	}
	printf("1..%d\n", count);
	return !!failed;
}
