/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Drivers and devices through sysfs: a node that is taken away under its users
 * and put back, and devices that are given to dray.  Functions return 0 or a
 * negative errno.
 */
#ifndef SELFTEST_BINDING_H
#define SELFTEST_BINDING_H

#include "system.h"

/* The node that node_path() names: its device, and the driver of that. */
struct binding {
	char driver[PATH_MAX]; /* the driver's folder in sysfs */
	char device[DRAY_NAME_LEN];
};

int write_text(const char *path, const char *text);
int write_name(const char *folder, const char *file, const char *name);

/* Of an open node. */
int binding_find(int node, struct binding *binding);

int binding_unbind(const struct binding *binding);

/* Returns when the node answers. */
int binding_bind(const struct binding *binding);

/* For wait_for(). */
bool node_answers(void *unused);
bool node_is_gone(void *unused);

/*
 * Every call of the interface, each with arguments that are right but for the
 * node being gone: the name of the first that is not -ENODEV, or "".
 */
const char *node_call_that_lives(int node, int buffer_fd, uint64_t buffer_id);

#endif
