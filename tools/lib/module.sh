# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Kernel modules, built in the cache against a kernel's headers: ours from a
# copy of the tree, and the ZDMA driver with dmatest from Debian's source,
# which Debian's arm64 kernel does not have.  What was built is found again
# by kernel version and by the content that went in.

# module_kbuild KERNEL FOLDER [VARIABLE=VALUE]...: a Kbuild run
module_kbuild()
{
	local kernel=$1 folder=$2 cross=()

	shift 2
	case $(kernel_version "$kernel") in
	*-arm64) cross=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-) ;;
	esac
	make -s -C "$(kernel_headers "$kernel")" "M=$folder" "${cross[@]}" \
		"$@" modules
}

# module_engine KERNEL: the folder with zynqmp_dma.ko and dmatest.ko
module_engine()
{
	local kernel=$1 source entry

	source=$(kernel_source 6.1) || exit
	entry=modules/engine-$(kernel_version "$kernel")-$(cache_tree "$source")
	cache_make "$entry" module_engine_build "$kernel" "$source" ||
		die "the ZDMA driver does not build"
	printf '%s\n' "$CACHE/$entry"
}

module_engine_build()
{
	local kernel=$1 source=$2 into=$3

	log_step "Building zynqmp_dma.ko for $(kernel_version "$kernel")"
	mkdir -p "$into/xilinx"
	cp "$source/drivers/dma/dmaengine.h" "$into"
	cp "$source/drivers/dma/xilinx/zynqmp_dma.c" \
		"$source/drivers/dma/dmatest.c" "$into/xilinx"
	echo 'obj-m := zynqmp_dma.o dmatest.o' >"$into/xilinx/Kbuild"
	log_quietly module_kbuild "$kernel" "$into/xilinx" || return 1
	mv "$into"/xilinx/*.ko "$into"
	rm -rf "$into/xilinx"
}

# module_dray KERNEL: the folder with dray.ko and the tree's other modules
module_dray()
{
	local kernel=$1 entry

	entry=modules/dray-$(kernel_version "$kernel")-$(
		cd "$TREE" && cache_tree Kbuild driver include)
	cache_make "$entry" module_dray_build "$kernel" ||
		die "dray.ko does not build"
	touch "$CACHE/$entry"
	cache_prune modules/
	printf '%s\n' "$CACHE/$entry"
}

module_dray_build()
{
	local kernel=$1 into=$2

	log_step "Building dray.ko for $(kernel_version "$kernel")"
	module_copy "$into/tree"
	log_quietly module_kbuild "$kernel" "$into/tree" || return 1
	find "$into/tree" -name '*.ko' -exec mv {} "$into" \;
	[ -e "$into/dray.ko" ] || return 1
	rm -rf "$into/tree"
}

# module_test_engine KERNEL: the folder with dray_test_engine.ko
module_test_engine()
{
	local kernel=$1 entry

	entry=modules/test-engine-$(kernel_version "$kernel")-$(
		cd "$TREE" && cache_tree tests/engine)
	cache_make "$entry" module_test_engine_build "$kernel" ||
		die "the test engine does not build"
	touch "$CACHE/$entry"
	cache_prune modules/
	printf '%s\n' "$CACHE/$entry"
}

module_test_engine_build()
{
	local kernel=$1 into=$2

	log_step "Building dray_test_engine.ko for $(kernel_version "$kernel")"
	mkdir -p "$into/build"
	cp "$TREE"/tests/engine/{Kbuild,dray_test_engine.c} "$into/build"
	log_quietly module_kbuild "$kernel" "$into/build" || return 1
	mv "$into/build/dray_test_engine.ko" "$into" || return 1
	rm -rf "$into/build"
}

# module_copy FOLDER: what Kbuild needs of the tree, without leftovers
module_copy()
{
	mkdir -p "$1"
	(cd "$TREE" && find Kbuild driver include \( -name Kbuild -o \
		-name Makefile -o -name '*.[ch]' \) -type f -print0 |
		tar --null -c -T -) | tar -C "$1" -x
	find "$1" -name '*.mod.c' -delete
}
