// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * /sys/class/dray-heap: a heap is a device of its own, and its attributes say
 * what HEAP_INFO says.
 */
#include "fixture_dray.h"
#include "fixture_heap.h"

/* Reads an attribute, without its newline; 0 or a negative errno. */
static int attribute_read(const char *heap, const char *name, char *text,
			  size_t room)
{
	char path[128];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/sys/class/dray-heap/%s/%s", heap, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	length = read(fd, text, room - 1);
	close(fd);
	if (length <= 0 || text[length - 1] != '\n')
		return -EIO;
	text[length - 1] = 0;
	return 0;
}

static int64_t attribute_number(const char *heap, const char *name)
{
	char text[64], *end;
	long long number;
	int ret = attribute_read(heap, name, text, sizeof(text));

	if (ret)
		return ret;
	number = strtoll(text, &end, 10);
	return *end ? -EIO : number;
}

TEST_F(dray, every_heap_is_a_device_that_no_node_owns)
{
	struct dray_heap_info heap;
	char path[128], target[256];
	ssize_t length;

	for (uint32_t i = 0; i < self->info.heap_count; i++) {
		ASSERT_EQ(0, node_heap(self->node, i, &heap));
		snprintf(path, sizeof(path), "/sys/class/dray-heap/%s",
			 heap.name);
		length = readlink(path, target, sizeof(target) - 1);
		ASSERT_LT(0, length);
		target[length] = 0;
		EXPECT_NE(NULL, strstr(target, "devices/virtual/dray-heap/"));
	}
}

/* What may be written, but for what every device has. */
static bool is_setting(const char *name)
{
	return !strcmp(name, "limit") || !strcmp(name, "user_limit") ||
	       !strcmp(name, "uevent");
}

/*
 * A device goes by its driver's unbind, its bus's or its own remove: a heap has
 * none of these, and is there for as long as the module.
 */
TEST_F(dray, nothing_in_sysfs_takes_a_heap_away)
{
	struct dray_heap_info heap;
	struct dirent *entry;
	struct stat status;
	char path[128];
	DIR *folder;

	EXPECT_EQ(-1, access("/sys/bus/dray-heap", F_OK));
	for (uint32_t i = 0; i < self->info.heap_count; i++) {
		ASSERT_EQ(0, node_heap(self->node, i, &heap));
		snprintf(path, sizeof(path), "/sys/class/dray-heap/%s",
			 heap.name);
		folder = opendir(path);
		ASSERT_NE(NULL, folder);
		while ((entry = readdir(folder))) {
			EXPECT_STRNE("driver", entry->d_name);
			ASSERT_EQ(0, fstatat(dirfd(folder), entry->d_name,
					     &status, AT_SYMLINK_NOFOLLOW));
			if (S_ISREG(status.st_mode) && status.st_mode & 0222)
				EXPECT_TRUE(is_setting(entry->d_name))
				{
					TH_LOG("%s/%s can be written", path,
					       entry->d_name);
				}
		}
		closedir(folder);
	}
}

TEST_F(heap, its_device_says_its_type)
{
	char text[64];

	ASSERT_EQ(0,
		  attribute_read(self->heap.name, "type", text, sizeof(text)));
	EXPECT_STREQ(heap_type_name(variant->type), text);
}

TEST_F(heap, its_device_says_what_never_changes)
{
	EXPECT_EQ(self->heap.total, attribute_number(self->heap.name, "total"));
	EXPECT_EQ(self->heap.largest_request,
		  attribute_number(self->heap.name, "largest_request"));
}

TEST_F(heap, its_device_counts_a_buffer)
{
	ALLOCATE_BUFFER(buffer, self->heap.index, 3 * self->page);
	EXPECT_EQ(self->heap.buffers + 1,
		  attribute_number(self->heap.name, "buffers"));
	EXPECT_EQ(self->heap.used + buffer.size,
		  attribute_number(self->heap.name, "used"));
	buffer_close(&buffer);
	EXPECT_EQ(self->heap.buffers,
		  attribute_number(self->heap.name, "buffers"));
	EXPECT_EQ(self->heap.used, attribute_number(self->heap.name, "used"));
}

TEST_F(heap, its_device_says_how_much_is_free)
{
	int64_t available = attribute_number(self->heap.name, "free");
	int64_t longest = attribute_number(self->heap.name, "largest_free");

	EXPECT_LE(0, longest);
	EXPECT_LE(longest, available);
	EXPECT_LE(available, self->heap.total);
	/* What others take from too is another moment's. */
	if (!(self->heap.flags & DRAY_HEAP_SHARED)) {
		EXPECT_EQ(self->heap.free, available);
		EXPECT_EQ(self->heap.largest_free, longest);
		EXPECT_EQ(self->heap.quarantined,
			  attribute_number(self->heap.name, "quarantined"));
		EXPECT_EQ(self->heap.held,
			  attribute_number(self->heap.name, "held"));
	}
}

/* A sweep and a search under the lock that ALLOC and free need. */
TEST_F(heap, what_takes_a_search_is_read_by_root_and_nobody_else_writes)
{
	static const struct {
		const char *name;
		mode_t mode;
	} files[] = {
		{ "total", 0400 },
		{ "free", 0400 },
		{ "quarantined", 0400 },
		{ "largest_free", 0400 },
		{ "largest_request", 0400 },
		{ "type", 0444 },
		{ "used", 0444 },
		{ "held", 0444 },
		{ "buffers", 0444 },
		{ "limit", 0644 },
		{ "user_limit", 0644 },
	};
	struct stat status;
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "/sys/class/dray-heap/%s/%s",
			 self->heap.name, files[i].name);
		ASSERT_EQ(0, stat(path, &status));
		EXPECT_EQ(files[i].mode, status.st_mode & 07777)
		{
			TH_LOG("%s", files[i].name);
		}
	}
}
