/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The importer of this directory, and what its device is to read.  Needs
 * dray_test_importer.ko.
 */
#ifndef ENGINE_IMPORTING_H
#define ENGINE_IMPORTING_H

#include "../selftests/binding.h"
#include "../selftests/node.h"
#include "number.h"

#define IMPORTER "/sys/module/dray_test_importer/parameters/"

/* Has the device do what the module knows by that name. */
static inline int import(const char *how, int fd)
{
	char text[32];

	snprintf(text, sizeof(text), "%s %d", how, fd);
	return write_text(IMPORTER "import", text);
}

/* Is what "wait" or "page" began over?  For wait_for(). */
static inline bool has_waited(void *unused)
{
	return number_read(IMPORTER "waited") != 0;
}

static inline long sum_of(const struct buffer *buffer)
{
	long sum = 0;

	for (size_t i = 0; i < buffer->size; i++)
		sum += buffer->bytes[i];
	return sum;
}

#endif
