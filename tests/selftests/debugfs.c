// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * debugfs: a node's folder has files that only root reads, and they name what
 * there is.
 */
#include <sys/prctl.h>

#include "fixture_dray.h"

#define FOLDER "/sys/kernel/debug/dray/dray0/"

static const char *const files[] = { FOLDER "node", FOLDER "buffers",
				     FOLDER "channels" };

/* The line of @path that starts with @start; the caller frees it. */
static char *line_of(const char *path, const char *start)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) >= 0) {
		if (strncmp(line, start, strlen(start)))
			continue;
		fclose(file);
		return line;
	}
	if (file)
		fclose(file);
	free(line);
	return NULL;
}

TEST_F(dray, the_files_of_a_node_are_for_root_alone)
{
	struct stat status;

	SKIP_IF(access("/sys/kernel/debug/dray", F_OK),
		"this kernel has no debugfs");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		ASSERT_EQ(0, stat(files[i], &status));
		EXPECT_EQ(0400, status.st_mode & 0777);
		EXPECT_EQ(0, status.st_uid);
	}
}

TEST_F(dray, a_buffer_is_a_line_until_it_is_freed)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char start[32], *line;

	SKIP_IF(access("/sys/kernel/debug/dray", F_OK),
		"this kernel has no debugfs");
	OPEN_BUFFER(buffer, DRAY_HEAP_ANY, size);
	snprintf(start, sizeof(start), "%llu %zu ",
		 (unsigned long long)buffer.id, size);
	line = line_of(files[1], start);
	ASSERT_NE(NULL, line);
	EXPECT_NE(NULL, strstr(line, "mapped 1, transfers 0"));
	free(line);
	buffer_close(&buffer);
	EXPECT_EQ(NULL, line_of(files[1], start));
}

TEST_F(dray, names_that_users_gave_stay_names)
{
	struct dray_alloc alloc = {
		.size = 1,
		.heap = DRAY_HEAP_ANY,
		.name = "a\"\\\n0 4096 \033[2Jb\303\244",
	};
	char start[32], *line;

	SKIP_IF(access("/sys/kernel/debug/dray", F_OK),
		"this kernel has no debugfs");
	ASSERT_EQ(0, prctl(PR_SET_NAME, "it\n\", held"));
	ASSERT_EQ(0, node_call(self->node, DRAY_IOC_ALLOC, &alloc));
	snprintf(start, sizeof(start), "%llu ", (unsigned long long)alloc.id);
	line = line_of(files[1], start);
	ASSERT_NE(NULL, line);
	EXPECT_NE(NULL,
		  strstr(line,
			 " \"a\\042\\134\\0120 4096 \\033[2Jb\\303\\244\","));
	EXPECT_NE(NULL, strstr(line, " \"it\\012\\042, held\","));
	free(line);
	EXPECT_EQ(NULL, line_of(files[1], "0 4096 "));
	EXPECT_EQ(NULL, line_of(files[1], "\", held"));
}

TEST_F(dray, every_channel_and_heap_is_a_line)
{
	char start[32], *line;

	SKIP_IF(access("/sys/kernel/debug/dray", F_OK),
		"this kernel has no debugfs");
	READ_NODE(info);
	for (uint32_t i = 0; i < info.channel_count; i++) {
		snprintf(start, sizeof(start), "%u ", i);
		line = line_of(files[2], start);
		EXPECT_NE(NULL, line);
		free(line);
	}
	for (uint32_t i = 0; i < info.heap_count; i++) {
		snprintf(start, sizeof(start), "heap %u ", i);
		line = line_of(files[0], start);
		EXPECT_NE(NULL, line);
		free(line);
	}
}
