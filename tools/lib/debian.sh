# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# A Debian in a folder, installed by apt with every maintainer script, for tests
# of packages and as another host.  A run works on a copy in memory, which ends with
# it.

# A caller may replace them for a while.
DEBIAN_RELEASE=bookworm
DEBIAN_PACKAGES=()	# none: packages that build and judge packages
DEBIAN_KEPT=''		# folder for the copy, with which the next run continues

# debian_depends: the build dependencies in debian/control, each on a line
debian_depends()
{
	sed -n '/^Build-Depends:/,/^[A-Z]/p' "$TREE/debian/control" |
		sed -n 's/^\(Build-Depends:\)\? \+\([a-z0-9.+-]*\).*/\2/p'
}

# debian_root: the folder, on standard output
debian_root()
{
	local packages=("${DEBIAN_PACKAGES[@]}") name

	[ "${#packages[@]}" -gt 0 ] || {
		mapfile -t packages < <(debian_depends)
		packages+=(adduser build-essential dkms kmod linux-headers-amd64
			lintian)
	}
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
	log_quietly debian_alone mmdebstrap --mode=root --variant=minbase \
		"--include=$(IFS=,; echo "${packages[*]}")" "$DEBIAN_RELEASE" \
		"$into" "$(foreign_mirror "$DEBIAN_RELEASE")"
}

# debian_alone COMMAND...: runs it with standard input and outputs only: hooks of apt are
# programs of a shell that writes to no descriptor above 9
debian_alone()
{
	(
		for fd in /proc/"$BASHPID"/fd/*; do
			fd=${fd##*/}
			[ "$fd" -le 2 ] || eval "exec $fd>&-"
		done
		exec "$@"
	)
}

# debian_run FOLDER COMMAND...: runs it there, in a copy of the folder, with the
# certificates that this machine's network needs
debian_run()
{
	local root

	root=$(debian_root) || return 1
	# A user namespace of the command needs a root that is not a chroot's.
	# shellcheck disable=SC2016 # the inner shell replaces them
	unshare -m sh -ec 'lower=$1 tree=$2 top=${3:-/mnt} root=${3:-/mnt}/root
		shift 3
		[ "$top" != /mnt ] || mount -t tmpfs dray "$top"
		mkdir -p "$top/upper" "$top/work" "$root"
		mount -t overlay -o "lowerdir=$lower,upperdir=$top/upper" \
			-o "workdir=$top/work" dray "$root"
		for folder in dev proc sys; do
			mount --rbind "/$folder" "$root/$folder"
		done
		cp -r /usr/local/share/ca-certificates "$root/usr/local/share"
		mkdir -p "$root/build"
		[ -e "$root/build/dray" ] || cp -a "$tree" "$root/build/dray"
		cd "$root"
		pivot_root . mnt
		exec env -i HOME=/root LC_ALL=C.UTF-8 \
			"DEB_BUILD_OPTIONS=parallel=$(nproc)" \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c \
			"umount -l /mnt && cd /build/dray
			[ ! -e /usr/sbin/update-ca-certificates ] ||
				update-ca-certificates >/dev/null 2>&1
			exec \"\$@\"" sh "$@"' \
		sh "$root" "$1" "$DEBIAN_KEPT" "${@:2}"
}
