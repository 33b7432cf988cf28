# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite targets: the module on other machines than those of the suites pc and
# board, one function for each: a 32-bit board, 32-bit programs on 64-bit
# kernels, a kernel without DMA engines, the board with Debian's 6.12 and with
# pages of 64 KiB, the newest kernel, a kernel's own tree, and dray as a part of a
# kernel, compiled and, on the board, run.

PACKAGES_TARGETS=(
	"${PACKAGES_GUEST[@]}" "${PACKAGES_ARM[@]}" qemu-system-x86 util-linux
	gcc-i686-linux-gnu libc6-dev-i386-cross rsync
)

# What runs without --full.
TARGETS_PART=(info alloc mmap submit_copy leaks)

# Each call once: what a structure could get wrong in a 32-bit program, and another
# kernel anywhere.
TARGETS_CALLS=(
	info heap_info channel_info alloc mmap address sync sync_refuse structs
	list buffer_info submit_copy submit_random submit_fill submit_refuse
	submit_bounds submit_queue submit_fence cancel rights export export_map
	export_engine attach_user attach_engine attach_dmabuf attach_fences
	import leaks
)

suite_targets()
{
	local scratch=$1

	targets_zynq "$scratch/zynq" 6.1
	[ "$FULL" = yes ] || { batch_count_aside; return; }
	targets_compat_board "$scratch/armhf-on-arm64"
	targets_compat_pc "$scratch/i386-on-amd64"
	targets_cloud "$scratch/cloud"
	targets_board "$scratch/board"
	[ "$LONG" = no ] || targets_zynq "$scratch/zynq-6.12" 6.12
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

# targets_boot TITLE BOARD SERIES [VARIABLE=VALUE]...: what of guest.sh differs
# from that
targets_boot()
{
	local title=$1

	GUEST_MODULES=("${SELFTESTS_MODULES[@]}")
	GUEST_BOARD=$2 GUEST_SERIES=$3 GUEST_LIMIT=3000
	shift 3
	[ $# -eq 0 ] || declare -g "$@"
	batch_boot "$title"
}

# targets_aside TITLE ...: the same, beside what follows
targets_aside()
{
	batch_aside "$1" targets_boot "$@"
}

# targets_zynq FOLDER SERIES: a Zynq-7000: 32-bit arm, dedicated memory that is
# high memory, a PL330
targets_zynq()
{
	local chosen=()

	[ "$FULL" = yes ] || chosen=("${TARGETS_PART[@]}")
	tally_run "selftests build for armhf" selftests_build armhf || return 0
	batch_begin "$1"
	selftests_add armhf "zynq-$2-" "${chosen[@]}"
	targets_aside "the Zynq (armhf) with $2" zynq "$2"
}

# Programs for 32-bit arm on the 64-bit kernel of the board.
targets_compat_board()
{
	batch_begin "$1"
	selftests_add armhf armhf-on-arm64- "${TARGETS_CALLS[@]}"
	targets_aside "32-bit programs on the board" zcu102 6.1
}

# Programs for the 32-bit PC, where a structure's 64-bit members are aligned to
# four bytes, on the 64-bit kernel.
targets_compat_pc()
{
	local modules=/guest/modules kernel engine

	tally_run "selftests build for i386" selftests_build i386 || return 0
	batch_begin "$1"
	kernel=$(kernel_make amd64 6.12) || return 1
	engine=$(module_test engine "$kernel") || return 1
	cp "$engine/dray_test_engine.ko" "$TREE/tools/lib/guest-unload" \
		"$BATCH/job"
	batch_add step i386-the-module-takes-an-engine \
		"guest-unload dray && insmod dray_test_engine.ko && insmod $modules/dray.ko nodes=1 channels=2"
	SELFTESTS_OPTIONS=$PC_OPTIONS
	selftests_add i386 i386-on-amd64- "${TARGETS_CALLS[@]}"
	SELFTESTS_OPTIONS=''
	targets_aside "32-bit programs on the PC" pc 6.12 \
		GUEST_PARAMETERS=nodes=1
}

# Debian's kernel for clouds: no DMA engines, so no SUBMIT.
targets_cloud()
{
	tally_run "selftests build for the PC" selftests_build amd64 || return 0
	batch_begin "$1"
	SELFTESTS_OPTIONS=$PC_OPTIONS SELFTESTS_WITHOUT=carveout
	selftests_add amd64 cloud-
	SELFTESTS_OPTIONS='' SELFTESTS_WITHOUT=''
	batch_aside "the cloud kernel" targets_cloud_boot
}

# There is no vgem either.
targets_cloud_boot()
{
	SELFTESTS_MODULES=(loop)
	targets_boot "the cloud kernel" pc 6.1-cloud GUEST_PARAMETERS=nodes=1
}

# The board with the other kernel that Debian has for it.
targets_board()
{
	local chosen=()

	[ "$LONG" = yes ] || chosen=("${TARGETS_CALLS[@]}")
	tally_run "selftests build for the board" selftests_build arm64 ||
		return 0
	batch_begin "$1"
	selftests_add arm64 board-6.12- "${chosen[@]}"
	targets_aside "Debian's 6.12 on the board" zcu102 6.12-debian
}

# The board with pages of 64 KiB.
targets_64k()
{
	tally_run "selftests build for the board" selftests_build arm64 ||
		return 0
	batch_begin "$1"
	# There a CMA area is in units of 512 MiB, and the tree's has 64.
	batch_add status 64k-the-log-says-that-a-region-is-no-cma-area \
		"dmesg | grep -E 'cma.* is no CMA area; one is in units of 536870912\$'"
	batch_add status 64k-what-is-no-cma-area-is-no-heap \
		'test -d /sys/class/dray-heap/reserved && test ! -e /sys/class/dray-heap/cma'
	selftests_add arm64 64k-
	targets_aside "the board with pages of 64 KiB" zcu102 6.12-64k
}

# targets_kernel ARCHITECTURE SERIES FOLDER: a build in which nothing is said,
# for a kernel that is not run
targets_kernel()
{
	local kernel said

	kernel=$(kernel_make "$1" "$2") || return 1
	module_copy "$3" || return 1
	said=$(module_kbuild "$kernel" "$3" 2>&1) || { echo "$said"; return 1; }
	# There is no vmlinux to take types from.
	said=$(grep -v '^Skipping BTF generation' <<<"$said")
	[ -z "$said" ] || { echo "$said"; return 1; }
	[ -e "$3/driver/dray.ko" ]
}

# The newest kernel that Debian has: built, not run.
targets_newest()
{
	local version

	version=$(release_version trixie) || version=none
	tally_run "dray.ko builds for Linux $version" \
		targets_release trixie "$1"
}

# targets_release RELEASE FOLDER: a build in which nothing is said
targets_release()
{
	local said

	module_copy "$2" || return 1
	said=$(release_build "$1" "$2" 2>&1) || { echo "$said"; return 1; }
	[ -z "$said" ] || { echo "$said"; return 1; }
	[ -e "$2/driver/dray.ko" ]
}

# targets_tree FOLDER: the tests are built and installed as its own are, and
# what is installed names them, in their order
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

# What differs where dray is no module: how it begins and how it is known.
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
	# A module has none of these.
	nm "$1/driver/face/main.o" | grep -q ' __initcall.*dray_init' || return 1
	# Nor is there one that INFO could ask for its version.
	said=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TREE/dkms.conf")
	grep -qF "${said:?}" "$1/driver/face/info.o"
}

# The board with dray as a part of its kernel: the node waits for the engine, whose
# driver is a module.
targets_within()
{
	tally_run "selftests build for the board" selftests_build arm64 ||
		return 0
	batch_begin "$1"
	batch_add status within-the-node-is-there-without-a-module \
		'test -c /dev/dray0 && ! grep -w ^dray /proc/modules'
	SELFTESTS_WITHOUT=module_stays
	selftests_add arm64 within-
	SELFTESTS_WITHOUT=''
	targets_aside "the board with dray in its kernel" zcu102 6.12-built-in \
		GUEST_DRAY=no
}
