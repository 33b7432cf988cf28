// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Files are written under a temporary name beside their own and then renamed.
 * Errors of standard output are left to cli_end().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "output.h"

/* Gives a temporary file the mode that open() would have given it. */
static int set_mode(int file)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(file, 0666 & ~mask);
}

bool output_open(struct output *output, const char *name)
{
	int file;

	*output = (struct output){ .stream = stdout, .name = name };
	if (!strcmp(name, "-"))
		return true;
	output->temporary = text_format("%s.XXXXXX", name);
	file = mkstemp(output->temporary);
	if (file >= 0 && !set_mode(file)) {
		output->stream = fdopen(file, "w");
		if (output->stream)
			return true;
	}
	complain("cannot create '%s': %s", name, strerror(errno));
	if (file >= 0) {
		close(file);
		unlink(output->temporary);
	}
	free(output->temporary);
	return false;
}

bool output_end(struct output *output, bool good)
{
	bool failed;

	if (!output->temporary)
		return good;
	failed = ferror(output->stream);
	/* else it is still the reason */
	if (!failed)
		errno = 0;
	if (fclose(output->stream))
		failed = true;
	if (good && !failed && rename(output->temporary, output->name))
		failed = true;
	if (good && failed)
		complain("cannot write '%s'%s%s", output->name,
			 errno ? ": " : "", errno ? strerror(errno) : "");
	if (!good || failed)
		unlink(output->temporary);
	free(output->temporary);
	return good && !failed;
}
