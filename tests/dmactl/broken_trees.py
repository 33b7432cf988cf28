# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Device trees with one mistake each: a good tree, and a table of edits to it.

PHANDLE becomes the property phandle in the blob: dtc resolves no reference in a tree
with a number twice.
"""

from typing import NamedTuple

GOOD = """/dts-v1/;
/ {
	#address-cells = <2>;
	#size-cells = <2>;
	cpus {
		#address-cells = <1>;
		#size-cells = <0>;
		cpu@0 { device_type = "cpu"; compatible = "arm,cortex-a53"; reg = <0>; };
	};
	memory@0 {
		device_type = "memory";
		reg = <0 0 0 0x80000000>, <8 0 0 0x80000000>;
	};
	reserved-memory {
		#address-cells = <2>;
		#size-cells = <2>;
		ranges;
		shared: cma@20000000 {
			compatible = "shared-dma-pool";
			reg = <0 0x20000000 0 0x20000000>;
			reusable;
		};
		dedicated: buffers@40000000 {
			reg = <0 0x40000000 0 0x4000000>;
		};
		carved: carveout@50000000 {
			reg = <0 0x50000000 0 0x1000000>;
			no-map;
		};
	};
	clk: clock {
		compatible = "fixed-clock";
		#clock-cells = <0>;
		clock-frequency = <100000000>;
	};
	gic: interrupt-controller {
		compatible = "arm,gic-400";
		#interrupt-cells = <3>;
		interrupt-controller;
	};
	axi: axi {
		compatible = "simple-bus";
		#address-cells = <1>;
		#size-cells = <1>;
		ranges = <0 0 0xe0000000 0x20000000>;
		dma0: dma@100000 {
			compatible = "xlnx,zynqmp-dma-1.0";
			reg = <0x100000 0x1000>;
			interrupts = <0 124 4>;
			xlnx,bus-width = <128>;
			clocks = <&clk>, <&clk>;
			clock-names = "clk_main", "clk_apb";
			#dma-cells = <1>;
		};
		dma1: dma@200000 {
			compatible = "xlnx,axi-dma-1.00.a";
			reg = <0x200000 0x1000>;
			xlnx,addrwidth = <32>;
			clocks = <&clk>;
			clock-names = "s_axi_lite_aclk";
			#dma-cells = <1>;
			dma-channel-mm2s {
				compatible = "xlnx,axi-dma-mm2s-channel";
				interrupts = <0 89 4>;
				xlnx,datawidth = <32>;
			};
			dma-channel-s2mm {
				compatible = "xlnx,axi-dma-s2mm-channel";
				interrupts-extended = <&gic 0 90 4>;
				xlnx,datawidth = <0x20>;
			};
		};
		smmu: iommu@300000 {
			compatible = "arm,mmu-500";
			reg = <0x300000 0x1000>;
			#iommu-cells = <1>;
		};
		uart: serial@400000 {
			compatible = "cdns,uart-r1p12";
			reg = <0x400000 0x1000>;
		};
	};
	dray {
		compatible = "dray,node";
		memory-region = <&dedicated>, <&shared>, <&carved>;
		memory-region-names = "reserved", "cma", "carveout";
		dmas = <&dma0 0>, <&dma1 1>;
		dma-names = "mem0", "rx0";
	};
};
"""

DEDICATED = "reg = <0 0x40000000 0 0x4000000>;"
SHARED = "reg = <0 0x20000000 0 0x20000000>;"
CARVED = "reg = <0 0x50000000 0 0x1000000>;"
DMAS = "dmas = <&dma0 0>, <&dma1 1>;"
NAMES = 'dma-names = "mem0", "rx0";'
REGIONS = "memory-region = <&dedicated>, <&shared>, <&carved>;"
CPU = 'compatible = "arm,cortex-a53"'
BUFFERS = "/reserved-memory/buffers@40000000"
CMA = "/reserved-memory/cma@20000000"
CARVEOUT = "/reserved-memory/carveout@50000000"


def fifo(addresses, widths="0 4", bursts="0 1"):
    return (DMAS, f"{DMAS} dray,fifo-addresses = /bits/ 64 <{addresses}>; "
            f"dray,fifo-widths = <{widths}>; dray,fifo-bursts = <{bursts}>;")


class Broken(NamedTuple):
    edits: list  # of (text, its replacement)
    severity: str
    rule: str
    path: str
    sentence: str
    options: tuple = ()


BROKEN = {
    "overlap": Broken(
        [(CARVED, "reg = <0 0x42000000 0 0x1000000>;")],
        "error", "region-overlap", CARVEOUT,
        f"0x42000000 to 0x42ffffff overlaps {BUFFERS}, 0x40000000 to 0x43ffffff"),
    "overlap-memreserve": Broken(
        [("/ {", "/memreserve/ 0x41000000 0x1000;\n/ {")],
        "error", "region-overlap", BUFFERS,
        "0x40000000 to 0x43ffffff overlaps /memreserve/, 0x41000000 to 0x41000fff"),
    "overlap-banks": Broken(
        [("<8 0 0 0x80000000>", "<0 0x70000000 0 0x20000000>")],
        "warning", "memory-overlap", "/memory@0",
        "the bank at 0x70000000 overlaps the bank from 0 to 0x7fffffff"),
    "outside-memory": Broken(
        [(DEDICATED, "reg = <0 0x90000000 0 0x4000000>;")],
        "error", "region-outside", BUFFERS,
        "0x90000000 to 0x93ffffff is not memory"),
    "partly-outside-memory": Broken(
        [(DEDICATED, "reg = <0 0x7e000000 0 0x4000000>;")],
        "error", "region-outside", BUFFERS,
        "0x7e000000 to 0x81ffffff is only partly memory"),
    "page-alignment": Broken(
        [(DEDICATED, "reg = <0 0x40000200 0 0x4000000>;")],
        "warning", "region-alignment", BUFFERS,
        "0x40000200 and the size 0x4000000 are not multiples of a page, 0x1000: "
        "dray leaves out the parts of pages"),
    "page-alignment-64k": Broken(
        [(DEDICATED, "reg = <0 0x40001000 0 0x4000000>;")],
        "note", "region-alignment-64k", BUFFERS,
        "0x40001000 and the size 0x4000000 are not multiples of 0x10000: a kernel "
        "with pages of 64 KiB leaves out the parts"),
    "too-small": Broken(
        [(DEDICATED, "reg = <0 0x40000000 0 0x800>;")],
        "error", "region-small", BUFFERS,
        "its size is 2048 bytes; a heap needs a page of 4096 at least"),
    "cma-alignment": Broken(
        [(SHARED, "reg = <0 0x20100000 0 0x1f000000>;")],
        "error", "region-alignment-cma", CMA,
        "0x20100000 and the size 0x1f000000 are not multiples of the unit of CMA, "
        "0x200000, so Linux makes no area of it"),
    "cma-alignment-old": Broken(
        [(SHARED, "reg = <0 0x20200000 0 0x1f000000>;")],
        "warning", "region-alignment-cma", CMA,
        "0x20200000 and the size 0x1f000000 are not multiples of 0x400000: kernels "
        "before 5.18 make no area of it"),
    "cma-alignment-64k": Broken(
        [(SHARED, "reg = <0 0x20000000 0 0x1f000000>;")],
        "note", "region-alignment-64k", CMA,
        "a kernel with pages of 64 KiB makes no CMA area of it: the unit is "
        "0x20000000 there"),
    "both-flags": Broken(
        [("no-map;", "no-map; reusable;")],
        "error", "region-flags", CARVEOUT,
        "no-map and reusable contradict each other: the system cannot use memory "
        "that it does not map"),
    "no-map-missing": Broken(
        [("no-map;", "")],
        "error", "region-kind", CARVEOUT,
        "memory-region-names calls it carveout, but it makes a heap of the kind "
        "reserved"),
    "reusable-missing": Broken(
        [('compatible = "shared-dma-pool";', ""), ("reusable;", "")],
        "error", "region-kind", CMA,
        "memory-region-names calls it cma, but it makes a heap of the kind reserved"),
    "no-map-too-many": Broken(
        [(DEDICATED, DEDICATED + " no-map;")],
        "error", "region-kind", BUFFERS,
        "memory-region-names calls it reserved, but it makes a heap of the kind "
        "carveout"),
    "reusable-alone": Broken(
        [('compatible = "shared-dma-pool";', ""), ('"cma"', '"lent"')],
        "warning", "region-reusable", CMA,
        'reusable has no effect without the compatible "shared-dma-pool": the heap '
        "is of the kind reserved"),
    "pool-alone": Broken(
        [("reusable;", ""), ('"cma"', '"lent"')],
        "warning", "region-reusable", CMA,
        "a shared-dma-pool without reusable is not a CMA area: the heap is of the "
        "kind reserved"),
    "bounce-pool": Broken(
        [(DEDICATED, DEDICATED + ' compatible = "restricted-dma-pool";')],
        "error", "region-owner", BUFFERS,
        "Linux uses a restricted-dma-pool for bounce buffers"),
    "two-owners": Broken(
        [("uart: serial@400000 {",
          "uart: serial@400000 { memory-region = <&dedicated>;")],
        "warning", "region-owner", BUFFERS,
        "/axi/serial@400000 names it, too: its driver may use the same memory"),
    "ranges-missing": Broken(
        [("#size-cells = <2>;\n\t\tranges;", "#size-cells = <2>;")],
        "error", "reserved-ranges", "/reserved-memory",
        "ranges is missing, so Linux ignores all regions"),
    "cells-differ": Broken(
        [("\treserved-memory {\n\t\t#address-cells = <2>;\n\t\t#size-cells = <2>;",
          "\treserved-memory {\n\t\t#address-cells = <2>;\n\t\t#size-cells = <1>;"),
         (SHARED, "reg = <0 0x20000000 0x20000000>;"),
         (DEDICATED, "reg = <0 0x40000000 0x4000000>;"),
         (CARVED, "reg = <0 0x50000000 0x1000000>;")],
        "error", "reserved-format", "/reserved-memory",
        "#size-cells is 1, but the root's is 2, so Linux ignores all regions"),
    "cells-missing": Broken(
        [("\treserved-memory {\n\t\t#address-cells = <2>;", "\treserved-memory {")],
        "error", "reserved-format", "/reserved-memory",
        "#address-cells is missing, so Linux ignores all regions"),
    "region-cut-off": Broken(
        [(DEDICATED, "reg = <0 0x40000000 0x4000000>;")],
        "error", "region-format", BUFFERS,
        "reg does not fit 2 address and 2 size cells of /reserved-memory"),
    "memory-cut-off": Broken(
        [("<0 0 0 0x80000000>, <8 0 0 0x80000000>",
          "<0 0 0 0x80000000>, <8 0 0x80000000>")],
        "error", "memory-format", "/memory@0",
        "entry 1 of reg is cut off or exceeds 64 bits, with 2 address and 2 size "
        "cells"),
    "region-empty": Broken(
        [(DEDICATED, "")],
        "error", "region-format", BUFFERS, "it lacks both reg and size"),
    "region-twice": Broken(
        [(DEDICATED, DEDICATED + " size = <0 0x4000000>;")],
        "warning", "region-format", BUFFERS, "it states both reg and size: Linux uses reg"),
    "region-entries": Broken(
        [(DEDICATED, "reg = <0 0x40000000 0 0x2000000>, <0 0x42000000 0 0x1000000>;")],
        "warning", "region-entries", BUFFERS,
        "reg lists several entries: the heap is the first"),
    "region-off": Broken(
        [(DEDICATED, DEDICATED + ' status = "disabled";')],
        "error", "region-disabled", BUFFERS,
        'its status is "disabled": Linux does not reserve it'),
    "region-elsewhere": Broken(
        [(REGIONS, "memory-region = <&uart>, <&shared>, <&carved>;")],
        "error", "region-elsewhere", "/dray",
        "memory-region names /axi/serial@400000, which is not a region"),
    "region-repeated": Broken(
        [(REGIONS, "memory-region = <&shared>, <&shared>, <&carved>;"),
         ('"reserved", "cma"', '"lent", "cma"')],
        "warning", "reference-repeated", "/dray",
        "entry 1 of memory-region names a region again"),
    "region-names-short": Broken(
        [('"reserved", "cma", "carveout"', '"reserved", "cma"')],
        "warning", "names-count", "/dray",
        "memory-region-names lists 2 names, but memory-region 3 entries"),
    "region-dangling": Broken(
        [(REGIONS, "memory-region = <0x7777>, <&shared>, <&carved>;")],
        "error", "reference-dangling", "/dray",
        "entry 0 of memory-region is the phandle 0x7777, which is not a node's"),
    "registers-in-region": Broken(
        [(CARVED, "reg = <0 0xe0400000 0 0x1000000>;")],
        "error", "region-registers", CARVEOUT,
        "the registers of /axi/serial@400000, 0xe0400000 to 0xe0400fff, lie in it"),
    "no-room": Broken(
        [(DEDICATED, "size = <0 0x20000000>; alloc-ranges = <0 0x70000000 0 0x20000000>;")],
        "error", "region-room", BUFFERS,
        "its size is 512.0M, but the longest range of memory in alloc-ranges is 256.0M"),
    "placed-too-high": Broken(
        [(DEDICATED, "size = <0 0x4000000>;")],
        "warning", "region-reach", BUFFERS,
        "Linux may place it up to 0x87fffffff, but /axi/dma@200000 reaches up to "
        "0xffffffff"),
    "engine-of-32-bits": Broken(
        [(DEDICATED, "reg = <8 0x40000000 0 0x4000000>;")],
        "error", "region-reach", BUFFERS,
        "/axi/dma@200000 with 32 address bits reaches memory up to 0xffffffff, but "
        "the region is 0x840000000 to 0x843ffffff"),
    "mask": Broken(
        [(DEDICATED, "reg = <0 0x10000000 0 0x4000000>;")], "error", "region-reach", CARVEOUT,
        "/dray with 30 address bits reaches memory up to 0x3fffffff, but the region "
        "is 0x50000000 to 0x50ffffff", ("--mask", "30")),
    "bus-window": Broken(
        [("ranges = <0 0 0xe0000000 0x20000000>;",
          "ranges = <0 0 0xe0000000 0x20000000>; "
          "dma-ranges = <0xc0000000 0 0 0x3fff0000>;"), (", <&dma1 1>", ""),
         (', "rx0"', ""), (DEDICATED, "reg = <0 0x3c000000 0 0x3ff0000>;"),
         (SHARED, "reg = <0 0x10000000 0 0x20000000>;")],
        "error", "region-reach", CARVEOUT,
        "/axi/dma@100000 with 44 address bits reaches memory up to 0x3ffeffff, but "
        "the region is 0x50000000 to 0x50ffffff"),
    "above-4g-of-32-bits": Broken(
        [(CPU, 'compatible = "arm,cortex-a15"'), (", <&dma1 1>", ""),
         (', "rx0"', ""), (DEDICATED, "reg = <8 0x40000000 0 0x4000000>;"),
         (SHARED, "reg = <0 0x20000000 0 0x1000000>;")],
        "warning", "region-lpae", BUFFERS,
        "0x843ffffff is above 4 GiB: a 32-bit kernel needs LPAE for it"),
    "two-zones": Broken(
        [(CPU, 'compatible = "arm,cortex-a9"'), ("<&dma0 0>, <&dma1 1>", "<&dma0 0>"),
         ('"mem0", "rx0"', '"mem0"')],
        "warning", "region-zones", CMA,
        "0x20000000 to 0x3fffffff crosses the end of low memory, 0x2f800000 by "
        "default: a 32-bit kernel makes no CMA area of it"),
    "engine-dangling": Broken(
        [(DMAS, "dmas = <&dma0 0>, <0x7777 1>;")],
        "error", "reference-dangling", "/dray",
        "entry 1 of dmas is the phandle 0x7777, which is not a node's; the entry before may be of too many or too few cells"),
    "cells-too-few": Broken(
        [(DMAS, "dmas = <&dma0 0>, <&dma1>;")],
        "error", "specifier-short", "/dray",
        "entry 1 of dmas ends after 0 of the 1 cells that /axi/dma@200000 demands "
        "(#dma-cells)"),
    "cells-too-many": Broken(
        [(DMAS, "dmas = <&dma0 0 0>, <&dma1 1>;")],
        "error", "reference-dangling", "/dray",
        "entry 1 of dmas is the phandle 0, which is not a node's; the entry before may be of too many or too few cells"),
    "no-engine": Broken(
        [(DMAS, "dmas = <&dma0 0>, <&uart 1>;")],
        "error", "provider-cells", "/dray",
        "entry 1 of dmas names /axi/serial@400000, which lacks #dma-cells"),
    "engine-off": Broken(
        [("xlnx,addrwidth = <32>;", 'xlnx,addrwidth = <32>; status = "disabled";')],
        "error", "provider-disabled", "/dray",
        "entry 1 of dmas names /axi/dma@200000, which is switched off"),
    "engine-empty": Broken(
        [('compatible = "xlnx,axi-dma-1.00.a";', "")],
        "error", "provider-empty", "/dray",
        "entry 1 of dmas names /axi/dma@200000, which is not a device: its "
        "compatible is missing"),
    "engine-without-channels": Broken(
        [("dma-channel-mm2s {", 'dma-channel-mm2s { status = "okay";'),
         ('compatible = "xlnx,axi-dma-mm2s-channel";', ""),
         ('compatible = "xlnx,axi-dma-s2mm-channel";', "")],
        "error", "engine-channels", "/axi/dma@200000",
        "no channels: the driver of xlnx,axi-dma-1.00.a finds them as children that "
        "are compatible to xlnx,axi-dma-mm2s-channel or xlnx,axi-dma-s2mm-channel"),
    "channel-absent": Broken(
        [('compatible = "xlnx,axi-dma-s2mm-channel";', "")],
        "error", "engine-channel", "/dray",
        "entry 1 of dmas means channel 1 of /axi/dma@200000, which has no such channel"),
    "channel-number": Broken(
        [(DMAS, "dmas = <&dma0 0>, <&dma1 2>;")],
        "error", "engine-channel", "/dray",
        "entry 1 of dmas means channel 2 of /axi/dma@200000, which has no such channel"),
    "channel-direction": Broken(
        [(DMAS, "dmas = <&dma0 0>, <&dma1 0>;")],
        "error", "engine-direction", "/dray",
        'dma-names: "rx0" is channel 0 of /axi/dma@200000, MM2S, which sends'),
    "channel-width": Broken(
        [("xlnx,datawidth = <0x20>;", "")],
        "error", "engine-property", "/axi/dma@200000/dma-channel-s2mm",
        "xlnx,datawidth is missing, without which the driver of xlnx,axi-dma-1.00.a "
        "does not start the engine"),
    "channel-interrupt": Broken(
        [("interrupts-extended = <&gic 0 90 4>;", "")],
        "error", "engine-property", "/axi/dma@200000/dma-channel-s2mm",
        "interrupts is missing, without which the driver of xlnx,axi-dma-1.00.a "
        "does not start the engine"),
    "engine-clock": Broken(
        [('clock-names = "clk_main", "clk_apb";', 'clock-names = "clk_main", "other";')],
        "error", "engine-clock", "/axi/dma@100000",
        'the clock "clk_apb" is missing, without which the driver of '
        "xlnx,zynqmp-dma-1.0 does not start the engine"),
    "engine-bus": Broken(
        [("xlnx,bus-width = <128>;", "")],
        "error", "engine-property", "/axi/dma@100000",
        "xlnx,bus-width is missing, without which the driver of xlnx,zynqmp-dma-1.0 "
        "does not start the engine"),
    "iommu-off": Broken(
        [("#iommu-cells = <1>;", '#iommu-cells = <1>; status = "disabled";'),
         (NAMES, NAMES + " iommus = <&smmu 5>;")],
        "error", "provider-disabled", "/dray",
        "entry 0 of iommus names /axi/iommu@300000, which is switched off"),
    "names-short": Broken(
        [(NAMES, 'dma-names = "mem0";')],
        "error", "names-count", "/dray",
        "dmas lists 2 entries, but dma-names 1 names: dray uses channels with both"),
    "names-kind": Broken(
        [(NAMES, 'dma-names = "mem0", "copy0";')],
        "error", "names-kind", "/dray",
        'dma-names: "copy0" does not begin with mem, tx, rx or display, so dray '
        "refuses the node"),
    "names-repeated": Broken(
        [(NAMES, 'dma-names = "mem0", "mem0";')],
        "error", "names-repeated", "/dray",
        'dma-names lists "mem0" twice: both mean the first channel'),
    "incoherent-engine": Broken(
        [("xlnx,addrwidth = <32>;", "xlnx,addrwidth = <32>; dma-coherent;"),
         (NAMES, NAMES + " dma-coherent;")],
        "warning", "coherence", "/dray",
        "the node is dma-coherent, but its engine /axi/dma@100000 is not: programs "
        "would skip the maintenance that it needs"),
    "engine-shared": Broken(
        [("uart: serial@400000 {", "uart: serial@400000 { dmas = <&dma1 0>;")],
        "error", "engine-shared", "/dray",
        "/axi/dma@200000 also provides channels to /axi/serial@400000: the engine stops "
        "all of them together, so dray refuses them while that device holds a channel"),
    "fifo-count": Broken(
        [fifo("0xe0400030")], "error", "fifo-count", "/dray",
        "dray,fifo-addresses has 1 entries, but dma-names 2 names"),
    "fifo-width": Broken(
        [fifo("0 0xe0400030", "0 3")], "error", "fifo-width", "/dray",
        "dray,fifo-widths: 3 of rx0 is not 1, 2, 4, 8, 16, 32 or 64"),
    "fifo-burst": Broken(
        [fifo("0 0xe0400030", bursts="0 0")], "error", "fifo-burst", "/dray",
        "dray,fifo-bursts: 0 of rx0 is below 1"),
    "fifo-alignment": Broken(
        [fifo("0 0xe0400032")], "error", "fifo-alignment", "/dray",
        "dray,fifo-addresses: 0xe0400032 of rx0 is not a multiple of its width 4"),
    "fifo-memory": Broken(
        [fifo("0 0x10000000")], "error", "fifo-memory", "/dray",
        "dray,fifo-addresses: 0x10000000 of rx0 is memory"),
    "compatible": Broken(
        [('"dray,node"', '"dray,nodes"')],
        "error", "compatible", "/dray",
        'the compatible "dray,nodes" is nearly "dray,node": dray does not bind to it'),
    "property": Broken(
        [(NAMES, NAMES + " memory-regions = <&dedicated>;")],
        "warning", "property-unknown", "/dray",
        "dray does not know the property memory-regions"),
    "bus": Broken(
        [('axi: axi {\n\t\tcompatible = "simple-bus";', "axi: axi {"),
         ("uart: serial@400000 {",
          'dray { compatible = "dray,node"; memory-region = <&dedicated>; };\n'
          "uart: serial@400000 {")],
        "error", "bus", "/axi/dray",
        "axi above it is not a simple-bus, so Linux does not make a device of it"),
    "node-off": Broken(
        [(NAMES, NAMES + ' status = "disabled";')],
        "warning", "status", "/dray",
        "it, or a node above it, is switched off: there will be no /dev/dray"),
    "phandle-twice": Broken(
        [("uart: serial@400000 {", "serial@400000 { PHANDLE = <0x55>;"),
         ("smmu: iommu@300000 {", "iommu@300000 { PHANDLE = <0x55>;")],
        "error", "phandle-duplicate", "/axi/serial@400000",
        "the phandle 0x55 belongs to /axi/iommu@300000, too"),
    "other-reference": Broken(
        [("uart: serial@400000 {", "uart: serial@400000 { iommus = <0x7777>;")],
        "warning", "reference-dangling", "/axi/serial@400000",
        "entry 0 of iommus is the phandle 0x7777, which is not a node's"),
    "terminal": Broken(
        [(NAMES, 'dma-names = "mem0", "\\x1b[2J";')],
        "error", "names-kind", "/dray",
        'dma-names: "\x1b[2J" does not begin with mem, tx, rx or display, so dray '
        "refuses the node"),
}


def source(broken):
    text = GOOD
    for old, new in broken.edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text
