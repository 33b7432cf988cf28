// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Second processes, what they may do, and waiting for what they do; see
 * process.h.
 */
#include <grp.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "process.h"

pid_t process_start(int (*main)(void *context), void *context)
{
	pid_t child = fork();

	if (child == 0)
		_exit(main(context));
	return child;
}

int process_wait(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) != child)
		if (errno != EINTR)
			return -ECHILD;
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int process_run(int (*main)(void *context), void *context)
{
	pid_t child = process_start(main, context);

	return child < 0 ? -errno : process_wait(child);
}

static bool no_child_is_left(void *unused)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return waitpid(-1, NULL, WNOHANG) < 0;
}

bool process_wait_all(void)
{
	return wait_for(no_child_is_left, NULL);
}

char process_state(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state;
}

bool process_sleeps(void *pid)
{
	return process_state(*(pid_t *)pid) == 'S';
}

bool process_waits(void *pid)
{
	return process_state(*(pid_t *)pid) == 'D';
}

int process_keep(uint64_t capabilities)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = {
		{
			.effective = (uint32_t)capabilities,
			.permitted = (uint32_t)capabilities,
		},
		{
			.effective = (uint32_t)(capabilities >> 32),
			.permitted = (uint32_t)(capabilities >> 32),
		},
	};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

int process_become(uid_t uid, uint64_t capabilities)
{
	if (prctl(PR_SET_KEEPCAPS, 1) || setgroups(0, NULL) ||
	    setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		return -errno;
	return process_keep(capabilities);
}

static int64_t milliseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool wait_for(bool (*reached)(void *context), void *context)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	int64_t deadline = milliseconds_now() + DEADLINE_MS;

	while (!reached(context)) {
		if (milliseconds_now() > deadline)
			return reached(context);
		nanosleep(&pause, NULL);
	}
	return true;
}

bool process_debugs_frames(void)
{
	struct utsname kernel;

	if (uname(&kernel))
		return false;
	/* that of arm64 does since Linux 6.0 */
	if (!strcmp(kernel.machine, "aarch64"))
		return strtoul(kernel.release, NULL, 10) >= 6;
	return strncmp(kernel.machine, "armv", 4);
}

int send_descriptor(int socket, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte = 0;
	struct iovec iovec = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iovec,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *header;

	memset(&control, 0, sizeof(control));
	header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(int));
	return sendmsg(socket, &message, 0) == 1 ? 0 : -errno;
}

int receive_descriptor(int socket)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec iovec = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iovec,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *header;
	int fd;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
		return -EPIPE;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return -EBADMSG;
	memcpy(&fd, CMSG_DATA(header), sizeof(int));
	return fd;
}

int machine_slowness(void)
{
	return access("/sys/kernel/debug/kmemleak", F_OK) ? 1 : 4;
}

int engine_slowness(void)
{
	return machine_slowness() == 1 ||
			       access("/sys/module/dray_test_engine", F_OK)
		       ? 1
		       : 16;
}

void drop_descriptors(int socket)
{
	int fd;

	do {
		fd = receive_descriptor(socket);
		if (fd >= 0)
			close(fd);
	} while (fd >= 0 || fd == -EBADMSG);
}
