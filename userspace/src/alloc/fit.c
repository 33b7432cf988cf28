// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * fit: bins, splitting and merging, and the table of pieces.  The way
 * from where blocks begin to their pieces is in at.c and starts.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "alloc/at.h"
#include "alloc/fit.h"
#include "alloc/starts.h"

#define FIRST_ROOM 2048 /* slots of a new table: 64 KiB, touched as used */

/*
 * Which bin, which piece is the neighbour, and whether there is one, is as
 * random as what a program frees.  So that nothing has to be guessed, what
 * follows writes to piece 0 where there is none.
 */
struct bin {
	uint32_t first, second;
};

/* log2 of the sizes in a bin of this row. */
static uint32_t width_of(uint32_t first)
{
	return first - (first != 0);
}

static struct bin bin_of(uint32_t size)
{
	uint32_t first =
		27 - (uint32_t)__builtin_clz(size | DRAY_FIT_SECOND / 2);

	return (struct bin){
		.first = first,
		.second = size >> width_of(first) & (DRAY_FIT_SECOND - 1),
	};
}

static bool is_same(struct bin a, struct bin b)
{
	return a.first == b.first && a.second == b.second;
}

static inline void insert(struct dray_fit *fit, uint32_t piece)
{
	struct dray_piece *p = &fit->pieces[piece];
	struct bin bin = bin_of(p->size);
	uint32_t *head = &fit->bins[bin.first][bin.second];

	p->state = DRAY_PIECE_FREE;
	p->previous = 0;
	p->next = *head;
	fit->pieces[*head].previous = piece;
	*head = piece;
	fit->second_map[bin.first] |= 1u << bin.second;
	fit->first_map |= 1u << bin.first;
}

static inline void withdraw(struct dray_fit *fit, uint32_t piece)
{
	const struct dray_piece *p = &fit->pieces[piece];
	struct bin bin = bin_of(p->size);
	uint32_t *head = &fit->bins[bin.first][bin.second];
	uint32_t *link = p->previous ? &fit->pieces[p->previous].next : head;

	*link = p->next;
	fit->pieces[p->next].previous = p->previous;
	fit->second_map[bin.first] &= ~((uint32_t) !*head << bin.second);
	fit->first_map &= ~((uint32_t)!fit->second_map[bin.first] << bin.first);
}

/* The first piece of a bin whose pieces all have @size granules, or 0. */
static uint32_t search(const struct dray_fit *fit, uint64_t size)
{
	struct bin bin;
	uint32_t map;

	if (size > UINT32_MAX)
		return 0;
	/* Up to the next bin's smallest, or a piece may be too small. */
	size += (1ull << width_of(bin_of((uint32_t)size).first)) - 1;
	if (size > UINT32_MAX)
		return 0;
	bin = bin_of((uint32_t)size);
	map = fit->second_map[bin.first] & (~0u << bin.second);
	if (!map) {
		if (bin.first == DRAY_FIT_FIRST - 1)
			return 0;
		map = fit->first_map & (~0u << (bin.first + 1));
		if (!map)
			return 0;
		bin.first = (uint32_t)__builtin_ctz(map);
		map = fit->second_map[bin.first];
	}
	return fit->bins[bin.first][__builtin_ctz(map)];
}

/* Granules to leave out at the front of a piece to be aligned. */
static uint64_t lead(const struct dray_piece *p, uint64_t alignment,
		     uint64_t origin)
{
	return -(origin + p->offset) & (alignment - 1);
}

/*
 * Looks at every piece that might fit, in the bins that search() passed over
 * because not all of their pieces do.
 */
static uint32_t search_all(const struct dray_fit *fit, uint32_t size,
			   uint64_t alignment, uint64_t origin)
{
	struct bin bin = bin_of(size);
	uint32_t piece;

	for (; bin.first < DRAY_FIT_FIRST; bin.first++, bin.second = 0) {
		uint32_t map = fit->second_map[bin.first] & (~0u << bin.second);

		for (; map; map &= map - 1) {
			piece = fit->bins[bin.first][__builtin_ctz(map)];
			for (; piece; piece = fit->pieces[piece].next) {
				const struct dray_piece *p =
					&fit->pieces[piece];
				uint64_t skip = lead(p, alignment, origin);

				if (skip < p->size && p->size - skip >= size)
					return piece;
			}
		}
	}
	return 0;
}

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
static uint32_t cut(struct dray_fit *fit, uint32_t piece, uint32_t size)
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
static void join(struct dray_fit *fit, uint32_t piece)
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

