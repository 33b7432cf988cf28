// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: what fork() makes of exports and of what is open, memory for reading
 * only, and a second copy of the library in the process.
 */
#include <linux/sched.h>

#include "child.h"
#include "records.h"
#include "second_copy.h"

#define SIZE 20000

/* As where each child is in a PID namespace of its own. */
pid_t getpid(void)
{
	return 1;
}

/* In a child of the exporter: 0, or the step that was wrong. */
static int use_in_child(unsigned char *block,
			const struct dray_ipc_record *record,
			struct dray_ipc_memory *inherited)
{
	struct dray_ipc_record mine;
	struct dray_ipc_memory *memory;
	unsigned char *own;

	STEP_EQ(-ESTALE, dray_ipc_revoke(record));
	STEP_EQ(0, dray_ipc_open(record, NULL, &memory));
	STEP_TRUE(dray_ipc_data(memory) != block);
	STEP_EQ(0x42, *(unsigned char *)dray_ipc_data(memory));
	dray_ipc_close(memory);
	own = dray_pool_alloc(pool, 100, 0);
	STEP_TRUE(own);
	STEP_EQ(0, dray_ipc_export(own, 100, 0, &mine));
	STEP_EQ(0, dray_ipc_open(&mine, NULL, &memory));
	STEP_TRUE(dray_ipc_data(memory) == own);
	dray_ipc_close(memory);
	dray_pool_free(pool, own);
	dray_ipc_close(inherited);
	/* Of the parent's block, and it stays the parent's. */
	dray_pool_free(pool, block);
	return 0;
}

static pid_t raw_clone(void)
{
	struct clone_args args = { .exit_signal = SIGCHLD };

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static void exports_are_the_parents(pid_t (*make_child)(void))
{
	struct importer importer = start_importer(import_step);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_memory *memory;
	struct dray_ipc_record record;
	pid_t child;
	int status;

	memset(block, 0x42, SIZE);
	record = export_of(block, SIZE, 0);
	assert_works(dray_ipc_open(&record, NULL, &memory));
	child = make_child();
	if (!child)
		_exit(use_in_child(block, &record, memory));
	status = status_of(child);
	if (status)
		fail_msg("step %d in the child: see use_in_child()", status);
	assert_int_equal(tell(&importer, 'o', &record), 0);
	assert_int_equal(tell(&importer, 'r', NULL), 0x42);
	assert_int_equal(tell(&importer, 'k', NULL), 0);
	dray_pool_free(pool, block);
	dray_ipc_close(memory);
	assert_true(stats_of(pool).parked >= SIZE);
	stop_importer(&importer);
	becomes_true(stats_of(pool).parked == 0);
}

BRIEF(RECORDS_FACT(a_forked_childs_exports_are_its_own),
      exports_are_the_parents(fork));

RECORDS_FACT(a_cloned_childs_exports_are_its_own)
{
	pid_t child = raw_clone();

	if (!child)
		_exit(0);
	if (child < 0) {
		print_message("skipped: clone3: %s\n", strerror(errno));
		skip();
	}
	assert_int_equal(status_of(child), 0);
	exports_are_the_parents(raw_clone);
}

/* Closes what its parent has open, and does nothing else of records before. */
static int close_in_child(struct dray_ipc_memory *memory)
{
	pid_t child = clone_without_handlers();

	if (!child) {
		dray_ipc_close(memory);
		_exit(0);
	}
	return status_of(child);
}

RECORDS_FACT(a_cloned_child_may_close_first_what_is_its_parents)
{
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record =
		export_of(block, SIZE, DRAY_IPC_HANDOVER);
	struct dray_ipc_memory *memory;

	assert_works(dray_ipc_open(&record, NULL, &memory));
	assert_int_equal(close_in_child(memory), 0);
	assert_works(dray_ipc_check(memory));
	dray_ipc_close(memory);
	assert_fails(dray_ipc_open(&record, NULL, &memory), -ECONNREFUSED,
		     "exports nothing any more");
	dray_pool_free(pool, block);
}

/* Opens it, passes it on, and has a child close it. */
static int pass_on_step(char what, const struct dray_ipc_record *record)
{
	struct dray_ipc_record passed_on;
	struct dray_ipc_memory *memory;
	int status;

	STEP_EQ(0, dray_ipc_open(record, NULL, &memory));
	STEP_EQ(0, dray_ipc_export(dray_ipc_data(memory), SIZE, 0, &passed_on));
	status = close_in_child(memory);
	if (status)
		return status;
	/* The record is still this process's. */
	STEP_EQ(0, dray_ipc_revoke(&passed_on));
	dray_ipc_close(memory);
	return 0;
}

RECORDS_FACT(a_cloned_child_may_close_first_what_was_passed_on)
{
	struct importer importer = start_importer(pass_on_step);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);

	assert_int_equal(tell(&importer, 'o', &record), 0);
	stop_importer(&importer);
	dray_pool_free(pool, block);
}

