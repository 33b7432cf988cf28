// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting.  Memory that the system could use otherwise counts as locked
 * memory of the real user.  Memory of every heap counts against the heap's
 * limit, and against its limit for a user, the owner that LIST shows.  A limit
 * binds later allocations: lowering it frees nothing.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>

#include "base/compat.h"
#include "account.h"
#include "heap.h"

/* Bytes that a user holds of a heap; lives as long as its charges. */
struct dray_account {
	struct hlist_node link;
	struct dray_heap *heap;
	kuid_t uid;
	struct user_struct *user; /* the real user that made it; a reference */
	u64 used; /* bytes */
};

static unsigned long long heap_limit;
module_param(heap_limit, ullong, 0444);
MODULE_PARM_DESC(heap_limit, "bytes that may be taken of a heap, 0: no limit");

static unsigned long long user_limit;
module_param(user_limit, ullong, 0444);
MODULE_PARM_DESC(user_limit,
		 "bytes that a user may take of a heap, 0: no limit");

static DEFINE_HASHTABLE(dray_accounts, 8);
/* Caches an empty account for users with a single buffer at a time. */
static struct dray_account *dray_account_idle;
/* Guards the table, the charges, and each heap's limits and charged bytes. */
static DEFINE_SPINLOCK(dray_accounts_lock);

/* @refusal names the limit. */
static int dray_lock_bytes(struct user_struct *payer, size_t bytes,
			   struct dray_refusal *refusal)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK);
	long now, next;

	now = atomic_long_read(&payer->locked_vm);
	do {
		next = now + PFN_UP(bytes);
		if (next > limit >> PAGE_SHIFT && !capable(CAP_IPC_LOCK))
			return dray_refuse(refusal, -ENOMEM,
					   DRAY_REASON_MEMLOCK, limit);
	} while (!atomic_long_try_cmpxchg(&payer->locked_vm, &now, next));
	return 0;
}

static void dray_unlock_bytes(struct user_struct *payer, size_t bytes)
{
	atomic_long_sub(PFN_UP(bytes), &payer->locked_vm);
}

/* Sets *@user to the user to uncharge later. */
int dray_charge_user(size_t bytes, struct user_struct **user,
		     struct dray_refusal *refusal)
{
	int ret = dray_lock_bytes(current_user(), bytes, refusal);

	if (!ret)
		*user = get_uid(current_user());
	return ret;
}

void dray_uncharge_user(struct user_struct *user, size_t bytes)
{
	dray_unlock_bytes(user, bytes);
	dray_user_put(user);
}

static u32 dray_account_key(const struct dray_heap *heap, kuid_t uid)
{
	return hash_ptr(heap, 32) ^ __kuid_val(uid);
}

static struct dray_account *dray_account_find(struct dray_heap *heap,
					      kuid_t uid)
{
	u32 key = dray_account_key(heap, uid);
	struct dray_account *account;

	lockdep_assert_held(&dray_accounts_lock);
	hash_for_each_possible(dray_accounts, account, link, key)
		if (account->heap == heap && uid_eq(account->uid, uid))
			return account;
	return NULL;
}

static bool dray_limit_met(u64 limit, u64 used, size_t bytes)
{
	return limit && (used > limit || bytes > limit - used);
}

/*
 * Adds to the user's account, or to @fresh if there is none; NULL without both.
 */
static struct dray_account *dray_account_add(struct dray_heap *heap, kuid_t uid,
					     size_t bytes,
					     struct dray_account *fresh,
					     struct dray_refusal *refusal)
{
	struct dray_account *account;
	u64 limit = 0;

	spin_lock(&dray_accounts_lock);
	account = dray_account_find(heap, uid);
	if (!account)
		account = fresh;
	if (!account)
		goto out;
	if (dray_limit_met(heap->limit, heap->charged, bytes))
		limit = heap->limit;
	else if (dray_limit_met(heap->user_limit, account->used, bytes))
		limit = heap->user_limit;
	if (limit)
		goto out;
	if (account == fresh)
		hash_add(dray_accounts, &account->link,
			 dray_account_key(heap, uid));
	account->used += bytes;
	heap->charged += bytes;
out:
	spin_unlock(&dray_accounts_lock);
	if (limit)
		return ERR_PTR(dray_refuse(refusal, -EDQUOT, DRAY_REASON_QUOTA,
					   limit));
	return account;
}

static void dray_account_free(struct dray_account *account)
{
	dray_user_put(account->user);
	kfree(account);
}

/* As above, but creates the account if it is missing. */
static struct dray_account *dray_account_take(struct dray_heap *heap,
					      size_t bytes,
					      struct dray_refusal *refusal)
{
	struct dray_account *account, *fresh;
	kuid_t uid = current_euid();

