# SPDX-License-Identifier: Apache-2.0
"""Reading ExecuTorch programs (.pte) into the IR, without torch or ExecuTorch.

And what comes with one: the layers of its calls (layers.py), how good it is beside its float model
(quality.py), the test vectors of a bundle (bundle.py, vectors.py)."""

from .program import parse_program
from .reader import Operator, list_operators, read_program, read_pte
from .values import PteProgram

__all__ = ["Operator", "PteProgram", "list_operators", "parse_program", "read_program", "read_pte"]
