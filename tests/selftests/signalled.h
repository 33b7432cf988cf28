/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls that signals come into while they wait.
 */
#ifndef SELFTEST_SIGNALLED_H
#define SELFTEST_SIGNALLED_H

struct signalled {
	int (*call)(void *context); /* 0 or a negative errno */
	int (*release)(void *context); /* what the call waits for; 0 */
	void *context;
	int flags; /* SA_RESTART or none */
};

/*
 * Makes the call in a child, which signals interrupt ten times while it sleeps,
 * or until the call ends; then releases it.  What the call said, or -ETIME where
 * it did not wait for that, and -ECHILD where something else went wrong.
 */
int signalled_run(const struct signalled *signalled);

#endif
