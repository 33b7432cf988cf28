# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

ABOUT_BUILDERS="builds as users make them: headers in each standard of C and C++, \
programs by pkg-config, CMake, meson, ctypes and bindgen, static ones, compilers of \
32 bits, musl, meson's summary; with --full meson 0.61, gcc 12 and 14 and clang for three \
architectures at several levels, unit tests with musl, and Debian 13's packages"
PACKAGES_BUILDERS=(
	"${PACKAGES_BUILD[@]}" bindgen binutils-aarch64-linux-gnu
	binutils-arm-linux-gnueabihf clang clang-19 cmake g++ gcc-aarch64-linux-gnu
	gcc-arm-linux-gnueabihf libc6-dev-arm64-cross libc6-dev-armhf-cross
	libcrypt-dev mmdebstrap musl-tools python3-venv rustc util-linux
)

# Options of a library alone
BUILDERS_LIBRARY=(
	-Dpython=disabled -Ddmactl=disabled -Dreference=disabled -Dtests=disabled
)

suite_builders()
{
	local scratch=$1

	cd "$TREE" || die "no tree"
	builders_tap headers "$scratch" sh tests/builders/headers.sh gcc clang \
		clang-19
	tally_check "clang for 32 bits parses the library" \
		sh tests/builders/sources.sh clang --target=arm-linux-gnueabihf \
		-march=armv7-a -isystem /usr/arm-linux-gnueabihf/include
	tally_check "musl's headers suffice" builders_musl_sources
	builders_tap summary "$scratch" sh tests/builders/summary.sh
	tally_check "a subproject is the library alone" \
		builders_subproject "$scratch/subproject"
	builders_installed "$scratch"
	builders_core "$scratch/core"
	[ "$FULL" = yes ] || return 0
	tally_check "meson 0.61.2 sets up" builders_meson "$scratch/meson"
	builders_compilers gcc clang clang-19
	builders_newer "$scratch/newer"
	builders_musl "$scratch/musl"
	builders_packages "$scratch/packages"
}

# builders_tap NAME FOLDER COMMAND...: counts a program that prints TAP
builders_tap()
{
	local name=$1 log=$2/$1.log status=0

	tally_wants "$name" || return 0
	shift 2
	"$@" >"$log" 2>&1 </dev/null || status=$?
	tally_tap "$name" "$status" "$log"
}

# builders_installed FOLDER: the library of both kinds, without SLEEF, of which
# Debian lacks an archive
builders_installed()
{
	local folder

	tally_wants installed || return 0
	folder=$(build_folder builders)
	tally_run "the library builds, shared and as an archive" build_make builders \
		-Ddefault_library=both -Dsleef=disabled -Doptimization=0 "${BUILDERS_LIBRARY[@]}" \
		"-Dprefix=$folder.root" || return 0
	rm -rf "$folder.root"
	tally_run "it installs" /usr/bin/meson install --no-rebuild -C "$folder" ||
		return 0
	builders_tap installed "$1" sh tests/builders/installed.sh "$folder.root"
}

# builders_subproject FOLDER: sets up a user's project with dray as a subproject, and
# compiles all that is its own
builders_subproject()
{
	mkdir -p "$1" || return 1
	cp -r tests/builders/subproject "$1/user"
	mkdir "$1/user/subprojects"
	ln -s "$TREE" "$1/user/subprojects/dray"
	/usr/bin/meson setup "$1/build" "$1/user" || return 1
	/usr/bin/meson introspect --targets "$1/build" |
		/usr/bin/python3 -c '
import json, sys
names = {target["name"] for target in json.load(sys.stdin)}
print(*sorted(names))
others = {name for name in names if not name.startswith("dray")} - {"program"}
sys.exit(bool(others) or not {"dray", "program"} <= names)' || return 1
	[ "$FULL" = no ] || {
		/usr/bin/ninja -C "$1/build" && "$1/build/program"
	}
}

# builders_meson FOLDER: the oldest meson that meson.build asks for
builders_meson()
{
	/usr/bin/python3 -m venv "$1" &&
		"$1/bin/pip" install --quiet --disable-pip-version-check \
			"meson==$(sed -n "s/.*meson_version: '>=\([0-9.]*\)'.*/\1/p" \
			meson.build)" &&
		PATH=/usr/bin:$PATH "$1/bin/meson" setup "$1/build" "$TREE"
}

# builders_compilers COMPILER...: each for each machine, at the next of four levels; with
# --long at all
builders_compilers()
{
	local levels=(s g 3 hardening) compiler machine level turn=0

	for compiler; do
		for machine in amd64 arm64 armhf; do
			for level in "${levels[@]}"; do
				[ "$LONG" = yes ] ||
					[ "$level" = "${levels[turn % 4]}" ] ||
					continue
				tally_check "$compiler-$machine-$level" \
					builders_compile "$compiler" \
					"$machine" "$level"
			done
			turn=$((turn + 1))
		done
	done
}

# builders_newer FOLDER: the same by Debian 13's gcc 14
builders_newer()
{
	local DEBIAN_RELEASE=trixie DEBIAN_PACKAGES=(
		build-essential gcc-aarch64-linux-gnu gcc-arm-linux-gnueabihf
		libc6-dev-arm64-cross libc6-dev-armhf-cross meson pkgconf
	) status=0

	tally_wants gcc-14 || return 0
	mkdir -p "$1/tree"
	install_tree "$1/tree" || die "cannot copy the tree"
	# shellcheck disable=SC2016 # the inner shell replaces them
	debian_run "$1/tree" bash -c 'TREE=$PWD LONG=$1 SCRATCH=/tmp
		. tools/load.sh && . tools/suites/builders.sh
		case $(gcc -dumpversion) in
		14*) ;;
		*) die "this is gcc $(gcc -dumpversion), not 14" ;;
		esac
		builders_compilers gcc
		tally_end' bash "$LONG" >"$1/log" 2>&1 </dev/null || status=$?
	tally_counts gcc-14 "$status" "$1/log"
}

