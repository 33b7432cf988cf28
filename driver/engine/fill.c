// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills: their patterns, and memory full of one for an engine that only
 * copies.
 */
#include <linux/build_bug.h>
#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "heap/account.h"
#include "fill.h"
#include "move.h"

/* Bytes for the patterns of a job, if pages are no larger. */
#define DRAY_PATTERNS_SIZE SZ_64K

/* Bytes: no engine that can be named wants a greater alignment for copies. */
#define DRAY_SMALLEST_SLICE 256

/* There is always a slice for each fill. */
static_assert(DRAY_PATTERNS_SIZE / DRAY_MAX_TRANSFERS >= DRAY_SMALLEST_SLICE);

bool dray_pattern_valid(const struct dray_transfer *transfer)
{
	u32 size = transfer->pattern_size;

	if (transfer->op != DRAY_OP_FILL && size)
		return false;
	if (transfer->op == DRAY_OP_FILL &&
	    (!is_power_of_2(size) || size > DRAY_MAX_PATTERN ||
	     transfer->run & (size - 1)))
		return false;
	return !memchr_inv(transfer->pattern + size, 0,
			   DRAY_MAX_PATTERN - size);
}

bool dray_pattern_is_byte(const struct dray_move *move)
{
	return !memchr_inv(move->pattern, move->pattern[0], move->pattern_size);
}

void dray_move_count_pattern(struct dray_move *move,
			     struct dray_patterns *patterns)
{
	if (move->op != DRAY_OP_FILL)
		return;
	move->patterns = patterns;
	patterns->count++;
	patterns->longest = max(patterns->longest, move->run);
}

/* Kernel memory that the caller makes us keep until the job's end: locked. */
static int dray_patterns_alloc(struct dray_patterns *patterns,
			       struct device *dev, struct dray_refusal *refusal)
{
	size_t size = PAGE_ALIGN(patterns->count * patterns->slice);
	int ret;

	ret = dray_charge_user(size, &patterns->user, refusal);
	if (ret)
		return ret;
	patterns->memory = dma_alloc_coherent(dev, size, &patterns->address,
					      GFP_KERNEL | __GFP_NOWARN);
	if (!patterns->memory) {
		dray_uncharge_user(patterns->user, size);
		return -ENOMEM;
	}
	patterns->size = size;
	return 0;
}

/* Takes enough for the longest run; or less, which needs more descriptors. */
static int dray_patterns_map(struct dray_patterns *patterns, struct device *dev,
			     struct dray_refusal *refusal)
{
	size_t most =
		rounddown_pow_of_two(DRAY_PATTERNS_SIZE / patterns->count);
	int ret;

	patterns->slice =
		clamp_t(u64, patterns->longest, DRAY_SMALLEST_SLICE, most);
	patterns->slice = roundup_pow_of_two(patterns->slice);
	ret = dray_patterns_alloc(patterns, dev, refusal);
	while (ret && patterns->slice > DRAY_SMALLEST_SLICE &&
	       patterns->count * patterns->slice > PAGE_SIZE) {
		*refusal = (struct dray_refusal){};
		patterns->slice /= 2;
		ret = dray_patterns_alloc(patterns, dev, refusal);
	}
	return ret;
}

/* A slice full of the pattern, for an engine that only copies. */
int dray_move_map_pattern(struct dray_move *move, struct device *dev,
			  struct dray_refusal *refusal)
{
	struct dray_patterns *patterns = move->patterns;
	size_t start, done;
	int ret;

	if (!patterns->memory) {
		ret = dray_patterns_map(patterns, dev, refusal);
		if (ret)
			return ret;
	}
	start = patterns->taken++ * patterns->slice;
	for (done = 0; done < patterns->slice; done += move->pattern_size)
		memcpy(patterns->memory + start + done, move->pattern,
		       move->pattern_size);
	move->fill_address = patterns->address + start;
	move->fill_size = patterns->slice;
	move->longest = min_t(u64, move->longest, move->fill_size);
	return 0;
}

void dray_patterns_free(struct dray_patterns *patterns, struct device *dev)
{
	if (!patterns->memory)
		return;
	dma_free_coherent(dev, patterns->size, patterns->memory,
			  patterns->address);
	dray_patterns_abandon(patterns);
}

/* Leaves them in place, uncharged. */
void dray_patterns_abandon(struct dray_patterns *patterns)
{
	if (!patterns->memory)
		return;
	dray_uncharge_user(patterns->user, patterns->size);
	patterns->memory = NULL;
}
