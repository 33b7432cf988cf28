/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Faults where the library meets the system: the linker sends its calls of
 * these functions here (meson.build has the list), and the one that the test
 * chose fails.  Nothing in the library knows of it.
 */
#ifndef DRAY_TESTS_FAULT_H
#define DRAY_TESTS_FAULT_H

#include <sys/vfs.h>

#include "unit.h"

static int calls_to_go = -1;	/* until one fails; below 0: none will */
static int fault_error;
static bool faults_last;	/* all later calls fail too */
static bool faulted;
static unsigned int file_system;	/* that all files are said to be on; 0: theirs */
static bool mremap_fails;	/* each one of an existing mapping, nothing else */

/* The @n-th call from now on fails with @error. */
static inline void arm(int n, int error)
{
	calls_to_go = n;
	fault_error = error;
	faults_last = false;
	faulted = false;
}

static inline void disarm(void)
{
	calls_to_go = -1;
}

/* The same with ENOMEM, and if @last, all later calls fail too. */
static inline void arm_with(int n, bool last)
{
	arm(n, ENOMEM);
	faults_last = last;
}

/* Ends it; a call that failed has told a code, and a sentence. */
static inline void disarm_after(int ret)
{
	disarm();
	if (!ret)
		return;
	assert_true(faulted);
	assert_int_equal(ret, -ENOMEM);
	assert_true(strlen(dray_last_error()) > 0);
}

/*
 * Fails each call of @work alone, then each with all that come after it, by
 * @fail_call, which returns whether there was an n-th one.
 */
static inline void fail_each_call(bool (*fail_call)(int (*work)(void), int n,
						    bool last),
				  int (*work)(void))
{
	int n = 0;

	while (fail_call(work, n, false))
		n++;
	assert_true(n >= 1);
	for (n = 0; fail_call(work, n, true);)
		n++;
}

static inline bool fails_now(void)
{
	if (calls_to_go < 0 || (calls_to_go && calls_to_go--))
		return false;
	if (!faults_last)
		calls_to_go = -1;
	errno = fault_error;
	faulted = true;
	return true;
}
WRAPPED(void *, calloc, (size_t count, size_t size))
{
	return fails_now() ? NULL : __real_calloc(count, size);
}
WRAPPED(void *, mmap64,
	(void *address, size_t size, int protection, int flags, int fd,
	 off_t offset))
{
	/*
	 * PROT_NONE over a mapping is how the window takes addresses back;
	 * that it fails has a test of its own, and costs those addresses.
	 */
	bool takes_back = protection == PROT_NONE && (flags & MAP_FIXED);

	return !takes_back && fails_now() ?
		       MAP_FAILED :
		       __real_mmap64(address, size, protection, flags, fd,
				     offset);
}
WRAPPED(void *, mremap,
	(void *old, size_t old_size, size_t size, int flags, ...))
{
	va_list arguments;
	void *fixed;

	va_start(arguments, flags);
	fixed = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
	va_end(arguments);
	/* A new table begins as one page. */
	if (mremap_fails && old_size > (size_t)sysconf(_SC_PAGESIZE)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return fails_now() ? MAP_FAILED :
			     __real_mremap(old, old_size, size, flags, fixed);
}
WRAPPED(int, memfd_create, (const char *name, unsigned int flags))
{
	return fails_now() ? -1 : __real_memfd_create(name, flags);
}
WRAPPED(int, ftruncate64, (int fd, off_t size))
{
	return fails_now() ? -1 : __real_ftruncate64(fd, size);
}
WRAPPED(int, fcntl64, (int fd, int command, ...))
{
	va_list args;
	long argument;

	va_start(args, command);
	argument = va_arg(args, long);
	va_end(args);
	return fails_now() ? -1 : __real_fcntl64(fd, command, argument);
}

static bool faulted_fstat; /* until the test clears it */

WRAPPED(int, fstat64, (int fd, struct stat *status))
{
	if (!fails_now())
		return __real_fstat64(fd, status);
	faulted_fstat = true;
	return -1;
}
WRAPPED(int, fstatfs64, (int fd, struct statfs *system))
{
	if (fails_now() || __real_fstatfs64(fd, system))
		return -1;
	if (file_system)
		system->f_type = file_system;
	return 0;
}
WRAPPED(int, madvise, (void *address, size_t size, int advice))
{
	/* Huge pages are only a hint, which may fail at any time. */
	return fails_now() ? -1 : __real_madvise(address, size, advice);
}
WRAPPED(int, fallocate64, (int fd, int mode, off_t offset, off_t size))
{
	return fails_now() ? -1 : __real_fallocate64(fd, mode, offset, size);
}

struct sysinfo;
WRAPPED(int, sysinfo, (struct sysinfo *memory))
{
	return fails_now() ? -1 : __real_sysinfo(memory);
}
WRAPPED(FILE *, dray_descriptor_file, (const char *path))
{
	return fails_now() ? NULL : __real_dray_descriptor_file(path);
}

#endif /* DRAY_TESTS_FAULT_H */
