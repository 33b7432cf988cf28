/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reading /proc.  @root stands before each path: "" for the machine itself, a
 * folder for a recorded tree.  Processes start and end meanwhile: an ended process
 * reads as empty.
 */
#ifndef DMACTL_PROCESSES_H
#define DMACTL_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process {
	int pid;
	uint32_t uid; /* effective */
	char comm[16]; /* zero-terminated */
};

/*
 * Calls @look for each process until it returns false.  Returns an errno if
 * there is no /proc.
 */
int processes_each(const char *root,
		   bool (*look)(void *context, const char *root, int pid),
		   void *context);

/* Reads name and user. */
void process_read(const char *root, int pid, struct process *process);

/*
 * Returns the command line with blanks between its words, for free(); NULL if
 * there is none that may be read.
 */
char *process_command(const char *root, int pid);

/* Returns the number that a name is, or -1. */
int number_of_name(const char *name);

/*
 * Reads up to 1 MiB of a file, for free(); bytes that are zero end it.  Returns
 * NULL with errno if it cannot be opened.
 */
char *file_text(const char *path);

/*
 * Finds "KEY:" at the start of a line and returns the text behind it and blanks,
 * up to the line's end, as *@length; NULL if there is none.  The first match
 * counts, so that no later value can contain such a line.
 */
const char *value_of_key(const char *text, const char *key, size_t *length);

/* The same for a decimal number. */
bool number_of_key(const char *text, const char *key, uint64_t *number);

#endif /* DMACTL_PROCESSES_H */
