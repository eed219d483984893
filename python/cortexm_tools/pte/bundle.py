# SPDX-License-Identifier: Apache-2.0
"""Reading a BundledProgram (.bpte): a program with test vectors, as ExecuTorch's devtools write it.

File layout: a FlatBuffer with the identifier ``BP08``; the schema is ExecuTorch's
devtools/bundled_program/schema/bundled_program_schema.fbs; field numbers are the order of the fields
there. The schema holds no tolerance: whoever compares chooses one (vectors.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..errors import CortexMError, did_you_mean
from ..flatbuffer import Buffer, Format, Table
from ..ir import Array
from .values import ScalarType

BPTE = Format(".bpte", "ExecuTorch")
damaged = BPTE.damaged

IDENTIFIER = b"BP08"
_VERSION = 2
_MAX_RANK = 16
_MAX_BYTES = 2**31 - 1

_DTYPES = {
    ScalarType.U8: np.uint8,
    ScalarType.S8: np.int8,
    ScalarType.S16: np.int16,
    ScalarType.S32: np.int32,
    ScalarType.S64: np.int64,
    ScalarType.F32: np.float32,
    ScalarType.F64: np.float64,
    ScalarType.BOOL: np.bool_,
}


@dataclass(frozen=True)
class TestVector:
    """Inputs of one invocation and what the model gave for them when the bundle was made.

    Attributes:
        inputs: logical arrays.
        expected: logical arrays, one per output; none if the bundle was made for profiling only.
    """

    __test__ = False  # no test class for pytest

    inputs: tuple[Array, ...] = field(repr=False)
    expected: tuple[Array, ...] = field(repr=False)


@dataclass(frozen=True)
class Bundle:
    """A program and its test vectors, by method."""

    pte: bytes = field(repr=False)
    suites: dict[str, tuple[TestVector, ...]]


def is_bundle(data: bytes) -> bool:
    """Whether the bytes claim to be a BundledProgram."""
    return data[4:8] == IDENTIFIER


def parse_bundle(data: bytes) -> Bundle:
    """Parses a .bpte file.

    Raises:
        CortexMError: the bytes are not a BundledProgram, or are damaged.
    """
    if len(data) < 8 or not is_bundle(data):
        raise CortexMError(
            "this is not a BundledProgram: the identifier BP08 is missing",
            hint="a .bpte file from ExecuTorch 1.x is needed; name a plain program .pte",
        )
    return _parse(Buffer(data, BPTE).root())


def _parse(root: Table) -> Bundle:
    version = root.u32(0)
    if version > _VERSION:
        raise CortexMError(
            f"the .bpte file has schema version {version}, at most {_VERSION} is known"
        )
    suites: dict[str, tuple[TestVector, ...]] = {}
    for table in root.tables(1):
        suites[table.string(0)] = tuple(
            TestVector(
                tuple(_value(value) for value in case.tables(0)),
                tuple(_value(value) for value in case.tables(1)),
            )
            for case in table.tables(1)
        )
    pte = bytes(root.raw(2))
    if not pte:
        raise damaged("the bundle holds no program")
    return Bundle(pte, suites)


def vectors_of(bundle: Bundle, method: str) -> tuple[TestVector, ...]:
    """The test vectors of one method; none if the bundle has no suite at all.

    Raises:
        CortexMError: there are suites, but for other methods only.
    """
    if bundle.suites and method not in bundle.suites:
        raise CortexMError(
            f"the bundle has no test vectors for method {method!r}",
            hint=did_you_mean(method, bundle.suites),
        )
    return bundle.suites.get(method, ())


def _value(table: Table) -> Array:
    """One input or output; its type is its number in the union ValueUnion."""
    kind, content = table.u8(0), table.table(1)
    if content is None:
        raise damaged("a value of a test vector has no content")
    match kind:
        case 1:
            return _tensor(content)
        case 2:
            return np.array(content.i64(0), np.int64)
        case 3:
            return np.array(content.u8(0) != 0, np.bool_)
        case 4:
            return np.array(content.f64(0), np.float64)
        case _:
            raise damaged(f"a value of a test vector has the unknown type {kind}")


def _tensor(table: Table) -> Array:
    number = table.i8(0)
    if number not in ScalarType.__members__.values() or ScalarType(number) not in _DTYPES:
        raise CortexMError(f"a test vector uses the unsupported element type number {number}")
    dtype = np.dtype(_DTYPES[ScalarType(number)])
    shape, data = table.scalars(1, "i"), table.raw(2)
    dim_order = table.scalars(3, "B") or tuple(range(len(shape)))
    if len(shape) > _MAX_RANK or sorted(dim_order) != list(range(len(shape))):
        raise damaged("the dim order of a test vector does not fit its shape")
    if any(extent < 0 for extent in shape):
        raise damaged("a test vector has a negative size")
    nbytes = math.prod(shape) * dtype.itemsize
    if nbytes > _MAX_BYTES or nbytes != len(data):
        raise damaged("the data of a test vector does not fit its shape")
    array = np.frombuffer(data, dtype).reshape([shape[d] for d in dim_order])
    return np.asarray(array.transpose(np.argsort(dim_order)), order="C")
