// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Mappings of buffers and of other memory, in windows of the address space,
 * and what the kernel does with them.
 */
#include "../selftests/ring.h"
#include "run.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Pages of the window of a call: mostly the first few.  To populate or to lock
 * all of it takes as long as some hundred other calls.  A size of exactly LARGE
 * stays what it is, and begins where the kernel could have one entry for it.
 */
static uint8_t *range_pick(uint32_t object, const struct call *call,
			   size_t *length)
{
	size_t offset = call->offset % (64 * 1024) & ~(PAGE - 1);
	size_t end = call->seed >> 60 ? 64 * PAGE : WINDOW_SIZE;

	if (call->size == LARGE) {
		*length = LARGE;
		return window_address(object);
	}
	*length = 1 + (call->size - 1) % (end - offset);
	return window_address(object) + offset;
}

static int call_result(long ret)
{
	return ret < 0 ? -errno : 0;
}

int run_mmap(struct thread *thread, const struct call *call)
{
	uint64_t size = object_size(OBJECT_BUFFER, call->a);
	uint64_t state = call->seed, offset = 0, length;
	int fd = object_fd(OBJECT_BUFFER, call->a), flags = MAP_SHARED;
	int prot = PROT_READ | PROT_WRITE;
	void *map;

	if (!pick(&state, 6))
		prot = (int)pick(&state, 8);
	if (!pick(&state, 10))
		flags = (int)pick(&state, 4);
	if (!pick(&state, 8))
		flags |= MAP_POPULATE;
	if (!pick(&state, 16))
		flags |= MAP_LOCKED;
	if (!pick(&state, 3))
		offset = call->offset & ~(PAGE - 1);
	length =
		pick(&state, 3) ? size - smaller(size - 1, offset) : call->size;
	/* What is longer than a window goes elsewhere, if it goes at all. */
	if (!length || length > WINDOW_SIZE) {
		map = mmap(NULL, length, prot, flags, fd, (off_t)offset);
		if (map != MAP_FAILED)
			munmap(map, length);
	} else {
		map = mmap(window_address(call->b), length, prot,
			   flags | MAP_FIXED, fd, (off_t)offset);
	}
	return map == MAP_FAILED ? -errno : 0;
}

int run_munmap(struct thread *thread, const struct call *call)
{
	size_t length;
	uint8_t *at = range_pick(call->b, call, &length);

	if (call->seed & 1)
		return call_result(
			munmap(window_address(call->b), WINDOW_SIZE));
	return call_result(munmap(at, length));
}

int run_madvise(struct thread *thread, const struct call *call)
{
	static const int advice[] = {
		MADV_DONTNEED,
		MADV_REMOVE,
		MADV_FREE,
		MADV_COLD,
		MADV_PAGEOUT,
		MADV_DONTFORK,
		MADV_DOFORK,
		MADV_MERGEABLE,
		MADV_UNMERGEABLE,
		MADV_HUGEPAGE,
		MADV_NOHUGEPAGE,
		MADV_WILLNEED,
		MADV_SEQUENTIAL,
		MADV_DONTDUMP,
		MADV_DODUMP,
		MADV_WIPEONFORK,
		MADV_KEEPONFORK,
		MADV_POPULATE_READ,
		MADV_POPULATE_WRITE,
		24 /* MADV_DONTNEED_LOCKED */,
		25 /* MADV_COLLAPSE */,
	};
	size_t length;
	uint8_t *at = range_pick(call->b, call, &length);

	return call_result(
		madvise(at, length, advice[call->seed % COUNT(advice)]));
}

int run_mprotect(struct thread *thread, const struct call *call)
{
	size_t length;
	uint8_t *at = range_pick(call->b, call, &length);

	return call_result(mprotect(at, length, (int)(call->seed & 7)));
}

/* Within its window, or into another; longer than the buffer too. */
int run_mremap(struct thread *thread, const struct call *call)
{
	uint64_t state = call->seed;
	size_t length, longer;
	uint8_t *at = range_pick(call->b, call, &length);
	void *map;

	longer = pick(&state, 2) || length == LARGE
			 ? length
			 : 1 + pick(&state, 256 * 1024);
	switch (pick(&state, 4)) {
	case 0:
		map = mremap(at, length, longer, 0);
		break;
	case 1:
		longer = length;
		map = mremap(at, length, longer,
			     MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
			     window_address(call->a));
		break;
	case 2:
		/* A second mapping of the same. */
		map = mremap(at, 0, longer, MREMAP_MAYMOVE | MREMAP_FIXED,
			     window_address(call->a));
		break;
	default:
		map = mremap(at, length, longer, MREMAP_MAYMOVE | MREMAP_FIXED,
			     window_address(call->a));
	}
	return map == MAP_FAILED ? -errno : 0;
}

