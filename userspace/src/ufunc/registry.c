// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Ufuncs by name, and their tables of loops.  Builtin ones are made of the
 * definitions at first use, and sorted by name.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dtype/dtype.h"
#include "ufunc/ufunc.h"

static struct dray_ufunc *builtin;
static size_t builtin_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t writer = PTHREAD_MUTEX_INITIALIZER;

static const struct {
	char letter;
	dray_dtype dtype;
} letters[] = {
	{ '?', DRAY_BOOL },
	{ 'b', DRAY_INT8 },
	{ 'B', DRAY_UINT8 },
	{ 'h', DRAY_INT16 },
	{ 'H', DRAY_UINT16 },
	{ 'i', DRAY_INT32 },
	{ 'I', DRAY_UINT32 },
	{ 'q', DRAY_INT64 },
	{ 'Q', DRAY_UINT64 },
	{ 'e', DRAY_FLOAT16 },
	{ 'f', DRAY_FLOAT32 },
	{ 'd', DRAY_FLOAT64 },
	{ 'F', DRAY_COMPLEX64 },
	{ 'D', DRAY_COMPLEX128 },
	{ 'M', DRAY_DATETIME64(DRAY_UNIT_GENERIC, 1) },
	{ 'm', DRAY_TIMEDELTA64(DRAY_UNIT_GENERIC, 1) },
};

static dray_dtype dtype_of(char letter)
{
	size_t i;

	for (i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].letter == letter)
			return letters[i].dtype;
	return 0;
}

static struct dray_ufunc_table *make_table(size_t count)
{
	struct dray_ufunc_table *table =
		calloc(1, sizeof(*table) + count * sizeof(table->rows[0]));

	if (table)
		table->count = count;
	return table;
}

static bool make_builtin(struct dray_ufunc *ufunc,
			 const struct dray_ufunc_definition *definition)
{
	struct dray_ufunc_table *table = make_table(definition->count);
	size_t i, o;

	if (!table)
		return false;
	for (i = 0; i < definition->count; i++) {
		const struct dray_loop_entry *entry = &definition->loops[i];

		for (o = 0; entry->types[o]; o++)
			table->rows[i].dtypes[o] = dtype_of(entry->types[o]);
		table->rows[i].loop =
			(struct dray_ufunc_loop){ entry->loop, entry->context,
						  entry->flags };
	}
	ufunc->name = definition->name;
	ufunc->inputs = definition->inputs;
	ufunc->outputs = definition->outputs;
	ufunc->identity = definition->identity;
	ufunc->definition = definition;
	ufunc->table = table;
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct dray_ufunc *)a)->name,
		      ((const struct dray_ufunc *)b)->name);
}

static void make_all(void)
{
	const struct dray_ufunc_list *const *lists = dray_loops_lists();
	size_t i, j, count = 0;

	for (i = 0; lists[i]; i++)
		count += lists[i]->count;
	builtin = calloc(count, sizeof(*builtin));
	if (!builtin)
		return;
	for (i = 0; lists[i]; i++)
		for (j = 0; j < lists[i]->count; j++)
			if (make_builtin(&builtin[builtin_count],
					 &lists[i]->definitions[j]))
				builtin_count++;
	qsort(builtin, builtin_count, sizeof(*builtin), by_name);
}

struct dray_ufunc *dray_ufunc_find(const char *name)
{
	const struct dray_ufunc key = { .name = name };
	struct dray_ufunc *found;

	if (!dray_given(name, __func__))
		return NULL;
	pthread_once(&once, make_all);
	found = builtin ? bsearch(&key, builtin, builtin_count, sizeof(key),
				  by_name)
			: NULL;
	if (!found)
		dray_fail(-ENOENT, "there is no ufunc '%.32s'", name);
	return found;
}

struct dray_ufunc *dray_ufunc_number(size_t index)
{
	pthread_once(&once, make_all);
	return index < builtin_count ? &builtin[index] : NULL;
}

int dray_ufunc_create(const char *name, int inputs, int outputs,
		      enum dray_identity identity, struct dray_ufunc **out)
{
	struct dray_ufunc *ufunc;
	size_t length;

	if (!dray_given(name, __func__) || !dray_given(out, __func__))
		return -EINVAL;
	if (inputs < 1 || outputs < 1 ||
	    inputs > DRAY_UFUNC_MAX_OPERANDS - outputs)
		return dray_fail(
			-EINVAL,
			"a ufunc has 1 input and 1 output at least, and at most %d of both, not %d and %d",
			DRAY_UFUNC_MAX_OPERANDS, inputs, outputs);
	if (identity > DRAY_IDENTITY_MINUS_ONE ||
	    (identity && (inputs != 2 || outputs != 1)))
		return dray_fail(
			-EINVAL,
			"only a ufunc that makes one output of two inputs has an identity");
	length = strlen(name) + 1;
	ufunc = calloc(1, sizeof(*ufunc) + length);
	if (!ufunc)
		return dray_fail(-ENOMEM, "no memory for a ufunc");
	ufunc->table = make_table(0);
	if (!ufunc->table) {
		free(ufunc);
		return dray_fail(-ENOMEM, "no memory for a ufunc");
	}
	ufunc->name = memcpy(ufunc + 1, name, length);
	ufunc->inputs = inputs;
	ufunc->outputs = outputs;
	ufunc->identity = identity;
	ufunc->references = 1;
	*out = ufunc;
	return 0;
}

