/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Charges.  Memory is charged before it is allocated.  The charge ends when the
 * memory is really back, which may be after its buffer is gone.
 */
#ifndef DRAY_ACCOUNT_H
#define DRAY_ACCOUNT_H

#include <linux/types.h>

#include "base/refusal.h"

struct dray_account;
struct dray_heap;
struct dray_heap_info;
struct user_struct;

/* All but @memory is account.c's. */
struct dray_charge {
	void *memory; /* containing object, for kfree() */
	struct dray_account *account;
	struct user_struct *user; /* payer of locked memory, or NULL */
	size_t bytes;
	size_t awaited; /* of those, held by others */
	bool ended;
};

/* Locked memory of the caller's user, against RLIMIT_MEMLOCK. */
int dray_charge_user(size_t bytes, struct user_struct **user,
		     struct dray_refusal *refusal);
/* @bytes must be the same as before; drops the reference to @user. */
void dray_uncharge_user(struct user_struct *user, size_t bytes);

/*
 * Memory of a heap, against the limits of the heap too; -EDQUOT or -ENOMEM.
 * @charge is zero except its memory; a failure restores that.
 */
int dray_charge_take(struct dray_charge *charge, struct dray_heap *heap,
		     size_t bytes, struct dray_refusal *refusal);

/* Ends the charge, once. True if the caller must free the memory. */
bool dray_charge_end(struct dray_charge *charge);

/*
 * A part that others hold when the charge ends, and that returns later; the last
 * of them frees the memory.
 */
void dray_charge_await(struct dray_charge *charge, size_t bytes);
void dray_charge_return(struct dray_charge *charge, size_t bytes);

/* The limits of a heap, bytes; 0: none. */
void dray_account_init(struct dray_heap *heap);
void dray_account_exit(void);
/* @limit is the heap's `limit` or its `user_limit`. */
void dray_account_set(u64 *limit, u64 bytes);
/* Fills limit, user_limit, charged, and user_used of the effective user. */
void dray_account_state(struct dray_heap *heap, struct dray_heap_info *info);

#endif /* DRAY_ACCOUNT_H */
