// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * fit: splitting and merging, and the table of pieces.  The bins of free pieces
 * are in bins.h; at.c and starts.c find the piece of an address.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/unlocked.h"
#include "pool/at.h"
#include "pool/bins.h"
#include "pool/fit.h"
#include "pool/starts.h"

#define FIRST_ROOM 2048 /* slots of a new table: 64 KiB, touched as used */

bool dray_fit_have_slots(struct dray_fit *fit)
{
	void *more;

	if (fit->count + 2 <= fit->room)
		return true;
	if (fit->unused && fit->pieces[fit->unused].next)
		return true;
	if (fit->room > UINT32_MAX / 2)
		return false;
	more = mremap(fit->pieces, fit->room * sizeof(*fit->pieces),
		      2 * (size_t)fit->room * sizeof(*fit->pieces),
		      MREMAP_MAYMOVE);
	if (more == MAP_FAILED)
		return false;
	fit->pieces = more;
	fit->room *= 2;
	return true;
}

static uint32_t new_piece(struct dray_fit *fit, uint32_t offset, uint32_t size)
{
	uint32_t piece = fit->unused;

	if (piece)
		fit->unused = fit->pieces[piece].next;
	else
		piece = fit->count++;
	fit->pieces[piece] = (struct dray_piece){
		.offset = offset,
		.size = size,
	};
	return piece;
}

static void drop_piece(struct dray_fit *fit, uint32_t piece)
{
	fit->pieces[piece].state = DRAY_PIECE_UNUSED;
	fit->pieces[piece].next = fit->unused;
	fit->unused = piece;
}

/* Cuts a piece that is in no bin after @size granules; the second half. */
static uint32_t fit_take_cut(struct dray_fit *fit, uint32_t piece,
			     uint32_t size)
{
	uint32_t rest = new_piece(fit, fit->pieces[piece].offset + size,
				  fit->pieces[piece].size - size);
	struct dray_piece *p = &fit->pieces[piece], *r = &fit->pieces[rest];

	p->size = size;
	r->before = piece;
	r->after = p->after;
	p->after = rest;
	fit->pieces[r->after].before = rest;
	if (!r->after)
		fit->last = rest;
	return rest;
}

/* Puts the piece after @piece into it; neither is in a bin. */
static void fit_take_join(struct dray_fit *fit, uint32_t piece)
{
	struct dray_piece *p = &fit->pieces[piece];
	uint32_t rest = p->after;

	p->size += fit->pieces[rest].size;
	p->after = fit->pieces[rest].after;
	fit->pieces[p->after].before = piece;
	if (!p->after)
		fit->last = piece;
	drop_piece(fit, rest);
}

/* Puts @to in the place of @from for the piece before. */
static void fit_take_follow(struct dray_fit *fit, uint32_t before, uint32_t to)
{
	fit->pieces[to].before = before;
	fit->pieces[before].after = to;
}

/* A block from the front of a free piece, which is larger. */
static uint32_t take_front(struct dray_fit *fit, uint32_t piece, uint32_t size)
{
	uint32_t block = new_piece(fit, fit->pieces[piece].offset, size);
	struct dray_piece *p = &fit->pieces[piece];

	fit_take_follow(fit, p->before, block);
	fit->pieces[block].after = piece;
	p->before = block;
	p->offset += size;
	dray_bins_set_size(fit, piece, p->size - size);
	return block;
}

/* The reverse, for the free piece after a block. */
static void give_front(struct dray_fit *fit, uint32_t block, uint32_t piece)
{
	struct dray_piece *p = &fit->pieces[piece];

	p->offset = fit->pieces[block].offset;
	fit_take_follow(fit, fit->pieces[block].before, piece);
	dray_bins_set_size(fit, piece, p->size + fit->pieces[block].size);
	drop_piece(fit, block);
}

