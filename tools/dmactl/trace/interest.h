/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which events of trace are wanted, by --event, --pid and --heap. */
#ifndef DMACTL_INTEREST_H
#define DMACTL_INTEREST_H

#include "base/command.h"
#include "event.h"

extern const struct command_option event_option;

struct interest {
	const struct request *request;
	uint32_t kinds; /* bits */
	bool narrow; /* by process or heap: owners must be known */
	void *buffers; /* their owners and heaps, by id */
};

/* Reads the options; kinds are among @possible (bits).  False: a complaint. */
bool interest_make(const struct request *request, uint32_t possible,
		   struct interest *interest);
void interest_drop(struct interest *interest);

/* Returns the kinds of events to follow, as bits. */
uint32_t interest_kinds(const struct interest *interest);

/*
 * Looks up the buffers that exist, if they matter; called when events are
 * followed already, so that none is missed.  False after a complaint.
 */
bool interest_begin(struct interest *interest);

/* Whether the event is wanted; learns of buffers from all of them. */
bool interest_wants(struct interest *interest, const struct event *event);

#endif /* DMACTL_INTEREST_H */
