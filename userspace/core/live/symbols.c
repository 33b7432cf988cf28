// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * symbols: asks addr2line, a process for each file, while a report is written.
 *
 * The program must not notice: such a child sends no SIGCHLD, waitpid(-1) does not
 * find it, and no write can raise SIGPIPE.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "live/symbols.h"

#define PATIENCE_S 20 /* a file may hold a gigabyte of debugging information */

static const char *const programs[] = {
	"/usr/bin/addr2line",
	"/usr/local/bin/addr2line",
	"/bin/addr2line",
};

struct start {
	const char *file;
	int socket, null;
};

/*
 * Runs in the child, which shares the parent's memory until it executes a program:
 * nothing but system calls.
 */
static int symbols_child(void *argument)
{
	const struct start *start = argument;
	/* It must not download anything. */
	char *environment[] = { "DEBUGINFOD_URLS=", "LC_ALL=C", NULL };
	char *arguments[] = { "addr2line", "-fsCe", NULL, NULL };
	size_t i;

	arguments[2] = (char *)(uintptr_t)start->file;
	if (syscall(SYS_dup3, start->socket, STDIN_FILENO, 0) < 0 ||
	    syscall(SYS_dup3, start->socket, STDOUT_FILENO, 0) < 0 ||
	    syscall(SYS_dup3, start->null, STDERR_FILENO, 0) < 0)
		return 1;
	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		syscall(SYS_execve, programs[i], arguments, environment);
	return 1;
}

static pid_t symbols_run(const struct start *start)
{
	char stack[16384] __attribute__((aligned(16)));
	sigset_t all, before;
	pid_t pid;

	/* No handler of the program may run in the child. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = clone(symbols_child, stack + sizeof(stack),
		    CLONE_VM | CLONE_VFORK, (void *)(uintptr_t)start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static void symbols_end(struct dray_symbols_file *file)
{
	if (file->socket < 0)
		return;
	close(file->socket);
	file->socket = -1;
	while (waitpid(file->child, NULL, __WALL) < 0 && errno == EINTR)
		;
}

/* Leaves the socket at -1 if it fails. */
static void symbols_begin(struct dray_symbols_file *file, const char *path)
{
	static const struct timeval patience = { .tv_sec = PATIENCE_S };
	struct start start = { .file = path };
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return;
	ends[0] = dray_descriptor(ends[0]);
	start.socket = dray_descriptor(ends[1]);
	start.null = dray_descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC));
	if (ends[0] >= 0 && start.socket >= 0 && start.null >= 0 &&
	    !setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience,
			sizeof(patience)))
		file->child = symbols_run(&start);
	if (start.socket >= 0)
		close(start.socket);
	if (start.null >= 0)
		close(start.null);
	if (file->child > 0)
		file->socket = ends[0];
	else if (ends[0] >= 0)
		close(ends[0]);
}

static struct dray_symbols_file *symbols_file_of(struct dray_symbols *symbols,
						 const Dl_info *info)
{
	struct dray_symbols_file *file;
	size_t i;

	for (i = 0; i < symbols->count; i++)
		if (symbols->files[i].base == info->dli_fbase)
			return &symbols->files[i];
	if (i == DRAY_SYMBOLS_FILES)
		return NULL;
	file = &symbols->files[symbols->count++];
	file->base = info->dli_fbase;
	file->child = -1;
	file->socket = -1;
	/* Programs with raised rights start no others. */
	if (!getauxval(AT_SECURE))
		symbols_begin(file, strchr(info->dli_fname, '/')
					    ? info->dli_fname
					    : "/proc/self/exe");
	return file;
}

/* Reads a line, without its end. */
static bool symbols_read_line(int socket, char *out, size_t room)
{
	size_t length = 0;
	char next;

	for (;;) {
		ssize_t got = read(socket, &next, 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		if (next == '\n')
			break;
		if (length < room - 1)
			out[length++] = next;
	}
	out[length] = 0;
	return true;
}

void dray_symbols_begin(struct dray_symbols *symbols)
{
	symbols->count = 0;
}

struct symbol_place {
	uintptr_t address, base;
};

/* Finds the base of the file of which a segment covers the address. */
static int find_base(struct dl_phdr_info *file, size_t size, void *context)
{
	struct symbol_place *place = context;
	const ElfW(Phdr) * segment;
	int i;

	(void)size;
	for (i = 0; i < file->dlpi_phnum; i++) {
		segment = &file->dlpi_phdr[i];
		if (segment->p_type == PT_LOAD &&
		    place->address - file->dlpi_addr - segment->p_vaddr <
			    segment->p_memsz) {
			place->base = file->dlpi_addr;
			return 1;
		}
	}
	return 0;
}

bool dray_symbols_find(struct dray_symbols *symbols, const void *address,
		       struct dray_symbol *out)
{
	char question[32];
	struct dray_symbols_file *file;
	struct symbol_place place = { .address = (uintptr_t)address };
	Dl_info info;
	int length;

	if (!dladdr(address, &info) || !info.dli_fname ||
	    !dl_iterate_phdr(find_base, &place))
		return false;
	file = symbols_file_of(symbols, &info);
	if (!file || file->socket < 0)
		return false;
	length = snprintf(question, sizeof(question), "0x%jx\n",
			  (uintmax_t)(place.address - place.base));
	if (send(file->socket, question, (size_t)length, MSG_NOSIGNAL) !=
		    length ||
	    !symbols_read_line(file->socket, out->function,
			       sizeof(out->function)) ||
	    !symbols_read_line(file->socket, out->line, sizeof(out->line))) {
		symbols_end(file);
		return false;
	}
	/*
	 * Either part may be unknown: "??:0", "file.c:?".  Without a line the
	 * function is the nearest symbol before the address, of any size: in a
	 * stripped file, an exported symbol.
	 */
	out->line[strcspn(out->line, " ")] = 0;
	return out->function[0] && out->function[0] != '?' &&
	       !strchr(out->line, '?');
}

void dray_symbols_end(struct dray_symbols *symbols)
{
	size_t i;

	for (i = 0; i < symbols->count; i++)
		symbols_end(&symbols->files[i]);
	symbols->count = 0;
}