# builders_compile COMPILER MACHINE LEVEL
builders_compile()
{
	local kind=builders-$1-$2-$3 options=(-Dsleef=disabled -Dnpz=disabled)

	case $3 in
	hardening)
		options+=(-Doptimization=2 "-Dc_args=$(
			DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags \
				--get CFLAGS | grep -oE -- \
				'-(f(stack|cf)|W|D_FORT)[^ ]*' | xargs
		) -D_FORTIFY_SOURCE=2")
		;;
	*) options+=("-Doptimization=$3" -Ddebug=false) ;;
	esac
	case $2 in
	arm64) builders_cross "$kind" "$1" aarch64-linux-gnu aarch64 cortex-a53 ;;
	armhf) builders_cross "$kind" "$1" arm-linux-gnueabihf arm cortex-a9 ;;
	esac
	[ "$2" = amd64 ] ||
		options+=("--cross-file=$(build_folder "$kind").cross")
	CC=$1 build_make "$kind" "${BUILDERS_LIBRARY[@]}" "${options[@]}"
}

# builders_cross KIND COMPILER TRIPLET FAMILY CPU: writes meson's cross file
builders_cross()
{
	local cross compiler="'$3-gcc'"

	[ "$2" = gcc ] || compiler="['$2', '--target=$3']"
	cross=$(build_folder "$1").cross
	mkdir -p "$(dirname "$cross")"
	cat >"$cross" <<-CROSS
	[binaries]
	c = $compiler
	ar = '$3-ar'
	strip = '$3-strip'

	[properties]
	needs_exe_wrapper = true

	[host_machine]
	system = 'linux'
	cpu_family = '$4'
	cpu = '$5'
	endian = 'little'
	CROSS
}

# builders_musl_cross: cmocka for musl and meson's cross file, in this folder
builders_musl_cross()
{
	local source folder

	folder=$(build_folder musl).parts
	source=$(cache_entry sets/cmocka-source "cannot fetch cmocka's source" \
		foreign_tarball bookworm cmocka) || return 1
	sh tests/builders/musl.sh "$folder" "$(echo "$source"/cmocka_*.orig.tar.?z)" &&
		printf '%s\n' "$folder"
}

builders_musl_sources()
{
	local folder

	folder=$(builders_musl_cross) &&
		sh tests/builders/sources.sh musl-gcc -idirafter "$folder/include"
}

# Unit programs that replace no function of the C library: musl's functions with 64-bit
# offsets are named otherwise.
BUILDERS_MUSL=(
	error lock fit reason node buffer window walk dtype view view_shape iterator
	iterator_multi index index_array cast cast_text element layout layout_copy
	copy stream dlpack pool array sort ufunc_builtin
)

# Of each part of libdray: allocator, IPC, strided copies, streams, XRT
BUILDERS_CORE=(
	handler pool records records_fork copy layout view index stream stream_ring
	rows xclbin xrt_load
)

# builders_core FOLDER: libdray alone, as for a board without arrays
builders_core()
{
	local folder BUILD_TARGETS=(tools/dmactl/dmactl)

	tally_wants core || return 0
	folder=$(build_folder core)
	BUILD_TARGETS+=("${BUILDERS_CORE[@]/#/tests/unit/test_}")
	tally_run "libdray builds without arrays" build_make core \
		-Dbuildtype=release -Darrays=false -Ddmactl=enabled \
		-Dtests=enabled || return 0
	builders_programs core "$1" "${BUILDERS_CORE[@]}"
	tally_run "dmactl needs no arrays" "$folder/tools/dmactl/dmactl" --version
	tally_run "neither arrays nor OpenCL are built" \
		test ! -e "$folder/userspace/array" -a ! -e "$folder/userspace/opencl"
}

# builders_programs KIND FOLDER NAME...: runs unit programs of a build
builders_programs()
{
	local kind=$1 folder=$2 name status log

	mkdir -p "$folder"
	for name in "${@:3}"; do
		status=0 log=$folder/$name.log
		(cd "$(build_folder "$kind")" && CMOCKA_MESSAGE_OUTPUT=TAP \
			DRAY_TEST_NODE=host timeout 600 "tests/unit/test_$name") \
			>"$log" 2>&1 </dev/null || status=$?
		tally_tap "$name ($kind)" "$status" "$log"
	done
}

# builders_musl FOLDER
builders_musl()
{
	local cross BUILD_TARGETS=()

	tally_wants musl || return 0
	cross=$(builders_musl_cross) || die "cannot prepare a build with musl"
	BUILD_TARGETS=("${BUILDERS_MUSL[@]/#/tests/unit/test_}")
	tally_run "the library builds with musl" build_make musl \
		"--cross-file=$cross/musl.cross" -Dsleef=disabled \
		-Dnpz=disabled -Dpython=disabled -Ddmactl=disabled \
		-Dreference=disabled -Dtests=enabled || return 0
	builders_programs musl "$1" "${BUILDERS_MUSL[@]}"
}

# builders_packages FOLDER: packages of Debian 13; suite install tests Debian 12's
builders_packages()
{
	local DEBIAN_RELEASE=trixie DEBIAN_PACKAGES=("${INSTALL_DEBS[@]}")

	tally_wants debs || return 0
	mkdir -p "$1/tree"
	install_tree "$1/tree" || die "cannot copy the tree"
	builders_tap debs "$1" debian_run "$1/tree" sh tests/install/packages.sh
}
