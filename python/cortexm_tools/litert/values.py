# SPDX-License-Identifier: Apache-2.0
"""The contents of a .tflite file as frozen values; `model` makes them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..ir.types import Array, DType
from .schema import Record

DTYPES = {
    "FLOAT32": DType.F32,
    "INT8": DType.S8,
    "INT4": DType.S8,
    "INT16": DType.S16,
    "INT32": DType.S32,
    "INT64": DType.S64,
    "UINT8": DType.U8,
    "BOOL": DType.BOOL,
}
"""Types of elements by the schema's names; those of 4 bits are unpacked."""

_NUMPY: dict[str, np.dtype[np.generic]] = {
    "FLOAT16": np.dtype(np.float16),
    "FLOAT64": np.dtype(np.float64),
}
_BITS = {"INT4": 4, "RESOURCE": 0}


@dataclass(frozen=True)
class Quantization:
    """real = scale * (code - zero_point), for a whole tensor or for each index of dimension `axis`."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int


@dataclass(frozen=True)
class LiteTensor:
    """A tensor.

    Attributes:
        index: its number in its subgraph.
        name: as the converter chose it; it can be anything printable.
        type: the schema's name of its elements' type.
        shape: as it is stored.
        data: of a constant.
        refusal: what is wrong with it, and what to do, if it cannot be used.
    """

    index: int
    name: str
    type: str
    shape: tuple[int, ...]
    data: memoryview | None = field(compare=False, repr=False)
    quantization: Quantization | None
    refusal: tuple[str, str] | None = None

    def __str__(self) -> str:
        return f"tensor {self.index} {self.name!r}"

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes in the file; types that are not known have one an element."""
        if self.type in _BITS:
            return (self.numel * _BITS[self.type] + 7) // 8
        return self.numel * (self.numpy.itemsize if self.is_number else 1)

    @property
    def is_number(self) -> bool:
        return self.type in DTYPES or self.type in _NUMPY

    @property
    def numpy(self) -> np.dtype[np.generic]:
        return DTYPES[self.type].numpy if self.type in DTYPES else _NUMPY[self.type]

    def array(self) -> Array:
        """The value of a constant."""
        assert self.data is not None
        if self.type == "INT4":
            packed = np.frombuffer(self.data, np.uint8)
            halves = np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1)[: self.numel]
            return np.asarray((halves ^ 8).astype(np.int8) - np.int8(8)).reshape(self.shape)
        if self.type == "BOOL":
            return np.asarray(np.frombuffer(self.data, np.uint8) != 0).reshape(self.shape)
        return np.frombuffer(self.data, self.numpy).reshape(self.shape)


@dataclass(frozen=True)
class LiteOperator:
    """An operator.

    Attributes:
        number: in its subgraph.
        name: the schema's; ``CUSTOM NAME`` of one that is not builtin.
        version: of the operator, from 1 on.
        inputs, outputs: tensors by number; -1 is an absent one.
        options: a table, or None; by the name of its table.
    """

    number: int
    name: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Record | None = field(compare=False, repr=False)


@dataclass(frozen=True)
class LiteSubgraph:
    tensors: tuple[LiteTensor, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: tuple[LiteOperator, ...]


@dataclass(frozen=True)
class LiteModel:
    """A file: its subgraphs, of which the first is the model, and what calls it by which name.

    Attributes:
        signatures: key and number of the subgraph.
        size: bytes of the file.
    """

    subgraphs: tuple[LiteSubgraph, ...]
    signatures: tuple[tuple[str, int], ...]
    size: int
