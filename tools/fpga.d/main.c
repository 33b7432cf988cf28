// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * fpga-model: an AXI DMA beside QEMU.  It starts QEMU on memory that both share, and
 * the IP, and plays the core until QEMU ends.  QEMU knows no device at the core's
 * registers, which are plain memory: a guest's access does not trap, so the model
 * must look at them again and again.  It looks without a pause while something
 * happens, and ever less often, down to once a millisecond, while nothing does.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cli.h"
#include "axidma.h"
#include "child.h"
#include "fault.h"
#include "socket.h"

const char cli_program[] = "fpga-model";

#define MEMORY (1ull << 30) /* as guest.sh passes to the board */
#define SPIN 50000 /* ns without a pause after an event */
#define SHORTEST 20000 /* ns of the first pause */
#define LONGEST 1000000

/* Shared interrupts of the board's GIC that belong to its logic. */
static const unsigned int interrupts[] = { [MM2S] = 89, [S2MM] = 90 };
#define IP_INTERRUPT 91

struct model {
	struct axidma core;
	struct fpga_socket sockets;
	int memory; /* file */
	int signals; /* file */
	pid_t emulator, ip;
	char **next; /* words of the IP that replaces this IP */
	bool emulator_ended, failed;
	int status; /* of QEMU, as wait() returns it */
	uint64_t last_event; /* time */
	uint64_t pause; /* ns; 0 while it spins */
};

static const struct option long_options[] = {
	{ "fault", required_argument, NULL, 'f' },
	{ "width", required_argument, NULL, 'w' },
	{ "prefetch", required_argument, NULL, 'p' },
	{ "clock", required_argument, NULL, 'c' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
	"Usage: fpga-model [OPTION]... IP [ARGUMENT]... [+ IP [ARGUMENT]...]...\n"
	"                  -- QEMU [ARGUMENT]...\n"
	"Runs QEMU's board xlnx-zcu102 with an AXI DMA.  Its stream goes through\n"
	"the program IP; the guest replaces it by the next (control.h).  Ends with\n"
	"QEMU, with its exit status.\n"
	"\n"
	"Options:\n"
	"  -f, --fault NAME[=VALUE]  set a fault; may be repeated:\n"
	"                            mm2s.NAME or s2mm.NAME with stall,\n"
	"                            end-early, end-late, error or\n"
	"                            lose-interrupts; or deaf (control.h)\n"
	"  -w, --width BYTES         of a word of the stream (4)\n"
	"  -p, --prefetch N          descriptors that the core reads ahead (4)\n"
	"  -c, --clock HZ            of the core, for its delay timer (100000000)\n"
	"  -h, --help                print this\n";

static void ports_interrupt(void *context, enum axidma_direction direction)
{
	fpga_socket_interrupt(context, interrupts[direction]);
}

static const struct axidma_ports ports = {
	.send = fpga_socket_send,
	.receive = fpga_socket_receive,
	.reset = fpga_socket_reset,
	.interrupt = ports_interrupt,
};

static _Noreturn void main_give_up(const char *action)
{
	complain("%s: %s", action, strerror(errno));
	exit(EXIT_FAILED);
}

static uint64_t main_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* A file without a name: nothing is left to remove. */
static void make_memory(struct model *model)
{
	model->memory = memfd_create("fpga", MFD_CLOEXEC);
	if (model->memory < 0 || ftruncate(model->memory, MEMORY))
		main_give_up("no memory for the guest");
	model->core.memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
				  MAP_SHARED, model->memory, 0);
	if (model->core.memory == MAP_FAILED)
		main_give_up("cannot map the guest's memory");
	model->core.size = MEMORY;
	model->core.ports = &ports;
	model->core.context = &model->sockets;
}

static int socket_pair(int type, int *other)
{
	int pair[2];

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair))
		main_give_up("no socket");
	*other = pair[1];
	return pair[0];
}

/* Tells the next child the number of a file. */
static void main_export(const char *variable, int file)
{
	char *number = text_format("%d", file);

	setenv(variable, number, 1);
	free(number);
}

