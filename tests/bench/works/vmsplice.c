// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * vmsplice lends pages to a pipe.  What is written to the memory afterwards is
 * what comes out of the pipe, else it was given a copy.
 */
#include "../../selftests/node.h"
#include "cell.h"

/* What a pipe holds. */
#define LENT 65536u

static enum outcome lend(const struct memory *memory, struct cell *cell,
			 unsigned int flags)
{
	struct iovec iovec = { .iov_base = memory->bytes, .iov_len = LENT };
	uint8_t *seen = cell_bytes(LENT, 1);
	enum outcome outcome;
	int pipes[2];

	cell_step(cell, "a pipe");
	if (pipe(pipes))
		return cell_absent(cell);
	fill_random(memory->bytes, LENT, 2);
	cell_step(cell, "vmsplice");
	outcome = cell_short(cell, vmsplice(pipes[1], &iovec, 1, flags), LENT);
	if (outcome != WORKS)
		return outcome;
	fill_random(memory->bytes, LENT, 3);
	cell_step(cell, "read from the pipe");
	outcome = cell_short(cell, read(pipes[0], seen, LENT), LENT);
	if (outcome != WORKS)
		return outcome;
	if (cell_compare(cell, seen, cell_bytes(LENT, 2), LENT) == WORKS)
		return COPIED;
	return cell_compare(cell, seen, cell_bytes(LENT, 3), LENT);
}

static enum outcome lend_only(const struct memory *memory, struct cell *cell)
{
	return lend(memory, cell, 0);
}

static enum outcome lend_gift(const struct memory *memory, struct cell *cell)
{
	return lend(memory, cell, SPLICE_F_GIFT);
}

const struct consumer vmsplice_consumers[] = {
	{ "vmsplice", lend_only },
	{ "vmsplice, SPLICE_F_GIFT", lend_gift },
	{ 0 },
};
