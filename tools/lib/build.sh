# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash disable=SC2153
#
# Builds of user space with meson, in one folder of the cache for each tree and
# kind: the next run compiles only changed files.  The kind arm64 is for the board:
# compiled here against Debian's arm64 packages, and installed into a folder for
# the guest.

# To build the board's programs.
PACKAGES_BOARD_BUILD=(libc6-dev meson ninja-build pkg-config python3)

PACKAGES_BUILD=(
	ccache gcc libc6-dev libcmocka-dev libfdt-dev libjansson-dev
	libminizip-dev
	libmpfr-dev libncurses-dev libpng-dev libsleef-dev libtraceevent-dev libtracefs-dev liburing-dev
	meson
	ninja-build opencl-c-headers pkg-config zlib1g-dev zsh tmux python3-jsonschema
	python3 python3-dev python3-numpy
)

# build_folder KIND
build_folder()
{
	printf '%s/build/%s/%s\n' "$CACHE" \
		"$(cache_key "$TREE" </dev/null)" "$1"
}

# build_lock: waits until no other front door builds in this tree, unless that runs this one
build_lock()
{
	[ "${DRAY_LOCKED:-}" != "$TREE" ] || return 0
	export DRAY_LOCKED=$TREE
	mkdir -p "$CACHE/build"
	exec 7>"$CACHE/locks/build-$(cache_key "$TREE" </dev/null)"
	flock -n 7 && return
	log_note "waiting for another run in this tree to end"
	flock 7
}

# Targets of ninja, if not all.
BUILD_TARGETS=()

# build_make KIND [MESON OPTION]...: sets up or renews a build and compiles
build_make()
{
	mkdir -p "$(build_folder "$1")"
	# Another suite may want the same.
	(
		flock 9
		build_alone "$@"
	) 9>"$(build_folder "$1").lock"
}

build_alone()
{
	local kind=$1 folder options
	# Kinds share objects that have the same options: meson finds ccache.
	local -x CCACHE_DIR=$CACHE/ccache CCACHE_MAXSIZE=2G

	shift
	folder=$(build_folder "$kind")
	# Meson reads some of a cross file only once.
	options=$(printf '%s\n' "$@"; cat "$folder.cross" 2>/dev/null || true)
	if [ ! -e "$folder/build.ninja" ] ||
	   [ "$options" != "$(cat "$folder/.options" 2>/dev/null)" ]; then
		rm -rf "$folder"
		mkdir -p "$folder"
		# Forces Debian's Python.
		PATH=/usr/bin:$PATH log_quietly env -u VIRTUAL_ENV \
			/usr/bin/meson setup \
			"$folder" "$TREE" -Dwerror=true "$@" || return 1
		printf '%s\n' "$options" >"$folder/.options"
	fi
	PATH=/usr/bin:$PATH log_quietly /usr/bin/ninja -C "$folder" \
		"${BUILD_TARGETS[@]}"
}

# build_native: a release, as users build it
build_native()
{
	log_step "Building for this machine"
	build_make native -Dbuildtype=release -Dpython=enabled \
		-Ddmactl=enabled -Dnpz=enabled -Dsleef=enabled -Dtests=enabled
}

# build_numpy KIND PACKAGES [MESON OPTION]...: the library and the Python package
# for the NumPy in the folder PACKAGES
build_numpy()
{
	local kind=$1 packages=$2 BUILD_TARGETS=(programs)

	shift 2
	log_step "Building for this machine, with another NumPy"
	build_make "$kind" -Dbuildtype=release -Dpython=enabled \
		-Ddmactl=disabled -Dtests=disabled \
		"-Dnumpy_include=$packages/numpy/_core/include" "$@"
}

# build_free KIND PYTHON PACKAGES: the same for the Python without a GIL in a folder
build_free()
{
	local kind=$1 python=$2 packages=$3 headers

	headers=$("$python/bin/python3" -c \
		'import sysconfig; print(sysconfig.get_path("include"))') ||
		return 1
	build_numpy "$kind" "$packages" "-Dpython_include=$headers" \
		"-Dpython_suffix=$("$python/bin/python3" -c \
			'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')"
}

# build_bench: includes the programs of tools/bench for this machine
build_bench()
{
	log_step "Building for this machine, with benchmarks"
	build_make bench -Dbuildtype=release -Dpython=enabled \
		-Ddmactl=disabled -Dtests=disabled -Dbenches=enabled
}

