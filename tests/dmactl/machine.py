# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A recorded machine: folders with the files of /proc and /sys that dmactl
reads.  DRAY_ROOT names it to dmactl-scripted."""

from pathlib import Path


class Machine:
    def __init__(self, root: Path):
        self.root = root
        (root / "proc").mkdir(parents=True)

    @property
    def environment(self):
        return {"DRAY_ROOT": str(self.root)}

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def process(self, pid, comm="python3", uid=0):
        folder = f"proc/{pid}"
        self.write(f"{folder}/comm", comm + "\n")
        self.write(f"{folder}/status", f"Name:\t{comm}\nUid:\t{uid}\t{uid}\t"
                   f"{uid}\t{uid}\n")
        self.write(f"{folder}/maps", "")
        for name in ("fd", "fdinfo"):
            (self.root / folder / name).mkdir(exist_ok=True)

    def descriptor(self, pid, number, target, fdinfo):
        (self.root / f"proc/{pid}/fd/{number}").symlink_to(target)
        self.write(f"proc/{pid}/fdinfo/{number}", fdinfo)

    def dmabuf(self, pid, number, inode, size=4096, exporter="dray",
               name=None, count=2):
        """A descriptor, with the fdinfo that the kernel writes for it."""
        text = (f"pos:\t0\nflags:\t02000002\nmnt_id:\t12\nino:\t{inode}\n"
                f"size:\t{size}\ncount:\t{count}\nexp_name:\t{exporter}\n")
        if name is not None:
            text += f"name:\t{name}\n"
        self.descriptor(pid, number, f"/dmabuf:{name or ''}", text)

    def opener(self, pid, number, client, node="dray0", streams=(), **numbers):
        """A descriptor of a node; numbers are keys, as sync_bytes=4096."""
        text = (f"pos:\t0\nflags:\t02100002\nmnt_id:\t5\nino:\t99\n"
                f"dray-node:\t{node}\ndray-client-id:\t{client}\n")
        for key, value in numbers.items():
            text += f"dray-{key.replace('_', '-')}:\t{value}\n"
        text += "".join(f"dray-stream-{name}:\tpackets 1 bytes 2 lost 0 "
                        "held-back 0 ready 0 frames 0\n" for name in streams)
        self.descriptor(pid, number, f"/dev/{node}", text)

    def mapping(self, pid, inode, name="", device="00:0b"):
        path = self.root / f"proc/{pid}/maps"
        self.write(path.relative_to(self.root), path.read_bytes() + (
            f"7f0000000000-7f0000001000 rw-s 00000000 {device} {inode}"
            f"{' ' * 20}/dmabuf:{name}\n").encode())

    def sysfs(self, inode, size, exporter):
        folder = f"sys/kernel/dmabuf/buffers/{inode}"
        self.write(f"{folder}/size", f"{size}\n")
        self.write(f"{folder}/exporter_name", f"{exporter}\n")

    def bufinfo(self, text):
        self.write("sys/kernel/debug/dma_buf/bufinfo", text)


def bufinfo(*rows):
    """Rows (size, count, exporter, inode, name, devices), as 6.1 writes them."""
    text = ("\nDma-buf Objects:\nsize    \tflags   \tmode    \tcount   \t"
            "exp_name\tino     \tname\n")
    for size, count, exporter, inode, name, devices in rows:
        text += (f"{size:08}\t{2:08x}\t{0x80007:08x}\t{count:08}\t{exporter}\t"
                 f"{inode:08}\t{name}\n\tkernel fence:dray timeline seq 3 "
                 "signalled\n\tAttached Devices:\n")
        text += "".join(f"\t{device}\n" for device in devices)
        text += f"Total {len(devices)} devices attached\n\n"
    return text + f"\nTotal {len(rows)} objects, 0 bytes\n"