/* As above, for the free piece before a block. */
static void give_back_end(struct dray_fit *fit, uint32_t block, uint32_t piece)
{
	uint32_t after = fit->pieces[block].after;
	uint32_t size = fit->pieces[block].size;

	fit_take_follow(fit, piece, after);
	if (!after)
		fit->last = piece;
	dray_bins_set_size(fit, piece, fit->pieces[piece].size + size);
	drop_piece(fit, block);
}

int dray_fit_init(struct dray_fit *fit, uint32_t limit)
{
	size_t at = dray_at_bytes(limit), starts = dray_starts_bytes(limit);
	size_t table = FIRST_ROOM * sizeof(*fit->pieces);
	char *side;

	memset(fit, 0, sizeof(*fit));
	fit->limit = limit;
	fit->side_bytes = at + starts;
	side = dray_map_unlocked(fit->side_bytes, PROT_READ | PROT_WRITE);
	if (side == MAP_FAILED)
		return -ENOMEM;
	fit->pieces = dray_map_unlocked(table, PROT_READ | PROT_WRITE);
	if (fit->pieces == MAP_FAILED) {
		munmap(side, fit->side_bytes);
		return -ENOMEM;
	}
	dray_at_init(fit, side);
	dray_starts_init(fit, side + at);
	fit->room = FIRST_ROOM;
	fit->count = 1;
	return 0;
}

void dray_fit_fini(struct dray_fit *fit)
{
	munmap(fit->pieces, (size_t)fit->room * sizeof(*fit->pieces));
	munmap(fit->at, fit->side_bytes);
}

int dray_fit_extend(struct dray_fit *fit, uint32_t granules)
{
	uint32_t last = fit->last, piece;

	if (last && fit->pieces[last].state == DRAY_PIECE_FREE) {
		dray_bins_withdraw(fit, last);
		fit->pieces[last].size += granules;
		dray_bins_insert(fit, last);
	} else {
		if (!dray_fit_have_slots(fit))
			return -ENOMEM;
		piece = new_piece(fit, fit->granules, granules);
		fit->pieces[piece].before = last;
		if (last)
			fit->pieces[last].after = piece;
		fit->last = piece;
		dray_bins_insert(fit, piece);
	}
	fit->granules += granules;
	return 0;
}

/* The @size granules of a free piece behind its first @front; the rest stays. */
static inline uint32_t fit_take_carve(struct dray_fit *fit, uint32_t piece,
				      uint32_t size, uint32_t front)
{
	if (!front && fit->pieces[piece].size > size)
		return take_front(fit, piece, size);
	dray_bins_withdraw(fit, piece);
	if (front) {
		uint32_t rest = fit_take_cut(fit, piece, front);

		dray_bins_insert(fit, piece);
		piece = rest;
	}
	if (fit->pieces[piece].size > size)
		dray_bins_insert(fit, fit_take_cut(fit, piece, size));
	return piece;
}

uint32_t dray_fit_take(struct dray_fit *fit, uint32_t size, uint64_t alignment,
		       uint64_t origin, bool thoroughly)
{
	uint64_t most;
	uint32_t piece = 0;

	if (!dray_fit_have_slots(fit))
		return 0;
	if (!__builtin_add_overflow(alignment - 1, size, &most))
		piece = dray_bins_search(fit, most);
	if (!piece && thoroughly)
		piece = dray_bins_search_all(fit, size, alignment, origin);
	if (!piece)
		return 0;

	piece = fit_take_carve(fit, piece, size,
			       (uint32_t)dray_piece_lead(&fit->pieces[piece],
							 alignment, origin));
	fit->pieces[piece].state = DRAY_PIECE_LIVE;
	fit->pieces[piece].busy = 0;
	fit->pieces[piece].sent = false;
	dray_at_note(fit, piece);
	dray_starts_set(fit, fit->pieces[piece].offset);
	return piece;
}

