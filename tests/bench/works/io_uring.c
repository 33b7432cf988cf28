// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * io_uring's registered buffers: their pages are pinned for a long time, and
 * direct I/O to a disk then uses them without looking at the mapping again.
 */
#include "../../selftests/loop_device.h"
#include "../../selftests/node.h"
#include "../../selftests/ring.h"
#include "cell.h"

/* With the ring open and the memory registered: WORKS. */
static enum outcome prepare(const struct memory *memory, struct cell *cell,
			    struct ring *ring, struct loop_device *disk)
{
	int ret;

	cell_step(cell, "a loop device");
	ret = loop_device_open(disk, memory->size);
	errno = -ret;
	if (ret)
		return cell_absent(cell);
	cell_step(cell, "io_uring_setup");
	ret = ring_open(ring);
	errno = -ret;
	if (ret)
		return cell_absent(cell);
	cell_step(cell, "IORING_REGISTER_BUFFERS");
	ret = ring_register(ring, memory->bytes, memory->size);
	errno = -ret;
	if (ret)
		return cell_refused(cell);
	return WORKS;
}

static enum outcome run(struct cell *cell, struct ring *ring, uint8_t operation,
			int file, const struct memory *memory)
{
	int count =
		ring_run(ring, operation, file, memory->bytes, memory->size);

	errno = count < 0 ? -count : 0;
	return cell_short(cell, count, memory->size);
}

static enum outcome read_fixed(const struct memory *memory, struct cell *cell)
{
	uint8_t *wanted = cell_bytes(memory->size, 1);
	struct loop_device disk;
	struct ring ring;
	enum outcome outcome = prepare(memory, cell, &ring, &disk);

	if (outcome != WORKS)
		return outcome;
	cell_step(cell, "pwrite of ordinary memory");
	if (pwrite(disk.direct, wanted, memory->size, 0) !=
	    (ssize_t)memory->size)
		return cell_absent(cell);
	cell_step(cell, "IORING_OP_READ_FIXED");
	outcome = run(cell, &ring, IORING_OP_READ_FIXED, disk.direct, memory);
	if (outcome != WORKS)
		return outcome;
	return cell_compare(cell, memory->bytes, wanted, memory->size);
}

static enum outcome write_fixed(const struct memory *memory, struct cell *cell)
{
	uint8_t *seen = cell_bytes(memory->size, 1);
	struct loop_device disk;
	struct ring ring;
	enum outcome outcome = prepare(memory, cell, &ring, &disk);

	if (outcome != WORKS)
		return outcome;
	fill_random(memory->bytes, memory->size, 2);
	cell_step(cell, "IORING_OP_WRITE_FIXED");
	outcome = run(cell, &ring, IORING_OP_WRITE_FIXED, disk.direct, memory);
	if (outcome != WORKS)
		return outcome;
	cell_step(cell, "pread into ordinary memory");
	if (pread(disk.direct, seen, memory->size, 0) != (ssize_t)memory->size)
		return cell_absent(cell);
	return cell_compare(cell, seen, cell_bytes(memory->size, 2),
			    memory->size);
}

const struct consumer io_uring_consumers[] = {
	{ "io_uring fixed buffer, read", read_fixed },
	{ "io_uring fixed buffer, write", write_fixed },
	{ 0 },
};
