// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints themselves, made from trace.h once.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"
