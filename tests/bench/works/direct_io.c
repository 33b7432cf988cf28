// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Direct I/O: to a loop device, whose driver reads the pages with the CPU, and
 * to the board's SD card, whose controller does so by DMA.
 */
#include "../../selftests/loop_device.h"
#include "../../selftests/node.h"
#include "cell.h"

/* Far behind the archive that a guest leaves on its card. */
#define CARD "/dev/mmcblk0"
#define CARD_OFFSET (384l << 20)

/* A card is found a while after its driver. */
static int card_open(struct cell *cell)
{
	int tries, fd = -1;

	cell_step(cell, "open of " CARD);
	for (tries = 0; fd < 0 && tries < 200; tries++) {
		fd = open(CARD, O_RDWR | O_DIRECT | O_CLOEXEC);
		if (fd < 0)
			poll(NULL, 0, 50);
	}
	return fd;
}

static int disk_open(struct cell *cell)
{
	struct loop_device disk;
	int ret;

	cell_step(cell, "a loop device");
	ret = loop_device_open(&disk, MEMORY_SIZE);
	if (!ret)
		return disk.direct;
	errno = -ret;
	return -1;
}

/* What the disk has is written and read through ordinary memory. */
static enum outcome read_into(const struct memory *memory, struct cell *cell,
			      int disk, off_t offset)
{
	uint8_t *wanted = cell_bytes(memory->size, 1);
	enum outcome outcome;

	if (disk < 0)
		return cell_absent(cell);
	cell_step(cell, "pwrite of ordinary memory");
	if (pwrite(disk, wanted, memory->size, offset) != (ssize_t)memory->size)
		return cell_absent(cell);
	cell_step(cell, "pread");
	outcome = cell_short(cell,
			     pread(disk, memory->bytes, memory->size, offset),
			     memory->size);
	if (outcome != WORKS)
		return outcome;
	return cell_compare(cell, memory->bytes, wanted, memory->size);
}

static enum outcome write_from(const struct memory *memory, struct cell *cell,
			       int disk, off_t offset)
{
	uint8_t *seen = cell_bytes(memory->size, 1);
	enum outcome outcome;

	if (disk < 0)
		return cell_absent(cell);
	cell_step(cell, "pwrite of ordinary memory");
	if (pwrite(disk, seen, memory->size, offset) != (ssize_t)memory->size)
		return cell_absent(cell);
	fill_random(memory->bytes, memory->size, 2);
	cell_step(cell, "pwrite");
	outcome = cell_short(cell,
			     pwrite(disk, memory->bytes, memory->size, offset),
			     memory->size);
	if (outcome != WORKS)
		return outcome;
	cell_step(cell, "pread into ordinary memory");
	if (pread(disk, seen, memory->size, offset) != (ssize_t)memory->size)
		return cell_absent(cell);
	return cell_compare(cell, seen, cell_bytes(memory->size, 2),
			    memory->size);
}

static enum outcome loop_read(const struct memory *memory, struct cell *cell)
{
	return read_into(memory, cell, disk_open(cell), 0);
}

static enum outcome loop_write(const struct memory *memory, struct cell *cell)
{
	return write_from(memory, cell, disk_open(cell), 0);
}

static enum outcome card_read(const struct memory *memory, struct cell *cell)
{
	return read_into(memory, cell, card_open(cell), CARD_OFFSET);
}

static enum outcome card_write(const struct memory *memory, struct cell *cell)
{
	return write_from(memory, cell, card_open(cell), CARD_OFFSET);
}

const struct consumer direct_io_consumers[] = {
	{ "O_DIRECT read, loop device", loop_read },
	{ "O_DIRECT write, loop device", loop_write },
	{ "O_DIRECT read, SD card", card_read },
	{ "O_DIRECT write, SD card", card_write },
	{ 0 },
};
