# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Shows the parts of dray that this machine has, and the next step if something is missing.

    python -m dray [--json]

The exit status is 1 if dray.open(), and so dray.memory(), fails."""
from __future__ import annotations

import argparse
import errno
import grp
import json
import os
import platform
import pwd
import stat
import sys
from typing import Any, Optional

import numpy

import dray


def _rights(path: str) -> dict[str, Any]:
    try:
        status = os.stat(path)
    except OSError:  # it went away meanwhile
        return {"path": path, "owner": None, "group": None, "mode": None}
    try:
        owner = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        owner = str(status.st_uid)
    try:
        group = grp.getgrgid(status.st_gid).gr_name
    except KeyError:
        group = str(status.st_gid)
    return {"path": path, "owner": owner, "group": group,
            "mode": f"{stat.S_IMODE(status.st_mode):04o}"}


def _permission(rights: dict[str, Any]) -> str:
    """The next step if a node may not be opened."""
    if rights["group"] in (None, "root"):
        return (f"run as root, or give {rights['path']} to a group with the udev rule of "
                "driver/README.md")
    return (f"join the group of {rights['path']} and log in again: "
            f"sudo usermod -aG {rights['group']} {pwd.getpwuid(os.getuid()).pw_name}")


def _step(error: OSError, path: str) -> Optional[str]:
    """The next step if the node of that path fails."""
    if isinstance(error, PermissionError):
        return _permission(_rights(path))
    if error.errno == errno.ENODEV:  # the library's sentence about a missing node ends with it
        return (f"remove {path}, which the module did not make" if os.path.exists(path)
                else error.strerror)
    if error.errno == errno.EPROTO:
        return ("install the module and the library of one version, and load the module again: "
                "rmmod dray && modprobe dray")
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "allow more open files: ulimit -n, or sysctl fs.file-max"
    return "read what the module says in the kernel's log: dmesg | grep dray"


def _node(spec: str, path: Optional[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"name": spec.rpartition(":")[2], "rights": path and _rights(path),
                             "error": None, "next_step": None, "device": None, "version": None,
                             "heaps": [], "streams": []}
    try:
        node = dray.open(spec)
        info = node.info()
        found.update(
            device=info.device, version=info.version if path else None,
            heaps=[{"name": heap.name, "total": heap.total, "free": heap.free}
                   for heap in node.heaps()],
            streams=[{"name": channel.name, "open": channel.open, "dead": channel.dead}
                     for channel in node.channels()])
    except OSError as error:
        found.update(error=error.strerror, next_step=path and _step(error, path))
    return found


def report() -> dict[str, Any]:
    """All that is shown; README.md has a line for each key."""
    versions = dray.versions()
    nodes = [_node(f"kernel:{name}", f"/dev/{name}") for name in dray.nodes()]
    result: dict[str, Any] = {
        "package": versions.package, "library": versions.library, "numpy": numpy.__version__,
        "python": platform.python_version(),
        "module": next((node["version"] for node in nodes if node["version"]), None),
        "loaded": os.path.exists("/sys/module/dray"),
        "DRAY_BACKEND": os.environ.get("DRAY_BACKEND"),
        "default": None, "error": None,
        "nodes": nodes + [_node("host", None)], "next_step": None}
    steps = [node["next_step"] for node in nodes if node["next_step"]]
    try:
        result["default"] = dray.open().info().name
    except ValueError as error:
        result["error"] = str(error)
        steps.append("unset DRAY_BACKEND, or set it to kernel, kernel:NAME, host or shareable")
    except OSError as error:
        result["error"] = error.strerror
        if error.errno == errno.ENODEV:  # the library's sentence ends with the step
            steps.append(str(error.strerror))
    if not versions.match:
        steps.insert(0, "install the package and the library of one version: LD_LIBRARY_PATH or "
                     "the system has another libdray")
    if not nodes and result["DRAY_BACKEND"] != "host":
        try:
            dray.open("kernel")
        except OSError as error:  # the library's sentence ends with the step
            steps.append(str(error.strerror))
    if steps:
        result["next_step"] = steps[0]
    return result


def _bytes(count: int) -> str:
    unit = max(0, min(3, (count.bit_length() - 1) // 10))
    return f"{count / 1024 ** unit:.4g} {('B', 'KiB', 'MiB', 'GiB')[unit]}"


def _lines(found: dict[str, Any]) -> list[str]:
    lines = [f"dray {found['package']}, library {found['library']}, module "
             f"{found['module'] or ('loaded' if found['loaded'] else 'not loaded')}, "
             f"NumPy {found['numpy']}, Python {found['python']}"]
    for node in found["nodes"]:
        rights = node["rights"]
        lines += ["", node["name"] + (f", {node['device']}" if rights and node["device"] else "")]
        if rights:
            lines.append(f"  rights   {rights['path']} {rights['owner']}:{rights['group']} "
                         f"{rights['mode']}")
        if node["error"]:
            lines.append(f"  error    {node['error']}")
            continue
        for heap in node["heaps"]:
            lines.append(f"  heap     {heap['name']}: {_bytes(heap['free'])} free of "
                         f"{_bytes(heap['total'])}")
        names = ", ".join(stream["name"] + (" (open)" if stream["open"] else "")
                          + (" (dead)" if stream["dead"] else "") for stream in node["streams"])
        lines.append(f"  streams  {names or 'none'}")
    backend = found["DRAY_BACKEND"]
    lines += ["", f"dray.memory() uses {found['default'] or 'nothing'}"
              + (f" (DRAY_BACKEND={backend})" if backend else "")]
    if found["next_step"]:
        lines.append(f"Next step: {found['next_step']}")
    return lines


def main() -> int:
    """Runs the command."""
    # The help of argparse is lost, with status 0, if its output is closed.
    parser = argparse.ArgumentParser(prog="python -m dray", add_help=False,
                                     description=(__doc__ or "").split("\n")[0])
    parser.add_argument("-h", "--help", action="store_true", help="this text")
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")
    wanted = parser.parse_args()
    if wanted.help:
        text, status = parser.format_help().rstrip("\n"), 0
    else:
        found = report()
        text = json.dumps(found, indent=2) if wanted.json else "\n".join(_lines(found))
        status = 0 if found["default"] else 1
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        print(text, flush=True)
    except OSError as error:  # a closed output or pipe, a full disk
        if sys.stdout is not None:  # a second failure, at the interpreter's end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"{parser.prog}: cannot write all of the output: {error.strerror}",
              file=sys.stderr)
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
