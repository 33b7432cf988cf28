# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which places of dray.ko that allocate no failure has reached.

    places.py [--insertion] [--machine NAME] dray.ko unreached.txt [LOG...]

A place is a call, in the module's object, of a function of the kernel's that
allocates; one for each such call that the compiler has left, whichever lines
of the source it is for.  Counted is what can fail for want of memory by what
it allocates itself or by what it calls in the kernel.  Not counted are copies
from and to programs, calls through pointers (they lead into other drivers),
mappings for devices (DMA's own tables are an IOMMU's matter), and what ends
things.  A failure in a function that is not counted is said, so that the list
below stays whole.

Without a log the places are listed that are to be reached, as the program
faults reads them.  The logs are its own: "# place FUNCTION+OFFSET".  The file
unreached.txt has a line "FUNCTION CALLEE WHERE: WHY" for each place that is
known not to be reached: WHERE is any, the name of a machine, or insertion, for
what the module's insertion alone does.  The exit status is 1 where a place was
not reached and has no line, or where a line is for no such place.

With --insertion, one of the logs is of that, and places of the insertion may
be reached or not: how much is allocated before differs from one to the next,
so that one may be passed over.  Lines for any machine are written for the PC:
what another's compiler has made part of its caller, or its kernel lacks, may
be missing in its module.
"""
import argparse
import collections
import re
import subprocess
import sys

ALLOCATING = re.compile(r"""(
    _*k[mzvc]?[vmz]?alloc(_\w+)? | _*kvmalloc\w* | krealloc\w*
    | kmem_cache_\w*alloc\w* | _*alloc_pages\w* | vmalloc\w* | _*get_free_pages
    | kmemdup\w* | kstrdup\w* | kvasprintf | kasprintf | v?memdup_user\w*
    | devm_k[mz]alloc\w* | _*devm_add_action
    | bitmap_z?alloc\w* | sg_alloc_table\w* | xa_\w*(alloc|store)\w*
    | ida_alloc\w* | idr_alloc\w* | alloc_workqueue
    | dma_alloc_\w+ | memremap | remap_pfn_range | remap_vmalloc_range
    | vm_insert_pages?
    | pin_user_pages\w* | anon_inode_getf\w+ | get_unused_fd_flags
    | __request_region
    | dma_buf_(export|attach) | dma_buf_map_attachment\w*
    | dma_resv_(get_fences|reserve_fences) | sync_file_create
    | dma_request_chan\w* | single_open
    | class_register | misc_register | device_add | device_link_add
    | dev_set_name | debugfs_create_\w+ | __platform_driver_register
    | __pci_register_driver | driver_attach | platform_device_register_full
    )(_noprof)?""", re.VERBOSE)

# Where it returns to, in its section.
Call = collections.namedtuple("Call", "function callee section back")

RELOCATION = re.compile(
    r"([0-9a-f]{16}) +[0-9a-f]+ +R_(?:X86_64_PLT32|AARCH64_CALL26) "
    r"+[0-9a-f]+ (\S+)")


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], check=True,
                          capture_output=True, text=True).stdout.splitlines()


def functions(path):
    """For each section, by its number: (start, end, name), in order."""
    found = {}
    for line in readelf("-s", path):
        words = line.split()
        if len(words) == 8 and words[3] == "FUNC" and words[6].isdigit():
            start, size = int(words[1], 16), int(words[2], 0)
            if size:
                found.setdefault(int(words[6]), []).append(
                    (start, start + size, words[7]))
    return found


def sections(path):
    """{name: number}"""
    form = re.compile(r" +\[ *(\d+)\] (\S+) ")
    found = {}
    for line in readelf("-S", path):
        section = form.match(line)
        if section:
            found[section[2]] = int(section[1])
    return found


def calls(path):
    """{"function+0xoffset": Call} for every call that the linker resolves.

    None of them is a jump, which would return to the function's caller: where
    faults are injected the module is compiled without (driver/Makefile).
    """
    found, inside, section = {}, [], ""
    where, known = sections(path), functions(path)
    for line in readelf("-r", path):
        begins = re.match(r"Relocation section '\.rela(\S+)'", line)
        if begins:
            section = begins[1]
            inside = known.get(where.get(section), [])
            continue
        call = RELOCATION.match(line)
        if not call:
            continue
        # The stack has where a call returns to.  x86 has the address at the
        # end of the instruction, arm64 at its start: four bytes on, each.
        back = int(call[1], 16) + 4
        for start, end, name in inside:
            if start < back <= end:
                found[f"{name}+0x{back - start:x}"] = Call(
                    name, call[2].removesuffix("_noprof"), section, back)
    return found


def excuses(path, wheres):
    """How many of (function, callee) are excused, in one of @wheres."""
    found = collections.Counter()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            entry = re.match(r"(\S+) (\S+) (\w+): \S", line)
            if not entry:
                sys.exit(f"{path}: no line of this form: {line}")
            if entry[3] in wheres:
                found[entry[1], entry[2]] += 1
    return found


def reached_in(logs):
    reached = set()
    for log in logs:
        with open(log, encoding="utf-8", errors="replace") as lines:
            reached |= {line.split()[2] for line in lines
                        if line.startswith("# place ")}
    return reached


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--insertion", action="store_true")
    options.add_argument("--machine", default="pc")
    options.add_argument("module")
    options.add_argument("unreached")
    options.add_argument("logs", nargs="*")
    options = options.parse_args()

    outside = calls(options.module)
    places = {at: call for at, call in outside.items()
              if ALLOCATING.fullmatch(call.callee)}
    reached = reached_in(options.logs)
    excused = excuses(options.unreached, {"any", options.machine, "insertion"})
    stale = excuses(options.unreached, {"any", options.machine} |
                    (set() if options.insertion else {"insertion"}))
    left = {at: call for at, call in places.items() if at not in reached}
    counts = collections.Counter(call[:2] for call in left.values())
    wanted = {at: call for at, call in left.items()
              if counts[call[:2]] > excused[call[:2]]}
    if not options.logs:
        for at, call in sorted(wanted.items()):
            if call.section == ".text":
                print(f"{at} {call.back:x}")
        return 0

    bad = len(wanted)
    for at, call in sorted(wanted.items()):
        print(f"no failure has reached {call.callee}() in {at}")
    present = {call[:2] for call in places.values()}
    for call in sorted(stale):
        if options.machine != "pc" and call not in present:
            continue
        if counts[call] < stale[call]:
            print(f"{options.unreached}: {' '.join(call)} is reached, or gone")
            bad += 1
    for at in sorted(reached - set(places)):
        if at in outside:
            print(f"{outside[at].callee}() in {at} allocates, and is not "
                  "counted")
        else:
            print(f"what failed in {at} is no call of the object")
        bad += 1
    print(f"places: {len(places) - len(left)} of {len(places)} that allocate "
          f"were reached")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
