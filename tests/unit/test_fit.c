// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * fit: taking, freeing and resizing ranges of granules, against a map with an
 * owner for each granule.
 */
#include <sys/resource.h>

#include "pool/at.h"
#include "pool/fit.h"
#include "pool/starts.h"
#include "unit.h"

#define GRANULES 4096
#define BLOCKS 256

static int one_fit(void **state)
{
	struct dray_fit *fit = calloc(1, sizeof(*fit));

	if (dray_fit_init(fit, GRANULES) || dray_fit_extend(fit, GRANULES))
		return -1;
	*state = fit;
	return 0;
}

static int end_fit(void **state)
{
	dray_fit_fini(*state);
	free(*state);
	return 0;
}

/* Every invariant that the table of pieces has. */
static void check(const struct dray_fit *fit)
{
	uint32_t row, bin, piece, end = 0, free_pieces = 0, in_bins = 0;
	uint32_t before = 0;

	piece = fit->last;
	while (fit->pieces[piece].before)
		piece = fit->pieces[piece].before;
	for (; piece; before = piece, piece = fit->pieces[piece].after) {
		const struct dray_piece *p = &fit->pieces[piece];

		assert_int_equal(p->offset, end);
		assert_int_equal(p->before, before);
		assert_true(p->size > 0);
		assert_int_equal(dray_fit_at(fit, p->offset),
				 p->state == DRAY_PIECE_LIVE ? piece : 0);
		if (p->state == DRAY_PIECE_FREE) {
			free_pieces++;
			assert_int_not_equal(fit->pieces[before].state,
					     DRAY_PIECE_FREE);
		}
		end += p->size;
	}
	assert_int_equal(end, fit->granules);
	assert_int_equal(before, fit->last);

	for (bin = 0; bin < DRAY_FIT_BINS; bin++) {
		row = bin / DRAY_FIT_ROW;
		assert_int_equal(!!(fit->row_map & 1u << row),
				 !!fit->bin_map[row]);
		assert_int_equal(!!(fit->bin_map[row] &
				    1u << bin % DRAY_FIT_ROW),
				 !!fit->bins[bin]);
		for (piece = fit->bins[bin]; piece;
		     piece = fit->pieces[piece].next) {
			assert_int_equal(fit->pieces[piece].state,
					 DRAY_PIECE_FREE);
			in_bins++;
		}
	}
	assert_int_equal(in_bins, free_pieces);
}

static uint32_t take(struct dray_fit *fit, uint32_t size)
{
	return dray_fit_take(fit, size, 1, 0, true);
}

#define FIT_FACT(name) FACT_WITH(name, one_fit, end_fit)

FIT_FACT(the_whole_range_is_one_block)
{
	struct dray_fit *fit = *state;
	uint32_t piece = take(fit, GRANULES);

	assert_int_not_equal(piece, 0);
	assert_int_equal(fit->pieces[piece].offset, 0);
	assert_int_equal(take(fit, 1), 0);
	assert_int_equal(dray_fit_largest(fit), 0);
	dray_fit_free(fit, piece);
	assert_int_equal(dray_fit_largest(fit), GRANULES);
	check(fit);
}

FIT_FACT(an_odd_size_finds_the_piece_that_just_fits)
{
	struct dray_fit *fit = *state;
	/* 1000 and 1001 share a bin: rounding up would pass it by. */
	uint32_t hole = take(fit, 1001), rest = take(fit, GRANULES - 1001);

	assert_int_not_equal(rest, 0);
	dray_fit_free(fit, hole);
	assert_int_equal(take(fit, 1002), 0);
	assert_int_equal(dray_fit_take(fit, 1001, 1, 0, false), 0);
	assert_int_not_equal(take(fit, 1001), 0);
	check(fit);
}

