// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Inserting dray.ko fails when one of its drivers is registered and another one
 * cannot be.  A node that was seen until then may be open, and the kernel frees
 * a module whose insertion fails whether or not somebody holds it.  So devices
 * are bound when both drivers are registered.  Needs an edu device,
 * dray_edu_namesake.ko, and dray.ko not inserted.
 */
#include "../selftests/harness.h"
#include "../selftests/probes.h"
#include "edu.h"

#define MODULE "/guest/modules/dray.ko"

/* Each node is a misc device. */
static const struct probe node = { .name = "node",
				   .function = "misc_register",
				   .arguments = "" };

static int insert(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), ret = 0;

	if (file < 0 || syscall(SYS_finit_module, file, "", 0))
		ret = -errno;
	close(file);
	return ret;
}

static int nodes_seen(void)
{
	FILE *trace = probes_open();
	char line[512];
	int count = 0;

	while (trace && fgets(line, sizeof(line), trace))
		count += probes_find(&node, 1, line) == 0;
	if (trace)
		fclose(trace);
	return trace ? count : -ENOENT;
}

TEST(an_insertion_that_fails_shows_no_node_before)
{
	struct edu edu;

	ASSERT_EQ(0, edu_find(0, &edu));
	ASSERT_EQ(0, edu_override(&edu, "dray"));
	ASSERT_EQ(0, probes_begin(&node, 1));
	EXPECT_EQ(-EBUSY, insert(MODULE));
	EXPECT_EQ(0, nodes_seen());
	probes_end(&node, 1);
	EXPECT_EQ(0, edu_override(&edu, "\n"));
}

TEST(an_insertion_binds_the_devices_that_wait_for_it)
{
	struct edu edu;
	int opened;

	ASSERT_EQ(0, syscall(SYS_delete_module, "dray_edu_namesake", 0));
	ASSERT_EQ(0, edu_find(0, &edu));
	ASSERT_EQ(0, edu_override(&edu, "dray"));
	EXPECT_EQ(0, insert(MODULE));
	opened = edu_open(&edu);
	EXPECT_LE(0, opened);
	close(opened);
	EXPECT_EQ(0, syscall(SYS_delete_module, "dray", 0));
	EXPECT_EQ(0, edu_override(&edu, "\n"));
}
