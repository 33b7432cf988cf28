# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash disable=SC2153
#
# Root file systems of guests, as cpio archives that the kernel unpacks in turn:
# a base of busybox, optional Debian packages (Python and NumPy, udev, XRT, UCX), and
# the files of a run.  They are not compressed: unpacking costs an emulated
# processor more than reading.

# rootfs_archive FOLDER > CPIO
rootfs_archive()
{
	packages_need cpio >&2
	(cd "$1" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
		cpio --quiet -0 -o -H newc -R 0:0)
}

# rootfs_image NAME ARCHITECTURE alone|closure PACKAGE...: prints the archive that
# rootfs_NAME_build makes of unpacked packages
rootfs_image()
{
	local name=$1 packages

	packages=$(foreign_set "$2" "$3" root "${@:4}") || exit
	cache_entry "images/$name-$2-$(cache_key "${packages##*/}" \
		<"$TREE/tools/lib/rootfs.sh")" \
		"cannot make the file system $name" \
		rootfs_build "$name" "$packages" && cache_prune images/
}

rootfs_build()
{
	local tree=$3.tree

	log_step "Packing the root file system: $1"
	rm -rf "$tree"
	"rootfs_$1_build" "$2" "$tree" || return 1
	rootfs_archive "$tree" >"$3"
	rm -rf "$tree"
}

# rootfs_base ARCHITECTURE: busybox; prints the archive
rootfs_base()
{
	rootfs_image busybox "$1" alone busybox-static
}

rootfs_busybox_build()
{
	local busybox=$1 tree=$2

	mkdir -p "$tree"/{dev,etc,proc,root,run,sys,tmp,var}
	mkdir -p "$tree"/usr/{bin,lib,sbin} "$tree/usr/lib64"
	ln -s usr/bin usr/sbin usr/lib usr/lib64 "$tree"
	cp "$busybox/bin/busybox" "$tree/usr/bin"
	echo root:x:0:0:root:/root:/bin/sh >"$tree/etc/passwd"
	echo nobody:x:65534:65534:nobody:/:/bin/sh >>"$tree/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$tree/etc/group"
	echo '127.0.0.1 localhost' >"$tree/etc/hosts"
}

# The libraries of dmactl.
ROOTFS_DMACTL="libjansson4 libfdt1 libncursesw6 libpng16-16 libtracefs1"

# rootfs_python ARCHITECTURE: Python with NumPy and dependencies, and the C++ library
# for modules from PyPI; rootfs_tests: with pytest, NumPy's own tests, and a terminal
# for dmactl top, too.  Both print the archive
rootfs_python()
{
	rootfs_image python "$1" closure "${ROOTFS_PYTHON[@]}"
}

rootfs_tests()
{
	rootfs_image tests "$1" closure "${ROOTFS_PYTHON[@]}"
}

# A set for both: they share most packages.
# shellcheck disable=SC2206
ROOTFS_PYTHON=(
	python3 python3-numpy python3-pytest libminizip1 libsleef3 libstdc++6
	tmux ncurses-base libc-bin $ROOTFS_DMACTL
)

rootfs_tests_build()
{
	rootfs_merge "$1" "$2" && rootfs_finish "$2"
}

# A guest unpacks each byte at boot: leaves out tests, and tools of developers.
rootfs_python_build()
{
	local packages=$2/usr/lib/python3/dist-packages

	rootfs_merge "$1" "$2" || return 1
	find "$packages/numpy" "$2/usr/lib/python3.11/dist-packages" \
		-name tests -prune -exec rm -r {} +
	rm -rf "$packages"/numpy/{array_api,distutils,f2py,typing} \
		"$packages"/{_pytest,pkg_resources,py,pytest} \
		"$2"/usr/lib/python3.11/{lib2to3,pydoc_data,test} || return 1
	rootfs_finish "$2"
}

# rootfs_finish TREE: repeats the work of maintainer scripts for Python
rootfs_finish()
{
	local tree=$1 folder

	rm -rf "$tree"/usr/lib/*/{perl*,gconv} "$tree"/usr/share/perl \
		"$tree"/usr/bin/perl*
	# Alternatives.
	for folder in "$tree"/usr/lib/*-linux-gnu; do
		[ -d "$folder/blas" ] || continue
		ln -sf blas/libblas.so.3 "$folder/libblas.so.3"
		ln -sf lapack/liblapack.so.3 "$folder/liblapack.so.3"
	done
	# Compiled files: an emulated processor takes seconds.
	"$(rootfs_compiler)" -m compileall -q -j 0 -s "$tree" -p / \
		--invalidation-mode unchecked-hash "$tree/usr/lib/python3" \
		"$tree/usr/lib/python3.11" >/dev/null
}

# rootfs_compiler: prints this machine's Python, or an unpacked Python if the versions
# of machine and guest differ
rootfs_compiler()
{
	local program=usr/bin/python3.11 folder=/

	[ -e "/$program" ] ||
		folder=$(foreign_set "$(dpkg --print-architecture)" alone python \
			python3.11-minimal libpython3.11-{minimal,stdlib}) ||
		return 1
	printf '%s\n' "$folder/$program"
}

# rootfs_udev ARCHITECTURE: udev, and programs for users and groups; prints the
# archive
rootfs_udev()
{
	# shellcheck disable=SC2086
	rootfs_image udev "$1" closure udev passwd login libminizip1 libsleef3 \
		$ROOTFS_DMACTL
}

rootfs_udev_build()
{
	rootfs_merge "$1" "$2" || return 1
	rm -rf "$2"/usr/lib/*/gconv "$2/usr/lib/udev/hwdb.d"
}

# rootfs_xrt ARCHITECTURE: XRT's libraries, on arm64 for boards, and the libraries of
# tests that are not installed; prints the archive
rootfs_xrt()
{
	rootfs_image xrt "$1" closure libxrt1 libcmocka0 libminizip1 libsleef3
}

rootfs_xrt_build()
{
	rootfs_merge "$1" "$2" || return 1
	rm -rf "$2"/usr/lib/*/gconv "${2:?}/usr/share"
}

# rootfs_ucx ARCHITECTURE: UCX with its plug-ins, drivers of RDMA, and iproute2's rdma;
# prints the archive.  rootfs_ucx_set: prints the folder of the packages, with headers
ROOTFS_UCX=(libucx-dev ibverbs-providers iproute2)

rootfs_ucx()
{
	rootfs_image ucx "$1" closure "${ROOTFS_UCX[@]}"
}

rootfs_ucx_set()
{
	foreign_set "$1" closure root "${ROOTFS_UCX[@]}"
}

rootfs_ucx_build()
{
	rootfs_merge "$1" "$2" || return 1
	rm -rf "${2:?}"/usr/{include,share} "$2"/usr/lib/*/{gconv,*.a,perl*}
}

# rootfs_merge PACKAGES TREE: copies unpacked packages without documentation; the
# base links /bin, /lib and /sbin into /usr
rootfs_merge()
{
	local packages=$1 tree=$2 folder

	mkdir -p "$tree/usr"
	for folder in bin lib sbin lib64; do
		[ -d "$packages/$folder" ] || continue
		mkdir -p "$tree/usr/$folder"
		cp -a "$packages/$folder/." "$tree/usr/$folder" || return 1
	done
	cp -a "$packages/usr/." "$tree/usr" || return 1
	[ ! -d "$packages/etc" ] || cp -a "$packages/etc" "$tree" || return 1
	rm -rf "$tree"/usr/share/{doc,man,info,locale,lintian,bug,perl5}
}
