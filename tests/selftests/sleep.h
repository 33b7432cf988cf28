/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Puts the system to sleep as far as its devices: each is suspended, then each
 * is resumed.  Processes are frozen meanwhile.
 */
#ifndef SELFTEST_SLEEP_H
#define SELFTEST_SLEEP_H

/* 0, or a negative errno; -ENOENT where the kernel cannot try it. */
int system_sleep(void);

#endif
