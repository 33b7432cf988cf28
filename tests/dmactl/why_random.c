// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Compares dmactl why with the module: makes random states of the heaps, asks for
 * random allocations, and then makes them.
 *
 *	dmactl-why-random DMACTL ROUNDS SEED
 *
 * Ends after so many answers that are certain, which must all be right; counts
 * the likely ones that were.  Some 30 are asked of the program DMACTL too.
 * Needs root, and /dev/dray0 open to all.  Leaves the heaps' limits at 0 and
 * nothing held.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "why/why_help.h"
#include "why/why_read.h"

#define BUFFERS 48
#define PIPES 16
#define NOBODY 65534
#define PROGRAM_EVERY 20

const char cli_program[] = "dmactl-why-random";

/* The node as a user opened it: the right to addresses is the opener's. */
struct user {
	uid_t uid;
	int fd;
	struct dray_node *node;
	struct dray_info info;
};

static struct user users[2];
static int buffers[BUFFERS]; /* descriptors; -1: none */
static int pipes[PIPES][2]; /* with a page of a buffer that is freed */
static uint64_t starts[8]; /* of each heap, an address; 0: unknown */
static uint64_t totals[8];
static bool is_shared[8]; /* with the system */
static uint32_t heap_count;
static uint64_t page;

static struct {
	unsigned int certain;
	unsigned int wrong;
	unsigned int likely;
	unsigned int likely_right;
	unsigned int programs;
	unsigned int by_reason[DRAY_REASON_MEMLOCK + 1];
} tally;

static uint64_t random_bits(void)
{
	return (uint64_t)random() << 31 ^ (uint64_t)random();
}

static uint64_t below(uint64_t bound)
{
	return bound ? random_bits() % bound : 0;
}

static bool one_in(unsigned int count)
{
	return !below(count);
}

static void become(uid_t uid)
{
	if (geteuid() != uid && (seteuid(0) || (uid && seteuid(uid))))
		err(1, "seteuid");
}

static void open_user(struct user *user, uid_t uid)
{
	become(uid);
	user->uid = uid;
	user->fd = open("/dev/dray0", O_RDWR | O_CLOEXEC);
	if (user->fd < 0)
		err(1, "/dev/dray0");
	if (dray_node_open("kernel:dray0", &user->node) ||
	    dray_node_info(user->node, &user->info, sizeof(user->info)))
		errx(1, "%s", dray_last_error());
	become(0);
}

static int allocate(int node, struct dray_alloc *alloc)
{
	return ioctl(node, DRAY_IOC_ALLOC, alloc) ? -errno : 0;
}

/* The first page of an empty heap tells where it lies. */
static void find_start(uint32_t heap)
{
	struct dray_alloc alloc = { .size = 1, .heap = heap, .mode = 3 };
	struct dray_segment segment;
	struct dray_address address = {
		.segments = (uintptr_t)&segment,
		.room = 1,
	};

	if (allocate(users[0].fd, &alloc))
		return;
	address.fd = alloc.fd;
	if (!ioctl(users[0].fd, DRAY_IOC_ADDRESS, &address))
		starts[heap] = segment.address;
	close(alloc.fd);
}

static uint64_t random_size(uint64_t total)
{
	if (one_in(60))
		return below(3) ? total + below(total) : random_bits();
	if (one_in(200))
		return 0;
	if (one_in(4))
		return 1 + below(total / 2);
	return 1 + below(total / (one_in(2) ? 16 : 128));
}

static uint64_t random_alignment(uint64_t total)
{
	if (one_in(100))
		return random_bits();
	if (one_in(2))
		return 0;
	return page << below(
		       one_in(10) ? 52
				  : (uint64_t)__builtin_ctzll(total & -total) -
					    10);
}

static uint64_t random_mask(uint32_t heap)
{
	if (one_in(2))
		return 0;
	if (heap < heap_count && starts[heap] && one_in(2))
		return starts[heap] + below(totals[heap] + page);
	return UINT64_MAX >> (1 + below(50));
}

