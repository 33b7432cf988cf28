// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The test's side of the core's ports. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "board.h"
#include "cli.h"

/* Of the complaints that nothing here makes. */
const char cli_program[] = "test_axidma";

#define SIZE 0x40000000ull

static size_t take(void *context, const uint8_t *bytes, size_t length,
		   bool last)
{
	struct board *board = context;
	size_t piece = length < board->room ? length : board->room;

	if (!piece)
		return 0;
	if (board->room != SIZE_MAX)
		board->room -= piece;
	memcpy(board->sent_bytes + board->sent_size, bytes, piece);
	board->sent_size += piece;
	board->sent[board->sent_count++] =
		(struct board_piece){ piece, last && piece == length };
	return piece;
}

static size_t give(void *context, uint8_t *bytes, size_t room, bool *last)
{
	struct board *board = context;
	struct board_piece *first = &board->waiting[0];
	size_t piece, i;

	if (!board->waiting_count)
		return 0;
	piece = first->length - board->taken;
	if (piece > room)
		piece = room;
	for (i = 0; i < piece; i++)
		bytes[i] = (uint8_t)board->position++;
	board->taken += piece;
	if (board->taken < first->length)
		return piece;
	*last = first->last;
	board->taken = 0;
	memmove(first, first + 1, --board->waiting_count * sizeof(*first));
	return piece;
}

static void reset(void *context)
{
	struct board *board = context;

	board->resets++;
	board->waiting_count = 0;
	board->taken = 0;
}

static void interrupt(void *context, enum axidma_direction direction)
{
	struct board *board = context;

	board->interrupts[direction]++;
}

static const struct axidma_ports ports = { take, give, reset, interrupt };

struct board *board_new(void)
{
	struct board *board = calloc(1, sizeof(*board));

	if (!board)
		abort();
	board->core.memory =
		mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (board->core.memory == MAP_FAILED)
		abort();
	board->core.size = SIZE;
	board->core.clock = 100000000;
	board->core.width = 4;
	board->core.prefetch = AXIDMA_PREFETCH;
	board->core.ports = &ports;
	board->core.context = board;
	board->room = SIZE_MAX;
	board->time = 1;
	axidma_init(&board->core);
	return board;
}

void board_free(struct board *board)
{
	munmap(board->core.memory, SIZE);
	free(board);
}

uint32_t board_read(struct board *board, enum axidma_direction direction,
		    unsigned int word)
{
	return board->core.channel[direction].registers[word];
}

void board_write(struct board *board, enum axidma_direction direction,
		 unsigned int word, uint32_t value)
{
	board->core.channel[direction].registers[word] = value;
}

void board_run(struct board *board)
{
	while (axidma_step(&board->core, board->time))
		;
}

uint32_t board_address(enum axidma_direction direction, unsigned int index)
{
	return BOARD_CHAIN * (direction + 1) + index * BD_ALIGN;
}

uint32_t *board_descriptor(struct board *board, enum axidma_direction direction,
			   unsigned int index)
{
	return (void *)(board->core.memory + board_address(direction, index));
}

void board_chain(struct board *board, enum axidma_direction direction,
		 const uint32_t *lengths, unsigned int count)
{
	uint32_t buffer = BOARD_BUFFER * (direction + 1);
	unsigned int i;

	for (i = 0; i < count; i++) {
		uint32_t *words = board_descriptor(board, direction, i);

		memset(words, 0, BD_ALIGN);
		words[BD_NEXT] = board_address(direction, (i + 1) % count);
		words[BD_BUFFER] = buffer;
		words[BD_CONTROL] = lengths[i];
		buffer += lengths[i];
	}
	if (direction == S2MM)
		return;
	board_descriptor(board, MM2S, 0)[BD_CONTROL] |= BD_SOF;
	board_descriptor(board, MM2S, count - 1)[BD_CONTROL] |= BD_EOF;
}

void board_start(struct board *board, enum axidma_direction direction,
		 unsigned int threshold)
{
	board_write(board, direction, AXIDMA_CURDESC,
		    board_address(direction, 0));
	board_write(board, direction, AXIDMA_CR,
		    CR_RUN | SR_IRQS | threshold << 16);
	board_run(board);
}

void board_tail(struct board *board, enum axidma_direction direction,
		unsigned int index)
{
	board_write(board, direction, AXIDMA_TAILDESC,
		    board_address(direction, index));
	board_run(board);
}

void board_packet(struct board *board, size_t length)
{
	board->waiting[board->waiting_count++] =
		(struct board_piece){ length, true };
}
