#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The calls of the kernel interface from a shell: alloc, free, share, dump, fill,
# copy and sync, each compared with a reader of its own.  Prints TAP.
#
#	with-calls.sh DMACTL HOLDER
#
# Needs: as with-module.sh; with python3 also NumPy, and the package dray if it is
# installed.

# shellcheck source=tests/fact.sh
. "$(dirname "$0")/../fact.sh"
# shellcheck source=tests/dmactl/hold.sh
. "$(dirname "$0")/hold.sh"
dmactl=$1
holder=$2
export DRAY_TEST_NODE=kernel
chmod 755 "$folder"
python=$(command -v /usr/bin/python3)
# On a terminal, slow commands would draw their progress between the facts.
exec 2>"$folder/errors"

# keepers: how many are left, without those that have ended and that init has not
# reaped yet
keepers()
{
	grep -lx dmactl-keep /proc/[0-9]*/comm 2>/dev/null |
		while read -r comm; do
			[ ! -e "${comm%comm}exe" ] || echo "$comm"
		done | wc -l
}

# bytes ID [OPTION...]: the bytes of a buffer, in hexadecimal
bytes()
{
	"$dmactl" dump -o - "$@" | od -An -v -tx1 | tr -d ' \n'
}

# left: how many buffers there are
left()
{
	"$dmactl" list --no-header | wc -l
}

# repeat TEXT COUNT
repeat()
{
	awk -v text="$1" -v count="$2" \
		'BEGIN { while (count--) printf "%s", text }'
}

is nothing_is_kept_at_first "$(keepers)" 0
before=$(left)

# alloc and free
heap=$("$dmactl" heaps --no-header -n dray0 | awk 'NR == 1 { print $2 }')
id=$("$dmactl" alloc 64K --name 'a frame' --heap "$heap" --align 128K)
is alloc_prints_an_id "$(echo "$id" | grep -cx '[1-9][0-9]*')" 1
is the_keeper_owns_the_buffer \
	"$("$dmactl" list --bytes --no-header |
		awk -v id="$id" '$1 == id { print $2, $3, $6, $8, $12, $13 }')" \
	"65536 $heap dmactl-keep 0 a frame"
is one_process_keeps_it "$(keepers)" 1
is free_says_how_much "$("$dmactl" free "$id" --bytes)" \
	"freed: 1 buffer, 65536 bytes"
is no_process_is_left_after_free "$(keepers)" 0
is no_buffer_is_left_after_free "$(left)" \
	"$before"
error=$("$dmactl" free "$id" 2>&1)
is a_buffer_is_freed_once "$? $error" \
	"1 dmactl: no buffer $id; 'dmactl list' shows those that you may see"
said=$("$dmactl" alloc 5000 --json)
like alloc_tells_programs_more "$(echo "$said" | tr -d ' \n')" \
	'{"id":*,"size":8192,"node":"dray0","heap":"'"$heap"'","mode":*,"pid":*}'
"$dmactl" alloc 4096 >"$folder/rest"
is free_all_frees_all "$("$dmactl" free --all --bytes)" \
	"freed: 2 buffers, 12288 bytes"
error=$("$dmactl" alloc 1T 2>&1)
like a_refusal_has_the_librarys_reason "$? $error" \
	'1 dmactl: dray0: cannot allocate: *'
is a_refusal_leaves_no_keeper "$(keepers)" 0

