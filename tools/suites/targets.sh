# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

ABOUT_TARGETS="the module on a 32-bit board, under 32-bit programs on 64-bit \
kernels, without DMA engines, on the board with Debian's 6.12, and built for the \
newest kernel; its tests inside a kernel's tree; the module as a part of a kernel"
PACKAGES_TARGETS=(
	"${PACKAGES_GUEST[@]}" "${PACKAGES_BUILD[@]}" "${PACKAGES_ARM[@]}"
	qemu-system-x86 util-linux
	gcc-i686-linux-gnu libc6-dev-i386-cross rsync
)

# Without --full.
TARGETS_PART=(info alloc mmap submit_copy leaks)

# Each call once: finds structures that differ in 32-bit programs, and differences
# between kernels.
TARGETS_CALLS=(
	info heap_info channel_info alloc mmap address sync sync_refuse structs
	list heap_map buffer_info submit_copy submit_random submit_fill
	submit_refuse submit_bounds submit_queue submit_fence cancel rights export
	export_map export_engine attach_user attach_engine attach_dmabuf attach_fences
	import leaks
)

suite_targets()
{
	local scratch=$1 zynq=() board=()

	[ "$FULL" = yes ] || zynq=("${TARGETS_PART[@]}")
	[ "$LONG" = yes ] || board=("${TARGETS_CALLS[@]}")
	# A Zynq-7000: 32-bit arm, dedicated high memory, a PL330.
	targets_selftests "$scratch/zynq" armhf zynq-6.1 \
		"the Zynq (armhf) with 6.1" zynq 6.1 "${zynq[@]}"
	[ "$FULL" = yes ] || [ -n "$PATTERN" ] || { batch_count_aside; return; }
	targets_elementary "$scratch/elementary"
	[ "$FULL" = yes ] || { batch_count_aside; return; }
	targets_selftests "$scratch/armhf-on-arm64" armhf armhf-on-arm64 \
		"32-bit programs on the board" zcu102 6.1 "${TARGETS_CALLS[@]}"
	targets_compat_pc "$scratch/i386-on-amd64"
	targets_cloud "$scratch/cloud"
	targets_selftests "$scratch/board" arm64 board-6.12 \
		"Debian's 6.12 on the board" zcu102 6.12-debian "${board[@]}"
	[ "$LONG" = no ] || targets_selftests "$scratch/zynq-6.12" armhf zynq-6.12 \
		"the Zynq (armhf) with 6.12" zynq 6.12
	[ "$LONG" = no ] || targets_64k "$scratch/64k"
	tally_run "dray.ko builds for the 6.12 for clouds" \
		targets_kernel amd64 6.12-cloud "$scratch/cloud-6.12"
	targets_newest "$scratch/newest"
	tally_run "selftests build inside a kernel's tree" \
		targets_tree "$scratch/tree"
	tally_run "dray builds as a part of a kernel" \
		targets_built_in "$scratch/built-in"
	[ "$LONG" = no ] || targets_within "$scratch/within"
	batch_count_aside
}

# targets_selftests FOLDER ARCHITECTURE PREFIX TITLE BOARD SERIES [PROGRAM...]
targets_selftests()
{
	selftests_begin "$2" "$2" "$1" || return 0
	selftests_add "$2" "$3-" "${@:7}"
	batch_aside "$4" "$5" "$6"
}

# Elementary functions on the Zynq, which fuses nothing: their bits are the bits of all
# machines.
targets_elementary()
{
	local GUEST_ROOTS=("$1/lib") GUEST_DRAY=no SELFTESTS_MODULES=()
	local sysroot libraries=$1/lib/usr/lib name

	! tally_wants zynq-elementary && ! tally_wants zynq-elementary_errors &&
		return
	tally_run "programs for 32-bit boards" build_armhf || return 0
	sysroot=$(build_armhf_sysroot) || return 1
	batch_begin "$1"
	mkdir -p "$libraries"
	cp -a "$sysroot"/usr/lib/arm-linux-gnueabihf/lib{cmocka,sleef}.so.* \
		"$libraries"
	cp -L /usr/arm-linux-gnueabihf/lib/{ld-linux-armhf.so.3,lib{c,m}.so.6,libgcc_s.so.1} \
		"$libraries"
	for name in elementary elementary_errors; do
		cp "$(build_folder armhf)/tests/unit/test_$name" "$BATCH/job"
		batch_add tap "zynq-$name" \
			"CMOCKA_MESSAGE_OUTPUT=TAP ./test_$name"
	done
	batch_aside "elementary functions on the Zynq" zynq 6.1
}

# Programs for the 32-bit PC, which aligns 64-bit members to four bytes, on the
# 64-bit kernel.
targets_compat_pc()
{
	local kernel engine

	selftests_begin i386 i386 "$1" || return 0
	kernel=$(kernel_make amd64 6.12) || return 1
	engine=$(module_test engine "$kernel") || return 1
	cp "$engine/dray_test_engine.ko" "$TREE/tools/lib/guest-unload" \
		"$BATCH/job"
	batch_add step i386-the-module-takes-an-engine \
		"guest-unload dray && insmod dray_test_engine.ko && insmod /guest/modules/dray.ko nodes=1 channels=2"
	SELFTESTS_OPTIONS=$PC_OPTIONS \
		selftests_add i386 i386-on-amd64- "${TARGETS_CALLS[@]}"
	batch_aside "32-bit programs on the PC" pc 6.12 GUEST_PARAMETERS=nodes=1
}

