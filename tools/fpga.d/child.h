/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The model's children, QEMU and the IP.  Neither outlives the model. */
#ifndef DRAY_FPGA_CHILD_H
#define DRAY_FPGA_CHILD_H

#include <sys/types.h>

/*
 * Starts a program that keeps @file of the model's files beside the standard ones.
 * Its standard output is standard error if @quiet.  Complains and exits if that
 * fails.
 */
pid_t child_start(char *const *words, int file, int other, int quiet);

/* Opens a file for the signals that end the model or report a child. */
int child_signals(void);

#endif /* DRAY_FPGA_CHILD_H */
