# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Kernel modules, built in the cache against a kernel's headers: ours from a
# copy of the tree, and the ZDMA driver with dmatest from Debian's source,
# which Debian's arm64 kernel does not have.  What was built is found again
# by kernel version and by the content that went in.

MODULE_ARM=(ARCH=arm CROSS_COMPILE=arm-linux-gnueabihf-)

# module_kbuild KERNEL FOLDER [VARIABLE=VALUE]...: a Kbuild run
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
	# Where a kernel can tell what code has run, it does so for modules.
	make -s "-j$(nproc)" -C "$(kernel_headers "$kernel")" "M=$folder" \
		"${cross[@]}" KCOV_INSTRUMENT=y "$@" modules
}

# module_modpost KERNEL: a program that Debian's linux-kbuild for 64-bit machines
# has for 32-bit kernels too, but with the sizes of 64-bit ones
module_modpost()
{
	local kernel=$1 source entry

	source=$(kernel_source 6.1) || exit
	entry=modules/modpost-$(kernel_version "$kernel")
	cache_make "$entry" module_modpost_build "$kernel" "$source" ||
		die "modpost does not build"
	printf '%s\n' "$CACHE/$entry"
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

# module_engine KERNEL: the folder with zynqmp_dma.ko and dmatest.ko
module_engine()
{
	local kernel=$1 source entry

	# A kernel that was built here has brought them.
	if [ -d "$kernel/engine" ]; then
		printf '%s\n' "$kernel/engine"
		return
	fi
	case $(kernel_version "$kernel") in
	6.12.*) source=$(kernel_source 6.12-engine) || exit ;;
	*) source=$(kernel_source 6.1) || exit ;;
	esac
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

# module_zynq KERNEL: the folder with the serial port's driver, which is a
# console too, and the card slot's, which Debian's armhf kernel does not have
module_zynq()
{
	local kernel=$1 source entry

	source=$(kernel_source 6.1) || exit
	entry=modules/zynq-$(kernel_version "$kernel")-$(cache_tree "$source")
	cache_make "$entry" module_zynq_build "$kernel" "$source" ||
		die "the drivers of the Zynq do not build"
	printf '%s\n' "$CACHE/$entry"
}

module_zynq_build()
{
	local kernel=$1 source=$2 into=$3

	log_step "Building drivers of the Zynq for $(kernel_version "$kernel")"
	mkdir -p "$into/build"
	cp "$source"/drivers/mmc/host/* \
		"$source"/drivers/tty/serial/xilinx_uartps.c "$into/build"
	printf '%s\n' 'obj-m := xilinx_uartps.o sdhci-of-arasan.o' \
		'ccflags-y := -DCONFIG_SERIAL_XILINX_PS_UART_CONSOLE' \
		>"$into/build/Kbuild"
	log_quietly module_kbuild "$kernel" "$into/build" || return 1
	mv "$into"/build/*.ko "$into"
	rm -rf "$into/build"
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
	# What other modules need to use its symbols.
	mv "$into/tree/Module.symvers" "$into" || return 1
	rm -rf "$into/tree"
}

# module_test FOLDER KERNEL: the folder with the modules of tests/FOLDER
module_test()
{
	local entry content=("tests/$1")

	! module_test_uses_dray "$1" || content+=(Kbuild driver include)
	entry=modules/test-$1-$(kernel_version "$2")-$(
		cd "$TREE" && cache_tree "${content[@]}")
	cache_make "$entry" module_test_build "$1" "$2" ||
		die "the modules of tests/$1 do not build"
	touch "$CACHE/$entry"
	cache_prune modules/
	printf '%s\n' "$CACHE/$entry"
}

module_test_build()
{
	local kernel=$2 into=$3 dray=''

	! module_test_uses_dray "$1" || dray=$(module_dray "$kernel") || return 1
	log_step "Building modules of tests/$1 for $(kernel_version "$kernel")"
	module_test_copy "$1" "$into/build" || return 1
	log_quietly module_kbuild "$kernel" "$into/build" "DRAY=$TREE" \
		"KBUILD_EXTRA_SYMBOLS=${dray:+$dray/Module.symvers}" || return 1
	mv "$into"/build/dray_*.ko "$into" || return 1
	rm -rf "$into/build"
}

# Does one of them call dray.ko?
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

# module_copy FOLDER: what Kbuild needs of the tree, without leftovers
module_copy()
{
	mkdir -p "$1"
	(cd "$TREE" && find Kbuild driver include \( -name Kbuild -o \
		-name Makefile -o -name '*.[ch]' \) -type f -print0 |
		tar --null -c -T -) | tar -C "$1" -x
	find "$1" -name '*.mod.c' -delete
}
