# SPDX-License-Identifier: Apache-2.0
"""`west cortexm`: the host tool, run by the interpreter that has PyTorch."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from west.commands import WestCommand

ROOT = Path(__file__).resolve().parents[2]

DESCRIPTION = """\
Runs the CortexMModel host tool:

  west cortexm compile MODEL --cpu CPU --out DIR    write a model's C sources
  west cortexm run MODEL --cpu CPU                  run it on an emulated core, compare
  west cortexm report [-d BUILD] [--html] [--svg]   memory of each model of a Zephyr build
  west cortexm size [-d BUILD]                      flash, RAM and stack of each model
  west cortexm compare BUILD-A BUILD-B              two builds, reports or models side by side
  west cortexm doctor                               what is missing
  west cortexm COMMAND --help                       options, and the other commands

The interpreter is CORTEXM_PYTHON of the environment, else 'west config cortexm.python', else
.venv of the module, else west's own.
"""


class CortexM(WestCommand):
    """Hands its arguments over to ``python -m cortexm_tools``."""

    def __init__(self) -> None:
        super().__init__(
            "cortexm",
            "compile PyTorch models to C, show their memory, run them",
            DESCRIPTION,
            accepts_unknown_args=True,
        )

    def do_add_parser(self, parser_adder: argparse._SubParsersAction) -> argparse.ArgumentParser:
        return parser_adder.add_parser(
            self.name,
            help=self.help,
            description=self.description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            add_help=False,
        )

    def do_run(self, args: argparse.Namespace, unknown: list[str]) -> None:
        if not unknown or unknown[0] in ("-h", "--help"):
            self.inf(DESCRIPTION)
            return
        command, rest = unknown[0], unknown[1:]
        if command == "report" and not any(
            Path(word).is_file() and word.endswith(".report.json") for word in rest
        ):
            self._reports(rest)
            return
        if command == "size":
            self._sizes(rest)
            return
        if command == "doctor":
            self.inf(f"interpreter: {self._python()} ({self._chosen()[1]})")
        self._tool(command, *rest)

    def _reports(self, rest: list[str]) -> None:
        """The report of every model in a build folder, with the tool's own options."""
        folder, options = self._build_folder("report", rest)
        for report in self._found(folder, "report"):
            self._tool("report", *options, str(report))

    def _sizes(self, rest: list[str]) -> None:
        """What each model takes, as the build has measured it; kernels that models share count for
        each of them."""
        folder, options = self._build_folder("size", rest)
        if options:
            self.die(f"west cortexm size has no option {options[0]}")
        rows = [("model", "flash", "code", "constants", "RAM", "arena", "stack")]
        for file in self._found(folder, "footprint"):
            size = json.loads(file.read_text(encoding="utf-8"))
            keys = ("flash", "code", "constants", "ram", "arena", "stack")
            name = file.name.removesuffix(".footprint.json")
            rows.append((name, *("?" if size[key] is None else f"{size[key]:,}" for key in keys)))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        for name, *cells in rows:
            shown = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
            self.inf("  ".join([name.ljust(widths[0]), *shown]))

    def _build_folder(self, command: str, rest: list[str]) -> tuple[Path, list[str]]:
        """The folder of -d, and what else there is."""
        parser = argparse.ArgumentParser(prog=f"west cortexm {command}")
        parser.add_argument("-d", "--build-dir", type=Path, default=Path("build"))
        args, options = parser.parse_known_args(rest)
        return args.build_dir, options

    def _found(self, folder: Path, kind: str) -> list[Path]:
        """The files NAME.<kind>.json of the models in a build folder, by name."""
        files = sorted(folder.glob(f"**/cortexm/*/*.{kind}.json"))
        if not files:
            self.die(f"no model was built in {folder}; give the build folder with -d")
        return files

    def _tool(self, *words: str) -> None:
        launch = ROOT / "cmake" / "launch.py"
        package = ROOT / "python" / "cortexm_tools"
        try:
            done = subprocess.run(
                [self._python(), str(launch), str(package), "cortexm_tools", *words], check=False
            )
        except OSError as error:
            self.die(f"{self._python()}: {error.strerror}; set CORTEXM_PYTHON")
        if done.returncode != 0:
            sys.exit(done.returncode)

    def _python(self) -> str:
        return self._chosen()[0]

    def _chosen(self) -> tuple[str, str]:
        """The interpreter, and who chose it."""
        own = ROOT / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        candidates = (
            (os.environ.get("CORTEXM_PYTHON"), "CORTEXM_PYTHON"),
            (self.config.get("cortexm.python"), "west config cortexm.python"),
            (str(own) if own.is_file() else None, "the module's .venv"),
        )
        for path, source in candidates:
            if path:
                return path, source
        return sys.executable, "west's own; CORTEXM_PYTHON or west config cortexm.python choose one"
