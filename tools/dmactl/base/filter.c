// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Compares rows with the values on the command line.  All values are read before
 * the first row, so that a wrong one is an error even for an empty list.
 */
#include <fnmatch.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "quantity.h"

const struct command_option pid_option = {
	.name = "pid",
	.value = "PID",
	.text = "only memory of this process",
};

const struct command_option user_option = {
	.name = "user",
	.value = "USER",
	.text = "only memory of this user, a name or a uid",
};

const struct command_option heap_filter_option = {
	.name = "heap",
	.value = "HEAP",
	.offers = "heap",
	.text = "only memory of this heap, or of this exporter",
};

const struct command_option name_option = {
	.name = "name",
	.value = "PATTERN",
	.text = "only names that the pattern fits, as 'frame*'",
};

const struct command_option min_size_option = {
	.name = "min-size",
	.value = "SIZE",
	.text = "only memory of this size or more, as 8M",
};

const struct command_option older_option = {
	.name = "older",
	.value = "TIME",
	.text = "only memory of this age or older, as 90s, 5m,\n"
		"2h or 1d",
};

const struct command_option orphans_option = {
	.name = "orphans",
	.text = "only memory of processes that have ended",
};

const struct command_option held_option = {
	.name = "held",
	.text = "only memory that waits for reclaim",
};

/* Reads a whole number up to @most. */
static bool filter_read_number(const char *text, uint64_t most,
			       uint64_t *number)
{
	const char *end = parse_number(text, 10, number);

	return end && !*end && *number <= most;
}

static bool read_user(const char *text, uint64_t *uid)
{
	const struct passwd *user = getpwnam(text);

	if (user)
		*uid = user->pw_uid;
	return user || filter_read_number(text, UINT32_MAX, uid);
}

static bool check_values(const struct request *request)
{
	const char *value;
	uint64_t number;
	size_t i;

	for (i = 0; (value = option_value_at(request, &pid_option, i)); i++)
		if (!filter_read_number(value, INT32_MAX, &number)) {
			complain("'%s' is not a process id", value);
			return false;
		}
	for (i = 0; (value = option_value_at(request, &user_option, i)); i++)
		if (!read_user(value, &number)) {
			complain("no user '%s'", value);
			return false;
		}
	return true;
}

bool filter_make(const struct request *request, struct filter *filter)
{
	const char *size = option_value(request, &min_size_option);
	const char *older = option_value(request, &older_option);

	*filter = (struct filter){
		.request = request,
		.orphans = option_value(request, &orphans_option),
		.held = option_value(request, &held_option),
	};
	return check_values(request) &&
	       (!size || parse_size(size, &filter->min_size)) &&
	       (!older || parse_time(older, &filter->older));
}

bool filter_pid(const struct filter *filter, int64_t pid)
{
	const char *value;
	uint64_t wanted;
	size_t i;

	for (i = 0; (value = option_value_at(filter->request, &pid_option, i));
	     i++)
		if (filter_read_number(value, INT32_MAX, &wanted) &&
		    (int64_t)wanted == pid)
			return true;
	return !i;
}

bool filter_user(const struct filter *filter, uint32_t uid)
{
	const char *value;
	uint64_t wanted;
	size_t i;

	for (i = 0; (value = option_value_at(filter->request, &user_option, i));
	     i++)
		if (read_user(value, &wanted) && wanted == uid)
			return true;
	return !i;
}

bool filter_heap(const struct filter *filter, const char *heap, size_t room)
{
	const char *value;
	size_t i;

	for (i = 0;
	     (value = option_value_at(filter->request, &heap_filter_option, i));
	     i++)
		if (!strncmp(value, heap, room))
			return true;
	return !i;
}

bool filter_name(const struct filter *filter, const char *name, size_t room)
{
	char *whole = text_format("%.*s", (int)strnlen(name, room), name);
	const char *value;
	bool fits = false;
	size_t i;

	for (i = 0; (value = option_value_at(filter->request, &name_option, i));
	     i++)
		fits = fits || !fnmatch(value, whole, 0);
	free(whole);
	return fits || !i;
}

bool filter_buffer(const struct filter *filter,
		   const struct dray_buffer_info *info)
{
	if (info->size < filter->min_size || info->age_ns < filter->older)
		return false;
	if (filter->orphans && !(info->flags & DRAY_BUFFER_ORPHAN))
		return false;
	if (filter->held && !(info->flags & DRAY_BUFFER_HELD))
		return false;
	return filter_pid(filter, info->pid) &&
	       filter_user(filter, info->uid) &&
	       filter_heap(filter, info->heap_name, sizeof(info->heap_name)) &&
	       filter_name(filter, info->name, sizeof(info->name));
}
