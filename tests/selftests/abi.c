// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The attributes of heaps and nodes in sysfs are those that docs/abi describes,
 * no more and no fewer.  Its folder is DRAY_ABI, or abi in the current one.
 */
#include "fixture_dray.h"

#define MOST 64

/* What the kernel gives to every device, or to every one with a number. */
static const char *const general[] = { ".",	 "..",	      "uevent", "power",
				       "device", "subsystem", "dev" };

struct names {
	char name[MOST][64];
	unsigned int count;
};

static bool names_have(const struct names *names, const char *name)
{
	for (unsigned int i = 0; i < names->count; i++)
		if (!strcmp(names->name[i], name))
			return true;
	return false;
}

static void names_add(struct names *names, const char *name)
{
	if (names->count < MOST)
		snprintf(names->name[names->count++], sizeof(*names->name),
			 "%s", name);
}

static bool is_general(const char *name)
{
	for (size_t i = 0; i < sizeof(general) / sizeof(general[0]); i++)
		if (!strcmp(general[i], name))
			return true;
	return false;
}

/* The last parts of the lines "What:" below @prefix; 0 or a negative errno. */
static int read_documented(const char *file, const char *prefix,
			   struct names *names)
{
	const char *folder = getenv("DRAY_ABI");
	char path[PATH_MAX], line[256], what[128];
	size_t length = strlen(prefix);
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : "abi", file);
	stream = fopen(path, "r");
	if (!stream)
		return -errno;
	while (fgets(line, sizeof(line), stream))
		if (sscanf(line, "What: %127s", what) == 1 &&
		    !strncmp(what, prefix, length) && what[length])
			names_add(names, what + length);
	fclose(stream);
	return 0;
}

static int read_present(const char *folder, struct names *names)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;

	if (!stream)
		return -errno;
	while ((entry = readdir(stream)))
		if (!is_general(entry->d_name))
			names_add(names, entry->d_name);
	closedir(stream);
	return 0;
}

/* Those of @a that are not in @b; each is printed. */
static int missing(const struct names *a, const struct names *b,
		   const char *said)
{
	int count = 0;

	for (unsigned int i = 0; i < a->count; i++) {
		if (names_have(b, a->name[i]))
			continue;
		ksft_print_msg("%s %s\n", a->name[i], said);
		count++;
	}
	return count;
}

/* What sysfs has in that folder, and what is said about it. */
#define COMPARE(folder, file, prefix)                                         \
	do {                                                                  \
		struct names present = { .count = 0 };                        \
		struct names documented = { .count = 0 };                     \
		ASSERT_EQ(0, read_present(folder, &present));                 \
		ASSERT_EQ(0, read_documented(file, prefix, &documented));     \
		EXPECT_LT(0, documented.count);                               \
		EXPECT_EQ(0, missing(&present, &documented,                   \
				     "is not documented"));                   \
		EXPECT_EQ(0, missing(&documented, &present, "is not there")); \
	} while (0)

TEST_F(dray, what_a_heap_says_in_sysfs_is_what_is_documented)
{
	struct dray_heap_info heap;
	char folder[128];

	for (uint32_t i = 0; i < self->info.heap_count; i++) {
		ASSERT_EQ(0, node_heap(self->node, i, &heap));
		snprintf(folder, sizeof(folder), "/sys/class/dray-heap/%s",
			 heap.name);
		COMPARE(folder, "sysfs-class-dray-heap",
			"/sys/class/dray-heap/NAME/");
	}
}

TEST_F(dray, what_a_node_says_in_sysfs_is_what_is_documented)
{
	char folder[128];

	snprintf(folder, sizeof(folder), "/sys/class/misc/%.32s",
		 self->info.name);
	COMPARE(folder, "sysfs-class-misc-dray", "/sys/class/misc/drayN/");
}
