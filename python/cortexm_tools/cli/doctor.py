# SPDX-License-Identifier: Apache-2.0
"""`cortexm doctor`: is everything here, and if not, what to install.

Imports nothing that could itself be missing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

from ..packages import PROVED, installed, is_proved


@dataclass(frozen=True)
class Finding:
    """One thing looked for: what it is for, what was found, and what to do if it is missing.

    What is `optional` may be missing without anything being wrong; what is `other` is there in a version
    that is not known to work.
    """

    name: str
    purpose: str
    version: str
    remedy: str
    optional: bool = False
    other: bool = False

    @property
    def ok(self) -> bool:
        return bool(self.version) and not self.other

    @property
    def status(self) -> str:
        if self.other:
            return "OTHER"
        return "ok" if self.version else "absent" if self.optional else "MISSING"

    @property
    def found(self) -> str:
        """The version or the remedy; both of what is `other`."""
        return f"{self.version}: {self.remedy}" if self.other else self.version or self.remedy


_PACKAGES = (
    ("numpy", "always", "pip install numpy"),
    ("jinja2", "reports as pages", "pip install jinja2"),
    ("torch", "lowering model.py", f"pip install torch=={PROVED['torch']}"),
    ("torchao", "lowering model.py", f"pip install torchao=={PROVED['torchao']}"),
    (
        "executorch",
        "lowering model.py",
        f"pip install 'executorch[ethos-u]=={PROVED['executorch']}'",
    ),
)

_PROGRAMS = (
    ("cmake", "building", "apt install cmake, or pip install cmake"),
    ("ninja", "building", "apt install ninja-build, or pip install ninja"),
    (
        "arm-none-eabi-gcc",
        "Cortex-M images",
        "apt install gcc-arm-none-eabi libnewlib-arm-none-eabi",
    ),
    ("qemu-system-arm", "cortexm run on emulated boards", "apt install qemu-system-arm"),
    ("cc", "cortexm run --host", "apt install gcc"),
)


# For boards: nobody needs all of them.
_OF_BOARDS = (
    (("openocd",), "--probe openocd:", "apt install openocd, or your vendor's build"),
    (("pyocd",), "--probe pyocd:", "pip install pyocd"),
    (
        ("JLinkGDBServerCLExe", "JLinkGDBServerCL", "JLinkGDBServer"),
        "--probe jlink:",
        "the J-Link Software Pack, segger.com/downloads/jlink",
    ),
    (("west",), "--zephyr", "pip install west, and a workspace (docs/zephyr.md)"),
)


def examine() -> list[Finding]:
    """Looks for the Python packages and programs that the tools use."""
    version = ".".join(map(str, sys.version_info[:3]))
    good = version if sys.version_info >= (3, 10) else ""
    findings = [Finding("python", "always", good, "install Python 3.10 or newer")]
    for name, purpose, remedy in _PACKAGES:
        version = installed(name)
        other = bool(version) and not is_proved(name, version)
        findings.append(Finding(name, purpose, version, remedy, other=other))
    for name, purpose, remedy in _PROGRAMS:
        findings.append(Finding(name, purpose, _program_version(name), remedy))
    for names, purpose, remedy in _OF_BOARDS:
        found = [name for name in names if shutil.which(name)]
        # SEGGER's server would look for a probe.
        version = "" if not found else "found" if len(names) > 1 else _program_version(found[0])
        findings.append(Finding(names[0], purpose, version, remedy, optional=True))
    serial = installed("pyserial")
    findings.append(Finding("pyserial", "--zephyr", serial, "pip install pyserial", optional=True))
    return findings


def listing(findings: list[Finding]) -> str:
    """The findings as a table."""
    header = ("", "what", "version or remedy", "")
    rows = [header]
    for finding in findings:
        rows.append((finding.status, finding.name, finding.found, f"for {finding.purpose}"))
    widths = [max(map(len, column)) for column in zip(*rows)]  # noqa: B905 (same lengths)
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def _program_version(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        return ""
    try:
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r"\d+\.\d+(\.\d+)?", done.stdout + done.stderr)
    return match[0] if match else "found"
