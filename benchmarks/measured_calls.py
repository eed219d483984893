# SPDX-License-Identifier: Apache-2.0
"""Exact instructions of single kernel calls: every kernel that may take a layer, whether it pays or not.

Each is called once for each parameter block of benchmarks/layers.py; adapters of CMSIS-NN where CMSIS_NN_ROOT
names a checkout. Many calls are one program, in which all read the same memory and write to the same, as
counts hardly depend on data. Large weights are random.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from cortexm_tools.emit import EmitOptions, emit
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, Layer, Op, Tensor, ops
from cortexm_tools.options.memories import Region
from cortexm_tools.plan import KernelChoice
from cortexm_tools.plan.kernels.params import VALUES
from cortexm_tools.plan.lower.constants import (
    Source,
    Weights,
    constants_of,
    pack_constants,
    with_names,
)
from cortexm_tools.plan.lower.context import Lowerings
from cortexm_tools.plan.lower.functions import find_functions
from cortexm_tools.plan.lower.gates import find_gates
from cortexm_tools.plan.lower.lanes import with_lanes
from cortexm_tools.plan.memory.overlap import order_of
from cortexm_tools.plan.memory.states import settle
from cortexm_tools.plan.types import (
    Arena,
    Buffer,
    Call,
    ConstantArg,
    Plan,
    ScratchArg,
    Step,
    TensorArg,
)
from cortexm_tools.run.boards import boards_for
from cortexm_tools.run.counts import read_counts
from cortexm_tools.run.elf import parse_elf
from cortexm_tools.run.emulator import run_image
from cortexm_tools.run.image import build_image, cmsis_nn_root
from cortexm_tools.run.profile import build_plugin
from cortexm_tools.run.result import INPUTS, pack_inputs
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from benchmarks import layers

Counts = dict[str, int]  # instructions by symbol and parameter block

_ROOM = 1 << 20  # bytes of operands, of results and of scratch
_CONSTANTS = 8192  # bytes of weights that are written as they are
_TOGETHER = 150  # calls of a program
_MOST = {"cortex-m55": (80, 6_000_000), "cortex-m4": (80, 3_000_000)}
_MOST_OF_OTHERS = (80, 800_000)
"""Calls of a kernel, and products of a call, on cores with several kernels for a layer and on others."""
_FEW = 16  # calls, from where on none is of a random layer
_LEARNED = VALUES - {"act_min", "act_max"}  # what counts hardly depend on


@dataclass(frozen=True)
class Case:
    """A call, what its constants are made from, and the types of its tensors."""

    call: Call
    sources: Mapping[str, Source]
    types: Mapping[int, DType]

    @property
    def key(self) -> str:
        fields = self.call.fields
        block = {n: v for n, v in fields if n not in _LEARNED and not isinstance(v, str)}
        return f"{self.call.kernel.symbol} {json.dumps(block, sort_keys=True)}"

    @property
    def fits(self) -> bool:
        """Whether there is room for it, and its constants have the form that it wants."""
        fields = {name: value for name, value in self.call.int_fields.items() if value > 0}
        names = (
            ("in_h", "in_w"),
            ("out_h", "out_w"),
            ("rows", "in_features"),
            ("rows", "out_features"),
        )
        sizes = [
            fields.get("count", 0),
            fields.get("outer", 1) * fields.get("size", 1) * fields.get("inner", 1),
        ]
        channels = max(
            fields.get(name, 1) for name in ("in_c", "out_c", "channels", "out_pixel_stride")
        )
        for pair in names:
            extent = fields.get(pair[0], 1) * fields.get(pair[1], 1) * fields.get("batches", 1)
            sizes.append(extent * (channels if pair[0] != "rows" else 1))
        scratch = [arg.offset + arg.nbytes for arg in self.call.args if isinstance(arg, ScratchArg)]
        most = max(self.types.values(), key=lambda dtype: dtype.size, default=DType.S8).size
        try:
            constants = [self.sources[key] for key in constants_of([self.call])]
            small = [source for source in constants if not _is_large(source)]
            pack_constants({str(number): source for number, source in enumerate(small)})
        except ValueError:
            return False  # a linear layer's
        largest = max([0, *scratch, *(source.nbytes for source in constants)])
        return max(largest, most * max(sizes)) <= _ROOM


def _is_large(source: Source) -> bool:
    """Whether it is many weights; tables may say where they end."""
    return isinstance(source.data, Weights) and source.nbytes > _CONSTANTS


def _lowered(graph: Graph, target: Target) -> Iterator[Case]:
    """Every call of every way to compute each operator, and of two of its rows, as bands have them."""
    for find in (find_functions, find_gates):
        graph, fusions = find(graph)
        graph = replace(graph, ops=(*graph.ops, *fusions))
    choice = KernelChoice.AUTO if cmsis_nn_root() else KernelChoice.BUILTIN
    lowerings = Lowerings(graph, target, choice)
    for op in graph.ops:
        for lowered in lowerings.ways(op):
            for call in lowered.calls:
                types = {arg.index: graph.tensors[arg.index].dtype for arg in call.tensors}
                for each in (call, *_band(call)):
                    yield Case(with_lanes(replace(each, turns=1)), lowered.sources, types)


def _band(call: Call) -> Iterator[Call]:
    fields = call.int_fields
    if order_of(call)[0] in ("pixels", "planes") and fields["out_h"] > 4:
        height = fields["stride_h"] + (fields["kernel_h"] - 1) * fields["dilation_h"] + 1
        rows = {"out_h": 2, "in_h": height, "in_y0": 0}
        yield replace(call, fields=tuple({**dict(call.fields), **rows}.items()), macs=0)


def cases(target: Target, only: str) -> list[Case]:
    """Calls of the kernels that a glob matches: one for a parameter block, and not too many; of random
    layers where there are few others."""
    calls, products = _MOST.get(target.core.value, _MOST_OF_OTHERS)
    kept: dict[str, list[Case]] = {}
    for graphs, each in ((layers.usual(), calls), (layers.random(), _FEW)):
        found: dict[str, Case] = {}
        for graph in map(simplify, graphs):
            with suppress(CortexMError):
                for case in _lowered(settle(graph), target):
                    if fnmatchcase(case.call.kernel.symbol, f"cortexm_{only}"):
                        found.setdefault(case.key, case)
        for key in sorted(found, key=lambda key: hashlib.sha256(key.encode()).digest()):
            some = kept.setdefault(found[key].call.kernel.symbol, [])
            if len(some) < each and found[key].call.macs <= products and found[key].fits:
                some.append(found[key])
    unique = {case.key: case for symbol in sorted(kept) for case in kept[symbol]}
    return list(unique.values())


def _program(some: Sequence[Case], target: Target, floats: bool) -> tuple[Plan, bytes]:
    """Calls as the steps of one plan, and a last step of none; and what they read."""
    random = np.random.default_rng(1)
    data = (
        random.normal(0, 1, _ROOM // 4).astype(np.float32).tobytes()
        if floats
        else random.integers(-128, 128, _ROOM).astype(np.int8).tobytes()
    )
    roles = [(dtype, role) for dtype in DType for role in range(2)]  # operands, results
    tensors = [Tensor(f"t{number}", dtype, (1,), (0,)) for number, (dtype, _) in enumerate(roles)]
    place = {role: number for number, role in enumerate(roles)}
    source = len(tensors)
    tensors.append(Tensor("data", DType.S8, (_ROOM,), (0,)))
    sources = {"large": Source("large", np.frombuffer(data, np.int8), "", 0)}
    calls = []
    for number, case in enumerate(some):
        names = {}
        for key in sorted(constants_of([case.call])):
            names[key] = "large" if _is_large(case.sources[key]) else f"{number}.{key}"
            sources.setdefault(names[key], case.sources[key])
        call = with_names(case.call, names)
        last = max((i for i, arg in enumerate(call.args) if isinstance(arg, TensorArg)), default=-1)
        args = tuple(
            TensorArg(place[case.types[arg.index], int(i == last)], arg.offset)
            if isinstance(arg, TensorArg)
            else replace(arg, step=0)
            if isinstance(arg, ConstantArg)
            else arg
            for i, arg in enumerate(call.args)
        )
        calls.append(replace(call, args=args, loop=0))
    constants, names = pack_constants(sources)
    op = Op(ops.View(), (source,), (place[DType.S8, 1],), Layer("call"))
    steps = [*(Step(op, (with_names(call, names),)) for call in calls), Step(op, ())]
    areas = enumerate(("in", "out", "scratch"))
    plan = Plan(
        graph=Graph("fit", tuple(tensors), (), (source,), (place[DType.S8, 1],), ()),
        target=target,
        steps=tuple(steps),
        constants=constants,
        buffers=tuple(Buffer(name, _ROOM, 16, 0, 0, offset=_ROOM * at) for at, name in areas),
        buffer_of={**{number: role for number, (_, role) in enumerate(roles)}, source: 0},
        scratch_of=dict.fromkeys(range(len(steps)), 2),
        arena_size=3 * _ROOM,
        lower_bound=0,
        arenas=(Arena(Region("", 1 << 32, "ram", ""), 0, 3 * _ROOM),),
    )
    return plan, data


def _run(plan: Plan, data: bytes, work: Path) -> list[int]:
    """The instructions of each step but the last, whose marks are none of theirs.

    Raises:
        CortexMError: the build or the run fails.
    """
    model = work / "model"
    model.mkdir(exist_ok=True)
    options = EmitOptions("fit", "benchmarks.fit", "", profile=True)
    for name, text in emit(plan, options, checks_cmsis_nn=bool(cmsis_nn_root())).items():
        (model / name).write_text(text, encoding="utf-8")
    kernels = sorted({call.kernel.symbol for step in plan.steps for call in step.calls})
    (model / "fit.report.json").write_text(json.dumps({"kernels": kernels}), encoding="utf-8")
    core, board = plan.target.core, boards_for(plan.target.core)[-1]  # the one with more memory
    image = build_image(model, ["fit"], work / "image", board=board, core=core, isa=plan.target.isa)
    folder, elf = image.path.parent, parse_elf(image.path.read_bytes(), where=str(image.path))
    marker = next(each.address for each in elf.symbols if each.name == "cortexm_profile") & ~1
    (folder / INPUTS).write_bytes(pack_inputs([[data]]))
    arguments = f"{build_plugin(work)},mark={marker:#x},out={folder / 'counts.txt'}"
    run_image(board, image.path, folder, extra=("-plugin", arguments))
    marks = read_counts((folder / "counts.txt").read_text()).marks
    steps = [after - before for before, after in zip(marks, marks[1:], strict=False)]
    return [count - steps[-1] for count in steps[:-1]]


def measure(cpu: str, only: str, known: Counts, keep: Callable[[], None]) -> Counts:
    """The counts of calls; those that are not known are added there, with `keep` called from time to
    time. What cannot run by itself is told of and left out: its kernel requires more than it says.

    Raises:
        CortexMError: a tool is missing.
    """
    target = Target.parse(cpu)
    some = cases(target, only)
    new = [case for case in some if case.key not in known]
    groups = [[c for c in new if ("f32" in c.call.kernel.types) is of] for of in (False, True)]
    with tempfile.TemporaryDirectory() as folder:
        for of, group in enumerate(groups):
            parts = [group[first : first + _TOGETHER] for first in range(0, len(group), _TOGETHER)]
            while parts:
                part = parts.pop(0)
                try:
                    counts = _run(*_program(part, target, bool(of)), Path(folder))
                except CortexMError as error:
                    half = len(part) // 2
                    parts[:0] = [part[:half], part[half:]] if half else []
                    if not half:
                        print(f"{cpu}: {part[0].key}: {error.message}", file=sys.stderr)
                    continue
                known |= {case.key: count for case, count in zip(part, counts, strict=True)}
                keep()
                if sys.stderr.isatty():
                    print(f"{cpu}: {len(known)} calls", end="\r", file=sys.stderr, flush=True)
    return {case.key: known[case.key] for case in some if case.key in known}
