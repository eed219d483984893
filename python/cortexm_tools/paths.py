# SPDX-License-Identifier: Apache-2.0
"""Where the parts of the project that are not Python are: kernels, runtime, boards, CMake files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .errors import CortexMError

PACKAGE = Path(__file__).resolve().parent
_MARKER = Path("kernels") / "kernels.json"


@cache
def data_root() -> Path:
    """The folder that holds ``kernels/``, ``runtime/``, ``boards/`` and ``cmake/``.

    In a checkout and in an installed tree it contains this package (``<root>/python``); in a wheel
    this package contains it (``cortexm_tools/share/CortexMModel``).

    Raises:
        CortexMError: neither is there.
    """
    for root in (PACKAGE.parent.parent, PACKAGE / "share" / "CortexMModel"):
        if (root / _MARKER).is_file():
            return root
    raise CortexMError(
        "the kernel library is missing from this installation",
        where=str(PACKAGE),
        hint="install the wheel again, or run from a complete checkout",
    )


def cmake_dir() -> Path:
    """The folder for CMake's ``CortexMModel_DIR``."""
    return data_root() / "cmake"
