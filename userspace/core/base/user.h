/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Users and groups in a namespace of users, as a container has.
 *
 * The kernel shows every user without a number in this namespace as the overflow user,
 * 65534 unless the system says otherwise.  Two of such users may be
 * different people.
 */
#ifndef DRAY_BASE_USER_H
#define DRAY_BASE_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/shared.h"

/* Whether @user, as the kernel told it, means a single user. */
DRAY_PRIVATE bool dray_user_is_known(uid_t user);
DRAY_PRIVATE bool dray_group_is_known(gid_t group);

/* Whether @user, as the kernel told it, is this process's effective user. */
bool dray_user_is_own(uid_t user);

#endif /* DRAY_BASE_USER_H */