# build_array PACKAGES: the same for the NumPy in the folder PACKAGES
build_array()
{
	log_step "Building for this machine, with benchmarks and another NumPy"
	build_make array -Dbuildtype=release -Dpython=enabled \
		-Ddmactl=disabled -Dtests=disabled -Dbenches=enabled \
		"-Dnumpy_include=$1/numpy/_core/include"
}

# build_sanitized: with sanitizers, which make gcc warn without cause
build_sanitized()
{
	log_step "Building with address and undefined-behaviour sanitizers"
	build_make sanitized -Dwerror=false -Db_sanitize=address,undefined -Db_lundef=false \
		-Dpython=enabled -Ddmactl=enabled -Dtests=enabled
}

# build_libfuzzer [TARGET...]: the fuzzers of tests/libfuzzer, or unit tests, by clang with
# both sanitizers
build_libfuzzer()
{
	local BUILD_TARGETS=("${@:-libfuzzer}")

	log_step "Building with clang and its sanitizers"
	CC=clang build_make libfuzzer -Dlibfuzzer=enabled -Doptimization=1 \
		-Db_sanitize=address,undefined -Db_lundef=false \
		-Dpython=disabled -Ddmactl=disabled -Dreference=disabled \
		-Dnpz=enabled -Dsleef=enabled -Dtests=enabled
}

# build_clang: the library and its tests by clang, which must not warn
build_clang()
{
	log_step "Building with clang"
	CC=clang build_make clang -Dpython=disabled -Ddmactl=enabled \
		-Dreference=disabled -Dnpz=enabled -Dsleef=enabled -Dtests=enabled
}

# build_races: the library and the Python package with the thread sanitizer
build_races()
{
	log_step "Building with the thread sanitizer"
	build_make races -Dwerror=false -Db_sanitize=thread -Db_lundef=false \
		-Dpython=enabled -Ddmactl=disabled -Dtests=enabled
}

# build_i386: the library and its tests with 32-bit pointers, for this machine
build_i386()
{
	local sysroot home=/usr/i686-linux-gnu/lib libraries

	sysroot=$(foreign_set i386 alone sysroot libcmocka-dev libcmocka0) ||
		exit
	libraries=$sysroot/usr/lib/i386-linux-gnu
	# The cross compiler's own C library comes first.
	build_cross i386 "$sysroot" i386-linux-gnu i686-linux-gnu x86 i686 \
		"'-Wl,-rpath,$libraries', '-Wl,-rpath,$home', '-Wl,--dynamic-linker=$home/ld-linux.so.2'"
	log_step "Building for the 32-bit PC (i386)"
	# gcc does not see that 64-bit sizes were checked against the window.
	build_make i386 "--cross-file=$(build_folder i386).cross" \
		-Dbuildtype=release -Dwerror=false \
		-Dpython=disabled -Ddmactl=disabled -Dtests=enabled
}

# build_armhf: a few programs for 32-bit boards, with the C library of the cross compiler
build_armhf()
{
	local sysroot BUILD_TARGETS=(tests/unit/test_elementary{,_errors})

	sysroot=$(build_armhf_sysroot) || exit
	build_cross armhf "$sysroot" arm-linux-gnueabihf arm-linux-gnueabihf \
		arm cortex-a9 \
		"'-Wl,-rpath-link,$sysroot/usr/lib/arm-linux-gnueabihf'"
	log_step "Building for 32-bit boards (armhf)"
	build_make armhf "--cross-file=$(build_folder armhf).cross" \
		-Dbuildtype=release -Dwerror=false -Dsleef=enabled \
		-Dpython=disabled -Ddmactl=disabled -Dreference=disabled \
		-Dtests=enabled
}

build_armhf_sysroot()
{
	foreign_set armhf alone sysroot libcmocka-dev libcmocka0 libsleef-dev \
		libsleef3
}

# build_cross KIND SYSROOT TRIPLET COMPILER FAMILY CPU LINK-OPTIONS [OPTIONS]: writes
# meson's cross file
build_cross()
{
	local cross libraries=$2/usr/lib/$3

	cross=$(build_folder "$1").cross
	mkdir -p "$(dirname "$cross")"
	cat >"$cross" <<-CROSS
	[binaries]
	c = '$4-gcc'
	ar = '$4-gcc-ar'
	strip = '$4-strip'
	pkgconfig = '/usr/bin/pkg-config'

	[properties]
	needs_exe_wrapper = false
	sys_root = '$2'
	pkg_config_libdir = '$libraries/pkgconfig'

	[built-in options]
	c_args = ['-idirafter', '$2/usr/include/$3'${8:+, $8}]
	c_link_args = ['-L$libraries', '-L$2/lib/$3', $7]

	[host_machine]
	system = 'linux'
	cpu_family = '$5'
	cpu = '$6'
	endian = 'little'
	CROSS
}

