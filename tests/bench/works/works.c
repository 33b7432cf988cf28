// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * What works: each part of the kernel that takes memory is tried on each kind
 * of mapping, every cell in a process of its own.  One that has not ended by
 * its deadline is killed, and is a hang; so is one that cannot be killed, which
 * is left behind.  Writes lines of
 *
 *	cell CONSUMER MAPPING OUTCOME ERRNO STEP
 *
 * with tabs between.
 *
 *	works [-i] [-d SECONDS] [-c CONSUMER] [-m MAPPING]
 *
 * With -i only what needs an IOMMU, else all that does not.  Fails when dray's
 * memory has not come back at the end.
 */
#include <sys/prctl.h>

#include "../../selftests/ledger.h"
#include "../../selftests/node.h"
#include "../../selftests/process.h"
#include "cell.h"

/* An emulated processor does in seconds what others do in milliseconds. */
static int deadline_s = 60;

/* What is killed ends soon, or never. */
#define KILL_MS 10000

static const struct consumer *const groups[] = {
	direct_io_consumers, zerocopy_consumers,   io_uring_consumers,
	vmsplice_consumers,  process_vm_consumers, v4l2_consumers,
	prime_consumers,     rdma_consumers,	   NULL,
};

/* These want a machine with an IOMMU. */
static const struct consumer *const iommu_groups[] = { vfio_consumers, NULL };

static void cell_run(const struct consumer *consumer,
		     const struct memory_kind *kind, struct cell *cell)
{
	struct memory memory;
	int ret;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cell_step(cell, "the mapping itself");
	ret = memory_open(kind, &memory);
	errno = -ret;
	cell->outcome = ret ? cell_absent(cell) : consumer->run(&memory, cell);
	fflush(stdout);
	_exit(0);
}

/* What came of it, in a word. */
static const char *cell_wait(pid_t child, const struct cell *cell)
{
	static const char *const words[] = {
		[UNFINISHED] = "died", [WORKS] = "works",   [COPIED] = "copied",
		[REFUSED] = "refused", [WRONG] = "wrong",   [UNFIT] = "unfit",
		[UNTRIED] = "untried", [ABSENT] = "absent",
	};
	struct pollfd ends = {
		.fd = (int)syscall(SYS_pidfd_open, child, 0),
		.events = POLLIN,
	};
	const char *word = "hang";

	if (poll(&ends, 1, deadline_s * 1000) == 1) {
		waitpid(child, NULL, 0);
		word = words[cell->outcome];
	} else {
		kill(child, SIGKILL);
		if (poll(&ends, 1, KILL_MS) == 1)
			waitpid(child, NULL, 0);
		else
			word = "hang, cannot be killed";
	}
	close(ends.fd);
	return word;
}

static void try(const struct consumer *consumer, const struct memory_kind *kind)
{
	struct cell *cell = mmap(NULL, sizeof(*cell), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *word, *error = "";
	pid_t child;

	if (cell == MAP_FAILED)
		abort();
	child = fork();
	if (child < 0)
		abort();
	if (!child)
		cell_run(consumer, kind, cell);
	word = cell_wait(child, cell);
	if (cell->error)
		error = strerrorname_np(cell->error);
	printf("cell\t%s\t%s\t%s\t%s\t%s\n", consumer->name, kind->name, word,
	       error ? error : "?",
	       cell->outcome == WORKS || cell->outcome == COPIED ? ""
								 : cell->step);
	fflush(stdout);
	munmap(cell, sizeof(*cell));
}

/* What somebody still holds of a heap whose buffers are all gone. */
static bool is_back(void *context)
{
	struct dray_heap_info *heap = context;
	int node = node_open(), ret = node_heap(node, heap->index, heap);

	close(node);
	return ret || !(heap->quarantined + heap->held + heap->used);
}

/* Memory that a consumer has let go of must be there for others. */
static bool all_is_back(void)
{
	struct dray_heap_info heap = { 0 };
	struct dray_info info;
	int node = node_open();
	bool back = true;

	if (node_info(node, &info))
		return false;
	close(node);
	for (; heap.index < info.heap_count; heap.index++) {
		if (wait_for(is_back, &heap))
			continue;
		printf("of %s %llu bytes are in use, and %llu are held\n",
		       heap.name, (unsigned long long)heap.used,
		       (unsigned long long)(heap.quarantined + heap.held));
		back = false;
	}
	return back;
}

int main(int argc, char **argv)
{
	const char *only_consumer = "", *only_kind = "";
	const struct memory_kind *kind;
	const struct consumer *const *group = groups, *consumer;
	int option;

	while ((option = getopt(argc, argv, "id:c:m:")) != -1) {
		switch (option) {
		case 'i':
			group = iommu_groups;
			break;
		case 'd':
			deadline_s = atoi(optarg);
			break;
		case 'c':
			only_consumer = optarg;
			break;
		case 'm':
			only_kind = optarg;
			break;
		default:
			return 2;
		}
	}
	for (; *group; group++) {
		for (consumer = *group; consumer->name; consumer++) {
			if (!strstr(consumer->name, only_consumer))
				continue;
			for (kind = memory_kinds; kind->name; kind++)
				if (strstr(kind->name, only_kind))
					try(consumer, kind);
		}
	}
	return !all_is_back();
}
