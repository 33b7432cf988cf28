// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * The system's BLAS, loaded at the first product.  OpenBLAS and BLIS are tried first:
 * many systems that install them still offer the reference, which is 10 to 30
 * times slower, by the common name.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"
#include "linear/blas.h"
#include "linear/linear.h"

#define COMMON "libblas.so.3"

static struct dray_blas blas;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *const fast[] = { "libopenblas.so.0", "libblis.so.4" };

/* In folders beside the common library, which the linker does not search. */
static const char *const beside[] = { "openblas-pthread/libopenblas.so.0",
				      "blis-pthread/libblis.so.4" };

static bool blas_find(void *library, const char *name, void *out)
{
	void *symbol = dlsym(library, name);

	memcpy(out, &symbol, sizeof(symbol));
	return symbol;
}

/* Whether the library has all functions, which are noted. */
static bool blas_find_all(void *library)
{
	const struct {
		const char *name;
		void *out;
	} functions[] = {
		{ "cblas_sgemm", &blas.float_gemm },
		{ "cblas_dgemm", &blas.double_gemm },
		{ "cblas_cgemm", &blas.gemm[0] },
		{ "cblas_zgemm", &blas.gemm[1] },
		{ "cblas_sgemv", &blas.float_gemv },
		{ "cblas_dgemv", &blas.double_gemv },
		{ "cblas_cgemv", &blas.gemv[0] },
		{ "cblas_zgemv", &blas.gemv[1] },
		{ "cblas_sdot", &blas.float_dot },
		{ "cblas_ddot", &blas.double_dot },
		{ "cblas_cdotu_sub", &blas.dot[0] },
		{ "cblas_zdotu_sub", &blas.dot[1] },
	};
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!blas_find(library, functions[i].name, functions[i].out))
			return false;
	return true;
}

/*
 * Whether an OpenBLAS that is older than the processor falls back to its least kernels,
 * which lack AVX: the library is several times slower than it could be.
 */
static bool blas_is_behind(void *library)
{
	char *(*corename)(void);

	return blas_find(library, "openblas_get_corename", &corename) &&
	       !strcmp(corename(), "Prescott") && dray_cpu_has_avx2();
}

/* Uses a library, if it is there and complete. */
static bool blas_try(const char *name)
{
	void *library;

	if (strlen(name) >= sizeof(blas.name))
		return false; /* as no path of a library is */
	library = dray_load(name, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
	if (!blas_find_all(library)) {
		dlclose(library);
		return false;
	}
	memcpy(blas.name, name, strlen(name) + 1);
	blas.is_slow = blas_is_behind(library);
	return true;
}

/* Whether a library that goes by the common name is known to be fast. */
static bool blas_is_known(void *library)
{
	static const char *const symbols[] = {
		"openblas_get_config", "bli_info_get_version_str",
		"MKL_Get_Version",     "ATL_buildinfo",
		"flexiblas_avail",
	};
	size_t i;

	for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (dlsym(library, symbols[i]))
			return true;
	return false;
}

/* Tries the folders beside the common library, then this. */
static void blas_try_common(void)
{
	void *library = dray_load(COMMON, RTLD_NOW | RTLD_LOCAL);
	char name[sizeof(blas.name)];
	struct link_map *map;
	const char *end;
	bool found = false;
	size_t i;

	if (!library)
		return;
	if (!dlinfo(library, RTLD_DI_LINKMAP, &map)) {
		end = strrchr(map->l_name, '/');
		for (i = 0;
		     end && !found && i < sizeof(beside) / sizeof(beside[0]);
		     i++)
			found = snprintf(name, sizeof(name), "%.*s/%s",
					 (int)(end - map->l_name), map->l_name,
					 beside[i]) < (int)sizeof(name) &&
				blas_try(name);
	}
	if (!found && blas_try(COMMON))
		blas.is_slow |= !blas_is_known(library);
	dlclose(library);
}

static void blas_load(void)
{
	const char *wanted = secure_getenv("DRAY_BLAS");
	size_t i;

	if (wanted && *wanted) {
		if (strcmp(wanted, "none"))
			blas_try(wanted);
		blas.is_slow = false; /* It is the user's choice. */
		return;
	}
	for (i = 0; i < sizeof(fast) / sizeof(fast[0]); i++)
		if (blas_try(fast[i]))
			return;
	blas_try_common();
	if (!*blas.name)
		blas.is_slow = true;
}

const struct dray_blas *dray_blas_get(void)
{
	pthread_once(&once, blas_load);
	return &blas;
}

const char *dray_blas_name(void)
{
	return *dray_blas_get()->name ? blas.name : NULL;
}
