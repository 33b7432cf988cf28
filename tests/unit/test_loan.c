// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Loans on the simulated engine, which is late: what waits for a loan and what a loan
 * waits for, blocks that are freed meanwhile, children, and wrong arguments.  Packets and
 * rings are in test_loan_streams.c, queued calls in test_loan_calls.c.
 */
#include "child.h"
#include "memory/backend.h"
#include "simulated_queue.h"

static const struct dray_loan_options to_mpi = { .size = sizeof(to_mpi),
						 .to = "mpi" };
#define BOTH (DRAY_ACCESS_READ | DRAY_ACCESS_WRITE)

static struct dray_loan *lend(const struct dray_view *view, unsigned int access)
{
	struct dray_loan *loan = NULL;

	assert_works(dray_view_lend(view, access, 0, &to_mpi, &loan));
	assert_non_null(loan);
	return loan;
}

/* Part of the rows of a square. */
static struct dray_view rows(const struct dray_view *view, int64_t from,
			     int64_t to)
{
	struct dray_view out;

	assert_works(dray_view_index(
		view,
		(struct dray_index[]){ DRAY_SLICE(from, to, 1), DRAY_ALL }, 2,
		&out));
	return out;
}

QUEUE_FACT(a_block_freed_under_a_loan_is_parked_until_its_end)
{
	struct dray_view view = square(1);
	struct dray_loan *loan = lend(&view, BOTH), *second;
	void *other;

	assert_fails(dray_view_lend(&view, DRAY_ACCESS_READ, 0, NULL, &second),
		     -ETIME, "lent to mpi");
	discard(&view);
	assert_int_equal(parked(), 64 * 64);
	other = dray_pool_alloc(pool, 64 * 64, 0);
	assert_ptr_not_equal(other, view.data);
	dray_loan_end(loan);
	assert_int_equal(parked(), 0);
	dray_pool_free(pool, other);
}

/* Loans on a view and waits for it, by the access of each. */
QUEUE_FACT(only_uses_that_write_conflict)
{
	static const unsigned int accesses[] = { DRAY_ACCESS_READ,
						 DRAY_ACCESS_WRITE, BOTH };
	struct dray_view view = square(1), first = rows(&view, 0, 1),
			 last = rows(&view, 63, 64);
	struct dray_loan *loan, *second;

	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3; k++) {
			int expected = !i && !k ? 0 : -ETIME;

			loan = lend(&first, accesses[i]);
			assert_int_equal(dray_view_wait(&view, accesses[k], 0),
					 expected);
			assert_int_equal(dray_view_wait(&view, accesses[k], 1),
					 expected);
			assert_works(dray_view_wait(&last, accesses[k], 0));
			second = NULL;
			assert_int_equal(dray_view_lend(&view, accesses[k], 0,
							&to_mpi, &second),
					 expected);
			assert_int_equal(!second, expected != 0);
			dray_loan_end(second);
			dray_loan_end(loan);
			assert_works(dray_view_wait(&view, BOTH, 0));
		}
	}
	assert_false(dray_transfers_in_flight());
	discard(&view);
}

QUEUE_FACT(a_wait_names_the_loan_and_its_time)
{
	struct dray_view view = square(1);
	struct dray_loan *loan = lend(&view, DRAY_ACCESS_WRITE), *none = NULL;

	assert_true(dray_transfers_in_flight());
	assert_fails(dray_view_wait(&view, DRAY_ACCESS_READ, 20), -ETIME,
		     "still lent to mpi after 20 ms");
	assert_int_equal(dray_last_failure(), DRAY_FAILURE_LENT);
	assert_fails(dray_view_lend(&view, DRAY_ACCESS_READ, 10, NULL, &none),
		     -ETIME, "still lent to mpi after 10 ms");
	assert_null(none);
	dray_loan_end(loan);
	assert_works(dray_view_lend(&view, DRAY_ACCESS_READ, 0, NULL, &loan));
	assert_fails(dray_view_wait(&view, DRAY_ACCESS_WRITE, 0), -ETIME,
		     "lent to another engine");
	dray_loan_end(loan);
	discard(&view);
}

