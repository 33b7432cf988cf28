# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Suite ufunc: universal functions of dray and of NumPy 2 on the same arrays, from C and
# from Python, with the vectors of this machine and with AVX2's; calls on queues beside
# others; and the instructions of elementary functions on the emulated ZCU102.

ABOUT_BENCH_UFUNC="universal functions of dray and of NumPy 2, from C and from Python: calls, \
layouts, reductions; instructions on the board"
PACKAGES_BENCH_UFUNC=("${PACKAGES_BENCH_ARRAY[@]}" "${PACKAGES_GUEST[@]}")
DOCUMENT_BENCH_UFUNC=docs/ufuncs.md

BENCH_UFUNC_SERIES=6.12
# Features of the C library and of NumPy that are longer than AVX2.
BENCH_UFUNC_AVX2=(
	GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F
	'NPY_DISABLE_CPU_FEATURES=X86_V4 AVX512_ICL AVX512_SPR'
)

bench_ufunc()
{
	local samples=$1 scratch=$2 packages folder kernel rows=()

	packages=$(pypi_set numpy "$TREE/tests/numpy/requirements.txt") &&
		build_array "$packages" &&
		ufunc_board "$scratch" || return 1
	kernel=$(kernel_make arm64 "$BENCH_UFUNC_SERIES") || return 1
	folder=$(build_folder array)
	[ "$LONG" = no ] || rows=(--long)
	log_note "measuring: eight minutes, and twelve with --long"
	printf 'target\tthis machine, Linux %s; emulated ZCU102, Linux %s (NumPy %s)\n' \
		"$(uname -r)" "$(kernel_version "$kernel")" \
		"$(sed -n 's/^numpy==//p' "$TREE/tests/numpy/requirements.txt")" \
		>"$samples"
	packages=$packages:$folder/tests/bench/array:$folder/userspace/python
	rows=(/usr/bin/python3 -B "$TREE/tools/benches/ufunc_rows.py" "${rows[@]}")
	if grep -qw avx512f /proc/cpuinfo; then
		env "PYTHONPATH=$packages" "${rows[@]}" >>"$samples" &&
			env "PYTHONPATH=$packages" "${BENCH_UFUNC_AVX2[@]}" \
				"${rows[@]}" --avx2 >>"$samples" || return 1
	else
		env "PYTHONPATH=$packages" "${rows[@]}" --bound >>"$samples" ||
			return 1
	fi
	"$folder/tests/bench/executor/calls-in-flight" >"$scratch/flight" &&
		/usr/bin/python3 -B "$TREE/tools/benches/calls.py" "$scratch/flight" \
			>>"$samples" || return 1
	cat "$scratch/guest" >>"$samples"
}

# ufunc_board SCRATCH: writes the board's samples to SCRATCH/guest
ufunc_board()
{
	local scratch=$1 packages

	packages=$(board_pypi_set numpy "$TREE/tests/numpy/requirements.txt") &&
		build_board_numpy "$packages" || return 1
	board_copy_numpy "$packages" "$scratch/job"
	cp "$TREE"/tools/benches/{alloc,array_layouts,ufunc_board,ufunc_calls}.py \
		"$scratch/job"
	log_note "measuring in the guest"
	# A subshell keeps these settings to this guest.
	(
		GUEST_BOARD=zcu102 GUEST_SERIES=$BENCH_UFUNC_SERIES
		GUEST_FILES=("$scratch/job") GUEST_LIMIT=1800
		GUEST_PYTHON=yes GUEST_COUNTED=yes GUEST_APPEND=maxcpus=1
		guest_run env LD_LIBRARY_PATH=numpy2 PYTHONPATH=numpy2 \
			DRAY_BACKEND=host python3 -B ufunc_board.py
	) >"$scratch/guest" || {
		tail -n 20 "$scratch/guest" >&2
		return 1
	}
}
