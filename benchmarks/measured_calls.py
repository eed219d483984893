# SPDX-License-Identifier: Apache-2.0
"""Exact instructions of single kernel calls: every kernel that may take a layer, whether or not it pays.

The layers are those of the programs of `benchmarks.programs` and of `benchmarks.sweep`, and each kernel is
called once for each parameter block. Many calls are one program, in which all read the same memory and write
to the same: counts hardly depend on data. Small constants are the layer's own, large ones random.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cortexm_tools.emit import EmitOptions, emit
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, Layer, Op, Tensor, contiguous, ops
from cortexm_tools.options.memories import Region
from cortexm_tools.plan.kernels import conditions, gathered, gemm, planes, table
from cortexm_tools.plan.kernels.conditions import elements, floats, norms, products, softmax
from cortexm_tools.plan.kernels.params import check_ranges
from cortexm_tools.plan.kernels.table import Kernel
from cortexm_tools.plan.lower import context
from cortexm_tools.plan.lower.constants import Source, Weights, constants_of, pack_constants, with_names
from cortexm_tools.plan.lower.context import Lowerings, Selector
from cortexm_tools.plan.lower.lanes import with_lanes
from cortexm_tools.plan.search.space import SearchSpace
from cortexm_tools.plan.types import Arena, Buffer, Call, ConstantArg, Plan, ScratchArg, Step, TensorArg
from cortexm_tools.run.counts import read_counts
from cortexm_tools.run.emulator import run_image
from cortexm_tools.run.image import build_image
from cortexm_tools.run.profile import build_plugin
from cortexm_tools.run.result import INPUTS, OUTPUTS, pack_inputs
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from benchmarks import programs, sweep
from tests.support.graphs import Net

BOARDS = {"cortex-m0": "mps2-an385", "cortex-m3": "mps2-an385", "cortex-m4": "mps2-an386",
          "cortex-m7": "mps2-an500", "cortex-m33": "mps2-an505", "cortex-m55": "mps3-an547"}
_ROOM = 1 << 20  # bytes of operands, of results and of scratch
_CONSTANTS = 8192  # bytes of a constant that is written as it is
_TOGETHER = 150  # calls of a program
_NAMES = ("neighbours", "row_phases", "softmax_of_few_elements", "float_phases", "filled")


def _direct(facts):
    return facts.get("copies") == gathered.DIRECT or gathered.fits(gathered.DIRECT, facts)


def _pooled(name):
    return lambda facts: True


# What is right whether or not it pays.
RIGHT = {
    "pairs_pay": lambda f: True,
    "shared_columns": lambda f: planes.are_squares(f) and f["stride_w"] == 1
    and -f["kernel_h"] < f["in_y0"] and f["in_y0"] + (f["out_h"] - 1) * f["stride_h"] < f["in_h"]
    and (f["in_c"] % 4 == 0 or (f["in_c"] == 3 and f["in_w"] > 1)) and f["out_c"] % 2 == 0 and f["out_w"] > 1,
    "gathers": lambda f: f.get("out_pixel_stride") == f["out_c"] and gathered.fits(gathered.GATHERED, f),
    "reads_rows": lambda f: f.get("out_pixel_stride") == f["out_c"] and gathered.fits(gathered.DIRECT, f),
    "planes_pay_dsp": lambda f: f["out_w"] > 1 and f["out_c"] % f["in_c"] == 0 and planes.scratch_dsp(f) <= 4096,
    "small_windows": planes._are_few,
    "pairs_of_rows_pay": planes._are_pairs,
    "few_inputs": lambda f: f["in_c"] in (8, 16, 24, 32) and f["out_c"] % 4 == 0
    and f["out_pixel_stride"] <= 32767 and products.is_pointwise(f),
    "few_unclamped": lambda f: f["in_c"] <= 16 * f["groups"] and f["out_c"] >= 8 * f["groups"]
    and (f.get("act_min"), f.get("act_max")) == (-128, 127) and products.is_pointwise(f)
    and f["out_pixel_stride"] <= 32767,
    "plain": lambda f: f["groups"] == 1 and f["out_c"] % 4 == 0,
    "tiles": lambda f: products._tiles({**f, "tiles": True}),
    "short_row": floats._one_row,
    "many_values": lambda f: True,
    "rows_of_eights": lambda f: f["dims"][-1:] >= (8,),
    "from_40_elements": lambda f: True,
    "from_20_elements": lambda f: True,
    "short_columns": lambda f: f["size"] <= 4095 and softmax._are_divided(f),
    "few_elements": lambda f: f["size"] <= 40 and f["multiplier"] < 1 << 30,
    "several_groups": lambda f: True,
}


class Trail:
    """Chooses the kernels of one lowering: at point i the one with index `path[i]`, else the first."""

    def __init__(self, path: Sequence[int] = ()) -> None:
        self.path, self.sizes = path, []
        self.last = ""

    def find(self, op, types, target, *, layer="", facts=None, choice=None, avoid=frozenset()) -> Kernel:
        if self.last and self.last in avoid:
            self.last = ""
            raise CortexMError("the last")
        found = [
            kernel
            for each in types
            for kernel in table.variants(op, each, target)
            if all(RIGHT.get(n, conditions.CASES[n])(facts or {}) for n in kernel.when)
        ]
        if not found:
            return _find(op, types, target, layer=layer, facts=facts)
        place = self.path[len(self.sizes)] if len(self.sizes) < len(self.path) else 0
        self.sizes.append(len(found))
        self.last = found[place].symbol
        return found[place]


_find = context.find_kernel


@dataclass(frozen=True)
class Case:
    """A call, what its constants are made from, and the types of its tensors."""

    call: Call
    sources: Mapping[str, Source]
    types: Mapping[int, DType]

    @property
    def key(self) -> str:
        block = {n: v for n, v in self.call.fields if not isinstance(v, str)}
        return self.call.kernel.symbol + " " + json.dumps(block, sort_keys=True)


def lowered(graph: Graph, target: Target) -> Iterator[Case]:
    """Every call of every way to compute each operator."""
    lowerings = Lowerings(graph, target)
    for op in graph.ops:
        lowering = context._LOWERINGS.get(type(op.attrs))
        if lowering is None:
            continue
        for without in (frozenset(), *(frozenset({name}) for name in _names(target)), frozenset(_names(target))):
            paths: list[tuple[int, ...]] = [()]
            for path in paths:
                trail = Trail(path)
                context.find_kernel = trail.find
                select = Selector(lowerings, op, without)
                try:
                    calls = lowering(select, op.attrs, op)
                    for call in calls:
                        check_ranges(call.kernel, call.fields, op)
                except (CortexMError, KeyError, IndexError, ValueError):
                    calls = []
                finally:
                    context.find_kernel = _find
                if path == ():
                    paths += [
                        (0,) * point + (place,)
                        for point, size in enumerate(trail.sizes)
                        for place in range(1, size)
                    ]
                for call in calls:
                    types = {arg.index: graph.tensors[arg.index].dtype for arg in call.tensors}
                    yield Case(with_lanes(replace(call, turns=1)), select.sources, types)
            if not select.variants & set(_names(target)):
                break


def _names(target):
    from cortexm_tools.plan.lower.neighbours import NEIGHBOURS
    from cortexm_tools.plan.lower.transposed import ROW_PHASES
    return (NEIGHBOURS, ROW_PHASES)


class _FourBits(sweep._Net):
    def __init__(self, name, seed):
        super().__init__(name, seed)

    bits_less = 4


def graphs(target: Target) -> Iterator[Graph]:
    names = programs.names()
    folder = programs.prepared(names)
    for name in names:
        try:
            graph = simplify(programs.load(name, folder).program.graph())
            yield SearchSpace(graph, target).graph
        except CortexMError:
            continue
    every = sweep.layers()
    every = list(dict.fromkeys([*every, *(layer.neighbour for layer in every)]))
    linear = ("conv", "depthwise", "transposed", "linear")
    for of, kinds, net in (
        (DType.S8, None, sweep._Net),
        (DType.S16, (*linear, "matmul", "max_pool", "avg_pool", "add", "mul", "softmax"), sweep._Net),
        (DType.S8, linear, _FourBits),
        (DType.S16, linear, _FourBits),
    ):
        some = [replace(layer, of=of) for layer in every if kinds is None or layer.kind in kinds]
        for first in range(0, len(some), 40):
            made = sweep.Sweep()
            made.net = net("sweep", 1)
            outs = []
            for layer in dict.fromkeys(some[first : first + 40]):
                outs.append(made.add(layer)[0])
            yield SearchSpace(simplify(made.net.finish(*outs)), target).graph


def cases(cpu: str) -> list[Case]:
    """One of each kernel and parameter block."""
    found: dict[str, Case] = {}
    for graph in graphs(Target.parse(cpu)):
        for case in lowered(graph, Target.parse(cpu)):
            found.setdefault(case.key, case)
    return list(found.values())


def _bytes(case: Case, arg: TensorArg) -> int:
    return 0


class _Program:
    """Many calls as the steps of one plan."""

    def __init__(self, name: str, some: Sequence[Case], target: Target, floats: bool) -> None:
        random = np.random.default_rng(1)
        tensors, buffer_of = [], {}
        for dtype in DType:
            for role in range(2):  # operands, results
                buffer_of[len(tensors)] = role
                tensors.append(Tensor(f"t{len(tensors)}", dtype, (1,), (0,)))
        place = {key: number for number, key in enumerate((d, r) for d in DType for r in range(2))}
        source = len(tensors)
        buffer_of[source] = 0
        tensors.append(Tensor("data", DType.S8, (_ROOM,), (0,)))
        made = random.normal(0, 1, _ROOM // 4).astype(np.float32) if floats else random.integers(
            -128, 128, _ROOM).astype(np.int8)
        self.data = made.tobytes()
        large = Source("large", np.frombuffer(self.data, np.int8), "", 0)
        sources, steps = {"large": large}, []
        dummy = Op(ops.View(), (), (), Layer("call"))
        for number, case in enumerate(some):
            names = {}
            for key in sorted(constants_of([case.call])):
                kept = case.sources[key]
                if kept.nbytes > _CONSTANTS:
                    names[key] = "large"
                else:
                    names[key] = f"{number}.{key}"
                    sources[names[key]] = kept
            call = with_names(case.call, names)
            last = max((i for i, arg in enumerate(call.args) if isinstance(arg, TensorArg)), default=-1)
            args = tuple(
                TensorArg(place[case.types[arg.index], int(i == last)])
                if isinstance(arg, TensorArg)
                else replace(arg, step=0)
                if isinstance(arg, ConstantArg)
                else arg
                for i, arg in enumerate(call.args)
            )
            steps.append(Step(dummy, (replace(call, args=args, turns=1, loop=0),)))
        steps.append(Step(dummy, ()))
        constants, names = pack_constants(sources)
        steps = [replace(step, calls=tuple(with_names(call, names) for call in step.calls)) for step in steps]
        region = Region("", 1 << 32, "ram", "")
        buffers = [Buffer(n, _ROOM, 16, 0, 9, offset=_ROOM * i) for i, n in enumerate(("in", "out", "scratch"))]
        graph = Graph(name, tuple(tensors), (), (source,), (place[DType.S8, 1],), ())
        self.name = name
        self.plan = Plan(
            graph, target, tuple(steps), constants, tuple(buffers), buffer_of,
            dict.fromkeys(range(len(steps)), 2), 3 * _ROOM, 0, (Arena(region, 0, 3 * _ROOM),),
        )

    def run(self, cpu: str, work: Path) -> list[int]:
        model = work / "model"
        model.mkdir(parents=True, exist_ok=True)
        for file, text in emit(self.plan, EmitOptions(self.name, "fit", "", profile=True)).items():
            (model / file).write_text(text, encoding="utf-8")
        kernels = sorted({call.kernel.symbol for step in self.plan.steps for call in step.calls})
        report = {"kernels": kernels}
        (model / f"{self.name}.report.json").write_text(json.dumps(report), encoding="utf-8")
        target = self.plan.target
        board = BOARDS[cpu]
        plugin = build_plugin(work)
        image = build_image(model, [self.name], work / f"image-{cpu}", board=board, core=target.core, isa=target.isa)
        folder = image.path.parent
        from cortexm_tools.run.elf import parse_elf
        from cortexm_tools.run.profile import _functions
        elf = parse_elf(image.path.read_bytes(), where="")
        marker = next(start for found, start, _ in _functions(elf) if found == "cortexm_profile")
        counts = folder / "counts.txt"
        counts.unlink(missing_ok=True)
        (folder / INPUTS).write_bytes(pack_inputs([[self.data]]))
        run_image(board, image.path, folder, extra=("-plugin", f"{plugin},mark={marker:#x},out={counts}"))
        marks = read_counts(counts.read_text()).marks
        steps = [after - before for before, after in zip(marks, marks[1:])]
        assert len(steps) == len(self.plan.steps), (len(steps), len(self.plan.steps))
        return [count - steps[-1] for count in steps[:-1]]


MOST = {"cortex-m55": 6_000_000, "cortex-m4": 3_000_000}


def fits(case: Case, most: int) -> bool:
    sizes = [arg.nbytes for arg in case.call.args if isinstance(arg, ScratchArg)]
    if max(sizes, default=0) > _ROOM or case.call.macs > most:
        return False
    f = case.call.int_fields
    try:
        for kept in (case.sources[k] for k in constants_of([case.call])):
            if kept.nbytes > _ROOM:
                return False
            if isinstance(kept.data, Weights) and kept.nbytes <= _CONSTANTS:
                kept.data.pack()
    except ValueError:  # no form of a linear layer's
        return False
    size = 4 if "f32" in case.call.kernel.types or "s16" in case.call.kernel.types else 1
    large = [f.get("in_h", 1) * f.get("in_w", 1) * f.get("in_c", f.get("channels", 1)) * f.get("batches", 1),
             f.get("out_h", 1) * f.get("out_w", 1) * f.get("out_c", f.get("channels", 1)),
             f.get("out_h", 1) * f.get("out_w", 1) * f.get("out_pixel_stride", 1),
             f.get("in_row_stride", 0) * f.get("in_h", 1),
             f.get("rows", 1) * f.get("in_features", 1), f.get("rows", 1) * f.get("out_features", 1),
             f.get("count", 0), f.get("outer", 1) * f.get("size", 1) * f.get("inner", 1)]
    return max(large) * size <= _ROOM


def measure(some: Sequence[Case], cpu: str, work: Path, known: dict[str, int], save=lambda: None) -> None:
    target = Target.parse(cpu)
    some = [c for c in some if c.key not in known and fits(c, MOST.get(cpu, 1_500_000))]
    some.sort(key=lambda c: c.call.kernel.symbol)
    for floats in (False, True):
        group = [c for c in some if ("f32" in c.call.kernel.types) is floats]
        parts = [group[first : first + _TOGETHER] for first in range(0, len(group), _TOGETHER)]
        while parts:
            part = parts.pop(0)
            try:
                counts = _Program("fit", part, target, floats).run(cpu, work)
            except (CortexMError, AssertionError) as error:
                if len(part) > 1:
                    half = len(part) // 2
                    parts[:0] = [part[:half], part[half:]]
                else:
                    print("failed", str(error)[:300], part[0].key, flush=True)
                continue
            known |= {case.key: count for case, count in zip(part, counts, strict=True)}
            print(cpu, len(known), len(some), flush=True)
            save()
