# SPDX-License-Identifier: Apache-2.0
"""The sizes of ExecuTorch's objects in an image, read from a compiled runtime/executorch/sizes.cpp."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..errors import CortexMError

_MARK = b"cortexm:executorch:sizes\0"

# In the order of the table in sizes.cpp.
NAMES = (
    "State",
    "Span",
    "EValue",
    "EValue*",
    "bool",
    "int64",
    "IntList",
    "ArrayRef",
    "Tensor",
    "TensorList",
    "OptionalTensor",
    "OptionalTensorList",
    "TensorImpl",
    "BackendDelegate",
    "Chain",
    "OpFunction",
    "InstructionArgs",
    "TensorMeta",
)


@dataclass(frozen=True)
class Sizes:
    """Size and alignment in bytes by name."""

    entries: dict[str, tuple[int, int]]

    def size(self, name: str) -> int:
        return self.entries[name][0]


def read_sizes(data: bytes, where: str = "") -> Sizes:
    """Finds the table in an object file.

    Raises:
        CortexMError: it is not there, or of another version.
    """
    position = data.find(_MARK)
    begin = position + -(-len(_MARK) // 4) * 4
    count = int.from_bytes(data[begin : begin + 4], "little") if position >= 0 else 0
    table = data[begin + 4 : begin + 4 + 8 * count]
    if count != len(NAMES) or len(table) != 8 * count:
        raise CortexMError(
            "has no table of ExecuTorch's sizes",
            where=where,
            hint="give the object file of runtime/executorch/sizes.cpp of this version, compiled as "
            "the image is; cortexm_add_model(… RUNTIME executorch) does it",
        )
    words = struct.unpack(f"<{2 * count}I", table)
    return Sizes(
        {name: (words[2 * i], words[2 * i + 1]) for i, name in enumerate(NAMES)},
    )
