#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# dmactl why with the module: its answers are those of the module, and it names the
# owners of the memory.  Prints TAP.
#
#	with-why.sh DMACTL HOLDER RANDOM [ROUNDS]
#
# Needs: ../fact.sh and hold.sh; root; dray.ko loaded, with a node /dev/dray0 whose first heap
# is a reserved one that is not in use; the built programs dmactl, dmactl-holder and
# dmactl-why-random (they need libdray.so.0, and dmactl libjansson.so.4, on the
# LD_LIBRARY_PATH); busybox or the usual programs, and the user "nobody" in
# /etc/passwd.  Changes the mode of /dev/dray0 and the limits of heaps, and sets
# them back.

# shellcheck source=tests/fact.sh
. "$(dirname "$0")/../fact.sh"
# shellcheck source=tests/dmactl/hold.sh
. "$(dirname "$0")/hold.sh"
dmactl=$1
holder=$2
random=$3
rounds=${4:-1000}
export DRAY_TEST_NODE=kernel
chmod 755 "$folder"
mode=$(stat -c %a /dev/dray0)
chmod 666 /dev/dray0

# why ARGUMENT...: its output is in $said, its exit code in $code
why()
{
	said=$("$dmactl" why "$@" 2>&1)
	code=$?
}

first_line()
{
	echo "$said" | sed 1q
}

heap=$("$dmactl" heaps --bytes --no-header -n dray0 | awk 'NR == 1 { print $2 }')
total=$("$dmactl" heaps --bytes --no-header -n dray0 |
	awk 'NR == 1 { print $5 }')
half=$((total / 2))

why "$total" --heap "$heap"
is all_of_an_empty_heap_may_be_had "$code $(first_line)" \
	"0 yes: heap $heap of dray0 would serve it"
why $((total + 1)) --heap "$heap"
is more_than_the_heap_may_not "$code $(first_line)" \
	"3 no: $heap: the size must be from 1 to $total bytes"

hold "$holder" "$heap" frame "$half"
# shellcheck disable=SC2086 # one word each
set -- $ids
why "$total" --heap "$heap" --bytes
is a_full_heap_is_full "$code $(first_line)" \
	"3 no: $heap: the heap is full, $((total - half)) bytes are free"
is the_holder_is_named "$(echo "$said" | awk -v id="$1" '$1 == id {
	print $2, $3, $4, $6, $7 }')" "$half $half $pid root frame"
like ending_it_would_help "$said" "*would help:*kill $pid*"
why "$half" --heap "$heap"
is the_other_half_may_be_had "$code" 0
said=$(as_nobody "$dmactl why $total --heap $heap --bytes -n dray0" 2>&1)
is others_do_not_see_the_holder "$(echo "$said" |
	grep -cw -e "$pid" -e "${holder##*/}" -e frame)" 0
like others_are_told_so "$said" "*(buffers that you may not see)*"
kill_holder
why "$total" --heap "$heap"
is without_the_holder_it_may_be_had "$code" 0

hold "$holder" --address "$heap" told "$half"
# shellcheck disable=SC2086 # one word each
set -- $ids
kill_holder
why "$total" --heap "$heap"
like held_memory_is_to_be_reclaimed "$said" "*held*: dmactl reclaim $1*"
"$dmactl" reclaim "$1" >"$folder/rest"
why "$total" --heap "$heap"
is reclaimed_it_may_be_had "$code" 0

limit=/sys/class/dray-heap/$heap/user_limit
echo "$half" >"$limit"
why "$total" --heap "$heap"
like a_limit_is_named "$(first_line)" "*limit, or the user's, is $half bytes*"
like the_attribute_is_named "$said" "*echo $total >$limit*"
echo "$said" | sed -n "s/.*: \(echo $total >.*\)/\1/p" >"$folder/command"
sh "$folder/command"
why "$total" --heap "$heap"
is with_the_command_it_may_be_had "$code" 0
echo 0 >"$limit"

before=$("$dmactl" heaps --bytes --no-header -n dray0 |
	awk 'NR == 1 { print $4, $6, $7, $8 }')
"$random" "$dmactl" "$rounds" "${DRAY_WHY_SEED:-1}" >"$folder/said" 2>&1
ok $? "why_is_right_${rounds}_times"
sed 's/^[^#]/# &/' "$folder/said"
for reason in 0 1 2 3 4 5 6 7 8 9 22; do
	grep -q "^# reason $reason: " "$folder/said"
	ok $? "reason_${reason}_was_met"
done
is heap_is_as_before "$("$dmactl" heaps --bytes --no-header -n dray0 |
	awk 'NR == 1 { print $4, $6, $7, $8 }')" "$before"
chmod "$mode" /dev/dray0
finish
