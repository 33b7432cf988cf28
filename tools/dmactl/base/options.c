// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The options that several commands take, and the values that were given. */
#include <string.h>

#include "command.h"

const struct command_option node_option = {
	.name = "node",
	.letter = 'n',
	.value = "NAME",
	.offers = "node",
	.text = "only this node, as dray0; otherwise all",
};

const struct command_option first_node_option = {
	.name = "node",
	.letter = 'n',
	.value = "NAME",
	.offers = "node",
	.text = "use this node, as dray0; otherwise the first",
};

const struct command_option home_node_option = {
	.name = "node",
	.letter = 'n',
	.value = "NAME",
	.offers = "node",
	.text = "use this node, as dray0; otherwise the buffer's",
};

const struct command_option json_option = {
	.name = "json",
	.text = "print JSON: exact numbers, unchanged names",
};

const struct command_option no_header_option = {
	.name = "no-header",
	.text = "leave out header and total line",
};

const struct command_option bytes_option = {
	.name = "bytes",
	.text = "print sizes in bytes, not as 8.0M",
};

const struct command_option *const table_options[] = {
	&node_option, &json_option, &no_header_option, &bytes_option, NULL,
};

const char *option_value_at(const struct request *request,
			    const struct command_option *option, size_t index)
{
	size_t i;

	for (i = 0; i < request->given_count; i++)
		if (request->given[i].option == option && !index--)
			return request->given[i].value;
	return NULL;
}

const char *option_value(const struct request *request,
			 const struct command_option *option)
{
	const char *value = NULL;
	size_t i;

	for (i = 0; i < request->given_count; i++)
		if (request->given[i].option == option)
			value = request->given[i].value;
	return value;
}

const char *operand_at(const struct request *request, size_t index)
{
	return index < request->operand_count ? request->operands[index] : NULL;
}

const struct command_option *option_find(const struct command *command,
					 const char *name)
{
	const struct command_option *const *option;

	for (option = command->options; option && *option; option++)
		if (!strcmp((*option)->name, name))
			return *option;
	return NULL;
}
