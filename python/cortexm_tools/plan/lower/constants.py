# SPDX-License-Identifier: Apache-2.0
"""The constants of kernel calls, before and after a plan is chosen.

While plans are compared, a constant is what it is made from and how many bytes it takes. Weights are
packed, equal arrays put together, and names given once, for the plan that is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...ir import Array
from ..kernels.forms import FORMS, Form, Weights
from ..kernels.packing import digest
from ..types import Call, Constant, ConstantArg


@dataclass(frozen=True)
class Source:
    """What a constant is made from.

    Attributes:
        name: that it gets if no other constant has it.
        needed: bytes of it that the model brings.
    """

    name: str
    data: Array | Weights
    comment: str
    needed: int

    @property
    def nbytes(self) -> int:
        return self.data.nbytes

    @cached_property
    def content(self) -> tuple[object, ...]:
        """Equal for constants of equal bytes, as far as that can be told without packing."""
        if not isinstance(self.data, Weights):
            return self.data.dtype.str, digest(self.data)
        if FORMS[self.data.form].weights is Form.weights:
            weight = self.data.constants.weight
            return weight.dtype.str, digest(weight)
        return self.data.form, self.data.constants.content


def pack_constants(
    sources: Mapping[str, Source], *, apart: bool = False
) -> tuple[tuple[Constant, ...], dict[str, str]]:
    """The constants, each content once, and by key of `sources` the name of its constant.

    Args:
        apart: one for each key, whatever their contents: another training makes others of them.
    """
    constants: dict[str, Constant] = {}
    stored: dict[tuple[str, bytes], str] = {}
    names: dict[str, str] = {}
    for key, source in sources.items():
        packed = source.data.pack() if isinstance(source.data, Weights) else source.data
        data = np.ascontiguousarray(packed)
        content = data.dtype.str, (key.encode() if apart else data.tobytes())
        if content not in stored:
            name = stored[content] = unique(identifier(source.name), constants)
            constants[name] = Constant(name, data, source.comment, needed=source.needed)
        names[key] = stored[content]
    return tuple(constants.values()), names


def with_names(call: Call, names: Mapping[str, str]) -> Call:
    """A call of packed constants."""
    args = tuple(
        replace(arg, name=names[arg.name]) if isinstance(arg, ConstantArg) else arg
        for arg in call.args
    )
    fields = tuple(
        (field, names[value] if isinstance(value, str) else value) for field, value in call.fields
    )
    return replace(call, args=args, fields=fields)


def constants_of(calls: Iterable[Call]) -> set[str]:
    """The names by which calls know their constants."""
    return {
        name
        for call in calls
        for name in (
            *(arg.name for arg in call.args if isinstance(arg, ConstantArg)),
            *(value for _, value in call.fields if isinstance(value, str)),
        )
    }


def identifier(text: str) -> str:
    """`text` as a C identifier."""
    return re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "x"


def unique(name: str, taken: Mapping[str, Constant]) -> str:
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
