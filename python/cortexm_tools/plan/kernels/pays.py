# SPDX-License-Identifier: Apache-2.0
"""When a kernel is worth it: what its `pays` in kernels.json asks beside fields and facts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...target import CORES
from . import gathered, gemm, planes
from .contract import Fields
from .facts import DERIVED, Facts

_MANY_CODES = 250_000  # products
_MANY_SUMS = 512  # of floats, of which eights save about six instructions each


class Situation(Fields):
    """The fields of a layer, what plan/lower knows of it, and what follows from that; and of the network:
    `core`, `tiles`, `all_plain`; of a softmax `elements`, all that would share its table; `looked_up`, if an
    embedding reads the weights as they are; `copies`, the kernel that is to copy the image."""

    def __missing__(self, name: str) -> Any:
        find = DERIVED.get(name) or PAYS.get(name)
        return super().__missing__(name) if find is None else find(self)


def _pairs_pay(facts: Facts) -> bool:
    """Four channels of two pixels at a time, whose operands are two loads of two words, take fewer cycles
    on the core by its costs than two channels of three pixels with a load of three and half a load of two
    (conv2d_s8), and by more than single pixels cost in small images: three in a hundred. Channels that
    are left of fours cost more, but those of one pixel are not worth the code of another kernel."""
    if facts["out_c"] % 4 != 0 and facts["out_h"] * facts["out_w"] != 1:
        return False
    costs = {name: sum(cost) / 2 for name, cost in CORES[facts["core"]].cycles.items()}
    if not costs:
        return False
    three = costs["load_multiple"] + 3 * costs["registers"]
    fours = 8 * costs["multiply"] + 2 * costs["alu"] + 2 * costs["load_double"]
    twos = 6 * costs["multiply"] + costs["alu"] + three + costs["load_double"] / 2
    return fours / 16 <= 0.97 * twos / 12


def _columns_pay(facts: Facts) -> bool:
    """So many products that the kernel whose windows share columns saves ten instructions for a byte of its
    code: one for twelve products at least. Rows of two or four pixels, none of which are three at a time,
    are better off with fours of outputs where these pay."""
    products = facts["out_h"] * facts["out_w"] * facts["out_c"] * 9 * facts["in_c"]
    are_threes = facts["out_w"] not in (2, 4) or not _pairs_pay(facts)
    return facts["out_w"] > 1 and are_threes and products >= _MANY_CODES


def _rows_of_eights_pay(facts: Facts) -> bool:
    """Rows of at least eight elements, so many that eights save more than their code takes."""
    return facts["dims"][-1:] >= (8,) and math.prod(facts["dims"]) >= _MANY_SUMS


PAYS: dict[str, Callable[[Facts], bool]] = {
    "pairs_pay": _pairs_pay,
    "columns_pay": _columns_pay,
    "rows_of_eights_pay": _rows_of_eights_pay,
    "gathers": lambda facts: facts.get("copies") == gathered.GATHERED,
    "reads_rows": lambda facts: facts.get("copies") == gathered.DIRECT,
    "planes_pay_dsp": planes.pay_dsp,
    "small_windows_pay": planes.pay_few,
    "pairs_of_rows_pay": planes.pay_pairs,
    "few_unclamped_pay": gemm.few_pay,
}