	account = dray_account_add(heap, uid, bytes, NULL, refusal);
	if (account)
		return account;
	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh)
		return ERR_PTR(-ENOMEM);
	fresh->heap = heap;
	fresh->uid = uid;
	fresh->user = get_uid(current_user());
	account = dray_account_add(heap, uid, bytes, fresh, refusal);
	if (account != fresh)
		dray_account_free(fresh);
	return account;
}

/*
 * Subtracts @bytes.  If the account is empty then, keeps it as the idle account.
 * Returns the earlier idle account for the caller to free if it is still empty.
 */
static struct dray_account *dray_account_sub(struct dray_account *account,
					     size_t bytes)
{
	struct dray_account *idle = dray_account_idle;

	lockdep_assert_held(&dray_accounts_lock);
	account->heap->charged -= bytes;
	account->used -= bytes;
	if (account->used)
		return NULL;
	dray_account_idle = account;
	if (!idle || idle == account || idle->used)
		return NULL;
	hash_del(&idle->link);
	return idle;
}

int dray_charge_take(struct dray_charge *charge, struct dray_heap *heap,
		     size_t bytes, struct dray_refusal *refusal)
{
	/* Dedicated memory is of no use to the system. */
	bool locked = heap->flags & DRAY_HEAP_SHARED;
	struct user_struct *payer = current_user();
	struct dray_account *account;
	int ret;

	if (locked) {
		ret = dray_lock_bytes(payer, bytes, refusal);
		if (ret)
			return ret;
	}
	account = dray_account_take(heap, bytes, refusal);
	if (IS_ERR(account)) {
		if (locked)
			dray_unlock_bytes(payer, bytes);
		return PTR_ERR(account);
	}
	/* The account lasts for as long as the charge, and so does its user. */
	if (locked)
		charge->user = payer == account->user ? payer : get_uid(payer);
	charge->account = account;
	charge->bytes = bytes;
	return 0;
}

/* Memory to free outside of the lock when a part of a charge is back. */
struct dray_remains {
	struct dray_account *account;
	struct user_struct *user;
};

/* @last: nothing of the charge is left. */
static struct dray_remains dray_charge_sub(struct dray_charge *charge,
					   size_t bytes, bool last)
{
	struct dray_remains remains = {};
	struct user_struct *user = charge->user;

	lockdep_assert_held(&dray_accounts_lock);
	if (user) {
		dray_unlock_bytes(user, bytes);
		if (last && user != charge->account->user)
			remains.user = user;
	}
	remains.account = dray_account_sub(charge->account, bytes);
	return remains;
}

static void dray_remains_free(const struct dray_remains *remains)
{
	if (remains->account)
		dray_account_free(remains->account);
	if (remains->user)
		dray_user_put(remains->user);
}

bool dray_charge_end(struct dray_charge *charge)
{
	struct dray_remains remains;
	size_t awaited;

	spin_lock(&dray_accounts_lock);
	awaited = charge->awaited;
	charge->ended = true;
	remains = dray_charge_sub(charge, charge->bytes - awaited, !awaited);
	spin_unlock(&dray_accounts_lock);
	dray_remains_free(&remains);
	return !awaited;
}

void dray_charge_await(struct dray_charge *charge, size_t bytes)
{
	spin_lock(&dray_accounts_lock);
	charge->awaited += bytes;
	spin_unlock(&dray_accounts_lock);
}

void dray_charge_return(struct dray_charge *charge, size_t bytes)
{
	struct dray_remains remains = {};
	bool last;

	spin_lock(&dray_accounts_lock);
	charge->awaited -= bytes;
	last = charge->ended && !charge->awaited;
	if (charge->ended)
		remains = dray_charge_sub(charge, bytes, last);
	spin_unlock(&dray_accounts_lock);
	dray_remains_free(&remains);
	if (last)
		kfree(charge->memory);
}

void dray_account_init(struct dray_heap *heap)
{
	heap->limit = heap_limit;
	heap->user_limit = user_limit;
}

/* Frees the idle account when the module is removed, after the last charge. */
void dray_account_exit(void)
{
	if (dray_account_idle)
		dray_account_free(dray_account_idle);
}

void dray_account_set(u64 *limit, u64 bytes)
{
	spin_lock(&dray_accounts_lock);
	*limit = bytes;
	spin_unlock(&dray_accounts_lock);
}

void dray_account_state(struct dray_heap *heap, struct dray_heap_info *info)
{
	struct dray_account *account;

	spin_lock(&dray_accounts_lock);
	account = dray_account_find(heap, current_euid());
	info->limit = heap->limit;
	info->user_limit = heap->user_limit;
	info->charged = heap->charged;
	info->user_used = account ? account->used : 0;
	spin_unlock(&dray_accounts_lock);
}
