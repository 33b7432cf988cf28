/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Signals that end a command which has something to undo.  They are blocked
 * except while it waits, so none is missed.
 */
#ifndef DMACTL_INTERRUPT_H
#define DMACTL_INTERRUPT_H

#include <poll.h>

/* Catches the signals that ask a program to end, and ends of children. */
void interrupt_begin(void);

/*
 * Waits for one of the files, a signal or the time; a negative time is none.
 * Returns as poll() does, without an error if a signal came.
 */
int interrupt_wait(struct pollfd *files, nfds_t count, int milliseconds);

/* Returns the signal that asks the program to end, or 0. */
int interrupt_signal(void);

/* Ends the program by a broken pipe, as other commands end, if that came. */
void interrupt_end(void);

#endif /* DMACTL_INTERRUPT_H */
