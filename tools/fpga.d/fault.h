/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Faults by name, for --fault. */
#ifndef DRAY_FPGA_FAULT_H
#define DRAY_FPGA_FAULT_H

#include <stdbool.h>

#include "control.h"

/* Sets the fault that @text, as "s2mm.end-early=100", names; false if none has it. */
bool fault_set(struct fpga_control *control, const char *text);

#endif /* DRAY_FPGA_FAULT_H */
