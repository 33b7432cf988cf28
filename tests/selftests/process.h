/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Second processes, what they may do, and waiting for what they do.  A child
 * tells its result by its exit status, so that the test's own process makes
 * every assertion.
 */
#ifndef SELFTEST_PROCESS_H
#define SELFTEST_PROCESS_H

#include "system.h"

#define CAPABILITY(number) (1ull << (number))
/* Capabilities that open a node; an administrator's too. */
#define OPENER CAPABILITY(CAP_DAC_OVERRIDE)
#define ADMINISTRATOR (OPENER | CAPABILITY(CAP_SYS_ADMIN))

/* Calls main(context) in a child; its result, 0 to 255, is the exit status. */
pid_t process_start(int (*main)(void *context), void *context);

/* The exit status, or minus the number of the signal that ended it. */
int process_wait(pid_t child);

/* Both. */
int process_run(int (*main)(void *context), void *context);

/* Waits for all children there are; false if one lives on. */
bool process_wait_all(void);

/* The letter of /proc/PID/stat, or 0: S sleeps, D sleeps on under signals. */
char process_state(pid_t pid);

/* Does it sleep, in a system call that a signal ends?  For wait_for(). */
bool process_sleeps(void *pid);

/* The same of a wait that no signal ends, or only one that kills. */
bool process_waits(void *pid);

/* Keeps these capabilities and no other; for good.  0 or a negative errno. */
int process_keep(uint64_t capabilities);

/* The same as another user. */
int process_become(uid_t uid, uint64_t capabilities);

/*
 * The deadline of every wait, in milliseconds.  It only ends a test that has
 * failed, so no busy host may reach it.
 */
#define DEADLINE_MS 300000

/* Asks again and again until the answer is yes; false at the deadline. */
bool wait_for(bool (*reached)(void *context), void *context);

/*
 * Whether this kernel asks drivers when a debugger reads memory that it has no
 * pages of: a 32-bit arm kernel does not, and one for arm64 does since 6.0.
 */
bool process_debugs_frames(void);

/* Passes a file descriptor over a Unix socket. */
int send_descriptor(int socket, int fd);
int receive_descriptor(int socket);

/* Receives and closes those that nobody has received: they hold buffers. */
void drop_descriptors(int socket);

/*
 * How many times slower than others this machine does a small piece of work:
 * 4 where the kernel checks each of its own steps, else 1.
 */
int machine_slowness(void);

/*
 * The same of an engine and one descriptor: 16 for the engine for tests there,
 * which is a part of the kernel, and 1 for one that is not.
 */
int engine_slowness(void);

/* Becomes another user and opens the node, as steps of a child (step.h). */
#define STEP_OPEN_AS(node, ...)                       \
	STEP_EQ(0, process_become(__VA_ARGS__)); \
	int node = node_open();                  \
	STEP_LE(0, node)

#endif
