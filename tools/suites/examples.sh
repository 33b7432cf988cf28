# SPDX-License-Identifier: Apache-2.0 OR MIT
# shellcheck shell=bash

ABOUT_EXAMPLES="the examples that use dray's memory in another runtime: OpenCV, GStreamer, \
and OpenCL by PoCL; with --full the first also with sanitizers, and the first two with the \
module on the PC: an engine copies from a mat, and frames are dma-bufs"
# Of OpenCV two modules only: libopencv-dev brings all sixty.
PACKAGES_EXAMPLES=(
	"${PACKAGES_BUILD[@]}" "${PACKAGES_GUEST[@]}" clang g++
	gstreamer1.0-plugins-base libgstreamer-plugins-base1.0-dev
	libgstreamer1.0-dev libopencv-core-dev libopencv-imgproc-dev
	ocl-icd-opencl-dev opencl-headers pocl-opencl-icd python3-pyopencl
	python3-pytest qemu-system-x86
)

EXAMPLES_OPENCV=(-isystem /usr/include/opencv4 -lopencv_core -lopencv_imgproc)

suite_examples()
{
	tally_run "builds as a release" build_native || return 0
	[ "$FULL" = no ] || examples_guest "$1/guest"
	examples_tests native "$1" test_runtimes test_opencv
	[ "$FULL" = no ] ||
		! tally_run "builds with sanitizers" build_sanitized ||
		examples_tests sanitized "$1" test_opencv
	batch_count_aside
}

# examples_tests KIND SCRATCH NAME...: runs files of tests/readme
examples_tests()
{
	local kind=$1 scratch=$2 name status

	shift 2
	for name; do
		tally_wants "$name" || continue
		status=0
		DRAY_BUILD=$(build_folder "$kind") PATH=/usr/bin:$PATH \
			/usr/bin/python3 -B -m pytest -q --color=no \
			-p no:cacheprovider "$TREE/tests/readme/$name.py" \
			>"$scratch/$name.$kind" 2>&1 </dev/null || status=$?
		tally_counts "tests/readme/$name.py ($kind)" "$status" \
			"$scratch/$name.$kind"
	done
}

# examples_guest FOLDER: boots the PC with an engine for tests, in the background
examples_guest()
{
	local GUEST_EXTRA=() GUEST_PARAMETERS='watchdog_ms=30000'

	batch_begin "$1"
	tally_run "the examples for the PC" examples_add || return 0
	[ "$BATCH_PROGRAMS" -gt 0 ] || return 0
	pc_take_engine 6.12
	batch_aside "examples on the PC" pc 6.12 "GUEST_ROOTS=$BATCH/lib"
}

examples_add()
{
	local library plugins app name

	library=$(build_folder native)/userspace
	plugins=$(pkg-config --variable=pluginsdir gstreamer-1.0) || return 1
	read -ra app < <(pkg-config --cflags --libs gstreamer-app-1.0 \
		gstreamer-allocators-1.0)
	examples_program gcc gstreamer examples/gstreamer.c "$library" \
		"${app[@]}" &&
		examples_program g++ opencv examples/opencv.cc "$library" \
			"${EXAMPLES_OPENCV[@]}" &&
		examples_program g++ facts tests/readme/opencv.cc "$library" \
			"${EXAMPLES_OPENCV[@]}" || return 1
	mkdir -p "$BATCH/lib$plugins"
	for name in app coreelements videoconvertscale; do
		cp "$plugins/libgst$name.so" "$BATCH/lib$plugins" || return 1
	done
	batch_libraries "$BATCH"/job/{gstreamer,opencv,facts} \
		"$BATCH/lib$plugins"/*.so || return 1
	batch_add status gstreamer-dma-bufs \
		'GST_REGISTRY_FORK=no ./gstreamer | tee said && grep -x "kernel: 0 frames are left" said'
	batch_add status opencv-engine \
		'./opencv | tee said && grep -c "copied by an engine: 7909 bright" said | grep -x 4'
	batch_add tap opencv-facts ./facts
	# Fails if a buffer is left.
	cp "$TREE/tools/lib/guest-unload" "$BATCH/job"
	batch_add status the-modules-unload-after-the-examples \
		'guest-unload dray dray_test_engine'
}

# examples_program COMPILER PROGRAM FILE LIBRARY WORD...
examples_program()
{
	"$1" -O1 -o "$BATCH/job/$2" "$TREE/$3" "-I$TREE/include" \
		"-I$TREE/include/uapi" "-L$4/core" "-L$4/array" "-Wl,-rpath,$4/core:$4/array" \
		"${@:5}" -ldray-array -ldray
}
