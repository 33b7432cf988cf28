# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash disable=SC2153
#
# Builds of user space with meson, in the cache, one folder for each tree and
# kind, so that the next run compiles only what has changed.  The kind arm64
# is for the board: compiled here against Debian's arm64 packages, which are
# unpacked in the cache, and installed into a folder that a guest gets.

# shellcheck disable=SC2034 # front doors use it
PACKAGES_BUILD=(
	gcc libc6-dev libcmocka-dev libjansson-dev meson ninja-build pkg-config
	python3 python3-dev python3-numpy
)

# build_folder KIND
build_folder()
{
	printf '%s/build/%s/%s\n' "$CACHE" \
		"$(cache_key "$TREE" </dev/null)" "$1"
}

# One front door at a time works in the builds of a tree; others wait.
build_lock()
{
	mkdir -p "$CACHE/build"
	exec 7>"$CACHE/locks/build-$(cache_key "$TREE" </dev/null)"
	flock -n 7 && return
	log_note "another run is at work in this tree: waiting for its end"
	flock 7
}

# build_make KIND [MESON OPTION]...: sets up or renews, then compiles
build_make()
{
	local kind=$1 folder options

	shift
	folder=$(build_folder "$kind")
	options=$(printf '%s\n' "$@")
	if [ ! -e "$folder/build.ninja" ] ||
	   [ "$options" != "$(cat "$folder/.options" 2>/dev/null)" ]; then
		rm -rf "$folder"
		mkdir -p "$folder"
		# Debian's Python, whatever else is in the path.
		PATH=/usr/bin:$PATH log_quietly env -u VIRTUAL_ENV \
			/usr/bin/meson setup \
			"$folder" "$TREE" "$@" || return 1
		printf '%s\n' "$options" >"$folder/.options"
	fi
	PATH=/usr/bin:$PATH log_quietly /usr/bin/ninja -C "$folder"
}

# build_native: as a person builds it; build_sanitized: with the sanitizers,
# which make gcc warn of things that are not there
build_native()
{
	log_step "Building for this machine"
	build_make native -Dbuildtype=release -Dpython=enabled \
		-Ddmactl=enabled -Dtests=enabled
}

# build_numpy KIND PACKAGES [MESON OPTION]...: the library and the Python package,
# for the NumPy that lies in the folder PACKAGES
build_numpy()
{
	local kind=$1 packages=$2

	shift 2
	log_step "Building for this machine, with another NumPy"
	build_make "$kind" -Dbuildtype=release -Dpython=enabled \
		-Ddmactl=disabled -Dtests=disabled \
		"-Dnumpy_include=$packages/numpy/_core/include" "$@"
}

# build_free KIND PYTHON PACKAGES: the same for a Python in a folder of its own,
# which has no GIL
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

# build_bench: with the programs of tools/bench that run here
build_bench()
{
	log_step "Building for this machine, with benchmarks"
	build_make bench -Dbuildtype=release -Dpython=enabled \
		-Ddmactl=disabled -Dtests=disabled -Dbenches=enabled
}

build_sanitized()
{
	log_step "Building with address and undefined-behaviour sanitizers"
	build_make sanitized -Dwerror=false -Db_sanitize=address,undefined -Db_lundef=false \
		-Dpython=enabled -Ddmactl=enabled -Dtests=enabled
}

# The library alone, with the sanitizer that sees races.
build_races()
{
	log_step "Building with the thread sanitizer"
	build_make races -Dwerror=false -Db_sanitize=thread -Db_lundef=false \
		-Dpython=disabled -Ddmactl=disabled -Dtests=enabled
}

# build_i386: the library and its tests with pointers of 32 bits, to run here
build_i386()
{
	local sysroot cross

	sysroot=$(foreign_set i386 one sysroot libcmocka-dev libcmocka0) ||
		exit
	cross=$(build_folder i386).cross
	mkdir -p "$(dirname "$cross")"
	build_cross_i386 "$sysroot" >"$cross"
	log_step "Building for the 32-bit PC (i386)"
	# Sizes are numbers of 64 bits that have been checked against the window.
	build_make i386 "--cross-file=$cross" -Dbuildtype=release \
		-Dwerror=false \
		-Dpython=disabled -Ddmactl=disabled -Dtests=enabled
}

# The C library is that of the cross compiler's packages, where they have it.
build_cross_i386()
{
	local libraries=$1/usr/lib/i386-linux-gnu home=/usr/i686-linux-gnu/lib

	cat <<-CROSS
	[binaries]
	c = 'i686-linux-gnu-gcc'
	ar = 'i686-linux-gnu-gcc-ar'
	strip = 'i686-linux-gnu-strip'
	pkgconfig = '/usr/bin/pkg-config'

	[properties]
	needs_exe_wrapper = true
	sys_root = '$1'
	pkg_config_libdir = '$libraries/pkgconfig'

	[built-in options]
	c_link_args = ['-L$libraries', '-Wl,-rpath,$libraries', '-Wl,-rpath,$home', '-Wl,--dynamic-linker=$home/ld-linux.so.2']

	[host_machine]
	system = 'linux'
	cpu_family = 'x86'
	cpu = 'i686'
	endian = 'little'
	CROSS
}

# The arm64 packages with headers and libraries to link against.
build_sysroot()
{
	foreign_set arm64 one sysroot libcmocka-dev libcmocka0 libjansson-dev \
		libjansson4 libfdt-dev libfdt1 libpython3.11-dev python3-numpy
}

# build_board: compiles for arm64; build_board_root has what is installed
build_board()
{
	local sysroot cross

	sysroot=$(build_sysroot) || exit
	cross=$(build_folder arm64).cross
	mkdir -p "$(dirname "$cross")"
	build_cross_file "$sysroot" >"$cross"
	log_step "Building for the board (arm64)"
	build_make arm64 "--cross-file=$cross" --prefix=/usr \
		--libdir=lib/aarch64-linux-gnu -Dbuildtype=release \
		-Dpython=enabled -Ddmactl=enabled -Dtests=enabled \
		"-Dpython_include=$sysroot/usr/include/python3.11,$sysroot/usr/include" \
		"-Dnumpy_include=$sysroot/usr/lib/python3/dist-packages/numpy/core/include" \
		-Dpython_suffix=.cpython-311-aarch64-linux-gnu.so \
		-Dpython_install_dir=/usr/lib/python3/dist-packages || return 1
	rm -rf "$(build_board_root)"
	DESTDIR=$(build_board_root) log_quietly /usr/bin/meson install \
		--no-rebuild -C "$(build_folder arm64)"
}

build_board_root()
{
	build_folder arm64.root
}

build_cross_file()
{
	cat <<-CROSS
	[binaries]
	c = 'aarch64-linux-gnu-gcc'
	ar = 'aarch64-linux-gnu-gcc-ar'
	strip = 'aarch64-linux-gnu-strip'
	pkgconfig = '/usr/bin/pkg-config'

	[properties]
	needs_exe_wrapper = true
	sys_root = '$1'
	pkg_config_libdir = '$1/usr/lib/aarch64-linux-gnu/pkgconfig'

	[built-in options]
	c_link_args = ['-L$1/usr/lib/aarch64-linux-gnu', '-Wl,-rpath-link,$1/usr/lib/aarch64-linux-gnu']

	[host_machine]
	system = 'linux'
	cpu_family = 'aarch64'
	cpu = 'cortex-a53'
	endian = 'little'
	CROSS
}
