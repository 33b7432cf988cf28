# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Checks device trees: the emulated boards', and dts/overlays applied to the trees
# of Linux 6.12, or to QEMU's own for Versal, which Linux 6.12 lacks.  dtschema
# validates each against the binding; trees.py checks references, which a schema
# cannot.

PACKAGES_TREES=(
	cpp device-tree-compiler python3 python3-jsonschema python3-libfdt
	python3-rfc3987 python3-ruamel.yaml qemu-system-arm
)

# trees_compile SOURCE OUTPUT: compiles like Linux
trees_compile()
{
	cpp -nostdinc -undef -D__DTS__ -x assembler-with-cpp \
		-I "$TREES_LINUX/include" "$TREES_LINUX/$1" "$2.cpp" &&
		dtc -q -@ -I dts -O dtb -o "$2" "$2.cpp"
}

# trees_dtc OUTPUT SOURCE [OPTION]...: compiles; fails if there is a warning
trees_dtc()
{
	local said

	said=$(dtc -@ "${@:3}" -I dts -O dtb -o "$1" "$2" 2>&1) &&
		[ -z "$said" ] && return
	printf '%s\n' "$said"
	return 1
}

# trees_base BOARD OUTPUT: makes the stock tree of a board
trees_base()
{
	local arm=arch/arm/boot/dts/xilinx arm64=arch/arm64/boot/dts/xilinx

	case $1 in
	zcu102) trees_compile $arm64/zynqmp-zcu102-rev1.0.dts "$2" ;;
	zc702) trees_compile $arm/zynq-zc702.dts "$2" ;;
	kv260)
		trees_compile $arm64/zynqmp-smk-k26-revA.dts "$2.module" &&
			trees_compile $arm64/zynqmp-sck-kv-g-revB.dtso \
				"$2.carrier" &&
			fdtoverlay -i "$2.module" -o "$2" "$2.carrier"
		;;
	# The tree of the emulated board is whole.
	zcu102-fpga | zcu102-display) trees_dtc "$2" "$TREE/dts/zcu102-emulated.dts" ;;
	# They come behind the board's own overlay.
	*-axidma)
		trees_overlay "$TREE/dts/overlays/${1%-axidma}.dtso" "${2%/*}" &&
			cp "${2%/*}/${1%-axidma}.dtb" "$2"
		;;
	versal)
		QEMU_AUDIO_DRV=none qemu-system-aarch64 -display none -m 2G \
			-M "xlnx-versal-virt,dumpdtb=$2"
		;;
	*) echo "no stock tree for dts/overlays/$1.dtso"; return 1 ;;
	esac
}

# trees_overlay FILE.dtso FOLDER: compiles it and applies it to the stock tree
trees_overlay()
{
	local board=${1##*/}

	board=${board%.dtso}
	trees_base "$board" "$2/$board.base" || return 1
	# An overlay repeats root's cells: the compiler does not know the tree's interrupt
	# controller.  An overlay may add registers to a node without an address in its name.
	trees_dtc "$2/$board.dtbo" "$1" -W no-avoid_unnecessary_addr_size \
		-W no-interrupts_property -W no-unit_address_vs_reg &&
		fdtoverlay -i "$2/$board.base" -o "$2/$board.dtb" \
			"$2/$board.dtbo"
}

# trees_valid FOLDER FILE.dtb...: places the binding in FOLDER as its $id demands
trees_valid()
{
	local folder=$1 said schema

	shift
	mkdir -p "$folder/dma"
	cp "$TREE/dts/dray,node.yaml" "$folder/dma" || return 1
	# Unpacked, as Debian 13 has it among its backports only.
	schema=$(foreign_set "$(foreign_host)" alone dt-schema dt-schema)/usr ||
		return 1
	local -x PATH=$schema/bin:$PATH PYTHONPATH=$schema/lib/python3/dist-packages
	# Neither program's exit code reports failures.
	said=$(cd "$folder" && dt-doc-validate -u "$folder" \
		dma/dray,node.yaml 2>&1)
	said+=$(dt-validate -l dray,node.yaml -s "$folder" "$@" 2>&1)
	[ -z "$said" ] || { printf '%s\n' "$said"; return 1; }
	/usr/bin/python3 "$TREE/tools/lib/trees.py" "$@"
}

# trees_check FOLDER FILE.dts|FILE.dtso...
trees_check()
{
	local folder=$1 file name trees=()

	shift
	mkdir -p "$folder"
	TREES_LINUX=$(kernel_source 6.12-boards) || return 1
	for file in "$@"; do
		name=${file##*/}
		case $file in
		*.dtso) trees_overlay "$file" "$folder" || return 1 ;;
		*) trees_dtc "$folder/${name%.dts}.dtb" "$file" || return 1 ;;
		esac
		trees+=("$folder/${name%.*}.dtb")
	done
	trees_valid "$folder/binding" "${trees[@]}"
}
