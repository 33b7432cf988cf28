// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Probes at functions of the kernel; see probes.h.
 */
#include "binding.h"
#include "probes.h"

#define TRACING "/sys/kernel/tracing/"
#define INSTANCE TRACING "instances/dray_test"
#define GROUP "dray_test"

static int probe_set(const struct probe *probe)
{
	char text[256];

	snprintf(text, sizeof(text), "p:" GROUP "/%s %s %s", probe->name,
		 probe->function, probe->arguments);
	return write_text(TRACING "kprobe_events", text);
}

void probes_end(const struct probe *probes, int count)
{
	char text[64];

	rmdir(INSTANCE);
	for (int i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "-:" GROUP "/%s", probes[i].name);
		write_text(TRACING "kprobe_events", text);
	}
}

int probes_begin(const struct probe *probes, int count)
{
	int ret = 0, i;

	if (access(TRACING "kprobe_events", W_OK))
		return -ENODEV;
	probes_end(probes, count);
	for (i = 0; i < count && !ret; i++)
		ret = probe_set(&probes[i]);
	/* Not every processor's arguments are known by their places. */
	if (ret == -EINVAL || ret == -ENOENT)
		ret = -ENODEV;
	if (!ret && mkdir(INSTANCE, 0700))
		ret = -errno;
	if (!ret)
		ret = write_text(INSTANCE "/events/" GROUP "/enable", "1");
	if (ret)
		probes_end(probes, count);
	return ret;
}

FILE *probes_open(void)
{
	return fopen(INSTANCE "/trace", "r");
}

int probes_find(const struct probe *probes, int count, const char *line)
{
	char name[64];

	if (line[0] == '#')
		return -1;
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), " %s: ", probes[i].name);
		if (strstr(line, name))
			return i;
	}
	return -1;
}

uint64_t probe_field(const char *line, const char *name)
{
	char text[64];
	const char *at;

	snprintf(text, sizeof(text), " %s=", name);
	at = strstr(line, text);
	return at ? strtoull(at + strlen(text), NULL, 0) : 0;
}