static struct plan_request random_request(void)
{
	uint32_t heap = (uint32_t)below(heap_count);
	struct plan_request request = {
		.size = random_size(totals[heap]),
		.alignment = random_alignment(totals[heap]),
		.mask = one_in(2) ? random_mask(heap) : 0,
		.heap = one_in(3) ? DRAY_HEAP_ANY : heap,
		.mode = one_in(4) ? (uint32_t)below(4) : 0,
	};

	if (one_in(100))
		request.heap = heap_count + (uint32_t)below(4);
	return request;
}

static int call(const struct user *user, const struct plan_request *request,
		struct dray_alloc *alloc)
{
	*alloc = (struct dray_alloc){
		.size = request->size,
		.alignment = request->alignment,
		.address_limit = request->mask,
		.heap = request->heap,
		.mode = request->mode,
		.flags = one_in(2) ? DRAY_ALLOC_TOP : 0,
	};
	return allocate(user->fd, alloc);
}

/* A freed page stays in use as long as a pipe has it. */
static void quarantine(int fd, uint64_t size)
{
	size_t slot = below(PIPES);
	struct iovec vector = { .iov_len = page };
	char *bytes;

	if (pipes[slot][0] >= 0) {
		close(pipes[slot][0]);
		close(pipes[slot][1]);
		pipes[slot][0] = -1;
		return;
	}
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return;
	vector.iov_base = bytes + below(size / page) * page;
	if (pipe2(pipes[slot], O_CLOEXEC | O_NONBLOCK))
		err(1, "pipe");
	vmsplice(pipes[slot][1], &vector, 1, 0);
	munmap(bytes, size);
}

/* A process that was told an address ends. */
static void hold(void)
{
	pid_t child = fork();
	struct dray_alloc alloc = { .size = 1 + below(1 << 20) };
	struct dray_segment segment;
	struct dray_address address = {
		.segments = (uintptr_t)&segment,
		.room = 1,
	};

	if (child < 0)
		err(1, "fork");
	if (child) {
		waitpid(child, NULL, 0);
		return;
	}
	alloc.heap = (uint32_t)below(heap_count);
	alloc.mode = DRAY_MODE_DEVICE;
	if (!allocate(users[0].fd, &alloc)) {
		address.fd = alloc.fd;
		ioctl(users[0].fd, DRAY_IOC_ADDRESS, &address);
	}
	_exit(0);
}

static void reclaim(void)
{
	struct dray_reclaim args = { 0 };

	if (ioctl(users[0].fd, DRAY_IOC_RECLAIM, &args))
		err(1, "RECLAIM");
}

static void set_limit(uint32_t heap, const char *which, uint64_t bytes)
{
	struct dray_heap_info info = { 0 };
	char *path;
	FILE *file;

	if (dray_node_heap(users[0].node, heap, &info, sizeof(info)))
		errx(1, "%s", dray_last_error());
	path = text_format("/sys/class/dray-heap/%s/%s", info.name, which);
	file = fopen(path, "w");
	if (!file || fprintf(file, "%" PRIu64, bytes) < 0 || fclose(file))
		err(1, "%s", path);
	free(path);
}

/* Takes or gives back a buffer; a page of it may stay in a pipe. */
static void change_buffer(void)
{
	int *buffer = &buffers[below(BUFFERS)];
	struct plan_request request = random_request();
	struct dray_alloc alloc;

	if (*buffer >= 0) {
		uint64_t size = (uint64_t)lseek(*buffer, 0, SEEK_END);

		/* More are taken than given back: heaps are full at times. */
		if (one_in(2))
			return;
		if (one_in(3))
			quarantine(*buffer, size);
		close(*buffer);
		*buffer = -1;
		return;
	}
	request.mask = 0;
	request.heap = (uint32_t)below(heap_count);
	if (is_shared[request.heap] && one_in(2))
		return;
	request.size = 1 + below(totals[request.heap] / 8);
	request.mode = one_in(2) ? DRAY_MODE_CACHED : DRAY_MODE_DEVICE;
	if (!call(&users[below(2)], &request, &alloc))
		*buffer = alloc.fd;
}

