// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Sandboxes: a filter answers a system call with EPERM or ENOSYS, as those of
 * containers and browsers do, for each call that there is.  The library works, or
 * fails with a sentence; it neither crashes, hangs nor returns an error without a
 * reason.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <dray/array.h>

#include "child.h"
#include "node.h"

/* A sanitizer makes calls of its own, and ends the program without them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_SANITIZED() skip()
#else
#define SKIP_SANITIZED()
#endif

#define CALLS 470 /* beyond the highest number of Linux 6.18 */

/* Shared with children: the steps of one, and the first that failed. */
static struct report {
	char step[32]; /* the last that began */
	char failed[32];
	int error;
	char sentence[400];
} * shared;

/* Without these no program goes on, or none can tell how it ended. */
static bool is_vital(int number)
{
	static const int vital[] = {
		SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_futex,
		SYS_mmap, SYS_munmap,	  SYS_brk,	    SYS_close,
		SYS_rseq, /* the C library ends the program */
	};

	for (size_t i = 0; i < sizeof(vital) / sizeof(vital[0]); i++)
		if (vital[i] == number)
			return true;
	return false;
}

static bool forbid(int number, int error)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 SECCOMP_RET_ERRNO | (unsigned int)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, rules };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Notes the first failure; a step that needs an earlier one is left out. */
static bool works(const char *step, int ret)
{
	if (ret && !*shared->failed) {
		snprintf(shared->failed, sizeof(shared->failed), "%s", step);
		snprintf(shared->sentence, sizeof(shared->sentence), "%s",
			 dray_last_error());
		shared->error = ret;
	}
	return !ret;
}

static bool begins(const char *step)
{
	snprintf(shared->step, sizeof(shared->step), "%s", step);
	return true;
}

static void pass_records(struct dray_array *array)
{
	struct dray_array *again;
	char record[8192];
	size_t size;

	if (!works("export", dray_view_export(whole_view(array), 0, record,
					      sizeof(record), &size)))
		return;
	if (works("open", dray_array_open(record, size, NULL, &again)))
		dray_array_unref(again);
}

static void pass_files(struct dray_array *array, const char *path)
{
	struct dray_array *again;

	if (!works("save", dray_npy_save(path, whole_view(array), 0)))
		return;
	if (works("load", dray_npy_load(path, NULL, &again)))
		dray_array_unref(again);
	if (works("map", dray_npy_map(path, DRAY_READ, &again)))
		dray_array_unref(again);
}

static void pass_packets(struct dray_node *node, struct dray_array *array)
{
	struct dray_stream *tx = NULL, *rx = NULL;
	struct dray_event *sent = NULL, *received = NULL;
	struct dray_view view = *whole_view(array);

	if (works("open tx0", dray_stream_open(node, "tx0", NULL, &tx)) &&
	    works("open rx0", dray_stream_open(node, "rx0", NULL, &rx)) &&
	    works("receive", dray_stream_recv(rx, &view, NULL, &received)) &&
	    works("send", dray_stream_send(tx, &view, NULL, &sent)))
		works("wait", dray_event_wait(received, DEADLINE * 1000));
	dray_event_unref(sent);
	dray_event_unref(received);
	if (tx)
		dray_stream_close(tx);
	if (rx)
		dray_stream_close(rx);
}

static void use_all(const char *spec, const char *path)
{
	struct dray_pool *pool = NULL;
	struct dray_node *node = NULL;
	struct dray_array *array;

	if (begins("node") && works("node", dray_node_open(spec, &node)) &&
	    begins("pool") &&
	    works("pool", dray_pool_create(node, NULL, &pool)) &&
	    begins("array") &&
	    works("array",
		  dray_array_create(pool, u1, 1, DIMS(100000), &array))) {
		begins("packets");
		pass_packets(node, array);
		begins("files");
		pass_files(array, path);
		if (strcmp(spec, "host") != 0) {
			begins("records");
			pass_records(array);
		}
		begins("publishing");
		if (works("publish", dray_publish_start()))
			dray_publish_stop();
		begins("the end");
		dray_array_unref(array);
		dray_pool_trim(pool);
	}
	if (pool)
		dray_pool_close(pool);
	dray_node_unref(node);
}

/* Returns the status of a child under the filter; 77: there are no filters. */
static int status_under(int number, int error, const char *spec,
			const char *path)
{
	pid_t child;

	memset(shared, 0, sizeof(*shared));
	child = fork();
	if (!child) {
		alarm(DEADLINE);
		if (number >= 0 && !forbid(number, error))
			_exit(77);
		use_all(spec, path);
		_exit(0);
	}
	return status_of(child);
}

static void each_call(const char *spec, int error)
{
	char folder[] = "/tmp/dray-sandbox-XXXXXX", path[64];
	int number, status, bad = 0;

	SKIP_SANITIZED();
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a.npy", folder);
	assert_int_equal(status_under(-1, 0, spec, path), 0);
	assert_string_equal(shared->failed, "");
	for (number = 0; number < CALLS; number++) {
		if (is_vital(number))
			continue;
		status = status_under(number, error, spec, path);
		if (status == 77)
			skip();
		if (!status && (!*shared->failed ||
				strstr(shared->sentence, strerror(error))))
			continue;
		print_error("call %d with %s: status %d in %s, %s: %d %s\n",
			    number, strerror(error), status, shared->step,
			    shared->failed, shared->error, shared->sentence);
		bad++;
	}
	unlink(path);
	rmdir(folder);
	assert_int_equal(bad, 0);
}

BRIEF(FACT(each_call_may_be_forbidden_on_shareable_memory),
      each_call("host:shareable", EPERM));
BRIEF(FACT(each_call_may_be_missing_on_shareable_memory),
      each_call("host:shareable", ENOSYS));
BRIEF(FACT(each_call_may_be_forbidden_on_private_memory),
      each_call("host", EPERM));
BRIEF(FACT(each_call_may_be_missing_on_private_memory),
      each_call("host", ENOSYS));

static int make_shared(void **state)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED ? -1 : 0;
}

static int drop_shared(void **state)
{
	return munmap(shared, sizeof(*shared));
}

FACTS_SHARE(make_shared, drop_shared)
