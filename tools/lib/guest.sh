# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Runs a command in an emulated machine, on a kernel that kernel.sh names, and
# brings its output, its exit code, files and the kernel's log back.  The
# command's output comes over a serial port of its own, so that no kernel
# message gets between its lines; the rest comes as one archive on a disk that
# has no file system (an SD card on the board).  Boards:
#
#	zcu102	QEMU's xlnx-zcu102, arm64, dts/zcu102-emulated.dts
#	zynq	QEMU's xilinx-zynq-a9, armhf, dts/zynq-emulated.dts
#	virt	QEMU's virt with an SMMU, arm64, dts/virt-emulated.dts
#	pc	QEMU's q35, amd64, where dray.ko has a virtual node

GUEST_BOARD=zcu102
GUEST_SERIES=6.1
GUEST_FILES=()		# folders that are copied to /job
GUEST_ROOTS=()		# folders that are copied to /
GUEST_MODULES=()	# further modules of the kernel, by name
declare -A GUEST_WORDS=()	# parameters of these, by name
GUEST_EXTRA=()		# module files to insert before dray.ko
GUEST_DRAY=yes		# insert dray.ko?
GUEST_PARAMETERS=''	# of dray.ko
GUEST_PYTHON=no		# Debian's Python and NumPy there?
GUEST_UDEV=no		# Debian's udev there?
GUEST_RESULTS=''	# folder for what the command leaves in /results
GUEST_LIMIT=600		# seconds until the machine is stopped
GUEST_BOOT_LIMIT=300	# seconds until its first process must have begun
GUEST_APPEND=''		# further words of the kernel's command line
GUEST_DEVICES=()	# further devices, as QEMU's -device names them
GUEST_DMESG=''		# file for the kernel's log
GUEST_COUNTED=no	# is time what has been executed?

# What a kernel never says when all is well.
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
# What a checker says of itself at boot.
GUEST_HARMLESS='DMA-API: (preallocated|debugging (en|dis)abled)'
GUEST_HARMLESS+='|DMA-API: dma_debug_entry pool grown'

# Between these lines of a test, faults of the IOMMU are what it wants.
GUEST_FAULTS='dray test: IOMMU faults are expected'
GUEST_NO_FAULTS='dray test: no IOMMU faults any more'

# What guest-init says on the console when it begins, and what is said of a guest
# that did not come so far.
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

	# A shell of its own, so that the scratch folder always goes away.
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
	*) die "no board $GUEST_BOARD: there are zcu102, zynq, virt and pc" ;;
	esac
}

# guest_drivers KERNEL FOLDER: modules that the guest inserts at boot, in their
# order, and such as its command may insert
guest_drivers()
{
	local kernel=$1 into=$2 folder module modules=()

	case $GUEST_BOARD in
	zcu102)	GUEST_MODULES+=(mmc_block sdhci-of-arasan) ;;
	# Not the slot's own driver, but what it stands on.
	zynq)	GUEST_MODULES+=(mmc_block sdhci-pltfm cqhci) ;;
	virt | pc) GUEST_MODULES+=(virtio_pci virtio_blk) ;;
	esac
	folder=$(kernel_modules "$kernel" "${GUEST_MODULES[@]}") || exit
	# Empty where the kernel has them built in.
	[ -z "$folder" ] || mapfile -t modules <<<"$folder"
	if [ "$GUEST_BOARD" = zcu102 ]; then
		folder=$(module_engine "$kernel") || exit
		modules+=("$folder/zynqmp_dma.ko")
		cp "$folder/dmatest.ko" "$into"
	fi
	# A kernel that was built here has them.
	if [ "$GUEST_BOARD" = zynq ] && [ "$GUEST_SERIES" = 6.1 ]; then
		folder=$(module_zynq "$kernel") || exit
		modules+=("$folder/sdhci-of-arasan.ko")
		cp "$folder/xilinx_uartps.ko" "$into"
		# Before there is a port to write to.
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

# Lays out what this run adds to the root file system.
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
	# The guest's output is a terminal only where ours is.
	[ -t 1 ] || echo 'export NO_COLOR=1' >"$scratch/root/guest/environment"
	cp "$TREE/tools/lib/dma-reports.awk" "$scratch/root/guest"
	cp "$TREE/tools/lib/guest-init" "$scratch/root/init"
	chmod +x "$scratch/root/init"
	guest_archives "$architecture" "$scratch"
	cp -L "$(kernel_image "$kernel")" "$scratch/kernel"
}

# Copies a module, unpacked, and puts it at the end of the insertion order.
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
	local archives=() archive

	archive=$(rootfs_base "$1") || exit
	archives+=("$archive")
	if [ "$GUEST_PYTHON" = yes ]; then
		archive=$(rootfs_python "$1") || exit
		archives+=("$archive")
	fi
	if [ "$GUEST_UDEV" = yes ]; then
		archive=$(rootfs_udev "$1") || exit
		archives+=("$archive")
	fi
	rootfs_archive "$2/root" >"$2/run.cpio"
	cat "${archives[@]}" "$2/run.cpio" >"$2/initrd"
	rm -rf "$2/root" "$2/run.cpio"
}

