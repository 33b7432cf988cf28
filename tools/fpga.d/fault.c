// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The members of struct fpga_control that a test sets, by their names. */
#include <stddef.h>
#include <string.h>

#include "../cli.h"
#include "fault.h"

static const struct guest_fault {
	const char *name;
	size_t offset; /* in struct fpga_channel */
} faults[] = {
	{ "stall", offsetof(struct fpga_channel, stall) },
	{ "end-early", offsetof(struct fpga_channel, end_early) },
	{ "end-late", offsetof(struct fpga_channel, end_late) },
	{ "error", offsetof(struct fpga_channel, error) },
	{ "lose-interrupts", offsetof(struct fpga_channel, lose_interrupts) },
};

/* Finds the word of "mm2s.NAME" or "s2mm.NAME", of @length letters. */
static uint32_t *fault_find(struct fpga_control *control, const char *name,
			    size_t length)
{
	void *channel = &control->mm2s;
	size_t i;

	if (length == strlen("deaf") && !strncmp(name, "deaf", length))
		return &control->deaf;
	if (!strncmp(name, "s2mm.", 5))
		channel = &control->s2mm;
	else if (strncmp(name, "mm2s.", 5))
		return NULL;
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (length - 5 == strlen(faults[i].name) &&
		    !strncmp(name + 5, faults[i].name, length - 5))
			return (void *)((char *)channel + faults[i].offset);
	return NULL;
}

bool fault_set(struct fpga_control *control, const char *text)
{
	size_t length = strcspn(text, "=");
	uint32_t *word = fault_find(control, text, length);
	uint64_t value = 1;
	const char *end = text + length;

	if (*end)
		end = strncmp(end, "=0x", 3)
			      ? parse_number(end + 1, 10, &value)
			      : parse_number(end + 3, 16, &value);
	if (!word || !end || *end || value > UINT32_MAX)
		return false;
	*word = (uint32_t)value;
	return true;
}
