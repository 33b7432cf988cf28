# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite works: which parts of the kernel take dray's mappings, and which take
# those of others, on the emulated ZCU102, whose kernel has a camera, an RDMA
# card and a graphics device in software.

# shellcheck disable=SC2034 # tools/bench uses them
{
ABOUT_BENCH_WORKS='what takes which memory: O_DIRECT, io_uring, V4L2, RDMA and others'
PACKAGES_BENCH_WORKS=("${PACKAGES_GUEST[@]}")
DOCUMENT_BENCH_WORKS=docs/what-works.md
}

BENCH_WORKS_SERIES=6.12

bench_works()
{
	local samples=$1 scratch=$2 kernel status=0

	kernel=$(kernel_make arm64 "$BENCH_WORKS_SERIES") || return 1
	log_quietly program_build bench/works arm64 || return 1
	(
		GUEST_BOARD=zcu102 GUEST_SERIES=$BENCH_WORKS_SERIES
		GUEST_FILES=("$(build_folder bench/works-arm64)")
		GUEST_MODULES=(loop vgem vivid crc32_generic rdma_rxe)
		# Two cameras, the second for contiguous memory.
		GUEST_WORDS+=([vivid]='n_devs=2 node_types=0x1,0x1 allocators=0,1')
		GUEST_LIMIT=1200
		guest_run sh -c 'echo 4 >/proc/sys/vm/nr_hugepages && ./works'
	) >"$scratch/cells" || status=$?
	if [ "$status" -ne 0 ]; then
		tail -n 20 "$scratch/cells" >&2
		return 1
	fi
	printf 'target\temulated ZCU102, Linux %s\n' \
		"$(kernel_version "$kernel")" >"$samples"
	works_report samples "$scratch/cells" >>"$samples" &&
		works_report table "$scratch/cells"
}

# write_works PAGE SCRATCH
write_works()
{
	works_report page "$2/cells" "$1" "$2.json"
}

works_report()
{
	/usr/bin/python3 -B "$TREE/tools/benches/works.py" "$@"
}
