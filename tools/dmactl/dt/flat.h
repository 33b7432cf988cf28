/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* libfdt, whose inline functions convert numbers without a cast. */
#ifndef DMACTL_DT_FLAT_H
#define DMACTL_DT_FLAT_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <libfdt.h>
#pragma GCC diagnostic pop

#endif /* DMACTL_DT_FLAT_H */
