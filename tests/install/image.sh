#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Builds for another machine as docs/board.md says: the module for Debian's arm64
# kernel, the library and dmactl for Debian's arm64; and the files that load the module
# at boot.  Prints TAP.
#
#	image.sh
#
# Needs: a copy of the tree as the current folder, in which the build leaves its
# files; a Debian with build-essential, kmod, linux-headers-amd64 (for kbuild), meson and
# pkg-config, whose packages apt can fetch; root.  Installs packages for arm64 there, so
# a copy of a root.

# shellcheck source=tests/install/block.sh
. tests/install/block.sh
export DEBIAN_FRONTEND=noninteractive
ROOT=$folder/root
export ROOT KERNEL

# Systems with systemd have it.
mkdir -p /etc/modules-load.d
for line in 'echo dray >/etc' 'echo options dray'; do
	run_line "$(block 'echo dray >/etc' | grep "^$line")"
done
is the_module_is_on_the_list_of_boot "$(cat /etc/modules-load.d/dray.conf)" dray
is its_options_are_modprobes "$(modprobe --showconfig | grep '^options dray')" \
	'options dray nodes=1'

# The libraries first: this names arm64 to apt.
save arm64.ini
block 'dpkg --add-architecture' | sed -e :a -e '/\\$/N; s/\\\n *//; ta' >"$folder/block"
while read -r line; do
	run_line "$line"
done <"$folder/block"
library=$(find "$ROOT" -name 'libdray.so.0')
like the_library_is_for_arm64 "$(od -An -tx1 -j18 -N2 "$library")" ' b7 00'
like dmactl_is_for_arm64 "$(od -An -tx1 -j18 -N2 "$ROOT/usr/bin/dmactl")" ' b7 00'

# Unpacks the headers: their package would bring a compiler that runs on arm64 only.
headers()
{
	version=$(apt-cache depends linux-headers-arm64:arm64 |
		sed -n 's/.*Depends: linux-headers-\(.*\)-arm64.*/\1/p')
	(cd "$folder" && apt-get download "linux-headers-$version-arm64:arm64" \
		"linux-headers-$version-common" &&
		for package in ./linux-headers-*.deb; do
			dpkg -x "$package" headers || exit
		done && cp -a headers/usr/src/. /usr/src)
}
run headers_of_a_kernel_for_arm64_are_there headers
KERNEL=/usr/src/linux-headers-$version-arm64
# shellcheck disable=SC2016 # as the page has it
block 'make -C "$KERNEL"' >"$folder/block"
while read -r line; do
	run_line "$line"
done <"$folder/block"
module=$(find "$ROOT/lib/modules" -name dray.ko)
is the_module_is_for_this_kernel "$(modinfo -F vermagic "$module" | cut -d ' ' -f 1)" \
	"${KERNEL##*/linux-headers-}"
is it_has_the_alias_of_a_node "$(modinfo -F alias "$module" | grep -Fx 'of:N*T*Cdray,node')" \
	'of:N*T*Cdray,node'
run the_udev_rule_is_in_the_image cmp driver/60-dray.rules \
	"$ROOT/etc/udev/rules.d/60-dray.rules"
finish
