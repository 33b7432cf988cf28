#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# The library is a guest in a process: nothing of it runs when it is loaded, and
# it is not unmapped under a thread that has yet to end.
# usage: loading.sh LIBRARY INCLUDE_FOLDER
# shellcheck disable=SC2317 # fact calls the others
set -eu
echo 1..5

library=$1
include=$2
status=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fact NUMBER TEXT COMMAND...
fact()
{
	number=$1 text=$2
	shift 2
	if "$@"; then
		echo "ok $number - $text"
	else
		echo "not ok $number - $text"
		status=1
	fi
}

has_no_constructor()
{
	entry=$(readelf -W -S "$library" |
		sed -n 's/.* \.init_array  *INIT_ARRAY  *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p')
	# One pointer is that of the C runtime, frame_dummy.
	readelf -W -s "$library" | grep -q __frame_dummy_init_array_entry ||
		return
	case $(readelf -h "$library") in
	*ELF64*) [ "$entry" = 000008 ] ;;
	*) [ "$entry" = 000004 ] ;;
	esac
}

stays()
{
	readelf -W -d "$library" | grep -q 'FLAGS_1.*NODELETE'
}

# initial-exec: an access to a thread's own pointer calls nothing
has_static_tls()
{
	readelf -W -d "$library" | grep -q 'FLAGS.*STATIC_TLS' &&
		! readelf -W -r "$library" | grep -qE 'DTPMOD|TLSDESC'
}

# All of a library that has such accesses is static, and a process that is
# running has little of that for what it loads.
has_little_static_tls()
{
	size=$(readelf -W -l "$library" | awk '$1 == "TLS" { print $6 }')
	[ -n "$size" ] && [ $((size)) -le 64 ]
}

# A thread keeps blocks; the library is closed; then the thread ends.
outlives_dlclose()
{
	cat >"$work/program.c" <<-'PROGRAM'
	#include <dlfcn.h>
	#include <pthread.h>
	#include <dray/dray.h>

	static pthread_barrier_t step;
	static void *(*take)(struct dray_pool *, size_t, size_t);
	static void (*give)(struct dray_pool *, void *);
	static struct dray_pool *pool;

	static void *keep(void *unused)
	{
		void *block = take(pool, 100, 0);

		(void)unused;
		give(pool, block);
		pthread_barrier_wait(&step);
		pthread_barrier_wait(&step);
		return block;
	}

	int main(int argc, char **argv)
	{
		void *library = dlopen(argv[argc - 1], RTLD_NOW), *block;
		int (*open)(const char *, struct dray_node **);
		int (*create)(struct dray_node *,
			      const struct dray_pool_options *,
			      struct dray_pool **);
		struct dray_node *node;
		pthread_t thread;

		if (!library)
			return 1;
		*(void **)&open = dlsym(library, "dray_node_open");
		*(void **)&create = dlsym(library, "dray_pool_create");
		*(void **)&take = dlsym(library, "dray_pool_alloc");
		*(void **)&give = dlsym(library, "dray_pool_free");
		if (open("host", &node) || create(node, NULL, &pool))
			return 2;
		pthread_barrier_init(&step, NULL, 2);
		pthread_create(&thread, NULL, keep, NULL);
		pthread_barrier_wait(&step);
		if (dlclose(library))
			return 3;
		pthread_barrier_wait(&step);
		pthread_join(thread, &block);
		return !block || !dlopen(argv[argc - 1], RTLD_NOW | RTLD_NOLOAD);
	}
	PROGRAM
	cc -I"$include" -I"$include/uapi" "$work/program.c" -o "$work/program" \
		-pthread -ldl && "$work/program" "$library"
}

fact 1 "it has no constructor" has_no_constructor
fact 2 "it cannot be unloaded" stays
fact 3 "what belongs to a thread is found without a call" has_static_tls
fact 4 "a thread ends after dlclose()" outlives_dlclose
fact 5 "at most 64 bytes of a thread are static" has_little_static_tls
exit "$status"
