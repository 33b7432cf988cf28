// SPDX-License-Identifier: Apache-2.0 OR MIT
/* window: where addresses are taken, found and given back. */
#include "child.h"
#include "memory/window.h"

#define GIB ((size_t)1 << 30)

static struct dray_buffer *const some_buffer = (void *)0x1000;

static char *window_take(size_t size, size_t alignment)
{
	void *start = NULL;

	assert_works(dray_window_take(size, alignment, &start));
	return start;
}

FACT(every_address_of_a_span_leads_to_it)
{
	char *start = window_take(3 * DRAY_SLOT_SIZE - 5, 1);
	struct dray_span *span = dray_window_find(start);

	dray_window_publish(start, some_buffer);
	assert_ptr_equal(dray_span_start(span), start);
	assert_ptr_equal(atomic_load(&span->buffer), some_buffer);
	for (size_t i = 0; i < 3 * DRAY_SLOT_SIZE; i += 4093)
		assert_ptr_equal(dray_window_find(start + i), span);
	assert_null(dray_window_find(start + 3 * DRAY_SLOT_SIZE));
	dray_window_give(start);
	assert_null(dray_window_find(start));
}

FACT(what_is_outside_is_not_found)
{
	char *base = (char *)dray_window.base;
	int local;

	assert_null(dray_window_find(NULL));
	assert_null(dray_window_find(&local));
	assert_null(dray_window_find(base - 1));
	assert_null(dray_window_find(base + dray_window_size()));
	assert_null(dray_window_find((void *)UINTPTR_MAX));
}

FACT(the_lowest_room_is_taken_again)
{
	char *a = window_take(DRAY_SLOT_SIZE - 1, 1);
	char *b = window_take(4 * DRAY_SLOT_SIZE - 1, 1);
	char *c = window_take(DRAY_SLOT_SIZE - 1, 1);

	assert_ptr_equal(b, a + DRAY_SLOT_SIZE);
	assert_ptr_equal(c, b + 4 * DRAY_SLOT_SIZE);
	dray_window_give(b);
	assert_ptr_equal(window_take(2 * DRAY_SLOT_SIZE - 1, 1), b);
	/* Three do not fit into what is left of it. */
	assert_ptr_equal(window_take(3 * DRAY_SLOT_SIZE - 1, 1),
			 c + DRAY_SLOT_SIZE);
	dray_window_give(b);
	dray_window_give(c + DRAY_SLOT_SIZE);
	dray_window_give(a);
	dray_window_give(c);
	assert_ptr_equal(window_take(DRAY_SLOT_SIZE - 1, 1), a);
	dray_window_give(a);
}

FACT(what_fills_whole_slots_does_not_touch_the_next)
{
	char *a = window_take(DRAY_SLOT_SIZE, 1);
	char *b = window_take(DRAY_SLOT_SIZE, 1);

	assert_true(b > a + DRAY_SLOT_SIZE);
	dray_window_give(a);
	dray_window_give(b);
}

FACT(addresses_are_aligned_beyond_a_slot)
{
	/* No more: the smallest window need not hold a multiple of its size. */
	const size_t alignment = 16 * DRAY_SLOT_SIZE;
	char *a = window_take(1, 1), *b = window_take(1, alignment);

	assert_int_equal((uintptr_t)b % alignment, 0);
	dray_window_give(a);
	dray_window_give(b);
}

FACT(more_than_the_window_is_refused)
{
	void *start = (void *)1;

	assert_fails(dray_window_take(dray_window_size() + 1, 1, &start),
		     -ENOMEM, "the free addresses of the window");
	assert_fails(dray_window_take(SIZE_MAX, 1, &start), -ENOMEM,
		     SIZE_MAX_TEXT);
	assert_ptr_equal(start, (void *)1);
	assert_fails(dray_window_take(dray_window_size(), 1, &start), -ENOMEM,
		     "the free addresses of the window");
	start = window_take(dray_window_size() - 1, 1);
	assert_fails(dray_window_take(1, 1, &start), -ENOMEM,
		     "1 bytes do not fit");
	dray_window_give((void *)dray_window.base);
}

FACT(what_was_mapped_is_gone_when_given_back)
{
	char *start = window_take(DRAY_SLOT_SIZE, 1);
	unsigned char resident;

	assert_ptr_equal(mmap(start, 4096, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 start);
	start[0] = 1;
	assert_int_equal(mincore(start, 4096, &resident), 0);
	assert_int_equal(resident & 1, 1);
	dray_window_give(start);
	assert_int_equal(mincore(start, 4096, &resident), 0);
	assert_int_equal(resident & 1, 0);
}

/* A sanitizer's shadow alone is beyond any of these limits. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* The size of a window that a new process with that limit gets: MiB's log2. */
static int size_below(size_t limit)
{
	struct rlimit addresses = { limit, limit };
	pid_t child = fork();
	size_t size;

	if (!child) {
		/* The parent's window is given up, as an exec would do. */
		munmap((void *)dray_window.base, dray_window_size());
		atomic_store(&dray_window.slots, 0);
		if (setrlimit(RLIMIT_AS, &addresses))
			_exit(255);
		/* Up to a slot is lost where it does not begin at one. */
		size = (dray_window_size() + DRAY_SLOT_SIZE) >> 20;
		_exit(63 - __builtin_clzll(size));
	}
	return status_of(child);
}

FACT(a_limit_on_addresses_makes_it_smaller)
{
	struct rlimit limit;

	/* Suite fallbacks has set one, or has used all addresses up. */
	assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
	if (sizeof(void *) == 4 || limit.rlim_cur != RLIM_INFINITY ||
	    getenv("DRAY_TEST_ADDRESS_BITS"))
		skip();
	/* Valgrind keeps part of the addresses for itself. */
	if (dray_window_size() > 64 * GIB)
		assert_int_equal(size_below(130 * GIB), 16);
	assert_int_equal(size_below(10 * GIB), 12);
	assert_int_equal(size_below(3 * GIB / 2), 9);
	assert_int_equal(size_below(GIB / 4), 7);
	/* Too few for the smallest: none, and one slot that is not lost. */
	assert_int_equal(size_below(GIB / 16), 1);
}

#endif

static int open_window(void **state)
{
	return dray_window_size() ? 0 : -1;
}

FACTS_SHARE(open_window, NULL)
