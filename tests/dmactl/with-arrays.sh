#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# dmactl arrays with the module: by process and by buffer, of a program in C and of
# NumPy.  Prints TAP.
#
#	with-arrays.sh DMACTL PUBLISHER HOLDER
#
# Needs: ../fact.sh and hold.sh; root; dray.ko loaded, with a node /dev/dray0 and no buffer in
# use by anybody else; the built programs dmactl, dmactl-publisher and
# dmactl-holder, readable for nobody; the usual programs and su; python3 with
# NumPy and the package dray.

# shellcheck source=tests/fact.sh
. "$(dirname "$0")/../fact.sh"
# shellcheck source=tests/dmactl/hold.sh
. "$(dirname "$0")/hold.sh"
dmactl=$1
publisher=$2
holder=$3
export DRAY_TEST_NODE=kernel
chmod 755 "$folder"

# rows ARGUMENT...: the columns that do not depend on the machine
rows()
{
	"$dmactl" arrays --no-header --bytes --columns \
		buffer,asked,kind,shape,type "$@"
}

ids()
{
	"$dmactl" list --no-header | awk '{ printf " %s", $1 }'
}

is no_buffer_is_there_at_first "$(ids)" ""
hold "$publisher"
id=$(ids)
id=${id# }
case $id in
'' | *\ *) ok 1 the_pool_has_one_buffer ;;
*) ok 0 the_pool_has_one_buffer ;;
esac
known=$(
	cat <<-ROWS
		$id   96  array  (3,4)  <f8
		$id   84  array  (7,)   [('f0','<i4'),('f1','<f8')]
		$id 1000  block  -      -
		$id    -  block  -      -
	ROWS
)
squeeze()
{
	sed 's/  */ /g;s/^ //;s/ *$//'
}
is a_process_is_shown_by_its_number "$(rows "$pid" | squeeze)" \
	"$(echo "$known" | squeeze)"
is a_buffer_is_shown_by_its_id "$(rows --buffer "$id" | squeeze)" \
	"$(echo "$known" | squeeze)"
is a_number_that_no_process_publishes_with_is_a_buffer \
	"$(rows "$id" | squeeze)" "$(echo "$known" | squeeze)"
like the_sums_name_pool_node_and_process \
	"$("$dmactl" arrays "$pid" | grep ^buffer)" \
	"buffer $id of pool 'known pool' on dray0, process $pid (dmactl-publishe): *"
size=$("$dmactl" list --bytes --no-header --columns size)
is json_has_the_buffer_as_list_has_it \
	"$("$dmactl" arrays --json "$pid" | tr -d ' \n' |
		sed -n 's/.*"buffer":\([0-9]*\),"size":\([0-9]*\).*/\1 \2/p')" \
	"$id $size"
error=$(as_nobody "$dmactl arrays $pid" 2>&1)
is another_user_is_refused $? 1
is another_user_is_told_why "$error" \
	"dmactl: process $pid belongs to another user: only that user and root may see its pools"
error=$("$dmactl" arrays --buffer 999999 2>&1)
is a_buffer_that_is_not_there_is_named "$error" \
	"dmactl: there is no buffer 999999 that you may see"
gone=$pid
release
is the_buffer_has_gone_with_it "$(ids)" ""
hold "$publisher" --lend
is a_block_that_is_lent_names_its_engine "$("$dmactl" arrays --no-header \
	--columns lent "$pid" | sort -u | tr -d ' \n')" -mpi
like a_state_names_the_engine_of_a_loan "$("$dmactl" arrays "$pid")" \
	"*used, lent to mpi *"
heap=$("$dmactl" list --no-header --columns heap)
size=$("$dmactl" heaps --bytes --no-header -n dray0 |
	awk -v heap="$heap" '$2 == heap { print $5 }')
like why_names_the_engine_of_a_loan "$("$dmactl" why "$size" --heap "$heap")" \
	"*end process $pid (*(lent to mpi, which must stop first)*: kill $pid*"
release
error=$("$dmactl" arrays "$gone" 2>&1)
is a_process_that_ended_exits_1 $? 1
like a_process_that_ended_is_named "$error" "*there is no process $gone"

hold "$publisher" --churn
round=0
wrong=
while [ $round -lt 10 ]; do
	arrays=$(rows "$pid" | grep -c ' array ')
	[ "$arrays" = 2 ] || wrong="$wrong $arrays"
	round=$((round + 1))
done
is arrays_stay_while_threads_allocate "$wrong" ""
release

heap=$("$dmactl" heaps --no-header -n dray0 | awk 'NR == 1 { print $2 }')
hold "$holder" "$heap" frame 65536
id=$(ids)
error=$("$dmactl" arrays "${id# }" 2>&1)
is a_holder_that_does_not_publish_exits_1 $? 1
like a_holder_that_does_not_publish_is_told_how "$error" \
	"dmactl: process $pid does not publish its pools: start it with DRAY_PUBLISH=1*"
release

cat >"$folder/program.py" <<'PROGRAM'
import sys
import numpy as np
import dray

def hold():
    frames = np.zeros((4, 48, 64, 3), np.uint8)
    sums = frames.sum(axis=(1, 2), dtype="f4")
    mine = dray.Array.zeros((2, 3), "i4")
    print("ready", flush=True)
    sys.stdin.read()
    return frames, sums, mine

with dray.memory():
    hold()
PROGRAM
export DRAY_BACKEND=kernel PYTHONDONTWRITEBYTECODE=1
DRAY_PUBLISH=1 hold python3 "$folder/program.py"
python_arrays()
{
	rows "$@" | squeeze | sed -n 's/^[0-9]* \(.* array .*\)/\1/p' | sort
}
arrays='24 array (2,3) <i4
36864 array (4,48,64,3) |u1
48 array (4,3) <f4'
is arrays_of_numpy_have_shape_and_type "$(python_arrays "$pid")" "$arrays"
for id in $(ids); do
	python_arrays "$id"
done >"$folder/rest" 2>&1
is and_by_buffer "$(sort "$folder/rest")" "$arrays"
release
hold python3 "$folder/program.py"
"$dmactl" arrays "$pid" >"$folder/rest" 2>&1
is without_the_variable_nothing_is_published $? 1
release
is nothing_is_left "$(ids)" ""

finish
