// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * dmactl test: a board's self-test, and a report to attach to a bug.  All memory
 * is in buffers of this process, so that its end, also by a signal, frees it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "escape.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/quantity.h"
#include "selftest.h"
#include "base/table.h"
#include "base/words.h"

#define SHARED_MOST (64ull << 20) /* bytes of a heap that the system uses too */
#define QUICK_MOST (8ull << 20)

static const struct command_option heap_option = {
	.name = "heap",
	.value = "HEAP",
	.offers = "heap",
	.text = "this heap; default: the node's default",
};

static const struct command_option size_option = {
	.name = "size",
	.value = "SIZE",
	.text = "test so much memory; default: all that is free, of\n"
		"a heap that the system uses too at most 64M",
};

static const struct command_option seed_option = {
	.name = "seed",
	.value = "NUMBER",
	.text = "of the random pattern; default: the time",
};

static const struct command_option quick_option = {
	.name = "quick",
	.text = "at most 8M of memory, and coarse figures",
};

static const struct command_option output_option = {
	.name = "output",
	.letter = 'o',
	.value = "FILE",
	.offers = "file",
	.text = "write the report to FILE",
};

static const char *const outcome_words[] = { "PASS", "FAIL", "SKIP" };

/* Finds the heap that is named, or the node's default. */
static bool test_find_heap(const struct request *request, struct selftest *test)
{
	const char *name = option_value(request, &heap_option);
	const struct open_node *node = test->node;
	uint32_t i;

	for (i = 0; i < node->info.heap_count; i++) {
		if (!node_heap(node, i, &test->heap))
			return false;
		if (name ? !strncmp(name, test->heap.name,
				    sizeof(test->heap.name))
			 : test->heap.flags & DRAY_HEAP_DEFAULT)
			return true;
	}
	if (name)
		complain("%s has no heap '%s'; 'dmactl heaps' lists them",
			 node->name, name);
	else if (node->info.heap_count)
		return node_heap(node, 0, &test->heap);
	else
		complain("%s has no heap", node->name);
	return false;
}

/* Chooses the amount of memory to test: the free part, less of a shared heap. */
static void choose_size(struct selftest *test)
{
	uint64_t most = test->heap.free;

	if (test->heap.flags & DRAY_HEAP_SHARED && most / 4 < SHARED_MOST)
		most /= 4;
	else if (test->heap.flags & DRAY_HEAP_SHARED)
		most = SHARED_MOST;
	if (test->quick && most > QUICK_MOST)
		most = QUICK_MOST;
	if (!test->size)
		test->size = most;
}

static void run_all(struct selftest *test)
{
	test_memory(test);
	test_mask(test);
	test_engines(test);
	test_coherence(test);
	test_rates(test);
}

static size_t test_count_of(const struct selftest *test, enum outcome outcome)
{
	size_t count = 0, i;

	for (i = 0; i < test->count; i++)
		count += test->findings[i].outcome == outcome;
	return count;
}

static void print_word(FILE *file, const char *key, const char *text,
		       size_t room)
{
	char *safe = escape(text, strnlen(text, room), ESCAPE_NAME);

	fprintf(file, "%s%s", key, *safe ? safe : "-");
	free(safe);
}

static void print_channels(FILE *file, const struct selftest *test)
{
	uint32_t i;

	for (i = 0; i < test->node->info.channel_count; i++) {
		struct dray_channel_info info;
		char *flags;

		if (dray_node_channel(test->node->node, i, &info, sizeof(info)))
			continue;
		flags = flag_list(info.flags, channel_flag_words);
		print_word(file, "channel:   ", info.name, sizeof(info.name));
		print_word(file, ", ", info.device, sizeof(info.device));
		fprintf(file, ", %s, alignment %u, %" PRIu64 " failed\n", flags,
			info.alignment, (uint64_t)info.failed);
		free(flags);
	}
}

