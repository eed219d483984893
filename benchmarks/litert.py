# SPDX-License-Identifier: Apache-2.0
"""Measures .tflite files on emulated cores beside TensorFlow Lite Micro with CMSIS-NN.

    python -m benchmarks.litert FILE.tflite…             # their rows of the tables
    python -m benchmarks.litert FILE.tflite… --record    # write litert.json and docs/benchmarks.md
    python -m benchmarks.litert                          # the recorded tables

litert.json knows the files by their digests and says where each is from, and how TFLM was measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

from cortexm_tools.errors import CortexMError
from cortexm_tools.program import load_program
from cortexm_tools.target import Target

from benchmarks.run import PAGE, chosen
from benchmarks.suite.litert import RECORD, WAYS, Table, section
from benchmarks.suite.measure import compiler_version, measure
from benchmarks.suite.page import document
from benchmarks.suite.record import load


def measured(files: list[Path], cpus: list[str], known: dict[str, Any], way: str) -> Table:
    """A row for every core and file, in one of WAYS; files that are not known keep their suffix in their
    name.

    Raises:
        CortexMError: a file is none, or its build or run fails.
    """
    rows: Table = {cpu: {} for cpu in cpus}
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            program = load_program(file, name="model", target=Target.parse(cpus[0]))
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            name = known.get(digest, {"name": file.name})["name"]
            for cpu in cpus:
                print(f"{name}:", end=" ", file=sys.stderr)
                rows[cpu][name] = measure(program, way, cpu, Path(folder))
    return rows


def main() -> int:
    record = json.loads(RECORD.read_text("utf-8"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.tflite")
    parser.add_argument("--cpus", default=",".join(record["tflm"]))
    parser.add_argument("--record", action="store_true", help="write litert.json and the tables")
    args = parser.parse_args()
    try:
        cpus = chosen(args.cpus, tuple(record["tflm"]))
        tables = {
            way: measured(args.files, cpus, record["files"], way) if args.files else record[way]
            for way in WAYS
        }
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    record["compiler"] = compiler_version() if args.files else record["compiler"]
    print(section(record, tables), end="")
    if args.record:
        names = [file["name"] for file in record["files"].values()]
        for way, cpu in product(WAYS, cpus):
            rows = {**record[way].get(cpu, {}), **tables[way][cpu]}
            record[way][cpu] = {name: rows[name] for name in names if name in rows}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(document(load()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
