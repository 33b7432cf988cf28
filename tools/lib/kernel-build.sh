# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Kernels that Debian does not have, built once from its linux-source-6.12 or newest
# linux-source, or from the tree DRAY_KERNEL_SOURCE, and laid out like Debian's: image, modules and
# headers.  tools/kernels has fragments of their configuration.  A kernel is
# identified by the options of its fragments, without their comments.

# Installed only before a build
PACKAGES_KERNEL_BUILD=(bc bison flex libc6-dev libelf-dev libssl-dev)

# kernel_options FRAGMENT...: prints their options; the last setting of an option
# counts
kernel_options()
{
	local fragment

	for fragment in "$@"; do
		grep -E '^(CONFIG_|# CONFIG_.* is not set)' \
			"$TREE/tools/kernels/$fragment.config"
	done | awk '
		{
			name = $0
			gsub(/^# |=.*| is not set$/, "", name)
			line[NR] = $0
			option[NR] = name
			last[name] = NR
		}
		END {
			for (i = 1; i <= NR; i++)
				if (last[option[i]] == i)
					print line[i]
		}'
}

# kernel_build ARCHITECTURE-SERIES: builds the kernel and prints its folder
kernel_build()
{
	local fragments entry key state

	read -ra fragments <<<"$(kernel_fragments "$1")"
	for entry in "${fragments[@]}"; do
		[ -e "$TREE/tools/kernels/$entry.config" ] ||
			die "the kernel $1 needs tools/kernels/$entry.config, and the tree lacks it"
	done
	state=$(kernel_source_state "$1") || exit
	key=$(kernel_options "${fragments[@]}" | cache_key "$state")
	entry=kernels/$1-$key
	[ -e "$CACHE/$entry" ] || packages_need "${PACKAGES_KERNEL_BUILD[@]}"
	cache_entry "$entry" "cannot build the kernel $1" \
		kernel_build_run "$1" "$key" "${fragments[@]}" &&
		cache_prune "kernels/$1-"
}

# kernel_source_state ARCHITECTURE-SERIES: the path and last change of the user's
# tree, or the content of a built-in dray; nothing for Debian's source
kernel_source_state()
{
	case ${1#*-} in
	source) ;;
	*-built-in)
		(cd "$TREE" && cache_tree driver/{Kconfig,Makefile,*/*.[ch]} \
			include/{linux/dray_node.h,uapi/linux/dray.h})
		return
		;;
	*) return 0 ;;
	esac
	[ -e "${DRAY_KERNEL_SOURCE:-}/Kbuild" ] ||
		die "DRAY_KERNEL_SOURCE is not a kernel's tree"
	realpath "$DRAY_KERNEL_SOURCE"
	find "$DRAY_KERNEL_SOURCE" -name .git -prune -o -type f \
		-printf '%T@\n' | sort -n | tail -n 1
}

kernel_build_run()
{
	local name=$1 key=$2 fragments=("${@:3:$#-3}") into=${*: -1}
	local source=$into.source architecture=${1%%-*} make series=6.12

	log_step "Building the kernel $name, once: 5 to 10 minutes on 2 processors"
	rm -rf "$source"
	mkdir -p "$into/boot" "$source"
	if [ "${name#*-}" = source ]; then
		# Builds outside the tree.
		make=(nice make -C "$DRAY_KERNEL_SOURCE" "O=$source")
	else
		[ "${name#*-}" != newest ] || series=newest
		tar -C "$source" -xJf "$(kernel_tarball "$series")" \
			--strip-components 1 || return 1
		case $name in
		*-built-in) kernel_add_dray "$source" || return 1 ;;
		esac
		make=(nice make -C "$source")
	fi
	case $architecture in
	arm64) make+=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-) ;;
	armhf) make+=("${MODULE_ARM[@]}") ;;
	*) make+=(ARCH=x86_64) ;;
	esac
	# Excludes the kernel's own races; makefiles of modules do not see it.
	[ "${name#*-}" != races ] || make+=(KCSAN_SANITIZE=n)
	kernel_configure "$source" "${name#*-}-$key-$architecture" \
		"${fragments[@]}" &&
		kernel_compile "$into.log" "${make[@]}" "-j$(nproc)" all &&
		kernel_install "$source" "$into" || return 1
	rm -rf "$source" "$into.log"
}

# kernel_add_dray SOURCE: adds dray to a tree, as driver/README.md describes
kernel_add_dray()
{
	local misc=$1/drivers/misc

	mkdir -p "$misc/dray"
	cp -r "$TREE"/driver/{Kconfig,Makefile,*/} "$misc/dray" || return 1
	cp "$TREE/include/linux/dray_node.h" "$1/include/linux" || return 1
	cp "$TREE/include/uapi/linux/dray.h" "$1/include/uapi/linux" || return 1
	sed -i '/^endmenu/i source "drivers/misc/dray/Kconfig"' "$misc/Kconfig"
	# shellcheck disable=SC2016 # make replaces it
	echo 'obj-$(CONFIG_DRAY) += dray/' >>"$misc/Makefile"
}

# kernel_configure SOURCE RELEASE FRAGMENT...: uses the caller's make command
kernel_configure()
{
	local source=$1 release=$2 option status=0

	shift 2
	kernel_options "$@" >"$source/fragments"
	{
		cat "$source/fragments"
		echo "CONFIG_LOCALVERSION=\"-$release\""
	} >"$source/allno"
	log_quietly "${make[@]}" "KCONFIG_ALLCONFIG=$source/allno" \
		allnoconfig || return 1
	# Kconfig drops an option if a dependency is off.
	while read -r option; do
		kernel_has "$option" "$source/.config" && continue
		log_bad "the kernel does not take $option"
		# Options differ between versions.
		[[ $release = source-* ]] || status=1
	done <"$source/fragments"
	return "$status"
}

# kernel_has OPTION CONFIG: accepts an unset option that is not mentioned
kernel_has()
{
	local name

	case $1 in
	'# '*)
		name=${1#\# } name=${name% is not set}
		! grep -q "^$name=" "$2"
		;;
	*) grep -qxF -- "$1" "$2" ;;
	esac
}