/* Starts an IP; its words end at NULL or before the next IP's. */
static void start_ip(struct model *model, char **words)
{
	int other;
	char **end = words;

	while (*end && strcmp(*end, "+"))
		end++;
	model->next = *end ? end + 1 : NULL;
	*end = NULL;
	model->sockets.ip = socket_pair(SOCK_SEQPACKET, &other);
	model->sockets.held = &model->core.control->s2mm.held;
	main_export(FPGA_STREAM_VARIABLE, other);
	main_export(FPGA_MEMORY_VARIABLE, model->memory);
	model->ip = child_start(words, other, model->memory, 1);
	unsetenv(FPGA_STREAM_VARIABLE);
	unsetenv(FPGA_MEMORY_VARIABLE);
	close(other);
}

/* A core that is replaced in a running design forgets its input. */
static void replace_ip(struct model *model)
{
	model->core.control->replace = 0;
	if (!model->next) {
		complain("no IP is left to replace this IP");
		return;
	}
	if (model->ip)
		kill(model->ip, SIGTERM);
	close(model->sockets.ip);
	model->sockets = (struct fpga_socket){
		.emulator = model->sockets.emulator,
	};
	start_ip(model, model->next);
}

/* Adds memory and qtest to the user's words. */
static void start_emulator(struct model *model, char **words, size_t count)
{
	int other;
	char **all = memory_new(count + 11, sizeof(*all));
	size_t i = count;

	model->sockets.emulator = socket_pair(SOCK_STREAM, &other);
	memcpy(all, words, count * sizeof(*all));
	all[i++] = "-object";
	all[i++] = text_format(
		"memory-backend-file,id=fpga,share=on,size=%llu,mem-path=/proc/self/fd/%d",
		MEMORY, model->memory);
	all[i++] = "-machine";
	all[i++] = "memory-backend=fpga";
	all[i++] = "-chardev";
	all[i++] = text_format("socket,id=qtest,fd=%d", other);
	all[i++] = "-qtest";
	all[i++] = "chardev:qtest";
	all[i++] = "-qtest-log";
	all[i++] = "none";
	model->emulator = child_start(all, model->memory, other, 0);
	close(other);
	free(all[count + 1]);
	free(all[count + 5]);
	free(all);
}

static void child_ended(struct model *model, pid_t child, int status)
{
	if (child == model->emulator) {
		model->emulator_ended = true;
		model->status = status;
		return;
	}
	if (child != model->ip)
		return;
	model->ip = 0;
	if (!status)
		return;
	if (WIFSIGNALED(status))
		complain("signal %d ended the IP", WTERMSIG(status));
	else
		complain("the IP ended with %d", WEXITSTATUS(status));
	model->failed = true;
	kill(model->emulator, SIGTERM);
}

