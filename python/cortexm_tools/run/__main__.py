# SPDX-License-Identifier: Apache-2.0
"""The memory summary that the CMake function asks for after each build of a model::

    python -m cortexm_tools.run --name N --archive A... --out F [--stack-header H --stamp S] -- CC FLAGS...

Prints it, writes it as JSON and the bound on the stack as NAME_stack.h, and fails if a limit is exceeded.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..emit.files import write_files
from ..errors import CortexMError
from ..pte.quality import quality_line
from ..pte.rounded import rounded_line
from ..terminal import show
from .footprint import (
    check_footprint,
    measure,
    shares_of,
    stack_header,
    summary_text,
    to_json,
)


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status."""
    own, compiler = list(arguments), []
    if "--" in own:
        split = own.index("--")
        own, compiler = own[:split], own[split + 1 :]
    parser = argparse.ArgumentParser(prog="cortexm_tools.run")
    parser.add_argument("--name", required=True)
    parser.add_argument("--archive", nargs="+", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--ram-limit", type=int)
    parser.add_argument("--flash-limit", type=int)
    parser.add_argument("--stack-header", type=Path)
    parser.add_argument("--stamp", type=Path)
    options = parser.parse_args(own)
    try:
        report = _report(options.out.with_name(f"{options.name}.report.json"))
        size = measure(compiler, options.archive, options.name, shares=shares_of(report))
        write_files(options.out.parent, {options.out.name: to_json(size)})
        check_footprint(options.name, size, options.ram_limit, options.flash_limit)
        if options.stack_header is not None:
            header = options.stack_header
            write_files(header.parent, {header.name: stack_header(options.name, size)})
        if options.stamp is not None:
            write_files(options.stamp.parent, {options.stamp.name: ""})
            options.stamp.touch()  # newer than what it was made from
    except CortexMError as error:
        show(f"error: {error}", error=True)
        return 1
    show(summary_text(options.name, size))
    show(f"{options.name}: SQNR  {quality_line(report['quality'])}")
    if rounded := rounded_line(report["quality"]):
        show(f"{options.name}: {rounded}")
    return 0


def _report(path: Path) -> dict[str, Any]:
    """What the summary needs of NAME.report.json."""
    try:
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        shares_of(report)
        quality_line(report["quality"])
        rounded_line(report["quality"])
    except (OSError, ValueError, KeyError, TypeError):
        raise CortexMError(
            "is not a report of this tool", where=str(path), hint="build the model again"
        ) from None
    return report


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
