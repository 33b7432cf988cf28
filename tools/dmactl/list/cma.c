// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * cma: the contiguous memory of the whole machine, from the kernel's own files.  Most
 * of a board's CMA belongs to other drivers, and this needs no module.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/cma.h"
#include "base/command.h"
#include "machine/dmabufs.h"
#include "base/document.h"
#include "escape.h"
#include "machine/machine.h"
#include "base/quantity.h"
#include "base/table.h"

/* All dma-bufs of an exporter. */
struct share {
	const char *exporter;
	size_t count;
	uint64_t size;
};

static void number_cell(struct table *table, const struct request *request,
			uint64_t number)
{
	if (number == CMA_UNKNOWN)
		table_cell(table, TABLE_FAINT, "%s", "");
	else
		table_size(table, request, number);
}

static void print_areas(const struct request *request, const struct cma *cma)
{
	struct table *table =
		table_create("AREA >TOTAL >USED >LARGEST >ALLOCATED >FAILED");
	size_t i;

	for (i = 0; i < cma->area_count; i++) {
		const struct cma_area *area = &cma->areas[i];

		table_name(table, TABLE_PLAIN, area->name, strlen(area->name));
		number_cell(table, request, area->total);
		number_cell(table, request, area->used);
		number_cell(table, request, area->largest_free);
		number_cell(table, request, area->allocated);
		number_cell(table, request, area->failed);
	}
	if (table_rows(table)) {
		putchar('\n');
		table_print(table, request);
	}
	table_destroy(table);
}

static int largest_first(const void *a, const void *b)
{
	const struct share *first = a, *second = b;

	return (first->size < second->size) - (first->size > second->size);
}

static struct share *shares_of(const struct dmabuf_list *list, size_t *count)
{
	struct share *shares = memory_new(list->count + 1, sizeof(*shares));
	size_t i, k;

	*count = 0;
	for (i = 0; i < list->count; i++) {
		const struct dmabuf *entry = &list->entries[i];

		for (k = 0; k < *count; k++)
			if (!strcmp(shares[k].exporter, entry->exporter))
				break;
		if (k == *count)
			shares[(*count)++].exporter = entry->exporter;
		shares[k].count++;
		shares[k].size += entry->size;
	}
	qsort(shares, *count, sizeof(*shares), largest_first);
	return shares;
}

static void print_shares(const struct request *request,
			 const struct dmabuf_list *list)
{
	struct table *table = table_create("EXPORTER >DMA-BUFS >SIZE");
	struct share *shares;
	size_t count, i;

	shares = shares_of(list, &count);
	for (i = 0; i < count; i++) {
		table_name(table, TABLE_PLAIN, shares[i].exporter,
			   strlen(shares[i].exporter));
		table_cell(table, TABLE_PLAIN, "%zu", shares[i].count);
		table_size(table, request, shares[i].size);
	}
	if (count) {
		putchar('\n');
		table_print(table, request);
	}
	table_destroy(table);
	free(shares);
}

static void cma_print_failures(const struct cma *cma)
{
	size_t i;

	for (i = 0; i < cma->failure_count; i++) {
		const struct cma_failure *failure = &cma->failures[i];
		char *safe = escape(failure->text, strlen(failure->text),
				    ESCAPE_CONTROL);

		printf("%s%6" PRIu64 ".%06" PRIu64 " s  %s\n", i ? "" : "\n",
		       failure->microseconds / 1000000,
		       failure->microseconds % 1000000, safe);
		free(safe);
	}
	if (cma->log_error)
		printf("\nthe kernel's log cannot be read (%s): failures in it "
		       "are not shown\n",
		       strerror(cma->log_error));
}