# guest_machine FOLDER: the emulator of the board, and its kernel's console, into
# `machine` and `console` of the caller
guest_machine()
{
	local scratch=$1

	# The archive of the results; a card's size is a power of two.
	truncate -s 512M "$scratch/disk"
	case $GUEST_BOARD in
	zcu102)
		dtc -q -O dtb -o "$scratch/dtb" \
			"$TREE/dts/zcu102-emulated.dts" || return
		machine=(qemu-system-aarch64 -M xlnx-zcu102 -m 1G -smp 2
			-dtb "$scratch/dtb" -drive
			"if=sd,file=$scratch/disk,format=raw,cache=unsafe")
		console=ttyPS0,115200
		;;
	zynq)
		dtc -q -O dtb -o "$scratch/dtb" \
			"$TREE/dts/zynq-emulated.dts" || return
		machine=(qemu-system-arm -M xilinx-zynq-a9 -m 1G
			-dtb "$scratch/dtb" -drive
			"if=sd,file=$scratch/disk,format=raw,cache=unsafe")
		console=ttyPS0,115200
		;;
	virt)
		dtc -q -O dtb -o "$scratch/dtb" \
			"$TREE/dts/virt-emulated.dts" || return
		machine=(qemu-system-aarch64
			-M 'virt,iommu=smmuv3,gic-version=3'
			-cpu cortex-a53 -m 1G -smp 2 -dtb "$scratch/dtb"
			-nic none -device 'pci-serial,chardev=out' -drive
			"if=virtio,file=$scratch/disk,format=raw,cache=unsafe")
		console=ttyAMA0
		;;
	pc)
		# In a single thread: with one for each processor, QEMU 7.2 may
		# go on with an instruction that the kernel has just patched,
		# and the kernel hangs or dies of its own breakpoint.
		machine=(qemu-system-x86_64 -M q35 -cpu max -m 1G -smp 2
			-accel "tcg,thread=single"
			-nic none -drive
			"if=virtio,file=$scratch/disk,format=raw,cache=unsafe")
		# The kernel tries whether the timer ticks; on a busy host an
		# emulated one may not in time, and the kernel then stops.
		console='ttyS0,115200 no_timer_check'
		;;
	esac
}

guest_boot()
{
	local scratch=$1 append machine=() console device status=0

	: >"$scratch/console"
	guest_machine "$scratch" || return
	append="console=$console rdinit=/init quiet loglevel=4 log_buf_len=4M"
	# A tmpfs would be full with half of what memory the archives leave free,
	# and the rest of the files left out.
	append+=" rootfstype=ramfs oops=panic panic=-1"
	# An emulated processor may be kept from running for a minute.
	append+=" rcupdate.rcu_cpu_stall_timeout=300 watchdog_thresh=60"
	append+=" $GUEST_APPEND"
	# A nanosecond for an instruction, and none for a wait: how busy the host
	# is makes no difference, and fewer clock ticks come between the work.
	# It has the processors run in turns.
	[ "$GUEST_COUNTED" = no ] || machine+=(-icount 'shift=0,sleep=off')
	for device in "${GUEST_DEVICES[@]}"; do
		machine+=(-device "$device")
	done
	# Without the word it looks for a sound card to play the silence of the
	# board's display port on.
	QEMU_AUDIO_DRV=none timeout --foreground -k 5 "$GUEST_LIMIT" "${machine[@]}" \
		-display none -monitor none -no-reboot \
		-chardev "file,id=console,path=$scratch/console" \
		-serial chardev:console -chardev stdio,id=out,signal=off \
		-serial chardev:out -kernel "$scratch/kernel" \
		-initrd "$scratch/initrd" -append "$append" \
		</dev/null 2>"$scratch/emulator" 7>&- &
	GUEST_EMULATOR=$!
	guest_wait_up "$scratch/console" "$GUEST_EMULATOR" ||
		kill "$GUEST_EMULATOR"
	wait "$GUEST_EMULATOR" || status=$?
	GUEST_EMULATOR=''
	return "$status"
}

# guest_wait_up CONSOLE EMULATOR: fails if a guest that still runs has not begun
# its first process in time
guest_wait_up()
{
	local end=$((SECONDS + GUEST_BOOT_LIMIT))

	until grep -qaF "$GUEST_UP" "$1"; do
		kill -0 "$2" 2>/dev/null || return 0
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.2
	done
}

# Gives the command's exit code, or why there is none.
guest_collect()
{
	local scratch=$1 emulator=$2 back=$1/back status

	tar -C "$back" -xf "$scratch/disk" 2>/dev/null || true
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

# The kernel's log without what is harmless, and without the faults that tests
# wanted.
guest_unwanted()
{
	grep -avE "$GUEST_HARMLESS" | awk -f "$TREE/tools/lib/dma-reports.awk" |
		awk -v begin="$GUEST_FAULTS" -v end="$GUEST_NO_FAULTS" '
			index($0, begin) { wanted = 1 }
			index($0, end) { wanted = 0 }
			!(wanted && /DMAR: /)
		'
}
