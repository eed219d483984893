# SPDX-License-Identifier: Apache-2.0
"""Elements at places that other tensors hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..attrs import Attrs


@dataclass(frozen=True)
class Gather(Attrs):
    """x, index s64 or s32 of x's rank -> out[i] = x[i with coordinate `dim` replaced by index[i]].

    Indices come from the input: a negative one counts from the end, and what is still outside of
    [0, size) is brought to the nearest end, so that no access leaves x.
    """

    kind: ClassVar[str] = "gather"
    dim: int


@dataclass(frozen=True)
class Index(Attrs):
    """x, one s64 or s32 index tensor per axis in `axes` -> x indexed by all of them together.

    The index tensors broadcast. Their dimensions replace the indexed axes if those are adjacent,
    and come first otherwise. Indices are brought into range as in Gather.
    """

    kind: ClassVar[str] = "index"
    axes: tuple[int, ...]


@dataclass(frozen=True)
class IndexPut(Attrs):
    """x, values, one index tensor per axis in `axes` -> x with the indexed elements replaced.

    Indexing is that of Index; `values` broadcast to the indexed shape. With `accumulate`, values
    are added, also where an index occurs more than once.
    """

    kind: ClassVar[str] = "index_put"
    axes: tuple[int, ...]
    accumulate: bool
