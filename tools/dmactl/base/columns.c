// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Chooses columns and sorts rows.  The key of each row is taken once, since some
 * take a look into files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"

const struct command_option columns_option = {
	.name = "columns",
	.value = "A,B,C",
	.text = "these columns in this order, in small letters;\n"
		"in JSON their members",
};

const struct command_option sort_option = {
	.name = "sort",
	.value = "COLUMN",
	.text = "sort by this column; -COLUMN: the largest first",
};

static const struct row_column *
columns_find_column(const struct request *request, const struct row_column *all,
		    const char *name)
{
	const struct row_column *column;
	char *names = NULL;

	for (column = all; column->name; column++)
		if (!strcmp(column->name, name))
			return column;
	for (column = all; column->name; column++)
		text_append(&names, "%s%s", names ? ", " : "", column->name);
	complain("%s: no column '%s': there are %s", request->command->name,
		 name, names);
	free(names);
	return NULL;
}

static bool add_column(const struct request *request,
		       const struct row_column *column, struct row_view *view)
{
	if (!column)
		return false;
	if (view->count == COLUMNS_MOST) {
		complain("%s: more than %d columns", request->command->name,
			 COLUMNS_MOST);
		return false;
	}
	view->columns[view->count++] = column;
	return true;
}

static bool choose_columns(const struct request *request,
			   const struct row_column *all, const char *list,
			   struct row_view *view)
{
	char *names = text_format("%s", list);
	char *rest = names;
	char *name;
	bool fine = true;

	while (fine && (name = strsep(&rest, ",")))
		fine = add_column(
			request, columns_find_column(request, all, name), view);
	free(names);
	return fine;
}

bool row_view_make(const struct request *request, const struct row_column *all,
		   struct row_view *view)
{
	const char *list = option_value(request, &columns_option);
	const char *sort = option_value(request, &sort_option);

	*view = (struct row_view){ .chosen = list };
	if (list && !choose_columns(request, all, list, view))
		return false;
	if (sort) {
		view->descending = *sort == '-';
		view->sort = columns_find_column(request, all,
						 sort + view->descending);
		if (!view->sort)
			return false;
	}
	for (; !list && all->name; all++)
		if (!all->extra && !add_column(request, all, view))
			return false;
	return true;
}

struct key {
	const void *row;
	size_t place; /* before the sort */
	uint64_t number;
	char *text;
};

static int compare_keys(const void *a, const void *b, void *context)
{
	const struct row_view *view = context;
	const struct key *first = a;
	const struct key *second = b;
	int order;

	if (view->sort->text)
		order = strcmp(first->text, second->text);
	else
		order = (first->number > second->number) -
			(first->number < second->number);
	if (order)
		return view->descending ? -order : order;
	return first->place < second->place ? -1 : 1;
}

void row_view_sort(const struct row_view *view, const void **rows, size_t count)
{
	struct key *keys;
	size_t i;

	if (!view->sort || !count)
		return;
	keys = memory_new(count, sizeof(*keys));
	for (i = 0; i < count; i++) {
		keys[i].row = rows[i];
		keys[i].place = i;
		if (view->sort->text)
			keys[i].text = view->sort->text(rows[i]);
		else
			keys[i].number = view->sort->number(rows[i]);
	}
	qsort_r(keys, count, sizeof(*keys), compare_keys, (void *)view);
	for (i = 0; i < count; i++) {
		rows[i] = keys[i].row;
		free(keys[i].text);
	}
	free(keys);
}

struct table *row_view_table(const struct row_view *view,
			     const struct request *request,
			     const void *const *rows, size_t count)
{
	struct table *table;
	char *titles = NULL;
	size_t row, i;

	for (i = 0; i < view->count; i++)
		text_append(&titles, "%s%s", titles ? " " : "",
			    view->columns[i]->title);
	table = table_create(titles);
	free(titles);
	for (row = 0; row < count; row++)
		for (i = 0; i < view->count; i++)
			view->columns[i]->add(table, request, rows[row]);
	return table;
}

static void take_members(json_t *from, const char *names, json_t *to)
{
	char *copy = text_format("%s", names);
	char *rest = copy;
	const char *name;

	while ((name = strsep(&rest, " "))) {
		json_t *value = json_object_get(from, name);

		if (value)
			json_object_set(to, name, value);
	}
	free(copy);
}

json_t *row_view_trim(const struct row_view *view, json_t *object)
{
	json_t *trimmed;
	size_t i;

	if (!view->chosen)
		return object;
	trimmed = json_object();
	for (i = 0; i < view->count; i++)
		take_members(object, view->columns[i]->members, trimmed);
	json_decref(object);
	return trimmed;
}
