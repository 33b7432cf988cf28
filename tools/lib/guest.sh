# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Runs a command in an emulated machine on a kernel of kernel.sh; returns its
# output, exit code and files and the kernel's log.  A second serial port
# carries the output, free of kernel messages; a raw disk carries the rest as an archive
# (an SD card on the board).  Boards:
#
#	zcu102	QEMU's xlnx-zcu102, arm64, dts/zcu102-emulated.dts
#	zynq	QEMU's xilinx-zynq-a9, armhf, dts/zynq-emulated.dts
#	virt	QEMU's virt with an SMMU, arm64, dts/virt-emulated.dts
#	pc	QEMU's q35, amd64; dray.ko has a virtual node

GUEST_BOARD=zcu102
GUEST_SERIES=6.1
GUEST_FILES=()		# folders copied to /job
GUEST_ROOTS=()		# folders copied to /
GUEST_MODULES=()	# further modules of the kernel, by name
declare -A GUEST_WORDS=()	# parameters of these, by name
GUEST_EXTRA=()		# module files to insert before dray.ko
GUEST_DRAY=yes		# insert dray.ko?
GUEST_PARAMETERS=''	# of dray.ko
GUEST_PYTHON=no		# Debian's Python and NumPy there? tests: with pytest, too
GUEST_UDEV=no		# Debian's udev there?
GUEST_XRT=no		# Debian's XRT, for boards, there?
GUEST_UCX=no		# Debian's UCX and RDMA there?
GUEST_RESULTS=''	# folder for the command's files in /results
GUEST_LIMIT=600		# seconds until the machine is stopped
GUEST_BOOT_LIMIT=300	# seconds until its first process must have begun
GUEST_APPEND=''		# further words of the kernel's command line
GUEST_DEVICES=()	# further devices, as QEMU's -device names them
GUEST_LINK=''		# HERE:THERE: sockets of a network card; the other guest has THERE:HERE
GUEST_DMESG=''		# file for the kernel's log
GUEST_FPGA=()		# IP behind an AXI DMA: its program and options (fpga.sh)
GUEST_FPGA_OPTIONS=()	# of the model of that AXI DMA
GUEST_SCREEN=''		# folder for pictures and sound of the display port (screen.py)
GUEST_COUNTED=no	# derive time from executed instructions?

# Messages of a kernel with a fault.
GUEST_COMPLAINT='WARNING:|BUG:|BUG |Oops|Call [Tt]race:|DMA-API:|Unable to handle'
GUEST_COMPLAINT+='|blocked for more than|rcu.*detected|refcount_t:'
GUEST_COMPLAINT+='|general protection|unreferenced object|Bad page|soft lockup'
GUEST_COMPLAINT+='|KASAN:|UBSAN:|ODEBUG: |DEBUG_LOCKS_WARN_ON|INFO: (task|trying)'
GUEST_COMPLAINT+='|possible (circular|recursive|irq|deadlock)|suspicious RCU'
GUEST_COMPLAINT+='|inconsistent lock state|lockdep is turned off|list_(add|del) corr'
GUEST_COMPLAINT+='|sleeping function called|scheduling while atomic'
GUEST_COMPLAINT+='|new suspected memory leaks'
GUEST_COMPLAINT+='|DMAR: .*fault addr'
GUEST_COMPLAINT+='|Initramfs unpacking failed'
# Messages of checkers at boot.
GUEST_HARMLESS='DMA-API: (preallocated|debugging (en|dis)abled)'
GUEST_HARMLESS+='|DMA-API: dma_debug_entry pool grown'

# Between these lines, a test provokes faults of the IOMMU.
GUEST_FAULTS='dray test: IOMMU faults are expected'
GUEST_NO_FAULTS='dray test: no IOMMU faults any more'

# The first line of guest-init on the console, and the message if it is missing.
GUEST_UP='dray guest: up'
GUEST_TWICE='the guest did not boot, and is booted once more'

