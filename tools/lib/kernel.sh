# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Kernels for guests: image, modules, and headers to build against, of
# another architecture or version than this machine's, in the cache.  A kernel
# is named ARCHITECTURE-SERIES, as arm64-6.1 or amd64-6.1-cloud.  Here are
# Debian's own, and files of their source; kernel-build.sh makes the others.
# The version that was newest when it was fetched stays; DRAY_UPDATE=1 looks for
# a newer one.

# kernel_fragments ARCHITECTURE-SERIES: what a kernel that is built here is
# configured from; fails for Debian's
kernel_fragments()
{
	case $1 in
	arm64-6.12) echo common arm64 consumers ;;
	arm64-6.12-64k) echo common arm64 64k ;;
	arm64-6.12-built-in) echo common arm64 built-in ;;
	armhf-6.12) echo common armhf ;;
	*-source) echo common "${1%-source}" ;;
	arm64-checked) echo common arm64 checked checked-board ;;
	arm64-races) echo common arm64 races ;;
	amd64-checked) echo common amd64 checked ;;
	*) return 1 ;;
	esac
}

# kernel_chosen SERIES...: what a suite runs on: these, or the kernel of a tree of
# the user's own instead
kernel_chosen()
{
	[ -z "${DRAY_KERNEL_SOURCE:-}" ] || set -- source
	echo "$@"
}

# kernel_pattern ARCHITECTURE SERIES: what Debian 12 calls such a version
kernel_pattern()
{
	local flavour=$1

	[ "$1" != armhf ] || flavour=armmp
	case $2 in
	6.1) printf '6\\.1\\.0-[0-9]+-%s' "$flavour" ;;
	6.1-cloud) printf '6\\.1\\.0-[0-9]+-cloud-%s' "$flavour" ;;
	6.12 | 6.12-debian)
		printf '6\\.12\\.[0-9]+\\+deb12-%s' "$flavour"
		;;
	6.12-cloud)
		printf '6\\.12\\.[0-9]+\\+deb12-cloud-%s' "$flavour"
		;;
	*) die "no kernel $2 for $1" ;;
	esac
}

kernel_unpack()
{
	local architecture=$1 version=$2 into=$3 flavourless kbuild

	flavourless=${version%-cloud-*}
	flavourless=${flavourless%-[a-z]*}
	case $version in
	6.1.0-*) kbuild=linux-kbuild-6.1 ;;
	*) kbuild=linux-kbuild-$flavourless ;;
	esac
	log_step "Fetching Debian's kernel $version"
	foreign_unpack "$architecture" one "linux-image-$version" \
		"linux-headers-$version" "linux-headers-$flavourless-common" \
		"$into" || return 1
	# The build programs run here, whatever the kernel's architecture is.
	foreign_unpack "$(dpkg --print-architecture)" one "$kbuild" "$into" ||
		return 1
	# Without it no BTF is made for modules, and pahole is not needed.
	rm -f "$into/usr/src/linux-headers-$version/vmlinux"
	/sbin/depmod -b "$into" "$version" || return 1
	printf '%s\n' "$version" >"$into/version"
}

# Headers name each other by absolute paths, so these are set where the
# entry has got its name.
kernel_fetch()
{
	local into=${*: -1} final=$1 header

	shift
	kernel_unpack "$@" || return 1
	for header in "$into"/usr/src/linux-headers-*/Makefile; do
		sed -i "s|include /usr/src/|include $final/usr/src/|" "$header"
	done
}