# Memory of other programs is theirs.
hold "$holder" "$heap" theirs 8192
theirs=${ids# }
error=$("$dmactl" free "$theirs" 2>&1)
like free_leaves_other_programs_alone "$? $error" \
	"1 dmactl: buffer $theirs is not kept by dmactl: it belongs to *, pid $pid; *"
kill -0 "$pid"
ok $? the_other_program_lives
"$dmactl" fill "$theirs" --value 7 --cpu >"$folder/rest"
is fill_reaches_memory_of_other_programs "$(bytes "$theirs")" \
	"$(repeat 07 8192)"
release

# A command that inherits the buffer.
# shellcheck disable=SC2016 # for the other shell
said=$("$dmactl" alloc 4096 --name inherited -- sh -c '
	"$1" fill "@$DRAY_BUFFER_FD" --value 0x2a --cpu >/dev/null
	"$1" dump "@$DRAY_BUFFER_FD" --length 2
	"$1" list --no-header | awk -v id="$DRAY_BUFFER_ID" "\$1 == id {
		print \$NF, ENVIRON[\"DRAY_BUFFER_SIZE\"] }"
	exit 7' sh "$dmactl")
is the_exit_code_is_the_commands $? 7
is a_command_inherits_the_buffer "$said" \
"00000000  2a 2a                                             |**|
00000002
inherited 4096"
is the_commands_end_frees_the_buffer "$(left)" \
	"$before"
mkfifo "$folder/held"
"$dmactl" alloc 4096 --hold >"$folder/held" &
pid=$!
held=$(timeout 60 head -n 1 "$folder/held")
is hold_keeps_it_in_the_foreground "$("$dmactl" list --no-header |
	awk -v id="$held" '$1 == id { print $5, $6 }')" \
	"$pid dmactl"
kill "$pid"
wait "$pid" 2>"$folder/rest"
is a_signal_ends_hold "$(left)" "$before"

# fill and copy, by the CPU and by an engine
src=$("$dmactl" alloc 64K --name src)
dst=$("$dmactl" alloc 64K --name dst)
ways=--cpu
channels=$("$dmactl" nodes --no-header -n dray0 | awk 'NR == 1 { print $8 }')
[ "$channels" -eq 0 ] || ways="--cpu --engine"
for way in $ways; do
	by=$(echo "${way#--}" | sed 's/^cpu$/CPU/')
	"$dmactl" fill "$src" --value 0 --cpu >"$folder/rest"
	"$dmactl" fill "$dst" --value 0 --cpu >"$folder/rest"
	"$dmactl" sync "$src" --for device --direction both >"$folder/rest"
	"$dmactl" sync "$dst" --for device --direction both >"$folder/rest"
	like "fill_says_by_whom_$by" "$("$dmactl" fill "$src" \
		--pattern 00112233445566778899aabbccddeeff --bytes "$way")" \
		"filled: 65536 bytes in *, */s, by the $by"
	is "fill_repeats_the_pattern_$by" "$(bytes "$src")" \
		"$(repeat 00112233445566778899aabbccddeeff 4096)"
	"$dmactl" fill "$src" --value 0xff --offset 4096 --length 4096 "$way" \
		>"$folder/rest"
	is "fill_of_a_part_leaves_the_rest_$by" \
		"$(bytes "$src" --offset 4080 --length 4128)" \
		"00112233445566778899aabbccddeeff$(repeat ff 4096)00112233445566778899aabbccddeeff"
	like "copy_says_by_whom_$by" "$("$dmactl" copy "$src:4032:4K" \
		"$dst:128" "$way" --json | tr -d ' \n')" \
		"{\"bytes\":4096,\"time_ns\":*,\"by\":\"${way#--}\"}"
	is "copy_moves_the_bytes_$by" "$(bytes "$dst" --length 8192)" \
		"$(repeat 00 128)$(bytes "$src" --offset 4032 --length 4096)$(repeat 00 3968)"
done
error=$("$dmactl" copy "$src:65530:100" "$dst" 2>&1)
is a_copy_that_leaves_a_buffer_is_refused "$? $error" \
	"1 dmactl: 100 bytes at offset 65530 leave buffer $src of 65536 bytes"

# sync
for owner in cpu device; do
	like "sync_for_${owner}_says_whether_it_was_needed" \
		"$("$dmactl" sync "$src" --for $owner --length 4096 --json |
			tr -d ' \n')" \
		"{\"id\":$src,\"offset\":0,\"length\":4096,\"for\":\"$owner\",\"direction\":\"*\",\"needed\":*}"
done
"$dmactl" nodes -n dray0 | grep -q coherent ||
	is sync_is_counted "$("$dmactl" show "$src" | grep -c '^synced: *[1-9]')" 1

# dump
is dump_folds_lines_that_repeat "$("$dmactl" dump "$src" --length 48)" \
"00000000  00 11 22 33 44 55 66 77  88 99 aa bb cc dd ee ff  |..\"3DUfw........|
*
00000030"
error=$("$dmactl" dump "$src" 2>&1 >"$folder/rest")
is a_long_dump_is_cut_and_says_so "$error" \
	"dmactl: the first 4.0K of 64.0K; --length shows more"
"$dmactl" dump "$src" -o "$folder/raw"
is a_raw_file_has_all_bytes "$(wc -c <"$folder/raw")" 65536
"$dmactl" dump "$src" -o "$folder/a.npy" --dtype '<u4' --shape 64,256
"$dmactl" dump "$src" -o "$folder/a.png" --shape 100,200,3
"$dmactl" dump "$src" -o "$folder/grey.png" --shape 64,64 --dtype u2
if [ "$python" ]; then
	run numpy_reads_the_npy "$python" -c '
import sys, numpy
raw = numpy.fromfile(sys.argv[1] + "/raw", "<u4").reshape(64, 256)
saved = numpy.load(sys.argv[1] + "/a.npy")
assert saved.dtype == "<u4" and (saved == raw).all() and raw.any()' "$folder"
	run python_reads_the_pictures "$python" "$(dirname "$0")/read_png.py" \
		"$folder"
fi

# share
for kind in '' --read-only; do
	title=$(echo "share$kind" | tr - _)
	"$dmactl" share "$src" "$folder/record" --dtype '<u2' --shape 8,4 \
		--offset 16 $kind
	is "${title}_writes_a_record_for_its_user" \
		"$(stat -c %a "$folder/record")" 600
	if [ "$python" ] && "$python" -c 'import dray' 2>"$folder/rest"; then
		run "${title}_leads_python_to_the_memory" "$python" -c '
import sys, dray
with open(sys.argv[1], "rb") as file:
    array = dray.open_array(file.read())
assert (array.shape, array.dtype) == ((8, 4), "<u2"), array
assert array.flags.writeable == (sys.argv[2] == "")
assert array[0].tolist() == [0x1100, 0x3322, 0x5544, 0x7766], array
if sys.argv[2] == "":
    array[0, 0] = 0xbeef' "$folder/record" "$kind"
		is "${title}_shares_what_is_written" \
			"$(bytes "$src" --offset 16 --length 2)" \
			"$([ "$kind" ] && echo 0011 || echo efbe)"
		"$dmactl" fill "$src" --value 0 --length 64K --cpu \
			>"$folder/rest"
		"$dmactl" fill "$src" --cpu \
			--pattern 00112233445566778899aabbccddeeff \
			>"$folder/rest"
	fi
	error=$("$dmactl" share "$src" "$folder/record" 2>&1)
	is "${title}_never_replaces_a_file" "$? $error" \
		"1 dmactl: cannot make '$folder/record': File exists"
	is "${title}_has_a_keeper_of_its_own" "$(keepers)" 3
	# ends those that keep the buffer, and takes the record away
	"$dmactl" free "$src" >"$folder/rest"
	[ ! -e "$folder/record" ]
	ok $? "${title}_takes_the_record_away_at_the_end"
	src=$("$dmactl" alloc 64K --name src)
	"$dmactl" fill "$src" --pattern 00112233445566778899aabbccddeeff --cpu \
		>"$folder/rest"
done

# The commands of pages of docs/.
# page NAME: the fact that they succeed, behind those that install dmactl; their output
# is in $folder/said
page()
{
	mkdir "$folder/$1"
	sed -n '/^    sudo apt-get/,/^$/d; s/^    //p' "$1.md" >"$folder/commands"
	# shellcheck disable=SC2016 # for the other shell
	run "the_commands_of_${1}_run" sh -c 'cd "$1" && PATH=$2:$PATH sh -eux ../commands' \
		sh "$folder/$1" "$folder"
	is "${1}_leaves_no_file" "$(ls "$folder/$1")" ""
	is "${1}_leaves_no_buffer" "$(left)" "$kept"
}

# prints PAGE PATTERN...: facts about that output
prints()
{
	title=$1
	shift
	for words; do
		grep -q "$words" "$folder/said"
		ok $? "${title}_prints_${words#^}"
	done
}

if [ -e bring-up.md ]; then
	printf '#!/bin/sh\nexec "%s/%s" "$@"\n' "$PWD" "${dmactl#./}" \
		>"$folder/dmactl"
	chmod 755 "$folder/dmactl"
	kept=$(left)
	page bring-up
	prints bring-up '^[0-9]* passed, 0 failed, ' '^filled: 64.0K in ' \
		'^copied: 8.0K in ' '^00000000  de ad be ef ' \
		'^descriptor [0-9]*, 4096 bytes$' '^freed: 1 buffer, 64.0K$'
	page memory-is-gone
	prints memory-is-gone '^total: [0-9]* dma-buf' '^\(yes\|likely\): ' '^NODE .*QUARANTINE' \
		'^idle .* 1.0M .* lost ' '^command: .*dmactl.* alloc 1M' \
		'^freed: 1 buffer, 1.0M$'
fi

# Rights: others reach nothing.
mode=$(stat -c %a /dev/dray0)
chmod 666 /dev/dray0
error=$(as_nobody "$dmactl dump -n dray0 $src" 2>&1)
is others_see_no_bytes "$? $error" \
	"1 dmactl: no buffer $src; 'dmactl list' shows those that you may see"
theirs=$(as_nobody "$dmactl alloc -n dray0 4096")
like root_reaches_memory_of_others "$("$dmactl" fill "$theirs" --value 1 --cpu)" \
	'filled: *'
error=$(as_nobody "$dmactl free -n dray0 $theirs" 2>&1)
is users_free_their_own "$?" 0
chmod "$mode" /dev/dray0

"$dmactl" free --all >"$folder/rest"
is nothing_is_kept_at_the_end "$(keepers)" 0
is no_buffer_is_left_at_the_end "$(left)" \
	"$before"
sed 's/^/# /' "$folder/errors"
finish
