# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite iommu: the module on an emulated PC whose devices are behind an IOMMU,
# with QEMU's educational PCI device as the hardware that reads and writes:
# first given to dray by driver_override, then with a driver that imports dma-bufs,
# then with one that registers a node.  Then on an arm64 board whose bus is not
# coherent, where it is about which memory is maintained.

PACKAGES_IOMMU=("${PACKAGES_GUEST[@]}" qemu-system-x86)

# Whether the IOMMU's cache is flushed at once or, as Debian has it, when it
# pays: then a device could use an address for a while after its buffer.
IOMMU_WORDS='intel_iommu=on'
declare -A IOMMU_STRICT=([6.1]=1 [6.12]=0)
# The engine of the device can put out any address, as dray will tell it to.
IOMMU_DEVICE=edu,dma_mask=0xffffffffffffffff
# Except of this one: 28 bits, the rest is cut off.
IOMMU_NARROW=edu

# The tests of the kernel interface that need no fast engine.
IOMMU_SELFTESTS=(info heap_info alloc address sync mmap import sync_refuse)

# What maintains caches, or attaches memory, there.
IOMMU_MAINTAINED=(
	info alloc mmap address sync sync_refuse sync_overlap attach_user
	attach_refuse attach_read_only attach_sync attach_dmabuf_sync attach_info
	export export_sync import leaks
)

suite_iommu()
{
	local scratch=$1 series all=(6.12)

	[ "$FULL" = no ] || all=(6.1 6.12)
	tally_run "selftests build for the PC" selftests_build amd64 || return 0
	tally_run "programs for edu build" program_build iommu amd64 ||
		return 0
	for series in "${all[@]}"; do
		batch_begin "$scratch/$series"
		tally_run "programs for Linux $series behind an IOMMU" \
			iommu_programs "$series" || continue
		batch_aside "Linux $series behind an IOMMU" iommu_boot "$series"
	done
	iommu_virt "$scratch/virt"
	batch_count_aside
}

iommu_boot()
{
	GUEST_MODULES=("${SELFTESTS_MODULES[@]}")
	GUEST_BOARD=pc GUEST_SERIES=$1 GUEST_LIMIT=3600
	# A round of the device takes seven seconds.
	GUEST_PARAMETERS='nodes=1 watchdog_ms=30000'
	GUEST_APPEND="$IOMMU_WORDS iommu.strict=${IOMMU_STRICT[$1]}"
	GUEST_DEVICES=(intel-iommu "$IOMMU_DEVICE" "$IOMMU_DEVICE"
		"$IOMMU_NARROW")
	batch_boot "Linux $1 behind an IOMMU"
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
	SELFTESTS_NODE=/dev/dray1 SELFTESTS_OPTIONS=$PC_OPTIONS
	selftests_add amd64 "$series-" "${IOMMU_SELFTESTS[@]}"
	SELFTESTS_NODE='' SELFTESTS_OPTIONS=''
	# A channel belongs to its own driver's node, so unbinding comes first.
	batch_add status "$series-all-modules-unload" \
		"for device in $driver/0000:*; do echo \${device##*/} >$driver/unbind; done; guest-unload dray_edu dray_edu_importer dray"
	batch_add tap "$series-halfway" \
		'insmod dray_edu_namesake.ko && ./halfway'
}

# iommu_virt FOLDER: the board with an SMMU, whose device is given to dray
iommu_virt()
{
	local bus=/sys/bus/pci

	tally_run "selftests build for the board" selftests_build arm64 ||
		return 0
	batch_begin "$1"
	batch_add step virt-a-device-behind-an-smmu-is-given-to-dray \
		"for device in $bus/devices/*; do grep -qx 0x1234 \$device/vendor && echo dray >\$device/driver_override && echo \${device##*/} >$bus/drivers/dray/bind; done; test -c /dev/dray1"
	SELFTESTS_NODE=/dev/dray1
	selftests_add arm64 virt- "${IOMMU_MAINTAINED[@]}"
	SELFTESTS_NODE=''
	batch_aside "devices behind an SMMU" iommu_virt_boot
}

iommu_virt_boot()
{
	GUEST_MODULES=("${SELFTESTS_MODULES[@]}")
	GUEST_BOARD=virt GUEST_LIMIT=3600
	GUEST_DEVICES=("$IOMMU_DEVICE")
	batch_boot "devices behind an SMMU"
}
