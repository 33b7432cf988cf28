// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Stands in for the archives of a library that was built without minizip. */
#include <errno.h>

#include <dray/array/npy.h>

#include "private.h"

static int npz_none_missing(void)
{
	return dray_fail(
		-EOPNOTSUPP,
		"this libdray was built without minizip, so it has no .npz archives");
}

int dray_npz_open(const char *path, struct dray_npz **out)
{
	(void)path;
	(void)out;
	return npz_none_missing();
}

void dray_npz_close(struct dray_npz *npz)
{
	(void)npz;
}

size_t dray_npz_count(const struct dray_npz *npz)
{
	(void)npz;
	npz_none_missing();
	return 0;
}

const char *dray_npz_name(const struct dray_npz *npz, size_t index)
{
	(void)npz;
	(void)index;
	npz_none_missing();
	return NULL;
}

int dray_npz_load(struct dray_npz *npz, const char *name,
		  struct dray_array **out)
{
	(void)npz;
	(void)name;
	(void)out;
	return npz_none_missing();
}

int dray_npz_save(const char *path, const char *const *names,
		  const struct dray_view *const *views, size_t count,
		  uint32_t flags)
{
	(void)path;
	(void)names;
	(void)views;
	(void)count;
	(void)flags;
	return npz_none_missing();
}