# Debian's kernel for clouds: no DMA engines, so no SUBMIT, and no vgem.
targets_cloud()
{
	local SELFTESTS_MODULES=(loop)

	selftests_begin amd64 "the PC" "$1" || return 0
	SELFTESTS_OPTIONS=$PC_OPTIONS SELFTESTS_WITHOUT=carveout \
		selftests_add amd64 cloud-
	batch_aside "the cloud kernel" pc 6.1-cloud GUEST_PARAMETERS=nodes=1
}

# The board with pages of 64 KiB.
targets_64k()
{
	selftests_begin arm64 "the board" "$1" || return 0
	# CMA areas consist of units of 512 MiB there; the tree's is of 64 MiB.
	batch_add status 64k-the-log-says-that-a-region-is-no-cma-area \
		"dmesg | grep -E 'cma.* is not a CMA area; the unit of one is 536870912\$'"
	batch_add status 64k-what-is-no-cma-area-is-no-heap \
		'test -d /sys/class/dray-heap/reserved && test ! -e /sys/class/dray-heap/cma'
	selftests_add arm64 64k-
	batch_aside "the board with pages of 64 KiB" zcu102 6.12-64k
}

# targets_kernel ARCHITECTURE SERIES FOLDER: a silent build for a kernel that is not
# run
targets_kernel()
{
	local kernel

	kernel=$(kernel_make "$1" "$2") || return 1
	module_copy "$3" || return 1
	targets_silent "$3" module_kbuild "$kernel" "$3"
}

# The newest kernel of Debian: built, not run.
targets_newest()
{
	local version

	version=$(release_version trixie) || version=none
	tally_run "dray.ko builds for Linux $version" \
		targets_release trixie "$1"
}

# targets_silent FOLDER COMMAND...: builds dray.ko; fails if there is any output
targets_silent()
{
	local said status=0

	# Without a vmlinux there are no types for BTF.
	said=$("${@:2}" 2>&1) || status=$?
	said=$(grep -v '^Skipping BTF generation' <<<"$said")
	[ -z "$said" ] || { echo "$said"; return 1; }
	[ "$status" -eq 0 ] && [ -e "$1/driver/dray.ko" ]
}

# targets_release RELEASE FOLDER: the same for another release of Debian
targets_release()
{
	module_copy "$2" || return 1
	targets_silent "$2" release_build "$1" "$2"
}

# targets_tree FOLDER: builds and installs the tests like the kernel's own; the
# installed list must keep their order
targets_tree()
{
	local tree=$1 source installed=$1.installed program

	source=$(kernel_source 6.12-selftests) || return 1
	cp -r "$source" "$tree" || return 1
	cp "$TREE/include/uapi/linux/dray.h" "$tree/include/uapi/linux"
	cp -r "$TREE/tests/selftests" "$tree/tools/testing/selftests/dray"
	log_quietly make -s "-j$(nproc)" -C "$tree" ARCH=x86_64 headers || return 1
	log_quietly make -s "-j$(nproc)" -C "$tree/tools/testing/selftests" \
		ARCH=x86_64 TARGETS=dray FORCE_TARGETS=1 \
		"KSFT_INSTALL_PATH=$installed" install || return 1
	sed 's/^/dray:/' "$tree/tools/testing/selftests/dray/run-order" |
		diff - <("$installed/run_kselftest.sh" --list) || return 1
	while read -r program; do
		[ -x "$installed/dray/$program" ] ||
			{ echo "no $program"; return 1; }
	done < <(cat "$installed/dray/run-order" && printf '%s\n' suspend poison)
	[ -s "$installed/dray/settings" ] && [ -s "$installed/dray/config" ]
}

# Files that differ if dray is not a module: start, name and version.
TARGETS_BUILT_IN=(driver/{face/{main,info,platform,pci,virtual},heap/account,memory/trace}.o)

# targets_built_in FOLDER
targets_built_in()
{
	local kernel said

	kernel=$(kernel_make amd64 6.12) || return 1
	module_copy "$1" || return 1
	said=$(make -s -C "$(kernel_headers "$kernel")" "M=$1" CONFIG_DRAY=y \
		"${TARGETS_BUILT_IN[@]}" 2>&1) ||
		{ echo "$said"; return 1; }
	[ -z "$said" ] || { echo "$said"; return 1; }
	# A module lacks an initcall.
	nm "$1/driver/face/main.o" | grep -q ' __initcall.*dray_init' || return 1
	# INFO cannot read the version of a module.
	said=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TREE/dkms.conf")
	grep -qF "${said:?}" "$1/driver/face/info.o"
}

# The board with dray as a part of its kernel: the node waits for the engine's driver,
# a module.
targets_within()
{
	selftests_begin arm64 "the board" "$1" || return 0
	batch_add status within-the-node-is-there-without-a-module \
		'test -c /dev/dray0 && ! grep -w ^dray /proc/modules'
	SELFTESTS_WITHOUT=module_stays selftests_add arm64 within-
	batch_aside "the board with dray in its kernel" zcu102 6.12-built-in \
		GUEST_DRAY=no
}
