/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernel's fault injection: the N-th allocation of this thread fails, or
 * some of those that the module makes, in whatever thread.
 */
#ifndef FAULTS_INJECT_H
#define FAULTS_INJECT_H

#include <stdbool.h>

/* 0, or -ENODEV where the kernel has none. */
int inject_open(void);

/* From now on; inject_end() tells whether it came to that. */
void inject_nth(unsigned int number);
bool inject_end(void);

/* So many of a hundred, where the module is on the stack. */
int inject_module_begin(unsigned int percent);
void inject_module_end(void);

#endif