QUEUE_FACT(a_loan_waits_for_transfers_that_are_late)
{
	static const struct {
		bool of_source;
		unsigned int access;
		bool waits;
	} cases[] = {
		{ false, DRAY_ACCESS_READ, true },
		{ false, DRAY_ACCESS_WRITE, true },
		{ true, DRAY_ACCESS_READ, false },
		{ true, DRAY_ACCESS_WRITE, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_view dst = square(1), src = square(2);
		struct dray_view *lent = cases[i].of_source ? &src : &dst;
		struct dray_loan *loan = NULL;
		struct dray_fence *fence;

		assert_works(dray_copy(queue, &dst, &src, 0, &fence));
		assert_int_equal(dray_view_lend(lent, cases[i].access, 20, NULL,
						&loan),
				 cases[i].waits ? -ETIME : 0);
		assert_int_equal(dray_fence_status(fence), 0);
		if (cases[i].waits)
			assert_works(dray_view_lend(lent, cases[i].access, -1,
						    NULL, &loan));
		assert_int_equal(dray_fence_status(fence), cases[i].waits);
		assert_int_equal(*(unsigned char *)dst.data,
				 cases[i].waits ? 2 : 1);
		dray_loan_end(loan);
		assert_works(dray_fence_wait(fence, -1));
		dray_fence_unref(fence);
		discard(&dst);
		discard(&src);
	}
}

QUEUE_FACT(copies_do_not_begin_on_lent_memory)
{
	static const unsigned int ways[] = { DRAY_COPY_ENGINE, DRAY_COPY_CPU };
	struct dray_view dst = square(1), src = square(2);
	const struct {
		struct dray_view *lent;
		unsigned int access;
		int expected;
	} cases[] = {
		{ &dst, DRAY_ACCESS_READ, -EAGAIN },
		{ &dst, DRAY_ACCESS_WRITE, -EAGAIN },
		{ &src, DRAY_ACCESS_READ, 0 },
		{ &src, DRAY_ACCESS_WRITE, -EAGAIN },
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct dray_loan *loan =
			lend(cases[i / 2].lent, cases[i / 2].access);
		unsigned int calls = engine.calls;
		int ret = dray_copy(queue, &dst, &src,
				    ways[i & 1] | DRAY_COPY_NONBLOCK, NULL);

		assert_int_equal(ret, cases[i / 2].expected);
		if (ret)
			assert_non_null(
				strstr(dray_last_error(), "lent to mpi"));
		if (ret)
			assert_int_equal(dray_last_failure(),
					 DRAY_FAILURE_LENT);
		assert_int_equal(engine.calls - calls, !ret && !(i & 1));
		dray_loan_end(loan);
		assert_works(dray_copy(queue, &dst, &src, ways[i & 1], NULL));
	}
	discard(&dst);
	discard(&src);
}

QUEUE_FACT(a_fill_does_not_begin_on_lent_memory)
{
	struct dray_view dst = square(1);
	struct dray_loan *loan = lend(&dst, DRAY_ACCESS_READ);

	assert_fails(dray_fill(queue, &dst, "\7", DRAY_COPY_NONBLOCK, NULL),
		     -EAGAIN, "lent to mpi");
	dray_loan_end(loan);
	assert_works(dray_fill(queue, &dst, "\7", DRAY_COPY_NONBLOCK, NULL));
	assert_int_equal(*(unsigned char *)dst.data, 7);
	discard(&dst);
}

static void *end_later(void *loan)
{
	usleep(20000);
	dray_loan_end(loan);
	return NULL;
}

/* Ends a loan soon, from another thread. */
static pthread_t end_soon(struct dray_loan *loan)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, end_later, loan), 0);
	return thread;
}

QUEUE_FACT(the_end_of_a_loan_wakes_all_that_wait)
{
	static const unsigned int ways[] = { DRAY_COPY_ENGINE, DRAY_COPY_CPU };
	struct dray_view dst = square(1), src = square(2);
	struct dray_loan *loan;
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		thread = end_soon(lend(&dst, BOTH));
		assert_works(dray_copy(queue, &dst, &src, ways[i], NULL));
		assert_int_equal(*(unsigned char *)dst.data, 2);
		pthread_join(thread, NULL);
	}
	thread = end_soon(lend(&dst, BOTH));
	assert_works(dray_view_wait(&dst, DRAY_ACCESS_READ, DEADLINE * 1000));
	pthread_join(thread, NULL);
	thread = end_soon(lend(&dst, BOTH));
	assert_works(dray_view_lend(&dst, BOTH, -1, NULL, &loan));
	pthread_join(thread, NULL);
	dray_loan_end(loan);
	discard(&dst);
	discard(&src);
}

