#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Runs the job in the guest of tools/demo; leftovers.py compares what dmactl says
# before and afterwards.
export PYTHONUNBUFFERED=1
dmactl heaps --json >/results/before.json || exit
/usr/bin/python3 job.py
job=$?
echo
echo "10. The output of dmactl after the job"
for command in list heaps; do
	echo "   \$ dmactl $command"
	dmactl $command || job=1
	dmactl $command --json >/results/$command.json || job=1
	echo
done
# A buffer of the job.
echo "   \$ dmactl show 1"
if dmactl show 1; then
	echo "   FAILED   buffer 1 outlived its processes"
	job=1
fi
exit $job