RECORDS_FACT(no_child_keeps_a_record_alive)
{
	struct importer importer = start_importer(import_step);
	struct dray_ipc_record record;
	int ends[2], pipe_ends[2], status;
	pid_t exporter;
	char said[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(pipe(pipe_ends), 0);
	exporter = fork();
	if (!exporter) {
		unsigned char *block = dray_pool_alloc(pool, SIZE, 0);
		struct {
			struct dray_ipc_record record;
			pid_t child;
		} message;

		if (!block || dray_ipc_export(block, 1, 0, &message.record))
			_exit(1);
		message.child = fork();
		if (!message.child) {
			close(pipe_ends[1]);
			_exit(read(pipe_ends[0], said, 1) < 0);
		}
		_exit(send(ends[1], &message.record, sizeof(message.record),
			   0) < 0);
	}
	assert_int_equal(recv(ends[0], &record, sizeof(record), 0),
			 sizeof(record));
	assert_int_equal(waitpid(exporter, &status, 0), exporter);
	assert_int_equal(status, 0);
	/* Its child lives on, and answers for nothing. */
	assert_int_equal(tell(&importer, 'o', &record), -ECONNREFUSED);
	close(pipe_ends[1]);
	close(pipe_ends[0]);
	stop_importer(&importer);
	close(ends[0]);
	close(ends[1]);
}

/* Opens, forks, closes; the child of it lets go when it is told. */
static int fork_step(char what, const struct dray_ipc_record *record)
{
	static struct dray_ipc_memory *memory;
	static int ends[2];
	static pid_t child;
	char go;
	int status;

	if (what == 'o') {
		if (dray_ipc_open(record, NULL, &memory) || pipe(ends))
			return -1;
		child = fork();
		if (!child) {
			close(ends[1]);
			if (read(ends[0], &go, 1) < 0)
				_exit(1);
			_exit(*(unsigned char *)dray_ipc_data(memory));
		}
		dray_ipc_close(memory);
		return child < 0;
	}
	close(ends[1]);
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

RECORDS_FACT(memory_is_open_until_the_child_has_closed_it_too)
{
	struct importer importer = start_importer(fork_step);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);

	memset(block, 0x33, SIZE);
	assert_int_equal(tell(&importer, 'o', &record), 0);
	dray_pool_free(pool, block);
	block = take(pool, SIZE, 0);
	memset(block, 0, SIZE);
	assert_true(stats_of(pool).parked >= SIZE);
	assert_int_equal(tell(&importer, 'e', NULL), 0x33);
	becomes_true(stats_of(pool).parked == 0);
	stop_importer(&importer);
	dray_pool_free(pool, block);
}

/* 0: it can be read, and there is no way to write it. */
static int read_only_step(char what, const struct dray_ipc_record *record)
{
	struct dray_ipc_memory *memory;
	unsigned char *data;
	char path[64];
	int fd;

	STEP_EQ(0, dray_ipc_open(record, NULL, &memory));
	data = dray_ipc_data(memory);
	STEP_EQ(0, dray_ipc_writable(memory));
	STEP_EQ(0x44, *data);
	STEP_NE(0, mprotect(data, 4096, PROT_READ | PROT_WRITE));
	fd = dray_buffer_fd(dray_ipc_buffer(memory));
	STEP_TRUE(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
		  MAP_FAILED);
	STEP_NE(1, pwrite(fd, "x", 1, 0));
	/* By its name, for writing. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		STEP_TRUE(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			       fd, 0) == MAP_FAILED);
		STEP_NE(1, pwrite(fd, "x", 1, 0));
		close(fd);
	}
	dray_ipc_close(memory);
	return 0;
}

RECORDS_FACT(nobody_can_write_what_is_for_reading)
{
	struct importer importer = start_importer(read_only_step);
	struct dray_ipc_record record, writable;
	struct dray_buffer *buffer;

	assert_works(dray_buffer_alloc(node, 8192, NULL, &buffer));
	memset(dray_buffer_data(buffer), 0x44, 8192);
	record = export_of(dray_buffer_data(buffer), 8192, DRAY_IPC_READ_ONLY);
	assert_int_equal(tell(&importer, 'o', &record), 0);
	/* Its owner goes on writing. */
	memset(dray_buffer_data(buffer), 0x44, 8192);
	if (!on_kernel())
		assert_fails(dray_ipc_export(dray_buffer_data(buffer), 8192, 0,
					     &writable),
			     -EPERM, "exported read-only");
	dray_buffer_unref(buffer);
	stop_importer(&importer);
}

RECORDS_FACT(what_others_can_write_is_not_given_for_reading)
{
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record;
	struct dray_buffer *buffer;

	assert_works(dray_buffer_alloc(node, 4096, NULL, &buffer));
	if (on_kernel()) {
		/* A second descriptor of the same memory, each as it is. */
		export_of(dray_buffer_data(buffer), 1, 0);
		export_of(dray_buffer_data(buffer), 1, DRAY_IPC_READ_ONLY);
		export_of(block, SIZE, DRAY_IPC_READ_ONLY);
	} else {
		assert_fails(dray_ipc_export(block, SIZE, DRAY_IPC_READ_ONLY,
					     &record),
			     -EOPNOTSUPP, "exported read-only");
		export_of(dray_buffer_data(buffer), 1, 0);
		assert_fails(dray_ipc_export(dray_buffer_data(buffer), 1,
					     DRAY_IPC_READ_ONLY, &record),
			     -EPERM, "for writing already");
	}
	dray_buffer_unref(buffer);
	dray_pool_free(pool, block);
	becomes_true(stats_of(pool).parked == 0);
}

RECORDS_FACT(a_second_copy_of_the_library_is_another_importer)
{
	int (*open_copy)(const struct dray_ipc_record *, struct dray_node *,
			 struct dray_ipc_memory **);
	void *(*data_copy)(const struct dray_ipc_memory *);
	void (*close_copy)(struct dray_ipc_memory *);
	unsigned char *block = take(pool, SIZE, 0);
	struct dray_ipc_record record = export_of(block, SIZE, 0);
	struct dray_ipc_memory *memory;
	void *copy = second_copy();

	*(void **)&open_copy = dlsym(copy, "dray_ipc_open");
	*(void **)&data_copy = dlsym(copy, "dray_ipc_data");
	*(void **)&close_copy = dlsym(copy, "dray_ipc_close");
	assert_non_null(open_copy);
	assert_ptr_not_equal(open_copy, dray_ipc_open);
	memset(block, 0x66, SIZE);
	assert_int_equal(open_copy(&record, NULL, &memory), 0);
	assert_ptr_not_equal(data_copy(memory), block);
	assert_int_equal(*(unsigned char *)data_copy(memory), 0x66);
	dray_pool_free(pool, block);
	assert_true(stats_of(pool).parked >= SIZE);
	assert_int_equal(*(unsigned char *)data_copy(memory), 0x66);
	close_copy(memory);
	becomes_true(stats_of(pool).parked == 0);
}

FACTS_SHARE(set_up, tear_down)
