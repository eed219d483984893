# SPDX-License-Identifier: Apache-2.0
"""What kernels of norms can require."""

from __future__ import annotations

from collections.abc import Callable

from ..facts import Facts

_MANY_SHORT_ROWS = 32  # of codes


def _several_groups(facts: Facts) -> bool:
    """A norm of floats of so many groups that four of them are computed faster than one after the other."""
    return bool(facts["batches"] * facts["groups"] >= 3)


def _alike_rows(facts: Facts) -> bool:
    """A norm of rows that follow each other and have the same factors, one for each element."""
    strides = ("in_inner_stride", "out_inner_stride", "factor_inner_stride")
    return bool(
        facts["batches"] == facts["outer"] == 1
        and facts["in_group_stride"] == facts["out_group_stride"] == facts["inner"]
        and facts["factor_group_stride"] == 0
        and all(facts[name] == 1 for name in strides)
    )


def _short_alike_rows(size: int) -> Callable[[Facts], bool]:
    """Such rows of `size` codes, four or more: where the network has rows of no other size, so that no other
    code is in its image; or so many that they save 20 instructions each for some 550 bytes."""

    def is_worth_it(facts: Facts) -> bool:
        is_one = facts["inner"] == size and facts["groups"] >= 4
        return bool(is_one and (facts["is_alone"] or facts["rows"] >= _MANY_SHORT_ROWS))

    return is_worth_it


def _channels_in_lanes(facts: Facts) -> bool:
    """A norm whose groups are single channels, in fours side by side, in a network without other groups, nor
    large images of int16."""
    strides = ("in_group_stride", "out_group_stride", "factor_group_stride", "outer")
    return bool(
        facts["is_alone"] and facts["groups"] % 4 == 0 and all(facts[name] == 1 for name in strides)
    )


def _dense_rows(facts: Facts) -> bool:
    """Rows with nothing between one and the next, neither of codes nor of results."""
    strides = ("in_group_stride", "out_group_stride")
    return all(facts[name] == facts["inner"] for name in strides)


CASES: dict[str, Callable[[Facts], bool]] = {
    "several_groups": _several_groups,
    "alike_rows": _alike_rows,
    "rows_of_four": _short_alike_rows(4),
    "rows_of_eight": _short_alike_rows(8),
    "rows_of_twelve": _short_alike_rows(12),
    "rows_of_sixteen": _short_alike_rows(16),
    "channels_in_lanes": _channels_in_lanes,
    "dense_rows": _dense_rows,
}
