// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Files are written under a temporary name beside their own and then renamed.
 * Errors of standard output are left to cli_end().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli.h"
#include "output.h"

/* Sets the mode of a temporary file: of the file that it replaces, or of a new file. */
static int set_mode(int file, const char *name)
{
	struct stat status;
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(file, stat(name, &status) ? 0666 & ~mask
						: status.st_mode & 07777);
}

static bool complain_unwritten(const struct output *output)
{
	complain("cannot write '%s'%s%s", output->name, errno ? ": " : "",
		 errno ? strerror(errno) : "");
	return false;
}

/* Checks for attributes, or a list of access, that a new file would not get. */
static bool has_attributes(const char *name)
{
	char names[65536]; /* the most that Linux lists */
	ssize_t size = listxattr(name, names, sizeof(names));
	const char *at;

	/* Labels are the system's, which a new file gets from it. */
	for (at = names; at < names + size; at += strlen(at) + 1)
		if (strncmp(at, "security.", strlen("security.")))
			return true;
	return false;
}

/*
 * Checks for a file that a new file cannot replace: a device, a link, a file of several
 * names, of another user or with attributes.  Such a file is written in place.
 */
static bool is_special(const char *name)
{
	struct stat status;

	return !lstat(name, &status) &&
	       (!S_ISREG(status.st_mode) || status.st_nlink > 1 ||
		status.st_uid != geteuid() || status.st_gid != getegid() ||
		has_attributes(name));
}

/* Opens a file beside the file to write; returns NULL and errno if that fails. */
static FILE *open_beside(struct output *output)
{
	FILE *stream = NULL;
	int file, error;

	output->temporary = text_format("%s.XXXXXX", output->name);
	file = mkstemp(output->temporary);
	if (file >= 0 && !set_mode(file, output->name))
		stream = fdopen(file, "w");
	if (stream)
		return stream;
	error = errno;
	if (file >= 0) {
		close(file);
		unlink(output->temporary);
	}
	free(output->temporary);
	errno = error;
	return NULL;
}

bool output_open(struct output *output, const char *name)
{
	*output = (struct output){ .stream = stdout, .name = name };
	if (!strcmp(name, "-"))
		return true;
	output->stream =
		is_special(name) ? fopen(name, "we") : open_beside(output);
	return output->stream || complain_unwritten(output);
}

static bool give_name(struct output *output)
{
	if (output->temporary && rename(output->temporary, output->name))
		return false;
	free(output->temporary);
	output->temporary = NULL;
	return true;
}

bool output_end(struct output *output, bool good)
{
	bool failed;

	if (output->stream == stdout)
		return good;
	failed = ferror(output->stream);
	/* else it is still the reason */
	if (!failed)
		errno = 0;
	if (fclose(output->stream))
		failed = true;
	if (good && !failed && !give_name(output))
		failed = true;
	if (good && failed)
		complain_unwritten(output);
	if (output->temporary)
		unlink(output->temporary);
	free(output->temporary);
	return good && !failed;
}