# build_sysroot: prints the folder of arm64 packages to link against
build_sysroot()
{
	foreign_set arm64 alone sysroot libc6 libc6-dev linux-libc-dev libcmocka-dev libcmocka0 \
		libjansson-dev libjansson4 libfdt-dev libfdt1 libncurses-dev libncursesw6 \
		libtinfo6 libpng-dev libpng16-16 zlib1g-dev zlib1g \
		libtracefs-dev libtracefs1 libtraceevent-dev libtraceevent1 \
		libsleef-dev libsleef3 \
		libpython3.11-dev python3-numpy
}

# build_board [TARGET...]: compiles for arm64, and installs the programs into
# build_board_root; with further targets, such as tests
build_board()
{
	local BUILD_TARGETS=(programs "$@")

	log_step "Building for the board (arm64)"
	build_installed arm64 -Dtests=enabled
}

# build_demo: the programs of tools/demo alone, without optimizations that an emulated
# board does not show
build_demo()
{
	local BUILD_TARGETS=(programs)

	log_step "Building for the board (arm64)"
	build_installed demo -Dwerror=false -Dtests=disabled -Doptimization=1 -Dnpz=disabled \
		-Dopencl=disabled -Ddmactl_{dt,png,top,trace}=disabled
}

# build_installed KIND [MESON OPTION]...: installs into the folder KIND.root
build_installed()
{
	local root new

	root=$(build_folder "$1.root") new=$(build_folder "$1.new")
	build_arm64 "$1" usr/lib/python3/dist-packages/numpy/core/include \
		--prefix=/usr --libdir=lib/aarch64-linux-gnu \
		-Ddmactl=enabled -Dsleef=enabled -Dreference=disabled \
		-Dpython_install_dir=/usr/lib/python3/dist-packages \
		"${@:2}" || return 1
	# Guests of another suite may read the folder: it stays if nothing has changed.
	(
		flock 9
		rm -rf "$new"
		DESTDIR=$new log_quietly /usr/bin/meson install --no-rebuild \
			-C "$(build_folder "$1")" || exit
		! diff -rq --no-dereference "$root" "$new" >/dev/null 2>&1 || exit 0
		rm -rf "$root"
		mv "$new" "$root"
	) 9>"$root.lock"
}

# build_board_numpy PACKAGES: the library and the Python package for the board, for the
# NumPy in the folder PACKAGES
build_board_numpy()
{
	log_step "Building for the board (arm64), with another NumPy"
	build_arm64 arm64-numpy2 "$1/numpy/_core/include" \
		-Ddmactl=disabled -Dtests=disabled
}

# build_copy_libraries BUILD FOLDER: copies the libraries with their links
build_copy_libraries()
{
	cp -P "$1"/userspace/{core,array,opencl}/libdray*.so{,.*[!p]} "$2"
}

# build_arm64 KIND INCLUDE [MESON OPTION]...: with the headers of NumPy in the folder
# INCLUDE, absolute or in the sysroot
build_arm64()
{
	local sysroot libraries include numpy=$2

	sysroot=$(build_sysroot) || exit
	libraries=$sysroot/usr/lib/aarch64-linux-gnu include=$sysroot/usr/include
	# The cross compiler's own C library may be newer than the board's.
	build_cross "$1" "$sysroot" aarch64-linux-gnu aarch64-linux-gnu aarch64 \
		cortex-a53 \
		"'--sysroot=$sysroot', '-B$libraries', '-Wl,-rpath-link,$libraries:$sysroot/lib/aarch64-linux-gnu'" \
		"'--sysroot=$sysroot', '-isystem', '$include/aarch64-linux-gnu', '-isystem', '$include'"
	[ "${numpy:0:1}" = / ] || numpy=$sysroot/$numpy
	build_make "$1" "--cross-file=$(build_folder "$1").cross" \
		-Dbuildtype=release -Dpython=enabled \
		"-Dpython_include=$sysroot/usr/include/python3.11,$sysroot/usr/include" \
		"-Dnumpy_include=$numpy" \
		-Dpython_suffix=.cpython-311-aarch64-linux-gnu.so "${@:3}"
}

build_board_root()
{
	build_folder arm64.root
}