uint32_t dray_fit_free(struct dray_fit *fit, uint32_t piece)
{
	uint32_t before = fit->pieces[piece].before;
	uint32_t after = fit->pieces[piece].after;
	bool before_free = fit->pieces[before].state == DRAY_PIECE_FREE;
	bool after_free = fit->pieces[after].state == DRAY_PIECE_FREE;

	dray_starts_clear(fit, fit->pieces[piece].offset);
	if (after_free && !before_free) {
		give_front(fit, piece, after);
		return after;
	}
	if (before_free && !after_free) {
		give_back_end(fit, piece, before);
		return before;
	}
	if (after_free) {
		dray_bins_withdraw(fit, after);
		fit_take_join(fit, piece);
		dray_bins_withdraw(fit, before);
		fit_take_join(fit, before);
		piece = before;
	}
	dray_bins_insert(fit, piece);
	return piece;
}

/*
 * Joins the first of @pieces with the next pieces in the list, as long as they are
 * its neighbours.  *@piece: the block that they became; returns their number.
 */
static uint32_t join_neighbours(struct dray_fit *fit, const uint32_t *pieces,
				uint32_t count, uint32_t *piece)
{
	uint32_t low = pieces[0], high = low, i, next, after;
	uint32_t size = fit->pieces[low].size;

	for (i = 1; i < count; i++) {
		next = pieces[i];
		if (fit->pieces[high].after == next) {
			high = next;
		} else if (fit->pieces[low].before == next) {
			next = low;
			low = pieces[i];
		} else {
			break;
		}
		size += fit->pieces[pieces[i]].size;
		drop_piece(fit, next);
	}
	*piece = low;
	if (i == 1)
		return 1;
	after = fit->pieces[high].after;
	fit->pieces[low].size = size;
	dray_starts_clear_range(fit, fit->pieces[low].offset, size);
	fit_take_follow(fit, low, after);
	if (!after)
		fit->last = low;
	return i;
}

/*
 * Neighbours lie anywhere in the table: they are fetched for all pieces before
 * the first is changed.
 */
void dray_fit_free_few(struct dray_fit *fit, const uint32_t *pieces,
		       uint32_t count)
{
	uint32_t i, piece;

	for (i = 0; i < count; i++) {
		const struct dray_piece *p = &fit->pieces[pieces[i]];

		__builtin_prefetch(&fit->pieces[p->before], 1);
		__builtin_prefetch(&fit->pieces[p->after], 1);
	}
	for (i = 0; i < count;) {
		i += join_neighbours(fit, pieces + i, count - i, &piece);
		dray_fit_free(fit, piece);
	}
}

void dray_fit_set_aside(struct dray_fit *fit, uint32_t piece)
{
	dray_bins_withdraw(fit, piece);
	fit->pieces[piece].state = DRAY_PIECE_ASIDE;
}

bool dray_fit_resize(struct dray_fit *fit, uint32_t piece, uint32_t size)
{
	struct dray_piece *p = &fit->pieces[piece];
	uint32_t after = p->after, old = p->size;
	bool joins = after && fit->pieces[after].state == DRAY_PIECE_FREE;

	if (size == old)
		return true;
	if (size > old && (!joins || size - old > fit->pieces[after].size))
		return false;
	if (!dray_fit_have_slots(fit))
		return size < old;
	if (joins) {
		dray_bins_withdraw(fit, after);
		fit_take_join(fit, piece);
	}
	if (fit->pieces[piece].size > size)
		dray_bins_insert(fit, fit_take_cut(fit, piece, size));
	dray_at_note(fit, piece);
	return true;
}

uint32_t dray_fit_largest(const struct dray_fit *fit)
{
	uint32_t row, bin, piece, largest = 0;

	if (!fit->row_map)
		return 0;
	row = 31 - (uint32_t)__builtin_clz(fit->row_map);
	bin = 31 - (uint32_t)__builtin_clz(fit->bin_map[row]);
	for (piece = fit->bins[row * DRAY_FIT_ROW + bin]; piece;
	     piece = fit->pieces[piece].next) {
		if (fit->pieces[piece].size > largest)
			largest = fit->pieces[piece].size;
	}
	return largest;
}
