# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash
#
# Debian packages for a front door on this machine.  Root installs missing ones;
# other users see the command.

# packages_missing PACKAGE...: prints those that are not installed, by this name or by
# one that provides it
packages_missing()
{
	printf '%s\n' "$@" | LC_ALL=C sort -u | LC_ALL=C comm -23 - <(
		dpkg-query -W -f '${db:Status-Status}, ${Package}, ${Provides}\n' |
			sed -n 's/^installed, //p' | tr -d ' ' | tr ',' '\n' |
			sed 's/(.*//' | LC_ALL=C sort -u)
}

# packages_need PACKAGE...
packages_need()
{
	local missing

	missing=$(packages_missing "$@" | xargs)
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		log_bad "Debian packages are missing.  As root, run:"
		log_bad "  apt-get install --no-install-recommends $missing"
		exit 125
	fi
	# Guests in parallel may need packages, and apt does not lock the update
	# of its lists.
	(
		flock 9
		packages_install "$@"
	) 9>"$CACHE/locks/packages" || exit
}

# packages_install PACKAGE...: installs packages that are still missing
packages_install()
{
	local missing

	read -ra missing < <(packages_missing "$@" | xargs)
	[ "${#missing[@]}" -gt 0 ] || return 0
	log_step "Installing Debian packages: ${missing[*]}"
	# A new machine may be updating itself.
	local options=(-q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)

	log_quietly apt-get "${options[@]}" update ||
		die "apt-get update failed; is there a network?"
	log_quietly env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" \
		-y install --no-install-recommends "${missing[@]}" ||
		die "apt-get could not install ${missing[*]}"
}

# For guests and the builds for them.
PACKAGES_GUEST=(
	ca-certificates cpio
	device-tree-compiler gcc gcc-12 gcc-12-aarch64-linux-gnu
	gcc-aarch64-linux-gnu kmod libc6-dev libc6-dev-arm64-cross libelf1
	libssl3 make python3 qemu-system-arm xz-utils
)

# Further packages for a 32-bit arm board and its programs.
PACKAGES_ARM=(
	gcc-12-arm-linux-gnueabihf gcc-arm-linux-gnueabihf libc6-dev-armhf-cross
)

# A device of OpenCL, for programs that DRAY_TEST_OPENCL tells to find one.
PACKAGES_OPENCL=(ocl-icd-libopencl1 pocl-opencl-icd)
