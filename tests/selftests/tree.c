// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Device trees with mistakes: the device is not bound, and the log says what is
 * wrong.  The emulated board's tree has a device for each mistake, and one
 * without.
 */
#include "binding.h"
#include "kernel_log.h"
#include "ledger.h"
#include "platform.h"
#include "setup.h"

static const struct {
	const char *device;
	const char *said;
} mistakes[] = {
	{ "wrong-name",
	  "dma-names: \"copy0\" does not begin with mem, tx, rx or display" },
	{ "wrong-count",
	  "dray,fifo-addresses: 1 entries, but dma-names has 2" },
	{ "wrong-list", "dray,fifo-bursts: 0 entries, but dma-names has 1" },
	{ "wrong-width",
	  "dray,fifo-widths: 3 of tx0 is not 1, 2, 4, 8, 16, 32 or 64" },
	{ "wrong-burst", "dray,fifo-bursts: 0 of rx0 is below 1" },
	{ "wrong-alignment",
	  "dray,fifo-addresses: 0xff010032 of tx0 is not a multiple of its width 4" },
	{ "wrong-memory",
	  "dray,fifo-addresses: 0x10000000 of rx0 is memory, or above all addresses" },
	{ "wrong-kind",
	  "channel mem0 has a FIFO, which only tx and rx may have" },
};

FIXTURE(tree)
{
	bool there;
	struct ledger before;
};

FIXTURE_SETUP(tree)
{
	int node = node_open();

	self->there = !access(PLATFORM_DEVICES "/wrong-name", F_OK);
	SKIP_IF(!self->there, "this machine has no such devices");
	ASSERT_LE(0, node);
	ASSERT_EQ(0, ledger_take(node, &self->before));
	close(node);
}

FIXTURE_TEARDOWN(tree)
{
	if (self->there)
		EXPECT_EQ(0, ledger_differences(&self->before));
}

TEST_F(tree, a_device_with_a_mistake_is_not_bound)
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const char *device = mistakes[i].device;
		char driver[256];

		ASSERT_EQ(0, log_begin());
		ASSERT_EQ(0, platform_override(device, "dray"));
		EXPECT_EQ(-EINVAL, write_name(PLATFORM_DRIVER, "bind", device))
		{
			TH_LOG("%s", device);
		}
		EXPECT_NE(NULL, strstr(log_read(), mistakes[i].said))
		{
			TH_LOG("%s: no \"%s\"", device, mistakes[i].said);
		}
		platform_driver(device, driver, sizeof(driver));
		EXPECT_STREQ("", driver);
		EXPECT_EQ(-ENOENT, platform_open(device));
		EXPECT_EQ(0, platform_override(device, "\n"));
	}
}

#define GOOD "fifo"

TEST_F(tree, a_device_with_a_fifo_is_bound)
{
	struct dray_channel_info channel;
	int node;

	ASSERT_EQ(0, platform_override(GOOD, "dray"));
	ASSERT_EQ(0, write_name(PLATFORM_DRIVER, "bind", GOOD));
	node = platform_open(GOOD);
	ASSERT_LE(0, node);
	EXPECT_EQ(0, node_channel(node, 1, &channel));
	EXPECT_STREQ("tx0", channel.name);
	close(node);
	EXPECT_EQ(0, write_name(PLATFORM_DRIVER, "unbind", GOOD));
	EXPECT_EQ(0, platform_override(GOOD, "\n"));
}
