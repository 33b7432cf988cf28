// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * ipc: the share of other users in the exporter's descriptors.  One table counts
 * leases by user and slot, either of them ANY.
 */
#include <errno.h>
#include <sys/resource.h>

#include "ipc/others.h"

#define ANY UINT32_MAX

struct keys {
	uint64_t of[DRAY_IPC_SHARES];
};

static uint64_t others_key(uint32_t user, uint32_t slot)
{
	return (uint64_t)user << 32 | slot;
}

static struct keys keys_of(uid_t user, uint32_t slot)
{
	return (struct keys){
		.of = {
			[DRAY_IPC_SHARE_RECORD] = others_key(user, slot),
			[DRAY_IPC_SHARE_USER] = others_key(user, ANY),
			[DRAY_IPC_SHARE_ALL] = others_key(ANY, ANY),
		},
	};
}

/* Leases that a share has, one at least. */
static uint32_t limit_of(uint32_t share)
{
	struct rlimit descriptors;
	uint64_t limit = 0;

	if (!getrlimit(RLIMIT_NOFILE, &descriptors))
		limit = (uint64_t)descriptors.rlim_cur >>
			(DRAY_IPC_SHARES - share);
	if (limit > INT32_MAX)
		return INT32_MAX;
	return limit ? (uint32_t)limit : 1;
}

static uintptr_t others_count_of(const struct dray_address_table *others,
				 uint64_t key)
{
	return (uintptr_t)dray_address_get(others, key);
}

/* A count of 0 takes no room. */
static void set_count(struct dray_address_table *others, uint64_t key,
		      uintptr_t count)
{
	if (count)
		dray_address_put(others, key, (void *)count);
	else
		dray_address_take(others, key);
}

int dray_ipc_others_take(struct dray_address_table *others, uid_t user,
			 uint32_t slot, uint32_t *share, uint32_t *limit)
{
	const struct keys keys = keys_of(user, slot);
	int i;

	for (*share = 0; *share < DRAY_IPC_SHARES; ++*share) {
		*limit = limit_of(*share);
		if (others_count_of(others, keys.of[*share]) >= *limit)
			return -EDQUOT;
	}
	for (i = 0; i < DRAY_IPC_SHARES; i++) {
		uint64_t key = keys.of[i];

		if (!dray_address_reserve(others))
			break;
		set_count(others, key, others_count_of(others, key) + 1);
	}
	if (i == DRAY_IPC_SHARES)
		return 0;
	while (i--)
		set_count(others, keys.of[i],
			  others_count_of(others, keys.of[i]) - 1);
	return -ENOMEM;
}

void dray_ipc_others_give(struct dray_address_table *others, uid_t user,
			  uint32_t slot)
{
	const struct keys keys = keys_of(user, slot);
	int i;

	for (i = 0; i < DRAY_IPC_SHARES; i++)
		set_count(others, keys.of[i],
			  others_count_of(others, keys.of[i]) - 1);
}
