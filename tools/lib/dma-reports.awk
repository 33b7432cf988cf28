# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Removes reports of the DMA API debugger from a kernel's log that it cannot tell
# from a fault of dray:
#
# - It looks up a sync by its address.  If two mappings of a device share that
#   address and neither is of the exact length, the kernel's __hash_bucket_find()
#   finds none, and it reports an unmapped sync.  Tests that attach memory twice
#   mark it in the log, before and after.
# - It expects a single mapping of a cache line, but a dma-buf's exporter maps it
#   with cache maintenance for each importing device.  dray itself maps without
#   maintenance.
# - It records at most seven mappings of a line and warns once.  A buffer may be
#   mapped for more devices.
# - Exporters ignore the longest segment of a device.  dray splits segments itself
#   before an engine gets them.
#
# With count=1 it prints the number of such counted reports instead of the log; the
# report of seven mappings is a warning only.

function excused(i, sync, foreign, place)
{
	seven = 0
	for (i = 1; i <= held; i++) {
		# An address on the stack that may be no caller
		if (line[i] ~ /\]  \? /)
			continue
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
		if (line[i] ~ / dray_importers_sync\+/)
			place = place " import"
		if (line[i] ~ / dray_foreign_map\+/)
			place = place " foreign"
	}
	return (seven && place == " buffer") ||
	       (sync && twice && (place == " row" || place == " import")) ||
	       (foreign && place == " foreign")
}

function say(text)
{
	if (!count)
		print text
}

# Prints the held lines that do not match; they may be of another report.
function release(what, i)
{
	for (i = 1; i <= held; i++)
		if (!what || line[i] !~ what)
			say(line[i])
	held = 0
}

/dray test: memory is mapped twice$/ { twice = 1 }
/dray test: no memory is mapped twice$/ { twice = 0 }

# A report of another processor begins within a report: print the first.
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

# The next line of such a report
mapped && /DMA-API: Mapped at:$/ { mapped = 0; next }

{ mapped = 0; say($0) }

END {
	release("")
	if (count)
		print reports + 0
}
