// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Findings, the worst first.  Names in a tree are a stranger's: they are escaped. */
#include <stdlib.h>
#include <string.h>

#include "base/document.h"
#include "escape.h"
#include "findings_print.h"
#include "base/table.h"

static const enum table_colour colours[SEVERITY_COUNT] = { TABLE_BAD,
							   TABLE_WARNING,
							   TABLE_PLAIN };

/* Prints text of a tree, safe for a terminal. */
static void put_safe(const char *text, FILE *file)
{
	char *safe = escape(text, strlen(text), ESCAPE_CONTROL);

	fputs(safe, file);
	free(safe);
}

static void print_one(const struct dt_finding *finding,
		      const struct request *request, FILE *file)
{
	fprintf(file,
		"%s%s%s: ", colour_on(request, colours[finding->severity]),
		severity_word(finding->severity),
		colour_off(request, colours[finding->severity]));
	put_safe(finding->path, file);
	fputs(": ", file);
	put_safe(finding->sentence, file);
	fprintf(file, " [%s]\n", finding->rule);
	if (!finding->mend)
		return;
	fputs("    mend: ", file);
	put_safe(finding->mend, file);
	fputc('\n', file);
}

void findings_print(const struct findings *findings,
		    const struct request *request, FILE *file)
{
	enum severity severity;
	size_t i;

	for (severity = 0; severity < SEVERITY_COUNT; severity++)
		for (i = 0; i < findings->count; i++)
			if (findings->list[i].severity == severity)
				print_one(&findings->list[i], request, file);
	for (severity = 0; severity < SEVERITY_COUNT; severity++)
		fprintf(file, "%s%zu %s%s", severity ? ", " : "",
			findings->of[severity], severity_word(severity),
			findings->of[severity] == 1 ? "" : "s");
	fputc('\n', file);
}

static void print_set_text(json_t *object, const char *key, const char *text)
{
	document_text(object, key, text, strlen(text));
}

json_t *findings_document(const struct findings *findings, const char *source)
{
	static const char *const totals[SEVERITY_COUNT] = { "errors",
							    "warnings",
							    "notes" };
	json_t *root = json_object(), *list = json_array();
	size_t i;

	print_set_text(root, "source", source);
	for (i = 0; i < findings->count; i++) {
		const struct dt_finding *finding = &findings->list[i];
		json_t *object = json_object();

		document_word(object, "severity",
			      severity_word(finding->severity));
		document_word(object, "rule", finding->rule);
		print_set_text(object, "path", finding->path);
		print_set_text(object, "sentence", finding->sentence);
		if (finding->mend)
			print_set_text(object, "mend", finding->mend);
		else
			document_set(object, "mend", json_null());
		document_set(list, NULL, object);
	}
	document_set(root, "findings", list);
	for (i = 0; i < SEVERITY_COUNT; i++)
		document_number(root, totals[i], findings->of[i]);
	return root;
}
