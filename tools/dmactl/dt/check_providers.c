// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The engines that a node of dray names: the properties, clocks and channels without
 * which Linux's driver of the engine does not start it.  Each rule is read in that
 * driver (drivers/dma/xilinx/xilinx_dma.c, zynqmp_dma.c, xilinx_dpdma.c, pl330.c and
 * amba/bus.c of Linux 6.12).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "reference.h"

#define MOST 4

/* A channel of an engine, as a child of its node. */
struct channel_rule {
	const char *compatible;
	const char *name; /* for people */
	uint32_t number; /* in dmas */
	bool sends;
};

struct provider_rule {
	const char *compatible;
	const char *properties[MOST];
	const char *clocks[MOST];
	struct channel_rule channels[2];
	const char *channel_properties[MOST];
};

static const struct provider_rule rules[] = {
	{
		.compatible = "xlnx,axi-dma-1.00.a",
		.properties = { "reg" },
		.clocks = { "s_axi_lite_aclk" },
		.channels = { { "xlnx,axi-dma-mm2s-channel", "MM2S", 0, true },
			      { "xlnx,axi-dma-s2mm-channel", "S2MM", 1,
				false } },
		.channel_properties = { "interrupts", "xlnx,datawidth" },
	},
	{
		.compatible = "xlnx,axi-vdma-1.00.a",
		.properties = { "reg", "xlnx,num-fstores" },
		.clocks = { "s_axi_lite_aclk" },
		.channels = { { "xlnx,axi-vdma-mm2s-channel", "MM2S", 0, true },
			      { "xlnx,axi-vdma-s2mm-channel", "S2MM", 1,
				false } },
		.channel_properties = { "interrupts", "xlnx,datawidth" },
	},
	{
		.compatible = "xlnx,axi-cdma-1.00.a",
		.properties = { "reg" },
		.clocks = { "s_axi_lite_aclk", "m_axi_aclk" },
		.channels = { { "xlnx,axi-cdma-channel", "CDMA", 0, false } },
		.channel_properties = { "interrupts", "xlnx,datawidth" },
	},
	{
		.compatible = "xlnx,zynqmp-dma-1.0",
		.properties = { "reg", "interrupts", "xlnx,bus-width" },
		.clocks = { "clk_main", "clk_apb" },
	},
	{
		.compatible = "xlnx,zynqmp-dpdma",
		.properties = { "reg", "interrupts" },
		.clocks = { "axi_clk" },
	},
	{
		.compatible = "arm,pl330",
		.properties = { "reg", "interrupts" },
		.clocks = { "apb_pclk" },
	},
};

static bool is_compatible(const struct tree_node *node, const char *compatible)
{
	return tree_names(node, "compatible", compatible);
}

static const struct provider_rule *rule_of(const struct tree_node *engine)
{
	size_t i;

	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (is_compatible(engine, rules[i].compatible))
			return &rules[i];
	return NULL;
}

/* Interrupts may name their controller, too. */
static bool check_providers_has(const struct tree_node *node,
				const char *property)
{
	return tree_has(node, property) ||
	       (!strcmp(property, "interrupts") &&
		tree_has(node, "interrupts-extended"));
}

static void check_properties(const struct check *check,
			     const struct tree_node *node,
			     const char *const *properties, const char *driver)
{
	for (; *properties; properties++) {
		if (check_providers_has(node, *properties))
			continue;
		report(check->findings, SEVERITY_ERROR, "engine-property", node,
		       "%s is missing, without which the driver of %s does not start the engine",
		       *properties, driver);
		mend(check->findings, "copy %s from the tools' device tree",
		     *properties);
	}
}

static void check_clocks(const struct check *check,
			 const struct tree_node *node,
			 const struct provider_rule *rule)
{
	const char *const *clock;

	for (clock = rule->clocks; *clock; clock++) {
		if (tree_has(node, "clocks") &&
		    tree_names(node, "clock-names", *clock))
			continue;
		report(check->findings, SEVERITY_ERROR, "engine-clock", node,
		       "the clock \"%s\" is missing, without which the driver of %s does not start the engine",
		       *clock, rule->compatible);
		mend(check->findings,
		     "write clocks, and clock-names with \"%s\"", *clock);
	}
}

