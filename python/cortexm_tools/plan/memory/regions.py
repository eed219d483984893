# SPDX-License-Identifier: Apache-2.0
"""Memories: what of a model goes into which.

A target may have a small fast memory beside a large slow one, and flash inside and outside the chip.
The plan puts what is used most often per byte into the fast memories, as far as it fits, and the rest
into the others in the order in which they are given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...errors import CortexMError
from ...options.memories import Region
from ..types import Arena, Buffer, Constant, ConstantArg, ScratchArg, Step
from .offset_search import Distances, align_up
from .offsets import fits, place, some_buffers

_ALIGN = 16  # of an arena, in bytes
_ANYWHERE = Region("", 1 << 32, "ram", "")  # for a target whose memories are not given


class NoRoom(CortexMError):
    """The memories are too small for the tensors of a plan."""


@dataclass(frozen=True)
class Heat:
    """Bytes read and written in one invocation, estimated: by buffer, and by constant."""

    buffers: dict[int, int]
    constants: dict[str, int]


def measure_heat(
    steps: tuple[Step, ...], buffer_of: dict[int, int], scratch_of: dict[int, int]
) -> Heat:
    """How often each buffer and constant is used.

    A multiply-accumulate reads one weight and one activation; kernels take the activations from
    scratch where they have some, else from the operand. Everything else is read or written once.
    """
    buffers: dict[int, int] = {}
    constants: dict[str, int] = {}
    for number, step in enumerate(steps):
        for call in step.calls:
            scratch = any(isinstance(arg, ScratchArg) and arg.nbytes for arg in call.args)
            if scratch:
                buffer = scratch_of[number]
                buffers[buffer] = buffers.get(buffer, 0) + max(call.macs, 1)
            for position, index in enumerate(arg.index for arg in call.tensors):
                multiplied = call.macs if position == 0 and not scratch else 0
                if index not in buffer_of:
                    continue  # a state
                buffer = buffer_of[index]
                buffers[buffer] = buffers.get(buffer, 0) + multiplied + 1
            names = [arg.name for arg in call.args if isinstance(arg, ConstantArg)]
            for position, name in enumerate(names):
                constants[name] = constants.get(name, 0) + (call.macs if position == 0 else 1)
    return Heat(buffers, constants)


def split_buffers(
    buffers: tuple[Buffer, ...],
    heat: Heat,
    regions: tuple[Region, ...],
    pinned: set[int],
    distances: Distances,
) -> tuple[Buffer, ...]:
    """Gives every buffer a region: the index of a RAM region, the first of kind ram being 0.

    Args:
        pinned: buffers that must be in region 0: the model's inputs and outputs.
        distances: between operands and results that may overlap, see offsets.py.

    Raises:
        NoRoom: the regions are too small.
    """
    rams = ram_regions(regions)
    if rams == (_ANYWHERE,):
        return buffers
    order = sorted(
        range(len(buffers)),
        key=lambda i: (i not in pinned, -(heat.buffers.get(i, 0) / max(1, buffers[i].nbytes)), i),
    )
    taken: list[list[int]] = [[] for _ in rams]
    placed: dict[int, Buffer] = {}
    wanted = [i for i, r in enumerate(rams) if r.kind == "fast"]
    wanted += [i for i, r in enumerate(rams) if r.kind == "ram"]
    for index in order:
        for region in [0] if index in pinned else wanted:
            together = sorted((*taken[region], index))
            if _fits(buffers, together, rams[region].size, distances):
                taken[region].append(index)
                placed[index] = replace(buffers[index], region=region)
                break
        else:
            raise NoRoom(
                f"{buffers[index].name} ({buffers[index].nbytes:,} bytes) fits into no memory region",
                where=", ".join(f"{r.name} {r.size:,} bytes" for r in rams),
                hint="make a region larger, use IO int8, or make the largest layers smaller",
            )
    return tuple(placed[i] for i in range(len(buffers)))


def ram_regions(regions: tuple[Region, ...]) -> tuple[Region, ...]:
    """Those that hold tensors; the main one, for inputs and outputs, is the first."""
    rams = [region for region in regions if region.kind != "weights"]
    return tuple(sorted(rams, key=lambda region: region.kind != "ram")) or (_ANYWHERE,)


def place_regions(
    buffers: tuple[Buffer, ...], regions: tuple[Region, ...], distances: Distances
) -> tuple[tuple[Buffer, ...], tuple[Arena, ...], int]:
    """Gives every buffer its offset: region after region, each placed by itself.

    Returns:
        The buffers, the arenas, and the bytes that no placement of these buffers can go below.
    """
    bound = 0
    result = list(buffers)
    arenas: list[Arena] = []
    base = 0
    for number, region in enumerate(ram_regions(regions)):
        inside = [i for i, buffer in enumerate(buffers) if buffer.region == number]
        placement = place(*some_buffers(buffers, distances, inside))
        for index, buffer in zip(inside, placement.buffers, strict=True):
            result[index] = replace(buffer, offset=base + buffer.offset)
        arenas.append(Arena(region, base, align_up(placement.size, _ALIGN)))
        bound += placement.bound
        base += arenas[-1].size
    return tuple(result), tuple(arenas), bound


def _fits(buffers: tuple[Buffer, ...], inside: list[int], size: int, distances: Distances) -> bool:
    if sum(buffers[i].nbytes + buffers[i].align for i in inside) <= size:
        return True
    return fits(*some_buffers(buffers, distances, inside), size // _ALIGN * _ALIGN)


def split_constants(
    constants: tuple[Constant, ...], heat: Heat, regions: tuple[Region, ...]
) -> tuple[Constant, ...]:
    """Gives every constant the section of a region of kind weights, the most used ones the first.

    Raises:
        CortexMError: the regions together are too small.
    """
    flashes = [region for region in regions if region.kind == "weights"]
    if not flashes:
        return constants
    order = sorted(
        constants,
        key=lambda c: (-(heat.constants.get(c.name, 0) / max(1, c.nbytes)), c.name),
    )
    used = [0] * len(flashes)
    sections: dict[str, str] = {}
    for constant in order:
        size = -(-constant.nbytes // 8) * 8
        for number, region in enumerate(flashes):
            if used[number] + size <= region.size:
                used[number] += size
                sections[constant.name] = region.section
                break
        else:
            raise CortexMError(
                f"constant {constant.name} ({constant.nbytes:,} bytes) fits into no region for weights",
                where=", ".join(f"{r.name} {r.size:,} bytes" for r in flashes),
                hint="make a region larger, or add one: qspi=8M:weights",
            )
    return tuple(replace(c, section=sections[c.name]) for c in constants)
