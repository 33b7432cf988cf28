# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Checks the dray nodes of compiled device trees: referenced nodes exist and
are enabled; memory regions lie in the board's memory, overlap no other
reservation and suit their heap.  Prints mistakes and fails if there are any.

usage: trees.py FILE.dtb...
"""

import struct
import sys

import libfdt


class Node:
    """A node of a tree; properties are bytes."""

    def __init__(self, path, parent):
        self.path = path or "/"
        self.parent = parent
        self.children = []
        self.properties = {}

    def numbers(self, name):
        """Returns a property's numbers, or None."""
        data = self.properties.get(name)
        return data and list(struct.unpack(f">{len(data) // 4}I", data))

    def strings(self, name):
        data = self.properties.get(name, b"")
        return data.decode().rstrip("\0").split("\0") if data else []

    def all(self):
        """Yields this node and all below."""
        yield self
        for child in self.children:
            yield from child.all()

    def width(self, name, default):
        """#address-cells or #size-cells."""
        return (self.numbers(name) or [default])[0]

    def ranges(self):
        """Yields start and end of each entry of reg."""
        address = self.parent.width("#address-cells", 2)
        entry = address + self.parent.width("#size-cells", 1)
        numbers = self.numbers("reg") or []
        for i in range(0, len(numbers), entry):
            start = length = 0
            for number in numbers[i:i + address]:
                start = start << 32 | number
            for number in numbers[i + address:i + entry]:
                length = length << 32 | number
            yield start, start + length


def read(fdt, at, path, parent):
    """Reads the node at an offset and all below."""
    node = Node(path, parent)
    entry = fdt.first_property_offset(at, libfdt.QUIET_NOTFOUND)
    while entry >= 0:
        found = fdt.get_property_by_offset(entry)
        node.properties[found.name] = bytes(found)
        entry = fdt.next_property_offset(entry, libfdt.QUIET_NOTFOUND)
    child = fdt.first_subnode(at, libfdt.QUIET_NOTFOUND)
    while child >= 0:
        node.children.append(
            read(fdt, child, f"{path}/{fdt.get_name(child)}", node))
        child = fdt.next_subnode(child, libfdt.QUIET_NOTFOUND)
    return node


class Check:
    """Collects the mistakes of a tree."""

    def __init__(self, path):
        with open(path, "rb") as file:
            fdt = libfdt.Fdt(file.read())
        self.root = read(fdt, 0, "", None)
        self.kept = [(start, start + size) for start, size in (
            fdt.get_mem_rsv(i) for i in range(fdt.num_mem_rsv()))]
        self.wrong = []
        self.phandles = {}
        self.memory = []
        self.reserved = []
        for node in self.root.all():
            for number in node.numbers("phandle") or []:
                self.phandles[number] = node
            if node.strings("device_type") == ["memory"]:
                self.memory += node.ranges()
            if node.parent and node.parent.path == "/reserved-memory":
                self.reserved.append(node)

    def node_of(self, phandle, what):
        """Finds the node with this phandle; returns None if there is none."""
        if phandle not in self.phandles:
            self.wrong.append(f"{what}: no node has the phandle {phandle:#x}")
        return self.phandles.get(phandle)

    def region(self, region, name):
        if region not in self.reserved:
            self.wrong.append(f"{region.path} is not in /reserved-memory")
            return
        if not region.numbers("reg"):
            self.wrong.append(f"{region.path} has no address")
        others = [(other.path, range_) for other in self.reserved
                  if other is not region for range_ in other.ranges()]
        others += [("/memreserve/", range_) for range_ in self.kept]
        for start, end in region.ranges():
            if not any(low <= start and end <= high
                       for low, high in self.memory):
                self.wrong.append(
                    f"{region.path}: {start:#x} to {end:#x} is not memory")
            for path, (low, high) in others:
                if start < high and low < end:
                    self.wrong.append(f"{region.path} overlaps {path}")
        lent = "reusable" in region.properties
        if name == ("reserved" if lent else "cma"):
            self.wrong.append(f"{region.path} is not a heap \"{name}\"")

    def engines(self, node):
        """Checks the provider of each channel."""
        numbers, count = node.numbers("dmas") or [], 0
        while numbers:
            engine = self.node_of(numbers[0], "dmas")
            if engine is None:
                return
            size = engine.numbers("#dma-cells")
            if size is None:
                self.wrong.append(f"{engine.path} is not a DMA controller")
                return
            # An overlay of a missing node creates an empty node.
            if not engine.strings("compatible"):
                self.wrong.append(f"{engine.path} is not a device")
            if engine.strings("status") not in ([], ["okay"]):
                self.wrong.append(f"{engine.path} is switched off")
            numbers = numbers[1 + size[0]:]
            count += 1
        if len(node.strings("dma-names")) != count:
            self.wrong.append(f"{count} channels lack a name each")

    def run(self):
        found = [node for node in self.root.all()
                 if "dray,node" in node.strings("compatible")]
        if not found:
            self.wrong.append("there is no node of dray")
        for node in found:
            names = node.strings("memory-region-names")
            phandles = node.numbers("memory-region") or []
            if len(names) not in (0, len(phandles)):
                self.wrong.append("the regions lack a name each")
            names += [""] * len(phandles)
            for phandle, name in zip(phandles, names):
                region = self.node_of(phandle, "memory-region")
                if region:
                    self.region(region, name)
            self.engines(node)
        return self.wrong


def main():
    status = 0
    for path in sys.argv[1:]:
        for wrong in Check(path).run():
            print(f"{path}: {wrong}")
            status = 1
    return status


sys.exit(main())
