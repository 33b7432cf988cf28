# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# A Debian in a folder, installed by apt with every maintainer script, for tests
# of packages.  A run works on a copy in memory, which ends with it.

# Its release; a caller may have another for a while.
DEBIAN_RELEASE=bookworm

# debian_depends: the build dependencies in debian/control, one a line
debian_depends()
{
	sed -n '/^Build-Depends:/,/^[A-Z]/p' "$TREE/debian/control" |
		sed -n 's/^\(Build-Depends:\)\? \+\([a-z0-9.+-]*\).*/\2/p'
}

# debian_root: the folder, on standard output
debian_root()
{
	local packages name

	mapfile -t packages < <(debian_depends)
	packages+=(adduser build-essential dkms kmod linux-headers-amd64 lintian)
	name=roots/$DEBIAN_RELEASE-$(cache_key "${packages[@]}" </dev/null)
	cache_make "$name" debian_fetch "${packages[@]}" ||
		die "cannot install a Debian $DEBIAN_RELEASE in a directory"
	touch "$CACHE/$name"
	cache_prune roots/
	printf '%s\n' "$CACHE/$name"
}

debian_fetch()
{
	local packages=("${@:1:$#-1}") into=${*: -1}

	[ "$(id -u)" -eq 0 ] || die "only root can install a Debian in a directory"
	log_step "Installing a Debian $DEBIAN_RELEASE in a directory"
	log_quietly mmdebstrap --mode=root --variant=minbase \
		"--include=$(IFS=,; echo "${packages[*]}")" "$DEBIAN_RELEASE" \
		"$into" "$(foreign_mirror "$DEBIAN_RELEASE")"
}

# debian_run FOLDER COMMAND...: runs it there, in a copy of the folder
debian_run()
{
	local root

	root=$(debian_root) || return 1
	# shellcheck disable=SC2016 # the inner shell replaces them
	unshare -m sh -ec 'lower=$1 tree=$2 top=/mnt root=/mnt/root
		shift 2
		mount -t tmpfs dray "$top"
		mkdir "$top/upper" "$top/work" "$root"
		mount -t overlay -o "lowerdir=$lower,upperdir=$top/upper" \
			-o "workdir=$top/work" dray "$root"
		mount --rbind /dev "$root/dev"
		mount --rbind /proc "$root/proc"
		mkdir "$root/build"
		cp -a "$tree" "$root/build/dray"
		exec env -i HOME=/root LC_ALL=C.UTF-8 \
			"DEB_BUILD_OPTIONS=parallel=$(nproc)" \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" sh -c \
			"cd /build/dray && exec \"\$@\"" sh "$@"' sh \
		"$root" "$@"
}
