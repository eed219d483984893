# SPDX-License-Identifier: Apache-2.0
"""Movement of elements of any type: nothing is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..attrs import Attrs


@dataclass(frozen=True)
class Pad(Attrs):
    """x -> x with `before[d]` and `after[d]` elements of `value` around logical dimension d."""

    kind: ClassVar[str] = "pad"
    before: tuple[int, ...]
    after: tuple[int, ...]
    value: int


@dataclass(frozen=True)
class Transpose(Attrs):
    """x -> x.permute(perm), any type and rank."""

    kind: ClassVar[str] = "transpose"
    perm: tuple[int, ...]


@dataclass(frozen=True)
class View(Attrs):
    """x -> the same elements in logical order, in the output's shape."""

    kind: ClassVar[str] = "view"


@dataclass(frozen=True)
class Clone(Attrs):
    """x -> the same logical tensor, perhaps in another dim order."""

    kind: ClassVar[str] = "clone"


@dataclass(frozen=True)
class Expand(Attrs):
    """x -> x broadcast to the output's shape (numpy rules), any type."""

    kind: ClassVar[str] = "expand"


@dataclass(frozen=True)
class Concat(Attrs):
    """x0, x1, ... of one type -> joined along dimension `dim`."""

    kind: ClassVar[str] = "concat"
    dim: int


@dataclass(frozen=True)
class Slice(Attrs):
    """x -> out of the same rank; out[i] = x[begin + step * i] in every dimension.

    Steps are not zero; a negative one reads backwards. The extents are the result's shape.
    """

    kind: ClassVar[str] = "slice"
    begin: tuple[int, ...]
    step: tuple[int, ...]


@dataclass(frozen=True)
class Tile(Attrs):
    """x -> x repeated; out[i] = x[i mod size] in every dimension, x aligned at the last one."""

    kind: ClassVar[str] = "tile"


@dataclass(frozen=True)
class AsStrided(Attrs):
    """x -> out[i] = flat[offset + sum(i_d * strides_d)], with flat = x in logical C order.

    Windows may overlap. All indices lie inside x.
    """

    kind: ClassVar[str] = "as_strided"
    strides: tuple[int, ...]
    offset: int
