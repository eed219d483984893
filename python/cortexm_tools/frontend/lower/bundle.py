# SPDX-License-Identifier: Apache-2.0
"""Writing a BundledProgram (.bpte) with the serializer of the executorch wheel."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from ...errors import CortexMError
from ...ir import Array
from ...pte.bundle import TestVector
from ..origin.places import first_line
from ..quiet import import_executorch, quiet


def write_bundle(pte: bytes, method: str, vectors: Sequence[TestVector]) -> bytes:
    """The bytes of a .bpte.

    Raises:
        CortexMError: executorch's devtools are missing or refuse.
    """
    import_executorch()
    try:
        with quiet():
            from executorch.devtools import BundledProgram
            from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
            from executorch.devtools.bundled_program.serialize import (
                serialize_from_bundled_program_to_flatbuffer,
            )

            cases = [
                MethodTestCase(_tensors(vector.inputs), _tensors(vector.expected))
                for vector in vectors
            ]
            with tempfile.TemporaryDirectory(prefix="cortexm-") as folder:
                path = Path(folder) / "program.pte"
                path.write_bytes(pte)
                bundle = BundledProgram(None, [MethodTestSuite(method, cases)], str(path))
                return bytes(serialize_from_bundled_program_to_flatbuffer(bundle))
    except (ImportError, AssertionError, RuntimeError) as error:
        raise CortexMError(f"cannot write the bundled program: {first_line(error)}") from error


def _tensors(values: Sequence[Array]) -> tuple[torch.Tensor, ...]:
    return tuple(torch.from_numpy(np.array(value)) for value in values)