static void cma_print_text(const struct request *request, const struct cma *cma,
			   const struct dmabuf_list *list)
{
	char total[QUANTITY_ROOM], free_bytes[QUANTITY_ROOM];
	const char *unit = request->bytes ? " bytes" : "";

	printf("CMA: %s%s, %s%s free\n",
	       quantity_size(total, cma->total, request->bytes), unit,
	       quantity_size(free_bytes, cma->free, request->bytes), unit);
	print_areas(request, cma);
	print_shares(request, list);
	cma_print_failures(cma);
	if (!cma->has_counters)
		puts("\nno counters of failures: this kernel is built without "
		     "CONFIG_CMA_SYSFS");
	if (!cma->has_sizes)
		puts("\nno sizes of areas: they need Linux 6.10 or "
		     "CONFIG_CMA_DEBUGFS, debugfs and root");
}

static void set_number(json_t *object, const char *key, uint64_t number)
{
	if (number == CMA_UNKNOWN)
		document_set(object, key, json_null());
	else
		document_number(object, key, number);
}

static json_t *areas_json(const struct cma *cma)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < cma->area_count; i++) {
		const struct cma_area *area = &cma->areas[i];
		json_t *object = json_object();

		document_text(object, "name", area->name, strlen(area->name));
		set_number(object, "total", area->total);
		set_number(object, "used", area->used);
		set_number(object, "largest_free", area->largest_free);
		set_number(object, "allocated", area->allocated);
		set_number(object, "failed", area->failed);
		document_set(array, NULL, object);
	}
	return array;
}

static json_t *shares_json(const struct dmabuf_list *list)
{
	json_t *array = json_array();
	struct share *shares;
	size_t count, i;

	shares = shares_of(list, &count);
	for (i = 0; i < count; i++) {
		json_t *object = json_object();

		document_text(object, "exporter", shares[i].exporter,
			      strlen(shares[i].exporter));
		document_number(object, "count", shares[i].count);
		document_number(object, "size", shares[i].size);
		document_set(array, NULL, object);
	}
	free(shares);
	return array;
}

static json_t *failures_json(const struct cma *cma)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < cma->failure_count; i++) {
		const struct cma_failure *failure = &cma->failures[i];
		json_t *object = json_object();

		document_number(object, "microseconds", failure->microseconds);
		document_text(object, "text", failure->text,
			      strlen(failure->text));
		document_set(array, NULL, object);
	}
	return array;
}

static void cma_print_json(const struct cma *cma,
			   const struct dmabuf_list *list)
{
	json_t *root = json_object();

	document_number(root, "total", cma->total);
	document_number(root, "free", cma->free);
	document_set(root, "areas", areas_json(cma));
	document_set(root, "exporters", shares_json(list));
	document_set(root, "failures", failures_json(cma));
	document_set(root, "log_read", json_boolean(!cma->log_error));
	document_print(root);
}

static enum exit_code cma_run(const struct request *request)
{
	enum exit_code status = EXIT_FINE;
	struct dmabuf_list list;
	struct cma cma;

	cma_gather(machine_root(), &cma);
	dmabufs_gather(machine_root(), &list);
	if (!cma.present) {
		complain(
			"this kernel is without CMA: /proc/meminfo lacks CmaTotal; "
			"'dmactl list --all' shows dma-bufs");
		status = EXIT_FAILED;
	} else if (request->json) {
		cma_print_json(&cma, &list);
	} else {
		cma_print_text(request, &cma, &list);
	}
	dmabufs_free(&list);
	cma_free(&cma);
	return status;
}

static const char description[] =
	"Reads the kernel's own files and needs no module: most memory of CMA may\n"
	"belong to other drivers.  A row for each area; then a row for each driver\n"
	"that exported dma-bufs; then the last failures in the kernel's log.\n"
	"\n"
	"  LARGEST    the longest free run\n"
	"  ALLOCATED  allocated since boot, freed or not\n"
	"  FAILED     asked for in vain since boot\n"
	"\n"
	"A - is a number that this kernel does not report.  Memory that a driver keeps\n"
	"for itself, without a dma-buf, is in USED alone.\n";

static const struct command_option *const options[] = {
	&json_option,
	&no_header_option,
	&bytes_option,
	NULL,
};

const struct command cma_command = {
	.name = "cma",
	.options = options,
	.summary = "shows the machine's contiguous memory, without the module",
	.description = description,
	.run = cma_run,
};
