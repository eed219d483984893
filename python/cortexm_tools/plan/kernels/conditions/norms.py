# SPDX-License-Identifier: Apache-2.0
"""What kernels of norms can require."""

from __future__ import annotations

from collections.abc import Callable

from ..facts import Facts


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


def _dense_rows(facts: Facts) -> bool:
    """Rows with nothing between one and the next, neither of codes nor of results."""
    strides = ("in_group_stride", "out_group_stride")
    return all(facts[name] == facts["inner"] for name in strides)


CASES: dict[str, Callable[[Facts], bool]] = {
    "several_groups": _several_groups,
    "alike_rows": _alike_rows,
    "dense_rows": _dense_rows,
}
