// SPDX-License-Identifier: Apache-2.0 OR MIT
/* dmactl report: reads a recording, on any machine, and shows it. */
#include <stdlib.h>
#include <string.h>

#include "report.h"

static enum exit_code report_command_show(const struct history *history,
					  const struct request *request,
					  const struct picture_size *size,
					  bool complete)
{
	const char *file = option_value(request, &picture_output_option);

	if (request->json)
		report_document(history, complete);
	else if (!file || strcmp(file, "-") != 0)
		report_print(history, request);
	return file ? report_plot(history, size, file) : EXIT_FINE;
}

static enum exit_code report_run(const struct request *request)
{
	const char *file = option_value(request, &picture_output_option);
	struct picture_size size;
	struct history history;
	enum recording_state state;
	enum exit_code status = EXIT_FINE;

	if (file)
		status = picture_check(file);
	if (status)
		return status;
	if (file && request->json && !strcmp(file, "-")) {
		complain("report: --json and -o - both write to standard "
			 "output");
		return EXIT_USAGE;
	}
	if (!report_size_given(request, &size))
		return EXIT_USAGE;
	state = history_read(operand_at(request, 0), &history);
	if (state == RECORDING_WRONG)
		status = EXIT_FAILED;
	else
		status = report_command_show(&history, request, &size,
					     state == RECORDING_COMPLETE);
	if (state == RECORDING_CUT)
		status = EXIT_FAILED;
	history_free(&history);
	return status;
}

static const char description[] =
	"Sums up a file of dmactl record: memory by owner, failed calls with\n"
	"their reasons, the buffers that lived longest, and the rest at the end.\n"
	"-o draws memory by owner, the longest free run, syncs and transfers over\n"
	"the time.  It needs neither the module nor the machine of the recording.\n"
	"An incomplete recording is shown as far as it goes, and the exit status\n"
	"is 1.\n";

static const struct command_option *const options[] = {
	&picture_output_option,
	&picture_width_option,
	&picture_height_option,
	&json_option,
	&no_header_option,
	&bytes_option,
	NULL,
};

const struct command report_command = {
	.name = "report",
	.operands = "FILE",
	.operands_least = 1,
	.operands_most = 1,
	.offers = "file",
	.options = options,
	.summary = "sums up and draws a recording",
	.description = description,
	.run = report_run,
};
