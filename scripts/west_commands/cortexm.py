# SPDX-License-Identifier: Apache-2.0
"""`west cortexm`: the host tool, run by the interpreter that has PyTorch."""

from __future__ import annotations

import argparse
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
        if command == "report" and not any(Path(word).is_file() for word in rest):
            self._reports(rest)
            return
        if command == "doctor":
            self.inf(f"interpreter: {self._python()} ({self._chosen()[1]})")
        self._tool(command, *rest)

    def _reports(self, rest: list[str]) -> None:
        """The report of every model in a build folder, with the tool's options."""
        parser = argparse.ArgumentParser(prog="west cortexm report")
        parser.add_argument("-d", "--build-dir", type=Path, default=Path("build"))
        known, options = parser.parse_known_args(rest)
        folder = known.build_dir
        reports = sorted(folder.glob("**/cortexm/*/*.report.json"))
        if not reports:
            self.die(f"no model was built in {folder}; give the build folder with -d")
        for report in reports:
            self._tool("report", str(report), *options)

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
