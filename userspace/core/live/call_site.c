// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Call sites.  The unwinder is gcc's, present with every C library; backtrace()
 * exists in glibc only, and allocates at its first call.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <unwind.h>

#include "live/call_site.h"

struct site_walk {
	void **sites;
	size_t room, count;
	size_t skip; /* frames of this file and its caller */
};

static _Unwind_Reason_Code call_site_step(struct _Unwind_Context *context,
					  void *data)
{
	struct site_walk *walk = data;
	uintptr_t site = _Unwind_GetIP(context);

	if (!site || walk->count == walk->room)
		return _URC_END_OF_STACK;
	if (walk->skip)
		walk->skip--;
	else
		walk->sites[walk->count++] = (void *)site;
	return _URC_NO_REASON;
}

__attribute__((noinline)) size_t dray_call_sites(void **sites, size_t room)
{
	struct site_walk walk = { .sites = sites, .room = room, .skip = 2 };

	if (room)
		_Unwind_Backtrace(call_site_step, &walk);
	return walk.count;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void write_site(char *out, size_t room, void *site)
{
	/* A return address may be that of the next function: see the call. */
	const char *call = (const char *)site - 1;
	Dl_info info;

	if (!dladdr(call, &info) || !info.dli_fname)
		snprintf(out, room, "%p", site);
	else if (info.dli_sname)
		snprintf(out, room, "%s+0x%tx in %s", info.dli_sname,
			 (const char *)site - (const char *)info.dli_saddr,
			 last_part(info.dli_fname));
	else
		snprintf(out, room, "0x%tx in %s",
			 (const char *)site - (const char *)info.dli_fbase,
			 last_part(info.dli_fname));
}

void dray_call_site_print(FILE *file, void *site, struct dray_symbols *symbols)
{
	const char *call = (const char *)site - 1;
	struct dray_symbol found;
	char text[1024];
	Dl_info info;

	write_site(text, sizeof(text), site);
	if (!symbols || !dray_symbols_find(symbols, call, &found)) {
		fputs(text, file);
		return;
	}
	if (dladdr(call, &info) && info.dli_sname)
		fputs(text, file);
	else
		fprintf(file, "%s in %s", found.function,
			last_part(info.dli_fname));
	fprintf(file, ", at %s", found.line);
}

void dray_callers_print(FILE *file, struct dray_symbols *symbols,
			const char *title, const char *place,
			void *const *sites, size_t count)
{
	size_t i;

	if (place || count)
		fprintf(file, "  %s\n", title);
	if (place)
		fprintf(file, "    %s\n", place);
	for (i = 0; i < count; i++) {
		fputs("    ", file);
		dray_call_site_print(file, sites[i], symbols);
		fputc('\n', file);
	}
}

void dray_call_site_outside(char *out, size_t room, void *const *sites,
			    size_t count)
{
	Dl_info own, info;
	size_t i;

	*out = 0;
	if (!dladdr((const void *)(uintptr_t)dray_call_site_outside, &own))
		return;
	for (i = 0; i < count; i++) {
		if (dladdr((const char *)sites[i] - 1, &info) &&
		    info.dli_fbase == own.dli_fbase)
			continue;
		write_site(out, room, sites[i]);
		return;
	}
}
