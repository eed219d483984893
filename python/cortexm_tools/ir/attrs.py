# SPDX-License-Identifier: Apache-2.0
"""How an operator is declared: its attributes, with its traits, its check and what it computes.

The modules of `ir/ops` hold one family of operators each. Every stage asks an operator for its traits;
none keeps a list of operators of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, TypeVar

from ..errors import CortexMError

_FAMILIES = f"{__package__}.ops"


class Layout(Enum):
    """Which memory layouts an operator takes, and which one its result gets."""

    IMAGE = "images in channels_last"
    EITHER_IMAGE = "images in C order or channels_last"
    ROWS = "the first operand and the result in C order, weights and biases as they are"
    MATRICES = "the first two operands and the result in C order"
    WEIGHTS = "all in C order, but a plain matrix as second operand in either order"
    REPEATED = "two operands in the layout of the result, or repeated end to end in it"
    SAME = "the result in the layout of the first operand, which is walked as it lies"
    FOLLOW = "the result in the layout of the first operand, from operands in any layout"
    COPY = "the same for a strided copy, which writes what its readers want as well"
    STRIDED = "the result in the layout of an operand of its shape, from operands in any layout"
    ANY = "operands and results as they are"


class Operands(Enum):
    """The operands over which a result may be written in place."""

    NONE = "none"
    FIRST = "the first: what the operator does not replace stays, or is moved within it"
    ALL = (
        "each that has the result's elements in their places: kernels read one before they write it"
    )


class Work(Enum):
    """What an operator does with elements."""

    MOVE = "brings them to other places"
    CONVERT = "gives them another type"
    PASS = "goes once through its operands"
    ROWS = "the same, where an element is not made of those in its place alone"
    SUMS = "takes many of them for each element of the result, as its windows or its weights say"


class Channels(Enum):
    """Of which elements of its operands one channel of an operator's result is made.

    In IMAGES and PLACED no element of the result falls where elements of the operands rise.
    """

    NONE = "of any"
    WEIGHTED = "of all channels of the first operand, with a row of constant weights of its own"
    IMAGES = "of the channel of its number, in dimension 1, of the only operand"
    EACH = "each element of the one in its place in the first operand, by a function of codes"
    BOTH = "each element of those in its place in two operands, which are broadcast"
    PLACED = "of elements that the attributes bring from other places, and of constants"


@dataclass(frozen=True)
class Traits:
    """What stages ask about an operator.

    Attributes:
        family: the module of `ir/ops` that declares it.
        exact: whether it gives the same bits everywhere for the same operands, or a function of its
            attributes that says so; see ir/exactness.py.
    """

    family: str
    layout: Layout
    overwrites: Operands
    work: Work
    channels: Channels
    exact: bool | Callable[[Any], bool]

    @property
    def is_elementwise(self) -> bool:
        """Whether an element of the result depends on those in its place alone, and on tables."""
        in_place = self.work is Work.PASS and self.overwrites is Operands.ALL
        return self.work is Work.CONVERT or in_place


@dataclass(frozen=True)
class Attrs:
    """Base of all operator attributes; `kind` is the operator's name everywhere.

    An operator has two methods. `check(op: Subject)` raises CortexMError unless the operator is defined
    on its operands and kernels compute what docs/numerics.md says (ir/rules.py).
    `compute(results, *operands)` is what it means: the arrays, in logical shape, that it makes of its
    operands' arrays. `results` are the tensors to make; for a single one the array alone is returned.
    """

    kind: ClassVar[str] = ""
    check: ClassVar[Callable[..., None]]
    compute: ClassVar[Callable[..., Any]]
    declared: ClassVar[Traits | None] = None

    @property
    def traits(self) -> Traits:
        """The operator's traits.

        Raises:
            CortexMError: it is not declared.
        """
        if self.declared is None or not is_operator(self):
            raise CortexMError(f"operator {self.kind or type(self).__name__!r} is not declared")
        return self.declared

    def is_view(self, x: Any, out: Any) -> bool:
        """Whether the result, the tensor `out`, has the bytes of the operand `x` in their order, so that
        no copy is needed."""
        return False


OPERATORS: dict[str, type[Attrs]] = {}
"""The operators of the IR by their names."""


def is_operator(attrs: Attrs) -> bool:
    """Whether it is declared as an operator."""
    return OPERATORS.get(attrs.kind) is type(attrs)


Declared = TypeVar("Declared", bound=type[Attrs])


def operator(
    *,
    layout: Layout,
    overwrites: Operands,
    work: Work,
    channels: Channels,
    exact: bool | Callable[[Any], bool],
) -> Callable[[Declared], Declared]:
    """Declares a dataclass in a module of `ir/ops` as an operator with these traits.

    Raises:
        TypeError: it lacks its name, its check or its meaning, or stands elsewhere.
    """

    def declare(cls: Declared) -> Declared:
        package, _, family = cls.__module__.rpartition(".")
        if package != _FAMILIES:
            raise TypeError(f"{cls.__name__} stands in {cls.__module__}, not in {_FAMILIES}")
        for name in ("kind", "check", "compute"):
            if not getattr(cls, name, None):
                raise TypeError(f"operator {cls.__name__} has no {name}")
        if cls.kind in OPERATORS:
            raise TypeError(f"two operators are called {cls.kind}")
        cls.declared = Traits(family, layout, overwrites, work, channels, exact)
        OPERATORS[cls.kind] = cls
        return cls

    return declare


def require_all_declared() -> None:
    """Raises TypeError unless all attributes with a name of their own are declared as operators."""
    waiting = list(Attrs.__subclasses__())
    for cls in waiting:
        waiting += cls.__subclasses__()
        if "kind" in vars(cls) and OPERATORS.get(cls.kind) is not cls:
            raise TypeError(f"{cls.__name__} is not declared as an operator")
