// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Containers: a process in namespaces of its own, and the exporter outside.  What
 * works, works across; the rest is a sentence that names the namespace.
 */
#include <dray/array.h>

#include "child.h"
#include "shareable.h"

static struct dray_array *array;
static char record[8192];
static size_t record_size;

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 &&
		    write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* 77: this system has no such namespace.  @sentence: NULL if it works. */
static int import_in(int flags, bool mapped, const char *sentence)
{
	struct dray_array *again;
	pid_t child;
	int ret;

	if (unshare(flags))
		return 77;
	if (flags & CLONE_NEWUSER && mapped &&
	    !write_file("/proc/self/uid_map", "0 0 1"))
		return 77;
	/* A namespace of processes or time begins with a child. */
	child = fork();
	if (child)
		return status_of(child);
	ret = dray_array_open(record, record_size, NULL, &again);
	if (sentence)
		return ret && strstr(dray_last_error(), sentence) ? 0 : 1;
	if (ret)
		return 2;
	if (*(char *)whole_view(again)->data != 7)
		return 3;
	*(char *)whole_view(again)->data = 8;
	dray_array_unref(again);
	return 0;
}

static const struct {
	const char *name;
	int flags;
	bool mapped;
	const char *sentence;
} rows[] = {
	{ "processes", CLONE_NEWPID, false, NULL },
	{ "mounts", CLONE_NEWNS, false, NULL },
	{ "IPC", CLONE_NEWIPC, false, NULL },
	{ "time", CLONE_NEWTIME, false, NULL },
	{ "users, with a map", CLONE_NEWUSER, true, NULL },
	{ "users, without a map", CLONE_NEWUSER, false,
	  "a user without a number in this namespace" },
	{ "networks", CLONE_NEWNET, false, "another network namespace" },
	{ "all but networks",
	  CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWTIME, false,
	  NULL },
};

FACT(an_importer_may_have_namespaces_of_its_own)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pid_t child;
		int status;

		*(char *)whole_view(array)->data = 7;
		child = fork();
		if (!child)
			_exit(import_in(rows[i].flags, rows[i].mapped,
					rows[i].sentence));
		status = status_of(child);
		if (status == 77)
			continue;
		if (status || *(char *)whole_view(array)->data !=
				      (rows[i].sentence ? 7 : 8))
			fail_msg("a namespace of %s: step %d", rows[i].name,
				 status);
	}
}

static int export_array(void **state)
{
	if (set_up(state) ||
	    dray_array_create(pool, u1, 1, DIMS(100000), &array))
		return -1;
	return dray_view_export(whole_view(array), 0, record, sizeof(record),
				&record_size);
}

static int end_array(void **state)
{
	dray_array_unref(array);
	return tear_down(state);
}

FACTS_SHARE(export_array, end_array)