FIT_FACT(freeing_in_any_order_gives_one_piece_again)
{
	struct dray_fit *fit = *state;
	struct dice dice = { 7 };
	uint32_t blocks[GRANULES / 8], i;

	for (i = 0; i < GRANULES / 8; i++) {
		blocks[i] = take(fit, 8);
		assert_int_not_equal(blocks[i], 0);
	}
	assert_int_equal(take(fit, 1), 0);
	for (; i; i--) {
		uint32_t j = (uint32_t)roll(&dice, i);

		dray_fit_free(fit, blocks[j]);
		blocks[j] = blocks[i - 1];
	}
	check(fit);
	assert_int_equal(dray_fit_largest(fit), GRANULES);
}

FIT_FACT(alignment_counts_from_the_origin)
{
	struct dray_fit *fit = *state;
	uint64_t origin = 1000;
	uint32_t piece = dray_fit_take(fit, 16, 512, origin, true);

	assert_int_not_equal(piece, 0);
	assert_int_equal((fit->pieces[piece].offset + origin) % 512, 0);
	/* 1000 and 1512 and so on: what is left in front is free again. */
	assert_int_equal(fit->pieces[piece].offset, 24);
	assert_int_not_equal(take(fit, 24), 0);
	check(fit);
}

FIT_FACT(a_large_alignment_finds_the_only_place)
{
	struct dray_fit *fit = *state;
	/* No piece has 2048 + 4095 granules, and yet there is a place. */
	uint32_t piece = dray_fit_take(fit, 2048, 4096, 4096 - 100, true);

	assert_int_not_equal(piece, 0);
	assert_int_equal(fit->pieces[piece].offset, 100);
	assert_int_equal(dray_fit_take(fit, 2048, 4096, 4096 - 100, true), 0);
	assert_int_equal(dray_fit_take(fit, 1, UINT64_MAX / 2 + 1, 1, true), 0);
	check(fit);
}

FIT_FACT(a_block_grows_into_the_free_piece_behind_it)
{
	struct dray_fit *fit = *state;
	uint32_t a = take(fit, 100), b = take(fit, 100), c = take(fit, 100);

	assert_false(dray_fit_resize(fit, a, 101));
	dray_fit_free(fit, b);
	assert_true(dray_fit_resize(fit, a, 150));
	check(fit);
	assert_true(dray_fit_resize(fit, a, 200));
	assert_false(dray_fit_resize(fit, a, 201));
	assert_true(dray_fit_resize(fit, a, 1));
	check(fit);
	assert_int_equal(fit->pieces[a].size, 1);
	assert_false(dray_fit_resize(fit, c, GRANULES));
	assert_true(dray_fit_resize(fit, c, GRANULES - 200));
	check(fit);
}

FACT(extending_joins_the_free_end)
{
	struct dray_fit fit;
	uint32_t piece;

	assert_int_equal(dray_fit_init(&fit, GRANULES), 0);
	assert_int_equal(take(&fit, 1), 0);
	assert_int_equal(dray_fit_extend(&fit, 10), 0);
	assert_int_equal(dray_fit_extend(&fit, 10), 0);
	assert_int_equal(dray_fit_largest(&fit), 20);
	piece = take(&fit, 20);
	assert_int_equal(dray_fit_extend(&fit, 5), 0);
	assert_int_equal(dray_fit_largest(&fit), 5);
	check(&fit);
	dray_fit_free(&fit, piece);
	assert_int_equal(dray_fit_largest(&fit), 25);
	check(&fit);
	dray_fit_fini(&fit);
}

FIT_FACT(a_piece_set_aside_is_neither_found_nor_merged)
{
	struct dray_fit *fit = *state;
	uint32_t a = take(fit, 100), rest;

	rest = fit->pieces[a].after;
	dray_fit_set_aside(fit, rest);
	assert_int_equal(take(fit, 1), 0);
	assert_int_equal(dray_fit_around(fit, 200), 0);
	assert_int_equal(dray_fit_at(fit, 100), 0);
	dray_fit_free(fit, a);
	assert_int_equal(dray_fit_largest(fit), 100);
	check(fit);
	dray_fit_free(fit, rest);
	assert_int_equal(dray_fit_largest(fit), GRANULES);
	check(fit);
}

