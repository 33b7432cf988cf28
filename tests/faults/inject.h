/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernel's fault injection: the N-th allocation of this thread fails, or
 * some of those that the module makes, in whatever thread.
 */
#ifndef FAULTS_INJECT_H
#define FAULTS_INJECT_H

#include "../selftests/system.h"

/* 0, or -ENODEV where the kernel has none. */
int inject_open(void);

/*
 * From now on.  inject_end() gives 0 where it came to that, else the number of
 * the allocation that would have failed, counted from then on.
 */
void inject_nth(unsigned int number);
unsigned int inject_end(void);

/* So many of a hundred, where the module is on the stack. */
int inject_module_begin(unsigned int percent);
void inject_module_end(void);

/*
 * From now on inject_nth() counts those alone that are made in a call which
 * returns to this place of the module's code.
 */
int inject_aim(uint64_t offset);
void inject_aim_end(void);

#endif
