// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Another process reads and writes the mapping with process_vm_readv and
 * process_vm_writev.
 */
#include "../../selftests/node.h"
#include "cell.h"

typedef ssize_t copy(pid_t, const struct iovec *, unsigned long,
		     const struct iovec *, unsigned long, unsigned long);

/*
 * A child moves bytes between what it has here and what its parent has there.
 * It leaves the count, or a negative errno.
 */
static ssize_t other_process(copy *call, uint8_t *here,
			     const struct memory *there)
{
	struct iovec local = { .iov_base = here, .iov_len = there->size };
	struct iovec remote = { .iov_base = there->bytes,
				.iov_len = there->size };
	ssize_t *count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();

	if (!child) {
		/* mapped in both, the call must reach the parent's */
		munmap(there->bytes, there->size);
		*count = call(getppid(), &local, 1, &remote, 1, 0);
		if (*count < 0)
			*count = -errno;
		_exit(0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		return -1;
	if (*count < 0) {
		errno = (int)-*count;
		return -1;
	}
	return *count;
}

static uint8_t *shared_bytes(size_t size, uint64_t seed)
{
	uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	fill_random(bytes, size, seed);
	return bytes;
}

static enum outcome is_read(const struct memory *memory, struct cell *cell)
{
	uint8_t *seen = shared_bytes(memory->size, 1);
	enum outcome outcome;

	fill_random(memory->bytes, memory->size, 2);
	cell_step(cell, "process_vm_readv");
	outcome =
		cell_short(cell, other_process(process_vm_readv, seen, memory),
			   memory->size);
	if (outcome != WORKS)
		return outcome;
	return cell_compare(cell, seen, cell_bytes(memory->size, 2),
			    memory->size);
}

static enum outcome is_written(const struct memory *memory, struct cell *cell)
{
	uint8_t *wanted = shared_bytes(memory->size, 1);
	enum outcome outcome;

	memset(memory->bytes, 0, memory->size);
	cell_step(cell, "process_vm_writev");
	outcome = cell_short(cell,
			     other_process(process_vm_writev, wanted, memory),
			     memory->size);
	if (outcome != WORKS)
		return outcome;
	return cell_compare(cell, memory->bytes, wanted, memory->size);
}

const struct consumer process_vm_consumers[] = {
	{ "process_vm_readv", is_read },
	{ "process_vm_writev", is_written },
	{ 0 },
};
