# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# QEMU's educational PCI device reads and writes: bound to dray by driver_override, then
# by a driver that imports dma-bufs, then by a driver that registers a node.  The arm64
# board shows which memory is maintained.

ABOUT_IOMMU="the module behind an IOMMU, on an emulated PC with edu devices and on \
an arm64 board with a bus that is not coherent"
PACKAGES_IOMMU=("${PACKAGES_GUEST[@]}" qemu-system-x86)

# Flush of the IOMMU's cache: at once, or later as in Debian, so that a device could
# use an address for a while after its buffer.
declare -A IOMMU_STRICT=([6.1]=1 [6.12]=0)
# An engine that reaches all addresses, as dray will set it.
IOMMU_DEVICE=edu,dma_mask=0xffffffffffffffff
# An engine with 28 address bits.
IOMMU_NARROW=edu

# Tests of the kernel interface without a fast engine.
IOMMU_SELFTESTS=(info heap_info alloc mmap address sync sync_refuse import)

# Tests that maintain caches or attach memory.
IOMMU_MAINTAINED=(
	info alloc mmap address sync sync_refuse sync_overlap export export_sync
	attach_user attach_refuse attach_read_only attach_info attach_sync
	attach_dmabuf_sync import leaks
)

suite_iommu()
{
	local scratch=$1 series all=(6.12) title
	local GUEST_DEVICES=(intel-iommu "$IOMMU_DEVICE" "$IOMMU_DEVICE"
		"$IOMMU_NARROW")

	[ "$FULL" = no ] || all=(6.1 6.12)
	tally_run "selftests build for the PC" program_build selftests amd64 || return 0
	tally_run "programs for edu build" program_build iommu amd64 ||
		return 0
	for series in "${all[@]}"; do
		title="Linux $series behind an IOMMU"
		batch_begin "$scratch/$series"
		tally_run "programs for $title" iommu_programs "$series" ||
			continue
		# A round of the device lasts seven seconds.
		batch_aside "$title" pc "$series" \
			GUEST_PARAMETERS='nodes=1 watchdog_ms=30000' \
			"GUEST_APPEND=intel_iommu=on iommu.strict=${IOMMU_STRICT[$series]}"
	done
	iommu_virt "$scratch/virt"
	batch_count_aside
}

iommu_programs()
{
	local series=$1 driver=/sys/bus/pci/drivers/dray_edu kernel edu

	kernel=$(kernel_make amd64 "$series") || return 1
	edu=$(module_test iommu "$kernel") || return 1
	cp "$edu"/dray_edu{,_importer,_namesake}.ko \
		"$TREE/tools/lib/guest-unload" \
		"$(build_folder iommu-amd64)"/{given,flushed,imported,registered,halfway} \
		"$BATCH/job"

	batch_add tap "$series-given" ./given
	batch_add tap "$series-flushed" ./flushed
	batch_add tap "$series-imported" \
		'insmod dray_edu_importer.ko && ./imported'
	batch_add step "$series-a-driver-registers-its-nodes" \
		'insmod dray_edu.ko && test -c /dev/dray1 && test -c /dev/dray2'
	batch_add tap "$series-registered" ./registered
	batch_add status "$series-its-module-stays-while-its-nodes-are-there" \
		'! rmmod dray_edu 2>/dev/null && ! rmmod dray 2>/dev/null'
	SELFTESTS_NODE=/dev/dray1 SELFTESTS_OPTIONS=$PC_OPTIONS \
		selftests_add amd64 "$series-" "${IOMMU_SELFTESTS[@]}"
	# Unbinding is first: channels belong to their driver's node.
	batch_add status "$series-all-modules-unload" \
		"for device in $driver/0000:*; do echo \${device##*/} >$driver/unbind; done; guest-unload dray_edu dray_edu_importer dray"
	batch_add tap "$series-halfway" \
		'insmod dray_edu_namesake.ko && ./halfway'
}

# iommu_virt FOLDER: the board with an SMMU and a device bound to dray
iommu_virt()
{
	local bus=/sys/bus/pci GUEST_DEVICES=("$IOMMU_DEVICE")

	selftests_begin arm64 "the board" "$1" || return 0
	batch_add step virt-a-device-behind-an-smmu-is-given-to-dray \
		"for device in $bus/devices/*; do grep -qx 0x1234 \$device/vendor && echo dray >\$device/driver_override && echo \${device##*/} >$bus/drivers/dray/bind; done; test -c /dev/dray1"
	SELFTESTS_NODE=/dev/dray1 \
		selftests_add arm64 virt- "${IOMMU_MAINTAINED[@]}"
	batch_aside "devices behind an SMMU" virt 6.1
}