/* Passes a signal on: the model ends after QEMU. */
static void main_take_signals(struct model *model)
{
	struct signalfd_siginfo info;
	int status;
	pid_t child;

	while (read(model->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			kill(model->emulator, SIGTERM);
	while ((child = waitpid(-1, &status, WNOHANG)) > 0)
		child_ended(model, child, status);
}

/* Sets the pause before the next look at the registers. */
static void main_pace(struct model *model, bool event)
{
	uint64_t time = main_now();

	if (event) {
		model->last_event = time;
		model->pause = 0;
	} else if (time - model->last_event < SPIN) {
		model->pause = 0;
	} else if (!model->pause) {
		model->pause = SHORTEST;
	} else {
		model->pause *= 2;
		if (model->pause > LONGEST)
			model->pause = LONGEST;
	}
}

static void wait_for_files(struct model *model)
{
	const struct fpga_socket *sockets = &model->sockets;
	struct timespec pause = { 0, (long)model->pause };
	bool resets = fpga_socket_resets(sockets);
	struct pollfd files[] = {
		{ model->signals, POLLIN, 0 },
		{ sockets->emulator, POLLIN, 0 },
		{ sockets->ip_ended ? -1 : sockets->ip, 0, 0 },
	};

	if (resets || axidma_waits(&model->core, S2MM))
		files[2].events |= POLLIN;
	if (sockets->reset_due || axidma_waits(&model->core, MM2S))
		files[2].events |= POLLOUT;
	/* An ended IP would wake each call. */
	if (!files[2].events)
		files[2].fd = -1;
	ppoll(files, 3, &pause, NULL);
	if (files[0].revents)
		main_take_signals(model);
	if (files[1].revents)
		fpga_socket_drain(&model->sockets);
}

/* Raises the interrupts that the IP asked for, an edge each. */
static bool raise_interrupts(struct model *model)
{
	struct fpga_control *control = model->core.control;

	if (__atomic_load_n(&control->interrupts, __ATOMIC_ACQUIRE) ==
	    control->raised)
		return false;
	control->raised++;
	fpga_socket_interrupt(&model->sockets, IP_INTERRUPT);
	return true;
}

static void model_run(struct model *model)
{
	bool event;

	/* Pauses as short as asked for, not 50 us longer. */
	prctl(PR_SET_TIMERSLACK, 1);
	while (!model->emulator_ended) {
		if (model->core.control->replace)
			replace_ip(model);
		event = axidma_step(&model->core, main_now());
		event |= raise_interrupts(model);
		fpga_socket_step(&model->sockets);
		main_pace(model, event);
		wait_for_files(model);
	}
}

static void main_show(const char *name, const struct fpga_channel *channel)
{
	fprintf(stderr,
		"%s: %s: %u packets, %u descriptors, %llu bytes, %u interrupts\n",
		cli_program, name, channel->packets, channel->descriptors,
		(unsigned long long)channel->bytes, channel->interrupts);
}

static int main_end(struct model *model)
{
	if (model->ip)
		kill(model->ip, SIGTERM);
	main_show("mm2s", &model->core.control->mm2s);
	main_show("s2mm", &model->core.control->s2mm);
	if (model->failed)
		return EXIT_FAILED;
	if (WIFSIGNALED(model->status))
		return 128 + WTERMSIG(model->status);
	return WEXITSTATUS(model->status);
}

static bool main_parse_count(const char *text, uint64_t most, uint64_t *out)
{
	const char *end = parse_number(text, 10, out);

	return end && !*end && *out && *out <= most;
}

/* Reads an option; false after a complaint. */
static bool main_take_option(struct model *model, int option)
{
	struct axidma *core = &model->core;
	uint64_t number;

	switch (option) {
	case 'f':
		if (fault_set(core->control, optarg))
			return true;
		complain("no fault %s", optarg);
		return false;
	case 'w':
		if (!main_parse_count(optarg, 128, &number))
			break;
		core->width = (unsigned int)number;
		return true;
	case 'p':
		if (!main_parse_count(optarg, AXIDMA_PREFETCH, &number))
			break;
		core->prefetch = (unsigned int)number;
		return true;
	case 'c':
		if (!main_parse_count(optarg, UINT32_MAX, &number))
			break;
		core->clock = number;
		return true;
	default:
		return false;
	}
	complain("%s is not a number in range", optarg);
	return false;
}

int main(int argc, char **argv)
{
	static struct model model = {
		.core = { .clock = 100000000,
			  .width = 4,
			  .prefetch = AXIDMA_PREFETCH },
	};
	int option, ip, emulator;

	cli_begin();
	make_memory(&model);
	axidma_init(&model.core);
	while ((option = cli_option(argc, argv, "+:f:w:p:c:h", long_options)) !=
	       -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return cli_end(EXIT_FINE);
		}
		if (!main_take_option(&model, option))
			return cli_usage("--help");
	}
	ip = emulator = optind;
	while (emulator < argc && strcmp(argv[emulator], "--"))
		emulator++;
	if (ip == emulator || emulator + 1 >= argc) {
		complain("IP or QEMU is missing");
		return cli_usage("--help");
	}
	argv[emulator++] = NULL;
	model.signals = child_signals();
	if (model.signals < 0)
		main_give_up("no file for signals");
	start_ip(&model, &argv[ip]);
	start_emulator(&model, &argv[emulator], (size_t)(argc - emulator));
	model_run(&model);
	return main_end(&model);
}