/*
 * A free piece whose bounds are moved by one block at a time, which is the
 * common case: it stays the same piece, mostly in the same bin where it is
 * large, and what lies on its other side is not looked at.
 */
static void set_size(struct dray_fit *fit, uint32_t piece, uint32_t size)
{
	struct dray_piece *p = &fit->pieces[piece];

	if (is_same(bin_of(p->size), bin_of(size))) {
		p->size = size;
		return;
	}
	withdraw(fit, piece);
	p->size = size;
	insert(fit, piece);
}

/* Puts @to in the place of @from for the piece before. */
static void follow(struct dray_fit *fit, uint32_t before, uint32_t to)
{
	fit->pieces[to].before = before;
	fit->pieces[before].after = to;
}

/* A block from the front of a free piece, which is larger. */
static uint32_t take_front(struct dray_fit *fit, uint32_t piece, uint32_t size)
{
	uint32_t block = new_piece(fit, fit->pieces[piece].offset, size);
	struct dray_piece *p = &fit->pieces[piece];

	follow(fit, p->before, block);
	fit->pieces[block].after = piece;
	p->before = block;
	p->offset += size;
	set_size(fit, piece, p->size - size);
	return block;
}

/* The reverse, for the free piece after a block. */
static void give_front(struct dray_fit *fit, uint32_t block, uint32_t piece)
{
	struct dray_piece *p = &fit->pieces[piece];

	p->offset = fit->pieces[block].offset;
	follow(fit, fit->pieces[block].before, piece);
	set_size(fit, piece, p->size + fit->pieces[block].size);
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
	side = mmap(NULL, fit->side_bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (side == MAP_FAILED)
		return -ENOMEM;
	fit->pieces = mmap(NULL, table, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
		withdraw(fit, last);
		fit->pieces[last].size += granules;
		insert(fit, last);
	} else {
		if (!dray_fit_have_slots(fit))
			return -ENOMEM;
		piece = new_piece(fit, fit->granules, granules);
		fit->pieces[piece].before = last;
		if (last)
			fit->pieces[last].after = piece;
		fit->last = piece;
		insert(fit, piece);
	}
	fit->granules += granules;
	return 0;
}

uint32_t dray_fit_take(struct dray_fit *fit, uint32_t size, uint64_t alignment,
		       uint64_t origin, bool thoroughly)
{
	uint64_t most;
	uint32_t piece = 0, front;

	if (!dray_fit_have_slots(fit))
		return 0;
	if (!__builtin_add_overflow(alignment - 1, size, &most))
		piece = search(fit, most);
	if (!piece && thoroughly)
		piece = search_all(fit, size, alignment, origin);
	if (!piece)
		return 0;

	front = (uint32_t)lead(&fit->pieces[piece], alignment, origin);
	if (!front && fit->pieces[piece].size > size) {
		piece = take_front(fit, piece, size);
		goto taken;
	}
	withdraw(fit, piece);
	if (front) {
		uint32_t rest = cut(fit, piece, front);

		insert(fit, piece);
		piece = rest;
	}
	if (fit->pieces[piece].size > size)
		insert(fit, cut(fit, piece, size));
taken:
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
	if (after_free) {
		withdraw(fit, after);
		join(fit, piece);
	}
	if (before_free) {
		withdraw(fit, before);
		join(fit, before);
		piece = before;
	}
	insert(fit, piece);
	return piece;
}

void dray_fit_set_aside(struct dray_fit *fit, uint32_t piece)
{
	withdraw(fit, piece);
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
		withdraw(fit, after);
		join(fit, piece);
	}
	if (fit->pieces[piece].size > size)
		insert(fit, cut(fit, piece, size));
	dray_at_note(fit, piece);
	return true;
}

uint32_t dray_fit_largest(const struct dray_fit *fit)
{
	uint32_t first, second, piece, largest = 0;

	if (!fit->first_map)
		return 0;
	first = 31 - (uint32_t)__builtin_clz(fit->first_map);
	second = 31 - (uint32_t)__builtin_clz(fit->second_map[first]);
	for (piece = fit->bins[first][second]; piece;
	     piece = fit->pieces[piece].next) {
		if (fit->pieces[piece].size > largest)
			largest = fit->pieces[piece].size;
	}
	return largest;
}
