#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Writes a meson cross file for musl, as on Alpine, and cmocka for it, into a folder.
#
#	musl.sh FOLDER CMOCKA-TARBALL
#
# Needs: Debian's musl-tools and linux-libc-dev, of whose headers musl-tools has none.

set -e
folder=$1
mkdir -p "$folder/include" "$folder/cmocka"
# musl has other headers of that directory.
triplet=$(gcc -print-multiarch)
ln -sfn /usr/include/linux /usr/include/asm-generic "$folder/include"
ln -sfn "/usr/include/$triplet/asm" "$folder/include"

tar -C "$folder/cmocka" --strip-components 1 -xf "$2"
musl-gcc -O1 -w -fPIC -I"$folder/cmocka/include" -DHAVE_INTTYPES_H=1 -DHAVE_MALLOC_H=1 \
	-DHAVE_SIGNAL_H=1 -DHAVE_STRINGS_H=1 -DHAVE_STRUCT_TIMESPEC=1 \
	-DHAVE_CLOCK_REALTIME=1 -DHAVE_CLOCK_GETTIME=1 -DHAVE_STRSIGNAL=1 \
	-D_GNU_SOURCE -c "$folder/cmocka/src/cmocka.c" -o "$folder/cmocka.o"
rm -f "$folder/libcmocka.a"
ar rcs "$folder/libcmocka.a" "$folder/cmocka.o"
# Debian's unwinder asks glibc, which musl programs lack: it finds nothing.
echo 'int _dl_find_object(void *pc, void *result) { (void)pc; (void)result; return -1; }' |
	musl-gcc -O1 -fPIC -x c -c -o "$folder/unwind.o" -
cat >"$folder/cmocka.pc" <<-PC
Name: cmocka
Description: for musl
Version: 1.1.5
Libs: -L$folder -lcmocka
Cflags: -I$folder/cmocka/include
PC
cat >"$folder/musl.cross" <<-CROSS
[binaries]
c = 'musl-gcc'
ar = 'gcc-ar'
strip = 'strip'
pkgconfig = '/usr/bin/pkg-config'

[properties]
needs_exe_wrapper = false
pkg_config_libdir = '$folder'

[built-in options]
c_args = ['-idirafter', '$folder/include']
c_link_args = ['$folder/unwind.o']

[host_machine]
system = 'linux'
cpu_family = '$(uname -m)'
cpu = '$(uname -m)'
endian = 'little'
CROSS
