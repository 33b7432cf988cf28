# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Kernel modules, built in the cache against a kernel's headers: this tree's
# modules from a copy, and board drivers from Debian's source that its kernels
# lack.  Entries are named after the kernel's version and the content.

MODULE_ARM=(ARCH=arm CROSS_COMPILE=arm-linux-gnueabihf-)

# module_kbuild KERNEL FOLDER [VARIABLE=VALUE]...: runs Kbuild
module_kbuild()
{
	local kernel=$1 folder=$2 cross=() modpost

	shift 2
	case $(kernel_version "$kernel") in
	*-arm64) cross=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-) ;;
	*-armhf) cross=("${MODULE_ARM[@]}") ;;
	*-armmp)
		modpost=$(module_modpost "$kernel") || return 1
		cross=("${MODULE_ARM[@]}" "MODPOST=$modpost")
		;;
	esac
	# Kernels with KCOV record the coverage of modules.  Needs no
	# information for debuggers.
	make -s "-j$(nproc)" -C "$(kernel_headers "$kernel")" "M=$folder" \
		"${cross[@]}" KCOV_INSTRUMENT=y KCFLAGS=-g0 "$@" modules
}

# module_modpost KERNEL: prints a modpost for 32-bit kernels; Debian's modpost on
# 64-bit machines assumes 64-bit sizes
module_modpost()
{
	local source

	source=$(kernel_source 6.1-zynq) || exit
	cache_entry "modules/modpost-$(kernel_version "$1")" \
		"modpost does not build" module_modpost_build "$1" "$source"
}

module_modpost_build()
{
	local kernel=$1 source=$2 into=$3 work=$3.work

	rm -rf "$work"
	mkdir -p "$work"
	cp -r "$source/scripts" "$work"
	ln -s "$kernel"/usr/src/linux-headers-*-common/include "$work/include"
	log_quietly make -s -C "$(kernel_headers "$kernel")" \
		"M=$work/scripts/mod" "${MODULE_ARM[@]}" modules || return 1
	mv "$work/scripts/mod/modpost" "$into"
	rm -rf "$work"
}

# module_engine KERNEL: prints the folder with zynqmp_dma.ko and dmatest.ko
module_engine()
{
	# Kernels built by kernel-build.sh include them.
	if [ -d "$1/engine" ]; then
		printf '%s\n' "$1/engine"
		return
	fi
	module_board engine "$1"
}

# module_streams KERNEL: prints the folder with xilinx_dma.ko and xilinx_dpdma.ko,
# unmodified, and virt-dma.ko if the kernel lacks that
module_streams()
{
	module_board streams "$1"
}

# module_zynq KERNEL: prints the folder with the drivers of serial port, which is a
# console too, and card slot, which Debian's armhf kernel lacks
module_zynq()
{
	module_board zynq "$1" 6.1-zynq
}

# module_board NAME KERNEL [SOURCE]: builds drivers from the kernel's source by
# module_NAME_copy
module_board()
{
	local source series=6.1

	case $(kernel_version "$2") in
	6.12.*) series=6.12 ;;
	*-newest-*) series=newest ;;
	esac
	source=$(kernel_source "${3:-$series-board}") || exit
	cache_entry "modules/$1-$(kernel_version "$2")-$(cache_tree "$source")" \
		"the drivers of the board do not build" \
		module_board_build "$1" "$2" "$source"
}