static void nothing_on_signal(int number)
{
	(void)number;
}

static void *signal_later(void *thread)
{
	usleep(20000);
	pthread_kill(*(pthread_t *)thread, SIGUSR1);
	return NULL;
}

QUEUE_FACT(a_signal_ends_a_wait_for_a_loan)
{
	const struct sigaction action = { .sa_handler = nothing_on_signal };
	struct dray_view dst = square(1), src = square(2);
	struct dray_loan *loan = lend(&dst, BOTH);
	pthread_t self = pthread_self(), thread;

	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	pthread_create(&thread, NULL, signal_later, &self);
	assert_fails(dray_copy(queue, &dst, &src, 0, NULL), -EINTR,
		     "lent to mpi");
	pthread_join(thread, NULL);
	assert_int_equal(engine.calls, 0);
	dray_loan_end(loan);
	discard(&dst);
	discard(&src);
}

static struct dray_view submitted;
static int lent_while_submitted, waited_while_submitted;

static void lend_meanwhile(void)
{
	struct dray_loan *loan = NULL;

	lent_while_submitted =
		dray_view_lend(&submitted, DRAY_ACCESS_READ, 1, NULL, &loan);
	waited_while_submitted =
		dray_view_wait(&submitted, DRAY_ACCESS_READ, 0);
}

QUEUE_FACT(no_loan_begins_while_a_transfer_is_submitted)
{
	struct dray_view src = square(2);

	submitted = square(1);
	engine.full = lend_meanwhile;
	assert_works(dray_copy(queue, &submitted, &src, 0, NULL));
	assert_int_equal(lent_while_submitted, -ETIME);
	assert_int_equal(waited_while_submitted, -ETIME);
	/* Nothing stays of a submission that fails. */
	engine.full = lend_meanwhile;
	engine.errors[0] = -EIO;
	assert_int_equal(dray_copy(queue, &submitted, &src, 0, NULL), -EIO);
	assert_int_equal(lent_while_submitted, -ETIME);
	assert_works(dray_view_wait(&submitted, BOTH, 0));
	discard(&submitted);
	discard(&src);
}

QUEUE_FACT(bytes_of_a_buffer_are_lent)
{
	struct dray_buffer *buffer;
	struct dray_loan *loan;
	struct dray_view half, rest;
	uint64_t size;
	char *data;

	assert_works(dray_buffer_alloc(node, 65536, NULL, &buffer));
	size = dray_buffer_size(buffer);
	data = dray_buffer_data(buffer);
	assert_works(dray_view_init(&half, data, u1, 1, DIMS(4096), NULL));
	assert_works(
		dray_view_init(&rest, data + 4096, u1, 1, DIMS(4096), NULL));
	assert_works(
		dray_buffer_lend(buffer, 0, 4096, BOTH, 0, &to_mpi, &loan));
	assert_fails(dray_view_wait(&half, DRAY_ACCESS_READ, 0), -ETIME,
		     "lent to mpi");
	assert_works(dray_view_wait(&rest, BOTH, 0));
	assert_fails(dray_buffer_lend(buffer, 1, size, BOTH, 0, NULL, &loan),
		     -EINVAL, "of a buffer of 65536");
	assert_fails(
		dray_buffer_lend(buffer, UINT64_MAX, 2, BOTH, 0, NULL, &loan),
		-EINVAL,
		"2 bytes from 18446744073709551615 of a buffer of 65536; lend");
	/* The loan keeps it. */
	dray_buffer_unref(buffer);
	data[4095] = 1;
	dray_loan_end(loan);
}