FIT_FACT(a_block_made_small_is_found_beside_a_large_one)
{
	struct dray_fit *fit = *state;
	uint32_t a = take(fit, 2 * DRAY_FIT_SPAN), b;

	assert_true(dray_fit_resize(fit, a, 8));
	b = take(fit, 2 * DRAY_FIT_SPAN);
	assert_int_equal(fit->pieces[b].offset, 8);
	assert_int_equal(dray_fit_at(fit, 0), a);
	assert_int_equal(dray_fit_at(fit, 8), b);
	check(fit);
	dray_fit_free(fit, b);
	assert_true(dray_fit_resize(fit, a, 2 * DRAY_FIT_SPAN));
	assert_int_equal(dray_fit_at(fit, 0), a);
	assert_int_equal(dray_fit_at(fit, 8), 0);
	check(fit);
}

FIT_FACT(what_no_longer_begins_there_is_not_believed)
{
	struct dray_fit *fit = *state;
	uint32_t a = take(fit, 10), b = take(fit, 10);

	assert_int_equal(dray_fit_at(fit, 10), b);
	dray_fit_free(fit, b);
	assert_int_equal(dray_fit_at(fit, 10), 0);
	dray_fit_free(fit, a);
	assert_int_equal(dray_fit_at(fit, 0), 0);
	a = take(fit, 15);
	assert_int_equal(dray_fit_at(fit, 10), 0);
	assert_int_equal(dray_fit_around(fit, 10), a);
	assert_int_equal(dray_fit_around(fit, 15), 0);
	assert_int_equal(dray_fit_at(fit, GRANULES), 0);
	assert_int_equal(dray_fit_around(fit, UINT32_MAX), 0);
}

/* The reference: who owns each granule, 0 for nobody. */
struct model {
	uint32_t owner[GRANULES];
	uint32_t piece[BLOCKS];
};

static bool has_room(const struct model *model, uint32_t size,
		     uint32_t alignment, uint32_t origin)
{
	uint32_t start = -origin % alignment, end;

	for (; start + size <= GRANULES; start += alignment) {
		end = start;
		while (end < start + size && !model->owner[end])
			end++;
		if (end == start + size)
			return true;
	}
	return false;
}

static void own(struct model *model, const struct dray_fit *fit, uint32_t i,
		uint32_t owner)
{
	const struct dray_piece *p = &fit->pieces[model->piece[i]];

	for (uint32_t g = p->offset; g < p->offset + p->size; g++) {
		assert_int_equal(model->owner[g], owner ? 0 : i + 1);
		model->owner[g] = owner;
	}
}

static void lookups_agree(const struct model *model, const struct dray_fit *fit)
{
	uint32_t g, start, from = 0; /* the start that was found is there */

	for (g = 0; g < GRANULES; g++) {
		uint32_t owner = model->owner[g];
		uint32_t expected = owner ? model->piece[owner - 1] : 0;
		bool first = !g || model->owner[g - 1] != owner;

		assert_int_equal(dray_fit_around(fit, g), expected);
		assert_int_equal(dray_fit_at(fit, g), first ? expected : 0);
		if (!owner || !first)
			continue;
		assert_true(dray_starts_from(fit, from, &start));
		assert_int_equal(start, g);
		from = g + 1;
	}
	assert_false(dray_starts_from(fit, from, &start));
}

/* The block beside @i: after it or before it, or @i where none is. */
static uint32_t beside(const struct model *model, const struct dray_fit *fit,
		       uint32_t i, bool after)
{
	const struct dray_piece *p = &fit->pieces[model->piece[i]];
	uint32_t g = after ? p->offset + p->size : p->offset - 1;

	return g < GRANULES && model->owner[g] ? model->owner[g] - 1 : i;
}

/* Frees @i, and with it blocks beside it, or others, in any order. */
static void free_few(struct model *model, struct dray_fit *fit, uint32_t i,
		     struct dice *dice)
{
	uint32_t blocks[12], pieces[12], count = 0, most, j;

