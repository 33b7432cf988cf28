// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What a cell says of itself; see cell.h.
 */
#include "../../selftests/node.h"
#include "cell.h"

void cell_step(struct cell *cell, const char *step)
{
	snprintf(cell->step, sizeof(cell->step), "%s", step);
}

enum outcome cell_refused(struct cell *cell)
{
	cell->error = errno;
	return REFUSED;
}

enum outcome cell_absent(struct cell *cell)
{
	cell->error = errno;
	return ABSENT;
}

enum outcome cell_short(struct cell *cell, long count, size_t wanted)
{
	if (count < 0)
		return cell_refused(cell);
	if ((size_t)count == wanted)
		return WORKS;
	snprintf(cell->step, sizeof(cell->step), "%ld of %zu bytes", count,
		 wanted);
	return WRONG;
}

enum outcome cell_compare(struct cell *cell, const uint8_t *seen,
			  const uint8_t *wanted, size_t size)
{
	int64_t where = first_difference(seen, wanted, size);

	if (where < 0)
		return WORKS;
	snprintf(cell->step, sizeof(cell->step), "byte %lld is %#x, not %#x",
		 (long long)where, seen[where], wanted[where]);
	return WRONG;
}

uint8_t *cell_bytes(size_t size, uint64_t seed)
{
	/* direct I/O into it wants it aligned */
	uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED)
		abort();
	fill_random(bytes, size, seed);
	return bytes;
}