module_board_build()
{
	local kernel=$2 into=$4 build=$4/build/build

	log_step "Building drivers of the board for $(kernel_version "$kernel")"
	mkdir -p "$build"
	"module_$1_copy" "$3" "$build" || return 1
	log_quietly module_kbuild "$kernel" "$build" || return 1
	mv "$build"/*.ko "$into"
	rm -rf "$into/build"
}

module_engine_copy()
{
	cp "$1/drivers/dma/dmaengine.h" "$2/.."
	cp "$1/drivers/dma/xilinx/zynqmp_dma.c" "$1/drivers/dma/dmatest.c" "$2"
	echo 'obj-m := zynqmp_dma.o dmatest.o' >"$2/Kbuild"
}

module_streams_copy()
{
	cp "$1"/drivers/dma/{dmaengine,virt-dma}.h "$2/.."
	cp "$1"/drivers/dma/{*.h,virt-dma.c,xilinx/xilinx_{,dp}dma.c} "$2"
	# shellcheck disable=SC2016 # make expands it
	printf '%s\n' 'obj-m := xilinx_dma.o xilinx_dpdma.o' \
		'obj-$(if $(CONFIG_DMA_VIRTUAL_CHANNELS),,m) += virt-dma.o' \
		>"$2/Kbuild"
}

module_zynq_copy()
{
	cp "$1"/drivers/mmc/host/* "$1/drivers/tty/serial/xilinx_uartps.c" "$2"
	printf '%s\n' 'obj-m := xilinx_uartps.o sdhci-of-arasan.o' \
		'ccflags-y := -DCONFIG_SERIAL_XILINX_PS_UART_CONSOLE' >"$2/Kbuild"
}

# module_dray KERNEL: prints the folder with dray.ko and further modules
module_dray()
{
	cache_entry "modules/dray-$(kernel_version "$1")-$(
		cd "$TREE" && cache_tree Kbuild driver include)" \
		"dray.ko does not build" module_dray_build "$1" &&
		cache_prune modules/
}

module_dray_build()
{
	local kernel=$1 into=$2

	log_step "Building dray.ko for $(kernel_version "$kernel")"
	module_copy "$into/tree"
	log_quietly module_kbuild "$kernel" "$into/tree" || return 1
	find "$into/tree" -name '*.ko' -exec mv {} "$into" \;
	[ -e "$into/dray.ko" ] || return 1
	# Lists its symbols for other modules.
	mv "$into/tree/Module.symvers" "$into" || return 1
	rm -rf "$into/tree"
}

# module_test FOLDER KERNEL: prints the folder with the modules of tests/FOLDER
module_test()
{
	local content=("tests/$1")

	! module_test_uses_dray "$1" || content+=(Kbuild driver include)
	! grep -qF "(FPGA)" "$TREE/tests/$1/Kbuild" ||
		content+=(tools/fpga.d/control.h)
	cache_entry "modules/test-$1-$(kernel_version "$2")-$(
		cd "$TREE" && cache_tree "${content[@]}")" \
		"the modules of tests/$1 do not build" \
		module_test_build "$1" "$2" && cache_prune modules/
}

module_test_build()
{
	local kernel=$2 into=$3 dray=''

	! module_test_uses_dray "$1" || dray=$(module_dray "$kernel") || return 1
	log_step "Building modules of tests/$1 for $(kernel_version "$kernel")"
	module_test_copy "$1" "$into/build" || return 1
	log_quietly module_kbuild "$kernel" "$into/build" "DRAY=$TREE" \
		"FPGA=$TREE/tools/fpga.d" \
		"KBUILD_EXTRA_SYMBOLS=${dray:+$dray/Module.symvers}" || return 1
	mv "$into"/build/dray_*.ko "$into" || return 1
	rm -rf "$into/build"
}

# Whether one of them calls dray.ko.
module_test_uses_dray()
{
	grep -qF "(DRAY)" "$TREE/tests/$1/Kbuild"
}

# module_test_copy FOLDER INTO
module_test_copy()
{
	mkdir -p "$2"
	cp "$TREE/tests/$1"/{Kbuild,dray_*.[ch]} "$2"
}

# module_copy FOLDER: copies Kbuild's part of the tree, without built files
module_copy()
{
	mkdir -p "$1"
	(cd "$TREE" && find Kbuild driver include \( -name Kbuild -o \
		-name Makefile -o -name '*.[ch]' \) -type f -print0 |
		tar --null -c -T -) | tar -C "$1" -x
	find "$1" -name '*.mod.c' -delete
}
