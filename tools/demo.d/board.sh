#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What the guest of tools/demo runs: the job, and the look afterwards.
export PYTHONUNBUFFERED=1
dmactl heaps --json >/tmp/before || exit
/usr/bin/python3 job.py
job=$?
echo
echo "7. What dmactl says when it is gone"
for command in list heaps; do
	echo "   \$ dmactl $command"
	dmactl $command || job=1
	echo
done
# The buffer that step 5 has shown.
echo "   \$ dmactl show 1"
if dmactl show 1; then
	echo "   FAILED   buffer 1 outlived its processes"
	job=1
fi
echo
/usr/bin/python3 leftovers.py /tmp/before || job=1
exit $job