QUEUE_FACT(bytes_of_a_block_hold_it_through_its_buffer)
{
	struct dray_view view = square(1);
	struct dray_location where;
	struct dray_loan *loan;

	assert_works(dray_locate(view.data, &where));
	assert_works(dray_buffer_lend(where.buffer, where.offset, 64 * 64, BOTH,
				      0, NULL, &loan));
	discard(&view);
	assert_int_equal(parked(), 64 * 64);
	dray_loan_end(loan);
	assert_int_equal(parked(), 0);
	/* Bytes of several blocks do not hold any. */
	view = square(1);
	assert_works(dray_buffer_lend(where.buffer, 0,
				      dray_buffer_size(where.buffer), BOTH, 0,
				      NULL, &loan));
	discard(&view);
	assert_int_equal(parked(), 0);
	dray_loan_end(loan);
}

QUEUE_FACT(memory_of_the_program_can_be_lent)
{
	static char bytes[100];
	struct dray_view view;
	struct dray_loan *loan;

	assert_works(dray_view_init(&view, bytes, u1, 1, DIMS(100), NULL));
	loan = lend(&view, BOTH);
	assert_fails(dray_view_wait(&view, DRAY_ACCESS_READ, 0), -ETIME,
		     "lent to mpi");
	dray_loan_end(loan);
	view.shape[0] = 0;
	loan = lend(&view, BOTH);
	dray_loan_end(loan);
}

QUEUE_FACT(device_only_memory_is_lent_as_a_dmabuf_alone)
{
	const struct dray_loan_options dmabuf = { .flags = DRAY_LOAN_DMABUF };
	struct dray_view view = square(1);
	struct dray_loan *loan = NULL;
	struct dray_location where;
	enum dray_mode mode;

	assert_works(dray_locate(view.data, &where));
	mode = dray_buffer_mode(where.buffer);
	where.buffer->mode = DRAY_MODE_DEVICE; /* as a carve-out may be */
	assert_fails(dray_view_lend(&view, BOTH, 0, &to_mpi, &loan),
		     -EOPNOTSUPP, "is not mapped for the CPU");
	assert_null(loan);
	assert_fails(dray_buffer_lend(where.buffer, 0, 1, BOTH, 0, NULL, &loan),
		     -EOPNOTSUPP, "is not mapped for the CPU");
	assert_works(dray_view_lend(&view, BOTH, 0, &dmabuf, &loan));
	dray_loan_end(loan);
	where.buffer->mode = mode;
	discard(&view);
}

QUEUE_FACT(wrong_arguments_are_refused)
{
	const struct dray_loan_options
		unnamed = { .to = "" },
		flags = { .flags = 6 }, reserved = { .reserved = 5 },
		named_badly = { .to = "m\n" },
		named_long = { .to = "01234567890123456789012345678901" },
		named_longest = { .to = "0123456789012345678901234567890" };
	struct dray_view view = square(1), other = view, wrong = view,
			 repeated = view, tangled = view, beyond = view,
			 secret = view;
	const struct {
		const struct dray_view *view;
		unsigned int access;
		const struct dray_loan_options *options;
		int error;
		const char *part;
	} cases[] = {
		{ &view, 0, NULL, -EINVAL, "access 0x0" },
		{ &view, 4, NULL, -EINVAL, "access 0x4" },
		{ &view, BOTH, &unnamed, -EINVAL, "0 bytes, not 1 to 31" },
		{ &view, BOTH, &named_badly, -EINVAL,
		  "byte 1 of an engine's name" },
		{ &view, BOTH, &named_long, -EINVAL, "32 bytes, not 1 to 31" },
		{ &view, BOTH, &flags, -EINVAL, "unknown flags 0x6" },
		{ &view, BOTH, &reserved, -EINVAL, "reserved is 0x5" },
		{ &wrong, BOTH, NULL, -EINVAL, "the view" },
		{ &beyond, BOTH, NULL, -EINVAL, "leaves its block" },
		{ &other, BOTH, NULL, -EPERM, "read-only" },
		{ &repeated, DRAY_ACCESS_WRITE, NULL, -EINVAL, "one address" },
		{ &tangled, DRAY_ACCESS_WRITE, NULL, -EINVAL, "share bytes" },
		{ &secret, DRAY_ACCESS_READ, NULL, -EPERM, "may not be read" },
	};
	struct dray_loan *loan = NULL;

	wrong.ndim = 99;
	other.flags &= ~(unsigned int)DRAY_WRITE;
	repeated.strides[0] = 0;
	tangled.strides[0] = tangled.strides[1];
	beyond.shape[0] = 65;
	secret.flags &= ~(unsigned int)DRAY_READ;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ret = dray_view_lend(cases[i].view, cases[i].access, 0,
					 cases[i].options, &loan);

		if (ret != cases[i].error ||
		    !strstr(dray_last_error(), cases[i].part))
			fail_msg("case %zu: %d, %s", i, ret, dray_last_error());
		assert_null(loan);
	}
	assert_false(dray_transfers_in_flight());
	assert_works(dray_view_lend(&other, DRAY_ACCESS_READ, 0, &named_longest,
				    &loan));
	assert_fails(dray_view_wait(&view, DRAY_ACCESS_WRITE, 0), -ETIME,
		     "lent to 0123456789012345678901234567890");
	dray_loan_end(loan);
	discard(&view);
}

