# SPDX-License-Identifier: Apache-2.0
"""RAM limits that bands of rows alone do not meet: kernels with less scratch.

A faster variant of a kernel often works through scratch, a slower one without. Operators whose step
needs more than the limit give up the variant that they have, as long as there is another and until the
limit is met. Operators below the limit keep their kernels.

Without leave to use more, a kernel that copies an image or makes rows in scratch for speed alone is given up
where the arena grows by it (of depthwise convolutions depthwise_conv2d_pairs, and others where a channel has
several outputs), and conv2d_gathered and conv2d_direct where too few are left to be worth their code.
Neighbouring pixels are computed apart then where a byte of scratch saves little by them.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir import Op
from ..kernels import gathered
from ..lower.conv_costs import NEIGHBOURS, ROW_PHASES, instructions_of
from ..types import Call, ScratchArg, Step
from .bands import Chain
from .candidates import Candidates
from .gathers import copying, is_worth_its_code
from .whole import Spare, WholeCalls

Choice = tuple[Candidates, tuple[Chain, ...]]

_POOLING = "cortexm_avg_pool2d_rows_s8_mve", "cortexm_max_pool2d_rows_s8_mve"
_REWRITES = frozenset({NEIGHBOURS, ROW_PHASES})
_WITH_ROWS = _REWRITES.union(_POOLING)
# What computes depthwise convolutions of several outputs a channel from a copy of the image.
_SEVERAL = frozenset(
    f"cortexm_depthwise_conv2d_{name}"
    for name in (
        "pairs_s8_mve",
        "planes_s8_dsp",
        "planes_s16_dsp",
    )
)
# What copies an image of one channel after the other for speed alone, also of one output each.
_COPIES = frozenset({"cortexm_depthwise_conv2d_pairs_s8_mve"})
_PER_BYTE = 8  # instructions that neighbours computed as one must save for one of scratch
_ROUNDS = 4  # from MVE to DSP to portable C, each with other bands


def fit(
    choose: Callable[[Spare, int | None], Choice],
    ram_limit: int | None,
    *,
    may_grow: bool = True,
) -> Choice:
    """The choice with which the arena has at most `ram_limit` bytes, or the smallest one found.

    If what the limit asks for is not enough, what a limit of nothing asks for is tried too: so a limit
    of just the smallest arena is met.

    Args:
        choose: the planner without these kernels for these operators, and its chains for a limit.
        may_grow: whether the limit is leave to use as much for speed; else it is the room that there is.
    """
    if ram_limit is None or not may_grow:
        choice = _without_growth(choose, ram_limit)
        if ram_limit is None or _is_within(choice, ram_limit):
            return choice
    best = _spare(choose, ram_limit)
    if ram_limit > 1 and not _is_within(best, ram_limit):
        other = _spare(choose, 0)
        return other if _is_within(other, _size(best)) else best
    return best


def _without_growth(choose: Callable[[Spare, int | None], Choice], ram_limit: int | None) -> Choice:
    """The choice in which as many kernels copy for speed as there is room for in the smallest arena of those
    without."""
    spare: Spare = frozenset()
    choice = choose(spare, ram_limit)
    copies = copying(choice[0].whole)
    some = copies | {pair for pair in _with_scratch(*choice, 0) if pair[1] in _WITH_ROWS}
    some -= _worth_room(choice[0].whole)
    planes_alone = _of_planes(choice[0].whole)
    some |= _of_several(choice[0].whole) | planes_alone
    if not some:
        return choice
    least = choose(some, ram_limit)
    size = _size(least)
    while not _is_within(choice, size) and some - spare:
        large = {tensor for tensor, _ in _with_scratch(*choice, size)}
        left = some - spare
        # Where each step would have room alone, the half of them that needs most gives way, first those for
        # which there are other vectors.
        alone = left & planes_alone or left
        spare |= {pair for pair in left if pair[0] in large} or _busiest(*choice, alone)
        choice = choose(spare, ram_limit)
    whole = choice[0].whole
    if not all(is_worth_its_code(whole, symbol) for symbol in gathered.SYMBOLS):
        choice = choose(spare | copies, ram_limit)
    return choice if _is_within(choice, size) else least


def _of_several(whole: WholeCalls) -> Spare:
    """What copies the image for several outputs a channel, and what would do instead."""
    return frozenset(
        (op.outputs[0], symbol)
        for op in whole.graph.ops
        for call in whole.lowered(op).calls
        if call.kernel.symbol in _SEVERAL and call.int_fields["in_c"] < call.int_fields["out_c"]
        for symbol in _SEVERAL
    )


def _of_planes(whole: WholeCalls) -> Spare:
    """What copies one channel after the other."""
    return frozenset(
        (op.outputs[0], call.kernel.symbol)
        for op in whole.graph.ops
        for call in whole.lowered(op).calls
        if call.kernel.symbol in _COPIES
    )


def _worth_room(whole: WholeCalls) -> Spare:
    """The operators whose neighbours, computed as one, save enough for what scratch they need more."""
    return frozenset(
        (op.outputs[0], NEIGHBOURS)
        for op in whole.graph.ops
        if NEIGHBOURS in whole.others(op) and _are_worth_room(whole, op)
    )


def _are_worth_room(whole: WholeCalls, op: Op) -> bool:
    ways = whole.lowered(op).calls, whole.lowered(op, {NEIGHBOURS}).calls
    if all(call.kernel.serves != "conv2d" for calls in ways for call in calls):
        return True  # of others there is no estimate
    (few, more), (many, less) = ((sum(map(_instructions, c)), sum(map(_scratch, c))) for c in ways)
    return many - few >= _PER_BYTE * (more - less)


def _instructions(call: Call) -> float:
    symbol, fields = call.kernel.symbol, call.int_fields
    if symbol in gathered.SYMBOLS:
        return call.turns * gathered.instructions(symbol, fields)
    return call.turns * instructions_of(
        call.kernel.isa, fields, call.kernel.types.startswith("s16")
    )


def _scratch(call: Call) -> int:
    return sum(arg.nbytes for arg in call.args if isinstance(arg, ScratchArg))


def _spare(choose: Callable[[Spare, int | None], Choice], ram_limit: int) -> Choice:
    spare: Spare = frozenset()
    best = latest = choose(spare, ram_limit)
    for _ in range(_ROUNDS):
        more = _too_large(*latest, ram_limit) - spare
        if not more or _is_within(best, ram_limit):
            break
        spare |= more
        latest = choose(spare, ram_limit)
        best = latest if _is_within(latest, _size(best) - 1) else best
    return best


def _size(choice: Choice) -> int:
    candidates, chains = choice
    return candidates.smallest(chains)


def _is_within(choice: Choice, nbytes: int) -> bool:
    candidates, chains = choice
    return candidates.is_within(chains, nbytes)


def _too_large(candidates: Candidates, chains: tuple[Chain, ...], ram_limit: int) -> Spare:
    """The kernels with scratch in steps above the limit, and in those that need most, that have
    other variants."""
    _, loads = candidates.loads(chains)
    return _with_scratch(candidates, chains, min(ram_limit, max(loads, default=0) - 1))


def _with_scratch(candidates: Candidates, chains: tuple[Chain, ...], most: int) -> Spare:
    """Those in steps that need more than `most` bytes, and there what makes rows in scratch."""
    steps, loads = candidates.loads(chains)
    return frozenset(
        (op.outputs[0], name)
        for step, load in zip(steps, loads, strict=True)
        if load > most
        for call in step.calls
        if any(isinstance(arg, ScratchArg) and arg.nbytes for arg in call.args)
        for op in [_maker(step, call)]
        for name in candidates.whole.others(op) & {call.kernel.symbol, *_REWRITES}
    )


def _busiest(candidates: Candidates, chains: tuple[Chain, ...], among: Spare) -> Spare:
    """The half of these whose steps need most."""
    steps, loads = candidates.loads(chains)
    load = {
        _maker(step, call).outputs[0]: nbytes
        for step, nbytes in zip(steps, loads, strict=True)
        for call in step.calls
    }
    order = sorted(among, key=lambda pair: (-load.get(pair[0], 0), pair))
    return frozenset(order[: -(-len(order) // 2)])


def _maker(step: Step, call: Call) -> Op:
    """The operator of a step that a call serves; its result may lie in that of a concatenation."""
    made = call.result.index if call.result is not None else None
    return next((op for op in step.fused if made in op.outputs), step.op)
