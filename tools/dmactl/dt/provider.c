// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Engines and IOMMUs as the command line names them. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli.h"
#include "plan.h"

#define CELLS_MOST 16

static bool is_label(const char *text, size_t length)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

	return length && strspn(text, letters) >= length &&
	       (*text < '0' || *text > '9');
}

/* Both stand in a source between quotation marks. */
static bool provider_is_plain(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~' || *text == '"' ||
		    *text == '\\')
			return false;
	return true;
}

/* Reads ",CELL..." behind the target. */
static bool add_cells(struct provider *provider, const char *text)
{
	while (*text == ',') {
		bool hex = text[1] == '0' && (text[2] | 0x20) == 'x';
		uint64_t number;

		text = parse_number(text + (hex ? 3 : 1), hex ? 16 : 10,
				    &number);
		if (!text || number > UINT32_MAX ||
		    provider->cell_count == CELLS_MOST)
			return false;
		provider->cells =
			memory_resize(provider->cells, provider->cell_count + 1,
				      sizeof(*provider->cells));
		provider->cells[provider->cell_count++] = (uint32_t)number;
	}
	return !*text;
}

/*
 * Returns how long the target is.  A comma may be part of a path; the cells behind
 * it are numbers.
 */
static size_t target_length(const char *text)
{
	size_t length = strlen(text);
	size_t end = length;

	while (end) {
		while (end && text[end - 1] != ',')
			end--;
		if (!end || !strspn(text + end, "0123456789"))
			break;
		if (strspn(text + end, "0123456789abcdefABCDEFxX") <
		    strcspn(text + end, ","))
			break;
		length = --end;
	}
	return length;
}

/* Tells whether an earlier channel has the name of the last one. */
static bool provider_is_repeated(const struct providers *providers)
{
	const char *name = providers->list[providers->count - 1].name;
	size_t i;

	for (i = 0; i + 1 < providers->count; i++)
		if (!strcmp(providers->list[i].name, name))
			return true;
	return false;
}

static bool provider_check_name(const struct providers *providers)
{
	const char *name = providers->list[providers->count - 1].name;

	if (!check_is_kind(name))
		complain("--dma: the name '%s' does not begin with mem, tx, rx "
			 "or display",
			 name);
	else if (provider_is_repeated(providers))
		complain("--dma: two channels have the name '%s': number them, "
			 "as mem0 and mem1",
			 name);
	else
		return true;
	return false;
}

static bool provider_check_target(const struct provider *provider,
				  const char *text, const char *option)
{
	const char *target = provider->target;

	if (!provider_is_plain(text))
		complain("%s: '%s' has a character that no name has", option,
			 text);
	else if (*target != '/' && !is_label(target, strlen(target)))
		complain("%s: '%s' is neither a label nor a path", option,
			 target);
	else
		return true;
	return false;
}

bool provider_add(struct providers *providers, const char *text, bool named)
{
	const char *option = named ? "--dma" : "--iommu";
	const char *target = named ? strchr(text, '=') : text;
	struct provider *provider;
	size_t length;

	if (!target || (named && target == text)) {
		complain(
			"%s: '%s' is not NAME=PROVIDER,CELL..., as mem0=dma0,0",
			option, text);
		return false;
	}
	providers->list = memory_resize(providers->list, providers->count + 1,
					sizeof(*providers->list));
	provider = &providers->list[providers->count++];
	*provider = (struct provider){ 0 };
	if (named)
		provider->name =
			text_format("%.*s", (int)(target - text), text);
	target += named;
	length = target_length(target);
	provider->target = text_format("%.*s", (int)length, target);
	if (!provider_check_target(provider, text, option) ||
	    (named && !provider_check_name(providers)))
		return false;
	if (add_cells(provider, target + length))
		return true;
	complain("%s: '%s' has a cell that is not a number of 32 bits", option,
		 text);
	return false;
}

static void providers_drop(struct providers *providers)
{
	size_t i;

	for (i = 0; i < providers->count; i++) {
		free(providers->list[i].name);
		free(providers->list[i].target);
		free(providers->list[i].cells);
	}
	free(providers->list);
}

void plan_drop(struct plan *plan)
{
	providers_drop(&plan->channels);
	providers_drop(&plan->iommus);
	free(plan->node_name);
	free(plan->region_name);
	free(plan->label);
}
