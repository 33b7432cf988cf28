#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds programs against an installed library by pkg-config, CMake, ctypes and
# bindgen, with the shared library, the archive and nothing shared.  Prints TAP.
#
#	installed.sh PREFIX
#
# Needs: the tree as the current folder; a library of both kinds without SLEEF, of
# which Debian has no archive; cmake, bindgen, rustc, python3, libcrypt-dev.

# shellcheck source=tests/fact.sh
. tests/fact.sh
prefix=$1
libraries=$(dirname "$(find "$prefix" -name libdray.so)")
export PKG_CONFIG_PATH="$libraries/pkgconfig" LD_LIBRARY_PATH="$libraries" DRAY_BACKEND=host
here=$PWD/tests/builders

links() # PROGRAM: the libraries that it names
{
	readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | xargs
}

by_pkg_config() # SOURCE PROGRAM COMPILER-OPTION...
{
	source=$1 program=$folder/$2
	shift 2
	cc -o "$program" "$source" "$@" && "$program"
}

by_cmake() # PREFIX TARGET VERSION [EXAMPLE]
{
	rm -rf "$folder/cmake"
	cmake -S "$here/cmake" -B "$folder/cmake" -DCMAKE_PREFIX_PATH="$1" \
		-DTARGET="$2" -DWANTED="$3" -DSOURCE="$PWD/examples/${4:-runtime}.c" &&
		cmake --build "$folder/cmake" && "$folder/cmake/program"
}

refuses() # COMMAND...
{
	! "$@"
}

by_bindgen()
{
	echo '#include <dray/array.h>' >"$folder/dray.h"
	# Debian 12's bindgen panics with a libclang from 16 on.
	clang=$(find /usr/lib/llvm-14/lib -maxdepth 0 2>/dev/null)
	# shellcheck disable=SC2046 # several flags
	env ${clang:+"LIBCLANG_PATH=$clang"} bindgen "$folder/dray.h" \
		--allowlist-function 'dray_.*' --allowlist-var 'DRAY_.*' \
		--no-rustfmt-bindings -- $(pkg-config --cflags dray) \
		>"$folder/dray.rs" &&
		sed "s|DRAY_RS|$folder/dray.rs|" "$here/user.rs" >"$folder/user.rs" &&
		/usr/bin/rustc -A warnings -L "$libraries" -l dray -l dray-array \
			-o "$folder/user" "$folder/user.rs" && "$folder/user"
}

# Names of all functions in the headers
declared()
{
	find include/dray -name '*.h' ! -name opencl.h -exec cat {} + | tr '\n' ' ' |
		grep -oE 'DRAY_(API|INLINED\()[^;{]*' | grep -oE 'dray_[a-z0-9_]+ ?\(' |
		tr -d ' (' | sort -u
}

bound()
{
	grep -oE 'pub fn dray_[a-z0-9_]+' "$folder/dray.rs" | sed 's/pub fn //' | sort -u
}

is pkg_config_names_no_other_directory "$(pkg-config --cflags dray | xargs)" \
	"-I$prefix/include"
# shellcheck disable=SC2046 # several flags
run a_program_has_its_own_crypt_h cc -fsyntax-only "$here/crypt.c" \
	$(pkg-config --cflags dray)
# shellcheck disable=SC2046 # several flags
run pkg_config_links_the_shared_library by_pkg_config examples/runtime.c shared \
	$(pkg-config --cflags --libs dray)
like it_is_linked "$(links "$folder/shared")" '*libdray.so.0*'
# shellcheck disable=SC2046 # several flags
run pkg_config_links_arrays by_pkg_config examples/ufuncs.c arrays \
	$(pkg-config --cflags --libs dray-array)
like a_program_with_arrays_names_them "$(links "$folder/arrays")" '*libdray-array.so.0*'
# shellcheck disable=SC2046 # several flags
run pkg_config_links_static_arrays by_pkg_config examples/ufuncs.c static-arrays \
	$(pkg-config --cflags dray-array) -static $(pkg-config --static --libs dray-array)
is they_need_no_library "$(links "$folder/static-arrays")" ''
# shellcheck disable=SC2046 # several flags
like pkg_config_links_opencl "$(export DRAY_OPENCL=none; by_pkg_config "$here/opencl.c" opencl \
	$(pkg-config --cflags --libs dray-opencl))" 'OpenCL is not wanted: DRAY_OPENCL is none'
like a_program_with_opencl_names_its_library "$(links "$folder/opencl")" '*libdray-opencl.so.0*'
# shellcheck disable=SC2046 # several flags
like a_static_program_loads_no_opencl "$(by_pkg_config "$here/opencl.c" static-opencl \
	$(pkg-config --cflags dray-opencl) -static $(pkg-config --static --libs dray-opencl) 2>&1)" \
	'*a fully static program loads no library*'
# shellcheck disable=SC2046 # several flags
run pkg_config_links_all_that_is_static by_pkg_config examples/runtime.c static \
	$(pkg-config --cflags dray) -static $(pkg-config --static --libs dray)
is it_needs_no_library "$(links "$folder/static")" ''
# shellcheck disable=SC2046 # several flags
like a_shared_program_looks_for_plug_ins "$(by_pkg_config "$here/plugin.c" plugin \
	$(pkg-config --cflags --libs dray))" '*cannot open shared object file*'
# shellcheck disable=SC2046 # several flags
like a_static_program_loads_nothing "$(by_pkg_config "$here/plugin.c" plugin \
	$(pkg-config --cflags dray) -static $(pkg-config --static --libs dray) 2>&1)" \
	'*a fully static program loads no library*'
is one_file_loads_libraries "$(grep -lE '\bdl(open|mopen) ?\(' -r userspace/core userspace/array \
	--include='*.c' | xargs)" userspace/core/base/load.c

run cmake_finds_it by_cmake "$prefix" dray::dray 0.1
like cmake_links_the_shared_library "$(links "$folder/cmake/program")" '*libdray.so.0*'
run cmake_links_the_archive by_cmake "$prefix" dray::static 0.1
run cmake_finds_arrays by_cmake "$prefix" dray::array 0.1 ufuncs
like cmake_links_both_libraries "$(links "$folder/cmake/program")" '*libdray-array.so.0*'
run cmake_links_the_archive_of_arrays by_cmake "$prefix" dray::array-static 0.1 ufuncs
is without_either "$(links "$folder/cmake/program" | grep -o libdray)" ''
is without_libdray "$(links "$folder/cmake/program" | grep -o libdray)" ''
run cmake_finds_opencl by_cmake "$prefix" dray::opencl 0.1 ../tests/builders/opencl
like cmake_links_all_libraries "$(links "$folder/cmake/program")" '*libdray-opencl.so.0*'
run cmake_links_the_archive_of_opencl by_cmake "$prefix" dray::opencl-static 0.1 \
	../tests/builders/opencl
is without_any "$(links "$folder/cmake/program" | grep -o libdray)" ''
run cmake_finds_no_later_version refuses by_cmake "$prefix" dray::dray 99
cp -a "$prefix" "$folder/moved"
run cmake_finds_a_tree_that_moved by_cmake "$folder/moved" dray::static 0.1
find "$folder/moved" -name 'libdray.so*' -delete
run cmake_takes_an_archive_alone by_cmake "$folder/moved" dray::dray 0.1

run ctypes_calls_functions_that_c_inlines python3 "$here/user.py" \
	"$libraries/libdray-array.so.0" "$(declared | xargs)"
run rust_calls_it_by_bindgen by_bindgen
is bindgen_declares_each_function "$(bound)" "$(declared)"
finish