# kernel_make ARCHITECTURE SERIES: the kernel's folder, on standard output
kernel_make()
{
	local name=kernels/$1-$2 version=''

	if kernel_fragments "$1-$2" >/dev/null; then
		kernel_build "$1-$2"
		return
	fi
	kernel_pattern "$1" "$2" >/dev/null
	if [ ! -e "$CACHE/$name" ] || [ -n "${DRAY_UPDATE:-}" ]; then
		version=$(foreign_resolve "$1" \
			"linux-headers-$(kernel_pattern "$1" "$2")")
		version=${version#linux-headers-}
		[ -n "$version" ] || die "no kernel $2 for $1 is found"
		if [ -e "$CACHE/$name" ] &&
		   [ "$(kernel_version "$CACHE/$name")" != "$version" ]; then
			rm -rf "${CACHE:?}/$name"
		fi
	fi
	cache_make "$name" kernel_fetch "$CACHE/$name" "$1" "$version" ||
		die "cannot fetch the kernel $1-$2"
	printf '%s\n' "$CACHE/$name"
}

kernel_version()
{
	cat "$1/version"
}

kernel_image()
{
	printf '%s\n' "$1/boot/vmlinuz-$(kernel_version "$1")"
}

kernel_headers()
{
	printf '%s\n' "$1/usr/src/linux-headers-$(kernel_version "$1")"
}

# kernel_modules KERNEL NAME...: files of modules and of what they need, in
# the order to insert them; nothing for what is built in
kernel_modules()
{
	local kernel=$1 name

	shift
	for name in "$@"; do
		/sbin/modprobe --show-depends -d "$kernel" \
			-S "$(kernel_version "$kernel")" "$name" ||
			die "the kernel has no module $name"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# What is taken of linux-source for good: drivers of the boards that their
# kernels lack, and the checkers and test harness of the newest.
KERNEL_SOURCES_6_1=(
	drivers/dma/dmaengine.h drivers/dma/dmatest.c
	drivers/dma/xilinx/zynqmp_dma.c
	drivers/mmc/host/cqhci.h drivers/mmc/host/sdhci.h
	drivers/mmc/host/sdhci-cqhci.h drivers/mmc/host/sdhci-pltfm.h
	drivers/mmc/host/sdhci-of-arasan.c
	drivers/tty/serial/xilinx_uartps.c
	scripts/mod
)
KERNEL_SOURCES_6_12=(
	scripts/checkpatch.pl scripts/const_structs.checkpatch
	scripts/spelling.txt
	tools/testing/selftests/kselftest.h
	tools/testing/selftests/kselftest_harness.h
	tools/testing/selftests/lib.mk
)
KERNEL_SOURCES_ENGINE=(
	drivers/dma/dmaengine.h drivers/dma/dmatest.c
	drivers/dma/xilinx/zynqmp_dma.c
)
# The trees of the boards that dts/overlays is for.
KERNEL_SOURCES_BOARDS=(
	arch/arm/boot/dts/xilinx arch/arm64/boot/dts/xilinx include/dt-bindings
	include/uapi/linux/input-event-codes.h
)
# What tests inside such a tree are built and installed with.
KERNEL_SOURCES_SELFTESTS=(
	Makefile arch/x86/Makefile arch/x86/entry/syscalls arch/x86/include
	arch/x86/tools include/uapi scripts tools/arch/x86/include
	tools/include
	tools/testing/selftests/Makefile tools/testing/selftests/kselftest
	tools/testing/selftests/kselftest.h
	tools/testing/selftests/kselftest_harness.h
	tools/testing/selftests/lib.mk
	tools/testing/selftests/run_kselftest.sh
)

kernel_source_fetch()
{
	local series=$1 into=${*: -1} tarball
	local files=("${@:2:$#-2}")

	log_step "Taking what is needed from linux-source-$series"
	tarball=$(kernel_tarball "$series") || return 1
	mkdir -p "$into"
	tar -C "$into" -xJf "$tarball" --strip-components 1 \
		"${files[@]/#/linux-source-$series/}"
}

# kernel_tarball SERIES: all of its source, packed, on standard output; it is
# kept for a while, because several kernels are built from it
kernel_tarball()
{
	local tarball=/usr/src/linux-source-$1.tar.xz
	local entry=tarballs/linux-source-$1.tar.xz

	if [ ! -e "$tarball" ]; then
		cache_make "$entry" kernel_tarball_fetch "$1" || return 1
		tarball=$CACHE/$entry
		touch "$tarball"
		cache_prune tarballs/
	fi
	printf '%s\n' "$tarball"
}

kernel_tarball_fetch()
{
	local into=$2

	foreign_unpack "$(dpkg --print-architecture)" one "linux-source-$1" \
		"$into.unpacked" || return 1
	mv "$into.unpacked/usr/src/linux-source-$1.tar.xz" "$into" || return 1
	rm -rf "$into.unpacked"
}

# kernel_source SERIES: the folder with these files, on standard output; those of
# 6.12-engine are the drivers of the board's, those of 6.12-boards the trees of
# boards, those of 6.12-selftests for tests in it
kernel_source()
{
	local files entry

	case $1 in
	6.1) files=("${KERNEL_SOURCES_6_1[@]}") ;;
	6.12-engine) files=("${KERNEL_SOURCES_ENGINE[@]}") ;;
	6.12-boards) files=("${KERNEL_SOURCES_BOARDS[@]}") ;;
	6.12-selftests) files=("${KERNEL_SOURCES_SELFTESTS[@]}") ;;
	*) files=("${KERNEL_SOURCES_6_12[@]}") ;;
	esac
	entry=sources/$1-$(cache_key "${files[@]}" </dev/null)
	cache_make "$entry" kernel_source_fetch "${1%-[a-z]*}" "${files[@]}" ||
		die "cannot take files from linux-source-$1"
	printf '%s\n' "$CACHE/$entry"
}
