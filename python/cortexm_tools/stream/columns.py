# SPDX-License-Identifier: Apache-2.0
"""How tensors and operators relate to time.

A tensor with time in it is a row of columns. From one call to the next it shifts: column j of a call is
column j + n of the call before. What an operator that works alike in every column computes for the
columns that were there before is known already; only the last n are new.

Numbers of columns are of two kinds. *Windowed* ones, 0 to length - 1, are those of the model over the
window. They are `rate` frames apart. If the hop is no multiple of that, windows of successive calls
have columns between those of their neighbours; so a stream has columns on a `grid` of the greatest
common divisor, where windowed column j is number j * spread. Numbers on the grid may be negative:
columns that have left the window.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

from ..ir import Attrs


@dataclass(frozen=True)
class Columns:
    """A tensor with time in it.

    Attributes:
        dim: the dimension that is time.
        length: columns of the window, 1 or more.
        rate: frames from one of them to the next.
        grid: frames from one column of the stream to the next; divides rate and hop.
        new: columns of the stream that a call adds.
        late: frames that are still to come before the last windowed column can be known.
    """

    dim: int
    length: int
    rate: int
    grid: int
    new: int
    late: int = 0

    @property
    def spread(self) -> int:
        """Columns of the stream from one of the window to the next."""
        return self.rate // self.grid

    @property
    def window(self) -> Span:
        """The columns that a window has, without those behind the last."""
        return Span(0, (self.length - 1) * self.spread + 1)


def columns(dim: int, length: int, rate: int, hop: int, late: int = 0) -> Columns:
    """A tensor of `length` columns; a single one comes with every call."""
    rate = hop if length == 1 else rate
    grid = gcd(hop, rate)
    return Columns(dim, length, rate, grid, hop // grid, late)


@dataclass(frozen=True)
class Span:
    """Columns from `begin` to `end`, the last one excluded."""

    begin: int
    end: int

    def __len__(self) -> int:
        return max(0, self.end - self.begin)

    def __or__(self, other: Span) -> Span:
        return Span(min(self.begin, other.begin), max(self.end, other.end))

    def contains(self, other: Span) -> bool:
        return self.begin <= other.begin and other.end <= self.end

    def shifted(self, distance: int) -> Span:
        return Span(self.begin + distance, self.end + distance)


@dataclass(frozen=True)
class Reach:
    """What a result column reads of an operand: from `first` on `count` columns, `step` apart, counted
    from the stride times the column's number."""

    first: int = 0
    count: int = 1
    step: int = 1

    @property
    def last(self) -> int:
        return self.first + (self.count - 1) * self.step


@dataclass(frozen=True)
class Fit:
    """The columns that an operator of the stream gets.

    Attributes:
        count: result columns.
        stride: operand columns from one of them to the next.
        spread: operand columns for one windowed column.
    """

    count: int
    stride: int
    spread: int


@dataclass(frozen=True)
class Local:
    """An operator that works alike in every column.

    Attributes:
        dim: of the result that is time.
        reaches: of every operand, in windowed columns; None for those without time in them.
        rebuild: its attributes for columns that are all there: the operands begin with what the first
            result column reads and end with what the last one does.
        stride: windowed columns of the operands from one windowed column of the result to the next.
        strides: whether `rebuild` follows another stride than this.
        spreads: whether it follows a spread other than 1.
    """

    dim: int
    reaches: tuple[Reach | None, ...]
    rebuild: Callable[[Fit], Attrs]
    stride: int = 1
    strides: bool = False
    spreads: bool = False

    @property
    def reads_one(self) -> bool:
        """Whether a result column reads one column of each operand."""
        return all(reach is None or reach.count == 1 for reach in self.reaches)
