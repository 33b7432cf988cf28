# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite works: the parts of the kernel that take dray's mappings and other drivers'.
# The emulated ZCU102's kernel has a camera, an RDMA card and a graphics device in
# software.  VFIO needs an IOMMU: QEMU's virt board has dray's heaps, the PC's kernel
# has other drivers'.

ABOUT_BENCH_WORKS='consumers of each memory: O_DIRECT, io_uring, V4L2, RDMA and others'
PACKAGES_BENCH_WORKS=("${PACKAGES_GUEST[@]}" qemu-system-x86)
DOCUMENT_BENCH_WORKS=docs/what-works.md

bench_works()
{
	local samples=$1 scratch=$2

	# Subshells keep settings to their guest.
	(works_board "$scratch/board") && (works_virt "$scratch/virt") &&
		(works_pc "$scratch/pc") || return 1
	works_report samples "$scratch"/{board,virt,pc} >"$samples" &&
		works_report table "$scratch"/{board,virt,pc}
}

works_board()
{
	GUEST_MODULES=(loop vgem vivid crc32_generic rdma_rxe)
	# Two cameras, the second for contiguous memory.
	GUEST_WORDS+=([vivid]='n_devs=2 node_types=0x1,0x1 allocators=0,1')
	works_run zcu102 arm64 6.12 'emulated ZCU102' "$1"
}

works_virt()
{
	works_vfio
	works_run virt arm64 6.1 'virt board of QEMU with an SMMU' "$1" -i
}

works_pc()
{
	works_vfio
	GUEST_DEVICES=(intel-iommu "${GUEST_DEVICES[@]}")
	GUEST_APPEND=intel_iommu=on GUEST_PARAMETERS=nodes=1
	works_run pc amd64 6.12 'emulated PC with an IOMMU' "$1" -i
}

# A device for VFIO.
works_vfio()
{
	GUEST_MODULES=(vfio_iommu_type1 vfio-pci)
	GUEST_WORDS+=([vfio-pci]='ids=1234:11e8')
	GUEST_DEVICES=('edu,dma_mask=0xffffffffffffffff')
}

# works_run BOARD ARCHITECTURE SERIES TARGET CELLS [OPTION]...
works_run()
{
	local architecture=$2 target=$4 cells=$5 kernel status=0

	GUEST_BOARD=$1 GUEST_SERIES=$3 GUEST_LIMIT=1200
	shift 5
	kernel=$(kernel_make "$architecture" "$GUEST_SERIES") || return 1
	log_quietly program_build bench/works "$architecture" || return 1
	GUEST_FILES=("$(build_folder "bench/works-$architecture")")
	log_note "trying every cell on the $target"
	printf 'target\t%s, Linux %s\n' "$target" \
		"$(kernel_version "$kernel")" >"$cells"
	guest_run sh -c 'echo 4 >/proc/sys/vm/nr_hugepages && ./works "$@"' \
		works "$@" >>"$cells" || status=$?
	[ "$status" -eq 0 ] || tail -n 20 "$cells" >&2
	return "$status"
}

# write_works PAGE SCRATCH
write_works()
{
	works_report page "$1" "$2.json" "$2"/{board,virt,pc}
}

works_report()
{
	/usr/bin/python3 -B "$TREE/tools/benches/works.py" "$@"
}
