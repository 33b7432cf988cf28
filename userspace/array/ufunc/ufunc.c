// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tables of loops, and the classes of types by which they are searched. */
#include <stdlib.h>

#include "private.h"
#include "ufunc/ufunc.h"

const dray_dtype dray_loop_types[DRAY_LOOP_CLASSES] = {
	DRAY_BOOL,	DRAY_INT8,	 DRAY_INT16,   DRAY_INT32,
	DRAY_INT64,	DRAY_UINT8,	 DRAY_UINT16,  DRAY_UINT32,
	DRAY_UINT64,	DRAY_FLOAT16,	 DRAY_FLOAT32, DRAY_FLOAT64,
	DRAY_COMPLEX64, DRAY_COMPLEX128,
};

uint16_t dray_loop_safe[DRAY_LOOP_CLASSES];

/* The letters of the classes, in their order, and those of other types. */
static const char letters[] = "?bhiqBHIQefdFD";

static dray_dtype table_dtype_of(char letter)
{
	size_t i;

	if (letter == 'M')
		return DRAY_DATETIME64(DRAY_UNIT_GENERIC, 1);
	if (letter == 'm')
		return DRAY_TIMEDELTA64(DRAY_UNIT_GENERIC, 1);
	for (i = 0; letters[i]; i++)
		if (letters[i] == letter)
			return dray_loop_types[i];
	return 0;
}

void dray_loop_prepare(void)
{
	size_t from, to;

	for (from = 0; from < DRAY_LOOP_CLASSES; from++)
		for (to = 0; to < DRAY_LOOP_CLASSES; to++)
			if (dray_can_cast(dray_loop_types[from],
					  dray_loop_types[to],
					  DRAY_CASTING_SAFE))
				dray_loop_safe[from] |= (uint16_t)(1u << to);
}

struct dray_ufunc_table *dray_table_create(size_t count)
{
	struct dray_ufunc_table *table =
		calloc(1, sizeof(*table) + count * sizeof(table->rows[0]));

	if (table)
		table->count = count;
	return table;
}

struct dray_ufunc_table *
dray_table_define(const struct dray_ufunc_definition *definition)
{
	struct dray_ufunc_table *table = dray_table_create(definition->count);
	size_t i, o;

	if (!table)
		return NULL;
	for (i = 0; i < definition->count; i++) {
		const struct dray_loop_entry *entry = &definition->loops[i];

		for (o = 0; entry->types[o]; o++)
			table->rows[i].dtypes[o] =
				table_dtype_of(entry->types[o]);
		table->rows[i].loop =
			(struct dray_ufunc_loop){ entry->loop, entry->context,
						  entry->flags };
	}
	dray_table_index(table, definition->inputs,
			 definition->inputs + definition->outputs);
	return table;
}

void dray_table_index(struct dray_ufunc_table *table, int inputs, int operands)
{
	size_t i;
	int o;

	for (i = 0; i < table->count; i++) {
		struct dray_ufunc_row *row = &table->rows[i];
		bool uniform = true;

		for (o = 0; o < operands; o++) {
			row->classes[o] = dray_loop_class(row->dtypes[o]);
			if (o < inputs && row->classes[o] != row->classes[0])
				uniform = false;
		}
		if (uniform && i < UINT8_MAX &&
		    row->classes[0] != DRAY_LOOP_NO_CLASS &&
		    !table->uniform[row->classes[0]])
			table->uniform[row->classes[0]] = (uint8_t)(i + 1);
	}
}

size_t dray_table_find(const struct dray_ufunc_table *table, int operands,
		       const dray_dtype *dtypes)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		if (dray_dtypes_equal(table->rows[i].dtypes, dtypes, operands))
			break;
	return i;
}

void dray_table_free(struct dray_ufunc_table *table, int operands)
{
	struct dray_ufunc_table *replaced;
	size_t i;
	int o;

	for (; table; table = replaced) {
		replaced = table->replaced;
		for (i = 0; i < table->count; i++)
			for (o = 0; o < operands; o++)
				dray_dtype_unref(table->rows[i].dtypes[o]);
		free(table);
	}
}