/* The child of an engine that is this channel, or NULL. */
static const struct tree_node *channel_of(const struct tree_node *engine,
					  const struct channel_rule *channel)
{
	const struct tree_node *child;

	for (child = tree_first(engine); child; child = tree_next(child))
		if (is_compatible(child, channel->compatible))
			return child;
	return NULL;
}

/* Whether any of the rule's channels is there; they are checked. */
static bool check_channels(const struct check *check,
			   const struct tree_node *engine,
			   const struct provider_rule *rule)
{
	const struct tree_node *child;
	bool some = false;
	size_t i;

	for (i = 0; i < 2 && rule->channels[i].compatible; i++) {
		child = channel_of(engine, &rule->channels[i]);
		if (!child)
			continue;
		some = true;
		check_properties(check, child, rule->channel_properties,
				 rule->compatible);
	}
	if (some)
		return true;
	report(check->findings, SEVERITY_ERROR, "engine-channels", engine,
	       "no channels: the driver of %s finds them as children that are compatible to %s%s%s",
	       rule->compatible, rule->channels[0].compatible,
	       i > 1 ? " or " : "", i > 1 ? rule->channels[1].compatible : "");
	mend(check->findings,
	     "add a child for each channel, with interrupts and xlnx,datawidth");
	return false;
}

/* The channel that an entry of dmas means is there, and moves as its name says. */
static void providers_check_entry(const struct check *check,
				  const struct tree_node *node,
				  const struct reference *reference,
				  const struct provider_rule *rule)
{
	const char *name = tree_string(node, "dma-names", reference->index);
	uint32_t number = tree_cell(node, reference->list, reference->first, 0);
	const struct channel_rule *channel = rule->channels;
	char *path = tree_path(reference->target);

	if (channel[1].compatible && number == channel[1].number)
		channel++;
	if (number != channel->number ||
	    !channel_of(reference->target, channel)) {
		report(check->findings, SEVERITY_ERROR, "engine-channel", node,
		       "entry %zu of dmas means channel %" PRIu32
		       " of %s, which has no such channel",
		       reference->index, number, path);
		mend(check->findings,
		     rule->channels[1].compatible
			     ? "0 is MM2S, which sends, and 1 is S2MM, which receives"
			     : "write 0");
	} else if (rule->channels[1].compatible && name &&
		   ((!strncmp(name, "tx", 2) && !channel->sends) ||
		    (!strncmp(name, "rx", 2) && channel->sends))) {
		report(check->findings, SEVERITY_ERROR, "engine-direction",
		       node,
		       "dma-names: \"%s\" is channel %" PRIu32
		       " of %s, %s, which %s",
		       name, number, path, channel->name,
		       channel->sends ? "sends" : "receives");
		mend(check->findings,
		     "tx is MM2S, channel 0; rx is S2MM, channel 1");
	}
	free(path);
}

/* Whether an earlier entry of the list names the same engine. */
static bool is_seen(const struct tree_node *node,
		    const struct reference *reference)
{
	struct reference before = reference_channels(node);

	while (reference_next(&before) && before.index < reference->index)
		if (before.target == reference->target)
			return true;
	return false;
}

void check_providers(const struct check *check, const struct tree_node *node)
{
	struct reference reference = reference_channels(node);
	const struct provider_rule *rule;

	while (reference_next(&reference)) {
		if (!reference.target || !reference.counted || reference.cut ||
		    !tree_is_enabled(reference.target))
			continue;
		rule = rule_of(reference.target);
		if (!rule)
			continue;
		if (!is_seen(node, &reference)) {
			check_properties(check, reference.target,
					 rule->properties, rule->compatible);
			check_clocks(check, reference.target, rule);
		}
		if (!rule->channels[0].compatible)
			continue;
		if (is_seen(node, &reference)) {
			if (channel_of(reference.target, &rule->channels[0]) ||
			    (rule->channels[1].compatible &&
			     channel_of(reference.target, &rule->channels[1])))
				providers_check_entry(check, node, &reference,
						      rule);
		} else if (check_channels(check, reference.target, rule)) {
			providers_check_entry(check, node, &reference, rule);
		}
	}
}