	most = 1 + (uint32_t)roll(dice, 12);
	blocks[count++] = i;
	while (count < most) {
		i = roll(dice, 4) ? beside(model, fit, i, roll(dice, 4))
				  : (uint32_t)roll(dice, BLOCKS);
		for (j = 0; j < count && blocks[j] != i; j++)
			;
		if (j < count || !model->piece[i])
			break;
		blocks[count++] = i;
	}
	for (j = 0; j < count; j++) {
		own(model, fit, blocks[j], 0);
		pieces[j] = model->piece[blocks[j]];
		model->piece[blocks[j]] = 0;
	}
	if (count == 1)
		dray_fit_free(fit, pieces[0]);
	else
		dray_fit_free_few(fit, pieces, count);
}

static uint32_t random_size(struct dice *dice)
{
	return 1 + (uint32_t)roll(dice, 1u << roll(dice, 9));
}

FIT_FACT(random_work_agrees_with_a_map_of_owners)
{
	struct dray_fit *fit = *state;
	struct model *model = calloc(1, sizeof(*model));
	struct dice dice = { 20261120 };
	uint32_t refused = 0, step;

	for (step = 0; step < 60000; step++) {
		uint32_t i = (uint32_t)roll(&dice, BLOCKS);
		uint32_t size = random_size(&dice);
		uint32_t alignment = 1u
				     << (roll(&dice, 4) ? 0 : roll(&dice, 8));
		uint32_t origin = 77;

		if (!model->piece[i]) {
			bool room = has_room(model, size, alignment, origin);
			uint32_t piece = dray_fit_take(fit, size, alignment,
						       origin, true);

			assert_int_equal(!!piece, room);
			refused += !room;
			if (!piece)
				continue;
			model->piece[i] = piece;
			assert_int_equal(fit->pieces[piece].size, size);
			assert_int_equal((fit->pieces[piece].offset + origin) %
						 alignment,
					 0);
			own(model, fit, i, i + 1);
		} else if (roll(&dice, 3)) {
			free_few(model, fit, i, &dice);
		} else {
			own(model, fit, i, 0);
			dray_fit_resize(fit, model->piece[i], size);
			own(model, fit, i, i + 1);
		}
		if (step % 1000 == 0) {
			check(fit);
			lookups_agree(model, fit);
		}
	}
	check(fit);
	lookups_agree(model, fit);
	/* The range was full now and then, or this has tested little. */
	assert_true(refused > 100);
	free(model);
}

FACT(a_start_is_found_across_all_levels)
{
	/* Enough for five levels; only the pages touched are real. */
	const uint32_t far = 1u << 30,
		       places[] = { 0,	  1,	63,	  64,
				    4095, 4096, 1u << 24, (1u << 30) - 1 };
	struct rlimit limit;
	struct dray_fit fit;
	uint32_t i, start;

	assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
	if (sizeof(size_t) == 4 || limit.rlim_cur <= (rlim_t)5 * far)
		skip();
	assert_int_equal(dray_fit_init(&fit, far), 0);
	assert_int_equal(fit.levels, 5);
	assert_false(dray_starts_before(&fit, far - 1, &start));
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		dray_starts_set(&fit, places[i]);
		assert_true(dray_starts_before(&fit, far - 1, &start));
		assert_int_equal(start, places[i]);
		if (places[i] > 1) {
			assert_true(dray_starts_before(&fit, places[i] - 1,
						       &start));
			assert_int_equal(start, places[i - 1]);
		}
	}
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		assert_true(dray_starts_from(&fit, places[i], &start));
		assert_int_equal(start, places[i]);
		assert_true(dray_starts_from(
			&fit, i ? (uint64_t)places[i - 1] + 1 : 0, &start));
		assert_int_equal(start, places[i]);
	}
	assert_false(dray_starts_from(&fit, far, &start));
	assert_false(dray_starts_from(&fit, UINT64_MAX, &start));
	while (i--) {
		assert_true(dray_starts_before(&fit, far - 1, &start));
		assert_int_equal(start, places[i]);
		dray_starts_clear(&fit, places[i]);
	}
	assert_false(dray_starts_before(&fit, far - 1, &start));
	assert_false(dray_starts_from(&fit, 0, &start));
	dray_fit_fini(&fit);
}
