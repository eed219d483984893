# SPDX-License-Identifier: Apache-2.0
"""Runs a module of the cortexm_tools package in a given folder, for the CMake function.

    launch.py PACKAGE_DIR MODULE ARGUMENTS...

The package is loaded from its folder, so it need not be installed in the interpreter that has
torch, and no folder is added to the interpreter's search path where it could hide other packages.
"""

from __future__ import annotations

import importlib.util
import runpy
import sys
from pathlib import Path


def load_package(folder: str) -> None:
    """Makes the package in `folder` the one called cortexm_tools."""
    spec = importlib.util.spec_from_file_location(
        "cortexm_tools", Path(folder) / "__init__.py", submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        sys.exit(f"error: {folder} is not a Python package")
    module = importlib.util.module_from_spec(spec)
    sys.modules["cortexm_tools"] = module
    spec.loader.exec_module(module)


def main() -> None:
    """Hands over to the module as `python -m` would."""
    package, module, *arguments = sys.argv[1:]
    # The folder of a script is put first on the path; this one has nothing to import.
    sys.path.pop(0)
    sys.argv = [module, *arguments]
    load_package(package)
    runpy.run_module(module, run_name="__main__")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
