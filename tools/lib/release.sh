# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Builds of dray.ko in another Debian: for the kernel of a later release, which
# needs that release's compiler and build programs, or on a fresh Debian 12 with
# DKMS.  Its packages are unpacked in a folder, which is the root of the build in
# a user namespace.

# release_make RELEASE: prints the folder
release_make()
{
	local name lists pattern
	local packages=(binutils make dash coreutils sed grep findutils mawk)

	case $1 in
	bookworm)
		lists=amd64 pattern='linux-headers-6\.1\.0-[0-9]+-amd64'
		packages+=(bash diffutils dkms gcc-12 gzip kmod openssl tar
			util-linux)
		;;
	trixie)
		lists=amd64@$1 pattern='linux-headers-[0-9.]+\+deb13-amd64'
		;;
	*) die "no release $1: choose bookworm or trixie" ;;
	esac
	name=releases/$1-$(cache_key "${packages[@]}" </dev/null)
	[ -z "${DRAY_UPDATE:-}" ] || release_is_newest "$name" "$lists" "$pattern" ||
		rm -rf "${CACHE:?}/$name"
	cache_entry "$name" "no kernel's headers and compiler of $1 can be had" \
		release_fetch "$lists" "$pattern" "${packages[@]}" &&
		cache_prune releases/
}

# release_is_newest NAME LISTS PATTERN: tells whether the headers in the cache are the
# newest as far as the archive answers
release_is_newest()
{
	local headers

	read -r headers < <(foreign_names "$2" "$3") || return 0
	[ "$headers" = "$(cat "$CACHE/$1/headers" 2>/dev/null)" ]
}

# release_fetch LISTS PATTERN PACKAGE... INTO
release_fetch()
{
	foreign_newest release_fetch_headers "$1" "${@: -1}" "${@:3:$#-3}" \
		< <(foreign_names "$1" "$2")
}

# release_fetch_headers LISTS INTO PACKAGE... HEADERS
release_fetch_headers()
{
	local lists=$1 into=$2 packages=("${@:3}") headers=${*: -1} folder

	log_step "Fetching $headers with its compiler"
	rm -rf "$into"
	foreign_unpack "$lists" closure "${packages[@]}" "$into" || return 1
	# Links that maintainer scripts would have made.
	for folder in bin sbin lib lib64; do
		[ -e "$into/$folder" ] || ln -s "usr/$folder" "$into/$folder"
	done
	[ -e "$into/bin/sh" ] || ln -s dash "$into/bin/sh"
	ln -sf mawk "$into/usr/bin/awk"
	rm -rf "$into"/usr/share/{doc,man,info,locale}
	mkdir -p "$into"/{dev,proc,tmp,work}
	printf '%s\n' "$headers" >"$into/headers"
}

# release_version RELEASE: its kernel's version
release_version()
{
	local folder

	folder=$(release_make "$1") || return 1
	sed 's/linux-headers-//' "$folder/headers"
}

# release_run RELEASE FOLDER[:PATH]... -- COMMAND...: runs a command with the
# release as its root and the first folder as /work; mounts each other folder on
# its PATH
release_run()
{
	local root

	root=$(release_make "$1") || return 1
	shift
	# shellcheck disable=SC2016 # the inner shell replaces them
	unshare -rm sh -ec 'root=$1 path=/work
		shift
		mount --rbind /dev "$root/dev"
		mount --rbind /proc "$root/proc"
		while [ "$1" != -- ]; do
			[ "${1#*:}" = "$1" ] || path=${1#*:}
			mount --bind "${1%%:*}" "$root$path"
			shift
		done
		shift
		exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			chroot "$root" sh -c "cd /work && exec \"\$@\"" sh "$@"' sh "$root" "$@"
}

# release_build RELEASE FOLDER [VARIABLE=VALUE]...: builds the copy by module_copy
# in FOLDER
release_build()
{
	local release=$1 folder=$2 root

	shift 2
	root=$(release_make "$release") || return 1
	release_run "$release" "$folder" -- make -s "-j$(nproc)" \
		-C "/usr/src/$(cat "$root/headers")" M=/work "$@" modules
}