# Exit codes beside the command's own.
GUEST_KERNEL_COMPLAINED=99
GUEST_TIMED_OUT=124
GUEST_DIED=125

# guest_run COMMAND [ARGUMENT...]
guest_run()
{
	local status=0

	# The subshell removes the scratch folder in any case.
	(
		scratch=$(mktemp -d)
		GUEST_EMULATOR=''
		trap '[ -z "$GUEST_EMULATOR" ] || kill "$GUEST_EMULATOR" || true
			rm -rf "$scratch"' EXIT
		emulator=0
		guest_prepare "$scratch" "$@"
		guest_boot "$scratch" || emulator=$?
		if ! grep -qaF "$GUEST_UP" "$scratch/console"; then
			tail -n 20 "$scratch/console" "$scratch/emulator" >&2
			log_bad "$GUEST_TWICE"
			emulator=0
			guest_boot "$scratch" || emulator=$?
		fi
		guest_collect "$scratch" "$emulator"
	) || status=$?
	return "$status"
}

guest_architecture()
{
	case $GUEST_BOARD in
	zcu102 | virt) echo arm64 ;;
	zynq) echo armhf ;;
	pc) echo amd64 ;;
	*) die "no board $GUEST_BOARD: choose zcu102, zynq, virt or pc" ;;
	esac
}

# guest_drivers KERNEL FOLDER: copies the modules that the guest inserts at boot,
# with their order, and modules for its command
guest_drivers()
{
	local kernel=$1 into=$2 folder module modules=()

	case $GUEST_BOARD in
	zcu102)	GUEST_MODULES+=(mmc_block sdhci-of-arasan) ;;
	# The dependencies of the slot's own driver.
	zynq)	GUEST_MODULES+=(mmc_block sdhci-pltfm cqhci) ;;
	virt | pc) GUEST_MODULES+=(virtio_pci virtio_blk) ;;
	esac
	folder=$(kernel_modules "$kernel" "${GUEST_MODULES[@]}") || exit
	# Empty for drivers that are built into the kernel.
	[ -z "$folder" ] || mapfile -t modules <<<"$folder"
	if [ "$GUEST_BOARD" = zcu102 ]; then
		folder=$(module_engine "$kernel") || exit
		modules+=("$folder/zynqmp_dma.ko")
		cp "$folder/dmatest.ko" "$into"
	fi
	if [ -n "$(guest_overlay)" ]; then
		folder=$(module_streams "$kernel") || exit
		[ ! -e "$folder/virt-dma.ko" ] ||
			modules+=("$folder/virt-dma.ko")
		modules+=("$folder/xilinx_dma.ko" "$folder/xilinx_dpdma.ko")
	fi
	# kernel-build.sh builds these drivers into its kernels.
	if [ "$GUEST_BOARD" = zynq ] && [ "$GUEST_SERIES" = 6.1 ]; then
		folder=$(module_zynq "$kernel") || exit
		modules+=("$folder/sdhci-of-arasan.ko")
		cp "$folder/xilinx_uartps.ko" "$into"
		# The port must exist before any output.
		echo xilinx_uartps.ko >"$into/first"
	fi
	modules+=("${GUEST_EXTRA[@]}")
	if [ "$GUEST_DRAY" = yes ]; then
		folder=$(module_dray "$kernel") || exit
		cp "$folder"/*.ko "$into"
		modules+=("$folder/dray.ko")
	fi
	for module in "${modules[@]}"; do
		guest_module "$module" "$into"
	done
}

# Lays out this run's part of the root file system.
guest_prepare()
{
	local scratch=$1 architecture kernel folder word

	shift
	architecture=$(guest_architecture) || exit
	kernel=$(kernel_make "$architecture" "$GUEST_SERIES") || exit
	mkdir -p "$scratch"/root/{guest/modules,job,results} "$scratch/back"
	guest_drivers "$kernel" "$scratch/root/guest/modules"
	for folder in "${GUEST_FILES[@]}"; do
		cp -aL "$folder/." "$scratch/root/job" || die "cannot copy $folder"
	done
	for folder in "${GUEST_ROOTS[@]}"; do
		cp -a "$folder/." "$scratch/root" || die "cannot copy $folder"
	done
	for word in "$@"; do
		printf "'%s' " "${word//\'/\'\\\'\'}"
	done >"$scratch/root/guest/command"
	# Without a terminal here, programs of the guest print no colours.
	[ -t 1 ] || echo 'export NO_COLOR=1' >"$scratch/root/guest/environment"
	cp "$TREE/tools/lib/dma-reports.awk" "$scratch/root/guest"
	cp "$TREE/tools/lib/guest-init" "$scratch/root/init"
	chmod +x "$scratch/root/init"
	guest_archives "$architecture" "$scratch"
	cp -L "$(kernel_image "$kernel")" "$scratch/kernel"
}

# Unpacks a module and appends it to the insertion order.
guest_module()
{
	local name=${1##*/}

	case $1 in
	*.xz) name=${name%.xz}; xz -dc "$1" >"$2/$name" ;;
	*.zst) name=${name%.zst}; zstd -qdc "$1" >"$2/$name" ;;
	*) cp "$1" "$2/$name" ;;
	esac || die "no module $1"
	if [ "$name" = dray.ko ]; then
		echo "$name $GUEST_PARAMETERS"
	else
		echo "$name ${GUEST_WORDS[${name%.ko}]:-}"
	fi >>"$2/order"
}

