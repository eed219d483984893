# SPDX-License-Identifier: Apache-2.0
"""The language of the table of kernels."""

from __future__ import annotations

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.plan.kernels.contract import FACTS, named, parse, parse_lets
from cortexm_tools.plan.kernels.params import field_types
from cortexm_tools.plan.kernels.table import kernels

KERNELS = [*kernels(), *kernels("adapters")]

LAYER = {"in_c": 6, "in_y0": -1, "kernel_h": 3, "in_strides": (96, 1, 24, 4)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ceil(in_c, 4) * 4 - in_c % 4", 6),
        ("ceil(in_y0, 2) + in_y0 // 2", -1),
        ("max(in_c, 1 << kernel_h, 2) - min(in_c, kernel_h)", 5),
        ("-kernel_h < in_y0 <= 0 and not in_c % 2", True),
        ("in_c == 3 or in_strides[3] != 4", False),
        ("in_c // 0 if kernel_h > 3 else -in_strides[0]", -96),
    ],
)
def test_values(text: str, value: int) -> None:
    assert parse(text)(LAYER) == value


def test_lets_stand_for_themselves() -> None:
    """Each is of those before it, with its own precedence."""
    lets = parse_lets({"pairs": ["of two", "in_c + 1"], "columns": ["", "pairs *", "kernel_h"]})
    found = parse("2 * columns", lets)
    assert found(LAYER) == 2 * (6 + 1) * 3
    assert found.names == {"in_c", "kernel_h"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("in_c **", "invalid syntax"),
        ("in_c / 2", "Div is no part"),
        ("in_c * 0.5", "0.5 is no integer"),
        ("in_c == True", "True is no integer"),
        ("abs(in_c)", "abs is no function"),
        ("ceil(in_c, 2, 1)", "ceil takes two"),
        ("in_strides[in_c]", "an index is a constant"),
        ("in_strides.count", "Attribute is no part"),
        ("(lambda: 1)()", "Lambda is no part|no function"),
        ("__import__('os')", "no function|no integer"),
        ("[c for c in in_strides]", "ListComp is no part"),
    ],
)
def test_what_is_not_in_it_is_refused(text: str, reason: str) -> None:
    with pytest.raises(CortexMError, match=reason) as caught:
        parse(text)
    assert text in caught.value.message and caught.value.hint


def test_contracts_name_fields_and_facts() -> None:
    """A misspelt name would be a field that a call has not, and 0."""
    for kernel in KERNELS:
        known = {*field_types()[kernel.params], *FACTS}
        scratch = (kernel.scratch,) if kernel.scratch else ()
        asked = {name for each in (*kernel.requires, *scratch) for name in each.names}
        assert asked <= known, kernel.symbol


def test_names_are_one_thing() -> None:
    fields = {name for block in field_types().values() for name in block}
    assert not (fields & named().keys() or (fields | named().keys()) & FACTS.keys())
