// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Ufuncs by name, and their tables of loops.  Builtin ones are made of the
 * definitions at first use, and sorted by name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "ufunc/ufunc.h"

/* Published when it is complete. */
static struct dray_ufunc *builtin;
static size_t builtin_count;

/* Functions that join several of them, complete before. */
static struct dray_ufunc *joined;
static size_t joined_count;

DEFINE_FORK_LOCK(DRAY_FORK_UFUNCS, writer);

static uint64_t next_number(void)
{
	static uint64_t numbers;

	return __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
}

static int registry_by_name(const void *a, const void *b)
{
	return strcmp(((const struct dray_ufunc *)a)->name,
		      ((const struct dray_ufunc *)b)->name);
}

static void registry_drop_all(struct dray_ufunc *all, size_t count)
{
	while (count--)
		free(all[count].table);
	free(all);
}

/* Makes the ufuncs of lists, with the lock held; NULL without memory. */
static struct dray_ufunc *make_all(const struct dray_ufunc_list *const *lists,
				   size_t *made)
{
	size_t i, j, count = 0, at = 0;
	struct dray_ufunc *all;

	for (i = 0; lists[i]; i++)
		count += lists[i]->count;
	all = calloc(count, sizeof(*all));
	for (i = 0; all && lists[i]; i++) {
		for (j = 0; all && j < lists[i]->count; j++, at++) {
			const struct dray_ufunc_definition *definition =
				&lists[i]->definitions[j];

			all[at] = (struct dray_ufunc){
				.name = definition->name,
				.inputs = definition->inputs,
				.outputs = definition->outputs,
				.identity = definition->identity,
				.definition = definition,
				.number = next_number(),
				.table = dray_table_define(definition),
			};
			if (!all[at].table) {
				registry_drop_all(all, at);
				all = NULL;
			}
		}
	}
	if (all)
		qsort(all, count, sizeof(*all), registry_by_name);
	*made = count;
	return all;
}

/* Makes them at the first call, or leaves a sentence. */
static bool are_made(void)
{
	struct dray_ufunc *all = __atomic_load_n(&builtin, __ATOMIC_ACQUIRE);
	size_t count;

	if (all)
		return true;
	dray_fork_enlist(&locks);
	pthread_mutex_lock(&writer);
	all = builtin;
	if (!all) {
		dray_loop_prepare();
		if (!joined)
			joined = make_all(dray_loops_joined(), &joined_count);
		if (joined)
			all = make_all(dray_loops_lists(), &count);
	}
	if (all && !builtin) {
		builtin_count = count;
		__atomic_store_n(&builtin, all, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&writer);
	if (!all)
		dray_fail(-ENOMEM, "no memory for the builtin ufuncs");
	return all;
}

static struct dray_ufunc *registry_search(struct dray_ufunc *all, size_t count,
					  const char *name)
{
	const struct dray_ufunc key = { .name = name };

	return bsearch(&key, all, count, sizeof(key), registry_by_name);
}

struct dray_ufunc *dray_ufunc_joined(const char *name)
{
	return are_made() ? registry_search(joined, joined_count, name) : NULL;
}

struct dray_ufunc *dray_ufunc_find(const char *name)
{
	struct dray_ufunc *found;

	if (!dray_given(name, __func__) || !are_made())
		return NULL;
	found = registry_search(builtin, builtin_count, name);
	if (!found)
		dray_fail(-ENOENT, "there is no ufunc '%.32s'", name);
	return found;
}

struct dray_ufunc *dray_ufunc_number(size_t index)
{
	if (!are_made())
		return NULL;
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
	if (identity > DRAY_IDENTITY_MINUS_INFINITY ||
	    (identity && (inputs != 2 || outputs != 1)))
		return dray_fail(
			-EINVAL,
			"only a ufunc that makes one output of two inputs has an identity");
	if (!are_made())
		return -ENOMEM;
	length = strlen(name) + 1;
	ufunc = calloc(1, sizeof(*ufunc) + length);
	if (!ufunc)
		return dray_fail(-ENOMEM, "no memory for a ufunc");
	ufunc->table = dray_table_create(0);
	if (!ufunc->table) {
		free(ufunc);
		return dray_fail(-ENOMEM, "no memory for a ufunc");
	}
	ufunc->name = memcpy(ufunc + 1, name, length);
	ufunc->inputs = inputs;
	ufunc->outputs = outputs;
	ufunc->identity = identity;
	ufunc->references = 1;
	ufunc->number = next_number();
	*out = ufunc;
	return 0;
}

struct dray_ufunc *dray_ufunc_ref(struct dray_ufunc *ufunc)
{
	if (ufunc && __atomic_load_n(&ufunc->references, __ATOMIC_RELAXED))
		__atomic_fetch_add(&ufunc->references, 1, __ATOMIC_RELAXED);
	return ufunc;
}

void dray_ufunc_unref(struct dray_ufunc *ufunc)
{
	if (!ufunc || !__atomic_load_n(&ufunc->references, __ATOMIC_RELAXED) ||
	    __atomic_sub_fetch(&ufunc->references, 1, __ATOMIC_ACQ_REL))
		return;
	dray_table_free(ufunc->table, dray_ufunc_operands(ufunc));
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
			return dray_fail_adding(ret, " (operand %d)", o);
		if (dray_dtype_as_subarray(checked[o]))
			return dray_fail(
				-EINVAL,
				"no operand of a loop is a sub-array, and operand %d is",
				o);
	}
	pthread_mutex_lock(&writer);
	old = ufunc->table;
	row = dray_table_find(old, dray_ufunc_operands(ufunc), checked);
	table = dray_table_create(old->count + (row == old->count));
	if (!table) {
		pthread_mutex_unlock(&writer);
		return dray_fail(-ENOMEM, "no memory for a table of loops");
	}
	memcpy(table->rows, old->rows, old->count * sizeof(old->rows[0]));
	memcpy(table->rows[row].dtypes, checked,
	       (size_t)dray_ufunc_operands(ufunc) * sizeof(checked[0]));
	table->rows[row].loop = *loop;
	table->rows[row].loop.flags |= DRAY_LOOP_OF_USER;
	for (i = 0; i < table->count; i++)
		for (o = 0; o < dray_ufunc_operands(ufunc); o++)
			dray_dtype_ref(table->rows[i].dtypes[o]);
	dray_table_index(table, ufunc->inputs, dray_ufunc_operands(ufunc));
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
	table = dray_ufunc_table(ufunc);
	if (index >= table->count)
		return dray_fail(-ERANGE, "%s has %zu loop%s, not a loop %zu",
				 ufunc->name, table->count,
				 dray_plural(table->count), index);
	memcpy(dtypes, table->rows[index].dtypes,
	       (size_t)dray_ufunc_operands(ufunc) * sizeof(dtypes[0]));
	*loop = table->rows[index].loop;
	loop->flags &= ~(DRAY_LOOP_HAS_FAST | DRAY_LOOP_OF_USER);
	return 0;
}
