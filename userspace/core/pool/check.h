/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of the checking handler: its functions (check_handler.c), its
 * messages (check_say.c), guards and poison (check_bytes.c), and the handlers that
 * the environment asks for (check_asked.c).
 */
#ifndef DRAY_POOL_CHECK_H
#define DRAY_POOL_CHECK_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include <dray/handler.h>

#include "live/live.h"

/*
 * Before and behind each block: the largest line that a device may share, so
 * that blocks stay aligned to it.
 */
#define DRAY_CHECK_GUARD ((size_t)128)

/* A block, from its allocation until the handler below frees it. */
struct dray_checked {
	struct dray_live live;	/* with the caller's first byte */
	uint32_t process;	/* its allocator's dray_fork_process() */
	bool poisoned;		/* overwritten since */
	struct dray_checked *next;	/* freed after it */
	struct dray_callers allocated, freed;
};

/* Returns the address that the handler below knows. */
static inline unsigned char *dray_checked_base(const struct dray_checked *block)
{
	return (unsigned char *)block->live.is.block - DRAY_CHECK_GUARD;
}

struct dray_checker {
	struct dray_handler handler;
	const struct dray_allocator *under;
	FILE *log;		/* NULL: none */
	uint32_t process;	/* its maker's dray_fork_process() */
	_Atomic bool listed;	/* among those that report at exit */
	struct dray_checker *next;	/* of these */
	struct dray_live_table table;	/* of all struct dray_checked */
	/* the rest with the table's guard */
	struct dray_checked *oldest, **newest;	/* freed and kept */
	size_t kept_blocks, kept_bytes;
	size_t most_blocks, most_bytes;	/* limits of both */
};

/* Writes both guards. */
void dray_checked_guard(const struct dray_checked *block);
/*
 * Looks at both.  Returns 0, or the distance of the byte that was written: from
 * the block's start (below 0) or from its end (above 0).
 */
ptrdiff_t dray_checked_broken(const struct dray_checked *block);

/* Overwrites the whole of a freed block, unless others may still use it. */
void dray_checked_poison(struct dray_checked *block);
/*
 * Returns the offset of a byte written later; the block's size if none was.
 */
size_t dray_checked_written(const struct dray_checked *block);

/* Each reports a damaged block; called without the guard. */
void dray_check_guards(struct dray_checker *checker,
		       const struct dray_callers *callers,
		       const struct dray_checked *block);
void dray_check_poison(struct dray_checker *checker,
		       const struct dray_checked *block);

/*
 * Reports a wrong call for @address, named by @call, such as a free.  Called
 * with the guard, which it drops.
 */
void dray_check_bad_free(struct dray_checker *checker, const char *call,
			 const void *address,
			 const struct dray_callers *callers);

/* Checks the live blocks and writes them to @file; as dray_check_report(). */
int dray_check_list(struct dray_checker *checker, FILE *file);

/* Writes a free of @size bytes, which counts as no fault, to the log. */
void dray_check_wrong_size(struct dray_checker *checker,
			   const struct dray_callers *callers,
			   const struct dray_checked *block, size_t size);

bool dray_handler_checks(const struct dray_handler *handler);
/* NULL, with a sentence, if it is not a checking handler. */
struct dray_checker *dray_checker_of(const struct dray_handler *handler);

/* Returns the kept blocks; keeps no more from then on, unless @keeps. */
void dray_check_keep(struct dray_checker *checker, bool keeps);

/*
 * Sets @out to the checking handler over @under if DRAY_HANDLER asks for one,
 * else to NULL.  @out may hold the handler of the pool's earlier life.  -EINVAL if
 * DRAY_HANDLER names another handler, -ENOMEM.
 */
int dray_check_asked(const struct dray_handler *under,
		     const struct dray_handler **out);

/* Makes it report at the end of the process, if it found anything. */
void dray_check_at_exit(const struct dray_handler *handler);

#endif /* DRAY_POOL_CHECK_H */