/* A child has no loan of its parent's, and ends none. */
QUEUE_FACT(a_child_waits_for_no_loan_of_its_parent)
{
	struct dray_view view = square(1);
	struct dray_loan *loan = lend(&view, BOTH);
	pid_t child = fork();

	if (!child) {
		struct dray_loan *own;

		if (dray_transfers_in_flight() ||
		    dray_view_wait(&view, DRAY_ACCESS_WRITE, 0) ||
		    dray_view_lend(&view, BOTH, 0, NULL, &own) ||
		    dray_view_wait(&view, DRAY_ACCESS_READ, 0) != -ETIME)
			_exit(1);
		dray_loan_end(own);
		discard(&view);
		if (parked() != 64 * 64)
			_exit(2);
		dray_loan_end(loan);
		_exit(dray_transfers_in_flight() ? 3 : parked() ? 4 : 0);
	}
	assert_int_equal(status_of(child), 0);
	assert_fails(dray_view_wait(&view, DRAY_ACCESS_READ, 0), -ETIME,
		     "lent to mpi");
	dray_loan_end(loan);
	assert_works(dray_view_wait(&view, DRAY_ACCESS_WRITE, 0));
	discard(&view);
}

/* A loan of a parent's thread ends while a child is made, or not. */
QUEUE_FACT(forks_pass_threads_that_lend)
{
	struct dray_view view = square(1);

	for (int i = 0; i < 20; i++) {
		pthread_t thread = end_soon(lend(&view, BOTH));
		pid_t child = fork();

		if (!child)
			_exit(dray_view_wait(&view, DRAY_ACCESS_WRITE, 0) != 0);
		assert_int_equal(status_of(child), 0);
		pthread_join(thread, NULL);
	}
	discard(&view);
}

/* A process that is killed holds nothing that others would wait for. */
QUEUE_FACT(a_killed_process_ends_its_loans)
{
	struct dray_view view = square(1);
	int ends[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		lend(&view, BOTH);
		if (write(ends[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	kill(child, SIGKILL);
	assert_int_equal(status_of(child), -SIGKILL);
	assert_works(dray_view_wait(&view, BOTH, 0));
	close(ends[0]);
	close(ends[1]);
	discard(&view);
}

#define LENDERS 4

static struct dray_view contended;
static uint64_t sum; /* without a lock: loans that write exclude each other */

static void *lend_in_turn(void *failed)
{
	for (int i = 0; i < 200; i++) {
		unsigned int access = i % 4 ? DRAY_ACCESS_READ : BOTH;
		struct dray_loan *loan;

		if (dray_view_lend(&contended, access, DEADLINE * 1000, &to_mpi,
				   &loan))
			return failed;
		if (access == BOTH)
			sum++;
		else if (sum > LENDERS * 50)
			return failed;
		dray_loan_end(loan);
	}
	return NULL;
}

QUEUE_FACT(threads_lend_in_turn)
{
	pthread_t threads[LENDERS];
	void *failed;

	contended = square(1);
	sum = 0;
	for (int i = 0; i < LENDERS; i++)
		pthread_create(&threads[i], NULL, lend_in_turn, &sum);
	for (int i = 0; i < LENDERS; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	assert_int_equal(sum, LENDERS * 50);
	discard(&contended);
}
