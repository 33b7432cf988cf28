# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Takes out of a kernel's log what the debugger of the DMA API cannot tell from
# a fault of dray's:
#
# - A sync is looked up by its address.  Where two mappings of one device have
#   it, and neither is exactly as long, the debugger finds none (the kernel's
#   __hash_bucket_find() gives up) and says that nothing is mapped.  Tests that
#   attach the same memory twice say so in the log, before and after.
# - A dma-buf's exporter maps it for each device that imports it, and with
#   cache maintenance: the debugger knows one mapping of a line, where dma-bufs
#   are there to be shared.  What dray maps itself it maps without.
# - It has no room for more than seven mappings of a line, and says so once.  A
#   buffer may be mapped for more devices.
# - Exporters do not ask a device how long a piece may be.  What an engine gets
#   dray cuts itself.
#
# With count=1 it prints how many such reports the debugger has counted, and no
# log: the one of seven mappings is a warning only.

function excused(i, sync, foreign, place)
{
	seven = 0
	for (i = 1; i <= held; i++) {
		if (line[i] ~ /DMA-API: .* to sync DMA memory it has not alloc/)
			sync = 1
		if (line[i] ~ /DMA-API: .*: cacheline tracking EEXIST, /)
			foreign = 1
		if (line[i] ~ /DMA-API: .*: mapping sg segment longer than/)
			foreign = 1
		if (line[i] ~ /DMA-API: exceeded 7 overlapping mappings of /)
			seven = 1
		if (line[i] ~ / dray_mapping_make\+/)
			place = place " buffer"
		if (line[i] ~ / dray_sync_row\+/)
			place = place " row"
		if (line[i] ~ / dray_foreign_map\+/)
			place = place " foreign"
	}
	return (seven && place == " buffer") ||
	       (sync && twice && place == " row") ||
	       (foreign && place == " foreign")
}

function say(text)
{
	if (!count)
		print text
}

# The rest of its lines say nothing, or are of something else.
function release(what, i)
{
	for (i = 1; i <= held; i++)
		if (!what || line[i] !~ what)
			say(line[i])
	held = 0
}

/dray test: memory is mapped twice$/ { twice = 1 }
/dray test: no memory is mapped twice$/ { twice = 0 }

# Another processor's report begins within one: then that one is shown.
/-\[ cut here \]-/ { release(""); inside = 1 }

inside {
	line[++held] = $0
	if (/---\[ end trace /) {
		inside = 0
		if (excused()) {
			reports += !seven
			release("DMA-API: |WARNING: CPU: |Call [Tt]race:")
			mapped = 1
		} else {
			release("")
		}
	}
	next
}

# What such a report goes on with
mapped && /DMA-API: Mapped at:$/ { mapped = 0; next }

{ mapped = 0; say($0) }

END {
	release("")
	if (count)
		print reports + 0
}
