# SPDX-License-Identifier: Apache-2.0
"""Instructions of convolutions of codes, for the plan to choose their form.

Fitted to what `python -m benchmarks.sweep --kinds conv,transposed` counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...ir import Array
from ...target import Isa
from ..forms.problem import ConvProblem
from ..kernels import gemm, planes, triples
from ..kernels.facts import windows_inside

NEIGHBOURS = "neighbours"
"""The name under which a plan does without neighbouring pixels as one."""

ROW_PHASES = "row_phases"
"""The name under which a plan does without convolutions of rows."""

FLOAT_PHASES = "float_phases"
"""The name of phases of floats among what a plan may do without: each has a parameter block of its own."""


@dataclass(frozen=True)
class _Costs:
    """Instructions of conv2d on DSP; of int8 without a clamp.

    Attributes:
        pixel: of a pixel, and `code` for each of its inputs.
        copied: of each input of a window that is gathered.
        two: of two outputs that are computed together, and `product` for each input.
        alone: of an output that is left, and `product_alone`.
    """

    pixel: float
    code: float
    copied: float
    two: float
    product: float
    alone: float
    product_alone: float


_COSTS_S8 = _Costs(93, 1.2, 2.3, 17, 1.42, 31, 1.42)
_COSTS_S16 = _Costs(112, 2.3, 2.5, 39, 1.59, 42, 1.0)
# Of a row of a window of int8 that is copied first, as pixels are no fours of codes, and of one that leaves
# the image.
_UNEVEN, _OUTSIDE = 38, 70
# Of int8 codes on DSP: of a group at a pixel beside its products, and of a product; and of all groups as one.
_OF_GROUP = (480.0, 2.3)
_ONE_GROUP = (400.0, 0.92)


def instructions(isa: Isa, problem: ConvProblem) -> float:
    """Of one image, by conv2d."""
    return instructions_of(isa, problem.fields, problem.wide)


def instructions_of(isa: Isa, facts: Mapping[str, int], wide: bool) -> float:
    """Of one image, by conv2d for this instruction set."""
    if isa in triples.ISAS:
        return triples.instructions(isa, facts)
    return gemm.instructions(facts, wide) if isa is Isa.MVE else instructions_dsp(facts, wide)


def instructions_dsp(facts: Mapping[str, int], wide: bool) -> float:
    """Of one image on DSP."""
    if facts["groups"] > 1:
        return in_groups(facts)
    if not wide and facts["in_c"] == 1 and planes.pay_dsp(facts):
        return planes.instructions_dsp(facts)
    kernel_h, kernel_w, in_c = facts["kernel_h"], facts["kernel_w"], facts["in_c"]
    costs = _COSTS_S16 if wide else _COSTS_S8
    depth = kernel_h * kernel_w * in_c
    twos, left = divmod(facts["out_c"], 2)
    total = costs.pixel + costs.code * depth
    total += twos * (costs.two + costs.product * depth)
    total += left * (costs.alone + costs.product_alone * depth)
    if not wide and in_c % 4 != 0:
        total += _UNEVEN * kernel_h * (kernel_w if facts["dilation_w"] > 1 else 1)
    if (kernel_h, kernel_w) != (1, 1) or min(facts["in_y0"], facts["in_x0"]) < 0:
        total += costs.copied * depth
    if not wide:
        total += _OUTSIDE * kernel_h * (1 - windows_inside(facts, "h") * windows_inside(facts, "w"))
    clamp = 0.0 if wide else planes.clamp_dsp(facts)
    return float(facts["out_h"] * facts["out_w"] * total + clamp)


def in_groups(facts: Mapping[str, int]) -> float:
    """Of one image on DSP, with a window for each group."""
    groups = facts["groups"]
    each, product = _ONE_GROUP if groups == 1 else _OF_GROUP
    products = facts["kernel_h"] * facts["kernel_w"] * facts["in_c"] * facts["out_c"] / groups**2
    return float(facts["out_h"] * facts["out_w"] * groups * (each + product * products))


def instructions_transposed(isa: Isa, weight: Array, stride: tuple[int, int], wide: bool) -> float:
    """Of one pixel of a transposed convolution, on average."""
    outputs, kernel_h, kernel_w, in_c = weight.shape
    blocks, left = divmod(outputs, 4)
    total = 0.0
    for y in range(stride[0]):
        for x in range(stride[1]):
            rows = len(range(y, kernel_h, stride[0]))
            codes = rows * len(range(x, kernel_w, stride[1])) * in_c
            if isa is Isa.MVE:
                chunks = -(-codes // (8 if wide else 16))
                window = 32 * rows if rows > 1 else 0
                total += 95 + window + blocks * (15 + 7 * chunks) + left * (20 + 3 * chunks)
            else:
                total += 237 + 4.8 * codes + blocks * (119 + 5.2 * codes)
                total += left * (40 + 2.3 * codes)
    return total / (stride[0] * stride[1])
