/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Options that narrow a list.  Each given option must fit; of an option that is
 * given several times one value must.
 */
#ifndef DMACTL_FILTER_H
#define DMACTL_FILTER_H

#include "gather.h"

extern const struct command_option pid_option;
extern const struct command_option user_option;
extern const struct command_option heap_filter_option;
extern const struct command_option name_option;
extern const struct command_option min_size_option;
extern const struct command_option older_option;
extern const struct command_option orphans_option;
extern const struct command_option held_option;

struct filter {
	const struct request *request;
	uint64_t min_size; /* bytes */
	uint64_t older; /* nanoseconds */
	bool orphans;
	bool held;
};

/* Reads the options; returns false after a complaint. */
bool filter_make(const struct request *request, struct filter *filter);

/* Each tells whether its options, if there are any, fit the values. */
bool filter_pid(const struct filter *filter, int64_t pid);
bool filter_user(const struct filter *filter, uint32_t uid);
bool filter_heap(const struct filter *filter, const char *heap, size_t room);
bool filter_name(const struct filter *filter, const char *name, size_t room);

/* Whether all options fit a buffer or an attachment. */
bool filter_buffer(const struct filter *filter,
		   const struct dray_buffer_info *info);

#endif /* DMACTL_FILTER_H */
