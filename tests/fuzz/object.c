// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The table of descriptors and the windows; see object.h.
 */
#include <setjmp.h>
#include <stdatomic.h>

#include "object.h"

#define SLOTS 24
#define WINDOWS 16
#define IDS 32

struct slot {
	atomic_int fd;
	atomic_ulong size;
};

static const uint32_t slot_count[OBJECT_TYPES] = {
	[OBJECT_NODE] = 3,	 [OBJECT_BUFFER] = SLOTS, [OBJECT_FENCE] = 12,
	[OBJECT_ATTACHMENT] = 8, [OBJECT_FOREIGN] = 6,	  [OBJECT_LINE] = 8,
};

static struct slot slots[OBJECT_TYPES][SLOTS];
static atomic_ulong ids[IDS];
static uint8_t *windows;
static int useless; /* a file that is no object; those below are not ours */
static __thread sigjmp_buf *volatile rescue;

static void on_fault(int signal)
{
	if (rescue)
		siglongjmp(*rescue, 1);
	_exit(128 + signal);
}

int objects_make(void)
{
	struct sigaction action = { .sa_handler = on_fault,
				    .sa_flags = SA_NODEFER };
	uint32_t type, i;

	for (type = 0; type < OBJECT_TYPES; type++)
		for (i = 0; i < SLOTS; i++)
			atomic_store(&slots[type][i].fd, -1);
	/* Holes stay the windows' own: nothing else is mapped later. */
	windows = mmap(NULL, WINDOWS * WINDOW_SIZE + LARGE, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	useless = memfd_create("useless", MFD_CLOEXEC);
	if (windows == MAP_FAILED || useless < 0)
		return -errno;
	windows += -(uintptr_t)windows % LARGE;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	return 0;
}

static struct slot *slot_of(enum object_type type, uint32_t object)
{
	return &slots[type][(object & 0xff) % slot_count[type]];
}

/* The slot that is named, or the next in which something is. */
static struct slot *slot_find(enum object_type type, uint32_t object)
{
	for (uint32_t i = 0; i < slot_count[type]; i++)
		if (atomic_load(&slot_of(type, (object & 0xff) + i)->fd) >= 0)
			return slot_of(type, (object & 0xff) + i);
	return slot_of(type, object);
}

int object_fd(enum object_type type, uint32_t object)
{
	static const int wild[] = { -1, INT32_MAX, INT32_MIN, 1000000, -100 };

	switch (object >> 8 & 3) {
	case 1:
		type = (object & 0xff) % OBJECT_TYPES;
		break;
	case 2:
		return wild[(object & 0xff) % 5];
	case 3:
		return useless;
	}
	return atomic_load(&slot_find(type, object)->fd);
}

uint64_t object_size(enum object_type type, uint32_t object)
{
	uint64_t size = atomic_load(&slot_find(type, object)->size);

	return size ? size : PAGE;
}

void object_put(enum object_type type, uint32_t object, int fd, uint64_t size)
{
	struct slot *slot = slot_of(type, object);

	/* A reply that others may write to can say anything. */
	if (fd <= useless)
		return;
	atomic_store(&slot->size, size);
	fd = atomic_exchange(&slot->fd, fd);
	if (fd >= 0)
		close(fd);
}

void object_close(enum object_type type, uint32_t object)
{
	int fd = atomic_exchange(&slot_find(type, object)->fd, -1);

	if (fd >= 0)
		close(fd);
}

void object_remember(uint64_t id)
{
	atomic_store(&ids[id % IDS], id);
}

uint64_t object_id(uint32_t object)
{
	return atomic_load(&ids[object % IDS]);
}

uint8_t *window_address(uint32_t object)
{
	return windows + (object & 0xff) % WINDOWS * WINDOW_SIZE;
}

void objects_clear(void)
{
	uint32_t type, i;

	for (type = 0; type < OBJECT_TYPES; type++)
		for (i = 0; i < SLOTS; i++)
			object_close(type, i);
	mmap(windows, WINDOWS * WINDOW_SIZE, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

bool copy_safely(void *to, const void *from, size_t size)
{
	sigjmp_buf buffer;

	if (sigsetjmp(buffer, 0)) {
		rescue = NULL;
		return false;
	}
	rescue = &buffer;
	memcpy(to, from, size);
	rescue = NULL;
	return true;
}

bool set_safely(void *to, int value, size_t size)
{
	sigjmp_buf buffer;

	if (sigsetjmp(buffer, 0)) {
		rescue = NULL;
		return false;
	}
	rescue = &buffer;
	memset(to, value, size);
	rescue = NULL;
	return true;
}

bool call_safely(void (*call)(void *context), void *context)
{
	sigjmp_buf buffer;

	if (sigsetjmp(buffer, 0)) {
		rescue = NULL;
		return false;
	}
	rescue = &buffer;
	call(context);
	rescue = NULL;
	return true;
}