static void change(void)
{
	static const char *const limits[] = { "limit", "user_limit" };
	uint32_t heap = (uint32_t)below(heap_count);

	if (one_in(12))
		hold();
	else if (one_in(20))
		reclaim();
	else if (one_in(10))
		set_limit(heap, limits[below(2)],
			  one_in(2) ? 0 : below(totals[heap]));
	else
		change_buffer();
}

/* The program's first line, and its exit code. */
static void ask_program(const char *program, const struct user *user,
			const struct plan_node *plan,
			const struct plan_request *request,
			const struct dray_alloc *alloc, int ret)
{
	static const char *const modes[] = { "cached", "write-combined",
					     "coherent", "device" };
	char line[256] = "", sentence[160] = "";
	char *command =
		text_format("%s why %" PRIu64 " --align %" PRIu64 " --mode %s",
			    program, request->size, request->alignment,
			    modes[request->mode]);
	char *wanted;
	FILE *output;
	int status;

	if (request->mask)
		text_append(&command, " --mask 0x%" PRIx64, request->mask);
	if (request->heap != DRAY_HEAP_ANY)
		text_append(&command, " --heap %s",
			    plan->heaps[request->heap].info.name);
	dray_reason_text(ret, alloc->reason, alloc->limit, sentence,
			 sizeof(sentence));
	wanted = ret ? text_format(": %s\n", sentence)
		     : text_format("yes: heap %s of dray0 would serve it\n",
				   plan->heaps[alloc->heap].info.name);
	become(0);
	if (user->uid)
		text_append(&command, " 2>&1");
	output = popen(command, "r");
	if (!output || !fgets(line, sizeof(line), output))
		err(1, "%s", command);
	while (fgetc(output) != EOF)
		continue;
	status = pclose(output);
	tally.programs++;
	if (!strstr(line, wanted) || (!ret != !status)) {
		printf("# %s: exit %d, says %s# but should say %s", command,
		       status, line, wanted);
		tally.wrong++;
	}
	free(wanted);
	free(command);
}

static void complain_wrong(const struct user *user,
			   const struct plan_request *request,
			   const struct plan_answer *answer, uint32_t heap,
			   const struct dray_alloc *alloc, int ret)
{
	printf("# uid %d, %" PRIu64 " bytes at %" PRIu64 " below 0x%" PRIx64
	       " of heap %d in mode %u: said %d, reason %u (%" PRIu64
	       "), heap %d; is %d, reason %u (%" PRIu64 "), heap %d\n",
	       (int)user->uid, request->size, request->alignment, request->mask,
	       (int)request->heap, request->mode, answer->error, answer->reason,
	       answer->limit, (int)heap, ret, alloc->reason,
	       (uint64_t)alloc->limit, (int)alloc->heap);
	tally.wrong++;
}

static bool is_right(const struct plan_answer *answer, uint32_t heap,
		     const struct dray_alloc *alloc, int ret)
{
	if (answer->error != ret)
		return false;
	if (ret)
		return answer->reason == alloc->reason &&
		       answer->limit == alloc->limit;
	return answer->elsewhere || heap == alloc->heap;
}

/* The largest size that why tells is had, and none that is larger. */
static void try_largest(const struct user *user, const struct plan_node *plan,
			const struct plan_request *request)
{
	uint64_t size = plan_largest_size(plan, request);
	struct plan_request tried = *request;
	struct plan_answer answer;
	struct dray_alloc alloc;
	uint32_t heap;
	int ret;

	for (tried.size = size; tried.size <= size + page; tried.size += page) {
		if (!tried.size)
			continue;
		answer = plan_decide(plan, &tried, &heap);
		ret = answer.likely ? 0 : call(user, &tried, &alloc);
		if (answer.likely)
			continue;
		if (!ret)
			close(alloc.fd);
		if (!is_right(&answer, heap, &alloc, ret))
			complain_wrong(user, &tried, &answer, heap, &alloc,
				       ret);
	}
}

