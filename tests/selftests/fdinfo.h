/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The keys of a descriptor in /proc/self/fdinfo.
 */
#ifndef SELFTEST_FDINFO_H
#define SELFTEST_FDINFO_H

#include "system.h"

/* The text behind "key:" and a tab, without the line's end; false: no such key. */
static inline bool fdinfo_text(int fd, const char *key, char *text, size_t size)
{
	size_t length = strlen(key);
	char path[64], line[512];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		found = !strncmp(line, key, length) &&
			!strncmp(line + length, ":\t", 2);
		if (found)
			snprintf(text, size, "%.*s",
				 (int)strcspn(line + length + 2, "\n"),
				 line + length + 2);
	}
	if (file)
		fclose(file);
	return found;
}

/* The number of a key, or -1. */
static inline int64_t fdinfo_number(int fd, const char *key)
{
	char text[64], *end;
	int64_t number;

	if (!fdinfo_text(fd, key, text, sizeof(text)))
		return -1;
	number = strtoll(text, &end, 10);
	return end > text && !*end ? number : -1;
}

#endif
