// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The kernel's trace; see tracing.h.
 */
#include "tracing.h"

#define TRACING "/sys/kernel/tracing/"

static int tracing_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

char *trace_read(void)
{
	FILE *file = fopen(TRACING "trace", "r");
	char *text = NULL;
	size_t size = 0;

	if (!file || getdelim(&text, &size, 0, file) < 0) {
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

bool trace_has(const char *event, const char *text)
{
	char *trace = trace_read(), *line, *rest = trace;
	bool found = false;

	while (trace && !found && (line = strsep(&rest, "\n")))
		found = strstr(line, event) && strstr(line, text);
	if (!found)
		printf("# no %s with \"%s\" in:\n# %s\n", event, text,
		       trace ? "the trace" : "nothing");
	free(trace);
	return found;
}

int tracing_begin(void)
{
	int ret;

	if (access(TRACING "events/dray/enable", W_OK))
		return -ENODEV;
	ret = tracing_write(TRACING "trace", "");
	return ret ? ret : tracing_write(TRACING "events/dray/enable", "1");
}

void tracing_stop(void)
{
	tracing_write(TRACING "events/dray/enable", "0");
}
