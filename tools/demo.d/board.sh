#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Runs the job in the guest of tools/demo, then checks for leftovers.
export PYTHONUNBUFFERED=1
dmactl heaps --json >/tmp/before || exit
/usr/bin/python3 job.py
job=$?
echo
echo "10. The output of dmactl after the job"
for command in list heaps; do
	echo "   \$ dmactl $command"
	dmactl $command || job=1
	echo
done
# A buffer of the job.
echo "   \$ dmactl show 1"
if dmactl show 1; then
	echo "   FAILED   buffer 1 outlived its processes"
	job=1
fi
echo
/usr/bin/python3 leftovers.py /tmp/before || job=1
exit $job
