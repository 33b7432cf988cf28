# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash disable=SC2153
#
# Root file systems of guests, as cpio archives that the kernel unpacks one
# after the other: a base of busybox, on request some of Debian's packages, as
# Python and NumPy or udev, and on top what one run brings.  They are not compressed: unpacking costs
# an emulated processor more than reading.

# rootfs_archive FOLDER > CPIO
rootfs_archive()
{
	(cd "$1" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
		cpio --quiet -0 -o -H newc -R 0:0)
}

# rootfs_base ARCHITECTURE: the base archive, on standard output
rootfs_base()
{
	local entry busybox

	busybox=$(foreign_set "$1" one busybox busybox-static) || exit
	entry=images/base-$1-$(cache_key "${busybox##*/}" \
		<"$TREE/tools/lib/rootfs.sh")
	cache_make "$entry" rootfs_base_build "$busybox" ||
		die "cannot make the base file system"
	touch "$CACHE/$entry"
	cache_prune images/
	printf '%s\n' "$CACHE/$entry"
}

rootfs_base_build()
{
	local busybox=$1 into=$2 tree

	tree=$into.tree
	rm -rf "$tree"
	mkdir -p "$tree"/{dev,etc,proc,root,run,sys,tmp,var}
	mkdir -p "$tree"/usr/{bin,lib,sbin} "$tree/usr/lib64"
	ln -s usr/bin usr/sbin usr/lib usr/lib64 "$tree"
	cp "$busybox/bin/busybox" "$tree/usr/bin"
	echo root:x:0:0:root:/root:/bin/sh >"$tree/etc/passwd"
	echo nobody:x:65534:65534:nobody:/:/bin/sh >>"$tree/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$tree/etc/group"
	echo '127.0.0.1 localhost' >"$tree/etc/hosts"
	rootfs_archive "$tree" >"$into"
	rm -rf "$tree"
}

# rootfs_python ARCHITECTURE: Debian's Python with NumPy, pytest and what
# they need, as an archive, on standard output
rootfs_python()
{
	local entry packages

	packages=$(foreign_set "$1" closure python \
		python3 python3-numpy python3-pytest libjansson4 libfdt1) || exit
	entry=images/python-$1-$(cache_key "${packages##*/}" \
		<"$TREE/tools/lib/rootfs.sh")
	cache_make "$entry" rootfs_python_build "$packages" ||
		die "cannot make the Python file system"
	touch "$CACHE/$entry"
	cache_prune images/
	printf '%s\n' "$CACHE/$entry"
}

rootfs_python_build()
{
	local packages=$1 into=$2 tree folder

	log_step "Packing Python and NumPy for the board"
	tree=$into.tree
	rootfs_merge "$packages" "$tree" || return 1
	rm -rf "$tree"/usr/lib/*/perl* "$tree"/usr/share/perl "$tree"/usr/bin/perl*
	# The alternatives that maintainer scripts would have made.
	for folder in "$tree"/usr/lib/*-linux-gnu; do
		[ -d "$folder/blas" ] || continue
		ln -sf blas/libblas.so.3 "$folder/libblas.so.3"
		ln -sf lapack/liblapack.so.3 "$folder/liblapack.so.3"
	done
	# What dpkg's triggers would have compiled; an emulated processor takes
	# seconds for it.  Python is the same version here and there.
	/usr/bin/python3 -m compileall -q -s "$tree" -p / \
		--invalidation-mode unchecked-hash "$tree/usr/lib/python3" \
		"$tree/usr/lib/python3.11" >/dev/null || return 1
	rootfs_archive "$tree" >"$into"
	rm -rf "$tree"
}

# rootfs_udev ARCHITECTURE: Debian's udev, and its programs for users and groups,
# as an archive, on standard output
rootfs_udev()
{
	local entry packages

	packages=$(foreign_set "$1" closure udev udev passwd login \
		libjansson4) || exit
	entry=images/udev-$1-$(cache_key "${packages##*/}" \
		<"$TREE/tools/lib/rootfs.sh")
	cache_make "$entry" rootfs_udev_build "$packages" ||
		die "cannot make the file system with udev"
	touch "$CACHE/$entry"
	cache_prune images/
	printf '%s\n' "$CACHE/$entry"
}

rootfs_udev_build()
{
	local packages=$1 into=$2 tree=$2.tree

	log_step "Packing udev for the board"
	rootfs_merge "$packages" "$tree" || return 1
	rm -rf "$tree"/usr/lib/*/gconv "$tree/usr/lib/udev/hwdb.d"
	rootfs_archive "$tree" >"$into"
	rm -rf "$tree"
}

# rootfs_merge PACKAGES TREE: unpacked packages, without what is there to be
# read; the base has /bin, /lib and /sbin as links into /usr
rootfs_merge()
{
	local packages=$1 tree=$2 folder

	rm -rf "$tree"
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
