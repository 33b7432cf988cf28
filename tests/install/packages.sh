#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds the Debian packages as README.md says, installs them, uses each, and purges
# them.  Prints TAP.
#
#	packages.sh
#
# Needs: a clean copy of the tree as the current folder, and a folder around it for
# the packages; a Debian with build-essential, dkms, lintian and kernel headers, whose
# packages apt can fetch; root.  Installs packages, so a copy of a root.

# shellcheck source=tests/install/block.sh
. tests/install/block.sh
export DEBIAN_FRONTEND=noninteractive DRAY_BACKEND=host
page=README.md
version=$(dpkg-parsechangelog -S Version)
names='dmactl dray-dkms libdray-array-dev libdray-array0 libdray-dev libdray-opencl0 libdray0 python3-dray'
# Files that dpkg, its triggers and depmod keep for themselves.
kept='^/(etc/(group|gshadow|passwd|shadow)-|etc/ld\.so\.cache|var/(cache|log|lib/dpkg)/)'
kept="$kept|/modules\\.[^/]*\$|/mok\\.|/__pycache__"

files()
{
	find / -xdev \( -path "${PWD%/*}" -o -path /dev -o -path /proc -o \
		-path /run -o -path /sys -o -path /tmp \) -prune -o -print |
		grep -vE "$kept" | sort
}

python_works()
{
	(cd / && python3 - "$version") <<-'PYTHON'
	import sys, numpy, dray
	assert dray.__version__ == sys.argv[1] and dray.versions().match
	with dray.memory():
	    array = numpy.zeros(1 << 20)
	assert dray.handler_name(array) == "dray host"
	PYTHON
}

example() # NAME LIBRARY
{
	# shellcheck disable=SC2046 # several flags
	cc -o "$folder/$1" "/usr/share/doc/libdray-dev/examples/$1.c" \
		$(pkg-config --cflags --libs "$2") && "$folder/$1"
}

install_block 'sudo apt-get build-dep'
run lintian_finds_no_error lintian --allow-root --fail-on error ../*.changes
is these_are_built "$(cd .. && echo *.deb | tr ' ' '\n' | grep -v dbgsym |
	sed 's/_.*//' | xargs)" "$names"

files >"$folder/before"
for name in $names; do
	set -- "$@" ../"${name}_$version"_*.deb
done
run they_install dpkg --install "$@"
is the_library_has_their_version "$(pkg-config --modversion dray)" "$version"
run python_finds_the_package python_works
is dmactl_runs "$(dmactl --version | sed 1q)" "dmactl $version"
run example_runtime_builds_and_runs example runtime dray
for name in record strided stream rows; do
	run "example_${name}_builds_and_runs" example "$name" dray-array
done
# shellcheck disable=SC2046 # several flags
run a_program_of_opencl_builds_and_runs cc -o "$folder/opencl" tests/builders/opencl.c \
	$(pkg-config --cflags --libs dray-opencl)
# A static program has them, too.
is the_package_of_headers_brings_what_pkg_config_needs "$(dpkg-query \
	-W -f '${Depends}' libdray-array-dev | grep -o 'lib\(minizip\|sleef\)-dev\|zlib1g-dev' |
	sort | xargs)" 'libminizip-dev libsleef-dev zlib1g-dev'
run the_headers_have_opencv_hpp test -e /usr/include/dray/array/opencv.hpp
for name in dray_copy dray_dlpack_export dray_node_unref libdray dmactl dray; do
	run "man_finds_$name" man -w "$name"
done
is the_group_of_the_udev_rule_exists "$(getent group dray | cut -d : -f 1)" dray
for kernel in /lib/modules/*; do
	kernel=${kernel##*/}
	is "dkms_builds_for_$kernel" "$(dkms status -k "$kernel")" \
		"dray/$version, $kernel, $(uname -m): installed"
	is "the_module_for_${kernel}_has_their_version" \
		"$(modinfo -k "$kernel" -F version dray)" "$version"
done

# shellcheck disable=SC2086 # several names
run they_are_purged dpkg --purge $names
files >"$folder/after"
is nothing_of_them_is_left "$(comm -13 "$folder/before" "$folder/after")" ''
is the_group_is_gone "$(getent group dray)" ''
finish