guest_archives()
{
	local archives=() archive parts=(base)

	[ "$GUEST_PYTHON" = no ] || parts+=("${GUEST_PYTHON/yes/python}")
	[ "$GUEST_UDEV" = no ] || parts+=(udev)
	[ "$GUEST_XRT" = no ] || parts+=(xrt)
	[ "$GUEST_UCX" = no ] || parts+=(ucx)
	for archive in "${parts[@]}"; do
		archive=$("rootfs_$archive" "$1") || exit
		archives+=("$archive")
	done
	rootfs_archive "$2/root" >"$2/run.cpio"
	cat "${archives[@]}" "$2/run.cpio" >"$2/initrd"
	rm -rf "$2/root" "$2/run.cpio"
}

# guest_machine FOLDER: sets the caller's `machine` to the emulator of the board and
# `console` to the kernel's console
guest_machine()
{
	local scratch=$1 disk=sd

	console=ttyPS0,115200
	case $GUEST_BOARD in
	zcu102)
		guest_emulator
		machine+=(-M xlnx-zcu102 -smp 2)
		;;
	zynq) machine=(qemu-system-arm -M xilinx-zynq-a9) ;;
	virt)
		machine=(qemu-system-aarch64
			-M 'virt,iommu=smmuv3,gic-version=3' -cpu cortex-a53
			-smp 2 -nic none -device 'pci-serial,chardev=out')
		console=ttyAMA0 disk=virtio
		;;
	pc)
		# With a thread per processor, QEMU 7.2 may run an instruction
		# that the kernel has just patched; the kernel then hangs or
		# dies of its own breakpoint.
		machine=(qemu-system-x86_64 -M q35 -cpu max -smp 2
			-accel "tcg,thread=single" -nic none)
		# The kernel stops if its timer does not tick in time, which
		# happens on a busy host.
		console='ttyS0,115200 no_timer_check' disk=virtio
		;;
	esac
	if [ "$GUEST_BOARD" != pc ]; then
		guest_tree "$scratch/dtb" || return
		machine+=(-dtb "$scratch/dtb")
	fi
	[ -z "$GUEST_LINK" ] || guest_link
	[ -z "$GUEST_SCREEN" ] || machine+=(
		-qmp "unix:$scratch/monitor,server=on,wait=off"
		-audiodev "wav,id=sound,timer-period=25000,path=$GUEST_SCREEN/sound.wav")
	# For the archive of the results; a card's size is a power of two.
	truncate -s 512M "$scratch/disk"
	machine+=(-m 1G -drive
		"if=$disk,file=$scratch/disk,format=raw,cache=unsafe")
}