# kernel_compile LOG COMMAND...: shows its progress on a terminal
kernel_compile()
{
	local log=$1 status=0 pid started=$SECONDS

	shift
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	while [ -t 2 ] && kill -0 "$pid" 2>/dev/null; do
		printf '\r    %d files compiled, %d:%02d minutes ' \
			"$(grep -cE '^  (CC|AS)' "$log")" \
			$(((SECONDS - started) / 60)) \
			$(((SECONDS - started) % 60)) >&2
		sleep 1
	done
	wait "$pid" || status=$?
	[ ! -t 2 ] || printf '\r\033[K' >&2
	if [ "$status" -ne 0 ]; then
		grep -E -B 3 -A 10 'error:|\*\*\*' "$log" | tail -n 60 >&2
		return "$status"
	fi
	log_note "that took $((SECONDS - started)) s"
}

# kernel_install SOURCE INTO: installs a build in the layout of Debian's packages
kernel_install()
{
	local source=$1 into=$2 version image module

	version=$(cat "$source/include/config/kernel.release") || return 1
	case ${make[*]} in
	*ARCH=arm64*) image=arch/arm64/boot/Image ;;
	*ARCH=arm\ *) image=arch/arm/boot/zImage ;;
	*) image=arch/x86/boot/bzImage ;;
	esac
	cp "$source/$image" "$into/boot/vmlinuz-$version" || return 1
	cp "$source/.config" "$into/boot/config-$version" || return 1
	log_quietly "${make[@]}" INSTALL_MOD_STRIP=1 DEPMOD=/sbin/depmod \
		"INSTALL_MOD_PATH=$into" modules_install || return 1
	rm -f "$into/lib/modules/$version"/{build,source}
	case $version in
	*-source-*)
		kernel_headers_keep "$source" \
			"$into/usr/src/linux-headers-$version" || return 1
		;;
	*)
		# Build programs run on this machine: compile them for it.
		# shellcheck disable=SC2016 # make and its shell replace the words
		log_quietly "${make[@]}" run-command KBUILD_RUN_COMMAND="CC=\"\$\$HOSTCC\" sh scripts/package/install-extmod-build $into/usr/src/linux-headers-$version" ||
			return 1
		;;
	esac
	# For module_engine, which otherwise builds them for the board.
	mkdir -p "$into/engine"
	for module in zynqmp_dma dmatest; do
		find "$into/lib/modules" -name "$module.ko" \
			-exec cp {} "$into/engine" \;
	done
	rmdir "$into/engine" 2>/dev/null || true
	printf '%s\n' "$version" >"$into/version"
}

# kernel_headers_keep BUILD INTO: keeps a build without its objects to build
# modules, if a kernel is too old to select the files itself
kernel_headers_keep()
{
	find "$1" -type f \( -name '*.[oa]' -o -name '*.ko' -o -name '.*.cmd' -o \
		-name '*vmlinux*' \) ! -path "$1/scripts/*" \
		! -path "$1/tools/*" -delete || return 1
	mkdir -p "${2%/*}"
	mv "$1" "$2"
}
