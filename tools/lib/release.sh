# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Builds of dray.ko for kernels of other Debian releases than 12.  Their headers
# want their own compiler and build programs, so all of it is unpacked in one
# folder, which the build then has as its root; a user namespace gives the right
# to do so.

# release_headers RELEASE: what the package of its newest headers is called
release_headers()
{
	case $1 in
	trixie) echo 'linux-headers-[0-9.]+\+deb13-amd64' ;;
	*) die "no release $1: there is trixie" ;;
	esac
}

# release_make RELEASE: the folder, on standard output
release_make()
{
	local name=releases/$1 headers=''

	if [ ! -e "$CACHE/$name" ] || [ -n "${DRAY_UPDATE:-}" ]; then
		headers=$(foreign_resolve "amd64@$1" "$(release_headers "$1")")
		[ -n "$headers" ] || die "no kernel of $1 is found"
		[ "$headers" = "$(cat "$CACHE/$name/headers" 2>/dev/null)" ] ||
			rm -rf "${CACHE:?}/$name"
	fi
	cache_make "$name" release_fetch "$1" "$headers" ||
		die "cannot fetch the headers and the compiler of $1"
	printf '%s\n' "$CACHE/$name"
}

release_fetch()
{
	local release=$1 headers=$2 into=$3 folder

	log_step "Fetching $headers with its compiler"
	foreign_unpack "amd64@$release" closure "$headers" binutils make dash \
		coreutils sed grep findutils mawk "$into" || return 1
	# What maintainer scripts would have made.
	for folder in bin sbin lib lib64; do
		[ -e "$into/$folder" ] || ln -s "usr/$folder" "$into/$folder"
	done
	[ -e "$into/bin/sh" ] || ln -s dash "$into/bin/sh"
	ln -sf mawk "$into/usr/bin/awk"
	rm -rf "$into"/usr/share/{doc,man,info,locale}
	mkdir -p "$into"/{dev,proc,tmp,work}
	printf '%s\n' "$headers" >"$into/headers"
}

# release_version RELEASE: the kernel's
release_version()
{
	local folder

	folder=$(release_make "$1") || return 1
	sed 's/linux-headers-//' "$folder/headers"
}

# release_build RELEASE FOLDER [VARIABLE=VALUE]...: builds what module_copy has
# put into FOLDER
release_build()
{
	local release=$1 folder=$2 root headers

	shift 2
	root=$(release_make "$release") || return 1
	headers=/usr/src/$(cat "$root/headers")
	# shellcheck disable=SC2016 # the inner shell replaces them
	unshare -rm sh -c 'mount --rbind /dev "$1/dev" &&
		mount --rbind /proc "$1/proc" &&
		mount --bind "$2" "$1/work" && shift 2 && exec "$@"' sh \
		"$root" "$folder" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		chroot "$root" make -s -C "$headers" M=/work "$@" modules
}