# guest_link: adds a network card to the caller's `machine`, whose cable ends at another
# guest of this machine.  A frame is a datagram: no side waits for the other to start.
guest_link()
{
	local here=${GUEST_LINK%%:*} there=${GUEST_LINK#*:} mac

	mac=$(printf %s "$here" | md5sum | sed 's/\(..\)\(..\)\(..\).*/\1:\2:\3/')
	# Frames of 4 KiB and their headers are for RDMA.
	machine+=(
		-netdev "dgram,id=link,local.type=unix,local.path=$here,remote.type=unix,remote.path=$there"
		-device "virtio-net-pci,netdev=link,mac=52:54:00:$mac,host_mtu=4200,romfile=")
}

# guest_emulator: sets the caller's `machine` to the emulator of the ZCU102.  QEMU 10 in
# Debian 13 aborts as its display port gets a size: Debian 12's is unpacked there.
guest_emulator()
{
	local folder libraries

	machine=(qemu-system-aarch64)
	[[ $(foreign_host) = *@trixie ]] || return 0
	folder=$(foreign_set "$(dpkg --print-architecture)" closure emulator \
		qemu-system-arm) || exit
	libraries=$(echo "$folder"/{lib,usr/lib}/*-linux-gnu)
	machine=("$folder"/lib/*-linux-gnu/ld-linux-*.so.*
		--library-path "${libraries// /:}"
		"$folder/usr/bin/qemu-system-aarch64")
}

# guest_overlay: prints the name of the overlay of the board's tree, if any
guest_overlay()
{
	if [ "${#GUEST_FPGA[@]}" -gt 0 ]; then
		echo zcu102-fpga
	elif [ -n "$GUEST_SCREEN" ]; then
		echo zcu102-display
	fi
}

# guest_tree OUTPUT: makes the board's tree
guest_tree()
{
	local overlay

	if [ -n "${GUEST_TREE:-}" ]; then
		cp "$GUEST_TREE" "$1"
		return
	fi
	overlay=$(guest_overlay)
	dtc -q -@ -O dtb -o "$1" "$TREE/dts/$GUEST_BOARD-emulated.dts" || return
	# Seeds the kernel's random numbers as a boot loader does: Python waits for them.
	# shellcheck disable=SC2046
	fdtput -t x "$1" /chosen rng-seed $(od -An -v -tx4 -N64 /dev/urandom) || return
	[ -n "$overlay" ] || return 0
	dtc -q -@ -O dtb -o "$1.overlay" "$TREE/dts/overlays/$overlay.dtso" &&
		fdtoverlay -i "$1" -o "$1" "$1.overlay"
}

guest_boot()
{
	local scratch=$1 append machine=() console device status=0

	: >"$scratch/console"
	guest_machine "$scratch" || return
	append="console=$console rdinit=/init quiet loglevel=4 log_buf_len=4M"
	# A tmpfs is limited to half of the free memory and would drop files of the
	# archives.
	append+=" rootfstype=ramfs oops=panic panic=-1"
	# An emulated processor may stall for a minute.
	append+=" rcupdate.rcu_cpu_stall_timeout=300 watchdog_thresh=60"
	append+=" $GUEST_APPEND"
	# Counts a nanosecond per instruction and none for a wait: the host's load
	# has no effect, and fewer clock ticks interrupt the work.  The processors
	# then run in turns.
	[ "$GUEST_COUNTED" = no ] || machine+=(-icount 'shift=0,sleep=off')
	for device in "${GUEST_DEVICES[@]}"; do
		machine+=(-device "$device")
	done
	[ "${#GUEST_FPGA[@]}" -eq 0 ] || fpga_machine
	# QEMU would open a sound card for the board's display port.
	QEMU_AUDIO_DRV=none timeout --foreground -k 5 "$GUEST_LIMIT" "${machine[@]}" \
		-display none -monitor none -no-reboot \
		-chardev "file,id=console,path=$scratch/console" \
		-serial chardev:console -chardev stdio,id=out,signal=off \
		-serial chardev:out -kernel "$scratch/kernel" \
		-initrd "$scratch/initrd" -append "$append" \
		</dev/null 2>"$scratch/emulator" 7>&- &
	GUEST_EMULATOR=$!
	# Ends with the emulator.
	[ -z "$GUEST_SCREEN" ] ||
		/usr/bin/python3 "$TREE/tools/lib/screen.py" "$scratch/monitor" \
			"$GUEST_SCREEN" &
	guest_wait_up "$scratch/console" "$GUEST_EMULATOR" ||
		kill "$GUEST_EMULATOR"
	wait "$GUEST_EMULATOR" || status=$?
	GUEST_EMULATOR=''
	wait
	return "$status"
}

# guest_wait_up CONSOLE EMULATOR: fails if the guest runs, but did not start its
# first process in time
guest_wait_up()
{
	local end=$((SECONDS + GUEST_BOOT_LIMIT))

	until grep -qaF "$GUEST_UP" "$1"; do
		kill -0 "$2" 2>/dev/null || return 0
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.2
	done
}

# Returns the command's exit code; explains why it is missing.
guest_collect()
{
	local scratch=$1 emulator=$2 back=$1/back status

	tar -C "$back" -xf "$scratch/disk" 2>/dev/null || true
	# The messages of the model and the IP.
	[ "${#GUEST_FPGA[@]}" -eq 0 ] ||
		grep -vE '^(qemu|audio):|^Resetting rate control' \
			"$scratch/emulator" >&2 || true
	[ -z "$GUEST_DMESG" ] || cp "$back/dmesg" "$GUEST_DMESG" 2>/dev/null ||
		cp "$scratch/console" "$GUEST_DMESG"
	if [ ! -s "$back/status" ]; then
		if [ "$emulator" -eq "$GUEST_TIMED_OUT" ]; then
			log_bad "the guest was stopped after $GUEST_LIMIT s"
		else
			log_bad "the guest ended without a result ($emulator)"
		fi
		tail -n 60 "$scratch/console" "$scratch/emulator" >&2
		[ "$emulator" -eq "$GUEST_TIMED_OUT" ] || return "$GUEST_DIED"
		return "$GUEST_TIMED_OUT"
	fi
	if [ -n "$GUEST_RESULTS" ]; then
		mkdir -p "$GUEST_RESULTS"
		cp -a "$back/results/." "$GUEST_RESULTS"
	fi
	status=$(cat "$back/status")
	guest_unwanted <"$back/dmesg" >"$scratch/log"
	if grep -qaE "$GUEST_COMPLAINT" "$scratch/log"; then
		log_bad "the guest's kernel complained:"
		grep -aE -A 25 "$GUEST_COMPLAINT" "$scratch/log" |
			head -n 80 >&2
		[ "$status" -ne 0 ] || status=$GUEST_KERNEL_COMPLAINED
	fi
	return "$status"
}

# Filters harmless messages and provoked faults out of the kernel's log.
guest_unwanted()
{
	grep -avE "$GUEST_HARMLESS" | awk -f "$TREE/tools/lib/dma-reports.awk" |
		awk -v begin="$GUEST_FAULTS" -v end="$GUEST_NO_FAULTS" '
			index($0, begin) { wanted = 1 }
			index($0, end) { wanted = 0 }
			!(wanted && /DMAR: /)
		'
}