static void compare(const char *program)
{
	const struct user *user = &users[below(3) == 2];
	struct plan_request request = random_request();
	struct plan_answer answer;
	struct plan_node plan;
	struct dray_alloc alloc;
	uint32_t heap;
	int ret;

	become(user->uid);
	if (plan_read(user->node, &user->info, &request, &plan))
		errx(1, "%s", dray_last_error());
	answer = plan_decide(&plan, &request, &heap);
	ret = call(user, &request, &alloc);
	if (answer.likely) {
		tally.likely++;
		tally.likely_right += !answer.error == !ret;
	} else {
		tally.certain++;
		tally.by_reason[ret ? alloc.reason : 0]++;
		if (!is_right(&answer, heap, &alloc, ret))
			complain_wrong(user, &request, &answer, heap, &alloc,
				       ret);
		if (ret && (request.heap == DRAY_HEAP_ANY ||
			    request.heap < heap_count))
			try_largest(user, &plan, &request);
	}
	if (!ret)
		close(alloc.fd);
	/* Freed, it is as before: the program must say the same. */
	if (!answer.likely && !answer.elsewhere && !user->uid &&
	    tally.certain % PROGRAM_EVERY == 0 &&
	    (request.heap == DRAY_HEAP_ANY || request.heap < heap_count))
		ask_program(program, user, &plan, &request, &alloc, ret);
	plan_free(&plan);
	become(0);
}

static void give_all_back(void)
{
	size_t i;

	for (i = 0; i < BUFFERS; i++)
		if (buffers[i] >= 0)
			close(buffers[i]);
	for (i = 0; i < PIPES; i++)
		if (pipes[i][0] >= 0) {
			close(pipes[i][0]);
			close(pipes[i][1]);
		}
	reclaim();
	for (i = 0; i < heap_count; i++) {
		set_limit((uint32_t)i, "limit", 0);
		set_limit((uint32_t)i, "user_limit", 0);
	}
}

int main(int argc, char **argv)
{
	struct dray_heap_info info;
	unsigned int rounds, i;

	if (argc != 4)
		errx(2, "usage: DMACTL ROUNDS SEED");
	rounds = (unsigned int)strtoul(argv[2], NULL, 0);
	srandom((unsigned int)strtoul(argv[3], NULL, 0));
	memset(buffers, -1, sizeof(buffers));
	memset(pipes, -1, sizeof(pipes));
	open_user(&users[0], 0);
	open_user(&users[1], NOBODY);
	heap_count = users[0].info.heap_count;
	page = users[0].info.page_size;
	for (i = 0; i < heap_count && i < 8; i++) {
		if (dray_node_heap(users[0].node, i, &info, sizeof(info)))
			errx(1, "%s", dray_last_error());
		/* Of the system's memory a part is enough. */
		totals[i] = info.total < 64 << 20 ? info.total : 64 << 20;
		is_shared[i] = info.flags & DRAY_HEAP_SHARED;
		find_start(i);
	}
	while (tally.certain < rounds) {
		for (i = 0; i < 4; i++)
			change();
		compare(argv[1]);
	}
	give_all_back();
	printf("# certain: %u, of them wrong: %u; asked of dmactl: %u\n",
	       tally.certain, tally.wrong, tally.programs);
	printf("# likely: %u, of them right: %u\n", tally.likely,
	       tally.likely_right);
	for (i = 0; i <= DRAY_REASON_MEMLOCK; i++)
		if (tally.by_reason[i])
			printf("# reason %u: %u\n", i, tally.by_reason[i]);
	dray_node_unref(users[0].node);
	dray_node_unref(users[1].node);
	return tally.wrong != 0;
}