/* Tells the machine, the versions and the node. */
static void print_head(FILE *file, const struct selftest *test)
{
	const struct dray_info *info = &test->node->info;
	char total[QUANTITY_ROOM], available[QUANTITY_ROOM], word[WORD_ROOM];
	char *flags = flag_list(info->flags, node_flag_words);
	struct utsname system;

	if (!uname(&system))
		fprintf(file, "%-10s %s %s %s\n", "kernel:", system.release,
			system.version, system.machine);
	print_word(file, "module:    ", info->version, sizeof(info->version));
	fprintf(file, "; dmactl %s, libdray %s\n", DRAY_VERSION_TEXT,
		dray_version());
	print_word(file, "node:      ", test->node->name,
		   sizeof(test->node->name));
	print_word(file, ", ", info->device, sizeof(info->device));
	fprintf(file, ", mask 0x%" PRIx64 ", line %u, alignment %u, flags %s\n",
		(uint64_t)info->dma_mask, info->cache_line, info->dma_alignment,
		*flags ? flags : "-");
	print_word(file, "heap:      ", test->heap.name,
		   sizeof(test->heap.name));
	fprintf(file, ", %s, %s, %s free\n",
		heap_type_word(test->heap.type, word),
		quantity_size(total, test->heap.total, false),
		quantity_size(available, test->heap.free, false));
	print_channels(file, test);
	fputc('\n', file);
	free(flags);
}

static void print_finding(FILE *file, const struct request *request,
			  const struct finding *finding)
{
	static const enum table_colour colours[] = { TABLE_GOOD, TABLE_BAD,
						     TABLE_WARNING };
	enum table_colour colour = colours[finding->outcome];
	bool coloured = file == stdout;
	char *name = escape(finding->name, strlen(finding->name), ESCAPE_NAME);
	const char *line = finding->sentence;

	fprintf(file,
		"%s%s%s  %s: ", coloured ? colour_on(request, colour) : "",
		outcome_words[finding->outcome],
		coloured ? colour_off(request, colour) : "", name);
	while (line) {
		size_t length = strcspn(line, "\n");
		char *safe = escape(line, length, ESCAPE_CONTROL);

		fprintf(file, "%s\n", safe);
		free(safe);
		line = line[length] ? line + length + 1 : NULL;
		if (line)
			fputs("      ", file);
	}
	free(name);
}

static void test_print_summary(FILE *file, const struct selftest *test)
{
	fprintf(file, "%zu passed, %zu failed, %zu skipped\n",
		test_count_of(test, OUTCOME_PASS),
		test_count_of(test, OUTCOME_FAIL),
		test_count_of(test, OUTCOME_SKIP));
}

static void test_print_text(FILE *file, const struct request *request,
			    const struct selftest *test)
{
	size_t i;

	print_head(file, test);
	for (i = 0; i < test->count; i++)
		print_finding(file, request, &test->findings[i]);
	test_print_summary(file, test);
}

static json_t *selftest_document(struct selftest *test)
{
	const struct dray_info *info = &test->node->info;
	json_t *root = json_object();
	json_t *findings = json_array();
	struct utsname system = { 0 };
	size_t i;

	uname(&system);
	for (i = 0; i < test->count; i++) {
		struct finding *finding = &test->findings[i];
		json_t *object = json_object();

		document_text(object, "test", finding->name,
			      strlen(finding->name));
		document_word(object, "outcome",
			      outcome_words[finding->outcome]);
		document_text(object, "sentence", finding->sentence,
			      strlen(finding->sentence));
		document_set(object, "values",
			     finding->values ? finding->values : json_null());
		finding->values = NULL;
		document_set(findings, NULL, object);
	}
	document_text(root, "kernel", system.release, sizeof(system.release));
	document_text(root, "machine", system.machine, sizeof(system.machine));
	document_text(root, "module", info->version, sizeof(info->version));
	document_word(root, "library", dray_version());
	document_word(root, "node", test->node->name);
	document_text(root, "device", info->device, sizeof(info->device));
	document_flags(root, "flags", info->flags, node_flag_words);
	document_text(root, "heap", test->heap.name, sizeof(test->heap.name));
	document_set(root, "tests", findings);
	document_number(root, "passed", test_count_of(test, OUTCOME_PASS));
	document_number(root, "failed", test_count_of(test, OUTCOME_FAIL));
	document_number(root, "skipped", test_count_of(test, OUTCOME_SKIP));
	return root;
}