struct dray_ufunc *dray_ufunc_ref(struct dray_ufunc *ufunc)
{
	if (ufunc && ufunc->references)
		__atomic_fetch_add(&ufunc->references, 1, __ATOMIC_RELAXED);
	return ufunc;
}

void dray_ufunc_unref(struct dray_ufunc *ufunc)
{
	struct dray_ufunc_table *table, *next;
	size_t i;
	int o;

	if (!ufunc || !ufunc->references ||
	    __atomic_sub_fetch(&ufunc->references, 1, __ATOMIC_ACQ_REL))
		return;
	for (table = ufunc->table; table; table = next) {
		next = table->replaced;
		for (i = 0; i < table->count; i++)
			for (o = 0; o < dray_ufunc_operands(ufunc); o++)
				dray_dtype_unref(table->rows[i].dtypes[o]);
		free(table);
	}
	free(ufunc);
}

const char *dray_ufunc_name(const struct dray_ufunc *ufunc)
{
	return dray_given(ufunc, __func__) ? ufunc->name : NULL;
}

int dray_ufunc_inputs(const struct dray_ufunc *ufunc)
{
	return dray_given(ufunc, __func__) ? ufunc->inputs : 0;
}

int dray_ufunc_outputs(const struct dray_ufunc *ufunc)
{
	return dray_given(ufunc, __func__) ? ufunc->outputs : 0;
}

enum dray_identity dray_ufunc_identity(const struct dray_ufunc *ufunc)
{
	return dray_given(ufunc, __func__) ? ufunc->identity
					   : DRAY_IDENTITY_NONE;
}

static size_t row_of(const struct dray_ufunc *ufunc,
		     const struct dray_ufunc_table *table,
		     const dray_dtype *dtypes)
{
	size_t i;
	int o;

	for (i = 0; i < table->count; i++) {
		for (o = 0; o < dray_ufunc_operands(ufunc); o++)
			if (!dray_dtype_equal(table->rows[i].dtypes[o],
					      dtypes[o]))
				break;
		if (o == dray_ufunc_operands(ufunc))
			break;
	}
	return i;
}

int dray_ufunc_set_loop(struct dray_ufunc *ufunc, const dray_dtype *dtypes,
			const struct dray_ufunc_loop *loop)
{
	struct dray_ufunc_table *table, *old;
	dray_dtype checked[DRAY_UFUNC_MAX_OPERANDS];
	size_t row, i;
	int o, ret;

	if (!dray_given(ufunc, __func__) || !dray_given(dtypes, __func__) ||
	    !dray_given(loop, __func__))
		return -EINVAL;
	if (!loop->loop ||
	    loop->flags & ~(DRAY_LOOP_NO_FP_ERRORS | DRAY_LOOP_SINGLE_THREAD))
		return dray_fail(-EINVAL,
				 loop->loop
					 ? "unknown flags of a loop: %#x"
					 : "a loop has no function (flags %#x)",
				 loop->flags);
	for (o = 0; o < dray_ufunc_operands(ufunc); o++) {
		ret = dray_dtype_check(dtypes[o], &checked[o]);
		if (ret)
			return ret;
	}
	pthread_mutex_lock(&writer);
	old = ufunc->table;
	row = row_of(ufunc, old, checked);
	table = make_table(old->count + (row == old->count));
	if (!table) {
		pthread_mutex_unlock(&writer);
		return dray_fail(-ENOMEM, "no memory for a table of loops");
	}
	memcpy(table->rows, old->rows, old->count * sizeof(old->rows[0]));
	memcpy(table->rows[row].dtypes, checked,
	       (size_t)dray_ufunc_operands(ufunc) * sizeof(checked[0]));
	table->rows[row].loop = *loop;
	for (i = 0; i < table->count; i++)
		for (o = 0; o < dray_ufunc_operands(ufunc); o++)
			dray_dtype_ref(table->rows[i].dtypes[o]);
	table->replaced = old;
	__atomic_store_n(&ufunc->table, table, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&writer);
	return 0;
}

int dray_ufunc_get_loop(const struct dray_ufunc *ufunc, size_t index,
			dray_dtype *dtypes, struct dray_ufunc_loop *loop)
{
	const struct dray_ufunc_table *table;

	if (!dray_given(ufunc, __func__) || !dray_given(dtypes, __func__) ||
	    !dray_given(loop, __func__))
		return -EINVAL;
	table = __atomic_load_n(&ufunc->table, __ATOMIC_ACQUIRE);
	if (index >= table->count)
		return dray_fail(-ERANGE, "%s has %zu loop%s, not a loop %zu",
				 ufunc->name, table->count,
				 dray_plural(table->count), index);
	memcpy(dtypes, table->rows[index].dtypes,
	       (size_t)dray_ufunc_operands(ufunc) * sizeof(dtypes[0]));
	*loop = table->rows[index].loop;
	return 0;
}
