// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Reads the files of processes.  A process can choose its name and the names of
 * its buffers, so nothing here trusts their text.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "processes.h"

#define TEXT_MOST ((size_t)1024 * 1024)

int number_of_name(const char *name)
{
	uint64_t number;
	const char *end = parse_number(name, 10, &number);

	return end && !*end && number <= INT32_MAX ? (int)number : -1;
}

int processes_each(const char *root,
		   bool (*look)(void *context, const char *root, int pid),
		   void *context)
{
	char *path = text_format("%s/proc", root);
	DIR *folder = opendir(path);
	const struct dirent *entry;
	bool more = true;
	int error = folder ? 0 : errno;

	free(path);
	while (folder && more && (entry = readdir(folder))) {
		int pid = number_of_name(entry->d_name);

		if (pid > 0)
			more = look(context, root, pid);
	}
	if (folder)
		closedir(folder);
	return error;
}

/* Returns up to 1 MiB of a file and its *@length, with a zero behind; or NULL. */
static char *file_bytes(const char *path, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t room = 4096;
	ssize_t got = 1;
	char *text;

	*length = 0;
	if (fd < 0)
		return NULL;
	text = memory_resize(NULL, room, 1);
	while (*length < TEXT_MOST && got > 0) {
		if (room - *length < 2)
			text = memory_resize(text, room *= 2, 1);
		got = read(fd, text + *length, room - *length - 1);
		if (got > 0)
			*length += (size_t)got;
	}
	close(fd);
	text[*length] = '\0';
	return text;
}

char *file_text(const char *path)
{
	size_t length;

	return file_bytes(path, &length);
}

const char *value_of_key(const char *text, const char *key, size_t *length)
{
	size_t key_length = strlen(key);

	while (text) {
		if (!strncmp(text, key, key_length) &&
		    text[key_length] == ':') {
			text += key_length + 1;
			text += strspn(text, " \t");
			*length = strcspn(text, "\n");
			return text;
		}
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return NULL;
}

bool number_of_key(const char *text, const char *key, uint64_t *number)
{
	size_t length;
	const char *value = value_of_key(text, key, &length);

	return value && parse_number(value, 10, number);
}

void process_read(const char *root, int pid, struct process *process)
{
	char *path = text_format("%s/proc/%d/comm", root, pid);
	char *text = file_text(path);
	uint64_t real, effective;
	const char *rest;
	size_t length;

	*process = (struct process){ .pid = pid };
	if (text) {
		length = strlen(text);
		/* the name may contain further newlines */
		if (length && text[length - 1] == '\n')
			length--;
		snprintf(process->comm, sizeof(process->comm), "%.*s",
			 (int)length, text);
	}
	free(text);
	free(path);
	path = text_format("%s/proc/%d/status", root, pid);
	text = file_text(path);
	rest = text ? value_of_key(text, "Uid", &length) : NULL;
	if (rest)
		rest = parse_number(rest, 10, &real);
	if (rest && parse_number(rest + strspn(rest, "\t "), 10, &effective))
		process->uid = (uint32_t)effective;
	free(text);
	free(path);
}

char *process_command(const char *root, int pid)
{
	char *path = text_format("%s/proc/%d/cmdline", root, pid);
	size_t length;
	char *text = file_bytes(path, &length);
	size_t i;

	free(path);
	/* a thread of the kernel has none */
	if (!text || !length) {
		free(text);
		return NULL;
	}
	for (i = 0; i + 1 < length; i++)
		if (!text[i])
			text[i] = ' ';
	return text;
}
