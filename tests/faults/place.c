// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Where allocations have failed; see place.h.
 */
#include "kselftest.h"

#include "place.h"

#define PLACES 512

static char places[PLACES][PLACE_LENGTH];
static unsigned int place_count;
static char injector[32];
static int kernel_log = -1;

/* What a stack in the log has had so far. */
static enum {
	NO_FAILURE,
	FAILURE,
	STACK
} state;

int places_open(void)
{
	kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kernel_log < 0 || lseek(kernel_log, 0, SEEK_END) < 0)
		return -errno;
	return 0;
}

static bool is_known(const char *name)
{
	for (unsigned int i = 0; i < place_count; i++)
		if (!strcmp(places[i], name))
			return true;
	return false;
}

void place_add(const char *name)
{
	if (is_known(name) || place_count == PLACES)
		return;
	strcpy(places[place_count++], name);
	ksft_print_msg("place %s\n", name);
}

/*
 * "FAULT_INJECTION: forcing a failure.", and behind it, as the log writes a new
 * line, "\x0aname INJECTOR, interval ...".
 */
static void injector_read(const char *line)
{
	const char *name = strstr(line, "name ");

	if (!name || sscanf(name, "name %31[^, ]", injector) != 1)
		strcpy(injector, "?");
}

/* A frame is "FUNCTION+OFFSET/SIZE [MODULE]"; "? " precedes what is a guess. */
static void line_read(const char *line)
{
	char name[PLACE_LENGTH];

	if (strstr(line, "FAULT_INJECTION: forcing a failure")) {
		injector_read(line);
		/* No place that allocates; and there is no stack. */
		state = strcmp(injector, "fail_usercopy") ? FAILURE
							  : NO_FAILURE;
	} else if (state == FAILURE && (strstr(line, "Call Trace:") ||
					strstr(line, "Call trace:"))) {
		state = STACK;
	} else if (state == STACK && strstr(line, " [dray]") &&
		   sscanf(line, " %95[^/ ?]", name) == 1 && strchr(name, '+')) {
		place_add(name);
		state = NO_FAILURE;
	}
}

void places_read(void)
{
	char record[1024], *line;
	ssize_t length;

	injector[0] = 0;
	for (;;) {
		length = read(kernel_log, record, sizeof(record) - 1);
		/* Some were overwritten before they were read. */
		if (length < 0 && errno == EPIPE)
			continue;
		if (length <= 0)
			return;
		record[length] = 0;
		line = strchr(record, ';');
		if (line)
			line_read(line + 1);
	}
}

const char *place_injector(void)
{
	return injector;
}

bool place_next(const char *path, char *name, uint64_t *offset)
{
	static FILE *list;

	if (!list)
		list = fopen(path, "re");
	while (list && fscanf(list, "%95s %" SCNx64, name, offset) == 2)
		if (!is_known(name))
			return true;
	if (list)
		fclose(list);
	list = NULL;
	return false;
}
