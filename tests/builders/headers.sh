#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Compiles the public headers as programs do: each alone, and all in each standard of
# C and C++, with strict warnings.  Prints TAP.
#
#	headers.sh COMPILER...		C compilers, as gcc or clang-19
#
# Needs: the tree as the current folder.

# shellcheck source=tests/fact.sh
. tests/fact.sh
strict='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Werror -fsyntax-only'
strict="$strict -Iinclude -Iinclude/uapi"

# Suites mpi and rdma compile the headers that need MPI and UCX.
headers=$(find include/dray -name '*.h' ! -name mpi.h ! -name ucx.h | sort)

for header in $headers; do
	echo "#include <${header#include/}>"
done >"$folder/all.c"
# Uses of macros: g++ looks for old casts there alone.
cat tests/builders/macros.c >>"$folder/all.c"

in_c() # COMPILER STANDARD FILE
{
	# shellcheck disable=SC2086 # several options
	$1 "-std=$2" $strict -x c "$3"
}

in_cxx() # COMPILER STANDARD FILE
{
	# shellcheck disable=SC2086 # several options
	$1 "-std=$2" $strict -Wold-style-cast -x c++ "$3"
}

for compiler in "$@"; do
	case $compiler in
	gcc*) cxx=g++${compiler#gcc} ;;
	clang*) cxx=clang++${compiler#clang} ;;
	esac
	for standard in c11 c17 c2x; do
		run "${compiler}_takes_all_headers_as_$standard" \
			in_c "$compiler" $standard "$folder/all.c"
	done
	for standard in c++11 c++17 c++20 c++2b; do
		run "${cxx}_takes_all_headers_as_$standard" \
			in_cxx "$cxx" $standard "$folder/all.c"
	done
done

compiler=$1
alone()
{
	for header in $headers; do
		echo "#include <${header#include/}>" >"$folder/one.c"
		in_c "$compiler" c11 "$folder/one.c" || return 1
	done
}
run each_header_compiles_alone alone
finish
