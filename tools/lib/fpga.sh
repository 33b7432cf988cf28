# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# The emulated ZCU102 with an AXI DMA and the user's IP (tools/fpga.d).  The model of
# the AXI DMA starts QEMU and the IP and ends with QEMU: neither leaves a process or a
# file behind.

PACKAGES_FPGA=(gcc libc6-dev meson ninja-build pkg-config)
PACKAGES_VERILOG=(g++ make verilator)

# fpga_build: builds the model and the examples
fpga_build()
{
	local BUILD_TARGETS=(fpga)

	log_step "Building the model of the AXI DMA"
	build_make fpga -Dbuildtype=release -Dpython=disabled \
		-Ddmactl=disabled -Dreference=disabled -Dtests=disabled
}

# fpga_folder: the folder with the built programs
fpga_folder()
{
	printf '%s/tools/fpga.d\n' "$(build_folder fpga)"
}

# fpga_take PROGRAM [OPTION]...: sets GUEST_FPGA to the IP: an example by its name, or
# a file, which is C, Python or Verilog source or a program that speaks stream.h
fpga_take()
{
	local program=$1 source=$TREE/tools/fpga.d python

	shift
	python=(env "PYTHONPATH=$source" PYTHONDONTWRITEBYTECODE=1
		/usr/bin/python3)
	case $program in
	*/* | *.*)
		# The name of an example's source, unless a file here is so called.
		[ -f "$program" ] || program=$source/examples/$program
		[ -f "$program" ] || die "no file ${program##*/examples/}"
		;;
	*)
		[ ! -e "$source/examples/$program.py" ] ||
			program=$source/examples/$program.py
		[ ! -e "$source/examples/$program.c" ] ||
			program=$(fpga_folder)/$program
		;;
	esac
	case $program in
	*.c) program=$(fpga_compile "$program") || return ;;
	*.py) set -- "$program" "$@"; GUEST_FPGA=("${python[@]}" "$@"); return ;;
	# Its options are parameters of the module, and set already.
	*.v | *.sv) program=$(fpga_verilate "$program" "$@") || return; set -- ;;
	esac
	[ -x "$program" ] ||
		die "no IP $program: choose $(fpga_examples) or name a file"
	GUEST_FPGA=("$(realpath "$program")" "$@")
}

# fpga_then PROGRAM [OPTION]...: the IP that replaces the IP of fpga_take when the board
# asks for it
fpga_then()
{
	local first=("${GUEST_FPGA[@]}")

	fpga_take "$@" || return
	GUEST_FPGA=("${first[@]}" + "${GUEST_FPGA[@]}")
}

# fpga_examples: their names, in a line
fpga_examples()
{
	find "$TREE/tools/fpga.d/examples" -type f -printf '%f\n' |
		sed 's/\..*//' | LC_ALL=C sort -u | paste -sd ' ' | sed 's/ /, /g'
}

# fpga_compile FILE.c: compiles an IP and prints its path
fpga_compile()
{
	local into name

	into=$(fpga_folder)/own
	name=${1##*/}
	mkdir -p "$into"
	log_quietly gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall \
		-I"$TREE/tools/fpga.d" "$1" "$TREE/tools/fpga.d/ip.c" -lm \
		-o "$into/${name%.c}" || die "$1 does not compile"
	printf '%s\n' "$into/${name%.c}"
}

# fpga_verilate FILE.v [--PARAMETER VALUE]...: compiles an IP and prints its path
fpga_verilate()
{
	local into name=${1##*/}

	packages_need "${PACKAGES_VERILOG[@]}"
	into=$(fpga_folder)/own/$name-$(cache_key "$(realpath "$1")" "${@:2}" \
		</dev/null)
	log_step "Compiling $name"
	mkdir -p "$into"
	flock "$into" "$TREE/tools/fpga.d/verilate" "$1" "$into" "${@:2}" || exit 125
	printf '%s\n' "$into/ip"
}

# fpga_machine: puts the model in front of the caller's `machine`
fpga_machine()
{
	machine=("$(fpga_folder)/fpga-model" "${GUEST_FPGA_OPTIONS[@]}"
		"${GUEST_FPGA[@]}" -- "${machine[@]}")
}
