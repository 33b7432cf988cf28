# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite alloc: the pool on the host's memory and Debian's allocators, each with one
# region; and NumPy with its own memory and with dray's.

ABOUT_BENCH_ALLOC='the pool and other allocators: time, room, worst case, NumPy'
PACKAGES_BENCH_ALLOC=("${PACKAGES_BUILD[@]}" g++ libjemalloc-dev libmemkind-dev
	libmimalloc-dev libtbb-dev python3-hypothesis python3-pytest)
DOCUMENT_BENCH_ALLOC=docs/alloc.md

# alloc_packages: lists the peers' versions
alloc_packages()
{
	# shellcheck disable=SC2016 # dpkg-query replaces them
	dpkg-query -W -f '${source:Package} ${source:Version}\n' libmimalloc-dev \
		libjemalloc-dev libmemkind-dev libtbb-dev libc6 python3-numpy |
		paste -sd, | sed 's/,/, /g'
}

bench_alloc()
{
	local samples=$1 folder more=()

	build_bench || return 1
	folder=$(build_folder bench)
	[ "$LONG" = no ] || more=(--long)
	log_note "measuring: ten minutes, and as long again with --long"
	printf 'target\tthis machine, Linux %s (%s)\n' "$(uname -r)" \
		"$(alloc_packages)" >"$samples"
	/usr/bin/python3 -B "$TREE/tools/benches/alloc.py" \
		"$folder/tests/bench/alloc" "$folder/userspace/python" \
		"${more[@]}" >>"$samples"
}
