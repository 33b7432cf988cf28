// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Checks of the kernel's tracing before anything is followed, the layouts of the
 * module's events, and the end of instances that killed processes left.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracefs.h>

#include "base/access.h"
#include "event.h"
#include "tracing.h"

bool tracing_failed(const char *doing)
{
	complain("the kernel's tracing cannot %s: %s", doing, strerror(errno));
	return false;
}

static bool find_folder(const char **folder)
{
	if (tracefs_tracing_dir_is_mounted(true, folder) >= 0 && *folder)
		return true;
	if (geteuid())
		complain("no tracefs is mounted, and only root may mount it: "
			 "mount -t tracefs tracefs /sys/kernel/tracing");
	else
		complain("no tracefs can be mounted on /sys/kernel/tracing: "
			 "this kernel has no tracing, or it is locked (%s)",
			 strerror(errno));
	return false;
}

bool tracing_check(uint32_t kinds)
{
	const char *folder = NULL;
	int kind;

	/* its own messages lack the next step */
	tracefs_set_loglevel(TEP_LOG_NONE);
	if (!find_folder(&folder))
		return false;
	if (access(folder, R_OK | W_OK | X_OK)) {
		complain(
			"no permission to use %s: the kernel's tracing shows "
			"all processes, so it is for root, and you have uid %u",
			folder, (unsigned int)geteuid());
		return false;
	}
	if (!tracefs_dir_exists(NULL, "events/" TRACING_SYSTEM)) {
		if (access("/sys/module/dray", F_OK))
			complain_no_module();
		else
			complain("the dray module has no events: it was built "
				 "for a kernel without CONFIG_EVENT_TRACING");
		return false;
	}
	for (kind = 0; kind < EVENT_KINDS; kind++) {
		char *name =
			text_format(TRACING_PREFIX "%s", event_names[kind]);
		bool there = !(kinds & EVENT_BIT(kind)) ||
			     tracefs_event_file_exists(NULL, TRACING_SYSTEM,
						       name, "format");

		free(name);
		if (!there) {
			complain("the loaded module has no event '%s': it is "
				 "older than dmactl",
				 event_names[kind]);
			return false;
		}
	}
	return true;
}

static bool read_layouts(struct tep_handle *tep, uint32_t kinds)
{
	int size = 0, kind;
	char *text =
		tracefs_instance_file_read(NULL, "events/header_page", &size);
	bool fine =
		text && !tep_parse_header_page(tep, text, (unsigned long)size,
					       sizeof(long));

	free(text);
	for (kind = 0; kind < EVENT_KINDS && fine; kind++) {
		char *name;

		if (!(kinds & EVENT_BIT(kind)))
			continue;
		name = text_format(TRACING_PREFIX "%s", event_names[kind]);
		text = tracefs_event_file_read(NULL, TRACING_SYSTEM, name,
					       "format", &size);
		fine = text;
		/* fails for an odd print format, too: the fields are known */
		if (fine)
			tep_parse_event(tep, text, (unsigned long)size,
					TRACING_SYSTEM);
		free(text);
		free(name);
	}
	return fine;
}

/* libtracefs would read all symbols of the kernel, too: seconds on a board. */
struct tep_handle *tracing_events(uint32_t kinds)
{
	struct tep_handle *tep = tep_alloc();

	if (tep && read_layouts(tep, kinds))
		return tep;
	tracing_failed("tell its events");
	tep_free(tep);
	return NULL;
}

/* An instance in use is not removed: its files are open. */
void tracing_remove_left(void)
{
	/* a basic regular expression */
	char **names = tracefs_instances("^" TRACING_INSTANCE "[0-9][0-9]*$");
	size_t i;

	for (i = 0; names && names[i]; i++) {
		long pid =
			strtol(names[i] + strlen(TRACING_INSTANCE), NULL, 10);
		struct tracefs_instance *left;

		if (!kill((pid_t)pid, 0) || errno != ESRCH)
			continue;
		left = tracefs_instance_alloc(NULL, names[i]);
		if (left) {
			tracefs_event_disable(left, TRACING_SYSTEM, NULL);
			tracefs_instance_destroy(left);
			tracefs_instance_free(left);
		}
	}
	tracefs_list_free(names);
}
