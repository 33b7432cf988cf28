# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Kernels for guests: image, modules and headers of any architecture and version.
# A kernel is named ARCHITECTURE-SERIES, as arm64-6.1 or amd64-6.1-cloud.  This
# file fetches Debian's kernels and files of their source; kernel-build.sh builds
# others.  The first version fetched stays; DRAY_UPDATE=1 looks for a newer version.

# kernel_fragments ARCHITECTURE-SERIES: the configuration of a kernel to build;
# fails for Debian's kernels
kernel_fragments()
{
	case $1 in
	arm64-6.12) echo common arm64 consumers ;;
	arm64-6.12-64k) echo common arm64 64k ;;
	arm64-6.12-built-in) echo common arm64 built-in ;;
	armhf-6.12) echo common armhf ;;
	*-newest) echo common "${1%-newest}" newest ;;
	*-source) echo common "${1%-source}" ;;
	arm64-checked) echo common arm64 checked checked-board ;;
	arm64-races) echo common arm64 races ;;
	amd64-checked) echo common amd64 checked ;;
	*) return 1 ;;
	esac
}

# kernel_chosen SERIES...: the kernels of a suite: these, or "source" if the user
# names a tree
kernel_chosen()
{
	[ -z "${DRAY_KERNEL_SOURCE:-}" ] || set -- source
	echo "$@"
}

# kernel_pattern ARCHITECTURE SERIES: the versions of this series in Debian 12
kernel_pattern()
{
	local flavour=$1

	[ "$1" != armhf ] || flavour=armmp
	case $2 in
	6.1) printf '6\\.1\\.0-[0-9]+-%s' "$flavour" ;;
	6.1-cloud) printf '6\\.1\\.0-[0-9]+-cloud-%s' "$flavour" ;;
	6.12 | 6.12-debian) printf '6\\.12\\.[0-9]+\\+deb12-%s' "$flavour" ;;
	6.12-cloud) printf '6\\.12\\.[0-9]+\\+deb12-cloud-%s' "$flavour" ;;
	*) die "no kernel $2 for $1" ;;
	esac
}

# kernel_packages VERSION: prints the packages of a kernel; kernel_kbuild VERSION: prints
# the package of its build programs, which run on this machine
kernel_packages()
{
	printf 'linux-%s\n' "image-$1" "headers-$1" \
		"headers-$(kernel_flavourless "$1")-common"
}

kernel_kbuild()
{
	case $1 in
	6.1.0-*) echo linux-kbuild-6.1 ;;
	*) echo "linux-kbuild-$(kernel_flavourless "$1")" ;;
	esac
}

kernel_flavourless()
{
	local version=${1%-cloud-*}

	printf '%s\n' "${version%-[a-z]*}"
}

