# SPDX-License-Identifier: Apache-2.0
"""Writes the .pte files here; see README.md."""

from __future__ import annotations

import sys
from pathlib import Path

from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.target import Target

from tests.support.state_models import CASES, load

HERE = Path(__file__).parent


def main() -> None:
    for name in sys.argv[1:] or [path.stem for path in sorted(HERE.glob("*.pte"))]:
        build, shape, _ = CASES[name]
        lowered = lower(load(build, shape), target=Target.parse("cortex-m55"), name=name)
        (HERE / f"{name}.pte").write_bytes(lowered.pte)


main()