/* Tries to create the file of --output: the tests may take an hour. */
static bool try_output(const struct request *request)
{
	const char *path = option_value(request, &output_option);
	struct output output;
	struct stat status;

	/* to open a pipe twice would end its reader */
	if (!path || (!lstat(path, &status) && !S_ISREG(status.st_mode)))
		return true;
	if (!output_open(&output, path))
		return false;
	output_end(&output, false);
	return true;
}

/* Writes the report; with a file, the summary goes to standard output. */
static bool print_report(const struct request *request, struct selftest *test)
{
	const char *path = option_value(request, &output_option);
	struct output output;

	if (!output_open(&output, path ? path : "-"))
		return false;
	if (request->json) {
		json_t *root = selftest_document(test);

		json_dumpf(root, output.stream, JSON_INDENT(2));
		fputc('\n', output.stream);
		json_decref(root);
	} else {
		test_print_text(output.stream, request, test);
	}
	if (!output_end(&output, true))
		return false;
	if (output.stream != stdout && !request->json)
		test_print_summary(stdout, test);
	return true;
}

static void drop_findings(struct selftest *test)
{
	size_t i;

	for (i = 0; i < test->count; i++) {
		free(test->findings[i].name);
		free(test->findings[i].sentence);
		json_decref(test->findings[i].values);
	}
	free(test->findings);
}

static bool read_options(const struct request *request, struct selftest *test)
{
	const char *size = option_value(request, &size_option);
	const char *seed = option_value(request, &seed_option);
	const char *end;

	test->quick = option_value(request, &quick_option);
	test->seed = clock_now();
	if (seed) {
		end = parse_number(seed, 10, &test->seed);
		if (!end || *end) {
			complain("--seed '%s' is not a number", seed);
			return false;
		}
	}
	if (!size)
		return true;
	if (!parse_size(size, &test->size))
		return false;
	if (!test->size)
		complain("--size is 0: 1 byte is the least");
	return test->size;
}

static enum exit_code test_run(const struct request *request)
{
	struct selftest test = { 0 };
	enum exit_code status = EXIT_FAILED;
	struct open_nodes nodes;

	if (!read_options(request, &test))
		return EXIT_USAGE;
	if (!try_output(request) || !nodes_open_first(request, &nodes))
		return EXIT_FAILED;
	test.node = &nodes.entries[0];
	if (test_find_heap(request, &test)) {
		choose_size(&test);
		run_all(&test);
		if (print_report(request, &test) &&
		    !test_count_of(&test, OUTCOME_FAIL))
			status = EXIT_FINE;
		drop_findings(&test);
	}
	nodes_close(&nodes);
	return status;
}

static const char description[] =
	"Tests the free memory of a heap, each channel that copies, coherence,\n"
	"and the node's mask, and measures rates.  Prints a report: attach it to\n"
	"a bug.  Uses buffers of its own, and so no other memory, but takes\n"
	"the free memory meanwhile.\n"
	"\n"
	"Exit status 1 if a test failed.\n";

static const struct command_option *const options[] = {
	&first_node_option, &heap_option,   &size_option, &seed_option,
	&quick_option,	    &output_option, &json_option, NULL,
};

const struct command test_command = {
	.name = "test",
	.options = options,
	.summary = "tests the board, and prints a report",
	.description = description,
	.run = test_run,
};