# kernel_versions ARCHITECTURE SERIES: the versions of which the lists have all packages,
# the newest first.  An image comes days after the headers of its version.
kernel_versions()
{
	local version packages host

	host=$(dpkg --print-architecture)
	foreign_names "$1" "linux-headers-$(kernel_pattern "$1" "$2")" |
		while read -r version; do
			version=${version#linux-headers-}
			mapfile -t packages < <(kernel_packages "$version")
			foreign_has "$1" "${packages[@]}" &&
				foreign_has "$host" "$(kernel_kbuild "$version")" &&
				echo "$version"
		done
}

# kernel_fetch FINAL ARCHITECTURE SERIES INTO: fetches the newest version that can be had
kernel_fetch()
{
	foreign_newest kernel_fetch_version "$1" "$2" "$4" \
		< <(kernel_versions "$2" "$3")
}

# kernel_fetch_version FINAL ARCHITECTURE INTO VERSION: headers name each other by
# absolute paths, which are set to the entry's final name
kernel_fetch_version()
{
	local final=$1 architecture=$2 into=$3 version=$4 packages header

	log_step "Fetching Debian's kernel $version"
	rm -rf "$into"
	mapfile -t packages < <(kernel_packages "$version")
	foreign_unpack "$architecture" alone "${packages[@]}" "$into" &&
		foreign_unpack "$(dpkg --print-architecture)" alone \
			"$(kernel_kbuild "$version")" "$into" || return 1
	# Its absence keeps BTF out of modules, so that pahole is not needed.
	rm -f "$into/usr/src/linux-headers-$version/vmlinux"
	packages_need kmod
	/sbin/depmod -b "$into" "$version" || return 1
	printf '%s\n' "$version" >"$into/version"
	for header in "$into"/usr/src/linux-headers-*/Makefile; do
		sed -i "s|include /usr/src/|include $final/usr/src/|" "$header"
	done
}

# kernel_make ARCHITECTURE SERIES: makes the kernel and prints its folder
kernel_make()
{
	local name=kernels/$1-$2

	if kernel_fragments "$1-$2" >/dev/null; then
		kernel_build "$1-$2"
		return
	fi
	kernel_pattern "$1" "$2" >/dev/null
	[ -z "${DRAY_UPDATE:-}" ] || kernel_is_newest "$@" ||
		rm -rf "${CACHE:?}/$name"
	cache_entry "$name" "no kernel $2 for $1 can be had" \
		kernel_fetch "$CACHE/$name" "$1" "$2"
}

# kernel_is_newest ARCHITECTURE SERIES: tells whether the kernel in the cache is the
# newest as far as the archive answers
kernel_is_newest()
{
	local version

	read -r version < <(kernel_versions "$1" "$2") || return 0
	[ "$version" = "$(cat "$CACHE/kernels/$1-$2/version" 2>/dev/null)" ]
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

# kernel_modules KERNEL NAME...: files of modules and their dependencies, in the
# order of insertion; none for built-in code
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

# Parts of linux-source: drivers of the engine and of streams, which Debian's arm64
# kernel lacks; drivers of the Zynq; and the checkers and test harness of the newest
# version.
KERNEL_SOURCES_BOARD=(
	drivers/dma/dmaengine.h drivers/dma/dmatest.c
	drivers/dma/virt-dma.c drivers/dma/virt-dma.h
	drivers/dma/xilinx/xilinx_dma.c drivers/dma/xilinx/xilinx_dpdma.c
	drivers/dma/xilinx/zynqmp_dma.c
)
KERNEL_SOURCES_ZYNQ=(
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
# Device trees of the boards in dts/overlays.
KERNEL_SOURCES_BOARDS=(
	arch/arm/boot/dts/xilinx arch/arm64/boot/dts/xilinx include/dt-bindings
	include/uapi/linux/input-event-codes.h
)
# Files to build and install tests inside a kernel's tree.
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
	local series=$1 into=${*: -1} tarball options=()
	local files=("${@:2:$#-2}")

	log_step "Taking files from linux-source-$series"
	tarball=$(kernel_tarball "$series") || return 1
	series=${tarball##*/linux-source-} series=${series%.tar.xz}
	mkdir -p "$into"
	# Reads no further than the last file, unless a directory may follow.
	printf '%s\n' "${files[@]##*/}" | grep -qv '\.' ||
		options=(--occurrence=1)
	tar -C "$into" -xJf "$tarball" --strip-components 1 "${options[@]}" \
		"${files[@]/#/linux-source-$series/}"
}

# kernel_tarball SERIES: prints the path of the packed source, which is kept for
# further kernels.  "newest" is the newest series in the backports of Debian 13.
kernel_tarball()
{
	local tarball=/usr/src/linux-source-$1.tar.xz folder

	if [ -e "$tarball" ]; then
		printf '%s\n' "$tarball"
		return
	fi
	folder=$(cache_entry "tarballs/$1" "cannot fetch linux-source-$1" \
		kernel_tarball_fetch "$1" && cache_prune tarballs/) || return 1
	printf '%s\n' "$folder"/linux-source-*.tar.xz
}

kernel_tarball_fetch()
{
	local lists=arm64

	[ "$1" != newest ] || lists=arm64@trixie
	foreign_newest kernel_tarball_unpack "$lists" "$2" \
		< <(foreign_names "$lists" "linux-source-${1/newest/[0-9.]+}")
}

# kernel_tarball_unpack LISTS INTO PACKAGE
kernel_tarball_unpack()
{
	local into=$2

	rm -rf "$into" "$into.unpacked"
	foreign_unpack "$1" alone "$3" "$into.unpacked" || return 1
	mkdir "$into"
	mv "$into.unpacked/usr/src/$3.tar.xz" "$into" || return 1
	rm -rf "$into.unpacked"
}

# kernel_source SERIES: prints the folder with these files.  6.1-board, 6.12-board and
# newest-board have the board's drivers, 6.1-zynq the Zynq's, 6.12-boards the device trees,
# 6.12-selftests the files for tests in the tree.
kernel_source()
{
	local files

	case $1 in
	*-board) files=("${KERNEL_SOURCES_BOARD[@]}") ;;
	6.1-zynq) files=("${KERNEL_SOURCES_ZYNQ[@]}") ;;
	6.12-boards) files=("${KERNEL_SOURCES_BOARDS[@]}") ;;
	6.12-selftests) files=("${KERNEL_SOURCES_SELFTESTS[@]}") ;;
	*) files=("${KERNEL_SOURCES_6_12[@]}") ;;
	esac
	cache_entry "sources/$1-$(cache_key "${files[@]}" </dev/null)" \
		"cannot take files from linux-source-$1" \
		kernel_source_fetch "${1%-[a-z]*}" "${files[@]}"
}
