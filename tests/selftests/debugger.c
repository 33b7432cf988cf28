// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A debugger of a process that has mapped a buffer: it reads what is there,
 * writes where the process itself could write, and nowhere else, by ptrace()
 * and by /proc/PID/mem.
 */
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include "fixture_heap.h"

#define OLD 0x11
#define NEW 0x22
#define NEW_WORD (~0ul / 0xff * NEW)

/* A process that stands still, with all mappings of this one. */
struct debugged {
	pid_t pid;
	int memory; /* its /proc/PID/mem */
};

static int stand_still(void *context)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (pause())
		continue;
	return 0;
}

static int debug_begin(struct debugged *debugged)
{
	char path[64];
	int status;

	debugged->pid = process_start(stand_still, NULL);
	if (debugged->pid < 0)
		return -errno;
	if (ptrace(PTRACE_ATTACH, debugged->pid, NULL, NULL) ||
	    waitpid(debugged->pid, &status, 0) != debugged->pid ||
	    !WIFSTOPPED(status))
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/mem", debugged->pid);
	debugged->memory = open(path, O_RDWR | O_CLOEXEC);
	return debugged->memory < 0 ? -errno : 0;
}

static void debug_end(struct debugged *debugged)
{
	close(debugged->memory);
	kill(debugged->pid, SIGKILL);
	process_wait(debugged->pid);
}

static int poke(const struct debugged *debugged, uint8_t *bytes)
{
	return ptrace(PTRACE_POKEDATA, debugged->pid, bytes, NEW_WORD) ? -errno
								       : 0;
}

static int poke_file(const struct debugged *debugged, uint8_t *bytes)
{
	unsigned long word = NEW_WORD;

	return pwrite(debugged->memory, &word, sizeof(word),
		      (off_t)(uintptr_t)bytes) == sizeof(word)
		       ? 0
		       : -errno;
}

/* Whether a debugger gets at this heap's memory at all. */
static bool is_seen(const struct dray_heap_info *heap)
{
	return heap->flags & DRAY_HEAP_PINNABLE || process_debugs_frames();
}

#define OPEN_SEEN(buffer)                                      \
	OPEN_BUFFER(buffer, self->heap.index, 4 * self->page); \
	memset(buffer.bytes, OLD, buffer.size);                \
	if (!is_seen(&self->heap))                             \
	SKIP(return, "no debugger sees this memory")

TEST_F(heap, a_debugger_reads_a_mapping)
{
	struct debugged debugged;
	uint64_t word;

	OPEN_SEEN(buffer);
	ASSERT_EQ(0, debug_begin(&debugged));
	memcpy(&word, buffer.bytes, sizeof(word));
	EXPECT_EQ((unsigned long)word,
		  (unsigned long)ptrace(PTRACE_PEEKDATA, debugged.pid,
					buffer.bytes, NULL));
	word = 0;
	EXPECT_EQ(sizeof(word), pread(debugged.memory, &word, sizeof(word),
				      (off_t)(uintptr_t)buffer.bytes));
	EXPECT_EQ(-1, first_other_byte((uint8_t *)&word, sizeof(word), OLD));
	debug_end(&debugged);
}

TEST_F(heap, a_debugger_writes_a_writable_mapping)
{
	struct debugged debugged;

	OPEN_SEEN(buffer);
	ASSERT_EQ(0, debug_begin(&debugged));
	EXPECT_EQ(0, poke(&debugged, buffer.bytes));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, sizeof(long), NEW));
	EXPECT_EQ(0, poke_file(&debugged, buffer.bytes + self->page));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes + self->page, sizeof(long),
				       NEW));
	debug_end(&debugged);
}

/* Of the buffer's descriptor that writes, or of a read-only one. */
static uint8_t *map_to_read(FIXTURE_DATA(heap) * self, int fd, size_t size,
			    bool exported)
{
	struct dray_export export = { .buffer_fd = fd,
				      .flags = DRAY_EXPORT_READ_ONLY };
	uint8_t *bytes;

	if (exported) {
		if (node_call(self->node, DRAY_IOC_EXPORT, &export))
			return NULL;
		fd = export.fd;
	}
	bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	return bytes == MAP_FAILED ? NULL : bytes;
}

static void expect_no_write(struct __test_metadata *_metadata,
			    FIXTURE_DATA(heap) * self, bool exported)
{
	struct debugged debugged;
	uint8_t *bytes;

	OPEN_SEEN(buffer);
	bytes = map_to_read(self, buffer.fd, buffer.size, exported);
	ASSERT_NE(NULL, bytes);
	ASSERT_EQ(0, debug_begin(&debugged));
	EXPECT_GT(0, poke(&debugged, bytes));
	EXPECT_GT(0, poke_file(&debugged, bytes + self->page));
	EXPECT_EQ(-1, first_other_byte(buffer.bytes, buffer.size, OLD));
	EXPECT_EQ(-1, first_other_byte(bytes, buffer.size, OLD));
	debug_end(&debugged);
}

BRIEF(TEST_F(heap, a_debugger_does_not_write_a_read_only_mapping),
      expect_no_write(_metadata, self, false));
BRIEF(TEST_F(heap, a_debugger_does_not_write_through_a_read_only_descriptor),
      expect_no_write(_metadata, self, true));