int run_mlock(struct thread *thread, const struct call *call)
{
	size_t length;
	uint8_t *at = range_pick(call->b, call, &length);

	if (call->seed & 1)
		return call_result(munlock(at, length));
	return call_result(mlock2(at, length, call->seed & 2 ? 1 : 0));
}

/* Memory that is not ours, to be attached or moved over. */
int run_anonymous(struct thread *thread, const struct call *call)
{
	static const int flags[] = { MAP_PRIVATE | MAP_ANONYMOUS,
				     MAP_SHARED | MAP_ANONYMOUS,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
				     MAP_PRIVATE | MAP_ANONYMOUS |
					     MAP_HUGETLB };
	uint64_t state = call->seed;
	int prot =
		pick(&state, 6) ? PROT_READ | PROT_WRITE : (int)pick(&state, 8);
	size_t length;
	uint8_t *at = range_pick(call->b, call, &length);
	void *map = mmap(at, length, prot,
			 flags[pick(&state, COUNT(flags))] | MAP_FIXED, -1, 0);

	return map == MAP_FAILED ? -errno : 0;
}

int run_touch(struct thread *thread, const struct call *call)
{
	size_t length;
	uint8_t *at = range_pick(call->b, call, &length);
	uint8_t byte;

	length = smaller(length, 4 * PAGE);
	if (call->seed & 1)
		return set_safely(at, (int)call->seed >> 8, length) ? 0
								    : -EFAULT;
	return copy_safely(&byte, at + length - 1, 1) ? 0 : -EFAULT;
}

static struct iovec iovec_pick(const struct call *call)
{
	struct iovec iovec;
	size_t length;

	iovec.iov_base = range_pick(call->b, call, &length);
	iovec.iov_len = smaller(length, 16 * PAGE);
	return iovec;
}

int run_copy_in(struct thread *thread, const struct call *call)
{
	static const uint8_t bytes[16 * PAGE];
	struct iovec to = iovec_pick(call);
	struct iovec from = { .iov_base = (void *)bytes,
			      .iov_len = to.iov_len };

	return call_result(process_vm_writev(getpid(), &from, 1, &to, 1, 0));
}

int run_copy_out(struct thread *thread, const struct call *call)
{
	uint8_t bytes[16 * PAGE];
	struct iovec from = iovec_pick(call);
	struct iovec to = { .iov_base = bytes, .iov_len = from.iov_len };

	return call_result(process_vm_readv(getpid(), &to, 1, &from, 1, 0));
}

/* Pages of a mapping stay in the pipe until it is drained. */
int run_vmsplice(struct thread *thread, const struct call *call)
{
	struct iovec iovec = iovec_pick(call);
	uint8_t bytes[PAGE];
	long ret = vmsplice(thread->pipe[1], &iovec, 1, SPLICE_F_NONBLOCK);
	int result = call_result(ret);

	if (ret < 0 || call->seed & 1)
		while (read(thread->pipe[0], bytes, sizeof(bytes)) > 0)
			;
	return result;
}

int run_direct(struct thread *thread, const struct call *call)
{
	struct iovec iovec = iovec_pick(call);

	if (thread->disk < 0)
		return -ENOTTY;
	iovec.iov_len = (iovec.iov_len + 511) & ~511ul;
	if (call->seed & 1)
		return call_result(pwritev(thread->disk, &iovec, 1, 0));
	return call_result(preadv(thread->disk, &iovec, 1, 0));
}

struct ring_read {
	struct ring *ring;
	int disk;
	void *bytes;
};

static void ring_read(void *context)
{
	struct ring_read *read = context;

	ring_start(read->ring, IORING_OP_READ_FIXED, read->disk, read->bytes,
		   PAGE);
}

/*
 * Pins for a long time, by another way than ATTACH.  The ring itself may be
 * mapped where a window has a hole, which another thread fills meanwhile.
 */
int run_ring(struct thread *thread, const struct call *call)
{
	struct iovec iovec = iovec_pick(call);
	struct ring ring;
	struct ring_read read = { &ring, thread->disk, iovec.iov_base };
	int ret = ring_open(&ring);

	if (ret)
		return ret == -EPERM ? -ENOTTY : ret;
	ret = ring_register(&ring, iovec.iov_base, iovec.iov_len);
	if (!ret && thread->disk >= 0)
		call_safely(ring_read, &read);
	ring_close(&ring);
	return ret;
}
