/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Lists of memory: that of dray, and every dma-buf of the machine. */
#ifndef DMACTL_LIST_H
#define DMACTL_LIST_H

#include "base/columns.h"
#include "base/filter.h"
#include "base/gather.h"

/* The columns of rows that are a struct buffer_entry. */
extern const struct row_column list_columns[];

/* Prints all dma-bufs: list --all. */
enum exit_code list_all(const struct request *request,
			const struct filter *filter);

#endif /* DMACTL_LIST_H */
